//! Alternating least squares: each factor in turn is the best one for the other (Zhou et al. 2008).
//!
//! On all entries A = S B (BᵀB + λ)⁻¹ needs one product and a small inverse, so S is never formed. With an
//! orthogonality constraint the best A with AᵀA = I is the polar factor of S B (Procrustes). On the observed entries
//! alone every row is a separate small least squares problem. No step increases ‖S − A Bᵀ‖² + λ(‖A‖² + ‖B‖²); a
//! constrained factor has no penalty. Cost per iteration: 2 products and O(N b²); observed only: O(nonzeros b² + N b³).

use serde::{Deserialize, Serialize};

use super::entries::{ENTRY_BYTES, fit_nonzeros, least_squares};
use super::pair::{
    Descent, Pair, Start, inverse, nearest_orthonormal, not_negative, nothing, penalty, trace,
};
use super::{Factors, Method, Shape, Task, WITH_ROOTS};
use crate::dense::{Block, Norm, Panels, Small, orthonormalize};
use crate::error::{Error, Result};
use crate::message::{message, set};
use crate::operator::{Energy, Operator, SQUARABLE, Workspace};
use crate::space::Host;
use crate::sparse::Fused;

/// Options of alternating least squares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Als {
    /// Maximum number of iterations.
    pub iterations: usize,
    /// Iterations stop when the relative change of the loss is below this.
    pub tolerance: f64,
    /// λ, the weight of the squared length of the factors.
    pub regularization: f64,
    /// Which factors have orthonormal columns.
    pub orthogonal: Orthogonal,
    /// Whether zeros are unknown entries rather than zeros to be fitted.
    pub observed_only: bool,
    /// The initial factors.
    pub start: Start,
}

impl Default for Als {
    fn default() -> Self {
        Als {
            iterations: 50,
            tolerance: 1e-4,
            regularization: 0.0,
            orthogonal: Orthogonal::None,
            observed_only: false,
            start: Start::Svd,
        }
    }
}

/// Which factors are constrained to have orthonormal columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Orthogonal {
    /// Neither.
    #[default]
    None,
    /// UᵀU = I; the weights are in V.
    Left,
    /// VᵀV = I; the weights are in U.
    Right,
    /// Both, with a diagonal of weights between them.
    Both,
}

impl Method for Als {
    fn check(&self, field: &str) -> Result<()> {
        not_negative(field, "tolerance", self.tolerance)?;
        not_negative(field, "regularization", self.regularization)?;
        if self.observed_only && self.orthogonal != Orthogonal::None {
            let message = message![
                "orthogonal factors need all entries: use ",
                set(format!("{field}.observed-only"), false),
                ", or ",
                set(format!("{field}.orthogonal"), "none")
            ];
            return Err(Error::config(format!("{field}.orthogonal"), message));
        }
        Ok(())
    }

    fn is_scale_free(&self) -> bool {
        self.regularization == 0.0
    }

    fn largest(&self) -> f64 {
        // Next to an orthonormal factor, the other one is as large as S.
        if self.orthogonal == Orthogonal::None {
            WITH_ROOTS
        } else {
            SQUARABLE
        }
    }

    fn factor(&self, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        let name = "alternating least squares";
        let descent = Descent::new(name, self.iterations, self.tolerance, task);
        if self.observed_only {
            let lambda = self.regularization;
            return fit_nonzeros(s, self.start, lambda, descent, |entries, pair, weight| {
                least_squares(&entries.rows, &mut pair.a, &pair.b, weight);
                least_squares(&entries.columns, &mut pair.b, &pair.a, weight);
            });
        }
        let pair = Pair::start(s, self.start, task)?;
        let loss = s.energy(task.key, || pair.b.clone());
        if loss.value == 0.0 {
            return Ok(nothing(s, task, loss.measure()));
        }
        let mut state = Alternation::new(self, pair)?;
        let mut work = Workspace::default();
        let mut image = s.image(&Host, false, &state.pair.b, &mut work);
        if state.is_free() {
            state.pair.a = image.clone();
        }
        let first = state.loss(&loss, &image, &state.pair.a);
        let descent = descent.run(first, |iteration| {
            if iteration > 1 {
                state.condition();
                let b = &state.pair.b;
                s.product(&Host, false, b, &mut image, Fused::default(), &mut work);
            }
            state.improve(&image, true)?;
            let back = s.image(&Host, true, &state.pair.a, &mut work);
            state.improve(&back, false)?;
            let value = state.loss(&loss, &back, &state.pair.b);
            work.give(back);
            Ok(value)
        })?;
        drop((work, image));
        if let Some(weights) = &state.weights {
            state.pair.a.scale_columns(weights);
        }
        let found = state.pair.decompose()?;
        drop(state);
        let lambda = self.regularization;
        Ok(descent.finish(found, loss.measure(), |pair| {
            loss.loss_of(s, pair, |a, b| match self.orthogonal {
                Orthogonal::None => penalty(lambda, [a, b]),
                // The weights are in one factor, or between both.
                _ => lambda * a.inner(b),
            })
        }))
    }

    fn keeps_entries(&self) -> bool {
        self.observed_only
    }

    fn memory(&self, shape: &Shape) -> u64 {
        if self.observed_only {
            shape.entries * ENTRY_BYTES
        } else {
            0
        }
    }
}

/// Both factors and, when both are orthonormal, the weights between them.
struct Alternation<'a> {
    options: &'a Als,
    pair: Pair,
    weights: Option<Vec<f64>>,
}

impl<'a> Alternation<'a> {
    fn new(options: &'a Als, mut pair: Pair) -> Result<Self> {
        let mut weights = None;
        match options.orthogonal {
            Orthogonal::None => {}
            Orthogonal::Left => pair.a = nearest_orthonormal(pair.a)?,
            Orthogonal::Right => pair.b = nearest_orthonormal(pair.b)?,
            Orthogonal::Both => {
                let lengths = pair
                    .a
                    .column_norms(Norm::L2)
                    .into_iter()
                    .zip(pair.b.column_norms(Norm::L2));
                weights = Some(lengths.map(|(a, b)| a * b).collect());
                pair = Pair {
                    a: nearest_orthonormal(pair.a)?,
                    b: nearest_orthonormal(pair.b)?,
                };
            }
        }
        let mut state = Alternation {
            options,
            pair,
            weights,
        };
        state.condition();
        Ok(state)
    }

    /// Whether A M, B M⁻ᵀ are as good as A, B for every M: then no inverse is needed.
    fn is_free(&self) -> bool {
        self.options.orthogonal == Orthogonal::None && self.options.regularization == 0.0
    }

    /// Orthonormal columns of B if its scale is free: a product of nearly dependent f32 columns would lose the
    /// weak directions. A is then out of date.
    fn condition(&mut self) {
        if self.is_free() {
            orthonormalize(&mut self.pair.b);
        }
    }

    /// A better A, given `image` = S B, or B, given Sᵀ A.
    fn improve(&mut self, image: &Block, left: bool) -> Result<()> {
        let constrained = match self.options.orthogonal {
            Orthogonal::None => false,
            Orthogonal::Left => left,
            Orthogonal::Right => !left,
            Orthogonal::Both => true,
        };
        let other = if left { &self.pair.b } else { &self.pair.a };
        let mut own = image.clone();
        if let Some(weights) = &self.weights {
            own.scale_columns(weights);
        }
        if constrained {
            own = nearest_orthonormal(own)?;
        } else if left && self.is_free() {
            orthonormalize(&mut own);
        } else {
            own = own.times(&inverse(&other.gram(), self.options.regularization)?);
        }
        if let Some(weights) = &mut self.weights {
            // The best weights between orthonormal factors: diag(Aᵀ S B) / (1 + λ).
            let (cross, shrink) = (own.cross(image), 1.0 + self.options.regularization);
            let best = |(j, weight): (usize, &mut f64)| *weight = cross.get(j, j) / shrink;
            weights.iter_mut().enumerate().for_each(best);
        }
        *(if left {
            &mut self.pair.a
        } else {
            &mut self.pair.b
        }) = own;
        Ok(())
    }

    /// The loss, given the product of S with the factor that is not `own`.
    fn loss(&self, loss: &Energy, image: &Block, own: &Block) -> f64 {
        let (gram_a, gram_b) = (self.pair.a.gram(), self.pair.b.gram());
        let lambda = self.options.regularization;
        let Some(weights) = &self.weights else {
            let free = match self.options.orthogonal {
                Orthogonal::Left => trace(&gram_b),
                Orthogonal::Right => trace(&gram_a),
                _ => trace(&gram_a) + trace(&gram_b),
            };
            return loss.loss(image, own, &gram_a, &gram_b, lambda * free);
        };
        let gram_a = Small::from_fn(weights.len(), weights.len(), |i, j| {
            weights[i] * gram_a.get(i, j) * weights[j]
        });
        let mut weighted = own.clone();
        weighted.scale_columns(weights);
        let penalty = lambda * weights.iter().map(|w| w * w).sum::<f64>();
        loss.loss(image, &weighted, &gram_a, &gram_b, penalty)
    }
}
