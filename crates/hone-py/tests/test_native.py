"""The border between Python and Rust: signals, threads, memory, errors, panics, types."""

import ast
import builtins
import doctest
import importlib
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import hone_embed
import numpy as np
import pytest
import scipy.sparse
from hone_embed import HONE, Graph, _native, count_orbits, generate, motif_matrix, read_graph

PACKAGE = Path(hone_embed.__file__).parent
PROJECT = Path(__file__).resolve().parents[1]


def test_threads_of_python_run_meanwhile():
    ticks = []
    graph = generate("er", nodes=2_000, degree=10)
    worker = threading.Thread(target=lambda: HONE("hone-p").fit(graph))
    worker.start()
    while worker.is_alive():
        ticks.append(time.perf_counter())
        time.sleep(0.005)
    assert len(ticks) > 20


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT to send on Windows")
@pytest.mark.parametrize("wait", [0.3, 1.0, 2.5])
def test_interrupts_end_the_work(wait):
    """A run of minutes in a process of its own, interrupted as by Ctrl-C, ends before it is finished."""
    code = """
from hone_embed import HONE, generate
graph = generate("er", nodes=200_000, degree=30)
print("ready", flush=True)
try:
    endless = {"local.solver.iterations": 200, "local.solver.tolerance": 0}
    HONE("hone-l", n_local_components=64, n_steps=8, config=endless).fit(graph)
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(wait)
        process.send_signal(signal.SIGINT)
        answer, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert answer == "interrupted\n"


def test_columns_of_a_matrix_are_not_copied():
    graph = generate("er", nodes=2000, degree=8)
    matrix = graph.adjacency()
    for lent in (matrix, matrix.tocsc(), scipy.sparse.csr_matrix(matrix)):
        assert lent.indices.dtype == np.int32
        assert Graph(lent)._native.address() == lent.indices.ctypes.data
    wide = matrix.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert Graph(wide)._native.address() != wide.indices.ctypes.data


def test_lent_memory_outlives_the_matrix():
    matrix = generate("er", nodes=500, degree=8).adjacency()
    graph, before = Graph(matrix), matrix.toarray()
    references = sys.getrefcount(matrix.indices)
    with pytest.raises(ValueError, match="resize"):
        matrix.indices.resize(3)
    indices = matrix.indices
    del matrix
    np.testing.assert_array_equal(graph.adjacency().toarray(), before)
    del graph
    assert sys.getrefcount(indices) < references


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured through /proc")
def test_memory_of_a_matrix_is_not_taken_twice():
    """Making a graph of a matrix takes the row offsets; making one of edges takes the columns too."""
    code = """
import numpy as np, scipy.sparse
from hone_embed import Graph
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
nodes, degree = 20_000, 500
row = np.arange(nodes)[:, None]
steps = np.concatenate([np.arange(1, degree // 2 + 1), -np.arange(1, degree // 2 + 1)])
indices = np.sort((row + steps) % nodes, axis=1).astype(np.int32).ravel()
indptr = np.arange(0, nodes * degree + 1, degree, dtype=np.int32)
matrix = scipy.sparse.csr_array((np.ones(len(indices), dtype=bool), indices, indptr), shape=(nodes, nodes))
Graph(matrix[:100, :100])  # what the first call takes once and for all
before = resident()
graph = Graph(matrix)
lent = resident() - before
matrix.indices = matrix.indices.astype(np.int64)
before = resident()
copied = Graph(matrix)
print(lent, resident() - before, 4 * len(indices))
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lent, copied, columns = map(int, answer.stdout.split())
    assert lent < columns / 10, (lent, columns)
    assert copied > columns * 0.8, (copied, columns)


def test_vectors_are_not_copied_either():
    vectors = HONE("hone-p", n_components=4).fit("builtin:karate").embedding_
    assert isinstance(vectors.base, _native.Vectors)
    assert vectors.flags.c_contiguous and vectors.flags.writeable


def test_arrays_changed_in_use_are_an_exception_and_no_crash(capfd):
    matrix = generate("er", nodes=500, degree=8).adjacency()
    graph = Graph(matrix)
    matrix.indices[:] = 2**31 - 1
    for work in (lambda: count_orbits(graph), lambda: HONE().fit(graph)):
        with pytest.raises(RuntimeError, match="internal error: index out of bounds"):
            work()
    assert Graph("builtin:karate").n_edges == 78


def test_errors_have_the_text_of_the_library(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"missing\.tsv: No such file"):
        read_graph(tmp_path / "missing.tsv")
    with pytest.raises(ValueError, match="there is no .parquet file in this folder"):
        read_graph(tmp_path)
    with pytest.raises(OSError, match="missing"):
        HONE(config=tmp_path / "missing.toml").fit("builtin:karate")
    broken = tmp_path / "broken.tsv"
    broken.write_text("1\t2\n3\n")
    with pytest.raises(ValueError, match=r"broken\.tsv, line 2"):
        read_graph(broken)
    with pytest.raises(MemoryError, match="the embedding needs about .* but only 1000 B may be used; .* raise memory_limit"):
        HONE(memory_limit=1000).fit("builtin:karate")
    with pytest.raises(ValueError, match="`lots` is not a size"):
        HONE(memory_limit="lots").fit("builtin:karate")
    assert HONE(memory_limit="2G", n_components=24).fit("builtin:karate").embedding_.shape == (34, 24)
    saved = HONE("hone-p", n_components=24, checkpoint=tmp_path / "saved")
    first = saved.fit_transform("builtin:karate")
    np.testing.assert_array_equal(first, saved.fit_transform("builtin:karate"))
    with pytest.raises(ValueError, match="global.dim is 24 there and 25 here"):
        saved.set_params(n_components=25).fit("builtin:karate")
    with pytest.raises(ValueError, match=r"preset: `home` is not a preset of HONE; did you mean `hone`\?"):
        HONE("home").fit("builtin:karate")


def embed_karate(_):
    return HONE(n_components=24).fit_transform("builtin:karate")


OPERATOR = motif_matrix("builtin:karate", "triangle", "p", 2)


def multiply(_):
    return OPERATOR @ np.ones(34)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("work", [embed_karate, multiply])
def test_forked_processes_work(work):
    expected = work(None)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for found in pool.map_async(work, range(4)).get(timeout=60):
            np.testing.assert_array_equal(found, expected)


def test_progress_through_tqdm(capfd):
    HONE("hone-p", n_components=16, verbose=True).fit(generate("er", nodes=1_500, degree=20))
    shown = capfd.readouterr().err
    assert "local embeddings" in shown
    HONE("hone-p", n_components=16).fit("builtin:karate")
    assert capfd.readouterr() == ("", "")


def test_progress_without_tqdm(capfd, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    HONE("hone-p", n_components=16, verbose=True).fit("builtin:karate")
    assert "hone: local embeddings" in capfd.readouterr().err


def test_listeners_may_fail():
    def fail(kind, text, number):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        _native.generate('{"model": "er", "nodes": 300000, "degree": 10}', 1, fail)


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
def test_threads_are_no_more_than_a_few_per_core():
    code = """
import os
from hone_embed import _native
threads = lambda: len(os.listdir("/proc/self/task"))
before, seen = threads(), []
_native.generate('{"model": "er", "nodes": 2000000, "degree": 4}', 1, lambda *event: seen.append(threads()))
print(max(seen) - before)
"""
    environment = {**os.environ, "RAYON_NUM_THREADS": "700"}
    command = [sys.executable, "-c", code]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert int(answer.stdout) <= 4 * os.cpu_count() + 1


def test_no_library_is_imported_unless_its_objects_come():
    code = """
import sys
import scipy.sparse.linalg, sklearn.base, sklearn.utils.validation  # may import some by themselves
before = set(sys.modules)
from hone_embed import HONE
HONE(n_components=24).fit_transform("builtin:karate")
optional = "networkx igraph rustworkx torch torch_geometric dgl pandas polars pyarrow tqdm matplotlib".split()
print([name for name in optional if name in set(sys.modules) - before])
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_numpy_alone_is_enough():
    """Of the libraries of tables and graphs none has to be there."""
    code = """
import sys
import numpy as np
import scipy.sparse.linalg, sklearn.base, sklearn.utils.validation
for name in "networkx igraph rustworkx torch pandas polars pyarrow tqdm matplotlib".split():
    sys.modules[name] = None
import hone_embed as h
edges = np.array([[0, 1], [1, 2], [2, 0], [2, 3]])
hone = h.HONE(n_components=4).fit(edges)
results = [h.count_orbits(edges), h.features(edges), h.roles(edges, 2), h.neighbours(hone, 2)]
print(len([result._repr_html_() for result in results]), hone.transform(edges).shape)
"""
    answer = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout == "4 (4, 4)\n"


def pyright(*arguments):
    pytest.importorskip("pyright")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson", *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=PROJECT)
    errors = [f"{found['file']}:{found['range']['start']['line'] + 1}: {found['message']}"
              for found in json.loads(answer.stdout)["generalDiagnostics"] if found["severity"] == "error"]  # fmt: skip
    assert errors == []


def test_types_of_the_package():
    """Strictly, by the settings of pyproject.toml."""
    pyright("-p", str(PROJECT))


def test_types_as_a_user_sees_them(tmp_path):
    """Results are known by their types: under all strict rules nothing is unknown in a program that uses them."""
    program = tmp_path / "program.py"
    program.write_text("""# pyright: strict
import hone_embed as h

graph = h.Graph([(0, 1), (1, 2)])
hone = h.HONE(n_components=4, weight="amount").fit(graph)
shares: dict[str, float] = hone.motif_importance_
counts = h.count_orbits(graph, motifs=["triangle"])
names: list[str] = counts.names + h.features(graph).columns
rows = h.neighbours(hone, 2).rows.shape[0] + counts.counts.sum()
found = h.roles(graph, 2)
text: str = found.explain(0) + found.names[0] + h.draw_map(graph, hone).html
scores = h.evaluate_nodes(graph, {0: "a", 1: "b"}).rows + h.evaluate_link_prediction(graph).rows
best: str = h.tune(graph, candidates=["hone"]).chosen
vectors = h.read_embedding("z.npy").vectors @ hone.embedding_
model = h.HONE.load("m.hone")
model.save("other.hone")
""")
    pyright(str(program))


def test_stubs_name_what_there_is():
    tree = ast.parse((PACKAGE / "_native.pyi").read_text(encoding="utf-8"))
    defined = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    public = {name for name in dir(_native) if not name.startswith("_")} - {"VERSION"}
    assert set(defined) == public
    for name, node in defined.items():
        if isinstance(node, ast.ClassDef):
            members = {part.name for part in node.body if isinstance(part, ast.FunctionDef)} - {"__init__"}
            assert members == {member for member in dir(getattr(_native, name)) if not member.startswith("_")}
        else:
            given = getattr(_native, name).__text_signature__
            assert [part.arg for part in node.args.args] == re.findall(r"(\w+)(?:=[^,)]*)?(?=[,)])", given)
    assert (PACKAGE / "py.typed").exists() and hone_embed.__version__ == _native.VERSION


MODULES = ["hone_embed"] + [
    f"hone_embed.{file.stem}" for file in sorted(PACKAGE.glob("_*.py")) if file.stem != "__init__"
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_public_names_are_documented_with_examples():
    for name in set(hone_embed.__all__) - {"__version__"}:
        assert ">>> " in (getattr(hone_embed, name).__doc__ or ""), name
        assert not hasattr(builtins, name), name


def test_results_in_notebooks():
    """Line, table and data frame of one result have the same columns; names are escaped."""
    counts = count_orbits([("<a>", "b"), ("b", "c")], motifs="size3")
    assert repr(counts) == "OrbitCounts(2 rows: source, target, edge, path3, triangle)"
    assert list(counts.to_pandas().columns) == ["source", "target", "edge", "path3", "triangle"]
    page = counts._repr_html_()
    assert "<td>&lt;a&gt;</td>" in page and "<th>path3</th>" in page and page.count("<tr>") == 3
    many = hone_embed.Embedding(np.arange(50), np.zeros((50, 40), dtype=np.float32), [f"z{k}" for k in range(40)])
    assert repr(many).startswith("Embedding(50 rows: id, z0") and repr(many).endswith("…)")
    assert many._repr_html_().count("<tr>") == 11 and many._repr_html_().count("<th>") == 12
    with pytest.raises(AttributeError):
        many.columns = []
    empty = hone_embed.Embedding(np.arange(0), np.zeros((0, 2), dtype=np.float32), ["z0", "z1"])
    assert repr(empty) == "Embedding(0 rows: id, z0, z1)" and len(empty.to_pandas()) == 0


@pytest.mark.parametrize("kind", [{}, {"directed": True}, {"weighted": True}])
def test_graphs_lead_back(kind):
    """The graph that its NetworkX and pandas forms give is the same."""
    edges = [("a", "b", 2.0), ("c", "a", 0.5), ("b", "a", 3.0)] if kind.get("directed") else [("a", "b", 2.0), ("c", "a", 0.5)]
    weights = [weight for *_, weight in edges] if kind.get("weighted") else None
    graph = Graph([edge[:2] for edge in edges], nodes=["d", "c", "b", "a"], edge_weight=weights, **{"directed": False, **kind})
    other = Graph(graph.to_networkx(), weighted=graph.weighted)
    assert repr(other) == repr(graph) and list(other.node_ids) == ["d", "c", "b", "a"]
    np.testing.assert_array_equal(other.adjacency().toarray(), graph.adjacency().toarray())
    table = Graph(graph.to_pandas(), nodes=list(graph.node_ids), directed=graph.directed, weighted=graph.weighted)
    np.testing.assert_array_equal(table.adjacency().toarray(), graph.adjacency().toarray())
