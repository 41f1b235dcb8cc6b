"""Settings that suit a graph, judged by its own edges and labels."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import scipy.sparse

from hone_embed import _native
from hone_embed._graph import KEPT_BY, Graph, as_graph
from hone_embed._ids import is_missing, labels_per_node
from hone_embed._progress import jobs, listener
from hone_embed._results import Table, columns_of
from hone_embed._warnings import warn


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(Table):
    """The result of comparing settings, as :func:`tune` gives it.

    Examples
    --------
    >>> tuned = tune("builtin:karate", candidates=["hone", "hone-w"], n_components=8, rounds=1)
    >>> tuned.chosen, tuned.to_pandas()["name"].tolist()
    ('hone', ['hone', 'hone-w'])
    """

    rows: list[dict[str, Any]]
    """One entry per candidate: ``name``, ``links`` and ``labels`` round by round, ``seconds`` per embedding,
    ``difference`` from the first candidate with its standard ``error``, and ``p``; a candidate that failed has no figures
    and the reason in ``failure``."""
    chosen: str
    """The candidate that is chosen: the best, if it beats the first by more than chance, else the first."""
    verdict: str
    """The choice and its reason, in a sentence."""
    config: dict[str, Any]
    """Its settings, nested as in a configuration file."""
    goal: str
    """What decided: ``"links"``, ``"labels"`` or ``"both"``."""
    rounds: int
    """Rounds that were completed."""
    level: float
    """A rival needs a ``p`` below this."""

    def _columns(self) -> dict[str, Any]:
        return columns_of(self.rows)


def tune(
    graph: Any,
    labels: Any = None,
    *,
    candidates: Optional[Sequence[str]] = None,
    n_components: Optional[int] = None,
    goal: Optional[str] = None,
    rounds: int = 5,
    removed: float = 0.2,
    time_limit: Optional[float] = None,
    directed: Optional[bool] = None,
    weighted: bool = False,
    random_state: int = 0,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> Tuning:
    """Compare settings on a graph: hide some edges, embed the rest, and predict them.

    Parameters
    ----------
    graph
        Anything :class:`Graph` takes.
    labels
        Labels of nodes: one per node in the graph's order (None if there is none), or a mapping of ids to labels.
        Several labels of a node are a list, or a row of a 0/1 matrix. Predicting labels then counts as much as
        predicting edges.
    candidates
        Presets with settings after a colon, such as ``"hone:steps=2"``; the first is the default that others have to beat.
        Eight of them if None.
    n_components
        Dimensions of the vectors; by default those of the candidates.
    goal
        What decides: ``"links"``, ``"labels"`` or ``"both"``.
    rounds, removed, random_state
        How many times edges are hidden (fewer than three rounds decide nothing); the share of hidden edges; the seed. No
        split is one that an evaluation with a seed below 100001 has.
    time_limit
        Seconds after which it stops. Completed rounds decide; finished candidates of the next one are kept.

    Examples
    --------
    >>> from hone_embed import generate, tune
    >>> graph = generate("sbm", nodes=200, degree=10, communities=4, mixing=0.1)
    >>> tuned = tune(graph, candidates=["hone", "hone-w"], n_components=16, rounds=2)
    >>> tuned.chosen, len(tuned.rows), tuned.rounds
    ('hone', 2, 2)
    >>> "cannot tell this from chance" in tuned.verdict or "no other" in tuned.verdict
    True
    """
    graph = as_graph(graph, directed=directed, weighted=weighted, unused=KEPT_BY)
    if goal not in (None, "links", "labels", "both"):
        raise ValueError(f"goal: {goal!r} is not one of 'links', 'labels', 'both'")
    options: dict[str, Any] = {"removed": float(removed), "goal": goal, "rounds": _whole("rounds", rounds)}
    options["seed"] = _whole("random_state", random_state)
    options["dim"] = None if n_components is None else _whole("n_components", n_components)
    if candidates is not None:
        options["candidates"] = [candidates] if isinstance(candidates, str) else list(candidates)
    rows = None if labels is None else labelled(graph, labels)
    with listener(verbose) as listen:
        text = _native.tune(graph._native, json.dumps(options), rows, time_limit, jobs(n_jobs), listen)
    found = json.loads(text)
    for row in found["rows"]:
        if "failure" in row:
            warn(f"{row['name']} failed and has no results: {row['failure']}")
    chosen = found["rows"][found["chosen"]]["name"]
    kept = {name: found[name] for name in ("rows", "verdict", "config", "goal", "rounds", "level")}
    return Tuning(chosen=chosen, **kept)


def with_option(candidate: str, option: str) -> str:
    """A candidate with a further setting, if there is one."""
    return f"{candidate}{',' if ':' in candidate else ':'}{option}" if option else candidate


def candidate_settings(name: str) -> tuple[str, dict[str, Any]]:
    """A candidate of :func:`tune`, such as ``hone:steps=2``, as a preset and settings."""
    preset, _, options = name.partition(":")
    pairs = [option.split("=", 1) for option in options.split(",") if option]
    return preset, {key: json.loads(value) for key, value in pairs}


def _whole(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name}: {value!r} is not a whole number") from None
    if number < 0:
        raise ValueError(f"{name}: {value} is negative")
    return number


def labelled(graph: Graph, labels: Any) -> list[tuple[int, list[str]]]:
    """Numbers of the labelled nodes and their labels, as text."""
    plain = isinstance(labels, (Mapping, str, os.PathLike))
    values = labels_per_node(labels if plain else _values(labels), graph.node_ids)
    found = [(node, _texts(label)) for node, label in enumerate(values) if not _is_missing(label)]
    return [(node, texts) for node, texts in found if texts]


def _values(labels: Any) -> list[Any]:
    """One label, or a list of labels, per node."""
    array = labels.toarray() if scipy.sparse.issparse(labels) else labels
    if getattr(array, "ndim", 1) == 2:
        array = np.asarray(array)
        if array.shape[1] == 1:
            return array[:, 0].tolist()
        if not np.isin(array, (0, 1)).all():
            raise ValueError("labels: a matrix of labels has 0 and 1 only, one column per label")
        return [np.flatnonzero(row).tolist() for row in array]
    values = array.tolist() if hasattr(array, "tolist") else list(array)
    if any(isinstance(value, float) and not value.is_integer() and value == value for value in values):
        raise ValueError("labels: numbers with decimals are not labels; group them first")
    return values


def _is_missing(label: Any) -> bool:
    if isinstance(label, (list, tuple, set, frozenset, np.ndarray)):
        return False
    return is_missing(label)


def _texts(label: Any) -> list[str]:
    several = isinstance(label, (list, tuple, set, frozenset, np.ndarray))
    return [str(one) for one in label] if several else [str(label)]
