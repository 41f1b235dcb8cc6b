//! The description of each role: its name, its size, over- and under-represented motifs, typical nodes, and
//! links to other roles.
//!
//! In a directed graph this includes directed motifs, for outgoing and incoming arcs, and links have a direction.
//!
//! Names follow from the ratios of a typical node, in the terms of the field:
//!
//! | name | what it says |
//! |---|---|
//! | isolated | no neighbours |
//! | star leaf | one neighbour, which has many others that are not linked |
//! | periphery | one neighbour, in a dense part; or few neighbours and nothing else that stands out |
//! | chain end | one neighbour, which has few others |
//! | chain | two neighbours or so, that have as few |
//! | bridge | few neighbours, not linked, that have many |
//! | star centre | many neighbours, not linked, that have few |
//! | hub | at least twice as many neighbours as the average node, and 1.5 times as many as its own neighbours have |
//! | clique member | nearly all neighbours linked to each other, in cliques of four |
//! | near-clique | more than half of the pairs of neighbours linked |
//! | triangle corner | the same with few neighbours |
//! | community member | a good part of the pairs of neighbours linked |
//! | core | more neighbours than the average node, that have many |
//! | connector | neighbours that are not linked, as many as they have |
//!
//! In a directed graph with one-way arcs a prefix is added to these names, for nodes to which it applies:
//!
//! | | |
//! |---|---|
//! | source | arcs lead to at least three quarters of the neighbours, and none back |
//! | sink | arcs come from at least three quarters of the neighbours, and none leads back |
//! | mutual | arcs both ways with more than half of the neighbours |
//! | broker | none of these, and neighbours that are mostly not linked: arcs come from some and lead to others |

use std::ops::Range;

use hone::graph::Graph;
use hone::parallel;
use serde::Serialize;

use super::Roles;
use super::signature::{Arcs, Signature, WITHOUT_ARCS, plain};

/// Typical nodes per role.
const EXEMPLARS: usize = 3;
/// Nodes per task.
const CHUNK: usize = 1 << 14;

/// A role.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Role {
    /// Its name.
    pub name: String,
    /// Nodes that belong to it more than to any other.
    pub nodes: usize,
    /// Its share of all nodes.
    pub share: f64,
    /// Mean degree of its nodes.
    pub degree: f64,
    /// Mean out-degree of its nodes, in a directed graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out_degree: Option<f64>,
    /// Mean in-degree of its nodes, in a directed graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_degree: Option<f64>,
    /// Its typical ratios, in the order of [`RATIOS`](super::RATIOS); six where there are no one-way arcs.
    pub ratios: Vec<f64>,
    /// How its motif counts differ from those of all nodes: node orbits, then directed motifs of a directed graph.
    pub motifs: Vec<MotifScore>,
    /// Its most typical nodes, by number.
    pub exemplars: Vec<u32>,
}

/// How much more or less of a motif a role has than the graph.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MotifScore {
    /// The node orbit; or the directed motif, over arcs that leave (`030T_out_degree`) or enter (`030T_in_degree`).
    pub motif: String,
    /// Mean count of the role's nodes.
    pub mean: f64,
    /// Difference of the means of log(1 + count), in standard deviations over all nodes.
    pub z: f64,
}

impl Role {
    /// The motifs that it has more of than the graph, the strongest first.
    pub fn more(&self) -> Vec<&MotifScore> {
        self.leading(1.0)
    }

    /// The motifs that it has less of.
    pub fn less(&self) -> Vec<&MotifScore> {
        self.leading(-1.0)
    }

    fn leading(&self, sign: f64) -> Vec<&MotifScore> {
        let mut telling: Vec<&MotifScore> = self
            .motifs
            .iter()
            .filter(|score| sign * score.z > 0.1)
            .collect();
        telling.sort_by(|a, b| b.z.abs().total_cmp(&a.z.abs()));
        telling.truncate(3);
        telling
    }
}

/// Sums over the nodes of a role.
#[derive(Clone)]
struct Sums {
    nodes: usize,
    /// Arcs that leave, and that enter.
    arcs: [f64; 2],
    /// Of each motif the counts, their logarithms, and the squares of these.
    motifs: Vec<[f64; 3]>,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.nodes += other.nodes;
        (0..2).for_each(|side| self.arcs[side] += other.arcs[side]);
        for (sum, other) in self.motifs.iter_mut().zip(&other.motifs) {
            (0..3).for_each(|part| sum[part] += other[part]);
        }
    }

    /// How far the mean logarithm of a motif is from that of all nodes, in standard deviations.
    fn score(&self, motif: usize, whole: &Sums) -> f64 {
        let all = whole.motifs[motif].map(|sum| sum / whole.nodes as f64);
        let deviation = (all[2] - all[1] * all[1]).max(0.0).sqrt();
        // What is left of equal counts is rounding.
        if self.nodes == 0 || deviation <= 1e-6 * (1.0 + all[1]) {
            return 0.0;
        }
        (self.motifs[motif][1] / self.nodes as f64 - all[1]) / deviation
    }
}

impl Roles {
    /// Names the components and measures what belongs to them.
    pub(super) fn describe(&mut self, graph: &Graph) {
        let own = self.assignments();
        let orbits = self.orbits().into_iter().map(str::to_owned);
        let directed = self
            .directed
            .iter()
            .flat_map(|named| named.names.iter().cloned());
        let motifs: Vec<String> = orbits.chain(directed).collect();
        let (sums, whole) = self.sums(&own, motifs.len());
        let mean_degree = whole.motifs[0][0] / whole.nodes as f64;
        let width = self.width();
        let centres = self.mixture.components.iter();
        let ratios: Vec<Signature> = centres.map(|c| plain(&c.centre)).collect();
        let names = ratios.iter().map(|ratios| match width {
            WITHOUT_ARCS => name(ratios, mean_degree).to_owned(),
            _ => name_of_arcs(ratios, mean_degree),
        });
        let names = numbered(&names.collect::<Vec<_>>());
        let role = |(k, name): (usize, String)| {
            let own_sums = &sums[k];
            let nodes = own_sums.nodes.max(1) as f64;
            let arcs = |side: usize| graph.is_directed().then(|| own_sums.arcs[side] / nodes);
            let score = |(at, motif): (usize, &String)| MotifScore {
                motif: motif.clone(),
                mean: own_sums.motifs[at][0] / nodes,
                z: own_sums.score(at, &whole),
            };
            Role {
                name,
                nodes: own_sums.nodes,
                share: own_sums.nodes as f64 / whole.nodes as f64,
                degree: own_sums.motifs[0][0] / nodes,
                out_degree: arcs(0),
                in_degree: arcs(1),
                ratios: ratios[k][..width].to_vec(),
                motifs: motifs.iter().enumerate().map(score).collect(),
                exemplars: self.exemplars(&own, k),
            }
        };
        self.roles = names.into_iter().enumerate().map(role).collect();
        self.affinity = affinity(graph, &own, self.mixture.components.len());
    }

    /// Sums of every role, and of all nodes.
    fn sums(&self, own: &[u32], motifs: usize) -> (Vec<Sums>, Sums) {
        let zero = Sums {
            nodes: 0,
            arcs: [0.0; 2],
            motifs: vec![[0.0; 3]; motifs],
        };
        let zeros = vec![zero.clone(); self.mixture.components.len()];
        let chunk = |range: Range<usize>| {
            let mut sums = zeros.clone();
            for i in range {
                let sums = &mut sums[own[i] as usize];
                sums.nodes += 1;
                if let Some(Arcs { out, into, .. }) = self.arcs.as_ref().map(|arcs| arcs[i]) {
                    sums.arcs[0] += f64::from(out);
                    sums.arcs[1] += f64::from(into);
                }
                let directed = self.directed.iter().flat_map(|named| named.block.row(i));
                let orbits = self.counts[i].iter().map(|&count| count as f64);
                let counts = orbits.chain(directed.map(|&count| f64::from(count)));
                for (sum, count) in sums.motifs.iter_mut().zip(counts) {
                    let log = count.ln_1p();
                    *sum = [sum[0] + count, sum[1] + log, sum[2] + log * log];
                }
            }
            sums
        };
        let mut sums = zeros.clone();
        for part in parallel::stretches(own.len(), CHUNK, chunk) {
            sums.iter_mut()
                .zip(&part)
                .for_each(|(sum, part)| sum.add(part));
        }
        let mut whole = zero;
        sums.iter().for_each(|part| whole.add(part));
        (sums, whole)
    }

    /// The nodes of a role that are closest to its centre, of the more clearly members first.
    fn exemplars(&self, own: &[u32], k: usize) -> Vec<u32> {
        let component = &self.mixture.components[k];
        let keep = |mut best: Vec<(f64, u32)>, next: (f64, u32)| {
            best.push(next);
            best.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            best.truncate(EXEMPLARS);
            best
        };
        let chunk = |nodes: Range<usize>| {
            let own = nodes.filter(|&i| own[i] as usize == k);
            let rated = own.map(|i| (component.log_density(&self.signatures[i]), i as u32));
            rated.fold(Vec::new(), keep)
        };
        let parts = parallel::stretches(own.len(), CHUNK, chunk);
        let best = parts.into_iter().flatten().fold(Vec::new(), keep);
        best.into_iter().map(|(_, node)| node).collect()
    }
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
    let parts = parallel::stretches(own.len(), CHUNK, count).into_iter();
    let links = parts.fold(vec![0u64; k * k], |mut links, part| {
        links
            .iter_mut()
            .zip(part)
            .for_each(|(sum, part)| *sum += part);
        links
    });
    let out = |r: usize| (0..k).map(|s| links[r * k + s]).sum::<u64>() as f64;
    let into = |s: usize| (0..k).map(|r| links[r * k + s]).sum::<u64>() as f64;
    let all = links.iter().sum::<u64>() as f64;
    let ratio = |r: usize, s: usize| match out(r) * into(s) {
        expected if expected > 0.0 => links[r * k + s] as f64 * all / expected,
        _ => 0.0,
    };
    let row = |r: usize| (0..k).map(|s| ratio(r, s)).collect();
    (0..k).map(row).collect()
}

/// Share of neighbours on one side from which a node is a source or a sink.
const ONE_SIDED: f64 = 0.75;

/// The name for the ratios of a typical node of a graph with one-way arcs.
fn name_of_arcs(ratios: &Signature, mean_degree: f64) -> String {
    let [degree, _, closed, .., out, into] = *ratios;
    let prefix = match () {
        () if degree < 0.75 => "",
        () if out >= ONE_SIDED => "source ",
        () if into >= ONE_SIDED => "sink ",
        () if out + into < 0.5 => "mutual ",
        () if closed < 0.5 && degree >= 1.5 => "broker ",
        () => "",
    };
    prefix.to_owned() + name(ratios, mean_degree)
}

/// The name for the ratios of a typical node (see `signature`), in a graph of this mean degree, directions aside.
pub(super) fn name(ratios: &Signature, mean_degree: f64) -> &'static str {
    let [degree, around, closed, open, closed_around, cliques, ..] = *ratios;
    let leaf = degree < 1.5 && closed < 0.25 && open < 0.5;
    let sparse = closed < 0.2;
    match () {
        () if degree < 0.75 => "isolated",
        () if leaf && closed_around > 0.25 => "periphery",
        () if leaf && around > 3.0 => "star leaf",
        () if leaf => "chain end",
        () if sparse && degree >= 3.5 && around < degree / 2.0 && around < 3.0 => "star centre",
        () if is_hub(ratios, mean_degree) => "hub",
        () if closed >= 0.7 && cliques >= 0.4 && degree >= 3.0 => "clique member",
        () if closed >= 0.5 && degree < 3.0 => "triangle corner",
        () if closed >= 0.5 => "near-clique",
        () if sparse && degree < 2.6 && around < 3.0 => "chain",
        () if sparse && degree < 5.0 && around > 2.0 * degree => "bridge",
        () if degree > 1.5 * mean_degree => "core",
        () if sparse && degree < mean_degree / 2.0 => "periphery",
        () if sparse => "connector",
        () => "community member",
    }
}

/// Whether these are the ratios of a hub, in a graph of this mean degree.
pub(super) fn is_hub(ratios: &Signature, mean_degree: f64) -> bool {
    let [degree, around, ..] = *ratios;
    degree >= 3.0 && degree >= 2.0 * mean_degree && degree >= 1.5 * around
}

/// Numbers those that share a name.
fn numbered(names: &[String]) -> Vec<String> {
    let count = |name: &String, names: &[String]| names.iter().filter(|n| *n == name).count();
    let numbered = |(at, name): (usize, &String)| match count(name, names) {
        1 => name.clone(),
        _ => format!("{name} {}", count(name, &names[..=at])),
    };
    names.iter().enumerate().map(numbered).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typical_nodes_have_their_names() {
        let cases = "0 0 0 0 0 0 0 0: isolated
            1 13 0 0 0 0 1 0: source star leaf
            1 13 0 0 0 0 0 1: sink star leaf
            1 8 0 0 1 0 .5 .5: periphery
            1 2 0 0 0 0 0 0: mutual chain end
            2 2 0 1 0 0 .5 .5: broker chain
            2 9 0 1 .5 0 .5 .5: broker bridge
            12 1.2 0 1 0 0 .8 .2: source star centre
            7.2 7.1 .92 .08 0 .87 .1 .1: mutual clique member
            7.2 7.1 .92 .08 0 .87 .5 .5: clique member
            7 7 .6 .4 0 .2 .5 .5: near-clique
            2 5 1 0 .5 0 .5 .5: triangle corner
            40 9 .1 .9 .3 .02 .1 .9: sink hub";
        for (ratios, expected) in cases.lines().filter_map(|line| line.split_once(": ")) {
            let numbers = ratios
                .split_whitespace()
                .map(|x| x.parse().expect("a number"));
            let ratios: Vec<f64> = numbers.collect();
            let ratios: Signature = ratios.try_into().expect("eight ratios");
            assert_eq!(name_of_arcs(&ratios, 4.0), expected);
            assert!(expected.ends_with(name(&ratios, 4.0)), "{expected}");
        }
        let names = ["hub", "chain", "hub"].map(str::to_owned);
        assert_eq!(numbered(&names), ["hub 1", "chain", "hub 2"]);
    }
}
