"""Maps: a graph as one interactive page."""

from __future__ import annotations

import html
import json
import os
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

from hone_embed import _native
from hone_embed._estimator import HONE
from hone_embed._explore import _space, layout_settings
from hone_embed._graph import as_graph
from hone_embed._progress import jobs, listener

_FORMATS = {".html": "html", ".svg": "svg", ".png": "png"}


class Map:
    """A map of a graph; notebooks show it, and :meth:`save` writes it."""

    def __init__(self, make: Any) -> None:
        self._make = make
        self._html: Optional[str] = None

    @property
    def html(self) -> str:
        """The page: one self-contained file that loads nothing from a network."""
        if self._html is None:
            self._html = self._make("html").decode()
        return self._html

    def save(self, path: Union[str, os.PathLike[str]], *, overwrite: bool = False) -> None:
        """Write the map as ``.html``, or a picture of it as ``.svg`` or ``.png``."""
        kind = _FORMATS.get(Path(path).suffix.lower())
        if kind is None:
            raise ValueError(f"path: {Path(path).suffix!r} is not one of {', '.join(_FORMATS)}")
        content = self.html.encode() if kind == "html" else self._make(kind)
        _native.write(os.fspath(path), content, overwrite)

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.html)}" width="100%" height="620" style="border:0"></iframe>'


def map(
    graph: Any,
    embedding: Any = None,
    *,
    labels: Any = None,
    attributes: Any = None,
    title: str = "graph",
    layout: str = "neighbours",
    n_roles: Optional[int] = None,
    by: str = "all",
    colour: Optional[str] = None,
    palette: str = "distinct",
    scale: str = "auto",
    point_size: float = 1.0,
    names: bool = True,
    shapes: bool = False,
    random_state: int = 0,
    directed: Optional[bool] = None,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> Map:
    """A map of a graph: all nodes with their roles, motifs, neighbours and edges.

    Parameters
    ----------
    graph
        Anything :class:`Graph` takes.
    embedding
        Vectors of its nodes, in its order: a fitted :class:`HONE`, an :class:`Embedding` or an array; by default
        computed now.
    labels
        One label per node, in the graph's order, to colour by; None, NaN or an empty text for nodes without one.
    attributes
        Further columns to colour by: a DataFrame, or a dictionary of names and values.
    layout
        ``"neighbours"`` or ``"pca"``; see :func:`layout`.
    n_roles, by
        As for :func:`roles` and :func:`most_similar`. The page switches between proximity and structure; ``by`` says
        which is shown first, and in pictures.
    colour
        What nodes are coloured by at first, and in pictures: ``"role"``, ``"degree"``, ``"motif: NAME"``, ``"label"``,
        or the name of an attribute; by default the label, else roles.
    palette
        Colours of groups: ``"distinct"`` (eight), ``"okabe-ito"`` (seven) or ``"muted"`` (nine), all safe with colour
        blindness; smaller groups share grey.
    scale
        How colours follow from numbers: ``"linear"``, ``"log"``, or ``"auto"``: log where they are skewed.
    point_size
        Size of the points, as a multiple of the usual one.
    names, shapes
        Whether groups have their names on the map, and shapes besides colours.

    Examples
    --------
    >>> page = map("builtin:karate", title="Karate club")
    >>> page.html.startswith("<!doctype html>")
    True
    """
    graph = as_graph(graph, directed=directed)
    native = graph._named()
    if embedding is None:
        embedding = HONE(random_state=random_state, n_jobs=n_jobs, verbose=verbose).fit(graph)
    if isinstance(embedding, np.ndarray):
        embedding = (graph.node_ids, embedding)
    _, space = _space(embedding, by)
    beside = space.beside()
    spaces = [space] if beside is None else [space, _space(embedding, beside)[1]]
    looks = {"palette": palette, "scale": scale, "point-size": point_size, "names": names, "shapes": shapes}
    style = json.dumps({**looks, **({} if colour is None else {"colour": colour})})
    colours = _colours(graph.n_nodes, labels, attributes)
    options = "{}" if n_roles is None else f'{{"roles": {int(n_roles)}}}'
    settings = layout_settings(layout, 15, None, random_state)
    with listener(verbose) as listen:
        found = _native.Roles(native, options, jobs(n_jobs), listen)

    def make(kind: str) -> bytes:
        with listener(verbose) as listen:
            return bytes(found.map(spaces, settings, title, colours, style, kind, jobs(n_jobs), listen))

    return Map(make)


def _colours(nodes: int, labels: Any, attributes: Any) -> list[tuple[str, Optional[list[str]], list[float]]]:
    columns: dict[str, Any] = {}
    if labels is not None:
        columns["label"] = np.asarray(labels).astype(object)
    if attributes is not None:
        columns.update({str(name): np.asarray(attributes[name]) for name in attributes})
    colours: list[tuple[str, Optional[list[str]], list[float]]] = []
    for name, values in columns.items():
        if len(values) != nodes:
            parameter = "labels" if labels is not None and name == "label" else f"attributes: {name}"
            s = "" if len(values) == 1 else "s"
            raise ValueError(f"{parameter}: {len(values)} value{s} for {nodes} nodes; give one per node")
        if values.dtype.kind in "biuf":
            colours.append((name, None, np.where(np.isfinite(values), values, np.nan).astype(np.float32).tolist()))
        else:
            given = np.array([not _missing(value) for value in values.tolist()], dtype=bool)
            names, codes = np.unique(values[given].astype(str), return_inverse=True)
            if len(names) > 1000:
                raise ValueError(f"{name}: {len(names)} categories; at most 1000 can be coloured")
            places = np.full(nodes, np.nan, dtype=np.float32)
            places[given] = codes
            colours.append((name, names.tolist(), places.tolist()))
    return colours


def _missing(value: Any) -> bool:
    """None, NaN, what pandas has for them, or an empty text."""
    return value is None or str(value) in ("", "nan", "NaT", "<NA>")
