"""Other graphs and new nodes in the space of a fit."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, Optional, Union

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from hone_embed import _native
from hone_embed._changes import changed, known_rows, with_rows
from hone_embed._graph import Graph, ids_to_array, warn
from hone_embed._progress import jobs, listener


class Placing:
    """What a fitted :class:`HONE` does with its model."""

    embedding_: np.ndarray
    node_ids_: np.ndarray
    report_: dict[str, Any]
    n_features_in_: int
    memory_limit: Union[int, str, None]
    n_jobs: Optional[int]
    verbose: bool
    _columns: list[str]
    _model: Optional[_native.Model]
    _no_model: Optional[str]
    _graph: Optional[Graph]
    _fingerprint: str

    def update(self, *, added: Iterable[Any] = (), removed: Iterable[Any] = ()) -> Any:
        """Change edges of the graph, and the vectors with them, in the space of the fit.

        Nodes that are not there yet are added behind the others. ``embedding_``, ``node_ids_`` and ``report_`` are then of the
        changed graph; the model stays that of ``fit``, so that vectors of many updates can be compared.

        Parameters
        ----------
        added, removed
            Edges: pairs of ids, or a pair and a weight where the graph has weights.

        Examples
        --------
        >>> from hone_embed import HONE
        >>> hone = HONE(n_components=24).fit("builtin:karate")
        >>> hone.update(added=[(34, 0), (34, 1)]).embedding_.shape
        (35, 24)
        """
        check_is_fitted(self)
        graph = changed(self._kept_graph("update"), added, removed)
        self.embedding_, _, report = self._place(graph, False)
        self.report_ = json.loads(report)
        self.node_ids_, self._graph, self._fingerprint = graph.node_ids, graph, graph._named().fingerprint()
        if hasattr(self, "n_features_in_"):
            self.n_features_in_ = len(self.embedding_)
        return self

    def save(self, path: Union[str, os.PathLike[str]], *, overwrite: bool = False) -> None:
        """Write the model of the fit to a file, for :meth:`load` and for ``hone embed --like``.

        Examples
        --------
        >>> import os, tempfile
        >>> from hone_embed import HONE
        >>> file = os.path.join(tempfile.mkdtemp(), "karate.hone")
        >>> hone = HONE(n_components=24).fit("builtin:karate")
        >>> hone.save(file)
        >>> bool((HONE.load(file).transform("builtin:karate") == hone.embedding_).all())
        True
        """
        check_is_fitted(self)
        self._kept_model("save").save(os.fspath(path), overwrite)

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> Any:
        """Read a model that :meth:`save` or ``hone embed --model`` wrote.

        The result is fitted; it knows no edges, so ``transform`` takes graphs, and ``update`` is refused.
        """
        model = _native.Model.load(os.fspath(path))
        facts = json.loads(model.facts())
        hone = cls(config=_dotted(facts["config"]))
        hone.embedding_, hone._columns = model.vectors(), facts["columns"]
        hone.node_ids_ = ids_to_array(model.ids(), len(hone.embedding_))
        hone.report_ = facts
        hone.config_ = facts["config"]
        hone.motif_importance_, hone.structure_importance_ = {}, {}
        hone._model, hone._no_model, hone._graph, hone._fingerprint = model, None, None, facts["fingerprint"]
        return hone

    def _kept_model(self, use: str) -> _native.Model:
        if self._model is None:
            raise ValueError(f"{use}: there is no model of this fit: {self._no_model}")
        return self._model

    def _kept_graph(self, use: str) -> Graph:
        if self._graph is None:
            raise ValueError(f"{use}: a model that was read from a file knows no edges; transform the changed graph instead")
        return self._graph

    def _place(self, graph: Graph, structure_only: bool) -> tuple[np.ndarray, list[str], str]:
        memory = _native.parse_bytes(self.memory_limit) if isinstance(self.memory_limit, str) else self.memory_limit
        model = self._kept_model("transform")
        with listener(self.verbose) as listen:
            placed = model.embed(graph._named(), structure_only, jobs(self.n_jobs), memory, listen)
        for note in json.loads(placed[2])["notes"]:
            warn(note.replace("structure-only = true", "structure_only=True"))
        return placed

    def _of_rows(self, X: Any, structure_only: bool) -> tuple[np.ndarray, None, list[str]]:
        """Vectors of nodes that are given by their edges to the fitted ones, with the names of the columns."""
        graph = self._kept_graph("transform")
        rows = scipy.sparse.csr_array(X, dtype=np.float32)
        rows.eliminate_zeros()
        rows.sort_indices()
        node = known_rows(graph, rows)
        first = next((k for k, name in enumerate(self._columns) if name.startswith("structure.")), 0)
        names = list(self._columns[first if structure_only else 0 :])
        vectors = self.embedding_[np.maximum(node, 0)][:, len(self._columns) - len(names) :].copy()
        new = np.flatnonzero(node < 0)
        if len(new) > 0:
            placed, names, _ = self._place(with_rows(graph, rows[new]), structure_only)
            vectors[new] = placed[graph.n_nodes :]
        return vectors, None, names


def _dotted(settings: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Settings by their dotted names."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            flat.update(_dotted(value, f"{before}{key}."))
        else:
            flat[before + key] = value
    return flat
