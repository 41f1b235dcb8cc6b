//! The triangle sweep with directions: how the third nodes of every edge's triangles are linked to its ends.
//!
//! On the underlying graph, ranked by degree, each slot has a label: 1 for an arc that leaves the row's node, 2 for one
//! that enters it, 3 for both. For each edge {u, v} with v < u the row of v is walked over the labels of the row of u, as in
//! the undirected sweep, and each common neighbour adds one to the class (label at u, label at v): nine numbers per edge
//! in triangles. Cost: Σ_e min(d_u, d_v) steps. Memory: one byte per slot for labels and one per node and thread, 4 bytes
//! per edge, 36 per edge in triangles. Every edge belongs to one thread, and sums are of integers.

use super::super::column::cut;
use super::super::place::Rank;
use super::super::ranked::{Ranked, balanced, ranges, sweep};
use crate::Graph;
use crate::error::Result;
use crate::progress::Progress;
use crate::sparse::Pattern;

/// Triangles on an edge by how their third node is linked to its ends: three labels times three.
pub(super) type Classes = [u32; 9];

/// What the sweep found.
pub(super) struct Swept {
    ranked: Ranked,
    /// One label per slot of the ranked graph.
    labels: Vec<u8>,
    /// Common neighbours of each edge, by lower slot.
    common: Vec<u32>,
    /// From a lower slot with common neighbours to its place in `classes`.
    rank: Rank,
    /// Classes of the edges in triangles: label at the higher-ranked end, then at the lower.
    classes: Vec<Classes>,
}

impl Swept {
    pub(super) fn new(graph: &Graph, entering: &Pattern, progress: &dyn Progress) -> Result<Swept> {
        progress.stage("sorting nodes by degree", 0);
        let ranked = Ranked::new(&graph.symmetric_pattern(), progress)?;
        let labels = labels(graph, entering, &ranked, progress)?;
        let (common, classes) = triangles(&ranked, &labels, progress)?;
        let rank = Rank::new(common.len(), |range| nonzeros(&common[range]));
        Ok(Swept {
            ranked,
            labels,
            common,
            rank,
            classes,
        })
    }

    /// Where the edge of the arc `i → j` is, whether `i` is its higher-ranked end, and whether the arc has its reverse.
    pub(super) fn find(&self, i: u32, j: u32) -> (usize, bool, bool) {
        let (a, b) = (self.ranked.rank[i as usize], self.ranked.rank[j as usize]);
        let (u, v) = (a.max(b) as usize, a.min(b));
        let k = self
            .ranked
            .lower(u)
            .binary_search(&v)
            .expect("an arc is an edge");
        let mutual = self.labels[self.ranked.heads[u].start + k] == 3;
        (self.ranked.lower_start(u) + k, a > b, mutual)
    }

    /// Common neighbours of the ends of an edge.
    pub(super) fn common(&self, edge: usize) -> u32 {
        self.common[edge]
    }

    /// The place of an edge in triangles in the list of their classes.
    pub(super) fn place(&self, edge: usize) -> usize {
        self.rank.below(edge, |range| nonzeros(&self.common[range]))
    }

    /// Triangles of an edge whose third corner has label `source` at the one end and `target` at the other.
    pub(super) fn class(
        &self,
        place: usize,
        from_higher: bool,
        (source, target): (usize, usize),
    ) -> u32 {
        let (high, low) = if from_higher {
            (source, target)
        } else {
            (target, source)
        };
        self.classes[place][3 * (high - 1) + low - 1]
    }

    /// How many neighbours of node `i` have each label: arcs that only leave, only enter, or both.
    pub(super) fn degrees(&self, i: usize) -> [u32; 3] {
        let u = self.ranked.rank[i] as usize;
        let labels = &self.labels[self.ranked.heads[u].start..self.ranked.heads[u + 1].start];
        labels.iter().fold([0; 3], |mut degrees, &label| {
            degrees[usize::from(label) - 1] += 1;
            degrees
        })
    }
}

fn nonzeros(values: &[u32]) -> usize {
    values.iter().filter(|&&value| value != 0).count()
}

/// The label of every slot of the ranked graph.
fn labels(
    graph: &Graph,
    entering: &Pattern,
    ranked: &Ranked,
    progress: &dyn Progress,
) -> Result<Vec<u8>> {
    let n = ranked.nodes();
    let mut labels = vec![0u8; ranked.columns.len()];
    let start = |u: usize| ranked.heads[u].start;
    let bounds = balanced(n, 1 << 14, |u| (start(u + 1) - start(u) + 4) as u64);
    let slots: Vec<usize> = bounds.iter().map(|&u| start(u)).collect();
    let parts = ranges(&bounds).zip(cut(&mut labels, &slots)).collect();
    let blank = || vec![0u8; n];
    sweep(parts, progress, blank, |range, labels, mark| {
        let mut labels = labels.iter_mut();
        for u in range {
            let i = ranked.order[u];
            graph
                .neighbors(i)
                .iter()
                .for_each(|&j| mark[ranked.rank[j as usize] as usize] |= 1);
            entering
                .row(i as usize)
                .iter()
                .for_each(|&j| mark[ranked.rank[j as usize] as usize] |= 2);
            for (&w, label) in ranked.row(u).iter().zip(&mut labels) {
                *label = std::mem::take(&mut mark[w as usize]);
            }
        }
    })?;
    Ok(labels)
}

/// Common neighbours of every edge, and the classes of those that have any, both in the order of lower slots.
fn triangles(
    ranked: &Ranked,
    labels: &[u8],
    progress: &dyn Progress,
) -> Result<(Vec<u32>, Vec<Classes>)> {
    let n = ranked.nodes();
    let bounds = balanced(n, 1 << 14, |u| ranked.work[u] + 1);
    let starts: Vec<usize> = bounds.iter().map(|&u| ranked.lower_start(u)).collect();
    let mut common = vec![0u32; ranked.size()];
    let mut lists: Vec<Vec<Classes>> = vec![Vec::new(); bounds.len().saturating_sub(1)];
    progress.stage("counting triads", n as u64);
    let parts = ranges(&bounds)
        .zip(cut(&mut common, &starts).into_iter().zip(&mut lists))
        .collect();
    let blank = || vec![0u8; n];
    sweep(parts, progress, blank, |range, (common, list), mark| {
        let mut common = common.iter_mut();
        for u in range {
            let start = ranked.heads[u].start;
            ranked
                .row(u)
                .iter()
                .zip(&labels[start..])
                .for_each(|(&w, &label)| mark[w as usize] = label);
            for (at, (&v, common)) in ranked.lower(u).iter().zip(&mut common).enumerate() {
                ranked.ask_ahead(ranked.lower(u), at);
                let row = ranked
                    .row(v as usize)
                    .iter()
                    .zip(&labels[ranked.heads[v as usize].start..]);
                let classes = classes(row, mark);
                *common = classes.iter().sum();
                if *common > 0 {
                    list.push(classes);
                }
            }
            ranked.row(u).iter().for_each(|&w| mark[w as usize] = 0);
        }
    })?;
    let mut classes = Vec::with_capacity(lists.iter().map(Vec::len).sum());
    lists.into_iter().for_each(|list| classes.extend(list));
    Ok((common, classes))
}

/// The classes of one edge: the labels of a row beside those that are marked.
#[inline]
fn classes<'a>(row: impl Iterator<Item = (&'a u32, &'a u8)>, mark: &[u8]) -> Classes {
    let mut seen = [0u32; 16];
    for (&w, &label) in row {
        let marked = mark[w as usize];
        if marked != 0 {
            seen[usize::from((marked << 2 | label) & 15)] += 1;
        }
    }
    std::array::from_fn(|at| seen[4 * (at / 3 + 1) + at % 3 + 1])
}
