//! Truncated SVD of an operator: the best approximation of a given rank in squared loss.
//!
//! `Subspace` finds V, orthonormal, that spans the leading right singular space and some more. One
//! product Y = S V follows; the eigenvectors E of the small YᵀY = E diag(sigma²) Eᵀ give
//! U = Y E diag(1/sigma) and the right vectors V E. Powers of symmetric matrices share the vectors of
//! their base, and what is said of their accuracy is said of the base; small matrices are decomposed whole (`exact`), and those
//! that fall apart component by component (`pieces`); dense matrices of up to [`WIDEST`] rows or columns are
//! solved through the Gram matrix of the fewer.
//! Cost: 2 products with S an iteration (1 if symmetric), one more, and O(N b²).

mod residual;
mod side;

pub use super::svd_options::{Iterations, Svd};
pub(super) use residual::residual;
pub use side::Side;

use super::exact::{self, exact};
use super::iterate::{at_most, not_negative};
use super::memory::{Held, Shape, WORK_BLOCKS};
use super::method::{Factors, Info, Loss, Method, Task, share_left};
use super::pieces::{pieces, svd_of_pieces};
use super::subspace::{DEPTH, Image, MANY, Subspace};
use super::svd_options::{floor, multiple_from};
use crate::dense::{Block, Columns, Panels, Small, orthonormalize};
use crate::error::Result;
use crate::operator::{Diagonal, Operator, Product, SQUARABLE, Scaled};
use crate::random::Key;
use crate::space::{Fold, Host, In, Map, Space, Workspace, panels, signs, widths};
use crate::sparse::Fused;

impl Method for Svd {
    fn check(&self, field: &str) -> Result<()> {
        not_negative(field, "tolerance", self.tolerance)?;
        at_most(field, "oversampling", self.oversampling, MOST_BEYOND)?;
        at_most(field, "filter", self.filter, MOST_BEYOND)
    }

    fn is_scale_free(&self) -> bool {
        true
    }

    fn largest(&self) -> f64 {
        SQUARABLE
    }

    fn holds(&self, shape: &Shape) -> Held {
        let width = shape.rank + self.oversampling as u64;
        if self.keeps_basis(shape.entries, shape.rows, width) {
            Held::basis(width, shape.symmetric)
        } else if shape.symmetric && self.filter > 0 {
            Held::filtered(width)
        } else {
            Held::blocks(width, WORK_BLOCKS)
        }
    }

    /// Dense matrices are decomposed through their Gram matrix.
    fn dense_blocks(&self) -> u64 {
        0
    }

    fn factor(&self, s: &Operator, task: &Task) -> Result<Factors> {
        Ok(self.factor_panels(s, task)?.map(Panels::into_block))
    }

    fn factor_panels(&self, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
        let dense = matches!(s, Operator::Dense(_));
        if !dense && (s.cost() as f64 > MEASURED / 10.0 || s.row_work() > MEASURED) {
            return svd_in(&Host, s, self, task);
        }
        // The loss is that of the factors as they are, V included.
        let right = task.right || !dense;
        let mut found = svd_in(&Host, s, self, &Task { right, ..*task })?;
        let loss = match dense {
            true => {
                let kept: f64 = found.sigma.iter().map(|sigma| sigma * sigma).sum();
                let norm = s.squared_norm();
                share_left(norm - kept, norm)?
            }
            false => squared_error(s, &found)?,
        };
        found.v = found.v.filter(|_| task.right);
        found.info.loss = Some(Loss {
            measure: "squared error relative to ‖S‖²; exact".into(),
            values: vec![loss],
            returned: Some(loss),
        });
        Ok(found)
    }
}

/// ‖S − M‖² / ‖S‖² for M = U diag(sigma) Vᵀ, of the factors as they are, in f64: Σ (s − m)² over the nonzeros of S, and Σ m²
/// over all other entries.
fn squared_error(s: &Operator, found: &Factors<Panels>) -> Result<f64> {
    let [u, v] = [Some(&found.u), found.v.as_ref()]
        .map(|side| side.expect("asked for").clone().into_block());
    let beyond_zeros = s.sum_of_rows(|i, row| {
        let left: Vec<f64> = u
            .row(i)
            .iter()
            .zip(&found.sigma)
            .map(|(&u, sigma)| f64::from(u) * sigma)
            .collect();
        row.iter()
            .map(|&(j, value)| {
                let model = dot(&left, v.row(j as usize));
                (value - model).powi(2) - model * model
            })
            .sum()
    });
    let (of_u, of_v, sigma) = (u.gram(), v.gram(), &found.sigma);
    let pairs = (0..sigma.len()).flat_map(|i| (0..sigma.len()).map(move |j| (i, j)));
    let size: f64 = pairs
        .map(|(i, j)| sigma[i] * sigma[j] * of_u.get(i, j) * of_v.get(i, j))
        .sum();
    share_left(size + beyond_zeros, s.squared_norm())
}

fn dot(x: &[f64], y: &[f32]) -> f64 {
    let mut sums = [0.0; 8];
    for (x, y) in x.chunks(8).zip(y.chunks(8)) {
        let terms = x.iter().zip(y).map(|(x, &y)| x * f64::from(y));
        sums.iter_mut()
            .zip(terms)
            .for_each(|(sum, term)| *sum += term);
    }
    sums.iter().sum()
}

/// Additions spent on the loss, which the decomposition itself does not need.
const MEASURED: f64 = 1e6;

/// Multiply-adds spent on one factorisation when iterations are automatic.
const BUDGET: u64 = 4_000_000_000;

/// Dense matrices with more rows and columns are decomposed iteratively, like lazy ones: their Gram matrix
/// would be too large.
pub const WIDEST: usize = 4096;

/// Up to this many columns the Gram matrix is that of the columns, even if there are fewer rows.
pub const NARROW: usize = 512;

/// Maximum oversampling, and maximum degree of a filter.
const MOST_BEYOND: usize = 1 << 12;

/// Rows of a matrix that is decomposed component by component, so that all components together take 40 MB at most.
pub const MOST_IN_PIECES: usize = 1 << 16;

/// Up to this ratio of singular values U = Y E diag(1/sigma) is orthonormal to f32 precision.
const STEADY: f64 = 10.0;

/// The leading singular triplets of an operator.
pub fn svd(s: &Operator, options: &Svd, task: &Task) -> Result<Factors> {
    Ok(svd_in(&Host, s, options, task)?.map(Panels::into_block))
}

/// The leading singular triplets of an operator, computed in some space. This process decomposes small matrices.
pub fn svd_in<S: Space>(
    space: &S,
    s: &Operator,
    options: &Svd,
    task: &Task,
) -> Result<Factors<Panels>> {
    Ok(svd_there(space, s, options, task)?.map(|side| side.exported(space)))
}

/// The same with factors that stay in their space.
pub fn svd_there<S: Space>(
    space: &S,
    s: &Operator,
    options: &Svd,
    task: &Task,
) -> Result<Factors<Side<S::Tall>>> {
    match s {
        Operator::Dense(leaf) if leaf.columns().own().rows.min(s.cols()) <= WIDEST => {
            Ok(dense(space, leaf.columns(), task)?.map(|side| Side::Here(side.into())))
        }
        Operator::Power(inner, k) if inner.is_symmetric() => {
            let mut found = svd_there(space, inner, options, task)?;
            found
                .sigma
                .iter_mut()
                .for_each(|sigma| *sigma = sigma.powi(*k as i32));
            if k % 2 == 0 && task.right {
                found.v = Some(found.u.copy(space));
            }
            found.info.base.get_or_insert_with(|| inner.formula());
            Ok(found)
        }
        Operator::Scaled(Scaled {
            shift: None,
            left: None,
            right: None,
            scale,
            inner,
        }) if *scale != 0.0 => {
            let mut found = svd_there(space, inner, options, task)?;
            found
                .sigma
                .iter_mut()
                .for_each(|sigma| *sigma *= scale.abs());
            if let Some(v) = found.v.as_mut().filter(|_| *scale < 0.0) {
                v.turn(space);
            }
            Ok(found)
        }
        _ if s.rows().max(s.cols()) <= exact::largest(options.width(s, task.rank)) => {
            Ok(exact(s, options, task)?.map(Side::here))
        }
        _ => {
            if let Some(found) = fallen_apart(s, options, task)? {
                return Ok(found.map(Side::here));
            }
            let mut found = lazy(space, s, options, task)?
                .map(|side| Side::There(side).widened(space, task.rank));
            found.sigma.resize(task.rank.max(found.sigma.len()), 0.0);
            Ok(found)
        }
    }
}

/// The triplets of a matrix whose components are all small, where iterations would converge to the same.
fn fallen_apart(s: &Operator, options: &Svd, task: &Task) -> Result<Option<Factors>> {
    let products = if s.is_symmetric() { 1 } else { 2 };
    if s.rows() > MOST_IN_PIECES
        || !options.keeps_basis(
            s.cost() * products,
            s.cols() as u64,
            options.width(s, task.rank) as u64,
        )
    {
        return Ok(None);
    }
    pieces(s)
        .map(|pieces| svd_of_pieces(s, &pieces, options, task))
        .transpose()
}

/// Finds the leading right space, multiplies it once more, and reads the triplets off the image.
fn lazy<S: Space>(
    space: &S,
    s: &Operator,
    options: &Svd,
    task: &Task,
) -> Result<Factors<Vec<S::Tall>>> {
    let folded = s.folded();
    let s = folded.as_ref().unwrap_or(s);
    let mut info = Info::default();
    let width = options.width(s, task.rank);
    let (scale, s) = s.squarable(space, task.key);
    let s = &*s;
    let mut subspace = Subspace::new(space, s, task, width);
    let products = if s.is_symmetric() { 1 } else { 2 };
    let limit = options.limit(s.cost() * products, s.cols() as u64, width as u64);
    let v = subspace.run(limit, options, &mut info)?;
    let Image { v, mut y } = subspace.image(v)?;
    let triplets = Triplets::of_gram(&space.gram(&y), task.rank, s.terms())?;
    (info.rank, info.multiple_from) = (triplets.rank, triplets.multiple_from);
    let rank = task.rank.min(width);
    space.transform(&mut y, &triplets.left(width));
    let mut u = cut(space, y, rank);
    if triplets.spread() > STEADY {
        orthonormalize(&mut In {
            space,
            panels: &mut u,
        });
    }
    let signs = signs(&space.fold(&u, Fold::Extreme));
    space.map(&mut u, &Map::Scale(&signs));
    let v = v.filter(|_| task.right).map(|v| {
        let mut right = triplets.right(rank);
        right.scale_columns(&signs);
        let v = space.times(&v, &right, &widths(rank));
        vacated(space, s, v, task.key)
    });
    let kept = triplets.padded(rank);
    info.measured(
        residual(space, s, &mut u, &kept, v.as_deref(), task)?,
        options,
    );
    let sigma = triplets
        .padded(task.rank)
        .into_iter()
        .map(|sigma| sigma / scale)
        .collect();
    Ok(Factors { u, sigma, v, info })
}

impl Info {
    /// Notes the residual of what is returned.
    pub(super) fn measured(&mut self, residual: f64, options: &Svd) {
        (self.residual, self.converged) = (Some(residual), residual <= options.tolerance);
    }
}

/// V with zeros in the rows of empty columns of S: the initial random directions leave rounding noise there. A product
/// with one random column finds them.
fn vacated<S: Space>(space: &S, s: &Operator, v: Vec<S::Tall>, key: Key) -> Vec<S::Tall> {
    let x = space.random(s.rows(), 0..1, key.with("occupied", 0));
    let mut image = space.zeros(s.cols(), 1);
    s.product(
        true,
        Product {
            space,
            x: &x,
            y: &mut image,
            then: Fused::default(),
            work: &mut Workspace::default(),
        },
    );
    let occupied: Vec<f32> = space
        .export(image)
        .as_slice()
        .iter()
        .map(|&value| f32::from(u8::from(value != 0.0)))
        .collect();
    if !occupied.contains(&0.0) {
        return v;
    }
    let occupied = Diagonal::new("occupied", occupied);
    let kept = |panel: S::Tall| {
        let (rows, cols) = space.shape(&panel);
        let mut kept = space.zeros(rows, cols);
        space.scale_rows(&occupied, &panel, &mut kept);
        kept
    };
    let mut v: Vec<S::Tall> = v.into_iter().map(kept).collect();
    // Triplets at the level of rounding may have had more than noise there.
    orthonormalize(&mut In {
        space,
        panels: &mut v,
    });
    v
}

/// The first `cols` columns.
fn cut<S: Space>(space: &S, mut x: Vec<S::Tall>, cols: usize) -> Vec<S::Tall> {
    let ranges = panels(cols);
    x.truncate(ranges.len());
    if let (Some(last), Some(range)) = (x.pop(), ranges.last()) {
        let own = space.shape(&last).1;
        x.push(match own == range.len() {
            true => last,
            false => {
                let first = Small::from_fn(own, range.len(), |i, j| f64::from(u8::from(i == j)));
                space.times(&[last], &first, &[range.len()]).remove(0)
            }
        });
    }
    x
}

impl Svd {
    /// Columns of the blocks that an iteration takes.
    fn width(&self, s: &Operator, rank: usize) -> usize {
        rank.saturating_add(self.oversampling)
            .min(s.rows())
            .min(s.cols())
    }

    /// Maximum number of iterations for a matrix with this many rows, whose products in one iteration take
    /// `cost` multiply-adds per column.
    fn limit(&self, cost: u64, rows: u64, width: u64) -> usize {
        let orthonormalizing = rows * width * DEPTH as u64;
        let work = (cost + orthonormalizing) * width;
        match self.iterations {
            Iterations::Auto => (BUDGET / work.max(1)).clamp(2, 400) as usize,
            Iterations::AtMost(count) => count,
        }
    }

    /// Whether there are enough iterations to keep a basis of several blocks.
    fn keeps_basis(&self, cost: u64, rows: u64, width: u64) -> bool {
        self.limit(cost, rows, width) >= MANY
    }
}

/// Singular values and right vectors of Y, in coordinates of V.
struct Triplets {
    sigma: Vec<f64>,
    vectors: Small,
    rank: usize,
    multiple_from: Option<usize>,
}

impl Triplets {
    /// `terms` is the size of the terms that Y is a sum of ([`Operator::terms`]).
    fn of_gram(gram: &Small, wanted: usize, terms: f64) -> Result<Triplets> {
        let eigen = gram.eigen()?;
        let sigma: Vec<f64> = eigen
            .values
            .iter()
            .map(|&value| value.max(0.0).sqrt())
            .collect();
        let floor = floor(sigma.first().copied().unwrap_or(0.0), terms);
        let rank = sigma
            .iter()
            .take(wanted)
            .filter(|&&sigma| sigma > floor)
            .count();
        Ok(Triplets {
            multiple_from: multiple_from(&sigma, rank, floor),
            sigma,
            vectors: eigen.vectors,
            rank,
        })
    }

    /// The leading singular values, zeros beyond the rank.
    fn padded(&self, columns: usize) -> Vec<f64> {
        (0..columns)
            .map(|j| if j < self.rank { self.sigma[j] } else { 0.0 })
            .collect()
    }

    /// The largest singular value over the smallest within the rank.
    fn spread(&self) -> f64 {
        self.rank
            .checked_sub(1)
            .map_or(1.0, |last| self.sigma[0] / self.sigma[last])
    }

    /// E with zero columns beyond the rank.
    fn right(&self, columns: usize) -> Small {
        Small::from_fn(self.vectors.rows(), columns, |i, j| {
            if j < self.rank {
                self.vectors.get(i, j)
            } else {
                0.0
            }
        })
    }

    /// E diag(1/sigma) with zero columns beyond the rank.
    fn left(&self, columns: usize) -> Small {
        let mut left = self.right(columns);
        let inverse: Vec<f64> = self
            .padded(columns)
            .iter()
            .map(|&s| if s > 0.0 { 1.0 / s } else { 0.0 })
            .collect();
        left.scale_columns(&inverse);
        left
    }
}

/// Exact SVD of a tall matrix through its Gram matrix: U = Y E diag(1/sigma), V = E. U has the rows of Y that are present.
fn dense<S: Space>(space: &S, y: &Columns, task: &Task) -> Result<Factors> {
    if y.cols() > NARROW.max(y.own().rows) {
        return dense_wide(y, task);
    }
    let triplets = Triplets::of_gram(&space.gram_of(y), task.rank, 0.0)?;
    task.progress.check()?;
    let (u, signs) = space.signed_times(y, &triplets.left(task.rank));
    let v = task.right.then(|| {
        let mut right = triplets.right(task.rank);
        right.scale_columns(&signs);
        Block::from(&right)
    });
    let info = Info {
        converged: true,
        rank: triplets.rank,
        multiple_from: triplets.multiple_from,
        ..Info::default()
    };
    Ok(Factors {
        u,
        sigma: triplets.padded(task.rank),
        v,
        info,
    })
}

/// Exact SVD of a wide matrix through the Gram matrix of its rows: U = E, V = Yᵀ E diag(1/sigma). Besides
/// being smaller, it is far from singular, while that of the columns is not.
fn dense_wide(y: &Columns, task: &Task) -> Result<Factors> {
    assert!(y.own().is_all(), "a wide matrix is not shared out by rows");
    let whole = y.to_block();
    let mut transposed = Block::zeros(y.cols(), y.rows());
    transposed.update_rows(|j, row| {
        row.iter_mut()
            .enumerate()
            .for_each(|(i, to)| *to = whole.get(i, j));
    });
    drop(whole);
    let triplets = Triplets::of_gram(&transposed.gram(), task.rank, 0.0)?;
    task.progress.check()?;
    let mut u = Block::from(&triplets.right(task.rank));
    // Rows without an entry have zeros, not rounding noise.
    y.zero_rows()
        .into_iter()
        .for_each(|i| u.row_mut(i).fill(0.0));
    let signs = u.column_signs();
    u.scale_columns(&signs);
    let v = task.right.then(|| {
        let mut left = triplets.left(task.rank);
        left.scale_columns(&signs);
        transposed.times(&left)
    });
    let info = Info {
        converged: true,
        rank: triplets.rank,
        multiple_from: triplets.multiple_from,
        ..Info::default()
    };
    Ok(Factors {
        u,
        sigma: triplets.padded(task.rank),
        v,
        info,
    })
}
