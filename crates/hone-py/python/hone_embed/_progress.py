"""Progress of long work: a tqdm bar where tqdm is installed, lines on standard error elsewhere."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator
from typing import Any, Callable, Optional

Listener = Callable[[str, str, int], None]


@contextlib.contextmanager
def listener(verbose: bool) -> Generator[Optional[Listener]]:
    """What the native half reports of its progress; nothing when there is no listener."""
    if not verbose:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield _line
        return
    bar = _Bar(tqdm)
    try:
        yield bar
    finally:
        bar.close()


def _line(kind: str, text: str, number: int) -> None:
    if kind != "done":
        print(f"hone: {text}", file=sys.stderr)


class _Bar:
    """One bar a stage."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None

    def __call__(self, kind: str, text: str, number: int) -> None:
        if kind == "stage":
            self.close()
            self._bar = self._tqdm(desc=text, total=number or None, unit="", unit_scale=True, leave=False)
        elif kind == "note":
            self._tqdm.write(f"hone: {text}", file=sys.stderr)
        elif self._bar is not None:
            self._bar.update(number - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def jobs(n_jobs: Optional[int]) -> int:
    """Threads as the native half counts them: 0 for all cores.

    >>> jobs(None), jobs(-1), jobs(3)
    (0, 0, 3)
    """
    if n_jobs is None or n_jobs == -1:
        return 0
    if n_jobs == 0:
        raise ValueError("n_jobs: 0 is not a number of threads; use None or -1 for all cores")
    if n_jobs < 0:
        import os

        return max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    return int(n_jobs)
