"""Warnings, which point to the caller of the package."""

from __future__ import annotations

import os
import sys
import warnings

from hone_embed import _native


class HoneWarning(UserWarning):
    """A note about the input or the result: odd ids, dropped edges, zero vectors, parameters without effect.

    Examples
    --------
    >>> import warnings
    >>> from hone_embed import Graph
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     graph = Graph([(0, 0), (0, 1)])
    >>> caught[0].category.__name__, str(caught[0].message)
    ('HoneWarning', 'dropped 1 self-loop')
    """


def warn(message: str) -> None:
    """Warns the caller of the package."""
    warnings.warn(_native.line(message), HoneWarning, stacklevel=_outside())


def _outside() -> int:
    """How many frames up the caller of the package is, for warnings."""
    package, level = os.path.dirname(__file__), 1
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == package:
        frame, level = frame.f_back, level + 1
    return level
