#!/usr/bin/env python3
"""Feed-forward loops of two published networks: hone beside a second program and Milo et al. (2002).

    python run.py --coli coliInterNoAutoRegVec.txt --elegans celegansneural.gml

Needs `hone_embed` and `networkx`. Nothing is downloaded: the files are those of Shen-Orr et al. (2002), and Newman's of White et al.
(1986).
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from statistics import mean, stdev

# Milo et al. 2002, table 1: feed-forward loops found, and mean, sd and z of their random graphs.
PUBLISHED = {"coli": (40, 7, 3, 10), "elegans": (125, 90, 10, 3.7)}


def coli(path):
    """Arcs of coliInterNoAutoRegVec.txt (Shen-Orr et al. 2002): lines of target, source, and 1."""
    lines = [line.split() for line in open(path, encoding="utf-8")]
    return [(int(line[1]), int(line[0])) for line in lines if line]


def elegans(path, least=5):
    """Arcs of celegansneural.gml (Newman's file of White et al. 1986) with at least five synapses, as in Milo et al."""
    edge = re.compile(r"source (\d+)\s+target (\d+)\s+value (\d+)")
    found = edge.findall(open(path, encoding="utf-8").read())
    return sorted({(int(u), int(v)) for u, v, synapses in found if int(synapses) >= least and u != v})


def switched(arcs, rng, per_edge=20):
    """A second implementation of the null model, with lists and sets: one-way arcs and mutual pairs are switched apart."""
    arcs = set(arcs)
    kinds = [[(u, v) for u, v in arcs if (v, u) not in arcs], [(u, v) for u, v in arcs if (v, u) in arcs and u < v]]
    for kind in kinds:
        kind.sort()
    linked = {frozenset(arc) for arc in arcs}
    for _ in range(per_edge * sum(map(len, kinds))):
        kind = kinds[rng.randrange(sum(map(len, kinds))) >= len(kinds[0])]
        x, y = rng.randrange(len(kind)), rng.randrange(len(kind))
        (a, b), (c, d) = kind[x], kind[y]
        if kind is kinds[1] and rng.random() < 0.5:
            c, d = d, c
        new = [frozenset((a, d)), frozenset((c, b))]
        if min(map(len, new)) < 2 or new[0] in linked or new[1] in linked:
            continue
        linked -= {frozenset((a, b)), frozenset((c, d))}
        linked |= set(new)
        kind[x], kind[y] = (a, d), (c, b)
    return kinds[0] + kinds[1] + [(v, u) for u, v in kinds[1]]


def loops(arcs):
    """Induced feed-forward loops, by definition."""
    arcs = set(arcs)
    after = {}
    for u, v in arcs:
        if (v, u) not in arcs:
            after.setdefault(u, set()).add(v)
    return sum(len(after[u] & after.get(v, set())) for u in after for v in after[u])


def published(options):
    import networkx
    from hone_embed import significance

    print("| network | nodes | arcs | loops | hone mean ± sd | z | p | simple program | z | Milo et al. | z |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, read in (("coli", coli), ("elegans", elegans)):
        path = getattr(options, name)
        if path is None:
            print(f"{name}: give --{name} FILE", file=sys.stderr)
            continue
        arcs = read(path)
        nodes = len({node for arc in arcs for node in arc})
        found = significance(networkx.DiGraph(arcs), 1000, random_state=1)
        loop = next(motif for motif in found.motifs if motif["motif"] == "030T")
        rng = random.Random(1)
        own = [loops(switched(arcs, rng)) for _ in range(200)]
        assert loop["count"] == loops(arcs)
        z = (loop["count"] - mean(own)) / stdev(own)
        real, expected, sd, published_z = PUBLISHED[name]
        print(
            f"| {name} | {nodes} | {len(arcs)} | {loop['count']} | {loop['mean']:.1f} ± {loop['sd']:.1f} "
            f"| {loop['z']:.1f} | {loop['p_more']:.3f} | {mean(own):.1f} ± {stdev(own):.1f} | {z:.1f} "
            f"| {real}; {expected} ± {sd} | {published_z} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--coli", help="coliInterNoAutoRegVec.txt of Shen-Orr et al. (2002)")
    parser.add_argument("--elegans", help="celegansneural.gml of Newman's collection")
    published(parser.parse_args())


if __name__ == "__main__":
    main()
