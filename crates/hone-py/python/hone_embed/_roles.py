"""Structural roles of nodes, with names and reasons."""

from __future__ import annotations

import json
from typing import Any, Optional

import numpy as np

from hone_embed import _native
from hone_embed._explore import _rows
from hone_embed._graph import as_graph
from hone_embed._progress import jobs, listener
from hone_embed._results import Table


class Roles(Table):
    """The roles of the nodes of a graph, as :func:`roles` gives them.

    Attributes
    ----------
    node_ids : ndarray
        The id of each row.
    names : list of str
        Names of the roles, the largest first.
    assignments : ndarray of int64
        The role of each node, as a position in ``names``.
    memberships : ndarray of float32, shape (n_nodes, n_roles)
        Probability that each node belongs to each role; rows sum to one.
    roles : list of dict
        Each role: ``name``, ``nodes``, ``share``, ``degree``, ``motifs`` (mean and z-score of each node orbit),
        ``ratios`` and ``exemplars`` (ids). For a directed graph also ``out_degree`` and ``in_degree``, and
        ``motifs`` includes directed motifs.
    affinity : ndarray of float64
        How often roles are linked, relative to what their degrees alone would give; for a directed graph, arcs from
        the role of the row.

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

    def __init__(self, native: _native.Roles, node_ids: np.ndarray) -> None:
        self._native = native
        self.node_ids = node_ids
        described = json.loads(native.describe())
        self.roles: list[dict[str, Any]] = described["roles"]
        for role in self.roles:
            role["exemplars"] = node_ids[np.asarray(role["exemplars"], dtype=np.int64)].tolist()
        self.names: list[str] = [role["name"] for role in self.roles]
        self.affinity = np.asarray(described["affinity"], dtype=np.float64)
        self.assignments = native.assignments()
        self.memberships = native.memberships()

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
    directed: Optional[bool] = None,
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

    Examples
    --------
    >>> star = roles([(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)], 2)
    >>> star.names
    ['star leaf', 'star centre']
    >>> star.memberships.sum(axis=1).round(3).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    graph = as_graph(graph, directed=directed)
    options = json.dumps({} if n_roles is None else {"roles": int(n_roles)})
    with listener(verbose) as listen:
        native = _native.Roles(graph._native, options, jobs(n_jobs), listen)
    return Roles(native, graph.node_ids)
