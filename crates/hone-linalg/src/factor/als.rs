//! Alternating least squares: each factor in turn is the best one for the other (Zhou et al. 2008).
//!
//! On all entries A = S B (BᵀB + λ)⁻¹ needs one product and a small inverse, so S is never formed. With an
//! orthogonality constraint the best A with AᵀA = I is the polar factor of S B (Procrustes). On the observed entries
//! alone every row is a separate small least squares problem. No step increases ‖S − A Bᵀ‖² + λ(‖A‖² + ‖B‖²); a
//! constrained factor has no penalty. Cost per iteration: 2 products and O(N b²); observed only: O(nonzeros b² + N b³).

use serde::{Deserialize, Serialize};

use super::bilinear::{
    Best, Pair, Squared, Start, entrywise, inverse, nearest_orthonormal, nothing, penalty, trace,
};
use super::iterate::{Limits, Watch, not_negative};
use super::memory::Shape;
use super::method::{Factors, Method, Task, WITH_ROOTS};
use super::observed::{ENTRY_BYTES, Observed, least_squares};
use crate::dense::{Block, Norm, Small, orthonormalize};
use crate::error::{Error, Result};
use crate::operator::{Operator, SQUARABLE, Workspace};

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
            let message = "orthogonal factors need all entries: set observed-only = false, or orthogonal = \"none\"";
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

    fn factor(&self, s: &Operator, task: &Task) -> Result<Factors> {
        if self.observed_only {
            self.observed(s, task)
        } else {
            self.all(s, task)
        }
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

impl Als {
    fn limits(&self) -> Limits {
        Limits {
            iterations: self.iterations,
            tolerance: self.tolerance,
        }
    }

    fn all(&self, s: &Operator, task: &Task) -> Result<Factors> {
        let pair = Pair::start(s, self.start, task)?;
        let loss = Squared::of(s, &pair.b, task);
        if loss.is_zero() {
            return Ok(nothing(s, task, loss.measure()));
        }
        let mut watch = Watch::new("alternating least squares", self.limits(), 1.0, task);
        let mut state = Alternation::new(self, pair)?;
        let mut work = Workspace::default();
        let mut image = work.block(s.rows(), state.pair.b.cols());
        let mut back = work.block(s.cols(), state.pair.b.cols());
        s.apply_into(&state.pair.b, &mut image, &mut work);
        state.begin(&image);
        watch.record(state.loss_left(&loss, &image))?;
        while watch.goes_on()? {
            state.improve_left(&image)?;
            s.apply_transposed_into(&state.pair.a, &mut back, &mut work);
            state.improve_right(&back)?;
            watch.record(state.loss_right(&loss, &back))?;
            if watch.goes_on()? {
                state.condition();
                s.apply_into(&state.pair.b, &mut image, &mut work);
            }
        }
        drop((work, image, back));
        state
            .weighted()
            .finish(task, (watch, loss.measure()), |pair| {
                loss.of_pair(s, pair, |a, b| match self.orthogonal {
                    Orthogonal::None => penalty(self.regularization, [a, b]),
                    // The weights are in one factor, or between both.
                    _ => self.regularization * entrywise(a, b),
                })
            })
    }

    fn observed(&self, s: &Operator, task: &Task) -> Result<Factors> {
        let mut pair = Pair::start(s, self.start, task)?;
        let entries = Observed::of(s)?;
        if entries.norm == 0.0 {
            return Ok(nothing(s, task, entries.measure(self.regularization)));
        }
        let mut watch = Watch::new("alternating least squares", self.limits(), 1.0, task);
        let weight = entries.weight(self.regularization);
        let loss = entries.value(&pair, weight);
        watch.record(loss)?;
        let mut best = Best::new(loss, &pair);
        while watch.goes_on()? {
            least_squares(&entries.rows, &mut pair.a, &pair.b, weight);
            least_squares(&entries.columns, &mut pair.b, &pair.a, weight);
            let loss = entries.value(&pair, weight);
            watch.record(loss)?;
            best.note(loss, &pair);
        }
        best.pair
            .finish(task, (watch, entries.measure(weight)), |pair| {
                entries.value(&pair, weight)
            })
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

    /// The initial A, given `image` = S B.
    fn begin(&mut self, image: &Block) {
        if self.is_free() {
            self.pair.a = image.clone();
        }
    }

    /// A, given `image` = S B.
    fn improve_left(&mut self, image: &Block) -> Result<()> {
        if self.is_free() {
            self.pair.a = image.clone();
            orthonormalize(&mut self.pair.a);
            return Ok(());
        }
        let constrained = matches!(self.options.orthogonal, Orthogonal::Left | Orthogonal::Both);
        self.pair.a = self.best(image, &self.pair.b, constrained)?;
        self.weigh(image, true);
        Ok(())
    }

    /// B, given `image` = Sᵀ A.
    fn improve_right(&mut self, image: &Block) -> Result<()> {
        let constrained = matches!(
            self.options.orthogonal,
            Orthogonal::Right | Orthogonal::Both
        );
        self.pair.b = self.best(image, &self.pair.a, constrained)?;
        self.weigh(image, false);
        Ok(())
    }

    /// The best factor given the other one and the product of S with it.
    fn best(&self, image: &Block, other: &Block, constrained: bool) -> Result<Block> {
        match (&self.weights, constrained) {
            (Some(weights), _) => {
                let mut weighted = image.clone();
                weighted.scale_columns(weights);
                nearest_orthonormal(weighted)
            }
            (None, true) => nearest_orthonormal(image.clone()),
            (None, false) => Ok(image.times(&inverse(&other.gram(), self.options.regularization)?)),
        }
    }

    /// The best weights between orthonormal factors: diag(Aᵀ S B) / (1 + λ).
    fn weigh(&mut self, image: &Block, left: bool) {
        let Some(weights) = &mut self.weights else {
            return;
        };
        let cross = if left { &self.pair.a } else { &self.pair.b }.cross(image);
        let shrink = 1.0 + self.options.regularization;
        *weights = (0..weights.len())
            .map(|j| cross.get(j, j) / shrink)
            .collect();
    }

    fn loss_left(&self, loss: &Squared, image: &Block) -> f64 {
        self.loss(loss, image, &self.pair.a)
    }

    fn loss_right(&self, loss: &Squared, image: &Block) -> f64 {
        self.loss(loss, image, &self.pair.b)
    }

    /// The loss, given the product of S with the factor that is not `own`.
    fn loss(&self, loss: &Squared, image: &Block, own: &Block) -> f64 {
        let (mut gram_a, gram_b) = (self.pair.a.gram(), self.pair.b.gram());
        let lambda = self.options.regularization;
        let Some(weights) = &self.weights else {
            let free = match self.options.orthogonal {
                Orthogonal::Left => trace(&gram_b),
                Orthogonal::Right => trace(&gram_a),
                _ => trace(&gram_a) + trace(&gram_b),
            };
            return loss.value(image, own, &gram_a, &gram_b, lambda * free);
        };
        gram_a = Small::from_fn(weights.len(), weights.len(), |i, j| {
            weights[i] * gram_a.get(i, j) * weights[j]
        });
        let mut weighted = own.clone();
        weighted.scale_columns(weights);
        loss.value(
            image,
            &weighted,
            &gram_a,
            &gram_b,
            lambda * weights.iter().map(|w| w * w).sum::<f64>(),
        )
    }

    fn weighted(mut self) -> Pair {
        if let Some(weights) = &self.weights {
            self.pair.a.scale_columns(weights);
        }
        self.pair
    }
}
