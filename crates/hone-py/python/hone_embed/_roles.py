"""Structural roles of nodes, with names and reasons."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from hone_embed import _native
from hone_embed._explore import _rows
from hone_embed._graph import as_graph
from hone_embed._progress import jobs, listener
from hone_embed._results import Table


@dataclass(frozen=True, eq=False, repr=False)
class Roles(Table):
    """The roles of the nodes of a graph, as :func:`roles` gives them.

    Examples
    --------
    >>> star = roles([(0, 1), (0, 2), (0, 3), (0, 4)], 2)
    >>> star
    Roles(star leaf (4), star centre (1))
    >>> star.to_pandas()["role"].tolist()
    ['star centre', 'star leaf', 'star leaf', 'star leaf', 'star leaf']
    >>> star.reasons(0)["role"]
    'star centre'
    """

    node_ids: np.ndarray
    """The id of each row."""
    names: list[str]
    """Names of the roles, the largest first."""
    assignments: np.ndarray
    """int64: the role of each node, as a position in ``names``."""
    memberships: np.ndarray
    """float32, one row per node: the probability that it belongs to each role; rows sum to one."""
    roles: list[dict[str, Any]]
    """Each role: ``name``, ``nodes``, ``share``, ``degree``, ``motifs`` (mean and z-score of each node orbit), ``ratios`` and
    ``exemplars`` (ids). For a directed graph also ``out_degree`` and ``in_degree``, and ``motifs`` includes directed
    motifs."""
    affinity: np.ndarray
    """float64: how often roles are linked, relative to what their degrees alone would give; for a directed graph, by edges
    from the role of the row."""
    _native: _native.Roles

    @classmethod
    def _of(cls, native: _native.Roles, node_ids: np.ndarray) -> Roles:
        described = json.loads(native.describe())
        roles: list[dict[str, Any]] = described["roles"]
        for role in roles:
            role["exemplars"] = node_ids[np.asarray(role["exemplars"], dtype=np.int64)].tolist()
        names = [str(role["name"]) for role in roles]
        affinity = np.asarray(described["affinity"], dtype=np.float64)
        return cls(node_ids, names, native.assignments(), native.memberships(), roles, affinity, native)

    def explain(self, node: Any) -> str:
        """Two sentences: why a node has its role, and what would give it another."""
        text: str = self.reasons(node)["text"]
        return text

    def reasons(self, node: Any) -> dict[str, Any]:
        """The same in parts: ``role``, ``membership``, up to three ``reasons``, ``otherwise`` and ``text``."""
        row = int(_rows(self.node_ids, [node])[0])
        reasons: dict[str, Any] = json.loads(self._native.explain(row, str(node)))
        return reasons

    def _columns(self) -> dict[str, Any]:
        columns = {"id": self.node_ids, "role": np.asarray(self.names)[self.assignments]}
        return {**columns, **{name: self.memberships[:, k] for k, name in enumerate(self.names)}}

    def __repr__(self) -> str:
        parts = (f"{role['name']} ({role['nodes']})" for role in self.roles)
        return f"Roles({', '.join(parts)})"


def roles(
    graph: Any,
    n_roles: Optional[int] = None,
    *,
    sample: Union[str, int, None] = None,
    directed: Optional[bool] = None,
    random_state: int = 0,
    numbers: bool = False,
    n_jobs: Optional[int] = None,
    verbose: bool = False,
) -> Roles:
    """Find structural roles: groups of nodes with similar neighbourhoods.

    In a directed graph, names of roles may begin with source, sink, mutual or broker.

    Parameters
    ----------
    graph
        Anything :class:`Graph` takes.
    n_roles
        How many, up to 12; by default as many as the integrated completed likelihood prefers.
    sample, random_state, numbers
        As for :func:`count_orbits`.

    Examples
    --------
    >>> star = roles([(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)], 2)
    >>> star.names
    ['star leaf', 'star centre']
    >>> star.memberships.sum(axis=1).round(3).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    graph = as_graph(graph, directed=directed)
    choices: dict[str, Any] = {"numbers": numbers}
    if n_roles is not None:
        choices["roles"] = int(n_roles)
    if sample is not None:
        choices.update(sample=sample, seed=int(random_state))
    options = json.dumps(choices)
    with listener(verbose) as listen:
        native = _native.Roles(graph._native, options, jobs(n_jobs), listen)
    return Roles._of(native, graph.node_ids)
