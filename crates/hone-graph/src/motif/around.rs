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
//! neighbours. [`sums_of_nodes`] declines where that is more than counting the whole graph.

use std::num::Wrapping;

use super::formula::{End, Exact, Middle, Number, Whole, node_sums, sums_are_whole};
use super::orbit::Orbit;
use super::ranked::{Marks, balanced, for_common, ranges, smaller_degrees, sweep};
use crate::error::Result;
use crate::parallel::{self, cut};
use crate::progress::Progress;
use crate::sparse::{Pattern, prefetch};
use crate::storage::Pages;

/// A row this many times as long is searched for the entries of another, not walked.
const SEARCH: usize = 16;
/// Steps here for one of counting the whole graph, which makes several passes, at the same cost.
const PASSES: u64 = 4;
/// Neighbours whose rows, and numbers, are prefetched.
const AHEAD: usize = 16;
/// One in so many rows is looked at to see what counting the whole graph takes; every one of small graphs.
const LOOKED_AT: usize = 32;

/// Triangles of nodes that are not chosen, where they are known.
pub type Triangles<'a> = Option<&'a (dyn Fn(u32) -> u64 + Sync)>;

/// The sum of each orbit's count over the edges of each of some nodes, which ascend, as `Counts::node_sums` has them. Nothing where
/// counting the whole graph takes less, or where sums may leave the whole numbers of f64. Where the triangles of other nodes are
/// known, these are not looked for.
pub fn sums_of_nodes(
    pattern: &Pattern,
    nodes: &[u32],
    known: Triangles,
    progress: &dyn Progress,
) -> Result<Option<Vec<[f64; Orbit::COUNT]>>> {
    let are_whole = sums_are_whole(pattern);
    if !(nodes.iter()).all(|&i| are_whole(pattern.row(i as usize).len())) {
        return Ok(None);
    }
    let around = with_neighbours(pattern, nodes);
    // S of each, and the steps that looking for the triangles of its edges takes at most.
    let of = |at: usize| {
        let row = pattern.row(around[at] as usize);
        let most = (SEARCH * row.len()) as u64;
        row.iter().fold((0, 0), |(s, work), &v| {
            let d = pattern.range(v as usize).len() as u64;
            (s + d - 1, work + d.min(most))
        })
    };
    let (s, work): (Vec<u64>, Vec<u64>) = parallel::collect(around.len(), of).into_iter().unzip();
    let steps: u64 = match known {
        None => work.iter().sum(),
        Some(_) => {
            let place = |i: &u32| around.binary_search(i).expect("chosen nodes are around");
            nodes.iter().map(|i| work[place(i)]).sum()
        }
    };
    let most = PASSES * whole_steps(pattern);
    if steps / 2 + walks(pattern, nodes) > most {
        return Ok(None);
    }
    let near = Near::count(pattern, (&around, &s), (nodes, known), progress)?;
    let steps = nodes.iter().map(|&i| near.steps(i));
    if steps.fold(0, u64::saturating_add) > most {
        return Ok(None);
    }
    progress.stage("counting motifs of new nodes", nodes.len() as u64);
    let work = |at: usize| near.end(nodes[at]).s.0 + 8;
    let bounds = balanced(nodes.len(), 1 << 14, work);
    let mut sums = vec![[0.0; Orbit::COUNT]; nodes.len()];
    let parts = ranges(&bounds).zip(cut(&mut sums, &bounds)).collect();
    let scratch = || Scratch {
        count: vec![0; pattern.rows()],
        ..Scratch::default()
    };
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
    let steps = parallel::stretches(nodes.len(), 1 << 12, |range| {
        let neighbours = nodes[range].iter().flat_map(|&i| pattern.row(i as usize));
        let degrees = neighbours.map(|&j| pattern.range(j as usize).len() as u64);
        degrees.sum::<u64>()
    });
    steps.into_iter().sum()
}

/// Some nodes and their neighbours, ascending.
pub fn with_neighbours(pattern: &Pattern, nodes: &[u32]) -> Vec<u32> {
    let mut near = Marks::new(pattern.rows());
    near.set(nodes);
    for &i in nodes {
        near.set(pattern.row(i as usize));
    }
    (0..pattern.rows() as u32)
        .filter(|&i| near.has(i))
        .collect()
}

/// Steps of a pass over the whole graph, Σ_e min(d_u, d_v) and its edges: by some of the rows.
fn whole_steps(pattern: &Pattern) -> u64 {
    let n = pattern.rows();
    let every = if n < 1 << 16 { 1 } else { LOOKED_AT };
    let rows = (0..n).step_by(every);
    let steps = rows.map(|i| smaller_degrees(pattern, i)).sum::<u64>();
    steps * every as u64 / 2 + pattern.nnz() as u64
}

/// Triangles around nodes.
struct Near<'a> {
    pattern: &'a Pattern,
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
        pattern: &'a Pattern,
        (around, s): (&[u32], &[u64]),
        (chosen, known): (&[u32], Triangles),
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut ends = Pages::<[u64; 4]>::zeros(pattern.rows());
        for (&i, &s) in around.iter().zip(s) {
            let triangles = known.map_or(0, |triangles| triangles(i));
            ends[i as usize] = [pattern.row(i as usize).len() as u64, s, triangles, 0];
        }
        let marked = |nodes: &[u32]| {
            let mut marks = Marks::new(pattern.rows());
            marks.set(nodes);
            marks
        };
        let find = |nodes: &[u32], later: &(dyn Fn(u32, u32) -> bool + Sync)| {
            progress.stage("looking for triangles around new nodes", nodes.len() as u64);
            edges_in_triangles(pattern, nodes, |i| ends[i as usize][1], later, progress)
        };
        let mut counted = match known {
            Some(_) => chosen.to_vec(),
            None => around.to_vec(),
        };
        let first = marked(&counted);
        let mut found = find(&counted, &|i, v| v > i || !first.has(v))?;
        if known.is_some() {
            let others = found.iter().map(|&(_, v, _)| v).filter(|&v| !first.has(v));
            let second = marked(&others.collect::<Vec<u32>>());
            let nodes = around.iter().copied().filter(|&i| second.has(i));
            let nodes: Vec<u32> = nodes.collect();
            let later = |i, v| !first.has(v) && (v > i || !second.has(v));
            found.extend(find(&nodes, &later)?);
            counted.extend(nodes);
        }
        for (&i, number) in counted.iter().zip(1..) {
            ends[i as usize][3] = number;
        }
        let number = |i: u32| ends[i as usize][3] as usize;
        let (offsets, common) = by_node(counted.len(), &found, number);
        for (at, &i) in counted.iter().enumerate() {
            let own = common[offsets[at]..offsets[at + 1]].iter();
            ends[i as usize][2] = own.map(|&(_, t)| u64::from(t)).sum::<u64>() / 2;
        }
        Ok(Near {
            pattern,
            ends,
            offsets,
            common,
        })
    }

    /// The neighbours of a node.
    fn row(&self, i: u32) -> &[u32] {
        self.pattern.row(i as usize)
    }

    /// Steps that triangles around a chosen node take: the edges among its neighbours, and about as many as two of these make.
    fn steps(&self, i: u32) -> u64 {
        let own = self.common(i);
        let edges = own.iter().map(|&(j, _)| self.common(j).len() as u64);
        let triangles = self.ends[i as usize][2];
        let of_triangles = triangles.saturating_mul(triangles / (own.len() as u64).max(1));
        edges.sum::<u64>().saturating_add(of_triangles)
    }

    /// The neighbours of a node that it has triangles with, and how many.
    fn common(&self, i: u32) -> &[(u32, u32)] {
        let number = self.ends[i as usize][3] as usize;
        &self.common[self.offsets[number - 1]..self.offsets[number]]
    }

    fn end(&self, i: u32) -> End<Whole> {
        let [d, s, triangles, _] = self.ends[i as usize].map(Wrapping);
        End { d, triangles, s }
    }

    /// Prefetches what is needed around the nodes that follow.
    fn ask(&self, nodes: &[u32], at: usize) {
        ask_rows(self.pattern, nodes, at);
        let next = nodes.get(at + 2).map_or(&[][..], |&i| self.row(i));
        next.iter()
            .take(AHEAD)
            .for_each(|&j| prefetch(&self.ends[j as usize..=j as usize]));
    }

    /// Sums of all orbits over the edges of a chosen node.
    fn sums(&self, i: u32, scratch: &mut Scratch) -> [Whole; Orbit::COUNT] {
        let row = self.row(i);
        if row.is_empty() {
            return [Wrapping(0); Orbit::COUNT];
        }
        let own = self.end(i);
        let c = Wrapping(2) * self.pairs_of_walks(i, &mut scratch.count);
        let mut middle = match own.triangles.0 {
            0 => Middle::default(),
            _ => self.in_triangles(i, scratch),
        };
        middle.c = c;
        node_sums(row, own, |j| self.end(j), middle)
    }

    /// Σ_w c(i,w)(c(i,w) − 1)/2.
    fn pairs_of_walks(&self, i: u32, count: &mut [u32]) -> Whole {
        let row = self.row(i);
        if row.len() < 2 {
            return Wrapping(0);
        }
        let mut pairs = 0u64;
        for &j in row {
            for &w in self.row(j) {
                let before = &mut count[w as usize];
                pairs = pairs.wrapping_add(u64::from(*before));
                *before += 1;
            }
        }
        for &j in row {
            self.row(j).iter().for_each(|&w| count[w as usize] = 0);
        }
        // Every walk that returned met the others that did.
        Wrapping(pairs) - Wrapping(row.len() as u64).pairs()
    }

    /// Sums over the edges of a node in triangles, but C.
    fn in_triangles(
        &self,
        i: u32,
        Scratch {
            count,
            lists,
            ends,
            mark,
            ..
        }: &mut Scratch,
    ) -> Middle<Whole> {
        let own = self.common(i);
        let mut sum = Middle::<Whole>::default();
        for (&(j, t), number) in own.iter().zip(1..) {
            count[j as usize] = number;
            let t: Whole = Wrapping(t.into());
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

#[derive(Default)]
struct Scratch {
    /// By node, zero between nodes: walks that end there; or numbers of neighbours, from 1.
    count: Vec<u32>,
    /// Edges among the neighbours of a node, and where those of each end.
    lists: Vec<u32>,
    ends: Vec<usize>,
    mark: Vec<u8>,
}

/// An edge in triangles, and t; the edge was found from its first node.
type Edge = (u32, u32, u32);

/// The edges of the whole graph that are in triangles, each once and in no particular order, and the number of triangles of each:
/// a twentieth of the work of counting all motifs.
pub fn triangles(pattern: &Pattern, progress: &dyn Progress) -> Result<Vec<(u32, u32, u32)>> {
    Exact::check_degrees(pattern)?;
    let nodes: Vec<u32> = (0..pattern.rows() as u32).collect();
    let degree = |i: u32| (pattern.range(i as usize).len(), i);
    // The rows of the ends of smaller degree are walked.
    let work = |i: u32| smaller_degrees(pattern, i as usize);
    progress.stage("counting triangles", nodes.len() as u64);
    edges_in_triangles(
        pattern,
        &nodes,
        work,
        &|i, v| degree(v) < degree(i),
        progress,
    )
}

/// The edges of some nodes that are in triangles; `work` says about how much each node takes, `later` whether an edge is
/// looked at from its first node.
///
/// The neighbours of a node are marked, and the rows of these walked; a row much longer than that of the node is searched instead.
/// Cost: Σ min(d_v, [`SEARCH`] d_i) over the edges i–v that are looked at.
fn edges_in_triangles(
    pattern: &Pattern,
    nodes: &[u32],
    work: impl Fn(u32) -> u64,
    later: &(dyn Fn(u32, u32) -> bool + Sync),
    progress: &dyn Progress,
) -> Result<Vec<Edge>> {
    let bounds = balanced(nodes.len(), 1 << 14, |at| work(nodes[at]) + 8);
    let mut found: Vec<Vec<Edge>> = bounds.iter().skip(1).map(|_| Vec::new()).collect();
    let parts = ranges(&bounds).zip(&mut found).collect();
    let mark = || vec![0u8; pattern.rows()];
    sweep(parts, progress, mark, |range, found, mark| {
        for at in range {
            ask_rows(pattern, nodes, at);
            let (i, row) = (nodes[at], pattern.row(nodes[at] as usize));
            row.iter().for_each(|&w| mark[w as usize] = 1);
            for &v in row.iter().filter(|&&v| later(i, v)) {
                let (far, mut t) = (pattern.row(v as usize), 0);
                if far.len() > SEARCH * row.len() {
                    for_common(row, far, |_, _, _| t += 1);
                } else {
                    t = far.iter().map(|&w| u32::from(mark[w as usize])).sum();
                }
                if t > 0 {
                    found.push((i, v, t));
                }
            }
            row.iter().for_each(|&w| mark[w as usize] = 0);
        }
    })?;
    Ok(found.concat())
}

/// Prefetches the rows around the node at a place of a list, which is next, and around the ones behind it.
#[inline]
fn ask_rows(pattern: &Pattern, nodes: &[u32], at: usize) {
    let around = |at: usize| {
        let row = nodes.get(at).map_or(&[][..], |&i| pattern.row(i as usize));
        row.iter().take(2 * AHEAD)
    };
    around(at + 2).for_each(|&v| prefetch(&pattern.offsets()[v as usize..v as usize + 2]));
    around(at + 1).for_each(|&v| {
        let row = pattern.row(v as usize);
        prefetch(&row[..row.len().min(AHEAD)]);
    });
}

/// Edges in triangles by their ends, whose numbers are from 1, or 0 for none: where those of each begin, and the other end and t of
/// each.
fn by_node(
    nodes: usize,
    edges: &[Edge],
    number: impl Fn(u32) -> usize,
) -> (Vec<usize>, Vec<(u32, u32)>) {
    let both = || {
        let both = edges
            .iter()
            .flat_map(|&(i, v, t)| [(number(i), v, t), (number(v), i, t)]);
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
