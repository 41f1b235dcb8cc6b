"""Streams of Arrow, as databases and data frames give them: columns of edges, of ids and of vectors, read batch by batch.

Text is numbered batch by batch: of each name one copy is kept, and a number per row.
"""

from __future__ import annotations

import json
import uuid
from typing import Any, Optional

import numpy as np

from hone_embed._cursors import is_cursor, pyarrow_for, rows_of_cursor
from hone_embed._ids import id_array, weight_array


#: Where the names of the columns of vectors are, in the metadata of a table and of a Parquet file.
NAMES = "hone.columns"

#: Types of names begin with one of these.
TEXTS = ("string", "large_string", "binary", "large_binary", "fixed_size_binary", "extension")


def is_stream(data: Any) -> bool:
    """Whether an object gives an Arrow stream of record batches, or is a cursor, which gives rows."""
    return hasattr(data, "__arrow_c_stream__") or is_cursor(data)


def is_table(data: Any) -> bool:
    """Whether it gives rows and not, as a column of a data frame does, values."""
    return is_stream(data) and (hasattr(data, "schema") or hasattr(data, "columns") or is_cursor(data) or not hasattr(data, "__iter__"))


class Batches:
    """The batches of a stream, the first rows of which can be looked at."""

    def __init__(self, data: Any) -> None:
        pyarrow = pyarrow_for("an Arrow stream")
        reader = rows_of_cursor(data) if is_cursor(data) else pyarrow.RecordBatchReader.from_stream(data)
        self.metadata: dict[bytes, bytes] = reader.schema.metadata or {}
        self.names: list[str] = list(reader.schema.names)
        self.types: list[Any] = list(reader.schema.types)
        self._reader = reader
        self._head = next((batch for batch in reader if batch.num_rows), None)

    def head(self, column: int, rows: int) -> list[Any]:
        """The first values of a column."""
        return [] if self._head is None else self._head.column(column)[:rows].to_pylist()

    def __iter__(self) -> Any:
        if self._head is not None:
            yield self._head
        yield from self._reader


class Ids:
    """The ids of one or more columns: whole numbers, or numbers of names in the order in which batches have them."""

    def __init__(self, *names: str) -> None:
        self.names: dict[str, int] = {}
        self._columns = {name: Pieces(np.int64) for name in names}
        self._kind: Optional[str] = None
        self._row = 0

    def add(self, batch: Any, places: tuple[int, ...]) -> None:
        for (name, pieces), place in zip(self._columns.items(), places):
            column = batch.column(place)
            if hasattr(column, "dictionary") and column.dictionary.null_count:
                column = column.dictionary_decode()
            if column.null_count:
                row = self._row + column.is_null().to_pylist().index(True)
                raise ValueError(f"{name}: row {row} has no id; drop the rows without one")
            kind = _value_type(column.type)
            whole = kind in ("int", "uint")
            if not whole and not kind.startswith(TEXTS):
                raise ValueError(f"{name}: ids of type {column.type}; use integers or names")
            self._check_kind("integers" if whole else "names", name)
            pieces.add(id_array(_plain(column).to_numpy(zero_copy_only=False), name) if whole else self._numbered(column, name))
        self._row += batch.num_rows

    def columns(self) -> list[np.ndarray]:
        return [pieces.joined() for pieces in self._columns.values()]

    def only(self) -> np.ndarray:
        """The ids of a single column."""
        numbers = self.columns()[0]
        return np.asarray(list(self.names), dtype=np.str_)[numbers] if self.are_names() else numbers

    def are_names(self) -> bool:
        return self._kind == "names"

    def _check_kind(self, kind: str, name: str) -> None:
        if self._kind not in (None, kind):
            raise ValueError(f"{name}: its ids are {kind}, those before are {self._kind}; give ids of one kind")
        self._kind = kind

    def _numbered(self, column: Any, name: str) -> np.ndarray:
        """The numbers of names, which are looked up once per batch."""
        encoded = _plain(column).dictionary_encode()
        numbers = [self.names.setdefault(text, len(self.names)) for text in _texts(encoded.dictionary, column.type, name)]
        return np.asarray(numbers, dtype=np.int64)[encoded.indices.to_numpy(zero_copy_only=False)]


class Pieces:
    """An array that grows by pieces. They are copied at once: many small ones, once freed, would stay with the process."""

    def __init__(self, kind: Any) -> None:
        self._values = np.empty(1 << 10, dtype=kind)
        self._size = 0

    def add(self, piece: np.ndarray) -> None:
        size = self._size + len(piece)
        if size > len(self._values):
            # Memory is taken where it is written to.
            grown = np.empty(max(size, 2 * len(self._values)), dtype=self._values.dtype)
            grown[: self._size] = self._values[: self._size]
            self._values = grown
        self._values[self._size : size] = piece
        self._size = size

    def joined(self) -> np.ndarray:
        return self._values[: self._size]


def edge_columns(
    batches: Batches, places: tuple[int, int], weight: Optional[int]
) -> tuple[np.ndarray, np.ndarray, Optional[np.ndarray], Optional[np.ndarray]]:
    """The ends of edges, their weights and, where ids are names, the names, which ends are then numbers of.

    Names are in the order in which a reader of rows meets them.
    """
    ids, weights, row = Ids("source", "target"), Pieces(np.float32), 0
    for batch in batches:
        ids.add(batch, places)
        if weight is not None:
            weights.add(_weights(batch.column(weight), row))
        row += batch.num_rows
    sources, targets = ids.columns()
    found = None if weight is None else weights.joined()
    if not ids.are_names():
        return sources, targets, found, None
    met = np.full(len(ids.names), 2 * len(sources), dtype=np.int64)
    for side, ends in enumerate((sources, targets)):
        first = np.full_like(met, 2 * len(sources))
        first[ends[::-1]] = 2 * np.arange(len(ends) - 1, -1, -1) + side
        np.minimum(met, first, out=met)
    order = np.argsort(met)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[sources], rank[targets], found, np.asarray(list(ids.names), dtype=np.str_)[order]


def node_ids(data: Any) -> np.ndarray:
    """The ids of a table of nodes: its column ``id``, or its first one."""
    batches, ids = Batches(data), Ids("nodes")
    place = batches.names.index("id") if "id" in batches.names else 0
    for batch in batches:
        ids.add(batch, (place,))
    return ids.only()


def vector_table(ids: np.ndarray, vectors: np.ndarray, names: list[str]) -> Any:
    """Ids and vectors, these as one column of lists of one length, which shares the memory of the array."""
    pyarrow = pyarrow_for("to_arrow")
    values = pyarrow.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
    column = pyarrow.FixedSizeListArray.from_arrays(values, vectors.shape[1])
    table = pyarrow.table({"id": pyarrow.array(ids.tolist() if ids.dtype.kind == "O" else ids), "vector": column})
    return table.replace_schema_metadata({NAMES: json.dumps(names)})


def vectors_of(data: Any) -> tuple[np.ndarray, np.ndarray, Optional[list[str]]]:
    """Ids, vectors and, where the table has them, names of their columns: of a table with one column of lists."""
    from pyarrow.compute import call_function

    batches, ids, pieces = Batches(data), Ids("id"), []
    place, width = _vector_place(batches), None
    id_place = batches.names.index("id") if "id" in batches.names else int(place == 0)
    for batch in batches:
        row = sum(map(len, pieces))
        column = batch.column(place)
        lengths = call_function("list_value_length", [column]).fill_null(-1).to_numpy(zero_copy_only=False)
        width = int(lengths[0]) if width is None and len(lengths) else width
        for at in np.flatnonzero(lengths != width)[:1]:
            found = "no vector" if lengths[at] < 0 else f"{lengths[at]} values"
            raise ValueError(f"vector: row {row + at} has {found}, those before have {width}; vectors have one length")
        values = column.flatten()
        if values.null_count:
            at = values.is_null().to_pylist().index(True)
            raise ValueError(f"vector: row {row + at // int(width or 1)} has a null; every value must be a number")
        ids.add(batch, (id_place,))
        pieces.append(values.to_numpy(zero_copy_only=False).astype(np.float32, copy=False).reshape(len(lengths), int(width or 0)))
    names = json.loads(batches.metadata.get(NAMES.encode(), b"null"))
    vectors = np.concatenate(pieces) if pieces else np.empty((0, 0), dtype=np.float32)
    return _once(ids.only()), vectors, names if names is not None and len(names) == vectors.shape[1] else None


def _once(ids: np.ndarray) -> np.ndarray:
    """Ids, none of which is there twice."""
    order = np.argsort(ids, kind="stable")
    for at in np.flatnonzero(ids[order][1:] == ids[order][:-1])[:1]:
        first, second = order[at : at + 2].tolist()
        raise ValueError(f"id: {ids.tolist()[first]!r} has two vectors, in rows {first} and {second}; give one row per node")
    return ids


def _vector_place(batches: Batches) -> int:
    """The column of vectors: the only one of lists of numbers."""

    def are_vectors(kind: Any) -> bool:
        return "list" in str(kind).split("<")[0] and str(kind.value_type).startswith(("int", "uint", "half", "float", "double"))

    lists = [place for place, kind in enumerate(batches.types) if are_vectors(kind)]
    if len(lists) != 1 or len(batches.names) < 2:
        known = ", ".join(f"{name} ({kind})" for name, kind in zip(batches.names, batches.types))
        raise ValueError(f"embedding: a table with an id and one column of lists of numbers is expected; columns: {known}")
    return lists[0]


def _weights(column: Any, row: int) -> np.ndarray:
    """Weights from a batch that begins with this row."""
    if column.null_count:
        row += column.is_null().to_pylist().index(True)
        raise ValueError(f"weights: row {row} has none; drop the rows without one, or set it in the query")
    return weight_array(column.to_numpy(zero_copy_only=False))


def _value_type(kind: Any) -> str:
    """What the values of a column are: int, uint, string, binary and so on, whatever their width and encoding."""
    text = str(kind.value_type if hasattr(kind, "index_type") else kind)
    return text.rstrip("0123456789")


def _plain(column: Any) -> Any:
    """A column that can be encoded: extension types as what they are stored as, views and dictionaries of integers as values."""
    pyarrow = pyarrow_for("an Arrow stream")
    if hasattr(column, "storage"):
        column = column.storage
    if hasattr(column, "dictionary") and _value_type(column.type) in ("int", "uint"):
        return column.dictionary_decode()
    if str(column.type) == "string_view":
        return column.cast(pyarrow.string())
    return column


def _texts(values: Any, kind: Any, name: str) -> list[str]:
    """Names as text: those of bytes are hexadecimal, or as UUIDs are written."""
    found = values.to_pylist()
    if all(isinstance(value, str) for value in found):
        return found
    if all(isinstance(value, bytes) for value in found):
        return [str(uuid.UUID(bytes=value)) if "uuid" in str(kind) else value.hex() for value in found]
    raise ValueError(f"{name}: ids of type {kind}; use integers, text or bytes")
