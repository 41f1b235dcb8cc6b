"""Link prediction against scikit-learn's own classifier and measure."""

import networkx
import numpy as np
import pandas
import pytest
import scipy.sparse
from hone_embed import (
    HONE,
    Graph,
    HoneWarning,
    NodeVectors,
    evaluate_link_prediction,
    evaluate_nodes,
    generate,
    link_split,
    methods,
    tune,
)
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score


@pytest.fixture(scope="module")
def graph():
    return generate("sbm", nodes=200, degree=16, communities=4, mixing=0.1, random_state=2)


def features(vectors, pairs):
    return (vectors[pairs[:, 0]] + vectors[pairs[:, 1]]) / 2


def test_splits_hide_what_they_remove(graph):
    split = link_split(graph, removed=0.3, random_state=4)
    whole, left = graph.adjacency().toarray(), split.graph.adjacency().toarray()
    pairs = np.concatenate([split.train_pairs, split.test_pairs])
    labels = np.concatenate([split.train_labels, split.test_labels])
    np.testing.assert_array_equal(whole[pairs[:, 0], pairs[:, 1]] > 0, labels)
    assert not left[pairs[:, 0], pairs[:, 1]].any()
    assert labels.sum() == round(0.3 * graph.n_edges) and len(labels) == 2 * labels.sum()
    assert len(split.train_labels) == round(0.1 * len(labels))
    assert list(split.graph.node_ids) == list(graph.node_ids)
    arcs = networkx.gnp_random_graph(60, 0.08, seed=3, directed=True)
    turned = {}
    for negatives in ("random", "reversed", "mixed", None):
        split = link_split(arcs, negatives=negatives)
        pairs = np.vstack([split.train_pairs, split.test_pairs])[~np.r_[split.train_labels, split.test_labels]]
        turned[negatives] = np.mean([arcs.has_edge(int(v), int(u)) for u, v in split.graph.node_ids[pairs]])
    assert turned["reversed"] == 1 and turned["random"] < 0.3 and 0.4 < turned["mixed"] < 0.7, turned
    assert turned[None] == turned["mixed"]
    with pytest.raises(ValueError, match="negatives"):
        link_split(graph, negatives="reversed")
    assert list(link_split(Graph([("a", "b"), ("b", "c"), ("c", "d"), ("d", "e")])).graph.node_ids) == list("abcde")


def test_auc_equals_that_of_scikit_learn(graph):
    """The same split, features, C and classifier, but all of it scikit-learn's."""
    hone = HONE("hone-p", n_components=32)
    for row in evaluate_link_prediction(graph, hone, seeds=[1, 2]).rows:
        split = link_split(graph, random_state=row["seed"])
        vectors = HONE("hone-p", n_components=32, random_state=row["seed"]).fit_transform(split.graph)
        train, test = features(vectors, split.train_pairs), features(vectors, split.test_pairs)
        scale = np.sqrt((train.astype(float) ** 2).mean())
        model = LogisticRegression(C=row["C"], tol=1e-8, max_iter=10_000).fit(train / scale, split.train_labels)
        scores = model.decision_function(test / scale)
        assert abs(roc_auc_score(split.test_labels, scores) - row["auc"]) < 5e-3
        assert abs(average_precision_score(split.test_labels, scores) - row["average_precision"]) < 5e-3


def test_tables_have_a_row_a_method_seed_and_operator(graph):
    names = ["hone", "degree", "common-neighbors", "random:dim=8"]
    table = evaluate_link_prediction(graph, names, seeds=2, operators=["mean", "hadamard"]).to_pandas()
    assert set(table["method"]) == set(names) and set(table["seed"]) == {0, 1}
    assert len(table) == 2 * (3 * 2 + 1)
    means = table.groupby("method")["auc"].mean()
    assert means["hone"] > means["random:dim=8"] + 0.1
    assert set(names) - {"random:dim=8"} <= set(methods())


def test_labels_of_nodes_are_predicted():
    """By position: one label per node, several, and those of some nodes by their ids, with the same figures."""
    graph = generate("sbm", nodes=150, degree=12, communities=3, mixing=0.1, random_state=3)
    labels = (graph.node_ids // 50).tolist()
    scores = evaluate_nodes(graph, labels, ["hone:dim=16", "random:dim=4"], seeds=2, shares=[0.2, 0.5])
    table = scores.to_pandas()
    assert len(table) == 2 * 2 * 2 and set(table["share"]) == {0.2, 0.5} and set(table["seed"]) == {0, 1}
    means = table.groupby("method")["micro_f1"].mean()
    assert means["hone:dim=16"] > 0.9 and means["random:dim=4"] < 0.6
    assert (table["accuracy"] == table["micro_f1"]).all(), "every node has one label"
    by_id = evaluate_nodes(graph, dict(enumerate(labels)), ["hone:dim=16"], seeds=2, shares=[0.2, 0.5])
    figures = ["micro_f1", "macro_f1", "C"]
    first = table[table["method"] == "hone:dim=16"][figures].reset_index(drop=True)
    pandas.testing.assert_frame_equal(by_id.to_pandas()[figures], first)
    some = {node: label for node, label in enumerate(labels) if node % 2}
    several = [[label, "odd"] if node % 2 else [label] for node, label in enumerate(labels)]
    for given in (some, several):
        assert len(evaluate_nodes(graph, given, HONE(n_components=8), seeds=1, shares=[0.5]).rows) == 1
    for wrong, message in (({999: 1}, "labels: 999 is not a node"), ([1, 2], "labels: 2 values for 150 nodes"), ([1] * 150, "label 1")):
        with pytest.raises(ValueError, match=message):
            evaluate_nodes(graph, wrong, seeds=1)
    with pytest.raises(ValueError, match="shares: 1.5"):
        evaluate_nodes(graph, labels, seeds=1, shares=[1.5])


def test_a_method_that_fails_is_left_out(graph):
    with pytest.warns(HoneWarning, match="grarep:memory=1000 failed and has no results: .*memory"):
        table = evaluate_link_prediction(graph, ["degree", "grarep:memory=1000"], seeds=2).to_pandas()
    failed = table["method"] == "grarep:memory=1000"
    assert table.loc[failed, "auc"].isna().all() and table.loc[failed, "failure"].str.contains("memory").all()
    assert table.loc[~failed, "auc"].notna().all() and table.loc[~failed, "failure"].isna().all()
    with pytest.raises(MemoryError):
        evaluate_link_prediction(graph, "grarep:memory=1000", seeds=1)


def test_results_are_kept(graph, tmp_path):
    def run():
        return evaluate_link_prediction(graph, ["hone-p", "degree"], seeds=1, cache=tmp_path).rows

    first = run()
    assert len(list(tmp_path.iterdir())) == 2
    assert run() == first


def test_vectors_are_kept_and_compete_again(graph, tmp_path):
    first = evaluate_link_prediction(graph, "degree", seeds=[4, 5], save=tmp_path)
    kept = np.load(tmp_path / "graph" / "degree-4.npz")
    assert len(kept["ids"]) == len(kept["embedding"]) == graph.n_nodes
    again = evaluate_link_prediction(graph, f"file:{tmp_path}/graph/degree-{{seed}}.npz", seeds=[4, 5])
    assert [row["auc"] for row in again.rows] == [row["auc"] for row in first.rows]
    with pytest.raises(ValueError, match="another split"):
        evaluate_link_prediction(graph, f"file:{tmp_path}/graph/degree-4.npz", seeds=[5])
    (tmp_path / "graph" / "degree-4.npz.run.json").unlink()
    with pytest.warns(HoneWarning, match="nothing says which graph"):
        evaluate_link_prediction(graph, f"file:{tmp_path}/graph/degree-4.npz", seeds=[4])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"methods": ["node3vec"]}, "`node3vec` is not a method; did you mean `node2vec`"),
        ({"methods": []}, "methods: there must be at least one"),
        ({"protocol": "leave-one-out"}, "not one of select10"),
        ({"operators": ["sum"]}, "`sum` is not one of"),
        ({"operators": []}, "operators"),
        ({"removed": 1.5}, "removed"),
        ({"selection": 0.0}, "selection"),
    ],
)
def test_slips_are_named(graph, arguments, message):
    with pytest.raises(ValueError, match=message):
        evaluate_link_prediction(graph, **arguments)


def test_settings_are_tuned():
    graph = generate("sbm", nodes=160, degree=12, communities=4, mixing=0.1)
    labels = graph.node_ids // 40
    few = ["hone:dim=2", "hone:dim=16"]
    clear = tune(graph, labels, candidates=few, rounds=4, goal="labels")
    assert clear.chosen == "hone:dim=16" and clear.config["global"]["dim"] == 16
    assert "is chosen" in clear.verdict and len(clear.rows[1]["labels"]) == 4
    assert len(tune(graph, candidates=few, rounds=3).rows[1]["links"]) == 3
    with pytest.warns(HoneWarning, match="hone:motifs=triads failed and has no results"):
        left = tune(graph, candidates=[*few, "hone:motifs=triads"], rounds=1)
    assert "failure" in left.rows[2] and not left.rows[2]["links"] and len(left.rows[1]["links"]) == 1
    several = dict(zip(graph.node_ids.tolist(), [[label, label % 2 + 10] for label in labels.tolist()]))
    by_labels = tune(graph, several, candidates=few, rounds=2, goal="labels")
    assert by_labels.rows[0]["links"] == [] and len(by_labels.rows[0]["labels"]) == 2
    none = tune(graph, labels, candidates=few, rounds=3, time_limit=0)
    assert (none.rounds, none.chosen) == (0, "hone:dim=2") and "no round" in none.verdict
    indicator = np.eye(4, dtype=int)[labels]
    scores = [[row["labels"] for row in tune(graph, given, candidates=few, rounds=1, goal="labels").rows]
              for given in (labels, indicator, scipy.sparse.csr_array(indicator))]
    assert scores[0] == scores[1] == scores[2]
    for wrong, named in [
        (lambda: tune(graph, labels[:3]), "labels: 3 values for 160 nodes"),
        (lambda: tune(graph, {"x": 1}), "labels: 'x' is not a node"),
        (lambda: tune(graph, [1] * 160), "labels: all labelled nodes"),
        (lambda: tune(graph, [None, float("nan")] * 80), "labels: no node has a label"),
        (lambda: tune(graph, np.linspace(0, 1, 160)), "labels: numbers with decimals"),
        (lambda: tune(graph, {0: "a", 1: "b", 2: []}), "labels: 2 labelled nodes"),
        (lambda: tune(graph, labels, goal="links"), "goal: links decide"),
        (lambda: tune(graph, goal="x"), "goal: 'x' is not one of"),
        (lambda: tune(graph, rounds=2.5), "rounds: 2.5 is not a whole number"),
        (lambda: evaluate_link_prediction(graph, HONE("auto")), "methods: the preset 'auto'"),
        (lambda: tune(graph, candidates=["hone", "degree"]), "candidates"),
        (lambda: tune(graph, time_limit=-1), "time_limit"),
    ]:
        with pytest.raises(ValueError, match=named):
            wrong()


def test_the_preset_auto():
    graph = generate("sbm", nodes=60, degree=8, communities=3, mixing=0.1)
    hone = HONE("auto", n_components=8).fit(graph, graph.node_ids // 20)
    assert hone.embedding_.shape == (60, 8) and hone.tuning_.goal == "both"
    assert all(len(row["labels"]) == len(row["links"]) == 5 for row in hone.tuning_.rows)
    preset, _, option = hone.tuning_.chosen.partition(":")
    config = {key: float(value) for key, value in [option.split("=")]} if option else None
    same = HONE(preset, n_components=8, config=config).fit(graph)
    np.testing.assert_array_equal(hone.embedding_, same.embedding_)
    assert not hasattr(hone.set_params(preset="hone").fit(graph), "tuning_")
    for wrong in ({"n_steps": 2}, {"memory_limit": "1G"}, {"config": {"steps": 2}}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}: the preset 'auto'"):
            HONE("auto", **wrong).fit(graph)


def test_the_preset_auto_takes_what_is_better(monkeypatch):
    """Labels of some nodes count, and the settings that win are those of the vectors."""
    graph = generate("sbm", nodes=160, degree=12, communities=4, mixing=0.1)
    monkeypatch.setattr("hone_embed._native.tuned_candidates", lambda: ["hone:local.row-power=0,global.dim=2", "hone:global.dim=16"])
    ids = graph.node_ids[::2]
    nodes = NodeVectors(graph, HONE("auto", weights=False))
    assert nodes.fit_transform(ids, ids // 40).shape == (80, 16)
    hone = nodes.hone_
    assert hone.tuning_.chosen == "hone:global.dim=16,weights=false" and hone.config_["weights"] is False
    with pytest.raises(ValueError, match="inconsistent"):
        nodes.fit(ids, ids[:-1] // 40)


def test_directed_links_are_told_from_reversed_arcs():
    arcs = [(i, i // 2) for i in range(2, 150)] + [(i, i * 7 % (i - 1)) for i in range(3, 150)]
    graph = networkx.DiGraph([(u, v) for u, v in arcs if u != v])
    rows = evaluate_link_prediction(graph, ["hone:dim=16", "hope:dim=16"], seeds=1, negatives="reversed").rows
    assert [row["operator"] for row in rows] == 2 * ["concat", "cross", "outer", "concat+cross"]
    assert all(0.5 < row["auc"] <= 1 for row in rows if row["operator"].startswith("concat"))
    with pytest.raises(ValueError, match="negatives"):
        evaluate_link_prediction("builtin:karate", ["degree"], seeds=1, negatives="reversed")


def test_labels_of_other_nodes_and_names_of_files():
    labels = {node: node % 2 for node in range(34)}
    expected = evaluate_nodes("builtin:karate", labels, ["degree"], seeds=1, shares=[0.5]).rows
    with pytest.warns(HoneWarning, match="1 labelled node is not in the graph and is ignored"):
        found = evaluate_nodes("builtin:karate", {**labels, 99: 5}, ["degree"], seeds=1, shares=[0.5]).rows
    assert found[0]["accuracy"] == expected[0]["accuracy"]
    with pytest.raises(ValueError, match="labels: 'a' is not a node of the graph"):
        evaluate_nodes("builtin:karate", {"a": 1}, ["degree"])
    with pytest.raises(ValueError, match="labels: a file name is not read; pass a mapping of ids to labels"):
        evaluate_nodes("builtin:karate", "ppi.labels", ["degree"])
