//! The truncated SVD of an expression that is never formed, with tall matrices in temporary files while others are worked on:
//! `cargo run --release -p hone-embed-linalg --example svd -- 1000000`

use std::sync::Arc;

use hone_linalg::factor::Task;
use hone_linalg::factor::svd::{Svd, svd};
use hone_linalg::matrix::{MotifMatrix, Psi};
use hone_linalg::operator::Operator;
use hone_linalg::random::Key;
use hone_linalg::sparse::{Csr, Pattern};
use hone_linalg::{Result, Silent};

/// A ring in which each node is also linked to the one seven steps ahead, with weights that vary.
fn ring(n: usize) -> Csr {
    let rows = (0..n).map(|i| {
        let mut row = [i + 1, i + n - 1, i + 7, i + n - 7].map(|j| (j % n) as u32);
        row.sort_unstable();
        row
    });
    let columns: Vec<u32> = rows.flatten().collect();
    let values: Vec<f32> = (0..4 * n)
        .map(|at| {
            let (i, j) = (at as u32 / 4, columns[at]);
            1.0 + ((i + j) % 5) as f32
        })
        .collect();
    let pattern = Pattern::new((0..=n).map(|i| 4 * i).collect(), columns, n);
    Csr::new(Arc::new(pattern), values.into())
}

fn main() -> Result<()> {
    let nodes = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(20_000);
    let walk = MotifMatrix {
        psi: Psi::P,
        ..MotifMatrix::default()
    };
    let s = walk.operator(&Operator::symmetric("W", ring(nodes)), 2)?;
    let folder = std::env::temp_dir();
    let task = Task {
        rank: 8,
        right: false,
        key: Key::new(1),
        progress: &Silent,
        aside: Some(&folder),
    };
    let factors = svd(&s, &Svd::default(), &task)?;
    println!("S = {}, {nodes} rows", s.formula());
    println!("singular values {:.5?}", factors.sigma);
    Ok(())
}
