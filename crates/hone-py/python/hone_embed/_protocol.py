"""What scikit-learn asks of a transformer: kinds of output, names of columns, the width of ``X`` and tags."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from hone_embed._arrays import is_edges, is_matrix


class SklearnProtocol:
    """The half of :class:`HONE` that knows scikit-learn and nothing about graphs."""

    embedding_: np.ndarray
    node_ids_: np.ndarray
    n_features_in_: int
    _columns: list[str]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of the embedding."""
        check_is_fitted(self)
        return np.asarray(self._columns, dtype=object)

    def set_output(self, *, transform: Optional[str] = None) -> Any:
        """Have vectors returned as ``"pandas"``, ``"polars"`` or ``"default"`` arrays.

        Data frames of pandas are indexed by node id. Those of polars have no index: their first column is ``id``, to be dropped
        before the vectors go into another estimator, unless ``X`` is a matrix, whose rows are the nodes.
        """
        if transform is not None:
            if transform not in ("default", "pandas", "polars"):
                raise ValueError(f"transform: {transform!r} is not one of 'default', 'pandas', 'polars'")
            self._sklearn_output_config = {"transform": transform}
        return self

    def _output(
        self, X: Any, vectors: np.ndarray, ids: Optional[np.ndarray], columns: Optional[list[str]] = None
    ) -> Any:
        from sklearn import get_config

        chosen = getattr(self, "_sklearn_output_config", {}).get("transform")
        container = chosen or get_config().get("transform_output", "default")
        names = list(self._columns) if columns is None else columns
        if container == "pandas":
            import pandas

            return pandas.DataFrame(vectors, index=ids, columns=np.asarray(names, dtype=object))
        if container == "polars":
            import polars

            frame = polars.DataFrame(vectors, schema=names, orient="row")
            if ids is None or (is_matrix(X) and not is_edges(X)):
                return frame
            kind = polars.Object if ids.dtype.kind == "O" else None
            return frame.insert_column(0, polars.Series("id", ids.tolist(), dtype=kind))
        return vectors

    def _note_features(self, X: Any) -> None:
        if hasattr(self, "n_features_in_"):
            del self.n_features_in_
        if is_matrix(X):
            self.n_features_in_ = len(self.embedding_)

    def _check_features(self, X: Any) -> None:
        """Complains as scikit-learn does about a matrix that is not about the fitted nodes."""
        if not is_matrix(X):
            return
        values: Any = X.data if scipy.sparse.issparse(X) else X
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError("X: Input contains NaN or infinity; every entry must be finite")
        if X.shape[1] not in (len(self.embedding_), X.shape[0]) and not is_edges(X):
            name, fitted = type(self).__name__, len(self.embedding_)
            raise ValueError(f"X has {X.shape[1]} features, but {name} is expecting {fitted} features as input.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        # Cross-validation then takes rows and columns of an adjacency, not rows only.
        tags.input_tags.pairwise = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []  # vectors are always float32
        return tags

    def _more_tags(self) -> dict[str, Any]:
        """The same for scikit-learn before 1.6."""
        return {"pairwise": True, "preserves_dtype": []}
