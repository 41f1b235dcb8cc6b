"""Factors against numpy: what U, sigma, V, Z and H are said to approximate."""

import os

import networkx
import numpy as np
import pytest
import scipy.sparse
from hone_embed import HONE, motif_adjacency, read_factors
from sklearn.base import clone

MOTIFS = ["edge", "triangle", "clique4"]


@pytest.fixture(scope="module")
def karate():
    return networkx.karate_club_graph()


@pytest.fixture(scope="module")
def matrices(karate):
    """P of each motif, in float64."""

    def transition(motif):
        w = motif_adjacency(karate, motif).toarray().astype(np.float64)
        degree = w.sum(axis=1, keepdims=True)
        return np.divide(w, degree, out=np.zeros_like(w), where=degree > 0)

    return {motif: transition(motif) for motif in MOTIFS}


@pytest.fixture(scope="module")
def fitted(karate):
    config = {"local.solver.tolerance": 1e-6, "local.solver.iterations": 1000}
    return HONE("hone-p", n_components=20, n_local_components=6, motifs=MOTIFS, config=config, factors=True).fit(karate)


def test_local_factors_are_the_best_approximation(fitted, matrices):
    assert list(fitted.factors_.local) == [(motif, step) for step in (1, 2) for motif in MOTIFS]
    for (motif, step), found in fitted.factors_.local.items():
        p = np.linalg.matrix_power(matrices[motif], step)
        own = p[np.ix_(found.rows, found.rows)]
        assert np.abs(p).sum() == pytest.approx(np.abs(own).sum())
        u, sigma, vt = np.linalg.svd(own)
        rank = min(6, len(sigma))
        np.testing.assert_allclose(found.sigma[:rank], sigma[:rank], atol=2e-5)
        best = np.linalg.norm(own - (u[:, :rank] * sigma[:rank]) @ vt[:rank])
        missed = np.linalg.norm(own - (found.U * found.sigma) @ found.V.T)
        assert missed == pytest.approx(best, abs=1e-4), (motif, step)
        lengths = np.linalg.norm(found.U, axis=0)
        assert np.all((np.abs(lengths - 1) < 1e-4) | (lengths == 0))


def test_global_factors_are_those_of_y(fitted, karate):
    local = {"local.solver.tolerance": 1e-6, "local.solver.iterations": 1000, "global.output": "local"}
    y = HONE("hone-p", n_components=20, n_local_components=6, motifs=MOTIFS, config=local).fit(karate)
    assert fitted.factors_.columns == list(y.get_feature_names_out())
    whole = y.embedding_.astype(np.float64)
    np.testing.assert_array_equal(fitted.factors_.Z, fitted.embedding_)
    sigma = np.linalg.svd(whole, compute_uv=False)
    missed = np.linalg.norm(whole - fitted.factors_.Z @ fitted.factors_.H)
    assert missed == pytest.approx(np.sqrt((sigma[20:] ** 2).sum()), abs=1e-4)


def test_a_folder_is_written_and_read_back(tmp_path, karate, fitted):
    folder = tmp_path / "factors"
    hone = HONE("hone-p", n_components=8, motifs=MOTIFS, factors=folder)
    for _ in range(2):  # a second fit replaces the first one's
        hone.fit(karate)
    again = read_factors(folder, mmap=False)
    np.testing.assert_array_equal(again.node_ids, np.arange(34))
    for key, found in hone.factors_.local.items():
        assert isinstance(found.U, np.memmap)
        for name in ("U", "sigma", "V", "rows"):
            np.testing.assert_array_equal(getattr(found, name), getattr(again.local[key], name))
    plain = HONE("hone-p", n_components=8, motifs=MOTIFS).fit(karate)
    np.testing.assert_array_equal(plain.embedding_, hone.embedding_)
    assert not hasattr(plain, "factors_")
    assert clone(hone).factors == folder
    hone.set_params(factors=False).fit(karate)
    assert not hasattr(hone, "factors_")
    changed = bytearray((folder / "H.npy").read_bytes())
    changed[-1] ^= 1
    (folder / "H.npy").write_bytes(changed)
    with pytest.raises(ValueError, match="H.npy is not as manifest.json says"):
        read_factors(folder, mmap=False)
    (folder / "H.npy").write_bytes(changed[:-4])
    with pytest.raises(ValueError, match="H.npy is not as manifest.json says"):
        read_factors(folder)
    with pytest.raises(FileNotFoundError, match="no factors here"):
        read_factors(tmp_path)
    (tmp_path / "diary.txt").write_text("dear")
    with pytest.raises(ValueError, match="something else"):
        HONE("hone-p", n_components=8, motifs=["edge"], factors=tmp_path).fit(karate)
    assert sorted(os.listdir(tmp_path)) == ["diary.txt", "factors"]


def test_joint_and_coded_factors(karate, matrices):
    config = {"model": "cp", "joint.iterations": 5}
    joint = HONE("hone-p", n_components=8, n_steps=1, motifs=MOTIFS, config=config, factors=True).fit(karate).factors_.joint
    missed = total = 0.0
    for entry, row in zip(joint.slices, joint.motifs):
        p = matrices[entry["motif"]] * entry["factor"]
        missed += np.linalg.norm(p - (joint.left * (joint.weights * row)) @ joint.right.T) ** 2
        total += np.linalg.norm(p) ** 2
    assert 0 < missed < total
    config = {"local.solver.method": "autoencoder", "local.solver.epochs": 3}
    coded = HONE("hone-p", n_components=4, motifs=["edge"], config=config, factors=True).fit(karate)
    assert coded.factors_.local["edge", 1].V is None and "code" in coded.factors_.local["edge", 1].model


def test_pairs_and_thresholds_are_settings(karate):
    adjacency = scipy.sparse.csr_array(motif_adjacency(karate, "edge")).toarray()
    settings = {"pairs": "occurrences", "psi": "w", "global.output": "local"}
    hone = HONE("hone-w", n_local_components=34, n_steps=1, motifs=["path3"], config=settings, factors=True).fit(karate)
    found = hone.factors_.local["path3", 1]
    w = (found.U * found.sigma) @ found.V.T / found.scale
    square = adjacency @ adjacency
    apart = (adjacency == 0) & ~np.eye(34, dtype=bool)
    np.testing.assert_allclose(w[apart], square[apart], atol=0.05)
    delta = HONE("hone-p", n_components=8, motifs=["edge", "triangle"], config={"delta": {"triangle": 3}}).fit(karate)
    assert delta.config_["delta"] == {"triangle": 3}
