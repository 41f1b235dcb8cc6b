//! The description of each role: its name, its size, over- and under-represented motifs, typical nodes, and
//! links to other roles.
//!
//! In a directed graph this includes directed motifs, for outgoing and incoming arcs, and links have a direction.

use std::ops::Range;

use hone::graph::Graph;
use hone::motif::NODE_ORBITS;
use hone::parallel;

use super::Roles;
use super::name::{name, name_of_arcs, numbered};
use super::role::{MotifScore, Role};
use super::signature::{Arcs, WITHOUT_ARCS, plain};

/// Typical nodes per role.
const EXEMPLARS: usize = 3;
/// Nodes per task.
const CHUNK: usize = 1 << 14;

/// Sums over the nodes of a role.
#[derive(Clone)]
struct Sums {
    nodes: usize,
    counts: Vec<f64>,
    logs: Vec<f64>,
    squares: Vec<f64>,
    /// Arcs that leave, and that enter.
    arcs: [f64; 2],
}

impl Sums {
    fn zero(motifs: usize) -> Self {
        let zeros = || vec![0.0; motifs];
        Sums {
            nodes: 0,
            counts: zeros(),
            logs: zeros(),
            squares: zeros(),
            arcs: [0.0; 2],
        }
    }

    fn add(&mut self, other: &Sums) {
        self.nodes += other.nodes;
        self.arcs = [self.arcs[0] + other.arcs[0], self.arcs[1] + other.arcs[1]];
        for m in 0..self.counts.len() {
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
        let whole = sums
            .iter()
            .fold(Sums::zero(self.motifs().len()), |mut whole, part| {
                whole.add(part);
                whole
            });
        let mean_degree = whole.counts[0] / whole.nodes as f64;
        let width = self.width();
        let ratios: Vec<_> = self
            .mixture
            .components
            .iter()
            .map(|c| plain(&c.centre))
            .collect();
        let names: Vec<String> = ratios
            .iter()
            .map(|ratios| match width {
                WITHOUT_ARCS => name(ratios, mean_degree).to_owned(),
                _ => name_of_arcs(ratios, mean_degree),
            })
            .collect();
        let motifs = self.motifs();
        let directed = |side: usize, k: usize| {
            graph
                .is_directed()
                .then(|| sums[k].arcs[side] / sums[k].nodes.max(1) as f64)
        };
        let exemplars = self.exemplars(&own);
        let role = |(k, name): (usize, String)| Role {
            name,
            nodes: sums[k].nodes,
            share: sums[k].nodes as f64 / whole.nodes as f64,
            degree: sums[k].counts[0] / sums[k].nodes.max(1) as f64,
            out_degree: directed(0, k),
            in_degree: directed(1, k),
            ratios: ratios[k][..width].to_vec(),
            motifs: scores(&motifs, &sums[k], &whole),
            exemplars: exemplars[k].clone(),
        };
        self.roles = numbered(&names).into_iter().enumerate().map(role).collect();
        self.affinity = affinity(graph, &own, self.mixture.components.len());
    }

    /// Names of the motifs that nodes have counts of.
    fn motifs(&self) -> Vec<String> {
        let directed = self
            .directed
            .iter()
            .flat_map(|named| named.names.iter().cloned());
        NODE_ORBITS
            .iter()
            .map(|&orbit| orbit.to_owned())
            .chain(directed)
            .collect()
    }

    fn sums(&self, own: &[u32]) -> Vec<Sums> {
        let (k, motifs) = (self.mixture.components.len(), self.motifs().len());
        let chunk = |range: Range<usize>| {
            let mut sums = vec![Sums::zero(motifs); k];
            for i in range {
                let sums = &mut sums[own[i] as usize];
                sums.nodes += 1;
                let arcs = self.arcs.as_ref().map(|arcs| arcs[i]);
                if let Some(Arcs { out, into, .. }) = arcs {
                    sums.arcs = [
                        sums.arcs[0] + f64::from(out),
                        sums.arcs[1] + f64::from(into),
                    ];
                }
                let directed = self
                    .directed
                    .iter()
                    .flat_map(|named| named.block.row(i))
                    .map(|&count| f64::from(count));
                let counts = self.counts[i]
                    .iter()
                    .map(|&count| count as f64)
                    .chain(directed);
                for (m, count) in counts.enumerate() {
                    let log = count.ln_1p();
                    sums.counts[m] += count;
                    sums.logs[m] += log;
                    sums.squares[m] += log * log;
                }
            }
            sums
        };
        let parts: Vec<Vec<Sums>> = parallel::stretches(own.len(), CHUNK, chunk);
        parts
            .into_iter()
            .fold(vec![Sums::zero(motifs); k], |mut sums, part| {
                sums.iter_mut()
                    .zip(&part)
                    .for_each(|(sum, part)| sum.add(part));
                sums
            })
    }

    /// The nodes of each role that are closest to its centre, of the more clearly members first.
    fn exemplars(&self, own: &[u32]) -> Vec<Vec<u32>> {
        let component = |k: usize| &self.mixture.components[k];
        let best = |k: usize| {
            let rated = |i: usize| (component(k).log_density(&self.signatures[i]), i as u32);
            let better = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
            let fold = |mut best: Vec<(f64, u32)>, item| {
                best.push(item);
                best.sort_by(better);
                best.truncate(EXEMPLARS);
                best
            };
            let join = |a: Vec<(f64, u32)>, b: Vec<(f64, u32)>| b.into_iter().fold(a, fold);
            let of = |range: Range<usize>| {
                range
                    .filter(|&i| own[i] as usize == k)
                    .map(rated)
                    .fold(Vec::new(), fold)
            };
            let best = parallel::stretches(own.len(), CHUNK, of)
                .into_iter()
                .fold(Vec::new(), join);
            best.into_iter().map(|(_, node)| node).collect()
        };
        (0..self.mixture.components.len()).map(best).collect()
    }
}

fn scores(motifs: &[String], sums: &Sums, whole: &Sums) -> Vec<MotifScore> {
    let (n, all) = (sums.nodes.max(1) as f64, whole.nodes as f64);
    let score = |m: usize| {
        let mean = whole.logs[m] / all;
        let deviation = (whole.squares[m] / all - mean * mean).max(0.0).sqrt();
        let gap = sums.logs[m] / n - mean;
        // What is left of equal counts is rounding.
        let z = if sums.nodes > 0 && deviation > 1e-6 * (1.0 + mean) {
            gap / deviation
        } else {
            0.0
        };
        MotifScore {
            motif: motifs[m].clone(),
            mean: sums.counts[m] / n,
            z,
        }
    };
    (0..motifs.len()).map(score).collect()
}

/// Links between roles over those expected from degrees alone: e · 2M / (vol · vol), and of a directed graph arcs from one to the
/// other, e · M / (out · in); 0 where a role has no link.
fn affinity(graph: &Graph, own: &[u32], k: usize) -> Vec<Vec<f64>> {
    let count = |range: Range<usize>| {
        let mut links = vec![0u64; k * k];
        for i in range {
            for &j in graph.neighbors(i as u32) {
                links[own[i] as usize * k + own[j as usize] as usize] += 1;
            }
        }
        links
    };
    let parts: Vec<Vec<u64>> = parallel::stretches(own.len(), CHUNK, count);
    let links = parts.into_iter().fold(vec![0u64; k * k], |mut sum, part| {
        sum.iter_mut()
            .zip(part)
            .for_each(|(sum, part)| *sum += part);
        sum
    });
    let out: Vec<f64> = (0..k)
        .map(|r| links[r * k..(r + 1) * k].iter().sum::<u64>() as f64)
        .collect();
    let into: Vec<f64> = (0..k)
        .map(|s| (0..k).map(|r| links[r * k + s]).sum::<u64>() as f64)
        .collect();
    let all: f64 = out.iter().sum();
    let ratio = |r: usize, s: usize| {
        let expected = out[r] * into[s];
        if expected > 0.0 {
            links[r * k + s] as f64 * all / expected
        } else {
            0.0
        }
    };
    (0..k)
        .map(|r| (0..k).map(|s| ratio(r, s)).collect())
        .collect()
}
