//! [`Operator`]: a matrix as an expression that is only ever multiplied, never formed (sec. 2.4).
//!
//! Leaves are sparse or tall dense matrices, shared; nodes are diag(shift) + scale·diag(left)·A·diag(right),
//! powers, products and sums. W^k x is k sparse products, so no k-step matrix is stored. An operator is plain
//! data: it prints as a formula, knows its cost and memory, and is multiplied in any [`Space`].

mod entries;
mod size;

pub use entries::Rows;
pub use size::{Energy, SQUARABLE, STEEPEST};

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
    /// left · right.
    Product(Arc<Operator>, Arc<Operator>),
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
        Operator::leaf(name, matrix, false)
    }

    /// A sparse leaf that the caller guarantees to be symmetric, so that its transpose is not built.
    ///
    /// # Panics
    /// When the matrix is not square.
    pub fn symmetric(name: &str, matrix: Csr) -> Self {
        assert_eq!(matrix.rows(), matrix.cols(), "a symmetric matrix is square");
        Operator::leaf(name, matrix, true)
    }

    fn leaf(name: &str, matrix: Csr, symmetric: bool) -> Self {
        Operator::Sparse(Sparse {
            name: name.into(),
            matrix,
            symmetric,
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

    /// left · right.
    ///
    /// # Panics
    /// When the shapes do not fit.
    pub fn times(left: Operator, right: Operator) -> Self {
        assert_eq!(
            left.cols(),
            right.rows(),
            "shapes of the factors of a product"
        );
        Operator::Product(Arc::new(left), Arc::new(right))
    }

    /// scale · inner.
    pub fn multiple(scale: f64, inner: impl Into<Arc<Operator>>) -> Self {
        Operator::Scaled(Scaled {
            scale,
            ..Scaled::of(inner)
        })
    }

    /// The factor and the matrix, of a multiple of one that is not zero.
    pub(crate) fn as_multiple(&self) -> Option<(f64, &Operator)> {
        match self {
            Operator::Scaled(Scaled {
                shift: None,
                left: None,
                right: None,
                scale,
                inner,
            }) if *scale != 0.0 => Some((*scale, inner)),
            _ => None,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.shape().0
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.shape().1
    }

    fn shape(&self) -> (usize, usize) {
        match self {
            Operator::Sparse(leaf) => (leaf.matrix.rows(), leaf.matrix.cols()),
            Operator::Dense(leaf) => (leaf.columns.rows(), leaf.columns.cols()),
            Operator::Scaled(Scaled { inner, .. }) | Operator::Power(inner, _) => inner.shape(),
            Operator::Product(left, right) => (left.rows(), right.cols()),
            Operator::Sum(terms) => terms.first().map_or((0, 0), |(_, term)| term.shape()),
        }
    }

    /// Whether the matrix is known to equal its transpose.
    pub fn is_symmetric(&self) -> bool {
        match self {
            Operator::Sparse(leaf) => leaf.symmetric,
            Operator::Dense(_) | Operator::Product(..) => false,
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
            _ => self
                .as_multiple()
                .map_or(self, |(_, inner)| inner.same_vectors_as()),
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
        let folded = Operator::leaf(&leaf.name, matrix, self.is_symmetric());
        Some(match shift {
            None => folded,
            shift => Operator::Scaled(Scaled {
                shift: shift.clone(),
                ..Scaled::of(folded)
            }),
        })
    }

    /// Multiply-adds of a product with one column.
    pub fn cost(&self) -> u64 {
        match self {
            Operator::Sparse(leaf) => leaf.matrix.nnz() as u64,
            Operator::Dense(leaf) => leaf.columns.stored() as u64,
            Operator::Scaled(scaled) => {
                let diagonals = [&scaled.shift, &scaled.left, &scaled.right];
                let given = diagonals.into_iter().flatten().count();
                scaled.inner.cost() + (given * scaled.inner.rows()) as u64
            }
            Operator::Power(inner, k) => inner.cost() * *k as u64,
            Operator::Product(left, right) => left.cost() + right.cost(),
            Operator::Sum(terms) => terms.iter().map(|(_, term)| term.cost()).sum(),
        }
    }

    /// The pattern whose walks lead to all entries off the diagonal, where there is one and it is symmetric.
    pub fn walked(&self) -> Option<&Pattern> {
        match self {
            Operator::Sparse(leaf) => Some(&**leaf.matrix.pattern()).filter(|_| leaf.symmetric),
            Operator::Dense(_) | Operator::Product(..) => None,
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
        self.image(&Host, false, x, &mut Workspace::default())
    }

    /// Aᵀ x.
    pub fn apply_transposed(&self, x: &Block) -> Block {
        self.image(&Host, true, x, &mut Workspace::default())
    }

    /// A x or Aᵀ x in any space, in a matrix of `work`.
    pub fn image<S: Space>(
        &self,
        space: &S,
        transpose: bool,
        x: &S::Tall,
        work: &mut Workspace<S::Tall>,
    ) -> S::Tall {
        let rows = if transpose { self.cols() } else { self.rows() };
        let mut y = work.take(space, rows, space.shape(x).1);
        let transpose = transpose && !self.is_symmetric();
        self.product(space, transpose, x, &mut y, Fused::default(), work);
        y
    }

    /// `y = [y]` + scale · left · (A or Aᵀ) x + …, see [`Fused`], in any space.
    pub fn product<S: Space>(
        &self,
        space: &S,
        transpose: bool,
        x: &S::Tall,
        y: &mut S::Tall,
        then: Fused<S::Tall>,
        work: &mut Workspace<S::Tall>,
    ) {
        match self {
            Operator::Sparse(leaf) => {
                space.multiply(&leaf.times(transpose, None, work), x, y, &then, work);
            }
            // Dense leaves are in the memory of this process, and so are their products.
            Operator::Dense(leaf) => {
                let x = space.export(space.copy(x));
                let product = if transpose {
                    Block::from(&leaf.columns.cross(&x))
                } else {
                    leaf.columns.times(&Small::from(&x))
                };
                space.finish(&space.import(&product), y, &then);
            }
            Operator::Scaled(scaled) => scaled.product(space, transpose, x, y, then, work),
            Operator::Power(inner, k) => {
                let mut last: Option<S::Tall> = None;
                for _ in 1..*k {
                    let next = inner.image(space, transpose, last.as_ref().unwrap_or(x), work);
                    work.give_all(last.replace(next));
                }
                let from = last.as_ref().unwrap_or(x);
                inner.product(space, transpose, from, y, then, work);
                work.give_all(last);
            }
            Operator::Product(left, right) => {
                let (first, last) = match transpose {
                    true => (left, right),
                    false => (right, left),
                };
                let between = first.image(space, transpose, x, work);
                last.product(space, transpose, &between, y, then, work);
                work.give(between);
            }
            Operator::Sum(terms) => {
                for (at, (coefficient, term)) in terms.iter().enumerate() {
                    let then = Fused {
                        scale: then.scale * *coefficient as f32,
                        plus: if at == 0 { then.plus } else { &[] },
                        accumulate: then.accumulate || at > 0,
                        ..then
                    };
                    term.product(space, transpose, x, y, then, work);
                }
            }
        }
    }

    /// The formula, such as `diag(1) − diag(d^-1/2)·W³·diag(d^-1/2)`.
    pub fn formula(&self) -> String {
        match self {
            Operator::Sparse(leaf) => leaf.name.to_string(),
            Operator::Dense(leaf) => leaf.name.to_string(),
            Operator::Scaled(scaled) => {
                let diagonal =
                    |of: &Option<Diagonal>| of.as_ref().map(|of| format!("diag({})", of.name()));
                let inner = Some(scaled.inner.formula_of_factor());
                let product = [diagonal(&scaled.left), inner, diagonal(&scaled.right)];
                let mut out = diagonal(&scaled.shift).unwrap_or_default();
                let product: Vec<String> = product.into_iter().flatten().collect();
                push_term(&mut out, scaled.scale, &product.join("·"));
                out
            }
            Operator::Power(inner, k) => {
                let base = match **inner {
                    Operator::Sparse(_) | Operator::Dense(_) => inner.formula(),
                    _ => format!("({})", inner.formula()),
                };
                const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
                let digits = k.to_string().into_bytes().into_iter();
                base + &String::from_iter(digits.map(|d| SUPERSCRIPTS[usize::from(d - b'0')]))
            }
            Operator::Product(left, right) => {
                format!("{}·{}", left.formula_of_factor(), right.formula_of_factor())
            }
            Operator::Sum(terms) => {
                let mut out = String::new();
                for (coefficient, term) in terms {
                    push_term(&mut out, *coefficient, &term.formula_of_factor());
                }
                out
            }
        }
    }

    /// The formula, in parentheses if it is a sum.
    fn formula_of_factor(&self) -> String {
        match self {
            Operator::Sum(_) | Operator::Scaled(Scaled { shift: Some(_), .. }) => {
                format!("({})", self.formula())
            }
            _ => self.formula(),
        }
    }
}

impl Sparse {
    /// A or Aᵀ, times a diagonal on the right, for a product.
    fn times<'a, T>(
        &'a self,
        transpose: bool,
        right: Option<&'a Diagonal>,
        work: &Workspace<T>,
    ) -> Leaf<'a> {
        Leaf {
            matrix: if transpose {
                self.transposed()
            } else {
                &self.matrix
            },
            right,
            rounded: work.rounds,
        }
    }
}

impl Scaled {
    /// The matrix itself.
    pub fn of(inner: impl Into<Arc<Operator>>) -> Self {
        Scaled {
            shift: None,
            scale: 1.0,
            left: None,
            inner: inner.into(),
            right: None,
        }
    }

    /// The diagonals on the left and on the right of the matrix, or of its transpose.
    fn sides(&self, transpose: bool) -> (&Option<Diagonal>, &Option<Diagonal>) {
        if transpose {
            (&self.right, &self.left)
        } else {
            (&self.left, &self.right)
        }
    }

    fn product<S: Space>(
        &self,
        space: &S,
        transpose: bool,
        x: &S::Tall,
        y: &mut S::Tall,
        then: Fused<S::Tall>,
        work: &mut Workspace<S::Tall>,
    ) {
        let (left, right) = self.sides(transpose);
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
        let then = Fused {
            scale: then.scale * self.scale as f32,
            left: both.as_deref(),
            plus: &plus,
            accumulate: then.accumulate,
        };
        match (right, &*self.inner) {
            (None, inner) => inner.product(space, transpose, x, y, then, work),
            (Some(_), Operator::Sparse(leaf)) => {
                let leaf = leaf.times(transpose, right.as_ref(), work);
                space.multiply(&leaf, x, y, &then, work);
            }
            (Some(right), inner) => {
                let (rows, cols) = space.shape(x);
                let mut scaled = work.take(space, rows, cols);
                space.scale_rows(right, x, &mut scaled);
                inner.product(space, transpose, &scaled, y, then, work);
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

fn push_term(out: &mut String, coefficient: f64, body: &str) {
    out.push_str(match (out.is_empty(), coefficient < 0.0) {
        (true, false) => "",
        (true, true) => "−",
        (false, false) => " + ",
        (false, true) => " − ",
    });
    let size = coefficient.abs();
    if size != 1.0 {
        out.push_str(&format!("{}·", short(size)));
    }
    out.push_str(body);
}

/// A number with four significant digits, powers of two as such.
fn short(value: f64) -> String {
    let exponent = value.log2();
    if exponent.fract() == 0.0 && exponent.abs() > 3.0 {
        return format!("2^{exponent}");
    }
    if !(1e-4..1e6).contains(&value) {
        return format!("{value:.3e}");
    }
    let digits = (3 - value.log10().floor() as i32).clamp(0, 8) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}
