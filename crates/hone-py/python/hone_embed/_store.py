"""Embeddings on disk, in every format of the library."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from hone_embed import _native
from hone_embed._arrow import is_table, vector_table, vectors_of
from hone_embed._graph import ids_to_array, ids_to_native
from hone_embed._results import Table

Path = Union[str, os.PathLike[str]]


@dataclass(frozen=True, eq=False, repr=False)
class Embedding(Table):
    """Node vectors with the names of their rows and columns, as :func:`read_embedding` gives them.

    Examples
    --------
    >>> Embedding(np.array(["ann", "bob"]), np.eye(2, dtype=np.float32), ["z0", "z1"]).to_pandas().loc["bob"].tolist()
    [0.0, 1.0]
    """

    node_ids: np.ndarray
    """The id of each row."""
    vectors: np.ndarray
    """float32, one row per node."""
    columns: list[str]
    """The name of each column."""

    def to_arrow(self) -> Any:
        """Ids, and the vectors as one column of lists of one length, which shares their memory."""
        return vector_table(self.node_ids, self.vectors, self.columns)

    def _columns(self) -> dict[str, Any]:
        return {"id": self.node_ids, **{name: self.vectors[:, k] for k, name in enumerate(self.columns)}}


def write_embedding(
    path: Path,
    embedding: Any,
    *,
    format: Optional[str] = None,
    overwrite: bool = False,
    rows_per_file: Optional[int] = None,
) -> list[str]:
    """Write an embedding; the files appear together or not at all.

    The report of a fitted :class:`HONE` is written next to its vectors, as ``PATH.run.json``, for
    ``HONE(config=...)``, :func:`read_recorded_graph` and the command ``hone embed --config``. An estimator from
    :meth:`HONE.load` has no report, and none is written.

    Parameters
    ----------
    path
        The file; its extension sets the format: ``.tsv``, ``.csv`` (also with ``.gz``, ``.zst``),
        ``.npy`` (ids next to it), ``.npz``, ``.parquet``, ``.w2v``, ``.safetensors``, ``.pgvector`` or ``.pgcopy``
        (for PostgreSQL's COPY, as text or binary). ``NAME/`` is a folder of Parquet files.
    embedding
        A fitted :class:`HONE`, an :class:`Embedding`, a DataFrame, a table with an id and a column of lists (anything that is an
        Arrow stream, or a cursor), or a pair of ids and vectors.
    format
        The extension of another format; ``"parquet-vector"``: Parquet with the vectors in one column; ``"pgcopy-half"``:
        COPY with 16-bit values.
    overwrite
        Whether to replace existing files.
    rows_per_file
        Of a folder: how many rows each file has, at most.

    Returns
    -------
    The files that were written.

    Examples
    --------
    >>> import os, tempfile
    >>> from hone_embed import HONE
    >>> file = os.path.join(tempfile.mkdtemp(), "karate.npz")
    >>> files = write_embedding(file, HONE(n_components=24).fit("builtin:karate"))
    >>> read_embedding(file).vectors.shape
    (34, 24)
    """
    ids, vectors, columns = _parts(embedding)
    vectors = np.ascontiguousarray(vectors, dtype=np.float32)
    if vectors.ndim != 2:
        raise ValueError(f"embedding: {vectors.ndim} dimensions; one row per node is expected")
    rows = ids_to_native(np.asarray(ids))
    names = [str(name) for name in columns] if columns is not None else [f"z{k}" for k in range(vectors.shape[1])]
    report = json.dumps(embedding.report_) if hasattr(embedding, "report_") else None
    with _naming_format(format):
        written = _native.write_embedding(os.fspath(path), rows, vectors, names, format, overwrite, report, rows_per_file)
    return [os.fspath(file) for file in written]


def read_embedding(path: Path, *, format: Optional[str] = None) -> Embedding:
    """Read an embedding that :func:`write_embedding`, the command ``hone`` or a compatible tool wrote.

    If there is a report of the run next to it, the files must match it: vectors of one run with ids of another
    are refused.

    Examples
    --------
    >>> import os, tempfile
    >>> file = os.path.join(tempfile.mkdtemp(), "two.csv")
    >>> files = write_embedding(file, ([7, 9], [[0.5, 1.0], [1.5, 2.0]]))
    >>> read_embedding(file).node_ids
    array([7, 9])
    """
    with _naming_format(format):
        ids, vectors, columns = _native.read_embedding(os.fspath(path), format)
    return Embedding(ids_to_array(ids, len(vectors)), vectors, columns)


@contextmanager
def _naming_format(format: Optional[str]) -> Generator[None, None, None]:
    """Says of a name without a format what says it otherwise."""
    try:
        yield
    except ValueError as error:
        if format is None and "extension" in str(error):
            raise ValueError(f"{error}; or name the format: format='npy'") from None
        raise


def _parts(embedding: Any) -> tuple[Any, Any, Any]:
    if hasattr(embedding, "embedding_"):
        return embedding.node_ids_, embedding.embedding_, embedding._columns
    if hasattr(embedding, "get_params"):
        raise ValueError("embedding: the estimator is not fitted; call fit first")
    if isinstance(embedding, Embedding):
        return embedding.node_ids, embedding.vectors, embedding.columns
    if hasattr(embedding, "index") and hasattr(embedding, "columns"):
        return embedding.index.to_numpy(), embedding.to_numpy(), list(embedding.columns)
    if is_table(embedding):
        return vectors_of(embedding)
    if not isinstance(embedding, (tuple, list)) or len(embedding) != 2:
        kind = type(embedding).__name__
        raise ValueError(f"embedding: a {kind} has no ids; give ids too, as a pair of ids and vectors: (range(len(vectors)), vectors)")
    ids, vectors = embedding
    return ids, vectors, None
