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

use super::column::cut;
use super::counts::Counts;
use super::orbit::Orbit;
use super::ranked::balanced;
use super::set::Motif;
use super::triad::Occurrence;
use crate::Graph;
use crate::error::{Error, Result};
use crate::parallel;
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
}

/// Edge weights up to this power of 2, and down to its inverse, are not scaled.
const USUAL: f64 = 40.0;

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
        made(
            graph,
            (motif, weighting.use_weights, least),
            &Counted(self, motif, weighting.occurrence),
        )
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
        let counted = Counted(self, motif, weighting.occurrence);
        let (values, sum, scale) = filled(graph, rows, (weighting.use_weights, least), &counted);
        let finite = sum.largest.is_finite();
        Ok(MotifRows {
            values,
            nonzeros: sum.nnz,
            below_delta: sum.below,
            total: sum.total / scale,
            scale,
            finite,
        })
    }

    /// The smallest count that is a weight.
    fn least(&self, graph: &Graph, motif: Motif, weighting: Weighting) -> Result<f64> {
        assert_eq!(
            graph.nodes(),
            self.pattern().rows(),
            "counts of another graph"
        );
        self.check_counted(motif)?;
        // Estimates are compared as the whole numbers they stand for.
        Ok(weighting.delta as f64 - if self.sampled().is_some() { 0.5 } else { 0.0 })
    }
}

impl MotifGraph {
    /// The graph of nonzero weights, each with its position in the pattern of the graph, ascending; all else is that of
    /// `rows`. For motifs that few edges are in.
    pub fn of_weights(
        (motif, pattern): (Motif, &Arc<Pattern>),
        weights: impl Iterator<Item = (usize, f32)>,
        rows: &MotifRows,
    ) -> Result<MotifGraph> {
        let (mut values, offsets) = (vec![0f32; pattern.nnz()], pattern.offsets());
        let mut sum = Sum {
            below: rows.below_delta,
            total: rows.total * rows.scale,
            ..Sum::default()
        };
        let mut i = 0;
        for (position, value) in weights {
            values[position] = value;
            while offsets[i + 1] <= position {
                i += 1;
            }
            if sum.rows.last() != Some(&(i as u32)) {
                sum.rows.push(i as u32);
            }
            sum.nnz += 1;
        }
        finished(
            motif,
            pattern,
            values,
            &sum,
            Made {
                shared: false,
                unit: rows.scale,
            },
        )
    }
}

/// Where the weights of a motif come from.
trait Rows: Sync {
    /// Calls `f` with the neighbours of a node and the count of the edge to each.
    fn each(&self, i: usize, f: impl FnMut(u32, f64));
}

/// Counts of any motif.
struct Counted<'a>(&'a Counts, Motif, Occurrence);

impl Rows for Counted<'_> {
    fn each(&self, i: usize, f: impl FnMut(u32, f64)) {
        self.0.for_weights(i, self.1, self.2, f);
    }
}

/// The motif `edge`, which occurs once on every edge.
struct Edges<'a>(&'a Pattern);

impl Rows for Edges<'_> {
    fn each(&self, i: usize, mut f: impl FnMut(u32, f64)) {
        self.0.row(i).iter().for_each(|&j| f(j, 1.0));
    }
}

impl MotifGraph {
    /// The weighted graph of the motif `edge`, which needs no counts.
    pub fn of_edges(
        graph: &Graph,
        Weighting {
            delta, use_weights, ..
        }: Weighting,
    ) -> Result<MotifGraph> {
        let (motif, pattern) = (Motif::Orbit(Orbit::Edge), graph.pattern());
        if use_weights && graph.weights().is_some() || delta > 1 || pattern.nnz() == 0 {
            return made(graph, (motif, use_weights, delta as f64), &Edges(pattern));
        }
        let nnz = pattern.nnz();
        let ones: Arc<[f32]> = std::iter::repeat_n(1.0, nnz).collect();
        let matrix = Csr::new(Arc::clone(pattern), ones);
        Ok(MotifGraph {
            motif,
            nodes: None,
            matrix,
            scale: 1.0,
            total: nnz as f64,
            nnz,
            below_delta: 0,
        })
    }
}

/// The graph of counts that are not less than `least`.
fn made(
    graph: &Graph,
    (motif, use_weights, least): (Motif, bool, f64),
    counted: &impl Rows,
) -> Result<MotifGraph> {
    let pattern = graph.pattern();
    let (values, sum, unit) = filled(graph, 0..pattern.rows(), (use_weights, least), counted);
    let shared = shares_pattern(sum.nnz, values.len());
    finished(motif, pattern, values, &sum, Made { shared, unit })
}

/// The weights of some rows at all positions of the pattern, their statistics, and their factor.
fn filled(
    graph: &Graph,
    rows: Range<usize>,
    (use_weights, least): (bool, f64),
    counted: &impl Rows,
) -> (Vec<f32>, Sum, f64) {
    let pattern = graph.pattern();
    let weights = if use_weights {
        graph.weights().map(|w| Own::new(w))
    } else {
        None
    };
    let unit = weights.map_or(1.0, |own| own.unit);
    let offsets = &pattern.offsets()[rows.start..=rows.end];
    let mut values = vec![0f32; offsets[rows.len()] - offsets[0]];
    let bounds = balanced(rows.len(), 1 << 14, |i| {
        (offsets[i + 1] - offsets[i] + 4) as u64
    });
    let slots: Vec<usize> = bounds.iter().map(|&i| offsets[i] - offsets[0]).collect();
    let parts: Vec<_> = bounds.windows(2).zip(cut(&mut values, &slots)).collect();
    let sums = parallel::map_each(parts, |_, (part, values)| {
        fill(
            pattern,
            (weights, least),
            rows.start + part[0]..rows.start + part[1],
            values,
            counted,
        )
    });
    let sum = sums.into_iter().fold(Sum::default(), Sum::merge);
    (values, sum, unit)
}

/// Writes the weights of some rows.
fn fill(
    pattern: &Pattern,
    (weights, least): (Option<Own>, f64),
    rows: Range<usize>,
    values: &mut [f32],
    counted: &impl Rows,
) -> Sum {
    let mut sum = Sum::default();
    let base = pattern.range(rows.start).start;
    for i in rows {
        let (mut row, mut nnz) = (0.0, 0);
        let mut slots = pattern.row(i).iter().zip(pattern.range(i)).peekable();
        counted.each(i, |j, count| {
            // The arcs of a directed graph are some of the slots counted, in the same order.
            while slots.next_if(|&(&arc, _)| arc < j).is_some() {}
            let Some((_, slot)) = slots.next_if(|&(&arc, _)| arc == j) else {
                return;
            };
            if count >= least {
                let value =
                    count * weights.map_or(1.0, |own| f64::from(own.weights[slot]) * own.unit);
                values[slot - base] = value as f32;
                // A weight beyond f32 is no weight.
                row += if values[slot - base].is_finite() {
                    value
                } else {
                    f64::INFINITY
                };
                nnz += usize::from(values[slot - base] != 0.0);
            } else {
                sum.below += usize::from(count >= 0.5);
            }
        });
        sum.add_row(i as u32, nnz, row);
    }
    sum
}

/// The graph's own edge weights.
#[derive(Debug, Clone, Copy)]
struct Own<'a> {
    weights: &'a [f32],
    /// 1, or the power of two that scales the largest of them into (½, 1] if it is beyond 2^±[`USUAL`].
    unit: f64,
}

impl<'a> Own<'a> {
    fn new(weights: &'a [f32]) -> Self {
        let largest = |range: Range<usize>| weights[range].iter().copied().fold(0.0, f32::max);
        let largest = parallel::stretches(weights.len(), 1 << 16, largest)
            .into_iter()
            .fold(0.0, f32::max);
        let largest = f64::from(largest);
        let exponent = largest.log2().ceil();
        let usual = !exponent.is_finite() || exponent.abs() <= USUAL;
        Own {
            weights,
            unit: if usual { 1.0 } else { (-exponent).exp2() },
        }
    }
}

/// How values and pattern of a W_t were computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Made {
    /// Whether the pattern is kept as it is.
    pub(super) shared: bool,
    /// The factor of the values.
    pub(super) unit: f64,
}

/// W_t of values at the positions of a pattern.
pub(super) fn finished(
    motif: Motif,
    pattern: &Arc<Pattern>,
    values: Vec<f32>,
    sum: &Sum,
    Made { shared, unit }: Made,
) -> Result<MotifGraph> {
    if !sum.largest.is_finite() {
        return Err(overflow(motif));
    }
    let (nodes, matrix) = if shared {
        (None, Csr::new(pattern.clone(), values.into()))
    } else {
        compact(pattern, &values, &sum.rows)
    };
    let (total, nnz, below_delta) = (sum.total / unit, sum.nnz, sum.below);
    Ok(MotifGraph {
        motif,
        nodes,
        matrix,
        scale: unit,
        total,
        nnz,
        below_delta,
    })
}

/// Statistics of a range of rows.
#[derive(Debug, Default)]
pub(super) struct Sum {
    /// Rows with a nonzero.
    rows: Vec<u32>,
    nnz: usize,
    /// Positions with the motif below delta.
    pub(super) below: usize,
    total: f64,
    largest: f64,
}

impl Sum {
    /// Adds a row with this many nonzeros and that sum.
    pub(super) fn add_row(&mut self, i: u32, nonzeros: usize, total: f64) {
        if nonzeros > 0 {
            self.rows.push(i);
        }
        self.nnz += nonzeros;
        self.total += total;
        self.largest = self.largest.max(total);
    }

    /// Whether every row has a nonzero.
    pub(super) fn touches_all(&self, rows: usize) -> bool {
        self.rows.len() == rows
    }

    pub(super) fn merge(mut self, mut other: Sum) -> Sum {
        self.rows.append(&mut other.rows);
        Sum {
            rows: self.rows,
            nnz: self.nnz + other.nnz,
            below: self.below + other.below,
            total: self.total + other.total,
            largest: self.largest.max(other.largest),
        }
    }
}

/// The factor of edge weights in W_t: 1, or a power of two if they are extreme.
pub fn unit_of_weights(weights: &[f32]) -> f64 {
    Own::new(weights).unit
}

/// The refusal of weights beyond f32.
pub fn overflow(motif: Motif) -> Error {
    Error::Numeric {
        stage: format!("weights of motif {motif}"),
        message: "a weight exceeds 32-bit floating point; scale the edge weights down".into(),
    }
}

/// Leaves out zeros, and nodes without a nonzero in row or column; `rows` are those with one.
fn compact(pattern: &Pattern, values: &[f32], rows: &[u32]) -> (Option<Vec<u32>>, Csr) {
    let n = pattern.rows();
    let row = |i: u32| {
        let slots = pattern
            .row(i as usize)
            .iter()
            .zip(&values[pattern.range(i as usize)]);
        slots.filter(|&(_, &value)| value != 0.0)
    };
    let mut touched = vec![false; n];
    for &i in rows {
        touched[i as usize] = true;
        row(i).for_each(|(&j, _)| touched[j as usize] = true);
    }
    let nodes: Vec<u32> = (0..n as u32).filter(|&i| touched[i as usize]).collect();
    let mut number = vec![0u32; n];
    nodes
        .iter()
        .zip(0..)
        .for_each(|(&node, k)| number[node as usize] = k);
    let (mut offsets, mut columns, mut kept) = (vec![0], Vec::new(), Vec::new());
    let mut rows = rows.iter().peekable();
    for &i in &nodes {
        if rows.next_if_eq(&&i).is_some() {
            for (&j, &value) in row(i) {
                columns.push(number[j as usize]);
                kept.push(value);
            }
        }
        offsets.push(columns.len());
    }
    let matrix = Csr::new(
        Arc::new(Pattern::new(offsets, columns, nodes.len())),
        kept.into(),
    );
    (if nodes.len() == n { None } else { Some(nodes) }, matrix)
}
