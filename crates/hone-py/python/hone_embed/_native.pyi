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
    def ids(self) -> Union[None, NDArray[np.int64], list[str]]: ...
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
        jobs: int = 0,
        listener: _Listener = None,
    ) -> None: ...
    def apply(self, x: NDArray[np.float64], transposed: bool) -> NDArray[np.float64]: ...
    @property
    def formula(self) -> str: ...
    @property
    def symmetric(self) -> bool: ...

class Vectors: ...

def read(path: str, options: str, listener: _Listener) -> Graph: ...
def read_recorded(record: str, listener: _Listener) -> tuple[Graph, Optional[str]]: ...
def generate(model: str, seed: int, listener: _Listener) -> Graph: ...
def table_columns() -> tuple[list[tuple[str, str]], list[str]]: ...
def presets() -> list[tuple[str, str]]: ...
def parse_bytes(text: str) -> int: ...
def resolve(preset: str, file: Optional[str], settings: str) -> str: ...
def embed(
    graph: Graph,
    config: str,
    jobs: int = 0,
    memory: Optional[int] = None,
    attributes: Optional[tuple[NDArray[np.float32], list[str]]] = None,
    listener: _Listener = None,
    checkpoint: Union[str, os.PathLike[str], None] = None,
    factors: Optional[str] = None,
) -> tuple[NDArray[np.float32], list[str], str]: ...
def motif_names(set: str) -> list[str]: ...
def node_orbit_names() -> list[str]: ...
def count_edges(
    graph: Graph, motifs: str, jobs: int = 0, listener: _Listener = None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint64]]: ...
def count_nodes(graph: Graph, jobs: int = 0, listener: _Listener = None) -> NDArray[np.uint64]: ...
def motif_graph(
    graph: Graph,
    motif: str,
    delta: int = 1,
    weights: bool = False,
    jobs: int = 0,
    listener: _Listener = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]: ...
def methods() -> list[tuple[str, str]]: ...
def evaluate_link(
    graph: Graph,
    contestants: list[tuple[str, Optional[str]]],
    settings: dict[str, Any],
    jobs: int,
    listener: _Listener,
) -> str: ...
def link_split(
    graph: Graph, removed: float, selection: float, seed: int
) -> tuple[Graph, tuple[NDArray[np.int64], NDArray[np.bool_]], tuple[NDArray[np.int64], NDArray[np.bool_]]]: ...
def read_embedding(
    path: str, format: Optional[str] = None
) -> tuple[Union[None, NDArray[np.int64], list[str]], NDArray[np.float32], list[str]]: ...
def write_embedding(
    path: str,
    ids: Union[NDArray[np.int64], list[str]],
    vectors: NDArray[np.float32],
    columns: list[str],
    format: Optional[str] = None,
    overwrite: bool = False,
    report: Optional[str] = None,
) -> list[Any]: ...
