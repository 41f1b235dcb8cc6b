"""What an array given for ``X`` or as attributes is: a matrix, edges, rows of new nodes, columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn import get_config

from hone_embed._inputs import comes_from


def attribute_columns(values: Any) -> tuple[np.ndarray, list[str]]:
    """Attributes as numbers, one row per node, with the names of their columns."""
    names = [str(name) for name in getattr(values, "columns", [])]
    array = np.asarray(values, dtype=np.float32)
    if array.ndim == 1:
        array = array.reshape(-1, 1)
    if array.ndim != 2:
        raise ValueError(f"attributes: {array.ndim} dimensions; one row per node, one column per attribute is expected")
    if not np.isfinite(array).all():
        raise ValueError("attributes: not all values are finite; fill or drop what is missing")
    return np.ascontiguousarray(array), names or [f"x{k}" for k in range(array.shape[1])]


def is_matrix(X: Any) -> bool:
    """Whether X has two dimensions, dense or sparse."""
    return scipy.sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2)


def is_edges(X: Any) -> bool:
    """Whether X can be an array of pairs of ids."""
    return isinstance(X, np.ndarray) and X.dtype.kind in "iuUSO" and 2 in X.shape


def is_rows(X: Any, fitted: int, of_matrix: bool) -> bool:
    """Whether X is rows of nodes, with one column per fitted node. If no matrix was fitted, a possible graph is one."""
    if not is_matrix(X) or X.shape[1] != fitted or X.dtype.kind in "US":
        return False
    return of_matrix or (X.shape[0] != fitted and not is_edges(X))


def as_frame(output: str, given: Any) -> bool:
    """Whether a result is a pandas DataFrame: as asked, else if ``given`` is one or scikit-learn is set to return them."""
    if output != "auto":
        return output == "pandas"
    return comes_from("pandas")(given) or get_config().get("transform_output") == "pandas"
