//! GraRep: factors of the positive log-probability matrices of 1 … K steps.
//!
//! With P = D⁻¹ A, step k has X = max(0, log(Pᵏᵢⱼ / Σₜ Pᵏₜⱼ) + log N); its rank-D/K factor U √Σ
//! gives D/K columns (the first steps get one more where K does not divide D). Exact: the N × N
//! matrices are written out, so memory is guarded; products Pᵏ = P Pᵏ⁻¹ cost M N.
//!
//! Reference: Cao, Lu, Xu. GraRep: Learning graph representations with global structural
//! information, 2015.

use hone::dense::Block;
use hone::graph::Graph;
use hone::{Progress, Result};
use serde::{Deserialize, Serialize};

use super::range;
use super::square::{self, Square};

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
        GraRep {
            dim: 128,
            steps: 2,
            memory: 8 << 30,
        }
    }
}

impl GraRep {
    /// The vectors of all nodes.
    pub fn embed(&self, graph: &Graph, seed: u64, progress: &dyn Progress) -> Result<Block> {
        self.check()?;
        square::check_room("GraRep", 3, graph.nodes(), self.memory)?;
        let n = graph.nodes();
        let mut out = Block::zeros(n, self.dim);
        let mut power = Square::identity(n);
        progress.stage("GraRep steps", self.steps as u64);
        let mut first = 0;
        for step in 0..self.steps {
            progress.check()?;
            power = power.walked(graph);
            let width = self.dim / self.steps + usize::from(step < self.dim % self.steps);
            let logs = positive_logs(&power);
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
        range::check(
            "steps",
            self.steps,
            &(1..=self.dim.min(*range::STEPS.end())),
        )
    }
}

/// max(0, log(N · probability / column sum)) of every entry.
fn positive_logs(power: &Square) -> Square {
    let (n, sums) = (power.size(), power.column_sums());
    power.map_rows(|i, out| {
        for (o, (&v, &sum)) in out.iter_mut().zip(power.row(i).iter().zip(&sums)) {
            *o = if v > 0.0 {
                (v / sum * n as f64).ln().max(0.0)
            } else {
                0.0
            };
        }
    })
}
