//! [`Changes`]: added and removed edges, by edge and by node, and the resulting adjacency.

use std::num::Wrapping;

use crate::error::{Error, Result};
use crate::motif::formula::Whole;
use crate::motif::ranked::balanced;
use crate::parallel::{self, cut};
use crate::sparse::{Pattern, offsets};

/// An edge that changes, from its smaller node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Change {
    pub(super) u: u32,
    pub(super) v: u32,
    pub(super) added: bool,
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
    /// By how much the degree of each of `nodes` grows.
    growth: Vec<Whole>,
}

impl Changes {
    /// Checks edges to be added to and removed from a graph, either end first; new nodes follow the old ones.
    pub(super) fn new(
        old: &Pattern,
        added: &[(u32, u32)],
        removed: &[(u32, u32)],
    ) -> Result<Changes> {
        let is_edge = |a: u32, b: u32| {
            (a as usize) < old.rows() && old.row(a as usize).binary_search(&b).is_ok()
        };
        let mut list = Vec::with_capacity(added.len() + removed.len());
        for (field, edges, added) in [("added", added, true), ("removed", removed, false)] {
            for (at, &(a, b)) in edges.iter().enumerate() {
                let wrong = match is_edge(a, b) {
                    _ if a == b => "is a self-loop",
                    true if added => "is in the graph already",
                    false if !added => "is not in the graph",
                    _ => {
                        let (u, v) = (a.min(b), a.max(b));
                        list.push(Change { u, v, added });
                        continue;
                    }
                };
                let message = format!("edge {at}, ({a}, {b}), {wrong}; leave it out");
                return Err(Error::config(field, message));
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
        Ok(Changes::by_node(list, old.rows().max(last)))
    }

    /// Arranges changes by node.
    fn by_node(list: Vec<Change>, graph_nodes: usize) -> Changes {
        let both = |c: &Change| [(c.u, c.v, c.added), (c.v, c.u, c.added)];
        let mut ends: Vec<(u32, u32, bool)> = list.iter().flat_map(both).collect();
        ends.sort_unstable();
        let (mut nodes, mut starts) = (Vec::new(), Vec::new());
        let mut place = vec![STILL; graph_nodes];
        for (at, &(node, ..)) in ends.iter().enumerate() {
            if nodes.last() != Some(&node) {
                place[node as usize] = nodes.len() as u32;
                nodes.push(node);
                starts.push(at);
            }
        }
        starts.push(ends.len());
        let added = |ends: &[(u32, u32, bool)]| ends.iter().map(|end| sign(end.2)).sum();
        let growth = starts.windows(2).map(|of| added(&ends[of[0]..of[1]]));
        Changes {
            list,
            nodes,
            place,
            growth: growth.collect(),
            starts,
            ends: ends.into_iter().map(|(_, v, added)| (v, added)).collect(),
        }
    }

    /// The place of a node in `nodes`.
    pub(super) fn place(&self, i: u32) -> Option<usize> {
        let place = self.place[i as usize];
        (place != STILL).then_some(place as usize)
    }

    /// Changes at a node: the other end, and whether the edge is added.
    pub(super) fn of_node(&self, i: u32) -> &[(u32, bool)] {
        self.place(i).map_or(&[], |place| {
            &self.ends[self.starts[place]..self.starts[place + 1]]
        })
    }

    /// Whether the edge between two nodes is added (`true`), removed (`false`) or neither.
    pub(super) fn find(&self, a: u32, b: u32) -> Option<bool> {
        let ends = self.of_node(a);
        let at = ends.binary_search_by_key(&b, |end| end.0).ok()?;
        Some(ends[at].1)
    }

    /// By how much the degree of a node grows.
    pub(super) fn growth(&self, i: u32) -> Whole {
        self.place(i)
            .map_or(Wrapping(0), |place| self.growth[place])
    }

    /// The adjacency before, with rows for new nodes.
    pub(super) fn extended(&self, old: &Pattern) -> Pattern {
        let n = self.place.len();
        let mut offsets = old.offsets().to_vec();
        offsets.resize(n + 1, old.nnz());
        Pattern::shared(offsets, old.indices().clone(), n)
    }

    /// The adjacency after the changes; `old` has rows for new nodes.
    pub(super) fn applied(&self, old: &Pattern) -> Pattern {
        let n = old.rows();
        let degree = |i: usize| {
            let before = Wrapping(old.range(i).len() as u64);
            (before + self.growth(i as u32)).0 as usize
        };
        let offsets = offsets((0..n).map(degree));
        let mut columns = vec![0; offsets[n]];
        let bounds = balanced(n, 1 << 16, |i| (offsets[i + 1] - offsets[i] + 4) as u64);
        let slots: Vec<usize> = bounds.iter().map(|&i| offsets[i]).collect();
        parallel::each(cut(&mut columns, &slots), &|part, columns| {
            for i in bounds[part]..bounds[part + 1] {
                let first = slots[part];
                let new = &mut columns[offsets[i] - first..offsets[i + 1] - first];
                self.write_row(i as u32, old.row(i), new);
            }
        });
        Pattern::new(offsets, columns, n)
    }

    /// The row of a node after the changes.
    fn write_row(&self, i: u32, old: &[u32], new: &mut [u32]) {
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
}
