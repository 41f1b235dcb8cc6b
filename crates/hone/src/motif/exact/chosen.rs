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
//! Cost: Σ d_j over the neighbours j of chosen nodes, Σ min(d_v, [`SEARCH`] d_k) over the edges k–v of these and of their neighbours, each
//! once, and for nodes in triangles the edges and triangles among their neighbours. [`sums_of_nodes`] declines where
//! that is more than counting the whole graph. Reference: as for `wedge`, of which this is the part around some nodes.

mod lines;
#[cfg(test)]
mod tests;

use std::num::Wrapping;

use self::lines::Lines;
use super::super::column::cut;
use super::super::formula::{Bounds, End, Exact, Middle, Number, node_sums};
use super::super::orbit::Orbit;
use super::super::ranked::{balanced, ranges, sweep};
use crate::error::Result;
use crate::pages::Pages;
use crate::parallel;
use crate::progress::Progress;
use crate::sparse::{Pattern, prefetch};

/// A row this many times as long is searched for the entries of another, not walked.
const SEARCH: usize = 16;
/// Steps here for one of counting the whole graph, which makes several passes, at the same cost.
const PASSES: u64 = 4;
/// Beyond this many walks the filter would be full of false hits.
const FILTER_WALKS: u64 = 512;
const FILTER_BITS: usize = 1 << 15;
/// Rows up to this length are looked up by some bits of each entry, and searched where these agree.
const FEW: usize = 32;
const FEW_BITS: usize = 1 << 12;
/// Neighbours whose numbers are prefetched.
const AHEAD: usize = 16;
/// One in so many rows is looked at to see what counting the whole graph takes; every one of small graphs.
const LOOKED_AT: usize = 32;

/// The sum of each orbit's count over the edges of each of some nodes, which ascend, as `NodeSums` has them. Nothing where
/// counting the whole graph takes less, or where sums may leave the whole numbers of f64.
pub(crate) fn sums_of_nodes(
    pattern: &Pattern,
    nodes: &[u32],
    progress: &dyn Progress,
) -> Result<Option<Vec<[f64; Orbit::COUNT]>>> {
    let bounds = Bounds::of(pattern);
    if nodes.iter().any(|&i| !bounds.are_whole(pattern.row(i as usize).len())) {
        return Ok(None);
    }
    let around = Around::of(pattern, with_neighbours(pattern, nodes));
    let most = PASSES * whole_steps(pattern);
    if around.steps(pattern, nodes) > most {
        return Ok(None);
    }
    progress.stage("counting motifs of new nodes", (nodes.len() + around.nodes.len()) as u64);
    let lines = Lines::new(pattern, around.visits(pattern));
    let near = Near::count(&lines, around, progress)?;
    if nodes.iter().map(|&i| near.steps(i)).fold(0, u64::saturating_add) > most {
        return Ok(None);
    }
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

/// Some nodes and their neighbours, ascending.
pub(crate) fn with_neighbours(pattern: &Pattern, nodes: &[u32]) -> Vec<u32> {
    let mut inside = vec![false; pattern.rows()];
    for &i in nodes {
        inside[i as usize] = true;
        pattern.row(i as usize).iter().for_each(|&j| inside[j as usize] = true);
    }
    (0..pattern.rows() as u32).filter(|&i| inside[i as usize]).collect()
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
        let of = |at: usize| {
            let row = pattern.row(nodes[at] as usize);
            let most = SEARCH * row.len();
            row.iter().fold((0, 0), |(s, work), &v| {
                let d = pattern.range(v as usize).len();
                (s + d as u64 - 1, work + d.min(most) as u64)
            })
        };
        let (s, work) = parallel::collect(nodes.len(), of).into_iter().unzip();
        Around { all: pattern.rows(), nodes, s, work }
    }

    /// Rows that are visited.
    fn visits(&self, pattern: &Pattern) -> u64 {
        self.nodes.iter().map(|&i| pattern.row(i as usize).len() as u64).sum()
    }

    /// Steps that counting takes, triangles aside.
    fn steps(&self, pattern: &Pattern, nodes: &[u32]) -> u64 {
        let walks = |i: u32| pattern.row(i as usize).iter().map(|&j| pattern.range(j as usize).len() as u64);
        let walks =
            parallel::stretches(nodes.len(), 1 << 12, |range| nodes[range].iter().flat_map(|&i| walks(i)).sum::<u64>());
        self.work.iter().sum::<u64>() / 2 + walks.into_iter().sum::<u64>()
    }
}

/// Steps of a pass over the whole graph, Σ_e min(d_u, d_v) and its edges: by some of the rows.
fn whole_steps(pattern: &Pattern) -> u64 {
    let least = |i: usize| {
        let d = pattern.range(i).len();
        pattern.row(i).iter().map(|&j| pattern.range(j as usize).len().min(d) as u64).sum::<u64>()
    };
    let every = if pattern.rows() < 1 << 16 { 1 } else { LOOKED_AT };
    (0..pattern.rows()).step_by(every).map(least).sum::<u64>() * every as u64 / 2 + pattern.nnz() as u64
}

/// Triangles around nodes.
struct Near<'a> {
    lines: &'a Lines<'a>,
    /// d, S and T of each node of the graph that is here, and its number, from 1; zeros for the others.
    ends: Pages<[u64; 4]>,
    /// Neighbours with a common neighbour, and how many of these there are; `offsets` say whose they are.
    offsets: Vec<usize>,
    common: Vec<(u32, u32)>,
}

/// An edge in triangles, and t; the edge was found from its first node.
type Edge = (u32, u32, u32);

impl<'a> Near<'a> {
    fn count(lines: &'a Lines<'a>, around: Around, progress: &dyn Progress) -> Result<Self> {
        let Around { nodes, s, work, all } = around;
        let (mut inside, mut ends) = (vec![0u64; all.div_ceil(64)], Pages::<[u64; 4]>::zeros(all));
        for (number, (&i, s)) in (1..).zip(nodes.iter().zip(s)) {
            inside[i as usize / 64] |= 1 << (i % 64);
            ends[i as usize] = [lines.row(i).len() as u64, s, 0, number];
        }
        let bounds = balanced(nodes.len(), 1 << 14, |at| work[at] + 8);
        let mut found: Vec<Vec<Edge>> = bounds.iter().skip(1).map(|_| Vec::new()).collect();
        let parts = ranges(&bounds).zip(&mut found).collect();
        let mark = || vec![0u8; all];
        sweep(parts, progress, mark, |range, found, mark| {
            for at in range {
                lines.ask(&nodes, at);
                add_common(lines, nodes[at], &inside, (mark, found));
            }
        })?;
        let number = |i: u32| ends[i as usize][3] as usize;
        let (offsets, common) = by_node(nodes.len(), &found.concat(), number);
        for (at, &i) in nodes.iter().enumerate() {
            let twice = common[offsets[at]..offsets[at + 1]].iter().map(|&(_, t)| u64::from(t)).sum::<u64>();
            ends[i as usize][2] = twice / 2;
        }
        Ok(Near { lines, ends, offsets, common })
    }

    /// Steps that triangles around a chosen node take: the edges among its neighbours, and about as many as two of these make.
    fn steps(&self, i: u32) -> u64 {
        let own = self.common(i);
        let edges = own.iter().map(|&(j, _)| self.common(j).len() as u64).sum::<u64>();
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
        next.iter().take(AHEAD).for_each(|&j| prefetch(&self.ends[j as usize..=j as usize]));
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
            true => Middle { t: zero, p: zero, c, k: zero, q: zero, r: zero },
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
    fn in_triangles(&self, i: u32, c: Exact, Scratch { count, lists, ends, mark, .. }: &mut Scratch) -> Middle<Exact> {
        let own = self.common(i);
        let zero = Wrapping(0);
        let mut sum = Middle { t: zero, p: zero, c, k: zero, q: zero, r: zero };
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
            sum += list(b as usize).iter().map(|&x| u64::from(mark[x as usize])).sum::<u64>();
        }
        list(a).iter().for_each(|&b| mark[b as usize] = 0);
    }
    sum
}

/// Adds the edges of a node that are in triangles; `mark` is zero before and after. An edge between two nodes that are inside is
/// found from the smaller one.
fn add_common(lines: &Lines, i: u32, inside: &[u64], (mark, found): (&mut [u8], &mut Vec<Edge>)) {
    let row = lines.row(i);
    if row.len() < 2 {
        return;
    }
    let few = row.len() <= FEW;
    let mut bits = [0u64; FEW_BITS / 64];
    let place = |w: u32| (w as usize % FEW_BITS / 64, w % 64);
    for &w in row {
        bits[place(w).0] |= 1 << place(w).1;
    }
    if !few {
        row.iter().for_each(|&w| mark[w as usize] = 1);
    }
    for &v in row.iter().filter(|&&v| v > i || inside[v as usize / 64] >> (v % 64) & 1 == 0) {
        let far = lines.row(v);
        let t = match few {
            _ if far.len() > SEARCH * row.len() => row.iter().filter(|w| far.binary_search(w).is_ok()).count() as u32,
            false => far.iter().map(|&w| u32::from(mark[w as usize])).sum(),
            true => match far.iter().fold(0, |hit, &w| hit | bits[place(w).0] >> place(w).1) & 1 {
                0 => 0,
                _ => far.iter().filter(|w| row.binary_search(w).is_ok()).count() as u32,
            },
        };
        if t > 0 {
            found.push((i, v, t));
        }
    }
    if !few {
        row.iter().for_each(|&w| mark[w as usize] = 0);
    }
}

/// Edges in triangles by their ends, whose numbers are from 1, or 0 for none: where those of each begin, and the other end and t of
/// each.
fn by_node(nodes: usize, edges: &[Edge], number: impl Fn(u32) -> usize) -> (Vec<usize>, Vec<(u32, u32)>) {
    let both = || {
        let both = edges.iter().flat_map(|&(i, v, t)| [(number(i), v, t), (number(v), i, t)]);
        both.filter(|&(number, ..)| number > 0)
    };
    let mut offsets = vec![0; nodes + 1];
    both().for_each(|(number, ..)| offsets[number] += 1);
    (1..offsets.len()).for_each(|at| offsets[at] += offsets[at - 1]);
    let (mut next, mut common) = (offsets.clone(), vec![(0, 0); offsets[nodes]]);
    for (number, other, t) in both() {
        common[next[number - 1]] = (other, t);
        next[number - 1] += 1;
    }
    (offsets, common)
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
        Scratch { count, filter, lists: Vec::new(), ends: Vec::new(), mark: Vec::new() }
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
