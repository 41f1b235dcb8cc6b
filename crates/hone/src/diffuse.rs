//! Attribute diffusion over a motif graph (sec. 2.6): each step smooths node attributes X by those
//! of related nodes.
//!
//! * linear, eq. 20: X^(k) = S^(k) X^(k-1), S^(k) being the k-step motif matrix; for P the paper's
//!   own equation 19 takes the one-step matrix every time, X^(k) = P X^(k-1) = P^k X;
//! * Laplacian, eq. 21: X^(k) = (1 − θ) L̂ X^(k-1) + θ X, with L̂ the normalised motif Laplacian (the
//!   D^½ printed there is read as D^-½). Nodes without the motif keep θ X: their row of L̂ is zero.
//!
//! Products with W multiply X by counts at every step. Before that leaves the range of f32, X^(k) is multiplied by a
//! power of two, which is passed on with it. X is scaled into range first, and every X^(k) is checked to be finite.
//!
//! Cost: k products with the sparse W a step; only X, X^(k-1) and X^(k) are held.

use serde::{Deserialize, Serialize};

use crate::dense::{Block, Norm};
use crate::error::{Error, Result};
use crate::matrix::{Accumulate, MotifMatrix, Order, Psi};
use crate::operator::Operator;

hone_base::settings! {
    /// How attributes are diffused.
    #[derive(Copy)]
    pub struct Diffusion {
        /// Number of steps; 0 for none.
        #[range(0..=16)]
        pub steps: usize = 0,
        /// Keep the original features next to the diffused ones; false in the paper.
        pub original: bool = false,
        /// linear, or { laplacian = θ } with θ from 0 to 1.
        pub process: Process = Process::Linear,
    }
}

/// A diffusion process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
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
        self.check_ranges(&format!("{field}."))
    }

    /// What a node without the motif keeps of its own attributes at every step.
    pub fn kept(&self) -> f64 {
        if let Process::Laplacian(theta) = self.process {
            theta
        } else {
            0.0
        }
    }

    /// Calls `each(k, c X^(k), c)` for k = 1..=K, on a motif graph whose rows are those of `x`: `w` holds its weights
    /// times `given`. The constant c is 1 as long as values stay in range, and always for the Laplacian process.
    pub fn run(
        &self,
        x: &Block,
        (w, given): (&Operator, f64),
        matrix: &MotifMatrix,
        mut each: impl FnMut(usize, &Block, f64) -> Result<()>,
    ) -> Result<()> {
        let (mut current, mut scale) = (x.clone(), 1.0);
        if self.process == Process::Linear {
            scale *= back_in_range(&mut current);
        }
        for k in 1..=self.steps {
            let (factor, next) = self.step(x, &current, (w, given), matrix, k)?;
            current = next;
            if !current.as_slice().iter().all(|x| x.is_finite()) {
                return Err(out_of_range(k));
            }
            if self.process == Process::Linear {
                scale *= factor * back_in_range(&mut current);
            }
            each(k, &current, scale)?;
        }
        Ok(())
    }

    /// X^(k) times a power of two, and that.
    fn step(
        &self,
        x: &Block,
        previous: &Block,
        (w, given): (&Operator, f64),
        matrix: &MotifMatrix,
        k: usize,
    ) -> Result<(f64, Block)> {
        let Process::Laplacian(theta) = self.process else {
            let one_step = matrix.psi == Psi::P && matrix.order != Order::PsiOfPower;
            let (factor, s) = matrix.scaled_operator(w, given, if one_step { 1 } else { k })?;
            return Ok((factor, s.apply(previous)));
        };
        let laplacian = MotifMatrix {
            psi: Psi::LNorm,
            accumulate: Accumulate::None,
            ..*matrix
        };
        let mut next = laplacian.operator(w, 1)?.apply(previous);
        next.update_rows(|i, row| {
            let mix = |value: f32, x: f32| {
                ((1.0 - theta) * f64::from(value) + theta * f64::from(x)) as f32
            };
            row.iter_mut()
                .zip(x.row(i))
                .for_each(|(value, &x)| *value = mix(*value, x));
        });
        Ok((1.0, next))
    }
}

fn out_of_range(step: usize) -> Error {
    let message =
        "diffused attributes overflow; scale the attributes or edge weights down, or use psi = p";
    Error::Numeric {
        stage: format!("step {step}"),
        message: message.into(),
    }
}

/// The sizes, as exponents of 2, between which values are left as they are: a product with S, whose norm may be 2⁶⁰,
/// stays in range.
const RANGE: f64 = 30.0;

/// Scales values near the limits of the range to about 1 by a power of two, which is returned.
fn back_in_range(x: &mut Block) -> f64 {
    let exponent = x
        .column_norms(Norm::Max)
        .into_iter()
        .fold(0.0, f64::max)
        .log2()
        .ceil();
    if !exponent.is_finite() || exponent.abs() <= RANGE {
        return 1.0;
    }
    let factor = (-exponent).exp2();
    x.scale_columns(&vec![factor; x.cols()]);
    factor
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::builtin;
    use crate::sparse::Csr;

    /// X^(1), X^(2) of attributes of one size over the edges of the karate club, as they are.
    fn diffused(size: f32, process: Process, psi: Psi) -> Result<Vec<Vec<f64>>> {
        let pattern = builtin("karate")?.pattern().clone();
        let w = Operator::symmetric(
            "W",
            Csr::new(pattern.clone(), vec![1.0; pattern.nnz()].into()),
        );
        let signs = (0..34)
            .map(|i| if i % 3 == 0 { -size } else { size })
            .collect();
        let mut found = Vec::new();
        let diffusion = Diffusion {
            steps: 2,
            original: false,
            process,
        };
        let matrix = MotifMatrix {
            psi,
            ..MotifMatrix::default()
        };
        diffusion.run(
            &Block::from_vec(34, 1, signs),
            (&w, 1.0),
            &matrix,
            |_, x, scale| {
                found.push(x.as_slice().iter().map(|&x| f64::from(x) / scale).collect());
                Ok(())
            },
        )?;
        Ok(found)
    }

    /// Attributes near the end of the range are multiplied with a power of two first, and nothing changes but that.
    #[test]
    fn attributes_of_any_size_are_diffused() {
        for psi in [Psi::W, Psi::P, Psi::L, Psi::LNorm] {
            let plain = diffused(1.0, Process::Linear, psi).expect("in range");
            for exponent in [-120, -40, 40, 127] {
                let found = diffused(2f32.powi(exponent), Process::Linear, psi).expect("in range");
                for (found, plain) in found.iter().flatten().zip(plain.iter().flatten()) {
                    assert!(
                        (found / 2f64.powi(exponent) - plain).abs() <= 1e-5 * plain.abs().max(1.0),
                        "{psi:?} {exponent}"
                    );
                }
            }
        }
    }

    /// Whatever the process and the norm that follows: what is not a number is an error that names the step.
    #[test]
    fn attributes_that_leave_the_range_are_an_error() {
        for (size, process) in [
            (f32::INFINITY, Process::Linear),
            (f32::NAN, Process::Linear),
            (f32::MAX, Process::Laplacian(0.0)),
            (f32::NAN, Process::Laplacian(1.0)),
        ] {
            let error = diffused(size, process, Psi::W)
                .expect_err("out of range")
                .to_string();
            assert!(
                error.contains("step 1") && error.contains("overflow"),
                "{size} {process:?}: {error}"
            );
        }
    }
}
