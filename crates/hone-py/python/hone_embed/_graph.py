"""The graph that everything works on, and the ways to get one."""

from __future__ import annotations

import json
import os
from typing import Any, Optional, Union

import numpy as np
import scipy.sparse

from hone_embed import _native
from hone_embed._inputs import Converted, Options, convert
from hone_embed._native import Graph as NativeGraph
from hone_embed._progress import listener
from hone_embed._warnings import warn

Column = Union[str, int]

#: What is said about weights that are left out: how to keep them, or that nothing uses them.
KEPT_BY, USED_BY, UNUSED = "weighted=True keeps weights", "weights=True uses weights", "weights are not used here"


class Graph:
    """An immutable graph with the node ids of its source.

    Parameters
    ----------
    data
        A matrix, an edge array, a list of edges, a graph of another library, a table, an Arrow stream or the name of a file.

        * A SciPy sparse matrix or array, or a dense square array: the adjacency. A CSR or CSC matrix may be used in
          place: do not change it while the graph is in use;
        * an integer array of shape (2, M) or (M, 2): the edges, between integer ids or names (an array of shape (2, 2) is read
          as one edge per row);
        * a list of pairs of ids, or of triples of these and a weight, which ``weighted=True`` keeps;
        * a graph of NetworkX, igraph, rustworkx, PyTorch Geometric (``Data``) or DGL;
        * a table of pandas, polars or pyarrow with one edge per row, or anything else that is an Arrow stream, such as a
          relation of DuckDB or a reader of record batches; a pandas adjacency whose index equals its columns;
        * the name of a file, or ``"builtin:karate"`` and the like (see :func:`read_graph`);
        * a :class:`Graph`, used unchanged.
    directed
        Whether edges have a direction. By default the object decides: NetworkX, igraph and rustworkx know; a matrix,
        ``Data`` or DGL graph is undirected if symmetric; edge lists, tables and files are undirected.
    weighted
        Whether to keep edge weights, which must then exist. By default they are kept if ``weight`` or ``edge_weight``
        names them; weights that are not kept are reported by a :class:`HoneWarning`.
    nodes
        Ids of all nodes in the desired order, for edge lists, tables and matrices; a number n stands for 0, …, n - 1.
        By default integer ids are in ascending order, others in order of appearance.
    edge_weight
        One weight per edge, for edge arrays.
    source, target, weight
        Columns of a table, by name or position; ``weight`` also names the edge attribute of NetworkX,
        igraph, DGL and ``Data`` graphs.
    bipartite
        Whether the two columns of an edge array, a table or a file name nodes of two kinds, such as users and items. Ids
        are then prefixed with the name of their column: ``"user:1"`` and ``"item:1"``.

    Examples
    --------
    >>> graph = Graph([("ann", "bob"), ("bob", "cid"), ("cid", "ann"), ("cid", "dee")])
    >>> graph
    Graph(nodes=4, edges=4)
    >>> graph.node_ids
    array(['ann', 'bob', 'cid', 'dee'], dtype='<U3')
    """

    __slots__ = ("_ids", "_native")
    _ids: Optional[np.ndarray]
    _native: NativeGraph

    def __init__(
        self,
        data: Any,
        *,
        directed: Optional[bool] = None,
        weighted: Optional[bool] = None,
        nodes: Any = None,
        edge_weight: Any = None,
        source: Optional[Column] = None,
        target: Optional[Column] = None,
        weight: Optional[Column] = None,
        bipartite: Optional[bool] = None,
    ) -> None:
        kept = _weighted(weighted, weight=weight, edge_weight=edge_weight)
        options = Options(directed, kept, nodes, edge_weight, source, target, weight, bipartite)
        self._native, self._ids = _converted(data, options)
        warn_of_input(self, data, None if weighted is False else KEPT_BY)

    @classmethod
    def _of(cls, native: NativeGraph, ids: Optional[np.ndarray] = None) -> Graph:
        graph = cls.__new__(cls)
        graph._native, graph._ids = native, ids
        return graph

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self._native.nodes

    @property
    def n_edges(self) -> int:
        """Number of edges: undirected ones once, arcs of a directed graph each."""
        return self._native.edges

    @property
    def directed(self) -> bool:
        """Whether edges have a direction."""
        return self._native.directed

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return self._native.weighted

    @property
    def node_ids(self) -> np.ndarray:
        """Ids of the nodes, in the order of every result."""
        if self._ids is not None:
            return self._ids
        return ids_to_array(self._native.ids(), self.n_nodes)

    @property
    def dropped(self) -> dict[str, int]:
        """How many self-loops, duplicates and weights were dropped: ``data`` has them, the graph does not."""
        return dict(zip(("self_loops", "duplicates", "weights"), self._native.dropped))

    @property
    def reading(self) -> Optional[str]:
        """How the file or table was read, in one line, with the parameters that decide otherwise; None for other sources.

        >>> import pandas
        >>> Graph(pandas.DataFrame({"source": ["ann", "bob"], "target": ["bob", "cid"]})).reading
        'the table: edges from `source` to `target` (first edge ann → bob)'
        """
        return None if self._native.reading is None else _native.line(self._native.reading)

    def adjacency(self) -> scipy.sparse.csr_array:
        """The adjacency as a SciPy matrix, with ones if there are no weights.

        >>> Graph([(0, 1), (1, 2)]).adjacency().toarray()
        array([[0., 1., 0.],
               [1., 0., 1.],
               [0., 1., 0.]], dtype=float32)
        """
        indptr, indices, weights = self._native.csr()
        if weights is None:
            weights = np.ones(len(indices), dtype=np.float32)
        shape = (self.n_nodes, self.n_nodes)
        return scipy.sparse.csr_array((weights, indices, indptr.astype(indices.dtype)), shape=shape)

    @property
    def edge_index(self) -> np.ndarray:
        """int64, shape (2, number of arcs): the rows of both ends of each arc, as PyTorch Geometric has them; an undirected edge
        is two arcs. ``adjacency().data`` has weights in this order.

        >>> Graph([("ann", "bob"), ("bob", "cid")]).edge_index
        array([[0, 1, 1, 2],
               [1, 0, 2, 1]])
        """
        indptr, indices, _ = self._native.csr()
        rows = np.repeat(np.arange(self.n_nodes, dtype=np.int64), np.diff(indptr))
        return np.stack([rows, indices.astype(np.int64)])

    def to_networkx(self) -> Any:
        """The graph as a NetworkX graph, with the same ids and weights.

        >>> Graph([("ann", "bob"), ("bob", "cid")]).to_networkx().edges
        EdgeView([('ann', 'bob'), ('bob', 'cid')])
        """
        import networkx

        graph = networkx.DiGraph() if self.directed else networkx.Graph()
        graph.add_nodes_from(self.node_ids.tolist())
        columns = (values.tolist() for values in self._edges().values())
        if self.weighted:
            graph.add_weighted_edges_from(zip(*columns))
        else:
            graph.add_edges_from(zip(*columns))
        return graph

    def to_pandas(self) -> Any:
        """The edges as a pandas DataFrame, undirected ones once.

        >>> Graph([("ann", "bob"), ("bob", "cid")]).to_pandas()
          source target
        0    ann    bob
        1    bob    cid
        """
        import pandas

        return pandas.DataFrame(self._edges())

    def _edges(self) -> dict[str, np.ndarray]:
        """The ids of the ends of each edge, and the weights if there are some."""
        matrix = self.adjacency()
        matrix = (matrix if self.directed else scipy.sparse.triu(matrix)).tocoo()
        ids = self.node_ids
        edges = {"source": ids[matrix.row], "target": ids[matrix.col]}
        return {**edges, "weight": matrix.data} if self.weighted else edges

    def __repr__(self) -> str:
        kind = "".join(f", {word}=True" for word in ("directed", "weighted") if getattr(self, word))
        return f"Graph(nodes={self.n_nodes}, edges={self.n_edges}{kind})"

    def __reduce__(self) -> Any:
        return _restore, (self.adjacency(), self.directed, self.weighted, self._ids_to_keep())

    def _named(self) -> NativeGraph:
        """The native graph with the ids it may not know of, for files that go by them."""
        return self._native if self._ids is None else self._native.with_ids(ids_to_native(self._ids))

    def _ids_to_keep(self) -> Optional[np.ndarray]:
        own = self._ids is not None or self._native.ids() is not None
        return self.node_ids if own else None

    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: Any) -> Graph:
        return self


def _restore(adjacency: Any, directed: bool, weighted: bool, ids: Optional[np.ndarray]) -> Graph:
    weights = adjacency.data if weighted else None
    native = _native.Graph.from_csr(adjacency.indptr, adjacency.indices, weights, directed)
    return Graph._of(native, ids)


def _converted(data: Any, options: Options) -> Converted:
    """The native graph of any object that is one, a :class:`Graph` among them."""
    if not isinstance(data, Graph):
        return convert(data, options)
    options.refuse("a Graph", "nodes", "edge_weight", "source", "target", "weight", "bipartite")
    if options.directed is not None and options.directed != data.directed:
        raise ValueError(f"directed: the Graph has directed={data.directed}; make it with directed={options.directed}")
    if options.weighted and not data.weighted:
        raise ValueError("weights: the Graph has none; make it with weighted=True")
    return data._native, data._ids


def as_graph(
    data: Any, *, directed: Optional[bool] = None, weighted: bool = False, unused: Optional[str] = UNUSED
) -> Graph:
    """``data`` as a graph; a :class:`Graph` as it is, if it is what is needed.

    ``unused`` says what about weights that are left out; None if nobody wants them.
    """
    graph = as_quiet_graph(data, Options(directed, weighted))
    warn_of_input(graph, data, unused)
    return graph


def as_quiet_graph(data: Any, options: Options) -> Graph:
    """:func:`as_graph` without warnings, for data that may be something else; :func:`warn_of_input` gives them."""
    return Graph._of(*_converted(data, options))


def warn_of_input(graph: Graph, data: Any, unused: Optional[str]) -> None:
    """Warns of what stands out in ``data`` that became a graph, and of what was left out."""
    if not isinstance(data, Graph):
        _warn(graph._native, unused)


def _weighted(weighted: Optional[bool], **named: Any) -> bool:
    """Whether weights are kept: as given, or because something names them."""
    name = next((name for name, value in named.items() if value is not None), None)
    if weighted is False and name is not None:
        raise ValueError(f"weighted: {name} names weights and weighted=False drops them; leave one of the two out")
    return bool(weighted) or name is not None


def ids_to_array(ids: Any, count: int) -> np.ndarray:
    """Ids of the native half (nothing, integers or names) as an array."""
    return np.arange(count) if ids is None else np.asarray(ids)


def ids_to_native(ids: np.ndarray) -> Any:
    """Ids as the native half takes them: integers as they are, anything else as text."""
    return ids.astype(np.int64) if ids.dtype.kind in "iu" else [str(id) for id in ids.tolist()]


def _warn(native: NativeGraph, unused: Optional[str]) -> None:
    """Warns of what stands out in a file that was read, and of what was left out."""
    for note in native.notes:
        warn(note)
    loops, duplicates, weights = native.dropped
    counts = {"self-loop": loops, "weight": weights if unused else 0}
    parts = [f"{count} {what}{'s' * (count > 1)}" for what, count in counts.items() if count]
    if parts:
        warn(f"dropped {', '.join(parts)}" + (f" ({unused})" if counts["weight"] else ""))
    if duplicates:
        summed = "; weights are summed" if native.weighted else ""
        warn(f"merged {duplicates} duplicate edge{'s' * (duplicates > 1)}{summed}")


def read_graph(
    path: Union[str, os.PathLike[str]],
    *,
    directed: bool = False,
    weighted: Optional[bool] = None,
    format: Optional[str] = None,
    delimiter: Optional[str] = None,
    comment: Optional[str] = None,
    header: Optional[bool] = None,
    source: Optional[Column] = None,
    target: Optional[Column] = None,
    weight: Optional[Column] = None,
    bipartite: Optional[bool] = None,
    nodes: Union[str, os.PathLike[str], None] = None,
    verbose: bool = False,
) -> Graph:
    """Read a graph from a file: edge list, Matrix Market, METIS or Parquet, plain, ``.gz`` or ``.zst``.

    Parameters
    ----------
    path
        The file, a folder of Parquet files, or ``"builtin:NAME"`` for a small built-in graph: karate, florentine, petersen,
        star, grid, barbell, ring-of-cliques.
    directed, weighted
        Keep directions, keep weights.
    format
        ``"edges"``, ``"mtx"``, ``"parquet"`` or ``"metis"``, if content and extension do not determine it.
    delimiter, header, source, target, weight
        What separates columns (a character, ``"tab"``, ``"space"``, symbols such as ``"::"``, or ``"copy"`` for the text
        of PostgreSQL's COPY), whether the first line names them, and which they are (by name or by position from 0). By
        default the rules of the formats page decide, and :attr:`Graph.reading` says how. Naming ``weight`` keeps the
        weights.
    comment
        What begins comment lines: a character, or ``"none"``. By default ``#`` and ``%``, before the first edge.
    bipartite
        As for :class:`Graph`.
    nodes
        A file with one node id per line, which fixes the order and adds nodes without an edge.

    Examples
    --------
    >>> read_graph("builtin:florentine").node_ids[:2]
    array(['Acciaiuoli', 'Albizzi'], dtype='<U12')
    """
    kept = _weighted(weighted, weight=weight)
    options: dict[str, Any] = {"directed": directed, "weighted": kept, "format": format, "header": header}
    options["bipartite"] = bipartite
    options.update(delimiter=delimiter, comment=comment, source=source, target=target, weight=weight)
    options["nodes"] = None if nodes is None else os.fspath(nodes)
    with listener(verbose) as listen:
        native = _native.read(os.fspath(path), json.dumps(options), listen)
    _warn(native, None if weighted is False else KEPT_BY)
    return Graph._of(native)


def read_recorded_graph(
    record: Union[str, os.PathLike[str]], *, changed: str = "refuse", verbose: bool = False
) -> Graph:
    """Read the graph of an earlier run again, from the file and with the options in the record of the run.

    Together with ``HONE(config=record)`` this repeats the run.

    Parameters
    ----------
    record
        The ``OUT.run.json`` that the command ``hone`` or :func:`write_embedding` wrote.
    changed
        What to do if the graph has changed since: ``"refuse"`` it, or ``"warn"`` and return it.

    Examples
    --------
    >>> import os, tempfile
    >>> from hone_embed import HONE, write_embedding
    >>> file = os.path.join(tempfile.mkdtemp(), "z.npy")
    >>> first = HONE(n_components=24, random_state=7).fit("builtin:karate")
    >>> files = write_embedding(file, first)
    >>> again = HONE(config=file + ".run.json").fit(read_recorded_graph(file + ".run.json"))
    >>> bool((first.embedding_ == again.embedding_).all())
    True
    """
    if changed not in ("refuse", "warn"):
        raise ValueError(f"changed: {changed!r} is neither 'refuse' nor 'warn'")
    with listener(verbose) as listen:
        native, difference = _native.read_recorded(os.fspath(record), listen)
    _warn(native, "as in that run")
    if difference is not None:
        message = f"{os.fspath(record)}: not the graph of that run: {difference}"
        if changed == "refuse":
            raise ValueError(f"{message}; changed='warn' uses it")
        warn(message)
    return Graph._of(native)


def compare_attributes(record: str, file: str) -> None:
    """Warns if a run is repeated with another file of attributes than its record names."""
    difference = _native.attributes_difference(record, file)
    if difference is not None:
        warn(f"{file}: not the attributes of {record}: {difference}")


def generate(model: str, *, random_state: int = 0, verbose: bool = False, **parameters: Any) -> Graph:
    """Generate a random or regular graph; the same seed gives the same graph.

    Parameters
    ----------
    model
        ``"er"`` (Erdős–Rényi), ``"ba"`` (Barabási–Albert): ``nodes``, ``degree``; ``"rmat"``: also
        ``quadrants``; ``"sbm"`` (stochastic block model): also ``communities``, ``mixing``;
        ``"ring-of-cliques"``: ``cliques``, ``size``; ``"barbell"``: ``size``, ``path``.
    random_state
        The seed.

    Examples
    --------
    >>> generate("sbm", nodes=200, degree=12, communities=4, mixing=0.1).n_nodes
    200
    """
    if model == "rmat":
        parameters.setdefault("quadrants", (0.57, 0.19, 0.19, 0.05))
    if model == "sbm":
        parameters.setdefault("mixing", 0.1)
    if model == "barbell":
        parameters.setdefault("path", 0)
    text = json.dumps({"model": model, **parameters}, default=_plain)
    with listener(verbose) as listen:
        try:
            return Graph._of(_native.generate(text, random_state, listen))
        except ValueError as error:
            missing = str(error).partition("missing field `")[2].rstrip("`")
            if missing:
                raise ValueError(f"{missing}: it is needed for {model!r}") from None
            raise


def _plain(value: Any) -> Any:
    """NumPy numbers as Python ones, for JSON."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{value!r} is not a plain value")
