"""Every kind of graph gives the same adjacency, ids and direction as its own library says."""

import warnings

import igraph
import networkx
import numpy as np
import pandas
import polars
import pyarrow
import pytest
import rustworkx
import scipy.sparse
from hone_embed import HONE, Graph, HoneWarning, count_orbits, read_graph

PAIRS = [[30, 10], [10, 20], [20, 30], [20, 40]]
EDGES = np.array(PAIRS)
WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0])
IDS = [10, 20, 30, 40]


def dense(graph):
    return graph.adjacency().toarray()


def truth(edges, ids, weights=None, directed=False):
    """Adjacency by a dictionary of positions."""
    place = {id: k for k, id in enumerate(ids)}
    matrix = np.zeros((len(ids), len(ids)))
    for k, (u, v) in enumerate(edges):
        weight = 1.0 if weights is None else weights[k]
        matrix[place[u], place[v]] = weight
        if not directed:
            matrix[place[v], place[u]] = weight
    return matrix


def check(graph, ids=IDS, weights=None, directed=False, edges=PAIRS):
    assert list(graph.node_ids) == list(ids)
    assert graph.directed == directed
    assert graph.weighted == (weights is not None)
    np.testing.assert_array_equal(dense(graph), truth(edges, ids, weights, directed))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint16, np.uint64])
def test_edge_arrays(kind, directed):
    edges = EDGES.astype(kind)
    for form in (edges, edges.T, np.asfortranarray(edges), edges[::-1][::-1]):
        check(Graph(form, directed=directed), directed=directed)
    weighted = Graph(edges, directed=directed, edge_weight=WEIGHTS)
    check(weighted, weights=WEIGHTS, directed=directed)


def test_edge_lists_of_names_and_objects():
    names = [(str(u), str(v)) for u, v in EDGES]
    for form in (names, np.array(names), np.array(names, dtype=object)):
        check(Graph(form), ids=["30", "10", "20", "40"], edges=names)
    mixed = [((0, 1), "b"), ("b", 3.5), (3.5, (0, 1))]
    array = np.empty((3, 2), dtype=object)
    for k, pair in enumerate(mixed):
        array[k, 0], array[k, 1] = pair
    check(Graph(array), ids=[(0, 1), "b", 3.5], edges=mixed)


def test_two_by_two_is_two_rows():
    assert Graph(np.array([[1, 2], [3, 4]])).n_edges == 2
    np.testing.assert_array_equal(dense(Graph(np.array([[1, 2], [3, 4]]))), truth([(1, 2), (3, 4)], [1, 2, 3, 4]))


def test_node_lists_fix_the_order_and_keep_isolated_nodes():
    order = [99, 40, 30, 20, 10]
    check(Graph(EDGES, nodes=order), ids=order)
    check(Graph(EDGES, nodes=np.array(order)), ids=order)
    check(Graph(EDGES, nodes=range(50)), ids=range(50))
    check(Graph(EDGES, nodes=50), ids=range(50))
    names = [(str(u), str(v)) for u, v in EDGES]
    check(Graph(names, nodes=[str(id) for id in order]), ids=[str(id) for id in order], edges=names)
    with pytest.raises(ValueError, match=r"edge 0 has the id (np.int64\()?30\)?, which is not in the list"):
        Graph(EDGES, nodes=[10, 20])
    with pytest.raises(ValueError, match="twice"):
        Graph(EDGES, nodes=[10, 10])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("kind", [scipy.sparse.csr_array, scipy.sparse.csr_matrix])
def test_matrices(random_matrix, form, kind):
    undirected, directed = (kind(matrix).asformat(form) for matrix in random_matrix)
    for matrix, is_directed in ((undirected, False), (directed, True)):
        graph = Graph(matrix)
        assert graph.directed == is_directed
        np.testing.assert_array_equal(dense(graph), matrix.toarray())
        np.testing.assert_array_equal(graph.node_ids, np.arange(40))
    either = Graph(directed, directed=False)
    np.testing.assert_array_equal(dense(either), (directed + directed.T).toarray() > 0)
    arcs = Graph(undirected, directed=True)
    assert arcs.directed and arcs.n_edges == undirected.tocsr().nnz
    np.testing.assert_array_equal(dense(Graph(directed.toarray())), directed.toarray())


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_matrices_with_weights_and_wide_indices(random_matrix, index):
    matrix = random_matrix[1].copy()
    matrix.data = np.arange(1.0, matrix.nnz + 1)
    for part in (matrix, (matrix + matrix.T).tocsr()):
        part = part.copy()
        part.indices, part.indptr = part.indices.astype(index), part.indptr.astype(index)
        for form in (part, part.tocsc()):
            np.testing.assert_array_equal(dense(Graph(form, weighted=True)), part.toarray())
    both = Graph(matrix, weighted=True, directed=False)
    np.testing.assert_array_equal(dense(both), (matrix + matrix.T).toarray())


def test_matrices_that_need_mending():
    unsorted = scipy.sparse.csr_array((np.ones(5), np.array([2, 1, 0, 2, 0]), np.array([0, 2, 4, 5])), shape=(3, 3))
    with pytest.warns(HoneWarning, match="merged 1 duplicate edge"):
        doubled = Graph(scipy.sparse.csr_array((np.ones(4), [1, 1, 0, 1], [0, 2, 3, 4]), shape=(3, 3)), directed=True)
    assert doubled.n_edges == 3
    np.testing.assert_array_equal(dense(Graph(unsorted, directed=True)), unsorted.toarray())
    with pytest.warns(HoneWarning, match="dropped 3 self-loops"):
        looped = Graph(np.ones((3, 3)))
    np.testing.assert_array_equal(dense(looped), 1 - np.eye(3))
    assert looped.dropped == {"self_loops": 3, "duplicates": 0, "weights": 0}
    zeros = scipy.sparse.csr_array(
        (np.array([1.0, 0.0, 1.0]), np.array([1, 2, 0]), np.array([0, 2, 3, 3])), shape=(3, 3)
    )
    assert Graph(zeros).n_edges == 1 and zeros.nnz == 3


def test_names_of_rows(random_matrix):
    names = [f"n{k}" for k in range(40)]
    assert list(Graph(random_matrix[0], nodes=names).node_ids) == names
    with pytest.raises(ValueError, match="2 ids for 40 rows"):
        Graph(random_matrix[0], nodes=["a", "b"])


@pytest.mark.parametrize("kind", [networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph])
def test_networkx(kind):
    graph = kind()
    graph.add_node("alone")
    graph.add_weighted_edges_from([(*edge, weight) for edge, weight in zip(EDGES.tolist(), WEIGHTS)])
    ids = ["alone", 30, 10, 20, 40]
    check(Graph(graph), ids=ids, directed=graph.is_directed())
    check(Graph(graph, weighted=True), ids=ids, weights=WEIGHTS, directed=graph.is_directed())
    check(Graph(graph, directed=True), ids=ids, directed=True, edges=[edge[:2] for edge in graph.edges()])
    expected = networkx.to_numpy_array(graph, weight=None)
    np.testing.assert_array_equal(dense(Graph(graph)), expected)
    with pytest.raises(ValueError, match="no edge has the attribute 'cost'"):
        Graph(graph, weighted=True, weight="cost")


def test_networkx_parallel_edges_add_up():
    graph = networkx.MultiGraph([("a", "b", {"weight": 2}), ("a", "b", {"weight": 3}), ("b", "c", {})])
    with pytest.warns(HoneWarning, match="merged 1 duplicate edge"):
        found = Graph(graph, weighted=True)
    np.testing.assert_array_equal(dense(found), networkx.to_numpy_array(graph))


def test_igraph():
    for directed in (False, True):
        graph = igraph.Graph(n=4, edges=[(2, 0), (0, 1), (1, 2), (1, 3)], directed=directed)
        graph.es["weight"] = WEIGHTS
        np.testing.assert_array_equal(dense(Graph(graph)), np.array(list(graph.get_adjacency())))
        weighted = Graph(graph, weighted=True)
        np.testing.assert_array_equal(dense(weighted), graph.get_adjacency_sparse("weight").toarray())
        graph.vs["name"] = ["a", "b", "c", "d"]
        assert list(Graph(graph).node_ids) == ["a", "b", "c", "d"]
        assert Graph(graph).directed == directed


@pytest.mark.parametrize("kind", [rustworkx.PyGraph, rustworkx.PyDiGraph])
def test_rustworkx(kind):
    graph = kind()
    graph.add_nodes_from(["gone", "a", "b", "c"])
    graph.add_edges_from([(1, 2, 2.0), (2, 3, 5.0), (0, 3, 1.0)])
    graph.remove_node(0)
    directed = kind is rustworkx.PyDiGraph
    found = Graph(graph, weighted=True)
    assert found.directed == directed and list(found.node_ids) == [1, 2, 3]
    matrix = (rustworkx.digraph_adjacency_matrix if directed else rustworkx.graph_adjacency_matrix)(graph, float)
    np.testing.assert_array_equal(dense(found), matrix)


class Tensor:
    """A stand-in with what the converters use of a torch tensor."""

    def __init__(self, values):
        self._values = np.asarray(values)

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self._values


class Data:
    """A stand-in for torch_geometric.data.Data."""

    def __init__(self, edge_index, num_nodes, **more):
        self.edge_index, self.num_nodes = Tensor(edge_index), num_nodes
        self.__dict__.update(more)


Data.__module__ = "torch_geometric.data.data"


class DGLGraph:
    """A stand-in for dgl.DGLGraph."""

    def __init__(self, sources, targets, nodes, edata):
        self._ends, self._nodes, self.edata = (Tensor(sources), Tensor(targets)), nodes, edata

    def edges(self):
        return self._ends

    def num_nodes(self):
        return self._nodes


DGLGraph.__module__ = "dgl.heterograph"


def test_tensors():
    arcs = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    weights = Tensor([[2.0], [2.0], [3.0], [3.0]])
    for graph in (Data(arcs, 4), DGLGraph(*arcs, 4, {})):
        found = Graph(graph)
        check(found, ids=range(4), edges=[(0, 1), (1, 2)])
        assert Graph(graph, directed=True).n_edges == 4
        with pytest.raises(
            ValueError, match="no edge has the attribute 'edge_weight'|no edge has the attribute 'weight'"
        ):
            Graph(graph, weighted=True)
    for graph in (Data(arcs, 4, edge_attr=weights), DGLGraph(*arcs, 4, {"w": weights})):
        check(Graph(graph, weighted=True), ids=range(4), edges=[(0, 1), (1, 2)], weights=[2, 3])
        both = Graph(graph, weighted=True, directed=False)
        np.testing.assert_array_equal(dense(both), dense(Graph(graph, weighted=True)))
    one_way = Graph(Data(arcs[:, ::2], 3))
    assert one_way.directed and one_way.n_edges == 2
    wide = Data(arcs, 4, edge_attr=Tensor(np.ones((4, 2))))
    with pytest.raises(ValueError, match=r"shape \(4, 2\)"):
        Graph(wide, weighted=True)


def tables(columns):
    yield pandas.DataFrame(columns)
    yield polars.DataFrame(columns)
    yield polars.LazyFrame(columns)
    yield pyarrow.table(columns)
    yield pyarrow.record_batch(columns)


def test_tables():
    columns = {"since": [1, 2, 3, 4], "Source": EDGES[:, 0], "Target": EDGES[:, 1], "weight": WEIGHTS}
    for table in tables(columns):
        check(Graph(table))
        check(Graph(table, weighted=True), weights=WEIGHTS)
        check(Graph(table, directed=True), directed=True)
        check(Graph(table, source="Target", target=1, directed=True), directed=True, edges=EDGES[:, ::-1].tolist())
        assert dense(Graph(table, weight="since")).max() == 4
        with pytest.raises(ValueError, match="no column 'who'; columns: since, Source"):
            Graph(table, source="who")
    names = {"a": ["x", "y", "z"], "b": ["y", "z", "w"]}
    for table in tables(names):
        check(Graph(table), ids=["x", "y", "z", "w"], edges=list(zip(names["a"], names["b"])))
        with pytest.raises(ValueError, match="none of the columns a, b is called weight"):
            Graph(table, weighted=True)


def test_tables_with_holes_are_refused():
    for column in ([1, None, 3], ["x", None, "y"]):
        for table in tables({"source": column, "target": column[::-1]}):
            with pytest.raises(ValueError, match="source: row 1 has no id"):
                Graph(table)


def test_adjacency_tables(karate):
    table = networkx.to_pandas_adjacency(networkx.relabel_nodes(karate, str), weight=None)
    graph = Graph(table)
    assert list(graph.node_ids) == [str(k) for k in range(34)] and graph.n_edges == 78


def test_files(tmp_path):
    file = tmp_path / "graph.csv"
    file.write_text("source,target,weight\nann,bob,2\nbob,cid,3\n")
    edges = [("ann", "bob"), ("bob", "cid")]
    with pytest.warns(HoneWarning, match=r"dropped 2 weights \(weighted=True keeps weights\)"):
        check(Graph(file), ids=["ann", "bob", "cid"], edges=edges)
    for graph in (Graph(str(file), weighted=True), read_graph(file, weighted=True), read_graph(file, weight="weight")):
        check(graph, ids=["ann", "bob", "cid"], edges=edges, weights=[2, 3])
    assert Graph(file, weighted=True, directed=True).directed
    nodes = tmp_path / "nodes.txt"
    nodes.write_text("zoe\ncid\nbob\nann\n")
    assert list(read_graph(file, nodes=nodes, weighted=True).node_ids) == ["zoe", "cid", "bob", "ann"]
    assert Graph("builtin:karate").n_edges == 78


def test_files_are_read_as_they_are_meant(tmp_path):
    file = tmp_path / "graph.csv"
    file.write_text("tweet,tag\nann,bob\nbob,cid\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for read in (read_graph, Graph):
            graph = read(file)
            assert graph.n_nodes == 3 and "a header, edges from `tweet` to `tag` (first edge ann → bob)" in graph.reading
        assert read_graph(file, header=True).n_edges == 2
        assert read_graph(file, header=False).n_nodes == 5
        file.write_text("t1,rust\n#rust,t2\n")
        assert read_graph(file, comment="#").n_nodes == 2
        assert read_graph(file, comment="none").n_nodes == 4
    with pytest.raises(ValueError, match='line 2: a line that begins with # .*comment="none" reads them as data'):
        read_graph(file)
    with pytest.raises(ValueError, match="comment"):
        read_graph(file, comment="ab")
    file.write_text("Ann Lee|Bob Ray|p|q\n")
    graph = read_graph(file)
    assert list(graph.node_ids) == ["Ann Lee", "Bob Ray"] and "column 2 and column 3 not used" in graph.reading
    nodes = tmp_path / "nodes.txt"
    nodes.write_text('"id"\nBob Ray\n"#a"\nAnn Lee\n')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = read_graph(file, source=0, target=1, nodes=nodes)
    assert list(graph.node_ids) == ["id", "Bob Ray", "#a", "Ann Lee"]


def test_columns_of_tables_are_found_as_those_of_files(tmp_path):
    """The same columns, weights and warnings, whether a table is in memory or in a file."""
    rows = {"a": [1, 2, 3], "b": [2, 3, 4]}
    tables = [
        {**rows, "when": [7, 8, 9]},
        {**rows, "amount": [1.5, 2.5, 3.5]},
        {"weight": [1.5, 2.5, 3.5], **rows},
        {"row": ["r1", "r2", "r3"], "from": ["x", "y", "z"], "to": ["y", "z", "w"], "kind": ["k", "k", "l"]},
        {"Unnamed: 0": [0, 1, 2], **rows, "count": [1, 2, 3]},
        {"user": [1, 2, 3], "item": [1, 2, 3], "rating": [5, 4, 3]},
        {"id": ["a", "b", "c"], "source": [1, 2, 3], "target": [2, 3, 1]},
    ]
    for columns in tables:
        frame = pandas.DataFrame(columns)
        frame.to_csv(tmp_path / "t.csv", index=False)
        for weighted in (None, True, False):
            found = []
            for data in (None, frame, polars.DataFrame(columns)):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    try:
                        file = tmp_path / "t.csv"
                        graph = read_graph(file, header=True, weighted=weighted) if data is None else Graph(data, weighted=weighted)
                        facts = graph.node_ids.tolist(), dense(graph).tolist(), graph.dropped
                    except ValueError as error:
                        # Without the line of the file, and the remedy.
                        facts = str(error).split(": ")[1].split(" (")[0]
                said = [str(warning.message).replace(str(tmp_path / "t.csv"), "the table") for warning in caught]
                # What cannot be read may have been warned of before.
                said = [] if isinstance(facts, str) else said
                found.append((facts, said))
            assert found[0] == found[1] == found[2], (columns, weighted)


def test_surplus_columns_of_tables_are_noted():
    table = pandas.DataFrame({"who": [1, 2], "whom": [2, 3], "when": [7, 8], "how": ["by car", "by train"]})
    said = "edges from `who` to `whom` (first edge 1 → 2), `when` and `how` not used; `source`, `target`, `weight` and `bipartite` decide otherwise"
    assert Graph(table).reading == f"the table: {said}"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Graph(table, source="who", target="whom").n_edges == 2


def test_square_tables_are_not_guessed():
    """Numbered rows and columns: an edge list without a header, or an adjacency."""
    edges = pandas.DataFrame([[0, 1, 5], [1, 2, 5], [2, 3, 5]])
    matrix = pandas.DataFrame(networkx.to_numpy_array(networkx.cycle_graph(4)))
    for table in (edges, edges.iloc[:2, :2], edges.astype(float), matrix, matrix.astype(int), edges.astype("Int64")):
        with pytest.raises(ValueError, match="are an adjacency or one edge per row; pass .*csr_array.*source=0, target=1"):
            Graph(table)
    check(Graph(edges, source=0, target=1, weighted=False), ids=range(4), edges=[(0, 1), (1, 2), (2, 3)])
    check(Graph(scipy.sparse.csr_array(matrix)), ids=range(4), edges=list(networkx.cycle_graph(4).edges))
    # One reading only: ids are not decimal numbers, entries of a matrix are not names, labels are no numbers of rows.
    with pytest.warns(HoneWarning, match="dropped 1 weight"):
        assert Graph(pandas.DataFrame([[0.0, 0.5], [0.5, 0.0]])).n_edges == 1
    assert Graph(pandas.DataFrame([["a", "b", "x"], ["b", "c", "x"], ["c", "d", "x"]])).n_edges == 3
    labels = list("abcd")
    check(Graph(matrix.set_axis(labels).set_axis(labels, axis=1)), ids=labels, edges=networkx.utils.pairwise("abcda"))
    with pytest.warns(HoneWarning, match=r"shape \(2, 2\) is read as two edges"):
        assert Graph(np.array([[0, 1], [1, 1]])).n_edges == 1


def with_weights():
    """Objects that have weights, with how many."""
    undirected = networkx.Graph()
    undirected.add_weighted_edges_from([("a", "b", 2), ("b", "c", 1)])
    undirected.add_edge("c", "d")
    yield undirected, 2
    named = igraph.Graph(n=3, edges=[(0, 1), (1, 2)])
    named.es["weight"] = [1.0, 2.0]
    yield named, 2
    numbered = rustworkx.PyGraph()
    numbered.add_nodes_from("abc")
    numbered.add_edges_from([(0, 1, 2.0), (1, 2, 5.0)])
    yield numbered, 2
    arcs = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    yield Data(arcs, 3, edge_attr=Tensor([[2.0], [2.0], [3.0], [3.0]])), 4
    yield DGLGraph(*arcs, 3, {"w": Tensor([2.0, 2.0, 3.0, 3.0])}), 4
    matrix = np.array([[0, 0.5, 0], [0.5, 0, 2], [0, 2, 0]])
    yield matrix, 2
    yield scipy.sparse.csc_array(matrix), 2
    yield pandas.DataFrame(matrix, index=list("abc"), columns=list("abc")), 2
    for table in tables({"payer": ["x", "y"], "payee": ["y", "z"], "amount": [2.5, 3.5]}):
        yield table, 2


def test_weights_that_are_left_out_are_counted_and_reported():
    for data, count in with_weights():
        with pytest.warns(HoneWarning, match=rf"dropped {count} weights \(weighted=True keeps weights\)"):
            graph = Graph(data)
        assert graph.dropped["weights"] == count and not graph.weighted, type(data)
        with pytest.warns(HoneWarning, match=rf"dropped {count} weights \(weights=True uses weights\)"):
            HONE(n_components=4).fit(data)
        with pytest.warns(HoneWarning, match=rf"dropped {count} weights \(weights are not used here\)"):
            count_orbits(data)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="dropped")
            assert Graph(data, weighted=False).dropped["weights"] == count
            assert Graph(data, weighted=True).dropped["weights"] == 0
            HONE(n_components=4, weights=False).fit(data)
            HONE(n_components=4, weights=True).fit(data)


def test_what_has_no_weights_is_taken_without_a_word():
    payloads = rustworkx.PyGraph()
    payloads.add_nodes_from("abc")
    payloads.add_edges_from([(0, 1, None), (1, 2, {"since": 3})])
    ones = rustworkx.PyGraph()
    ones.add_nodes_from("ab")
    ones.add_edges_from([(0, 1, 1)])
    coloured = networkx.Graph([("a", "b", {"colour": 3})])
    arcs = np.array([[0, 1], [1, 0]])
    wide = Data(arcs, 2, edge_attr=Tensor(np.ones((2, 2))))
    matrix = networkx.to_scipy_sparse_array(networkx.path_graph(4))
    frame = pandas.DataFrame({"source": [1, 2], "target": [2, 3]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for data in (payloads, ones, coloured, wide, matrix, matrix.toarray() > 0, frame, EDGES, "builtin:karate"):
            assert Graph(data).dropped["weights"] == 0


def test_warnings_do_not_act_on_a_terminal():
    name = "a\x1b]0;t\x07\x9b2J\u202e"
    frame = pandas.DataFrame({name: [1, 2], "b": ["x", "y"], "c": ["y", "z"], "d": ["x", "x"]})
    assert "\\u{1b}]0;t" in Graph(frame).reading and "\x1b" not in Graph(frame).reading
    with pytest.raises(FileNotFoundError, match=r"\\u\{1b\}\]0;t") as raised:
        Graph(f"missing{name}.tsv")
    assert not any(mark in str(raised.value) for mark in "\x1b\x07\x9b\u202e")


def test_graphs_are_taken_as_they_are(random_matrix):
    graph = Graph(random_matrix[0])
    assert Graph(graph)._native is graph._native
    with pytest.raises(ValueError, match="directed=False"):
        Graph(graph, directed=True)
    with pytest.raises(ValueError, match="weights: the Graph has none"):
        Graph(graph, weighted=True)


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (3, TypeError, "a builtins.int is not a graph"),
        (np.zeros((3, 4)), ValueError, "neither edges"),
        (np.zeros(3), ValueError, "1 dimensions"),
        (np.array([[0.5, 1.5], [2.0, 3.0], [4.0, 5.0]]), ValueError, "neither edges"),
        (scipy.sparse.csr_array((3, 4)), ValueError, r"shape \(3, 4\)"),
        (np.array([[0, np.nan], [1, 0]]), ValueError, "NaN"),
        (pandas.DataFrame({"a": [1, 2]}), ValueError, "fewer than two columns"),
        (np.array([[0, 2**63]], dtype=np.uint64), ValueError, "2⁶³"),
    ],
)
def test_other_things_are_refused(data, error, message):
    with pytest.raises(error, match=message):
        Graph(data)


def test_negative_weights_are_refused():
    matrix = scipy.sparse.csr_array(np.array([[0, -1.0], [-1.0, 0]]))
    assert Graph(matrix).n_edges == 1
    with pytest.raises(ValueError, match="weight 0 is -1; weights must be finite and ≥ 0"):
        Graph(matrix, weighted=True)


def test_empty_graphs():
    for data in (np.empty((0, 2), int), np.empty((2, 0), int), [], networkx.Graph(), scipy.sparse.csr_array((0, 0))):
        assert (Graph(data).n_nodes, Graph(data).n_edges) == (0, 0)


def test_fields_of_packed_records():
    """Neither aligned nor at whole steps: read wrongly, unless copied."""
    records = np.zeros(4, dtype=[("pad", "i1"), ("ends", "i8", (2,)), ("weight", "f4")])
    records["ends"], records["weight"] = EDGES, WEIGHTS
    graph = Graph(records["ends"], edge_weight=records["weight"])
    np.testing.assert_array_equal(dense(graph), truth(PAIRS, IDS, WEIGHTS))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_entries_that_are_no_numbers(wrong):
    matrix = scipy.sparse.csr_array(np.array([[0, wrong], [1, 0]]))
    with pytest.raises(ValueError, match="NaN or infinity"):
        Graph(matrix)


def test_numbers_among_names_stay_numbers():
    assert Graph([("a", 1), ("b", 1)]).node_ids.tolist() == ["a", 1, "b"]


@pytest.mark.parametrize("kind", [list, tuple])
def test_lists_of_edges_with_weights(kind):
    """Also of 2 or 3, which as arrays would be 2 × M edges or a matrix."""
    for ids in (["b", "a", "c", "d"], [30, 10, 20, 40]):
        for count in (1, 2, 3, 4):
            edges = [(ids[k], ids[(k + 1) % 4], k + 0.5) for k in range(count)]
            data = kind(kind(edge) for edge in edges)
            expected = networkx.Graph()
            expected.add_weighted_edges_from(edges)
            found = Graph(data, weighted=True).to_networkx()
            assert dict(found.adjacency()) == dict(expected.adjacency())
            with pytest.warns(HoneWarning, match=f"dropped {count} weights? .weighted=True keeps weights"):
                graph = Graph(data)
            assert graph.n_edges == count and not graph.weighted
            pairs = kind(kind(edge[:2]) for edge in edges)
            assert Graph(pairs).to_networkx().edges == graph.to_networkx().edges
            assert Graph(pairs, edge_weight=[edge[2] for edge in edges]).to_networkx().adj == expected.adj
    assert Graph([(0, 1, 2), (1, 2, 3)], directed=True, weighted=True).adjacency()[1, 2] == 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([(1.0, 2.0), (2.0, 3.0)], r"source: ids of type float64; use integers \(.astype"),
        ([(1.5, 2), (2, 3)], "source: ids of type float64; use integers or names"),
        ([("a", "b", {"weight": 4})], "row 0 of the list is .*third entry is not a weight; give the NetworkX graph"),
        ([(1, 2, 1.0), ("a", "knows", "b")], "row 1 of the list is .*third entry is not a weight; leave it out"),
        ([(1, 2), (2, 3), (3, 4, 1.0)], "row 2 of the list has 3 entries, row 0 has 2 entries; give pairs"),
        ([(1, 2), "ab"], "row 1 of the list is of the type str, row 0 has 2 entries"),
        ([[0, 1, 2, 3], [1, 2, 3, 4]], "2 rows of 4; .* as a NumPy array"),
        ([np.arange(3), np.arange(2)], "a list that is no array"),
        ([(2**70, 1), (1, 2)], "ids: beyond 2⁶³; use names"),
    ],
)
def test_lists_that_are_not_edges(data, message):
    with pytest.raises(ValueError, match=message):
        Graph(data)


def test_options_of_lists():
    with pytest.raises(ValueError, match="weights: a list of pairs has none; give .source, target, weight"):
        Graph([(0, 1)], weighted=True)
    with pytest.raises(ValueError, match="edge_weight: a list of edges with weights has its own"):
        Graph([(0, 1, 2.0)], edge_weight=[1])


def test_tables_without_rows_and_ids_that_are_floats():
    empty = Graph(pandas.DataFrame({"source": [], "target": []}), nodes=3)
    assert (empty.n_nodes, empty.n_edges) == (3, 0)
    floats = pandas.DataFrame({"source": [1.0, 2.0], "target": [2.0, 3.0]})
    with pytest.raises(ValueError, match=r"float64; use integers \(\.astype\(int\)\) or names"):
        Graph(floats)
    assert Graph(floats.astype(int)).n_edges == 2
    with pytest.raises(ValueError, match="float64; use integers or names"):
        Graph(floats + 0.5)
