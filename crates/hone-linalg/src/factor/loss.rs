//! Bregman divergences with their links: what S ≈ Φ⟨U V⟩ means (sec. 2.4; Collins et al. 2002).
//!
//! An entry s is compared with the mean m = Φ(θ), where θ is the product of the factors:
//!
//! | loss            | divergence D(s ‖ m)                          | Φ(θ)          | entries | θ     |
//! |-----------------|----------------------------------------------|---------------|---------|-------|
//! | `gaussian`      | (s − m)² / 2                                 | θ             | any     | any   |
//! | `poisson`       | s ln(s/m) − s + m (generalised KL)           | exp θ         | ≥ 0     | any   |
//! | `gamma-log`     | s/m − ln(s/m) − 1 (Itakura–Saito)            | exp θ         | > 0     | any   |
//! | `gamma-inverse` | the same                                     | 1/θ           | > 0     | > 0   |
//! | `bernoulli`     | s ln(s/m) + (1 − s) ln((1 − s)/(1 − m))      | 1/(1 + exp −θ)| [0, 1]  | any   |
//!
//! All are convex in θ, zero where s = m, and infinite where θ is out of range.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// An error model and its link Φ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Divergence {
    /// Squared loss, identity link.
    #[default]
    Gaussian,
    /// Generalised Kullback–Leibler divergence, exponential link: counts.
    Poisson,
    /// Itakura–Saito divergence, exponential link: positive entries whose error grows with them.
    GammaLog,
    /// Itakura–Saito divergence, inverse link.
    GammaInverse,
    /// Logistic loss: probabilities, or presence and absence.
    Bernoulli,
}

/// The least and the largest entry that are used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extremes {
    /// The least.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

/// Entries that rounding has pushed over 1 by no more than this count as 1.
const OVER: f64 = 1e-5;

/// x ln x, zero at zero.
fn entropy(x: f64) -> f64 {
    if x > 0.0 { x * x.ln() } else { 0.0 }
}

/// ln(1 + exp θ) without overflow.
fn softplus(theta: f64) -> f64 {
    theta.max(0.0) + (-theta.abs()).exp().ln_1p()
}

impl Divergence {
    /// Φ(θ).
    pub fn mean(self, theta: f64) -> f64 {
        match self {
            Divergence::Gaussian => theta,
            Divergence::Poisson | Divergence::GammaLog => theta.exp(),
            Divergence::GammaInverse => theta.recip(),
            Divergence::Bernoulli => (1.0 + (-theta).exp()).recip(),
        }
    }

    /// Φ⁻¹(m).
    pub fn link(self, mean: f64) -> f64 {
        match self {
            Divergence::Gaussian => mean,
            Divergence::Poisson | Divergence::GammaLog => mean.ln(),
            Divergence::GammaInverse => mean.recip(),
            Divergence::Bernoulli => (mean / (1.0 - mean)).ln(),
        }
    }

    /// D(s ‖ Φ(θ)).
    pub fn value(self, s: f64, theta: f64) -> f64 {
        self.varying(s, theta) + self.constant(s)
    }

    /// The part of the divergence that depends on θ; infinite where θ is out of range.
    pub fn varying(self, s: f64, theta: f64) -> f64 {
        match self {
            Divergence::Gaussian => 0.5 * theta * theta - s * theta,
            Divergence::Poisson => theta.exp() - s * theta,
            Divergence::GammaLog => s * (-theta).exp() + theta,
            Divergence::GammaInverse if theta > 0.0 => s * theta - theta.ln(),
            Divergence::GammaInverse => f64::INFINITY,
            Divergence::Bernoulli => softplus(theta) - s * theta,
        }
    }

    /// The part of the divergence that does not depend on θ.
    pub fn constant(self, s: f64) -> f64 {
        match self {
            Divergence::Gaussian => 0.5 * s * s,
            Divergence::Poisson => entropy(s) - s,
            Divergence::GammaLog | Divergence::GammaInverse => -s.ln() - 1.0,
            Divergence::Bernoulli => entropy(s) + entropy(1.0 - s),
        }
    }

    /// The derivative of the divergence by θ.
    pub fn gradient(self, s: f64, theta: f64) -> f64 {
        match self {
            Divergence::Gaussian => theta - s,
            Divergence::Poisson => theta.exp() - s,
            Divergence::GammaLog => 1.0 - s * (-theta).exp(),
            Divergence::GammaInverse => s - theta.recip(),
            Divergence::Bernoulli => self.mean(theta) - s,
        }
    }

    /// The second derivative by θ, never negative.
    pub fn curvature(self, s: f64, theta: f64) -> f64 {
        match self {
            Divergence::Gaussian => 1.0,
            Divergence::Poisson => theta.exp(),
            Divergence::GammaLog => s * (-theta).exp(),
            Divergence::GammaInverse => theta.powi(-2),
            Divergence::Bernoulli => {
                let mean = self.mean(theta);
                mean * (1.0 - mean)
            }
        }
    }

    /// The entry clamped to the domain, in case rounding pushed it over the edge.
    pub fn clamp(self, s: f64) -> f64 {
        if self == Divergence::Bernoulli {
            s.min(1.0)
        } else {
            s
        }
    }

    /// The name in sentences.
    pub fn name(self) -> &'static str {
        match self {
            Divergence::Gaussian => "Gaussian",
            Divergence::Poisson => "Poisson",
            Divergence::GammaLog | Divergence::GammaInverse => "Gamma",
            Divergence::Bernoulli => "Bernoulli",
        }
    }

    /// Whether entries below zero are outside the domain.
    pub fn refuses_negative(self) -> bool {
        self != Divergence::Gaussian
    }

    /// Why negative entries of a matrix cannot be compared.
    pub fn negative(self, matrix: &str, remedy: &str) -> String {
        let needs = match self {
            Divergence::Bernoulli => "entries between 0 and 1",
            Divergence::GammaLog | Divergence::GammaInverse => "positive entries",
            Divergence::Gaussian | Divergence::Poisson => "non-negative entries",
        };
        format!(
            "{} needs {needs}: matrix {matrix} has negative ones; {remedy}",
            self.name()
        )
    }

    /// Refuses a matrix with entries outside the domain, naming it; `remedy` helps against negative ones.
    pub fn check(
        self,
        matrix: &str,
        Extremes { least, most }: Extremes,
        remedy: &str,
    ) -> Result<()> {
        let gamma = matches!(self, Divergence::GammaLog | Divergence::GammaInverse);
        let message = if least < 0.0 && self.refuses_negative() {
            self.negative(matrix, remedy)
        } else if least == 0.0 && gamma {
            format!(
                "Gamma needs positive entries: matrix {matrix} has zeros; use entries = \"observed\""
            )
        } else if most > 1.0 + OVER && self == Divergence::Bernoulli {
            format!(
                "Bernoulli needs entries between 0 and 1: matrix {matrix} has larger ones; use psi = \"p\""
            )
        } else {
            return Ok(());
        };
        Err(Error::config("solver.loss", message))
    }
}
