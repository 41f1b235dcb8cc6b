"""Models: other graphs, new nodes and changed edges in the space of a fit."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse
from hone_embed import HONE, Graph, HoneWarning, generate


@pytest.fixture(scope="module")
def blocks():
    return generate("sbm", nodes=200, degree=10, communities=4, mixing=0.1)


@pytest.fixture(scope="module")
def fitted(blocks):
    return HONE(n_components=16).fit(blocks)


def grown(blocks, more):
    edges = np.argwhere(scipy.sparse.triu(blocks.adjacency()).toarray())
    return Graph(np.vstack([edges, more]), nodes=max(200, int(np.max(more)) + 1))


def proximity(hone):
    return slice(0, sum(name.startswith("z") for name in hone.get_feature_names_out()))


def test_another_graph_in_the_same_space(fitted, blocks):
    z = proximity(fitted)
    graph = grown(blocks, [(200, 0), (200, 1), (200, 2)])
    vectors = fitted.transform(graph)
    assert vectors.shape == (201, 16)
    np.testing.assert_array_equal(vectors[:200, z], fitted.embedding_[:, z])
    assert np.isfinite(vectors).all() and vectors[200, z].any()
    np.testing.assert_array_equal(fitted.transform(blocks), fitted.embedding_)
    alone = fitted.transform(graph, structure_only=True)
    np.testing.assert_array_equal(alone, vectors[:, z.stop :])


def test_new_nodes_by_their_edges(fitted, blocks):
    rows = np.zeros((2, 200))
    rows[0, [0, 1, 2]] = 1
    placed = fitted.transform(scipy.sparse.csr_array(rows))
    expected = fitted.transform(grown(blocks, [(200, 0), (200, 1), (200, 2)]))[200]
    np.testing.assert_array_equal(placed[0], expected)
    assert not placed[1, proximity(fitted)].any()
    own = blocks.adjacency().toarray()
    np.testing.assert_array_equal(fitted.transform(own[[5, 9]]), fitted.embedding_[[5, 9]])
    frame = copy.deepcopy(fitted).set_output(transform="pandas").transform(rows)
    assert list(frame.columns) == list(fitted.get_feature_names_out())


def test_updates_stay_in_the_space_of_the_fit(blocks):
    hone = HONE(n_components=16).fit(blocks)
    first, z = hone.embedding_.copy(), proximity(hone)
    i, j = (int(end) for end in np.argwhere(blocks.adjacency().toarray())[0])
    other = next(k for k in range(200) if k != i and not blocks.adjacency()[[i], [k]].any())
    hone.update(added=[(i, other), (200, 3), (200, 4)], removed=[(i, j)])
    assert hone.embedding_.shape == (201, 16) and hone.node_ids_[200] == 200
    moved = (hone.embedding_[:200, z] != first[:, z]).any(axis=1)
    assert set(np.flatnonzero(moved)) == {i, j, other}
    np.testing.assert_array_equal(hone.transform(blocks), first)
    hone.update(added=[(i, j)], removed=[(i, other), (200, 3), (200, 4)])
    np.testing.assert_array_equal(hone.embedding_[:200, z], first[:, z])
    with pytest.raises(ValueError, match="removed: there is no edge between"):
        hone.update(removed=[(i, other)])
    with pytest.raises(ValueError, match="removed: 999 is no node"):
        hone.update(removed=[(999, 0)])
    with pytest.raises(ValueError, match="is no edge"):
        hone.update(added=[(1,)])


def test_names_are_shared_between_graphs():
    people = HONE(n_components=8).fit("builtin:florentine")
    graph = Graph([("Medici", "Newcomer"), ("Newcomer", "Strozzi")] + _edges("builtin:florentine"))
    vectors = people.transform(graph)
    z = proximity(people)
    old = {id: row for row, id in enumerate(people.node_ids_.tolist())}
    for row, id in enumerate(graph.node_ids.tolist()):
        if id in old:
            np.testing.assert_array_equal(vectors[row, z], people.embedding_[old[id], z])


def _edges(name):
    graph = Graph(name)
    i, j = scipy.sparse.triu(graph.adjacency()).nonzero()
    return list(zip(graph.node_ids[i].tolist(), graph.node_ids[j].tolist()))


def test_a_graph_of_other_nodes(fitted):
    other = Graph([("a", "b"), ("b", "c"), ("c", "a")])
    with pytest.warns(HoneWarning, match="proximity columns are zero; structure_only=True"):
        vectors = fitted.transform(other)
    assert not vectors[:, proximity(fitted)].any()
    assert fitted.transform(other, structure_only=True).shape == (3, 2)


def test_models_are_saved_and_pickled(fitted, blocks, tmp_path):
    file = tmp_path / "m.hone"
    fitted.save(file)
    with pytest.raises(FileExistsError, match="overwrite=True"):
        fitted.save(file)
    loaded = HONE.load(file)
    graph = grown(blocks, [(200, 0), (200, 1)])
    expected = fitted.transform(graph)
    for other in (loaded, pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        np.testing.assert_array_equal(other.embedding_, fitted.embedding_)
        np.testing.assert_array_equal(other.transform(graph), expected)
    np.testing.assert_array_equal(HONE(config=loaded.config).fit_transform(blocks), fitted.embedding_)
    with pytest.raises(ValueError, match="knows no edges"):
        loaded.update(added=[(0, 1)])
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"m\.hone"):
        HONE.load(file)


def test_models_can_be_left_out(blocks):
    hone = HONE(n_components=16, keep_model=False).fit(blocks)
    with pytest.raises(ValueError, match="keep_model=False"):
        hone.update(added=[(0, 199)])
    with pytest.raises(ValueError, match="keep_model: psi"):
        HONE("hone-p", keep_model=True).fit(blocks)


def test_wrong_ids_are_refused(fitted, blocks):
    turned = np.random.default_rng(0).permutation(200)
    matrix = blocks.adjacency()[turned][:, turned]
    with pytest.raises(ValueError, match="not those of the same nodes"):
        fitted.transform(matrix)
