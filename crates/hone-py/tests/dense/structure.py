"""Node features from motif counts, and structure columns (reports/quality.md#what-the-default-is, reports/directed.md#the-default)."""

import numpy as np

from . import motifs

SIZE_DECAY, LEVEL_DECAY, OFFSET = 3.0, 2.0, 3.0


def features(adjacency, directed):
    """log(1 + x) of the counts of nodes, and of their sums, means and maxima over the neighbours.

    Returns the columns, and of each the number of nodes of its motif and whether it is an aggregate.
    """
    if directed:
        counts, sizes = _directed_counts(adjacency)
        sides = [adjacency != 0, adjacency.T != 0]
    else:
        counts, sizes = _counts(adjacency)
        sides = [adjacency != 0]
    own = np.log1p(counts)
    sums = [np.log1p(side @ counts) for side in sides]
    means = [side @ own / np.maximum(side.sum(1, keepdims=True), 1) for side in sides]
    maxima = [np.array([own[row].max(0) if row.any() else np.zeros(own.shape[1]) for row in side]) for side in sides]
    columns = [own, *sums, *means, *maxima]
    levels = np.repeat(np.arange(len(columns)) > 0, own.shape[1])
    return np.hstack(columns), np.tile(sizes, len(columns)), levels


def _counts(adjacency):
    return motifs.edge_orbits(adjacency).sum(1), np.array(list(motifs.ORBITS.values()))


def _directed_counts(arcs):
    columns, sizes = [], []
    for name, counts in motifs.triads(arcs).items():
        sides = [counts.sum(1)] if name in motifs.BOTH_WAYS else [counts.sum(1), counts.sum(0)]
        columns += sides
        sizes += [2 if name in ("one-way", "mutual") else 3] * len(sides)
    return np.array(columns).T, np.array(sizes)


def width(dim):
    """How many of `dim` columns are structure: one in eight, rounded, at least 2, at most 16, at most half."""
    if dim == 1:
        return 0
    return min(max(2, int(dim / 8 + 0.5)), 16, dim // 2)


class Structure:
    """The components of the features of one graph; rows of other graphs can be placed in them."""

    def __init__(self, table, dim):
        columns, sizes, aggregates = table
        self.mean, deviation = columns.mean(0), columns.std(0)
        constant = deviation <= 1e-6 * np.abs(columns).max(0)
        decay = SIZE_DECAY ** (2.0 - sizes) / np.where(aggregates, LEVEL_DECAY, 1.0)
        self.weight = np.where(constant, 0.0, decay / np.where(constant, 1.0, deviation))
        standard = (columns - self.mean) * self.weight
        self.extremes = dim >= 4
        self.dim = dim
        _, values, axes = np.linalg.svd(standard, full_matrices=False)
        rank = int((values > 1e-6 * values[0]).sum()) if values.size and values[0] > 0 else 0
        self.axes = axes[: min(rank, dim - self.extremes)].T
        self.complete = self.axes.shape[1] == rank
        sums = self.axes.sum(0)
        self.signed = np.abs(sums) > 1e-6
        self.axes = self.axes * np.where(sums < 0, -1, 1)
        self.spread = (standard @ self.axes).std(0)
        self.total = np.linalg.norm(standard) / np.sqrt(len(standard))

    def scores(self, table):
        """Components, each moved up by three of its standard deviations."""
        return (table[0] - self.mean) * self.weight @ self.axes + OFFSET * self.spread

    def rows(self, scores):
        """All columns: the components, zeros where there are fewer than columns, and the extremes of the first one."""
        out = np.zeros((len(scores), self.dim))
        out[:, : scores.shape[1]] = scores
        if self.extremes and scores.shape[1]:
            first = (scores[:, 0] / self.spread[0] - OFFSET) ** 2
            out[:, -1] = self.total * first / (1 + first)
        return out
