"""The backend of NetworkX: NetworkX's own tests through it, and random graphs through both."""

import os
import subprocess
import sys

import networkx
import numpy
import pytest
from hone_embed import _networkx

pytest.importorskip("networkx", minversion="3.4")

#: Functions of the backend, and the graphs that they are for.
UNDIRECTED = ["triangles", "clustering", "square_clustering", "generalized_degree", "transitivity", "average_clustering"]
DIRECTED = ["clustering", "average_clustering", "triadic_census"]


def graphs(directed):
    """Random graphs with loops, isolated nodes, names and weights; one without edges and one without nodes."""
    for seed, (nodes, share) in enumerate([(30, 0.1), (30, 0.4), (60, 0.1), (5, 0.0), (0, 0.0)]):
        graph = networkx.gnp_random_graph(nodes, share, seed=seed, directed=directed)
        for k, (u, v) in enumerate(graph.edges):
            if k % 3:
                graph[u][v]["cost"] = 1 + k % 5
        if nodes > 5:
            graph.add_edge(4, 4, cost=9)
        yield networkx.relabel_nodes(graph, {node: f"n{node}" if node % 2 else node for node in graph})


def both(name, graph, **arguments):
    function = getattr(networkx, name)
    return function(graph, **arguments), function(graph, backend="hone", **arguments)


@pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs")
@pytest.mark.parametrize(
    ("directed", "name"), [(False, name) for name in UNDIRECTED] + [(True, name) for name in DIRECTED]
)
def test_results_are_those_of_networkx(directed, name):
    weighted = "clustering" in name and "square" not in name
    for graph in graphs(directed):
        if name == "average_clustering" and len(graph) == 0:
            continue  # NetworkX divides by zero, and so does the backend
        for arguments in [{}, {"weight": "cost"}] if weighted else [{}]:
            expected, found = both(name, graph, **arguments)
            assert found == pytest.approx(expected, abs=1e-12) if name != "generalized_degree" else found == expected
    if name in ("transitivity", "average_clustering", "triadic_census"):
        return
    graph = next(iter(graphs(directed)))
    for nodes in ("n3", 4, ["n3", 4, "nobody"], iter(["n1"])):
        given = list(nodes) if hasattr(nodes, "__next__") else nodes
        expected, found = both(name, graph, nodes=given)
        assert found == expected if name == "generalized_degree" else found == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs")
@pytest.mark.parametrize("directed", [False, True])
def test_a_kept_conversion_with_weights_is_not_for_calls_without_or_with_others(directed):
    calls = [(name, {}) for name in (DIRECTED if directed else UNDIRECTED)]
    calls += [(name, {"weight": weight}) for name in ("clustering", "average_clustering") for weight in ("cost", "time")]
    for first in calls:
        for second in calls:
            graph = next(iter(graphs(directed)))
            networkx.set_edge_attributes(graph, {edge: k % 4 + 1 for k, edge in enumerate(graph.edges)}, "time")
            for changed in (False, True):
                if changed:
                    graph.add_weighted_edges_from([(0, 2, 30), (2, 4, 30), (4, 0, 30)], weight="cost")
                for name, arguments in (first, second, first):
                    expected = getattr(networkx, name)(graph, **arguments)
                    with networkx.config(backend_priority=["hone"]):
                        found = getattr(networkx, name)(graph, **arguments)
                    assert found == expected if name == "generalized_degree" else found == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs")
def test_nodes_that_equal_numbers_and_views():
    graph = networkx.gnp_random_graph(20, 0.4, seed=3)
    odd = networkx.Graph()
    odd.add_nodes_from(range(20))
    odd.add_edges_from((float(u), numpy.int64(v)) for u, v in graph.edges)
    part = networkx.subgraph_view(graph, filter_node=lambda node: node != 7)
    for one in (odd, part, networkx.freeze(graph), networkx.relabel_nodes(graph, str)):
        for name in ("triangles", "generalized_degree"):
            expected, found = both(name, one)
            assert found == expected


def test_what_is_left_to_networkx():
    assert _networkx.can_run("triangles", (networkx.Graph(),), {}) is True
    for name, graph, options in [
        ("triangles", networkx.MultiGraph(), {}),
        ("square_clustering", networkx.DiGraph(), {}),
        ("transitivity", networkx.DiGraph(), {}),
        ("triadic_census", networkx.DiGraph(), {"nodelist": [1]}),
    ]:
        assert "left to NetworkX" in _networkx.can_run(name, (graph,), options)


def test_tests_of_networkx_pass(tmp_path):
    """NetworkX's own, with the backend forced; other functions that they call are NetworkX's."""
    environment = {**os.environ, "NETWORKX_TEST_BACKEND": "hone", "NETWORKX_FALLBACK_TO_NX": "True"}
    tests = [f"networkx.algorithms.tests.test_{name}" for name in ("cluster", "triads")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", *tests]
    answer = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert answer.returncode == 0 and " passed" in answer.stdout and "failed" not in answer.stdout, answer.stdout
