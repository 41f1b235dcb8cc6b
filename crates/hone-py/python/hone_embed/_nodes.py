"""Vectors of nodes by their ids: the step of a pipeline whose rows are nodes of one graph."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from hone_embed._estimator import HONE
from hone_embed._ids import narrow


class NodeVectors(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The vectors of the nodes whose ids are in ``X``, so that a classifier of nodes can be cross-validated.

    ``fit`` embeds the whole graph, whatever ``X`` is, and without labels; ``transform`` looks the nodes up.

    Parameters
    ----------
    graph
        Anything :class:`Graph` takes.
    hone
        A :class:`HONE` with the settings; it is not changed. By default ``HONE()``.

    Attributes
    ----------
    hone_ : HONE
        The fitted embedding.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.pipeline import make_pipeline
    >>> from hone_embed import HONE, NodeVectors, generate
    >>> graph = generate("sbm", nodes=120, degree=12, communities=3, mixing=0.1)
    >>> labels = graph.node_ids // 40
    >>> model = make_pipeline(NodeVectors(graph, HONE()), LogisticRegression(max_iter=500))
    >>> search = GridSearchCV(model, {"nodevectors__hone__n_components": [24, 32]}, cv=3)
    >>> bool(search.fit(graph.node_ids, labels).best_score_ > 0.9)
    True
    """

    hone_: HONE

    def __init__(self, graph: Any, hone: Optional[HONE] = None) -> None:
        self.graph = graph
        self.hone = hone

    def fit(self, X: Any, y: Any = None) -> NodeVectors:
        """Embed the graph. ``y`` are labels of the nodes ``X``; only the preset ``"auto"`` uses them."""
        labels = None
        if y is not None:
            check_consistent_length(X, y)
            labels = dict(zip(_ids(X), y))
        hone: Any = clone(HONE() if self.hone is None else self.hone)
        self.hone_ = hone.fit(self.graph, labels)
        return self

    def transform(self, X: Any) -> Any:
        """The vectors of the nodes ``X``: a list, an array, a series or a table of one column."""
        check_is_fitted(self)
        row_of = {id: row for row, id in enumerate(self.hone_.node_ids_.tolist())}
        try:
            rows = [row_of[id] for id in _ids(X)]
        except KeyError as error:
            raise ValueError(f"X: {error.args[0]!r} is not a node of the graph") from None
        return self.hone_.embedding_[np.asarray(rows, dtype=np.int64)]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of the embedding."""
        check_is_fitted(self)
        return self.hone_.get_feature_names_out()

    def __sklearn_clone__(self) -> NodeVectors:
        """A copy without results; the graph, which may be large, is shared and not copied."""
        hone: Any = clone(self.hone, safe=False)
        new = type(self)(self.graph, hone)
        if hasattr(self, "_sklearn_output_config"):
            new._sklearn_output_config = dict(self._sklearn_output_config)
        return new


def _ids(X: Any) -> list[Any]:
    # NumPy makes names of numbers among names, and rows of tuples.
    single = isinstance(X, (list, tuple)) and not any(isinstance(id, (list, np.ndarray)) for id in X)
    ids = narrow(list(X)) if single else np.asarray(X)
    if ids.ndim != 1 and ids.shape[1:] != (1,):
        raise ValueError(f"X: shape {ids.shape}; a list of node ids is expected")
    return ids.reshape(-1).tolist()
