"""Statistics of motifs: census of triads, coefficients, significance, comparisons of graphs, clusters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from hone_embed import _native
from hone_embed._explore import _rows
from hone_embed._graph import as_graph
from hone_embed._progress import jobs, listener
from hone_embed._results import Parts, Table, columns_of


@dataclass(frozen=True, eq=False, repr=False)
class Coefficients(Table):
    """Clustering and closure coefficients, as :func:`coefficients` gives them.

    Examples
    --------
    >>> found = coefficients("builtin:karate")
    >>> found.nodes.shape == (34, len(found.names))
    True
    """

    ids: np.ndarray
    """Ids of the nodes."""
    nodes: np.ndarray
    """One row per node, one column per coefficient; 0 where nothing could be closed."""
    names: list[str]
    """Names of the columns."""
    graph: dict[str, dict[str, Any]]
    """For each coefficient of the graph: ``global`` (closed of all that could be), ``mean`` over all nodes,
    ``mean_where_defined`` and ``defined``, the number of nodes where something could be closed."""

    def _columns(self) -> dict[str, Any]:
        return {"id": self.ids, **{name: self.nodes[:, k] for k, name in enumerate(self.names)}}


@dataclass(frozen=True, eq=False, repr=False)
class Significance(Table):
    """Motifs beside their counts in random graphs, as :func:`significance` gives them.

    Examples
    --------
    >>> found = significance("builtin:karate", random=20)
    >>> next(row["count"] for row in found.motifs if row["motif"] == "triangle")
    45
    """

    motifs: list[dict[str, Any]]
    """For each ``motif``: ``count``, ``mean``, ``sd``, ``z``, ``p_more``, ``p_fewer``, ``q`` (the false discovery rate, over
    all motifs, of twice the smaller of both), ``profile``. ``z`` and ``profile`` are None where all random graphs have the
    same count."""
    null_model: str
    """What the random graphs keep."""
    switching: Optional[dict[str, Any]]
    """How the graphs were switched, if they were: ``attempts`` each, the share that ``succeeded``, the share of the
    original edges ``in_place`` after as many attempts and after twice as many, whether that ``mixed``."""

    def _columns(self) -> dict[str, Any]:
        return columns_of(self.motifs)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Table):
    """Graphs compared pair by pair, as :func:`compare` gives them.

    Examples
    --------
    >>> float(compare({"one": "builtin:karate", "two": "builtin:karate"}).gcd11[0, 1])
    0.0
    """

    graphs: list[Any]
    """Their names, or numbers, in the order of rows and columns."""
    gcd11: np.ndarray
    """Distances of graphlet correlations: 0 for graphs whose orbits are correlated alike."""
    agreement: np.ndarray
    """Agreement of graphlet degree distributions, a mean over 15 node orbits: 1 for equal ones."""
    geometric: np.ndarray
    """The same as a geometric mean."""
    by_orbit: np.ndarray
    """The agreement of each pair in each orbit."""
    orbits: list[str]
    """The orbits, in the order of the last axis of ``by_orbit``."""
    correlations: np.ndarray
    """For each graph, the correlations of 11 node orbits."""
    correlated: list[str]
    """These orbits, in the order of rows and columns."""

    def _columns(self) -> dict[str, Any]:
        first, second = np.triu_indices(len(self.graphs), 1)
        ends = {"a": [self.graphs[k] for k in first], "b": [self.graphs[k] for k in second]}
        pairs = {name: getattr(self, name)[first, second] for name in ("gcd11", "agreement", "geometric")}
        orbits = {f"agreement_{name}": self.by_orbit[first, second, k] for k, name in enumerate(self.orbits)}
        return {**ends, **pairs, **orbits}


@dataclass(frozen=True, eq=False, repr=False)
class MotifCluster(Parts):
    """A set of nodes that few occurrences of a motif leave, as :func:`motif_cluster` gives it.

    Examples
    --------
    >>> cliques = [(a, b) for c in (0, 4) for a in range(c, c + 4) for b in range(a)  if b >= c]
    >>> sorted(motif_cluster([*cliques, (0, 4)], "triangle", 0).nodes)
    [0, 1, 2, 3]
    """

    nodes: list[Any]
    """Ids of the nodes."""
    conductance: float
    """``cut`` over the smaller of ``volume`` and ``rest``."""
    cut: float
    """Weight between the nodes and the others."""
    volume: float
    """Sum of the weighted degrees of the nodes."""
    rest: float
    """The same of the others."""
    surrogate: bool
    """Whether ``conductance`` is a surrogate of the motif conductance: of motifs of four nodes, it counts an occurrence that is
    cut in half 4/3 times."""


@dataclass(frozen=True, eq=False, repr=False)
class MotifNames(Table):
    """Names of motifs and of positions in them, as :func:`list_motifs` gives them; one row each.

    Examples
    --------
    >>> table = list_motifs().to_pandas()
    >>> table[table["number"] == "M5"]["name"].tolist()
    ['030T']
    """

    rows: list[dict[str, Any]]
    """Each: ``kind``, ``name``, ``number`` in the literature, ``mfinder`` (its identifier, if any), ``drawing`` and
    ``position``."""

    def _columns(self) -> dict[str, Any]:
        return columns_of(self.rows)


def list_motifs() -> MotifNames:
    """Names of all motifs and positions in them, their numbers in the literature, and drawings.

    Examples
    --------
    >>> next(motif["name"] for motif in list_motifs().rows if motif["number"] == "M5")
    '030T'
    """
    return MotifNames(json.loads(_native.motif_catalogue()))


def triad_census(graph: Any, *, n_jobs: Optional[int] = None, verbose: bool = False) -> dict[str, int]:
    """How many sets of three nodes of a directed graph are of each of the 16 classes, by MAN code.

    Examples
    --------
    >>> import networkx
    >>> loop = networkx.DiGraph([(0, 1), (1, 2), (0, 2), (2, 3)])
    >>> {name: count for name, count in triad_census(loop).items() if count}
    {'012': 1, '021C': 2, '030T': 1}
    """
    graph = as_graph(graph)
    with listener(verbose) as listen:
        return dict(json.loads(_native.triad_census(graph._native, jobs(n_jobs), listen)))


def coefficients(graph: Any, *, n_jobs: Optional[int] = None, verbose: bool = False) -> Coefficients:
    """Local and global clustering (of order 2 and 3, of squares) and closure coefficients, from exact counts.

    Directions and weights are ignored.

    Examples
    --------
    >>> found = coefficients("builtin:karate")
    >>> found.names
    ['clustering', 'clustering-3', 'square-clustering', 'closure']
    >>> round(found.graph["clustering"]["mean"], 4)
    0.5706
    """
    graph = as_graph(graph)
    with listener(verbose) as listen:
        nodes, facts = _native.coefficients(graph._native, jobs(n_jobs), listen)
    of_graph = {facts.pop("name"): facts for facts in json.loads(facts)}
    return Coefficients(graph.node_ids, nodes, list(of_graph), of_graph)


def significance(
    graph: Any,
    random: int = 100,
    *,
    null_model: Optional[str] = None,
    random_state: int = 0,
    numbers: bool = False,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> Significance:
    """Whether motifs are more or less frequent than in random graphs.

    Counted are the connected motifs of three nodes of a directed graph, of three and four nodes of an undirected one,
    as induced subgraphs and exactly.

    Parameters
    ----------
    graph
        Anything :class:`Graph` takes; repeated edges and loops are dropped.
    random
        Number of random graphs.
    null_model
        What they keep: ``"degrees"``, ``"reciprocity"`` (also the mutual arcs of each node), ``"configuration"``
        (degrees, less loops and repeated edges) or ``"er"`` (the number of edges). None: degrees,
        of directed graphs reciprocity.
    random_state
        Seed; the same seed gives the same numbers for any ``n_jobs``.
    numbers
        As for :func:`count_orbits`.

    Examples
    --------
    >>> found = significance("builtin:karate", 50)
    >>> triangle = next(motif for motif in found.motifs if motif["motif"] == "triangle")
    >>> triangle["count"], triangle["z"] > 0
    (45, True)
    """
    graph = as_graph(graph)
    if int(random) < 2:
        raise ValueError(f"random: {random} random graphs; give at least 2, such as 100")
    with listener(verbose) as listen:
        found = json.loads(
            _native.significance(
                graph._native, int(random), (null_model, int(random_state), numbers), jobs(n_jobs), listen
            )
        )
    return Significance(found["motifs"], found["null_model"], found["switching"])


def compare(
    graphs: Union[Sequence[Any], Mapping[str, Any]],
    *,
    numbers: bool = False,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> Comparison:
    """Compare graphs of any sizes by the node orbits of their nodes (``count_orbits(graph, by="node")``).

    Parameters
    ----------
    graphs
        Two or more graphs, or a dictionary that names them: each anything :class:`Graph` takes.
    numbers
        As for :func:`count_orbits`.

    Examples
    --------
    >>> compare(["builtin:karate", "builtin:florentine", "builtin:karate"]).gcd11.round(2)
    array([[0.  , 1.78, 0.  ],
           [1.78, 0.  , 1.78],
           [0.  , 1.78, 0.  ]])
    """
    names = list(graphs) if isinstance(graphs, Mapping) else list(range(len(graphs)))
    given = [as_graph(graph) for graph in (graphs.values() if isinstance(graphs, Mapping) else graphs)]
    if len(given) < 2:
        raise ValueError(f"graphs: {len(given)} given; two or more are compared")
    with listener(verbose) as listen:
        found = json.loads(_native.compare([graph._native for graph in given], numbers, jobs(n_jobs), listen))
    parts: dict[str, Any] = {name: of if name in ("orbits", "correlated") else np.array(of) for name, of in found.items()}
    return Comparison(names, **parts)


def motif_cluster(
    graph: Any,
    motif: str = "triangle",
    node: Any = None,
    *,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> MotifCluster:
    """A set of nodes that few occurrences of a motif leave: around a node, or by the best cut of the largest component.

    Parameters
    ----------
    graph
        Anything :class:`Graph` takes.
    motif
        A graphlet, or a directed triad in which all nodes are linked (``"M1"`` to ``"M7"``).
    node
        Id of the node around which to search; None for a cut of the whole graph.

    Examples
    --------
    >>> motif_cluster("builtin:barbell", "triangle", 0).nodes
    [0, 1, 2, 3, 4]
    """
    graph = as_graph(graph)
    ids = graph.node_ids
    row = None if node is None else int(_rows(ids, [node])[0])
    with listener(verbose) as listen:
        found = json.loads(_native.motif_cluster(graph._native, motif, row, jobs(n_jobs), listen))
    found["nodes"] = ids[found["nodes"]].tolist()
    return MotifCluster(**found)
