"""Motifs by enumeration: every set of two, three or four nodes is looked at (docs/motifs.md, docs/directed.md)."""

import itertools

import numpy as np

#: Nodes of each motif, in the order of docs/motifs.md.
ORBITS = {
    "edge": 2,
    "path3": 3,
    "triangle": 3,
    "path4-end": 4,
    "path4-mid": 4,
    "star4": 4,
    "cycle4": 4,
    "tailed-tail": 4,
    "tailed-near": 4,
    "tailed-far": 4,
    "diamond-chord": 4,
    "diamond-rim": 4,
    "clique4": 4,
}

#: The position of an edge, by the sorted degrees of the graphlet and the sorted degrees of the edge's ends.
EDGE_POSITION = {
    ((1, 1), (1, 1)): "edge",
    ((1, 1, 2), (1, 2)): "path3",
    ((2, 2, 2), (2, 2)): "triangle",
    ((1, 1, 2, 2), (1, 2)): "path4-end",
    ((1, 1, 2, 2), (2, 2)): "path4-mid",
    ((1, 1, 1, 3), (1, 3)): "star4",
    ((2, 2, 2, 2), (2, 2)): "cycle4",
    ((1, 2, 2, 3), (1, 3)): "tailed-tail",
    ((1, 2, 2, 3), (2, 3)): "tailed-near",
    ((1, 2, 2, 3), (2, 2)): "tailed-far",
    ((2, 2, 3, 3), (3, 3)): "diamond-chord",
    ((2, 2, 3, 3), (2, 3)): "diamond-rim",
    ((3, 3, 3, 3), (3, 3)): "clique4",
}

#: ORCA's 15 node orbits: the sorted degrees of the graphlet and the degree of the node.
NODE_POSITION = [
    ((1, 1), 1),
    ((1, 1, 2), 1),
    ((1, 1, 2), 2),
    ((2, 2, 2), 2),
    ((1, 1, 2, 2), 1),
    ((1, 1, 2, 2), 2),
    ((1, 1, 1, 3), 1),
    ((1, 1, 1, 3), 3),
    ((2, 2, 2, 2), 2),
    ((1, 2, 2, 3), 1),
    ((1, 2, 2, 3), 2),
    ((1, 2, 2, 3), 3),
    ((2, 2, 3, 3), 2),
    ((2, 2, 3, 3), 3),
    ((3, 3, 3, 3), 3),
]

#: The arcs of each directed motif by position, as docs/motifs.md draws them.
TRIADS = {
    "one-way": {"": ["AB"]},
    "mutual": {"": ["AB", "BA"]},
    "021D": {"": ["BA", "BC"]},
    "021U": {"": ["AB", "CB"]},
    "021C": {"first": ["AB"], "second": ["BC"]},
    "111D": {"one-way": ["CB"], "to-centre": ["AB"], "to-end": ["BA"]},
    "111U": {"one-way": ["BC"], "to-centre": ["AB"], "to-end": ["BA"]},
    "030T": {"first": ["AB"], "second": ["BC"], "direct": ["AC"]},
    "030C": {"": ["AB", "BC", "CA"]},
    "201": {"to-centre": ["AB", "CB"], "to-end": ["BA", "BC"]},
    "120D": {"one-way": ["BA", "BC"], "mutual": ["AC", "CA"]},
    "120U": {"one-way": ["AB", "CB"], "mutual": ["AC", "CA"]},
    "120C": {"first": ["AB"], "second": ["BC"], "along": ["AC"], "back": ["CA"]},
    "210": {
        "one-way": ["AB"],
        "along-first": ["AC"],
        "along-second": ["CB"],
        "back-first": ["BC"],
        "back-second": ["CA"],
    },
    "300": {"": ["AB", "BA", "BC", "CB", "AC", "CA"]},
}

#: Motifs of mutual arcs alone: as many on a node's outgoing as on its incoming arcs.
BOTH_WAYS = ("mutual", "201", "300")


def _subsets(nodes, size):
    """All sets of `size` of the nodes, one per row."""
    found = itertools.chain.from_iterable(itertools.combinations(range(nodes), size))
    return np.fromiter(found, dtype=np.int64).reshape(-1, size)


def _codes(adjacency, sets, pairs):
    """One number per set of nodes: a bit for each of the pairs of positions that is linked."""
    return sum((adjacency[sets[:, a], sets[:, b]] != 0).astype(np.int64) << bit for bit, (a, b) in enumerate(pairs))


def _is_connected(size, links):
    reached, edge = {0}, [set(link) for link in links]
    while grown := {node for link in edge if link & reached for node in link} - reached:
        reached |= grown
    return len(reached) == size


def edge_orbits(adjacency):
    """Per edge and orbit, how many induced occurrences contain the edge: a dense N × N × 13 array, symmetric."""
    names, total = list(ORBITS), np.zeros((*adjacency.shape, len(ORBITS)))
    for size in (2, 3, 4):
        pairs = list(itertools.combinations(range(size), 2))
        sets = _subsets(len(adjacency), size)
        codes = _codes(adjacency, sets, pairs)
        for code in np.unique(codes):
            links = [pair for bit, pair in enumerate(pairs) if code >> bit & 1]
            if not _is_connected(size, links):
                continue
            degree = [sum(node in link for link in links) for node in range(size)]
            here = sets[codes == code]
            for a, b in links:
                orbit = EDGE_POSITION[tuple(sorted(degree)), tuple(sorted((degree[a], degree[b])))]
                np.add.at(total[:, :, names.index(orbit)], (here[:, a], here[:, b]), 1)
    return total + total.transpose(1, 0, 2)


def node_orbits(adjacency):
    """Per node, how many induced occurrences contain it in each of ORCA's 15 positions."""
    total = np.zeros((len(adjacency), len(NODE_POSITION)))
    for size in (2, 3, 4):
        pairs = list(itertools.combinations(range(size), 2))
        sets = _subsets(len(adjacency), size)
        codes = _codes(adjacency, sets, pairs)
        for code in np.unique(codes):
            links = [pair for bit, pair in enumerate(pairs) if code >> bit & 1]
            if not _is_connected(size, links):
                continue
            degree = [sum(node in link for link in links) for node in range(size)]
            for node in range(size):
                orbit = NODE_POSITION.index((tuple(sorted(degree)), degree[node]))
                np.add.at(total[:, orbit], sets[codes == code][:, node], 1)
    return total


def triad_orbits(arcs):
    """Per position ("030T-first", "mutual", …), how many induced occurrences contain each arc: N × N arrays."""
    total = {
        name + ("-" + position if position else ""): np.zeros(arcs.shape)
        for name, positions in TRIADS.items()
        for position in positions
    }
    for size in (2, 3):
        pairs = list(itertools.permutations(range(size), 2))
        sets = _subsets(len(arcs), size)
        codes = _codes(arcs, sets, pairs)
        for code in np.unique(codes):
            links = {pair for bit, pair in enumerate(pairs) if code >> bit & 1}
            for orbit, positions in _triad(size, links):
                here = sets[codes == code]
                for a, b in positions:
                    np.add.at(total[orbit], (here[:, a], here[:, b]), 1)
    return total


def _triad(size, links):
    """The positions of a triad, each with its arcs between the places 0, 1 and 2; nothing if it is not connected."""
    for name, positions in TRIADS.items():
        letters = sorted({letter for arcs in positions.values() for arc in arcs for letter in arc})
        if len(letters) != size:
            continue
        for order in itertools.permutations(range(size)):
            place = dict(zip(letters, order))
            drawn = {p: {(place[arc[0]], place[arc[1]]) for arc in arcs} for p, arcs in positions.items()}
            if set().union(*drawn.values()) == links:
                return [(name + ("-" + p if p else ""), arcs) for p, arcs in drawn.items()]
    return []


def triads(arcs):
    """Per arc and directed motif, whatever its position: a dictionary of N × N arrays."""
    total = {name: np.zeros(arcs.shape) for name in TRIADS}
    for orbit, counts in triad_orbits(arcs).items():
        name = orbit if orbit in TRIADS else orbit.split("-")[0]
        total[name] += counts
    return total


def occurrences(sums, name):
    """How often a motif occurs, from the sum over its edges or arcs (undirected: each edge once)."""
    per_occurrence = {name: len(sum(positions.values(), [])) for name, positions in TRIADS.items()}
    per_occurrence |= {"edge": 1, "path3": 2, "triangle": 3, "path4-end": 2, "path4-mid": 1, "star4": 3, "cycle4": 4}
    per_occurrence |= {"tailed-tail": 1, "tailed-near": 2, "tailed-far": 1}
    per_occurrence |= {"diamond-chord": 1, "diamond-rim": 4, "clique4": 6}
    return sums / per_occurrence[name]
