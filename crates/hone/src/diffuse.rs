//! Attribute diffusion over a motif graph (sec. 2.6): each step smooths node attributes X by those
//! of related nodes.
//!
//! * linear, eq. 20: X^(k) = S^(k) X^(k-1), S^(k) being the k-step motif matrix; for P the paper's
//!   own equation 19 takes the one-step matrix every time, X^(k) = P X^(k-1) = P^k X;
//! * Laplacian, eq. 21: X^(k) = (1 − θ) L̂ X^(k-1) + θ X, with L̂ the normalised motif Laplacian (the
//!   D^½ printed there is read as D^-½).
//!
//! Cost: k products with the sparse W a step; only X, X^(k-1) and X^(k) are held.

use serde::{Deserialize, Serialize};

use crate::dense::Block;
use crate::error::{Error, Result};
use crate::matrix::{Accumulate, MotifMatrix, Order, Psi};
use crate::operator::Operator;

/// How attributes are diffused.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Diffusion {
    /// Steps K; 0 leaves the attributes as they are.
    pub steps: usize,
    /// Whether the attributes themselves, X^(0), stay beside the diffused ones; not in the paper.
    pub original: bool,
    /// The process.
    pub process: Process,
}

impl Default for Diffusion {
    fn default() -> Self {
        Diffusion { steps: 2, original: false, process: Process::Linear }
    }
}

/// A diffusion process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Process {
    /// X^(k) = S^(k) X^(k-1).
    Linear,
    /// X^(k) = (1 − θ) L̂ X^(k-1) + θ X, with this θ.
    Laplacian(f64),
}

impl Diffusion {
    /// Refuses values out of range; `field` is the name of this group of settings.
    pub fn check(&self, field: &str) -> Result<()> {
        if let Process::Laplacian(theta) = self.process
            && !(0.0..=1.0).contains(&theta)
        {
            let message = format!("theta = {theta} is not between 0 and 1");
            return Err(Error::config(format!("{field}.process.laplacian"), message));
        }
        if self.steps > 16 {
            return Err(Error::config(format!("{field}.steps"), format!("{} is more than 16", self.steps)));
        }
        Ok(())
    }

    /// Calls `each(k, X^(k))` for k = 1..=K, on the motif graph `w` whose rows are those of `x`.
    pub fn run(
        &self,
        x: &Block,
        w: &Operator,
        matrix: &MotifMatrix,
        mut each: impl FnMut(usize, &Block) -> Result<()>,
    ) -> Result<()> {
        let mut current = x.clone();
        for k in 1..=self.steps {
            current = self.step(x, &current, w, matrix, k)?;
            each(k, &current)?;
        }
        Ok(())
    }

    fn step(&self, x: &Block, previous: &Block, w: &Operator, matrix: &MotifMatrix, k: usize) -> Result<Block> {
        let Process::Laplacian(theta) = self.process else {
            let one_step = matrix.psi == Psi::P && matrix.order != Order::PsiOfPower;
            return Ok(matrix.operator(w, if one_step { 1 } else { k })?.apply(previous));
        };
        let laplacian = MotifMatrix { psi: Psi::LNorm, accumulate: Accumulate::None, ..*matrix };
        let mut next = laplacian.operator(w, 1)?.apply(previous);
        next.update_rows(|i, row| {
            let mix = |value: f32, x: f32| ((1.0 - theta) * f64::from(value) + theta * f64::from(x)) as f32;
            row.iter_mut().zip(x.row(i)).for_each(|(value, &x)| *value = mix(*value, x));
        });
        Ok(next)
    }
}
