"""Files for databases, and folders of Parquet files, as the libraries that read and write them see them."""

import json

import duckdb
import numpy as np
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest
from hone_embed import Graph, read_embedding, read_graph, write_embedding

VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3) / 8 - 0.5


@pytest.fixture(params=[[7, -3, 10**12, 0], ["ann", "é b", "c\td", "7"]], ids=["integers", "texts"])
def ids(request):
    return np.array(request.param)


def vectors_of(column):
    return np.array(column.to_pylist() if hasattr(column, "to_pylist") else column, dtype=np.float32)


def test_a_vector_column_is_a_list_of_fixed_length(tmp_path, ids):
    file = tmp_path / "v.parquet"
    write_embedding(file, (ids, VECTORS), format="parquet-vector")
    table = pyarrow.parquet.read_table(file)
    fixed = pyarrow.list_(pyarrow.field("element", pyarrow.float32(), nullable=False), 3)
    kind = pyarrow.int64() if ids.dtype.kind == "i" else pyarrow.string()
    expected = [pyarrow.field("id", kind, nullable=False), pyarrow.field("vector", fixed, nullable=False)]
    assert list(table.schema) == expected
    assert table.column("id").to_pylist() == ids.tolist()
    np.testing.assert_array_equal(vectors_of(table.column("vector")), VECTORS)
    metadata = pyarrow.parquet.read_metadata(file).metadata
    assert json.loads(metadata[b"hone.columns"]) == ["z0", "z1", "z2"]
    frame = polars.read_parquet(file)
    assert frame.schema["vector"] == polars.Array(polars.Float32, 3)
    np.testing.assert_array_equal(frame["vector"].to_numpy(), VECTORS)
    query = f"select vector::float[3] as x from '{file}' order by array_distance(x, [-0.5, -0.375, -0.25]::float[3])"
    np.testing.assert_array_equal(np.array(duckdb.sql(query).fetchall()[0][0]), VECTORS[0])
    back = read_embedding(file)
    assert back.node_ids.tolist() == ids.tolist()
    np.testing.assert_array_equal(back.vectors, VECTORS)


def test_vector_columns_of_others_are_read(tmp_path, ids):
    file = tmp_path / "v.parquet"
    fixed = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(VECTORS.reshape(-1)), 3)
    lists = pyarrow.array(VECTORS.tolist())
    for column in (fixed, lists):
        pyarrow.parquet.write_table(pyarrow.table({"id": ids.tolist(), "embedding": column}), file, row_group_size=3)
        back = read_embedding(file)
        assert back.node_ids.tolist() == ids.tolist() and back.columns == ["z0", "z1", "z2"]
        np.testing.assert_array_equal(back.vectors, VECTORS)
    polars.DataFrame({"id": ids.tolist(), "v": VECTORS}).write_parquet(file)
    np.testing.assert_array_equal(read_embedding(file).vectors, VECTORS)
    frame = polars.DataFrame({"id": ids.tolist(), "v": VECTORS})
    duckdb.sql("select * from frame").write_parquet(str(file))
    np.testing.assert_array_equal(read_embedding(file).vectors, VECTORS)
    assert frame.height == 4


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0, 2.0], [3.0]], "row 1, in row group 0, has 1 values where 2 are expected in column `v`"),
        ([[1.0, 2.0], [3.0, None]], "row 1, in row group 0, has a null among the values"),
        ([[1.0, 2.0], None], "row 1, in row group 0, has no vector"),
    ],
)
def test_wrong_vector_columns_are_refused_with_their_row(tmp_path, vectors, message):
    file = tmp_path / "v.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"id": [0, 1], "v": vectors}), file)
    with pytest.raises(ValueError, match=message):
        read_embedding(file)


def test_a_folder_has_files_of_some_rows(tmp_path, ids):
    for format in ("parquet", "parquet-vector"):
        folder = f"{tmp_path}/{format}/"
        write_embedding(folder, (ids, VECTORS), format=format, rows_per_file=3)
        found = pyarrow.dataset.dataset(folder)
        assert [fragment.count_rows() for fragment in found.get_fragments()] == [3, 1]
        np.testing.assert_array_equal(read_embedding(folder).vectors, VECTORS)
    with pytest.raises(ValueError, match="rows_per_file: .* is one file"):
        write_embedding(tmp_path / "v.tsv", (ids, VECTORS), rows_per_file=3)


def test_copy_is_read_back(tmp_path, ids):
    for name, format in [("v.pgvector", None), ("v.pgcopy", None), ("h.pgcopy", "pgcopy-half")]:
        write_embedding(tmp_path / name, (ids, VECTORS), format=format)
        back = read_embedding(tmp_path / name)
        assert back.node_ids.tolist() == ids.tolist()
        np.testing.assert_array_equal(back.vectors, VECTORS)  # multiples of 1/8 fit 16 bits
    with pytest.raises(ValueError, match="has the value nan|has the value NaN"):
        write_embedding(tmp_path / "n.pgcopy", (ids, np.full((4, 1), np.nan, dtype=np.float32)))


def test_a_partitioned_data_set_is_a_graph(tmp_path):
    rng = np.random.default_rng(0)
    table = pyarrow.table({name: rng.integers(0, 50, 400) for name in ("src", "dst")})
    table = table.append_column("year", pyarrow.array(rng.integers(2020, 2024, 400)))
    hive = pyarrow.dataset.partitioning(pyarrow.schema([("year", pyarrow.int64())]), flavor="hive")
    pyarrow.dataset.write_dataset(table, tmp_path / "edges", format="parquet", partitioning=hive)
    (tmp_path / "edges" / "_SUCCESS").touch()
    read, whole = read_graph(tmp_path / "edges"), Graph(np.stack([table["src"], table["dst"]], axis=1))
    assert (read.n_nodes, read.n_edges) == (whole.n_nodes, whole.n_edges)
    np.testing.assert_array_equal(read.adjacency().toarray(), whole.adjacency().toarray())


def test_ids_of_two_types_are_refused(tmp_path):
    file = tmp_path / "e.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"user": [1, 2], "item": ["a", "b"]}), file)
    with pytest.raises(ValueError, match="ids of two types: column `user` has integers, column `item` has text"):
        read_graph(file)
    assert read_graph(file, bipartite=True).n_nodes == 4
