//! GraRep: factors of the positive log-probability matrices of 1 … K steps.
//!
//! With P = D⁻¹ A, step k has X = max(0, log(Pᵏᵢⱼ / Σₜ Pᵏₜⱼ) + log N); its rank-D/K factor U √Σ
//! gives D/K columns (the first steps get one more where K does not divide D). Exact: the N × N
//! matrices are written out, so memory is guarded; products Pᵏ = P Pᵏ⁻¹ cost M N.
//!
//! Reference: Cao, Lu, Xu. GraRep: Learning graph representations with global structural
//! information, 2015.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use hone::dense::Block;
use hone::graph::Graph;
use hone::{Error, Progress, Result};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::eigen::{self, Symmetric};
use super::range;

/// The options; the paper searches K in 1 … 4.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraRep {
    /// Length of the vectors, D.
    pub dim: usize,
    /// Number of steps, K.
    pub steps: usize,
    /// Bytes the dense matrices may take.
    pub memory: u64,
}

impl Default for GraRep {
    fn default() -> Self {
        GraRep { dim: 128, steps: 2, memory: 8 << 30 }
    }
}

impl GraRep {
    /// The vectors of all nodes.
    pub fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        self.check()?;
        self.check_room(graph)?;
        let n = graph.nodes();
        let mut out = Block::zeros(n, self.dim);
        let mut power = Dense { n, values: vec![0.0; n * n] };
        (0..n).for_each(|i| power.values[i * n + i] = 1.0);
        progress.stage("GraRep steps", self.steps as u64);
        let mut first = 0;
        for step in 0..self.steps {
            progress.check()?;
            power = power.walked(graph);
            let width = self.dim / self.steps + usize::from(step < self.dim % self.steps);
            let logs = power.positive_logs();
            let (vectors, roots) = logs.factor(width, seed)?;
            for i in 0..n {
                for (j, root) in roots.iter().enumerate() {
                    out.row_mut(i)[first + j] = (vectors[(i, j)] * root) as f32;
                }
            }
            first += width;
            progress.advance(1);
        }
        Ok(out)
    }

    /// Refuses options out of range.
    pub(crate) fn check(&self) -> Result<()> {
        range::check("dim", self.dim, &range::DIM)?;
        range::check("steps", self.steps, &(1..=self.dim.min(*range::STEPS.end())))
    }

    fn check_room(&self, graph: &Graph) -> Result<()> {
        let need = 3 * 8 * (graph.nodes() as u64).saturating_mul(graph.nodes() as u64);
        if need > self.memory {
            let remedy = "leave out grarep, or raise its memory option".to_string();
            return Err(Error::Memory { stage: "GraRep".into(), need, least: false, limit: self.memory, remedy });
        }
        Ok(())
    }
}

/// A square matrix, row after row.
struct Dense {
    n: usize,
    values: Vec<f64>,
}

impl Dense {
    fn map_rows(&self, fill: impl Fn(usize, &mut [f64]) + Sync) -> Dense {
        let mut values = vec![0.0; self.values.len()];
        values.par_chunks_mut(self.n.max(1)).enumerate().for_each(|(i, row)| fill(i, row));
        Dense { n: self.n, values }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.n..(i + 1) * self.n]
    }

    /// P times this matrix.
    fn walked(&self, graph: &Graph) -> Dense {
        self.map_rows(|i, out| {
            let range = graph.pattern().range(i);
            let weight = |k: usize| graph.weights().map_or(1.0, |w| f64::from(w[k]));
            let degree: f64 = range.clone().map(weight).sum();
            for k in range.filter(|_| degree > 0.0) {
                let share = weight(k) / degree;
                let row = self.row(graph.pattern().columns()[k] as usize);
                out.iter_mut().zip(row).for_each(|(o, r)| *o += share * r);
            }
        })
    }

    fn positive_logs(&self) -> Dense {
        let mut sums = vec![0.0; self.n];
        for i in 0..self.n {
            sums.iter_mut().zip(self.row(i)).for_each(|(s, v)| *s += v);
        }
        self.map_rows(|i, out| {
            for (o, (&v, &sum)) in out.iter_mut().zip(self.row(i).iter().zip(&sums)) {
                *o = if v > 0.0 { (v / sum * self.n as f64).ln().max(0.0) } else { 0.0 };
            }
        })
    }

    /// Left singular vectors, and the square roots of the singular values.
    fn factor(&self, rank: usize, seed: u64) -> Result<(Mat<f64>, Vec<f64>)> {
        let matrix = MatRef::from_row_major_slice(&self.values, self.n, self.n);
        let product = |x: MatRef<'_, f64>| times(matrix, times(matrix.transpose(), x).as_ref());
        let found = eigen::largest(&Symmetric { size: self.n, lowest: 0.0, product: &product }, rank, seed)?;
        let roots = found.values.iter().map(|v| v.max(0.0).sqrt().sqrt()).collect();
        Ok((found.vectors, roots))
    }
}

/// A product in parallel over fixed ranges of rows.
fn times(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    const ROWS: usize = 256;
    let starts: Vec<usize> = (0..a.nrows()).step_by(ROWS).collect();
    let part = |&start: &usize| {
        let rows = ROWS.min(a.nrows() - start);
        let mut out = Mat::zeros(rows, b.ncols());
        matmul(out.as_mut(), Accum::Replace, a.subrows(start, rows), b, 1.0, Par::Seq);
        out
    };
    let parts: Vec<Mat<f64>> = starts.par_iter().map(part).collect();
    Mat::from_fn(a.nrows(), b.ncols(), |i, j| parts[i / ROWS][(i % ROWS, j)])
}
