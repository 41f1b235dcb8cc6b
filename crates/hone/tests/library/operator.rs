//! Sparse products and lazy operators against explicit dense matrices.
#![allow(missing_docs)]

use crate::naive;

use std::sync::Arc;

use hone::dense::{Block, Columns};
use hone::operator::{Diagonal, Operator, Scaled, Workspace};
use hone::space::Host;
use hone::sparse::{Fused, Plus, Rounded, multiply, multiply_rounded, multiply_rows};
use naive::{Matrix, block, csr, distance, graph, leaf, power, times, transpose, wide};
use proptest::prelude::*;

fn rectangular(rows: usize, cols: usize, density: f64, seed: u64) -> Matrix {
    let mut numbers = naive::Numbers(seed);
    let mut entry = || {
        if numbers.next() < density {
            numbers.next() * 4.0 - 2.0
        } else {
            0.0
        }
    };
    (0..rows)
        .map(|_| (0..cols).map(|_| f64::from(entry() as f32)).collect())
        .collect()
}

/// Distance that accepts shapes without entries.
fn close(found: &Block, expected: &Matrix) -> bool {
    found.as_slice().is_empty() || distance(&wide(found), expected) < 2e-6
}

/// The nearest number of eight significant bits, ties to even.
fn eight_bits(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let unit = 2f64.powi(value.abs().log2().floor() as i32 - 7);
    (value / unit).round_ties_even() * unit
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn sparse_products_of_any_shape(
        rows in 0usize..40, cols in 1usize..40, width in 0usize..75, density in 0.0f64..0.6, seed: u64
    ) {
        let dense = rectangular(rows, cols, density, seed);
        let sparse = csr(&dense, cols);
        let x = block(cols, width, seed ^ 1);
        let mut y = block(rows, width, 3);
        multiply(&sparse, &x, &mut y);
        prop_assert!(close(&y, &times(&dense, &wide(&x))));

        let z = block(rows, width, seed ^ 2);
        let before = block(rows, width, seed ^ 3);
        let left: Vec<f32> = (0..rows).map(|i| i as f32 * 0.1 - 1.0).collect();
        let shift: Vec<f32> = (0..rows).map(|i| 1.0 - i as f32 * 0.05).collect();
        let [left_diagonal, shift_diagonal] = [&left, &shift].map(|values| Diagonal::new("d", values.clone()));
        let plus = [
            Plus { factor: -1.5, diagonal: Some(&shift_diagonal), block: &z },
            Plus { factor: 0.25, diagonal: None, block: &before },
        ];
        let mut y = before.clone();
        let fused = Fused { scale: 0.5, left: Some(&left_diagonal), plus: &plus, accumulate: true };
        multiply_rows(&sparse, 0..sparse.rows(), &x, &mut y, &fused);
        let mut expected = times(&dense, &wide(&x));
        for i in 0..rows {
            for j in 0..width {
                expected[i][j] = f64::from(left[i]) * 0.5 * expected[i][j]
                    - 1.5 * f64::from(shift[i]) * f64::from(z.get(i, j))
                    + 1.25 * f64::from(before.get(i, j));
            }
        }
        prop_assert!(close(&y, &expected));
    }

    #[test]
    fn rounded_products_of_any_shape(
        rows in 0usize..40, cols in 1usize..40, width in 0usize..170, density in 0.0f64..0.6, seed: u64
    ) {
        let dense = rectangular(rows, cols, density, seed);
        let x = block(cols, width, seed ^ 1);
        let factors: Vec<f32> = (0..cols).map(|i| 1.5 - i as f32 * 0.125).collect();
        let rounded = Rounded::of(&x, Some(&factors), Block::zeros(cols, Rounded::words(width)));
        let (before, left) = (block(rows, width, seed ^ 3), Diagonal::new("d", vec![0.5; rows]));
        let mut y = before.clone();
        let fused = Fused { scale: -2.0, left: Some(&left), plus: &[], accumulate: true };
        multiply_rounded(&csr(&dense, cols), 0..dense.len(), &rounded, &mut y, &fused);
        let near: Matrix = (0..cols)
            .map(|i| x.row(i).iter().map(|&x| eight_bits(f64::from(factors[i] * x))).collect())
            .collect();
        let mut expected = times(&dense, &near);
        for i in 0..rows {
            (0..width).for_each(|j| expected[i][j] = f64::from(before.get(i, j)) - expected[i][j]);
        }
        prop_assert!(close(&y, &expected));
    }

    #[test]
    fn transposes_and_compact_forms(n in 1usize..50, density in 0.0f64..0.3, seed: u64) {
        let dense = rectangular(n, n, density, seed);
        let sparse = csr(&dense, n);
        let transposed = sparse.transposed();
        let expected = csr(&transpose(&dense), n);
        prop_assert_eq!(transposed.pattern(), expected.pattern());
        prop_assert_eq!(transposed.values(), expected.values());

        let factor = |i: usize, j: usize| i as f64 - 0.5 * j as f64;
        let scaled = sparse.scaled(factor);
        for i in 0..n {
            let (columns, values) = scaled.row(i);
            prop_assert_eq!(columns, sparse.row(i).0);
            for (&j, &value) in columns.iter().zip(values) {
                prop_assert_eq!(value, (f64::from(dense[i][j as usize] as f32) * factor(i, j as usize)) as f32);
            }
        }
    }
}

fn scaled(
    inner: Operator,
    shift: Option<&[f64]>,
    scale: f64,
    left: Option<&[f64]>,
    right: Option<&[f64]>,
) -> Operator {
    let diagonal = |values: Option<&[f64]>, name| {
        values
            .map(|values| Diagonal::new(name, values.iter().map(|&x| x as f32).collect::<Vec<_>>()))
    };
    Operator::Scaled(Scaled {
        shift: diagonal(shift, "s"),
        scale,
        left: diagonal(left, "l"),
        inner: Arc::new(inner),
        right: diagonal(right, "r"),
    })
}

fn scaled_dense(
    a: &Matrix,
    shift: Option<&[f64]>,
    scale: f64,
    left: Option<&[f64]>,
    right: Option<&[f64]>,
) -> Matrix {
    let at =
        |values: Option<&[f64]>, i: usize, absent: f64| values.map_or(absent, |values| values[i]);
    let n = a.len();
    let entry = |i: usize, j: usize| {
        let shift = if i == j { at(shift, i, 0.0) } else { 0.0 };
        shift + scale * at(left, i, 1.0) * a[i][j] * at(right, j, 1.0)
    };
    (0..n)
        .map(|i| (0..n).map(|j| entry(i, j)).collect())
        .collect()
}

fn check(operator: &Operator, dense: &Matrix) {
    for width in [1, 8, 13] {
        let x = block(operator.cols(), width, 4);
        let what = operator.formula();
        assert!(
            distance(&wide(&operator.apply(&x)), &times(dense, &wide(&x))) < 1e-5,
            "{what}"
        );
        let transposed = operator.apply_transposed(&x);
        assert!(
            distance(&wide(&transposed), &times(&transpose(dense), &wide(&x))) < 1e-5,
            "{what} transposed"
        );
        // With blocks of earlier products.
        let mut work = Workspace::default();
        for _ in 0..2 {
            let y = operator.image(&Host, false, &x, &mut work);
            assert_eq!(y, operator.apply(&x), "{what}");
            let z = operator.image(&Host, true, &x, &mut work);
            assert_eq!(z, transposed, "{what}");
            work.give(y);
            work.give(z);
        }
    }
}

#[test]
fn expressions_nest() {
    let n = 15;
    let (s, l, r): (Vec<f64>, Vec<f64>, Vec<f64>) = (
        (0..n).map(|i| 0.5 + i as f64 / 8.0).collect(),
        (0..n).map(|i| 1.0 - i as f64 / 16.0).collect(),
        (0..n).map(|i| i as f64 / 4.0 - 1.0).collect(),
    );
    let (s, l, r) = (Some(&s[..]), Some(&l[..]), Some(&r[..]));
    for directed in [false, true] {
        let a = graph(n, 0.3, directed, 6);
        let w = leaf(&a, !directed);
        check(&w, &a);
        check(&Operator::power(w.clone(), 3), &power(&a, 3));
        for (shift, scale, left, right) in [
            (None, 2.0, None, None),
            (s, -1.0, l, r),
            (None, 0.5, l, None),
            (s, 1.0, None, r),
            (None, 1.0, l, l),
        ] {
            let one = scaled(w.clone(), shift, scale, left, right);
            let one_dense = scaled_dense(&a, shift, scale, left, right);
            check(&one, &one_dense);
            check(&Operator::power(one.clone(), 2), &power(&one_dense, 2));
            check(
                &scaled(one.clone(), s, 0.5, r, l),
                &scaled_dense(&one_dense, s, 0.5, r, l),
            );
            let sum = Operator::Sum(vec![
                (0.5, one.clone()),
                (-2.0, Operator::power(w.clone(), 2)),
                (1.0, w.clone()),
            ]);
            let square = power(&a, 2);
            let mut sum_dense = one_dense.clone();
            for i in 0..n {
                for j in 0..n {
                    sum_dense[i][j] = 0.5 * one_dense[i][j] - 2.0 * square[i][j] + a[i][j];
                }
            }
            check(&sum, &sum_dense);
            check(
                &scaled(sum.clone(), s, -1.0, l, r),
                &scaled_dense(&sum_dense, s, -1.0, l, r),
            );
            let product = Operator::times(one.clone(), sum.clone());
            let product_dense = times(&one_dense, &sum_dense);
            check(&product, &product_dense);
            check(
                &scaled(product, s, 0.5, l, None),
                &scaled_dense(&product_dense, s, 0.5, l, None),
            );
            check(&Operator::power(sum, 2), &power(&sum_dense, 2));
        }
    }
}

#[test]
fn dense_leaves_multiply_too() {
    let y = block(30, 6, 1);
    let operator = Operator::dense("Y", Columns::from(y.clone()));
    assert_eq!(
        (operator.rows(), operator.cols(), operator.cost()),
        (30, 6, 180)
    );
    let (x, z) = (block(6, 4, 2), block(30, 4, 3));
    assert!(distance(&wide(&operator.apply(&x)), &times(&wide(&y), &wide(&x))) < 1e-6);
    assert!(
        distance(
            &wide(&operator.apply_transposed(&z)),
            &times(&transpose(&wide(&y)), &wide(&z))
        ) < 1e-6
    );
}

#[test]
fn costs_add_up() {
    let a = graph(20, 0.3, false, 2);
    let nnz = a.iter().flatten().filter(|x| **x != 0.0).count();
    let w = leaf(&a, true);
    assert_eq!(w.cost(), nnz as u64);
    let cube = Operator::power(w.clone(), 3);
    assert_eq!(cube.cost(), 3 * nnz as u64);
    let sum = Operator::Sum(vec![(1.0, w.clone()), (1.0, cube)]);
    assert_eq!(sum.cost(), 4 * nnz as u64);
}

#[test]
#[should_panic(expected = "not square")]
fn powers_need_square_matrices() {
    let _ = Operator::power(Operator::dense("Y", block(5, 2, 1)), 2);
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let mut numbers = naive::Numbers(1);
    let n = 20_000;
    let mut rows: Vec<Vec<u32>> = vec![Vec::new(); n];
    for _ in 0..200_000 {
        // One row in a thousand is heavy.
        let i = if numbers.next() < 0.3 {
            (numbers.next() * 20.0) as usize
        } else {
            (numbers.next() * n as f64) as usize
        };
        rows[i].push((numbers.next() * n as f64) as u32);
    }
    let mut offsets = vec![0];
    let mut columns = Vec::new();
    for row in &mut rows {
        row.sort_unstable();
        row.dedup();
        columns.extend_from_slice(row);
        offsets.push(columns.len());
    }
    let values: Vec<f32> = columns.iter().map(|&j| 1.0 + j as f32 * 1e-4).collect();
    let sparse = hone::sparse::Csr::new(
        Arc::new(hone::sparse::Pattern::new(offsets, columns, n)),
        values.into(),
    );
    let x = block(n, 24, 5);
    naive::same_on_any_threads(|| {
        let operator = Operator::sparse("W", sparse.clone());
        let y = operator.apply_transposed(&operator.apply(&x));
        let sums = sparse.times_vector(&vec![1.0; n]);
        let rounded = [24, 40, 170].map(|width| {
            let x = Rounded::of(
                &block(n, width, 6),
                None,
                Block::zeros(n, Rounded::words(width)),
            );
            let mut y = Block::zeros(n, width);
            multiply_rounded(&sparse, 0..n, &x, &mut y, &Fused::default());
            y.as_slice().iter().map(|x| x.to_bits()).collect::<Vec<_>>()
        });
        (
            rounded,
            y.as_slice().iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
            sums.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
        )
    });
}
