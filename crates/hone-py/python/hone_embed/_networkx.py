"""A backend of NetworkX: its functions about triangles, squares and triads, from exact motif counts.

NetworkX finds it by an entry point of this package: ``networkx.triangles(graph, backend="hone")``, or for all calls after
``networkx.config.backend_priority = ["hone"]``. What it leaves to NetworkX, :func:`can_run` says.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from functools import cached_property
from math import comb
from typing import Any, Optional

import numpy as np
import scipy.sparse

from hone_embed import _native


class BackendGraph:
    """A NetworkX graph without multiple edges, by the numbers of its nodes; loops are left out, as in all functions here.

    NetworkX keeps it, and hands one with weights to calls without weights too: functions take the weights that they are asked for.
    """

    __networkx_backend__ = "hone"

    def __init__(self, graph: Any, weights: dict[str, Any]) -> None:
        self.nodes: list[Any] = list(graph)
        self._directed: bool = graph.is_directed()
        rows = list(graph._adj.values())
        numbered = self.nodes == list(range(len(self.nodes)))
        self.indptr, self.indices = _native.adjacency(rows, None if numbered else self.number)
        self.native = _native.Graph.from_csr(self.indptr, self.indices, None, self._directed)
        self.weights: dict[str, np.ndarray] = {}
        for name, default in weights.items():
            values = (edge.get(name, default) for row in rows for edge in row.values())
            self.weights[name] = np.fromiter(values, dtype=np.float64, count=len(self.indices))

    @cached_property
    def number(self) -> dict[Any, int]:
        """The number of each node."""
        return {node: k for k, node in enumerate(self.nodes)}

    def is_directed(self) -> bool:
        return self._directed

    def is_multigraph(self) -> bool:
        return False

    def __len__(self) -> int:
        return len(self.nodes)

    def degrees(self) -> np.ndarray:
        """The number of neighbours of each node; of a directed graph, of successors."""
        return np.diff(self.native.csr()[0])

    def arcs(self, weight: Optional[str] = None) -> Any:
        """The adjacency as a matrix of ones, or of the cubic roots of weights relative to the largest; no loops."""
        values = np.ones(len(self.indices)) if weight is None else self.weights[weight]
        if weight is not None and len(values):
            values = np.cbrt(values / values.max())
        shape = (len(self.nodes), len(self.nodes))
        matrix = scipy.sparse.csr_array((values, self.indices, self.indptr), shape=shape).tocoo()
        apart = matrix.row != matrix.col
        return scipy.sparse.csr_array((matrix.data[apart], (matrix.row[apart], matrix.col[apart])), shape=shape)

    def of(self, values: Any, nodes: Any) -> Any:
        """A value per node as NetworkX returns it: of all nodes, of some, or of one."""
        if nodes is None:
            return dict(zip(self.nodes, values))
        try:
            return values[self.number[nodes]]
        except (KeyError, TypeError):
            return {node: values[self.number[node]] for node in nodes if node in self.number}


def convert_from_nx(graph: Any, *, edge_attrs: Optional[dict[str, Any]] = None, **others: Any) -> BackendGraph:
    """The graph as this backend takes it."""
    return BackendGraph(graph, edge_attrs or {})


def convert_to_nx(result: Any, **others: Any) -> Any:
    """Results are plain dictionaries and numbers."""
    return result


def can_run(name: str, args: Any, kwargs: Any) -> Any:
    """Whether a call is for this backend, or why it is not."""
    graph = args[0] if args else kwargs["G"]
    nodelist = args[1] if len(args) > 1 else kwargs.get("nodelist")
    if graph.is_multigraph():
        return "multigraphs are left to NetworkX"
    if graph.is_directed() and name in ("transitivity", "square_clustering"):
        return "directed graphs are left to NetworkX here"
    if name == "triadic_census" and nodelist is not None:
        return "a census around some nodes is left to NetworkX"
    return True


def triangles(G: Any, nodes: Any = None) -> Any:
    return G.of(_triangles(G).tolist(), nodes)


def clustering(G: Any, nodes: Any = None, weight: Any = None) -> Any:
    return G.of(_clustering(G, weight).tolist(), nodes)


def average_clustering(G: Any, nodes: Any = None, weight: Any = None, count_zeros: bool = True) -> float:
    values: Iterable[float] = G.of(_clustering(G, weight).tolist(), None if nodes is None else list(nodes)).values()
    counted = [value for value in values if count_zeros or abs(value) > 0]
    return sum(counted) / len(counted)


def transitivity(G: Any) -> float:
    found, degrees = int(_triangles(G).sum()), G.degrees()
    return 2 * found / int((degrees * (degrees - 1)).sum()) if found else 0


def square_clustering(G: Any, nodes: Any = None) -> Any:
    names = _native.node_orbit_names()
    orbits = _native.count_nodes(G.native).astype(np.float64)
    of = {name: orbits[:, k] for k, name in enumerate(names)}
    # A diamond has one square, a clique three.
    squares = of["cycle4"] + of["diamond-rim"] + of["diamond-chord"] + 3 * of["clique4"]
    degrees = of["degree"]
    around = G.arcs() @ degrees - degrees
    possible = (degrees - 1) * around - 2 * of["triangle"] - squares
    return G.of(np.divide(squares, possible, out=np.zeros_like(squares), where=possible > 0).tolist(), nodes)


def generalized_degree(G: Any, nodes: Any = None) -> Any:
    sources, targets, counts = _native.triangles(G.native)
    ends, multiplicities = np.concatenate([sources, targets]), np.tile(counts, 2)
    base = int(multiplicities.max(initial=0)) + 1
    keys, numbers = np.unique(ends * np.int64(base) + multiplicities, return_counts=True)
    # Edges in no triangle are the rest of a degree.
    rest = G.degrees() - np.bincount(ends, minlength=len(G))
    with _no_collection():
        found: list[Counter[int]] = [Counter({0: number} if number else None) for number in rest.tolist()]
    for node, multiplicity, number in zip((keys // base).tolist(), (keys % base).tolist(), numbers.tolist()):
        found[node][multiplicity] = number
    return G.of(found, nodes)


@contextmanager
def _no_collection() -> Generator[None, None, None]:
    """Makes many containers without a look, every few thousand of them, at all that NetworkX has in memory."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def triadic_census(G: Any, nodelist: Any = None) -> dict[str, int]:
    names = _native.motif_names("triads")
    counts = dict(zip(names, _native.count_totals(G.native, "triads")))
    one_way, mutual = counts.pop("one-way"), counts.pop("mutual")
    third = len(G) - 2
    # A dyad and a third node are a connected triad, or the dyad and a node apart. Names begin with the numbers of mutual
    # and one-way dyads.
    apart = {
        "012": one_way * third - sum(int(name[1]) * count for name, count in counts.items()),
        "102": mutual * third - sum(int(name[0]) * count for name, count in counts.items()),
    }
    rest = comb(len(G), 3) - sum(counts.values()) - sum(apart.values())
    return {"003": rest, **apart, **counts}


def _triangles(graph: BackendGraph) -> np.ndarray:
    """The number of triangles of each node."""
    sources, targets, counts = _native.triangles(graph.native)
    both = np.bincount(sources, counts, len(graph)) + np.bincount(targets, counts, len(graph))
    return both.astype(np.int64) // 2


def _clustering(graph: BackendGraph, weight: Optional[str]) -> np.ndarray:
    """The clustering coefficient of each node: its triangles, or their weights, among those that its degree allows."""
    if not graph.is_directed() and weight is None:
        degrees, around = graph.degrees(), 2 * _triangles(graph)
        possible = degrees * (degrees - 1)
    else:
        arcs = graph.arcs(weight)
        sides = arcs + arcs.T if graph.is_directed() else arcs
        around = (sides @ sides).multiply(sides).sum(axis=1)
        there = scipy.sparse.csr_array((np.ones(arcs.nnz), arcs.indices, arcs.indptr), shape=arcs.shape)
        degrees = there.sum(axis=1)
        possible = degrees * (degrees - 1)
        if graph.is_directed():
            total = degrees + there.sum(axis=0)
            possible = 2 * (total * (total - 1) - 2 * there.multiply(there.T).sum(axis=1))
    return np.divide(around, possible, out=np.zeros(len(graph)), where=(around != 0) & (possible > 0))
