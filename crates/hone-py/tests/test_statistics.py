"""Statistics of motifs against networkx, scipy and dense linear algebra."""

import itertools

import networkx
import numpy as np
import pandas
import pytest
from hone_embed import (
    HONE,
    coefficients,
    compare,
    count_orbits,
    draw,
    features,
    generate,
    list_motifs,
    motif_adjacency,
    motif_cluster,
    roles,
    significance,
    triad_census,
)
from scipy.stats import spearmanr


def random_graphs(directed=False):
    """Sparse and dense, without edges and without nodes that have none."""
    rng = np.random.default_rng(3)
    for trial in range(40):
        nodes, density = int(rng.integers(1, 30)), float(rng.choice([0.0, 0.05, 0.2, 0.6, 1.0]))
        graph = networkx.gnp_random_graph(nodes, density, seed=trial, directed=directed)
        yield graph, networkx.to_scipy_sparse_array(graph, format="csr")


def test_census_is_that_of_networkx():
    from hone_embed import Graph

    for graph, matrix in random_graphs(directed=True):
        assert triad_census(Graph(matrix, directed=True)) == networkx.triadic_census(graph)
    with pytest.raises(ValueError, match="^graph: .*directed"):
        triad_census(networkx.path_graph(4))


def test_coefficients_are_those_of_networkx():
    for graph, matrix in random_graphs():
        found = coefficients(matrix)
        columns = dict(zip(found.names, found.nodes.T))
        nodes = range(len(graph))
        clustering, squares = networkx.clustering(graph), networkx.square_clustering(graph)
        np.testing.assert_allclose(columns["clustering"], [clustering[u] for u in nodes], atol=1e-12)
        np.testing.assert_allclose(columns["square-clustering"], [squares[u] for u in nodes], atol=1e-12)
        assert found.graph["clustering"]["mean"] == pytest.approx(networkx.average_clustering(graph))
        assert (found.graph["clustering"]["global"] or 0) == pytest.approx(networkx.transitivity(graph))
        cliques = [len(clique) for clique in networkx.enumerate_all_cliques(graph)]
        # Yin, Benson and Leskovec: 12 cliques of four over the triangles with an edge at a corner.
        wedges = sum((graph.degree(u) - 2) * count for u, count in networkx.triangles(graph).items() if count)
        expected = 12 * cliques.count(4) / wedges if wedges else None
        assert found.graph["clustering-3"]["global"] == (pytest.approx(expected) if wedges else None)


def test_significance_of_planted_loops():
    rng = np.random.default_rng(1)
    arcs = [(3 * i + a, 3 * i + b) for i in range(15) for a, b in ((0, 1), (1, 2), (0, 2))]
    arcs += [tuple(rng.integers(0, 60, 2).tolist()) for _ in range(60)]
    graph = networkx.DiGraph([(u, v) for u, v in arcs if u != v])
    found = significance(graph, 60, random_state=4)
    table = found.to_pandas().set_index("motif")
    census = networkx.triadic_census(graph)
    assert table["count"].to_dict() == {name: census[name] for name in table.index}
    assert table.loc["030T", "z"] > 4 and table.loc["030T", "p_more"] == 1 / 61
    assert np.isclose((table["profile"].dropna().astype(float) ** 2).sum(), 1)
    assert found.null_model == "reciprocity" and found.switching["mixed"]
    again = significance(graph, 60, random_state=4, n_jobs=1)
    assert again.motifs == significance(graph, 60, random_state=4, n_jobs=2).motifs
    two_sided = np.minimum(1, 2 * table[["p_more", "p_fewer"]].min(axis=1))
    # Benjamini and Hochberg: of all p-values from this one on, the least times their number over how many are as small.
    rates = [min(p * 13 / (two_sided <= p).sum() for p in two_sided if p >= own) for own in two_sided]
    np.testing.assert_allclose(table["q"], rates)
    for model in ("degrees", "configuration", "er"):
        assert significance(graph, 5, null_model=model).null_model == model


def test_degrees_are_kept_so_that_paths_and_triangles_add_up():
    found = significance("builtin:karate", 30).motifs
    of = {motif["motif"]: motif for motif in found}
    wedges = of["path3"]["count"] + 3 * of["triangle"]["count"]
    assert of["path3"]["mean"] + 3 * of["triangle"]["mean"] == pytest.approx(wedges)


@pytest.mark.parametrize(
    ("graph", "arguments", "message"),
    [
        ("builtin:star", {}, "can be switched"),
        (networkx.complete_graph(6), {}, "can be switched"),
        (np.zeros((4, 4)), {}, "no edges"),
        ("builtin:karate", {"random": 1}, "^random: "),
        ("builtin:karate", {"null_model": "degree"}, "did you mean `degrees`"),
        ("builtin:karate", {"null_model": "reciprocity"}, "directed"),
    ],
)
def test_what_cannot_be_compared_is_refused(graph, arguments, message):
    with pytest.raises(ValueError, match=message):
        significance(graph, **arguments)


def test_repeated_edges_are_merged_and_that_is_said():
    arcs = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)]
    for repeated in (networkx.MultiGraph([*arcs, (0, 1), (0, 1)]), [*arcs, (0, 1), (0, 1)]):
        with pytest.warns(UserWarning, match="merged 2 duplicate edges"):
            found = significance(repeated, 10)
        assert found.motifs == significance(networkx.Graph(arcs), 10).motifs


def test_what_does_not_vary_has_no_z():
    complete = significance(networkx.complete_graph(6), 10, null_model="er").motifs
    for motif in complete:
        assert motif["z"] is None and motif["profile"] is None and motif["sd"] == 0
        assert motif["p_more"] == motif["p_fewer"] == 1


def test_comparisons_are_those_of_scipy():
    graphs = {
        "families": networkx.florentine_families_graph(),
        "random": networkx.gnp_random_graph(40, 0.15, seed=2),
        "scale-free": networkx.barabasi_albert_graph(60, 3, seed=1),
    }
    found = compare(graphs)
    chosen = [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11]
    matrices = []
    for graph in graphs.values():
        orbits = count_orbits(graph, by="node").counts[:, chosen]
        matrices.append(spearmanr(np.vstack([orbits, np.ones((1, 11))])).statistic)
    np.testing.assert_allclose(found.correlations, matrices, atol=1e-9)
    upper = np.triu_indices(11, 1)
    for (a, first), (b, second) in itertools.product(enumerate(matrices), repeat=2):
        distance = np.linalg.norm(first[upper] - second[upper])
        assert found.gcd11[a, b] == pytest.approx(distance, abs=1e-9)
    assert found.graphs == list(graphs) and len(found.to_pandas()) == 3
    np.testing.assert_allclose(found.by_orbit.mean(axis=2), found.agreement, atol=1e-12)
    np.testing.assert_allclose(found.by_orbit.prod(axis=2) ** (1 / 15), found.geometric, atol=1e-9)
    assert found.to_pandas()["agreement_triangle"].tolist() == found.by_orbit[:, :, 3][np.triu_indices(3, 1)].tolist()
    assert [found.orbits[k] for k in chosen] == found.correlated and found.orbits[3] == "triangle"
    assert compare(graphs, numbers=True).correlated == [str(k) for k in chosen]
    assert (np.diag(found.agreement) == 1).all() and (found.agreement <= 1).all()
    with pytest.raises(ValueError, match="^graphs: 1 given"):
        compare([graphs["families"]])


def sweep(matrix):
    """The least conductance of the spectral order, by dense linear algebra."""
    degrees = matrix.sum(axis=1)
    root = np.sqrt(degrees)
    _, vectors = np.linalg.eigh(np.eye(len(matrix)) - matrix / np.outer(root, root))
    order = np.argsort(vectors[:, 1] / root)
    best = np.inf
    for end in range(1, len(order)):
        inside, outside = order[:end], order[end:]
        cut = matrix[np.ix_(inside, outside)].sum()
        best = min(best, cut / min(degrees[inside].sum(), degrees[outside].sum()))
    return best


@pytest.mark.parametrize("motif", ["edge", "triangle", "clique4"])
def test_cuts_are_those_of_dense_linear_algebra(motif):
    graph = generate("sbm", nodes=60, degree=14, communities=2, mixing=0.1, random_state=3)
    matrix = motif_adjacency(graph, motif).toarray()
    keep = matrix.sum(axis=1) > 0
    matrix = matrix[keep][:, keep]
    found = motif_cluster(graph, motif)
    assert found.conductance == pytest.approx(sweep(matrix), abs=1e-6)
    assert found.conductance == pytest.approx(found.cut / min(found.volume, found.rest))


def test_clusters_around_nodes_have_their_ids():
    graph = networkx.relabel_nodes(networkx.barbell_graph(5, 3), str)
    assert sorted(motif_cluster(graph, "triangle", "0").nodes) == ["0", "1", "2", "3", "4"]
    with pytest.raises(ValueError, match="^node: the node is in no occurrence"):
        motif_cluster(graph, "triangle", "6")
    with pytest.raises(ValueError, match="^node: no node is called 'x'"):
        motif_cluster(graph, "triangle", "x")
    with pytest.raises(ValueError, match="does not occur"):
        motif_cluster(networkx.path_graph(5))


def test_names_and_numbers():
    table = list_motifs().to_pandas()
    assert (table["kind"] == "node orbit").sum() == 15 and (table["kind"] == "edge orbit").sum() == 13
    triads = table[table["kind"] == "triad"]
    assert set(networkx.triadic_census(networkx.DiGraph())) <= set(triads["name"])
    assert count_orbits("builtin:karate", motifs=["triangle", "path4"], numbers=True).names == ["E1", "G3"]
    assert count_orbits("builtin:karate", by="node", numbers=True).names == [str(orbit) for orbit in range(15)]
    found = significance("builtin:karate", 2, numbers=True).motifs
    assert [motif["motif"] for motif in found] == [f"G{k}" for k in range(1, 9)]
    of_role = roles("builtin:karate", numbers=True).roles[0]["motifs"]
    assert [motif["motif"] for motif in of_role] == [str(orbit) for orbit in range(15)]
    assert "E1  ·" in draw("builtin:karate", "triangle", numbers=True)
    embedded = HONE(preset="hone-p", motifs="triangle", config={"structure.numbers": True, "global.output": "local"})
    assert embedded.fit("builtin:karate").report_["columns"][0] == "E1_k1_0"
    named = features("builtin:karate", motifs=["triangle", "edge"], depth=0, numbers=True)
    assert named.columns == ["E1_degree", "edge_degree"]
    assert (motif_adjacency("builtin:karate", "G8") != motif_adjacency("builtin:karate", "clique4")).nnz == 0
