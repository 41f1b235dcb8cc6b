"""Similar nodes, and nodes laid out by similarity."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from hone_embed import _native
from hone_embed._progress import jobs, listener
from hone_embed._results import Table
from hone_embed._store import Embedding, _parts


@dataclass(frozen=True, eq=False, repr=False)
class Neighbours(Table):
    """The most similar nodes of every node, as :func:`neighbours` gives them.

    Examples
    --------
    >>> from hone_embed import HONE
    >>> neighbours(HONE().fit("builtin:karate"), 3)
    Neighbours(102 rows: node, neighbour, similarity)
    """

    node_ids: np.ndarray
    """The id of each row."""
    rows: np.ndarray
    """int64, one row per node: the rows of its neighbours, the most similar first."""
    similarities: np.ndarray
    """float32, in the same places."""
    recall: Optional[float]
    """The part of the true neighbours that an approximate search found, by a sample; None where it was exact."""

    def _columns(self) -> dict[str, Any]:
        nodes = np.repeat(self.node_ids, self.rows.shape[1])
        return {"node": nodes, "neighbour": self.node_ids[self.rows.ravel()], "similarity": self.similarities.ravel()}


@dataclass(frozen=True, repr=False)
class SimilarNodes(Table):
    """The nodes most similar to others, best first, as :func:`most_similar` gives them.

    Examples
    --------
    >>> from hone_embed import HONE
    >>> found = HONE().fit("builtin:karate").most_similar(33, top=3)
    >>> found
    SimilarNodes(3 rows: node, similarity)
    >>> [node for node, similarity in found]
    [32, 2, 29]
    """

    nodes: list[Any]
    """Their ids."""
    similarities: list[float]
    """How similar they are."""

    def _columns(self) -> dict[str, Any]:
        return {"node": self.nodes, "similarity": self.similarities}

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[tuple[Any, float]]:
        """Pairs of a node and its similarity."""
        return iter(zip(self.nodes, self.similarities))


def most_similar(
    embedding: Any,
    node: Any = None,
    *,
    positive: Iterable[Any] = (),
    negative: Iterable[Any] = (),
    top: int = 10,
    by: str = "all",
) -> SimilarNodes:
    """The nodes most similar to a node, with their similarities, best first.

    Parameters
    ----------
    embedding
        A fitted :class:`HONE`, an :class:`Embedding`, a DataFrame, a table with an id and a column of lists (anything that is an
        Arrow stream, or a cursor), or a pair of ids and vectors.
    node
        The id of a node.
    positive, negative
        Instead of ``node``: ids of nodes that the results should be similar, and dissimilar, to, as in gensim.
    top
        How many.
    by
        ``"proximity"``: nodes in the same part of the graph, by cosine; ``"structure"``: nodes with similar motif
        counts, by distance; ``"all"``: proximity, with structure to break near-ties. Vectors without columns called
        ``structure_…`` have proximity only.

    Examples
    --------
    >>> from hone_embed import HONE
    >>> hone = HONE().fit("builtin:karate")
    >>> most_similar(hone, 33, top=3).nodes
    [32, 2, 29]
    """
    if isinstance(node, (list, set, np.ndarray)):
        raise ValueError("node: it is the id of one node; give several as positive=[…]")
    ids, space = _space(embedding, by)
    if (node is None) == (not list(positive) and not list(negative)):
        raise ValueError("node: give a node, or positive and negative ones")
    wanted = [node] if node is not None else list(positive)
    rows = _rows(ids, wanted), _rows(ids, list(negative) if node is None else [])
    found, similarities = space.nearest(*rows, _top(top))
    return SimilarNodes(ids[found].tolist(), similarities.tolist())


def neighbours(
    embedding: Any,
    top: int = 10,
    *,
    by: str = "all",
    search: str = "auto",
    random_state: int = 0,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> Neighbours:
    """The most similar nodes of every node.

    Parameters
    ----------
    embedding, by
        As for :func:`most_similar`.
    top
        Number of neighbours per node.
    search
        ``"exact"``, ``"approximate"``, or ``"auto"``: exact up to 100 000 nodes.
    random_state
        Seed of the approximate search; the same seed gives the same neighbours for any ``n_jobs``.

    Examples
    --------
    >>> from hone_embed import HONE
    >>> neighbours(HONE().fit("builtin:karate"), 5).rows.shape
    (34, 5)
    """
    ids, space = _space(embedding, by)
    with listener(verbose) as listen:
        rows, similarities, recall = space.all(_top(top), search, int(random_state), jobs(n_jobs), listen)
    return Neighbours(ids, rows, similarities, recall)


def prepared(embedding: Any, *, by: str = "all") -> Embedding:
    """The rows that are compared, for a database: by plain Euclidean distance they rank as :func:`neighbours` does.

    The similarity of two nodes at distance d is 1 - d²/2. Rows that are written and read are not prepared again. Besides
    the columns that are compared there is one for nodes without a direction (all their proximity columns are zero): it keeps
    them away from all others, and makes them equal among themselves. By ``"proximity"``, all rows have length one, so cosine
    and inner product rank in the same way.

    Parameters
    ----------
    embedding, by
        As for :func:`most_similar`.

    Examples
    --------
    >>> import numpy as np
    >>> from hone_embed import HONE
    >>> hone = HONE().fit("builtin:karate")
    >>> distances = np.linalg.norm(prepared(hone).vectors - prepared(hone).vectors[33], axis=1)
    >>> np.argsort(distances)[1:4].tolist() == [node for node, _ in most_similar(hone, 33, top=3)]
    True
    """
    ids, space = _space(embedding, by)
    return Embedding(ids, *space.prepared())


def layout(
    embedding: Any,
    *,
    method: str = "neighbours",
    n_neighbors: int = 15,
    steps: Optional[int] = None,
    by: str = "all",
    random_state: int = 0,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> np.ndarray:
    """Two coordinates per node, similar nodes close together.

    Parameters
    ----------
    embedding, by
        As for :func:`most_similar`.
    method
        ``"neighbours"``: each node near similar ones, as in UMAP; ``"pca"``: two principal components.
    n_neighbors
        Number of neighbours that attract each node.
    steps
        Steps of the layout; by default as many as the number of nodes needs.
    random_state
        Seed; the same seed gives the same coordinates for any ``n_jobs``.

    Examples
    --------
    >>> from hone_embed import HONE
    >>> layout(HONE().fit("builtin:karate")).shape
    (34, 2)
    """
    _, space = _space(embedding, by)
    with listener(verbose) as listen:
        return space.layout(layout_settings(method, n_neighbors, steps, random_state), jobs(n_jobs), listen)


def layout_settings(method: str, neighbours: int, steps: Optional[int], seed: int) -> str:
    settings = {"layout": method, "neighbours": int(neighbours), "steps": steps, "seed": int(seed)}
    return json.dumps({key: value for key, value in settings.items() if value is not None})


def _space(embedding: Any, by: str) -> tuple[np.ndarray, _native.Space]:
    ids, vectors, columns = _parts(embedding)
    vectors = np.ascontiguousarray(vectors, dtype=np.float32)
    if vectors.ndim != 2:
        raise ValueError(f"embedding: {vectors.ndim} dimensions; one row per node is expected")
    names = [f"z{k}" for k in range(vectors.shape[1])] if columns is None else [str(name) for name in columns]
    if len(ids) != len(vectors):
        raise ValueError(f"embedding: {len(ids)} ids for {len(vectors)} vectors")
    return np.asarray(ids), _native.Space(None, vectors, names, by)


def _top(top: int) -> int:
    if int(top) < 1:
        raise ValueError(f"top: {top}; give at least 1")
    return int(top)


def _rows(ids: np.ndarray, wanted: list[Any]) -> np.ndarray:
    """The rows of some ids; an id that is not there is an error that names what may have been meant."""
    rows = []
    for id in wanted:
        one: Any = np.empty((), dtype=object)
        one[()] = id
        # NumPy would compare the entries of a tuple.
        found = np.flatnonzero(ids == (one if isinstance(id, tuple) else id))
        if not len(found):
            known = {str(known): known for known in ids.tolist()}
            if str(id) in known:
                same = known[str(id)]
                raise ValueError(f"node: no node is called {id!r}, of type {type(id).__name__}; use {same!r}")
            close = [repr(known[text]) for text in _native.suggest(list(known), str(id))]
            hint = f"did you mean {', '.join(close)}?" if close else f"there are {len(ids)} nodes"
            raise ValueError(f"node: no node is called {id!r}; {hint}")
        rows.append(int(found[0]))
    return np.asarray(rows, dtype=np.uint32)
