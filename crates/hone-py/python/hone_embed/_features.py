"""Node features: motif counts of the nodes and aggregates over their neighbours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Optional, Union

from hone_embed import _native
from hone_embed._attributes import attribute_columns
from hone_embed._graph import USED_BY, _plain, as_graph
from hone_embed._progress import jobs, listener
from hone_embed._settings import warn_of_result
from hone_embed._store import Embedding

#: What differs from the preset ``hone-p``, as in the command ``hone features``.
DEFAULTS: dict[str, Any] = {
    "structure.enabled": True,
    "structure.motifs": "auto",
    "features.diffusion.steps": 0,
    "local.norm": "none",
    "motifs": ["edge"],
}


def features(
    graph: Any,
    *,
    motifs: Union[str, Sequence[str]] = "auto",
    depth: int = 1,
    aggregates: Sequence[str] = ("sum", "mean", "max"),
    log: bool = True,
    numbers: bool = False,
    attributes: Any = None,
    config: Optional[dict[str, Any]] = None,
    directed: Optional[bool] = None,
    memory_limit: Union[int, str, None] = None,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> Embedding:
    """Named features of each node, as ``hone features`` writes them: motif counts, and aggregates over the neighbours.

    ``triangle_degree`` is the degree of a node in the motif graph of triangles: the sum of the counts on its edges, so twice
    the number of its triangles.

    Parameters
    ----------
    graph
        Anything :class:`Graph` takes.
    motifs
        As for :func:`count_orbits`; ``"auto"``: ``"triads"`` for a directed graph, else ``"all"``.
    depth
        How often features are aggregated over the neighbours; 0 for the counts alone.
    aggregates
        Some of ``"sum"``, ``"mean"`` and ``"max"``.
    log
        Whether counts x become log(1 + x).
    numbers
        Whether motifs are called by their numbers in the literature (:func:`list_motifs`), not by name.
    attributes
        As for :meth:`HONE.fit`.
    config
        Any setting of the library, by its dotted name: ``{"features.diffusion.steps": 2}``.

    Examples
    --------
    >>> found = features([(0, 1), (1, 2), (2, 0), (2, 3)], motifs=["edge", "triangle"], depth=0, log=False)
    >>> found
    Embedding(4 rows: id, edge_degree, triangle_degree)
    >>> found.to_pandas().loc[2].tolist()
    [3.0, 2.0]
    >>> features("builtin:karate").columns[13]
    'sum_edge_degree'
    """
    unknown = set(aggregates) - {"sum", "mean", "max"}
    if unknown:
        raise ValueError(f"aggregates: {unknown.pop()!r} is not one of 'sum', 'mean', 'max'")
    settings = {
        **DEFAULTS,
        "structure.motifs": motifs if isinstance(motifs, str) else list(motifs),
        "structure.depth": depth if aggregates else 0,
        "structure.log": log,
        "structure.numbers": numbers,
        **{f"structure.{name}": name in aggregates for name in ("sum", "mean", "max")},
        **(config or {}),
    }
    graph = as_graph(graph, directed=directed, weighted=settings.get("weights") is True, unused=USED_BY)
    memory = _native.parse_bytes(memory_limit) if isinstance(memory_limit, str) else memory_limit
    resolved = _native.resolve("hone-p", None, json.dumps(settings, default=_plain))
    columns = attribute_columns(attributes, graph.node_ids, resolved)
    with listener(verbose) as listen:
        vectors, names, report = _native.features(graph._named(), resolved, jobs(n_jobs), memory, columns, listen)
    warn_of_result(json.loads(report))
    return Embedding(graph.node_ids, vectors, names)
