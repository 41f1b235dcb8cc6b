"""Arrow streams: edges and nodes in, results out, against lists of the same."""

import os
import subprocess
import sys
import uuid

import numpy as np
import polars
import pyarrow
import pytest
from hone_embed import HONE, Graph, HoneWarning, count_orbits, neighbours

NAMES = [("ann", "bob"), ("cid", "ann"), ("bob", "cid"), ("eve", "dee"), ("dee", "ann")]


def stream(table, rows=2):
    """A stream of small batches that can be read once, and nothing else is known of."""

    class Once:
        def __arrow_c_stream__(self, requested_schema=None):
            reader = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=rows))
            return reader.__arrow_c_stream__(requested_schema)

    return Once()


def dictionary(places, values):
    return pyarrow.DictionaryArray.from_arrays(pyarrow.array(places, pyarrow.int8()), pyarrow.array(values))


def same(graph, other):
    assert repr(graph) == repr(other) and graph.node_ids.tolist() == other.node_ids.tolist()
    np.testing.assert_array_equal(graph.adjacency().toarray(), other.adjacency().toarray())


@pytest.mark.parametrize(
    "kind",
    [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view(), pyarrow.dictionary(pyarrow.int8(), pyarrow.string())],
    ids=str,
)
@pytest.mark.parametrize("rows", [1, 2, 100])
def test_names_in_any_encoding(kind, rows):
    columns = {name: pyarrow.array(ids).cast(kind) for name, ids in zip(("source", "target"), zip(*NAMES))}
    same(Graph(stream(pyarrow.table(columns), rows)), Graph(NAMES))
    directed = Graph(stream(pyarrow.table(columns), rows), directed=True, nodes=["eve", "dee", "cid", "bob", "ann"])
    same(directed, Graph(NAMES, directed=True, nodes=["eve", "dee", "cid", "bob", "ann"]))


@pytest.mark.parametrize("kind", [pyarrow.int8(), pyarrow.uint32(), pyarrow.int64()], ids=str)
def test_integers_of_any_width(kind):
    edges = [(7, 3), (3, 5), (9, 7)]
    columns = {name: pyarrow.array(ids).cast(kind) for name, ids in zip(("source", "target"), zip(*edges))}
    same(Graph(stream(pyarrow.table(columns))), Graph(edges))
    encoded = {name: column.dictionary_encode() for name, column in columns.items()}
    same(Graph(stream(pyarrow.table(encoded))), Graph(edges))


def test_ids_of_bytes():
    keys = [uuid.UUID(int=k) for k in (5, 3, 9)]
    edges = [(0, 1), (1, 2)]
    for kind, text in ((pyarrow.uuid(), str), (pyarrow.binary(16), lambda key: key.hex)):
        columns = [pyarrow.array([keys[edge[end]].bytes for edge in edges], pyarrow.binary(16)) for end in (0, 1)]
        columns = [pyarrow.ExtensionArray.from_storage(kind, column) if kind != pyarrow.binary(16) else column for column in columns]
        graph = Graph(stream(pyarrow.table(dict(zip(("source", "target"), columns)))))
        assert graph.node_ids.tolist() == [text(key) for key in keys]


def test_columns_by_name_and_place():
    table = pyarrow.table({"amount": [1.5, 2.0, 4.0], "payee": [1, 2, 3], "payer": [0, 1, 2]})
    expected = Graph([(0, 1), (1, 2), (2, 3)], edge_weight=[1.5, 2.0, 4.0])
    same(Graph(stream(table), source="payer", target="payee", weight="amount"), expected)
    same(Graph(stream(table), source=2, target=1, weight=0), expected)
    with pytest.raises(ValueError, match="table: no column 'payr'; columns: amount, payee, payer"):
        Graph(stream(table), source="payr")
    weighted = HONE(n_components=4, weight="amount").fit(stream(table.rename_columns(["amount", "source", "target"])))
    assert weighted.report_["graph"]["weighted"]
    with pytest.warns(HoneWarning, match="3 weights"):
        HONE(n_components=4).fit(table.rename_columns(["weight", "source", "target"]))


def test_tables_of_nodes_fix_the_order():
    nodes = pyarrow.table({"age": [1, 2, 3], "id": ["cid", "bob", "ann"]})
    graph = Graph([("ann", "bob")], nodes=nodes)
    assert graph.node_ids.tolist() == ["cid", "bob", "ann"] and graph.n_edges == 1
    for same in (stream(nodes), polars.DataFrame(nodes), nodes.to_pandas(), nodes.to_reader()):
        assert Graph([("ann", "bob")], nodes=same).node_ids.tolist() == ["cid", "bob", "ann"]
    for column in (polars.DataFrame(nodes)["id"], nodes.to_pandas()["id"]):
        assert Graph([("ann", "bob")], nodes=column).node_ids.tolist() == ["cid", "bob", "ann"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"source": ["a", "b", None], "target": ["b", "c", "d"]}, "source: row 2 has no id"),
        ({"source": [1, 2, 3], "target": [2, 3, None]}, "target: row 2 has no id"),
        ({"source": [1, 2, 3], "target": ["a", "b", "c"]}, "target: its ids are names, those before are integers"),
        ({"source": [0.5, 1.5], "target": [1.5, 2.5]}, "source: ids of type double"),
        ({"source": ["a", "b", "c"], "target": dictionary([0, 1, 1], ["a", None])}, "target: row 1 has no id"),
        ({"source": ["a", "b"], "target": pyarrow.RunEndEncodedArray.from_arrays([1, 2], ["c", "d"])}, "target: ids of type run_end"),
        ({"source": ["a", "b"], "target": [["c"], ["d"]]}, "target: ids of type list"),
    ],
)
def test_bad_ids(columns, message):
    with pytest.raises(ValueError, match=message):
        Graph(stream(pyarrow.table(columns)), source="source", target="target")


def test_ids_that_are_not_in_a_list_of_nodes():
    with pytest.raises(ValueError, match="nodes: edge 1 has the id 5, which is not in the list"):
        Graph([(1, 2), (2, 5)], nodes=pyarrow.table({"id": [1, 2]}))
    # A null among the values of a dictionary that no row has.
    graph = Graph(pyarrow.table({"source": ["a", "b"], "target": dictionary([0, 0], ["c", None])}))
    assert graph.node_ids.tolist() == ["a", "c", "b"]


def test_bad_weights():
    table = pyarrow.table({"source": [1, 2, 3, 4], "target": [2, 3, 4, 5], "weight": [1.0, 2.0, 3.0, None]})
    for rows in (1, 2, 100):
        with pytest.raises(ValueError, match="weights: row 3 has none"):
            Graph(stream(table, rows), weighted=True)


def test_a_source_that_fails_says_why():
    schema = pyarrow.schema([("source", pyarrow.int64()), ("target", pyarrow.int64())])

    def batches():
        yield pyarrow.record_batch({"source": [1], "target": [2]}, schema=schema)
        raise RuntimeError("the server went away")

    with pytest.raises(Exception, match="the server went away"):
        Graph(pyarrow.RecordBatchReader.from_batches(schema, batches()))


def test_tables_without_rows():
    empty = pyarrow.schema([("source", pyarrow.string()), ("target", pyarrow.string())]).empty_table()
    assert Graph(stream(empty)).n_nodes == 0
    with pytest.raises(ValueError, match="no nodes"):
        HONE().fit(empty)


def test_vectors_leave_as_one_column_without_a_copy():
    hone = HONE(n_components=24).fit("builtin:karate")
    table = hone.to_arrow()
    assert table.column_names == ["id", "vector"] and table.schema.field("vector").type == pyarrow.list_(pyarrow.float32(), 24)
    assert table["vector"].chunk(0).flatten().buffers()[1].address == hone.embedding_.ctypes.data
    np.testing.assert_array_equal(np.stack(table["vector"].to_pylist()), hone.embedding_)
    frame = polars.DataFrame(hone)
    assert frame.schema["vector"] == polars.Array(polars.Float32, 24) and frame["id"].to_list() == list(range(34))
    for result in (count_orbits(NAMES), neighbours(hone, 3)):
        assert pyarrow.table(result).to_pandas().equals(result.to_pandas())


def test_duckdb_reads_and_is_read():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE tx AS SELECT i % 40 AS src, (i * 7 + 1) % 40 AS dst FROM range(160) AS r(i) WHERE i % 40 <> (i * 7 + 1) % 40")
    hone = HONE(n_components=8).fit(connection.sql("SELECT src, dst FROM tx"))
    pairs = connection.execute("SELECT src, dst FROM tx").fetchall()
    np.testing.assert_array_equal(hone.embedding_, HONE(n_components=8).fit(pairs).embedding_)
    vectors = hone.to_arrow()  # noqa: F841, DuckDB finds it by name
    near = connection.execute(
        "SELECT b.id FROM vectors a, vectors b WHERE a.id = 3 AND b.id <> 3 ORDER BY array_distance(a.vector, b.vector), b.id LIMIT 5"
    ).fetchall()
    distances = np.linalg.norm(hone.embedding_ - hone.embedding_[3], axis=1)
    distances[3] = np.inf
    np.testing.assert_allclose(sorted(distances)[:5], distances[[row[0] for row in near]], rtol=1e-5)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured through /proc")
def test_a_stream_takes_little_more_memory_than_an_array():
    """Beyond what is there before: the array of a graph, or a stream that makes its batches when they are asked for."""
    edges = 10_000_000 if os.environ.get("HONE_EVERY_CASE") else 3_000_000
    code = f"EDGES = {edges}" + """
import sys
import numpy as np, pyarrow
from hone_embed import Graph
def batches():
    for start in range(0, EDGES, 100_000):
        k = np.arange(start, start + 100_000, dtype=np.int64)
        yield pyarrow.record_batch({"source": k % 500_000, "target": k * 7919 % 500_000})
def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
Graph([(0, 1)]), next(batches())
before = peak()
if sys.argv[1] == "array":
    data = np.concatenate([np.stack([b.column(0).to_numpy(), b.column(1).to_numpy()], axis=1) for b in batches()])
else:
    data = pyarrow.RecordBatchReader.from_batches(next(batches()).schema, batches())
graph = Graph(data)
print(peak() - before, graph.n_edges)
"""
    run = [subprocess.run([sys.executable, "-W", "ignore", "-c", code, kind], capture_output=True, text=True, check=True) for kind in ("array", "stream")]
    (array, edges), (read, same_edges) = (map(int, answer.stdout.split()) for answer in run)
    assert edges == same_edges and read < 1.3 * array, (array, read)
