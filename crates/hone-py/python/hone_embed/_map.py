"""Maps: a graph as one interactive page."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

from hone_embed import _native
from hone_embed._estimator import HONE
from hone_embed._explore import _space, layout_settings
from hone_embed._graph import as_graph
from hone_embed._ids import labels_per_node, per_node
from hone_embed._progress import jobs, listener

_FORMATS = {".html": "html", ".svg": "svg", ".png": "png", ".parquet": "parquet"}


@dataclass(frozen=True, eq=False, repr=False)
class Map:
    """A map of a graph, as :func:`draw_map` gives it; notebooks show it, and :meth:`save` writes it.

    Examples
    --------
    >>> import os, tempfile
    >>> karate = draw_map("builtin:karate", layout="pca")
    >>> karate.save(os.path.join(tempfile.mkdtemp(), "karate.html"))
    """

    title: str
    """Its title."""
    _make: Callable[[str], bytes]

    @cached_property
    def html(self) -> str:
        """The page: one self-contained file that loads nothing from a network."""
        return str(self._make("html"), "utf-8")

    def save(self, path: Union[str, os.PathLike[str]], *, overwrite: bool = False) -> None:
        """Write the map as ``.html``, a picture of it as ``.svg`` or ``.png``, or its points as ``.parquet``.

        Points have the columns ``id``, ``x``, ``y``, ``neighbors`` (``ids``: row numbers, and ``distances``), ``role``, and labels
        and attributes, as Embedding Atlas reads them: ``embedding-atlas points.parquet --x x --y y --neighbors neighbors``.
        """
        kind = _FORMATS.get(Path(path).suffix.lower())
        if kind is None:
            raise ValueError(f"path: {Path(path).name!r}: a map is .html, .svg or .png, its points .parquet")
        content = self.html.encode() if kind == "html" else self._make(kind)
        _native.write(os.fspath(path), content, overwrite)

    def __repr__(self) -> str:
        return f"Map({self.title!r})"

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.html)}" width="100%" height="620" style="border:0"></iframe>'


def draw_map(
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
    numbers: bool = False,
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
        One label per node to colour by, in the graph's order, or a mapping of ids to labels; None, NaN or an empty text for
        nodes without one. Of a list of labels the first counts.
    attributes
        Further columns to colour by: a DataFrame, or a dictionary of names and values, each as for ``labels``.
    layout
        ``"neighbours"`` or ``"pca"``; see :func:`layout`.
    n_roles, by
        As for :func:`roles` and :func:`most_similar`. The page switches between proximity and structure; ``by`` says
        which is shown first, and in pictures.
    colour
        What nodes are coloured by at first, and in pictures: ``"role"``, ``"degree"``, ``"motif: NAME"`` (or its
        number), ``"label"``, or the name of an attribute; by default the label, else roles.
    palette
        Colours of groups: ``"distinct"`` (eight), ``"okabe-ito"`` (seven) or ``"muted"`` (nine), all safe with colour
        blindness; smaller groups share grey.
    scale
        How colours follow from numbers: ``"linear"``, ``"log"``, or ``"auto"``: log where they are skewed.
    point_size
        Size of the points, as a multiple of the usual one.
    names, shapes
        Whether groups have their names on the map, and shapes besides colours.
    numbers
        As for :func:`count_orbits`.

    Examples
    --------
    >>> page = draw_map("builtin:karate", title="Karate club")
    >>> page.html.startswith("<!doctype html>")
    True
    """
    if colour in ("label", "labels") and labels is None and (attributes is None or colour not in attributes):
        raise ValueError("colour: no labels were given; pass labels=…, or colour by 'role', 'degree', 'motif: NAME' or an attribute")
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
    colours = _colours(graph.node_ids, labels, attributes)
    options = json.dumps({"numbers": numbers, **({} if n_roles is None else {"roles": int(n_roles)})})
    settings = layout_settings(layout, 15, None, random_state)
    with listener(verbose) as listen:
        found = _native.Roles(native, options, jobs(n_jobs), listen)

    def make(kind: str) -> bytes:
        with listener(verbose) as listen:
            return bytes(found.map(spaces, settings, title, colours, style, kind, jobs(n_jobs), listen))

    return Map(title, make)


def _beside(ids: np.ndarray, labels: Any, attributes: Any) -> dict[str, list[Any]]:
    """Labels and attributes by their names, one value per node."""
    columns: dict[str, list[Any]] = {}
    if labels is not None:
        columns["label"] = [_first(label) for label in labels_per_node(labels, ids)]
    if attributes is not None:
        columns.update({str(name): per_node(attributes[name], ids, f"attributes: {name}") for name in attributes})
    return columns


def _colours(ids: np.ndarray, labels: Any, attributes: Any) -> list[tuple[str, Optional[list[str]], list[float]]]:
    columns = _beside(ids, labels, attributes)
    colours: list[tuple[str, Optional[list[str]], list[float]]] = []
    for name, values in columns.items():
        numbers = [value for value in values if not _missing(value)]
        if name != "label" and all(isinstance(value, (int, float)) for value in numbers):
            known = np.asarray([np.nan if _missing(value) else value for value in values], dtype=np.float32)
            colours.append((name, None, np.where(np.isfinite(known), known, np.nan).tolist()))
        else:
            given = np.array([not _missing(value) for value in values], dtype=bool)
            texts = [str(value) for value in values if not _missing(value)]
            names, codes = np.unique(np.asarray(texts, dtype=np.str_), return_inverse=True)
            if len(names) > 1000:
                raise ValueError(f"{name}: {len(names)} categories; at most 1000 can be coloured")
            places = np.full(len(ids), np.nan, dtype=np.float32)
            places[given] = codes
            colours.append((name, names.tolist(), places.tolist()))
    return colours


def _first(label: Any) -> Any:
    """The first of several labels of a node."""
    return next(iter(label), None) if isinstance(label, (list, tuple, np.ndarray)) else label


def _missing(value: Any) -> bool:
    """None, NaN, what pandas has for them, or an empty text."""
    return value is None or str(value) in ("", "nan", "NaT", "<NA>")
