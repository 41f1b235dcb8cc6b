"""Graphs that change: edges added and removed, new nodes given by their edges to old ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Optional

import numpy as np
import scipy.sparse

from hone_embed._graph import Graph


def changed(graph: Graph, added: Iterable[Any], removed: Iterable[Any]) -> Graph:
    """The graph with some edges more and some less; ids that it does not have are new nodes, behind the others.

    An edge is a pair of ids, with a weight as third where the graph has weights (1 where it is left out). Adding an edge that
    is there changes its weight, if anything; removing one that is not there is an error.
    """
    ids = graph.node_ids.tolist()
    rows = {id: row for row, id in enumerate(ids)}
    gone = [_pair(edge, rows, None, "removed") for edge in removed]
    new = [_pair(edge, rows, ids, "added") for edge in added]
    old = graph.adjacency().tocoo()
    edges = dict(zip(zip(old.row.tolist(), old.col.tolist()), old.data.tolist()))
    both = (lambda i, j: ((i, j),)) if graph.directed else (lambda i, j: ((i, j), (j, i)))
    for i, j, _ in gone:
        if (i, j) not in edges:
            raise ValueError(f"removed: there is no edge between {ids[i]!r} and {ids[j]!r}")
        for key in both(i, j):
            edges.pop(key, None)
    for i, j, weight in new:
        if i == j:
            raise ValueError(f"added: an edge from {ids[i]!r} to itself")
        edges.update(dict.fromkeys(both(i, j), weight))
    return _graph(graph, edges, ids)


def with_rows(graph: Graph, rows: scipy.sparse.csr_array) -> Graph:
    """The graph with one node more for each row, whose entries are the edges to the nodes that it has."""
    n, old = graph.n_nodes, graph.adjacency()
    if not graph.weighted:
        rows = scipy.sparse.csr_array((np.ones_like(rows.data), rows.indices, rows.indptr), shape=rows.shape)
    grown = scipy.sparse.csr_array(scipy.sparse.bmat([[old, rows.T], [rows, None]], format="csr"), dtype=np.float32)
    taken = set(graph.node_ids.tolist())
    names = _unused(len(taken) + rows.shape[0], taken, graph.node_ids.dtype.kind in "iu")
    ids = np.asarray([*graph.node_ids.tolist(), *names[: rows.shape[0]]])
    directed = True if graph.directed else None
    made = Graph(grown, nodes=ids, directed=directed, weighted=graph.weighted)
    assert made.n_nodes == n + rows.shape[0]
    return made


def known_rows(graph: Graph, rows: scipy.sparse.csr_array) -> np.ndarray:
    """For each row the node that has exactly these edges, a loop not counted; -1 for rows that no node has."""
    draw = np.random.default_rng(0).integers(1, 2**63, size=graph.n_nodes, dtype=np.uint64)
    own = _sums(graph.adjacency(), draw, graph.weighted)
    nodes = dict(zip(own.tolist(), range(graph.n_nodes)))
    if not graph.weighted:
        nodes.update(zip((own + draw).tolist(), range(graph.n_nodes)))
    return np.asarray([nodes.get(total, -1) for total in _sums(rows, draw, graph.weighted).tolist()], dtype=np.int64)


def _sums(matrix: Any, draw: np.ndarray, weighted: bool) -> np.ndarray:
    """A number for the entries of each row."""
    matrix = scipy.sparse.csr_array(matrix)
    values = draw[matrix.indices]
    if weighted:
        values = values * matrix.data.astype(np.float32).view(np.uint32).astype(np.uint64)
    ends = np.concatenate([[np.uint64(0)], np.cumsum(values, dtype=np.uint64)])
    return np.asarray(ends[matrix.indptr[1:]] - ends[matrix.indptr[:-1]])


def _pair(edge: Any, rows: dict[Any, int], ids: Optional[list[Any]], name: str) -> tuple[int, int, float]:
    ends = list(edge)
    if len(ends) not in (2, 3):
        raise ValueError(f"{name}: {edge!r} is no edge; a pair of ids, or a pair and a weight, is expected")
    found = []
    for id in ends[:2]:
        id = id.item() if isinstance(id, np.generic) else id
        if id not in rows:
            if ids is None:
                raise ValueError(f"{name}: {id!r} is no node of the graph")
            rows[id] = len(ids)
            ids.append(id)
        found.append(rows[id])
    return found[0], found[1], float(ends[2]) if len(ends) == 3 else 1.0


def _graph(like: Graph, edges: dict[tuple[int, int], float], ids: list[Any]) -> Graph:
    pairs = np.asarray(list(edges), dtype=np.int64).reshape(-1, 2)
    values = np.asarray(list(edges.values()), dtype=np.float32)
    matrix = scipy.sparse.csr_array((values, (pairs[:, 0], pairs[:, 1])), shape=(len(ids), len(ids)))
    return Graph(matrix, nodes=np.asarray(ids), directed=like.directed, weighted=like.weighted)


def _unused(count: int, taken: set[Any], integers: bool) -> list[Any]:
    first = max(taken, default=-1) + 1 if integers else 0
    names = [first + k if integers else f"new{k}" for k in range(count)]
    return [name for name in names if name not in taken]
