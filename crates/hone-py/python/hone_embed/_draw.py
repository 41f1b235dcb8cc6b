"""Pictures of motif graphs."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, Optional, Union

from hone_embed import _native
from hone_embed._graph import as_graph
from hone_embed._motifs import motif_list
from hone_embed._progress import jobs, listener


class Figure(str):
    """The text of an SVG file, as :func:`draw` gives it; notebooks show it as a picture.

    Examples
    --------
    >>> draw("builtin:karate", "triangle").startswith("<?xml")
    True
    """

    def __repr__(self) -> str:
        return f"Figure({len(self)} characters of SVG)"

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: Union[str, os.PathLike[str]], *, overwrite: bool = False) -> None:
        """Write the picture to a file; an existing one is replaced only with ``overwrite``."""
        _native.write(os.fspath(path), self.encode(), overwrite)


def draw(
    graph: Any,
    motifs: Union[str, Sequence[str]] = "edge",
    *,
    delta: int = 1,
    labels: Optional[int] = None,
    title: Optional[str] = None,
    numbers: bool = False,
    directed: Optional[bool] = None,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> Figure:
    """Draw motif graphs side by side, all with the same layout.

    An edge is as wide as the number of occurrences of the motif that contain it, a node as large as the sum over its
    edges. Nodes and edges without the motif are faint. The picture is the same for any number of threads.

    Parameters
    ----------
    graph
        Anything :class:`Graph` takes, of at most 100 000 nodes and edges.
    motifs
        Names, or a set such as ``"graphlets"``; one panel per motif.
    delta
        Edges with fewer occurrences are ignored.
    labels
        How many nodes are labelled with their ids, the largest first; by default all in a small graph.
    title
        Name of the graph in the caption.
    numbers
        As for :func:`count_orbits`.

    Examples
    --------
    >>> figure = draw("builtin:karate", ["edge", "triangle"], title="Karate club")
    >>> figure.count("<circle") > 2 * 34
    True
    """
    names = motif_list(motifs)
    settings = {"motifs": names, "delta": delta, "labels": labels, "title": title, "numbers": numbers}
    graph = as_graph(graph, directed=directed)
    with listener(verbose) as listen:
        text = _native.draw(graph._named(), json.dumps(settings), "graph", jobs(n_jobs), listen)
    return Figure(text)
