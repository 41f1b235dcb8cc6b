//! Agreement and correlations of node orbits by their formulas, one number at a time.

use hone_graph::Silent;
use hone_graph::motif::{
    Agreement, Comparison, NOT_REDUNDANT, correlation_distance, correlations, count,
};

use super::oracle::{enumerate, random_edges, rng, undirected};

type Nodes = Vec<[u64; 15]>;

fn agreement(a: &Nodes, b: &Nodes, orbit: usize) -> f64 {
    let most = a.iter().chain(b).map(|node| node[orbit]).max().unwrap_or(0);
    let scaled = |graph: &Nodes| -> Vec<f64> {
        let having = |k: u64| graph.iter().filter(|node| node[orbit] == k).count() as f64;
        let scaled: Vec<f64> = (1..=most).map(|k| having(k) / k as f64).collect();
        let sum: f64 = scaled.iter().sum();
        scaled
            .iter()
            .map(|x| if sum > 0.0 { x / sum } else { 0.0 })
            .collect()
    };
    let squares = scaled(a)
        .iter()
        .zip(scaled(b))
        .map(|(x, y)| (x - y).powi(2))
        .sum::<f64>();
    1.0 - squares.sqrt() / 2f64.sqrt()
}

fn spearman(x: &[u64], y: &[u64]) -> f64 {
    let rank = |values: &[u64], value: u64| {
        let below = values.iter().filter(|&&other| other < value).count() as f64;
        let same = values.iter().filter(|&&other| other == value).count() as f64;
        below + (same + 1.0) / 2.0
    };
    let ranks =
        |values: &[u64]| -> Vec<f64> { values.iter().map(|&value| rank(values, value)).collect() };
    let (x, y, n) = (ranks(x), ranks(y), x.len() as f64);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / n;
    let product = |a: &[f64], b: &[f64]| {
        let (ma, mb) = (mean(a), mean(b));
        a.iter()
            .zip(b)
            .map(|(p, q)| (p - ma) * (q - mb))
            .sum::<f64>()
    };
    let sizes = (product(&x, &x) * product(&y, &y)).sqrt();
    if sizes == 0.0 {
        0.0
    } else {
        product(&x, &y) / sizes
    }
}

#[test]
fn comparisons_are_those_of_their_definitions() {
    let graphs: Vec<(usize, Vec<(u32, u32)>)> = (0..12)
        .map(|seed| {
            let n = [0, 1, 2, 9, 14, 17][seed as usize % 6];
            (
                n,
                random_edges(&mut rng(seed), n, [0.2, 0.5, 1.1][seed as usize % 3]),
            )
        })
        .collect();
    let nodes = |(n, edges): &(usize, Vec<(u32, u32)>)| {
        let found = count(&undirected(*n, edges), &Silent).expect("counted");
        let found = found.node_orbits().expect("small");
        assert_eq!(found, enumerate(*n, edges).nodes);
        found
    };
    let all: Vec<Nodes> = graphs.iter().map(nodes).collect();
    let compared = Comparison::of(&all, false);
    assert_eq!(
        (compared.orbits[4], compared.correlated[4]),
        ("path4-end", "path4-mid")
    );
    let numbered = Comparison::of(&all, true);
    assert_eq!((numbered.orbits[4], numbered.correlated[4]), ("4", "5"));
    for (row, a) in all.iter().enumerate() {
        for (column, b) in all.iter().enumerate() {
            let distance = correlation_distance(&correlations(a), &correlations(b));
            assert_eq!(compared.gcd11[row][column], distance);
            let agreement = Agreement::of(a, b);
            assert_eq!(compared.agreement[row][column], agreement.arithmetic);
            assert_eq!(compared.geometric[row][column], agreement.geometric);
            assert_eq!(compared.by_orbit[row][column], agreement.orbits);
        }
    }
    for a in &all {
        let found = correlations(a);
        for row in 0..11 {
            for column in 0..11 {
                let of = |at: usize| {
                    let degrees = a.iter().map(|node| node[NOT_REDUNDANT[at]]);
                    degrees.chain([1]).collect::<Vec<u64>>()
                };
                let expected = if row == column {
                    1.0
                } else {
                    spearman(&of(row), &of(column))
                };
                assert!(
                    (found[row][column] - expected).abs() < 1e-12,
                    "{row} {column}: {a:?}"
                );
            }
        }
        for b in &all {
            let found = Agreement::of(a, b);
            let truth: Vec<f64> = (0..15).map(|orbit| agreement(a, b, orbit)).collect();
            for (found, expected) in found.orbits.iter().zip(&truth) {
                assert!((found - expected).abs() < 1e-12);
            }
            assert!((found.arithmetic - truth.iter().sum::<f64>() / 15.0).abs() < 1e-12);
            let logs = found.orbits.iter().map(|x| x.ln()).sum::<f64>() / 15.0;
            assert!((found.geometric - logs.exp()).abs() < 1e-9);
            let distance = correlation_distance(&correlations(a), &correlations(b));
            assert_eq!(
                distance,
                correlation_distance(&correlations(b), &correlations(a))
            );
        }
        assert_eq!(Agreement::of(a, a).arithmetic, 1.0);
        assert_eq!(
            correlation_distance(&correlations(a), &correlations(a)),
            0.0
        );
    }
}
