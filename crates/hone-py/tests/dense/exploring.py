"""Similar nodes, and the quantities that roles are made of (docs/explore.md)."""

import numpy as np

from . import motifs

NEAR_TIES = 0.05


def similarities(proximity, structure, by="all"):
    """How similar all pairs of nodes are: an N × N matrix."""
    length = np.linalg.norm(proximity, axis=1, keepdims=True)
    direction = proximity / np.where(length > 0, length, 1)
    cosine = direction @ direction.T
    squares = ((structure[:, None] - structure[None]) ** 2).sum(2)
    variance = ((structure - structure.mean(0)) ** 2).sum(1).mean()
    distance = squares / (2 * variance) if variance > 0 else 0 * squares
    return {"proximity": cosine, "structure": 1 - distance, "all": cosine - NEAR_TIES * distance}[by]


def quantities(arcs):
    """The quantities that roles follow from; nan for nodes without neighbours, or without pairs or triples of them."""
    adjacency = ((arcs + arcs.T) > 0).astype(float)
    count = motifs.node_orbits(adjacency)
    degree, open_pairs, triangles, leaves, tails, cliques = (count[:, k] for k in (0, 2, 3, 6, 9, 14))
    logs = adjacency @ np.log(np.maximum(degree, 1))
    return {
        "degree": degree,
        "neighbour-degree": np.exp(_share(logs, degree)),
        "closed-pairs": _share(triangles, triangles + open_pairs),
        "open-pairs": _share(open_pairs, triangles + open_pairs),
        "closed-around": np.where(degree > 0, tails / np.maximum(tails + leaves, 1), np.nan),
        "cliques": _share(cliques, degree * (degree - 1) * (degree - 2) / 6),
        "out-only": _share(((arcs > 0) & (arcs.T == 0)).sum(1), degree),
        "in-only": _share(((arcs.T > 0) & (arcs == 0)).sum(1), degree),
    }


def _share(part, whole):
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan)


def affinity(arcs, role):
    """How many arcs lead from one role to another, relative to what out-degrees and in-degrees alone would give."""
    members = np.eye(role.max() + 1)[role]
    links, out, into = members.T @ arcs @ members, members.T @ arcs.sum(1), members.T @ arcs.sum(0)
    expected = np.outer(out, into) / max(arcs.sum(), 1)
    return np.where(expected > 0, links / np.where(expected > 0, expected, 1), 0)
