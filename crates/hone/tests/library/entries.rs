//! Entries of lazy matrices, read row by row, against products with unit vectors.
#![allow(missing_docs)]

use crate::naive;

use hone::dense::{Block, Columns, Group};
use hone::matrix::{Accumulate, MotifMatrix, Order, Psi};
use hone::operator::Operator;
use naive::{Matrix, graph, leaf, transpose, wide};
use proptest::prelude::*;

fn explicit(s: &Operator) -> Matrix {
    let n = s.cols();
    let mut identity = Block::zeros(n, n);
    (0..n).for_each(|i| identity.row_mut(i)[i] = 1.0);
    wide(&s.apply(&identity))
}

/// All rows (or columns) as a matrix; checks that they are sorted and without zeros.
fn read(s: &Operator, transposed: bool) -> Matrix {
    let (count, length) = if transposed {
        (s.cols(), s.rows())
    } else {
        (s.rows(), s.cols())
    };
    let (mut rows, mut row) = (
        if transposed {
            s.read_columns()
        } else {
            s.read_rows()
        },
        Vec::new(),
    );
    let mut out = naive::zeros(count, length);
    for i in 0..count {
        rows.read(i, &mut row);
        assert!(
            row.windows(2).all(|pair| pair[0].0 < pair[1].0),
            "positions ascend"
        );
        assert!(row.iter().all(|&(_, value)| value != 0.0), "only nonzeros");
        row.iter()
            .for_each(|&(j, value)| out[i][j as usize] = value);
    }
    out
}

/// The largest difference, relative to the largest entry or to 1: what is zero in theory may be rounding noise of
/// entries of that size.
fn distance(a: &Matrix, b: &Matrix) -> f64 {
    assert_eq!(
        (a.len(), a.first().map(Vec::len)),
        (b.len(), b.first().map(Vec::len)),
        "shapes"
    );
    let most = b.iter().flatten().fold(1.0f64, |most, x| most.max(x.abs()));
    a.iter()
        .flatten()
        .zip(b.iter().flatten())
        .fold(0.0f64, |far, (a, b)| far.max((a - b).abs()))
        / most
}

fn check(s: &Operator) {
    let truth = explicit(s);
    let what = s.formula();
    assert!(distance(&read(s, false), &truth) < 1e-5, "rows of {what}");
    assert!(
        distance(&read(s, true), &transpose(&truth)) < 1e-5,
        "columns of {what}"
    );
    let square: f64 = truth.iter().flatten().map(|x| x * x).sum();
    assert!(
        (s.squared_norm() - square).abs() <= 1e-5 * square.max(1e-5),
        "norm of {what}"
    );
    let kept = s.entries(usize::MAX).expect("no limit");
    let dense: Matrix = (0..kept.rows())
        .map(|i| {
            let mut row = vec![0.0; kept.cols()];
            let (columns, values) = kept.row(i);
            columns
                .iter()
                .zip(values)
                .for_each(|(&j, &value)| row[j as usize] = f64::from(value));
            row
        })
        .collect();
    assert!(distance(&dense, &truth) < 1e-5, "entries of {what}");
    assert!(
        kept.nnz() as f64 <= s.row_work() + 1e-9,
        "{} nonzeros of {what}, {} walks",
        kept.nnz(),
        s.row_work()
    );
    assert!(
        kept.nnz() == 0 || s.entries(kept.nnz() - 1).is_none(),
        "a limit is kept"
    );
    assert!(s.entries(kept.nnz()).is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_motif_matrix(n in 3usize..24, density in 0.05f64..0.6, directed: bool, seed in 0u64..1000) {
        let w = leaf(&graph(n, density, directed, seed), !directed);
        for psi in [Psi::W, Psi::P, Psi::L, Psi::LNorm, Psi::LRw, Psi::ANorm] {
            for order in [Order::PsiOfPower, Order::PowerOfPsi] {
                for accumulate in [Accumulate::None, Accumulate::Decay(0.5)] {
                    let matrix = MotifMatrix { psi, order, accumulate, ..MotifMatrix::default() };
                    check(&matrix.operator(&w, 1 + seed as usize % 3).expect("in range"));
                }
            }
        }
    }
}

#[test]
fn dense_matrices_in_groups() {
    let groups = vec![
        Group::full(naive::block(20, 3, 1)),
        Group::partial(vec![0, 5, 19], naive::block(3, 2, 2)),
        Group::full(naive::block(20, 1, 3)),
    ];
    check(&Operator::dense("Y", Columns::new(20, groups)));
}

#[test]
fn more_walks_than_entries_are_told_before_they_are_walked() {
    // A star: the square of its matrix is full, through the hub.
    let n = 50;
    let mut w = naive::zeros(n, n);
    (1..n).for_each(|i| (w[0][i], w[i][0]) = (1.0, 1.0));
    let square = Operator::power(leaf(&w, true), 2);
    assert_eq!(square.row_work(), (49 + 49 * 49) as f64);
    assert_eq!(
        square.entries(usize::MAX).expect("no limit").nnz(),
        1 + 49 * 49
    );
}
