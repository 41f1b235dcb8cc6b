"""Native half of hone_embed: arrays in, arrays out. Use the package, not this module."""

import os
from collections.abc import Callable
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

VERSION: str

_Listener = Optional[Callable[[str, str, int], Any]]
_Weights = Optional[NDArray[np.float32]]

class Graph:
    @staticmethod
    def from_csr(
        indptr: NDArray[Any], indices: NDArray[Any], weights: _Weights = None, directed: Optional[bool] = None
    ) -> Graph: ...
    @staticmethod
    def from_edges(
        nodes: int,
        sources: NDArray[Any],
        targets: NDArray[Any],
        weights: _Weights = None,
        directed: Optional[bool] = None,
        arcs: bool = False,
    ) -> Graph: ...
    @staticmethod
    def from_integers(
        sources: NDArray[Any], targets: NDArray[Any], weights: _Weights = None, directed: bool = False
    ) -> Graph: ...
    @staticmethod
    def from_texts(
        sources: list[str], targets: list[str], weights: _Weights = None, directed: bool = False
    ) -> Graph: ...
    @property
    def nodes(self) -> int: ...
    @property
    def edges(self) -> int: ...
    @property
    def directed(self) -> bool: ...
    @property
    def weighted(self) -> bool: ...
    @property
    def dropped(self) -> tuple[int, int, int]: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def reading(self) -> Optional[str]: ...
    def read_as(self, reading: str) -> Graph: ...
    def ids(self) -> Union[None, NDArray[np.int64], list[str]]: ...
    def without_weights(self, count: int) -> Graph: ...
    def with_ids(self, ids: Union[NDArray[np.int64], list[str]]) -> Graph: ...
    def csr(self) -> tuple[NDArray[np.int64], NDArray[Any], _Weights]: ...
    def address(self) -> int: ...
    def fingerprint(self) -> str: ...

class MotifOperator:
    def __init__(
        self,
        graph: Graph,
        motif: str,
        matrix: str,
        steps: int,
        delta: int = 1,
        weights: bool = False,
        subgraph: bool = False,
        jobs: int = 0,
        listener: _Listener = None,
    ) -> None: ...
    def apply(self, x: NDArray[np.float64], transposed: bool) -> NDArray[np.float64]: ...
    @property
    def formula(self) -> str: ...
    @property
    def symmetric(self) -> bool: ...

_Column = Union[NDArray[np.float32], list[Optional[str]], tuple[NDArray[np.uint32], NDArray[np.float32]]]

class Model:
    @staticmethod
    def load(path: Union[str, os.PathLike[str]]) -> Model: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: Union[str, os.PathLike[str]], overwrite: bool = False) -> None: ...
    def facts(self) -> str: ...
    def ids(self) -> Union[None, NDArray[np.int64], list[str]]: ...
    def vectors(self) -> NDArray[np.float32]: ...
    def embed(
        self,
        graph: Graph,
        structure_only: bool = False,
        new_only: bool = False,
        added_only: bool = False,
        attributes: Optional[list[tuple[str, _Column]]] = None,
        jobs: int = 0,
        memory: Optional[int] = None,
        listener: _Listener = None,
    ) -> tuple[NDArray[np.float32], NDArray[np.uint32], list[str], str]: ...

class Vectors: ...

class Space:
    def __init__(
        self,
        ids: Union[None, NDArray[np.int64], list[str]],
        vectors: NDArray[np.float32],
        columns: list[str],
        by: str,
    ) -> None: ...
    def beside(self) -> Optional[str]: ...
    def prepared(self) -> tuple[NDArray[np.float32], list[str]]: ...
    def nearest(
        self, positive: NDArray[np.uint32], negative: NDArray[np.uint32], top: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]: ...
    def all(
        self, top: int, search: str, seed: int, jobs: int = 0, listener: _Listener = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32], Optional[float]]: ...

    def layout(self, layout: str, jobs: int = 0, listener: _Listener = None) -> NDArray[np.float32]: ...

class Roles:
    def __init__(self, graph: Graph, options: str, jobs: int = 0, listener: _Listener = None) -> None: ...
    def assignments(self) -> NDArray[np.int64]: ...
    def memberships(self) -> NDArray[np.float32]: ...
    def describe(self) -> str: ...
    def explain(self, node: int, id: str) -> str: ...
    def map(
        self,
        spaces: list[Space],
        layout: str,
        title: str,
        colours: list[tuple[str, Optional[list[str]], list[float]]],
        style: str,
        kind: str,
        jobs: int = 0,
        listener: _Listener = None,
    ) -> bytes: ...

def line(text: str) -> str: ...
def parameters() -> list[tuple[str, str]]: ...
def suggest(ids: list[str], wanted: str) -> list[str]: ...

def adjacency(rows: list[Any], number: Optional[dict[Any, int]]) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
def read(path: str, options: str, listener: _Listener) -> Graph: ...
def read_recorded(record: str, listener: _Listener) -> tuple[Graph, Optional[str]]: ...
def attributes_difference(record: str, file: str) -> Optional[str]: ...
def generate(model: str, seed: int, listener: _Listener) -> Graph: ...
def table_columns(
    names: list[str], rows: list[list[str]], options: str
) -> tuple[int, int, Optional[int], bool, str]: ...
def presets() -> list[tuple[str, str]]: ...
def parse_bytes(text: str) -> int: ...
def idle(graph: Graph, config: str, own: bool) -> list[tuple[str, str]]: ...
def resolve(preset: str, file: Optional[str], settings: str) -> str: ...
def embed(
    graph: Graph,
    config: str,
    jobs: int = 0,
    memory: Optional[int] = None,
    attributes: Optional[list[tuple[str, _Column]]] = None,
    listener: _Listener = None,
    checkpoint: Union[str, os.PathLike[str], None] = None,
    factors: Optional[str] = None,
    device: str | None = None,
    model: Optional[bool] = False,
) -> tuple[NDArray[np.float32], list[str], str, Optional[Model], Optional[str]]: ...
def features(
    graph: Graph,
    config: str,
    jobs: int = 0,
    memory: Optional[int] = None,
    attributes: Optional[list[tuple[str, _Column]]] = None,
    listener: _Listener = None,
) -> tuple[NDArray[np.float32], list[str], str]: ...
def motif_names(set: str, numbers: bool = False) -> list[str]: ...
def node_orbit_names(numbers: bool = False) -> list[str]: ...
def count_edges(
    graph: Graph,
    motifs: str,
    subgraph: bool = False,
    jobs: int = 0,
    listener: _Listener = None,
    sample: str = "exact",
    seed: int = 0,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]: ...
def triangles(
    graph: Graph, jobs: int = 0, listener: _Listener = None
) -> tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]: ...
def update_edges(
    graph: Graph,
    motifs: str,
    edges: NDArray[np.int64],
    counts: NDArray[np.uint64],
    added: NDArray[np.int64],
    removed: NDArray[np.int64],
    jobs: int = 0,
    listener: _Listener = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]: ...
def count_totals(
    graph: Graph,
    motifs: str,
    subgraph: bool = False,
    jobs: int = 0,
    listener: _Listener = None,
    sample: str = "exact",
    seed: int = 0,
) -> list[int]: ...
def count_nodes(
    graph: Graph, jobs: int = 0, listener: _Listener = None, sample: str = "exact", seed: int = 0
) -> NDArray[np.uint64]: ...
def motif_graph(
    graph: Graph,
    motif: str,
    delta: int = 1,
    weights: bool = False,
    subgraph: bool = False,
    jobs: int = 0,
    listener: _Listener = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
def motif_catalogue() -> str: ...
def triad_census(graph: Graph, jobs: int = 0, listener: _Listener = None) -> str: ...
def coefficients(graph: Graph, jobs: int = 0, listener: _Listener = None) -> tuple[NDArray[np.float64], str]: ...
def significance(
    graph: Graph,
    random: int,
    how: tuple[Optional[str], int, bool],
    jobs: int = 0,
    listener: _Listener = None,
) -> str: ...
def compare(
    graphs: list[Graph], numbers: bool = False, jobs: int = 0, listener: _Listener = None
) -> str: ...
def motif_cluster(
    graph: Graph, motif: str, node: Optional[int] = None, jobs: int = 0, listener: _Listener = None
) -> str: ...
def draw(graph: Graph, drawing: str, name: str, jobs: int = 0, listener: _Listener = None) -> str: ...
def methods() -> list[tuple[str, str]]: ...
def evaluate_link(
    graph: Graph,
    contestants: list[tuple[str, Optional[str]]],
    settings: dict[str, Any],
    jobs: int,
    listener: _Listener,
) -> str: ...
def evaluate_labels(
    graph: Graph,
    labels: list[tuple[int, list[str]]],
    contestants: list[tuple[str, Optional[str]]],
    shares: list[float],
    settings: dict[str, Any],
    jobs: int,
    listener: _Listener,
) -> str: ...
def link_split(
    graph: Graph, removed: float, selection: float, negatives: Optional[str], seed: int
) -> tuple[Graph, tuple[NDArray[np.int64], NDArray[np.bool_]], tuple[NDArray[np.int64], NDArray[np.bool_]]]: ...
def tuned_candidates() -> list[str]: ...
def tune(
    graph: Graph,
    options: str,
    labels: Optional[list[tuple[int, list[str]]]],
    seconds: Optional[float],
    jobs: int,
    listener: _Listener,
) -> str: ...
def read_embedding(
    path: str, format: Optional[str] = None
) -> tuple[Union[None, NDArray[np.int64], list[str]], NDArray[np.float32], list[str]]: ...
def write(path: str, content: bytes, overwrite: bool) -> None: ...
def write_embedding(
    path: str,
    ids: Union[NDArray[np.int64], list[str]],
    vectors: NDArray[np.float32],
    columns: list[str],
    format: Optional[str] = None,
    overwrite: bool = False,
    report: Optional[str] = None,
    rows_per_file: Optional[int] = None,
) -> list[Any]: ...
