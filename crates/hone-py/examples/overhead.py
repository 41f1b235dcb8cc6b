"""What Python adds to a run: fit_transform of a CSR against the same embedding of a graph that is ready.

    python crates/hone-py/examples/overhead.py [NODES] [PRESET]

Runs alternate, and the least of each counts: a busy machine only ever adds.
"""

from __future__ import annotations

import sys
import time

from hone_embed import HONE, Graph, _native, generate


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(nodes: int = 1_000_000, preset: str = "hone", rounds: int = 4) -> None:
    matrix = generate("er", nodes=nodes, degree=10).adjacency()
    hone, graph = HONE(preset), Graph(matrix)
    config = hone._resolve()
    library, python = [], []
    for _ in range(rounds):
        library.append(seconds(lambda: _native.embed(graph._native, config)))
        python.append(seconds(lambda: hone.fit_transform(matrix)))
        hone.embedding_ = None
        print(f"library {library[-1]:.2f} s, fit_transform {python[-1]:.2f} s", flush=True)
    print(f"matrix to graph {min(seconds(lambda: Graph(matrix)) for _ in range(3)):.3f} s")
    print(f"overhead {100 * (min(python) / min(library) - 1):.1f} %")


if __name__ == "__main__":
    main(*(kind(text) for kind, text in zip((int, str), sys.argv[1:])))
