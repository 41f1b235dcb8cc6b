//! The truncated SVD against Jacobi rotations on small graphs of all shapes.
#![allow(missing_docs)]

use crate::naive;

mod graphs;

use hone::Silent;
use hone::dense::{Block, Columns, Group};
use hone::factor::svd::{Iterations, Svd, svd};
use hone::factor::{Factors, Task};
use hone::matrix::{MotifMatrix, Order, Psi};
use hone::operator::Operator;
use hone::random::Key;
use naive::{Matrix, distance, graph, leaf, singular_values, times, transpose, wide};

fn task(rank: usize) -> Task<'static> {
    Task {
        rank,
        right: true,
        key: Key::new(42),
        progress: &Silent,
        aside: None,
    }
}

fn solve(s: &Operator, rank: usize) -> Factors {
    svd(
        s,
        &Svd {
            tolerance: 1e-6,
            iterations: Iterations::AtMost(3000),
            ..Svd::default()
        },
        &task(rank),
    )
    .expect("finite")
}

/// The matrix of an operator, by products with unit vectors.
fn explicit(s: &Operator) -> Matrix {
    let n = s.cols();
    let mut identity = Block::zeros(n, n);
    (0..n).for_each(|i| identity.row_mut(i)[i] = 1.0);
    wide(&s.apply(&identity))
}

/// Checks everything an SVD promises, without assuming gaps between singular values.
fn check(s: &Operator, found: &Factors, what: &str) {
    let dense = explicit(s);
    let exact = singular_values(&dense);
    let most = exact.first().copied().unwrap_or(0.0).max(1e-30);
    let rank = found.sigma.len();
    assert_eq!((found.u.rows(), found.u.cols()), (s.rows(), rank), "{what}");
    for j in 0..rank {
        let truth = exact
            .get(j)
            .copied()
            .filter(|sigma| *sigma > 1e-6 * most)
            .unwrap_or(0.0);
        assert!(
            (found.sigma[j] - truth).abs() < 2e-5 * most,
            "{what}: sigma {j} {} {truth}",
            found.sigma[j]
        );
    }
    let nonzero = exact
        .iter()
        .take(rank)
        .filter(|sigma| **sigma > 1e-5 * most)
        .count();
    assert_eq!(
        found.info.rank,
        if most > 1e-20 { nonzero } else { 0 },
        "{what}: rank"
    );
    let (u, v) = (wide(&found.u), wide(found.v.as_ref().expect("asked for")));
    for (side, m) in [("u", &u), ("v", &v)] {
        let gram = times(&transpose(m), m);
        for i in 0..rank {
            for j in 0..rank {
                let expected = f64::from(u8::from(i == j && i < found.info.rank));
                let got = gram.get(i).map_or(0.0, |row| row[j]);
                assert!(
                    (got - expected).abs() < 1e-4,
                    "{what}: {side}ᵀ{side} ({i},{j}) = {got}"
                );
            }
        }
    }
    // S V = U diag(sigma) and Sᵀ U = V diag(sigma): these are singular triplets.
    let scaled = |m: &Matrix| -> Matrix {
        m.iter()
            .map(|row| {
                row.iter()
                    .zip(&found.sigma)
                    .map(|(x, sigma)| x * sigma)
                    .collect()
            })
            .collect()
    };
    if s.rows() > 0 && rank > 0 && most > 1e-20 {
        let gap = |a: &Matrix, b: &Matrix| {
            a.iter()
                .flatten()
                .zip(b.iter().flatten())
                .fold(0.0f64, |d, (x, y)| d.max((x - y).abs()))
                / most
        };
        assert!(gap(&times(&dense, &v), &scaled(&u)) < 1e-4, "{what}: S V");
        assert!(
            gap(&times(&transpose(&dense), &u), &scaled(&v)) < 1e-3,
            "{what}: Sᵀ U"
        );
    }
    for j in 0..found.info.rank {
        let most = (0..s.rows())
            .map(|i| u[i][j])
            .fold(0.0f64, |m, x| if x.abs() > m.abs() { x } else { m });
        assert!(most > 0.0, "{what}: sign of column {j}");
    }
}

#[test]
fn motif_matrices_of_random_graphs() {
    for directed in [false, true] {
        let w = leaf(&graph(40, 0.15, directed, 3), !directed);
        for psi in [Psi::W, Psi::P, Psi::L, Psi::LNorm, Psi::LRw] {
            for order in [Order::PsiOfPower, Order::PowerOfPsi] {
                for k in 1..=2 {
                    let s = MotifMatrix {
                        psi,
                        order,
                        ..MotifMatrix::default()
                    }
                    .operator(&w, k)
                    .expect("in range");
                    let found = solve(&s, 5);
                    check(&s, &found, &format!("{} directed {directed}", s.formula()));
                }
            }
        }
    }
}

fn from_edges(n: usize, edges: &[(usize, usize)]) -> Matrix {
    let mut w = naive::zeros(n, n);
    for &(i, j) in edges {
        w[i][j] = 1.0;
        w[j][i] = 1.0;
    }
    w
}

#[test]
fn structured_graphs_with_repeated_values_and_low_rank() {
    let star: Vec<_> = (1..30).map(|i| (0, i)).collect();
    let cycle: Vec<_> = (0..30).map(|i| (i, (i + 1) % 30)).collect();
    let complete: Vec<_> = (0..12).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
    let bipartite: Vec<_> = (0..10)
        .flat_map(|i| (10..25).map(move |j| (i, j)))
        .collect();
    let triangles: Vec<_> = (0..10)
        .flat_map(|t| {
            [
                (3 * t, 3 * t + 1),
                (3 * t + 1, 3 * t + 2),
                (3 * t, 3 * t + 2),
            ]
        })
        .collect();
    for (name, n, edges) in [
        ("star", 30, star),
        ("cycle", 30, cycle),
        ("complete", 12, complete),
        ("bipartite", 25, bipartite),
        ("triangles", 32, triangles),
    ] {
        let w = from_edges(n, &edges);
        for psi in [Psi::W, Psi::P, Psi::L, Psi::LNorm, Psi::LRw] {
            for k in 1..=3 {
                let s = MotifMatrix {
                    psi,
                    ..MotifMatrix::default()
                }
                .operator(&leaf(&w, true), k)
                .expect("in range");
                check(&s, &solve(&s, 6), &format!("{name} {}", s.formula()));
            }
        }
    }
}

#[test]
fn empty_and_tiny_matrices_give_zero_columns() {
    for (n, rank) in [(0, 4), (1, 4), (3, 8), (50, 4)] {
        let s = leaf(&naive::zeros(n, n), true);
        let found = solve(&s, rank);
        assert_eq!(
            (found.u.rows(), found.u.cols(), found.info.rank),
            (n, rank, 0)
        );
        assert!(
            found.u.as_slice().iter().all(|&x| x == 0.0) && found.sigma.iter().all(|&x| x == 0.0)
        );
        assert!(found.info.converged);
    }
    let s = leaf(&from_edges(3, &[(0, 1), (1, 2)]), true);
    check(&s, &solve(&s, 8), "path of three nodes, rank 8");
}

/// Nodes without an entry in their row have an exact zero in U; those without one in their column nearly so in V.
#[test]
fn empty_rows_and_columns_stay_empty() {
    for n in [40, 300] {
        let mut w = graph(n, 8.0 / n as f64, true, 6);
        w[3].fill(0.0);
        w.iter_mut().for_each(|row| row[5] = 0.0);
        let found = solve(
            &MotifMatrix::default()
                .operator(&leaf(&w, false), 2)
                .expect("in range"),
            6,
        );
        assert!(found.u.row(3).iter().all(|&x| x == 0.0), "{n} nodes");
        assert!(
            found
                .v
                .expect("asked for")
                .row(5)
                .iter()
                .all(|&x| x.abs() < if n > 256 { 1e-5 } else { 1e-30 })
        );
    }
}

#[test]
fn powers_of_symmetric_matrices_share_vectors() {
    let w = leaf(&graph(30, 0.3, false, 9), true);
    let m = MotifMatrix {
        psi: Psi::W,
        ..MotifMatrix::default()
    };
    let (one, three) = (
        m.operator(&w, 1).expect("ok"),
        m.operator(&w, 3).expect("ok"),
    );
    assert_eq!(three.same_vectors_as().formula(), "W");
    assert_eq!(solve(&one, 4).u, solve(&three, 4).u);
    let p = MotifMatrix::default().operator(&w, 2).expect("ok");
    assert_eq!(p.same_vectors_as().formula(), p.formula());
}

#[test]
fn dense_matrices_are_exact_in_one_or_several_groups() {
    let full = naive::block(60, 3, 1);
    let part = naive::block(4, 5, 2);
    let twice = full.clone();
    let columns = Columns::new(
        60,
        vec![
            Group::full(full),
            Group::partial(vec![0, 7, 31, 59], part),
            Group::full(twice),
        ],
    );
    let s = Operator::dense("Y", columns.clone());
    let whole = Operator::dense("Y", columns.to_block());
    assert_eq!(distance(&explicit(&s), &explicit(&whole)), 0.0);
    let found = solve(&s, 11);
    assert_eq!(
        found.info.rank,
        8 - 1,
        "3 + min(5, 4) columns are independent"
    );
    check(&s, &found, "Y");
    // Sums of rare columns are taken in another order: the last bits may differ.
    let off = distance(&wide(&found.u), &wide(&solve(&whole, 11).u));
    assert!(off < 1e-5, "{off}");
}

#[test]
fn same_bits_for_any_number_of_threads() {
    let n = 3000;
    for directed in [false, true] {
        let mut numbers = naive::Numbers(4);
        let mut w = vec![std::collections::BTreeMap::new(); n];
        for _ in 0..20_000 {
            let (i, j) = (
                (numbers.next() * n as f64) as usize,
                (numbers.next() * numbers.next() * n as f64) as usize,
            );
            w[i].insert(j as u32, 1.0f32);
            if !directed {
                w[j].insert(i as u32, 1.0f32);
            }
        }
        let mut offsets = vec![0];
        w.iter()
            .for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.len()));
        let columns = w.iter().flat_map(|row| row.keys().copied()).collect();
        let values: Vec<f32> = w.iter().flat_map(|row| row.values().copied()).collect();
        let pattern = hone::sparse::Pattern::new(offsets, columns, n);
        let csr = hone::sparse::Csr::new(std::sync::Arc::new(pattern), values.into());
        naive::same_on_any_threads(|| {
            let w = if directed {
                Operator::sparse("W", csr.clone())
            } else {
                Operator::symmetric("W", csr.clone())
            };
            let s = MotifMatrix::default().operator(&w, 2).expect("ok");
            let options = Svd {
                iterations: Iterations::AtMost(4),
                ..Svd::default()
            };
            let found = svd(&s, &options, &task(16)).expect("ok");
            let y = Columns::new(
                n,
                vec![Group::full(found.u.clone()), Group::full(s.apply(&found.u))],
            );
            let global = svd(&Operator::dense("Y", y), &options, &task(20)).expect("ok");
            let filtered = svd(
                &w,
                &Svd {
                    filter: 5,
                    ..options
                },
                &task(16),
            )
            .expect("ok");
            let bits = |block: &Block| {
                block
                    .as_slice()
                    .iter()
                    .map(|x| x.to_bits())
                    .collect::<Vec<_>>()
            };
            let sigma: Vec<u64> = found
                .sigma
                .iter()
                .chain(&global.sigma)
                .map(|x| x.to_bits())
                .collect();
            (
                bits(&found.u),
                bits(&found.v.expect("asked for")),
                bits(&global.u),
                bits(&filtered.u),
                sigma,
            )
        });
    }
}

/// Where iterations are too few, a filter brings singular values nearer to those of Jacobi, on easy and
/// on degenerate matrices.
#[test]
fn a_filter_sharpens_few_iterations() {
    let few = |filter| Svd {
        iterations: Iterations::AtMost(2),
        filter,
        ..Svd::default()
    };
    // More nodes than are decomposed whole.
    let w = leaf(&graph(300, 0.03, false, 5), true);
    let s = MotifMatrix {
        psi: Psi::ANorm,
        ..MotifMatrix::default()
    }
    .operator(&w, 1)
    .expect("in range");
    let exact = s.explicit().svd().expect("finite").sigma;
    let error = |found: &Factors| {
        found
            .sigma
            .iter()
            .zip(&exact)
            .map(|(a, b)| (a - b).abs())
            .sum::<f64>()
    };
    let [plain, filtered] = [0, 8].map(|filter| svd(&s, &few(filter), &task(12)).expect("finite"));
    assert!(
        error(&filtered) < 0.1 * error(&plain),
        "{} {}",
        error(&filtered),
        error(&plain)
    );
    let residual = |found: &Factors| found.info.residual.expect("measured");
    assert!(
        residual(&filtered) < 0.3 * residual(&plain),
        "{:?} {:?}",
        filtered.info,
        plain.info
    );
    assert_eq!((plain.info.iterations, filtered.info.iterations), (2, 11));
    for (name, n, edges) in [
        ("star", 30, (1..30).map(|i| (0, i)).collect()),
        ("no edges", 20, Vec::new()),
    ] {
        let s = leaf(&from_edges(n, &edges), true);
        check(&s, &svd(&s, &few(8), &task(4)).expect("finite"), name);
    }
}

#[test]
fn options_are_read_and_checked() {
    let options: Svd =
        serde_json::from_str(r#"{"iterations":"auto","oversampling":4}"#).expect("json");
    assert_eq!(
        options,
        Svd {
            oversampling: 4,
            ..Svd::default()
        }
    );
    let options: Svd = serde_json::from_str(r#"{"iterations":7}"#).expect("json");
    assert_eq!(options.iterations, Iterations::AtMost(7));
    assert!(serde_json::from_str::<Svd>(r#"{"iterations":"many"}"#).is_err());
    let solver: hone::factor::Solver =
        serde_json::from_str(r#"{"method":"svd","tolerance":0.01}"#).expect("json");
    assert_eq!(
        solver,
        hone::factor::Solver::Svd(Svd {
            tolerance: 0.01,
            ..Svd::default()
        })
    );
    assert!(
        serde_json::from_str::<hone::factor::Solver>(r#"{"method":"svd","tolerence":0.01}"#)
            .is_err()
    );
}

/// Exact SVD of a dense matrix with many more columns than rows, some of them zero or equal.
#[test]
fn wide_dense_matrices_are_solved_through_their_rows() {
    let (rows, cols) = (7, 530);
    let value = |i: usize, j: usize| match j % 3 {
        0 => 0.0,
        1 => ((i * i * 31 + j / 9 * 17 + i * j / 9 * 7) % 101) as f32 / 50.0 - 1.0,
        _ => i as f32 / 7.0,
    };
    let y = Block::from_vec(
        rows,
        cols,
        (0..rows * cols)
            .map(|e| value(e / cols, e % cols))
            .collect(),
    );
    let y = Operator::dense("Y", Columns::from(y));
    let all = solve(&y, 9);
    let v = all.v.as_ref().expect("asked for");
    for i in 0..rows {
        for j in 0..cols {
            let terms =
                (0..9).map(|k| f64::from(all.u.get(i, k)) * all.sigma[k] * f64::from(v.get(j, k)));
            let (found, expected) = (terms.sum::<f64>(), f64::from(value(i, j)));
            assert!(
                (found - expected).abs() < 1e-4,
                "({i}, {j}): {found} {expected}"
            );
        }
    }
    for m in [&all.u, v] {
        let gram = m.gram();
        (0..7).for_each(|k| {
            assert!((gram.get(k, k) - 1.0).abs() < 1e-4 && gram.get(k, (k + 1) % 7).abs() < 1e-4);
        });
    }
    let few = solve(&y, 3);
    (0..3).for_each(|k| {
        assert!((few.sigma[k] - all.sigma[k]).abs() < 1e-4 && few.sigma[k] >= all.sigma[k + 1]);
    });
    assert_eq!(
        (all.info.rank, all.sigma[7], all.u.cols()),
        (7, 0.0, 9),
        "a rank beyond the rows gives zero columns"
    );
}
