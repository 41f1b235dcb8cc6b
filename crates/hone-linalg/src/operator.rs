//! [`Operator`]: a matrix as an expression that is only ever multiplied, never formed (sec. 2.4).
//!
//! Leaves are sparse or tall dense matrices, shared; nodes are diag(shift) + scale·diag(left)·A·diag(right),
//! powers and sums. W^k x is k sparse products, so no k-step matrix is stored. An operator is plain
//! data: it prints as a formula, knows its cost and memory, and is multiplied in any [`Space`].

mod entries;
mod explicit;
mod formula;
mod norm;
mod size;

pub use entries::Rows;
pub use entries::in_chunks;
pub use norm::Energy;
pub use size::SQUARABLE;
pub use size::STEEPEST;

pub use crate::space::Workspace;
pub use crate::sparse::Diagonal;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use crate::dense::{Block, Columns, Small};
use crate::space::{Host, Leaf, Space};
use crate::sparse::{Csr, Fused, Pattern, Plus};

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

impl Sparse {
    /// The matrix.
    pub fn matrix(&self) -> &Csr {
        &self.matrix
    }

    /// Its transpose: itself when symmetric, else built once and kept.
    pub fn transposed(&self) -> &Csr {
        if self.symmetric {
            &self.matrix
        } else {
            self.transposed.get_or_init(|| self.matrix.transposed())
        }
    }

    /// y = … (A or Aᵀ) diag(right) x …, see [`Fused`].
    fn product<S: Space>(&self, right: Option<&Diagonal>, transpose: bool, to: Product<'_, S>) {
        let matrix = if transpose {
            self.transposed()
        } else {
            &self.matrix
        };
        let Product {
            space,
            x,
            y,
            then,
            work,
        } = to;
        space.multiply(
            &Leaf {
                matrix,
                right,
                rounded: work.rounds,
            },
            x,
            y,
            &then,
            work,
        );
    }
}

impl Dense {
    /// The columns.
    pub fn columns(&self) -> &Arc<Columns> {
        &self.columns
    }
}

impl Operator {
    /// A sparse leaf.
    pub fn sparse(name: &str, matrix: Csr) -> Self {
        Operator::Sparse(Sparse {
            name: name.into(),
            matrix,
            symmetric: false,
            transposed: Arc::default(),
        })
    }

    /// A sparse leaf that the caller guarantees to be symmetric, so that its transpose is not built.
    ///
    /// # Panics
    /// When the matrix is not square.
    pub fn symmetric(name: &str, matrix: Csr) -> Self {
        assert_eq!(matrix.rows(), matrix.cols(), "a symmetric matrix is square");
        Operator::Sparse(Sparse {
            name: name.into(),
            matrix,
            symmetric: true,
            transposed: Arc::default(),
        })
    }

    /// A dense leaf.
    pub fn dense(name: &str, columns: impl Into<Columns>) -> Self {
        Operator::shared(name, Arc::new(columns.into()))
    }

    /// A shared dense leaf.
    pub fn shared(name: &str, columns: Arc<Columns>) -> Self {
        Operator::Dense(Dense {
            name: name.into(),
            columns,
        })
    }

    /// inner^k.
    ///
    /// # Panics
    /// When k is 0 or the matrix is not square.
    pub fn power(inner: Operator, k: usize) -> Self {
        assert!(k > 0, "powers start at 1");
        assert_eq!(
            inner.rows(),
            inner.cols(),
            "a power of a matrix that is not square"
        );
        if k == 1 {
            inner
        } else {
            Operator::Power(Arc::new(inner), k)
        }
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
            Operator::Scaled(scaled) => {
                scaled.inner.is_symmetric() && Diagonal::same(&scaled.left, &scaled.right)
            }
            Operator::Power(inner, _) => inner.is_symmetric(),
            Operator::Sum(terms) => terms.iter().all(|(_, term)| term.is_symmetric()),
        }
    }

    /// The simplest operator inside with the same left singular vectors in the same order: the base
    /// of a power of a symmetric matrix, else the operator itself.
    pub fn same_vectors_as(&self) -> &Operator {
        match self {
            Operator::Power(inner, _) if inner.is_symmetric() => inner.same_vectors_as(),
            Operator::Scaled(Scaled {
                shift: None,
                left: None,
                right: None,
                scale,
                inner,
            }) if *scale != 0.0 => inner.same_vectors_as(),
            _ => self,
        }
    }

    /// The same matrix with diagonals on both sides multiplied into a sparse leaf, if there is one: this takes as
    /// many values as the leaf has, instead of a scaled copy of every block that is multiplied. Its rounding differs.
    pub fn folded(&self) -> Option<Operator> {
        let Operator::Scaled(Scaled {
            shift,
            scale,
            left: Some(left),
            inner,
            right: Some(right),
        }) = self
        else {
            return None;
        };
        let Operator::Sparse(leaf) = &**inner else {
            return None;
        };
        let matrix = leaf.matrix.scaled_by(*scale, left, right);
        let leaf_of = if self.is_symmetric() {
            Operator::symmetric
        } else {
            Operator::sparse
        };
        let folded = leaf_of(&leaf.name, matrix);
        Some(match shift.clone() {
            None => folded,
            shift => Operator::Scaled(Scaled {
                shift,
                scale: 1.0,
                left: None,
                inner: Arc::new(folded),
                right: None,
            }),
        })
    }

    /// Multiply-adds of a product with one column.
    pub fn cost(&self) -> u64 {
        match self {
            Operator::Sparse(leaf) => leaf.matrix.nnz() as u64,
            Operator::Dense(leaf) => leaf.columns.stored() as u64,
            Operator::Scaled(scaled) => {
                let diagonals = [&scaled.shift, &scaled.left, &scaled.right]
                    .into_iter()
                    .flatten()
                    .count();
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
                once(leaf.matrix.identity(), leaf.matrix.memory() + transposed)
            }
            Operator::Dense(leaf) => once(Arc::as_ptr(&leaf.columns).addr(), leaf.columns.memory()),
            Operator::Scaled(scaled) => {
                let diagonals = [&scaled.shift, &scaled.left, &scaled.right]
                    .into_iter()
                    .flatten();
                let own: usize = diagonals
                    .map(|d| once(d.values().as_ptr().addr(), 4 * d.values().len()))
                    .sum();
                own + scaled.inner.count_memory(seen)
            }
            Operator::Power(inner, _) => inner.count_memory(seen),
            Operator::Sum(terms) => terms.iter().map(|(_, term)| term.count_memory(seen)).sum(),
        }
    }

    /// The pattern whose walks lead to all entries off the diagonal, where there is one and it is symmetric.
    pub fn walked(&self) -> Option<&Pattern> {
        match self {
            Operator::Sparse(leaf) => Some(&**leaf.matrix.pattern()).filter(|_| leaf.symmetric),
            Operator::Dense(_) => None,
            Operator::Scaled(scaled) => scaled.inner.walked(),
            Operator::Power(inner, _) => inner.walked(),
            Operator::Sum(terms) => {
                let mut patterns = terms.iter().map(|(_, term)| term.walked());
                let first = patterns.next()??;
                patterns
                    .all(|other| other.is_some_and(|other| std::ptr::eq(other, first)))
                    .then_some(first)
            }
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
        self.product(
            false,
            Product {
                space: &Host,
                x,
                y,
                then: Fused::default(),
                work,
            },
        );
    }

    /// y = Aᵀ x, with the intermediate blocks of `work`.
    pub fn apply_transposed_into(&self, x: &Block, y: &mut Block, work: &mut Workspace) {
        self.product(
            !self.is_symmetric(),
            Product {
                space: &Host,
                x,
                y,
                then: Fused::default(),
                work,
            },
        );
    }

    /// `y = [y]` + scale · left · (A or Aᵀ) x + …, see [`Fused`], in any space.
    pub fn product<S: Space>(&self, transpose: bool, to: Product<'_, S>) {
        match self {
            Operator::Sparse(leaf) => leaf.product(None, transpose, to),
            Operator::Dense(leaf) => leaf.product(transpose, to),
            Operator::Scaled(scaled) => scaled.product(transpose, to),
            Operator::Power(inner, k) => {
                let Product {
                    space,
                    x,
                    y,
                    then,
                    work,
                } = to;
                let (rows, cols) = space.shape(x);
                let mut last: Option<S::Tall> = None;
                for _ in 1..*k {
                    let mut next = work.take(space, rows, cols);
                    let from = last.as_ref().unwrap_or(x);
                    inner.product(
                        transpose,
                        Product {
                            space,
                            x: from,
                            y: &mut next,
                            then: Fused::default(),
                            work,
                        },
                    );
                    last.replace(next)
                        .into_iter()
                        .for_each(|old| work.give(old));
                }
                inner.product(
                    transpose,
                    Product {
                        space,
                        x: last.as_ref().unwrap_or(x),
                        y,
                        then,
                        work,
                    },
                );
                last.into_iter().for_each(|block| work.give(block));
            }
            Operator::Sum(terms) => {
                let Product {
                    space,
                    x,
                    y,
                    then,
                    work,
                } = to;
                for (at, (coefficient, term)) in terms.iter().enumerate() {
                    let plus = if at == 0 { then.plus } else { &[] };
                    let accumulate = then.accumulate || at > 0;
                    let scale = then.scale * *coefficient as f32;
                    let then = Fused {
                        scale,
                        plus,
                        accumulate,
                        ..then
                    };
                    term.product(
                        transpose,
                        Product {
                            space,
                            x,
                            y,
                            then,
                            work,
                        },
                    );
                }
            }
        }
    }
}

/// The target of a product: `y = [y]` + scale · left · (matrix) x + … in some space.
pub struct Product<'a, S: Space> {
    /// Where the blocks are.
    pub space: &'a S,
    /// The block that is multiplied.
    pub x: &'a S::Tall,
    /// The result.
    pub y: &'a mut S::Tall,
    /// What is done to each row of the result before it is stored.
    pub then: Fused<'a, S::Tall>,
    /// Blocks to work in.
    pub work: &'a mut Workspace<S::Tall>,
}

impl Dense {
    /// Dense leaves are in the memory of this process, and so are their products.
    fn product<S: Space>(&self, transpose: bool, to: Product<'_, S>) {
        let Product {
            space, x, y, then, ..
        } = to;
        let x = space.export(space.copy(x));
        let product = if transpose {
            Block::from(&self.columns.cross(&x))
        } else {
            self.columns
                .times(&Small::from_fn(x.rows(), x.cols(), |i, j| {
                    f64::from(x.get(i, j))
                }))
        };
        space.finish(&space.import(&product), y, &then);
    }
}

impl Scaled {
    fn product<S: Space>(&self, transpose: bool, to: Product<'_, S>) {
        let Product {
            space,
            x,
            y,
            then,
            work,
        } = to;
        let (left, right) = if transpose {
            (&self.right, &self.left)
        } else {
            (&self.left, &self.right)
        };
        let both = times(then.left, left);
        let shifted = times(then.left, &self.shift);
        let mut plus = then.plus.to_vec();
        if self.shift.is_some() {
            plus.push(Plus {
                factor: then.scale,
                diagonal: shifted.as_deref(),
                block: x,
            });
        }
        let scale = then.scale * self.scale as f32;
        let then = Fused {
            scale,
            left: both.as_deref(),
            plus: &plus,
            accumulate: then.accumulate,
        };
        match (right, &*self.inner) {
            (None, inner) => inner.product(
                transpose,
                Product {
                    space,
                    x,
                    y,
                    then,
                    work,
                },
            ),
            (Some(right), Operator::Sparse(leaf)) => {
                leaf.product(
                    Some(right),
                    transpose,
                    Product {
                        space,
                        x,
                        y,
                        then,
                        work,
                    },
                );
            }
            (Some(right), inner) => {
                let (rows, cols) = space.shape(x);
                let mut scaled = work.take(space, rows, cols);
                space.scale_rows(right, x, &mut scaled);
                inner.product(
                    transpose,
                    Product {
                        space,
                        x: &scaled,
                        y,
                        then,
                        work,
                    },
                );
                work.give(scaled);
            }
        }
    }
}

/// The product of two diagonals, if both are given.
fn times<'a>(outer: Option<&'a Diagonal>, own: &'a Option<Diagonal>) -> Option<Cow<'a, Diagonal>> {
    match (outer, own) {
        (None, None) => None,
        (Some(outer), None) => Some(Cow::Borrowed(outer)),
        (None, Some(own)) => Some(Cow::Borrowed(own)),
        (Some(outer), Some(own)) => Some(Cow::Owned(outer.times(own))),
    }
}
