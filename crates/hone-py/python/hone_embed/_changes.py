"""Graphs that change: edges added and removed, new nodes given by their edges to old ones.

Arcs are arrays of numbers, row · n + column: Python loops over the changes alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from hone_embed._arrow import Batches, is_stream
from hone_embed._graph import Graph
from hone_embed._ids import narrow


def changed(graph: Graph, added: Iterable[Any], removed: Iterable[Any]) -> Graph:
    """The graph with some edges more and some less; ids that it does not have are new nodes, behind the others.

    An edge is a pair of ids, with a weight as third where the graph has weights (1 where it is left out; the
    weight of a removed edge is ignored). Adding an edge that is there changes its weight, if anything;
    removing one that is not there is an error.
    """
    ids = Ids(graph.node_ids)
    gone = [_edge(edge, ids, graph.weighted, "removed") for edge in _edges(removed)]
    new = [_edge(edge, ids, graph.weighted, "added") for edge in _edges(added)]
    n = len(ids.names)
    keys, weights = _arcs(graph, n)
    _refuse_missing(gone, keys, n, ids)
    more = _added(new, graph.directed, n, ids)
    out = np.asarray([key for edge in gone for key in _keys(edge, graph.directed, n)] + list(more), dtype=np.int64)
    kept = ~np.isin(keys, out)
    keys = np.concatenate([keys[kept], np.fromiter(more.keys(), dtype=np.int64, count=len(more))])
    weights = np.concatenate([weights[kept], np.fromiter(more.values(), dtype=np.float32, count=len(more))])
    matrix = scipy.sparse.csr_array((weights, np.divmod(keys, n)), shape=(n, n))
    return Graph(matrix, nodes=narrow(ids.names), directed=graph.directed, weighted=graph.weighted)


def with_rows(graph: Graph, rows: Any) -> Graph:
    """The graph with one node more for each row, whose entries are the edges to the nodes that it has; of a directed
    graph the arcs to them.
    """
    if not graph.weighted:
        rows = scipy.sparse.csr_array((np.ones_like(rows.data), rows.indices, rows.indptr), shape=rows.shape)
    back = scipy.sparse.csr_array(rows.shape[::-1], dtype=rows.dtype) if graph.directed else rows.T
    blocks = scipy.sparse.bmat([[graph.adjacency(), back], [rows, None]], format="csr")
    ids = narrow([*graph.node_ids.tolist(), *_unused(rows.shape[0], graph.node_ids)])
    grown = scipy.sparse.csr_array(blocks, dtype=np.float32)
    return Graph(grown, nodes=ids, directed=graph.directed, weighted=graph.weighted)


class Edge(NamedTuple):
    """An edge by the rows of its ends."""

    i: int
    j: int
    weight: float


class Ids:
    """Ids of the nodes of a graph, to which new ones of the same kind are added."""

    def __init__(self, ids: np.ndarray) -> None:
        self.names: list[Any] = ids.tolist()
        self._rows = {id: row for row, id in enumerate(self.names)}
        self._kinds = {type(id) for id in self.names}

    def row(self, id: Any, name: str) -> int:
        """The row of an id; one that is added may be new."""
        id = self._plain(id, name)
        if id not in self._rows:
            if name == "removed":
                raise ValueError(f"removed: {id!r} is not a node of the graph")
            if isinstance(id, int) and not -(2**63) <= id < 2**63:
                raise ValueError(f"added: the id {id} is beyond 2⁶³; use names instead")
            self._rows[id] = len(self.names)
            self.names.append(id)
        return self._rows[id]

    def _plain(self, id: Any, name: str) -> Any:
        """An id as the graph has them: 34 for 34.0 of a table, Python's own types for those of NumPy."""
        id = id.item() if isinstance(id, np.generic) else id
        if type(id) is float and id.is_integer() and float not in self._kinds and int in self._kinds:
            id = int(id)
        if type(id) not in self._kinds:
            known = " or ".join(sorted(kind.__name__ for kind in self._kinds))
            raise ValueError(
                f"{name}: the id {id!r} is of the type {type(id).__name__}, those of the graph are of the type {known}"
            )
        return id


def _edges(edges: Any) -> Iterable[Any]:
    """The rows of a table, or the edges as they are."""
    if hasattr(edges, "itertuples"):
        return edges.itertuples(index=False, name=None)
    if not is_stream(edges):
        return edges
    return (row for batch in Batches(edges) for row in zip(*(column.to_pylist() for column in batch.columns)))


def _edge(edge: Any, ids: Ids, weighted: bool, name: str) -> Edge:
    ends = [] if isinstance(edge, (str, bytes)) or not isinstance(edge, Iterable) else list(edge)
    if len(ends) not in (2, 3):
        raise ValueError(f"{name}: {edge!r} is not an edge; a pair of ids, or a pair and a weight, is expected")
    if len(ends) == 3 and not weighted:
        raise ValueError(f"{name}: {edge!r} has a weight, but the graph has none; leave it out, or fit with weights")
    i, j = (ids.row(id, name) for id in ends[:2])
    if i == j and name == "added":
        raise ValueError(f"added: an edge from {ids.names[i]!r} to itself; leave it out")
    return Edge(i, j, _weight(edge, ends[2]) if len(ends) == 3 and name == "added" else 1.0)


def _weight(edge: Any, value: Any) -> float:
    try:
        weight = float(np.float32(value))
    except (TypeError, ValueError):
        weight = math.nan
    if not 0.0 < weight < math.inf:
        raise ValueError(f"added: {edge!r} has the weight {value!r}; it must be finite and above 0")
    return weight


def _arcs(graph: Graph, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The number of each arc in a graph of n nodes, and its weight."""
    matrix = graph.adjacency()
    rows = np.repeat(np.arange(graph.n_nodes, dtype=np.int64), np.diff(matrix.indptr))
    return rows * n + matrix.indices, matrix.data


def _keys(edge: Edge, directed: bool, n: int) -> tuple[int, ...]:
    """Numbers of the arcs of an edge."""
    there, back = edge.i * n + edge.j, edge.j * n + edge.i
    return (there,) if directed else (there, back)


def _refuse_missing(gone: list[Edge], keys: np.ndarray, n: int, ids: Ids) -> None:
    there = np.isin(np.asarray([edge.i * n + edge.j for edge in gone], dtype=np.int64), keys)
    if not there.all():
        missing = gone[int(np.argmin(there))]
        between = f"{ids.names[missing.i]!r} and {ids.names[missing.j]!r}"
        raise ValueError(f"removed: there is no edge between {between}")


def _added(new: list[Edge], directed: bool, n: int, ids: Ids) -> dict[int, float]:
    """Weights of the arcs that are added."""
    more: dict[int, float] = {}
    for edge in new:
        for key in _keys(edge, directed, n):
            if more.setdefault(key, edge.weight) != edge.weight:
                between = f"{ids.names[edge.i]!r} and {ids.names[edge.j]!r}"
                raise ValueError(f"added: the edge between {between} is given twice, with different weights")
    return more


def _unused(count: int, taken: np.ndarray) -> list[Any]:
    """Ids that no node has, of the kind that they have where they are integers, and names otherwise."""
    if taken.dtype.kind in "iu":
        return np.setdiff1d(np.arange(len(taken) + count), taken)[:count].tolist()
    texts = {str(id) for id in taken.tolist()}
    names = (f"new{k}" for k in range(len(taken) + count))
    return [name for name in names if name not in texts][:count]
