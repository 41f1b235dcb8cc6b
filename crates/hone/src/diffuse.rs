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
use crate::message::{message, set};
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

    /// Diffuses `x` over a motif graph with the same rows, whose weights times `given` are in `w`: c X^(k) and c for
    /// k = 1..=K. The constant c is 1 as long as values stay in range, and always for the Laplacian process.
    pub fn over<'a>(
        &self,
        x: &'a Block,
        (w, given): (&'a Operator, f64),
        matrix: &MotifMatrix,
    ) -> impl Iterator<Item = Result<(Block, f64)>> + use<'a> {
        let (process, matrix) = (self.process, *matrix);
        let (mut current, mut scale) = (x.clone(), 1.0);
        if process == Process::Linear {
            scale *= back_in_range(&mut current);
        }
        (1..=self.steps).map(move |k| {
            let (factor, next) = match process {
                Process::Linear => {
                    let one_step = matrix.psi == Psi::P && matrix.order != Order::PsiOfPower;
                    let steps = if one_step { 1 } else { k };
                    let (factor, s) = matrix.scaled_operator(w, given, steps)?;
                    (factor, s.apply(&current))
                }
                Process::Laplacian(theta) => (1.0, smoothed(x, &current, w, &matrix, theta)?),
            };
            current = next;
            if !current.as_slice().iter().all(|x| x.is_finite()) {
                return Err(out_of_range(k));
            }
            if process == Process::Linear {
                scale *= factor * back_in_range(&mut current);
            }
            Ok((current.clone(), scale))
        })
    }
}

/// (1 − θ) L̂ X^(k-1) + θ X.
fn smoothed(
    x: &Block,
    previous: &Block,
    w: &Operator,
    matrix: &MotifMatrix,
    theta: f64,
) -> Result<Block> {
    let laplacian = MotifMatrix {
        psi: Psi::LNorm,
        accumulate: Accumulate::None,
        ..*matrix
    };
    let mut next = laplacian.operator(w, 1)?.apply(previous);
    let mix = |value: f32, x: f32| ((1.0 - theta) * f64::from(value) + theta * f64::from(x)) as f32;
    next.update_rows(|i, row| {
        let values = row.iter_mut().zip(x.row(i));
        values.for_each(|(value, &x)| *value = mix(*value, x));
    });
    Ok(next)
}

fn out_of_range(step: usize) -> Error {
    let remedy = "scale the attributes or edge weights down, or use ";
    Error::Numeric {
        stage: format!("step {step}"),
        message: message!["diffused attributes overflow; ", remedy, set("psi", "p")],
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
