//! [`Changes`]: added and removed edges, by edge and by node, and the resulting adjacency.

use std::num::Wrapping;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::parallel::{self, cut};
use crate::sparse::Pattern;

use crate::motif::formula::Whole;
use crate::motif::ranked::balanced;

/// An edge that changes, from its smaller node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Change {
    pub(super) u: u32,
    pub(super) v: u32,
    pub(super) added: bool,
}

impl Change {
    /// Plus or minus one.
    pub(super) fn sign(self) -> Whole {
        sign(self.added)
    }
}

/// Plus or minus one.
pub(super) fn sign(added: bool) -> Whole {
    Wrapping(if added { 1 } else { u64::MAX })
}

/// Marks nodes whose edges do not change.
const STILL: u32 = u32::MAX;

/// All changes of a graph.
pub(super) struct Changes {
    /// Every change once, ascending.
    pub(super) list: Vec<Change>,
    /// The nodes at changes, ascending.
    pub(super) nodes: Vec<u32>,
    /// The place of each node of the graph in `nodes`.
    place: Vec<u32>,
    /// Where the changes of each of `nodes` begin in `ends`.
    starts: Vec<usize>,
    /// The other ends, ascending within a node, and whether the edge is added.
    ends: Vec<(u32, bool)>,
}

impl Changes {
    /// Checks edges to be added to and removed from a graph, either end first; new nodes follow the old ones.
    pub(super) fn new(
        old: &Pattern,
        added: &[(u32, u32)],
        removed: &[(u32, u32)],
    ) -> Result<Changes> {
        let all = [("added", added, true), ("removed", removed, false)];
        let mut list = Vec::with_capacity(added.len() + removed.len());
        for (field, edges, added) in all {
            for (at, &(a, b)) in edges.iter().enumerate() {
                check(old, (field, at), (a, b), added)?;
                list.push(Change {
                    u: a.min(b),
                    v: a.max(b),
                    added,
                });
            }
        }
        list.sort_unstable();
        if let Some([Change { u, v, .. }, twice]) =
            list.array_windows().find(|[a, b]| (a.u, a.v) == (b.u, b.v))
        {
            let message = format!("the edge ({u}, {v}) is named twice; name each edge once");
            let field = if twice.added { "added" } else { "removed" };
            return Err(Error::config(field, message));
        }
        let last = added.iter().map(|&(a, b)| a.max(b) as usize + 1);
        let last = last.max().unwrap_or(0);
        if last > u32::MAX as usize {
            let message = format!("{last} nodes; at most {} are supported", u32::MAX);
            return Err(Error::config("added", message));
        }
        Ok(Changes::of(list, old.rows().max(last)))
    }

    /// Arranges changes by node.
    fn of(list: Vec<Change>, nodes: usize) -> Changes {
        let mut ends: Vec<(u32, u32, bool)> = list
            .iter()
            .flat_map(|c| [(c.u, c.v, c.added), (c.v, c.u, c.added)])
            .collect();
        ends.sort_unstable();
        let (mut touched, mut starts, mut place) = (Vec::new(), Vec::new(), vec![STILL; nodes]);
        for (at, &(node, ..)) in ends.iter().enumerate() {
            if touched.last() != Some(&node) {
                place[node as usize] = touched.len() as u32;
                touched.push(node);
                starts.push(at);
            }
        }
        starts.push(ends.len());
        Changes {
            list,
            nodes: touched,
            place,
            starts,
            ends: ends.into_iter().map(|(_, v, added)| (v, added)).collect(),
        }
    }

    /// Number of nodes of the changed graph.
    pub(super) fn graph_nodes(&self) -> usize {
        self.place.len()
    }

    /// The place of a node in `nodes`.
    pub(super) fn place(&self, i: u32) -> Option<usize> {
        let place = self.place[i as usize];
        (place != STILL).then_some(place as usize)
    }

    /// Changes at the node in this place: the other end, and whether the edge is added.
    pub(super) fn at(&self, place: usize) -> &[(u32, bool)] {
        &self.ends[self.starts[place]..self.starts[place + 1]]
    }

    /// Changes at a node.
    pub(super) fn of_node(&self, i: u32) -> &[(u32, bool)] {
        self.place(i).map_or(&[], |place| self.at(place))
    }

    /// Whether the edge between two nodes is added (`true`), removed (`false`) or neither.
    pub(super) fn find(&self, a: u32, b: u32) -> Option<bool> {
        let ends = self.of_node(a);
        ends.binary_search_by_key(&b, |end| end.0)
            .ok()
            .map(|at| ends[at].1)
    }

    /// By how much the degree of the node in this place grows.
    pub(super) fn growth(&self, place: usize) -> Whole {
        self.at(place).iter().map(|&(_, added)| sign(added)).sum()
    }

    /// The adjacency after the changes.
    pub(super) fn applied(&self, old: &Pattern) -> Pattern {
        let n = self.graph_nodes();
        let mut offsets = vec![0; n + 1];
        for i in 0..n {
            let growth = self.place(i as u32).map(|place| self.growth(place));
            let degree = Wrapping(range(old, i).len() as u64) + growth.unwrap_or_default();
            offsets[i + 1] = offsets[i] + degree.0 as usize;
        }
        let mut columns = vec![0; offsets[n]];
        let bounds = balanced(n, 1 << 16, |i| (offsets[i + 1] - offsets[i] + 4) as u64);
        let slots: Vec<usize> = bounds.iter().map(|&i| offsets[i]).collect();
        parallel::each(cut(&mut columns, &slots), &|part, columns| {
            let mut at = 0;
            for i in bounds[part]..bounds[part + 1] {
                let length = offsets[i + 1] - offsets[i];
                self.write_row(row(old, i as u32), i as u32, &mut columns[at..at + length]);
                at += length;
            }
        });
        Pattern::new(offsets, columns, n)
    }

    /// The row of a node after the changes.
    fn write_row(&self, old: &[u32], i: u32, new: &mut [u32]) {
        let (mut from, mut to) = (0, 0);
        for &(j, added) in self.of_node(i) {
            let until = from + old[from..].partition_point(|&k| k < j);
            new[to..to + until - from].copy_from_slice(&old[from..until]);
            to += until - from;
            from = until;
            if added {
                new[to] = j;
                to += 1;
            } else {
                from += 1;
            }
        }
        new[to..].copy_from_slice(&old[from..]);
    }

    /// Where the neighbour `w` of `u` stands in the new row, given its place in the old one; nothing when the edge is
    /// removed.
    pub(super) fn moved(&self, u: u32, at: usize, w: u32) -> Option<usize> {
        let ends = self.of_node(u);
        let before = ends.partition_point(|end| end.0 < w);
        if ends.get(before).is_some_and(|end| end.0 == w) {
            return None;
        }
        let shift: isize = ends[..before]
            .iter()
            .map(|&(_, added)| if added { 1 } else { -1 })
            .sum();
        Some(at.wrapping_add_signed(shift))
    }
}

fn check(old: &Pattern, (field, at): (&str, usize), (a, b): (u32, u32), added: bool) -> Result<()> {
    let there = row(old, a).binary_search(&b).is_ok();
    let what = match () {
        () if a == b => "is a self-loop; leave it out",
        () if added && there => "is in the graph already; leave it out",
        () if !added && !there => "is not in the graph; leave it out",
        () => return Ok(()),
    };
    Err(Error::config(
        field,
        format!("edge {at}, ({a}, {b}), {what}"),
    ))
}

/// The row of a node that may be new.
pub(super) fn row(pattern: &Pattern, i: u32) -> &[u32] {
    if (i as usize) < pattern.rows() {
        pattern.row(i as usize)
    } else {
        &[]
    }
}

/// Where the row of a node lies that may be new.
pub(super) fn range(pattern: &Pattern, i: usize) -> Range<usize> {
    if i < pattern.rows() {
        pattern.range(i)
    } else {
        0..0
    }
}

/// Calls `found` with the common nodes of two ascending rows, and their positions in each: the shorter one is
/// walked, the longer one searched from the last position on.
pub(super) fn for_common(a: &[u32], b: &[u32], mut found: impl FnMut(u32, usize, usize)) {
    if a.len() <= b.len() {
        search(a, b, found);
    } else {
        search(b, a, |w, at_b, at_a| found(w, at_a, at_b));
    }
}

fn search(few: &[u32], many: &[u32], mut found: impl FnMut(u32, usize, usize)) {
    let mut from = 0;
    for (at, &w) in few.iter().enumerate() {
        let (mut step, mut end) = (1, from);
        while end < many.len() && many[end] < w {
            from = end + 1;
            end += step;
            step *= 2;
        }
        from += many[from..end.min(many.len())].partition_point(|&x| x < w);
        if many.get(from) == Some(&w) {
            found(w, at, from);
        }
    }
}

/// How many nodes two ascending rows share.
pub(super) fn common(a: &[u32], b: &[u32]) -> u64 {
    let mut count = 0;
    for_common(a, b, |_, _, _| count += 1);
    count
}
