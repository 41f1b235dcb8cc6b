//! The SVD of a small operator: its matrix is formed in f64 and decomposed directly, without iterations.
//!
//! A Krylov basis of `DEPTH` blocks spans the whole space of a matrix with hardly more rows: it costs as much as the
//! decomposition and adds no directions. Small matrices are decomposed faster than iterated on. No Gram matrix is
//! formed, so that small singular values keep their digits; symmetric matrices go through their eigenvalues. What is
//! reported is the residual of the triplets that are returned, whose vectors are rounded to f32. Cost: O(n³), one
//! thread; six n × n matrices of f64.

use super::method::{Factors, Info, Task};
use super::subspace::DEPTH;
use super::svd_options::{Svd, floor, multiple_from};
use crate::dense::{Block, Small, SmallSvd};
use crate::error::Result;
use crate::operator::Operator;

/// Matrices with at most this many rows and columns are always decomposed directly.
const ALWAYS: usize = 256;

/// Larger ones, up to this, are if a Krylov basis would fill them.
const LARGEST: usize = 1024;

/// The largest size of a matrix that is decomposed directly if an iteration would use blocks of `width` columns.
pub fn largest(width: usize) -> usize {
    DEPTH.saturating_mul(width).clamp(ALWAYS, LARGEST)
}

/// Bytes that a matrix of `n` rows and columns takes while it is decomposed.
pub fn memory(n: u64) -> u64 {
    6 * 8 * n * n
}

/// The leading singular triplets.
pub(super) fn exact(s: &Operator, options: &Svd, task: &Task) -> Result<Factors> {
    task.progress.check()?;
    let matrix = s.explicit();
    let found = if s.is_symmetric() {
        of_symmetric(&matrix)?
    } else {
        matrix.svd()?
    };
    let floor = floor(found.sigma.first().copied().unwrap_or(0.0), s.terms());
    let rank = found
        .sigma
        .iter()
        .take(task.rank)
        .filter(|&&sigma| sigma > floor)
        .count();
    // Nodes without an entry have zeros, not rounding noise.
    let [rows, columns] = occupied(&matrix);
    let kept = |side: &Small, any: &[bool]| {
        let entry = |i: usize, j: usize| {
            if any[i] && j < rank {
                side.get(i, j)
            } else {
                0.0
            }
        };
        Block::from(&Small::from_fn(side.rows(), task.rank, entry))
    };
    let (mut u, mut v) = (kept(&found.u, &rows), kept(&found.v, &columns));
    let signs = u.column_signs();
    u.scale_columns(&signs);
    v.scale_columns(&signs);
    let sigma = (0..task.rank)
        .map(|j| if j < rank { found.sigma[j] } else { 0.0 })
        .collect();
    let mut info = Info {
        rank,
        multiple_from: multiple_from(&found.sigma, rank, floor),
        ..Info::default()
    };
    info.measured(residual(&matrix, (&u, &found.sigma[..rank], &v)), options);
    let v = Some(v).filter(|_| task.right);
    Ok(Factors { u, sigma, v, info })
}

/// Which rows, and which columns, have an entry.
fn occupied(matrix: &Small) -> [Vec<bool>; 2] {
    let (mut rows, mut columns) = (vec![false; matrix.rows()], vec![false; matrix.cols()]);
    for (i, any) in rows.iter_mut().enumerate() {
        for (j, _) in matrix
            .row(i)
            .iter()
            .enumerate()
            .filter(|(_, value)| **value != 0.0)
        {
            (*any, columns[j]) = (true, true);
        }
    }
    [rows, columns]
}

/// Singular triplets of a symmetric matrix: |λ|, the eigenvectors, and those with the sign of λ.
pub(super) fn of_symmetric(matrix: &Small) -> Result<SmallSvd> {
    let eigen = matrix.eigen()?;
    let n = matrix.rows();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| eigen.values[j].abs().total_cmp(&eigen.values[i].abs()));
    let sign = |j: usize| if eigen.values[j] < 0.0 { -1.0 } else { 1.0 };
    Ok(SmallSvd {
        u: Small::from_fn(n, n, |i, j| eigen.vectors.get(i, order[j])),
        sigma: order.iter().map(|&j| eigen.values[j].abs()).collect(),
        v: Small::from_fn(n, n, |i, j| sign(order[j]) * eigen.vectors.get(i, order[j])),
    })
}

/// The largest ‖S v − σ u‖ or ‖Sᵀ u − σ v‖ of the first triplets, relative to σ, of the vectors as they are returned.
fn residual(matrix: &Small, (u, sigma, v): (&Block, &[f64], &Block)) -> f64 {
    let wide = |x: &Block| Small::from_fn(x.rows(), sigma.len(), |i, j| f64::from(x.get(i, j)));
    let (u, v) = (wide(u), wide(v));
    let sides = [(matrix.times(&v), &u), (matrix.transposed().times(&u), &v)];
    let of = |image: &Small, vectors: &Small, j: usize| {
        let off = |i: usize| image.get(i, j) - sigma[j] * vectors.get(i, j);
        (0..image.rows())
            .map(|i| off(i).powi(2))
            .sum::<f64>()
            .sqrt()
            / sigma[j]
    };
    let all = sides
        .iter()
        .flat_map(|(image, vectors)| (0..sigma.len()).map(|j| of(image, vectors, j)));
    all.fold(0.0, f64::max)
}
