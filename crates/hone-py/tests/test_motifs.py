"""Counts against networkx and brute force; motif matrices against explicit ones and scipy's svds."""

import dataclasses
import itertools
import sys
import warnings
from xml.etree import ElementTree

import networkx
import numpy as np
import pandas
import pytest
import scipy.sparse
from hone_embed import (
    HONE,
    Graph,
    HoneWarning,
    OrbitCounts,
    count_orbits,
    draw,
    generate,
    motif_adjacency,
    motif_matrix,
    roles,
    update_orbits,
)
from scipy.sparse.linalg import svds

#: Graphlets by their degree sequences, which tell them apart up to four nodes.
GRAPHLETS = {
    (1, 1): "edge",
    (1, 1, 2): "path3",
    (2, 2, 2): "triangle",
    (1, 1, 2, 2): "path4",
    (1, 1, 1, 3): "star4",
    (2, 2, 2, 2): "cycle4",
    (1, 2, 2, 3): "tailed-triangle",
    (2, 2, 3, 3): "diamond",
    (3, 3, 3, 3): "clique4",
}


def brute_force(graph):
    """Number of induced occurrences of each graphlet on each edge, by looking at all sets of nodes."""
    counts = {}
    for size in (2, 3, 4):
        for nodes in itertools.combinations(graph, size):
            part = graph.subgraph(nodes)
            if networkx.is_connected(part):
                name = GRAPHLETS[tuple(sorted(degree for _, degree in part.degree()))]
                for u, v in part.edges():
                    key = (min(u, v), max(u, v), name)
                    counts[key] = counts.get(key, 0) + 1
    return counts


@pytest.fixture(params=["sparse", "dense", "clustered"])
def graph(request):
    if request.param == "clustered":
        return networkx.relaxed_caveman_graph(4, 5, 0.2, seed=2)
    return networkx.gnp_random_graph(18, {"sparse": 0.15, "dense": 0.5}[request.param], seed=1)


def test_edge_counts_equal_brute_force(graph):
    truth = brute_force(graph)
    table = count_orbits(graph, motifs="graphlets").to_pandas()
    assert len(table) == graph.number_of_edges()
    for row in table.to_dict("records"):
        u, v = row.pop("source"), row.pop("target")
        assert u < v and graph.has_edge(u, v)
        assert row == {name: truth.get((u, v, name), 0) for name in row}
    totals = count_orbits(graph, motifs="graphlets")
    edges = {"edge": 1, "path3": 2, "triangle": 3, "path4": 3, "star4": 3, "cycle4": 4, "tailed-triangle": 4}
    edges.update({"diamond": 5, "clique4": 6})
    for name, column in zip(totals.names, totals.counts.T):
        assert column.sum() // edges[name] == sum(n for key, n in truth.items() if key[2] == name) // edges[name]


def test_triangles_equal_networkx(karate):
    nodes = count_orbits(karate, by="node").to_pandas()
    assert nodes["triangle"].to_dict() == networkx.triangles(karate)
    assert nodes.index.name == "id" and nodes.shape == (34, 15)
    edges = count_orbits(karate)
    assert edges.counts[:, edges.names.index("triangle")].sum() == sum(networkx.triangles(karate).values())
    assert edges.counts.dtype == np.uint64 and edges.keys.shape == (78, 2)


def test_totals_equal_brute_force(graph):
    truth, edges = brute_force(graph), dict(zip(GRAPHLETS.values(), (1, 2, 3, 3, 3, 4, 4, 5, 6)))
    table = count_orbits(graph, by="total", motifs="graphlets")
    assert table.keys.tolist() == ["total"] and table.counts.shape == (1, 9)
    for name, count in zip(table.names, table.counts[0].tolist()):
        assert count == sum(number for key, number in truth.items() if key[2] == name) // edges[name]
    arcs = networkx.gnp_random_graph(20, 0.2, seed=1, directed=True)
    triads = count_orbits(arcs, by="total", motifs="triads")
    census = networkx.triadic_census(arcs)
    found = dict(zip(triads.names, triads.counts[0].tolist()))
    assert all(found[name] == number for name, number in census.items() if name in found) and len(found) >= 15


def test_directions_that_are_ignored_are_reported():
    arcs = networkx.DiGraph([(0, 1), (1, 2), (0, 2)])
    for by in ("edge", "node", "total"):
        with pytest.warns(HoneWarning, match="ignore the directions of arcs"):
            count_orbits(arcs, by=by)
    with warnings.catch_warnings():
        warnings.simplefilter("error", HoneWarning)
        count_orbits(arcs, motifs="triads")


def test_orbits_add_up_to_graphlets(graph):
    orbits, graphlets = (count_orbits(graph, motifs=motifs).to_pandas() for motifs in ("all", "graphlets"))
    assert (orbits["path4-end"] + orbits["path4-mid"] == graphlets["path4"]).all()
    assert (orbits["tailed-tail"] + orbits["tailed-near"] + orbits["tailed-far"] == graphlets["tailed-triangle"]).all()


def test_ids_come_back():
    table = count_orbits([("x", "y"), ("y", "z"), ("z", "x")]).to_pandas()
    assert set(map(tuple, table[["source", "target"]].to_numpy())) == {("x", "y"), ("x", "z"), ("y", "z")}
    assert list(count_orbits([("x", "y")], by="node").to_pandas().index) == ["x", "y"]


@pytest.mark.parametrize(
    ("field", "bad"),
    [("by", {"by": "arc"}), ("motifs", {"motifs": "tringle"})]
    + [("motifs", {"by": "node", "motifs": "size3"})],
)
def test_wrong_requests_are_refused(field, bad):
    with pytest.raises(ValueError, match=f"^{field}: "):
        count_orbits([(0, 1)], **bad)


def test_adjacency_holds_the_counts(graph):
    truth = brute_force(graph)
    nodes = list(graph)
    for motif in ("edge", "triangle", "path4", "cycle4", "clique4"):
        matrix = motif_adjacency(graph, motif).toarray()
        for u, v in itertools.product(nodes, nodes):
            expected = truth.get((min(u, v), max(u, v), motif), 0)
            assert matrix[nodes.index(u), nodes.index(v)] == expected
        most = motif_adjacency(graph, motif, delta=3).toarray()
        np.testing.assert_array_equal(most, np.where(matrix >= 3, matrix, 0))


def test_adjacency_of_directed_and_weighted_graphs(random_matrix):
    arcs = random_matrix[1].copy()
    arcs.data = np.arange(1.0, arcs.nnz + 1)
    either = motif_adjacency(Graph(arcs, directed=False), "triangle").toarray()
    directed = motif_adjacency(arcs, "triangle").toarray()
    np.testing.assert_array_equal(directed, np.where(arcs.toarray() > 0, either, 0))
    weighted = motif_adjacency(arcs, "triangle", weights=True).toarray()
    np.testing.assert_array_equal(weighted, directed * arcs.toarray())


def explicit(w, psi, k, order):
    """The matrix by its definition, dense and in double precision."""

    def function(a):
        d = a.sum(axis=1)
        inverse = np.divide(1, d, out=np.zeros_like(d), where=d > 0)
        root, some = np.sqrt(inverse), np.diag((d > 0).astype(float))
        return {
            "w": a,
            "p": np.diag(inverse) @ a,
            "l": np.diag(d) - a,
            "l-norm": some - np.diag(root) @ a @ np.diag(root),
            "l-rw": some - np.diag(inverse) @ a,
            "a-norm": np.diag(root) @ a @ np.diag(root),
        }[psi]

    power = np.linalg.matrix_power
    first = order == "psi-of-power" or (order == "auto" and psi not in ("p", "a-norm"))
    return function(power(w, k)) if first else power(function(w), k)


@pytest.mark.parametrize("psi", ["w", "p", "l", "l-norm", "l-rw", "a-norm"])
@pytest.mark.parametrize("order", ["auto", "psi-of-power", "power-of-psi"])
@pytest.mark.parametrize("directed", [False, True])
def test_matrices_equal_explicit_ones(random_matrix, psi, order, directed):
    matrix = random_matrix[int(directed)]
    rng = np.random.default_rng(0)
    for motif, k in (("edge", 1), ("edge", 3), ("triangle", 2), ("clique4", 2)):
        w = motif_adjacency(matrix, motif).toarray()
        truth = explicit(w, psi, k, order)
        operator = motif_matrix(matrix, motif, psi, k, order=order)
        assert operator.shape == truth.shape
        size = max(abs(truth).max(), 1e-30)
        np.testing.assert_allclose(operator @ np.eye(40), truth, atol=2e-6 * 40 * size)
        x = rng.normal(size=40)
        for found, expected in (
            (operator @ x, truth @ x),
            (operator.T @ x, truth.T @ x),
            (operator.rmatvec(x), truth.T @ x),
        ):
            np.testing.assert_allclose(found, expected, atol=1e-5 * 40 * size)


def test_svds_of_the_operator_and_of_the_explicit_matrix_agree(karate):
    w = motif_adjacency(karate, "triangle").toarray()
    for psi, k in (("w", 1), ("p", 2), ("l-norm", 1)):
        truth = np.sort(svds(scipy.sparse.csr_array(explicit(w, psi, k, "auto")), k=5, return_singular_vectors=False))
        found = np.sort(svds(motif_matrix(karate, "triangle", psi, k), k=5, return_singular_vectors=False))
        np.testing.assert_allclose(found, truth, rtol=1e-4)


def test_the_estimator_factors_these_matrices(karate):
    """Singular values in the report are those scipy finds on the explicit matrix."""
    hone = HONE("hone-p", n_components=8, n_local_components=6, motifs=["triangle"], n_steps=2).fit(karate)
    w = motif_adjacency(karate, "triangle").toarray()
    for facts in hone.report_["local"]:
        truth = np.sort(svds(scipy.sparse.csr_array(explicit(w, "p", facts["step"], "auto")), k=6)[1])[::-1]
        np.testing.assert_allclose(facts["singular_values"][:6], truth, rtol=1e-4)


def apart(sigma, rank):
    """Ranges of positions whose singular values are well apart from all others; ties across the cut belong to none."""
    gaps = np.flatnonzero(-np.diff(sigma) > 1e-4 * sigma[0]) + 1
    edges = [0, *gaps[gaps <= rank].tolist()]
    return list(zip(edges, edges[1:]))


@pytest.mark.parametrize("seed", range(24))
def test_local_embeddings_equal_lapack(seed):
    """Values and spaces of U for any motif, matrix, order and number of steps, on graphs of 5 to 500 nodes."""
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(*((257, 500) if seed % 10 == 0 else (60, 257) if seed % 4 == 1 else (5, 60))))
    upper = np.triu(rng.random((nodes, nodes)) < min(0.6, rng.uniform(1.5, 9) / nodes), 1)
    directed = bool(rng.random() < 0.4)
    matrix = upper | (upper.T & (rng.random((nodes, nodes)) < 0.5 if directed else True))
    graph = Graph(scipy.sparse.csr_array(matrix.astype(float)), directed=directed)
    psi = str(rng.choice(["w", "p", "l", "l-norm", "l-rw"]))
    order = str(rng.choice(["auto", "psi-of-power", "power-of-psi"]))
    steps, dim = int(rng.integers(1, 7 if nodes < 60 else 4)), int(rng.choice([3, 16, 40]))
    config = {"psi": psi, "order": order, "steps": steps, "local.dim": dim, "global.output": "local"}
    hone = HONE("hone-p", config=config, random_state=seed).fit(graph)
    columns = dict(zip(hone.get_feature_names_out(), np.asarray(hone.embedding_).T))
    weights = {}
    for facts in hone.report_["local"]:
        motif, k = facts["motif"], facts["step"]
        if motif not in weights:
            weights[motif] = motif_adjacency(graph, motif).toarray().astype(float)
        u, sigma, _ = np.linalg.svd(explicit(weights[motif], psi, k, order))
        found = np.array(facts["singular_values"]) / facts["scale"]
        rank = int((sigma[:dim] > 2e-6 * sigma[0]).sum()) if sigma[0] > 0 else 0
        what = f"{nodes} nodes, directed {directed}, {motif}, {psi}, {order}, k {k}, dim {dim}"
        most = max(sigma[0], 1e-30)
        near = np.abs(sigma[: found.size] - found[: sigma.size])
        # Values below 2e-6 of the largest count as zero; larger matrices are iterated on, to the tolerance.
        close = 5e-6 if facts["nodes"] <= 256 else 1e-4
        assert (near <= close * most).all(), f"{what}: {found} {sigma[:dim]}"
        assert facts["converged"] == (facts["residual"] <= 1e-4), what
        own = np.array([columns[f"{motif}_k{k}_{j}"] for j in range(dim)]).T
        for first, last in apart(sigma, rank) if rank else ():
            overlap = np.linalg.svd(u[:, first:last].T @ own[:, first:last])[1]
            gap = min([abs(sigma[i] - sigma[i + 1]) for i in (first - 1, last - 1) if 0 <= i < nodes - 1], default=most)
            assert overlap.min() > 1 - max(1e-5, (2 * close * most / gap) ** 2), f"{what}: {first} to {last}, {overlap}"


def test_wrong_matrices_are_refused(karate):
    for arguments, message in (
        (("triangle", "q", 1), "`q` is not among its values; use one of w, p"),
        (("triangle", "p", 0), "k: 0 is not between 1 and 16"),
        (("tringle", "p", 1), "`tringle` is not a motif; did you mean `triangle`"),
    ):
        with pytest.raises(ValueError, match=message):
            motif_matrix(karate, *arguments)
    with pytest.raises(ValueError, match="dimension mismatch|x:"):
        motif_matrix(karate, "edge") @ np.ones(3)


def test_generated_graphs_repeat():
    first, again, other = (generate("er", nodes=100, degree=6, random_state=seed) for seed in (1, 1, 2))
    assert (first.adjacency() != again.adjacency()).nnz == 0
    assert (first.adjacency() != other.adjacency()).nnz > 0
    for model, parameters in (
        ("ba", {"nodes": 50, "degree": 4}),
        ("rmat", {"nodes": 64, "degree": 4}),
        ("ring-of-cliques", {"cliques": 4, "size": np.int64(5)}),
        ("barbell", {"size": 4, "path": 2}),
    ):
        assert networkx.from_scipy_sparse_array(generate(model, **parameters).adjacency()).number_of_edges() > 0
    for model, parameters in (("er", {"nodes": 10}), ("er", {"nodes": 0, "degree": 1}), ("es", {})):
        with pytest.raises(ValueError, match="degree|nodes|es"):
            generate(model, **parameters)


def test_pictures_show_ids_and_are_well_formed(tmp_path):
    graph = networkx.relabel_nodes(networkx.karate_club_graph(), {0: "<a & b>", 33: '"'})
    figure = draw(graph, ["edge", "clique4"], n_jobs=2)
    assert figure == draw(graph, "edge,clique4", n_jobs=1) == figure._repr_svg_()
    root = ElementTree.fromstring(figure)
    titles = [title.text for title in root.iter("{http://www.w3.org/2000/svg}title")]
    assert "<a & b>: 16" in titles and '": 17' in titles
    figure.save(tmp_path / "f.svg")
    with pytest.raises(FileExistsError):
        figure.save(tmp_path / "f.svg")
    # A link stays, and so does the file until the new one is complete.
    (tmp_path / "link.svg").symlink_to("f.svg")
    draw(graph, "edge").save(tmp_path / "link.svg", overwrite=True)
    assert (tmp_path / "link.svg").is_symlink() and (tmp_path / "f.svg").read_text() == draw(graph, "edge")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["f.svg", "link.svg"]
    with pytest.raises(ValueError, match="`tringle` is not a motif"):
        draw(graph, "tringle")


def random_digraphs():
    """Some hundred directed graphs, sparse and dense, with and without mutual arcs."""
    rng = np.random.default_rng(7)
    for trial in range(200):
        nodes = int(rng.integers(3, 30))
        yield networkx.gnp_random_graph(nodes, float(rng.uniform(0.02, 0.9)), seed=trial, directed=True)


def triad_totals(graph, subgraph=False):
    found = count_orbits(graph, motifs="triads", subgraph=subgraph)
    sums = dict(zip(found.names, found.counts.sum(axis=0, dtype=object)))
    arcs = {"one-way": 1, "mutual": 2, "021D": 2, "021U": 2, "021C": 2, "111D": 3, "111U": 3, "030T": 3, "030C": 3,
            "201": 4, "120D": 4, "120U": 4, "120C": 4, "210": 5, "300": 6}  # fmt: skip
    return {name: sums[name] // arcs[name] for name in found.names}


def test_triads_are_those_of_networkx():
    for graph in random_digraphs():
        found = triad_totals(graph)
        census = networkx.triadic_census(graph)
        for name, total in census.items():
            if name not in ("003", "012", "102"):
                assert found[name] == total, f"{name} of {networkx.to_edgelist(graph)}"
        mutual = sum(graph.has_edge(v, u) for u, v in graph.edges) // 2
        assert (found["mutual"], found["one-way"]) == (mutual, graph.number_of_edges() - 2 * mutual)


def test_triads_are_those_of_igraph():
    igraph = pytest.importorskip("igraph")
    for graph in random_digraphs():
        other = igraph.Graph(graph.number_of_nodes(), list(graph.edges), directed=True).triad_census()
        found = triad_totals(graph)
        for name in (name for name in found if name not in ("one-way", "mutual")):
            assert found[name] == getattr(other, "t" + name)


def test_motif_matrices_are_the_structural_ones():
    """On arcs W is the motif adjacency matrix of Benson, Gleich and Leskovec, as products of one-way and mutual arcs."""
    for trial in range(20):
        graph = networkx.gnp_random_graph(25, 0.2 + 0.02 * trial, seed=trial, directed=True)
        a = networkx.to_numpy_array(graph)
        b = a * a.T
        u = a - b
        none = ((a + a.T) == 0) & ~np.eye(len(a), dtype=bool)
        c1 = (u @ u) * u.T
        c2 = (b @ u) * u.T + (u @ b) * u.T + (u @ u) * b
        c3 = (b @ b) * u + (b @ u) * b + (u @ b) * b
        c5 = (u @ u) * u + (u @ u.T) * u + (u.T @ u) * u
        c6 = (u @ b) * u
        c7 = (b @ u) * u
        c8 = (u @ none) * u
        c9 = u * (none @ u.T) + u * (u.T @ none)
        c10 = u * (none @ u)
        c11 = b * (u @ none) + u * (b @ none)
        c12 = b * (none @ u) + u * (none @ b)
        expected = {
            "M1": c1 + c1.T, "M2": c2 + c2.T, "M3": c3 + c3.T, "M4": (b @ b) * b, "M5": c5 + c5.T,
            "M6": c6 + c6.T + (u.T @ u) * b, "M7": c7 + c7.T + (u @ u.T) * b, "M8": c8 + c8.T,
            "M9": c9 + c9.T, "M10": c10 + c10.T, "M11": c11 + c11.T, "M12": c12 + c12.T,
            "M13": (b @ none) * b + ((b @ none) * b).T,
        }  # fmt: skip
        for motif, matrix in expected.items():
            assert (motif_adjacency(graph, motif).toarray() == matrix * (a > 0)).all(), motif


def test_subgraphs_hold_the_induced_ones():
    loop = networkx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 0)])
    assert triad_totals(loop)["120C"] == 1 and triad_totals(loop)["030C"] == 0
    assert triad_totals(loop, subgraph=True)["030C"] == 1 and triad_totals(loop, subgraph=True)["one-way"] == 4
    for arguments, message in (
        ({"motifs": "triads", "by": "node"}, "motifs"),
        ({"subgraph": True}, "subgraph"),
        ({"subgraph": True, "by": "node"}, "subgraph"),
    ):
        with pytest.raises(ValueError, match=message):
            count_orbits(loop, **arguments)
    with pytest.raises(ValueError, match="undirected"):
        count_orbits(networkx.path_graph(3), motifs="triads")


def by_edge(table):
    """Counts of every edge, whatever its place and order."""
    return {frozenset(key): tuple(row) for key, row in zip(table.keys.tolist(), table.counts.tolist())}


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_updated_counts_are_those_of_the_changed_graph(seed, named):
    rng = np.random.default_rng(seed)
    name = (lambda i: f"n{i}") if named else int
    pairs = [(name(u), name(v)) for u in range(14) for v in range(u)]
    there, changes = rng.random(len(pairs)) < 0.4, rng.random(len(pairs)) < 0.2
    old = [pair for pair, edge in zip(pairs, there) if edge]
    added = [pair[::-1] for pair, edge, change in zip(pairs, there, changes) if change and not edge]
    added.append((name(3), name(40)))
    removed = [pair for pair, edge, change in zip(pairs, there, changes) if change and edge]
    graph = Graph(old)
    expected = by_edge(count_orbits([pair for pair in old if pair not in removed] + added))
    for counts in (count_orbits(graph).to_pandas(), count_orbits(graph)):
        found = update_orbits(graph, counts, added=added, removed=removed)
        assert by_edge(found) == expected
        assert found.counts.dtype == np.uint64
    again = update_orbits(graph, count_orbits(graph))
    assert by_edge(again) == by_edge(count_orbits(graph))


def test_changes_that_make_no_sense():
    path = [(0, 1), (1, 2)]
    counts = count_orbits(path)
    for changes, words in [
        ({"removed": [(0, 2)]}, r"removed: the graph has no edge \(0, 2\)"),
        ({"removed": [(0, 7)]}, "removed: .* has the node 7"),
        ({"removed": [(0, 1)], "added": [(1, 0)]}, "to be added as well"),
    ]:
        with pytest.raises(ValueError, match=words), warnings.catch_warnings():
            warnings.simplefilter("ignore", HoneWarning)
            update_orbits(path, counts, **changes)
    with pytest.warns(HoneWarning, match="1 edge is in the graph already"):
        update_orbits(path, counts, added=[(0, 1)])
    with pytest.raises(ValueError, match="by node"):
        update_orbits(path, count_orbits(path, by="node"), added=[(0, 2)])
    with pytest.raises(ValueError, match="no column"):
        update_orbits(path, count_orbits(path, motifs="size3"), added=[(0, 2)])
    with pytest.raises(ValueError, match="counts of this graph"):
        update_orbits([(0, 1), (0, 2)], counts, added=[(1, 2)])
    with pytest.raises(ValueError, match="directed"):
        update_orbits(Graph(path, directed=True), counts, added=[(0, 2)])


def test_counts_as_data_frames(monkeypatch):
    """Also as those of the graph before a change; pandas is needed for nothing else."""
    pairs = [(0, 1), (1, 2)]
    table = pandas.DataFrame(pairs, columns=["source", "target"])
    found = update_orbits(table, count_orbits(table).to_pandas(), added=[(0, 2)])
    assert isinstance(found, OrbitCounts) and found.to_pandas()["triangle"].tolist() == [1, 1, 1]
    assert count_orbits(pairs, by="node").to_pandas().index.tolist() == [0, 1, 2]
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(count_orbits(pairs), OrbitCounts)
    with pytest.raises(ImportError):
        count_orbits(pairs).to_pandas()


def test_estimates_and_directions_as_in_the_command():
    graph = generate("ba", nodes=400, degree=16)
    exact, estimated = (count_orbits(graph, by="total", sample=sample) for sample in ("exact", 8))
    column = exact.names.index("triangle")
    assert (exact.counts != estimated.counts).any()
    assert float(estimated.counts[0, column]) == pytest.approx(float(exact.counts[0, column]), rel=0.5)
    for by in ("edge", "node", "total"):
        again = [count_orbits(graph, by=by, sample="cap=8", random_state=seed).counts for seed in (3, 3, 4)]
        assert (again[0] == again[1]).all() and (again[0] != again[2]).any()
        assert (count_orbits(graph, by=by, sample=1024).counts == count_orbits(graph, by=by).counts).all()
    with pytest.raises(ValueError, match="^sample: "):
        count_orbits(graph, sample="some")
    arcs = [(0, 1), (1, 2), (2, 0)]
    assert count_orbits(arcs, by="total", motifs="030C", directed=True).counts[0, 0] == 1
    with pytest.raises(ValueError, match="directed"):
        count_orbits(arcs, by="total", motifs="030C")
    found = roles(graph, 3, sample=8, random_state=1)
    assert len(found.names) == 3 and repr(found).startswith("Roles(")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.names = []


def test_a_column_transformer_keeps_the_index_of_its_table():
    from sklearn.compose import ColumnTransformer

    edges = np.asarray([(a, (a * k + 1) % 40) for a in range(40) for k in (1, 3)])
    matrix = np.zeros((40, 40))
    matrix[edges[:, 0], edges[:, 1]] = matrix[edges[:, 1], edges[:, 0]] = 1
    np.fill_diagonal(matrix, 0)
    names = [f"n{k}" for k in range(40)]
    table = pandas.DataFrame(matrix, index=names, columns=names).assign(age=np.arange(40.0))
    both = ColumnTransformer([("graph", HONE(n_components=8), names), ("age", "passthrough", ["age"])])
    made = both.set_output(transform="pandas").fit_transform(table)
    assert made.index.tolist() == table.index.tolist() and made.shape == (40, 9)
    assert made["age__age"].tolist() == table["age"].tolist()
    assert both.transform(table).equals(made)


def test_motifs_that_are_no_names():
    for motifs in ([3], 3, ["edge", 3]):
        for count in (count_orbits, draw):
            with pytest.raises(ValueError, match="motifs: 3 is not a name; .*'G2'"):
                count("builtin:karate", motifs=motifs)
    assert count_orbits("builtin:karate", motifs=["G3"]).names == ["path4"]
