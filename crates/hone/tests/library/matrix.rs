//! Every motif matrix against the explicit dense one.
#![allow(missing_docs)]

use crate::naive;

use hone::matrix::{Accumulate, Degree, MotifMatrix, Order, Psi};
use naive::definition::explicit;
use naive::{Matrix, block, distance, graph, leaf, times, transpose, wide};

const PSIS: [Psi; 6] = [Psi::W, Psi::P, Psi::L, Psi::LNorm, Psi::LRw, Psi::ANorm];
const ORDERS: [Order; 3] = [Order::Auto, Order::PsiOfPower, Order::PowerOfPsi];
const DEGREES: [Degree; 3] = [Degree::Out, Degree::In, Degree::Total];
const ACCUMULATES: [Accumulate; 3] = [Accumulate::None, Accumulate::Mean, Accumulate::Decay(0.3)];

fn every(check: impl Fn(&MotifMatrix)) {
    for psi in PSIS {
        for order in ORDERS {
            for degree in DEGREES {
                for accumulate in ACCUMULATES {
                    for (regularize, laziness) in [(0.0, 0.0), (0.7, 0.0), (0.7, 0.3)] {
                        check(&MotifMatrix {
                            psi,
                            order,
                            degree,
                            accumulate,
                            regularize,
                            laziness,
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn every_combination_equals_the_explicit_matrix() {
    for directed in [false, true] {
        let w = graph(17, 0.25, directed, 5);
        let x = block(w.len(), 5, 3);
        every(|m| {
            for k in 1..=4 {
                let s = m.operator(&leaf(&w, !directed), k).expect("in range");
                let dense = explicit(&w, m, k, directed);
                let what = format!("{m:?} k {k} directed {directed}: {}", s.formula());
                assert_eq!((s.rows(), s.cols()), (w.len(), w.len()));
                assert!(
                    distance(&wide(&s.apply(&x)), &times(&dense, &wide(&x))) < 2e-5,
                    "{what}"
                );
                let transposed = wide(&s.apply_transposed(&x));
                assert!(
                    distance(&transposed, &times(&transpose(&dense), &wide(&x))) < 2e-5,
                    "{what} transposed"
                );
                let really = distance(&dense, &transpose(&dense)) < 1e-9;
                assert!(!s.is_symmetric() || really, "{what} claims symmetry");
            }
        });
    }
}

#[test]
fn symmetry_is_known_where_the_form_shows_it() {
    let w = graph(9, 0.4, false, 1);
    for (psi, known) in PSIS.into_iter().zip([true, false, true, true, false, true]) {
        for order in ORDERS {
            let m = MotifMatrix {
                psi,
                order,
                ..MotifMatrix::default()
            };
            assert_eq!(
                m.operator(&leaf(&w, true), 3)
                    .expect("in range")
                    .is_symmetric(),
                known,
                "{psi:?} {order:?}"
            );
        }
    }
}

#[test]
fn nodes_without_the_motif_have_zero_rows() {
    for directed in [false, true] {
        let w = graph(12, 0.3, directed, 8);
        let x = block(w.len(), 3, 4);
        every(|m| {
            let y = m
                .operator(&leaf(&w, !directed), 2)
                .expect("in range")
                .apply(&x);
            for i in 10..12 {
                assert!(y.row(i).iter().all(|&value| value == 0.0), "{m:?} row {i}");
            }
        });
    }
}

#[test]
fn empty_graphs_give_zero_operators() {
    for n in [0, 1, 4] {
        let w = naive::zeros(n, n);
        let x = block(n, 3, 4);
        every(|m| {
            let y = m.operator(&leaf(&w, true), 2).expect("in range").apply(&x);
            assert_eq!((y.rows(), y.cols()), (n, 3));
            assert!(y.as_slice().iter().all(|&value| value == 0.0), "{m:?}");
        });
    }
}

#[test]
fn huge_weights_are_scaled_and_not_lost() {
    for directed in [false, true] {
        let w: Matrix = graph(14, 0.4, directed, 2)
            .iter()
            .map(|r| r.iter().map(|x| x * 3e14).collect())
            .collect();
        let x = block(w.len(), 4, 9);
        every(|m| {
            for k in [1, 4] {
                let (factor, s) = m
                    .scaled_operator(&leaf(&w, !directed), 1.0, k)
                    .expect("in range");
                let found = wide(&s.apply(&x));
                let exact = times(&explicit(&w, m, k, directed), &wide(&x));
                let back: Matrix = found
                    .iter()
                    .map(|row| row.iter().map(|x| x / factor).collect())
                    .collect();
                assert!(
                    distance(&back, &exact) < 2e-5,
                    "{m:?} k {k}: {}",
                    s.formula()
                );
            }
        });
    }
}

#[test]
fn formulas_read_like_the_paper() {
    let w = leaf(&graph(6, 0.5, false, 1), true);
    let of = |psi, order, accumulate, k| {
        let m = MotifMatrix {
            psi,
            order,
            accumulate,
            ..MotifMatrix::default()
        };
        m.operator(&w, k).expect("in range").formula()
    };
    let (auto, none) = (Order::Auto, Accumulate::None);
    assert_eq!(of(Psi::W, auto, none, 1), "W");
    assert_eq!(of(Psi::W, auto, none, 12), "W¹²");
    assert_eq!(of(Psi::P, auto, none, 2), "(diag(d^-1)·W)²");
    assert_eq!(of(Psi::P, Order::PsiOfPower, none, 2), "diag(d^-1)·W²");
    assert_eq!(of(Psi::L, auto, none, 2), "diag(d) − W²");
    assert_eq!(
        of(Psi::LNorm, auto, none, 3),
        "diag(1) − diag(d^-1/2)·W³·diag(d^-1/2)"
    );
    assert_eq!(
        of(Psi::LRw, Order::PowerOfPsi, none, 2),
        "(diag(1) − diag(d^-1)·W)²"
    );
    assert_eq!(of(Psi::W, auto, Accumulate::Mean, 2), "0.5·W + 0.5·W²");
    assert_eq!(
        of(Psi::L, auto, Accumulate::Decay(0.5), 2),
        "0.25·(diag(d) − W) + 0.125·(diag(d) − W²)"
    );
}

#[test]
fn names_are_those_of_configuration_files() {
    let names: Vec<String> = PSIS
        .iter()
        .map(|psi| serde_json::to_string(psi).expect("json"))
        .collect();
    assert_eq!(
        names,
        [
            "\"w\"",
            "\"p\"",
            "\"l\"",
            "\"l-norm\"",
            "\"l-rw\"",
            "\"a-norm\""
        ]
    );
    let m: MotifMatrix =
        serde_json::from_str(r#"{"psi":"l-norm","accumulate":{"decay":0.5}}"#).expect("json");
    assert_eq!(
        m,
        MotifMatrix {
            psi: Psi::LNorm,
            accumulate: Accumulate::Decay(0.5),
            ..MotifMatrix::default()
        }
    );
    assert!(serde_json::from_str::<MotifMatrix>(r#"{"psy":"w"}"#).is_err());
}

/// Where all walks of a node return to it, its row of a Laplacian is zero in exact arithmetic, and here too: in matchings, in
/// the middle of stars, with any weights, beside other components.
#[test]
fn rows_whose_terms_cancel_are_exact_zeros() {
    let mut numbers = naive::Numbers(7);
    // A matching of three edges, a star of five leaves, a path of four nodes, a triangle, and an isolated node.
    let mut edges: Vec<(usize, usize)> = vec![(0, 1), (2, 3), (4, 5)];
    edges.extend((7..12).map(|leaf| (6, leaf)));
    edges.extend([(12, 13), (13, 14), (14, 15), (16, 17), (17, 18), (18, 16)]);
    for weighted in [false, true] {
        let mut w = naive::zeros(20, 20);
        for &(i, j) in &edges {
            let weight = if weighted {
                0.1 + 90.0 * numbers.next()
            } else {
                1.0
            };
            (w[i][j], w[j][i]) = (f64::from(weight as f32), f64::from(weight as f32));
        }
        for (psi, k) in [Psi::L, Psi::LNorm, Psi::LRw]
            .into_iter()
            .flat_map(|psi| (1..=4).map(move |k| (psi, k)))
        {
            let m = MotifMatrix {
                psi,
                ..MotifMatrix::default()
            };
            let s = m.operator(&leaf(&w, true), k).expect("in range");
            let (found, truth) = (s.explicit(), explicit(&w, &m, k, false));
            let size = truth
                .iter()
                .flatten()
                .fold(0.0f64, |most, x| most.max(x.abs()));
            let mut zeros = 0;
            for (i, truth) in truth.iter().enumerate() {
                let zero = truth.iter().all(|x| x.abs() < 1e-9 * size);
                zeros += usize::from(zero);
                assert_eq!(
                    found.row(i).iter().all(|x| *x == 0.0),
                    zero,
                    "{}, row {i}",
                    s.formula()
                );
                for (found, truth) in found.row(i).iter().zip(truth) {
                    assert!(
                        (found - truth).abs() < 1e-6 * size,
                        "{}, row {i}",
                        s.formula()
                    );
                }
            }
            assert_eq!(zeros, if k % 2 == 0 { 8 } else { 1 }, "{}", s.formula());
            assert_eq!(s.is_symmetric(), psi != Psi::LRw);
        }
    }
}
