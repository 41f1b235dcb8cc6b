"""Graphs that many tests share."""

import networkx
import numpy as np
import pytest
import scipy.sparse


@pytest.fixture
def karate():
    return networkx.karate_club_graph()


@pytest.fixture
def random_matrix():
    """A symmetric 0/1 matrix, and a directed one of the same size."""
    rng = np.random.default_rng(3)
    arcs = rng.random((40, 40)) < 0.12
    np.fill_diagonal(arcs, False)
    both = np.triu(arcs) | np.triu(arcs).T
    return scipy.sparse.csr_array(both.astype(float)), scipy.sparse.csr_array(arcs.astype(float))
