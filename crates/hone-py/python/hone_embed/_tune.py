"""Settings that suit a graph, judged by its own edges and labels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from hone_embed import _native
from hone_embed._graph import Graph, as_graph
from hone_embed._progress import jobs, listener


class Tuning(NamedTuple):
    """What came of a comparison of settings."""

    rows: list[dict[str, Any]]
    """One entry per candidate: ``name``, ``links`` and ``labels`` round by round, ``seconds`` per embedding,
    ``difference`` from the first candidate with its standard ``error``, and ``p``."""
    chosen: str
    """The candidate that is chosen: the best, if it beats the first by more than chance, else the first."""
    verdict: str
    """The choice and its reason, in a sentence."""
    config: dict[str, Any]
    """Its settings, nested as in a configuration file."""
    rounds: int
    """Rounds that were run."""


def tune(
    graph: Any,
    labels: Any = None,
    *,
    candidates: Optional[Sequence[str]] = None,
    n_components: Optional[int] = None,
    by: Optional[str] = None,
    rounds: int = 5,
    removed: float = 0.2,
    time_limit: Optional[float] = None,
    directed: Optional[bool] = None,
    weighted: bool = False,
    random_state: int = 1,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> Tuning:
    """Compare settings on a graph: hide some edges, embed the rest, and predict them.

    Parameters
    ----------
    graph
        Anything :class:`Graph` takes.
    labels
        Labels of nodes: one per node in the graph's order (None where there is none), or a mapping of ids to labels. A node
        with several has a list of them. Predicting them then counts as much as predicting edges.
    candidates
        Presets with settings after a colon, such as ``"hone:steps=2"``; the first is the default that others have to beat.
        Eight of them if None.
    n_components
        Dimensions of the vectors; by default those of the candidates.
    by
        What decides: ``"links"``, ``"labels"`` or ``"both"``.
    rounds, removed, random_state
        How many times edges are hidden; which share of them; the seed of the first round.
    time_limit
        Seconds. No round is begun that would end later; the first one always is.

    Examples
    --------
    >>> from hone_embed import generate, tune
    >>> graph = generate("sbm", nodes=200, degree=10, communities=4, mixing=0.1)
    >>> tuned = tune(graph, candidates=["hone", "hone-w"], n_components=16, rounds=2)
    >>> tuned.chosen, len(tuned.rows), tuned.rounds
    ('hone', 2, 2)
    """
    graph = as_graph(graph, directed=directed, weighted=weighted)
    options: dict[str, Any] = {"dim": n_components, "removed": removed, "by": by, "rounds": rounds}
    options["first_seed"] = random_state
    if candidates is not None:
        options["candidates"] = [candidates] if isinstance(candidates, str) else list(candidates)
    rows = None if labels is None else _labelled(graph, labels)
    with listener(verbose) as listen:
        tuned, verdict = _native.tune(graph._native, json.dumps(options), rows, time_limit, jobs(n_jobs), listen)
    found = json.loads(tuned)
    return Tuning(found["rows"], found["rows"][found["chosen"]]["name"], verdict, found["config"], found["rounds"])


def _labelled(graph: Graph, labels: Any) -> list[tuple[int, list[str]]]:
    """Numbers of the labelled nodes and their labels, as text."""
    if isinstance(labels, Mapping):
        node_of = {id: node for node, id in enumerate(graph.node_ids.tolist())}
        unknown = [id for id in labels if id not in node_of]
        if unknown:
            raise ValueError(f"labels: {unknown[0]!r} is no node of the graph ({len(unknown)} such ids)")
        pairs = [(node_of[id], label) for id, label in labels.items()]
    else:
        values = labels.tolist() if hasattr(labels, "tolist") else list(labels)
        if len(values) != graph.n_nodes:
            raise ValueError(f"labels: {len(values)} of them, for {graph.n_nodes} nodes")
        pairs = list(enumerate(values))
    return [(node, _texts(label)) for node, label in pairs if not _missing(label)]


def _missing(label: Any) -> bool:
    return label is None or (isinstance(label, float) and bool(np.isnan(label)))


def _texts(label: Any) -> list[str]:
    several = isinstance(label, (list, tuple, set, frozenset, np.ndarray))
    return [str(one) for one in label] if several else [str(label)]
