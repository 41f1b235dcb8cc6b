"""Streams of Arrow, as databases and data frames give them: columns of edges and of ids, read batch by batch.

Text is numbered batch by batch: of each name one copy is kept, and a number per row.
"""

from __future__ import annotations

import uuid
from typing import Any, Optional

import numpy as np

from hone_embed._ids import id_array, weight_array


def is_stream(data: Any) -> bool:
    """Whether an object gives an Arrow stream of record batches."""
    return hasattr(data, "__arrow_c_stream__")


def pyarrow_for(use: str) -> Any:
    """The module pyarrow, or an error that says what needs it."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"{use} needs pyarrow: pip install pyarrow") from None
    return pyarrow


class Batches:
    """The batches of a stream, the first rows of which can be looked at."""

    def __init__(self, data: Any) -> None:
        reader = pyarrow_for("an Arrow stream").RecordBatchReader.from_stream(data)
        self.names: list[str] = list(reader.schema.names)
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
        self._columns = {name: Pieces() for name in names}
        self._kind: Optional[str] = None
        self._row = 0

    def add(self, batch: Any, places: tuple[int, ...]) -> None:
        for (name, pieces), place in zip(self._columns.items(), places):
            column = batch.column(place)
            if column.null_count:
                row = self._row + column.is_null().to_pylist().index(True)
                raise ValueError(f"{name}: row {row} has no id; drop the rows without one")
            whole = _value_type(column.type) in ("int", "uint")
            self._check_kind("integers" if whole else "names", name)
            pieces.add(id_array(_plain(column).to_numpy(zero_copy_only=False), name) if whole else self._numbered(column, name))
        self._row += batch.num_rows

    def columns(self) -> list[np.ndarray]:
        return [pieces.joined(np.int64) for pieces in self._columns.values()]

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
    """An array that grows by pieces."""

    def __init__(self) -> None:
        self._pieces: list[np.ndarray] = []

    def add(self, piece: np.ndarray) -> None:
        self._pieces.append(piece)

    def joined(self, kind: Any) -> np.ndarray:
        joined = np.concatenate([np.empty(0, dtype=kind), *self._pieces])
        self._pieces.clear()
        return joined


def edge_columns(
    batches: Batches, places: tuple[int, int], weight: Optional[int]
) -> tuple[np.ndarray, np.ndarray, Optional[np.ndarray], Optional[np.ndarray]]:
    """The ends of edges, their weights and, where ids are names, the names, which ends are then numbers of.

    Names are in the order in which a reader of rows meets them.
    """
    ids, weights = Ids("source", "target"), Pieces()
    for batch in batches:
        ids.add(batch, places)
        if weight is not None:
            weights.add(weight_array(batch.column(weight).to_numpy(zero_copy_only=False)))
    sources, targets = ids.columns()
    found = None if weight is None else weights.joined(np.float32)
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
    numbers = ids.columns()[0]
    return np.asarray(list(ids.names), dtype=np.str_)[numbers] if ids.are_names() else numbers


def vector_table(ids: np.ndarray, vectors: np.ndarray) -> Any:
    """Ids and vectors, these as one column of lists of one length, which shares the memory of the array."""
    pyarrow = pyarrow_for("to_arrow")
    values = pyarrow.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
    column = pyarrow.FixedSizeListArray.from_arrays(values, vectors.shape[1])
    return pyarrow.table({"id": pyarrow.array(ids.tolist() if ids.dtype.kind == "O" else ids), "vector": column})


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
    raise ValueError(f"{name}: ids of type {kind}; use integers or names")
