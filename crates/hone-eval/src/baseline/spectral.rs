//! Spectral embedding: eigenvectors of the normalised Laplacian with the smallest eigenvalues.
//!
//! These are the eigenvectors of D^-1/2 A D^-1/2 with the largest eigenvalues, one column each,
//! the trivial one included unless `skip_trivial`. A node without edges gets zeros. Directed graphs
//! are taken as undirected. After half of the edges are removed a graph has many components, each
//! of which adds an eigenvalue 0 of the Laplacian; within such a multiple eigenvalue the choice of
//! vectors is arbitrary.
//!
//! The solver is subspace iteration with a Chebyshev filter, from products alone: a block of vectors
//! somewhat wider than requested is multiplied by a polynomial of the matrix that is small on the
//! unwanted part of the spectrum and steep above it, made orthonormal, and rotated to the best
//! eigenvector estimates in its span. Working on a block, it finds multiple eigenvalues (one per
//! component of a graph) as they are. If the filter amplifies a vector too far, its rounding errors
//! swamp the rest: the degree is lower if the largest eigenvalue stands out, and leading vectors
//! that have converged are excluded from the filter. Small matrices are written out and solved
//! directly. f64 throughout.
//!
//! References: Tang, Liu. Leveraging social media networks for classification, 2011; Zhou, Saad et
//! al. Self-consistent-field calculations using Chebyshev-filtered subspace iteration, 2006.

use faer::{Mat, MatRef};
use hone::dense::Block;
use hone::dense::kernels::{add_product, orthonormal, product, symmetric_eigen};
use hone::graph::Graph;
use hone::parallel;
use hone::{Error, Progress, Result};

use super::{Baseline, DIM, undirected, weight};
use crate::random::Stream;

options! {
    /// The options.
    pub struct Spectral {
        /// Length of the vectors, D.
        dim: usize = 128, DIM;
        /// Whether the first eigenvector (the square root of the degrees) is left out.
        skip_trivial: bool = false;
    }
}

impl Baseline for Spectral {
    /// Columns beyond the number of nodes are zero.
    fn embed(&self, graph: &Graph, seed: u64, _: &dyn Progress) -> Result<Block> {
        let graph = undirected(graph)?;
        let n = graph.nodes();
        let mut out = Block::zeros(n, self.dim);
        if n == 0 {
            return Ok(out);
        }
        let normalised = Normalised::of(&graph);
        let skip = usize::from(self.skip_trivial);
        let found = normalised.eigenpairs(self.dim + skip, seed)?;
        for i in (0..n).filter(|&i| normalised.degrees[i] > 0.0) {
            let row = out.row_mut(i).iter_mut();
            row.zip(skip..found.values.len())
                .for_each(|(to, j)| *to = found.vectors[(i, j)] as f32);
        }
        Ok(out)
    }

    fn rows(&self) -> (usize, u64) {
        (self.dim, 9)
    }
}

/// D^-½ A D^-½ of an undirected graph.
pub(super) struct Normalised<'a> {
    graph: &'a Graph,
    /// Weighted degrees.
    pub(super) degrees: Vec<f64>,
    /// D^-½; 0 where a node has no edge.
    pub(super) roots: Vec<f64>,
}

impl<'a> Normalised<'a> {
    pub(super) fn of(graph: &'a Graph) -> Self {
        let degree = |i| graph.pattern().range(i).map(|k| weight(graph, k)).sum();
        let degrees: Vec<f64> = (0..graph.nodes()).map(degree).collect();
        let root = |&d: &f64| if d > 0.0 { 1.0 / d.sqrt() } else { 0.0 };
        Normalised {
            graph,
            roots: degrees.iter().map(root).collect(),
            degrees,
        }
    }

    /// The sum of all degrees.
    pub(super) fn volume(&self) -> f64 {
        self.degrees.iter().sum()
    }

    /// Row `i` times a vector.
    pub(super) fn row_times(&self, x: &[f64], i: usize) -> f64 {
        let pattern = self.graph.pattern();
        let term = |k: usize| {
            let j = pattern.columns()[k] as usize;
            weight(self.graph, k) * self.roots[j] * x[j]
        };
        self.roots[i] * pattern.range(i).map(term).sum::<f64>()
    }

    /// The largest eigenvalues, with vectors.
    pub(super) fn eigenpairs(&self, count: usize, seed: u64) -> Result<Eigen> {
        let n = self.degrees.len();
        let product = |x: MatRef<'_, f64>| {
            let columns: Vec<Vec<f64>> = parallel::map(x.ncols(), |j| {
                let column: Vec<f64> = x.col(j).iter().copied().collect();
                (0..n).map(|i| self.row_times(&column, i)).collect()
            });
            Mat::from_fn(n, x.ncols(), |i, j| columns[j][i])
        };
        largest_eigenpairs(&product, n, -1.0, count, seed)
    }
}

/// Eigenvalues, falling, and orthonormal eigenvectors as columns.
pub(super) struct Eigen {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Mat<f64>,
}

/// A symmetric matrix times a block.
type Product<'a> = &'a dyn Fn(MatRef<'_, f64>) -> Mat<f64>;

/// Matrices up to this size are solved directly.
const DIRECT: usize = 400;
/// Maximum degree of the filter.
const DEGREE: usize = 16;
/// How many times as much as the unwanted part the filter may lift the largest eigenvalue.
const LIFT: f64 = 1e8;
/// Maximum number of products with the block.
const PRODUCTS: usize = 640;
/// Residuals relative to their eigenvalue that are good enough; eigenvalues below the floor, relative to
/// the largest, count as the floor.
const TOLERANCE: f64 = 1e-6;
const FLOOR: f64 = 1e-6;

/// The `count` largest eigenvalues (all, when there are fewer) of a symmetric matrix of n rows whose spectrum does not begin below
/// `lowest`.
pub(super) fn largest_eigenpairs(
    matrix: Product<'_>,
    n: usize,
    lowest: f64,
    count: usize,
    seed: u64,
) -> Result<Eigen> {
    let count = count.min(n);
    let width = (count + (count / 4).max(16)).min(n);
    let Eigen {
        mut values,
        vectors,
    } = if n <= DIRECT || 2 * width >= n {
        let all = Mat::<f64>::identity(n, n);
        rotate(&all, &matrix(all.as_ref()))?.0
    } else {
        iterate(matrix, n, lowest, count, width, seed)?
    };
    values.truncate(count);
    let mut vectors = vectors.as_ref().subcols(0, count).to_owned();
    // The entry of largest size of each column is positive.
    for j in 0..count {
        let larger = |best: f64, &v: &f64| if v.abs() > best.abs() + 1e-9 { v } else { best };
        if vectors.col(j).iter().fold(0.0, larger) < 0.0 {
            (0..n).for_each(|i| vectors[(i, j)] = -vectors[(i, j)]);
        }
    }
    Ok(Eigen { values, vectors })
}

fn iterate(
    matrix: Product<'_>,
    n: usize,
    lowest: f64,
    count: usize,
    width: usize,
    seed: u64,
) -> Result<Eigen> {
    let mut stream = Stream::new(seed, "eigenvectors", 0);
    let mut q = Mat::from_fn(n, width, |_, _| stream.normal());
    let mut products = 0;
    loop {
        q = orthonormal(q.as_ref());
        let (eigen, residuals) = rotate(&q, &matrix(q.as_ref()))?;
        let values = &eigen.values;
        let floor = FLOOR * values[0].abs().max(f64::MIN_POSITIVE);
        let good = |&j: &usize| residuals[j] <= TOLERANCE * values[j].abs().max(floor);
        let kept = (0..count).take_while(good).count();
        if products >= PRODUCTS || kept == count {
            return Ok(eigen);
        }
        let degree;
        (q, degree) = filtered(matrix, lowest, &eigen, kept);
        products += 1 + degree;
    }
}

/// The best eigenvector estimates in the span of orthonormal `q`, given A q, and their residuals.
fn rotate(q: &Mat<f64>, aq: &Mat<f64>) -> Result<(Eigen, Vec<f64>)> {
    let failed = || Error::Numeric {
        stage: "eigenvectors".into(),
        message: "the small problem has no solution".into(),
    };
    let small = product(q.transpose(), aq.as_ref());
    let (values, turn) = symmetric_eigen(small.as_ref()).ok_or_else(failed)?;
    let [vectors, images] = [q, aq].map(|x| product(x.as_ref(), turn.as_ref()));
    let residual = |j: usize| {
        let square = |i: usize| (images[(i, j)] - values[j] * vectors[(i, j)]).powi(2);
        (0..vectors.nrows()).map(square).sum::<f64>().sqrt()
    };
    let residuals = (0..values.len()).map(residual).collect();
    Ok((Eigen { values, vectors }, residuals))
}

/// The vectors after the first `kept`, which stay as they are, times a polynomial of the matrix, and its degree. It is within ±1
/// (before scaling) on the unwanted part of the spectrum, from `low` to the smallest estimate, and largest at the largest estimate
/// not kept, where it is scaled to 1.
fn filtered(matrix: Product<'_>, low: f64, estimates: &Eigen, kept: usize) -> (Mat<f64>, usize) {
    let (values, vectors) = (&estimates.values[kept..], estimates.vectors.as_ref());
    let high = values[values.len() - 1].max(low);
    let half = ((high - low) / 2.0).max(1e-12 * (1.0 + values[0].abs()));
    let center = (high + low) / 2.0;
    // Half the width of the unwanted part over the distance of the largest from its center.
    let first = half / (values[0] - center).max(half);
    let degree = (LIFT.acosh() / (1.0 / first).acosh()).clamp(1.0, DEGREE as f64) as usize;
    let (n, columns) = (vectors.nrows(), vectors.ncols() - kept);
    let done = vectors.subcols(0, kept);
    // (A − center) x · scale, without its part in the span of the vectors that are kept.
    let shifted = |x: &Mat<f64>, scale: f64| {
        let mut image = matrix(x.as_ref());
        if kept > 0 {
            let part = product(done.transpose(), image.as_ref());
            add_product(image.as_mut(), -1.0, done, part.as_ref());
        }
        Mat::from_fn(n, columns, |i, j| {
            (image[(i, j)] - center * x[(i, j)]) * scale
        })
    };
    let mut sigma = first;
    let mut last = vectors.subcols(kept, columns).to_owned();
    let mut now = shifted(&last, sigma / half);
    for _ in 1..degree {
        let next_sigma = 1.0 / (2.0 / first - sigma);
        let mut next = shifted(&now, 2.0 * next_sigma / half);
        for j in 0..columns {
            (0..n).for_each(|i| next[(i, j)] -= sigma * next_sigma * last[(i, j)]);
        }
        (last, now, sigma) = (now, next, next_sigma);
    }
    let all = Mat::from_fn(n, vectors.ncols(), |i, j| match j.checked_sub(kept) {
        Some(j) => now[(i, j)],
        None => done[(i, j)],
    });
    (all, degree)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reflected diagonal matrix whose first value is far above the others, and these close together.
    #[test]
    fn a_dominant_eigenvalue_does_not_hide_the_others() {
        let n = 1000;
        let mut stream = Stream::new(1, "reflection", 0);
        let normal: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
        let square: f64 = normal.iter().map(|x| x * x).sum();
        let reflected = |x: MatRef<'_, f64>| {
            let along =
                |j: usize| (0..n).map(|i| normal[i] * x[(i, j)]).sum::<f64>() * 2.0 / square;
            let along: Vec<f64> = (0..x.ncols()).map(along).collect();
            Mat::from_fn(n, x.ncols(), |i, j| x[(i, j)] - along[j] * normal[i])
        };
        for top in [1e2, 1e4, 1e7] {
            let value = |i: usize| match i {
                0 => top,
                _ => 10.0 * 0.99f64.powi(i as i32),
            };
            let product = |x: MatRef<'_, f64>| {
                let inner = reflected(x);
                reflected(Mat::from_fn(n, x.ncols(), |i, j| value(i) * inner[(i, j)]).as_ref())
            };
            let found = largest_eigenpairs(&product, n, 0.0, 40, 1).expect("solvable");
            let back = reflected(found.vectors.as_ref());
            for (i, &found) in found.values.iter().enumerate() {
                let exact = value(i);
                assert!((found - exact).abs() < 1e-4, "{i}: {found} not {exact}");
                assert!(back[(i, i)].abs() > 0.999, "{top}: the direction of {i}");
            }
        }
    }
}
