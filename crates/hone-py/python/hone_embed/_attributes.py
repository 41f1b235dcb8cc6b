"""Attributes of nodes: columns of numbers, sparse matrices, or tables with text and categories too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Optional

import numpy as np
import scipy.sparse

from hone_embed._ids import is_missing, per_node

#: Columns with their names: numbers, texts, or nodes and numbers of a sparse matrix.
Columns = list[tuple[str, Any]]


def attribute_columns(values: Any, ids: np.ndarray, config: str = "{}") -> Optional[Columns]:
    """Attributes as the library takes them, unless the configuration names a file of them too."""
    if values is None:
        return None
    if json.loads(config).get("attributes", {}).get("file"):
        raise ValueError("attributes: config names a file of attributes too; leave one of the two out")
    if scipy.sparse.issparse(values):
        columns: Any = scipy.sparse.csc_array(values, dtype=np.float32)
        columns.sum_duplicates()
        ends, rows = columns.indptr, columns.indices.astype(np.uint32)
        parts = [slice(ends[k], ends[k + 1]) for k in range(columns.shape[1])]
        return [(f"x{k}", (rows[part], columns.data[part])) for k, part in enumerate(parts)]
    numbers = None if isinstance(values, Mapping) else _numbers(values)
    if numbers is not None:
        return numbers
    return [(name, _texts(column)) for name, column in _table(values, ids).items()]


def _numbers(values: Any) -> Optional[Columns]:
    """Columns of finite numbers, with their names; None for a table that has anything else."""
    names = [str(name) for name in _names(values)]
    try:
        array = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError):
        if names:
            return None
        raise ValueError("attributes: an array has numbers; give text as a table, whose columns have names") from None
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise ValueError(f"attributes: {array.ndim} dimensions; one row per node, one column per attribute is expected")
    if not np.isfinite(array).all():
        if names:
            return None
        raise ValueError("attributes: not all values are finite; fill or drop what is missing")
    names = names or [f"x{k}" for k in range(array.shape[1])]
    return [(name, np.ascontiguousarray(array[:, k])) for k, name in enumerate(names)]


def _texts(column: Any) -> list[Optional[str]]:
    return [None if is_missing(value) else str(value) for value in column]


def _names(values: Any) -> list[Any]:
    """The names of the columns of a table; none of an array."""
    return list(getattr(values, "column_names", getattr(values, "columns", [])))


def _table(values: Any, ids: np.ndarray) -> dict[str, list[Any]]:
    names = list(values) if isinstance(values, Mapping) else _names(values)
    return {str(name): per_node(_column(values[name]), ids, f"attributes: {name}") for name in names}


def _column(values: Any) -> Any:
    return values.to_pylist() if hasattr(values, "to_pylist") else values
