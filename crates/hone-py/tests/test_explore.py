"""Similar nodes, roles and layouts against scikit-learn and plain NumPy."""

import hone_embed
import networkx
import numpy as np
import pytest
from hone_embed import HONE
from sklearn.manifold import trustworthiness
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors


@pytest.fixture(scope="module")
def vectors():
    """Groups of vectors without structure columns, so that similarity is the cosine."""
    rng = np.random.default_rng(5)
    centres = rng.normal(size=(9, 20))
    return (centres[np.arange(360) % 9] + 0.5 * rng.normal(size=(360, 20))).astype(np.float32)


def test_neighbours_are_those_of_scikit_learn(vectors):
    found = hone_embed.neighbours((np.arange(360), vectors), 8)
    distances, rows = NearestNeighbors(n_neighbors=9, metric="cosine").fit(vectors).kneighbors(vectors)
    assert found.recall is None and found.rows.shape == (360, 8)
    np.testing.assert_allclose(found.similarities, 1 - distances[:, 1:], atol=1e-5)
    assert (found.rows == rows[:, 1:]).mean() > 0.999
    near = hone_embed.neighbours((np.arange(360), vectors), 8, search="approximate")
    assert near.recall is not None and near.recall > 0.95


def test_most_similar_as_in_gensim(vectors):
    names = np.asarray([f"n{k}" for k in range(360)])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    found = hone_embed.most_similar((names, vectors), positive=["n0", "n1"], negative=["n2"], top=5)
    mean = unit[0] + unit[1] - unit[2]
    scores = unit @ (mean / np.linalg.norm(mean))
    scores[:3] = -2
    best = np.argsort(-scores)[:5]
    assert [name for name, _ in found] == names[best].tolist()
    np.testing.assert_allclose([score for _, score in found], scores[best], atol=1e-5)
    with pytest.raises(ValueError, match="no node is called 'n36x'; did you mean"):
        hone_embed.most_similar((names, vectors), "n36x")
    with pytest.raises(ValueError, match="give a node"):
        hone_embed.most_similar((names, vectors))
    with pytest.raises(ValueError, match="no node is called '3', of type str; use 3"):
        hone_embed.most_similar((np.arange(360), vectors), "3")
    for top in (0, -1):
        with pytest.raises(ValueError, match="give at least 1"):
            hone_embed.most_similar((names, vectors), "n0", top=top)
    with pytest.raises(ValueError, match="no structure columns"):
        hone_embed.most_similar((names, vectors), "n0", by="structure")


def test_a_fitted_estimator_answers(karate):
    model = HONE(n_components=32).fit(karate)
    assert model.most_similar(33, top=1).nodes == [32]
    by = {by: model.most_similar(0, by=by, top=3) for by in ("all", "proximity", "structure")}
    assert 33 in by["structure"].nodes and by["all"].nodes != by["structure"].nodes
    assert len(by["all"]) == 3 and list(by["all"].to_pandas().columns) == ["node", "similarity"]
    with pytest.raises(AttributeError):
        by["all"].nodes = []


def test_layouts_keep_neighbours_together(vectors):
    places = hone_embed.layout((np.arange(360), vectors))
    assert places.dtype == np.float32 and np.isfinite(places).all()
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert trustworthiness(unit, places, n_neighbors=15) > 0.9
    again = hone_embed.layout((np.arange(360), vectors), n_jobs=1)
    assert (places == again).all()
    flat = hone_embed.layout((np.arange(360), vectors), method="pca")
    centred = unit - unit.mean(axis=0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    for axis in range(2):
        assert abs(np.corrcoef(left[:, axis] * values[axis], flat[:, axis])[0, 1]) > 0.999


def test_roles_of_a_planted_graph():
    graph = networkx.disjoint_union_all([networkx.star_graph(12), networkx.complete_graph(8)] * 8)
    truth = ([0] + [1] * 12 + [2] * 8) * 8
    found = hone_embed.roles(graph)
    assert adjusted_rand_score(truth, found.assignments) == 1.0
    assert set(found.names) == {"star leaf", "star centre", "clique member"}
    np.testing.assert_allclose(found.memberships.sum(axis=1), 1, atol=1e-5)
    assert found.explain(0).startswith("0 is a star centre") and len(found.reasons(0)["reasons"]) == 3
    assert found.to_pandas().shape == (168, 4)
    names = {node: f"node {node}" for node in graph}
    renamed = networkx.relabel_nodes(graph, names)
    order = list(renamed)
    np.random.default_rng(1).shuffle(order)
    shuffled = networkx.Graph()
    shuffled.add_nodes_from(order)
    shuffled.add_edges_from(renamed.edges)
    other = hone_embed.roles(shuffled)
    rows = [order.index(names[node]) for node in graph]
    assert (other.memberships[rows] == found.memberships).all()
    with pytest.raises(ValueError, match="not between 1 and 12"):
        hone_embed.roles(graph, 40)


def test_pictures_are_saved(tmp_path, karate):
    made = hone_embed.draw_map(karate, layout="pca")
    for name, head in (("a.html", b"<!doctype html>"), ("a.svg", b"<svg"), ("a.png", b"\x89PNG")):
        made.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(head)
    with pytest.raises(FileExistsError):
        made.save(tmp_path / "a.png")
    with pytest.raises(ValueError, match=".pdf"):
        made.save(tmp_path / "a.pdf")
    # A link stays, and so does the file until the new one is complete.
    (tmp_path / "link.html").symlink_to("a.html")
    other = hone_embed.draw_map(karate, layout="pca", title="other")
    with pytest.raises(FileExistsError):
        other.save(tmp_path / "link.html")
    other.save(tmp_path / "link.html", overwrite=True)
    assert (tmp_path / "link.html").is_symlink() and (tmp_path / "a.html").read_text() == other.html
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.html", "a.png", "a.svg", "link.html"]
    with pytest.raises(ValueError, match="labels: 3 values for 34 nodes"):
        hone_embed.draw_map(karate, labels=[1, 2, 3])
    with pytest.raises(ValueError, match="attributes: age: 99 is not a node of the graph"):
        hone_embed.draw_map(karate, attributes={"age": {99: 1.0}})
    some = hone_embed.draw_map(karate, labels={0: "boss"}, attributes={"age": {0: 40.5, 33: 3}}, layout="pca")
    clubs = ["boss"] + [None] * 33
    assert some.html == hone_embed.draw_map(karate, labels=clubs, attributes={"age": [40.5, *[None] * 32, 3]}, layout="pca").html


def test_roles_of_directed_graphs():
    star = [(0, leaf) for leaf in range(1, 9)]
    found = hone_embed.roles(star, 2, directed=True)
    assert found.names == ["sink star leaf", "source star centre"]
    assert [found.roles[k]["in_degree"] for k in (0, 1)] == [1, 0]
    assert [found.roles[k]["out_degree"] for k in (0, 1)] == [0, 8]
    assert found.affinity[1, 0] > 0 and found.affinity[0, 1] == 0
    assert "out_degree" not in hone_embed.roles(star, 2).roles[0]


def test_several_nodes_and_vectors_without_ids(tmp_path):
    hone = HONE(n_components=8).fit("builtin:karate")
    for nodes in ([0, 1], np.array([0, 1])):
        with pytest.raises(ValueError, match="node: it is the id of one node; give several as positive="):
            hone.most_similar(nodes)
    for call in (lambda z: hone_embed.most_similar(z, 0), lambda z: hone_embed.write_embedding(tmp_path / "z.npy", z)):
        for vectors in (hone.embedding_, hone.embedding_[:2], 3):
            with pytest.raises(ValueError, match="embedding: .*give ids too, as a pair of ids and vectors"):
                call(vectors)
    assert hone_embed.most_similar((range(34), hone.embedding_), 0, top=1).nodes == hone_embed.most_similar(hone, 0, top=1).nodes


def test_ids_that_are_tuples():
    grid = networkx.grid_2d_graph(4, 4)
    found = HONE(n_components=4).fit(grid).most_similar((0, 1), top=15)
    assert sorted([*found.nodes, (0, 1)]) == sorted(grid)


def test_labels_of_a_map_are_as_those_of_the_command():
    hone = HONE(n_components=8).fit("builtin:karate")
    page = hone_embed.draw_map("builtin:karate", hone, labels={0: ["ann", "bob"], 1: "ann", 2: [], 3: ("cid",)}).html
    with pytest.warns(hone_embed.HoneWarning, match="2 labelled nodes are not in the graph and are ignored"):
        more = hone_embed.draw_map("builtin:karate", hone, labels={0: "ann", 1: "ann", 3: "cid", 77: "ann", 78: "dee"}).html
    assert more == page
    with pytest.raises(ValueError, match="labels: a file name is not read; pass a mapping"):
        hone_embed.draw_map("builtin:karate", hone, labels="karate.labels")
    for colour in ("label", "labels"):
        with pytest.raises(ValueError, match="colour: no labels were given; pass labels="):
            hone_embed.draw_map("builtin:karate", hone, colour=colour)
    with pytest.raises(ValueError, match="path: 'map.pdf': a map is .html, .svg or .png"):
        hone_embed.draw_map("builtin:karate", hone).save("map.pdf")
