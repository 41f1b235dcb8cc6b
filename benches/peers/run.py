#!/usr/bin/env python3
"""Runs `hone` and its peers side by side on the same graphs: wall clock, CPU time, peak memory, and their ratios.

    python run.py --hone ../../target/release/hone --nodes 10000 100000

Every contestant goes from the same edge-list file to an `.npy` array in a process of its own, with the same number of
threads and under the same time cap; rounds are interleaved, so that a slow spell of the machine meets everybody. The
array is checked for shape and finiteness. Nothing is installed: what is missing is reported as such.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from child import Usage, own_peak, run_measured
from contestants import NAMES, Contestant, Job, contestant, installed
from table import markdown

ARRAYS = Path(__file__).resolve().with_name("arrays.py")
DIM = 128
LIBRARIES = ("numpy", "scipy", "gensim", "numba")


class Refusal(Exception):
    """A mistake of the caller; the message says what to do."""


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hone", default="hone", help="the hone command [default: hone on PATH]")
    parser.add_argument("--nodes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000], metavar="N",
                        help="sizes of generated graphs; no number for none [default: 10^4 10^5 10^6]")
    parser.add_argument("--degree", type=float, default=10, help="mean degree of generated graphs [default: 10]")
    parser.add_argument("--graph", type=Path, nargs="+", default=[], metavar="FILE",
                        help="edge lists of two columns without a header, plain or .gz")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=list(NAMES), help="these contestants alone")
    parser.add_argument("--threads", type=int, default=available_cores(), help="threads of each [default: all cores]")
    parser.add_argument("--cap", type=float, default=600, help="seconds a run may take [default: 600]")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each; the median counts [default: 1]")
    parser.add_argument("--reference", choices=NAMES, default="hone", help="what ratios refer to [default: hone]")
    parser.add_argument("--seed", type=int, default=1, help="seed of graphs and methods [default: 1]")
    parser.add_argument("--out", type=Path, default=Path("peers-results"),
                        help="folder of results.json and results.md [default: peers-results]")
    options = parser.parse_args()
    if min(options.threads, options.repeat, options.cap) <= 0:
        parser.error("--threads, --repeat and --cap must be above 0")
    if not options.nodes and not options.graph:
        parser.error("no graph: give --nodes or --graph")
    return options


def available_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine() -> dict[str, Any]:
    """What the figures depend on: processor, cores, memory, Python."""
    processor = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        names = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
        processor = names[0] if names else processor
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "memory_gb": round(memory / 1e9, 1),
        "system": platform.platform(),
        "python": platform.python_version(),
    }


def in_numpy(*words: object) -> Any:
    """What a task of arrays.py prints, from a process of its own."""
    command = [sys.executable, str(ARRAYS), *map(str, words)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise Refusal((answer.stderr.strip() or "arrays.py failed").splitlines()[-1])
    return json.loads(answer.stdout)


def generated(options: argparse.Namespace, nodes: int, work: Path) -> Path:
    """An Erdős–Rényi graph made by `hone generate`."""
    path = work / f"er-{nodes}.tsv"
    command = [options.hone, "generate", "er", "--nodes", nodes, "--degree", options.degree, "--seed", options.seed]
    made = subprocess.run([*map(str, command), "--quiet", "-o", str(path)], capture_output=True, text=True, check=False)
    if made.returncode:
        raise Refusal(f"hone generate failed: {made.stderr.strip()}")
    return path


def graphs(options: argparse.Namespace, work: Path) -> list[dict[str, Any]]:
    """All graphs, prepared: name, path, nodes and edges."""
    if options.nodes and shutil.which(options.hone) is None:
        raise Refusal(f"no command {options.hone} to generate graphs: give --hone PATH, or --nodes without a number")
    sources = [generated(options, nodes, work) for nodes in options.nodes] + options.graph
    if len({source.name for source in sources}) < len(sources):
        raise Refusal("two graphs have the same file name, by which results are distinguished: rename one")
    prepared = []
    for number, source in enumerate(sources):
        path = work / f"graph-{number}.txt"
        sizes = in_numpy("prepare", source, path)
        prepared.append({"name": source.name, "path": path, **sizes})
    return prepared


def last_line(path: Path) -> str:
    """The last line of a log, where programs say why they failed."""
    lines = path.read_text(errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else ""


def verdict(usage: Usage, job: Job, nodes: int, stderr: Path) -> tuple[str, str | None]:
    """How a run ended: a status, and what there is to say about it."""
    if usage.over_cap:
        return "over cap", None
    if usage.exit_code < 0:
        return "failed", f"ended by signal {-usage.exit_code}"
    if usage.exit_code > 0:
        return "failed", last_line(stderr) or f"exit code {usage.exit_code}"
    wrong = in_numpy("check", job.output, nodes, DIM)
    return ("wrong", wrong) if wrong else ("ok", None)


def measure(peer: Contestant, graph: dict[str, Any], options: argparse.Namespace, work: Path) -> dict[str, Any]:
    """One run of one contestant, in a folder that is emptied afterwards."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        stdout, stderr = Path(folder, "stdout"), Path(folder, "stderr")
        job = Job(graph["path"], Path(folder, "vectors.npy"), DIM, options.threads, options.seed)
        usage = run_measured(peer.command(job), options.threads, options.cap, stdout, stderr)
        status, detail = verdict(usage, job, graph["nodes"], stderr)
        stages = peer.stages(job, stdout) if status == "ok" else {}
    return {"status": status, "detail": detail, "stages": stages, **asdict(usage)}


def median_run(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The run that stands for all: a failed one if there is one, else that of (lower) median wall clock."""
    bad = [run for run in runs if run["status"] != "ok"]
    if bad:
        return bad[0]
    middle = statistics.median_low(run["wall"] for run in runs)
    return next(run for run in runs if run["wall"] == middle)


def race(graph: dict[str, Any], peers: dict[str, Contestant], options: argparse.Namespace, work: Path) -> list[dict]:
    """All contestants on one graph, round by round; who failed or ran out of time has no further round."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in peers}
    for _ in range(options.repeat):
        for name, peer in peers.items():
            if peer.version() is None or (runs[name] and runs[name][-1]["status"] != "ok"):
                continue
            runs[name].append(measure(peer, graph, options, work))
            run = runs[name][-1]
            note = f" ({run['detail']})" if run["detail"] else ""
            print(f"{graph['name']}  {name:15} {run['wall']:8.2f} s  {run['status']}{note}", file=sys.stderr)
    results = []
    for name, done in runs.items():
        outcome = {**median_run(done), "runs": done} if done else {"status": "not installed"}
        results.append({"graph": graph["name"], "contestant": name, **outcome})
    return results


def save(report: dict[str, Any], folder: Path) -> None:
    """Writes both forms of the report, each whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("results.json", json.dumps(report, indent=2) + "\n"), ("results.md", markdown(report))):
        partial = folder / f".{name}.partial"
        partial.write_text(text, encoding="utf-8")
        partial.replace(folder / name)


def main() -> None:
    """Prepares the graphs, runs everybody, and saves after every graph."""
    options = arguments()
    peers = {name: contestant(name, options.hone) for name in options.only}
    setup = {name: getattr(options, name) for name in ("degree", "threads", "cap", "repeat", "reference", "seed")}
    setup |= {"dim": DIM, "date": time.strftime("%Y-%m-%d"), "machine": machine()}
    setup["versions"] = {name: peer.version() for name, peer in peers.items()}
    setup["libraries"] = {name: installed(name) for name in LIBRARIES}
    setup["least_peak_bytes"] = own_peak()
    report: dict[str, Any] = {"setup": setup, "graphs": [], "results": []}
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        for graph in graphs(options, Path(folder)):
            report["results"] += race(graph, peers, options, Path(folder))
            report["graphs"].append({name: graph[name] for name in ("name", "nodes", "edges")})
            save(report, options.out)
    print(markdown(report))


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        print(f"error: {refusal}", file=sys.stderr)
        sys.exit(2)
