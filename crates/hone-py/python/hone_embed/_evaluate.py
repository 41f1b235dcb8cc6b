"""How well vectors tell removed edges from pairs without an edge, and labels of nodes from each other."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from hone_embed import _native
from hone_embed._estimator import HONE
from hone_embed._graph import Graph, as_graph
from hone_embed._progress import jobs, listener
from hone_embed._results import Table, columns_of
from hone_embed._tune import labelled
from hone_embed._warnings import warn

Methods = Union[str, HONE, Sequence[Union[str, HONE]]]


def methods() -> dict[str, str]:
    """Names of all methods of :func:`evaluate_link_prediction`, with what they are.

    >>> methods()["degree"]
    'eight hand-made features of degree and triangles'
    """
    return dict(_native.methods())


@dataclass(frozen=True, eq=False, repr=False)
class LinkSplit(Table):
    """A graph with edges removed, and pairs of nodes to classify, as :func:`link_split` gives them; pairs are row numbers.

    Examples
    --------
    >>> split = link_split("builtin:karate")
    >>> split
    LinkSplit(78 rows: node, other, edge, test)
    """

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

    def _columns(self) -> dict[str, Any]:
        pairs = self.graph.node_ids[np.concatenate([self.train_pairs, self.test_pairs])]
        test = np.arange(len(pairs)) >= len(self.train_pairs)
        edge = np.concatenate([self.train_labels, self.test_labels])
        return {"node": pairs[:, 0], "other": pairs[:, 1], "edge": edge, "test": test}


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Table):
    """The scores of methods, as :func:`evaluate_link_prediction` and :func:`evaluate_nodes` give them.

    Examples
    --------
    >>> scores = evaluate_link_prediction("builtin:karate", ["degree"], seeds=6)
    >>> [row["seed"] for row in scores.rows]
    [0, 1, 2, 3, 4, 5]
    >>> bool(0.5 < scores.to_pandas()["auc"].mean() < 1)
    True
    """

    rows: list[dict[str, Any]]
    """One entry per method and split; see the function that made them."""

    def _columns(self) -> dict[str, Any]:
        return columns_of(self.rows)


def link_split(
    graph: Any,
    *,
    removed: float = 0.5,
    selection: float = 0.1,
    negatives: Optional[str] = None,
    random_state: int = 0,
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
    methods: Methods = ("hone", "degree"),
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
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> Evaluation:
    """Evaluate embeddings by link prediction: remove edges, embed the rest, classify pairs.

    Parameters
    ----------
    graph
        Anything :class:`Graph` takes.
    methods
        Names (see :func:`methods`), with options among which validation chooses (``"hone-p:steps=1|2|3"``), files of vectors
        of the training graphs (``"file:z-{seed}.npy"``), and :class:`HONE` estimators.
    seeds
        How many splits, or their seeds; they are 0, 1, … by default.
    removed, selection, protocol, operators, standardize
        Share of removed edges; share of pairs used for choosing options; ``"select10"``, ``"cv"`` or ``"train-graph"``; how
        the vectors of a pair are combined; whether features are standardised. The page *evaluation* of the manual explains them.
    negatives
        Pairs without an edge: ``"random"``; ``"reversed"``, reversed removed arcs; or ``"mixed"``, half each. By default
        ``"random"``, for directed graphs ``"mixed"``.
    grid
        Whether to search the options the paper searches.
    cache
        A folder for finished results; an interrupted run continues from it.
    save
        A folder for the vectors of every method and seed: ``graph/METHOD-SEED.npz`` with ids, and ``manifest.json``.

    Returns
    -------
    An :class:`Evaluation`, with one row per method, seed and operator: ``auc``, ``average_precision``, what validation chose, seconds. A method that
    fails is left out with a warning: its rows have no figures, and the column ``failure`` has the reason. Only if all fail,
    the first error is raised.

    Examples
    --------
    >>> scores = evaluate_link_prediction("builtin:karate", ["degree"], seeds=2)
    >>> scores.to_pandas()[["method", "seed"]]
       method  seed
    0  degree     0
    1  degree     1
    """
    graph = as_graph(graph, directed=directed)
    settings = _settings(seeds, standardize, grid, cache, save)
    settings.update(removed=removed, selection=selection, protocol=protocol, negatives=negatives)
    settings["operators"] = [operators] if isinstance(operators, str) else None if operators is None else list(operators)
    with listener(verbose) as listen:
        text = _native.evaluate_link(graph._named(), _contestants(methods), settings, jobs(n_jobs), listen)
    return _evaluation(text, ("operator", "auc", "average_precision", "validation", "candidate", "C", "seconds"))


def evaluate_nodes(
    graph: Any,
    labels: Any,
    methods: Methods = ("hone", "degree"),
    *,
    seeds: Union[int, Iterable[int]] = 3,
    shares: Sequence[float] = (0.1, 0.5, 0.9),
    standardize: bool = False,
    grid: bool = False,
    directed: Optional[bool] = None,
    cache: Union[str, os.PathLike[str], None] = None,
    save: Union[str, os.PathLike[str], None] = None,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> Evaluation:
    """Evaluate embeddings by the labels of nodes: embed the graph, and classify the nodes by their vectors.

    A node with several labels is given as many as it has, those with the highest scores.

    Parameters
    ----------
    graph, methods, seeds, standardize, grid, cache, save
        As for :func:`evaluate_link_prediction`.
    labels
        As for :func:`tune`; nodes without a label are left out.
    shares
        Shares of the labelled nodes to train on.

    Returns
    -------
    An :class:`Evaluation`, with one row per method, seed and share: ``micro_f1``, ``macro_f1``, ``accuracy``, what validation
    chose, seconds; of a method that fails, ``failure``.

    Examples
    --------
    >>> from hone_embed import generate
    >>> graph = generate("sbm", nodes=90, degree=10, communities=3, mixing=0.1)
    >>> scores = evaluate_nodes(graph, graph.node_ids // 30, ["hone:dim=16"], seeds=1, shares=[0.5])
    >>> scores.rows[0]["share"], scores.rows[0]["accuracy"] > 0.9
    (0.5, True)
    """
    graph = as_graph(graph, directed=directed)
    settings = _settings(seeds, standardize, grid, cache, save)
    fractions = [float(share) for share in shares]
    with listener(verbose) as listen:
        text = _native.evaluate_labels(
            graph._named(), labelled(graph, labels), _contestants(methods), fractions, settings, jobs(n_jobs), listen
        )
    return _evaluation(text, ("share", "micro_f1", "macro_f1", "accuracy", "candidate", "C", "seconds"))


def _settings(seeds: Union[int, Iterable[int]], standardize: bool, grid: bool, cache: Any, save: Any) -> dict[str, Any]:
    """Settings of any evaluation; those of links have values that labels of nodes do not look at."""
    return {
        **{"removed": 0.5, "selection": 0.1, "protocol": "select10", "operators": None, "negatives": None},
        "seeds": list(range(seeds)) if isinstance(seeds, int) else [int(seed) for seed in seeds],
        "standardize": standardize,
        "grid": grid,
        "cache": None if cache is None else os.fspath(cache),
        "save": None if save is None else os.fspath(save),
    }


def _evaluation(text: str, columns: tuple[str, ...]) -> Evaluation:
    """The result, with a warning for each method that failed; ``columns`` are those of figures."""
    rows: list[dict[str, Any]] = json.loads(text)
    notes = [note for row in rows for note in row.pop("notes", ())]
    failures = [f"{row['method']} failed and has no results: {row['failure']}" for row in rows if "failure" in row]
    for note in dict.fromkeys(notes + failures):
        warn(note)
    shown = ("method", "seed", *columns, *(("failure",) if failures else ()))
    return Evaluation([{name: row.get(name) for name in shown} for row in rows])


def _contestants(methods: Methods) -> list[tuple[str, Optional[str]]]:
    entries = [methods] if isinstance(methods, (str, HONE)) else list(methods)
    if not entries:
        raise ValueError("methods: there must be at least one")
    return [_contestant(entry) for entry in entries]


def _contestant(entry: Union[str, HONE]) -> tuple[str, Optional[str]]:
    if isinstance(entry, str):
        return entry, None
    if isinstance(entry, HONE):  # pyright: ignore[reportUnnecessaryIsInstance]
        if entry.preset == "auto":
            raise ValueError("methods: the preset 'auto' depends on the split; use tune, and then HONE with what it chose")
        return " ".join(repr(entry).split()), entry._resolve()
    raise TypeError(f"methods: {entry!r} is neither a name nor a HONE")
