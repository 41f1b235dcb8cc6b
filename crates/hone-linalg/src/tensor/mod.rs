//! Joint models: all k-step motif matrices as one tensor, N × N × (motifs · steps), factored at once
//! (sec. 2.5, which names the Tucker decomposition; Kolda, Bader 2009).
//!
//! A slice is a lazy matrix, only ever multiplied with tall blocks: no slice and no unfolding is formed,
//! and slices are visited one after the other, so that they need not all be in memory. What is
//! small (core, motif factors, Gram matrices) is f64. Sums are taken in the order of the slices and in
//! that of [`crate::dense`]: the same bits for any number of threads.

pub mod cp;
pub mod tucker;

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::dense::{Block, Small, orthonormalize};
use crate::error::{Error, Result};
use crate::factor::Task;
use crate::factor::svd::{Svd, svd};
use crate::operator::{Operator, Workspace};
use crate::random::Key;
use crate::space::Host;

/// Matrices of one tensor, given one after the other.
pub trait Slices {
    /// N.
    fn nodes(&self) -> usize;
    /// Number of slices.
    fn count(&self) -> usize;
    /// Passes on every slice, first to last.
    fn visit(&self, each: &mut dyn FnMut(&Slice) -> Result<()>) -> Result<()>;
}

/// Slices that are all in memory.
#[derive(Debug, Clone)]
pub struct Held {
    /// N.
    pub nodes: usize,
    /// The slices.
    pub slices: Vec<Slice>,
}

impl Slices for Held {
    fn nodes(&self) -> usize {
        self.nodes
    }

    fn count(&self) -> usize {
        self.slices.len()
    }

    fn visit(&self, each: &mut dyn FnMut(&Slice) -> Result<()>) -> Result<()> {
        self.slices.iter().try_for_each(each)
    }
}

/// A model of a tensor: slice s is left · diag(weights ∘ motifs_s) · rightᵀ, or left · (Σ_r motifs_sr core_r) · rightᵀ where
/// there is a core.
#[derive(Debug, Clone)]
pub struct Decomposition {
    /// N × D, columns of length one or zero.
    pub left: Block,
    /// N × D, likewise.
    pub right: Block,
    /// Slices × R.
    pub motifs: Small,
    /// R matrices of as many rows and columns as node factors can have that are not zero, at most D.
    pub core: Option<Vec<Small>>,
    /// The weights of the columns of `left`, descending: the size of each component, or the length of each row of the core over
    /// all its matrices.
    pub weights: Vec<f64>,
    /// Squared norm of each slice of the model.
    pub captured: Vec<f64>,
    /// How it went.
    pub descent: Descent,
}

/// Slices scaled to a common norm.
pub struct Tensor<'a> {
    slices: &'a dyn Slices,
    /// Original norm of each slice.
    pub norms: Vec<SliceNorm>,
}

/// How the iterations of a joint model went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Descent {
    /// Sweeps over all factors.
    pub iterations: usize,
    /// Whether the last sweep gained less than the tolerance.
    pub converged: bool,
    /// ‖X − model‖² / ‖X‖², at the start and after every sweep; with regularisation, its term included.
    pub losses: Vec<f64>,
}

/// When iterations end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Maximum number of sweeps.
    pub iterations: usize,
    /// A sweep that gains less, relative to ‖X‖², is the last.
    pub tolerance: f64,
}

impl<'a> Tensor<'a> {
    /// Measures all slices, and chooses their factors.
    pub fn new(slices: &'a dyn Slices, scaling: Scaling, task: &Task) -> Result<Self> {
        let mut norms = Vec::with_capacity(slices.count());
        slices.visit(&mut |slice| {
            task.progress.check()?;
            let key = task.key.with("norm", norms.len() as u64);
            norms.push(measure(slice, scaling, &Task { key, ..*task })?);
            Ok(())
        })?;
        Ok(Tensor { slices, norms })
    }

    /// N.
    pub fn nodes(&self) -> usize {
        self.slices.nodes()
    }

    /// Number of slices.
    pub fn count(&self) -> usize {
        self.norms.len()
    }

    /// ‖X‖², of the slices as they are scaled.
    pub fn energy(&self) -> f64 {
        self.norms
            .iter()
            .map(|norm| (norm.frobenius * norm.factor).powi(2))
            .sum()
    }

    /// Passes on every nonzero slice, scaled, with its number.
    fn visit(&self, task: &Task, each: &mut dyn FnMut(usize, &Slice) -> Result<()>) -> Result<()> {
        let mut at = 0;
        self.slices.visit(&mut |slice| {
            task.progress.check()?;
            let (number, scale) = (at, self.norms[at].factor / slice.scale);
            at += 1;
            if scale == 0.0 {
                return Ok(());
            }
            let scaled = Slice {
                operator: Operator::multiple(scale, slice.operator.clone()),
                ..slice.clone()
            };
            each(number, &scaled)
        })
    }

    /// Whether every slice equals its transpose.
    fn is_symmetric(&self, task: &Task) -> Result<bool> {
        let mut symmetric = true;
        self.visit(task, &mut |_, slice| {
            symmetric &= slice.operator.is_symmetric();
            Ok(())
        })?;
        Ok(symmetric)
    }

    /// The leading `width` directions of rows (X_s X_sᵀ) and columns (X_sᵀ X_s), summed over the slices: the
    /// first two factors of the higher-order SVD.
    fn node_spaces(&self, width: usize, task: &Task) -> Result<(Block, Block)> {
        let space = |transpose: bool| {
            let mut work = Workspace::default();
            let key = task.key.with("space", u64::from(transpose));
            leading(self.nodes(), width, key, |q| {
                let mut sum = Block::zeros(q.rows(), q.cols());
                self.visit(task, &mut |_, slice| {
                    let inner = slice.times(q, !transpose, &mut work);
                    let outer = slice.operator.image(&Host, transpose, &inner, &mut work);
                    slice.add_rows(&mut sum, &outer);
                    work.give(inner);
                    work.give(outer);
                    Ok(())
                })?;
                Ok(sum)
            })
        };
        let left = space(false)?;
        let right = if self.is_symmetric(task)? {
            left.clone()
        } else {
            space(true)?
        };
        Ok((left, right))
    }
}

impl Descent {
    fn start(loss: f64) -> Self {
        Descent {
            iterations: 0,
            converged: false,
            losses: vec![loss],
        }
    }

    /// Notes the loss after a sweep; whether it was the last.
    fn note(&mut self, loss: f64, limits: Limits, model: &str) -> Result<bool> {
        self.iterations += 1;
        if !loss.is_finite() {
            let message = "the loss is not finite; use fewer steps, scale the edge weights down, or use \
                           joint.slices = \"frobenius\"";
            return Err(Error::Numeric {
                stage: format!("joint embedding, {model}, sweep {}", self.iterations),
                message: message.into(),
            });
        }
        let before = self.losses.last().copied().unwrap_or(loss);
        self.losses.push(loss);
        self.converged = before - loss <= limits.tolerance;
        Ok(self.converged || self.iterations >= limits.iterations)
    }
}

/// One matrix of the tensor, zero outside some of the nodes.
#[derive(Debug, Clone)]
pub struct Slice {
    /// Its name in errors: motif and step.
    pub name: String,
    /// The matrix on its own nodes, times `scale`.
    pub operator: Operator,
    /// The factor that keeps the matrix in range; mostly 1.
    pub scale: f64,
    /// The nodes that are its rows and columns, ascending; absent for all.
    pub nodes: Option<Arc<[u32]>>,
}

/// The size of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SliceNorm {
    /// Frobenius norm of the matrix, without the slice's `scale`.
    pub frobenius: f64,
    /// Whether that is exact, not estimated from random products.
    pub exact: bool,
    /// The factor of the matrix in the tensor; 0 for a slice of zeros.
    pub factor: f64,
}

impl Slice {
    /// The rows of a block that the slice has.
    fn rows<'b>(&self, x: &'b Block) -> Cow<'b, Block> {
        match &self.nodes {
            None => Cow::Borrowed(x),
            Some(nodes) => {
                let mut own = Block::zeros(nodes.len(), x.cols());
                own.update_rows(|i, row| row.copy_from_slice(x.row(nodes[i] as usize)));
                Cow::Owned(own)
            }
        }
    }

    /// Changes the rows of a block that the slice has, given their number among its own.
    fn change_rows(&self, x: &mut Block, change: impl Fn(usize, &mut [f32]) + Sync) {
        match &self.nodes {
            None => x.update_rows(change),
            Some(nodes) => x.update_rows(|i, row| {
                if let Ok(own) = nodes.binary_search(&(i as u32)) {
                    change(own, row);
                }
            }),
        }
    }

    /// Adds to the rows of a block that the slice has.
    fn add_rows(&self, sum: &mut Block, rows: &Block) {
        self.change_rows(sum, |i, row| {
            row.iter_mut().zip(rows.row(i)).for_each(|(to, x)| *to += x);
        });
    }

    /// X_s B or X_sᵀ B on the slice's own rows, B given on all nodes.
    fn times(&self, b: &Block, transpose: bool, work: &mut Workspace) -> Block {
        self.operator.image(&Host, transpose, &self.rows(b), work)
    }
}

/// How slices are scaled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Scaling {
    /// Frobenius norm 1: every motif and step has the same part in the loss.
    #[default]
    Frobenius,
    /// Largest singular value 1: slices of many equal directions weigh more than those of few.
    Spectral,
    /// Not at all: frequent motifs dominate if the matrix is not normalised.
    None,
}

/// Directions that are measured exactly.
const DIRECTIONS: usize = 16;

/// Measures a slice.
fn measure(slice: &Slice, scaling: Scaling, task: &Task) -> Result<SliceNorm> {
    let s = &slice.operator;
    let start = || Block::random(s.cols(), DIRECTIONS, task.key.with("directions", 0));
    let energy = s.energy(task.key, || s.apply_transposed(&s.apply(&start())));
    let (norm, exact) = (energy.value.sqrt(), energy.exact);
    let size = match scaling {
        _ if norm == 0.0 => 0.0,
        Scaling::Frobenius => norm,
        Scaling::Spectral => {
            let task = Task {
                rank: 1,
                right: false,
                ..*task
            };
            svd(s, &Svd::default(), &task)?.sigma[0]
        }
        Scaling::None => slice.scale,
    };
    let (inverse, frobenius) = (
        if size == 0.0 { 0.0 } else { 1.0 / size },
        norm / slice.scale,
    );
    let factor = inverse * slice.scale;
    let in_range =
        (inverse as f32).is_finite() && (size == 0.0 || (inverse as f32 > 0.0 && factor > 0.0));
    if frobenius.is_finite() && factor.is_finite() && in_range {
        return Ok(SliceNorm {
            frobenius,
            exact,
            factor,
        });
    }
    let message = format!(
        "its norm, {frobenius:e}, is beyond 32-bit floating point; use fewer steps, or scale the edge weights"
    );
    Err(Error::Numeric {
        stage: format!("joint embedding, {}", slice.name),
        message: message.into(),
    })
}

/// Rounds spent on the start.
const ROUNDS: usize = 6;

/// Columns beyond those requested.
const OVERSAMPLING: usize = 8;

/// The last round is the one that gains less than this share of the eigenvalues' sum.
const GAIN: f64 = 1e-7;

/// The leading eigenvectors of a positive semidefinite map that can only be applied, by subspace iteration with a few columns
/// more than requested: Q ← orth(A Q E), E being the eigenvectors of QᵀAQ, largest first (Halko, Martinsson, Tropp 2011). The
/// result is only the start of a tensor model, so a few rounds are enough.
///
/// At most `width` orthonormal columns (zero where A has fewer directions), largest eigenvalue first.
fn leading(
    nodes: usize,
    width: usize,
    key: Key,
    mut apply: impl FnMut(&Block) -> Result<Block>,
) -> Result<Block> {
    let mut q = Block::random(nodes, (width + OVERSAMPLING).min(nodes), key);
    orthonormalize(&mut q);
    let mut before = 0.0;
    for _ in 0..ROUNDS {
        let mut image = apply(&q)?;
        let eigen = q.cross(&image).symmetrized().eigen()?;
        image.transform(&eigen.vectors);
        orthonormalize(&mut image);
        q = image;
        let leading = eigen.values.iter().take(width);
        let sum: f64 = leading.map(|value| value.max(0.0)).sum();
        if sum - before <= GAIN * sum {
            break;
        }
        before = sum;
    }
    Ok(if width < q.cols() {
        q.columns(0..width)
    } else {
        q
    })
}
