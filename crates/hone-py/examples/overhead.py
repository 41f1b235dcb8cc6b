"""What Python adds to a run: the part of fit_transform of a CSR that is not the library's embedding.

    python crates/hone-py/examples/overhead.py [NODES] [PRESET]

Both are measured in the same run, so that a busy machine slows both alike.
"""

from __future__ import annotations

import sys
import time

from hone_embed import HONE, _native, generate


def main(nodes: int = 1_000_000, preset: str = "hone", rounds: int = 3) -> None:
    matrix = generate("er", nodes=nodes, degree=10).adjacency()
    embed, inside = _native.embed, []

    def timed(*arguments):
        start = time.perf_counter()
        result = embed(*arguments)
        inside.append(time.perf_counter() - start)
        return result

    _native.embed = timed
    for _ in range(rounds):
        start = time.perf_counter()
        HONE(preset).fit_transform(matrix)
        added = time.perf_counter() - start - inside[-1]
        print(f"library {inside[-1]:.2f} s, Python adds {added:.3f} s: {100 * added / inside[-1]:.1f} %", flush=True)


if __name__ == "__main__":
    main(*(kind(text) for kind, text in zip((int, str), sys.argv[1:])))
