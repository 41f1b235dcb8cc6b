"""Link prediction: how well vectors tell removed edges from pairs without an edge."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from hone_embed import _native
from hone_embed._arrays import as_frame
from hone_embed._estimator import HONE
from hone_embed._graph import Graph, as_graph
from hone_embed._progress import jobs, listener
from hone_embed._warnings import warn


def methods() -> dict[str, str]:
    """Names of all methods of :func:`evaluate_link_prediction`, with what they are.

    >>> methods()["degree"]
    'eight hand-made features of degree and triangles'
    """
    return dict(_native.methods())


class LinkSplit(NamedTuple):
    """A graph with edges removed, and pairs of nodes to classify; pairs are row numbers."""

    graph: Graph
    """What is left: all that a method may see. Nodes keep their order."""
    train_pairs: np.ndarray
    """Pairs to choose options and to fit a classifier on, shape (n, 2)."""
    train_labels: np.ndarray
    """Whether each is an edge."""
    test_pairs: np.ndarray
    """Pairs to test on."""
    test_labels: np.ndarray
    """Whether each is an edge."""


def link_split(
    graph: Any,
    *,
    removed: float = 0.5,
    selection: float = 0.1,
    negatives: Optional[str] = None,
    random_state: int = 1,
    directed: Optional[bool] = None,
) -> LinkSplit:
    """Remove edges and draw as many pairs without one, for link prediction by any method.

    Parameters
    ----------
    graph
        Anything :class:`Graph` takes.
    removed
        Share of the edges that are removed.
    selection
        Share of the labelled pairs for training; the rest is for testing.
    negatives
        As for :func:`evaluate_link_prediction`.

    Examples
    --------
    >>> split = link_split("builtin:karate")
    >>> split.graph, len(split.train_labels), len(split.test_labels)
    (Graph(nodes=34, edges=39), 8, 70)
    """
    graph = as_graph(graph, directed=directed)
    train, fit, test = _native.link_split(graph._native, removed, selection, negatives, random_state)
    return LinkSplit(Graph._of(train, graph._ids), *fit, *test)


def evaluate_link_prediction(
    graph: Any,
    methods: Union[str, HONE, Sequence[Union[str, HONE]]] = ("hone", "degree"),
    *,
    seeds: Union[int, Iterable[int]] = 3,
    removed: float = 0.5,
    selection: float = 0.1,
    protocol: str = "select10",
    operators: Union[str, Sequence[str], None] = None,
    negatives: Optional[str] = None,
    standardize: bool = False,
    grid: bool = False,
    directed: Optional[bool] = None,
    cache: Union[str, os.PathLike[str], None] = None,
    save: Union[str, os.PathLike[str], None] = None,
    output: str = "auto",
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> Any:
    """Evaluate embeddings by link prediction: remove edges, embed the rest, classify pairs.

    Parameters
    ----------
    graph
        Anything :class:`Graph` takes.
    methods
        Names (see :func:`methods`), with options among which validation chooses (``"hone-p:steps=1|2|3"``), files of vectors
        of the training graphs (``"file:z-{seed}.npy"``), and :class:`HONE` estimators.
    seeds
        How many splits, or their seeds; they are 1, 2, … by default.
    removed, selection, protocol, operators, standardize
        Share of removed edges; share of pairs used for choosing options; ``"select10"``, ``"cv"`` or ``"train-graph"``; how
        the vectors of a pair are combined; whether features are standardised. docs/evaluation.md explains them.
    negatives
        Pairs without an edge: ``"random"``; ``"reversed"``, reversed removed arcs; or ``"mixed"``, half each. By default
        ``"random"``, for directed graphs ``"mixed"``.
    grid
        Whether to search the options the paper searches.
    cache
        A folder for finished results; an interrupted run continues from it.
    save
        A folder for the vectors of every method and seed: ``graph/METHOD-SEED.npz`` with ids, and ``manifest.json``.
    output
        ``"pandas"``, ``"records"`` (a list of dictionaries), or ``"auto"``: pandas if ``graph`` is a pandas table or
        ``sklearn.set_config(transform_output="pandas")`` was called, else records.

    Returns
    -------
    One row per method, seed and operator: ``auc``, ``average_precision``, what validation chose, seconds. A method that
    fails is left out with a warning: its rows have no figures, and the column ``failure`` has the reason. Only if all fail,
    the first error is raised.

    Examples
    --------
    >>> rows = evaluate_link_prediction("builtin:karate", ["degree"], seeds=2)
    >>> [row["seed"] for row in rows], 0.5 < rows[0]["auc"] < 1
    ([1, 2], True)
    """
    if output not in ("auto", "pandas", "records"):
        raise ValueError(f"output: {output!r} is not one of 'auto', 'pandas', 'records'")
    entries = [methods] if isinstance(methods, (str, HONE)) else list(methods)
    if not entries:
        raise ValueError("methods: there must be at least one")
    given, graph = graph, as_graph(graph, directed=directed)
    settings = {
        "seeds": list(range(1, seeds + 1)) if isinstance(seeds, int) else [int(seed) for seed in seeds],
        "removed": removed,
        "selection": selection,
        "protocol": protocol,
        "operators": [operators] if isinstance(operators, str) else None if operators is None else list(operators),
        "negatives": negatives,
        "standardize": standardize,
        "grid": grid,
        "cache": None if cache is None else os.fspath(cache),
        "save": None if save is None else os.fspath(save),
    }
    with listener(verbose) as listen:
        contestants = [_contestant(entry) for entry in entries]
        text = _native.evaluate_link(graph._named(), contestants, settings, jobs(n_jobs), listen)
    rows = json.loads(text)
    notes = [note for row in rows for note in row.pop("notes", ())]
    failures = [f"{row['method']} failed and has no results: {row['failure']}" for row in rows if "failure" in row]
    for note in dict.fromkeys(notes + failures):
        warn(note)
    if failures:
        columns = ("operator", "auc", "average_precision", "validation", "candidate", "C", "seconds", "failure")
        rows = [{**row, **{name: row.get(name) for name in columns}} for row in rows]
    if not as_frame(output, given):
        return rows
    import pandas

    return pandas.DataFrame(rows)


def _contestant(entry: Union[str, HONE]) -> tuple[str, Optional[str]]:
    if isinstance(entry, str):
        return entry, None
    if isinstance(entry, HONE):
        if entry.preset == "auto":
            raise ValueError("methods: the preset 'auto' depends on the split; use tune, and then HONE with what it chose")
        return " ".join(repr(entry).split()), entry._resolve()
    raise TypeError(f"methods: {entry!r} is neither a name nor a HONE")
