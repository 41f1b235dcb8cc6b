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

use super::formula::{Bounds, End, Middle, Number, Whole, node_sums};
use super::orbit::Orbit;
use super::ranked::{Marks, balanced, ranges, smaller_degrees, sweep};
use crate::error::Result;
use crate::parallel::{self, cut};
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
    let whole = |&i: &u32| bounds.are_whole(pattern.row(i as usize).len());
    if !nodes.iter().all(whole) {
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
    let degrees = |nodes: &[u32]| {
        let degrees = nodes.iter().map(|&i| pattern.row(i as usize).len() as u64);
        degrees.sum::<u64>()
    };
    let visits = degrees(counted) + known.map_or(0, |_| degrees(nodes));
    let lines = Lines::new(pattern, visits);
    let near = Near::count(&lines, &around, (nodes, known), progress)?;
    let steps = nodes.iter().map(|&i| near.steps(i));
    if steps.fold(0, u64::saturating_add) > most {
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
    let n = pattern.rows();
    let every = if n < 1 << 16 { 1 } else { LOOKED_AT };
    let rows = (0..n).step_by(every);
    let steps = rows.map(|i| smaller_degrees(pattern, i)).sum::<u64>();
    steps * every as u64 / 2 + pattern.nnz() as u64
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
        let marked = |nodes: &[u32]| {
            let mut marks = Marks::new(around.all);
            marks.set(nodes);
            marks
        };
        let first = marked(&counted);
        let work = |i: u32| ends[i as usize][1];
        let later = |i: u32, v: u32| (v > i) | !first.has(v);
        let mut found = edges_in_triangles(lines, &counted, work, &later, progress)?;
        if known.is_some() {
            let others = found.iter().map(|&(_, v, _)| v).filter(|&v| !first.has(v));
            let second = marked(&others.collect::<Vec<u32>>());
            let nodes = around.nodes.iter().copied().filter(|&i| second.has(i));
            let nodes: Vec<u32> = nodes.collect();
            let later = |i: u32, v: u32| !first.has(v) & ((v > i) | !second.has(v));
            progress.stage("looking for triangles around new nodes", nodes.len() as u64);
            found.extend(edges_in_triangles(lines, &nodes, work, &later, progress)?);
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
            lines,
            ends,
            offsets,
            common,
        })
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

    /// Asks the memory for what is needed around the nodes that follow.
    fn ask(&self, nodes: &[u32], at: usize) {
        self.lines.ask(nodes, at);
        let next = nodes.get(at + 2).map_or(&[][..], |&i| self.lines.row(i));
        next.iter()
            .take(AHEAD)
            .for_each(|&j| prefetch(&self.ends[j as usize..=j as usize]));
    }

    /// Sums of all orbits over the edges of a chosen node.
    fn sums(&self, i: u32, scratch: &mut Scratch) -> [Whole; Orbit::COUNT] {
        let row = self.lines.row(i);
        if row.is_empty() {
            return [Wrapping(0); Orbit::COUNT];
        }
        let own = self.end(i);
        let c = Wrapping(2) * self.pairs_of_walks(i, own.s.0, scratch);
        let mut middle = match own.triangles.0 {
            0 => Middle::default(),
            _ => self.in_triangles(i, scratch),
        };
        middle.c = c;
        node_sums(row, own, |j| self.end(j), middle)
    }

    /// Σ_w c(i,w)(c(i,w) − 1)/2.
    fn pairs_of_walks(&self, i: u32, walks: u64, scratch: &mut Scratch) -> Whole {
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
    filter: Vec<u64>,
    /// Edges among the neighbours of a node, and where those of each end.
    lists: Vec<u32>,
    ends: Vec<usize>,
    mark: Vec<u8>,
}

impl Scratch {
    fn new(nodes: usize) -> Scratch {
        Scratch {
            count: vec![0; nodes],
            filter: vec![0; FILTER_BITS / 64],
            ..Scratch::default()
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

/// Rows up to this length are looked up by some bits of each entry, and searched where these agree.
const FEW: usize = 32;
const FEW_BITS: usize = 1 << 12;

/// An edge in triangles, and t; the edge was found from its first node.
type Edge = (u32, u32, u32);

/// Whether an edge is looked at from its first node.
type Later<'a> = &'a (dyn Fn(u32, u32) -> bool + Sync);

/// The edges of some nodes that are in triangles; `work` says about how much each takes.
///
/// The neighbours of a node are marked, and the rows of these walked; a row much longer than that of the node is searched instead.
/// Short rows are marked by a few bits of each number: nearly all edges of sparse graphs are in no triangle, and these bits say so
/// without a look at the marks of a whole graph. Cost: Σ min(d_v, [`SEARCH`] d_i) over the edges i–v that are looked at.
fn edges_in_triangles(
    lines: &Lines,
    nodes: &[u32],
    work: impl Fn(u32) -> u64,
    later: Later,
    progress: &dyn Progress,
) -> Result<Vec<Edge>> {
    let bounds = balanced(nodes.len(), 1 << 14, |at| work(nodes[at]) + 8);
    let mut found: Vec<Vec<Edge>> = bounds.iter().skip(1).map(|_| Vec::new()).collect();
    let parts = ranges(&bounds).zip(&mut found).collect();
    let mark = || vec![0u8; lines.nodes()];
    sweep(parts, progress, mark, |range, found, mark| {
        for at in range {
            lines.ask(nodes, at);
            add_common(lines, nodes[at], later, (mark, found));
        }
    })?;
    Ok(found.concat())
}

/// Adds the edges of a node that are in triangles; `mark` is zero before and after.
fn add_common(lines: &Lines, i: u32, later: Later, (mark, found): (&mut [u8], &mut Vec<Edge>)) {
    let row = lines.row(i);
    if row.len() < 2 {
        return;
    }
    let later = |v: u32| later(i, v);
    if row.len() <= FEW {
        let bits = Bits::of(row);
        // Which neighbours are visited cannot be foretold: they are listed without a branch.
        let (mut visited, mut count) = ([0; FEW], 0);
        for &v in row {
            visited[count] = v;
            count += usize::from(later(v));
        }
        for &v in &visited[..count] {
            let hit = match lines.line(v) {
                Some(line) => bits.hit(line),
                None => lines.row(v).len() > SEARCH * row.len() || bits.hit(lines.row(v)),
            };
            let t = if hit { common(row, lines.row(v)) } else { 0 };
            if t > 0 {
                found.push((i, v, t));
            }
        }
        return;
    }
    row.iter().for_each(|&w| mark[w as usize] = 1);
    for &v in row.iter().filter(|&&v| later(v)) {
        let far = lines.row(v);
        let t = match far.len() > SEARCH * row.len() {
            true => common(row, far),
            false => far.iter().map(|&w| u32::from(mark[w as usize])).sum(),
        };
        if t > 0 {
            found.push((i, v, t));
        }
    }
    row.iter().for_each(|&w| mark[w as usize] = 0);
}

/// Numbers that two rows have in common: those of the shorter one are searched in the longer.
fn common(a: &[u32], b: &[u32]) -> u32 {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    short
        .iter()
        .filter(|w| long.binary_search(w).is_ok())
        .count() as u32
}

/// Some bits of each number of a row.
struct Bits([u64; FEW_BITS / 64]);

impl Bits {
    fn of(row: &[u32]) -> Bits {
        let mut bits = [0; FEW_BITS / 64];
        row.iter()
            .for_each(|w| bits[*w as usize % FEW_BITS / 64] |= 1 << (w % 64));
        Bits(bits)
    }

    /// Whether any of some numbers may be in the row.
    #[inline]
    fn hit(&self, numbers: &[u32]) -> bool {
        numbers.iter().fold(0, |hit, w| {
            hit | self.0[*w as usize % FEW_BITS / 64] >> (w % 64)
        }) & 1
            == 1
    }
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

/// Numbers of a line: the degree, then the neighbours where all of them have room, the first again in places that are left; or where
/// they begin in the pattern, in two halves.
const WIDTH: usize = 16;

/// Rows of a pattern in one line of the caches each, for sweeps that visit most of them in no order.
///
/// A visit of a row in a pattern touches where it begins, then the row, which often lies in two lines, on pages that the
/// processor has forgotten. A short row with its length fits one line, at a place that follows from its number, on huge pages;
/// the line of a long row says where it is.
/// Cost: 64 bytes per node and one pass, where so many rows are visited that it pays.
struct Lines<'a> {
    pattern: &'a Pattern,
    /// One line per node; none where few rows are visited.
    lines: Pages<[u32; WIDTH]>,
}

impl<'a> Lines<'a> {
    /// Rows of which so many will be visited.
    fn new(pattern: &'a Pattern, visits: u64) -> Lines<'a> {
        let (nodes, slots) = (pattern.rows() as u64, pattern.nnz() as u64);
        let pay = visits > slots / 4 && 4 * slots >= WIDTH as u64 * nodes;
        let mut lines = Pages::zeros(if pay { pattern.rows() } else { 0 });
        parallel::for_rows(&mut lines, 1, |i, line: &mut [[u32; WIDTH]]| {
            let (row, line) = (pattern.row(i), &mut line[0]);
            line[0] = row.len() as u32;
            match row.first() {
                Some(&first) if row.len() < WIDTH => {
                    line[1..=row.len()].copy_from_slice(row);
                    line[row.len() + 1..].fill(first);
                }
                _ => {
                    let start = pattern.range(i).start as u64;
                    [line[1], line[2]] = [start as u32, (start >> 32) as u32];
                }
            }
        });
        Lines { pattern, lines }
    }

    /// Nodes of the graph.
    fn nodes(&self) -> usize {
        self.pattern.rows()
    }

    /// The neighbours of a node.
    #[inline]
    fn row(&self, i: u32) -> &[u32] {
        match self.lines.get(i as usize) {
            Some(line) if (line[0] as usize) < WIDTH => &line[1..=line[0] as usize],
            Some(line) => self.long(line),
            None => self.pattern.row(i as usize),
        }
    }

    /// The neighbours that a line has no room for.
    #[inline]
    fn long(&self, line: &[u32; WIDTH]) -> &[u32] {
        let start = u64::from(line[1]) | u64::from(line[2]) << 32;
        &self.pattern.columns()[start as usize..][..line[0] as usize]
    }

    /// The neighbours of a node as one line, the first of them in places that are left; nothing where they have no room.
    #[inline]
    fn line(&self, i: u32) -> Option<&[u32; WIDTH - 1]> {
        let line = self
            .lines
            .get(i as usize)
            .filter(|line| (line[0] as usize) < WIDTH)?;
        line.last_chunk()
    }

    /// Prefetches the rows around the node at a place of a list, which is next, and around the ones behind it.
    #[inline]
    fn ask(&self, nodes: &[u32], at: usize) {
        let around = |at: usize| {
            nodes
                .get(at)
                .map_or(&[][..], |&i| self.row(i))
                .iter()
                .take(2 * AHEAD)
        };
        if self.lines.is_empty() {
            around(at + 2)
                .for_each(|&v| prefetch(&self.pattern.offsets()[v as usize..v as usize + 2]));
            return around(at + 1).for_each(|&v| {
                let row = self.row(v);
                prefetch(&row[..row.len().min(AHEAD)]);
            });
        }
        let ask = |&v: &u32| prefetch(&self.lines[v as usize..=v as usize]);
        nodes.get(at + 4).into_iter().for_each(ask);
        around(at + 2).for_each(ask);
        for &v in around(at + 1) {
            let line = &self.lines[v as usize];
            if line[0] as usize >= WIDTH {
                prefetch(&self.long(line)[..WIDTH]);
            }
        }
    }
}
