"""What needs NumPy outside the measurement: preparing graphs and checking vectors.

    python arrays.py prepare INPUT OUTPUT     writes a clean edge list, prints nodes and edges as JSON
    python arrays.py check VECTORS NODES DIM  prints what is wrong with an array, as JSON (null: nothing)

Both run in a process of their own, so that the one that measures stays small.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import numpy


def delimiter_of(path: Path) -> str | None:
    """A comma when the first line that is no comment has one, else white space."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as lines:
        for line in lines:
            if line.strip() and line[0] not in "#%":
                return "," if "," in line else None
    raise ValueError(f"{path}: no edges")


def read_pairs(path: Path) -> numpy.ndarray:
    """The first two columns of an edge list, as numbers when they are, else as text."""
    options: Any = {"comments": ["#", "%"], "usecols": (0, 1), "delimiter": delimiter_of(path), "ndmin": 2}
    try:
        return numpy.loadtxt(path, dtype=numpy.int64, **options)
    except ValueError:
        return numpy.loadtxt(path, dtype=str, **options)


def prepare(source: Path, output: Path) -> dict[str, int]:
    """Writes each undirected edge once, without loops and weights, with ids from 0 and a space between them.

    That is the form which every contestant reads the same way.
    """
    pairs = read_pairs(source)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if not len(pairs):
        raise ValueError(f"{source}: no edge but self-loops")
    names, ids = numpy.unique(pairs, return_inverse=True)
    edges = numpy.unique(numpy.sort(ids.reshape(-1, 2), axis=1), axis=0)
    numpy.savetxt(output, edges, fmt="%d")
    return {"nodes": len(names), "edges": len(edges)}


def fault(path: Path, nodes: int, dim: int) -> str | None:
    """What is wrong with an array of vectors; None when it is sound."""
    if not path.exists():
        return "no output"
    vectors = numpy.load(path, mmap_mode="r")
    if vectors.shape != (nodes, dim):
        return f"shape {vectors.shape}, expected {(nodes, dim)}"
    if not numpy.isfinite(vectors).all():
        return "not finite"
    return None if vectors.any() else "all zero"


def main(task: str, *arguments: str) -> None:
    """Runs one of the two tasks and prints its result."""
    if task == "prepare":
        source, output = arguments
        print(json.dumps(prepare(Path(source), Path(output))))
    else:
        vectors, nodes, dim = arguments
        print(json.dumps(fault(Path(vectors), int(nodes), int(dim))))


if __name__ == "__main__":
    main(*sys.argv[1:])
