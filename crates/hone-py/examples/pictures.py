"""Draws the pictures of docs/python.md into docs/images.

python crates/hone-py/examples/pictures.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import networkx
import numpy as np
from hone_embed import HONE, count_orbits, evaluate_link_prediction, generate, motif_adjacency

matplotlib.use("svg")
import matplotlib.pyplot as plt

IMAGES = Path(__file__).resolve().parents[3] / "docs" / "images"
COLORS = ["#3b6fb6", "#d9822b", "#4f9d69", "#a8527f"]
plt.rcParams.update(
    {
        "svg.hashsalt": "hone",
        "svg.fonttype": "none",
        "font.family": "sans-serif",
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlesize": 11,
    }
)


def save(figure: plt.Figure, name: str) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    figure.savefig(IMAGES / f"{name}.svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def karate() -> None:
    """The club as a graph, edges as wide as their triangles, and its vectors in the plane."""
    graph = networkx.karate_club_graph()
    club = [COLORS[graph.nodes[node]["club"] == "Officer"] for node in graph]
    triangles = motif_adjacency(graph, "triangle")
    widths = [0.4 + 0.45 * triangles[u, v] for u, v in graph.edges()]
    vectors = HONE(n_components=24).fit_transform(graph)[:, :2]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.9))
    places = networkx.spring_layout(graph, seed=4)
    networkx.draw_networkx_edges(graph, places, ax=left, width=widths, edge_color="#999999")
    networkx.draw_networkx_nodes(graph, places, ax=left, node_size=90, node_color=club)
    left.set_title("edges as wide as the triangles they lie in")
    left.axis("off")
    right.scatter(*vectors.T, c=club, s=45)
    for node in (0, 33):
        right.annotate(str(node), vectors[node], xytext=(6, 4), textcoords="offset points")
    right.set_title("the first two columns of the vectors")
    right.set_xlabel("z0")
    right.set_ylabel("z1")
    save(figure, "karate")


def importance() -> None:
    """Which motifs an embedding is made of, in a clustered graph and in a random one of the same size."""
    clustered = networkx.watts_strogatz_graph(600, 10, 0.05, seed=1)
    random = generate("er", nodes=600, degree=10, random_state=1)
    figure, axes = plt.subplots(figsize=(8, 3.4))
    names = None
    for k, (label, graph) in enumerate((("small world", clustered), ("random", random))):
        shares = HONE("hone-w", n_components=64, config={"local.scale": "sigma"}).fit(graph).motif_importance_
        names = names or list(shares)
        places = np.arange(len(names)) + 0.4 * k - 0.2
        axes.bar(places, [100 * shares.get(name, 0) for name in names], width=0.38, label=label, color=COLORS[k])
    axes.set_xticks(np.arange(len(names)), names, rotation=40, ha="right")
    axes.set_ylabel("share of the embedding, %")
    axes.legend(frameon=False, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    save(figure, "importance")


def orbits() -> None:
    """Node orbits tell roles apart: members of cliques, their gates, the path between them."""
    graph = networkx.barbell_graph(6, 5)
    counts = count_orbits(graph, by="node")
    table, names = np.log1p(counts.counts), counts.names
    figure, axes = plt.subplots(figsize=(8, 3.6))
    image = axes.imshow(table.T, aspect="auto", cmap="viridis")
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_xticks(range(len(graph)), [str(node) for node in graph], fontsize=8)
    axes.set_xlabel("node: 0-5 and 11-16 are cliques, 6-10 the path between them")
    figure.colorbar(image, label="log(1 + count)", pad=0.02)
    save(figure, "orbits")


def link_prediction() -> None:
    """AUC of some methods on a graph with communities."""
    graph = generate("sbm", nodes=600, degree=16, communities=12, mixing=0.2, random_state=3)
    methods = ["hone", "hone-p", "node2vec", "spectral", "degree", "random"]
    table = evaluate_link_prediction(graph, methods, seeds=3, operators=["hadamard"]).to_pandas()
    scores = table.groupby("method")["auc"].agg(["mean", "std"]).loc[methods]
    figure, axes = plt.subplots(figsize=(6.5, 2.8))
    colors = [COLORS[0] if name.startswith("hone") else "#999999" for name in methods]
    axes.barh(methods[::-1], scores["mean"][::-1], xerr=scores["std"][::-1], color=colors[::-1], height=0.65)
    axes.axvline(0.5, color="black", linewidth=0.8, linestyle=":")
    axes.set_xlim(0.4, 1)
    axes.set_xlabel("AUC over three splits (0.5: guessing)")
    save(figure, "link-prediction")


PICTURES = {picture.__name__: picture for picture in (karate, importance, orbits, link_prediction)}

if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        PICTURES[name]()
        print(f"drew {name}")
