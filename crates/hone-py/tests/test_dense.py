"""The default preset against `dense`: the same in float64, from the documentation alone, on tiny and odd graphs.

A selection by default; about a hundred graphs with HONE_EVERY_CASE=1 (`./check --all`).
"""

import os
import warnings

import numpy as np
import pytest
from dense import comparing, exploring, graphs, motifs, proximity, structure
from dense.embedding import Embedding
from dense.placing import Placed
from hone_embed import HONE, Graph, HoneWarning, count_orbits, neighbours, roles, update_orbits

EVERY = "HONE_EVERY_CASE" in os.environ
#: Shapes of every kind, small enough for a test of seconds.
SELECTED = [
    "one edge and an isolated node",
    "matching and isolated nodes",
    "self-loops and duplicates",
    "diamond",
    "barbell 5-3",
    "lollipop",
    "bipartite 3-9",
    "grid 4 by 5",
    "ring of cliques",
    "clique and star apart",
    "path 9",
    "cycle 21",
    "clique 8",
    "star 10",
    "random 8",
    "random 30",
    "self-loops and duplicates, weights integers",
    "random 15, weights amounts",
    "one arc",
    "out-star",
    "transitive tournament",
    "arcs with self-loops and duplicates",
    "payments",
    "layers",
    "directed cycle 5",
    "directed random 20",
    "directed random 12, weights",
]
CASES = [case for case in graphs.everything() if EVERY or case.name in SELECTED]
UNDIRECTED = [case for case in CASES if not case.directed and not case.weighted]
DIRECTED = [case for case in CASES if case.directed and not case.weighted]


def named(cases):
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


def graph_of(case):
    edges, weights = case.edges()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HoneWarning)  # self-loops and duplicates
        return Graph(edges, nodes=case.nodes, directed=case.directed, edge_weight=weights)


def fit(case, dim=128):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HoneWarning)  # isolated nodes, fewer dimensions than columns
        return HONE(n_components=dim).fit(graph_of(case))


def disagreements(case, dim):
    fitted, vectors = Embedding(case.adjacency(), case.directed, dim), fit(case, dim).embedding_
    columns = fitted.proximity.shape[1]
    return comparing.proximity(fitted, vectors[:, :columns]) + comparing.structure(fitted, vectors[:, columns:])


@named(CASES)
def test_vectors(case):
    assert disagreements(case, 128) == []


@pytest.mark.parametrize("dim", [1, 2, 3, 8, 16, 28, 60])
@named([case for case in CASES if EVERY or case.name in ("grid 4 by 5", "random 30", "directed random 20")])
def test_fewer_columns(case, dim):
    assert disagreements(case, dim) == []


@pytest.mark.parametrize("dim", [16, 40])
@named([case for case in graphs.large() if EVERY or case.name in ("communities 400", "bipartite 420", "arcs 400")])
def test_iterated_factors(case, dim):
    """Where the factors are iterated: they are as accurate as the report says and nearly the best, and all else follows from
    them."""
    columns = dim - structure.width(dim)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HoneWarning)
        hone = HONE(n_components=dim, factors=True).fit(graph_of(case))
    (local,), (report,) = hone.factors_.local.values(), hone.report_["local"]
    U, sigma, V = (np.asarray(factor, dtype=float) for factor in (local.U, local.sigma, local.V))
    best = proximity.factors(case.adjacency(), case.directed, columns)
    if case.directed:
        S, sizes, vectors = best.S, best.sigma, best.U
        found = proximity.Directed(case.adjacency(), columns, (U, sigma, V))
    else:
        S, sizes, vectors = best.lazy * np.eye(len(U)) + (1 - best.lazy) * best.S, np.abs(best.walk), best.X
        sigma = np.cbrt(sigma)
        found = proximity.Undirected(case.adjacency(), columns, (U, sigma))
    apart = [np.linalg.norm(S @ V - U * sigma, axis=0), np.linalg.norm(S.T @ U - V * sigma, axis=0)]
    residual = (np.array(apart) / sigma).max()
    assert abs(report["residual"] - residual) < 1e-6 + 1e-4 * residual
    assert report["converged"] == (report["residual"] <= 1e-4)
    # All but a thousandth of what the best factors have, and the second half of these is the less certain one.
    assert (sigma < sizes * (1 + 1e-6)).all() and (sigma**2).sum() > 0.999 * (sizes**2).sum()
    inside = np.linalg.norm(U.T @ vectors, axis=0)
    assert inside[: len(inside) // 2].min() > 0.999
    if len(found.nodes) > 512:
        return  # the log window is one of a sample of its columns
    Z = found.Y @ proximity.reduction(found.Y, columns)
    Z *= np.sqrt(len(Z)) / np.linalg.norm(Z)
    ours = hone.embedding_[:, :columns].astype(float)
    # Leading vectors of the window come from power iterations, which tell close values apart less well.
    assert comparing.largest(ours @ ours.T, Z @ Z.T) < (0.1 if found.cut < 0.01 else 1e-3)


def by_edge(counts, shape):
    """Counts of rows of edges as a dense array: one layer per column."""
    out = np.zeros((*shape, counts.counts.shape[1]))
    source, target = np.asarray(counts.keys).reshape(-1, 2).T
    out[source, target] = counts.counts
    return out


@named(UNDIRECTED)
def test_counts(case):
    adjacency, graph = case.adjacency(), graph_of(case)
    edges = by_edge(count_orbits(graph), adjacency.shape)
    assert (edges + edges.transpose(1, 0, 2) == motifs.edge_orbits(adjacency)).all()
    assert (count_orbits(graph, by="node").counts == motifs.node_orbits(adjacency)).all()


@named(DIRECTED)
def test_triads(case):
    counts = count_orbits(graph_of(case), motifs="triad-orbits")
    found, expected = by_edge(counts, (case.nodes, case.nodes)), motifs.triad_orbits(case.adjacency())
    assert sorted(counts.names) == sorted(expected)
    for layer, name in enumerate(counts.names):
        assert (found[:, :, layer] == expected[name]).all(), name


@named(UNDIRECTED)
def test_counts_after_a_change(case):
    adjacency, graph = case.adjacency(), graph_of(case)
    removed = [tuple(int(end) for end in np.argwhere(adjacency)[0])]
    added = [(case.nodes, removed[0][0]), (case.nodes, case.nodes - 1)]
    counts = update_orbits(graph, count_orbits(graph), added=added, removed=removed)
    changed = np.pad(adjacency, (0, 1))
    for pairs, value in [(removed, 0), (added, 1)]:
        for a, b in pairs:
            changed[a, b] = changed[b, a] = value
    found = by_edge(counts, changed.shape)
    assert (found + found.transpose(1, 0, 2) == motifs.edge_orbits(changed)).all()


@named([case for case in CASES if case.nodes > 7])
def test_new_nodes(case):
    last = 1 + case.nodes % 2  # an odd number of shared nodes
    small = case.without(last)
    if not small.adjacency().any():
        pytest.skip("no edge is left")
    hone, fitted = fit(small), Embedding(small.adjacency(), case.directed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HoneWarning)
        found = hone.transform(graph_of(case))
    ours = Placed(fitted, case.adjacency(), np.arange(small.nodes))
    assert comparing.placed(fitted, ours, hone.embedding_, found) == []


@named([case for case in graphs.undirected() if case.name in ("random 61", "random bipartite 61")])
def test_changed_edges(case):
    """Nodes with other edges move, all others stay, where the graph as a whole has changed little."""
    adjacency = case.adjacency()
    removed = tuple(int(end) for end in np.argwhere(adjacency)[0])
    added = next((int(a), int(b)) for a, b in np.argwhere(adjacency == 0) if a < b)
    hone, fitted = fit(case), Embedding(adjacency)
    before = hone.embedding_.copy()
    hone.update(added=[added], removed=[removed])
    changed = adjacency.copy()
    for (a, b), value in [(removed, 0), (added, 1)]:
        changed[a, b] = changed[b, a] = value
    ours = Placed(fitted, changed, np.arange(case.nodes))
    assert abs(hone.report_["like"]["views"][0]["residual"] - ours.residual()) < 1e-6
    assert ours.residual() < 0.15, "the factors would be refined"
    assert comparing.placed(fitted, ours, before, hone.embedding_) == []


@pytest.mark.parametrize("by", ["proximity", "structure", "all"])
@named([case for case in CASES if EVERY or case.name in ("ring of cliques", "matching and isolated nodes", "payments")])
def test_similar_nodes(case, by):
    hone = fit(case)
    vectors = hone.embedding_.astype(float)
    expected = exploring.similarities(vectors[:, :112], vectors[:, 112:], by)
    found = neighbours(hone, case.nodes - 1, by=by)
    for row, (others, similar) in enumerate(zip(found.rows, found.similarities)):
        assert sorted(others) == [other for other in range(case.nodes) if other != row]
        assert comparing.largest(similar, expected[row, others]) < 1e-5


@named([case for case in CASES if not case.weighted])
def test_quantities_of_roles(case):
    """What the reasons say is so, memberships are shares, and links between roles are relative to degrees."""
    arcs = case.adjacency()
    expected, found = exploring.quantities(arcs), roles(graph_of(case))
    for node in range(case.nodes):
        for reason in found.reasons(node)["reasons"]:
            values = expected[reason["ratio"]]
            assert np.allclose([reason["value"], reason["average"]], [values[node], np.nanmean(values)], rtol=1e-6)
    memberships = found.memberships
    assert np.allclose(memberships.sum(1), 1, atol=1e-5)
    chosen = memberships[np.arange(case.nodes), found.assignments]
    assert (memberships.max(1) - chosen < 1e-6).all()
    assert np.allclose(found.affinity, exploring.affinity(arcs, found.assignments), atol=1e-9)
