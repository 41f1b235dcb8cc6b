"""HONE as scikit-learn knows estimators, and the vectors themselves."""

import copy
import json
import pickle
import subprocess
import warnings

import networkx
import numpy as np
import pandas
import polars
import pyarrow
import pytest
import scipy.sparse
from hone_embed import (
    HONE,
    Embedding,
    Graph,
    HoneWarning,
    NodeVectors,
    features,
    generate,
    presets,
    read_embedding,
    read_graph,
    read_recorded_graph,
    write_embedding,
)
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


@pytest.fixture(scope="module")
def blocks():
    return generate("sbm", nodes=150, degree=14, communities=3, mixing=0.1, random_state=5)


def test_fit_gives_what_the_attributes_promise(karate):
    hone = HONE("hone-p", n_components=20, n_steps=3, motifs=["edge", "triangle"], random_state=7).fit(karate)
    assert hone.embedding_.shape == (34, 20) and hone.embedding_.dtype == np.float32
    np.testing.assert_array_equal(hone.node_ids_, np.arange(34))
    assert set(hone.motif_importance_) == {"edge", "triangle"}
    shares = list(hone.motif_importance_.values())
    assert shares == sorted(shares, reverse=True) and abs(sum(shares) - 1) < 1e-6
    assert hone.config_["seed"] == 7 and hone.config_["steps"] == 3 and hone.config_["global"]["dim"] == 20
    facts = {"nodes": 34, "edges": 78, "directed": False, "weighted": False}
    assert {key: hone.report_["graph"][key] for key in facts} == facts
    assert hone.report_["config"] == hone.config_


def test_none_takes_the_value_of_the_preset():
    for preset in presets():
        config = HONE(preset).fit("builtin:karate").config_
        assert config["global"]["dim"] == 128 and config["local"]["dim"] == (112 if preset == "hone" else 16)
    assert HONE("hone-l", n_components=8).fit("builtin:karate").config_["psi"] == "l"


def test_any_setting_can_be_named(tmp_path, karate):
    hone = HONE("hone-p", config={"local.solver.iterations": 3, "local": {"norm": "l1"}, "seed": 9}, n_components=8)
    assert hone.fit(karate).config_["local"]["solver"]["iterations"] == 3
    assert hone.config_["local"]["norm"] == "l1" and hone.config_["seed"] == 9
    file = tmp_path / "run.json"
    file.write_text(json.dumps(hone.report_))
    again = HONE(config=file).fit(karate)
    np.testing.assert_array_equal(again.embedding_, hone.embedding_)
    assert HONE("hone-p", config=file, n_components=4).fit(karate).embedding_.shape[1] == 4
    with pytest.raises(ValueError, match=r"local\.dimm: there is no such setting; did you mean n_local_components\?"):
        HONE(config={"local.dimm": 3}).fit(karate)
    for config in [
        {"local.solver.iterations": 4, "local.solver.method": "als"},
        {"local": {"solver": {"method": "als", "iterations": 4}}},
    ]:
        solver = HONE("hone-p", config=config, n_components=8).fit(karate).config_["local"]["solver"]
        assert (solver["method"], solver["iterations"]) == ("als", 4)
    with pytest.raises(ValueError, match=r"n_components \(global.dim\): 0 is not between 1 and 65536"):
        HONE("hone-p", n_components=0).fit(karate)
    with pytest.raises(ValueError, match="`hone-l` and .*run.json contradict each other: psi"):
        HONE("hone-l", config=file).fit(karate)


@pytest.mark.parametrize("preset", ["hone", "hone-w", "hone-p+x"])
def test_any_number_of_components(preset, karate):
    for wanted in (1, 2, 8, 200, 1024):
        hone = HONE(preset, n_components=wanted).fit(karate)
        assert hone.embedding_.shape == (34, wanted) and np.isfinite(hone.embedding_).all()
        assert sum(" proximity columns " in note for note in hone.report_["notes"]) <= 1
    for options in ({"n_steps": 1}, {"n_steps": "auto"}, {"n_local_components": 32}, {"motifs": ["edge", "triangle"]}):
        assert HONE(preset, **options).fit(karate).embedding_.shape == (34, 128)


def test_structure_importance(karate):
    shares = HONE().fit(karate).structure_importance_
    assert abs(sum(shares.values()) - 1) < 1e-6 and list(shares.values()) == sorted(shares.values(), reverse=True)
    assert HONE("hone-p").fit(karate).structure_importance_ == {}


def test_weights_that_were_read_count(random_matrix):
    matrix = random_matrix[0].tocoo()
    matrix.data = 1.0 + (matrix.row + matrix.col) % 5
    matrix = matrix.tocsr()
    plain = HONE("hone-w", n_components=6, motifs=["edge"])
    weighted = Graph(matrix, weighted=True)
    asked = plain.fit_transform(weighted)
    read = HONE("hone-w", n_components=6, motifs=["edge"], weights=True).fit_transform(matrix)
    np.testing.assert_array_equal(asked, read)
    ignored = HONE("hone-w", n_components=6, motifs=["edge"], weights=False).fit_transform(weighted)
    np.testing.assert_array_equal(ignored, plain.fit_transform(Graph(matrix)))
    assert not np.array_equal(asked, ignored)


def test_seeds_and_threads(blocks):
    vectors = HONE("hone-p", n_components=16, random_state=1, n_jobs=1).fit_transform(blocks)
    for jobs in (2, 3, None, -1, -2):
        again = HONE("hone-p", n_components=16, random_state=1, n_jobs=jobs).fit_transform(blocks)
        np.testing.assert_array_equal(vectors, again)
    seeds = {HONE(random_state=state)._resolve() for state in (None, None, np.random.RandomState(3))}
    assert len(seeds) == 3
    for state, jobs in ((-1, None), (0, 0)):
        with pytest.raises(ValueError, match="random_state|n_jobs"):
            HONE(random_state=state, n_jobs=jobs).fit(blocks)


def test_the_form_of_the_graph_does_not_matter(karate):
    forms = [karate, Graph(karate), Graph(karate).adjacency(), Graph(karate).adjacency().toarray(), "builtin:karate"]
    first, *others = (HONE(n_components=24).fit_transform(form) for form in forms)
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_weights_and_directions_reach_the_library(random_matrix):
    matrix = random_matrix[1].copy()
    rng = np.random.default_rng(1)
    matrix.data = rng.uniform(0.5, 4, matrix.nnz)
    plain = HONE("hone-w", n_components=6, motifs=["edge"]).fit(matrix)
    weighted = HONE("hone-w", n_components=6, motifs=["edge"], weights=True).fit(matrix)
    for key in ["nodes", "edges", "directed"]:
        assert plain.report_["graph"][key] == weighted.report_["graph"][key]
    assert not plain.report_["graph"]["weighted"]
    assert weighted.report_["graph"]["weighted"] and weighted.report_["graph"]["directed"]
    for model, truth in ((plain, matrix.toarray() > 0), (weighted, matrix.toarray())):
        found = np.array(model.report_["local"][0]["singular_values"]) / model.report_["local"][0]["scale"]
        expected = np.linalg.svd(truth.astype(float), compute_uv=False)[: len(found)]
        np.testing.assert_allclose(found[:6], expected[:6], rtol=1e-4)
    assert not HONE(directed=False, n_components=24).fit(matrix).report_["graph"]["directed"]
    with pytest.raises(ValueError, match="weights: the Graph has none"):
        HONE(weights=True).fit(Graph(matrix))


def test_attributes(karate):
    values = pandas.DataFrame({"age": np.arange(34.0), "club": np.arange(34) % 2})
    with_attributes = HONE("hone-p", n_components=8).fit(karate, attributes=values)
    without = HONE("hone-p", n_components=8).fit(karate)
    assert not np.array_equal(with_attributes.embedding_, without.embedding_)
    assert any(name.startswith("attributes") for name in with_attributes.motif_importance_)
    with pytest.raises(ValueError, match="attributes: column `x0` has 3 values for 34 nodes"):
        HONE().fit(karate, attributes=np.ones((3, 2)))
    with pytest.raises(ValueError, match="finite"):
        HONE().fit(karate, attributes=np.full((34, 2), np.nan))


def test_attributes_of_any_kind_have_columns_of_their_own(karate):
    """Numbers and words of a table; sparse words as dense ones."""
    table = pandas.DataFrame(
        {
            "age": np.where(np.arange(34) == 4, np.nan, np.arange(34.0) % 7),
            "club": pandas.Categorical(["red", "blue"] * 17),
            "about": ["a graph of motifs", "the motifs", None, "a graph"] * 8 + ["one", "two"],
        }
    )
    hone = HONE(n_components=32, config={"attributes.table.text": ["about"]})
    hone.fit(karate, attributes=table)
    assert any("values are missing" in note for note in hone.report_["notes"])
    blocks = {block["name"]: block["count"] for block in hone.report_["blocks"]}
    # Ages, two clubs, and three directions of words.
    assert blocks["attributes"] == 6 and sum(blocks.values()) == 32, blocks
    words = scipy.sparse.random(34, 60, density=0.2, random_state=0, data_rvs=lambda n: np.ones(n))
    sparse, dense = (HONE(n_components=32).fit(karate, attributes=x) for x in (words, words.toarray()))
    np.testing.assert_array_equal(sparse.embedding_, dense.embedding_)


def test_models_place_new_nodes_by_their_attributes():
    graph = generate("sbm", nodes=60, degree=8, communities=3, mixing=0.1)
    topics = np.repeat(np.arange(3), 20)
    numbers = np.eye(3)[topics] + 0.1 * np.random.default_rng(0).normal(size=(60, 3))
    hone = HONE(n_components=24).fit(graph, attributes=numbers)
    before = hone.embedding_
    hone.update(added=[(60, 0)], attributes=np.vstack([numbers, numbers[25:26]]))
    own = [k for k, name in enumerate(hone.report_["columns"]) if name.startswith("attributes")]
    new, old = hone.embedding_[60, own], before[:, own]
    closest = topics[np.argsort(((old - new) ** 2).sum(axis=1))[:5]]
    assert set(closest) == {1}, "the attributes of topic 1, and one edge to topic 0"


def test_attributes_of_any_kind_are_those_of_a_file(tmp_path):
    """Text, categories and missing values, by position or by id, in tables of several libraries."""
    graph = networkx.relabel_nodes(networkx.karate_club_graph(), {k: f"m{k}" for k in range(34)})
    ids = list(graph)
    age = [None if k % 5 == 0 else 20.5 + k for k in range(34)]
    city = ["Rome" if k % 3 else "São, Paulo" for k in range(34)]
    file = tmp_path / "people.csv"
    rows = (f'{id},{"" if a is None else a},"{c}"\n' for id, a, c in zip(ids, age, city))
    file.write_text("id,age,city\n" + "".join(rows), encoding="utf-8")
    expected = HONE("hone-p", n_components=8, config={"attributes.file": str(file)}).fit(graph)
    frame = pandas.DataFrame({"age": age, "city": city})
    by_id = {"age": {id: a for id, a in zip(ids, age) if a is not None}, "city": dict(zip(ids, city))}
    for given in (frame, polars.from_pandas(frame), pyarrow.table({"age": age, "city": city}), by_id):
        found = HONE("hone-p", n_components=8).fit(graph, attributes=given)
        np.testing.assert_array_equal(found.embedding_, expected.embedding_)
        assert "file" not in found.config_["attributes"]
    table = features(graph, motifs=["edge"], depth=0, attributes=frame).to_pandas()
    assert list(table.columns) == ["edge_degree", "age", "city=Rome", "city=São, Paulo"]
    assert table.loc["m1", ["age", "city=Rome"]].tolist() == [21.5, 1.0]
    with pytest.raises(ValueError, match="attributes: age: 3 values for 34 nodes"):
        HONE().fit(graph, attributes={"age": [1, 2, 3]})
    with pytest.raises(ValueError, match="attributes: city: 'nobody' is not a node of the graph"):
        HONE().fit(graph, attributes={"city": {"nobody": "Rome"}})
    with pytest.raises(ValueError, match="config names a file of attributes too"):
        HONE(config={"attributes.file": str(file)}).fit(graph, attributes=frame)


def test_attribute_files_go_by_the_ids_of_the_graph(tmp_path):
    """Rows of the file are in another order than the nodes, whose names only Python knows."""
    graph = networkx.relabel_nodes(networkx.karate_club_graph(), {k: f"m{k}" for k in range(34)})
    file = tmp_path / "people.csv"
    file.write_text("id,age\n" + "".join(f"m{k},{k * k}\n" for k in reversed(range(34))))
    settings = {"features.diffusion.steps": 0}
    by_file = HONE("hone-p", n_components=8, config={**settings, "attributes.file": str(file)}).fit(graph)
    ages = np.arange(34.0)[:, None] ** 2
    by_array = HONE("hone-p", n_components=8, config=settings).fit(graph, attributes=ages)
    np.testing.assert_allclose(by_file.embedding_, by_array.embedding_, atol=1e-6)


def test_parameters_clone_and_pickle(blocks):
    hone = HONE("hone-p", n_components=8, config={"delta": 2}).set_output(transform="pandas")
    assert hone.get_params()["n_components"] == 8
    assert hone.set_params(n_components=12).n_components == 12
    twin = clone(hone)
    assert twin.get_params() == hone.get_params() and twin.config is not hone.config
    assert isinstance(twin.fit_transform(blocks), pandas.DataFrame) and not hasattr(clone(twin), "embedding_")
    hone.fit(blocks)
    for other in (pickle.loads(pickle.dumps(hone)), copy.deepcopy(hone)):
        np.testing.assert_array_equal(other.embedding_, hone.embedding_)
        assert other.report_ == hone.report_
    nodes = NodeVectors(blocks, hone).set_output(transform="pandas")
    twin = clone(nodes)
    assert twin.graph is blocks and twin.hone is not hone and not hasattr(twin, "hone_")
    frame = twin.fit_transform(pandas.DataFrame({"id": [3, 1]}, index=["x", "y"]))
    assert list(frame.index) == ["x", "y"] and list(frame.columns) == list(hone.get_feature_names_out())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(twin)).transform([3, 1]), frame)
    np.testing.assert_array_equal(frame, hone.embedding_[[3, 1]])


def test_graphs_survive_pickling(random_matrix):
    matrix = random_matrix[1].copy()
    matrix.data = np.arange(1.0, matrix.nnz + 1)
    for graph in (Graph(matrix, weighted=True), Graph([("a", "b"), ("b", "c")]), Graph(random_matrix[0])):
        other = pickle.loads(pickle.dumps(graph))
        assert repr(other) == repr(graph)
        np.testing.assert_array_equal(other.adjacency().toarray(), graph.adjacency().toarray())
        np.testing.assert_array_equal(other.node_ids, graph.node_ids)


def test_output_containers(karate):
    hone = HONE("hone-p", n_components=3, n_local_components=3).fit(karate)
    assert isinstance(hone.transform(karate), np.ndarray)
    frame = hone.set_output(transform="pandas").transform(karate)
    assert list(frame.columns) == list(hone.get_feature_names_out()) == ["z0", "z1", "z2"]
    np.testing.assert_array_equal(frame.index, hone.node_ids_)
    np.testing.assert_array_equal(frame.to_numpy(), hone.embedding_)
    table = hone.set_output(transform="polars").fit_transform(karate)
    assert isinstance(table, polars.DataFrame) and table.columns == ["id", "z0", "z1", "z2"]
    np.testing.assert_array_equal(table.drop("id").to_numpy(), hone.embedding_)
    assert isinstance(hone.set_output(transform="default").transform(karate), np.ndarray)
    with config_context(transform_output="pandas"):
        assert isinstance(HONE(n_components=24).fit_transform(karate), pandas.DataFrame)
    with pytest.raises(ValueError, match="not one of 'default', 'pandas', 'polars'"):
        hone.set_output(transform="list")


def test_ids_in_polars():
    """The ids are the first column, unless the input is a matrix, whose rows are the nodes."""
    names = [("ann", "bob"), ("bob", "cid"), ("cid", "ann"), ("cid", "dee")]
    numbers = np.array([[7, 3], [3, 5], [5, 7], [5, 9]])
    pairs = networkx.Graph([((0, 0), (0, 1)), ((0, 1), (1, 1)), ((1, 1), (0, 0))])
    for graph, ids, kind in (
        (names, ["ann", "bob", "cid", "dee"], polars.String),
        (numbers, [3, 5, 7, 9], polars.Int64),
        (pairs, [(0, 0), (0, 1), (1, 1)], polars.Object),
    ):
        hone = HONE(n_components=4).set_output(transform="polars")
        for frame in (hone.fit_transform(graph), hone.transform(graph), hone.transform(Graph(graph))):
            assert frame.schema["id"] == kind and frame["id"].to_list() == ids
            np.testing.assert_array_equal(frame.drop("id").to_numpy(), hone.embedding_)
    matrix = Graph(names).adjacency()
    nodes = NodeVectors(names, HONE(n_components=4)).set_output(transform="polars")
    assert "id" not in HONE(n_components=4).set_output(transform="polars").fit_transform(matrix).columns
    assert nodes.fit_transform(["cid", "ann"]).shape == (2, 4)


def test_warnings_are_always_reported(karate):
    assert HONE(n_components=24).fit(networkx.path_graph(30)).report_["warnings"] == []


def test_transform_knows_its_graph_and_its_rows(random_matrix):
    undirected = random_matrix[0]
    hone = HONE("hone-p", n_components=5).fit(undirected)
    np.testing.assert_array_equal(hone.transform(undirected.tocsc()), hone.embedding_)
    rows = undirected.tocsr()[[7, 3]]
    np.testing.assert_array_equal(hone.transform(rows), hone.embedding_[[7, 3]])
    new = np.zeros((2, 40))
    new[0, [3, 7]] = 1, 3
    with pytest.raises(ValueError, match="no model of this fit: psi: a model needs"):
        hone.transform(scipy.sparse.csr_array(new))
    with pytest.raises(ValueError, match="X has 39 features, but HONE is expecting 40"):
        hone.transform(new[:, 1:])
    with pytest.raises(ValueError, match="no model of this fit: psi"):
        hone.transform([(0, 1)])


def test_pipeline_over_nodes_of_one_graph(blocks):
    labels = blocks.node_ids // 50
    model = make_pipeline(NodeVectors(blocks, HONE("hone-p")), StandardScaler(), LogisticRegression(max_iter=500))
    search = GridSearchCV(model, {"nodevectors__hone__n_components": [2, 16], "nodevectors__hone__n_steps": [1, 2]}, cv=3)
    search.fit(blocks.node_ids, labels)
    assert search.best_score_ > 0.9 and search.best_params_["nodevectors__hone__n_components"] == 16
    assert (search.predict(blocks.node_ids) == labels).mean() > 0.9
    with pytest.raises(ValueError, match="X: 999 is not a node of the graph"):
        search.predict([999])


def test_pipeline_over_an_adjacency(blocks):
    labels = blocks.node_ids // 50
    model = make_pipeline(HONE(n_components=16), LogisticRegression(max_iter=500, C=100))
    adjacency = blocks.adjacency()
    assert (model.fit(adjacency, labels).predict(adjacency) == labels).mean() > 0.9
    # Rows and columns are cut together: held-out nodes come with their edges to the others.
    assert cross_val_score(model, adjacency, labels, cv=3).mean() > 0.7


def test_files(tmp_path, karate):
    hone = HONE(n_components=24).fit(karate)
    frame = hone.set_output(transform="pandas").transform(karate)
    pair = (hone.node_ids_, hone.embedding_)
    embedding = Embedding(*pair, list(hone.get_feature_names_out()))
    for name in ("z.npy", "z.npz", "z.tsv", "z.csv.gz", "z.parquet", "z.w2v", "z.safetensors"):
        for thing in (hone, frame, pair, embedding):
            assert write_embedding(tmp_path / name, thing, overwrite=True)[0] == str(tmp_path / name)
            back = read_embedding(tmp_path / name)
            np.testing.assert_array_equal(back.node_ids, np.arange(34))
            np.testing.assert_allclose(back.vectors, hone.embedding_, rtol=1e-6)
    with pytest.raises(FileExistsError, match="exists"):
        write_embedding(tmp_path / "z.npy", hone)
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), hone.embedding_)
    names = Graph([("b", "a"), ("a", "c")])
    write_embedding(tmp_path / "n.tsv", HONE("hone-p", n_components=2, n_local_components=2).fit(names))
    assert list(read_embedding(tmp_path / "n.tsv").node_ids) == ["b", "a", "c"]
    with pytest.raises(ValueError, match="not fitted"):
        write_embedding(tmp_path / "u.npy", HONE())
    with pytest.raises(FileNotFoundError, match="missing.npy"):
        read_embedding(tmp_path / "missing.npy")


def test_the_result_is_that_of_the_library(tmp_path):
    """The command, where it was built, gives the same bits."""
    from pathlib import Path

    target = Path(__file__).resolve().parents[3] / "target"
    command = next((target / kind / "hone" for kind in ("debug", "release") if (target / kind / "hone").exists()), None)
    if command is None:
        pytest.skip("the command `hone` is not built")
    file = tmp_path / "z.npy"
    arguments = [command, "embed", "builtin:karate", "-o", file, "--preset", "hone-p", "--seed", "4", "--quiet"]
    subprocess.run(arguments, check=True)
    found = HONE("hone-p", random_state=4).fit_transform("builtin:karate")
    np.testing.assert_array_equal(found, np.load(file))


def test_files_of_two_runs_are_refused(tmp_path, karate):
    hone = HONE(n_components=24).fit(karate)
    files = [file.rsplit("/")[-1] for file in write_embedding(tmp_path / "z.npy", hone)]
    assert files == ["z.npy", "z.ids.txt", "z.npy.columns.txt", "z.npy.run.json"]
    ids = tmp_path / "z.ids.txt"
    ids.write_text("\n".join(reversed(ids.read_text().splitlines())) + "\n")
    with pytest.raises(ValueError, match=r"z.ids.txt has different content.*two runs"):
        read_embedding(tmp_path / "z.npy")
    # Vectors without a report take the old one away.
    write_embedding(tmp_path / "z.npy", (hone.node_ids_, hone.embedding_), overwrite=True)
    assert not (tmp_path / "z.npy.run.json").exists()
    np.testing.assert_array_equal(read_embedding(tmp_path / "z.npy").vectors, hone.embedding_)


def test_a_record_repeats_its_run(tmp_path):
    path = tmp_path / "g.csv"
    path.write_text("w;a;b\n" + "".join(f"{1 + i % 3};n{i};n{(7 * i + 1) % 20}\n" for i in range(20)))
    options = {"directed": True, "weight": "w", "source": "a", "target": "b", "delimiter": ";", "header": True}
    first = HONE("hone-p", n_components=8, motifs=["edge"], weights=True, random_state=3)
    first.fit(read_graph(path, **options))
    record = write_embedding(tmp_path / "z.npy", first)[-1]
    graph = read_recorded_graph(record)
    assert graph.directed and graph.weighted
    again = HONE(config=record).fit(graph)
    np.testing.assert_array_equal(again.embedding_, first.embedding_)
    path.write_text(path.read_text() + "1;n1;n9\n")
    with pytest.raises(ValueError, match=r"20 edges then.*21 edges now"):
        read_recorded_graph(record)
    with pytest.warns(HoneWarning, match="not the graph of that run"):
        assert read_recorded_graph(record, changed="warn").n_edges == 21
    write_embedding(tmp_path / "k.npy", HONE(n_components=24).fit(networkx.karate_club_graph()))
    with pytest.raises(ValueError, match="names no graph"):
        read_recorded_graph(tmp_path / "k.npy.run.json")


def test_a_run_is_not_repeated_with_other_attributes_in_silence(tmp_path):
    people = tmp_path / "people.csv"
    people.write_text("id,age\n" + "".join(f"{k},{k % 7}\n" for k in range(34)))
    first = HONE(n_components=16, config={"attributes.file": str(people)}).fit("builtin:karate")
    record = write_embedding(tmp_path / "z.npy", first)[-1]
    with warnings.catch_warnings():
        warnings.simplefilter("error", HoneWarning)
        again = HONE(config=record).fit(read_recorded_graph(record))
    np.testing.assert_array_equal(again.embedding_, first.embedding_)
    people.write_text(people.read_text().replace("3,3\n", "3,4\n", 1))
    with pytest.warns(HoneWarning, match=r"people.csv: not the attributes of .*different content"):
        HONE(config=record).fit(read_recorded_graph(record))


def test_what_has_no_effect_is_said_in_one_warning():
    def warned(**parameters):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", HoneWarning)
            HONE(**parameters).fit("builtin:karate")
        return [str(warning.message) for warning in caught if warning.category is HoneWarning]

    local = {"global.output": "local", "joint": {"iterations": 3}}
    assert warned(preset="hone-p", n_components=16, config=local) == [
        "no effect here: n_components (the vectors are the local embeddings, 26 of 16 columns), "
        "config['joint.iterations'] (motif matrices are embedded one by one)"
    ]
    assert warned(config={"pairs": "occurrences", "attributes.table.id": "who"}) == [
        "no effect here: config['pairs'] (the only motif is the edge, whose pairs are the edges), "
        "config['attributes.table.id'] (there is no file of attributes)"
    ]
    assert warned(n_components=32, n_steps=2, random_state=3, config={"global.output": "local"}) == []


def test_directed_graphs_keep_their_directions():
    """Two stars that differ by the direction of their arcs alone: centres and leaves are told apart."""
    arcs = [(0, i) for i in range(1, 15)] + [(i, 15) for i in range(16, 30)] + [(3, 20)]
    graph = networkx.DiGraph(arcs)
    z = HONE(n_components=32).fit_transform(graph)
    assert (np.abs(z).sum(axis=1) > 0).all()
    assert np.linalg.norm(z[0] - z[15]) > 0.1 and np.linalg.norm(z[1] - z[25]) > 0.1
    undirected = HONE(n_components=32, config={"direction": "ignore"}).fit_transform(graph)
    assert np.allclose(undirected, HONE(n_components=32).fit_transform(graph.to_undirected()), atol=1e-5)
    triads = HONE("hone-p", motifs="triads", n_components=16).fit(graph)
    assert triads.motif_importance_["021D"] > 0 and len(triads.motif_importance_) == 15


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: HONE(8).fit("builtin:karate"), "preset: 8 is not a name; dimensions are n_components"),
        (lambda: HONE(weights="amount").fit("builtin:karate"), "weights: 'amount' is .*; weight='amount' names the column"),
        (lambda: generate("ba", nodes=10), "degree: it is needed for 'ba'"),
        (lambda: write_embedding("z.other", ([1], [[1.0]])), "has this extension .*format="),
        (lambda: read_embedding("z.other"), "has this extension .*format="),
    ],
)
def test_messages_name_the_parameter(call, message):
    with pytest.raises(ValueError, match=message):
        call()
