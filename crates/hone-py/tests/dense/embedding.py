"""All columns of the default preset, for one graph (reports/quality.md#what-the-default-is)."""

import numpy as np

from . import proximity, structure

#: Squared norm of structure relative to that of proximity, on bipartite and on directed graphs.
WEIGHT, WEIGHT_DIRECTED = 20.0, 5.0


def weight(factors, directed):
    if directed:
        return WEIGHT_DIRECTED
    return WEIGHT if factors.lazy else 2 * 10 ** (1 - factors.w)


class Embedding:
    """`proximity` and `structure`, one row per node; together they are the vectors."""

    def __init__(self, adjacency, directed=False, dim=128):
        self.adjacency, self.directed, self.dim = adjacency, directed, dim
        columns = structure.width(dim)
        self.factors = proximity.factors(adjacency, directed, dim - columns)
        self.reduction = proximity.reduction(self.factors.Y, dim - columns)
        Z = self.factors.Y @ self.reduction
        values = np.linalg.svd(self.factors.Y, compute_uv=False)
        #: How far the last direction that is kept is from the first that is not; at zero the cut is arbitrary.
        self.cut = min(self.factors.cut, proximity.gap(values, dim - columns))
        self.scale, self.structure = 1.0, np.zeros((len(adjacency), 0))
        if columns:
            self.scale = np.sqrt(len(Z)) / np.linalg.norm(Z)
            table = structure.features(adjacency, directed)
            self.components = structure.Structure(table, columns)
            self.scores = self.components.scores(table)
            self.structure = self.components.rows(self.scores)
            size = np.linalg.norm(self.structure)
            self.structure_scale = np.sqrt(weight(self.factors, directed) * len(Z)) / size if size else 1.0
            self.structure = self.structure * self.structure_scale
        self.proximity = Z * self.scale
