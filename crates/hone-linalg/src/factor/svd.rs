//! Truncated SVD of an operator: the best approximation of a given rank in squared loss.
//!
//! `Subspace` finds V, orthonormal, that spans the leading right singular space and some more. One
//! product Y = S V follows; the eigenvectors E of the small YᵀY = E diag(sigma²) Eᵀ give
//! U = Y E diag(1/sigma) and the right vectors V E. Powers of symmetric matrices share the vectors of
//! their base, and what is said of their accuracy is said of the base; small matrices are decomposed whole (`exact`), and those
//! that fall apart component by component (`pieces`); dense matrices of up to [`WIDEST`] rows or columns are
//! solved through the Gram matrix of the fewer.
//! Cost: 2 products with S an iteration (1 if symmetric), one more, and O(N b²).

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::exact::{self, components, exact, svd_of_components};
use super::pair::{at_most, not_negative};
use super::subspace::{DEPTH, MANY, Plan, Subspace};
use super::{
    Factors, Held, Info, Loss, Method, OVERSAMPLING, Shape, Task, WORK_BLOCKS, share_left,
};
use crate::dense::{Block, Columns, Panels, Small, gram_memory, orthonormalize_in};
use crate::error::Result;
use crate::operator::{Diagonal, Operator, SQUARABLE};
use crate::random::Key;
use crate::space::{Fold, Host, Map, Space, Workspace, panels, signs, widths};

/// Options of the truncated SVD.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub struct Svd {
    /// Columns of the iterated block beyond the rank; they speed up convergence.
    pub oversampling: usize,
    /// Iterations stop when all residuals, relative to their singular values, are below this; before a filter only where
    /// their number is given.
    pub tolerance: f64,
    /// Maximum number of iterations.
    pub iterations: Iterations,
    /// If iterations are few and the matrix is symmetric: degree of a Chebyshev polynomial of it that sharpens the space, at
    /// one product per degree; where iterations are automatic, in up to three rounds if products are cheap; 0 for none.
    pub filter: usize,
}

impl Default for Svd {
    fn default() -> Self {
        Svd {
            oversampling: 8,
            tolerance: 1e-4,
            iterations: Iterations::Auto,
            filter: 0,
        }
    }
}

/// A number of iterations, or as many as are affordable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "IterationsText", into = "IterationsText")]
#[non_exhaustive]
pub enum Iterations {
    /// Two before a filter, without one as many as about 1.5·10⁹ multiply-adds allow, between 2 and 400.
    #[default]
    Auto,
    /// That many, fewer only when the tolerance is met.
    AtMost(usize),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum IterationsText {
    Count(usize),
    Word(String),
}

impl TryFrom<IterationsText> for Iterations {
    type Error = String;
    fn try_from(text: IterationsText) -> Result<Self, String> {
        match text {
            IterationsText::Count(count) => Ok(Iterations::AtMost(count)),
            IterationsText::Word(word) if word == "auto" => Ok(Iterations::Auto),
            IterationsText::Word(word) => {
                Err(format!("iterations are a number or \"auto\", not {word:?}"))
            }
        }
    }
}

impl From<Iterations> for IterationsText {
    fn from(iterations: Iterations) -> Self {
        match iterations {
            Iterations::Auto => IterationsText::Word("auto".into()),
            Iterations::AtMost(count) => IterationsText::Count(count),
        }
    }
}

/// Singular values below this fraction of the largest count as zero: rounding noise of f32 weights, degrees
/// and products.
pub(super) const ZERO: f64 = 2e-6;

/// Rounding noise of f32 products, relative to the largest eigenvalue.
pub(super) const NOISE: f64 = 3e-7;

/// Singular values that differ by less, relative to the largest, are the same.
const SAME: f64 = 1e-6;

/// Singular values up to this one count as zero, given the largest. Where `terms` of a sum cancel, rounding is relative to
/// their size.
pub(super) fn floor(most: f64, terms: f64) -> f64 {
    (ZERO * most).max(NOISE * terms)
}

/// How many singular values come before a multiple one that the cut after `kept` of them divides.
fn multiple_from(sigma: &[f64], kept: usize, floor: f64) -> Option<usize> {
    let (last, next) = (*sigma.get(kept.checked_sub(1)?)?, *sigma.get(kept)?);
    let same = SAME * sigma[0];
    (next > floor && last - next <= same)
        .then(|| sigma.partition_point(|&sigma| sigma > last + same))
}

/// How many of the first singular values are not zero, and how many come before a [multiple](multiple_from) one.
pub(super) fn rank(sigma: &[f64], wanted: usize, terms: f64) -> (usize, Option<usize>) {
    let floor = floor(sigma.first().copied().unwrap_or(0.0), terms);
    let leading = sigma.iter().take(wanted);
    let rank = leading.filter(|&&sigma| sigma > floor).count();
    (rank, multiple_from(sigma, rank, floor))
}

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
        match self.plan(shape.entries, (shape.rows, width), shape.symmetric) {
            Plan::Basis(_) => Held::basis(width, shape.symmetric),
            Plan::Filter(..) => Held::filtered(width),
            Plan::Powers(_) => Held::blocks(width, WORK_BLOCKS),
        }
    }

    /// Dense matrices are decomposed through their Gram matrix.
    fn dense_blocks(&self) -> u64 {
        0
    }

    fn factor(&self, s: &Operator, task: &Task) -> Result<Factors<Panels>> {
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
        let left = u.row(i).iter().zip(&found.sigma);
        let left: Vec<f64> = left.map(|(&u, sigma)| f64::from(u) * sigma).collect();
        let beyond_zero = |&(j, value): &(u32, f64)| {
            let model = dot(&left, v.row(j as usize));
            (value - model).powi(2) - model * model
        };
        row.iter().map(beyond_zero).sum()
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
const BUDGET: u64 = 1_500_000_000;

/// Automatic iterations before a filter.
const BEFORE_FILTER: usize = 2;

/// How many times a filter is applied if products are cheap.
const MOST_ROUNDS: usize = 3;

/// Dense matrices with more rows and columns are decomposed iteratively, like lazy ones: their Gram matrix
/// would be too large.
pub const WIDEST: usize = 4096;

/// Up to this many columns the Gram matrix is that of the columns, even if there are fewer rows.
pub const NARROW: usize = 512;

/// Bytes that the leading factors of a dense matrix take in addition to it: from the Gram matrix of its columns,
/// from that of its rows, or by iteration. The choice depends on the shape alone.
pub fn dense_memory(rows: u64, columns: u64, rank: u64) -> u64 {
    if columns > rows.max(NARROW as u64) && rows <= WIDEST as u64 {
        gram_memory(columns as usize, rows as usize).saturating_add(8 * rows * columns)
    } else if columns <= WIDEST as u64 {
        gram_memory(rows as usize, columns as usize)
    } else {
        4 * WORK_BLOCKS * (rows + columns) * (rank + OVERSAMPLING)
    }
}

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
    if let Some((scale, inner)) = s.as_multiple() {
        let mut found = svd_there(space, inner, options, task)?;
        let scaled = |sigma: &mut f64| *sigma *= scale.abs();
        found.sigma.iter_mut().for_each(scaled);
        if let Some(v) = found.v.as_mut().filter(|_| scale < 0.0) {
            v.negate(space);
        }
        return Ok(found);
    }
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
        _ if s.rows().max(s.cols()) <= exact::largest(options.width(s, task.rank)) => {
            Ok(exact(s, options, task)?.map(Side::here))
        }
        _ => {
            if let Some(found) = by_components(s, options, task)? {
                return Ok(found.map(Side::here));
            }
            let found = lazy(space, s, options, task)?;
            Ok(found.map(|side| Side::There(padded(space, side, task.rank))))
        }
    }
}

/// The triplets of a matrix whose components are all small, where iterations would converge to the same.
fn by_components(s: &Operator, options: &Svd, task: &Task) -> Result<Option<Factors>> {
    if s.rows() > MOST_IN_PIECES {
        return Ok(None);
    }
    components(s)
        .map(|nodes| svd_of_components(s, &nodes, options, task))
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
    let shape = (s.cols() as u64, width as u64);
    let plan = options.plan(s.cost() * products, shape, s.is_symmetric());
    let v = subspace.run(plan, options.tolerance, &mut info)?;
    let [v, mut y] = subspace.image(v)?;
    let triplets = Triplets::of_gram(&space.gram(&y), task.rank, s.terms())?;
    (info.rank, info.multiple_from) = (triplets.rank, triplets.multiple_from);
    let rank = task.rank.min(width);
    space.transform(&mut y, &triplets.left(width));
    let mut u = cut(space, y, rank);
    if triplets.spread() > STEADY {
        orthonormalize_in(space, &mut u);
    }
    let signs = signs(&space.fold(&u, Fold::Extreme));
    space.map(&mut u, &Map::Scale(&signs));
    let v = task.right.then(|| {
        let mut right = triplets.right(rank);
        right.scale_columns(&signs);
        let v = space.times(&v, &right, &widths(rank));
        without_empty_columns(space, s, v, task.key)
    });
    let kept = triplets.padded(rank);
    info.measured(
        residual(space, s, &mut u, &kept, v.as_deref(), task)?,
        options,
    );
    let mut sigma = triplets.padded(task.rank);
    sigma.iter_mut().for_each(|sigma| *sigma /= scale);
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
fn without_empty_columns<S: Space>(
    space: &S,
    s: &Operator,
    v: Vec<S::Tall>,
    key: Key,
) -> Vec<S::Tall> {
    let x = space.random(s.rows(), 0..1, key.with("occupied", 0));
    let image = s.image(space, true, &x, &mut Workspace::default());
    let image = space.export(image);
    let occupied = image
        .as_slice()
        .iter()
        .map(|&value| f32::from(value != 0.0));
    let occupied: Vec<f32> = occupied.collect();
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
    orthonormalize_in(space, &mut v);
    v
}

/// The same columns and zero ones, `cols` in all.
fn padded<S: Space>(space: &S, mut x: Vec<S::Tall>, cols: usize) -> Vec<S::Tall> {
    let own: usize = x.iter().map(|panel| space.shape(panel).1).sum();
    if let (Some(missing @ 1..), Some(first)) = (cols.checked_sub(own), x.first()) {
        let rows = space.shape(first).0;
        let zeros = widths(missing).into_iter();
        x.extend(zeros.map(|width| space.zeros(rows, width)));
    }
    x
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
                let first = Small::unit_columns(own, range.len());
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

    /// How a block of this many rows and columns is iterated on, where the products of an iteration take `cost` multiply-adds
    /// per column.
    fn plan(&self, cost: u64, (rows, width): (u64, u64), symmetric: bool) -> Plan {
        let filters = symmetric && self.filter > 0;
        let affordable = |work: u64| (BUDGET / (work * width).max(1)) as usize;
        let (iterations, rounds) = match self.iterations {
            Iterations::AtMost(count) => (count, 1),
            Iterations::Auto if filters => {
                let rounds = affordable(cost) / self.filter;
                (BEFORE_FILTER, rounds.clamp(1, MOST_ROUNDS))
            }
            Iterations::Auto => {
                let orthonormalizing = rows * width * DEPTH as u64;
                (affordable(cost + orthonormalizing).clamp(2, 400), 0)
            }
        };
        match iterations {
            MANY.. => Plan::Basis(iterations),
            _ if filters => Plan::Filter(iterations, self.filter, rounds),
            _ => Plan::Powers(iterations),
        }
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
        let root = |&value: &f64| value.max(0.0).sqrt();
        let sigma: Vec<f64> = eigen.values.iter().map(root).collect();
        let (rank, multiple_from) = rank(&sigma, wanted, terms);
        Ok(Triplets {
            multiple_from,
            sigma,
            vectors: eigen.vectors,
            rank,
        })
    }

    /// Exact factors.
    fn factors(self, u: Block, v: Option<Block>, task: &Task) -> Factors {
        Factors {
            u,
            sigma: self.padded(task.rank),
            v,
            info: Info {
                converged: true,
                rank: self.rank,
                multiple_from: self.multiple_from,
                ..Info::default()
            },
        }
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
        let mut inverse = self.padded(columns);
        let invert = |s: &mut f64| *s = if *s > 0.0 { 1.0 / *s } else { 0.0 };
        inverse.iter_mut().for_each(invert);
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
    let mut u = space.times_of(y, &triplets.left(task.rank));
    let signs = signs(&space.extremes_of(&u, y.own()));
    u.scale_columns(&signs);
    let v = task.right.then(|| {
        let mut right = triplets.right(task.rank);
        right.scale_columns(&signs);
        Block::from(&right)
    });
    Ok(triplets.factors(u, v, task))
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
    let signs = u.normalize_signs();
    let v = task.right.then(|| {
        let mut left = triplets.left(task.rank);
        left.scale_columns(&signs);
        transposed.times(&left)
    });
    Ok(triplets.factors(u, v, task))
}

/// A factor in the memory of this process, or in that of a space.
#[derive(Debug)]
pub enum Side<T> {
    /// Here.
    Here(Panels),
    /// In its space.
    There(Vec<T>),
}

impl<T: Send + Sync> Side<T> {
    /// The factor, in the memory of this process.
    pub fn exported<S: Space<Tall = T>>(self, space: &S) -> Panels {
        match self {
            Side::Here(panels) => panels,
            Side::There(panels) => panels
                .into_iter()
                .map(|panel| space.export(panel))
                .collect::<Vec<_>>()
                .into(),
        }
    }

    /// A block of this process, in panels of the usual widths.
    fn here(block: Block) -> Self {
        let widths = widths(block.cols());
        Side::Here(Panels::from(block).cut(&widths))
    }

    /// A copy in the same place.
    fn copy<S: Space<Tall = T>>(&self, space: &S) -> Self {
        match self {
            Side::Here(panels) => Side::Here(panels.clone()),
            Side::There(panels) => {
                Side::There(panels.iter().map(|panel| space.copy(panel)).collect())
            }
        }
    }

    /// Changes the sign of all entries.
    fn negate<S: Space<Tall = T>>(&mut self, space: &S) {
        match self {
            Side::Here(panels) => panels.scale_columns(&vec![-1.0; panels.cols()]),
            Side::There(panels) => {
                let columns = panels.iter().map(|panel| space.shape(panel).1).sum();
                space.map(panels, &Map::Scale(&vec![-1.0; columns]));
            }
        }
    }
}

/// The largest residual of all triplets whose σ is not zero, one for each column of U: measured once, on the vectors that are
/// returned, with products that are not rounded to 16 bits.
///
/// It is the largest ‖S v − σ u‖ or ‖Sᵀu − σ v‖ of all triplets, relative to their σ. Where V is not wanted it is not kept
/// either, and v may be chosen: the best has ‖S v − σ u‖² + ‖Sᵀu − σ v‖² = zᵀ (S Sᵀ + σ²)⁻¹ z for z = S Sᵀu − σ² u. Along the
/// vectors of U, S Sᵀ is Σ², and elsewhere it is at least 0: this is at most √2 too large if U is near singular vectors, and not
/// too small. The part of z outside U follows from Gram matrices in f64. If memory is short, U is in files meanwhile.
/// Cost: two products with the columns of U, and O(N r²).
pub(super) fn residual<S: Space>(
    space: &S,
    s: &Operator,
    u: &mut [S::Tall],
    sigma: &[f64],
    v: Option<&[S::Tall]>,
    task: &Task,
) -> Result<f64> {
    let (mut work, mut first, mut worst) = (Workspace::default(), 0, 0.0f64);
    let mut columns = |panel: &S::Tall| {
        first += space.shape(panel).1;
        first - space.shape(panel).1..first
    };
    let own: Vec<Range<usize>> = u.iter().map(&mut columns).collect();
    let relative = |worst: f64, (length, sigma): (f64, &f64)| match *sigma {
        sigma if sigma > 0.0 => worst.max(length / sigma),
        _ => worst,
    };
    // Y − X diag(σ^power), and the lengths of its columns.
    let apart = |mut y: S::Tall, x: &S::Tall, sigma: &[f64], power: i32| {
        let powers: Vec<f64> = sigma.iter().map(|sigma| sigma.powi(power)).collect();
        let (to, from) = (std::slice::from_mut(&mut y), std::slice::from_ref(x));
        space.subtract_times(to, from, &Small::diagonal(&powers));
        let lengths = space.fold(std::slice::from_ref(&y), Fold::Length);
        (y, lengths)
    };
    if let Some(v) = v {
        for ((u, v), own) in u.iter().zip(v).zip(own) {
            for (x, y, transpose) in [(v, u, false), (u, v, true)] {
                task.progress.check()?;
                let image = s.image(space, transpose, x, &mut work);
                let (_, lengths) = apart(image, y, &sigma[own.clone()], 1);
                worst = lengths
                    .into_iter()
                    .zip(&sigma[own.clone()])
                    .fold(worst, relative);
            }
        }
        return Ok(worst);
    }
    let gram = space.gram(u);
    if let Some(folder) = task.aside {
        let mut panels = u.iter_mut();
        panels.try_for_each(|panel| space.put_aside(panel, folder))?;
    }
    for (at, own) in own.into_iter().enumerate() {
        task.progress.check()?;
        let mut back = task.aside.map(|_| space.copy(&u[at]));
        back.iter_mut()
            .try_for_each(|panel| space.bring_back(panel))?;
        let x = back.as_ref().unwrap_or(&u[at]);
        let inner = s.image(space, true, x, &mut work);
        let z = s.image(space, false, &inner, &mut work);
        work.give(inner);
        let (z, lengths) = apart(z, x, &sigma[own.clone()], 2);
        let along = space.cross(u, std::slice::from_ref(&z));
        work.give(z);
        let around = gram.times(&along);
        // √(zᵀ (S Sᵀ + σ²)⁻¹ z) from Uᵀz and UᵀU Uᵀz.
        let best = |(at, length): (usize, f64)| {
            let sigma_z = sigma[own.start + at];
            let (mut outside, mut inside, square) = (length * length, 0.0, sigma_z * sigma_z);
            for (i, own) in sigma.iter().enumerate().filter(|(_, own)| **own > 0.0) {
                let part = along.get(i, at);
                outside += part * (around.get(i, at) - 2.0 * part);
                inside += part * part / (own * own + square);
            }
            (outside.max(0.0) / square + inside).sqrt()
        };
        let lengths = lengths.into_iter().enumerate().map(best);
        worst = lengths.zip(&sigma[own.clone()]).fold(worst, relative);
    }
    u.iter_mut().try_for_each(|panel| space.bring_back(panel))?;
    Ok(worst)
}
