//! Jacobi's method for small dense matrices: slow, but always convergent; the fallback of the faster iterations of `decompose`.
//!
//! Columns are rotated, two at a time, until they are orthogonal (one-sided Jacobi; Hestenes 1958): their lengths are the
//! singular values, the small ones too, since no Gram matrix is formed. Cost: O(n³) for each sweep; some ten sweeps.

use super::Small;
use super::SmallSvd;
use super::small::dot;

/// Maximum number of sweeps; convergence is quadratic, and ten are many.
const SWEEPS: usize = 64;

/// A smaller rotation changes nothing in f64.
const TINY: f64 = 1e-16;

/// cos and sin of the rotation that makes [[a, b], [b, d]] diagonal, by at most 45 degrees.
fn rotation(a: f64, b: f64, d: f64) -> (f64, f64) {
    let tau = (d - a) / (2.0 * b);
    let tangent = tau.signum() / (tau.abs() + tau.hypot(1.0));
    let cos = 1.0 / tangent.hypot(1.0);
    (cos, cos * tangent)
}

/// (x, y) ← (c x − s y, s x + c y) for all pairs.
fn rotate(x: &mut [f64], y: &mut [f64], (cos, sin): (f64, f64)) {
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (cos * *x - sin * *y, sin * *x + cos * *y);
    }
}

/// Rows p < q of a matrix, to be changed.
fn pair(matrix: &mut Small, p: usize, q: usize) -> (&mut [f64], &mut [f64]) {
    let cols = matrix.cols();
    let (before, after) = matrix.as_mut_slice().split_at_mut(q * cols);
    (&mut before[p * cols..(p + 1) * cols], &mut after[..cols])
}

/// The thin singular value decomposition of a matrix with finite entries.
pub(super) fn svd(matrix: &Small) -> SmallSvd {
    if matrix.rows() < matrix.cols() {
        let SmallSvd { u, sigma, v } = svd(&matrix.transposed());
        return SmallSvd { u: v, sigma, v: u };
    }
    let n = matrix.cols();
    // Row j is column j of the matrix, or of V.
    let (mut columns, mut right) = (matrix.transposed(), Small::identity(n));
    for _ in 0..SWEEPS {
        let mut turned = false;
        for p in 0..n {
            for q in p + 1..n {
                let (x, y) = (columns.row(p), columns.row(q));
                let (own, across, other) = (dot(x, x), dot(x, y), dot(y, y));
                if across.abs() <= TINY * n as f64 * (own * other).sqrt() {
                    continue;
                }
                turned = true;
                let by = rotation(own, across, other);
                let (x, y) = pair(&mut columns, p, q);
                rotate(x, y, by);
                let (x, y) = pair(&mut right, p, q);
                rotate(x, y, by);
            }
        }
        if !turned {
            break;
        }
    }
    let lengths: Vec<f64> = (0..n)
        .map(|j| dot(columns.row(j), columns.row(j)).sqrt())
        .collect();
    let order = descending(&lengths);
    let sigma: Vec<f64> = order.iter().map(|&j| lengths[j]).collect();
    let left = |i: usize, j: usize| {
        if sigma[j] > 0.0 {
            columns.get(order[j], i) / sigma[j]
        } else {
            0.0
        }
    };
    let mut u = Small::from_fn(matrix.rows(), n, left);
    complete(&mut u, &sigma);
    SmallSvd {
        u,
        v: Small::from_fn(n, n, |i, j| right.get(order[j], i)),
        sigma,
    }
}

/// Makes the columns of U whose singular value is lost in rounding orthonormal to all before them.
fn complete(u: &mut Small, sigma: &[f64]) {
    let (rows, floor) = (
        u.rows(),
        sigma
            .first()
            .map_or(0.0, |most| most * f64::EPSILON * u.rows() as f64),
    );
    let mut unit = 0;
    for j in (0..u.cols()).filter(|&j| sigma[j] <= floor) {
        let mut column: Vec<f64> = (0..rows).map(|i| u.get(i, j)).collect();
        loop {
            // Twice: what is left is orthogonal to the last bit.
            for _ in 0..2 {
                for k in 0..j {
                    let along: f64 = (0..rows).map(|i| column[i] * u.get(i, k)).sum();
                    (0..rows).for_each(|i| column[i] -= along * u.get(i, k));
                }
            }
            let length = dot(&column, &column).sqrt();
            // One of the unit vectors has at least this length outside fewer columns than rows.
            if length > 0.5 / (rows as f64).sqrt() {
                (0..rows).for_each(|i| u.set(i, j, column[i] / length));
                break;
            }
            column = (0..rows).map(|i| f64::from(u8::from(i == unit))).collect();
            unit += 1;
        }
    }
}

/// Positions by falling value, equal ones in order.
fn descending(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[j].total_cmp(&values[i]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::Block;
    use crate::random::Key;

    /// A product of random matrices: of the given rank, exactly.
    fn deficient(rows: usize, cols: usize, rank: usize, seed: u64) -> Small {
        let left = Block::random(rows, rank, Key::new(seed));
        Small::from(&left).times(&Small::from(&Block::random(
            rank,
            cols,
            Key::new(seed + 99),
        )))
    }

    fn off(a: &Small, b: &Small) -> f64 {
        a.as_slice()
            .iter()
            .zip(b.as_slice())
            .fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs()))
    }

    fn off_identity(q: &Small) -> f64 {
        off(&q.transposed().times(q), &Small::identity(q.cols()))
    }

    #[test]
    fn singular_vectors_are_orthonormal_and_rebuild_the_matrix() {
        for (rows, cols, rank) in [
            (1, 1, 1),
            (6, 4, 4),
            (4, 6, 2),
            (30, 12, 5),
            (9, 30, 9),
            (7, 7, 0),
            (40, 40, 39),
        ] {
            let a = deficient(rows, cols, rank, 3);
            let SmallSvd { u, sigma, v } = svd(&a);
            assert_eq!(
                (u.cols(), sigma.len(), v.cols()),
                (rows.min(cols), rows.min(cols), rows.min(cols))
            );
            let mut scaled = u.clone();
            scaled.scale_columns(&sigma);
            assert!(
                off(&scaled.times(&v.transposed()), &a) < 1e-13 * (1 + rows + cols) as f64,
                "{rows} {cols} {rank}"
            );
            assert!(
                off_identity(&u) < 1e-12 && off_identity(&v) < 1e-12,
                "{rows} {cols} {rank}"
            );
            assert!(sigma.is_sorted_by(|a, b| a >= b) && sigma.iter().all(|sigma| *sigma >= 0.0));
            let nonzero = sigma.iter().filter(|sigma| **sigma > 1e-12).count();
            assert_eq!(nonzero, rank, "{rows} {cols}: {sigma:?}");
        }
    }

    /// A matrix whose singular values are known, eight orders of magnitude apart: no Gram matrix could tell.
    #[test]
    fn small_singular_values_keep_their_digits() {
        let sigma = [1.0, 1e-4, 1e-8, 1e-12];
        let (left, right) = (svd(&deficient(4, 4, 4, 5)).u, Small::identity(4));
        // Columns of an orthonormal matrix, scaled.
        let a = Small::from_fn(4, 4, |i, j| left.get(i, j) * sigma[j]).times(&right);
        for (found, expected) in svd(&a).sigma.iter().zip(sigma) {
            assert!((found / expected - 1.0).abs() < 1e-10, "{found} {expected}");
        }
    }
}
