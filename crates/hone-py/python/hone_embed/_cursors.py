"""Cursors of databases as batches of columns: those of ADBC give Arrow, any other of Python's DB-API gives rows.

Rows become columns some thousands at a time, so a cursor that does not fetch its whole result at once (a named one of
psycopg) needs memory for the edges alone.
"""

from __future__ import annotations

import decimal
import uuid
from collections.abc import Iterator
from typing import Any

#: Rows that are fetched at a time.
ROWS = 50_000


def pyarrow_for(use: str) -> Any:
    """The module pyarrow, or an error that says what needs it."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError(f"{use} needs pyarrow: pip install pyarrow") from None
    return pyarrow


def is_cursor(data: Any) -> bool:
    """Whether it is a cursor that gives Arrow or rows, and no stream by itself."""
    if hasattr(data, "__arrow_c_stream__"):
        return False
    return hasattr(data, "fetch_record_batch") or (hasattr(data, "fetchmany") and hasattr(data, "description"))


def rows_of_cursor(cursor: Any) -> Any:
    """What a cursor has to fetch, as a reader of record batches."""
    pyarrow = pyarrow_for("a cursor")
    if hasattr(cursor, "fetch_record_batch"):
        return cursor.fetch_record_batch()
    if cursor.description is None:
        raise ValueError("cursor: it has no rows to fetch; execute a SELECT first")
    names = [str(column[0]) for column in cursor.description]
    head = _columns(cursor.fetchmany(ROWS), names, [None] * len(names), 0)
    schema = pyarrow.schema(list(zip(names, (column.type for column in head))))

    def batches() -> Iterator[Any]:
        columns, row = head, 0
        while len(columns[0]):
            yield pyarrow.record_batch(columns, schema=schema)
            row += len(columns[0])
            columns = _columns(cursor.fetchmany(ROWS), names, schema.types, row)

    return pyarrow.RecordBatchReader.from_batches(schema, batches())


def _columns(rows: Any, names: list[str], kinds: list[Any], first: int) -> list[Any]:
    """Rows as columns: each of the type of the rows before, or, of the first rows, as their values are."""
    pyarrow = pyarrow_for("a cursor")
    columns = []
    for place, (name, kind) in enumerate(zip(names, kinds)):
        values = [_plain(row[place]) for row in rows]
        try:
            columns.append(pyarrow.array(values, type=kind))
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError) as error:
            row = first + _odd(values, kind)
            raise ValueError(f"cursor: column {name!r}, row {row}: values of two types ({error}); cast them in the query") from None
    return columns


def _odd(values: list[Any], kind: Any) -> int:
    """The first value that is not of the type of those before."""
    pyarrow = pyarrow_for("a cursor")
    for place in range(len(values)):
        try:
            pyarrow.array([values[0], values[place]], type=kind)
        except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
            return place
    return 0


def _plain(value: Any) -> Any:
    """A value that Arrow has a type for, the same for all rows."""
    if isinstance(value, uuid.UUID):
        return str(value)
    return float(value) if isinstance(value, decimal.Decimal) else value
