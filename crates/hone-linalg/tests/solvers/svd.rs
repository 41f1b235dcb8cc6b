//! The truncated SVD against dense f64 decompositions, on matrices large enough to be iterated on.
//!
//! Nothing is compared column by column, so that equal singular values, across the cut too, do not matter: triplets have to
//! be orthonormal, to be singular triplets of S, and to have the largest values there are.

use std::sync::Arc;

use hone_graph::motif::{MotifSet, Weighting, count};
use hone_graph::{Generator, Graph};
use hone_linalg::Silent;
use hone_linalg::dense::{Block, Small, orthonormalize};
use hone_linalg::factor::svd::{Iterations, Svd, svd};
use hone_linalg::factor::{Factors, Solver, Task, share_left};
use hone_linalg::matrix::{Accumulate, MotifMatrix, Order, Psi};
use hone_linalg::operator::{Operator, Scaled};
use hone_linalg::random::Key;
use hone_linalg::sparse::{Csr, Pattern};
use rand_xoshiro::rand_core::Rng;

use super::wide;

fn task(rank: usize) -> Task<'static> {
    super::task(rank, 1)
}

fn iterated(s: &Operator, rank: usize) -> Factors {
    let options = Svd {
        iterations: Iterations::AtMost(1000),
        ..Svd::default()
    };
    svd(s, &options, &task(rank)).expect("finite")
}

/// A dense matrix that is too large for a Gram matrix is iterated on.
#[test]
fn large_dense_matrices_are_iterated_on() {
    let (n, sigma) = (4100, [5.0, 3.0, 2.0, 1.0, 0.5]);
    let [mut left, right] = [1, 2].map(|seed| {
        let mut side = Block::random(n, sigma.len(), Key::new(seed));
        orthonormalize(&mut side);
        side
    });
    left.scale_columns(&sigma);
    let operator = Operator::dense("Y", left.times(&wide(&right).transposed()));
    let options = Svd {
        oversampling: 2,
        iterations: Iterations::AtMost(3),
        ..Svd::default()
    };
    let found = svd(&operator, &options, &task(4)).expect("finite");
    for (found, truth) in found.sigma.iter().zip(sigma) {
        assert!((found - truth).abs() < 1e-4, "{found}, not {truth}");
    }
}

fn lengths(m: &Small) -> Vec<f64> {
    (0..m.cols())
        .map(|j| {
            (0..m.rows())
                .map(|i| m.get(i, j).powi(2))
                .sum::<f64>()
                .sqrt()
        })
        .collect()
}

/// The largest entry of QᵀQ − I over the first columns.
fn off_identity(q: &Small, rank: usize) -> f64 {
    let gram = q.transposed().times(q);
    let entries = (0..rank).flat_map(|i| (0..rank).map(move |j| (i, j)));
    entries.fold(0.0, |most, (i, j)| {
        f64::max(most, (gram.get(i, j) - f64::from(u8::from(i == j))).abs())
    })
}

/// Everything that the triplets found by iterating promise. Rounding in f32 is relative to the largest singular value.
fn check(s: &Operator, found: &Factors, what: &str) {
    let matrix = s.explicit();
    let truth = matrix.svd().expect("finite").sigma;
    let most = truth.first().copied().unwrap_or(0.0).max(1e-300);
    let (rank, info) = (found.info.rank, &found.info);
    for (j, &sigma) in found.sigma.iter().enumerate() {
        let truth = truth.get(j).copied().unwrap_or(0.0);
        // A residual bounds the distance to some singular value; the tolerance is 10⁻⁴.
        let allowed = 1e-5 * most + 1e-4 * truth;
        assert!(
            (sigma - truth).abs() < allowed,
            "{what}: σ{j} = {sigma}, not {truth}; {info:?}"
        );
    }
    let beyond = truth
        .iter()
        .take(found.sigma.len())
        .filter(|&&sigma| sigma > 1e-5 * most)
        .count();
    assert!(
        rank >= beyond && found.sigma[..rank].iter().all(|&sigma| sigma > 0.0),
        "{what}: rank {rank} of {beyond}"
    );
    let (u, v) = (
        wide(&found.u).columns(rank),
        wide(found.v.as_ref().expect("asked for")).columns(rank),
    );
    assert!(
        off_identity(&u, rank) < 2e-5,
        "{what}: UᵀU is off by {}",
        off_identity(&u, rank)
    );
    assert!(
        off_identity(&v, rank) < 2e-5,
        "{what}: VᵀV is off by {}",
        off_identity(&v, rank)
    );
    let mut right = matrix.times(&v);
    let mut left = matrix.transposed().times(&u);
    for j in 0..rank {
        (0..u.rows()).for_each(|i| right.set(i, j, right.get(i, j) - found.sigma[j] * u.get(i, j)));
        (0..v.rows()).for_each(|i| left.set(i, j, left.get(i, j) - found.sigma[j] * v.get(i, j)));
    }
    let sides = [lengths(&right), lengths(&left)];
    let mut worst = 0.0f64;
    for (j, off) in sides.iter().flat_map(|side| side.iter().enumerate()) {
        worst = worst.max(off / found.sigma[j]);
        let allowed = 2e-4 * found.sigma[j] + 2e-6 * most;
        assert!(
            off < &allowed,
            "{what}: residual {off} of {j}; {:?} {info:?}",
            found.sigma
        );
    }
    if info.base.is_some() {
        // What is reported is the residual of the base of a power.
        return;
    }
    // What is reported is true, but for the rounding of f32 products.
    let own = info.residual.expect("measured");
    let least = found.sigma[..rank]
        .iter()
        .fold(most, |least, &sigma| least.min(sigma));
    assert!(
        (own - worst).abs() < 0.01 * worst + 3e-6 * most / least,
        "{what}: {own}, not {worst}"
    );
    assert_eq!(info.converged, own <= 1e-4, "{what}: {own}");
    // Estimates of V end the iterations. U has one product more: S u may be twice as far from σ v.
    assert!(own <= 3e-4 || most > 100.0 * least, "{what}: {own}");
}

/// Rows and columns of S without an entry have zeros in U and V, not noise.
fn check_rows_without_entries(s: &Operator, found: &Factors, what: &str) {
    let matrix = s.explicit();
    let v = found.v.as_ref().expect("asked for");
    for (side, of, image) in [("U", &found.u, &matrix), ("V", v, &matrix.transposed())] {
        let empty = |i: &usize| image.row(*i).iter().all(|x| *x == 0.0);
        let noise = (0..of.rows())
            .filter(empty)
            .find(|&i| of.row(i).iter().any(|x| *x != 0.0));
        assert_eq!(noise, None, "{what}: a row of {side} where S has no entry");
    }
}

/// A random graph, undirected, or directed with arcs one way or both.
fn leaf(n: usize, degree: f64, directed: bool, seed: u64) -> Operator {
    let mut random = Key::new(seed).rng();
    let mut weights = vec![vec![0.0f32; n]; n];
    for i in 0..n {
        for j in 0..i {
            let draw = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
            if draw * (n as f64) < degree {
                let weight = 1.0 + (random.next_u64() % 5) as f32;
                let ways = random.next_u64() % 3;
                weights[i][j] = if !directed || ways > 0 { weight } else { 0.0 };
                weights[j][i] = if !directed || ways < 2 { weight } else { 0.0 };
            }
        }
    }
    of_rows(&weights, !directed)
}

fn of_rows(weights: &[Vec<f32>], symmetric: bool) -> Operator {
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in weights {
        for (j, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            columns.push(j as u32);
            values.push(x);
        }
        offsets.push(columns.len());
    }
    if symmetric {
        Operator::symmetric(
            "W",
            Csr::new(
                Arc::new(Pattern::new(offsets, columns, weights.len())),
                values.into(),
            ),
        )
    } else {
        Operator::sparse(
            "W",
            Csr::new(
                Arc::new(Pattern::new(offsets, columns, weights.len())),
                values.into(),
            ),
        )
    }
}

/// Blocks of a quarter to half of the rows, where a basis of four of them is more than there is room for.
#[test]
fn blocks_of_up_to_half_of_the_rows() {
    let n = 1040;
    for (directed, psi, width) in [(false, Psi::P, n / 3), (true, Psi::LRw, n / 2)] {
        let matrix = MotifMatrix {
            psi,
            ..MotifMatrix::default()
        };
        let w = leaf(n, 6.0, directed, 7);
        let s = matrix.operator(&w, 1).expect("in range");
        let found = iterated(&s, width - 8);
        let what = format!("{}, directed {directed}, width {width}", s.formula());
        check(&s, &found, &what);
        check_rows_without_entries(&s, &found, &what);
    }
}

/// Few distinct rows: the space is exhausted by the first block, and what is added to it is noise.
#[test]
fn matrices_of_small_rank() {
    for (n, groups) in [(260, 1), (260, 2), (260, 11), (330, 5)] {
        let row = |i: usize| {
            (0..n).map(move |j| {
                f32::from(u8::from(i % groups != j % groups)) * (1 + i % groups) as f32
            })
        };
        let directed = of_rows(&(0..n).map(|i| row(i).collect()).collect::<Vec<_>>(), false);
        let even = |i: usize| (0..n).map(move |j| f32::from(u8::from(i % groups != j % groups)));
        let symmetric = of_rows(&(0..n).map(|i| even(i).collect()).collect::<Vec<_>>(), true);
        for (w, psi) in [&directed, &symmetric]
            .into_iter()
            .flat_map(|w| [(w, Psi::W), (w, Psi::P)])
        {
            let s = MotifMatrix {
                psi,
                ..MotifMatrix::default()
            }
            .operator(w, 1)
            .expect("in range");
            for rank in [4, 16, 50] {
                let what = format!("{}, {n} nodes, {groups} groups, rank {rank}", s.formula());
                check(&s, &iterated(&s, rank), &what);
            }
        }
    }
}

/// Singular values down to 10⁻⁴ of the largest keep their digits: SᵀS in f32 would lose them.
#[test]
fn small_singular_values_of_matrices_that_are_not_symmetric() {
    let n = 400;
    let [left, right] = [1, 2].map(|seed| {
        let mut side = Block::random(n, 20, Key::new(seed));
        orthonormalize(&mut side);
        wide(&side)
    });
    let mut graded = left;
    graded.scale_columns(
        &(0..20)
            .map(|j| 10f64.powf(-0.25 * f64::from(j)))
            .collect::<Vec<_>>(),
    );
    let product = graded.times(&right.transposed());
    let rows: Vec<Vec<f32>> = (0..n)
        .map(|i| product.row(i).iter().map(|&x| x as f32).collect())
        .collect();
    let s = of_rows(&rows, false);
    let truth = s.explicit().svd().expect("finite").sigma;
    let found = iterated(&s, 16);
    check(&s, &found, "graded");
    for (j, (found, truth)) in found.sigma.iter().zip(&truth).enumerate() {
        assert!(
            (found - truth).abs() < 2e-4 * truth + 1e-7,
            "σ{j}: {found}, not {truth}"
        );
    }
}

/// ‖S v − σ u‖ and ‖Sᵀu − σ v‖ relative to σ, the largest of all triplets; without V, √(zᵀ (S Sᵀ + σ²)⁻¹ z) / σ for
/// z = S Sᵀu − σ² u. All in f64.
fn true_residual(s: &Operator, found: &Factors) -> f64 {
    let (matrix, u) = (s.explicit(), wide(&found.u));
    let back = matrix.transposed().times(&u);
    let apart = |image: &Small, side: &Small, power: i32| {
        Small::from_fn(image.rows(), image.cols(), |i, j| {
            image.get(i, j) - found.sigma[j].powi(power) * side.get(i, j)
        })
    };
    let lengths_of = match &found.v {
        Some(v) => {
            let v = wide(v);
            let right = lengths(&apart(&matrix.times(&v), &u, 1));
            let left = lengths(&apart(&back, &v, 1));
            right.into_iter().zip(left).map(|(a, b)| a.max(b)).collect()
        }
        None => {
            let eigen = matrix.times(&matrix.transposed()).eigen().expect("finite");
            let z = eigen
                .vectors
                .transposed()
                .times(&apart(&matrix.times(&back), &u, 2));
            let length = |j: usize| {
                let part =
                    |i: usize| z.get(i, j).powi(2) / (eigen.values[i] + found.sigma[j].powi(2));
                (0..z.rows()).map(part).sum::<f64>().sqrt()
            };
            (0..z.cols()).map(length).collect::<Vec<f64>>()
        }
    };
    let relative = lengths_of
        .iter()
        .zip(&found.sigma)
        .map(|(length, sigma)| length / sigma);
    relative.fold(0.0, f64::max)
}

/// The residual is that of all triplets as they are, large or small, with V or without, after few iterations or many.
#[test]
fn residuals_are_those_of_all_triplets() {
    let planted = Generator::Sbm {
        nodes: 480,
        degree: 16.0,
        communities: 8,
        mixing: 0.2,
    };
    let graph = planted.graph(1, &Silent).expect("a graph");
    let pattern = graph.pattern().clone();
    let ones = vec![1.0f32; pattern.nnz()];
    let w = Operator::symmetric("W", Csr::new(pattern, ones.into()));
    let of = |psi| {
        MotifMatrix {
            psi,
            ..MotifMatrix::default()
        }
        .operator(&w, 1)
        .expect("in range")
    };
    let directed = leaf(400, 6.0, true, 5);
    let mut small = 0;
    for (s, rank) in [
        (w.clone(), 8),
        (of(Psi::ANorm), 8),
        (of(Psi::P), 8),
        (of(Psi::ANorm), 40),
        (directed, 12),
    ] {
        for (filter, limit) in [(0, 1), (0, 2), (0, 5), (8, 2), (0, 40)] {
            for right in [false, true] {
                let options = Svd {
                    iterations: Iterations::AtMost(limit),
                    tolerance: 1e-14,
                    filter,
                    ..Svd::default()
                };
                let task = Task {
                    right,
                    ..task(rank)
                };
                let found = svd(&s, &options, &task).expect("finite");
                let (own, truth) = (
                    found.info.residual.expect("measured"),
                    true_residual(&s, &found),
                );
                // Without V it is a bound near singular vectors, and a rough one elsewhere.
                let (least, most) = match (right, truth < 0.1) {
                    (true, _) => (1.0, 1.0),
                    (false, true) => (1.0, 2f64.sqrt()),
                    (false, false) => (0.5, f64::INFINITY),
                };
                let what = format!(
                    "{}, filter {filter}, {limit} iterations, V {right}",
                    s.formula()
                );
                assert!(
                    own > 0.99 * least * truth - 1e-6 && own < 1.01 * most * truth + 1e-6,
                    "{what}: {own}, not {truth}"
                );
                assert!(!found.info.converged, "{what}: no f32 vectors are so close");
                small += usize::from(truth > 1e-5 && truth < 1e-3);
            }
        }
    }
    assert!(
        small > 2,
        "residuals that products of few digits would hide: {small}"
    );
}

/// Where memory is short the residual is the same.
#[test]
fn residuals_of_factors_that_are_aside() {
    let s = leaf(500, 6.0, false, 3);
    let folder = std::env::temp_dir();
    let options = Svd {
        iterations: Iterations::AtMost(2),
        filter: 4,
        ..Svd::default()
    };
    let [here, aside] = [None, Some(folder.as_path())].map(|aside| {
        let task = Task {
            right: false,
            aside,
            ..task(40)
        };
        svd(&s, &options, &task).expect("finite")
    });
    assert_eq!((here.u, here.info), (aside.u, aside.info));
}

/// The loss is that of the factors that are returned, as dense arithmetic finds it.
#[test]
fn losses_are_those_of_what_is_returned() {
    let w = leaf(300, 8.0, false, 9);
    let exact = of_rows(
        &(0..300)
            .map(|i| {
                (0..300)
                    .map(|j| f32::from(u8::from(i % 3 != j % 3)))
                    .collect()
            })
            .collect::<Vec<_>>(),
        true,
    );
    for (s, limit) in [
        (w.clone(), 2),
        (Operator::power(w.clone(), 2), 2),
        (Operator::power(w.clone(), 3), 1),
        (leaf(300, 8.0, true, 2), 2),
        (leaf(40, 8.0, false, 2), 2),
        (exact, 100),
    ] {
        let options = Svd {
            iterations: Iterations::AtMost(limit),
            ..Svd::default()
        };
        let found = Solver::Svd(options).factor(&s, &task(8)).expect("finite");
        let (u, v) = (wide(&found.u), wide(found.v.as_ref().expect("asked for")));
        let mut scaled = u;
        scaled.scale_columns(&found.sigma);
        let (model, matrix) = (scaled.times(&v.transposed()), s.explicit());
        let squares = |m: &Small| m.as_slice().iter().map(|x| x * x).sum::<f64>();
        let left = Small::from_fn(matrix.rows(), matrix.cols(), |i, j| {
            matrix.get(i, j) - model.get(i, j)
        });
        let truth = squares(&left) / squares(&matrix);
        let loss = found.info.loss.clone().expect("cheap").values[0];
        assert!(
            (loss - truth).abs() < 1e-9 * truth + 1e-13,
            "{}: {loss}, not {truth}",
            s.formula()
        );
        let left_alone = Task {
            right: false,
            ..task(8)
        };
        let without = Solver::Svd(options)
            .factor(&s, &left_alone)
            .expect("finite");
        assert_eq!(
            (without.v.is_none(), without.u, without.info),
            (true, found.u, found.info)
        );
    }
}

/// Equal singular values, across the cut too: rings, stars, disjoint cliques.
#[test]
fn ties_across_the_cut() {
    let n = 264;
    let from = |adjacent: &dyn Fn(usize, usize) -> bool| {
        let row = |i: usize| {
            (0..n)
                .map(|j| f32::from(u8::from(i != j && adjacent(i, j))))
                .collect()
        };
        of_rows(&(0..n).map(row).collect::<Vec<Vec<f32>>>(), true)
    };
    let ring = from(&|i, j| (i + 1) % n == j || (j + 1) % n == i);
    let star = from(&|i, j| i == 0 || j == 0);
    // Components of more nodes than are decomposed one by one.
    let cliques = from(&|i, j| i / 33 == j / 33);
    for (name, w) in [("ring", ring), ("star", star), ("cliques", cliques)] {
        for psi in [Psi::W, Psi::P, Psi::L, Psi::LNorm] {
            for (k, rank) in [(1, 7), (2, 16), (2, 30), (5, 12)] {
                let s = MotifMatrix {
                    psi,
                    order: Order::PsiOfPower,
                    ..MotifMatrix::default()
                }
                .operator(&w, k)
                .expect("in range");
                check(
                    &s,
                    &iterated(&s, rank),
                    &format!("{name}, {}, rank {rank}", s.formula()),
                );
            }
        }
    }
}

/// W_t of every motif, all functions, one to six steps, sums over steps, on graphs of 100 to 500 nodes.
#[test]
fn motif_matrices_of_every_kind() {
    let quadrants = [0.57, 0.19, 0.19, 0.05];
    let graphs: [Graph; 3] = [
        Generator::Er {
            nodes: 300,
            degree: 9.0,
        }
        .graph(2, &Silent)
        .expect("a graph"),
        Generator::Rmat {
            nodes: 300,
            degree: 8.0,
            quadrants,
        }
        .graph(3, &Silent)
        .expect("a graph"),
        Generator::Sbm {
            nodes: 360,
            degree: 8.0,
            communities: 12,
            mixing: 0.1,
        }
        .graph(4, &Silent)
        .expect("a graph"),
    ];
    let psis = [Psi::W, Psi::P, Psi::L, Psi::LNorm, Psi::LRw];
    for (g, graph) in graphs.iter().enumerate() {
        let counts = count(graph, &Silent).expect("counts");
        for (m, motif) in MotifSet::default().motifs().into_iter().enumerate() {
            let w = counts
                .motif_graph(graph, motif, Weighting::default())
                .expect("finite");
            let w = Operator::symmetric("W", w.matrix);
            if w.rows() < 260 {
                continue;
            }
            // Every motif meets every way to add up steps, and every function and number of steps meets some motifs.
            let at = (m + g) % 3;
            let accumulate = [Accumulate::None, Accumulate::Mean, Accumulate::Decay(0.3)][at];
            let (psi, k) = (psis[(m + g + at) % 5], 1 + (m + 2 * g + at) % 6);
            let matrix = MotifMatrix {
                psi,
                accumulate,
                ..MotifMatrix::default()
            };
            let s = matrix.operator(&w, k).expect("in range");
            check(
                &s,
                &iterated(&s, 16),
                &format!("graph {g}, {motif}, {}", s.formula()),
            );
        }
    }
}

/// A power of a symmetric matrix has the vectors of its base, and says what its residual is of.
#[test]
fn powers_say_what_was_measured() {
    let w = leaf(300, 6.0, false, 8);
    let options = Svd::default();
    let of = |s: &Operator| svd(s, &options, &task(12)).expect("finite");
    let (one, six) = (of(&w), of(&Operator::power(w.clone(), 6)));
    assert_eq!(
        (one.info.base.as_deref(), six.info.base.as_deref()),
        (None, Some("W"))
    );
    assert_eq!(
        (one.info.residual, one.info.rank, &one.u),
        (six.info.residual, six.info.rank, &six.u)
    );
    let scaled = |scale| Scaled {
        shift: None,
        scale,
        left: None,
        inner: Arc::new(Operator::power(w.clone(), 2)),
        right: None,
    };
    let found = svd(&Operator::Scaled(scaled(0.5)), &options, &task(3)).expect("finite");
    assert_eq!(found.info.base.as_deref(), Some("W"));
    let walk = MotifMatrix::default().operator(&w, 6).expect("in range");
    assert_eq!(
        svd(&walk, &options, &task(3)).expect("finite").info.base,
        None
    );
}

/// Norms whose square is beyond f32 (or below it) are no trouble.
#[test]
fn matrices_of_any_size() {
    for (directed, size) in [
        (false, 110),
        (true, 110),
        (true, -100),
        (false, -100),
        (true, 40),
    ] {
        let w = leaf(300, 6.0, directed, 3);
        let small = iterated(&w, 6);
        let Operator::Sparse(ref leaf) = w else {
            unreachable!("a leaf")
        };
        let values: Vec<f32> = leaf
            .matrix()
            .values()
            .iter()
            .map(|x| x * 2f32.powi(size))
            .collect();
        let large = if directed {
            Operator::sparse(
                "W",
                Csr::new(leaf.matrix().pattern().clone(), values.into()),
            )
        } else {
            Operator::symmetric(
                "W",
                Csr::new(leaf.matrix().pattern().clone(), values.into()),
            )
        };
        let found = iterated(&large, 6);
        for (large, small) in found.sigma.iter().zip(&small.sigma) {
            assert!(
                (large / 2f64.powi(size) / small - 1.0).abs() < 1e-5,
                "{directed} {size}: {large} {small}"
            );
        }
        assert!(
            off_identity(&wide(&found.u), 6) < 2e-5 && found.info.converged,
            "{directed} {size}: {:?}",
            found.info
        );
    }
}

/// Factors that are larger than the matrix are an error, not a loss of zero.
#[test]
fn a_loss_below_nothing_is_an_error() {
    assert_eq!(share_left(0.0, 0.0).expect("nothing of nothing"), 0.0);
    assert_eq!(share_left(-1e-6, 1.0).expect("rounding"), 0.0);
    assert_eq!(share_left(1.0, 4.0).expect("a quarter"), 0.25);
    for wrong in [-1e-3, -300.0, f64::NAN] {
        assert!(
            share_left(wrong, 1.0)
                .expect_err("a mistake")
                .to_string()
                .contains("larger than the matrix")
        );
    }
}

/// W of a graph with hubs.
fn skewed() -> Operator {
    let graph = Generator::Rmat {
        nodes: 1 << 12,
        degree: 16.0,
        quadrants: [0.57, 0.19, 0.19, 0.05],
    };
    let pattern = graph.graph(3, &Silent).expect("a graph").pattern().clone();
    let ones = vec![1.0f32; pattern.nnz()];
    Operator::symmetric("W", Csr::new(pattern, ones.into()))
}

/// Most of what two iterations miss of the leading space is found.
#[test]
fn the_filter_sharpens_the_space() {
    let w = skewed();
    let [plain, sharp, best] = [(0, 2), (8, 2), (0, 200)].map(|(filter, limit)| {
        let options = Svd {
            iterations: Iterations::AtMost(limit),
            filter,
            ..Svd::default()
        };
        let found = svd(&w, &options, &task(16)).expect("finite");
        found.sigma.iter().map(|value| value * value).sum::<f64>()
    });
    assert!(
        best - sharp < 0.05 * (best - plain),
        "{plain} {sharp} {best}"
    );
}

/// What automatic iterations do before a filter does not depend on the matrix; how many rounds the filter has follows from what
/// a product costs.
#[test]
fn automatic_filters_have_rounds_where_products_are_cheap() {
    let w = skewed();
    let filtered = |iterations| Svd {
        iterations,
        filter: 2,
        ..Svd::default()
    };
    let [steep, plain] = [Iterations::Auto, Iterations::AtMost(2)].map(|iterations| {
        let found = svd(&w, &filtered(iterations), &task(16)).expect("finite");
        (
            found.info.iterations,
            found.info.residual.expect("measured"),
        )
    });
    assert_eq!((steep.0, plain.0), (2 + 1 + 3 * 2, 2 + 1 + 2));
    assert!(steep.1 < 0.8 * plain.1, "{steep:?} {plain:?}");
}

#[test]
fn a_filter_without_iterations_begins_with_one() {
    let options = Svd {
        iterations: Iterations::AtMost(0),
        filter: 16,
        ..Svd::default()
    };
    let sigma = svd(&skewed(), &options, &task(16)).expect("finite").sigma;
    assert!(
        sigma.iter().all(|value| value.is_finite() && *value > 0.0),
        "{sigma:?}"
    );
}
