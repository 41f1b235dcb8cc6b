"""From any object that is a graph to the native one: one converter per kind of object.

Libraries are recognised by the module an object's class comes from, so none is imported for an object that
is not its own. What a converter returns is the native graph and, where the native half does not know
them, the ids.
"""

from __future__ import annotations

import os
from typing import Any, Callable, NamedTuple, Optional

import numpy as np
import scipy.sparse

from hone_embed import _native
from hone_embed._ids import id_array, integers, narrow, node_list, positions, weight_array

Converted = tuple[_native.Graph, Optional[np.ndarray]]

ID_NAMES, WEIGHT_NAMES = _native.table_columns()


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
        f"graph: a {kind} is not a graph; pass a SciPy matrix, an edge array or table, a graph of NetworkX, igraph, "
        "rustworkx, PyTorch Geometric or DGL, a file name, or a hone_embed.Graph"
    )


def _comes_from(*modules: str) -> Callable[[Any], bool]:
    return lambda data: any(base.__module__.split(".")[0] in modules for base in type(data).__mro__)


# --- matrices


def _from_graph(data: Any, options: Options) -> Converted:
    options.refuse("a Graph", "nodes", "edge_weight", "source", "target", "weight", "bipartite")
    if options.directed is not None and options.directed != data.directed:
        raise ValueError(f"directed: the Graph has directed={data.directed}; make it with directed={options.directed}")
    if options.weighted and not data.weighted:
        raise ValueError("weights: the Graph has none; make it with weighted=True")
    return data._native, data._ids


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
    return _native.Graph.from_csr(indptr, np.ascontiguousarray(indices), weights, options.directed)


def _from_dense(data: np.ndarray, options: Options) -> Converted:
    if data.dtype.kind == "O":
        data = data.astype(np.float64)
    if data.dtype.kind == "f" and not np.isfinite(data).all():
        raise ValueError("adjacency: Input contains NaN or infinity; every entry must be finite")
    return _from_sparse(scipy.sparse.csr_array(data), options)


def _matrix_ids(nodes: Any, count: int) -> Optional[np.ndarray]:
    if nodes is None:
        return None
    ids = node_list(nodes)
    if len(ids) != count:
        raise ValueError(f"nodes: {len(ids)} ids for {count} rows; give one per row")
    return ids


# --- edges


def _from_array(data: Any, options: Options) -> Converted:
    array = np.asarray(data)
    if array.dtype.kind == "U" and array.ndim == 2 and not isinstance(data, np.ndarray):
        # NumPy writes numbers among names as text: other ids than were given.
        if not all(isinstance(id, str) for pair in data for id in pair):
            array = np.asarray(data, dtype=object)
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
        ids = node_list(options.nodes)
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
    weights = None
    if options.weighted:
        name = options.weight or "weight"
        found = [weight for _, _, weight in data.edges(data=name)]
        if all(weight is None for weight in found) and found:
            raise ValueError(f"weights: no edge has the attribute {name!r}")
        weights = weight_array([1.0 if weight is None else weight for weight in found])
    directed = data.is_directed() if options.directed is None else options.directed
    native = _native.Graph.from_edges(len(ids), ends[::2], ends[1::2], weights, directed)
    return native, None if ids == list(range(len(ids))) else narrow(ids)


def _from_igraph(data: Any, options: Options) -> Converted:
    options.refuse("an igraph graph", "nodes", "edge_weight", "source", "target", "bipartite")
    ends = np.asarray(data.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights = None
    if options.weighted:
        name = options.weight or "weight"
        if name not in data.es.attributes():
            raise ValueError(f"weights: no edge has the attribute {name!r}")
        weights = weight_array(data.es[name])
    directed = data.is_directed() if options.directed is None else options.directed
    native = _native.Graph.from_edges(data.vcount(), ends[:, 0], ends[:, 1], weights, directed)
    names = data.vs["name"] if "name" in data.vs.attributes() else None
    return native, None if names is None else narrow(names)


def _from_rustworkx(data: Any, options: Options) -> Converted:
    options.refuse("a rustworkx graph", "nodes", "edge_weight", "source", "target", "weight", "bipartite")
    ids = np.asarray(list(data.node_indices()), dtype=np.int64)
    ends = np.asarray(list(data.edge_list()), dtype=np.int64).reshape(-1, 2)
    weights = weight_array(list(data.edges())) if options.weighted else None
    directed = hasattr(data, "successors") if options.directed is None else options.directed
    sources, targets = positions(ids, ends[:, 0]), positions(ids, ends[:, 1])
    return _native.Graph.from_edges(len(ids), sources, targets, weights, directed), ids


def _from_pyg(data: Any, options: Options) -> Converted:
    options.refuse("a Data object", "nodes", "edge_weight", "source", "target", "bipartite")
    sources, targets = _tensor(data.edge_index)
    weights = None
    if options.weighted:
        names = [str(options.weight)] if options.weight is not None else ["edge_weight", "edge_attr"]
        weights = _first_weights([getattr(data, name, None) for name in names], names)
    nodes = int(data.num_nodes)
    ends = integers(sources), integers(targets)
    return _native.Graph.from_edges(nodes, *ends, weights, options.directed, arcs=True), None


def _from_dgl(data: Any, options: Options) -> Converted:
    options.refuse("a DGL graph", "nodes", "edge_weight", "source", "target", "bipartite")
    sources, targets = (integers(_tensor(part)) for part in data.edges())
    weights = None
    if options.weighted:
        names = [str(options.weight)] if options.weight is not None else ["weight", "w"]
        weights = _first_weights([data.edata.get(name) for name in names], names)
    return _native.Graph.from_edges(int(data.num_nodes()), sources, targets, weights, options.directed, arcs=True), None


def _first_weights(found: list[Any], names: list[str]) -> np.ndarray:
    present = [_tensor(values) for values in found if values is not None]
    if not present:
        raise ValueError(f"weights: no edge has the attribute {' or '.join(map(repr, names))}")
    if present[0].size != len(present[0]):
        raise ValueError(f"weights: an attribute of shape {present[0].shape}; one number per edge is needed")
    return weight_array(present[0].reshape(-1))


def _tensor(values: Any) -> np.ndarray:
    """A tensor's memory as an array, without a copy when it is in main memory."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    return np.asarray(values)


# --- tables and files


def _from_pandas(data: Any, options: Options) -> Converted:
    if data.shape[0] == data.shape[1] and data.shape[0] > 0 and list(data.index) == list(data.columns):
        options.refuse("an adjacency table", "nodes", "edge_weight", "source", "target", "weight", "bipartite")
        return _from_dense(data.to_numpy(), options._replace(nodes=narrow(list(data.index))))
    return _from_table(list(data.columns), lambda name: data[name].to_numpy(), options)


def _from_polars(data: Any, options: Options) -> Converted:
    if hasattr(data, "collect"):
        data = data.collect()
    return _from_table(list(data.columns), lambda name: data[name].to_numpy(), options)


def _from_pyarrow(data: Any, options: Options) -> Converted:
    return _from_table(list(data.schema.names), lambda name: _arrow_column(data.column(name)), options)


def _arrow_column(column: Any) -> np.ndarray:
    return np.asarray(column.to_numpy(zero_copy_only=False) if not hasattr(column, "chunks") else column.to_numpy())


def _from_table(names: list[Any], column: Callable[[Any], Any], options: Options) -> Converted:
    options.refuse("a table", "edge_weight")
    if len(names) < 2:
        raise ValueError(f"table: {len(names)} columns; an edge needs two ids, in columns source and target")
    lower = {str(name).lower(): name for name in names}
    known = next((pair for pair in ID_NAMES if all(part in lower for part in pair)), None)
    plain = [name for name in names if not _is_index(name)]
    ends = [lower[part] for part in known] if known else (plain if len(plain) > 1 else names)[:2]
    source, target = (_column(names, asked, end) for asked, end in zip((options.source, options.target), ends))
    weights = None
    if known is None and options.source is None and options.target is None:
        _warn_of_surplus(names, ends)
    if options.weighted:
        found = next((lower[name] for name in WEIGHT_NAMES if name in lower), None)
        name = _column(names, options.weight, found)
        if name is None:
            raise ValueError(f"weight: no column is called {' or '.join(WEIGHT_NAMES)}; name it")
        weights = column(name)
    sources, targets = id_array(column(source), "source"), id_array(column(target), "target")
    sides = (str(source), str(target))
    if options.bipartite is None and _native.are_two_kinds(*sides):
        _warn_of_merged(sources, targets, sides)
    return _from_columns(sources, targets, weights, options, sides)


def _warn_of_merged(sources: np.ndarray, targets: np.ndarray, sides: tuple[str, str]) -> None:
    """Warns of integers that stand for nodes of two kinds and become the same nodes."""
    if sources.dtype.kind + targets.dtype.kind != "ii":
        return
    merged = len(np.intersect1d(sources, targets))
    if merged:
        from hone_embed._graph import warn

        ids = "1 id occurs" if merged == 1 else f"{merged} ids occur"
        warn(
            f"{ids} in both columns, {sides[0]!r} and {sides[1]!r}, which seem to name nodes of two kinds; the same id is "
            "read as the same node. bipartite=True keeps the two kinds apart"
        )


def _is_index(name: Any) -> bool:
    """Whether a column is the index that pandas wrote with a table."""
    lower = str(name).strip().lower()
    return lower in ("", "index") or lower.startswith(("unnamed: ", "__index_level_"))


def _warn_of_surplus(names: list[Any], ends: list[Any]) -> None:
    """Warns of columns that are not used, where no name says which are the ids."""
    if any(name not in ends and str(name).lower() not in WEIGHT_NAMES for name in names):
        from hone_embed._graph import warn

        first, second = ends
        warn(f"columns {first!r} and {second!r} of {len(names)} are used; source, target and weight choose others")


def _column(names: list[Any], asked: Any, default: Any) -> Any:
    if asked is None:
        return default
    if asked in names:
        return asked
    if isinstance(asked, int) and 0 <= asked < len(names):
        return names[asked]
    raise ValueError(f"table: no column {asked!r}; columns: {', '.join(map(str, names))}")


def _from_file(data: Any, options: Options) -> Converted:
    import json

    options.refuse("a file", "edge_weight")
    if options.nodes is not None and not isinstance(options.nodes, (str, os.PathLike)):
        raise ValueError("nodes: for a file, name a file with one id per line")
    nodes = None if options.nodes is None else os.fspath(options.nodes)
    asked = {"directed": bool(options.directed), "weighted": options.weighted, "nodes": nodes}
    asked.update(source=options.source, target=options.target, weight=options.weight, bipartite=options.bipartite)
    return _native.read(os.fspath(data), json.dumps(asked), None), None


def _is_own(data: Any) -> bool:
    from hone_embed._graph import Graph

    return isinstance(data, Graph)


#: What an object is, and how it becomes a graph; the first that fits.
CONVERTERS: tuple[tuple[Callable[[Any], bool], Callable[[Any, Options], Converted]], ...] = (
    (_is_own, _from_graph),
    (lambda data: isinstance(data, (str, os.PathLike)), _from_file),
    (scipy.sparse.issparse, _from_sparse),
    (_comes_from("networkx"), _from_networkx),
    (_comes_from("igraph"), _from_igraph),
    (_comes_from("rustworkx"), _from_rustworkx),
    (_comes_from("torch_geometric"), _from_pyg),
    (_comes_from("dgl"), _from_dgl),
    (_comes_from("pandas"), _from_pandas),
    (_comes_from("polars"), _from_polars),
    (_comes_from("pyarrow"), _from_pyarrow),
    (lambda data: isinstance(data, (np.ndarray, list, tuple)) or hasattr(data, "__array__"), _from_array),
)
