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
//! Cost: Σ d_j over the neighbours j of chosen nodes, Σ_v min(d_v, [`SEARCH`] d_k) over the edges k–v of these and of their neighbours,
//! and for nodes in triangles the edges and triangles among their neighbours. [`sums_of_nodes`] declines where
//! that is more than counting the whole graph. Reference: as for `wedge`, of which this is the part around some nodes.

use std::num::Wrapping;

use super::super::column::cut;
use super::super::formula::{Bounds, End, Exact, Middle, Number, node_sums};
use super::super::orbit::Orbit;
use super::super::ranked::{balanced, ranges, sweep};
use crate::error::Result;
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
/// Entries of a row that are prefetched.
const AHEAD: usize = 16;

const NONE: u32 = u32::MAX;

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
    if !around.is_less(pattern, nodes) {
        return Ok(None);
    }
    progress.stage("motifs of some nodes", (nodes.len() + around.nodes.len()) as u64);
    let near = Near::count(pattern, around, progress)?;
    let work = |at: usize| near.s[near.place[nodes[at] as usize] as usize] + 8;
    let bounds = balanced(nodes.len(), 1 << 14, work);
    let mut sums = vec![[0.0; Orbit::COUNT]; nodes.len()];
    let parts = ranges(&bounds).zip(cut(&mut sums, &bounds)).collect();
    let scratch = || Scratch::new(pattern.rows());
    sweep(parts, progress, scratch, |range, sums, scratch| {
        for (at, to) in range.zip(sums) {
            ask_rows(pattern, nodes.get(at + 1));
            *to = near.sums(nodes[at] as usize, scratch).map(|sum| sum.0 as f64);
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

/// Chosen nodes with their neighbours, S of each, and the steps that finding its t takes.
struct Around {
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
        Around { nodes, s, work }
    }

    /// Whether it takes less to count around some nodes than on the whole graph.
    fn is_less(&self, pattern: &Pattern, nodes: &[u32]) -> bool {
        let walks =
            |i: u32| pattern.row(i as usize).iter().map(|&j| pattern.range(j as usize).len() as u64).sum::<u64>();
        let steps = self.work.iter().sum::<u64>() + nodes.iter().map(|&i| walks(i)).sum::<u64>();
        if steps <= pattern.nnz() as u64 {
            return true;
        }
        let least = |i: usize| {
            let d = pattern.range(i).len();
            pattern.row(i).iter().map(|&j| pattern.range(j as usize).len().min(d) as u64).sum::<u64>()
        };
        let whole = parallel::stretches(pattern.rows(), 1 << 14, |rows| rows.map(least).sum::<u64>());
        steps <= PASSES * (whole.into_iter().sum::<u64>() / 2 + pattern.nnz() as u64)
    }
}

/// Triangles around nodes.
struct Near<'a> {
    pattern: &'a Pattern,
    /// Number of each node of the graph here, or [`NONE`].
    place: Vec<u32>,
    /// S and T of each.
    s: Vec<u64>,
    triangles: Vec<u64>,
    /// Neighbours with a common neighbour, and how many of these there are; `offsets` say whose they are.
    offsets: Vec<usize>,
    common: Vec<(u32, u32)>,
}

/// What a stretch of nodes has.
#[derive(Default)]
struct Found {
    common: Vec<(u32, u32)>,
    lengths: Vec<usize>,
}

impl<'a> Near<'a> {
    fn count(pattern: &'a Pattern, around: Around, progress: &dyn Progress) -> Result<Self> {
        let Around { nodes, s, work } = around;
        let bounds = balanced(nodes.len(), 1 << 14, |at| work[at] + 8);
        let mut found: Vec<Found> = bounds.iter().skip(1).map(|_| Found::default()).collect();
        let parts = ranges(&bounds).zip(&mut found).collect();
        sweep(
            parts,
            progress,
            || vec![0u8; pattern.rows()],
            |range, found, mark| {
                for at in range {
                    ask_rows(pattern, nodes.get(at + 1));
                    let before = found.common.len();
                    add_common(pattern, nodes[at] as usize, mark, &mut found.common);
                    found.lengths.push(found.common.len() - before);
                }
            },
        )?;
        let mut place = vec![NONE; pattern.rows()];
        nodes.iter().zip(0..).for_each(|(&i, number)| place[i as usize] = number);
        let (mut offsets, mut end) = (vec![0], 0);
        offsets.extend(found.iter().flat_map(|found| &found.lengths).map(|length| {
            end += length;
            end
        }));
        let common: Vec<(u32, u32)> = found.into_iter().flat_map(|found| found.common).collect();
        let twice = |at: usize| common[offsets[at]..offsets[at + 1]].iter().map(|&(_, t)| u64::from(t)).sum::<u64>();
        let triangles = (0..nodes.len()).map(|at| twice(at) / 2).collect();
        Ok(Near { pattern, place, s, triangles, offsets, common })
    }

    /// The neighbours of a node that it has triangles with, and how many.
    fn common(&self, i: usize) -> &[(u32, u32)] {
        let at = self.place[i] as usize;
        &self.common[self.offsets[at]..self.offsets[at + 1]]
    }

    fn end(&self, i: usize) -> End<Exact> {
        let (at, d) = (self.place[i] as usize, self.pattern.range(i).len());
        End { d: Wrapping(d as u64), triangles: Wrapping(self.triangles[at]), s: Wrapping(self.s[at]) }
    }

    /// Sums of all orbits over the edges of a chosen node.
    fn sums(&self, i: usize, scratch: &mut Scratch) -> [Exact; Orbit::COUNT] {
        let row = self.pattern.row(i);
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
        node_sums(row, own, |j| self.end(j), middle)
    }

    /// Σ_w c(i,w)(c(i,w) − 1)/2.
    fn pairs_of_walks(&self, i: usize, walks: u64, scratch: &mut Scratch) -> Exact {
        let (pattern, row) = (self.pattern, self.pattern.row(i));
        if row.len() < 2 || walks <= FILTER_WALKS && scratch.no_walks_meet(pattern, i) {
            return Wrapping(0);
        }
        let (count, mut pairs) = (&mut scratch.count, 0u64);
        for &j in row {
            for &w in pattern.row(j as usize) {
                let before = &mut count[w as usize];
                pairs = pairs.wrapping_add(u64::from(*before));
                *before += 1;
            }
        }
        for &j in row {
            pattern.row(j as usize).iter().for_each(|&w| count[w as usize] = 0);
        }
        // Every walk that returned met the others that did.
        Wrapping(pairs) - Wrapping(row.len() as u64).pairs()
    }

    /// Sums over the edges of a node in triangles.
    fn in_triangles(
        &self,
        i: usize,
        c: Exact,
        Scratch { count, lists, ends, mark, .. }: &mut Scratch,
    ) -> Middle<Exact> {
        let own = self.common(i);
        let zero = Wrapping(0);
        let mut sum = Middle { t: zero, p: zero, c, k: zero, q: zero, r: zero };
        for (&(j, t), number) in own.iter().zip(1..) {
            count[j as usize] = number;
            let t: Exact = Wrapping(t.into());
            sum.t += t;
            sum.p += t.pairs();
            sum.q += t * Wrapping(self.pattern.range(j as usize).len() as u64);
            sum.r += t * t;
        }
        lists.clear();
        ends.clear();
        for (&(j, _), number) in own.iter().zip(1..) {
            for &(w, t) in self.common(j as usize) {
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

/// Adds the neighbours of node `k` with a common neighbour, and how many there are; `mark` is zero before and after.
fn add_common(pattern: &Pattern, k: usize, mark: &mut [u8], common: &mut Vec<(u32, u32)>) {
    let row = pattern.row(k);
    if row.len() < 2 {
        return;
    }
    row.iter().for_each(|&w| mark[w as usize] = 1);
    for &v in row {
        let other = pattern.row(v as usize);
        let t = match other.len() > SEARCH * row.len() {
            true => row.iter().filter(|w| other.binary_search(w).is_ok()).count() as u32,
            false => other.iter().map(|&w| u32::from(mark[w as usize])).sum(),
        };
        if t > 0 {
            common.push((v, t));
        }
    }
    row.iter().for_each(|&w| mark[w as usize] = 0);
}

/// Asks the memory for the rows of the neighbours of a node.
fn ask_rows(pattern: &Pattern, node: Option<&u32>) {
    for &v in node.into_iter().flat_map(|&i| pattern.row(i as usize)).take(2 * AHEAD) {
        let row = pattern.row(v as usize);
        prefetch(&row[..row.len().min(AHEAD)]);
    }
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
    fn no_walks_meet(&mut self, pattern: &Pattern, i: usize) -> bool {
        self.filter.fill(0);
        let mut hit = 0;
        for &j in pattern.row(i) {
            for &w in pattern.row(j as usize).iter().filter(|&&w| w as usize != i) {
                let hash = w.wrapping_mul(0x9E37_79B1) >> (32 - FILTER_BITS.ilog2());
                let (word, bit) = (hash as usize / 64, 1u64 << (hash % 64));
                hit |= self.filter[word] & bit;
                self.filter[word] |= bit;
            }
        }
        hit == 0
    }
}

#[cfg(test)]
mod tests;
