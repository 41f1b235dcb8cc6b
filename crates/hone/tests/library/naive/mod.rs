//! Slow, simple f64 matrices: the truth the fast code is compared with. Shares no code with it.
#![allow(dead_code, missing_docs, unreachable_pub)]

pub mod definition;

use std::sync::Arc;

use hone::dense::Block;
use hone::operator::Operator;
use hone::sparse::{Csr, Pattern};

pub type Matrix = Vec<Vec<f64>>;

pub fn zeros(rows: usize, cols: usize) -> Matrix {
    vec![vec![0.0; cols]; rows]
}

pub fn times(a: &Matrix, b: &Matrix) -> Matrix {
    let cols = b.first().map_or(0, Vec::len);
    let mut out = zeros(a.len(), cols);
    for i in 0..a.len() {
        for k in (0..b.len()).filter(|&k| a[i][k] != 0.0) {
            for j in 0..cols {
                out[i][j] += a[i][k] * b[k][j];
            }
        }
    }
    out
}

pub fn transpose(a: &Matrix) -> Matrix {
    let cols = a.first().map_or(0, Vec::len);
    (0..cols)
        .map(|j| a.iter().map(|row| row[j]).collect())
        .collect()
}

pub fn power(a: &Matrix, k: usize) -> Matrix {
    (1..k).fold(a.clone(), |p, _| times(a, &p))
}

/// A deterministic stream of numbers in [0, 1).
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }
}

/// A random weighted graph on n nodes; the last two are isolated.
pub fn graph(n: usize, density: f64, directed: bool, seed: u64) -> Matrix {
    let mut numbers = Numbers(seed.wrapping_add(77));
    let mut w = zeros(n, n);
    for i in 0..n.saturating_sub(2) {
        for j in 0..n.saturating_sub(2) {
            if i != j && (directed || i < j) && numbers.next() < density {
                let weight = 1.0 + (numbers.next() * 5.0).floor();
                w[i][j] = weight;
                if !directed {
                    w[j][i] = weight;
                }
            }
        }
    }
    w
}

pub fn csr(a: &Matrix, cols: usize) -> Csr {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in a {
        for (j, &x) in row.iter().enumerate() {
            if x != 0.0 {
                columns.push(j as u32);
                values.push(x as f32);
            }
        }
        offsets.push(columns.len());
    }
    Csr::new(
        Arc::new(Pattern::new(offsets, columns, cols)),
        values.into(),
    )
}

pub fn leaf(a: &Matrix, symmetric: bool) -> Operator {
    if symmetric {
        Operator::symmetric("W", csr(a, a.len()))
    } else {
        Operator::sparse("W", csr(a, a.len()))
    }
}

pub fn block(rows: usize, cols: usize, seed: u64) -> Block {
    let mut numbers = Numbers(seed);
    Block::from_vec(
        rows,
        cols,
        (0..rows * cols)
            .map(|_| (numbers.next() * 2.0 - 1.0) as f32)
            .collect(),
    )
}

pub fn wide(block: &Block) -> Matrix {
    (0..block.rows())
        .map(|i| block.row(i).iter().map(|&x| f64::from(x)).collect())
        .collect()
}

/// Largest |a − b|, relative to the largest |b|.
pub fn distance(a: &Matrix, b: &Matrix) -> f64 {
    assert_eq!(
        (a.len(), a.first().map(Vec::len)),
        (b.len(), b.first().map(Vec::len)),
        "shapes"
    );
    let most = b
        .iter()
        .flatten()
        .fold(1e-30f64, |most, x| most.max(x.abs()));
    a.iter()
        .flatten()
        .zip(b.iter().flatten())
        .fold(0.0f64, |d, (x, y)| d.max((x - y).abs()))
        / most
}

/// Eigenvalues and vectors (columns) of a symmetric matrix by Jacobi rotations, descending by value.
pub fn jacobi(a: &Matrix) -> (Vec<f64>, Matrix) {
    let n = a.len();
    let mut a = a.clone();
    let mut v = zeros(n, n);
    (0..n).for_each(|i| v[i][i] = 1.0);
    let size: f64 = a.iter().flatten().map(|x| x * x).sum();
    for _ in 0..60 {
        let off: f64 = (0..n)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| a[i][j] * a[i][j])
            .sum();
        if off <= 1e-30 * size {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let t = if theta == 0.0 { 1.0 } else { t };
                let c = 1.0 / (t * t + 1.0).sqrt();
                let s = t * c;
                for k in 0..n {
                    let (x, y) = (a[k][p], a[k][q]);
                    (a[k][p], a[k][q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p][k], a[q][k]);
                    (a[p][k], a[q][k]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (v[k][p], v[k][q]);
                    (v[k][p], v[k][q]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j][j].total_cmp(&a[i][i]));
    let values = order.iter().map(|&i| a[i][i]).collect();
    let vectors = (0..n)
        .map(|k| order.iter().map(|&i| v[k][i]).collect())
        .collect();
    (values, vectors)
}

/// Singular values, descending, of any matrix.
pub fn singular_values(a: &Matrix) -> Vec<f64> {
    jacobi(&times(&transpose(a), a))
        .0
        .into_iter()
        .map(|x| x.max(0.0).sqrt())
        .collect()
}

/// Runs `work` on pools of 1, 2 and 7 threads and asserts equal results.
pub fn same_on_any_threads<T: PartialEq + Send>(work: impl Fn() -> T + Sync) {
    let on = |threads| {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool")
            .install(&work)
    };
    let one = on(1);
    assert!(one == on(2), "two threads differ from one");
    assert!(one == on(7), "seven threads differ from one");
}
