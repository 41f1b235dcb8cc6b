"""One measured child process: wall clock, CPU time and peak memory, under a time cap.

The figures come from `wait4`, so they are the kernel's own and cover the child with every process and thread it
started. Linux counts the memory of the process that forks into the child's peak; the caller therefore has to stay
small and imports the standard library alone.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


@dataclass(frozen=True)
class Usage:
    """What a child process took, and how it ended."""

    wall: float
    cpu: float
    peak_bytes: int
    exit_code: int
    over_cap: bool
    others_cpu: float | None


def run_measured(command: list[str], threads: int, cap: float, stdout: Path, stderr: Path) -> Usage:
    """Runs `command`; after `cap` seconds it and all it started are killed."""
    environment = os.environ | {name: str(threads) for name in THREAD_VARIABLES} | {"PYTHONHASHSEED": "0"}
    with stdout.open("wb") as out, stderr.open("wb") as err:
        busy = _busy_seconds()
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, start_new_session=True
        )
        expired = threading.Event()
        timer = threading.Timer(cap, _end_group, (process.pid, expired))
        timer.start()
        try:
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            timer.cancel()
        wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu = used.ru_utime + used.ru_stime
    busy_after = _busy_seconds()
    others = None if busy is None or busy_after is None else max(0.0, busy_after - busy - cpu)
    return Usage(wall, cpu, _peak_bytes(used), process.returncode, expired.is_set(), others)


def own_peak() -> int:
    """The peak memory of this process, below which no child's peak can be seen."""
    return _peak_bytes(resource.getrusage(resource.RUSAGE_SELF))


def _peak_bytes(used: resource.struct_rusage) -> int:
    """Peak memory in bytes: macOS counts in bytes, other systems in KiB."""
    return used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _end_group(group: int, expired: threading.Event) -> None:
    """Kills a process group that ran past its time; one that has just ended is left alone."""
    try:
        os.killpg(group, signal.SIGKILL)
        expired.set()
    except ProcessLookupError:
        pass


def _busy_seconds() -> float | None:
    """CPU seconds that all processes of the machine have taken since it started; None where Linux's file is missing."""
    try:
        fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    except OSError:
        return None
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, fields)
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
