"""The contestants: how each is called, and, run as a script, the Python ones themselves.

    python contestants.py NAME GRAPH OUTPUT DIM THREADS SEED

reads an edge list, writes an `.npy` array and prints the seconds of its stages as JSON. Packages are imported only by
the contestant that needs them, so that nobody pays for another's imports. Settings are the packages' defaults unless
a comment says otherwise; cleora is there twice, with its defaults and with a few plain iterations.
"""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy
    import scipy.sparse

SCRIPT = Path(__file__).resolve()


@dataclass(frozen=True)
class Job:
    """What every contestant is given."""

    graph: Path
    output: Path
    dim: int
    threads: int
    seed: int


def installed(package: str) -> str | None:
    """The version of a Python package, found without importing it; None when it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


@dataclass
class Stages:
    """Seconds by stage, in order."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Takes the time of the block as the stage `name`."""
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start


@dataclass(frozen=True)
class HoneCommand:
    """The `hone` command with a preset."""

    program: str
    preset: str

    def version(self) -> str | None:
        """What `hone --version` says; None when there is no such command."""
        if shutil.which(self.program) is None:
            return None
        answer = subprocess.run([self.program, "--version"], capture_output=True, text=True, check=False)
        return answer.stdout.strip() or None

    def command(self, job: Job) -> list[str]:
        """The command line that embeds a graph."""
        options = ["--preset", self.preset, "--dim", job.dim, "--threads", job.threads, "--seed", job.seed]
        return [self.program, "embed", str(job.graph), "-o", str(job.output), "--force", "--quiet", *map(str, options)]

    def stages(self, job: Job, _stdout: Path) -> dict[str, float]:
        """Seconds by stage, from the run file that stands beside the vectors."""
        run = json.loads(Path(f"{job.output}.run.json").read_text())
        seconds = {"read": 0.0, "embed": 0.0, "write": 0.0}
        for stage in run["stages"]:
            name = stage["name"] if stage["name"] in ("read", "write") else "embed"
            seconds[name] += stage["seconds"]
        return seconds


@dataclass(frozen=True)
class PythonPackage:
    """A function of this file that calls a Python package."""

    name: str
    package: str
    run: Callable[[Job, Stages], numpy.ndarray]

    def version(self) -> str | None:
        """Name and version of the package; None when it is not installed."""
        version = installed(self.package)
        return version and f"{self.package} {version}"

    def command(self, job: Job) -> list[str]:
        """The command line that runs this contestant alone."""
        numbers = [str(job.dim), str(job.threads), str(job.seed)]
        return [sys.executable, str(SCRIPT), self.name, str(job.graph), str(job.output), *numbers]

    def stages(self, _job: Job, stdout: Path) -> dict[str, float]:
        """Seconds by stage, from the last line the contestant printed."""
        return json.loads(stdout.read_text().splitlines()[-1])


Contestant = HoneCommand | PythonPackage


def read_adjacency(path: Path) -> scipy.sparse.csr_matrix:
    """The symmetric 0/1 matrix of a prepared edge list: the reader of those who have none, or a slower one."""
    import numpy
    import scipy.sparse

    source, target = numpy.fromfile(path, dtype=numpy.int64, sep=" ").reshape(-1, 2).astype(numpy.int32).T
    rows, columns = numpy.concatenate([source, target]), numpy.concatenate([target, source])
    size = int(rows.max()) + 1
    ones = numpy.ones(rows.size, dtype=numpy.float32)
    return scipy.sparse.csr_matrix((ones, (rows, columns)), shape=(size, size))


def randomized_svd(job: Job, stages: Stages) -> numpy.ndarray:
    """scikit-learn: U √Σ of the adjacency matrix in single precision."""
    with stages.stage("import"):
        import numpy
        from sklearn.utils.extmath import randomized_svd as factorise
    with stages.stage("read"):
        adjacency = read_adjacency(job.graph)
    with stages.stage("embed"):
        left, sigma, _ = factorise(adjacency, n_components=job.dim, random_state=job.seed)
        return left * numpy.sqrt(sigma)


def prone(job: Job, stages: Stages) -> numpy.ndarray:
    """ProNE of nodevectors: sparse factorisation, then Chebyshev propagation of ten steps."""
    with stages.stage("import"):
        import numpy
        from nodevectors import ProNE
    with stages.stage("read"):
        adjacency = read_adjacency(job.graph)
    with stages.stage("embed"):
        numpy.random.seed(job.seed)  # the package takes no seed of its own
        return ProNE(n_components=job.dim, verbose=False).fit_transform(adjacency)


def _cleora(job: Job, stages: Stages, **settings: Any) -> numpy.ndarray:
    """cleora with its own reader; every line is a hyperedge of two nodes."""
    with stages.stage("import"):
        import pycleora
    with stages.stage("read"):
        columns = "complex::reflexive::node"
        graph = pycleora.SparseMatrix.from_files([str(job.graph)], columns, num_workers=job.threads)
    with stages.stage("embed"):
        return pycleora.embed(graph, feature_dim=job.dim, seed=job.seed, num_workers=job.threads, **settings)


def cleora(job: Job, stages: Stages) -> numpy.ndarray:
    """cleora as the package calls it: 40 iterations, whitened after each."""
    return _cleora(job, stages)


def cleora_4(job: Job, stages: Stages) -> numpy.ndarray:
    """cleora at its cheapest: four iterations without whitening, the package's fast path."""
    return _cleora(job, stages, num_iterations=4, whiten=False)


def pecanpy(job: Job, stages: Stages) -> numpy.ndarray:
    """node2vec of PecanPy with its own reader: SparseOTF, 10 walks of 80 steps a node, window 10, one epoch."""
    with stages.stage("import"):
        from pecanpy import pecanpy as package
    with stages.stage("read"):
        # At p = q = 1 the walks are of first order, for which PecanPy has a cheaper class.
        graph = package.SparseOTF(p=1, q=0.5, workers=job.threads, random_state=job.seed)
        graph.read_edg(str(job.graph), weighted=False, directed=False, delimiter=" ")
    with stages.stage("embed"):
        return graph.embed(dim=job.dim, num_walks=10, walk_length=80, window_size=10, epochs=1)


PACKAGES = {
    "cleora": PythonPackage("cleora", "pycleora", cleora),
    "cleora-4": PythonPackage("cleora-4", "pycleora", cleora_4),
    "randomized-svd": PythonPackage("randomized-svd", "scikit-learn", randomized_svd),
    "prone": PythonPackage("prone", "nodevectors", prone),
    "pecanpy": PythonPackage("pecanpy", "pecanpy", pecanpy),
}
HONE_PRESETS = ("hone", "hone-p")
NAMES = (*HONE_PRESETS, *PACKAGES)


def contestant(name: str, hone: str) -> Contestant:
    """The contestant of that name; `hone` is the command's path."""
    return HoneCommand(hone, name) if name in HONE_PRESETS else PACKAGES[name]


def main(name: str, graph: str, output: str, dim: str, threads: str, seed: str) -> None:
    """Runs one Python contestant from edge list to array."""
    stages = Stages()
    job = Job(Path(graph), Path(output), int(dim), int(threads), int(seed))
    vectors = PACKAGES[name].run(job, stages)
    with stages.stage("write"):
        import numpy

        numpy.save(job.output, vectors.astype(numpy.float32, copy=False))
    print(json.dumps(stages.seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
