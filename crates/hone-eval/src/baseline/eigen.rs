//! The largest eigenvalues of a symmetric matrix and their eigenvectors, from products alone.
//!
//! Subspace iteration with a Chebyshev filter: a block of vectors somewhat wider than requested is
//! multiplied by a polynomial of the matrix that is small on the unwanted part of the spectrum and
//! steep above it, made orthonormal, and rotated to the best eigenvector estimates in its span.
//! Working on a block, it finds multiple eigenvalues (one per component of a graph) as they are.
//! If the filter amplifies a vector too far, its rounding errors swamp the rest: the degree is lower if the
//! largest eigenvalue stands out, and leading vectors that have converged are excluded from the filter.
//! Small matrices are written out and solved directly. f64 throughout.
//!
//! Reference: Zhou, Saad et al. Self-consistent-field calculations using Chebyshev-filtered
//! subspace iteration, 2006.

use faer::{Mat, MatRef};
use hone::dense::kernels::{add_product, orthonormal, product, symmetric_eigen};
use hone::{Error, Result};

use crate::random::Stream;

/// A symmetric matrix known by its products.
pub(super) struct Symmetric<'a> {
    pub(super) size: usize,
    /// A lower bound of the spectrum.
    pub(super) lowest: f64,
    pub(super) product: &'a dyn Fn(MatRef<'_, f64>) -> Mat<f64>,
}

/// Eigenvalues, falling, and orthonormal eigenvectors as columns.
pub(super) struct Eigen {
    pub(super) values: Vec<f64>,
    pub(super) vectors: Mat<f64>,
}

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

/// The `count` largest eigenvalues (all, when there are fewer), with vectors.
pub(super) fn largest(matrix: &Symmetric<'_>, count: usize, seed: u64) -> Result<Eigen> {
    let (n, count) = (matrix.size, count.min(matrix.size));
    let width = (count + (count / 4).max(16)).min(n);
    let eigen = if n <= DIRECT || 2 * width >= n {
        rotate(
            &Mat::<f64>::identity(n, n),
            &(matrix.product)(Mat::<f64>::identity(n, n).as_ref()),
        )?
        .0
    } else {
        iterate(matrix, count, width, seed)?
    };
    let vectors = eigen.vectors.as_ref().subcols(0, count).to_owned();
    Ok(Eigen {
        values: eigen.values[..count].to_vec(),
        vectors: fix_signs(vectors),
    })
}

fn iterate(matrix: &Symmetric<'_>, count: usize, width: usize, seed: u64) -> Result<Eigen> {
    let mut stream = Stream::new(seed, "eigenvectors", 0);
    let mut q = Mat::from_fn(matrix.size, width, |_, _| stream.normal());
    let mut products = 0;
    loop {
        q = orthonormal(q.as_ref());
        let (eigen, residuals) = rotate(&q, &(matrix.product)(q.as_ref()))?;
        let floor = FLOOR * eigen.values[0].abs().max(f64::MIN_POSITIVE);
        let good =
            |(residual, value): (&f64, &f64)| *residual <= TOLERANCE * value.abs().max(floor);
        let kept = residuals[..count]
            .iter()
            .zip(&eigen.values)
            .take_while(|&pair| good(pair))
            .count();
        if products >= PRODUCTS || kept == count {
            return Ok(eigen);
        }
        let filter = Filter::new(matrix.lowest, &eigen.values[kept..]);
        products += 1 + filter.degree;
        q = filter.apply(matrix, eigen.vectors.as_ref(), kept);
    }
}

/// The best eigenvector estimates in the span of orthonormal `q`, given A q, and their residuals.
fn rotate(q: &Mat<f64>, aq: &Mat<f64>) -> Result<(Eigen, Vec<f64>)> {
    let failed = || Error::Numeric {
        stage: "eigenvectors".into(),
        message: "the small problem has no solution".into(),
    };
    let (values, turn) =
        symmetric_eigen(product(q.transpose(), aq.as_ref()).as_ref()).ok_or_else(failed)?;
    let (vectors, images) = (
        product(q.as_ref(), turn.as_ref()),
        product(aq.as_ref(), turn.as_ref()),
    );
    let residual = |j: usize| {
        let square = |i: usize| (images[(i, j)] - values[j] * vectors[(i, j)]).powi(2);
        (0..vectors.nrows()).map(square).sum::<f64>().sqrt()
    };
    let residuals = (0..values.len()).map(residual).collect();
    Ok((Eigen { values, vectors }, residuals))
}

/// A polynomial that is within ±1 (before scaling) on the unwanted part of the spectrum, from the lowest
/// to the smallest estimate, and largest at the largest estimate, where it is scaled to 1.
struct Filter {
    center: f64,
    /// Half the width of the unwanted part, and its ratio to the distance of the largest from the center.
    half: f64,
    first: f64,
    degree: usize,
}

impl Filter {
    fn new(low: f64, values: &[f64]) -> Filter {
        let high = values[values.len() - 1].max(low);
        let half = ((high - low) / 2.0).max(1e-12 * (1.0 + values[0].abs()));
        let center = (high + low) / 2.0;
        let first = half / (values[0] - center).max(half);
        let degree = (LIFT.acosh() / (1.0 / first).acosh()).clamp(1.0, DEGREE as f64) as usize;
        Filter {
            center,
            half,
            first,
            degree,
        }
    }

    /// Filters the columns after the first `kept`, which stay as they are.
    fn apply(&self, matrix: &Symmetric<'_>, vectors: MatRef<'_, f64>, kept: usize) -> Mat<f64> {
        let &Filter {
            center,
            half,
            first,
            degree,
        } = self;
        let (done, x) = (
            vectors.subcols(0, kept),
            vectors.subcols(kept, vectors.ncols() - kept).to_owned(),
        );
        let mut sigma = first;
        let shifted = |x: &Mat<f64>, scale: f64| {
            let image = without(done, (matrix.product)(x.as_ref()));
            scaled_difference(&image, x, center, scale)
        };
        let mut now = shifted(&x, sigma / half);
        let mut last = x;
        for _ in 1..degree {
            let next_sigma = 1.0 / (2.0 / first - sigma);
            let mut next = shifted(&now, 2.0 * next_sigma / half);
            subtract(&mut next, sigma * next_sigma, &last);
            (last, now, sigma) = (now, next, next_sigma);
        }
        Mat::from_fn(vectors.nrows(), vectors.ncols(), |i, j| {
            if j < kept {
                done[(i, j)]
            } else {
                now[(i, j - kept)]
            }
        })
    }
}

/// `x` without its part in the span of the orthonormal columns of `done`.
fn without(done: MatRef<'_, f64>, mut x: Mat<f64>) -> Mat<f64> {
    if done.ncols() > 0 {
        let part = product(done.transpose(), x.as_ref());
        add_product(x.as_mut(), -1.0, done, part.as_ref());
    }
    x
}

/// (y − center · x) · scale.
fn scaled_difference(y: &Mat<f64>, x: &Mat<f64>, center: f64, scale: f64) -> Mat<f64> {
    Mat::from_fn(y.nrows(), y.ncols(), |i, j| {
        (y[(i, j)] - center * x[(i, j)]) * scale
    })
}

fn subtract(target: &mut Mat<f64>, scale: f64, other: &Mat<f64>) {
    for j in 0..target.ncols() {
        for i in 0..target.nrows() {
            target[(i, j)] -= scale * other[(i, j)];
        }
    }
}

/// Makes the entry of largest size of each column positive.
fn fix_signs(mut vectors: Mat<f64>) -> Mat<f64> {
    for j in 0..vectors.ncols() {
        let column = vectors.col(j);
        let largest =
            column.iter().fold(
                0.0f64,
                |best, &v| if v.abs() > best.abs() + 1e-9 { v } else { best },
            );
        if largest < 0.0 {
            (0..vectors.nrows()).for_each(|i| vectors[(i, j)] = -vectors[(i, j)]);
        }
    }
    vectors
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of n nodes: eigenvalues of its adjacency matrix are 2 cos(π k / (n + 1)).
    fn path_product(x: MatRef<'_, f64>) -> Mat<f64> {
        let n = x.nrows();
        Mat::from_fn(n, x.ncols(), |i, j| {
            (if i > 0 { x[(i - 1, j)] } else { 0.0 })
                + (if i + 1 < n { x[(i + 1, j)] } else { 0.0 })
        })
    }

    #[test]
    fn a_path_has_the_known_spectrum() {
        for n in [30usize, 900] {
            let matrix = Symmetric {
                size: n,
                lowest: -2.0,
                product: &path_product,
            };
            let found = largest(&matrix, 12, 1).expect("solvable");
            for (k, value) in (1..).zip(&found.values) {
                let exact = 2.0 * (std::f64::consts::PI * f64::from(k) / (n as f64 + 1.0)).cos();
                assert!(
                    (value - exact).abs() < 1e-6,
                    "{n}: {value} instead of {exact}"
                );
            }
            let gram = found.vectors.transpose() * &found.vectors;
            for i in 0..12 {
                for j in 0..12 {
                    assert!((gram[(i, j)] - f64::from(u8::from(i == j))).abs() < 1e-8);
                }
            }
        }
    }

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
            let value = |i: usize| {
                if i == 0 {
                    top
                } else {
                    10.0 * 0.99f64.powi(i as i32)
                }
            };
            let product = |x: MatRef<'_, f64>| {
                let inner = reflected(x);
                reflected(Mat::from_fn(n, x.ncols(), |i, j| value(i) * inner[(i, j)]).as_ref())
            };
            let found = largest(
                &Symmetric {
                    size: n,
                    lowest: 0.0,
                    product: &product,
                },
                40,
                1,
            )
            .expect("solvable");
            let back = reflected(found.vectors.as_ref());
            for (i, &found) in found.values.iter().enumerate() {
                assert!(
                    (found - value(i)).abs() < 1e-4,
                    "{top}: {i}: {found} instead of {}",
                    value(i)
                );
                assert!(
                    back[(i, i)].abs() > 0.999,
                    "{top}: vector {i} has {} in its direction",
                    back[(i, i)]
                );
            }
        }
    }

    /// 500 disjoint edges: eigenvalue 1 five hundred times.
    #[test]
    fn multiple_eigenvalues_are_found_as_they_are() {
        let product = |x: MatRef<'_, f64>| Mat::from_fn(x.nrows(), x.ncols(), |i, j| x[(i ^ 1, j)]);
        let found = largest(
            &Symmetric {
                size: 1000,
                lowest: -1.0,
                product: &product,
            },
            20,
            1,
        )
        .expect("solvable");
        assert!(found.values.iter().all(|v| (v - 1.0).abs() < 1e-9));
    }
}
