//! The input of roles: six numbers per node, ratios of its motif counts, and two more in directed graphs.
//!
//! The counts of all motifs grow with the degree. Ratios show what is different, have names in the field, and are
//! robust to small changes of the edges:
//!
//! | | of the counts around a node | scaled so that 1 is a clear difference |
//! |---|---|---|
//! | degree | edges | log₂ |
//! | neighbours' degree | edges of its neighbours, the geometric mean | log₂ |
//! | closed pairs | triangles / pairs of neighbours: the clustering coefficient | × 2 |
//! | open pairs | open paths through the node / pairs of neighbours; like closed pairs 0 where there is no pair | × 1.5 |
//! | closed around | tailed triangles that it is the tail of / those and the stars that it is a leaf of | × 1 |
//! | cliques | 4-cliques / triples of neighbours | × 1 |
//! | out-only | neighbours that arcs lead to and not back / all neighbours; 0 without directions | × 3 |
//! | in-only | neighbours that arcs come from and none leads to / all neighbours; 0 without directions | × 3 |
//!
//! Directed motifs are not used: the six describe how neighbours are linked to each other, and the two give the share
//! of mutual neighbours. Cost: O(N + M). Nothing depends on the order of the nodes.

use hone::graph::Graph;
use hone::motif::NODE_ORBITS;
use hone::parallel;
use hone::sparse::Pattern;

/// Number of ratios.
pub(crate) const WIDTH: usize = 8;
/// How many of them graphs without one-way arcs have.
pub(crate) const WITHOUT_ARCS: usize = 6;
/// Names of the ratios; the last two are for directed graphs.
pub const RATIOS: [&str; WIDTH] = [
    "degree",
    "neighbour-degree",
    "closed-pairs",
    "open-pairs",
    "closed-around",
    "cliques",
    "out-only",
    "in-only",
];
/// The ratios of one node, scaled.
pub(crate) type Signature = [f64; WIDTH];

/// What each ratio is multiplied with; the first two become logarithms.
const SCALES: Signature = [1.0, 1.0, 2.0, 1.5, 1.0, 1.0, 3.0, 3.0];

/// The neighbours of a node by direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Arcs {
    pub(crate) neighbours: u32,
    pub(crate) out: u32,
    pub(crate) into: u32,
}

impl Arcs {
    /// Those of all nodes of a directed graph, with `neighbors` its symmetric adjacency.
    pub(crate) fn of(graph: &Graph, neighbors: &Pattern) -> Vec<Arcs> {
        let into = graph.in_degrees();
        let of = |i: usize| Arcs {
            neighbours: neighbors.row(i).len() as u32,
            out: graph.degree(i as u32) as u32,
            into: into[i],
        };
        parallel::collect(graph.nodes(), of)
    }

    /// The parts of the neighbours that arcs only lead to, and only come from.
    fn parts(self) -> [f64; 2] {
        let all = f64::from(self.neighbours.max(1));
        [
            f64::from(self.neighbours - self.into) / all,
            f64::from(self.neighbours - self.out) / all,
        ]
    }
}

/// The signatures of all nodes, from their counts of the 15 node orbits, the symmetric adjacency, and their arcs if the graph
/// is directed.
pub(crate) fn signatures(
    counts: &[[u64; NODE_ORBITS.len()]],
    neighbors: &Pattern,
    arcs: Option<&[Arcs]>,
) -> Vec<Signature> {
    let part = |some: f64, rest: f64| match some > 0.0 {
        true => some / (some + rest),
        false => 0.0,
    };
    parallel::collect(counts.len(), |i| {
        let log = |&j: &u32| (neighbors.row(j as usize).len() as f64).log2();
        let mut logs: Vec<f64> = neighbors.row(i).iter().map(log).collect();
        // Sorted, so that the sum has the same bits in any order of nodes.
        logs.sort_by(f64::total_cmp);
        let c = counts[i].map(|count| count as f64);
        let [degree, _, path_mid, triangle, .., clique] = c;
        let (star_leaf, star_centre, tailed_end, tailed_centre, chord) =
            (c[6], c[7], c[9], c[11], c[13]);
        let [out, into] = arcs.map_or([0.0; 2], |arcs| arcs[i].parts());
        let mut signature = scaled(&[
            degree,
            1.0,
            part(triangle, path_mid),
            part(path_mid, triangle),
            part(tailed_end, star_leaf),
            part(clique, chord + tailed_centre + star_centre),
            out,
            into,
        ]);
        signature[1] = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
        signature
    })
}

/// Whether it is the signature of a node without neighbours.
pub(crate) fn is_isolated(signature: &Signature) -> bool {
    signature[0] < -0.5
}

/// Whether a node with these ratios, as they are named, can have ratio `d`: there are no pairs of one neighbour.
pub(crate) fn is_defined(ratios: &Signature, d: usize) -> bool {
    const LEAST: Signature = [0.0, 1.0, 2.0, 2.0, 1.0, 3.0, 1.0, 1.0];
    ratios[0].round() >= LEAST[d]
}

/// The mean of each ratio over the nodes that can have it, from signatures and how many nodes have each.
pub(crate) fn averages(rows: impl Iterator<Item = (Signature, f64)>) -> Signature {
    let (mut sums, mut weights) = ([0.0; WIDTH], [0.0; WIDTH]);
    for (at, weight) in rows {
        let ratios = plain(&at);
        for d in (0..WIDTH).filter(|&d| is_defined(&ratios, d)) {
            sums[d] += weight * ratios[d];
            weights[d] += weight;
        }
    }
    let mean = |d: usize| {
        if weights[d] > 0.0 {
            sums[d] / weights[d]
        } else {
            0.0
        }
    };
    std::array::from_fn(mean)
}

/// The ratios as they are named: a scaled signature, or a mean of such, taken back.
pub(crate) fn plain(signature: &Signature) -> Signature {
    std::array::from_fn(|d| match d {
        0 | 1 if is_isolated(signature) => 0.0,
        0 | 1 => signature[d].exp2(),
        _ => signature[d] / SCALES[d],
    })
}

/// The signature of ratios as they are named.
pub(crate) fn scaled(ratios: &Signature) -> Signature {
    std::array::from_fn(|d| match d {
        0 => ratios[d].max(0.5).log2(),
        1 => ratios[d].max(1.0).log2(),
        _ => SCALES[d] * ratios[d],
    })
}
