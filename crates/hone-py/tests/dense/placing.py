"""Rows of other graphs, and of new nodes, in the space of a fit (reports/models.md#how-nodes-are-placed)."""

import numpy as np

from . import proximity, structure

#: Factors of new nodes are divided by singular values: those that are smaller, relative to the largest, are left out,
#: and in the log window smaller eigenvalues.
SMALLEST_FACTOR, SMALLEST_IN_WINDOW = 1e-6, 0.01
#: Behind other new nodes of a directed graph, lower powers follow from the last one, without its smallest directions.
SMALLEST_BACKWARDS = 1e-3


class Placed:
    """Vectors of a graph in the space of a fit, whose node i is node `shared[i]` of the graph, or -1 if it is gone."""

    def __init__(self, fit, adjacency, shared):
        self.fit, self.adjacency = fit, adjacency
        self.shared = np.asarray(shared)
        rows = self._directed() if fit.directed else self._undirected()
        self.proximity = rows @ fit.reduction * fit.scale
        scores = fit.components.scores(structure.features(adjacency, fit.directed))
        here = self.shared >= 0
        self.drift = np.median(scores[self.shared[here]] - fit.scores[here], axis=0)
        self.structure_alone = fit.components.rows(scores) * fit.structure_scale
        self.structure = fit.components.rows(scores - self.drift) * fit.structure_scale

    def _places(self):
        """Nodes of the graph with a place in the factors, in the order of the factors, and all others."""
        old = self.shared[self.fit.factors.nodes]
        return old, np.setdiff1d(np.arange(len(self.adjacency)), old)

    def _undirected(self):
        """New nodes by walks over new nodes to those of the fit; nodes with changed edges by the first step."""
        factors = self.fit.factors
        old, new = self._places()
        now, then = self.adjacency[np.ix_(old, old)], self.fit.adjacency[np.ix_(factors.nodes, factors.nodes)]
        changed = old[(now != then).any(1)]
        rows = np.concatenate([new, changed])
        links = self.adjacency[rows]
        links[np.ix_(np.arange(len(new), len(rows)), new)] = 0
        degree = links.sum(1)
        root, root_rows = np.sqrt(factors.degree + factors.tau), np.sqrt(degree + factors.tau)
        to_old = links[:, old] / np.outer(root_rows, root)
        to_new = links[:, new] / np.outer(root_rows, root_rows[: len(new)])
        keep, step = factors.lazy, 1 - factors.lazy
        reached = np.zeros((len(rows), factors.X.shape[1]))
        for k in range(proximity.STEPS):
            reached = keep * reached + step * (to_old @ (factors.X * factors.walk**k) + to_new @ reached[: len(new)])
        sigma = np.abs(factors.walk) ** proximity.STEPS
        U = reached / factors.walk**proximity.STEPS * (sigma > SMALLEST_FACTOR * sigma[0])
        block = proximity.shorten(U * factors.scale)
        known = np.abs(factors.lam) > SMALLEST_IN_WINDOW * np.abs(factors.lam).max()
        logs = factors.window(U * known, degree)
        view = logs @ factors.view / factors.view_values * np.sqrt(np.abs(factors.view_values))
        out = np.zeros((len(self.adjacency), factors.Y.shape[1]))
        out[old] = factors.Y[factors.nodes]
        out[rows] = np.hstack([block, proximity.shorten(view) * factors.view_size])
        return out

    def residual(self):
        """How far the factors of the fit are from factors of this graph: ‖A X − X C‖ / ‖X C‖."""
        factors = self.fit.factors
        old, _ = self._places()
        now = self.adjacency[np.ix_(old, old)]
        root = np.sqrt(now.sum(1) + factors.tau)
        kept = factors.X * factors.lam
        return np.linalg.norm(now / np.outer(root, root) @ factors.X - kept) / np.linalg.norm(kept)

    def _directed(self):
        factors = self.fit.factors
        old, new = self._places()
        both = self.adjacency + proximity.REVERSE * self.adjacency.T
        degree = both[new].sum(1) + both[:, new].sum(0)
        root, root_new = np.sqrt(factors.degree + factors.tau), np.sqrt(degree + factors.tau)
        rows = []
        for B, A, side in [(both, factors.A, factors.V), (both.T, factors.A.T, factors.U)]:
            to_old = B[np.ix_(new, old)] / np.outer(root_new, root)
            among = B[np.ix_(new, new)] / np.outer(root_new, root_new)
            last = np.linalg.matrix_power(A, proximity.STEPS - 1) @ side
            before = np.linalg.matrix_power(A, proximity.STEPS - 2) @ side
            back = np.linalg.pinv(last, rcond=SMALLEST_BACKWARDS) @ before
            reached = np.zeros((len(new), side.shape[1]))
            for steps_back in reversed(range(proximity.STEPS)):
                reached = to_old @ last @ np.linalg.matrix_power(back, steps_back) + among @ reached
            rows.append(proximity.shorten(reached / factors.sigma * factors.scale))
        out = np.zeros((len(self.adjacency), factors.Y.shape[1]))
        out[new] = np.hstack(rows)
        out[old] = factors.Y[factors.nodes]
        return out
