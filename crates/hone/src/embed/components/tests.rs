//! Principal components of any columns, against the covariance matrix.
#![allow(clippy::unwrap_used)]

use super::{principal, sign};
use crate::config::{Auto, Components};
use crate::dense::{Block, Small};
use crate::engine::Cpu;
use crate::features::{Named, Origin};
use crate::motif::{Motif, Orbit};
use crate::random::Key;
use crate::report::Structure;

/// Features f0, f1, … that count nothing.
fn named(block: &Block) -> Named {
    Named {
        names: (0..block.cols()).map(|j| format!("f{j}")).collect(),
        origins: vec![Origin::default(); block.cols()],
        block: block.clone(),
    }
}

/// So many components of columns, with a column of extremes of this size and an offset.
fn components(named: Named, dim: usize, (extremes, offset): (f64, f64)) -> (Block, Structure) {
    let options = Components {
        dim: Auto::Given(dim),
        extremes,
        offset,
        ..Components::default()
    };
    let found = principal(&Cpu, vec![named.into()], &options, dim, false).unwrap();
    (found.block, found.structure)
}

/// Columns with mean 0 and equal variances, of sum 1.
fn standardized(block: &Block) -> Small {
    let (n, cols) = (block.rows() as f64, block.cols());
    let column = |j: usize| (0..block.rows()).map(move |i| f64::from(block.get(i, j)));
    let means: Vec<f64> = (0..cols).map(|j| column(j).sum::<f64>() / n).collect();
    let variance = |j: usize| column(j).map(|x| (x - means[j]).powi(2)).sum::<f64>() / n;
    let factors: Vec<f64> = (0..cols)
        .map(|j| 1.0 / (variance(j) * cols as f64).sqrt())
        .collect();
    Small::from_fn(block.rows(), cols, |i, j| {
        factors[j] * (f64::from(block.get(i, j)) - means[j])
    })
}

/// Few columns are multiplied with the eigenvectors of their Gram matrix; many are factored without it.
#[test]
fn components_are_those_of_the_covariance() {
    let dim = 5;
    for (rows, cols) in [(90, 40), (30, 600)] {
        let block = Block::random(rows, cols, Key::new(3));
        let x = standardized(&block);
        let gram = x.transposed().times(&x).eigen().unwrap();
        let (z, structure) = components(named(&block), dim, (0.0, 1.0));
        let means = z.column_means();
        for j in 0..dim {
            let vector: Vec<f64> = (0..cols).map(|i| gram.vectors.get(i, j)).collect();
            let sign = vector.iter().sum::<f64>().signum();
            let mut variance = 0.0;
            for i in 0..rows {
                let found = f64::from(z.get(i, j)) - means[j];
                let expected: f64 = x.row(i).iter().zip(&vector).map(|(x, v)| x * v).sum();
                assert!(
                    (found - sign * expected).abs() < 1e-3,
                    "{rows} × {cols}: ({i}, {j})"
                );
                variance += found * found;
            }
            let off = (variance - gram.values[j]).abs();
            assert!(off < 1e-4 * gram.values[0], "column {j}: {variance}");
        }
        assert!(
            (structure.motifs[0].share - 1.0).abs() < 1e-9 && structure.explained.len() == dim,
            "{structure:?}"
        );
    }
}

/// The correlation of two columns, as books print it.
fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let product = |x: &[f64], y: &[f64]| {
        let (p, q) = (mean(x), mean(y));
        x.iter().zip(y).map(|(x, y)| (x - p) * (y - q)).sum::<f64>()
    };
    product(a, b) / (product(a, a) * product(b, b)).sqrt()
}

/// Features at both ends of a dimension are those whose columns have the largest and the least correlation with it.
#[test]
fn dimensions_follow_the_features_that_they_correlate_with() {
    for (rows, cols) in [(90, 40), (30, 600)] {
        let mut block = Block::random(rows, cols, Key::new(5));
        block.update_rows(|_, row| {
            (row[1], row[2]) = (-3.0 * row[0] + 0.1 * row[1], row[0] + 0.2 * row[2]);
        });
        let column = |block: &Block, j: usize| {
            (0..rows)
                .map(|i| f64::from(block.get(i, j)))
                .collect::<Vec<_>>()
        };
        let (z, structure) = components(named(&block), 5, (0.0, 1.0));
        assert_eq!(structure.dimensions.len(), 3);
        for (j, found) in structure.dimensions.iter().enumerate() {
            let all: Vec<f64> = (0..cols)
                .map(|i| pearson(&column(&block, i), &column(&z, j)))
                .collect();
            let high = all.iter().copied().fold(f64::MIN, f64::max);
            let low = all.iter().copied().fold(f64::MAX, f64::min);
            for (loading, expected) in [(&found.most, high), (&found.least, low)] {
                let name = loading.feature.strip_prefix("attributes_f").unwrap();
                let at: usize = name.parse().unwrap();
                assert!(
                    (loading.correlation - expected).abs() < 1e-3,
                    "{loading:?}, not {expected}"
                );
                assert!(
                    (all[at] - expected).abs() < 1e-3,
                    "{loading:?}, not {}",
                    all[at]
                );
            }
        }
        let first = &structure.dimensions[0];
        if cols == 40 {
            assert!(
                first.most.correlation > 0.9 && first.least.correlation < -0.9,
                "{first:?}"
            );
        }
    }
}

/// Columns that are copies of each other up to sign: rounding does not choose among them.
#[test]
fn of_equal_correlations_the_first_is_named() {
    let mut block = Block::random(50, 7, Key::new(6));
    block.update_rows(|_, row| {
        let x = row[0];
        row.iter_mut()
            .zip([1.0, -2.0, 3.0, -4.0, 0.3, 7.0, -0.7])
            .for_each(|(value, factor)| *value = factor * x);
    });
    let origins = (0..7)
        .map(|_| Origin {
            motif: Some(Motif::Orbit(Orbit::Edge)),
            ..Origin::default()
        })
        .collect();
    let named = Named {
        origins,
        ..named(&block)
    };
    let (_, structure) = components(named, 3, (0.0, 1.0));
    let found = &structure.dimensions[0];
    assert_eq!(
        (&*found.most.feature, &*found.least.feature),
        ("f0", "f1"),
        "{found:?}"
    );
}

/// Columns beyond the rank of the features are zero, not rounding errors, and what describes a component varies.
#[test]
fn what_no_feature_spans_is_zero() {
    for (rows, cols) in [(60, 20), (30, 600)] {
        let hidden = Block::random(rows, 2, Key::new(11));
        let mut block = Block::zeros(rows, cols);
        block.update_rows(|i, row| {
            let (x, y) = (10.0 + hidden.get(i, 0), 7.0 + 0.3 * hidden.get(i, 1));
            for (j, value) in row.iter_mut().enumerate().skip(1) {
                *value = x + (j as f32).sqrt() * y;
            }
        });
        let (z, structure) = components(named(&block), 8, (0.7, 3.0));
        assert_eq!(structure.components, 2);
        for j in 0..8 {
            let solid = j < 2 || j == 7;
            let any = (0..rows).any(|i| z.get(i, j) != 0.0);
            assert_eq!(any, solid, "column {j} of {rows} × {cols}");
        }
        for found in &structure.dimensions {
            for loading in [&found.most, &found.least] {
                assert_ne!(loading.feature, "attributes_f0", "it is constant");
            }
        }
    }
}

/// The last column follows from the first by its definition, both ways; few columns have none.
#[test]
fn the_last_column_says_how_far_a_node_is_from_the_middle() {
    for (rows, cols, dim) in [(90, 40, 6), (30, 600, 6), (50, 4, 3), (40, 3, 6)] {
        let block = Block::random(rows, cols, Key::new(8));
        let [bent, plain] =
            [0.7, 0.0].map(|extremes| components(named(&block), dim, (extremes, 1.0)).0);
        let n = rows as f64;
        let first: Vec<f64> = (0..rows).map(|i| f64::from(plain.get(i, 0))).collect();
        let mean = first.iter().sum::<f64>() / n;
        let variance = first.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        for i in 0..rows {
            let kept = if dim < 4 { dim } else { dim - 1 };
            for j in 0..kept {
                assert!(
                    (bent.get(i, j) - plain.get(i, j)).abs() < 1e-4,
                    "({i}, {j}) of {rows} × {cols}"
                );
            }
            let square = (first[i] - mean).powi(2) / variance;
            let expected = 0.7 * square / (1.0 + square);
            assert!(
                dim < 4 || (f64::from(bent.get(i, dim - 1)) - expected).abs() < 1e-3,
                "row {i}: {expected}"
            );
        }
    }
}

/// The sign of a component does not hang on rounding where its entries cancel.
#[test]
fn signs_do_not_depend_on_rounding() {
    for noise in [-1e-12, 0.0, 1e-12] {
        assert_eq!(sign([1e-9, 0.5, -0.5 + noise].into_iter()), 1.0);
        assert_eq!(sign([-0.5, 0.5 + noise].into_iter()), -1.0);
    }
    assert_eq!(sign([0.1, -0.9, 0.3].into_iter()), -1.0);
    assert_eq!(sign([0.0, 0.0].into_iter()), 1.0);
}
