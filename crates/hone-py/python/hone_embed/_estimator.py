"""HONE as a scikit-learn transformer: a graph in, one vector per node out."""

from __future__ import annotations

import json
import numbers
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from hone_embed import _native
from hone_embed._attributes import attribute_columns
from hone_embed._factors import Factors, factor_folder, read_factors
from hone_embed._graph import USED_BY, Column, Graph, _plain, compare_attributes, warn_of_input
from hone_embed._placing import Placing
from hone_embed._progress import jobs, listener
from hone_embed._settings import refuse_contradictions, warn_idle, warn_of_result
from hone_embed._tune import Tuning, candidate_settings, tune, with_option

if TYPE_CHECKING:
    from hone_embed._explore import SimilarNodes


def presets() -> dict[str, str]:
    """Names of all presets, with what they stand for.

    >>> presets()["hone-p"]
    "the paper's HONE-P: motif transition matrices P = D⁻¹W"
    """
    return dict(_native.presets())


class HONE(Placing, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg,misc]
    """Higher-order network embeddings.

    A transformer whose input is a graph and whose output has one row per node.

    Parameters
    ----------
    preset
        The settings to start from: ``"hone"``, the default, one of the paper's (see :func:`presets`), or ``"auto"``, which
        compares settings on the graph first (see :func:`tune`). Parameters below that are None take the preset's value.
    n_components
        Dimensions of the vectors; with the preset ``"hone"``, one in eight (at most 16) describes structure.
    n_local_components
        Dimensions of each local embedding; ``"auto"`` is 16, or more if ``n_components`` needs more.
    n_steps
        Number of steps K, or ``"auto"``.
    motifs
        ``"all"`` (13 edge orbits), ``"graphlets"`` (9), ``"size3"``, or a list of names.
    weights
        Whether edge weights multiply the motif counts. By default those of a :class:`Graph` and those that ``weight`` names
        do, and others are left out, with a warning.
    weight
        The column of a table or file, or the edge attribute, that has the weights.
    directed
        Whether edges have a direction; by default the graph decides (see :class:`Graph`).
    random_state
        Seed; results are bit-identical for any ``n_jobs``. None draws one; 0 does not override a seed in ``config``.
    n_jobs
        Threads; None or -1 for all cores.
    memory_limit
        Memory limit of this process, in bytes or as ``"8G"``; by default what the machine has free. What does not fit
        goes to temporary files if possible.
    device
        ``"cpu"``, ``"cuda"``, ``"cuda:1"``, or ``"auto"`` for a GPU if there is one. By default a GPU if there is one and
        the graph has at least a million edges. Results of a GPU differ from those of the CPU by rounding.
    checkpoint
        A folder for finished stages, from which an interrupted ``fit`` continues.
    factors
        True to keep the factors in memory as ``factors_``, or a folder to keep them there; an earlier one is replaced.
    keep_model
        Whether to keep a model that places other graphs and new nodes in the same space (``transform``,
        ``update``, ``save``); by default if the settings allow it and there is no ``checkpoint``. With the default settings it
        takes about twice as much memory as the vectors.
    config
        Any setting of the library, on top of the preset: a dictionary of dotted names
        (``{"local.solver.iterations": 4}``), a TOML file or the record of a run (``OUT.run.json``). Parameters that are not
        None take precedence over a file; contradictions are refused.
    verbose
        Whether to show progress.

    Attributes
    ----------
    embedding_ : ndarray of float32, shape (n_nodes, n_components)
        One vector per node.
    node_ids_ : ndarray
        The id of each row.
    motif_importance_ : dict
        Share of each motif in the global embedding, the largest first.
    structure_importance_ : dict
        Share of each motif in the components of node features, the largest first; empty without them.
    report_ : dict
        What the run did: every choice, time and memory per stage, singular values, notes. This and the shares
        of motifs are absent after :meth:`load`.
    config_ : dict
        Every setting that was used.
    factors_ : Factors
        With ``factors``: U, sigma and V of every local embedding, Z and H of the global one; see
        :class:`Factors`.
    tuning_ : Tuning
        With the preset ``"auto"``: the candidates that were compared; see :func:`tune`.
    n_features_in_ : int
        Number of nodes, if ``X`` was a square matrix.

    Examples
    --------
    >>> from hone_embed import HONE, read_graph
    >>> karate = read_graph("builtin:karate")
    >>> hone = HONE(preset="hone-p", n_components=16, motifs=["edge", "triangle"]).fit(karate)
    >>> hone.embedding_.shape
    (34, 16)
    >>> sorted(hone.motif_importance_)
    ['edge', 'triangle']
    """

    embedding_: np.ndarray
    node_ids_: np.ndarray
    motif_importance_: dict[str, float]
    structure_importance_: dict[str, float]
    report_: dict[str, Any]
    config_: dict[str, Any]
    factors_: Factors
    tuning_: Tuning

    def __init__(
        self,
        preset: str = "hone",
        *,
        n_components: Optional[int] = None,
        n_local_components: Union[int, str, None] = None,
        n_steps: Union[int, str, None] = None,
        motifs: Union[str, list[str], None] = None,
        weights: Optional[bool] = None,
        weight: Optional[Column] = None,
        directed: Optional[bool] = None,
        random_state: Any = 0,
        n_jobs: Optional[int] = None,
        memory_limit: Union[int, str, None] = None,
        device: str | None = None,
        checkpoint: Union[str, os.PathLike[str], None] = None,
        factors: Union[bool, str, os.PathLike[str]] = False,
        keep_model: Optional[bool] = None,
        config: Union[dict[str, Any], str, os.PathLike[str], None] = None,
        verbose: bool = False,
    ) -> None:
        self.preset = preset
        self.n_components = n_components
        self.n_local_components = n_local_components
        self.n_steps = n_steps
        self.motifs = motifs
        self.weights = weights
        self.weight = weight
        self.directed = directed
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.device = device
        self.checkpoint = checkpoint
        self.factors = factors
        self.keep_model = keep_model
        self.config = config
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, attributes: Any = None) -> HONE:
        """Embed a graph.

        Parameters
        ----------
        X
            The graph, in any form that :class:`Graph` accepts.
        y
            Ignored, except by the preset ``"auto"``: labels of the nodes, which are then predicted too.
        attributes
            Further columns for each node: an array of numbers, a SciPy sparse matrix or a table, in the graph's order, or a
            mapping of names to columns, each in that order or a mapping of ids to values. Text, categories and missing values
            are treated as in a file of attributes; ``config`` says how (``{"attributes.table.text": ["title"]}``).
            The page *attributes* of the manual says what becomes of them.
        """
        self._embed(X, attributes, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, attributes: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Embed a graph and return the vectors of its nodes."""
        self._embed(X, attributes, y)
        return self._output(X, self.embedding_, self.node_ids_)

    def most_similar(
        self,
        node: Any = None,
        *,
        positive: Iterable[Any] = (),
        negative: Iterable[Any] = (),
        top: int = 10,
        by: str = "all",
    ) -> SimilarNodes:
        """The nodes most similar to a node, with their similarities; see :func:`hone_embed.most_similar`."""
        from hone_embed._explore import most_similar

        check_is_fitted(self)
        return most_similar(self, node, positive=positive, negative=negative, top=top, by=by)

    # --- the work

    def _embed(self, X: Any, attributes: Any, y: Any) -> None:
        """Does all the work, and then changes the object: a fit that fails leaves it as it was."""
        auto, tuning = self.preset == "auto", None
        config = self._resolve("hone" if auto else None)
        graph = self._graph_of(X, json.loads(config)["weights"])
        if graph.n_nodes == 0:
            raise ValueError("graph: Found array with 0 sample(s): it has no nodes, so there is nothing to embed")
        memory = _native.parse_bytes(self.memory_limit) if isinstance(self.memory_limit, str) else self.memory_limit
        if auto:
            tuning, config = self._tune(graph, attributes, y)
        file = json.loads(config)["attributes"].get("file")
        keep = False if self.keep_model is None and self.checkpoint is not None else self.keep_model
        if file and not isinstance(self.config, (dict, type(None))):
            compare_attributes(os.fspath(self.config), file)
        columns = attribute_columns(attributes, graph.node_ids, config)
        native = graph._named() if keep is not False or file else graph._native
        warn_idle(*self._choices(), _native.idle(native, config, columns is not None))
        with factor_folder(self.factors) as folder:
            with listener(self.verbose) as listen:
                result = _native.embed(
                    native, config, jobs(self.n_jobs), memory, columns, listen, self.checkpoint, folder, self.device, keep
                )
            factors = None if folder is None else read_factors(folder, mmap=self.factors is not True)
        self._set_results(json.loads(config)["attributes"], *result[:3])
        self._set_or_forget(factors_=factors, tuning_=tuning)
        self._set_model(graph, *result[3:])
        self._note_features(X)
        warn_of_result(self.report_)

    def _graph_of(self, X: Any, weights: Optional[bool]) -> Graph:
        graph = self._as_graph(X, weights, self.directed, self.weight)
        warn_of_input(graph, X, None if weights is False else USED_BY)
        return graph

    def _set_results(self, attributes: Any, vectors: np.ndarray, names: list[str], report: str) -> None:
        self.embedding_, self._columns = vectors, names
        self.report_ = json.loads(report)
        self.config_ = self.report_["config"]
        self.config_["attributes"] = attributes
        self.motif_importance_ = _importance(self.report_)
        structure = self.report_.get("structure") or {"motifs": []}
        self.structure_importance_ = {entry["motif"]: entry["share"] for entry in structure["motifs"]}

    def _set_or_forget(self, **results: Any) -> None:
        """Sets results, and removes those that an earlier fit left and this one did not make."""
        for name, result in results.items():
            if result is not None:
                setattr(self, name, result)
            elif hasattr(self, name):
                delattr(self, name)

    def _tune(self, graph: Any, attributes: Any, labels: Any) -> tuple[Tuning, str]:
        """What was compared, and the settings that suit the graph best, as JSON."""
        refused = ("n_local_components", "n_steps", "motifs", "config", "memory_limit")
        given = [name for name in refused if getattr(self, name) is not None]
        given += [] if attributes is None else ["attributes"]
        if given:
            message = "the preset 'auto' compares settings without it; use tune, and then HONE with what it chose"
            raise ValueError(f"{given[0]}: {message}")
        weights = "" if self.weights is None else f"weights={str(self.weights).lower()}"
        candidates = [with_option(candidate, weights) for candidate in _native.tuned_candidates()]
        first = 100_001 + self._seed().get("seed", 0)
        shared: dict[str, Any] = {"n_components": self.n_components, "n_jobs": self.n_jobs, "verbose": self.verbose}
        tuning = tune(graph, labels, candidates=candidates, random_state=first, **shared)
        return tuning, self._resolve(*candidate_settings(tuning.chosen))

    def _choices(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Settings that parameters give, but for a seed that is drawn, and those of a dictionary ``config``."""
        named = {
            "global.dim": self.n_components,
            "local.dim": self.n_local_components,
            "steps": self.n_steps,
            "motifs": list(self.motifs) if isinstance(self.motifs, (tuple, set)) else self.motifs,
            "weights": self.weights,
        }
        settings = dict(self.config) if isinstance(self.config, dict) else {}
        return {key: value for key, value in named.items() if value is not None}, settings

    def _resolve(self, preset: Optional[str] = None, chosen: Optional[dict[str, Any]] = None) -> str:
        """The configuration as the library understands it, as JSON."""
        if not isinstance(self.preset, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"preset: {self.preset!r} is not a name; dimensions are n_components")
        if isinstance(self.weights, str) and self.weights != "auto":  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(f"weights: {self.weights!r} is neither True nor False; weight={self.weights!r} names the column")
        file = None if self.config is None or isinstance(self.config, dict) else os.fspath(self.config)
        given, settings = self._choices()
        settings.update(chosen or {})
        given.update(self._seed())
        refuse_contradictions(given, settings)
        settings.update(given)
        return _native.resolve(preset or self.preset, file, json.dumps(settings, default=_plain))

    def _seed(self) -> dict[str, int]:
        if isinstance(self.random_state, numbers.Integral):
            if self.random_state < 0:
                raise ValueError(f"random_state: {self.random_state} is negative")
            # 0 is the default here as there: a seed that `config` names stands.
            return {"seed": int(self.random_state)} if self.random_state else {}
        return {"seed": int(check_random_state(self.random_state).randint(2**31))}


def _importance(report: dict[str, Any]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for entry in report["importance"]:
        motif = entry["motif"].removesuffix(":target")  # both sides of arcs
        sums[motif] = sums.get(motif, 0.0) + entry["share"]
    return dict(sorted(sums.items(), key=lambda item: -item[1]))
