//! The triangle sweeps: common neighbours t of every edge, then Q, R and K where t > 0.
//!
//! `common` walks, for each edge {u, v} with v < u, the row of v over marks on the neighbours of u:
//! Σ_e min(d_u, d_v) steps, each edge owned by one thread. [`TriangleGraph`] then keeps only the
//! edges with t > 0, without nodes that have none; in sparse graphs it is tiny. On it the
//! same walk with t(u,w) in place of the mark gives Q = Σ d_w and R = Σ (t(u,w) + t(v,w)).

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::super::column::cut;
use super::super::divide::{self, share};
use super::super::place::Rank;
use super::super::ranked::{Head, Ranked, balanced, heads, ranges, sweep};
use super::wedge::Wedges;
use crate::communicator::Communicator;
use crate::error::Result;
use crate::parallel;
use crate::progress::Progress;

/// Common neighbours of the ends of every edge.
pub(super) fn common(
    graph: &Ranked,
    wedges: &Wedges,
    communicator: &dyn Communicator,
    progress: &dyn Progress,
) -> Result<Vec<u32>> {
    let n = graph.nodes();
    let common: Vec<AtomicU32> = (0..graph.size()).map(|_| AtomicU32::new(0)).collect();
    let inside = |u: usize| wedges.in_triangle(u);
    let bounds = balanced(n, 1 << 14, |u| if inside(u) { graph.work[u] } else { 1 });
    progress.stage("counting triangles", (n / communicator.size()) as u64);
    let parts = share(ranges(&bounds).map(|range| (range, ())), communicator);
    sweep(
        parts,
        progress,
        || vec![0u8; n],
        |range, (), mark| {
            for u in range.filter(|&u| inside(u)) {
                graph.row(u).iter().for_each(|&w| mark[w as usize] = 1);
                let reverse = &wedges.reverse[graph.lower_start(u)..];
                if u + 1 < n && inside(u + 1) {
                    graph.ask_next(u);
                }
                for (at, (&v, &back)) in graph.lower(u).iter().zip(reverse).enumerate() {
                    graph.ask_ahead(graph.lower(u), at);
                    if inside(v as usize) {
                        let t: u32 = graph
                            .row(v as usize)
                            .iter()
                            .map(|&w| u32::from(mark[w as usize]))
                            .sum();
                        common[graph.edge_at(v as usize, back)].store(t, Relaxed);
                    }
                }
                graph.row(u).iter().for_each(|&w| mark[w as usize] = 0);
            }
        },
    )?;
    divide::add_short(&common, communicator);
    Ok(common.into_iter().map(AtomicU32::into_inner).collect())
}

/// The edges in triangles, on the nodes in triangles, both in the order of the ranked graph.
pub(super) struct TriangleGraph {
    /// One head per row, and one more for the end.
    pub(super) heads: Vec<Head>,
    columns: Vec<u32>,
    /// Edge of each lower slot.
    lower_edge: Vec<usize>,
    /// t of each slot.
    t: Vec<u32>,
    /// Degree of the neighbour of each slot, in the whole graph.
    degrees: Vec<u32>,
    /// Ranked node of each node.
    pub(super) nodes: Vec<u32>,
}

/// Number of edges in triangles among the edges `range`.
fn nonzeros(t: &[u32], range: std::ops::Range<usize>) -> usize {
    t[range].iter().filter(|&&t| t != 0).count()
}

/// Some rows of a triangle graph under construction.
#[derive(Default)]
struct Rows {
    columns: Vec<u32>,
    t: Vec<u32>,
    lower_edge: Vec<usize>,
    /// Lengths of each row: its lower part, and all of it.
    lengths: Vec<(usize, usize)>,
}

impl Rows {
    fn append(mut self, mut other: Rows) -> Rows {
        self.columns.append(&mut other.columns);
        self.t.append(&mut other.t);
        self.lower_edge.append(&mut other.lower_edge);
        self.lengths.append(&mut other.lengths);
        self
    }
}

impl TriangleGraph {
    pub(super) fn new(graph: &Ranked, wedges: &Wedges, t: &[u32]) -> TriangleGraph {
        let rank = Rank::new(t.len(), |range| nonzeros(t, range));
        let inside = |u: u32| wedges.in_triangle(u as usize);
        let nodes: Vec<u32> = (0..graph.nodes() as u32).filter(|&u| inside(u)).collect();
        let mut number = vec![0u32; graph.nodes()];
        nodes
            .iter()
            .zip(0..)
            .for_each(|(&u, k)| number[u as usize] = k);
        let add_row = |rows: &mut Rows, u: usize| {
            let (before, lower_before) = (rows.columns.len(), rows.lower_edge.len());
            for (&w, edge) in graph.row(u).iter().zip(graph.edges_of(u, &wedges.reverse)) {
                if inside(w) && t[edge] > 0 {
                    rows.columns.push(number[w as usize]);
                    rows.t.push(t[edge]);
                    if (w as usize) < u {
                        rows.lower_edge
                            .push(rank.below(edge, |range| nonzeros(t, range)));
                    }
                }
            }
            rows.lengths.push((
                rows.lower_edge.len() - lower_before,
                rows.columns.len() - before,
            ));
        };
        let some_rows = |nodes: &[u32]| {
            let mut rows = Rows::default();
            nodes.iter().for_each(|&u| add_row(&mut rows, u as usize));
            rows
        };
        let parts = parallel::stretches(nodes.len(), 1024, |range| some_rows(&nodes[range]));
        let Rows {
            columns,
            t,
            lower_edge,
            lengths,
        } = parts.into_iter().fold(Rows::default(), Rows::append);
        let (mut offsets, mut split, mut end) = (vec![0], Vec::with_capacity(nodes.len()), 0);
        for (lower, all) in lengths {
            split.push(end + lower);
            end += all;
            offsets.push(end);
        }
        let heads = heads(&offsets, &split);
        let degree: Vec<u32> = nodes
            .iter()
            .map(|&u| graph.row(u as usize).len() as u32)
            .collect();
        let degrees = columns.iter().map(|&w| degree[w as usize]).collect();
        TriangleGraph {
            heads,
            columns,
            lower_edge,
            t,
            degrees,
            nodes,
        }
    }

    pub(super) fn size(&self) -> usize {
        self.heads[self.nodes.len()].edge
    }

    #[inline]
    fn range(&self, u: usize) -> std::ops::Range<usize> {
        self.heads[u].start..self.heads[u + 1].start
    }

    #[inline]
    pub(super) fn row(&self, u: usize) -> &[u32] {
        &self.columns[self.range(u)]
    }

    #[inline]
    pub(super) fn lower(&self, u: usize) -> &[u32] {
        &self.columns[self.heads[u].start..self.heads[u].split]
    }

    #[inline]
    pub(super) fn upper(&self, u: usize) -> &[u32] {
        &self.columns[self.heads[u].split..self.heads[u + 1].start]
    }

    /// The edges of the row of ranked node `r`, in order; none when it is in no triangle.
    pub(super) fn edges_of(&self, r: u32) -> impl Iterator<Item = usize> + '_ {
        let u = self.nodes.binary_search(&r).ok();
        let edges = u.map(|u| {
            let lower = &self.lower_edge[self.lower_start(u)..][..self.lower(u).len()];
            lower
                .iter()
                .copied()
                .chain(self.heads[u].edge..self.heads[u + 1].edge)
        });
        edges.into_iter().flatten()
    }

    fn lower_start(&self, u: usize) -> usize {
        self.heads[u].start - self.heads[u].edge
    }

    /// Q and R of every edge of this graph.
    pub(super) fn sums(
        &self,
        communicator: &dyn Communicator,
        progress: &dyn Progress,
    ) -> Result<(Vec<u64>, Vec<u64>)> {
        let n = self.nodes.len();
        let mut sums = vec![(0u64, 0u64); self.size()];
        let degree = |v: u32| self.range(v as usize).len() as u64;
        let work: Vec<u64> = (0..n)
            .map(|u| self.lower(u).iter().map(|&v| degree(v)).sum())
            .collect();
        let bounds = balanced(n, 1 << 14, |u| work[u]);
        let starts: Vec<usize> = bounds.iter().map(|&u| self.lower_start(u)).collect();
        let parts = share(ranges(&bounds).zip(cut(&mut sums, &starts)), communicator);
        sweep(
            parts,
            progress,
            || vec![0u32; n],
            |range, sums, near| {
                let base = self.lower_start(range.start);
                for u in range {
                    let start = self.lower_start(u) - base;
                    self.sums_of(u, &mut sums[start..start + self.lower(u).len()], near);
                }
            },
        )?;
        let (mut q, mut r) = (vec![0; self.size()], vec![0; self.size()]);
        for (&edge, (edge_q, edge_r)) in self.lower_edge.iter().zip(sums) {
            (q[edge], r[edge]) = (edge_q, edge_r);
        }
        communicator.add_u64(&mut q);
        communicator.add_u64(&mut r);
        Ok((q, r))
    }

    /// Q and R of the edges from `u` to its lower neighbours; `near` is zero before and after.
    fn sums_of(&self, u: usize, sums: &mut [(u64, u64)], near: &mut [u32]) {
        let t = &self.t[self.range(u)];
        self.row(u)
            .iter()
            .zip(t)
            .for_each(|(&w, &t)| near[w as usize] = t);
        for (&v, sums) in self.lower(u).iter().zip(sums) {
            let range = self.range(v as usize);
            let row = self.columns[range.clone()]
                .iter()
                .zip(&self.t[range.clone()])
                .zip(&self.degrees[range]);
            let (mut q, mut r) = (0, 0);
            for ((&w, &t), &d) in row {
                let x = near[w as usize];
                let mask = if x == 0 { 0 } else { u32::MAX };
                q += u64::from(d & mask);
                r += u64::from(x) + u64::from(t & mask);
            }
            *sums = (q, r);
        }
        self.row(u).iter().for_each(|&w| near[w as usize] = 0);
    }
}
