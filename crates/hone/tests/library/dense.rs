//! Tall blocks against naive f64 sums.
#![allow(missing_docs)]

use crate::naive;

use hone::dense::{Block, Columns, Group, Norm, Small, orthonormalize};
use hone::random::Key;
use naive::{Matrix, block, distance, times, transpose, wide};

/// Shapes around chunk, lane and page boundaries.
const SHAPES: [(usize, usize); 9] = [
    (0, 3),
    (1, 1),
    (5, 0),
    (31, 7),
    (1024, 24),
    (1025, 16),
    (4099, 3),
    (70_001, 2),
    (90_000, 24),
];

fn small(matrix: &Small) -> Matrix {
    (0..matrix.rows()).map(|i| matrix.row(i).to_vec()).collect()
}

fn gram(x: &Block, y: &Block) -> Matrix {
    let mut out = naive::zeros(x.cols(), y.cols());
    for r in 0..x.rows() {
        for (i, &a) in x.row(r).iter().enumerate() {
            for (j, &b) in y.row(r).iter().enumerate() {
                out[i][j] += f64::from(a) * f64::from(b);
            }
        }
    }
    out
}

#[test]
fn gram_and_cross_are_f64_sums() {
    for (rows, cols) in SHAPES {
        let x = block(rows, cols, 1);
        let y = block(rows, cols + 1, 2);
        assert!(
            distance(&small(&x.gram()), &gram(&x, &x)) < 1e-13,
            "{rows} × {cols}"
        );
        assert!(
            distance(&small(&x.cross(&y)), &gram(&x, &y)) < 1e-11,
            "{rows} × {cols}"
        );
    }
}

#[test]
fn gram_keeps_what_f32_would_lose() {
    // 1 + 2^-12 squared needs 25 bits; a thousand such rows need exact products and f64 sums.
    let value = 1.0 + (-12f32).exp2();
    let x = Block::from_vec(1000, 1, vec![value; 1000]);
    assert_eq!(
        x.gram().get(0, 0),
        1000.0 * f64::from(value) * f64::from(value)
    );
}

#[test]
fn products_with_small_matrices() {
    for (rows, cols) in SHAPES.into_iter().filter(|shape| shape.0 < 10_000) {
        let x = block(rows, cols, 3);
        let m = Small::from_fn(cols, cols, |i, j| ((3 * i + 5 * j) % 7) as f64 - 2.5);
        let expected = times(&wide(&x), &small(&m));
        let found = x.times(&m);
        assert!(
            rows * cols == 0 || distance(&wide(&found), &expected) < 1e-6,
            "{rows} × {cols}"
        );
        let mut inside = x.clone();
        inside.transform(&m);
        assert_eq!(inside, found);
        let mut sum = x.clone();
        sum.subtract_times(&x, &m);
        for i in 0..rows {
            for j in 0..cols {
                let expected = f64::from(x.get(i, j)) - f64::from(found.get(i, j));
                assert!((f64::from(sum.get(i, j)) - expected).abs() < 1e-4);
            }
        }
    }
}

#[test]
fn norms_scaling_and_signs() {
    let mut x = Block::from_vec(
        3,
        4,
        vec![3.0, 0.0, -1.0, 2.0, -4.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5, 0.0],
    );
    assert_eq!(x.column_norms(Norm::L2), [5.0, 0.0, 1.5, 2.0]);
    assert_eq!(x.column_norms(Norm::L1), [7.0, 0.0, 2.5, 2.0]);
    assert_eq!(x.column_norms(Norm::Max), [4.0, 0.0, 1.0, 2.0]);
    assert_eq!(x.column_norms(Norm::None), [1.0; 4]);
    assert_eq!(
        x.column_signs(),
        [-1.0, 1.0, -1.0, 1.0],
        "the topmost of equals decides"
    );
    let before = x.clone();
    x.normalize_columns(Norm::None);
    assert_eq!(x, before);
    x.normalize_columns(Norm::L2);
    assert_eq!(x.row(1), [-0.8, 0.0, 1.0 / 1.5, 0.0]);
    for norm in [Norm::L1, Norm::Max] {
        x.normalize_columns(norm);
        for (j, n) in x.column_norms(norm).into_iter().enumerate() {
            assert!((n - f64::from(u8::from(j != 1))).abs() < 1e-6, "{norm:?}");
        }
    }
}

/// Largest |QᵀQ − diag(kept)|.
fn disorder(q: &Block, kept: &[bool]) -> f64 {
    let gram = gram(q, q);
    let expected = |i: usize, j: usize| f64::from(u8::from(i == j && kept[i]));
    (0..kept.len())
        .flat_map(|i| (0..kept.len()).map(move |j| (i, j)))
        .fold(0.0, |d: f64, (i, j)| {
            d.max((gram[i][j] - expected(i, j)).abs())
        })
}

#[test]
fn orthonormal_columns_span_the_same_space() {
    for (rows, cols) in [(40, 7), (5000, 24), (3000, 40)] {
        let x = block(rows, cols, 5);
        let mut q = x.clone();
        let kept = orthonormalize(&mut q);
        assert!(kept.iter().all(|&kept| kept));
        assert!(disorder(&q, &kept) < 2e-6, "{}", disorder(&q, &kept));
        let back = q.times(&q.cross(&x));
        assert!(distance(&wide(&back), &wide(&x)) < 1e-5);
    }
}

#[test]
fn columns_of_very_different_length_or_nearly_parallel() {
    let mut x = block(2000, 6, 6);
    let factors = [1e-12, 1e9, 1.0, 1e-3, 1e15, 1e-18];
    x.scale_columns(&factors);
    // The last column is the second but for one part in a thousand.
    x.update_rows(|i, row| row[5] = row[1] * (1.0 + 1e-5 * (i * 37 % 101) as f32));
    let kept = orthonormalize(&mut x);
    assert_eq!(kept, [true; 6]);
    assert!(disorder(&x, &kept) < 2e-6, "{}", disorder(&x, &kept));
}

#[test]
fn dependent_columns_become_zero_and_are_named() {
    let mut x = block(500, 8, 7);
    x.update_rows(|_, row| {
        row[2] = row[0];
        row[4] = 0.0;
        row[6] = row[0] - 3.0 * row[1] + row[5];
    });
    let kept = orthonormalize(&mut x);
    assert_eq!(kept, [true, true, false, true, false, true, false, true]);
    assert!(x.as_slice().iter().all(|value| value.is_finite()));
    assert!(disorder(&x, &kept) < 2e-6);
    for i in 0..500 {
        assert_eq!((x.get(i, 2), x.get(i, 4), x.get(i, 6)), (0.0, 0.0, 0.0));
    }
    let mut few = block(3, 5, 8);
    assert_eq!(
        orthonormalize(&mut few)
            .iter()
            .filter(|&&kept| kept)
            .count(),
        3
    );
    let mut none = Block::zeros(9, 4);
    assert_eq!(orthonormalize(&mut none), [false; 4]);
    assert_eq!(none, Block::zeros(9, 4));
    assert!(
        orthonormalize(&mut Block::zeros(0, 2))
            .iter()
            .all(|kept| !kept)
    );
}

#[test]
fn small_decompositions() {
    let a = Small::from_fn(6, 6, |i, j| {
        if i == j {
            3.0 + i as f64
        } else {
            1.0 / (1 + i + j) as f64
        }
    });
    let eigen = a.eigen().expect("finite");
    let (values, _) = naive::jacobi(&small(&a));
    eigen
        .values
        .iter()
        .zip(&values)
        .for_each(|(x, y)| assert!((x - y).abs() < 1e-12));
    let mut scaled = eigen.vectors.clone();
    scaled.scale_columns(&eigen.values);
    assert!(
        distance(
            &small(&scaled.times(&eigen.vectors.transposed())),
            &small(&a)
        ) < 1e-13
    );
    let b = Small::from_fn(4, 6, |i, j| ((i * 7 + j * 3) % 5) as f64);
    let svd = b.svd().expect("finite");
    let mut left = svd.u.clone();
    left.scale_columns(&svd.sigma);
    assert!(distance(&small(&left.times(&svd.v.transposed())), &small(&b)) < 1e-13);
    assert!(Small::from_fn(2, 2, |_, _| f64::NAN).eigen().is_err());
    assert!(Small::from_fn(2, 2, |_, _| f64::INFINITY).svd().is_err());
}

#[test]
fn columns_read_like_one_matrix() {
    for rows in [1usize, 60, 5000] {
        let stored: Vec<u32> = (0..rows as u32).filter(|i| i % 7 == 3 || *i == 0).collect();
        let part = block(stored.len(), 3, 9);
        let y = Columns::new(
            rows,
            vec![
                Group::full(block(rows, 2, 8)),
                Group::partial(stored, part),
                Group::partial(Vec::new(), Block::zeros(0, 2)),
                Group::full(Block::zeros(rows, 0)),
            ],
        );
        assert_eq!((y.rows(), y.cols()), (rows, 7));
        let whole = y.to_block();
        assert_eq!(whole.row(0)[5..], [0.0, 0.0]);
        assert!(distance(&small(&y.gram()), &gram(&whole, &whole)) < 1e-13);
        let x = block(rows, 4, 10);
        assert!(distance(&small(&y.cross(&x)), &gram(&whole, &x)) < 1e-12);
        let m = Small::from_fn(7, 5, |i, j| (i as f64 - j as f64) / 3.0);
        assert!(distance(&wide(&y.times(&m)), &times(&wide(&whole), &small(&m))) < 1e-6);
        let mut rows_read = vec![9.0; 7];
        y.read_row(rows - 1, &mut rows_read);
        assert_eq!(rows_read, whole.row(rows - 1));
    }
}

#[test]
fn random_blocks_depend_on_the_key_and_look_uniform() {
    let x = Block::random(50_000, 3, Key::new(1));
    assert_eq!(x, Block::random(50_000, 3, Key::new(1)));
    assert_ne!(x, Block::random(50_000, 3, Key::new(2)));
    assert_ne!(x, Block::random(50_000, 3, Key::new(1).with("other", 0)));
    assert!(
        x.as_slice()
            .iter()
            .all(|value| value.abs() < 1.0 && *value != 0.0)
    );
    let gram = x.gram();
    for i in 0..3 {
        for j in 0..3 {
            let expected = if i == j { 1.0 / 3.0 } else { 0.0 };
            assert!((gram.get(i, j) / 50_000.0 - expected).abs() < 0.01);
        }
    }
}

#[test]
fn same_bits_for_any_number_of_threads() {
    naive::same_on_any_threads(|| {
        let mut x = Block::random(100_003, 24, Key::new(5));
        let y = Block::random(100_003, 8, Key::new(6));
        let mut numbers: Vec<f64> = x.gram().as_slice().to_vec();
        numbers.extend(x.cross(&y).as_slice());
        [Norm::L1, Norm::L2, Norm::Max]
            .into_iter()
            .for_each(|norm| numbers.extend(x.column_norms(norm)));
        orthonormalize(&mut x);
        let bits: Vec<u64> = numbers.iter().map(|x| x.to_bits()).collect();
        (
            bits,
            x.as_slice().iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
        )
    });
}

#[test]
fn transposes_and_gram_of_transposes_agree() {
    let x = block(50, 6, 2);
    assert!(
        distance(
            &transpose(&wide(&x.times(&x.gram()))),
            &times(&gram(&x, &x), &transpose(&wide(&x)))
        ) < 1e-6
    );
}
