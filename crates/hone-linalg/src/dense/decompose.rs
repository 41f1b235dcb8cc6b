//! Eigenvalues, singular values and Cholesky factors of [`Small`] matrices.
//!
//! A symmetric matrix is first reduced to tridiagonal form by reflections. Once those have used up the rank, what is
//! left is rounding noise, 10⁻¹⁶ of the norm; the next few reflect that, and leave noise of the noise, 10⁻³², and so
//! on. If few of many rows are nonzero (Y of a star, a path or a complete graph: 8 of 416) this goes on until squares
//! underflow, a reflection divides by zero, and the following iteration works on NaN until its limit. The matrix is
//! therefore scaled to norm 1 and shifted by twice the identity: no vector changes, and noise never falls below that of
//! the diagonal. Singular values cannot be shifted this way. The fallback of both is Jacobi's method for singular values, which
//! always terminates. Whatever comes out is checked against the matrix: a decomposition that is wrong beyond
//! rounding is repeated with Jacobi's method, and is an error if that one is wrong too.
//!
//! A decomposition is checked by products with a few random sign vectors in O(n²): A = V diag(λ) Vᵀ holds if both sides agree on
//! random vectors, unless the error happens to be orthogonal to all of them (Freivalds 1979); VᵀV = I likewise. Finite results
//! of an iteration need not be correct, and everything computed from them (ranks, residuals, losses) would repeat the mistake.

use faer::Mat;
use rand_xoshiro::rand_core::Rng;

use super::kernels::{orthonormal, product, symmetric_eigen};
use super::small::dot;
use super::{Block, Small, jacobi};
use crate::error::{Error, Result};
use crate::random::Key;

/// Eigenvalues, descending, and their orthonormal vectors (columns).
#[derive(Debug, Clone)]
pub struct Eigen {
    /// Descending.
    pub values: Vec<f64>,
    /// Column j belongs to value j.
    pub vectors: Small,
}

/// A = U diag(sigma) Vᵀ, thin.
#[derive(Debug, Clone)]
pub struct SmallSvd {
    /// Left singular vectors (columns).
    pub u: Small,
    /// Descending, not negative.
    pub sigma: Vec<f64>,
    /// Right singular vectors (columns).
    pub v: Small,
}

impl Eigen {
    /// The `count` largest in magnitude, first to last.
    pub(crate) fn by_magnitude(&self, count: usize) -> Eigen {
        let size = |i: usize| self.values[i].abs();
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        order.sort_by(|&i, &j| size(j).total_cmp(&size(i)));
        Eigen {
            values: order[..count].iter().map(|&i| self.values[i]).collect(),
            vectors: Small::from_fn(self.vectors.rows(), count, |i, j| {
                self.vectors.get(i, order[j])
            }),
        }
    }

    /// V f(Λ) Vᵀ.
    pub fn function(&self, f: impl Fn(f64) -> f64) -> Small {
        let mut scaled = self.vectors.clone();
        let values: Vec<f64> = self.values.iter().map(|&value| f(value)).collect();
        scaled.scale_columns(&values);
        scaled.times(&self.vectors.transposed())
    }
}

/// How far the eigenvalues of a matrix of norm 1 are shifted away from zero.
const AWAY: f64 = 2.0;

/// Columns of a power iteration beyond those wanted, and the iterations.
const BEYOND: usize = 8;
const POWERS: usize = 3;
/// All eigenpairs are computed of matrices that have fewer rows than this, or than this many times the columns iterated.
const SMALL: usize = 256;
const LARGE: usize = 3;

impl Small {
    /// Eigenvalues and vectors of a symmetric matrix (its lower triangle is read).
    pub fn eigen(&self) -> Result<Eigen> {
        assert_eq!(self.rows(), self.cols(), "a symmetric matrix is square");
        let n = self.rows();
        let scale = self.to_norm_one()?;
        if scale == 0.0 {
            return Ok(Eigen {
                values: vec![0.0; n],
                vectors: Small::identity(n),
            });
        }
        let even = Small::from_fn(n, n, |i, j| scale * self.get(i.max(j), i.min(j)));
        let methods: [&dyn Fn() -> Option<Eigen>; 2] =
            [&|| iterated_eigen(&even), &|| Some(rotated_eigen(&even))];
        let mut found = first_right(methods, |found| eigen_is_right(&even, found))?;
        found.values.iter_mut().for_each(|value| *value /= scale);
        Ok(found)
    }

    /// The `count` leading eigenpairs of a symmetric matrix without negative eigenvalues; values that are close to each other
    /// may have mixed vectors. Power iterations on some more columns find them in O(n² count) (Halko, Martinsson, Tropp 2011);
    /// where that saves little, all are computed, and the values may be as close as they like.
    pub fn leading(&self, count: usize) -> Result<Eigen> {
        let (n, width) = (self.rows(), count + BEYOND);
        if n < SMALL.max(LARGE * width) {
            return Ok(self.eigen()?.by_magnitude(count.min(n)));
        }
        let image = |x: &Mat<f64>| product(self.as_faer(), x.as_ref());
        let start = Block::random(n, width, Key::new(0).with("leading", 0));
        let mut basis = orthonormal(Small::from(&start).as_faer());
        for _ in 0..POWERS {
            basis = orthonormal(image(&basis).as_ref());
        }
        let inner = Small::from_faer(&product(basis.transpose(), image(&basis).as_ref()));
        let found = inner.symmetrized().eigen()?.by_magnitude(count);
        let vectors = product(basis.as_ref(), found.vectors.as_faer());
        Ok(Eigen {
            vectors: Small::from_faer(&vectors),
            ..found
        })
    }

    /// The thin singular value decomposition.
    pub fn svd(&self) -> Result<SmallSvd> {
        let (rows, cols, rank) = (self.rows(), self.cols(), self.rows().min(self.cols()));
        let scale = self.to_norm_one()?;
        if scale == 0.0 {
            return Ok(SmallSvd {
                u: Small::unit_columns(rows, rank),
                sigma: vec![0.0; rank],
                v: Small::unit_columns(cols, rank),
            });
        }
        let scaled = Small::from_fn(rows, cols, |i, j| scale * self.get(i, j));
        let methods: [&dyn Fn() -> Option<SmallSvd>; 2] =
            [&|| iterated(&scaled), &|| Some(jacobi::svd(&scaled))];
        let mut found = first_right(methods, |found| svd_is_right(&scaled, found))?;
        found.sigma.iter_mut().for_each(|sigma| *sigma /= scale);
        Ok(found)
    }

    /// The power of two that scales the Frobenius norm into (½, 1]; 0 for a zero matrix.
    fn to_norm_one(&self) -> Result<f64> {
        if !self.is_finite() {
            return Err(failed(
                "values are not finite: the matrix overflows; scale its weights down",
            ));
        }
        let most = self
            .as_slice()
            .iter()
            .fold(0.0f64, |most, value| most.max(value.abs()));
        if most == 0.0 {
            return Ok(0.0);
        }
        // Relative to the largest entry, so that the squares stay in range.
        let squares: f64 = self
            .as_slice()
            .iter()
            .map(|value| (value / most).powi(2))
            .sum();
        let exponent = (most.log2() + 0.5 * squares.log2()).ceil();
        Ok((-exponent).clamp(-1000.0, 1000.0).exp2())
    }

    fn is_finite(&self) -> bool {
        self.as_slice().iter().all(|value| value.is_finite())
    }
}

/// The first result that is right.
fn first_right<T>(methods: [&dyn Fn() -> Option<T>; 2], right: impl Fn(&T) -> bool) -> Result<T> {
    let mut found = methods.into_iter().filter_map(|method| method());
    found.find(right).ok_or_else(|| {
        failed(
            "no method decomposes this matrix beyond rounding; please report it with the graph and settings",
        )
    })
}

fn failed(message: &str) -> Error {
    Error::Numeric {
        stage: "decomposition".into(),
        message: message.into(),
    }
}

/// A symmetric matrix of norm at most 1, away from zero.
fn moved(even: &Small) -> Small {
    Small::from_fn(even.rows(), even.rows(), |i, j| {
        even.get(i, j) + if i == j { AWAY } else { 0.0 }
    })
}

/// Eigenvalues and vectors by iteration; `None` if that fails.
fn iterated_eigen(even: &Small) -> Option<Eigen> {
    let (values, vectors) = symmetric_eigen(moved(even).as_faer())?;
    let values: Vec<f64> = values.iter().map(|value| value - AWAY).collect();
    let vectors = Small::from_faer(&vectors);
    (values.iter().all(|value| value.is_finite()) && vectors.is_finite())
        .then_some(Eigen { values, vectors })
}

/// The same by rotations: the matrix moved is positive definite, so its singular values are its eigenvalues.
fn rotated_eigen(even: &Small) -> Eigen {
    let SmallSvd { u, sigma, .. } = jacobi::svd(&moved(even));
    Eigen {
        values: sigma.iter().map(|value| value - AWAY).collect(),
        vectors: u,
    }
}

/// The singular value decomposition by iteration; `None` if that fails.
fn iterated(matrix: &Small) -> Option<SmallSvd> {
    let (rows, cols) = (matrix.rows(), matrix.cols());
    let rank = rows.min(cols);
    let found = matrix.as_faer().thin_svd().ok()?;
    let (u, sigma, v) = (found.U(), found.S(), found.V());
    let found = SmallSvd {
        u: Small::from_fn(rows, rank, |i, j| u[(i, j)]),
        sigma: (0..rank).map(|j| sigma[j]).collect(),
        v: Small::from_fn(cols, rank, |i, j| v[(i, j)]),
    };
    let finite = found.sigma.iter().all(|sigma| sigma.is_finite())
        && found.u.is_finite()
        && found.v.is_finite();
    finite.then_some(found)
}

/// Random vectors that are tried.
const PROBES: u64 = 3;

/// Bound on the rounding error in f64 for a matrix of norm 1; measured errors are below 10⁻¹³.
const ROUNDING: f64 = 1e-10;

/// Whether the eigenvalues descend, and vectors and values reproduce the symmetric matrix, whose norm is at most 1.
fn eigen_is_right(matrix: &Small, found: &Eigen) -> bool {
    let Eigen { values, vectors } = found;
    values.is_sorted_by(|a, b| a >= b)
        && probes(matrix.cols()).all(|x| {
            let along = transposed_times(vectors, &x);
            let scaled: Vec<f64> = along
                .iter()
                .zip(values)
                .map(|(y, value)| y * value)
                .collect();
            near(&times(vectors, &along), &x) && near(&times(vectors, &scaled), &times(matrix, &x))
        })
}

/// Whether the singular values descend and are not negative, and the triplets reproduce the matrix, whose norm
/// is at most 1.
fn svd_is_right(matrix: &Small, found: &SmallSvd) -> bool {
    let SmallSvd { u, sigma, v } = found;
    let orthonormal =
        |q: &Small| probes(q.cols()).all(|x| near(&transposed_times(q, &times(q, &x)), &x));
    let rebuilds = |x: Vec<f64>| {
        let along = transposed_times(v, &x);
        let scaled: Vec<f64> = along
            .iter()
            .zip(sigma)
            .map(|(y, sigma)| y * sigma)
            .collect();
        near(&times(u, &scaled), &times(matrix, &x))
    };
    sigma.is_sorted_by(|a, b| a >= b)
        && sigma.last().is_none_or(|&least| least >= 0.0)
        && orthonormal(u)
        && orthonormal(v)
        && probes(matrix.cols()).all(rebuilds)
}

/// Vectors of length 1 with entries of equal size and random signs.
fn probes(n: usize) -> impl Iterator<Item = Vec<f64>> {
    let size = 1.0 / (n.max(1) as f64).sqrt();
    (0..PROBES).map(move |probe| {
        let mut signs = Key::new(probe).with("verify", n as u64).rng();
        (0..n)
            .map(|_| {
                if signs.next_u64() >> 63 == 0 {
                    size
                } else {
                    -size
                }
            })
            .collect()
    })
}

fn times(matrix: &Small, x: &[f64]) -> Vec<f64> {
    (0..matrix.rows()).map(|i| dot(matrix.row(i), x)).collect()
}

fn transposed_times(matrix: &Small, x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; matrix.cols()];
    for (i, x) in x.iter().enumerate() {
        out.iter_mut()
            .zip(matrix.row(i))
            .for_each(|(to, a)| *to += a * x);
    }
    out
}

/// Written so that NaN is far away.
fn near(a: &[f64], b: &[f64]) -> bool {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b) * (a - b))
        .sum::<f64>()
        .sqrt()
        <= ROUNDING
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix with entries in (−1, 1) and Frobenius norm 1.
    fn dense(rows: usize, cols: usize, seed: u64) -> Small {
        let x = Block::random(rows, cols, Key::new(seed));
        let x = Small::from_fn(rows, cols, |i, j| f64::from(x.get(i, j)));
        let scale = x.to_norm_one().expect("finite");
        Small::from_fn(rows, cols, |i, j| scale * x.get(i, j))
    }

    /// What is wrong by a millionth is distinguished from what is right: values, vectors, a lost or a doubled direction.
    #[test]
    fn wrong_decompositions_are_told_from_right_ones() {
        for n in [2, 9, 60] {
            let even = dense(n, n + 3, n as u64).times(&dense(n, n + 3, n as u64).transposed());
            let right = even.eigen().expect("finite");
            assert!(eigen_is_right(&even, &right));
            assert!(eigen_is_right(&even, &rotated_eigen(&even)));
            let mut wrong = [right.clone(), right.clone(), right.clone(), right.clone()];
            wrong[0].values[0] += 1e-6;
            wrong[1].vectors.set(0, 1, right.vectors.get(0, 1) + 1e-6);
            (0..n).for_each(|i| wrong[2].vectors.set(i, n - 1, 0.0));
            (0..n).for_each(|i| wrong[3].vectors.set(i, n - 1, right.vectors.get(i, 0)));
            assert!(
                wrong.iter().all(|wrong| !eigen_is_right(&even, wrong)),
                "{n}"
            );
            for (rows, cols) in [(n, n + 2), (n + 4, n)] {
                let matrix = dense(rows, cols, 3);
                let right = matrix.svd().expect("finite");
                assert!(svd_is_right(&matrix, &right));
                let mut wrong = [right.clone(), right.clone(), right.clone(), right.clone()];
                wrong[0].sigma[0] += 1e-6;
                wrong[1].u.set(0, 1, right.u.get(0, 1) + 1e-6);
                (0..cols).for_each(|i| wrong[2].v.set(i, n - 1, 0.0));
                (0..rows).for_each(|i| wrong[3].u.set(i, 0, f64::NAN));
                assert!(
                    wrong.iter().all(|wrong| !svd_is_right(&matrix, wrong)),
                    "{rows} {cols}"
                );
            }
        }
    }

    /// Eigenvalues that fall by a fifth each, of matrices small and large beside the pairs wanted.
    #[test]
    fn leading_eigenpairs_are_the_first_of_all() {
        let value = |j: usize| 0.8f64.powi(j as i32);
        for (n, count) in [
            (0, 3),
            (5, 0),
            (5, 9),
            (90, 30),
            (300, 0),
            (300, 40),
            (300, 300),
        ] {
            let q = dense(n, n, 8).svd().expect("finite").u;
            let scaled = Small::from_fn(n, n, |i, j| q.get(i, j) * value(j));
            let matrix = scaled.times(&q.transposed());
            let Eigen { values, vectors } = matrix.leading(count).expect("finite");
            let found = count.min(n);
            assert_eq!(
                (values.len(), vectors.cols()),
                (found, found),
                "{n} {count}"
            );
            let image = matrix.times(&vectors);
            let inner = vectors.transposed().times(&vectors);
            for j in 0..found {
                assert!(
                    (values[j] - value(j)).abs() < 1e-7,
                    "{n} {count}: value {j}"
                );
                let off = |i: usize| (image.get(i, j) - value(j) * vectors.get(i, j)).abs();
                assert!((0..n).all(|i| off(i) < 1e-5), "{n} {count}: vector {j}");
                let unit = |i: usize| (inner.get(i, j) - f64::from(u8::from(i == j))).abs();
                assert!((0..found).all(|i| unit(i) < 1e-10), "{n} {count}: {j}");
            }
        }
        // Close values, of which powers would mix the vectors.
        let n = SMALL - 1;
        let q = dense(n, n, 9).svd().expect("finite").u;
        let scaled = Small::from_fn(n, n, |i, j| q.get(i, j) * 0.999f64.powi(j as i32));
        let flat = scaled.times(&q.transposed()).leading(4).expect("finite");
        let inside = flat.vectors.transposed().times(&q);
        assert!((0..4).all(|j| inside.get(j, j).abs() > 1.0 - 1e-9));
        let zeros = Small::zeros(400, 400).leading(9).expect("finite");
        assert_eq!(zeros.values, [0.0; 9]);
        let unfinished = Small::from_fn(400, 400, |_, _| f64::NAN);
        assert!(unfinished.leading(9).is_err());
    }

    #[test]
    fn a_wrong_decomposition_is_made_anew_and_is_an_error_if_that_fails_too() {
        let even = |x: &Eigen| eigen_is_right(&Small::identity(4), x);
        let right = || {
            Some(Eigen {
                values: vec![1.0; 4],
                vectors: Small::identity(4),
            })
        };
        let wrong = || {
            Some(Eigen {
                values: vec![19.9, 1.0, 1.0, 1.0],
                vectors: Small::identity(4),
            })
        };
        for first in [&wrong as &dyn Fn() -> Option<Eigen>, &|| None] {
            assert_eq!(
                first_right([first, &right], even)
                    .expect("the second")
                    .values,
                vec![1.0; 4]
            );
            let error = first_right([first, &wrong], even)
                .expect_err("both are wrong")
                .to_string();
            assert!(error.contains("decomposition"), "{error}");
        }
    }
}
