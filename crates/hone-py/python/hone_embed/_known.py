"""Rows of an adjacency that are those of fitted nodes."""

from __future__ import annotations

import numpy as np
import scipy.sparse

from hone_embed._graph import Graph


class KnownRows:
    """Which node of a graph a row of edges belongs to. One number per node is kept, and no edge.

    The number of a row is the sum, modulo 2⁶⁴, of random numbers of its columns, times the bits of its weights
    where the graph has weights: rows with the same number are the same, but for an accident of odds 2⁻⁶⁴.

    Rows of a directed graph are the arcs that leave nodes. Nodes that share a row may differ in the arcs that enter
    them, so such a row is not known.
    """

    def __init__(self, graph: Graph) -> None:
        self._weighted = graph.weighted
        self._sums = self._marks(graph.adjacency(), graph.n_nodes)[0]
        self._alone = None
        if graph.directed:
            _, first, count = np.unique(self._sums, return_inverse=True, return_counts=True)
            self._alone = count[first] == 1

    def find(self, rows: scipy.sparse.csr_array) -> np.ndarray:
        """For each row the node that has exactly these edges, a loop not counted; -1 for rows that no node has."""
        known = self._sums
        sums, values = self._marks(rows, len(known))
        order = np.argsort(known, kind="stable")
        places = order[np.searchsorted(known, sums, sorter=order).clip(max=len(known) - 1)]
        nodes = np.where(known[places] == sums, places, -1)
        row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        loops = (known[rows.indices] == sums[row] - values) & (nodes[row] < 0)
        nodes[row[loops]] = rows.indices[loops]
        if self._alone is not None:
            nodes[(nodes >= 0) & ~self._alone[nodes]] = -1
        return nodes

    def _marks(self, matrix: scipy.sparse.csr_array, columns: int) -> tuple[np.ndarray, np.ndarray]:
        """The number of each row, and what each entry adds to it."""
        draw = np.random.default_rng(0).integers(1, 2**63, size=columns, dtype=np.uint64)
        values = draw[matrix.indices]
        if self._weighted:
            values = values * matrix.data.astype(np.float32).view(np.uint32).astype(np.uint64)
        ends = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(values, dtype=np.uint64)])
        return ends[matrix.indptr[1:]] - ends[matrix.indptr[:-1]], values
