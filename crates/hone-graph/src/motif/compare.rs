//! Graphs compared by the node orbits of their nodes (graphlet degree vectors): agreement of the distributions of graphlet
//! degrees, and the distance of graphlet correlations, which compares graphs of any sizes.
//!
//! Agreement: Pržulj 2007, doi:10.1093/bioinformatics/btl301, with the factor 1/√2 of its erratum, over the 15 orbits of 2–4
//! nodes. GCD-11: Yaveroğlu et al. 2014, doi:10.1038/srep04547. Cost: a few sorts of 11 or 15 columns.

use std::collections::BTreeMap;

use serde::Serialize;

use super::names::node_orbits_called;
use super::orbit::NODE_ORBITS;
use crate::parallel;

/// Node orbits of all nodes: graphlet degree vectors.
pub type NodeOrbits = [[u64; NODE_ORBITS.len()]];

/// The orbits that do not follow from others; GCD-11 compares these.
pub const NOT_REDUNDANT: [usize; 11] = [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11];

/// How far the distributions of graphlet degrees of two graphs agree, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Agreement {
    /// Of each node orbit.
    pub orbits: [f64; NODE_ORBITS.len()],
    /// Their arithmetic mean.
    pub arithmetic: f64,
    /// Their geometric mean.
    pub geometric: f64,
}

impl Agreement {
    /// The agreement of two graphs. An orbit that occurs in neither agrees wholly.
    pub fn of(a: &NodeOrbits, b: &NodeOrbits) -> Agreement {
        let orbits = parallel::map(NODE_ORBITS.len(), |orbit| {
            let [a, b] = [a, b].map(|graph| scaled_degrees(graph, orbit));
            let degrees = a
                .keys()
                .chain(b.keys().filter(|degree| !a.contains_key(degree)));
            let share = |of: &BTreeMap<u64, f64>, degree| of.get(degree).copied().unwrap_or(0.0);
            let squares = degrees.map(|degree| (share(&a, degree) - share(&b, degree)).powi(2));
            (1.0 - (squares.sum::<f64>() / 2.0).sqrt()).max(0.0)
        });
        let orbits = std::array::from_fn(|orbit| orbits[orbit]);
        let count = NODE_ORBITS.len() as f64;
        Agreement {
            orbits,
            arithmetic: orbits.iter().sum::<f64>() / count,
            geometric: orbits.iter().product::<f64>().powf(1.0 / count),
        }
    }
}

/// Graphs compared pair by pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The distance of graphlet correlations of each pair.
    pub gcd11: Vec<Vec<f64>>,
    /// The arithmetic mean of [`Agreement`] of each pair.
    pub agreement: Vec<Vec<f64>>,
    /// The geometric mean of [`Agreement`] of each pair.
    pub geometric: Vec<Vec<f64>>,
    /// The [`Agreement`] of each pair in each orbit.
    pub by_orbit: Vec<Vec<[f64; NODE_ORBITS.len()]>>,
    /// What the orbits are called, in the order of `by_orbit`.
    pub orbits: [&'static str; NODE_ORBITS.len()],
    /// The correlations of each graph.
    pub correlations: Vec<[[f64; 11]; 11]>,
    /// The orbits that are correlated, in the order of rows and columns.
    pub correlated: [&'static str; 11],
}

impl Comparison {
    /// Compares graphs by the node orbits of their nodes, which are called by their names, or by their numbers.
    pub fn of(graphs: &[impl AsRef<NodeOrbits>], numbers: bool) -> Comparison {
        let correlations: Vec<_> = graphs
            .iter()
            .map(|graph| correlations(graph.as_ref()))
            .collect();
        let size = graphs.len();
        let agreement = |a: usize, b: usize| Agreement::of(graphs[a].as_ref(), graphs[b].as_ref());
        let agreements = matrix(size, agreement);
        let orbits = node_orbits_called(numbers);
        Comparison {
            gcd11: matrix(size, |a, b| {
                correlation_distance(&correlations[a], &correlations[b])
            }),
            agreement: matrix(size, |a, b| agreements[a][b].arithmetic),
            geometric: matrix(size, |a, b| agreements[a][b].geometric),
            by_orbit: matrix(size, |a, b| agreements[a][b].orbits),
            orbits,
            correlations,
            correlated: NOT_REDUNDANT.map(|orbit| orbits[orbit]),
        }
    }
}

/// A value for each pair.
fn matrix<T>(size: usize, value: impl Fn(usize, usize) -> T) -> Vec<Vec<T>> {
    let row = |a: usize| (0..size).map(|b| value(a, b)).collect();
    (0..size).map(row).collect()
}

/// How many nodes have each degree in an orbit, divided by the degree, and all of it by its sum.
fn scaled_degrees(nodes: &NodeOrbits, orbit: usize) -> BTreeMap<u64, f64> {
    let mut shares: BTreeMap<u64, f64> = BTreeMap::new();
    for degree in nodes
        .iter()
        .map(|node| node[orbit])
        .filter(|&degree| degree > 0)
    {
        *shares.entry(degree).or_default() += 1.0;
    }
    shares
        .iter_mut()
        .for_each(|(&degree, share)| *share /= degree as f64);
    let sum: f64 = shares.values().sum();
    shares.values_mut().for_each(|share| *share /= sum);
    shares
}

/// Spearman's rank correlations between the 11 orbits [`NOT_REDUNDANT`] over the nodes and one more that has 1 in every orbit, as in
/// the definition of GCD-11: it keeps an orbit that occurs nowhere from having no correlation. Where one has none all the
/// same, 0 stands.
pub fn correlations(nodes: &NodeOrbits) -> [[f64; 11]; 11] {
    let columns = parallel::map(11, |at| {
        let orbit = NOT_REDUNDANT[at];
        let degrees = nodes.iter().map(|node| node[orbit]);
        centred_ranks(&degrees.chain([1]).collect::<Vec<u64>>())
    });
    let product = |a: usize, b: usize| -> f64 {
        let both = columns[a].iter().zip(&columns[b]);
        both.map(|(x, y)| x * y).sum()
    };
    let rows = parallel::map(11, |a| -> [f64; 11] {
        std::array::from_fn(|b| {
            let sizes = (product(a, a) * product(b, b)).sqrt();
            match (a == b, sizes > 0.0) {
                (true, _) => 1.0,
                (false, true) => product(a, b) / sizes,
                (false, false) => 0.0,
            }
        })
    });
    std::array::from_fn(|row| rows[row])
}

/// Twice the ranks of values, equal values sharing their mean rank, less the mean of all.
fn centred_ranks(values: &[u64]) -> Vec<f64> {
    let mut order: Vec<u32> = (0..values.len() as u32).collect();
    let value = |&node: &u32| values[node as usize];
    order.sort_unstable_by_key(value);
    let (mut ranks, mut first) = (vec![0.0; values.len()], 0);
    for same in order.chunk_by(|a, b| value(a) == value(b)) {
        let mean = (2 * first + same.len()) as f64 - values.len() as f64;
        same.iter().for_each(|&node| ranks[node as usize] = mean);
        first += same.len();
    }
    ranks
}

/// GCD-11: the Euclidean distance between the correlations of two graphs, each pair of orbits once.
pub fn correlation_distance(a: &[[f64; 11]; 11], b: &[[f64; 11]; 11]) -> f64 {
    let pairs = (0..11).flat_map(|row| (0..row).map(move |column| (row, column)));
    let squares = pairs.map(|(row, column)| (a[row][column] - b[row][column]).powi(2));
    squares.sum::<f64>().sqrt()
}
