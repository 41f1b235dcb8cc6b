//! Truncated SVD of an operator: the best approximation of a given rank in squared loss.
//!
//! `Subspace` finds V, orthonormal, that spans the leading right singular space and some more. One
//! product Y = S V follows; the eigenvectors E of the small YᵀY = E diag(sigma²) Eᵀ give
//! U = Y E diag(1/sigma) and the right vectors V E. Powers of symmetric matrices share the vectors of
//! their base, and what is said of their accuracy is said of the base; small matrices are decomposed whole (`exact`), and those
//! that fall apart component by component (`pieces`); dense matrices of up to [`WIDEST`] rows or columns are
//! solved through the Gram matrix of the fewer.
//! Cost: 2 products with S an iteration (1 if symmetric), one more, and O(N b²).

mod side;

pub use super::svd_options::{Iterations, Svd};
pub use side::Side;

use super::exact::{self, exact};
use super::iterate::{at_most, not_negative};
use super::memory::{Held, Shape, WORK_BLOCKS};
use super::method::{Factors, Info, Loss, Method, Task, share_left};
use super::pieces::{pieces, svd_of_pieces};
use super::subspace::{DEPTH, Image, MANY, Subspace};
use super::svd_options::{NOISE, ZERO};
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
        let mut found = svd_in(&Host, s, self, task)?;
        let small = || s.cost() as f64 <= MEASURED / 10.0 && s.row_work() <= MEASURED;
        if matches!(s, Operator::Dense(_)) || small() {
            let (norm, kept) = (
                s.squared_norm(),
                found.sigma.iter().map(|sigma| sigma * sigma).sum::<f64>(),
            );
            let loss = share_left(norm - kept, norm)?;
            found.info.loss = Some(Loss {
                measure: "squared error relative to ‖S‖²; exact".into(),
                values: vec![loss],
                returned: Some(loss),
            });
        }
        Ok(found)
    }
}

/// Additions spent on ‖S‖², which the decomposition itself does not need.
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

/// Number of triplets whose residuals are measured if iterations are few, and the residual that rounding hides there.
const SAMPLED: usize = 4;
const HIDDEN: f64 = 1e-3;

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
        .map(|pieces| svd_of_pieces(s, &pieces, task))
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
    let Image { v, mut y } = subspace.image(v, options.tolerance, &mut info)?;
    let triplets = Triplets::of_gram(&space.gram(&y), task.rank)?;
    info.rank = triplets.rank;
    let rank = task.rank.min(width);
    space.transform(&mut y, &triplets.left(width));
    let mut u = cut(space, y, rank);
    if triplets.spread() > STEADY {
        orthonormalize(&mut In {
            space,
            panels: &mut u,
        });
    }
    if info.iterations > 0 && info.residual.is_none() {
        let worst = sampled_residual(space, s, &u, &triplets.sigma[..triplets.rank.min(rank)]);
        (info.residual, info.converged) = (Some(worst), worst <= options.tolerance);
    }
    let signs = signs(&space.fold(&u, Fold::Extreme));
    space.map(&mut u, &Map::Scale(&signs));
    let v = v.filter(|_| task.right).map(|v| {
        let mut right = triplets.right(rank);
        right.scale_columns(&signs);
        let v = space.times(&v, &right, &widths(rank));
        vacated(space, s, v, task.key)
    });
    let sigma = triplets
        .padded(task.rank)
        .into_iter()
        .map(|sigma| sigma / scale)
        .collect();
    Ok(Factors { u, sigma, v, info })
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

/// The largest residual of some singular triplets of a symmetric matrix, ‖S u − σ v‖ = √(‖S u‖² − σ²), relative to σ: that of the
/// first, the last and two between, since all would take another product. Rounding, which hides what is below 10⁻³, does not count.
fn sampled_residual<S: Space>(space: &S, s: &Operator, u: &[S::Tall], sigma: &[f64]) -> f64 {
    let Some(last) = sigma.len().checked_sub(1) else {
        return 0.0;
    };
    let mut sampled: Vec<usize> = (0..SAMPLED).map(|i| i * last / (SAMPLED - 1)).collect();
    sampled.dedup();
    let columns = u.iter().map(|panel| space.shape(panel).1).sum();
    let pick = Small::from_fn(columns, sampled.len(), |i, j| {
        f64::from(u8::from(i == sampled[j]))
    });
    let x = space.times(u, &pick, &[sampled.len()]).remove(0);
    let mut y = space.zeros(s.rows(), sampled.len());
    let work = &mut Workspace::default();
    s.product(
        false,
        Product {
            space,
            x: &x,
            y: &mut y,
            then: Fused::default(),
            work,
        },
    );
    let relative = |(length, &j): (f64, &usize)| {
        let (squared, noise) = (
            (length / sigma[j]).powi(2) - 1.0,
            NOISE * sigma[0] / sigma[j],
        );
        if squared > HIDDEN * HIDDEN {
            (squared.sqrt() - noise).max(0.0)
        } else {
            0.0
        }
    };
    space
        .fold(&[y], Fold::Length)
        .into_iter()
        .zip(&sampled)
        .map(relative)
        .fold(0.0, f64::max)
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
}

impl Triplets {
    fn of_gram(gram: &Small, wanted: usize) -> Result<Triplets> {
        let eigen = gram.eigen()?;
        let sigma: Vec<f64> = eigen
            .values
            .iter()
            .map(|&value| value.max(0.0).sqrt())
            .collect();
        let floor = sigma.first().map_or(0.0, |most| most * ZERO);
        let rank = sigma
            .iter()
            .take(wanted)
            .filter(|&&sigma| sigma > floor)
            .count();
        Ok(Triplets {
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
    let triplets = Triplets::of_gram(&space.gram_of(y), task.rank)?;
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
            .for_each(|(i, to)| *to = whole.get(i, j))
    });
    drop(whole);
    let triplets = Triplets::of_gram(&transposed.gram(), task.rank)?;
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
        ..Info::default()
    };
    Ok(Factors {
        u,
        sigma: triplets.padded(task.rank),
        v,
        info,
    })
}

#[cfg(test)]
mod tests;
