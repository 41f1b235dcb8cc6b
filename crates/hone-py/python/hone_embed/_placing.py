"""Other graphs and new nodes in the space of a fit."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from hone_embed import _native
from hone_embed._arrays import is_rows
from hone_embed._arrow import vector_table
from hone_embed._attributes import attribute_columns
from hone_embed._changes import changed, with_rows
from hone_embed._graph import Column, Graph, as_quiet_graph, ids_to_array, warn_of_input
from hone_embed._inputs import KNOWING, Options, comes_from
from hone_embed._known import KnownRows
from hone_embed._progress import jobs, listener
from hone_embed._protocol import SklearnProtocol
from hone_embed._settings import warn_of_result
from hone_embed._warnings import warn

if TYPE_CHECKING:
    from typing_extensions import Self

#: Why there is no graph next to a model.
NO_EDGES = "a model that was read from a file knows no edges; transform a graph, or new edges with added_only=True"


class Placing(SklearnProtocol):
    """What a fitted :class:`HONE` does with its model."""

    report_: dict[str, Any]
    config_: dict[str, Any]
    memory_limit: Union[int, str, None]
    keep_model: Optional[bool]
    directed: Optional[bool]
    weight: Optional[Column]
    n_jobs: Optional[int]
    verbose: bool
    _model: Optional[_native.Model]
    _no_model: Optional[str]
    _graph: Optional[Graph]
    _known: Optional[KnownRows]
    _fingerprint: str
    _of_arcs: bool
    _of_weights: bool

    def transform(
        self,
        X: Any,
        *,
        structure_only: bool = False,
        new_only: bool = False,
        added_only: bool = False,
        attributes: Any = None,
    ) -> Any:
        """Vectors of nodes, in the space of the fit.

        ``X`` is a graph, read with the directions and weights of the fit where it has none of its own. Nodes are shared by id:
        those whose edges to other shared nodes did not change keep their proximity columns, others are placed by their
        edges. Structure columns are those of ``X``, in the units of the fit. So the graph of the fit gets bit-identical
        vectors.

        A matrix with one column per fitted node has the edges of one node per row, or its arcs to fitted nodes; a row
        that is the row of a fitted node stands for that node. A square matrix is rows of nodes if a matrix
        was fitted, and another graph if not: pass other graphs as :class:`Graph`.

        New nodes of one call join the fitted graph together, without edges between them. Motifs are counted with all of
        them, so two new nodes with a common neighbour change each other's structure columns; where this matters, pass rows
        one by one.

        ``structure_only`` returns structure columns alone, for graphs without shared nodes. ``new_only`` returns rows for
        nodes that the model does not have: the same vectors as among all rows, at a fraction of the cost.

        ``added_only`` says that ``X`` has only the edges of new nodes, not the whole graph. The new nodes get their proximity
        columns; structure needs the motifs around them.

        ``attributes``, one row per node of ``X`` as in ``fit``, place nodes by what they are, even without edges. Rows of
        fitted nodes replace their attributes; rows without a value leave them as they were.

        The page *models* of the manual says how nodes are placed, and how well.

        Examples
        --------
        >>> import numpy as np
        >>> from hone_embed import HONE, read_graph
        >>> adjacency = read_graph("builtin:karate").adjacency()
        >>> hone = HONE(n_components=24).fit(adjacency)
        >>> new = np.zeros((1, 34))
        >>> new[0, [0, 1, 2]] = 1
        >>> hone.transform(new).shape
        (1, 24)
        >>> bool((hone.transform(adjacency[[7, 3]]) == hone.embedding_[[7, 3]]).all())
        True
        """
        check_is_fitted(self)
        first = self._first_column(structure_only)
        self._check_features(X)
        fitted = len(self.embedding_)
        are_rows = is_rows(X, fitted, hasattr(self, "n_features_in_"))
        graph = None if are_rows and X.shape[0] != fitted else self._like_fit(X)
        as_fitted = not (new_only or added_only) and attributes is None
        if as_fitted and graph is not None and graph._named().fingerprint() == self._fingerprint:
            return self._output(X, self.embedding_[:, first:].copy(), self.node_ids_, self._columns[first:])
        if are_rows and (new_only or added_only):
            name = "new_only" if new_only else "added_only"
            raise ValueError(f"{name}: the rows of a matrix are all returned; pass another graph as a Graph")
        if are_rows and attributes is not None:
            raise ValueError("attributes: rows of a matrix have none; pass another graph as a Graph")
        if are_rows or graph is None:
            return self._output(X, *self._of_rows(X, structure_only))
        warn_of_input(graph, X, "the fit has none")
        vectors, nodes, columns, _ = self._place(graph, structure_only, new_only, added_only, attributes)
        return self._output(X, vectors, graph.node_ids[nodes], columns)

    def update(self, *, added: Iterable[Any] = (), removed: Iterable[Any] = (), attributes: Any = None) -> Self:
        """Change edges of the graph, and the vectors with them, in the space of the fit.

        New nodes come last. ``embedding_``, ``node_ids_`` and ``report_`` are then of the changed graph. The model stays
        that of ``fit``, so that vectors of many updates can be compared.

        Parameters
        ----------
        added, removed
            Edges: pairs of ids, with a weight where the graph has weights, or a table or Arrow stream of these two or three
            columns. Edges are removed first, and must be there. An added edge that is there takes the new weight.
        attributes
            Attributes of all nodes of the changed graph, new ones last; as in :meth:`transform`.

        Examples
        --------
        >>> from hone_embed import HONE
        >>> hone = HONE(n_components=24).fit("builtin:karate")
        >>> hone.update(added=[(34, 0), (34, 1)]).embedding_.shape
        (35, 24)
        """
        check_is_fitted(self)
        self._kept_model("update")
        graph = changed(self._kept_graph("update"), added, removed)
        self.embedding_, _, _, report = self._place(graph, attributes=attributes)
        self.report_ = json.loads(report)
        self._set_graph(graph)
        if hasattr(self, "n_features_in_"):
            self.n_features_in_ = len(self.embedding_)
        return self

    def save(self, path: Union[str, os.PathLike[str]], *, overwrite: bool = False) -> None:
        """Write the model of the fit to a file, for :meth:`load` and for ``hone place``.

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

    def to_arrow(self) -> Any:
        """The ids of the nodes, and their vectors as one column of lists of one length, as a pyarrow table.

        Examples
        --------
        >>> from hone_embed import HONE
        >>> HONE(n_components=24).fit("builtin:karate").to_arrow().schema.field("vector").type
        FixedSizeListType(fixed_size_list<item: float>[24])
        """
        check_is_fitted(self)
        return vector_table(self.node_ids_, self.embedding_, self._columns)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The same for any library that takes Arrow streams."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    @classmethod
    def load(cls, path: Union[str, os.PathLike[str]]) -> Self:
        """Read a model that :meth:`save` or ``hone embed --save-model`` wrote.

        The result is fitted. It knows no edges, so ``transform`` takes graphs, or with ``added_only`` new edges, and ``update`` is
        refused. ``set_params(weight="amount")`` names the column of weights, if it is not called ``weight``.
        """
        model = _native.Model.load(os.fspath(path))
        facts = json.loads(model.facts())
        usual = _dotted(json.loads(_native.resolve("hone", None, "{}")))
        chosen = {key: value for key, value in _dotted(facts["config"]).items() if usual.get(key) != value}
        hone = cls(config=chosen)  # type: ignore[call-arg]
        hone.embedding_, hone._columns = model.vectors(), facts["columns"]
        hone.node_ids_ = ids_to_array(model.ids(), len(hone.embedding_))
        hone.config_, hone._fingerprint = facts["config"], facts["fingerprint"]
        hone._model, hone._no_model, hone._graph, hone._known = model, None, None, None
        hone._of_arcs, hone._of_weights = facts["graph"]["directed"], facts["graph"]["weighted"]
        return hone

    def _as_graph(self, X: Any, weights: Any, directed: Optional[bool], weight: Optional[Column]) -> Graph:
        """``X`` as a graph, with the weights that the fit needs."""
        if weights is False and self.weight is not None:
            raise ValueError("weight: it names weights and weights=False leaves them out; give one of the two")
        return as_quiet_graph(X, Options(directed, weights is True or self.weight is not None, weight=weight))

    def _like_fit(self, X: Any) -> Graph:
        """``X`` as a graph, read as that of the fit was: with its weights, and its directions unless ``X`` knows about them."""
        weights = self.config_["weights"]
        if isinstance(X, Graph):
            return as_quiet_graph(X, Options(self.directed, weights is True))
        knows = self.directed is not None or comes_from(*KNOWING)(X)
        directed = self.directed if knows else self._of_arcs or None
        nameless = isinstance(X, (list, tuple, np.ndarray)) or scipy.sparse.issparse(X)
        unnamed = weights == "auto" and self._of_weights and self.weight is None
        try:
            return self._as_graph(X, unnamed or weights, directed, None if nameless else self.weight)
        except ValueError as error:
            if unnamed and not nameless and "weight" in str(error):
                raise ValueError(f"{error}; the fit has weights: set_params(weight=…) names those of X") from None
            raise

    def _set_model(self, graph: Graph, model: Optional[_native.Model], why_not: Optional[str]) -> None:
        """Keeps the model of a fit and its graph, or why there is none."""
        left_out = (
            "keep_model=False" if self.keep_model is False else "it was fitted with a checkpoint, without keep_model"
        )
        self._model, self._no_model = model, None if model is not None else why_not or left_out
        self._set_graph(graph)

    def _set_graph(self, graph: Graph) -> None:
        """Keeps what the graph of the vectors is known by; its edges are of use to a model alone."""
        self.node_ids_, self._fingerprint = graph.node_ids, graph._named().fingerprint()
        self._known = KnownRows(graph)
        self._of_arcs, self._of_weights = graph.directed, graph.weighted
        self._graph = None if self._model is None else graph

    def _kept_model(self, use: str) -> _native.Model:
        if self._model is None:
            raise ValueError(f"{use}: there is no model of this fit: {self._no_model}")
        return self._model

    def _kept_graph(self, use: str) -> Graph:
        if self._graph is None:
            raise ValueError(f"{use}: {NO_EDGES}")
        return self._graph

    def _place(
        self,
        graph: Graph,
        structure_only: bool = False,
        new_only: bool = False,
        added_only: bool = False,
        attributes: Any = None,
    ) -> tuple[np.ndarray, np.ndarray, list[str], str]:
        """Vectors, the node of each row, names of their columns, and the report."""
        memory = _native.parse_bytes(self.memory_limit) if isinstance(self.memory_limit, str) else self.memory_limit
        model = self._kept_model("transform")
        with listener(self.verbose) as listen:
            columns = attribute_columns(attributes, graph.node_ids)
            which = (structure_only, new_only, added_only)
            placed = model.embed(graph._named(), *which, columns, jobs(self.n_jobs), memory, listen)
        report = json.loads(placed[3])
        warn_of_result(report)
        for note in report["notes"]:
            warn(note)
        return placed

    def _first_column(self, structure_only: bool) -> int:
        """The first of the columns that are returned."""
        if not structure_only:
            return 0
        for k, name in enumerate(self._columns):
            if name.startswith("structure_"):
                return k
        raise ValueError("structure_only: the vectors have no structure columns; fit with the preset hone")

    def _of_rows(self, X: Any, structure_only: bool) -> tuple[np.ndarray, None, list[str]]:
        """Vectors of nodes that are given by their edges to the fitted ones, with the names of the columns."""
        if self._known is None:
            raise ValueError(f"transform: {NO_EDGES}")
        rows = scipy.sparse.csr_array(X, dtype=np.float32)
        rows.sum_duplicates()
        rows.eliminate_zeros()
        weights = 0 if self.config_["weights"] is False else int((rows.data != 1).sum())
        if weights and not self._known.weighted:
            warn(f"dropped {weights} weight{'s' * (weights > 1)} (the fit has none)")
        node, first = self._known.find(rows), self._first_column(structure_only)
        vectors = self.embedding_[np.maximum(node, 0), first:]
        new = np.flatnonzero(node < 0)
        if len(new) > 0:
            self._kept_model("transform")
            graph = self._kept_graph("transform")
            # Behind nodes that an update has added since the fit.
            placed = self._place(with_rows(graph, rows[new]), structure_only, new_only=True)[0]
            vectors[new] = placed[-len(new) :]
        return vectors, None, self._columns[first:]


def _dotted(settings: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Settings by their dotted names."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, dict):
            flat.update(_dotted(value, f"{before}{key}."))
        else:
            flat[before + key] = value
    return flat
