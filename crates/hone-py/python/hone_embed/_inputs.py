"""From any object that is a graph to the native one: one converter per kind of object.

Libraries are recognised by the module an object's class comes from, so none is imported for an object that
is not its own. What a converter returns is the native graph and, where the native half does not know
them, the ids.
"""

from __future__ import annotations

import json
import numbers
import os
from collections.abc import Iterable
from typing import Any, Callable, NamedTuple, Optional

import numpy as np
import scipy.sparse

from hone_embed import _native
from hone_embed._arrow import Batches, edge_columns, is_stream, is_table, node_ids
from hone_embed._ids import id_array, integers, is_missing, narrow, node_list, positions, weight_array
from hone_embed._warnings import warn

Converted = tuple[_native.Graph, Optional[np.ndarray]]

#: Libraries whose graphs know whether they are directed.
KNOWING = ("networkx", "igraph", "rustworkx")

#: Rows of a table that are looked at to find out which column is what.
SAMPLE = 100


class Options(NamedTuple):
    """What the caller says about the object; see :class:`hone_embed.Graph`."""

    directed: Optional[bool] = None
    weighted: bool = False
    nodes: Any = None
    edge_weight: Any = None
    source: Any = None
    target: Any = None
    weight: Any = None
    bipartite: Optional[bool] = None

    def refuse(self, what: str, *names: str) -> None:
        """Complains about options that say nothing about this kind of object."""
        for name in names:
            if getattr(self, name) is not None:
                raise ValueError(f"{name}: {what} has its own; leave it out")


def convert(data: Any, options: Options) -> Converted:
    """The native graph of any object that is one."""
    for accepts, converter in CONVERTERS:
        if accepts(data):
            return converter(data, options)
    kind = f"{type(data).__module__}.{type(data).__qualname__}"
    raise TypeError(
        f"graph: a {kind} is not a graph; pass a SciPy matrix, an edge array or table, an Arrow stream, a cursor, a graph of NetworkX, igraph, "
        "rustworkx, PyTorch Geometric or DGL, a file name, or a hone_embed.Graph"
    )


def comes_from(*modules: str) -> Callable[[Any], bool]:
    """Whether an object is of a class of one of these libraries."""
    return lambda data: any(base.__module__.split(".")[0] in modules for base in type(data).__mro__)


# --- matrices


def _from_sparse(data: Any, options: Options) -> Converted:
    options.refuse("a matrix", "edge_weight", "source", "target", "weight", "bipartite")
    if data.ndim != 2 or data.shape[0] != data.shape[1]:
        raise ValueError(f"adjacency: shape {data.shape}; it must be square")
    if data.format not in ("csr", "csc"):
        data = data.tocsr()
    if np.iscomplexobj(data.data):
        raise ValueError("adjacency: Complex data not supported")
    if data.data.dtype.kind == "f" and not np.isfinite(data.data).all():
        raise ValueError("adjacency: Input contains NaN or infinity; every entry must be finite")
    if np.count_nonzero(data.data) < len(data.data):
        data = data.copy()
        data.eliminate_zeros()
    ids = _matrix_ids(options.nodes, data.shape[0])
    if data.format == "csc":
        # The columns of a matrix are the rows of its transpose: the same when it is symmetric, and
        # for an undirected graph of arcs it does not matter which way they point.
        native = None if options.directed else _compressed(data, options)
        if native is not None and not native.directed:
            return native, ids
        data = data.tocsr()
    return _compressed(data, options), ids


def _compressed(data: Any, options: Options) -> _native.Graph:
    indptr, indices = (integers(part) for part in (data.indptr, data.indices))
    weights = weight_array(data.data) if options.weighted else None
    native = _native.Graph.from_csr(indptr, np.ascontiguousarray(indices), weights, options.directed)
    # Ones are how an adjacency is written, not weights.
    return native if options.weighted or (data.data == 1).all() else native.without_weights(native.edges)


def _from_dense(data: np.ndarray, options: Options) -> Converted:
    if data.dtype.kind == "O":
        data = data.astype(np.float64)
    if data.dtype.kind == "f" and not np.isfinite(data).all():
        raise ValueError("adjacency: Input contains NaN or infinity; every entry must be finite")
    return _from_sparse(scipy.sparse.csr_array(data), options)


def _node_list(nodes: Any) -> np.ndarray:
    """Ids of all nodes: a number of them, a list, or a table that is an Arrow stream or a cursor."""
    return node_list(node_ids(nodes) if is_table(nodes) else nodes)


def _matrix_ids(nodes: Any, count: int) -> Optional[np.ndarray]:
    if nodes is None:
        return None
    ids = _node_list(nodes)
    if len(ids) != count:
        raise ValueError(f"nodes: {len(ids)} ids for {count} rows; give one per row")
    return ids


# --- edges


def _from_list(data: Any, options: Options) -> Converted:
    """Edges as pairs of ids, or as triples of these and a weight; other lists as the arrays that they are."""
    rows = [row if isinstance(row, (list, tuple)) else None for row in data]
    if not rows or all(row is None for row in rows):
        return _from_array(data, options)
    widths = [-1 if row is None else len(row) for row in rows]
    odd = next((k for k, width in enumerate(widths) if width != widths[0]), None)
    if odd is not None:
        first, other = (_shape(row) for row in (data[0], data[odd]))
        raise ValueError(
            f"graph: row {odd} of the list {other}, row 0 {first}; give pairs of ids, or for all edges an id, an id and a weight"
        )
    if widths[0] not in (2, 3):
        if widths[0] != len(rows):
            raise ValueError(
                f"graph: a list of {len(rows)} rows of {widths[0]}; Expected 2D array: give edges as pairs of ids, or as an id, an "
                "id and a weight; 2 × M edges and matrices as a NumPy array. Reshape your data"
            )
        return _from_array(data, options)
    sources, targets, *found = ([row[k] for row in data] for k in range(widths[0]))
    weights = options.edge_weight
    if found:
        options.refuse("a list of edges with weights", "edge_weight")
        given = [_listed_weight(row, data[row], value) for row, value in enumerate(found[0])]
        weights = given if options.weighted else None
    options.refuse("a list of edges", "source", "target", "weight")
    if options.weighted and weights is None:
        raise ValueError("weights: a list of pairs has none; give (source, target, weight), or pass them as edge_weight")
    native, ids = _from_columns(_listed_ids(sources), _listed_ids(targets), weights, options)
    return native.without_weights(len(rows)) if found and not options.weighted else native, ids


def _shape(row: Any) -> str:
    if isinstance(row, (list, tuple)):
        return f"has {len(row)} {'entry' if len(row) == 1 else 'entries'}"
    return f"is of the type {type(row).__name__}"


def _listed_ids(values: list[Any]) -> Any:
    """Ids as a column of a table has them: NumPy would write numbers among names as text."""
    return np.asarray(values) if all(isinstance(value, (numbers.Real, np.bool_)) for value in values) else narrow(values)


def _listed_weight(row: int, edge: Any, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        remedy = "give the NetworkX graph itself" if isinstance(value, dict) else "leave it out, or give a number"
        raise ValueError(f"graph: row {row} of the list is {edge!r}, whose third entry is not a weight; {remedy}") from None


def _from_array(data: Any, options: Options) -> Converted:
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise ValueError(f"graph: a list that is no array ({error}); give pairs of ids") from None
    if array.ndim == 1 and array.size == 0:
        array = array.reshape(0, 2).astype(np.int64)
    if array.ndim != 2:
        raise ValueError(
            f"graph: an array of {array.ndim} dimensions and shape {array.shape}; Expected 2D array: edges (2 × M or "
            "M × 2) or a square adjacency. Reshape your data"
        )
    if np.iscomplexobj(array):
        raise ValueError("graph: Complex data not supported")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError("graph: Input contains NaN or infinity; every entry must be finite")
    if 0 in array.shape and 2 not in array.shape:
        what = "sample(s)" if array.shape[0] == 0 else "feature(s)"
        raise ValueError(f"graph: an empty array, 0 {what} (shape={array.shape}) while a minimum of 1 is required.")
    is_edges = (
        2 in array.shape and array.dtype.kind in "iuUSTO" and not (array.dtype.kind == "O" and _is_numbers(array))
    )
    if is_edges:
        if array.shape == (2, 2) and isinstance(data, np.ndarray) and np.isin(array, (0, 1)).all():
            warn(
                "an array of shape (2, 2) is read as two edges, one per row; scipy.sparse.csr_array of it is an adjacency"
            )
        sources, targets = (array[:, 0], array[:, 1]) if array.shape[1] == 2 else (array[0], array[1])
        options.refuse("an edge array", "source", "target", "weight")
        if options.weighted and options.edge_weight is None:
            raise ValueError("weights: an edge array has none; pass them as edge_weight")
        return _from_columns(sources, targets, options.edge_weight, options)
    if array.shape[0] == array.shape[1]:
        return _from_dense(array, options)
    raise ValueError(
        f"graph: an array of {array.dtype} and shape {array.shape} is neither edges (integers or names, 2 × M or "
        "M × 2) nor a square adjacency"
    )


def _is_numbers(array: np.ndarray) -> bool:
    return array.size > 0 and all(isinstance(value, (float, complex)) for value in array.flat)


def _from_columns(
    sources: Any, targets: Any, weights: Any, options: Options, sides: tuple[str, str] = ("source", "target")
) -> Converted:
    """Edges between ids of any kind, given by their two columns, which are called ``sides``."""
    directed = bool(options.directed)
    weights = None if weights is None else weight_array(weights)
    if weights is not None and len(weights) != len(sources):
        raise ValueError(f"weights: {len(weights)} for {len(sources)} edges; give one per edge")
    sources, targets = id_array(sources, "source"), id_array(targets, "target")
    if options.bipartite:
        left, right = sides if sides[0] != sides[1] else ("source", "target")
        sources, targets = (
            np.asarray([f"{side}:{id}" for id in ids.tolist()], dtype=np.str_)
            for side, ids in ((left, sources), (right, targets))
        )
    if options.nodes is not None:
        ids = _node_list(options.nodes)
        sources, targets = positions(ids, sources), positions(ids, targets)
        return _native.Graph.from_edges(len(ids), sources, targets, weights, directed), ids
    kinds = sources.dtype.kind + targets.dtype.kind
    if kinds == "ii":
        return _native.Graph.from_integers(sources, targets, weights, directed), None
    if kinds == "UU":
        native = _native.Graph.from_texts(sources.tolist(), targets.tolist(), weights, directed)
        return native, np.asarray(native.ids(), dtype=np.str_) if native.nodes else None
    numbers: dict[Any, int] = {}
    pairs = [numbers.setdefault(id, len(numbers)) for pair in zip(sources.tolist(), targets.tolist()) for id in pair]
    ends = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    native = _native.Graph.from_edges(len(numbers), ends[:, 0], ends[:, 1], weights, directed)
    return native, narrow(list(numbers))


# --- graph libraries


def _from_networkx(data: Any, options: Options) -> Converted:
    options.refuse("a NetworkX graph", "nodes", "edge_weight", "source", "target", "bipartite")
    ids = list(data.nodes())
    number = {id: k for k, id in enumerate(ids)}
    ends = np.fromiter((number[id] for edge in data.edges() for id in edge[:2]), dtype=np.int64)
    name, weights = options.weight or "weight", None
    found = [weight for _, _, weight in data.edges(data=name)]
    missing = sum(weight is None for weight in found)
    if options.weighted:
        if missing == len(found) > 0:
            raise ValueError(f"weights: no edge has the attribute {name!r}")
        weights = weight_array([1.0 if weight is None else weight for weight in found])
    directed = data.is_directed() if options.directed is None else options.directed
    native = _native.Graph.from_edges(len(ids), ends[::2], ends[1::2], weights, directed)
    if not options.weighted:
        native = native.without_weights(len(found) - missing)
    return native, None if ids == list(range(len(ids))) else narrow(ids)


def _from_igraph(data: Any, options: Options) -> Converted:
    options.refuse("an igraph graph", "nodes", "edge_weight", "source", "target", "bipartite")
    ends = np.asarray(data.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    name, weights = options.weight or "weight", None
    has_weights = name in data.es.attributes()
    if options.weighted:
        if not has_weights:
            raise ValueError(f"weights: no edge has the attribute {name!r}")
        weights = weight_array(data.es[name])
    directed = data.is_directed() if options.directed is None else options.directed
    native = _native.Graph.from_edges(data.vcount(), ends[:, 0], ends[:, 1], weights, directed)
    if has_weights and not options.weighted:
        native = native.without_weights(len(ends))
    names = data.vs["name"] if "name" in data.vs.attributes() else None
    return native, None if names is None else narrow(names)


def _from_rustworkx(data: Any, options: Options) -> Converted:
    options.refuse("a rustworkx graph", "nodes", "edge_weight", "source", "target", "weight", "bipartite")
    ids = np.asarray(list(data.node_indices()), dtype=np.int64)
    ends = np.asarray(list(data.edge_list()), dtype=np.int64).reshape(-1, 2)
    payloads = list(data.edges())
    weights = weight_array(payloads) if options.weighted else None
    directed = hasattr(data, "successors") if options.directed is None else options.directed
    sources, targets = positions(ids, ends[:, 0]), positions(ids, ends[:, 1])
    native = _native.Graph.from_edges(len(ids), sources, targets, weights, directed)
    are_numbers = all(isinstance(payload, numbers.Real) for payload in payloads)
    if not options.weighted and are_numbers and any(payload != 1 for payload in payloads):
        native = native.without_weights(len(payloads))
    return native, ids


def _from_pyg(data: Any, options: Options) -> Converted:
    options.refuse("a Data object", "nodes", "edge_weight", "source", "target", "bipartite")
    sources, targets = _tensor(data.edge_index)
    names = [str(options.weight)] if options.weight is not None else ["edge_weight", "edge_attr"]
    found = [getattr(data, name, None) for name in names]
    return _from_tensors(int(data.num_nodes), sources, targets, found, names, options), None


def _from_dgl(data: Any, options: Options) -> Converted:
    options.refuse("a DGL graph", "nodes", "edge_weight", "source", "target", "bipartite")
    sources, targets = (_tensor(part) for part in data.edges())
    names = [str(options.weight)] if options.weight is not None else ["weight", "w"]
    found = [data.edata.get(name) for name in names]
    return _from_tensors(int(data.num_nodes()), sources, targets, found, names, options), None


def _from_tensors(
    nodes: int, sources: np.ndarray, targets: np.ndarray, found: list[Any], names: list[str], options: Options
) -> _native.Graph:
    """Arcs between node numbers, with the first attribute that is there as weights."""
    present = [_tensor(values) for values in found if values is not None]
    are_weights = bool(present) and present[0].size == len(present[0])
    weights = None
    if options.weighted:
        if not present:
            raise ValueError(f"weights: no edge has the attribute {' or '.join(map(repr, names))}")
        if not are_weights:
            raise ValueError(f"weights: an attribute of shape {present[0].shape}; one number per edge is needed")
        weights = weight_array(present[0].reshape(-1))
    ends = integers(sources), integers(targets)
    native = _native.Graph.from_edges(nodes, *ends, weights, options.directed, arcs=True)
    return native.without_weights(len(sources)) if are_weights and not options.weighted else native


def _tensor(values: Any) -> np.ndarray:
    """A tensor's memory as an array, without a copy when it is in main memory."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    return np.asarray(values)


# --- tables and files


def _from_pandas(data: Any, options: Options) -> Converted:
    rows, columns = data.shape
    named = [options.source, options.target, options.weight, options.bipartite]
    if rows == columns > 0 and list(data.index) == list(data.columns) and all(option is None for option in named):
        numbered = list(data.columns) == list(range(columns))
        ends = data.iloc[:, :2]
        are_ids = all(kind.kind in "iuf" for kind in ends.dtypes) and bool((ends % 1 == 0).all(axis=None))
        if numbered and columns > 1 and are_ids:
            raise ValueError(
                f"table: {rows} rows and {columns} columns, both numbered from 0, are an adjacency or one edge per row; pass "
                "scipy.sparse.csr_array(table) for an adjacency, or source=0, target=1 for edges"
            )
        if not numbered or all(kind.kind in "biuf" for kind in data.dtypes):
            options.refuse("an adjacency table", "nodes", "edge_weight")
            return _from_dense(data.to_numpy(), options._replace(nodes=narrow(list(data.index))))
    return _from_table(list(data.columns), rows, lambda k, first: data.iloc[:first, k].to_numpy(), options)


def _from_polars(data: Any, options: Options) -> Converted:
    if hasattr(data, "collect"):
        data = data.collect()
    return _from_table(list(data.columns), data.height, lambda k, first: data[:first, k].to_numpy(), options)


def _from_arrow(data: Any, options: Options) -> Converted:
    batches = Batches(data)
    places = _columns_of(batches.names, batches.head, options)
    sides = (batches.names[places.source], batches.names[places.target])
    sources, targets, weights, names = edge_columns(batches, (places.source, places.target), places.weight)
    if names is None or options.bipartite or options.nodes is not None:
        ends = (sources, targets) if names is None else (names[sources], names[targets])
        native, ids = _from_columns(*ends, weights, options, sides)
    else:
        ids, directed = names, bool(options.directed)
        native = _native.Graph.from_edges(len(ids), sources, targets, weights, directed)
    native = native.read_as(places.reading)
    return native.without_weights(len(sources)) if places.ignored else native, ids


class Places(NamedTuple):
    """Where a table has what."""

    source: int
    target: int
    weight: Optional[int]
    ignored: bool
    """Whether there are weights that are not kept."""
    reading: str
    """How the columns were understood, for the native half."""


def _columns_of(names: list[Any], head: Callable[[int, int], Iterable[Any]], options: Options) -> Places:
    """The columns of a table, found by the rules for files; ``head`` gives the first cells of one."""
    options.refuse("a table", "edge_weight")
    asked = {name: _place(names, getattr(options, name)) for name in ("source", "target", "weight")}
    # Columns that are numbered have no names.
    heads = [] if all(isinstance(name, numbers.Integral) for name in names) else [str(name) for name in names]
    cells = [[_text(value) for value in head(k, SAMPLE)] for k in range(len(names))]
    asked.update(directed=bool(options.directed), weighted=options.weighted, bipartite=options.bipartite)
    source, target, weight, ignored, reading = _native.table_columns(
        heads, [list(row) for row in zip(*cells)], json.dumps(asked)
    )
    return Places(source, target, weight, ignored, reading)


def _from_table(
    names: list[Any], rows: int, column: Callable[[int, Optional[int]], Any], options: Options
) -> Converted:
    """A table of one edge per row, whose columns are found by the rules for files; ``column`` gives the first cells of one, or all."""
    source, target, weight, ignored, reading = _columns_of(names, column, options)
    sources, targets = id_array(column(source, None), "source"), id_array(column(target, None), "target")
    sides = (str(names[source]), str(names[target]))
    weights = None if weight is None else column(weight, None)
    native, ids = _from_columns(sources, targets, weights, options, sides)
    native = native.read_as(reading)
    return native.without_weights(rows) if ignored else native, ids


def _text(value: Any) -> str:
    """A cell as in a file."""
    return "" if is_missing(value) else str(value)


def _place(names: list[Any], asked: Any) -> Optional[int]:
    """The place of a column that is asked for by its name or place."""
    if asked is None:
        return None
    if asked in names:
        return names.index(asked)
    if isinstance(asked, int) and 0 <= asked < len(names):
        return asked
    raise ValueError(f"table: no column {asked!r}; columns: {', '.join(map(str, names))}")


def _from_file(data: Any, options: Options) -> Converted:
    options.refuse("a file", "edge_weight")
    if options.nodes is not None and not isinstance(options.nodes, (str, os.PathLike)):
        raise ValueError("nodes: for a file, name a file with one id per line")
    nodes = None if options.nodes is None else os.fspath(options.nodes)
    asked = {"directed": bool(options.directed), "weighted": options.weighted, "nodes": nodes}
    asked.update(source=options.source, target=options.target, weight=options.weight, bipartite=options.bipartite)
    return _native.read(os.fspath(data), json.dumps(asked), None), None


#: What an object is, and how it becomes a graph; the first that fits.
CONVERTERS: tuple[tuple[Callable[[Any], bool], Callable[[Any, Options], Converted]], ...] = (
    (lambda data: isinstance(data, (str, os.PathLike)), _from_file),
    (scipy.sparse.issparse, _from_sparse),
    (comes_from("networkx"), _from_networkx),
    (comes_from("igraph"), _from_igraph),
    (comes_from("rustworkx"), _from_rustworkx),
    (comes_from("torch_geometric"), _from_pyg),
    (comes_from("dgl"), _from_dgl),
    (comes_from("pandas"), _from_pandas),
    (comes_from("polars"), _from_polars),
    (is_stream, _from_arrow),
    (lambda data: isinstance(data, (list, tuple)), _from_list),
    (lambda data: hasattr(data, "__array__"), _from_array),
)
