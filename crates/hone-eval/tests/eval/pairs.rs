//! Features of node pairs and their scale.

use hone::dense::Block;
use hone_eval::pairs::{Features, PairOperator, Scaler, Scaling};

fn z() -> Block {
    Block::from_vec(2, 2, vec![1.0, -2.0, 3.0, 4.0])
}

#[test]
fn operators_do_what_they_say() {
    for (name, expected) in [
        ("mean", vec![2.0, 1.0]),
        ("hadamard", vec![3.0, -8.0]),
        ("l1", vec![2.0, 6.0]),
        ("l2", vec![4.0, 36.0]),
        ("concat", vec![1.0, -2.0, 3.0, 4.0]),
        ("difference", vec![-2.0, -6.0]),
        ("cross", vec![4.0]),
        ("outer", vec![3.0, 4.0, -6.0, -8.0]),
        ("concat+cross", vec![1.0, -2.0, 3.0, 4.0, 4.0]),
        ("Mean+L1", vec![2.0, 1.0, 2.0, 6.0]),
    ] {
        let operator: PairOperator = name.parse().expect("known");
        assert_eq!(
            operator.features(&z(), &[(0, 1)]).x.as_slice(),
            expected,
            "{name}"
        );
        assert_eq!(operator.to_string(), name.to_lowercase());
    }
    assert!("mean+sum".parse::<PairOperator>().is_err() && "".parse::<PairOperator>().is_err());
}

/// Sixteen entries of each side are the most, and vectors of one entry or none have products too.
#[test]
fn outer_products_are_bounded() {
    let outer: PairOperator = "outer".parse().expect("known");
    for (d, width) in [(0, 0), (1, 1), (16, 256), (40, 256)] {
        let z = Block::from_vec(2, d, (0..2 * d).map(|i| i as f32).collect());
        let x = outer.features(&z, &[(1, 0)]).x;
        assert_eq!(x.cols(), width, "{d}");
        if d > 2 {
            assert_eq!(x.row(0)[2 * 16 + 3], z.get(1, 2) * z.get(0, 3));
        }
    }
}

/// The usual operators of directed graphs tell a → b from b → a, and are what `is_symmetric` says.
#[test]
fn directions_are_told_where_they_exist() {
    let names = |operators: Vec<PairOperator>| {
        operators
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(PairOperator::usual_directed()),
        ["concat", "cross", "outer", "concat+cross"]
    );
    assert_eq!(names(PairOperator::usual()), ["mean"]);
    for name in [
        "mean",
        "hadamard",
        "l1",
        "l2",
        "concat",
        "difference",
        "cross",
        "outer",
    ] {
        let operator: PairOperator = name.parse().expect("known");
        let [there, back] = [(0, 1), (1, 0)].map(|pair| operator.features(&z(), &[pair]).x);
        assert_eq!(
            operator.is_symmetric(),
            there.as_slice() == back.as_slice(),
            "{name}"
        );
    }
}

#[test]
fn scaling_keeps_or_standardises() {
    let operator: PairOperator = "mean+hadamard".parse().expect("known");
    let features = operator.features(&z(), &[(0, 0), (0, 1), (1, 1)]);
    let kept = Scaler::learn(&features, Scaling::Keep).apply(features.clone());
    for block in [0..2, 2..4] {
        let square: f32 = (0..3)
            .flat_map(|i| kept.row(i)[block.clone()].to_vec())
            .map(|v| v * v)
            .sum();
        assert!((square / 6.0 - 1.0).abs() < 1e-5);
    }
    let standard = Scaler::learn(&features, Scaling::Standardize).apply(features);
    for j in 0..4 {
        let column: Vec<f32> = (0..3).map(|i| standard.row(i)[j]).collect();
        assert!(column.iter().sum::<f32>().abs() < 1e-5);
        assert!((column.iter().map(|v| v * v).sum::<f32>() / 3.0 - 1.0).abs() < 1e-4);
    }
}

#[test]
fn constant_columns_become_zero() {
    let features = Features::single(Block::from_vec(2, 1, vec![0.0, 0.0]));
    assert_eq!(
        Scaler::learn(&features, Scaling::Keep)
            .apply(features)
            .as_slice(),
        [0.0, 0.0]
    );
}
