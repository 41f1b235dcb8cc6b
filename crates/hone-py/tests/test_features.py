"""Node features against sums over edges, and names that a database takes."""

import re

import networkx
import numpy as np
import pytest
from hone_embed import HONE, HoneWarning, count_orbits, features


@pytest.fixture
def graph():
    graph = networkx.gnp_random_graph(40, 0.2, seed=3)
    graph.add_node(40)
    return graph


def columns(embedding):
    return dict(zip(embedding.columns, embedding.vectors.T))


def test_degrees_are_sums_over_edges(graph):
    found = columns(features(graph, depth=0, log=False))
    edges, nodes = count_orbits(graph), count_orbits(graph, by="node").to_pandas()
    for name, counts in zip(edges.names, edges.counts.T):
        sums = np.bincount(edges.keys[:, 0], counts, 41) + np.bincount(edges.keys[:, 1], counts, 41)
        np.testing.assert_allclose(found[f"{name}_degree"], sums, rtol=1e-6)
    # What the name of the other count says: a node's triangles have two of its edges each, its cliques three.
    np.testing.assert_array_equal(found["edge_degree"], nodes["degree"])
    np.testing.assert_array_equal(found["triangle_degree"], 2 * nodes["triangle"])
    np.testing.assert_array_equal(found["clique4_degree"], 3 * nodes["clique4"])


def test_aggregates_are_over_neighbours(graph):
    found = columns(features(graph, motifs=["triangle"], log=False))
    adjacency = networkx.to_numpy_array(graph)
    own = found["triangle_degree"]
    np.testing.assert_allclose(found["sum_triangle_degree"], adjacency @ own, rtol=1e-6)
    np.testing.assert_allclose(found["mean_triangle_degree"], adjacency @ own / np.maximum(adjacency.sum(1), 1), rtol=1e-5)
    np.testing.assert_allclose(found["max_triangle_degree"], (adjacency * own).max(1), rtol=1e-6)
    assert features(graph, motifs=["triangle"], aggregates=["mean"]).columns == ["triangle_degree", "mean_triangle_degree"]
    assert features(graph, motifs=["triangle"], aggregates=[]).columns == ["triangle_degree"]
    logs = columns(features(graph, motifs=["triangle"], depth=0))
    np.testing.assert_allclose(logs["triangle_degree"], np.log1p(own), rtol=1e-6)


def test_directed_degrees(graph):
    arcs = networkx.gnp_random_graph(30, 0.15, seed=1, directed=True)
    found = columns(features(arcs, depth=0, log=False))
    counts = count_orbits(arcs, motifs=["030T", "021U"])
    for name, column in zip(counts.names, counts.counts.T):
        for side, ends in (("out", counts.keys[:, 0]), ("in", counts.keys[:, 1])):
            np.testing.assert_array_equal(found[f"{name}_{side}_degree"], np.bincount(ends, column, 30))


def test_names_have_no_dots_or_brackets(graph):
    arcs = networkx.gnp_random_graph(30, 0.15, seed=1, directed=True)
    attributes = np.arange(41.0)
    local = {"global.output": "local"}
    names = [*features(graph, depth=2, attributes=attributes, config={"features.diffusion.steps": 2}).columns]
    names += [*features(arcs, depth=2).columns, *HONE().fit(graph).get_feature_names_out()]
    names += [*HONE("hone-p+x", config=local).fit(graph).get_feature_names_out()]
    names += [*HONE("hone-p", config=local).fit(arcs).get_feature_names_out()]
    assert len(names) > 500 and all(re.fullmatch(r"[A-Za-z0-9_-]+", name) for name in names)
    assert "structure_pc0" in names and "mean_edge_degree" in names and "edge_k1_0" in names


def test_wrong_requests_are_refused(graph):
    with pytest.raises(ValueError, match="aggregates: 'median' is not one of"):
        features(graph, aggregates=["median"])
    with pytest.raises(ValueError, match="tringle"):
        features(graph, motifs=["tringle"])
    networkx.set_edge_attributes(graph, 2.0, "weight")
    with pytest.warns(HoneWarning, match="weights"):
        features(graph)
