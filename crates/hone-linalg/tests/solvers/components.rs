//! Components against the decomposition of the whole matrix.

use proptest::prelude::*;

use hone_graph::motif::{Motif, Weighting, count};
use hone_graph::{Graph, GraphBuilder};
use hone_linalg::Silent;
use hone_linalg::dense::Block;
use hone_linalg::factor::Factors;
use hone_linalg::factor::svd::{Svd, svd};
use hone_linalg::matrix::{MotifMatrix, Psi};
use hone_linalg::operator::Operator;

use super::task;

fn operator(graph: &Graph, psi: Psi, steps: usize) -> Operator {
    let edge: Motif = "edge".parse().expect("a motif");
    let weighting = Weighting {
        delta: 1,
        use_weights: true,
        ..Weighting::default()
    };
    let w = count(graph, &Silent)
        .expect("counted")
        .motif_graph(graph, edge, weighting)
        .expect("made");
    MotifMatrix {
        psi,
        ..MotifMatrix::default()
    }
    .operator(&Operator::symmetric("W", w.matrix), steps)
    .expect("in range")
}

/// ‖S v − σ u‖ and ‖Sᵀ u − σ v‖ of every column, at most.
fn residual(s: &Operator, found: &Factors) -> f64 {
    let v = found.v.as_ref().expect("asked for");
    let off = |image: &Block, vectors: &Block, j: usize| {
        let entry =
            |i: usize| f64::from(image.get(i, j)) - found.sigma[j] * f64::from(vectors.get(i, j));
        (0..image.rows())
            .map(|i| entry(i).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    let sides = [(s.apply(v), &found.u), (s.apply_transposed(&found.u), v)];
    let all = sides
        .iter()
        .flat_map(|(image, side)| (0..found.sigma.len()).map(|j| off(image, side, j)));
    all.fold(0.0, f64::max)
}

fn check(s: &Operator, rank: usize) -> Factors {
    let found = svd(s, &Svd::default(), &task(rank, 3)).expect("finite");
    let truth = s.explicit().svd().expect("finite").sigma;
    let nonzero = truth.iter().filter(|&&sigma| sigma > 2e-6 * truth[0]);
    assert_eq!(found.info.rank, nonzero.count().min(rank));
    assert_eq!(found.info.iterations, 0, "components are decomposed");
    for (a, b) in found.sigma.iter().zip(&truth) {
        assert!((a - b).abs() <= 2e-6 * truth[0], "{a}, not {b}");
    }
    assert!(
        residual(s, &found) <= 1e-5 * truth[0].max(1.0),
        "{}",
        residual(s, &found)
    );
    for side in [&found.u, found.v.as_ref().expect("asked for")] {
        let gram = side.gram();
        for (i, j) in (0..rank).flat_map(|i| (0..rank).map(move |j| (i, j))) {
            let expected = f64::from(u8::from(i == j && i < found.info.rank));
            assert!(
                (gram.get(i, j) - expected).abs() < 1e-5,
                "column {i} and {j}: {}",
                gram.get(i, j)
            );
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Paths, stars, triangles and single edges with any weights, in any order of nodes.
    #[test]
    fn components_give_the_triplets_of_the_whole(
        kinds in prop::collection::vec((0u8..4, 1u32..5), 2..12),
        psi in prop::sample::select(vec![Psi::W, Psi::P, Psi::ANorm, Psi::LNorm]),
        steps in 1usize..3,
        equal in any::<bool>(),
    ) {
        let (mut edges, mut weights, mut n) = (Vec::new(), Vec::new(), 0u32);
        for (at, (kind, size)) in kinds.into_iter().enumerate() {
            let own: Vec<(u32, u32)> = match kind {
                0 => (0..size).map(|i| (i, i + 1)).collect(),
                1 => (0..size).map(|i| (0, i + 1)).collect(),
                2 => vec![(0, 1), (1, 2), (0, 2)],
                _ => vec![(0, 1)],
            };
            let most = own.iter().map(|edge| edge.1).max().expect("an edge");
            weights.extend((0..own.len()).map(|k| if equal { 1.0 } else { 1.0 + ((at * 7 + k * 3) % 11) as f32 / 4.0 }));
            // Nodes of a component are not beside each other.
            edges.extend(own.into_iter().map(|(a, b)| (n + a, n + b)));
            n += most + 1;
        }
        let shuffled = |i: u32| (u64::from(i) * 7919 % 307) as u32;
        let edges: Vec<(u32, u32)> = edges.into_iter().map(|(a, b)| (shuffled(a), shuffled(b))).collect();
        let graph = GraphBuilder::undirected(307).edges(edges).weights(weights).build().expect("in range");
        let s = operator(&graph, psi, steps);
        check(&s, 7);
        check(&s, 40);
    }
}

/// Of triangles that are all alike, every one has rows.
#[test]
fn what_is_alike_is_mixed() {
    let edges = (0..90u32)
        .flat_map(|t| {
            [
                (3 * t, 3 * t + 1),
                (3 * t + 1, 3 * t + 2),
                (3 * t, 3 * t + 2),
            ]
        })
        .collect();
    let graph = GraphBuilder::undirected(270)
        .edges(edges)
        .build()
        .expect("in range");
    for psi in [Psi::W, Psi::P] {
        let found = check(&operator(&graph, psi, 1), 8);
        assert!(
            (0..270).all(|i| found.u.row(i).iter().any(|x| x.abs() > 1e-4)),
            "a node without a row"
        );
    }
}
