//! Joint models of tensors against plain dense computations that share no code with them.
#![allow(missing_docs)]

use crate::naive;

use hone::Silent;
use hone::dense::{Block, Small};
use hone::factor::Task;
use hone::matrix::{MotifMatrix, Psi};
use hone::operator::Operator;
use hone::random::Key;
use hone::tensor::cp::cp;
use hone::tensor::tucker::tucker;
use hone::tensor::{Decomposition, Held, Limits, Scaling, Slice, Tensor};
use naive::{
    Matrix, Numbers, graph, jacobi, leaf, same_on_any_threads, singular_values, times, transpose,
    wide, zeros,
};
use proptest::prelude::*;

fn task(rank: usize) -> Task<'static> {
    Task {
        rank,
        right: false,
        key: Key::new(11),
        progress: &Silent,
        aside: None,
    }
}

fn limits(iterations: usize) -> Limits {
    Limits {
        iterations,
        tolerance: 0.0,
    }
}

fn slice(operator: Operator, nodes: Option<Vec<u32>>) -> Slice {
    Slice {
        name: "a slice".into(),
        operator,
        scale: 1.0,
        nodes: nodes.map(Into::into),
    }
}

/// Motif matrices of random graphs; the third lives on every second node, the fourth is empty.
fn mixed(n: usize, directed: bool, psi: Psi) -> Held {
    let of = |w: &Matrix, k: usize| {
        MotifMatrix {
            psi,
            ..MotifMatrix::default()
        }
        .operator(&leaf(w, !directed), k)
        .expect("in range")
    };
    let (a, b) = (graph(n, 0.25, directed, 3), graph(n, 0.15, directed, 4));
    let small = graph(n / 2, 0.4, directed, 5);
    let even: Vec<u32> = (0..n as u32 / 2).map(|i| 2 * i).collect();
    let slices = vec![
        slice(of(&a, 1), None),
        slice(of(&b, 2), None),
        slice(of(&small, 1), Some(even)),
        slice(of(&zeros(n, n), 1), None),
        slice(of(&a, 2), None),
    ];
    Held { nodes: n, slices }
}

/// The slices entry by entry, times their factors.
fn explicit(held: &Held, tensor: &Tensor) -> Vec<Matrix> {
    let of = |(slice, norm): (&Slice, &hone::tensor::SliceNorm)| {
        let own = slice.operator.cols();
        let mut identity = Block::zeros(own, own);
        (0..own).for_each(|i| identity.row_mut(i)[i] = 1.0);
        let dense = wide(&slice.operator.apply(&identity));
        let mut whole = zeros(held.nodes, held.nodes);
        let node = |i: usize| slice.nodes.as_ref().map_or(i, |nodes| nodes[i] as usize);
        for i in 0..own {
            (0..own).for_each(|j| whole[node(i)][node(j)] = norm.factor * dense[i][j]);
        }
        whole
    };
    held.slices.iter().zip(&tensor.norms).map(of).collect()
}

fn energy(a: &Matrix) -> f64 {
    a.iter().flatten().map(|x| x * x).sum()
}

fn plus(mut a: Matrix, b: &Matrix, factor: f64) -> Matrix {
    a.iter_mut()
        .flatten()
        .zip(b.iter().flatten())
        .for_each(|(a, b)| *a += factor * b);
    a
}

fn rows_of(small: &Small) -> Matrix {
    (0..small.rows()).map(|i| small.row(i).to_vec()).collect()
}

/// Leading eigenvectors, as columns.
fn leading(a: &Matrix, width: usize) -> Matrix {
    jacobi(a)
        .1
        .into_iter()
        .map(|row| row[..width].to_vec())
        .collect()
}

/// Tucker on explicit slices: HOSVD, then sweeps of HOOI with exact eigenvectors. What it captures.
fn naive_tucker(slices: &[Matrix], rank: usize, motif_rank: usize, sweeps: usize) -> f64 {
    let n = slices[0].len();
    let sum = |of: &dyn Fn(&Matrix) -> Matrix| {
        slices
            .iter()
            .fold(zeros(n, n), |sum, x| plus(sum, &of(x), 1.0))
    };
    let mut u = leading(&sum(&|x| times(x, &transpose(x))), rank);
    let mut v = leading(&sum(&|x| times(&transpose(x), x)), rank);
    let third = |u: &Matrix, v: &Matrix| {
        let k: Vec<Matrix> = slices
            .iter()
            .map(|x| times(&times(&transpose(u), x), v))
            .collect();
        let dot = |a: &Matrix, b: &Matrix| {
            a.iter()
                .flatten()
                .zip(b.iter().flatten())
                .map(|(a, b)| a * b)
                .sum()
        };
        let gram: Matrix = k
            .iter()
            .map(|a| k.iter().map(|b| dot(a, b)).collect())
            .collect();
        (
            leading(&gram, motif_rank),
            jacobi(&gram).0.iter().take(motif_rank).sum::<f64>(),
        )
    };
    for _ in 0..sweeps {
        let (c, _) = third(&u, &v);
        let mix = |r: usize| {
            slices
                .iter()
                .zip(&c)
                .fold(zeros(n, n), |sum, (x, c)| plus(sum, x, c[r]))
        };
        let sum = |v: &Matrix, turn: bool| {
            (0..motif_rank).fold(zeros(n, n), |sum, r| {
                let b = if turn {
                    times(&transpose(&mix(r)), v)
                } else {
                    times(&mix(r), v)
                };
                plus(sum, &times(&b, &transpose(&b)), 1.0)
            })
        };
        u = leading(&sum(&v, false), rank);
        v = leading(&sum(&u, true), rank);
    }
    third(&u, &v).1
}

/// The slices of a Tucker model.
fn rebuilt(found: &Decomposition) -> Vec<Matrix> {
    let (u, v, c) = (
        wide(&found.left),
        wide(&found.right),
        rows_of(&found.motifs),
    );
    let width = found.core.as_ref().expect("a core")[0].rows();
    let narrow = |m: &Matrix| -> Matrix { m.iter().map(|row| row[..width].to_vec()).collect() };
    let middle = |c: &Vec<f64>| {
        found
            .core
            .iter()
            .flatten()
            .zip(c)
            .fold(zeros(width, width), |sum, (core, &c)| {
                plus(sum, &rows_of(core), c)
            })
    };
    c.iter()
        .map(|c| times(&times(&narrow(&u), &middle(c)), &transpose(&narrow(&v))))
        .collect()
}

fn missed(slices: &[Matrix], model: &[Matrix]) -> f64 {
    let total: f64 = slices.iter().map(energy).sum();
    slices
        .iter()
        .zip(model)
        .map(|(x, m)| energy(&plus(x.clone(), m, -1.0)))
        .sum::<f64>()
        / total
}

/// Losses are differences of sums of f32 products: what is below 2e-5 is rounding.
fn falls(losses: &[f64]) -> bool {
    losses.windows(2).all(|pair| pair[1] <= pair[0] + 2e-5)
}

#[test]
fn tucker_agrees_with_a_dense_computation() {
    for directed in [false, true] {
        for psi in [Psi::W, Psi::P, Psi::LNorm] {
            let held = mixed(14, directed, psi);
            let tensor = Tensor::new(&held, Scaling::Frobenius, &task(6)).expect("finite");
            let slices = explicit(&held, &tensor);
            let total: f64 = slices.iter().map(energy).sum();
            let what = format!("{psi:?}, directed {directed}");
            assert!(
                (total - 4.0).abs() < 1e-4 && (tensor.energy() - 4.0).abs() < 1e-9,
                "{what}: {total}"
            );
            // With so few nodes the start spans the whole space and is exact.
            let hosvd = tucker(&tensor, 3, limits(0), &task(6)).expect("finite");
            let truth = naive_tucker(&slices, 6, 3, 0);
            let captured: f64 = hosvd.captured.iter().sum();
            assert!(
                (captured - truth).abs() < 1e-4 * total,
                "{what}: HOSVD {captured} {truth}"
            );
            let hooi = tucker(&tensor, 3, limits(300), &task(6)).expect("finite");
            let (captured, truth) = (
                hooi.captured.iter().sum::<f64>(),
                naive_tucker(&slices, 6, 3, 100),
            );
            assert!(
                (captured - truth).abs() < 2e-3 * total,
                "{what}: HOOI {captured} {truth}"
            );
            assert!(
                falls(&hooi.descent.losses),
                "{what}: {:?}",
                hooi.descent.losses
            );
        }
    }
}

#[test]
fn a_tucker_model_is_what_its_parts_say() {
    let held = mixed(30, true, Psi::P);
    let tensor = Tensor::new(&held, Scaling::Frobenius, &task(5)).expect("finite");
    let slices = explicit(&held, &tensor);
    let found = tucker(&tensor, 2, limits(30), &task(5)).expect("finite");
    let model = rebuilt(&found);
    let loss = *found.descent.losses.last().expect("a start");
    assert!(
        (missed(&slices, &model) - loss).abs() < 1e-4,
        "{} {loss}",
        missed(&slices, &model)
    );
    for (s, part) in model.iter().enumerate() {
        assert!((energy(part) - found.captured[s]).abs() < 1e-4, "slice {s}");
    }
    assert!(
        found.captured[3] < 1e-20,
        "the slice of zeros: {}",
        found.captured[3]
    );
    for factor in [
        wide(&found.left),
        wide(&found.right),
        rows_of(&found.motifs),
    ] {
        let gram = times(&transpose(&factor), &factor);
        for (i, j) in (0..gram.len()).flat_map(|i| (0..=i).map(move |j| (i, j))) {
            assert!(
                (gram[i][j] - f64::from(u8::from(i == j))).abs() < 1e-4,
                "({i},{j}) {}",
                gram[i][j]
            );
        }
    }
    // The rows of the core are orthogonal, and as long as the weights say.
    let row = |i: usize| {
        found
            .core
            .iter()
            .flatten()
            .flat_map(|core| core.row(i).to_vec())
            .collect::<Vec<f64>>()
    };
    for (i, j) in (0..5).flat_map(|i| (0..=i).map(move |j| (i, j))) {
        let dot: f64 = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
        let truth = if i == j {
            found.weights[i].powi(2)
        } else {
            0.0
        };
        assert!((dot - truth).abs() < 1e-6, "rows {i}, {j}: {dot} {truth}");
    }
    assert!(found.weights.windows(2).all(|pair| pair[0] >= pair[1]));
}

#[test]
fn one_slice_is_a_singular_value_decomposition() {
    let held = Held {
        nodes: 12,
        slices: vec![slice(leaf(&graph(12, 0.4, true, 8), false), None)],
    };
    let tensor = Tensor::new(&held, Scaling::Spectral, &task(4)).expect("finite");
    let truth = singular_values(&explicit(&held, &tensor)[0]);
    assert!((truth[0] - 1.0).abs() < 1e-4, "{truth:?}");
    let found = tucker(&tensor, 8, limits(100), &task(4)).expect("finite");
    for (weight, sigma) in found.weights.iter().zip(&truth) {
        assert!(
            (weight - sigma).abs() < 1e-3,
            "{:?} {truth:?}",
            found.weights
        );
    }
}

/// Slices A diag(c_s) Bᵀ of random factors.
fn low_rank(n: usize, rank: usize, count: usize) -> (Held, [Matrix; 3]) {
    let mut numbers = Numbers(5);
    let mut random = |rows: usize| -> Matrix {
        (0..rows)
            .map(|_| (0..rank).map(|_| numbers.next() - 0.4).collect())
            .collect()
    };
    let (a, b, c) = (random(n), random(n), random(count));
    let of = |c: &Vec<f64>| {
        let scaled: Matrix = a
            .iter()
            .map(|row| row.iter().zip(c).map(|(a, c)| a * c).collect())
            .collect();
        slice(leaf(&times(&scaled, &transpose(&b)), false), None)
    };
    let slices = c.iter().map(of).collect();
    (Held { nodes: n, slices }, [a, b, c])
}

fn cosine(a: &Matrix, i: usize, b: &Matrix, j: usize) -> f64 {
    let dot = |x: &Matrix, i: usize, y: &Matrix, j: usize| {
        x.iter().zip(y).map(|(x, y)| x[i] * y[j]).sum::<f64>()
    };
    dot(a, i, b, j).abs() / (dot(a, i, a, i) * dot(b, j, b, j)).sqrt()
}

#[test]
fn cp_recovers_the_components_of_a_low_rank_tensor() {
    let (held, [a, b, c]) = low_rank(16, 3, 5);
    let tensor = Tensor::new(&held, Scaling::None, &task(3)).expect("finite");
    let found = cp(&tensor, 0.0, limits(2000), &task(3)).expect("finite");
    let loss = *found.descent.losses.last().expect("a start");
    assert!(loss < 1e-5, "{loss} after {}", found.descent.iterations);
    let (left, right, motifs) = (
        wide(&found.left),
        wide(&found.right),
        rows_of(&found.motifs),
    );
    for r in 0..3 {
        let matches = |q: &usize| {
            [(&left, &a), (&right, &b), (&motifs, &c)]
                .iter()
                .all(|(found, truth)| cosine(found, *q, truth, r) > 0.999)
        };
        assert_eq!((0..3).filter(matches).count(), 1, "component {r}");
    }
}

fn rebuilt_cp(found: &Decomposition) -> Vec<Matrix> {
    let (a, b, c) = (
        wide(&found.left),
        wide(&found.right),
        rows_of(&found.motifs),
    );
    let of = |c: &Vec<f64>| {
        let scaled: Matrix = a
            .iter()
            .map(|a| {
                a.iter()
                    .zip(c)
                    .zip(&found.weights)
                    .map(|((a, c), w)| a * c * w)
                    .collect()
            })
            .collect();
        times(&scaled, &transpose(&b))
    };
    c.iter().map(of).collect()
}

#[test]
fn a_cp_model_is_what_its_parts_say_and_its_loss_falls() {
    for (directed, rank) in [(false, 4), (true, 4), (true, 30)] {
        let held = mixed(20, directed, Psi::P);
        let tensor = Tensor::new(&held, Scaling::Frobenius, &task(rank)).expect("finite");
        let slices = explicit(&held, &tensor);
        for regularization in [0.0, 1e-3] {
            let found = cp(&tensor, regularization, limits(40), &task(rank)).expect("finite");
            let what = format!("directed {directed}, rank {rank}, μ {regularization}");
            assert!(
                falls(&found.descent.losses),
                "{what}: {:?}",
                found.descent.losses
            );
            let model = rebuilt_cp(&found);
            if regularization == 0.0 {
                let loss = *found.descent.losses.last().expect("a start");
                assert!(
                    (missed(&slices, &model) - loss).abs() < 1e-4,
                    "{what}: {} {loss}",
                    missed(&slices, &model)
                );
            }
            for (s, part) in model.iter().enumerate() {
                assert!(
                    (energy(part) - found.captured[s]).abs() < 1e-3,
                    "{what}: slice {s}"
                );
            }
            assert!(
                found.weights.windows(2).all(|pair| pair[0] >= pair[1]),
                "{what}"
            );
        }
    }
}

/// No model of D × D × R does better than Tucker, of which a CP model of rank D = R is a special case.
#[test]
fn cp_misses_no_less_than_tucker() {
    let held = mixed(20, true, Psi::P);
    let tensor = Tensor::new(&held, Scaling::Frobenius, &task(3)).expect("finite");
    let last = |losses: &[f64]| *losses.last().expect("a start");
    let general = last(
        &tucker(&tensor, 3, limits(200), &task(3))
            .expect("finite")
            .descent
            .losses,
    );
    let special = last(
        &cp(&tensor, 0.0, limits(200), &task(3))
            .expect("finite")
            .descent
            .losses,
    );
    assert!(general <= special + 1e-3, "{general} {special}");
}

#[test]
fn sizes_of_slices() {
    for directed in [false, true] {
        for psi in [Psi::W, Psi::P, Psi::L, Psi::LNorm, Psi::LRw, Psi::ANorm] {
            let held = mixed(14, directed, psi);
            let tensor = Tensor::new(&held, Scaling::None, &task(1)).expect("finite");
            for (norm, dense) in tensor.norms.iter().zip(explicit(&held, &tensor)) {
                assert!(norm.exact);
                assert!(
                    (norm.frobenius - energy(&dense).sqrt()).abs() < 1e-5,
                    "{psi:?} {norm:?}"
                );
                assert_eq!(norm.factor, if norm.frobenius == 0.0 { 0.0 } else { 1.0 });
            }
        }
    }
    // The square of a ring has a 2 on the diagonal and two ones in every row.
    let n = 3000;
    let (mut offsets, mut columns) = (vec![0], Vec::new());
    for i in 0..n {
        let mut row = [(i + n - 1) % n, (i + 1) % n];
        row.sort_unstable();
        columns.extend(row.map(|j| j as u32));
        offsets.push(columns.len());
    }
    let pattern = hone::sparse::Pattern::new(offsets, columns, n);
    let ring = hone::sparse::Csr::new(pattern.into(), vec![1.0; 2 * n].into());
    let square = Operator::power(Operator::symmetric("W", ring), 2);
    let held = Held {
        nodes: n,
        slices: vec![slice(square, None)],
    };
    let norm = Tensor::new(&held, Scaling::Frobenius, &task(1))
        .expect("finite")
        .norms[0];
    assert!(
        norm.exact && (norm.frobenius.powi(2) / (6.0 * n as f64) - 1.0).abs() < 1e-9,
        "{norm:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the shapes: the loss falls, and is what the model misses of the slices.
    #[test]
    fn models_of_any_shape(
        n in 1usize..16, count in 1usize..5, rank in 1usize..9, motif_rank in 1usize..6, directed: bool, seed in 0u64..1000
    ) {
        let w = |s: usize| leaf(&graph(n + 2, 0.3, directed, seed + s as u64), !directed);
        let held = Held { nodes: n + 2, slices: (0..count).map(|s| slice(w(s), None)).collect() };
        let tensor = Tensor::new(&held, Scaling::Frobenius, &task(rank)).expect("finite");
        let slices = explicit(&held, &tensor);
        prop_assume!(tensor.energy() > 0.0);
        let tucker = tucker(&tensor, motif_rank, limits(4), &task(rank)).expect("finite");
        let cp = cp(&tensor, 0.0, limits(4), &task(rank)).expect("finite");
        for (descent, model) in [(&tucker.descent, rebuilt(&tucker)), (&cp.descent, rebuilt_cp(&cp))] {
            let loss = *descent.losses.last().expect("a start");
            // With more factors than nodes, factors cancel each other, and rounding is that of the largest.
            let cancels = rank > n + 2 && descent.losses.windows(2).all(|pair| pair[1] <= pair[0] + 1e-3);
            prop_assert!(falls(&descent.losses) || cancels, "{:?}", descent.losses);
            let rounding = if rank > n + 2 { 1e-3 } else { 1e-4 };
            prop_assert!((missed(&slices, &model) - loss).abs() < rounding, "{} {loss}", missed(&slices, &model));
        }
    }
}

#[test]
fn tensors_of_zeros_and_of_nothing() {
    for n in [0, 1, 5] {
        for count in [0, 3] {
            let held = Held {
                nodes: n,
                slices: vec![slice(leaf(&zeros(n, n), true), None); count],
            };
            let tensor = Tensor::new(&held, Scaling::Frobenius, &task(4)).expect("zeros");
            let tucker = tucker(&tensor, 2, limits(5), &task(4)).expect("zeros");
            let cp = cp(&tensor, 1e-5, limits(5), &task(4)).expect("zeros");
            for (z, weights) in [(&tucker.left, &tucker.weights), (&cp.left, &cp.weights)] {
                assert_eq!((z.rows(), z.cols(), weights.len()), (n, 4, 4));
                assert!(
                    weights.iter().all(|&weight| weight == 0.0)
                        && z.as_slice().iter().all(|x| x.is_finite())
                );
            }
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    // Enough rows for several chunks of work.
    let of = |seed: u64, k: usize| {
        let w = leaf(&graph(2200, 0.002, true, seed), false);
        slice(
            MotifMatrix::default().operator(&w, k).expect("in range"),
            None,
        )
    };
    let held = Held {
        nodes: 2200,
        slices: vec![of(1, 1), of(2, 2)],
    };
    same_on_any_threads(|| {
        let tensor = Tensor::new(&held, Scaling::Frobenius, &task(9)).expect("finite");
        let tucker = tucker(&tensor, 3, limits(3), &task(9)).expect("finite");
        let cp = cp(&tensor, 1e-5, limits(3), &task(9)).expect("finite");
        (
            tucker.left,
            tucker.core,
            tucker.motifs,
            tucker.descent,
            cp.left,
            cp.right,
            cp.motifs,
            cp.descent,
        )
    });
}

#[test]
fn slices_beyond_the_range_of_numbers_are_refused_by_name() {
    let mut huge = graph(10, 0.5, true, 2);
    huge.iter_mut().flatten().for_each(|x| *x *= 1e37);
    let held = Held {
        nodes: 10,
        slices: vec![slice(Operator::power(leaf(&huge, false), 2), None)],
    };
    let error = Tensor::new(&held, Scaling::Frobenius, &task(2))
        .err()
        .expect("overflows");
    assert!(error.to_string().contains("a slice"), "{error}");
}
