"""Models: other graphs, new nodes and changed edges in the space of a fit."""

import copy
import pickle
import warnings

import networkx
import numpy as np
import pandas
import pytest
import scipy.sparse
from hone_embed import HONE, Graph, HoneWarning, NodeVectors, generate, read_embedding, write_embedding
from hone_embed._changes import changed
from hone_embed._known import KnownRows
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline


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
    # Beside proximity, what all shared nodes gained together is taken away: the same for every row.
    gained = alone - vectors[:, z.stop :]
    np.testing.assert_allclose(gained, np.broadcast_to(gained[:1], gained.shape), atol=1e-5)


def test_new_nodes_alone(fitted, blocks):
    graph = grown(blocks, [(200, 0), (200, 1), (201, 200), (201, 9)])
    new = fitted.transform(graph, new_only=True)
    np.testing.assert_array_equal(new, fitted.transform(graph)[200:])
    alone = fitted.transform(graph, new_only=True, structure_only=True)
    np.testing.assert_array_equal(alone, fitted.transform(graph, structure_only=True)[200:])
    with pytest.warns(HoneWarning, match="no node is new"):
        assert fitted.transform(blocks, new_only=True).shape == (0, 16)
    with pytest.raises(ValueError, match="new_only: the rows of a matrix are all returned"):
        fitted.transform(np.zeros((1, 200)), new_only=True)


def test_ids_of_new_nodes(blocks):
    hone = HONE(n_components=16).fit([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c")])
    hone.set_output(transform="pandas")
    frame = hone.transform(Graph([("x", "a"), ("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c"), ("c", "y")]), new_only=True)
    assert list(frame.index) == ["x", "y"]


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
    with pytest.raises(ValueError, match="removed: 999 is not a node"):
        hone.update(removed=[(999, 0)])
    with pytest.raises(ValueError, match="is not an edge"):
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
    with pytest.raises(ValueError, match="keep_model=False"):
        hone.transform(np.ones((1, 200)))
    own = blocks.adjacency()[[5, 9]]
    np.testing.assert_array_equal(hone.transform(own), hone.embedding_[[5, 9]])


def test_graphs_are_kept_for_models_alone(blocks):
    """Edges of a fit are not in pickles where nothing can be done with them."""
    bare = len(pickle.dumps(HONE(n_components=16, keep_model=False).fit(blocks)))
    vectors, edges = 200 * 16 * 4, 2 * blocks.n_edges * 4
    assert bare < vectors + 200 * 8 * 3 + 10_000
    assert len(pickle.dumps(HONE(n_components=16).fit(blocks))) > bare + edges


def test_models_that_cannot_be_are_refused_before_the_work(blocks, tmp_path):
    hone = HONE(n_components=16, factors=True).fit(blocks)
    before = hone.embedding_
    hone.set_params(preset="hone-p", keep_model=True, factors=str(tmp_path / "factors"))
    with pytest.raises(ValueError, match="keep_model: psi"):
        hone.fit(blocks)
    assert not (tmp_path / "factors").exists()
    assert hone.embedding_ is before and hone.factors_ is not None and hone.config_["psi"] == "a-norm"
    new = HONE("hone-p", keep_model=True)
    with pytest.raises(ValueError, match="keep_model: psi"):
        new.fit(blocks)
    assert not hasattr(new, "embedding_")


def test_wrong_ids_are_refused(fitted, blocks):
    turned = np.random.default_rng(0).permutation(200)
    matrix = blocks.adjacency()[turned][:, turned]
    with pytest.raises(ValueError, match="not those of the same nodes"):
        fitted.transform(matrix)


def test_proximity_of_rows_does_not_depend_on_the_batch(fitted):
    rows = np.zeros((3, 200))
    rows[0, [0, 1, 2]] = rows[1, [2, 3, 60]] = rows[2, [0, 2, 199]] = 1
    z, together = proximity(fitted), fitted.transform(rows)
    for k in range(3):
        np.testing.assert_array_equal(fitted.transform(rows[[k]])[0, z], together[k, z])
    np.testing.assert_array_equal(fitted.transform(rows[::-1])[::-1, z], together[:, z])
    # Structure is counted in the graph that all rows have joined: as documented.
    alone = np.vstack([fitted.transform(rows[[k]]) for k in range(3)])
    assert not np.array_equal(alone[:, z.stop :], together[:, z.stop :])


@pytest.mark.parametrize("directed", [None, False])
@pytest.mark.parametrize("symmetric", [False, True])
def test_square_blocks_of_rows(blocks, directed, symmetric):
    """As many new nodes as fitted ones: rows, whatever the matrix looks like."""
    adjacency = blocks.adjacency().toarray()
    hone = HONE(n_components=16, directed=directed).fit(adjacency[:100, :100])
    rows = adjacency[100:, :100]
    rows = np.maximum(rows, rows.T) if symmetric else rows
    z = proximity(hone)
    with warnings.catch_warnings():
        warnings.simplefilter("error", HoneWarning)
        square = hone.transform(rows)
    np.testing.assert_array_equal(square[:, z], np.vstack([hone.transform(rows[:60]), hone.transform(rows[60:])])[:, z])
    np.testing.assert_array_equal(hone.transform(adjacency[:100, :100]), hone.embedding_)
    np.testing.assert_array_equal(hone.transform(rows.astype(int)[:2]), hone.transform(rows[:2]))
    other = hone.transform(Graph(adjacency[:101, :101]))
    np.testing.assert_array_equal(other[:100, z], hone.embedding_[:, z])
    labels = blocks.node_ids // 50
    model = make_pipeline(HONE(n_components=16, directed=directed), LogisticRegression(max_iter=500, C=100))
    assert cross_val_score(model, adjacency, labels, cv=2).mean() > 0.6


def test_loops_do_not_hide_a_known_row():
    matrix = scipy.sparse.csr_array(Graph("builtin:karate").adjacency())
    matrix.data[:] = 1 + (np.arange(matrix.nnz) % 3)
    matrix = matrix + matrix.T
    for weights in (None, True):
        hone = HONE(n_components=24, weights=weights).fit(matrix)
        rows = matrix.toarray()[[7, 3]]
        rows[0, 7] = 5
        np.testing.assert_array_equal(hone.transform(rows), hone.embedding_[[7, 3]])


@pytest.mark.parametrize("directed", [False, True])
def test_known_rows_of_weights(directed):
    """Weights are compared as numbers: rounding does not make a known row a new one, another weight does."""
    rng = np.random.default_rng(2)
    weights = rng.integers(1, 10, (30, 30)) / 10.0 * (rng.random((30, 30)) < 0.2)
    np.fill_diagonal(weights, 0.0)
    weights = weights if directed else np.triu(weights) + np.triu(weights).T
    # Many nodes with the same columns and other weights; two with the same row; an edge of weight 0.
    weights[10:20] = 0.0
    weights[10:20, 1] = np.arange(1, 11) / 10.0
    weights[19, 1] = weights[18, 1]
    if not directed:
        weights[:, 10:20] = weights[10:20].T
    arcs = np.argwhere(weights > 0)
    arcs = arcs if directed else arcs[arcs[:, 0] < arcs[:, 1]]
    none = np.argwhere(np.triu(weights == 0, 1))[:1]
    edges, values = np.vstack([arcs, none]), [*weights[tuple(arcs.T)], -0.0]
    graph = Graph(edges, edge_weight=values, nodes=30, directed=directed)
    known = KnownRows(graph)
    single = [k for k in range(30) if weights[k].any() and (k not in (18, 19) or not directed)]
    rows = weights[single]
    # The same numbers, rounded otherwise: sums in float32, and doubles.
    thirds = scipy.sparse.csr_array((rows / 3).astype(np.float32))
    for form in (rows, (thirds + thirds + thirds).toarray(), rows * (1 + 1e-7), np.where(rows == 0, -0.0, rows)):
        found = known.find(sparse_rows(form))
        np.testing.assert_array_equal(weights[found], rows)
    found = known.find(sparse_rows(rows + 9.0 * np.eye(30)[single]))
    np.testing.assert_array_equal(weights[found], rows)
    for k, row in enumerate(rows):
        other = row.copy()
        other[np.flatnonzero(row)[-1]] += 0.05
        assert known.find(sparse_rows(other[None])) == -1, single[k]
    if directed:
        assert (known.find(sparse_rows(weights[[18, 19]])) == -1).all()
    again = pickle.loads(pickle.dumps(known))
    np.testing.assert_array_equal(again.find(sparse_rows(rows)), known.find(sparse_rows(rows)))


def sparse_rows(rows):
    rows = scipy.sparse.csr_array(rows, dtype=np.float32)
    rows.eliminate_zeros()
    return rows


def test_rows_with_weights_that_the_fit_does_not_have(blocks):
    hone = HONE(n_components=16).fit(blocks.adjacency())
    rows = 2.0 * blocks.adjacency().toarray()[[5]]
    with pytest.warns(HoneWarning, match=r"dropped \d+ weights \(the fit has none\)"):
        np.testing.assert_array_equal(hone.transform(rows), hone.embedding_[[5]])


def test_ids_keep_their_kind(blocks):
    hone = HONE(n_components=16).fit(blocks)
    table = pandas.DataFrame({"source": [200.0, 200.0], "target": [0, 1]})
    hone.update(added=table).update(added=table.to_numpy() + [1, 0])
    assert hone.node_ids_.dtype.kind == "i" and hone.node_ids_[-2:].tolist() == [200, 201]
    kept = hone.embedding_
    for id in ("new", 0.5, True, None, (1, 2)):
        with pytest.raises(ValueError, match="those of the graph are of the type int"):
            hone.update(added=[(id, 0)])
    with pytest.raises(ValueError, match="beyond 2⁶³"):
        hone.update(added=[(2**63, 0)])
    with pytest.raises(ValueError, match="'01' is not an edge"):
        hone.update(added=["01"])
    assert hone.embedding_ is kept and len(hone.node_ids_) == 202
    people = HONE(n_components=8).fit("builtin:florentine")
    with pytest.raises(ValueError, match="those of the graph are of the type str"):
        people.update(added=[(7, "Medici")])
    assert people.update(added=[("Newcomer", "Medici")]).node_ids_[-1] == "Newcomer"


@pytest.mark.parametrize("new", [(6, 6), "x"])
def test_ids_of_any_kind(new):
    """Tuples, and numbers among names."""
    grid = networkx.grid_2d_graph(6, 6)
    if new == "x":
        grid = networkx.relabel_nodes(grid, {(i, j): f"n{i}" if j == 0 else 6 * i + j for i, j in grid})
    first = next(iter(grid))
    hone = HONE(n_components=24).fit(grid)
    old = hone.embedding_
    hone.update(added=[(new, first)])
    assert hone.node_ids_.ndim == 1 and hone.node_ids_.tolist() == [*grid, new]
    z = proximity(hone)
    np.testing.assert_array_equal(hone.embedding_[1:36, z], np.delete(old, 0, axis=0)[:, z])
    rows = np.zeros((1, 37))
    rows[0, :3] = 1
    assert hone.transform(rows)[:, z].any()
    nodes = NodeVectors(grid, HONE(n_components=24)).fit(list(grid))
    np.testing.assert_array_equal(nodes.transform(list(grid)[3:5]), nodes.hone_.embedding_[3:5])


def test_updates_against_a_dictionary_of_edges():
    """Many random changes, weighted and directed, against the simplest thing that can be right."""
    rng = np.random.default_rng(5)
    for directed, weighted in ((False, False), (False, True), (True, True)):
        order = (lambda i, j: (i, j)) if directed else (lambda i, j: (min(i, j), max(i, j)))
        drawn = {order(*pair) for pair in rng.integers(0, 12, (40, 2)).tolist() if pair[0] != pair[1]}
        edges = {pair: float(rng.integers(1, 5)) if weighted else 1.0 for pair in sorted(drawn)}
        graph = as_matrix(edges, 12, directed, weighted)
        for step in range(4):
            gone = [pair for pair in edges if rng.random() < 0.3]
            new = {order(12 + step, int(rng.integers(0, 12))): 2.0 if weighted else 1.0, order(0, 1): 1.0}
            edges = {**{pair: w for pair, w in edges.items() if pair not in gone}, **new}
            turned = [pair if directed else pair[::-1] for pair in gone]
            added = [(*pair, weight) if weighted else pair for pair, weight in new.items()]
            graph = changed(graph, added, turned)
            expected = as_matrix(edges, 13 + step, directed, weighted).adjacency().toarray()
            np.testing.assert_array_equal(graph.adjacency().toarray(), expected)
            assert (graph.directed, graph.weighted) == (directed, weighted)


def as_matrix(edges, n, directed, weighted):
    matrix = np.zeros((n, n))
    for (i, j), weight in edges.items():
        matrix[i, j] = weight
        matrix[j, i] = matrix[j, i] if directed else weight
    return Graph(matrix, directed=directed, weighted=weighted)


def test_weights_of_updates(blocks):
    with pytest.raises(ValueError, match=r"\(0, 199, 2.0\) has a weight, but the graph has none"):
        HONE(n_components=16).fit(blocks).update(added=[(0, 199, 2.0)])
    matrix = blocks.adjacency()
    hone = HONE(n_components=16, weights=True).fit(2 * matrix)
    hone.update(added=[(0, 199, 3.5)])
    assert hone._graph.adjacency()[[0], [199]].sum() == 3.5
    for wrong in (0, -1, np.nan, np.inf, "heavy"):
        with pytest.raises(ValueError, match="must be finite and above 0"):
            hone.update(added=[(0, 199, wrong)])
    with pytest.raises(ValueError, match="is given twice, with different weights"):
        hone.update(added=[(0, 199, 1), (199, 0, 2)])


def test_structure_alone(fitted, blocks):
    first = proximity(fitted).stop
    np.testing.assert_array_equal(fitted.transform(blocks, structure_only=True), fitted.embedding_[:, first:])
    frame = HONE(n_components=16).set_output(transform="pandas").fit(blocks).transform(blocks, structure_only=True)
    assert list(frame.columns) == list(fitted.get_feature_names_out()[first:])
    with pytest.raises(ValueError, match="structure_only: the vectors have no structure columns"):
        HONE("hone-p", n_components=8).fit(blocks).transform(blocks, structure_only=True)


def test_edges_of_new_nodes_are_enough(fitted, blocks, tmp_path):
    """Their proximity columns are those that the whole graph gives them, also by a model from a file."""
    more = [(200, 3), (200, 17), (201, 200)]
    z = proximity(fitted)
    whole = fitted.transform(grown(blocks, more), new_only=True)
    fitted.save(tmp_path / "blocks.hone")
    for model in (fitted, HONE.load(tmp_path / "blocks.hone")):
        found = model.transform(Graph(more), added_only=True)
        np.testing.assert_array_equal(found, whole[:, z])
    with pytest.raises(ValueError, match="structure_only"):
        fitted.transform(Graph(more), added_only=True, structure_only=True)
    with pytest.raises(ValueError, match="added_only: the rows of a matrix"):
        HONE(n_components=16).fit(blocks.adjacency()).transform(blocks.adjacency()[:2], added_only=True)


def test_what_was_loaded_has_no_report(fitted, tmp_path):
    fitted.save(tmp_path / "m.hone")
    loaded = HONE.load(tmp_path / "m.hone")
    assert not hasattr(loaded, "report_") and not hasattr(loaded, "motif_importance_")
    # A model says what "auto" stood for.
    decided = {"degree": "out", "reverse": 0.0, "structure": {**fitted.config_["structure"], "motifs": "all"}}
    assert loaded.config_ == {**fitted.config_, **decided}
    files = write_embedding(tmp_path / "z.npy", loaded)
    assert not any(file.endswith(".run.json") for file in files)
    np.testing.assert_array_equal(read_embedding(tmp_path / "z.npy").vectors, fitted.embedding_)
    assert loaded.config["global.dim"] == 16 and "psi" not in loaded.config, "what is as in the default is not named"
    assert "stages" in loaded.fit("builtin:karate").report_


def test_directed_models():
    """Nodes of the fit stay, new ones are placed by arcs either way, rows are arcs to fitted nodes."""
    graph = networkx.gnp_random_graph(80, 0.06, seed=3, directed=True)
    hone = HONE(n_components=16).fit(graph)
    last = sum(not name.startswith("structure_") for name in hone.get_feature_names_out())
    grown = graph.copy()
    grown.add_edges_from([(80, 3), (80, 9), (12, 81)])
    placed = hone.transform(grown)
    np.testing.assert_array_equal(placed[:80, :last], hone.embedding_[:, :last])
    assert np.abs(placed[80:, :last]).max(axis=1).min() > 0
    with pytest.raises(ValueError, match="of a directed graph"):
        hone.transform(graph.to_undirected())
    adjacency = networkx.to_scipy_sparse_array(graph, dtype=np.float32, format="csr")
    by_matrix = HONE(n_components=16).fit(adjacency)
    row = np.zeros((1, 80), dtype=np.float32)
    row[0, [3, 9]] = 1
    arcs = graph.copy()
    arcs.add_edges_from([(80, 3), (80, 9)])
    found, expected = by_matrix.transform(row)[0, :last], hone.transform(arcs)[80, :last]
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.fixture
def payments(tmp_path):
    """Payments, a fit of them, and the same read from a file."""
    rng = np.random.default_rng(3)
    ends = np.unique(rng.integers(0, 40, (200, 2)), axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    names = np.array([f"p{k}" for k in range(40)])
    columns = {"from": names[ends[:, 0]], "to": names[ends[:, 1]], "note": "x", "amount": rng.uniform(1, 9, len(ends))}
    table = pandas.DataFrame(columns)
    hone = HONE(n_components=8, weight="amount", directed=True).fit(table)
    hone.save(tmp_path / "payments.hone")
    return table, hone, HONE.load(tmp_path / "payments.hone")


def test_graphs_are_read_as_that_of_the_fit(payments):
    table, hone, loaded = payments
    plain = table[["from", "to", "amount"]]
    named = plain.rename(columns={"amount": "weight"})
    triples = list(plain.itertuples(index=False, name=None))
    graph = Graph(table, directed=True, weight="amount")
    later = plain.assign(to=plain["to"].replace("p0", "new"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", HoneWarning)
        for x in (table, plain, graph, triples):
            np.testing.assert_array_equal(hone.transform(x), hone.embedding_)
        for x in (plain, named, graph, triples, graph.to_networkx()):
            np.testing.assert_array_equal(loaded.transform(x), hone.embedding_)
    new = hone.transform(later, new_only=True)
    np.testing.assert_array_equal(loaded.transform(later, new_only=True), new)


def test_weights_that_a_loaded_model_cannot_name(payments):
    table, hone, loaded = payments
    with pytest.raises(ValueError, match="none of the columns .*; the fit has weights: set_params"):
        loaded.transform(table)
    with pytest.raises(ValueError, match="no edge has the attribute 'weight'; the fit has weights: set_params"):
        loaded.transform(networkx.DiGraph([("p0", "p1")]))
    np.testing.assert_array_equal(loaded.set_params(weight="amount").transform(table), hone.embedding_)


def test_fits_of_graphs_with_weights_read_tables_with_weights(payments):
    table, hone, _ = payments
    graph = Graph(table, directed=True, weight="amount")
    again = HONE(n_components=8).fit(graph)
    np.testing.assert_array_equal(again.transform(table[["from", "to", "amount"]]), hone.embedding_)
    undirected = HONE(n_components=8).fit(table[["from", "to"]])
    with pytest.warns(HoneWarning, match="the fit has none"):
        undirected.transform(table[["from", "to", "amount"]].iloc[:-1])


@pytest.mark.parametrize("kind", ["arrow", "polars", "duckdb", "cursor"])
def test_updates_by_tables_of_any_kind(kind, blocks):
    module = pytest.importorskip({"arrow": "pyarrow", "cursor": "duckdb"}.get(kind, kind))
    weighted = Graph(blocks.adjacency() * np.float32(2), weighted=True)
    columns = {"payer": [200, 200, 5], "payee": [0, 1, 200], "amount": [1.5, 2.0, 0.5]}
    query = "VALUES (200, 0, 1.5::decimal(4, 1)), (200, 1, 2.0), (5, 200, 0.5)"
    table = {
        "arrow": lambda: module.table(columns),
        "polars": lambda: module.DataFrame(columns),
        "duckdb": lambda: module.connect().sql(f"FROM ({query})"),
        "cursor": lambda: module.connect().execute(query),
    }[kind]()
    edges = list(zip(*columns.values()))
    expected = HONE(n_components=8).fit(weighted).update(added=edges)
    found = HONE(n_components=8).fit(weighted).update(added=table)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)
