#!/usr/bin/env python3
"""Measures how well a model places new nodes, changed edges and another graph (`hone embed --save-model` and `hone place`).

    python run.py --hone ../../target/release/hone --data FOLDER

Three experiments, each beside what a user could do instead: new nodes, changed edges, another graph. Vectors come from
the `hone` command with its default preset. Labels and links are scored as `hone eval` does it: logistic regression,
columns divided by one constant per block, a node with m labels gets the m labels of the highest scores. The penalty is
fixed (C = 1), so that nothing is chosen by what is measured. Tables go to standard output as Markdown, scores of single
seeds to standard error. Files are written to a temporary folder only.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from classify import Labeller, Linker

HIDDEN = 0.1
SHARES = (0.01, 0.05, 0.2)
STEPS = 10
TARGET = 0.02
GRAPHS = ("cora", "europe-airports", "ppi", "wikipedia-pos")
BLOCKS = ("all", "proximity", "structure")


class Refusal(Exception):
    """A mistake of the caller, or a failed command; the message says which."""


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hone", default="hone", help="the hone command [default: hone on PATH]")
    parser.add_argument("--data", type=Path, required=True, help="folder with NAME.edges and NAME.labels")
    parser.add_argument("--graphs", nargs="*", default=list(GRAPHS), metavar="NAME",
                        help=f"graphs of the first two experiments [default: {' '.join(GRAPHS)}]")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="seeds [default: 0 1 2]")
    parser.add_argument("--columns", choices=BLOCKS, default="all", help="use these columns alone [default: all]")
    parser.add_argument("--threads", type=int, default=1, help="threads of hone [default: 1]")
    options = parser.parse_args()
    if shutil.which(options.hone) is None:
        parser.error(f"no command {options.hone}: give --hone PATH")
    return options


@dataclass
class Graph:
    """A graph whose nodes are numbered from 0; nodes without an edge are left out.

    `ids` are those in the files, `edges` has two nodes per row, `labels` one row per node and one column per label, and
    `main` is the first label of each node.
    """

    name: str
    ids: np.ndarray
    edges: np.ndarray
    labels: np.ndarray
    main: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)


def read(folder: Path, name: str) -> Graph:
    """Reads NAME.edges and NAME.labels."""
    for path in (folder / f"{name}.edges", folder / f"{name}.labels"):
        if not path.exists():
            raise Refusal(f"{path} does not exist")
    pairs = np.loadtxt(folder / f"{name}.edges", dtype=np.int64, usecols=(0, 1), ndmin=2)
    ids, edges = np.unique(pairs, return_inverse=True)
    lines = (folder / f"{name}.labels").read_text().splitlines()
    of = {int(node): names.split(",") for node, names in (line.split("\t") for line in lines)}
    if lacking := [node for node in ids if node not in of]:
        raise Refusal(f"{name}.labels has no label of node {lacking[0]}")
    columns = {label: k for k, label in enumerate(sorted({label for names in of.values() for label in names}))}
    labels = np.zeros((len(ids), len(columns)), dtype=bool)
    for row, node in enumerate(ids):
        labels[row, [columns[label] for label in of[node]]] = True
    return Graph(name, ids, edges.reshape(-1, 2), labels, np.array([columns[of[node][0]] for node in ids]))


def split(graph: Graph, share: float, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A random share of the nodes, with the labels in proportion, and the other nodes."""
    shuffled = random.permutation(len(graph))
    place = np.empty(len(graph))
    for label in np.unique(graph.main):
        members = shuffled[graph.main[shuffled] == label]
        place[members] = (np.arange(len(members)) + 0.5) / len(members)
    order = shuffled[np.argsort(place[shuffled], kind="stable")]
    count = round(share * len(graph))
    return order[:count], order[count:]


class Embedder:
    """Runs `hone embed` and `hone place` in a temporary folder."""

    def __init__(self, options: argparse.Namespace, folder: Path, columns: str) -> None:
        self.options, self.folder, self.columns, self.runs = options, folder, columns, 0

    def fit(self, graph: Graph, edges: np.ndarray, nodes: np.ndarray, seed: int) -> tuple[np.ndarray, Path]:
        """Vectors of `nodes`, and a model of them."""
        model = self.folder / f"model-{self.runs}.hone"
        return self.run("embed", graph, edges, nodes, "--save-model", model, "--seed", seed), model

    def place(self, graph: Graph, edges: np.ndarray, model: Path, *options: object) -> np.ndarray:
        """Vectors of all nodes in the space of a model."""
        return self.run("place", graph, edges, np.arange(len(graph)), "--model", model, *options)

    def run(self, command: str, graph: Graph, edges: np.ndarray, nodes: np.ndarray, *options: object) -> np.ndarray:
        """One row per node of the graph; rows of nodes other than `nodes` are not numbers."""
        self.runs += 1
        pairs, listing, output = (self.folder / f"{self.runs}{end}" for end in (".tsv", ".nodes", ".npy"))
        np.savetxt(pairs, graph.ids[edges], fmt="%d", delimiter="\t")
        np.savetxt(listing, graph.ids[nodes], fmt="%d")
        words = [self.options.hone, command, pairs, "--no-header", "--node-list", listing, "-o", output, *options]
        words += ["--threads", self.options.threads, "--quiet"]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise Refusal(f"hone embed failed on {graph.name}: {done.stderr.strip()}")
        vectors = np.load(output)
        kept = self.kept(Path(f"{output}.columns.txt").read_text().split())
        rows = np.full((len(graph), len(kept)), np.nan, dtype=np.float64)
        rows[nodes] = vectors[:, kept]
        return rows

    def kept(self, names: list[str]) -> list[int]:
        """The columns that are used."""
        blocks = ["structure" if name.startswith("structure.") else "proximity" for name in names]
        return [k for k, block in enumerate(blocks) if self.columns in ("all", block)]


def keys(pairs: np.ndarray) -> np.ndarray:
    """One number per pair of nodes, whatever their order."""
    return (pairs.min(axis=1) << 32) + pairs.max(axis=1)


def non_edges(graph: Graph, left: np.ndarray, right: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """Distinct pairs without an edge in the whole graph, one node of `left` and one of `right`."""
    pairs = np.empty((0, 2), dtype=np.int64)
    while len(pairs) < count:
        drawn = np.column_stack([random.choice(left, 2 * count), random.choice(right, 2 * count)])
        drawn = drawn[drawn[:, 0] != drawn[:, 1]]
        pairs = np.vstack([pairs, drawn[~np.isin(keys(drawn), keys(graph.edges))]])
        pairs = pairs[np.sort(np.unique(keys(pairs), return_index=True)[1])]
    return pairs[:count]


def neighbour_mean(vectors: np.ndarray, edges: np.ndarray, fitted: np.ndarray) -> np.ndarray:
    """The vectors of fitted nodes; other nodes get the mean of those of their fitted neighbours, or zero."""
    out = np.where(fitted[:, None], vectors, 0.0)
    counts = np.zeros(len(out))
    for node, other in np.vstack([edges, edges[:, ::-1]]):
        if not fitted[node] and fitted[other]:
            out[node] += vectors[other]
            counts[node] += 1
    return out / np.maximum(counts, 1)[:, None]


@dataclass
class Fit:
    """A model of a graph without its hidden nodes; `fitted` and `inside` say which nodes and edges are in it."""

    hidden: np.ndarray
    rest: np.ndarray
    fitted: np.ndarray
    inside: np.ndarray
    vectors: np.ndarray
    model: Path


def hide(graph: Graph, seed: int, embedder: Embedder, random: np.random.Generator) -> Fit:
    """Hides a tenth of the nodes and fits a model on the others."""
    hidden, rest = split(graph, HIDDEN, random)
    fitted = np.isin(np.arange(len(graph)), rest)
    inside = fitted[graph.edges].all(axis=1)
    return Fit(hidden, rest, fitted, inside, *embedder.fit(graph, graph.edges[inside], rest, seed))


def new_nodes(graph: Graph, seed: int, embedder: Embedder) -> dict[str, float]:
    """Scores of labels and links of hidden nodes, for a rerun, for `hone place` and for the mean of neighbours."""
    random = np.random.default_rng([seed, 1])
    fit = hide(graph, seed, embedder, random)
    return labels_of(graph, seed, embedder, fit) | links_of(graph, seed, embedder, fit, random)


def labels_of(graph: Graph, seed: int, embedder: Embedder, fit: Fit) -> dict[str, float]:
    """Scores of the labels of hidden nodes, all their edges known."""
    known, wanted = graph.labels[fit.rest], graph.labels[fit.hidden]
    rerun = embedder.fit(graph, graph.edges, np.arange(len(graph)), seed)[0]
    placed = embedder.place(graph, graph.edges, fit.model)
    means = neighbour_mean(fit.vectors, graph.edges, fit.fitted)
    labeller = Labeller(fit.vectors[fit.rest], known)
    return {
        "labels rerun": Labeller(rerun[fit.rest], known).score(rerun[fit.hidden], wanted),
        "labels like": labeller.score(placed[fit.hidden], wanted),
        "labels mean": labeller.score(means[fit.hidden], wanted),
    }


def links_of(graph: Graph, seed: int, embedder: Embedder, fit: Fit, random: np.random.Generator) -> dict[str, float]:
    """AUC of half of the edges of hidden nodes; the other half is known when they are placed."""
    everyone = np.arange(len(graph))
    inner, outer = graph.edges[fit.inside], random.permutation(graph.edges[~fit.inside])
    wanted, known = outer[: len(outer) // 2], np.vstack([inner, outer[len(outer) // 2 :]])
    test = (wanted, non_edges(graph, fit.hidden, everyone, len(wanted), random))
    train = (inner, non_edges(graph, fit.rest, fit.rest, len(inner), random))
    rerun = embedder.fit(graph, known, everyone, seed)[0]
    placed = embedder.place(graph, known, fit.model)
    linker = Linker(fit.vectors, *train)
    return {
        "links rerun": Linker(rerun, *train).auc(rerun, *test),
        "links like": linker.auc(placed, *test),
        "links mean": linker.auc(neighbour_mean(fit.vectors, known, fit.fitted), *test),
    }


def changed_edges(graph: Graph, seed: int, embedder: Embedder) -> dict[str, float]:
    """Scores of one classifier before and after edges are added, and of a rerun for the largest share."""
    random = np.random.default_rng([seed, 2])
    train, test = split(graph, 0.5, random)
    everyone, scores = np.arange(len(graph)), {}
    for share in SHARES:
        kept = random.permutation(graph.edges)[round(share * len(graph.edges)) :]
        first, model = embedder.fit(graph, kept, everyone, seed)
        placed = embedder.place(graph, graph.edges, model)
        labeller = Labeller(first[train], graph.labels[train])
        scores[f"start {share}"] = labeller.score(first[test], graph.labels[test])
        scores[f"end {share}"] = labeller.score(placed[test], graph.labels[test])
    rerun = embedder.fit(graph, graph.edges, everyone, seed)[0]
    scores["rerun"] = labeller.score(rerun[test], graph.labels[test])
    scores["retrained"] = Labeller(rerun[train], graph.labels[train]).score(rerun[test], graph.labels[test])
    return scores


def steps_agree(graph: Graph, seed: int, embedder: Embedder) -> bool:
    """Whether edges that are added in ten steps give the same bits as all of them at once."""
    edges = np.random.default_rng([seed, 3]).permutation(graph.edges)
    removed = round(SHARES[-1] * len(edges))
    added, kept = edges[:removed], edges[removed:]
    model = embedder.fit(graph, kept, np.arange(len(graph)), seed)[1]
    for step in range(1, STEPS + 1):
        placed = embedder.place(graph, np.vstack([kept, added[: round(step / STEPS * removed)]]), model)
    return placed.tobytes() == embedder.place(graph, graph.edges, model).tobytes()


def another_graph(folder: Path, embedder: Embedder) -> dict[str, float]:
    """Accuracy on brazil-airports of classifiers that were trained on europe-airports."""
    europe, brazil = read(folder, "europe-airports"), read(folder, "brazil-airports")
    here, model = embedder.fit(europe, europe.edges, np.arange(len(europe)), 0)
    there = embedder.place(brazil, brazil.edges, model, "--structure-only")
    degrees = [np.log(np.bincount(graph.edges.ravel())).reshape(-1, 1) for graph in (europe, brazil)]
    relative = [(degree - degree.mean()) / degree.std() for degree in degrees]
    pairs = {"structure columns": (here, there), "log degree": degrees, "log degree, standardised per graph": relative}
    return {name: Labeller(a, europe.labels).score(b, brazil.labels) for name, (a, b) in pairs.items()}


def figure(value: float) -> str:
    """Three digits, without the zero before the point."""
    return f"{round(value, 3) + 0.0:.3f}".replace("0.", ".", 1)


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(line) + " |" for line in [head, *rows]]
    return "\n".join([lines[0], "|---" * len(head) + "|", *lines[1:]])


def comparison(title: str, results: dict, columns: dict[str, str], pairs: list[tuple[str, str]]) -> str:
    """A table of means over seeds, with the largest loss of a single seed, and whether the target is met.

    Each pair names the scores before and after; what the second lacks is the loss, and a gain is negative.
    """
    rows, worst = [], (-np.inf, "")
    for name, runs in results.items():
        lost = np.array([[scores[before] - scores[after] for before, after in pairs] for scores in runs])
        means = [np.mean([scores[key] for scores in runs]) for key in columns.values()]
        rows.append([name, *map(figure, means), figure(lost.max())])
        worst = max(worst, (lost.mean(axis=0).max(), name))
    verdict = "met" if worst[0] <= TARGET else "missed"
    text = f"Largest loss of a mean: {figure(worst[0])} ({worst[1]}); target {figure(TARGET)}: {verdict}."
    return f"{table([title, *columns, 'largest loss of a seed'], rows)}\n\n{text}\n"


def report(new: dict, changed: dict, other: dict[str, float]) -> str:
    """All tables."""
    parts = []
    for kind, title in (("labels", "new nodes: labels"), ("links", "new nodes: links, AUC")):
        columns = {"rerun": f"{kind} rerun", "`hone place`": f"{kind} like", "neighbour mean": f"{kind} mean"}
        parts.append(comparison(title, new, columns, [(f"{kind} rerun", f"{kind} like")]) if new else "")
    columns = {}
    for share in SHARES:
        columns |= {f"start, {share * 100:.0f} %": f"start {share}", f"end, {share * 100:.0f} %": f"end {share}"}
    columns |= {"rerun": "rerun", "retrained": "retrained"}
    pairs = [(f"start {share}", f"end {share}") for share in SHARES]
    parts.append(comparison("changed edges", changed, columns, pairs) if changed else "")
    parts.append(table(["another graph", "accuracy"], [[name, figure(value)] for name, value in other.items()]))
    return "\n".join(parts)


def alone(options: argparse.Namespace, columns: str, experiment):
    """What an experiment returns, in a temporary folder of its own."""
    with tempfile.TemporaryDirectory(prefix="models-") as folder:
        return experiment(Embedder(options, Path(folder), columns))


def measure(graph: Graph, seed: int, options: argparse.Namespace, experiment) -> dict[str, float]:
    """The scores of one experiment, which are also printed."""
    scores = alone(options, options.columns, lambda embedder: experiment(graph, seed, embedder))
    text = ", ".join(f"{name} {value:.4f}" for name, value in scores.items())
    print(f"{graph.name}, seed {seed}: {text}", file=sys.stderr, flush=True)
    return scores


def main() -> None:
    """Runs everything, seed by seed, and prints the tables."""
    options = arguments()
    graphs = [read(options.data, name) for name in options.graphs]
    new, changed = {}, {}
    for graph in graphs:
        new[graph.name] = [measure(graph, seed, options, new_nodes) for seed in options.seeds]
        changed[graph.name] = [measure(graph, seed, options, changed_edges) for seed in options.seeds]
    other = alone(options, "structure", lambda embedder: another_graph(options.data, embedder))
    print(report(new, changed, other))
    if graphs:
        small = min(graphs, key=len)
        agree = alone(options, "all", lambda embedder: steps_agree(small, options.seeds[0], embedder))
        print(f"\nTen steps give the same bits as one ({small.name}): {'yes' if agree else 'no'}.")


if __name__ == "__main__":
    try:
        main()
    except Refusal as refusal:
        print(f"error: {refusal}", file=sys.stderr)
        sys.exit(2)
