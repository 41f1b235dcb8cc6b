//! What each role is: its name, its size, the motifs it has more and less of, its typical nodes, and who it is linked to.

use hone::graph::Graph;
use hone::motif::NODE_ORBITS;
use rayon::prelude::*;
use serde::Serialize;

use super::Roles;
use super::name::{name, numbered};
use super::signature::plain;

/// Typical nodes per role.
const EXEMPLARS: usize = 3;
/// Nodes per task.
const CHUNK: usize = 1 << 14;

/// A role.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Role {
    /// What it is called.
    pub name: String,
    /// Nodes that belong to it more than to any other.
    pub nodes: usize,
    /// Its part of all nodes.
    pub share: f64,
    /// Mean degree of its nodes.
    pub degree: f64,
    /// Its typical ratios, in the order of [`RATIOS`](super::RATIOS).
    pub ratios: [f64; 6],
    /// How its motif counts differ from those of all nodes, in the order of the node orbits.
    pub motifs: Vec<MotifScore>,
    /// Its most typical nodes, by number.
    pub exemplars: Vec<u32>,
}

/// How much more or less of a motif a role has than the graph.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MotifScore {
    /// The node orbit.
    pub motif: &'static str,
    /// Mean count of the role's nodes.
    pub mean: f64,
    /// Difference of the means of log(1 + count), in standard deviations over all nodes.
    pub z: f64,
}

impl Role {
    /// The motifs that it has more of than the graph, the most telling first.
    pub fn more(&self) -> Vec<&MotifScore> {
        self.leading(1.0)
    }

    /// The motifs that it has less of.
    pub fn less(&self) -> Vec<&MotifScore> {
        self.leading(-1.0)
    }

    fn leading(&self, sign: f64) -> Vec<&MotifScore> {
        let mut telling: Vec<&MotifScore> = self.motifs.iter().filter(|score| sign * score.z > 0.1).collect();
        telling.sort_by(|a, b| b.z.abs().total_cmp(&a.z.abs()));
        telling.truncate(3);
        telling
    }
}

/// Sums over the nodes of a role.
#[derive(Clone)]
struct Sums {
    nodes: usize,
    counts: [f64; NODE_ORBITS.len()],
    logs: [f64; NODE_ORBITS.len()],
    squares: [f64; NODE_ORBITS.len()],
}

impl Sums {
    fn zero() -> Self {
        Sums { nodes: 0, counts: [0.0; 15], logs: [0.0; 15], squares: [0.0; 15] }
    }

    fn add(&mut self, other: &Sums) {
        self.nodes += other.nodes;
        for m in 0..NODE_ORBITS.len() {
            self.counts[m] += other.counts[m];
            self.logs[m] += other.logs[m];
            self.squares[m] += other.squares[m];
        }
    }
}

impl Roles {
    /// Names the components and measures what belongs to them.
    pub(super) fn describe(&mut self, graph: &Graph) {
        let own = self.assignments();
        let sums = self.sums(&own);
        let whole = sums.iter().fold(Sums::zero(), |mut whole, part| {
            whole.add(part);
            whole
        });
        let mean_degree = whole.counts[0] / whole.nodes as f64;
        let ratios: Vec<[f64; 6]> = self.mixture.components.iter().map(|c| plain(&c.centre)).collect();
        let names: Vec<&'static str> = ratios.iter().map(|ratios| name(ratios, mean_degree)).collect();
        let exemplars = self.exemplars(&own);
        let role = |(k, name): (usize, String)| Role {
            name,
            nodes: sums[k].nodes,
            share: sums[k].nodes as f64 / whole.nodes as f64,
            degree: sums[k].counts[0] / sums[k].nodes.max(1) as f64,
            ratios: ratios[k],
            motifs: scores(&sums[k], &whole),
            exemplars: exemplars[k].clone(),
        };
        self.roles = numbered(&names).into_iter().enumerate().map(role).collect();
        self.affinity = affinity(graph, &own, self.mixture.components.len());
    }

    fn sums(&self, own: &[u32]) -> Vec<Sums> {
        let k = self.mixture.components.len();
        let chunk = |(counts, own): (&[[u64; 15]], &[u32])| {
            let mut sums = vec![Sums::zero(); k];
            for (counts, &role) in counts.iter().zip(own) {
                let sums = &mut sums[role as usize];
                sums.nodes += 1;
                for m in 0..NODE_ORBITS.len() {
                    let log = (counts[m] as f64).ln_1p();
                    sums.counts[m] += counts[m] as f64;
                    sums.logs[m] += log;
                    sums.squares[m] += log * log;
                }
            }
            sums
        };
        let parts: Vec<Vec<Sums>> = self.counts.par_chunks(CHUNK).zip(own.par_chunks(CHUNK)).map(chunk).collect();
        parts.into_iter().fold(vec![Sums::zero(); k], |mut sums, part| {
            sums.iter_mut().zip(&part).for_each(|(sum, part)| sum.add(part));
            sums
        })
    }

    /// The nodes of each role that are closest to its centre, of the more clearly members first.
    fn exemplars(&self, own: &[u32]) -> Vec<Vec<u32>> {
        let component = |k: usize| &self.mixture.components[k];
        let best = |k: usize| {
            let members = (0..own.len()).into_par_iter().filter(|&i| own[i] as usize == k);
            let rated = members.map(|i| (component(k).log_density(&self.signatures[i]), i as u32));
            let better = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
            let fold = |mut best: Vec<(f64, u32)>, item| {
                best.push(item);
                best.sort_by(better);
                best.truncate(EXEMPLARS);
                best
            };
            let join = |a: Vec<(f64, u32)>, b: Vec<(f64, u32)>| b.into_iter().fold(a, fold);
            let best = rated.fold(Vec::new, fold).reduce(Vec::new, join);
            best.into_iter().map(|(_, node)| node).collect()
        };
        (0..self.mixture.components.len()).map(best).collect()
    }
}

fn scores(sums: &Sums, whole: &Sums) -> Vec<MotifScore> {
    let (n, all) = (sums.nodes.max(1) as f64, whole.nodes as f64);
    let score = |m: usize| {
        let mean = whole.logs[m] / all;
        let deviation = (whole.squares[m] / all - mean * mean).max(0.0).sqrt();
        let gap = sums.logs[m] / n - mean;
        // What is left of equal counts is rounding.
        let z = if sums.nodes > 0 && deviation > 1e-6 * (1.0 + mean) { gap / deviation } else { 0.0 };
        MotifScore { motif: NODE_ORBITS[m], mean: sums.counts[m] / n, z }
    };
    (0..NODE_ORBITS.len()).map(score).collect()
}

/// Links between roles over those expected from degrees alone: e · 2M / (vol · vol); 0 where a role has no link.
fn affinity(graph: &Graph, own: &[u32], k: usize) -> Vec<Vec<f64>> {
    let graph = graph.underlying();
    let count = |start: usize| {
        let mut links = vec![0u64; k * k];
        for i in start..own.len().min(start + CHUNK) {
            for &j in graph.neighbors(i as u32) {
                links[own[i] as usize * k + own[j as usize] as usize] += 1;
            }
        }
        links
    };
    let starts: Vec<usize> = (0..own.len()).step_by(CHUNK).collect();
    let parts: Vec<Vec<u64>> = starts.into_par_iter().map(count).collect();
    let links = parts.into_iter().fold(vec![0u64; k * k], |mut sum, part| {
        sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        sum
    });
    let volume: Vec<f64> = (0..k).map(|r| links[r * k..(r + 1) * k].iter().sum::<u64>() as f64).collect();
    let all: f64 = volume.iter().sum();
    let ratio = |r: usize, s: usize| {
        let expected = volume[r] * volume[s];
        if expected > 0.0 { links[r * k + s] as f64 * all / expected } else { 0.0 }
    };
    (0..k).map(|r| (0..k).map(|s| ratio(r, s)).collect()).collect()
}
