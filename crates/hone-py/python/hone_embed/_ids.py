"""Node ids and weights of any kind as arrays the native half takes, or as arrays to look them up in."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from hone_embed._warnings import warn


def id_array(column: Any, name: str) -> np.ndarray:
    """Ids as int64, text or, where they are neither, objects."""
    array = np.asarray(column)
    if not array.size and array.dtype.kind not in "SUT":
        # Columns of a table without rows.
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind in "iu":
        return integers(array)
    if array.dtype.kind in "SUT":
        return array.astype(np.str_)
    if array.dtype.kind == "O":
        missing = [k for k, id in enumerate(array.tolist()) if is_missing(id)]
        if missing:
            raise ValueError(f"{name}: row {missing[0]} has no id; drop the rows without one")
        return narrow(array.tolist())
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(f"{name}: row {int(np.isnan(array).argmax())} has no id; drop the rows without one")
    whole = array.dtype.kind == "f" and bool((array == np.floor(array)).all())
    integers_by = " (.astype(int))" if whole else ""
    raise ValueError(f"{name}: ids of type {array.dtype}; use integers{integers_by} or names")


def is_missing(value: Any) -> bool:
    """Whether a cell of a table has no value."""
    # NaN and NaT differ from themselves; pandas.NA answers neither yes nor no, and arrays once per entry.
    if value is None or type(value).__name__ == "NAType":
        return True
    return not isinstance(value, np.ndarray) and bool(value != value)


def narrow(ids: list[Any]) -> np.ndarray:
    """Python objects as an array of the narrowest kind: int64, text, or objects."""
    if ids and all(type(id) is str for id in ids):
        return np.asarray(ids, dtype=np.str_)
    if ids and all(isinstance(id, (int, np.integer)) and not isinstance(id, bool) for id in ids):
        try:
            return np.asarray(ids, dtype=np.int64)
        except OverflowError:
            raise ValueError("ids: beyond 2⁶³; use names instead") from None
    array = np.empty(len(ids), dtype=object)
    for k, id in enumerate(ids):
        array[k] = id
    return array


def per_node(values: Any, ids: np.ndarray, name: str) -> list[Any]:
    """One value per node: as many as there are nodes, in their order, or a mapping of ids to values; None where there is none.

    >>> per_node({"b": 2}, np.array(["a", "b"]), "labels")
    [None, 2]
    """
    if isinstance(values, Mapping):
        row_of = {id: row for row, id in enumerate(ids.tolist())}
        unknown = [id for id in values if id not in row_of]
        if unknown:
            more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
            raise ValueError(f"{name}: {unknown[0]!r} is not a node of the graph{more}")
        found: list[Any] = [None] * len(ids)
        for id, value in values.items():
            found[row_of[id]] = value
        return found
    found = values.tolist() if hasattr(values, "tolist") else list(values)
    if len(found) != len(ids):
        s = "" if len(found) == 1 else "s"
        raise ValueError(f"{name}: {len(found)} value{s} for {len(ids)} nodes; give one per node, or a mapping of ids to values")
    return found


def labels_per_node(labels: Any, ids: np.ndarray) -> list[Any]:
    """:func:`per_node` of labels, of which those of other nodes are left out, with a warning."""
    if isinstance(labels, (str, os.PathLike)):
        raise ValueError("labels: a file name is not read; pass a mapping of ids to labels")
    if isinstance(labels, Mapping):
        nodes = set(ids.tolist())
        known = {id: label for id, label in labels.items() if id in nodes}
        ignored = len(labels) - len(known)
        # If no id is known, ids of another kind were meant.
        if known and ignored:
            what = "1 labelled node is not in the graph and is" if ignored == 1 else f"{ignored} labelled nodes are not in the graph and are"
            warn(f"{what} ignored")
            labels = known
    return per_node(labels, ids, "labels")


def node_list(nodes: Any) -> np.ndarray:
    if isinstance(nodes, (int, np.integer)):
        return np.arange(int(nodes))
    ids = id_array(nodes if isinstance(nodes, np.ndarray) else list(nodes), "nodes")
    if len(set(ids.tolist())) < len(ids):
        raise ValueError("nodes: an id is given twice; give each node once")
    return ids


def positions(ids: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Where each wanted id stands in the list of all."""
    if ids.dtype.kind == "i" and wanted.dtype.kind == "i" and len(ids):
        order = np.argsort(ids, kind="stable")
        places: np.ndarray = order[np.searchsorted(ids, wanted, sorter=order).clip(max=len(ids) - 1)]
        found = ids[places] == wanted
    else:
        index = {id: k for k, id in enumerate(ids.tolist())}
        places = np.asarray([index.get(id, -1) for id in wanted.tolist()], dtype=np.int64)
        found = places >= 0
    if not found.all():
        unknown = int(np.argmin(found))
        raise ValueError(f"nodes: edge {unknown} has the id {wanted[unknown : unknown + 1].tolist()[0]!r}, which is not in the list of nodes")
    return places


def integers(values: Any) -> np.ndarray:
    """As int32 or int64, without a copy where it is one of them."""
    array: np.ndarray = _even(np.asarray(values))
    if array.dtype == np.int32 or array.dtype == np.int64:
        return array
    if array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise ValueError("ids: beyond 2⁶³; use names instead")
    return array.astype(np.int64)


def _even(array: np.ndarray) -> np.ndarray:
    """Aligned and at whole steps, as fields of packed records are not; a copy only of those."""
    steps = all(stride % array.itemsize == 0 for stride in array.strides)
    return array if array.flags.aligned and steps else array.copy()


def weight_array(values: Any) -> np.ndarray:
    try:
        with np.errstate(over="ignore"):
            return np.require(values, np.float32, ["C", "A"])
    except (TypeError, ValueError) as error:
        raise ValueError(f"weights: a weight that is not a number ({error})") from None
