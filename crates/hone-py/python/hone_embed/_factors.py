"""The factors of a run: U, sigma and V of every local embedding, Z and H of the global one."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import zlib
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from hone_embed._results import Parts


@dataclass(frozen=True, eq=False, repr=False)
class LocalFactors(Parts):
    """The factors of one motif matrix: ``S[np.ix_(rows, rows)]`` is about ``U * sigma @ V.T``.

    Examples
    --------
    >>> from hone_embed import HONE
    >>> hone = HONE("hone-p", n_components=8, motifs=["edge"], n_steps=1, factors=True).fit("builtin:karate")
    >>> edge = hone.factors_.local["edge", 1]
    >>> edge.formula, edge.U.shape
    ('diag(d^-1)·W', (34, 16))
    """

    motif: str
    step: int
    formula: str
    """S as a formula of W."""
    scale: float
    """W is the weighted motif graph times this."""
    model: str
    """What the factors approximate, in words."""
    rows: np.ndarray
    """Numbers of the nodes that are the rows of S, U and V; S is zero elsewhere."""
    U: np.ndarray
    """One row per node of ``rows``, columns of length one."""
    sigma: np.ndarray
    """The weight of each column: singular values, for the SVD."""
    V: Optional[np.ndarray]
    """One row per node of ``rows``; None where a solver has none."""


@dataclass(frozen=True, eq=False, repr=False)
class JointFactors(Parts):
    """The factors of a joint model; ``model`` says how a slice follows from them.

    Examples
    --------
    >>> from hone_embed import HONE
    >>> hone = HONE("hone-p", n_components=8, motifs=["edge", "triangle"], config={"model": "cp"}, factors=True)
    >>> hone.fit("builtin:karate").factors_.joint.left.shape
    (34, 8)
    """

    model: str
    slices: list[dict[str, Any]]
    """Motif, step and scaling of each slice, in the order of the rows of ``motifs``."""
    left: np.ndarray
    right: np.ndarray
    motifs: np.ndarray
    weights: np.ndarray
    core: Optional[np.ndarray]
    """Of a Tucker decomposition, one matrix per motif factor."""


@dataclass(frozen=True, eq=False, repr=False)
class Factors(Parts):
    """The factors of a run, as :attr:`HONE.factors_` and :func:`read_factors` give them.

    Examples
    --------
    >>> from hone_embed import HONE
    >>> HONE("hone-p", n_components=8, motifs=["edge"], n_steps=1, factors=True).fit("builtin:karate").factors_
    Factors(node_ids=34, local=1, Z=34 × 8, H=8 × 16, columns=16, joint=None)
    """

    node_ids: np.ndarray
    local: dict[tuple[str, int], LocalFactors]
    """By motif and step, in the order of the columns of Y."""
    Z: Optional[np.ndarray]
    """Y is about ``Z @ H``; None when Y is the result, and for joint models."""
    H: Optional[np.ndarray]
    """One column per column of Y; None where a solver has none."""
    columns: list[str]
    """The name of each column of Y."""
    joint: Optional[JointFactors]


def read_factors(folder: Union[str, os.PathLike[str]], *, mmap: bool = True) -> Factors:
    """Read a folder that ``hone embed --factors`` or ``HONE(factors=folder)`` wrote.

    Parameters
    ----------
    folder
        The folder.
    mmap
        Whether arrays stay on disk until they are used. Their lengths are compared with the manifest; with
        ``mmap=False``, so are their checksums.

    Examples
    --------
    >>> import os, tempfile
    >>> from hone_embed import HONE
    >>> folder = os.path.join(tempfile.mkdtemp(), "factors")
    >>> hone = HONE("hone-p", n_components=8, motifs=["edge"], factors=folder).fit("builtin:karate")
    >>> edge = read_factors(folder).local["edge", 1]
    >>> edge.U.shape, edge.sigma.shape, edge.V.shape
    ((34, 16), (16,), (34, 16))
    """
    folder = os.fspath(folder)
    try:
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(f"{folder}: there are no factors here: manifest.json is missing") from None
    if not isinstance(manifest, dict) or manifest.get("format") != "hone-factors":
        raise ValueError(f"{folder}: manifest.json is not one of factors")

    listed = {file["name"]: file for file in manifest.get("files", [])}

    def check(name: str) -> str:
        path, file = os.path.join(folder, name), listed.get(name)
        if file is not None and (os.path.getsize(path) != file["bytes"] or not (mmap or _crc32(path) == file["crc32"])):
            raise ValueError(f"{folder}: {name} is not as manifest.json says; write the factors again")
        return path

    def array(entry: Optional[dict[str, Any]]) -> Any:
        if entry is None:
            return None
        path = check(entry["file"])
        empty = 0 in entry["shape"]  # which cannot be mapped
        found = np.load(path, mmap_mode="r" if mmap and not empty else None)
        if list(found.shape) != entry["shape"]:
            raise ValueError(f"{folder}: {entry['file']} has shape {found.shape}, not {tuple(entry['shape'])}")
        return found

    joint = manifest["joint"]
    whole: dict[str, Any] = manifest["global"] or {"Z": None, "H": None, "columns": []}
    return Factors(
        node_ids=np.load(check(manifest["ids"])),
        local={(entry["motif"], entry["step"]): _local(entry, array, manifest["nodes"]) for entry in manifest["local"]},
        Z=array(whole["Z"]),
        H=array(whole["H"]),
        columns=whole["columns"],
        joint=None if joint is None else _joint(joint, array),
    )


def _crc32(path: str) -> str:
    crc = 0
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            crc = zlib.crc32(part, crc)
    return f"{crc:08x}"


def _local(entry: dict[str, Any], array: Any, nodes: int) -> LocalFactors:
    words = {name: entry[name] for name in ("motif", "step", "formula", "scale", "model")}
    rows = np.arange(nodes, dtype=np.uint32) if entry["rows"] is None else np.asarray(array(entry["rows"]))
    return LocalFactors(rows=rows, **words, **{name: array(entry[name]) for name in ("U", "sigma", "V")})


def _joint(entry: dict[str, Any], array: Any) -> JointFactors:
    names = ("left", "right", "motifs", "weights", "core")
    return JointFactors(entry["model"], entry["slices"], **{name: array(entry[name]) for name in names})


@contextlib.contextmanager
def factor_folder(factors: Union[bool, str, os.PathLike[str], None]) -> Generator[Optional[str]]:
    """Where a run is to write its factors: the folder that is named, one that vanishes afterwards for True, or none."""
    if factors is False or factors is None:
        yield None
    elif factors is True:
        with tempfile.TemporaryDirectory() as folder:
            yield os.path.join(folder, "factors")
    else:
        yield os.fspath(factors)
