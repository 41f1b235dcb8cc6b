//! The motif matrix functions Psi, k steps and accumulation as lazy operators (sec. 2.3, 2.4, 2.7).
//!
//! All functions have the form diag(shift) + scale·diag(left)·A·diag(right), with d = A e:
//!
//! | Psi      | matrix                  | shift | scale·left | right  |
//! |----------|-------------------------|-------|------------|--------|
//! | `w`      | W                       |       |            |        |
//! | `p`      | D⁻¹ W                   |       | 1/d        |        |
//! | `l`      | D − W                   | d     | −1         |        |
//! | `l-norm` | I − D^-1/2 W D^-1/2     | 1     | −d^-1/2    | d^-1/2 |
//! | `l-rw`   | I − D⁻¹ W               | 1     | −1/d       |        |
//! | `a-norm` | D^-1/2 W D^-1/2         |       | d^-1/2     | d^-1/2 |
//!
//! `p` and `a-norm` may be lazy: ℓ·I + (1−ℓ)·Psi, the walk that stays at its node in a share ℓ of its steps.
//! Eigenvalues near −1, which separate the two sides of a bipartite graph and double every direction there, lose their
//! weight.
//!
//! A is W, or W^k itself a lazy power: its degrees are k sparse products on the vector of ones, in
//! f64. If d is zero, 1/d, d^-1/2 and the shift are zero: a node without the motif has a zero row. So has a node whose
//! d is below the normal range of f32, which weights of very different magnitudes and many steps can cause: products in
//! f32 are zero there too. A Laplacian of k steps has a zero row where all walks return, and rounding would leave noise of
//! it: exact zeros are put there.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::operator::{Diagonal, Operator, SQUARABLE, STEEPEST, Scaled};
use crate::parallel;
use crate::sparse::{Csr, Pattern};

/// The motif matrix function (sec. 2.3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Psi {
    /// The weighted motif graph W.
    W,
    /// The motif transition matrix P = D⁻¹ W.
    #[default]
    P,
    /// The motif Laplacian L = D − W.
    L,
    /// The normalised motif Laplacian I − D^-1/2 W D^-1/2.
    LNorm,
    /// The random walk normalised motif Laplacian I − D⁻¹ W.
    LRw,
    /// The normalised motif adjacency D^-1/2 W D^-1/2, not among the paper's five.
    ANorm,
}

impl Psi {
    /// Whether it is a walk, which may be lazy, and whose steps are powers of one step.
    pub fn is_walk(self) -> bool {
        matches!(self, Psi::P | Psi::ANorm)
    }

    /// Whether Psi(c W) = Psi(W).
    pub fn is_scale_free(self) -> bool {
        !matches!(self, Psi::W | Psi::L)
    }

    /// The symbol of one that has negative entries.
    pub fn laplacian(self) -> Option<&'static str> {
        match self {
            Psi::L => Some("L"),
            Psi::LNorm => Some("L̂"),
            Psi::LRw => Some("L̂rw"),
            Psi::W | Psi::P | Psi::ANorm => None,
        }
    }
}

/// Which degree of a directed graph D contains; for symmetric W they are the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Degree {
    /// Row sums.
    #[default]
    Out,
    /// Column sums.
    In,
    /// Row plus column sums.
    Total,
    /// By the graph: total if arcs keep their direction, else row sums.
    Auto,
}

/// Which comes first, the function or the power (sec. 2.4).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// As the paper recommends: Psi(W)^k for P (and A-norm), Psi(W^k) for all others.
    #[default]
    Auto,
    /// Psi(W^k).
    PsiOfPower,
    /// Psi(W)^k.
    PowerOfPsi,
}

/// Whether steps are accumulated (sec. 2.7).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accumulate {
    /// Step k alone.
    #[default]
    None,
    /// The mean of steps 1..=k.
    Mean,
    /// (1/k) Σ alpha^l · step l.
    Decay(f64),
}

/// Every choice that leads from W to S^(k).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct MotifMatrix {
    /// The matrix function.
    pub psi: Psi,
    /// Function of the power or power of the function.
    pub order: Order,
    /// The degree of directed graphs.
    pub degree: Degree,
    /// Sums over steps.
    pub accumulate: Accumulate,
    /// Added to every motif degree before dividing by it, as a multiple of the mean motif degree:
    /// it prevents nodes of small degree from dominating (Amini et al. 2013). 0 in the paper.
    pub regularize: f64,
    /// ℓ, the share of steps in which a walk stays at its node (a lazy random walk), for `p` and `a-norm`: Psi becomes
    /// ℓ·I + (1−ℓ)·Psi. 0 in the paper.
    pub laziness: f64,
}

impl MotifMatrix {
    /// S^(k) of a weighted motif graph W (a sparse leaf), times a power of two if the k-step weights would leave
    /// the range of f32 (the formula shows it; no singular vector changes, and sums over steps
    /// keep their relative weights).
    ///
    /// # Panics
    /// When W is not square or k is 0.
    pub fn operator(&self, w: &Operator, k: usize) -> Result<Operator> {
        Ok(self.scaled_operator(w, 1.0, k)?.1)
    }

    /// [`MotifMatrix::operator`] of a leaf that holds W times `given`, with the total factor of S^(k).
    ///
    /// # Panics
    /// When W is not square or k is 0.
    pub fn scaled_operator(&self, w: &Operator, given: f64, k: usize) -> Result<(f64, Operator)> {
        self.scaled_operator_within(w, given, k, SQUARABLE)
    }

    /// The same for a norm of S^(k) of up to 2^±`largest`; beyond, W is multiplied by a power of two.
    ///
    /// # Panics
    /// When W is not square or k is 0.
    pub fn scaled_operator_within(
        &self,
        w: &Operator,
        given: f64,
        k: usize,
        largest: f64,
    ) -> Result<(f64, Operator)> {
        assert!(k > 0, "steps are counted from 1");
        let (scale, w) = tame(w, largest / self.growing_steps(k));
        let scale = scale * given;
        let alpha = match self.accumulate {
            Accumulate::None => return Ok((self.factor(scale, k as i32), self.step(&w, k)?)),
            Accumulate::Mean => 1.0,
            Accumulate::Decay(alpha) => alpha,
        };
        // Term l contains c^l. The largest of these is factored out, so that no weight exceeds that of eq. 24.
        let common = if scale < 1.0 { k as i32 } else { 1 };
        let weight = |l: i32| alpha.powi(l) * self.factor(scale, common - l) / k as f64;
        let term = |l: usize| Ok((weight(l as i32), self.step(&w, l)?));
        Ok((
            self.factor(scale, common),
            Operator::Sum((1..=k).map(term).collect::<Result<_>>()?),
        ))
    }

    /// Whether S^(k) of a symmetric W is symmetric: the operator of a single edge says it.
    pub fn keeps_symmetry(&self, k: usize) -> bool {
        let edge = Pattern::new(vec![0, 1, 2], vec![1, 0], 2);
        let w = Operator::symmetric("W", Csr::new(Arc::new(edge), vec![1.0f32; 2].into()));
        self.operator(&w, k).is_ok_and(|s| s.is_symmetric())
    }

    /// The factor of S^(k) if W is multiplied by c.
    fn factor(&self, c: f64, k: i32) -> f64 {
        match self.psi.is_scale_free() {
            true => 1.0,
            false => c.powi(k),
        }
    }

    /// The power of W with which k steps grow.
    fn growing_steps(&self, k: usize) -> f64 {
        // A Psi(W) that does not grow with W is bounded, and so are its powers.
        if self.psi.is_scale_free() && !self.of_power() {
            1.0
        } else {
            k as f64
        }
    }

    /// Whether the power comes first.
    fn of_power(&self) -> bool {
        match self.order {
            Order::PsiOfPower => true,
            Order::PowerOfPsi => false,
            Order::Auto => !self.psi.is_walk(),
        }
    }

    /// Psi(W^k) or Psi(W)^k.
    fn step(&self, w: &Operator, k: usize) -> Result<Operator> {
        if self.of_power() {
            self.function(&Operator::power(w.clone(), k), w, k)
        } else {
            Ok(Operator::power(self.function(w, w, 1)?, k))
        }
    }

    /// Psi(A) for A = W^k.
    fn function(&self, a: &Operator, w: &Operator, k: usize) -> Result<Operator> {
        if self.psi == Psi::W {
            return Ok(a.clone());
        }
        let d = degrees(w, k, self.degree);
        let tau = if self.regularize > 0.0 {
            self.regularize * mean_of_nonzero(&d)
        } else {
            0.0
        };
        let diagonal = |name: &str, of: &(dyn Fn(f64) -> f64 + Sync)| named(name, &d, of);
        let base = if tau > 0.0 { "(d+τ)" } else { "d" };
        let inverse = || diagonal(&format!("{base}^-1"), &|d| 1.0 / (d + tau));
        let root = || diagonal(&format!("{base}^-1/2"), &|d| 1.0 / (d + tau).sqrt());
        let one = || diagonal("1", &|_| 1.0);
        let moves = 1.0 - self.laziness;
        let stays = || {
            (self.laziness > 0.0)
                .then(|| diagonal(&self.laziness.to_string(), &|_| self.laziness))
                .transpose()
        };
        let (shift, scale, left, right) = match self.psi {
            Psi::W | Psi::P => (stays()?, moves, Some(inverse()?), None),
            Psi::L => (Some(diagonal("d", &|d| d)?), -1.0, None, None),
            Psi::LRw => (Some(one()?), -1.0, Some(inverse()?), None),
            Psi::LNorm => {
                let root = Some(root()?);
                (Some(one()?), -1.0, root.clone(), root)
            }
            Psi::ANorm => {
                let root = Some(root()?);
                (stays()?, moves, root.clone(), root)
            }
        };
        let psi = Scaled {
            shift,
            scale,
            left,
            inner: Arc::new(a.clone()),
            right,
        };
        // Without self-loops no walk of one step returns.
        Ok(if k > 1 && psi.scale < 0.0 {
            without_noise(psi)
        } else {
            Operator::Scaled(psi)
        })
    }
}

/// The same with exact zeros in rows whose terms cancel: those of nodes to which all walks return.
fn without_noise(psi: Scaled) -> Operator {
    let symmetric = psi.inner.is_symmetric();
    let psi = Operator::Scaled(psi);
    let (Some(cancelled), Operator::Scaled(of)) = (psi.cancelled_rows(), &psi) else {
        return psi;
    };
    let kept = |diagonal: &Option<Diagonal>| {
        let value = |(i, gone): (usize, &bool)| match (gone, diagonal) {
            (true, _) => 0.0,
            (false, Some(diagonal)) => diagonal.values()[i],
            (false, None) => 1.0,
        };
        let name = diagonal.as_ref().map_or("1", Diagonal::name);
        let values: Vec<f32> = cancelled.iter().enumerate().map(value).collect();
        Some(Diagonal::new(name, values))
    };
    let left = kept(&of.left);
    let right = match (&of.left, &of.right) {
        // Its columns vanish with its rows.
        (left, right) if symmetric && Diagonal::same(left, right) => kept(right),
        (_, right) => right.clone(),
    };
    Operator::Scaled(Scaled {
        shift: kept(&of.shift),
        scale: of.scale,
        left,
        inner: of.inner.clone(),
        right,
    })
}

/// The mean of the degrees of nodes that have any; 0 when none has.
pub fn mean_of_nonzero(d: &[f64]) -> f64 {
    let nodes = d.iter().filter(|&&d| d != 0.0).count();
    d.iter().sum::<f64>() / nodes.max(1) as f64
}

/// `of(d)` as a diagonal, zero if d is zero or nearly so.
fn named(name: &str, d: &[f64], of: &(dyn Fn(f64) -> f64 + Sync)) -> Result<Diagonal> {
    let zero = |d: f64| d.abs() < f64::from(f32::MIN_POSITIVE);
    let value = |d: f64| if zero(d) { 0.0 } else { of(d) as f32 };
    let values = parallel::collect(d.len(), |i| value(d[i]));
    let wrong = |i: usize| !values[i].is_finite() || (!zero(d[i]) && values[i] == 0.0);
    match parallel::first(d.len(), wrong).map(|i| d[i]) {
        None => Ok(Diagonal::new(name, values)),
        Some(d) => Err(Error::Numeric {
            stage: "motif matrix".into(),
            message: format!(
                "a motif degree of {d:e} is beyond 32-bit floating point; use fewer steps, or scale the edge weights"
            )
            .into(),
        }),
    }
}

/// The degrees of W^k.
fn degrees(w: &Operator, k: usize, degree: Degree) -> Arc<Vec<f64>> {
    let sums = |transpose: bool| {
        let first = row_sums(w, transpose);
        (1..k).fold(first, |x, _| {
            Arc::new(w.times_vector(&x, transpose, |value| value))
        })
    };
    if w.is_symmetric() {
        return sums(false);
    }
    match degree {
        Degree::Out | Degree::Auto => sums(false),
        Degree::In => sums(true),
        Degree::Total => {
            let (out, into) = (sums(false), sums(true));
            Arc::new(out.iter().zip(&*into).map(|(a, b)| a + b).collect())
        }
    }
}

/// Row or column sums of W, a leaf or a multiple of one, in f64.
fn row_sums(w: &Operator, transpose: bool) -> Arc<Vec<f64>> {
    match w {
        Operator::Sparse(leaf) if transpose => leaf.transposed().row_sums(),
        Operator::Sparse(leaf) => leaf.matrix().row_sums(),
        other => Arc::new(other.times_vector(&vec![1.0; other.rows()], transpose, |value| value)),
    }
}

/// c and c·W for a power of two c: 1 when the norm of W, as an exponent of 2, is within ±`room`.
fn tame(w: &Operator, room: f64) -> (f64, Operator) {
    let largest = |transpose| row_sums(w, transpose).iter().copied().fold(0.0, f64::max);
    let norm = largest(false).max(if w.is_symmetric() { 0.0 } else { largest(true) });
    let exponent = norm.log2().ceil();
    if !exponent.is_finite() || exponent.abs() <= room {
        return (1.0, w.clone());
    }
    let excess = if exponent > room {
        (exponent - room).ceil()
    } else {
        exponent
    };
    let scale = (-excess).clamp(-STEEPEST, STEEPEST).exp2();
    (scale, Operator::multiple(scale, w.clone()))
}
