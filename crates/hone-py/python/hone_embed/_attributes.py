"""Attributes of nodes: columns of numbers, or tables with text and categories too, which the library reads by its rules for files."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import tempfile
from collections.abc import Generator, Mapping
from typing import Any, Optional

import numpy as np

from hone_embed._ids import is_missing, per_node

#: What the column of ids is called in a table that is handed over as a file.
ID = "node id"

Columns = tuple[np.ndarray, list[str]]


@contextlib.contextmanager
def with_attributes(values: Any, ids: np.ndarray, config: str) -> Generator[tuple[Optional[Columns], str]]:
    """Attributes as the library takes them: columns of numbers beside a configuration, or a file that the configuration names."""
    numbers = None if values is None or isinstance(values, Mapping) else _numbers(values)
    if values is None or numbers is not None:
        yield numbers, config
        return
    settings = json.loads(config)
    if settings["attributes"].get("file"):
        raise ValueError("attributes: config names a file of attributes too; leave one of the two out")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "attributes.csv")
        _write(file, _table(values, ids), ids)
        settings["attributes"]["file"] = file
        settings["attributes"]["table"].update(id=ID, header=True, delimiter=",")
        yield None, json.dumps(settings)


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
    return np.ascontiguousarray(array), names or [f"x{k}" for k in range(array.shape[1])]


def _names(values: Any) -> list[Any]:
    """The names of the columns of a table; none of an array."""
    return list(getattr(values, "column_names", getattr(values, "columns", [])))


def _table(values: Any, ids: np.ndarray) -> dict[str, list[Any]]:
    names = list(values) if isinstance(values, Mapping) else _names(values)
    return {str(name): per_node(_column(values[name]), ids, f"attributes: {name}") for name in names}


def _column(values: Any) -> Any:
    return values.to_pylist() if hasattr(values, "to_pylist") else values


def _write(file: str, columns: dict[str, list[Any]], ids: np.ndarray) -> None:
    with open(file, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow([ID, *columns])
        for id, *row in zip(ids.tolist(), *columns.values()):
            writer.writerow([id, *("" if is_missing(value) else value for value in row)])
