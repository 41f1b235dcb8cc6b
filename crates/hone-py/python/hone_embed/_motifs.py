"""Motif counts, weighted motif graphs and motif matrices."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import LinearOperator

from hone_embed import _native
from hone_embed._graph import USED_BY, as_graph
from hone_embed._progress import jobs, listener
from hone_embed._results import Table
from hone_embed._warnings import warn


@dataclass(frozen=True, eq=False, repr=False)
class OrbitCounts(Table):
    """Motif counts of edges or nodes, as :func:`count_orbits` gives them.

    Examples
    --------
    >>> counts = count_orbits([(0, 1), (1, 2), (2, 0)], motifs=["edge", "triangle"])
    >>> counts
    OrbitCounts(3 rows: source, target, edge, triangle)
    >>> counts.to_pandas()
       source  target  edge  triangle
    0       0       1     1         1
    1       0       2     1         1
    2       1       2     1         1
    """

    keys: np.ndarray
    """Ids: one row of two per edge, or one per node; ``"total"`` for the whole graph."""
    counts: np.ndarray
    """uint64, one row per edge or node, one column per motif."""
    names: list[str]
    """Names of the columns."""

    def _columns(self) -> dict[str, Any]:
        by_edge = self.keys.ndim == 2
        ids = {"source": self.keys[:, 0], "target": self.keys[:, 1]} if by_edge else {"id": self.keys}
        return {**ids, **{name: self.counts[:, k] for k, name in enumerate(self.names)}}


def count_orbits(
    graph: Any,
    by: str = "edge",
    *,
    motifs: Union[str, Sequence[str]] = "all",
    subgraph: bool = False,
    numbers: bool = False,
    sample: Union[str, int] = "exact",
    directed: Optional[bool] = None,
    random_state: int = 0,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> OrbitCounts:
    """Count motifs per edge, per node, or in total.

    Occurrences are induced subgraphs of 2 to 4 nodes. Directions are ignored, except for the motifs of directed
    graphs (``"triads"``).

    Parameters
    ----------
    graph
        Anything :class:`Graph` takes.
    by
        ``"edge"``: the 13 edge orbits, or the ``motifs`` given, one row per edge (undirected edges
        once); ``"node"``: the 15 node orbits in ORCA's numbering, one row per node; ``"total"``: how often each of the
        ``motifs`` occurs in the graph, in one row. Counts of directed motifs per node are features; see :func:`features`.
    motifs
        ``"all"``, ``"graphlets"``, ``"size3"``, for directed graphs ``"triads"`` (13 triads and two dyads) or
        ``"triad-orbits"`` (the positions of an arc in them), or a list of names; not by node.
    subgraph
        Whether to count all triples of nodes whose arcs contain those of a directed motif; otherwise
        occurrences are induced.
    numbers
        Whether columns have the numbers of the literature (:func:`list_motifs`), not names.
    sample, random_state
        ``"exact"``; or estimates for graphs with hubs, which take minutes to count: from at most so many neighbours per node
        (a number, or ``"cap=64"``), or ``"error=0.1,confidence=0.95"``. The seed of these.
    directed
        As for :class:`Graph`.

    Examples
    --------
    >>> tailed_triangle = [(0, 1), (1, 2), (2, 0), (2, 3)]
    >>> count_orbits(tailed_triangle, motifs=["path3", "triangle"]).to_pandas()
       source  target  path3  triangle
    0       0       1      0         1
    1       0       2      1         1
    2       1       2      1         1
    3       2       3      2         0
    >>> import networkx
    >>> loop = networkx.DiGraph([(0, 1), (1, 2), (0, 2)])
    >>> count_orbits(loop, motifs=["030T-first", "030T-second", "030T-direct"]).counts
    array([[1, 0, 0],
           [0, 0, 1],
           [0, 1, 0]], dtype=uint64)
    >>> count_orbits(tailed_triangle, by="total", motifs="graphlets").to_pandas().loc["total", "tailed-triangle"].item()
    1
    >>> counts = count_orbits(tailed_triangle, by="node")
    >>> counts.counts[:, counts.names.index("triangle")]
    array([1, 1, 1, 0], dtype=uint64)
    """
    if by not in ("edge", "node", "total"):
        raise ValueError(f"by: {by!r} is not one of 'edge', 'node', 'total'")
    if by == "node" and motifs != "all":
        raise ValueError("motifs: cannot be chosen with by='node', which always returns the 15 node orbits")
    if by == "node" and subgraph:
        raise ValueError("subgraph: such counts are of edges; leave it out")
    graph, how = as_graph(graph, directed=directed), (str(sample), int(random_state))
    ids, native, wanted = graph.node_ids, graph._native, motif_list(motifs)
    names = _native.node_orbit_names() if by == "node" else _native.motif_names(wanted)
    of_arcs = {*_native.motif_names("triads"), *_native.motif_names("triad-orbits")}
    if graph.directed and of_arcs.isdisjoint(names):
        more = 'motifs="triads" counts directed ones; per node: features(graph, motifs="triads", depth=0)'
        warn(f"these motifs ignore the directions of arcs; {more}")
    with listener(verbose) as listen:
        if by == "node":
            keys, counts = ids, _native.count_nodes(native, jobs(n_jobs), listen, *how)
        elif by == "total":
            found = _native.count_totals(native, wanted, subgraph, jobs(n_jobs), listen, *how)
            keys, counts = np.asarray(["total"]), np.asarray([found], dtype=np.uint64)
        else:
            sources, targets, counts = _native.count_edges(native, wanted, subgraph, jobs(n_jobs), listen, *how)
            keys = np.stack([ids[sources], ids[targets]], axis=1)
    if numbers:
        names = _native.node_orbit_names(True) if by == "node" else _native.motif_names(wanted, True)
    return OrbitCounts(keys, counts, names)


def motif_list(motifs: Union[str, Sequence[str]]) -> str:
    """Names of motifs as the native half takes them."""
    if isinstance(motifs, str):
        return motifs
    for name in motifs if isinstance(motifs, Iterable) else [motifs]:  # pyright: ignore[reportUnnecessaryIsInstance]
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"motifs: {name!r} is not a name; give names or numbers such as 'G2' or 'M5' (list_motifs has them)")
    return ",".join(motifs)


def update_orbits(
    graph: Any,
    counts: Any,
    *,
    added: Any = None,
    removed: Any = None,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> OrbitCounts:
    """Exact motif counts per edge after edges have changed, from the counts before.

    Only what changes is counted again. Each edge has the counts that :func:`count_orbits` gives it in the
    changed graph. New nodes come after the others, so edges may be in another order.

    Parameters
    ----------
    graph
        The undirected graph before the change: anything :class:`Graph` takes.
    counts
        The result of :func:`count_orbits` for it, by edge and with all orbits, or its data frame.
    added, removed
        Edges between ids, which may be new: lists of pairs, or anything :class:`Graph` accepts. Added edges that
        already exist are ignored with a warning; removing edges that do not exist is an error.

    Examples
    --------
    >>> path = [(0, 1), (1, 2)]
    >>> counts = update_orbits(path, count_orbits(path), added=[(2, 0), (2, 3)])
    >>> counts.to_pandas()[["source", "target", "path3", "triangle"]]
       source  target  path3  triangle
    0       0       1      0         1
    1       0       2      1         1
    2       1       2      1         1
    3       2       3      2         0
    """
    graph, table = as_graph(graph), _orbit_counts(counts)
    if graph.directed:
        raise ValueError("graph: counts of a directed graph cannot be updated; count the changed graph")
    ids = graph.node_ids.tolist()
    numbers = {name: number for number, name in enumerate(ids)}
    edges = _numbered(table.keys.tolist(), numbers, "counts", "which is not in the graph")
    gone = _numbered(_edges(removed), numbers, "removed", "which is not in the graph")
    come = _edges(added)
    for name in (name for edge in come for name in edge):
        if name not in numbers:
            numbers[name] = len(ids)
            ids.append(name)
    new = _numbered(come, numbers, "added", "")
    old = _codes(edges, len(ids))
    lacking = ~np.isin(_codes(gone, len(ids)), old)
    if lacking.any():
        edge = tuple(ids[number] for number in gone[lacking][0].tolist())
        raise ValueError(f"removed: the graph has no edge {edge!r}")
    both = np.isin(_codes(gone, len(ids)), _codes(new, len(ids)))
    if both.any():
        edge = tuple(ids[number] for number in gone[both][0].tolist())
        raise ValueError(f"removed: the edge {edge!r} is to be added as well; leave out one of the two")
    present = np.isin(_codes(new, len(ids)), old)
    if present.any():
        edges_are = "1 edge is" if present.sum() == 1 else f"{present.sum()} edges are"
        warn(f"added: {edges_are} in the graph already and left out")
    with listener(verbose) as listen:
        sources, targets, values = _native.update_edges(
            graph._native, ",".join(table.names), edges, np.require(table.counts, np.uint64, ["C", "A"]), new[~present],
            gone, jobs(n_jobs), listen,
        )  # fmt: skip
    names = np.asarray(ids)
    keys = np.stack([names[sources], names[targets]], axis=1)
    return OrbitCounts(keys, values, table.names)


def _orbit_counts(counts: Any) -> OrbitCounts:
    """Counts by edge, whether a table or arrays."""
    if isinstance(counts, OrbitCounts):
        table = counts
    elif hasattr(counts, "columns") and {"source", "target"} <= set(counts.columns):
        names = [name for name in counts.columns if name not in ("source", "target")]
        keys = np.empty((len(counts), 2), dtype=object)
        keys[:, 0], keys[:, 1] = counts["source"].tolist(), counts["target"].tolist()
        table = OrbitCounts(keys, counts[names].to_numpy(np.uint64), names)
    else:
        raise ValueError("counts: give what count_orbits returned, by edge")
    if table.keys.ndim != 2:
        raise ValueError("counts: these are counts by node or in total; give those by edge")
    return table


def _edges(edges: Any) -> list[Any]:
    """Edges as pairs of ids, each once."""
    if edges is None or (isinstance(edges, (list, tuple, np.ndarray)) and len(edges) == 0):
        return []
    graph = as_graph(edges)
    matrix = graph.adjacency().tocoo()
    pairs = np.stack([np.minimum(matrix.row, matrix.col), np.maximum(matrix.row, matrix.col)], axis=1)
    names = graph.node_ids.tolist()
    return [(names[u], names[v]) for u, v in np.unique(pairs, axis=0).tolist()]


def _numbered(edges: list[Any], numbers: dict[Any, int], field: str, lacking: str) -> np.ndarray:
    """Edges as pairs of node numbers."""
    found = np.empty((len(edges), 2), dtype=np.int64)
    for row, edge in enumerate(edges):
        for end, name in enumerate(edge):
            number = numbers.get(name)
            if number is None:
                raise ValueError(f"{field}: the edge {tuple(edge)!r} has the node {name!r}, {lacking}")
            found[row, end] = number
    return found


def _codes(edges: np.ndarray, nodes: int) -> np.ndarray:
    """A number for each edge, the same either way round."""
    return edges.min(axis=1) * nodes + edges.max(axis=1) if len(edges) else np.empty(0, dtype=np.int64)


def motif_adjacency(
    graph: Any,
    motif: str,
    *,
    delta: int = 1,
    weights: bool = False,
    subgraph: bool = False,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> scipy.sparse.csr_array:
    """The weighted motif graph W: how many occurrences of a motif contain each edge.

    Parameters
    ----------
    graph
        Anything :class:`Graph` takes; rows and columns are in its node order.
    motif
        Name of an edge orbit or graphlet, such as ``"triangle"`` or ``"clique4"``, or of a motif of directed graphs, such
        as ``"030T"`` or ``"M5"``.
    delta
        Edges with fewer occurrences are left out.
    weights
        Whether to multiply the counts by the edge weights.
    subgraph
        As for :func:`count_orbits`.

    Examples
    --------
    >>> motif_adjacency([(0, 1), (1, 2), (2, 0), (2, 3)], "triangle").toarray()
    array([[0., 1., 1., 0.],
           [1., 0., 1., 0.],
           [1., 1., 0., 0.],
           [0., 0., 0., 0.]])
    """
    graph = as_graph(graph, weighted=weights, unused=USED_BY)
    with listener(verbose) as listen:
        indptr, indices, values = _native.motif_graph(
            graph._native, motif, delta, weights, subgraph, jobs(n_jobs), listen
        )
    small = max(len(indices), graph.n_nodes) <= np.iinfo(np.int32).max
    kind = np.int32 if small else np.int64
    shape = (graph.n_nodes, graph.n_nodes)
    return scipy.sparse.csr_array((values, indices.astype(kind), indptr.astype(kind)), shape=shape)


class _Matrix(LinearOperator):
    """A motif matrix as SciPy sees it; ``formula`` says what it is."""

    def __init__(self, native: _native.MotifOperator, nodes: int) -> None:
        super().__init__(dtype=np.float64, shape=(nodes, nodes))
        self._native = native
        self.formula = native.formula

    def _matmat(self, X: Any) -> np.ndarray:
        return self._native.apply(_columns(X), False)

    def _rmatmat(self, X: Any) -> np.ndarray:
        return self._native.apply(_columns(X), True)

    def _matvec(self, x: Any) -> np.ndarray:
        return self._matmat(np.reshape(x, (-1, 1))).reshape(np.shape(x))

    def _rmatvec(self, x: Any) -> np.ndarray:
        return self._rmatmat(np.reshape(x, (-1, 1))).reshape(np.shape(x))

    def _adjoint(self) -> Any:
        if self._native.symmetric:
            return self
        operator: Any = LinearOperator  # what it returns is not of this class
        return operator(
            self.shape, matvec=self._rmatvec, rmatvec=self._matvec, matmat=self._rmatmat, rmatmat=self._matmat,
            dtype=self.dtype,
        )  # fmt: skip


def _columns(X: Any) -> np.ndarray:
    return np.require(X, np.float64, ["C", "A"])


def motif_matrix(
    graph: Any,
    motif: str,
    psi: str = "p",
    k: int = 1,
    *,
    order: str = "auto",
    degree: str = "out",
    regularize: float = 0.0,
    delta: int = 1,
    weights: bool = False,
    subgraph: bool = False,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> LinearOperator:
    """A k-step motif matrix as a SciPy linear operator, which is never formed.

    Parameters
    ----------
    graph, motif, delta, weights, subgraph
        As for :func:`motif_adjacency`.
    psi
        ``"w"`` (W), ``"p"`` (D⁻¹W), ``"l"`` (D - W), ``"l-norm"``, ``"l-rw"`` or ``"a-norm"``.
    k
        Number of steps.
    order
        ``"psi-of-power"``: Ψ(Wᵏ); ``"power-of-psi"``: Ψ(W)ᵏ; ``"auto"``: the latter for ``"p"`` and
        ``"a-norm"``, the former otherwise.
    degree
        ``"out"``, ``"in"`` or ``"total"``, for directed graphs.
    regularize
        Added to degrees before dividing by them, in multiples of their mean.

    Returns
    -------
    scipy.sparse.linalg.LinearOperator
        Its attribute ``formula`` describes the matrix. Products are computed in float32.

    Examples
    --------
    >>> operator = motif_matrix([(0, 1), (1, 2), (2, 0), (2, 3)], "triangle", "p", 2)
    >>> operator.formula
    '(diag(d^-1)·W)²'
    >>> operator @ [1.0, 0.0, 0.0, 0.0]
    array([0.5 , 0.25, 0.25, 0.  ])
    """
    graph = as_graph(graph, weighted=weights, unused=USED_BY)
    matrix = json.dumps({"psi": psi, "order": order, "degree": degree, "regularize": float(regularize)})
    with listener(verbose) as listen:
        native = _native.MotifOperator(
            graph._native, motif, matrix, k, delta, weights, subgraph, jobs(n_jobs), listen
        )
    return _Matrix(native, graph.n_nodes)
