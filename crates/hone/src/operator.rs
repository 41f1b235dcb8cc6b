//! [`Operator`]: a matrix as an expression that is only ever multiplied, never formed (sec. 2.4).
//!
//! Leaves are sparse or tall dense matrices, shared; nodes are diag(shift) + scale·diag(left)·A·diag(right),
//! powers and sums. W^k x is k sparse products, so no k-step matrix is stored. An operator is plain
//! data: it prints as a formula, knows its cost and memory, and another back end may take it whole.

mod entries;
mod explicit;
mod formula;
mod size;

pub use entries::Rows;
pub(crate) use entries::in_chunks;
pub use size::SQUARABLE;
pub(crate) use size::STEEPEST;

use std::sync::{Arc, OnceLock};

use crate::dense::{Block, Columns};
use crate::sparse::{Csr, Fused, Plus, Rounded};

/// A lazy matrix.
#[derive(Debug, Clone)]
pub enum Operator {
    /// A sparse matrix.
    Sparse(Sparse),
    /// A tall dense matrix.
    Dense(Dense),
    /// diag(shift) + scale · diag(left) · inner · diag(right).
    Scaled(Scaled),
    /// inner^k, k ≥ 1.
    Power(Arc<Operator>, usize),
    /// Σ coefficient · term, of equal shapes.
    Sum(Vec<(f64, Operator)>),
}

/// A sparse leaf with its name in formulas; its transpose is built when first needed.
#[derive(Debug, Clone)]
pub struct Sparse {
    name: Arc<str>,
    matrix: Csr,
    symmetric: bool,
    transposed: Arc<OnceLock<Csr>>,
}

/// A dense leaf with its name in formulas.
#[derive(Debug, Clone)]
pub struct Dense {
    name: Arc<str>,
    columns: Arc<Columns>,
}

/// A diagonal matrix with its name in formulas.
#[derive(Debug, Clone)]
pub struct Diagonal {
    name: Arc<str>,
    values: Arc<[f32]>,
}

/// diag(shift) + scale · diag(left) · inner · diag(right); what is absent is 0 for the shift, 1 elsewhere.
#[derive(Debug, Clone)]
pub struct Scaled {
    /// Added to the diagonal.
    pub shift: Option<Diagonal>,
    /// Multiplies the second term.
    pub scale: f64,
    /// Multiplies the rows of the inner matrix.
    pub left: Option<Diagonal>,
    /// The matrix between the diagonals.
    pub inner: Arc<Operator>,
    /// Multiplies the columns of the inner matrix.
    pub right: Option<Diagonal>,
}

/// Blocks that products need on the way, kept for the next product.
#[derive(Debug, Default)]
pub struct Workspace {
    free: Vec<Block>,
    /// Whether sparse products may round what they gather, see [`Rounded`].
    pub(crate) rounds: bool,
}

impl Workspace {
    /// A block of that shape with arbitrary content.
    pub fn take(&mut self, rows: usize, cols: usize) -> Block {
        match self.free.iter().position(|block| block.rows() == rows && block.cols() == cols) {
            Some(at) => self.free.swap_remove(at),
            None => Block::zeros(rows, cols),
        }
    }

    /// diag(factors) x.
    fn scaled(&mut self, x: &Block, factors: &[f32]) -> Block {
        let mut scaled = self.take(x.rows(), x.cols());
        scaled.update_rows(|i, row| row.iter_mut().zip(x.row(i)).for_each(|(to, &from)| *to = factors[i] * from));
        scaled
    }

    /// Gives a block back.
    pub fn give(&mut self, block: Block) {
        self.free.push(block);
    }
}

impl Diagonal {
    /// A diagonal that prints as `diag(name)`.
    pub fn new(name: &str, values: impl Into<Arc<[f32]>>) -> Self {
        Diagonal { name: name.into(), values: values.into() }
    }

    /// The entries.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    fn same(a: &Option<Diagonal>, b: &Option<Diagonal>) -> bool {
        match (a, b) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(&a.values, &b.values) || a.values == b.values,
            _ => false,
        }
    }
}

impl Sparse {
    /// The matrix.
    pub fn matrix(&self) -> &Csr {
        &self.matrix
    }

    /// Its transpose: itself when symmetric, else built once and kept.
    pub fn transposed(&self) -> &Csr {
        if self.symmetric { &self.matrix } else { self.transposed.get_or_init(|| self.matrix.transposed()) }
    }

    /// y = … (A or Aᵀ) diag(right) x …, see [`Fused`].
    fn product(
        &self,
        x: &Block,
        right: Option<&[f32]>,
        y: &mut Block,
        fused: &Fused,
        transpose: bool,
        work: &mut Workspace,
    ) {
        let matrix = if transpose { self.transposed() } else { &self.matrix };
        if work.rounds {
            let rounded = Rounded::of(x, right, work.take(x.rows(), Rounded::words(x.cols())));
            matrix.multiply_rounded(&rounded, y, fused);
            return work.give(rounded.into_block());
        }
        let Some(right) = right else { return matrix.multiply_fused(x, y, fused) };
        let scaled = work.scaled(x, right);
        matrix.multiply_fused(&scaled, y, fused);
        work.give(scaled);
    }
}

impl Dense {
    /// The columns.
    pub fn columns(&self) -> &Arc<Columns> {
        &self.columns
    }
}

impl Operator {
    /// A sparse leaf; `symmetric` promises that the matrix equals its transpose.
    pub fn sparse(name: &str, matrix: Csr, symmetric: bool) -> Self {
        assert!(!symmetric || matrix.rows() == matrix.cols(), "a symmetric matrix is square");
        Operator::Sparse(Sparse { name: name.into(), matrix, symmetric, transposed: Arc::default() })
    }

    /// A dense leaf.
    pub fn dense(name: &str, columns: impl Into<Columns>) -> Self {
        Operator::Dense(Dense { name: name.into(), columns: Arc::new(columns.into()) })
    }

    /// inner^k.
    ///
    /// # Panics
    /// When k is 0 or the matrix is not square.
    pub fn power(inner: Operator, k: usize) -> Self {
        assert!(k > 0, "powers start at 1");
        assert_eq!(inner.rows(), inner.cols(), "a power of a matrix that is not square");
        if k == 1 { inner } else { Operator::Power(Arc::new(inner), k) }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Operator::Sparse(leaf) => leaf.matrix.rows(),
            Operator::Dense(leaf) => leaf.columns.rows(),
            Operator::Scaled(scaled) => scaled.inner.rows(),
            Operator::Power(inner, _) => inner.rows(),
            Operator::Sum(terms) => terms.first().map_or(0, |(_, term)| term.rows()),
        }
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        match self {
            Operator::Sparse(leaf) => leaf.matrix.cols(),
            Operator::Dense(leaf) => leaf.columns.cols(),
            Operator::Scaled(scaled) => scaled.inner.cols(),
            Operator::Power(inner, _) => inner.cols(),
            Operator::Sum(terms) => terms.first().map_or(0, |(_, term)| term.cols()),
        }
    }

    /// Whether the matrix is known to equal its transpose.
    pub fn is_symmetric(&self) -> bool {
        match self {
            Operator::Sparse(leaf) => leaf.symmetric,
            Operator::Dense(_) => false,
            Operator::Scaled(scaled) => scaled.inner.is_symmetric() && Diagonal::same(&scaled.left, &scaled.right),
            Operator::Power(inner, _) => inner.is_symmetric(),
            Operator::Sum(terms) => terms.iter().all(|(_, term)| term.is_symmetric()),
        }
    }

    /// The simplest operator inside with the same left singular vectors in the same order: the base
    /// of a power of a symmetric matrix, else the operator itself.
    pub fn same_vectors_as(&self) -> &Operator {
        match self {
            Operator::Power(inner, _) if inner.is_symmetric() => inner.same_vectors_as(),
            Operator::Scaled(Scaled { shift: None, left: None, right: None, scale, inner }) if *scale != 0.0 => {
                inner.same_vectors_as()
            }
            _ => self,
        }
    }

    /// Multiply-adds of a product with one column.
    pub fn cost(&self) -> u64 {
        match self {
            Operator::Sparse(leaf) => leaf.matrix.nnz() as u64,
            Operator::Dense(leaf) => leaf.columns.stored() as u64,
            Operator::Scaled(scaled) => {
                let diagonals = [&scaled.shift, &scaled.left, &scaled.right].into_iter().flatten().count();
                scaled.inner.cost() + (diagonals * scaled.inner.rows()) as u64
            }
            Operator::Power(inner, k) => inner.cost() * *k as u64,
            Operator::Sum(terms) => terms.iter().map(|(_, term)| term.cost()).sum(),
        }
    }

    /// Bytes held by leaves and diagonals, shared ones once (patterns shared between leaves twice).
    pub fn memory(&self) -> usize {
        let mut seen = Vec::new();
        self.count_memory(&mut seen)
    }

    fn count_memory(&self, seen: &mut Vec<usize>) -> usize {
        let mut once = |at: usize, bytes: usize| {
            let new = !seen.contains(&at);
            if new {
                seen.push(at);
            }
            if new { bytes } else { 0 }
        };
        match self {
            Operator::Sparse(leaf) => {
                let transposed = leaf.transposed.get().map_or(0, Csr::memory);
                once(leaf.matrix.values().as_ptr().addr(), leaf.matrix.memory() + transposed)
            }
            Operator::Dense(leaf) => once(Arc::as_ptr(&leaf.columns).addr(), leaf.columns.memory()),
            Operator::Scaled(scaled) => {
                let diagonals = [&scaled.shift, &scaled.left, &scaled.right].into_iter().flatten();
                let own: usize = diagonals.map(|d| once(d.values.as_ptr().addr(), 4 * d.values.len())).sum();
                own + scaled.inner.count_memory(seen)
            }
            Operator::Power(inner, _) => inner.count_memory(seen),
            Operator::Sum(terms) => terms.iter().map(|(_, term)| term.count_memory(seen)).sum(),
        }
    }

    /// A x.
    pub fn apply(&self, x: &Block) -> Block {
        let mut y = Block::zeros(self.rows(), x.cols());
        self.apply_into(x, &mut y, &mut Workspace::default());
        y
    }

    /// Aᵀ x.
    pub fn apply_transposed(&self, x: &Block) -> Block {
        let mut y = Block::zeros(self.cols(), x.cols());
        self.apply_transposed_into(x, &mut y, &mut Workspace::default());
        y
    }

    /// y = A x, with the intermediate blocks of `work`.
    pub fn apply_into(&self, x: &Block, y: &mut Block, work: &mut Workspace) {
        self.product(x, y, &Fused::default(), false, work);
    }

    /// y = Aᵀ x, with the intermediate blocks of `work`.
    pub fn apply_transposed_into(&self, x: &Block, y: &mut Block, work: &mut Workspace) {
        self.product(x, y, &Fused::default(), !self.is_symmetric(), work);
    }

    /// y = [y] + scale · left · (A or Aᵀ) x + …, see [`Fused`].
    pub(crate) fn product(&self, x: &Block, y: &mut Block, fused: &Fused, transpose: bool, work: &mut Workspace) {
        match self {
            Operator::Sparse(leaf) => leaf.product(x, None, y, fused, transpose, work),
            Operator::Dense(leaf) => {
                let product = leaf.product(x, transpose);
                fused.finish(&product, y);
            }
            Operator::Scaled(scaled) => scaled.product(x, y, fused, transpose, work),
            Operator::Power(inner, k) => {
                let mut last: Option<Block> = None;
                for _ in 1..*k {
                    let mut next = work.take(x.rows(), x.cols());
                    inner.product(last.as_ref().unwrap_or(x), &mut next, &Fused::default(), transpose, work);
                    last.replace(next).into_iter().for_each(|old| work.give(old));
                }
                inner.product(last.as_ref().unwrap_or(x), y, fused, transpose, work);
                last.into_iter().for_each(|block| work.give(block));
            }
            Operator::Sum(terms) => {
                for (at, (coefficient, term)) in terms.iter().enumerate() {
                    let plus = if at == 0 { fused.plus } else { &[] };
                    let accumulate = fused.accumulate || at > 0;
                    let scale = fused.scale * *coefficient as f32;
                    term.product(x, y, &Fused { scale, plus, accumulate, ..*fused }, transpose, work);
                }
            }
        }
    }
}

impl Dense {
    fn product(&self, x: &Block, transpose: bool) -> Block {
        if !transpose {
            let small = crate::dense::Small::from_fn(x.rows(), x.cols(), |i, j| f64::from(x.get(i, j)));
            return self.columns.times(&small);
        }
        Block::from(&self.columns.cross(x))
    }
}

impl Scaled {
    fn product(&self, x: &Block, y: &mut Block, fused: &Fused, transpose: bool, work: &mut Workspace) {
        let (left, right) = if transpose { (&self.right, &self.left) } else { (&self.left, &self.right) };
        let both = times(fused.left, left);
        let shifted = times(fused.left, &self.shift);
        let mut plus = fused.plus.to_vec();
        if self.shift.is_some() {
            plus.push(Plus { factor: fused.scale, diagonal: shifted.as_deref(), block: x });
        }
        let scale = fused.scale * self.scale as f32;
        let fused = Fused { scale, left: both.as_deref(), plus: &plus, accumulate: fused.accumulate };
        match (right, &*self.inner) {
            (None, inner) => inner.product(x, y, &fused, transpose, work),
            (Some(right), Operator::Sparse(leaf)) => leaf.product(x, Some(&right.values), y, &fused, transpose, work),
            (Some(right), inner) => {
                let scaled = work.scaled(x, &right.values);
                inner.product(&scaled, y, &fused, transpose, work);
                work.give(scaled);
            }
        }
    }
}

/// The product of two diagonals, as values of one.
fn times<'a>(outer: Option<&'a [f32]>, own: &'a Option<Diagonal>) -> Option<std::borrow::Cow<'a, [f32]>> {
    use std::borrow::Cow::{Borrowed, Owned};
    match (outer, own) {
        (None, None) => None,
        (Some(outer), None) => Some(Borrowed(outer)),
        (None, Some(own)) => Some(Borrowed(&own.values)),
        (Some(outer), Some(own)) => Some(Owned(outer.iter().zip(own.values.iter()).map(|(a, b)| a * b).collect())),
    }
}
