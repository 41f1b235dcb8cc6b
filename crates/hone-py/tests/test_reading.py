"""Files and tables that could be read in two ways: what is warned of, and the parameter that decides."""

import os
import warnings

import networkx
import numpy as np
import pandas
import polars
import pytest
from hone_embed import HONE, Graph, HoneWarning, read_graph, read_recorded_graph, write_embedding

RATINGS = {"userId": [1, 1, 2, 3], "movieId": [1, 2, 1, 7]}
APART = ["userId:1", "movieId:1", "movieId:2", "userId:2", "userId:3", "movieId:7"]


def test_users_and_items_with_the_same_numbers(tmp_path):
    file = tmp_path / "ratings.csv"
    pandas.DataFrame(RATINGS).to_csv(file, index=False)
    for data in (file, pandas.DataFrame(RATINGS), polars.DataFrame(RATINGS)):
        with pytest.warns(HoneWarning, match="self-loop"):
            together = Graph(data)
        assert together.n_nodes == 4
        assert "edges from `userId` to `movieId` (first edge 1 → 1)" in together.reading
        assert "`bipartite` decide" in together.reading
        with warnings.catch_warnings():
            warnings.simplefilter("error", HoneWarning)
            graph = Graph(data, bipartite=True)
            assert list(graph.node_ids) == APART and graph.n_edges == 4
            assert "bipartite" not in graph.reading
    assert list(read_graph(file, bipartite=True).node_ids) == APART
    pairs = np.array([[1, 1], [1, 2]])
    assert list(Graph(pairs, bipartite=True).node_ids) == ["source:1", "target:1", "target:2"]
    with pytest.raises(ValueError, match="bipartite"):
        Graph(networkx.karate_club_graph(), bipartite=True)


def test_symbols_and_blanks(tmp_path):
    file = tmp_path / "ratings.dat"
    file.write_text("1::1193::5::978300760\n1::661::3::978302109\n")
    graph = read_graph(file, weighted=True)
    assert list(graph.node_ids) == [1, 661, 1193]
    assert "`::` between columns" in graph.reading and "weights in column 2, column 3 not used" in graph.reading
    assert "delimiter" not in read_graph(file, delimiter="::", weighted=False).reading
    file.write_text("Ann Lee\t3\nBob Ray\t1\n")
    graph = read_graph(file)
    assert graph.n_nodes == 4 and "tabs between columns, no header" in graph.reading and "(first edge Ann Lee → 3)" in graph.reading
    with pytest.warns(HoneWarning, match="dropped 2 weights"):
        assert list(read_graph(file, delimiter="space").node_ids) == ["Ann", "Lee", "Bob", "Ray"]
    with pytest.raises(ValueError, match="delimiter: `ab` is not one ASCII character"):
        read_graph(file, delimiter="ab")
    assert Graph(networkx.karate_club_graph(), weighted=True).reading is None


def test_times_and_weights(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("1 2 978300760\n1 3 978302109\n2 3 978301968\n")
    with pytest.raises(ValueError, match="looks like times or dates.*with `weight`"):
        read_graph(file, weighted=True)
    assert read_graph(file, weight=2).weighted


def test_weights_that_are_named_and_dropped(tmp_path, karate):
    file = tmp_path / "a.csv"
    file.write_text("source,target,w\n1,2,5\n")
    for read in (read_graph, Graph):
        with pytest.raises(ValueError, match="weighted: weight names weights and weighted=False drops them"):
            read(file, weight="w", weighted=False)
    with pytest.raises(ValueError, match="edge_weight names weights"):
        Graph([(1, 2)], edge_weight=[2.0], weighted=False)
    assert Graph(karate, weight="weight").weighted


def test_node_lists_whose_first_line_may_be_an_id(tmp_path):
    file, nodes = tmp_path / "a.csv", tmp_path / "nodes.txt"
    file.write_text('source,target\nann,bob\n"#c",ann\n')
    nodes.write_text("#c\nann\nbob\n")
    with pytest.raises(ValueError, match='quote it there: "#c"'):
        read_graph(file, nodes=nodes)
    nodes.write_text('"#c"\nann\nbob\n')
    assert list(read_graph(file, nodes=nodes).node_ids) == ["#c", "ann", "bob"]


def test_first_lines_unlike_the_others(tmp_path):
    file = tmp_path / "a.txt"
    for text, how, nodes, decided in (
        ("4 3\n0 1\n1 2\n2 3\n", "no header", 5, {"header": True}),
        ("10 20\na b\nb c\n", "no header", 5, {"header": True}),
        ("// hi\na b\nb c\n", "a header", 3, {"comment": "/"}),
        ("a b\nc d\n", "no header", 4, {"header": True}),
    ):
        file.write_text(text)
        with warnings.catch_warnings():
            warnings.simplefilter("error", HoneWarning)
            graph = read_graph(file)
            assert graph.n_nodes == nodes and how in graph.reading
            assert read_graph(file, **decided).n_nodes == {"4": 4, "1": 3, "/": 3, "a": 2}[text[0]]
    file.write_text("a b\n# c\n")
    with pytest.raises(ValueError, match="begins with # below the first line of data.*comment=\"none\""):
        read_graph(file)
    file.write_text("a -> b\nb -> c\n")
    with pytest.raises(ValueError, match="column 1 has signs between ids"):
        read_graph(file)


def test_a_record_is_repeated_from_another_folder(tmp_path, monkeypatch):
    work, elsewhere = tmp_path / "first", tmp_path / "elsewhere"
    work.mkdir(), elsewhere.mkdir()
    (work / "g.txt").write_text("".join(f"{i} {(7 * i + 1) % 20}\n" for i in range(20)))
    (work / "people.csv").write_text("id,age\n" + "".join(f"{i},{i * i}\n" for i in range(20)))
    monkeypatch.chdir(work)
    first = HONE(n_components=8, config={"attributes.file": "people.csv"}).fit(read_graph("g.txt"))
    record = os.path.abspath(write_embedding("z.npy", first)[-1])
    monkeypatch.chdir(elsewhere)
    again = HONE(config=record).fit(read_recorded_graph(record))
    np.testing.assert_array_equal(again.embedding_, first.embedding_)
    (work / "g.txt").unlink()
    with pytest.raises(ValueError, match="neither in .*first nor in this folder"):
        read_recorded_graph(record)


def test_weights_from_a_column_of_another_name(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("source,target,load\n1,2,5\n2,3,1\n")
    graph = read_graph(file, weighted=True)
    assert graph.weighted and "weights in `load`" in graph.reading
    with warnings.catch_warnings():
        warnings.simplefilter("error", HoneWarning)
        assert read_graph(file, weight="load").weighted
    file.write_text("source,target,load,cost\n1,2,5,1\n2,3,1,1\n")
    with pytest.raises(ValueError, match="target, load, cost is called weight.*with `weight`"):
        read_graph(file, weighted=True)


def test_tables_that_other_tools_wrote(tmp_path):
    file = tmp_path / "a.csv"
    table = pandas.DataFrame({"who": ["a", "b", "c"], "whom": ["b", "c", "a"]})
    table.to_csv(file)
    assert list(read_graph(file).node_ids) == ["a", "b", "c"]
    graph = Graph(pandas.read_csv(file))
    assert list(graph.node_ids) == ["a", "b", "c"] and "edges from `who` to `whom` (first edge a → b)" in graph.reading
    one = table.to_csv(index=False)
    file.write_text(one + one.replace("a", "d"))
    with pytest.warns(HoneWarning, match="1 line of .* is a further header, `who,whom`.*header=False"):
        assert read_graph(file, header=True).n_nodes == 4
    file.write_text("a;1,5;b\nb;2,5;c\n")
    assert "(first edge a → 1,5)" in read_graph(file).reading
    assert list(read_graph(file, source=0, target=2).node_ids) == ["a", "b", "c"]


def test_a_parameter_and_an_entry_of_config_may_not_contradict_each_other(karate):
    for parameter, config in (
        ({"n_components": 32}, {"global.dim": 16}),
        ({"n_local_components": 4}, {"local.dim": 8}),
        ({"n_steps": 2}, {"steps": "auto"}),
        ({"motifs": ["edge"]}, {"motifs": ["triangle"]}),
        ({"weights": False}, {"weights": True}),
        ({"random_state": 7}, {"seed": 8}),
    ):
        (name, value), (key, other) = *parameter.items(), *config.items()
        with pytest.raises(ValueError, match=rf"{name}: .*config has '{key}'.*leave one of the two out"):
            HONE(config=config, **parameter).fit(karate)
    with pytest.raises(ValueError, match="n_components: 32, but config has 'global.dim': 16"):
        HONE(n_components=32, config={"global": {"dim": 16}}).fit(karate)
    HONE(n_components=8, config={"global.dim": 8}).fit(karate)
    HONE(motifs=["edge", "triangle"], config={"motifs": "edge,triangle", "global.dim": 8}).fit(karate)


def test_messages_name_parameters_and_settings_and_no_options(tmp_path, karate):
    file = tmp_path / "a.csv"
    for text, parameters, said in (
        ("// hi\na,b\nb,c\n", {}, 'comment="/" skips it'),
        ("#a,b\n#c,d\n", {}, 'comment="none" reads them'),
        ("ab\ncd\n", {}, "name it with `delimiter`"),
        ("a,b\nb,c\nc,d,e\n", {}, "name what separates them with `delimiter`"),
        ("source,target,weight\na,b,much\n", {"weighted": True}, "weights with `weight`"),
    ):
        file.write_text(text)
        with pytest.raises(ValueError) as error:
            read_graph(file, **parameters)
        assert said in str(error.value) and " --" not in str(error.value)
    for config, said in (
        ({"global.dim": 0}, "global.dim"),
        ({"pairs": "occurrences", "sample": 8}, 'config={"sample": "exact"}'),
    ):
        with pytest.raises(ValueError) as error:
            HONE(config=config).fit(karate)
        assert said in str(error.value) and " --" not in str(error.value)
    with pytest.raises(MemoryError, match="memory_limit") as error:
        HONE(memory_limit="1M").fit(karate)
    assert " --" not in str(error.value)


def test_two_vectors_of_one_node(tmp_path):
    from hone_embed import read_embedding

    file = tmp_path / "z.tsv"
    file.write_text("id\tz0\na\t1\nb\t2\na\t3\n")
    with pytest.raises(ValueError, match="node `a` has two vectors, in lines 2 and 4"):
        read_embedding(file)


def test_tables_of_r_and_indices(tmp_path):
    file = tmp_path / "r.txt"
    file.write_text('"from" "to"\n"1" "a" "b"\n"2" "b" "c"\n"3" "c" "a"\n')
    with pytest.raises(ValueError, match="header=True reads it so"):
        read_graph(file)
    assert read_graph(file, header=True).node_ids.tolist() == ["a", "b", "c"]
    file.write_text("source target\n1 2\nsource target\n2 3\n")
    with pytest.warns(HoneWarning, match="is a further header, `source target`, and is left out; header=False reads it"):
        assert read_graph(file).n_nodes == 3
    file.write_text('"a \\"x\\" b" c\nd e\n')
    with pytest.raises(ValueError, match="a backslash before a quote.*write two quotes"):
        read_graph(file)


def test_sizes_have_the_units_that_were_typed():
    with pytest.raises(MemoryError, match=r"but only 5 MB may be used"):
        HONE(memory_limit="5MB").fit("builtin:karate")
    with pytest.raises(MemoryError, match=r"but only 5 MiB may be used"):
        HONE(memory_limit="5M").fit("builtin:karate")


def test_errors_name_settings_and_no_options_of_the_command(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("// hi\na,b\nb,c\n")
    calls = [
        lambda: read_graph(file),
        lambda: HONE(n_components=0).fit("builtin:karate"),
        lambda: HONE(n_steps=99).fit("builtin:karate"),
        lambda: HONE(memory_limit=1000).fit("builtin:karate"),
        lambda: HONE(config={"delta": {"triangle": 3}}).fit("builtin:karate"),
        lambda: HONE(config={"local.solver.method": "nothing"}).fit("builtin:karate"),
        lambda: HONE(config={"pairs": "occurrences", "sample": "cap=8"}).fit("builtin:karate"),
        lambda: HONE(config={"attributes.file": str(file)}).fit("builtin:karate"),
    ]
    for call in calls:
        with pytest.raises((ValueError, MemoryError)) as raised:
            call()
        assert " --" not in str(raised.value) and not str(raised.value).startswith("--"), str(raised.value)
