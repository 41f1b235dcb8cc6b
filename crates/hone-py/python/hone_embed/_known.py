"""Rows of an adjacency that are those of fitted nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from hone_embed._graph import Graph

#: Weights are the same if they differ by less, relative to the larger: they are float32, and those of duplicates were added.
SAME = 1e-6


class KnownRows:
    """Which node of a graph a row of edges belongs to.

    A row is known by its columns: by the sum, modulo 2⁶⁴, of random numbers of them. Rows with the same sum have the same
    columns, but for an accident of odds 2⁻⁶⁴. Without weights two numbers per node are kept, and no edge. With weights
    the graph is kept: among nodes with the same columns, that whose weights have the closest random mixture is compared weight
    by weight. Edges of weight 0 are none.

    Rows of a directed graph are the arcs that leave nodes. Nodes that share a row may differ in the arcs that enter
    them, so such a row is not known.
    """

    def __init__(self, graph: Graph) -> None:
        self.weighted = graph.weighted
        self._graph = graph if graph.weighted else None
        self._sums, mixtures, _ = self._marks(_edges(graph), graph.n_nodes)
        self._kinds, kind = np.unique(self._sums, return_inverse=True)
        # Complex numbers are in order of their real parts, and then of their imaginary ones.
        keys = kind + 1j * mixtures
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        self._alone = None
        if graph.directed:
            below, above = self._keys[:-1], self._keys[1:]
            twins = (below.real == above.real) & (above.imag - below.imag <= SAME * above.imag)
            self._alone = np.ones(graph.n_nodes, dtype=bool)
            for twin in (self._order[:-1][twins], self._order[1:][twins]):
                self._alone[twin] = False

    def find(self, rows: Any) -> np.ndarray:
        """For each row the node that has exactly these edges, a loop not counted; -1 for rows that no node has."""
        known = self._sums
        sums, mixtures, values = self._marks(rows, len(known))
        nodes = self._closest(sums, mixtures)
        row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        loops = (known[rows.indices] == sums[row] - values) & (nodes[row] < 0)
        nodes[row[loops]] = rows.indices[loops]
        if self._graph is not None:
            own = _edges(self._graph)[np.maximum(nodes, 0)]
            other = (abs(rows - own) > rows.maximum(own) * np.float32(SAME)).tocoo()
            nodes[other.row[other.col != nodes[other.row]]] = -1
        if self._alone is not None:
            nodes[(nodes >= 0) & ~self._alone[nodes]] = -1
        return nodes

    def _closest(self, sums: np.ndarray, mixtures: np.ndarray) -> np.ndarray:
        """For each row the node with these columns that has the closest mixture of weights; -1 for columns that none has."""
        kind = np.searchsorted(self._kinds, sums).clip(max=len(self._kinds) - 1)
        above = np.searchsorted(self._keys, kind + 1j * mixtures).clip(max=len(self._keys) - 1)
        below = np.maximum(above - 1, 0)

        def distance(place: np.ndarray) -> np.ndarray:
            keys = self._keys[place]
            return np.where(keys.real == kind, abs(keys.imag - mixtures), np.inf)

        node = self._order[np.where(distance(below) < distance(above), below, above)]
        return np.where(self._sums[node] == sums, node, -1)

    def _marks(self, matrix: Any, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The sum of each row, a mixture of its weights, and what each entry adds to the sum."""
        rng = np.random.default_rng(0)
        values = rng.integers(1, 2**63, size=columns, dtype=np.uint64)[matrix.indices]
        ends = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(values, dtype=np.uint64)])
        mixtures = matrix @ rng.uniform(1.0, 2.0, size=columns) if self.weighted else np.zeros(matrix.shape[0])
        return ends[matrix.indptr[1:]] - ends[matrix.indptr[:-1]], mixtures, values


def _edges(graph: Graph) -> scipy.sparse.csr_array:
    """The adjacency without edges of weight 0, which a row cannot have."""
    matrix = graph.adjacency()
    matrix.eliminate_zeros()
    return matrix
