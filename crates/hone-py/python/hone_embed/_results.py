"""What results share: a line in a terminal, a table in a notebook, a data frame when asked for."""

from __future__ import annotations

import html
from typing import Any

import numpy as np

from hone_embed._cursors import pyarrow_for

#: Rows and columns that a notebook shows.
SHOWN_ROWS, SHOWN_COLUMNS = 10, 12


class Table:
    """A result with named columns; a column ``id`` has the ids of the rows."""

    def _columns(self) -> dict[str, Any]:
        """All columns, of one length."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """The result as a pandas DataFrame; a column ``id`` is its index."""
        import pandas

        frame = pandas.DataFrame(self._columns())
        return frame.set_index("id") if "id" in frame else frame

    def to_arrow(self) -> Any:
        """The result as a pyarrow table; vectors are one column of lists of one length."""
        return pyarrow_for("to_arrow").table(self._columns())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The same for any library that takes Arrow streams."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        columns = self._columns()
        names = list(columns) if len(columns) <= SHOWN_COLUMNS else [*list(columns)[: SHOWN_COLUMNS - 1], "…"]
        return f"{type(self).__name__}({_rows(columns)} rows: {', '.join(names)})"

    def _repr_html_(self) -> str:
        columns = self._columns()
        rows, shown = _rows(columns), dict(list(columns.items())[:SHOWN_COLUMNS])
        head = "".join(f"<th>{html.escape(name)}</th>" for name in shown)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(values[row]))}</td>" for values in shown.values()) + "</tr>"
            for row in range(min(rows, SHOWN_ROWS))
        )
        size = f"{type(self).__name__}: {rows} rows, {len(columns)} columns"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{size}</p>"


class Parts:
    """A result of several parts; arrays and lists are shown by their sizes."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_size(part)}' for name, part in vars(self).items())})"


def _size(part: Any) -> str:
    if isinstance(part, np.ndarray):
        return " × ".join(map(str, part.shape))
    return str(len(part)) if isinstance(part, (dict, list)) else repr(part)


def columns_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The columns of rows that name their entries; None where a row has no such entry.

    >>> columns_of([{"a": 1}, {"a": 2, "b": 3}])
    {'a': [1, 2], 'b': [None, 3]}
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _rows(columns: dict[str, Any]) -> int:
    return len(next(iter(columns.values()), ()))


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
