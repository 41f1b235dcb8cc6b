"""Prints the golden figures of tests/library/squared.rs: ‖X − WH‖² / ‖X‖² of scikit-learn's NMF, the best of several starts."""
import numpy as np
from sklearn.decomposition import NMF


def data(n, d, threshold):
    i, j = np.arange(n)[:, None], np.arange(d)[None, :]
    x = np.sin(1.7 * i + 0.9 * j * j + 0.3 * i * j) + 0.4 * np.cos(0.11 * i * j)
    return np.where(x > threshold, x - threshold, 0.0).astype(np.float32).astype(np.float64)


for n, d, threshold, rank in [(40, 30, -2.0, 5), (60, 25, 0.0, 8), (50, 50, 0.8, 6)]:
    x = data(n, d, threshold)
    errors = []
    for init in ["nndsvd", "nndsvda", "random"]:
        m = NMF(rank, init=init, solver="cd", tol=1e-8, max_iter=20000, random_state=0)
        w = m.fit_transform(x)
        errors.append(((x - w @ m.components_) ** 2).sum() / (x**2).sum())
    print(f"        ({n}, {d}, {threshold:.1f}, {rank}, {min(errors):.6f}),  // {[f'{e:.6f}' for e in errors]}")
