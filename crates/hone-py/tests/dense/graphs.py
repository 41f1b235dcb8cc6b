"""Tiny and odd graphs: lines of an edge list, self-loops and duplicates among them, and isolated nodes."""

import dataclasses
import itertools

import numpy as np


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    nodes: int
    lines: tuple
    directed: bool = False
    weighted: bool = False

    def edges(self):
        """The pairs of the lines, and their weights or None."""
        return [line[:2] for line in self.lines], [line[2] for line in self.lines] if self.weighted else None

    def without(self, last):
        """The graph without its last nodes."""
        nodes = self.nodes - last
        lines = tuple(line for line in self.lines if max(line[:2]) < nodes)
        return dataclasses.replace(self, name=f"{self.name} without {last}", nodes=nodes, lines=lines)

    def adjacency(self):
        """The matrix of the lines: no self-loops; weights of duplicates are added, without weights they count once."""
        matrix = np.zeros((self.nodes, self.nodes))
        for line in self.lines:
            a, b, weight = (*line, 1.0)[:3]
            if a == b:
                continue
            for i, j in [(a, b)] if self.directed else [(a, b), (b, a)]:
                matrix[i, j] += float(np.float32(weight))
        return matrix if self.weighted else (matrix > 0).astype(float)


def _cycle(n, first=0):
    return [(first + i, first + (i + 1) % n) for i in range(n)]


def _path(n, first=0):
    return [(first + i, first + i + 1) for i in range(n - 1)]


def _clique(n, first=0):
    return [(first + a, first + b) for a, b in itertools.combinations(range(n), 2)]


def _star(n, first=0):
    return [(first, first + i) for i in range(1, n)]


def _ring(cliques, size):
    return [(size * i + size - 1, (size * i + size) % (cliques * size)) for i in range(cliques)]


def _random(n, p, seed, both=False):
    rng = np.random.default_rng(seed)
    pairs = itertools.permutations(range(n), 2) if both else itertools.combinations(range(n), 2)
    return [pair for pair in pairs if rng.random() < p] or [(0, n - 1)]


def _weigh(case, kind="uniform"):
    rng = np.random.default_rng(7)
    draw = {
        "uniform": lambda: rng.uniform(0.5, 2.0),
        "integers": lambda: float(rng.integers(1, 9)),
        "amounts": lambda: float(np.round(np.exp(rng.normal(0, 2)), 3) + 0.001),
    }[kind]
    return tuple((a, b, round(draw(), 4)) for a, b in case.lines)


def undirected():
    shapes = {
        "one edge": (2, [(0, 1)]),
        "one edge and an isolated node": (3, [(0, 1)]),
        "two edges apart": (4, [(0, 1), (2, 3)]),
        "matching of five": (10, [(2 * i, 2 * i + 1) for i in range(5)]),
        "matching and isolated nodes": (12, [(2 * i, 2 * i + 1) for i in range(4)]),
        "self-loops and duplicates": (
            8,
            [(0, 0), (0, 1), (1, 0), (1, 2), (1, 2), (2, 3), (3, 4), (4, 4), (2, 0), (4, 5), (5, 6), (6, 7)],
        ),
        "two triangles": (6, _clique(3) + _clique(3, 3)),
        "triangle and path": (7, _clique(3) + _path(4, 3)),
        "bowtie": (5, _clique(3) + [(2, 3), (3, 4), (4, 2)]),
        "tailed triangle": (4, [*_clique(3), (2, 3)]),
        "diamond": (4, [(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)]),
        "barbell 4-0": (8, [*_clique(4), *_clique(4, 4), (3, 4)]),
        "barbell 5-3": (13, _clique(5) + _clique(5, 5) + [(4, 10), (10, 11), (11, 12), (12, 5)]),
        "lollipop": (12, _clique(6) + _path(7, 5)),
        "wheel": (9, _star(9) + _cycle(8, 1)),
        "bipartite 2-3": (5, list(itertools.product(range(2), range(2, 5)))),
        "bipartite 4-4": (8, list(itertools.product(range(4), range(4, 8)))),
        "bipartite 3-9": (12, list(itertools.product(range(3), range(3, 12)))),
        "grid 4 by 5": (
            20,
            [(5 * r + c, 5 * r + c + 1) for r in range(4) for c in range(4)]
            + [(5 * r + c, 5 * r + c + 5) for r in range(3) for c in range(5)],
        ),
        "binary tree": (15, [((i - 1) // 2, i) for i in range(1, 15)]),
        "caterpillar": (16, _path(8) + [(i, i + 8) for i in range(8)]),
        "ring of cliques": (20, _clique(5) + _clique(5, 5) + _clique(5, 10) + _clique(5, 15) + _ring(4, 5)),
        "clique and star apart": (14, _clique(6) + _star(8, 6)),
        "petersen": (10, _cycle(5) + [(i, i + 5) for i in range(5)] + [(5 + i, 5 + (i + 2) % 5) for i in range(5)]),
        "circulant": (15, _cycle(15) + [(i, (i + 3) % 15) for i in range(15)]),
        "cube": (8, [(a, a ^ (1 << b)) for a in range(8) for b in range(3) if a < a ^ (1 << b)]),
    }
    shapes |= {f"path {n}": (n, _path(n)) for n in (3, 4, 5, 9, 30)}
    shapes |= {f"cycle {n}": (n, _cycle(n)) for n in (3, 4, 5, 6, 7, 21)}
    shapes |= {f"clique {n}": (n, _clique(n)) for n in (4, 5, 8, 20)}
    shapes |= {f"star {n}": (n, _star(n)) for n in (4, 5, 10, 40)}
    densities = {6: 0.4, 8: 0.5, 10: 0.3, 15: 0.2, 20: 0.3, 30: 0.1, 41: 0.15, 60: 0.05, 61: 0.25, 100: 0.06}
    for n, p in densities.items():
        shapes[f"random {n}"] = (n, _random(n, p, n))
    sides = [(a, b) for a, b in _random(61, 0.5, 61) if a < 30 <= b]
    shapes["random bipartite 61"] = (61, sides)
    return [Case(name, nodes, tuple(lines)) for name, (nodes, lines) in shapes.items()]


def weighted():
    plain = {case.name: case for case in undirected()}
    named = [
        ("one edge", "uniform"),
        ("path 4", "integers"),
        ("star 5", "amounts"),
        ("clique 5", "uniform"),
        ("cycle 6", "integers"),
        ("barbell 5-3", "uniform"),
        ("matching of five", "integers"),
        ("self-loops and duplicates", "integers"),
        ("grid 4 by 5", "uniform"),
        ("random 15", "amounts"),
        ("random 30", "uniform"),
        ("random 41", "integers"),
        ("random 60", "amounts"),
        ("matching and isolated nodes", "amounts"),
    ]
    return [
        Case(f"{name}, weights {kind}", plain[name].nodes, _weigh(plain[name], kind), weighted=True)
        for name, kind in named
    ]


def directed():
    shapes = {
        "one arc": (2, [(0, 1)]),
        "one mutual pair": (2, [(0, 1), (1, 0)]),
        "out-star": (6, _star(6)),
        "in-star": (6, [(b, a) for a, b in _star(6)]),
        "transitive tournament": (6, _clique(6)),
        "chain": (7, _path(7)),
        "two chains": (9, _path(4) + _path(5, 4)),
        "feed-forward": (3, [(0, 1), (1, 2), (0, 2)]),
        "mutual clique": (5, _clique(5) + [(b, a) for a, b in _clique(5)]),
        "mutual path": (6, _path(6) + [(b, a) for a, b in _path(6)]),
        "tree downwards": (15, [((i - 1) // 2, i) for i in range(1, 15)]),
        "arcs with self-loops and duplicates": (5, [(0, 0), (0, 1), (0, 1), (1, 0), (1, 2), (2, 3), (3, 1), (3, 4)]),
        "payments": (14, [(i, 6) for i in range(6)] + [(6, 7), *_star(4, 7), (0, 11), *_cycle(3, 11), (13, 6)]),
        "arcs and isolated nodes": (8, [(0, 1), (1, 2), (2, 0), (2, 3), (4, 5)]),
        "layers": (9, [(a, b) for a in range(6) for b in range(9) if a // 3 + 1 == b // 3]),
    }
    shapes |= {f"directed cycle {n}": (n, _cycle(n)) for n in (3, 4, 5, 8)}
    for n, p in [(5, 0.4), (8, 0.3), (12, 0.2), (20, 0.15), (30, 0.1), (45, 0.1), (60, 0.04), (90, 0.03)]:
        shapes[f"directed random {n}"] = (n, _random(n, p, 100 + n, both=True))
    for n, p in [(10, 0.3), (40, 0.1)]:
        shapes[f"acyclic random {n}"] = (n, _random(n, p, 200 + n))
    cases = [Case(name, nodes, tuple(lines), directed=True) for name, (nodes, lines) in shapes.items()]
    some = ["one arc", "chain", "payments", "directed cycle 5", "directed random 12", "directed random 30"]
    return cases + [
        Case(f"{case.name}, weights", case.nodes, _weigh(case), True, True) for case in cases if case.name in some
    ]


def _links(nodes, probability, seed):
    """Pairs of nodes, each linked with its probability, and a path through all nodes."""
    rng = np.random.default_rng(seed)
    chance = np.broadcast_to(probability, (nodes, nodes))
    pairs = np.argwhere(rng.random((nodes, nodes)) < chance).tolist()
    return [(a, b) for a, b in pairs if a < b] + _path(nodes)


def _partition(nodes, groups, inside, outside):
    group = np.arange(nodes) * groups // nodes
    return np.where(group[:, None] == group, inside, outside)


def large():
    """Graphs too large to be decomposed whole: their factors are iterated."""
    weights = 3.0 / np.arange(4, 504) ** 0.7
    sides = np.arange(420) < 140
    cases = [
        Case("communities 400", 400, tuple(_links(400, _partition(400, 10, 0.25, 0.005), 1))),
        Case("random 300", 300, tuple(_links(300, 0.04, 2))),
        Case("hubs 500", 500, tuple(_links(500, np.minimum(np.outer(weights, weights), 1), 3))),
        Case("communities 1200", 1200, tuple(_links(1200, _partition(1200, 24, 0.2, 0.002), 4))),
    ]
    halves = tuple((a, b) for a, b in _links(420, 0.05, 5)[:-419] if sides[a] != sides[b])
    arcs = tuple((b, a) if (a * 7 + b) % 3 == 0 else (a, b) for a, b in cases[0].lines)
    amounts = Case("communities 400, weights amounts", 400, _weigh(cases[0], "amounts"), weighted=True)
    return [*cases, Case("bipartite 420", 420, halves), amounts, Case("arcs 400", 400, arcs, True)]


def everything():
    return undirected() + weighted() + directed()
