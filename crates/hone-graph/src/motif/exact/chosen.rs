//! Orbit counts of chosen nodes: sums over the edges of each, without counting the rest of the graph.
//!
//! Orbit counts of an edge follow from five numbers of it and three of each end (`formula`), and their sums over the edges of a
//! node i from sums of these. With c(i,w) common neighbours of i and any other node w, and t(i,j) = c(i,j) for a neighbour j,
//!
//! * Σ_j C(i,j) = 2 Σ_w c(c − 1)/2: a 4-cycle through i has two edges of i, and one node w opposite;
//! * Σ_j Q(i,j) = Σ_j t(i,j) d_j, and Σ_j R(i,j) = Σ_j t(i,j)² + Σ t(j,w) over the pairs of adjacent neighbours, in both orders;
//! * Σ_j K(i,j) = three times the triangles among the neighbours of i.
//!
//! So walks of two steps from i are enough, and t, T and S around its neighbours, which are found first ([`Near`]).
//! Where T of other nodes is known, as in a model of the graph before, t is found only for chosen nodes and those that share a
//! triangle with one.
//! Cost: Σ d_j over the neighbours j of chosen nodes, Σ min(d_v, [`SEARCH`] d_k) over the edges k–v of these and of their neighbours, each
//! once (of chosen nodes alone where T of others is known), and for nodes in triangles the edges and triangles among their
//! neighbours. [`sums_of_nodes`] declines where that is more than counting the whole graph. Reference: as for `wedge`, of which this is the part around some nodes.

mod lines;
#[cfg(test)]
mod tests;
mod triangles;

use std::num::Wrapping;

use self::lines::Lines;
use self::triangles::{Inside, by_node, edges_in_triangles};
use super::super::column::cut;
use super::super::formula::{Bounds, End, Exact, Middle, Number, node_sums};
use super::super::orbit::Orbit;
use super::super::ranked::{balanced, ranges, sweep};
use crate::error::Result;
use crate::parallel;
use crate::progress::Progress;
use crate::sparse::{Pattern, prefetch};
use crate::storage::Pages;

/// A row this many times as long is searched for the entries of another, not walked.
const SEARCH: usize = 16;
/// Steps here for one of counting the whole graph, which makes several passes, at the same cost.
const PASSES: u64 = 4;
/// Beyond this many walks the filter would be full of false hits.
const FILTER_WALKS: u64 = 512;
const FILTER_BITS: usize = 1 << 16;
/// Neighbours whose numbers are prefetched.
const AHEAD: usize = 16;
/// One in so many rows is looked at to see what counting the whole graph takes; every one of small graphs.
const LOOKED_AT: usize = 32;

/// Triangles of nodes that are not chosen, where they are known.
pub type Triangles<'a> = Option<&'a (dyn Fn(u32) -> u64 + Sync)>;

/// The sum of each orbit's count over the edges of each of some nodes, which ascend, as `NodeSums` has them. Nothing where
/// counting the whole graph takes less, or where sums may leave the whole numbers of f64. Where the triangles of other nodes are
/// known, these are not looked for.
pub fn sums_of_nodes(
    pattern: &Pattern,
    nodes: &[u32],
    known: Triangles,
    progress: &dyn Progress,
) -> Result<Option<Vec<[f64; Orbit::COUNT]>>> {
    let bounds = Bounds::of(pattern);
    if nodes
        .iter()
        .any(|&i| !bounds.are_whole(pattern.row(i as usize).len()))
    {
        return Ok(None);
    }
    let around = Around::of(pattern, with_neighbours(pattern, nodes));
    let most = PASSES * whole_steps(pattern);
    let counted = if known.is_some() {
        nodes
    } else {
        &around.nodes
    };
    if around.steps(counted) + walks(pattern, nodes) > most {
        return Ok(None);
    }
    progress.stage(
        "looking for triangles around new nodes",
        counted.len() as u64,
    );
    let lines = Lines::new(
        pattern,
        degrees(pattern, counted)
            + if known.is_some() {
                degrees(pattern, nodes)
            } else {
                0
            },
    );
    let near = Near::count(&lines, &around, (nodes, known), progress)?;
    if nodes
        .iter()
        .map(|&i| near.steps(i))
        .fold(0, u64::saturating_add)
        > most
    {
        return Ok(None);
    }
    progress.stage("counting motifs of new nodes", nodes.len() as u64);
    let work = |at: usize| near.end(nodes[at]).s.0 + 8;
    let bounds = balanced(nodes.len(), 1 << 14, work);
    let mut sums = vec![[0.0; Orbit::COUNT]; nodes.len()];
    let parts = ranges(&bounds).zip(cut(&mut sums, &bounds)).collect();
    let scratch = || Scratch::new(pattern.rows());
    sweep(parts, progress, scratch, |range, sums, scratch| {
        for (at, to) in range.zip(sums) {
            near.ask(nodes, at);
            *to = near.sums(nodes[at], scratch).map(|sum| sum.0 as f64);
        }
    })?;
    Ok(Some(sums))
}

/// Steps of all walks of two steps from some nodes.
fn walks(pattern: &Pattern, nodes: &[u32]) -> u64 {
    let walks = |i: u32| {
        pattern
            .row(i as usize)
            .iter()
            .map(|&j| pattern.range(j as usize).len() as u64)
    };
    let walks = parallel::stretches(nodes.len(), 1 << 12, |range| {
        nodes[range].iter().flat_map(|&i| walks(i)).sum::<u64>()
    });
    walks.into_iter().sum()
}

/// The sum of the degrees of some nodes.
fn degrees(pattern: &Pattern, nodes: &[u32]) -> u64 {
    nodes
        .iter()
        .map(|&i| pattern.row(i as usize).len() as u64)
        .sum()
}

/// Some nodes and their neighbours, ascending.
pub fn with_neighbours(pattern: &Pattern, nodes: &[u32]) -> Vec<u32> {
    let mut inside = vec![false; pattern.rows()];
    for &i in nodes {
        inside[i as usize] = true;
        pattern
            .row(i as usize)
            .iter()
            .for_each(|&j| inside[j as usize] = true);
    }
    (0..pattern.rows() as u32)
        .filter(|&i| inside[i as usize])
        .collect()
}

/// Chosen nodes with their neighbours, S of each, and the steps that its edges take at most.
struct Around {
    /// Nodes of the graph.
    all: usize,
    nodes: Vec<u32>,
    s: Vec<u64>,
    work: Vec<u64>,
}

impl Around {
    fn of(pattern: &Pattern, nodes: Vec<u32>) -> Around {
        let degrees = Pages::collect(pattern.rows(), |i| pattern.range(i).len() as u32);
        let of = |at: usize| {
            let row = pattern.row(nodes[at] as usize);
            let most = (SEARCH * row.len()) as u64;
            row.iter().fold((0, 0), |(s, work), &v| {
                let d = u64::from(degrees[v as usize]);
                (s + d - 1, work + d.min(most))
            })
        };
        let (s, work) = parallel::collect(nodes.len(), of).into_iter().unzip();
        Around {
            all: pattern.rows(),
            nodes,
            s,
            work,
        }
    }

    /// Steps that looking for the triangles of some of these nodes, which ascend, takes at most.
    fn steps(&self, some: &[u32]) -> u64 {
        let mut next = some.iter().peekable();
        let of = |(i, work): (&u32, &u64)| next.next_if_eq(&i).map_or(0, |_| *work);
        self.nodes.iter().zip(&self.work).map(of).sum::<u64>() / 2
    }
}

/// Steps of a pass over the whole graph, Σ_e min(d_u, d_v) and its edges: by some of the rows.
fn whole_steps(pattern: &Pattern) -> u64 {
    let least = |i: usize| {
        let d = pattern.range(i).len();
        pattern
            .row(i)
            .iter()
            .map(|&j| pattern.range(j as usize).len().min(d) as u64)
            .sum::<u64>()
    };
    let every = if pattern.rows() < 1 << 16 {
        1
    } else {
        LOOKED_AT
    };
    (0..pattern.rows()).step_by(every).map(least).sum::<u64>() * every as u64 / 2
        + pattern.nnz() as u64
}

/// Triangles around nodes.
struct Near<'a> {
    lines: &'a Lines<'a>,
    /// d, S and T of each node of the graph that is here, and its number, from 1, if its triangles were looked for; zeros for the
    /// others.
    ends: Pages<[u64; 4]>,
    /// Neighbours with a common neighbour, and how many of these there are; `offsets` say whose they are.
    offsets: Vec<usize>,
    common: Vec<(u32, u32)>,
}

impl<'a> Near<'a> {
    /// Looks for the triangles of all nodes around the chosen ones; or, where those of others are known, of the chosen ones and
    /// of those that share some with them.
    fn count(
        lines: &'a Lines<'a>,
        around: &Around,
        (chosen, known): (&[u32], Triangles),
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut ends = Pages::<[u64; 4]>::zeros(around.all);
        for (&i, &s) in around.nodes.iter().zip(&around.s) {
            ends[i as usize] = [
                lines.row(i).len() as u64,
                s,
                known.map_or(0, |triangles| triangles(i)),
                0,
            ];
        }
        let mut counted = if known.is_some() {
            chosen
        } else {
            &around.nodes
        }
        .to_vec();
        let first = Inside::of(around.all, &counted);
        let work = |i: u32| ends[i as usize][1];
        let mut found = edges_in_triangles(
            lines,
            &counted,
            work,
            &|i, v| (v > i) | !first.has(v),
            progress,
        )?;
        if known.is_some() {
            let second: Vec<u32> = found
                .iter()
                .map(|&(_, v, _)| v)
                .filter(|&v| !first.has(v))
                .collect();
            let second = Inside::of(around.all, &second);
            let nodes: Vec<u32> = around
                .nodes
                .iter()
                .copied()
                .filter(|&i| second.has(i))
                .collect();
            let later = |i: u32, v: u32| !first.has(v) & ((v > i) | !second.has(v));
            progress.stage("looking for triangles around new nodes", nodes.len() as u64);
            found.extend(edges_in_triangles(lines, &nodes, work, &later, progress)?);
            counted.extend(nodes);
        }
        counted
            .iter()
            .zip(1..)
            .for_each(|(&i, number)| ends[i as usize][3] = number);
        let number = |i: u32| ends[i as usize][3] as usize;
        let (offsets, common) = by_node(counted.len(), &found, number);
        for (at, &i) in counted.iter().enumerate() {
            let twice = common[offsets[at]..offsets[at + 1]]
                .iter()
                .map(|&(_, t)| u64::from(t))
                .sum::<u64>();
            ends[i as usize][2] = twice / 2;
        }
        Ok(Near {
            lines,
            ends,
            offsets,
            common,
        })
    }

    /// Steps that triangles around a chosen node take: the edges among its neighbours, and about as many as two of these make.
    fn steps(&self, i: u32) -> u64 {
        let own = self.common(i);
        let edges = own
            .iter()
            .map(|&(j, _)| self.common(j).len() as u64)
            .sum::<u64>();
        let triangles = self.ends[i as usize][2];
        edges.saturating_add(triangles.saturating_mul(triangles / (own.len() as u64).max(1)))
    }

    /// The neighbours of a node that it has triangles with, and how many.
    fn common(&self, i: u32) -> &[(u32, u32)] {
        let number = self.ends[i as usize][3] as usize;
        &self.common[self.offsets[number - 1]..self.offsets[number]]
    }

    fn end(&self, i: u32) -> End<Exact> {
        let [d, s, triangles, _] = self.ends[i as usize].map(Wrapping);
        End { d, triangles, s }
    }

    /// Asks the memory for what is needed around the nodes that follow.
    fn ask(&self, nodes: &[u32], at: usize) {
        self.lines.ask(nodes, at);
        let next = nodes.get(at + 2).map_or(&[][..], |&i| self.lines.row(i));
        next.iter()
            .take(AHEAD)
            .for_each(|&j| prefetch(&self.ends[j as usize..=j as usize]));
    }

    /// Sums of all orbits over the edges of a chosen node.
    fn sums(&self, i: u32, scratch: &mut Scratch) -> [Exact; Orbit::COUNT] {
        let row = self.lines.row(i);
        if row.is_empty() {
            return [Wrapping(0); Orbit::COUNT];
        }
        let own = self.end(i);
        let c = Wrapping(2) * self.pairs_of_walks(i, own.s.0, scratch);
        let zero = Wrapping(0);
        let middle = match own.triangles == zero {
            true => Middle {
                t: zero,
                p: zero,
                c,
                k: zero,
                q: zero,
                r: zero,
            },
            false => self.in_triangles(i, c, scratch),
        };
        node_sums(row, own, |j| self.end(j as u32), middle)
    }

    /// Σ_w c(i,w)(c(i,w) − 1)/2.
    fn pairs_of_walks(&self, i: u32, walks: u64, scratch: &mut Scratch) -> Exact {
        let (lines, row) = (self.lines, self.lines.row(i));
        if row.len() < 2 || walks <= FILTER_WALKS && scratch.no_walks_meet(lines, i) {
            return Wrapping(0);
        }
        let (count, mut pairs) = (&mut scratch.count, 0u64);
        for &j in row {
            for &w in lines.row(j) {
                let before = &mut count[w as usize];
                pairs = pairs.wrapping_add(u64::from(*before));
                *before += 1;
            }
        }
        for &j in row {
            lines.row(j).iter().for_each(|&w| count[w as usize] = 0);
        }
        // Every walk that returned met the others that did.
        Wrapping(pairs) - Wrapping(row.len() as u64).pairs()
    }

    /// Sums over the edges of a node in triangles.
    fn in_triangles(
        &self,
        i: u32,
        c: Exact,
        Scratch {
            count,
            lists,
            ends,
            mark,
            ..
        }: &mut Scratch,
    ) -> Middle<Exact> {
        let own = self.common(i);
        let zero = Wrapping(0);
        let mut sum = Middle {
            t: zero,
            p: zero,
            c,
            k: zero,
            q: zero,
            r: zero,
        };
        for (&(j, t), number) in own.iter().zip(1..) {
            count[j as usize] = number;
            let t: Exact = Wrapping(t.into());
            sum.t += t;
            sum.p += t.pairs();
            sum.q += t * self.end(j).d;
            sum.r += t * t;
        }
        lists.clear();
        ends.clear();
        for (&(j, _), number) in own.iter().zip(1..) {
            for &(w, t) in self.common(j) {
                let other = count[w as usize];
                sum.r += if other > 0 { u64::from(t) } else { 0 };
                if other > number {
                    lists.push(other - 1);
                }
            }
            ends.push(lists.len());
        }
        own.iter().for_each(|&(j, _)| count[j as usize] = 0);
        mark.resize(mark.len().max(own.len()), 0);
        sum.k = Wrapping(3 * triangles_of(lists, ends, mark));
        sum
    }
}

/// Triangles of a graph: later neighbours of each node, one list after the other; `mark` is zero before and after.
fn triangles_of(lists: &[u32], ends: &[usize], mark: &mut [u8]) -> u64 {
    let list = |a: usize| &lists[if a == 0 { 0 } else { ends[a - 1] }..ends[a]];
    let mut sum = 0;
    for a in 0..ends.len() {
        list(a).iter().for_each(|&b| mark[b as usize] = 1);
        for &b in list(a) {
            sum += list(b as usize)
                .iter()
                .map(|&x| u64::from(mark[x as usize]))
                .sum::<u64>();
        }
        list(a).iter().for_each(|&b| mark[b as usize] = 0);
    }
    sum
}

struct Scratch {
    /// By node, zero between nodes: walks that end there; or numbers of neighbours, from 1.
    count: Vec<u32>,
    filter: Vec<u64>,
    /// Edges among the neighbours of a node, and where those of each end.
    lists: Vec<u32>,
    ends: Vec<usize>,
    mark: Vec<u8>,
}

impl Scratch {
    fn new(nodes: usize) -> Scratch {
        let (count, filter) = (vec![0; nodes], vec![0; FILTER_BITS / 64]);
        Scratch {
            count,
            filter,
            lists: Vec::new(),
            ends: Vec::new(),
            mark: Vec::new(),
        }
    }

    /// Whether all walks of two steps from node `i`, those aside that return, end in different nodes; may say no wrongly.
    fn no_walks_meet(&mut self, lines: &Lines, i: u32) -> bool {
        self.filter.fill(0);
        let mut hit = 0;
        for &j in lines.row(i) {
            for &w in lines.row(j).iter().filter(|&&w| w != i) {
                let hash = w.wrapping_mul(0x9E37_79B1) >> (32 - FILTER_BITS.ilog2());
                let (word, bit) = (hash as usize / 64, 1u64 << (hash % 64));
                hit |= self.filter[word] & bit;
                self.filter[word] |= bit;
            }
        }
        hit == 0
    }
}
