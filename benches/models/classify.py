"""The classifiers of labels and links, as in `hone eval`, so that figures can be compared.

L2-penalised logistic regression. The relative scale of columns is kept, because it carries the singular values: each
block of columns is divided by one constant, learnt from the training rows. `hone eval` chooses the penalty by
cross-validation; here it is fixed, so that two sets of vectors never differ by that choice.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

PENALTY = 1.0


class Labeller:
    """One-vs-rest logistic regression; columns are divided by the root mean square of the training rows."""

    def __init__(self, x: np.ndarray, labels: np.ndarray) -> None:
        self.scale = root_mean_square(x)
        self.models = [logistic(x / self.scale, labels[:, k]) for k in range(labels.shape[1])]

    def score(self, x: np.ndarray, labels: np.ndarray) -> float:
        """Micro F1, the number of labels of each node known; the accuracy where every node has one label."""
        scores = np.column_stack([model(x / self.scale) for model in self.models])
        ranked = np.argsort(-scores, axis=1, kind="stable")
        hits = sum(labels[row, ranked[row, : labels[row].sum()]].sum() for row in range(len(x)))
        return float(hits / labels.sum())


class Linker:
    """Logistic regression on the mean and the product of two vectors, each divided by its root mean square."""

    def __init__(self, vectors: np.ndarray, edges: np.ndarray, others: np.ndarray) -> None:
        blocks = self.blocks(vectors, edges, others)
        self.scales = [root_mean_square(block) for block in blocks]
        self.model = logistic(self.scaled(blocks), truth(edges, others))

    @staticmethod
    def blocks(vectors: np.ndarray, edges: np.ndarray, others: np.ndarray) -> list[np.ndarray]:
        """Mean and product of the vectors of each pair."""
        a, b = (vectors[ends] for ends in np.vstack([edges, others]).T)
        return [(a + b) / 2, a * b]

    def scaled(self, blocks: list[np.ndarray]) -> np.ndarray:
        """Both blocks side by side."""
        return np.hstack([block / scale for block, scale in zip(blocks, self.scales)])

    def auc(self, vectors: np.ndarray, edges: np.ndarray, others: np.ndarray) -> float:
        """Area under the ROC curve of edges against other pairs."""
        scores = self.model(self.scaled(self.blocks(vectors, edges, others)))
        return float(roc_auc_score(truth(edges, others), scores))


def truth(edges: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Which rows are edges, if other pairs follow them."""
    return np.arange(len(edges) + len(others)) < len(edges)


def root_mean_square(x: np.ndarray) -> float:
    """The constant that a block is divided by."""
    return float(np.sqrt(np.mean(x * x))) or 1.0


def logistic(x: np.ndarray, y: np.ndarray):
    """A function from rows to log-odds. A single class gets the smoothed log-odds of that class, as in `hone eval`."""
    if y.all() or not y.any():
        constant = np.log((y.sum() + 0.5) / ((~y).sum() + 0.5))
        return lambda rows: np.full(len(rows), constant)
    model = LogisticRegression(C=PENALTY, solver="newton-cholesky", tol=1e-6, max_iter=200)
    return model.fit(x, y).decision_function
