//! Edges in triangles around some nodes, and how many triangles each is in.
//!
//! The neighbours of a node are marked, and the rows of these walked; a row much longer than that of the node is searched instead.
//! Short rows are marked by a few bits of each number: nearly all edges of sparse graphs are in no triangle, and these bits say so
//! without a look at the marks of a whole graph. Cost: Σ min(d_v, [`SEARCH`] d_i) over the edges i–v that are looked at.

use super::super::super::ranked::{balanced, ranges, sweep};
use super::SEARCH;
use super::lines::Lines;
use crate::error::Result;
use crate::progress::Progress;

/// Rows up to this length are looked up by some bits of each entry, and searched where these agree.
const FEW: usize = 32;
const FEW_BITS: usize = 1 << 12;

/// An edge in triangles, and t; the edge was found from its first node.
pub(super) type Edge = (u32, u32, u32);

/// A set of nodes.
pub(super) struct Inside(Vec<u64>);

impl Inside {
    pub(super) fn of(all: usize, nodes: &[u32]) -> Inside {
        let mut words = vec![0; all.div_ceil(64)];
        nodes
            .iter()
            .for_each(|&i| words[i as usize / 64] |= 1 << (i % 64));
        Inside(words)
    }

    #[inline]
    pub(super) fn has(&self, i: u32) -> bool {
        self.0[i as usize / 64] >> (i % 64) & 1 == 1
    }
}

/// Whether an edge is looked at from its first node.
pub(super) type Later<'a> = &'a (dyn Fn(u32, u32) -> bool + Sync);

/// The edges of some nodes that are in triangles; `work` says about how much each takes.
pub(super) fn edges_in_triangles(
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
pub(super) fn by_node(
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
