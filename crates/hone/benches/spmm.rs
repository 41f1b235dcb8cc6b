//! The sparse product and the tall dense kernels at full size, against what the memory allows.
//!
//! `cargo bench -p hone-embed --bench spmm [nodes] [width]`. Prints, for an Erdős–Rényi graph of average
//! degree 10: the triad bandwidth, the bound it sets on a product without reuse of gathered rows, the
//! product itself, a plain scalar loop, and the dense kernels. Best of five runs, wall and CPU seconds.

use std::sync::Arc;
use std::time::Instant;

use hone::dense::{Block, orthonormalize};
use hone::operator::{Diagonal, Operator, Workspace};
use hone::random::Key;
use hone::space::Host;
use hone::sparse::{Csr, Fused, Pattern, Rounded, multiply, multiply_rounded, multiply_rows};
use rand_xoshiro::rand_core::Rng;
use rayon::prelude::*;

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let n = numbers.first().copied().unwrap_or(1_000_000);
    let b = numbers.get(1).copied().unwrap_or(24);
    let matrix = erdos_renyi(n, 5 * n);
    println!(
        "n {n} nnz {} b {b} threads {}",
        matrix.nnz(),
        rayon::current_num_threads()
    );
    let bandwidth = triad();
    println!("triad {:.1} GB/s", bandwidth / 1e9);

    let x = Block::random(n, b, Key::new(1));
    let mut y = Block::zeros(n, b);
    let bytes = matrix.nnz() * (8 + 4 * b) + n * (8 + 4 * b);
    let bound = bytes as f64 / bandwidth;
    let product = best("product", || multiply(&matrix, &x, &mut y));
    println!("  bound {bound:.4} s, {:.2} x", product / bound);
    let diagonal = Diagonal::new(
        "d",
        (0..n).map(|i| 1.0 / (1 + i % 7) as f32).collect::<Vec<_>>(),
    );
    best("product, left", || {
        multiply_rows(
            &matrix,
            0..n,
            &x,
            &mut y,
            &Fused {
                left: Some(&diagonal),
                ..Fused::default()
            },
        );
    });
    let round = |words| Rounded::of(&x, None, words);
    let mut rounded = Some(round(Block::zeros(n, Rounded::words(b))));
    best("rounding", || {
        rounded = rounded.take().map(|old| round(old.into_block()));
    });
    let rounded = rounded.expect("rounded above");
    let half = best("rounded product", || {
        multiply_rounded(&matrix, 0..n, &rounded, &mut y, &Fused::default());
    });
    println!("  {:.2} x the product", half / product);
    let plain = best("plain loop, one thread", || plain(&matrix, &x, &mut y));
    println!("  {:.2} x the product", plain / product);
    let p = Operator::sparse("W", matrix.clone());
    best("transpose", || drop(matrix.transposed()));
    let mut work = Workspace::default();
    best("transposed product", || {
        let image = p.image(&Host, true, &x, &mut work);
        work.give(image);
    });

    best("random", || drop(Block::random(n, b, Key::new(1))));
    best("gram", || drop(x.gram()));
    best("cross", || drop(x.cross(&y)));
    let small = x.gram();
    best("times small", || drop(x.times(&small)));
    best("copy", || drop(x.clone()));
    best("copy and orthonormalize", || {
        drop(orthonormalize(&mut x.clone()));
    });
}

/// Best wall time of five runs, in seconds.
fn best(name: &str, mut work: impl FnMut()) -> f64 {
    let (mut wall, mut cpu) = (f64::MAX, f64::MAX);
    for _ in 0..5 {
        let (start, cpu_start) = (Instant::now(), cpu_seconds());
        work();
        wall = wall.min(start.elapsed().as_secs_f64());
        cpu = cpu.min(cpu_seconds() - cpu_start);
    }
    println!("{name:28} wall {wall:.4} s, cpu {cpu:.2} s");
    wall
}

/// User and system time of this process so far (0 where /proc is absent).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap_or("")
        .split_whitespace()
        .collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|field| field.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    (ticks(11) + ticks(12)) / 100.0
}

/// Bytes a second of a = b + s c on three large blocks.
fn triad() -> f64 {
    let (rows, cols) = (1 << 20, 64);
    let (mut a, b, c) = (
        Block::zeros(rows, cols),
        Block::random(rows, cols, Key::new(2)),
        Block::random(rows, cols, Key::new(3)),
    );
    let time = best("triad", || {
        let size = 1 << 14;
        let parts = a
            .as_mut_slice()
            .par_chunks_mut(size)
            .zip(b.as_slice().par_chunks(size))
            .zip(c.as_slice().par_chunks(size));
        parts.for_each(|((a, b), c)| {
            a.iter_mut()
                .zip(b)
                .zip(c)
                .for_each(|((a, b), c)| *a = b + 3.0 * c);
        });
    });
    (3 * 4 * rows * cols) as f64 / time
}

/// What a straightforward library does: one thread, a loop over columns of unknown width.
fn plain(matrix: &Csr, x: &Block, y: &mut Block) {
    for i in 0..matrix.rows() {
        let out = y.row_mut(i);
        out.fill(0.0);
        let (columns, values) = matrix.row(i);
        for (&j, &a) in columns.iter().zip(values) {
            for (out, x) in out.iter_mut().zip(x.row(j as usize)) {
                *out += a * x;
            }
        }
    }
}

fn erdos_renyi(n: usize, edges: usize) -> Csr {
    let mut rng = Key::new(7).rng();
    let mut pairs: Vec<u64> = (0..edges)
        .flat_map(|_| {
            let (i, j) = (rng.next_u64() % n as u64, rng.next_u64() % n as u64);
            [i << 32 | j, j << 32 | i]
        })
        .collect();
    pairs.par_sort_unstable();
    pairs.dedup();
    let mut offsets = vec![0; n + 1];
    pairs
        .iter()
        .for_each(|pair| offsets[(pair >> 32) as usize + 1] += 1);
    (0..n).for_each(|i| offsets[i + 1] += offsets[i]);
    let columns: Vec<u32> = pairs.iter().map(|&pair| pair as u32).collect();
    let values = vec![1.0f32; columns.len()];
    Csr::new(Arc::new(Pattern::new(offsets, columns, n)), values.into())
}
