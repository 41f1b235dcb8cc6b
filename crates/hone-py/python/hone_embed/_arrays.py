"""What an array given for ``X`` is: a matrix, edges, rows of new nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse


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
