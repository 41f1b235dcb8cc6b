//! [`MotifGraph`]: the weighted motif graph W_t, how many occurrences of motif t contain each edge (sec. 2.2).
//!
//! If most edges have a weight, W_t shares the graph's pattern and stores an explicit zero for the
//! others; otherwise it is a compact matrix on the nodes the motif touches, with nothing but
//! nonzeros. Weights are the counts themselves, in f32: those below 2²⁴ are exact, and losses, penalties and sums over
//! steps, which depend on the scale of W_t, use the counts themselves. Powers that would leave the range are handled by
//! `matrix`. Only extreme edge weights are scaled to at most 1 by a power of two, so that counts do not push them out
//! of the range of f32.

use std::ops::Range;
use std::sync::Arc;

use super::counts::Counts;
use super::orbit::Orbit;
use super::ranked::{balanced, ranges};
use super::set::Motif;
use super::triad::Occurrence;
use crate::Graph;
use crate::error::{Error, Result};
use crate::parallel::{self, cut};
use crate::sparse::{Csr, Pattern};

/// How counts become weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weighting {
    /// Edges with fewer occurrences than this have no weight; 0 and 1 keep all.
    pub delta: u64,
    /// Multiply the count by the edge's own weight, if the graph has weights.
    pub use_weights: bool,
    /// What counts as an occurrence of a directed motif.
    pub occurrence: Occurrence,
}

impl Default for Weighting {
    fn default() -> Self {
        Weighting {
            delta: 1,
            use_weights: false,
            occurrence: Occurrence::Induced,
        }
    }
}

/// The weighted graph of one motif.
#[derive(Debug, Clone)]
pub struct MotifGraph {
    /// The motif counted.
    pub motif: Motif,
    /// The graph's nodes that are the rows and columns of `matrix`, ascending; `None` for all.
    pub nodes: Option<Vec<u32>>,
    /// W_t times `scale`; row i holds the arcs out of node i.
    pub matrix: Csr,
    /// The factor of the weights: 1, or a power of two if edge weights are extreme.
    pub scale: f64,
    /// Sum of the unscaled weights over all positions (each undirected edge stands in two).
    pub total: f64,
    /// Number of nonzero weights.
    pub nnz: usize,
    /// Number of positions with the motif whose counts are below delta.
    pub below_delta: usize,
}

impl MotifGraph {
    /// The same with every arc also reversed, its weight multiplied by `factor`: W + c·Wᵀ.
    #[must_use]
    pub fn with_reverse(self, factor: f64) -> MotifGraph {
        let matrix = self.matrix.plus_transposed(factor as f32);
        let nnz = matrix
            .values()
            .iter()
            .filter(|&&value| value != 0.0)
            .count();
        MotifGraph {
            matrix,
            nnz,
            total: self.total * (1.0 + factor),
            ..self
        }
    }
}

/// Some rows of a weighted motif graph.
#[derive(Debug, Clone)]
pub struct MotifRows {
    /// Weights times `scale`, one for each position of these rows in the graph's pattern.
    pub values: Vec<f32>,
    /// Number of nonzero weights.
    pub nonzeros: usize,
    /// Number of positions with the motif whose counts are below delta.
    pub below_delta: usize,
    /// Sum of the unscaled weights.
    pub total: f64,
    /// As in [`MotifGraph`]; the same for all rows.
    pub scale: f64,
    /// Whether all weights are in the range of 32-bit floating point.
    pub finite: bool,
    /// Rows with a nonzero, ascending.
    pub rows: Vec<u32>,
}

/// From this share of nonzeros on, W_t shares the graph's pattern.
const SHARE: f64 = 0.75;

/// Whether a W_t with this many nonzeros shares a pattern of this many positions.
pub fn shares_pattern(nonzeros: usize, positions: usize) -> bool {
    nonzeros as f64 >= SHARE * positions as f64
}

impl Counts {
    /// The weighted motif graph of `motif` on `graph`, which must be the graph counted. Arcs keep
    /// their direction.
    ///
    /// # Panics
    /// When `graph` is another graph than the one counted.
    pub fn motif_graph(
        &self,
        graph: &Graph,
        motif: Motif,
        weighting: Weighting,
    ) -> Result<MotifGraph> {
        let least = self.least(graph, motif, weighting)?;
        let source = Source::new(graph, Some(self), (motif, weighting), least);
        source.rows(0..graph.nodes()).graph(motif, graph.pattern())
    }

    /// Some rows of the weighted motif graph, at all positions of the graph's pattern.
    ///
    /// # Panics
    /// When `graph` is another graph than the one counted.
    pub fn motif_rows(
        &self,
        graph: &Graph,
        motif: Motif,
        weighting: Weighting,
        rows: Range<usize>,
    ) -> Result<MotifRows> {
        let least = self.least(graph, motif, weighting)?;
        let source = Source::new(graph, Some(self), (motif, weighting), least);
        Ok(source.rows(rows))
    }

    /// The smallest count that is a weight.
    fn least(&self, graph: &Graph, motif: Motif, weighting: Weighting) -> Result<f64> {
        let counted = self.pattern().rows();
        assert_eq!(graph.nodes(), counted, "counts of another graph");
        self.check_counted(motif)?;
        // Estimates are compared as the whole numbers they stand for.
        Ok(weighting.delta as f64 - if self.sampled().is_some() { 0.5 } else { 0.0 })
    }
}

impl MotifGraph {
    /// The weighted graph of the motif `edge`, which needs no counts.
    pub fn of_edges(graph: &Graph, weighting: Weighting) -> Result<MotifGraph> {
        let (motif, pattern) = (Motif::Orbit(Orbit::Edge), graph.pattern());
        let (delta, nnz) = (weighting.delta, pattern.nnz());
        if weighting.use_weights && graph.weights().is_some() || delta > 1 || nnz == 0 {
            let source = Source::new(graph, None, (motif, weighting), delta as f64);
            return source.rows(0..graph.nodes()).graph(motif, pattern);
        }
        let ones: Arc<[f32]> = std::iter::repeat_n(1.0, nnz).collect();
        Ok(MotifGraph {
            motif,
            nodes: None,
            matrix: Csr::new(Arc::clone(pattern), ones),
            scale: 1.0,
            total: nnz as f64,
            nnz,
            below_delta: 0,
        })
    }

    /// The graph of nonzero weights, each with its position in the pattern of the graph, ascending; all else is that of
    /// `rows`. For motifs that few edges are in.
    pub fn of_weights(
        (motif, pattern): (Motif, &Arc<Pattern>),
        weights: impl Iterator<Item = (usize, f32)>,
        rows: &MotifRows,
    ) -> Result<MotifGraph> {
        let offsets = pattern.offsets();
        let mut all = MotifRows {
            below_delta: rows.below_delta,
            total: rows.total,
            values: vec![0.0; pattern.nnz()],
            ..MotifRows::none(rows.scale)
        };
        let mut i = 0;
        for (position, value) in weights {
            all.values[position] = value;
            while offsets[i + 1] <= position {
                i += 1;
            }
            if all.rows.last() != Some(&(i as u32)) {
                all.rows.push(i as u32);
            }
            all.nonzeros += 1;
        }
        all.compact_graph(motif, pattern)
    }
}

/// Where the weights of a motif come from.
struct Source<'a> {
    pattern: &'a Pattern,
    /// None for the motif `edge`, which occurs once on every edge.
    counts: Option<&'a Counts>,
    motif: Motif,
    occurrence: Occurrence,
    least: f64,
    /// The graph's own edge weights, and their factor.
    weights: Option<&'a [f32]>,
    unit: f64,
}

impl<'a> Source<'a> {
    fn new(
        graph: &'a Graph,
        counts: Option<&'a Counts>,
        (motif, weighting): (Motif, Weighting),
        least: f64,
    ) -> Self {
        let weights = graph.weights().filter(|_| weighting.use_weights);
        let weights = weights.map(|weights| &**weights);
        Source {
            pattern: graph.pattern(),
            counts,
            motif,
            occurrence: weighting.occurrence,
            least,
            weights,
            unit: weights.map_or(1.0, unit_of_weights),
        }
    }

    /// The weights of some rows at all positions of the pattern.
    fn rows(&self, rows: Range<usize>) -> MotifRows {
        let offsets = &self.pattern.offsets()[rows.start..=rows.end];
        let mut values = vec![0f32; offsets[rows.len()] - offsets[0]];
        let bounds = balanced(rows.len(), 1 << 14, |i| {
            (offsets[i + 1] - offsets[i] + 4) as u64
        });
        let slots: Vec<usize> = bounds.iter().map(|&i| offsets[i] - offsets[0]).collect();
        let parts = ranges(&bounds).zip(cut(&mut values, &slots));
        let sums = parallel::map_each(parts.collect(), |_, (part, values)| {
            self.fill(rows.start + part.start..rows.start + part.end, values)
        });
        let none = MotifRows::none(self.unit);
        let sum = sums.into_iter().fold(none, MotifRows::with);
        MotifRows {
            values,
            total: sum.total / self.unit,
            ..sum
        }
    }

    /// Writes the weights of some rows; returns all else, with the sum of the scaled weights.
    fn fill(&self, rows: Range<usize>, values: &mut [f32]) -> MotifRows {
        let mut sum = MotifRows::none(self.unit);
        let base = self.pattern.range(rows.start).start;
        for i in rows {
            let (mut row, mut nnz) = (0.0, 0);
            let mut slots = self
                .pattern
                .row(i)
                .iter()
                .zip(self.pattern.range(i))
                .peekable();
            let set = |j: u32, count: f64| {
                // The arcs of a directed graph are some of the slots counted, in the same order.
                while slots.next_if(|&(&arc, _)| arc < j).is_some() {}
                let Some((_, slot)) = slots.next_if(|&(&arc, _)| arc == j) else {
                    return;
                };
                if count >= self.least {
                    let weight = self.weights.map(|own| f64::from(own[slot]) * self.unit);
                    let value = count * weight.unwrap_or(1.0);
                    let stored = &mut values[slot - base];
                    *stored = value as f32;
                    // A weight beyond f32 is no weight.
                    row += if stored.is_finite() {
                        value
                    } else {
                        f64::INFINITY
                    };
                    nnz += usize::from(*stored != 0.0);
                } else {
                    sum.below_delta += usize::from(count >= 0.5);
                }
            };
            match self.counts {
                Some(counts) => counts.for_weights(i, self.motif, self.occurrence, set),
                None => {
                    let mut set = set;
                    self.pattern.row(i).iter().for_each(|&j| set(j, 1.0));
                }
            }
            sum.add_row(i as u32, nnz, row);
        }
        sum
    }
}

/// Edge weights up to this power of 2, and down to its inverse, are not scaled.
const USUAL: f64 = 40.0;

/// The factor of edge weights in W_t: 1, or the power of two that scales the largest of them into (½, 1] if it is beyond
/// 2^±`USUAL`.
pub fn unit_of_weights(weights: &[f32]) -> f64 {
    let largest = parallel::stretches(weights.len(), 1 << 16, |range| {
        weights[range].iter().copied().fold(0.0, f32::max)
    });
    let largest = f64::from(largest.into_iter().fold(0.0, f32::max));
    let exponent = largest.log2().ceil();
    let usual = !exponent.is_finite() || exponent.abs() <= USUAL;
    if usual { 1.0 } else { (-exponent).exp2() }
}

impl MotifRows {
    /// No rows.
    pub(super) fn none(scale: f64) -> MotifRows {
        MotifRows {
            values: Vec::new(),
            nonzeros: 0,
            below_delta: 0,
            total: 0.0,
            scale,
            finite: true,
            rows: Vec::new(),
        }
    }

    /// Adds a row with this many nonzeros and that sum.
    pub(super) fn add_row(&mut self, i: u32, nonzeros: usize, total: f64) {
        if nonzeros > 0 {
            self.rows.push(i);
        }
        self.nonzeros += nonzeros;
        self.total += total;
        self.finite &= total.is_finite();
    }

    /// The same with the rows that follow.
    pub(super) fn with(mut self, mut next: MotifRows) -> MotifRows {
        self.rows.append(&mut next.rows);
        self.values.append(&mut next.values);
        self.nonzeros += next.nonzeros;
        self.below_delta += next.below_delta;
        self.total += next.total;
        self.finite &= next.finite;
        self
    }

    /// W_t of all rows, on the pattern, or compact if few positions have a weight.
    fn graph(self, motif: Motif, pattern: &Arc<Pattern>) -> Result<MotifGraph> {
        if shares_pattern(self.nonzeros, self.values.len()) {
            self.shared_graph(motif, pattern.clone())
        } else {
            self.compact_graph(motif, pattern)
        }
    }

    /// W_t on the pattern.
    pub(super) fn shared_graph(
        mut self,
        motif: Motif,
        pattern: Arc<Pattern>,
    ) -> Result<MotifGraph> {
        let values = std::mem::take(&mut self.values);
        self.finished(motif, None, Csr::new(pattern, values.into()))
    }

    /// W_t without zeros, and without nodes that have no weight in row or column.
    pub(super) fn compact_graph(self, motif: Motif, pattern: &Pattern) -> Result<MotifGraph> {
        let n = pattern.rows();
        let row = |i: u32| {
            let values = &self.values[pattern.range(i as usize)];
            let slots = pattern.row(i as usize).iter().zip(values);
            slots.filter(|&(_, &value)| value != 0.0)
        };
        let mut touched = vec![false; n];
        for &i in &self.rows {
            touched[i as usize] = true;
            row(i).for_each(|(&j, _)| touched[j as usize] = true);
        }
        let nodes: Vec<u32> = (0..n as u32).filter(|&i| touched[i as usize]).collect();
        let mut number = vec![0u32; n];
        for (&node, k) in nodes.iter().zip(0..) {
            number[node as usize] = k;
        }
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut rows = self.rows.iter().peekable();
        for &i in &nodes {
            if rows.next_if_eq(&&i).is_some() {
                for (&j, &value) in row(i) {
                    columns.push(number[j as usize]);
                    values.push(value);
                }
            }
            offsets.push(columns.len());
        }
        let compact = Arc::new(Pattern::new(offsets, columns, nodes.len()));
        let matrix = Csr::new(compact, values.into());
        self.finished(motif, Some(nodes).filter(|nodes| nodes.len() < n), matrix)
    }

    fn finished(self, motif: Motif, nodes: Option<Vec<u32>>, matrix: Csr) -> Result<MotifGraph> {
        if !self.finite {
            return Err(overflow(motif));
        }
        Ok(MotifGraph {
            motif,
            nodes,
            matrix,
            scale: self.scale,
            total: self.total,
            nnz: self.nonzeros,
            below_delta: self.below_delta,
        })
    }
}

/// The refusal of weights beyond f32.
pub fn overflow(motif: Motif) -> Error {
    Error::Numeric {
        stage: format!("weights of motif {motif}"),
        message: "a weight exceeds 32-bit floating point; scale the edge weights down".into(),
    }
}
