//! The autoencoder against a plain f64 network that shares no code with it, and its laws.

use proptest::prelude::*;

use super::network::{Network, Parameters};
use super::*;
use crate::dense::{Block, Columns, Group, Small};
use crate::factor::svd::{Svd, svd};
use crate::progress::Silent;
use crate::random::Key;

const ALL: [Activation; 4] = [
    Activation::Sigmoid,
    Activation::Tanh,
    Activation::Relu,
    Activation::Identity,
];

fn task(rank: usize) -> Task<'static> {
    Task {
        rank,
        right: false,
        key: Key::new(9),
        progress: &Silent,
        aside: None,
    }
}

/// A network of arbitrary weights and biases.
fn arbitrary(sizes: &[usize], activation: Activation, tied: bool, seed: u64) -> Network {
    let depth = sizes.len() - 1;
    let mut shapes: Vec<(usize, usize)> = sizes.windows(2).map(|p| (p[0], p[1])).collect();
    let back: Vec<(usize, usize)> = shapes.iter().rev().map(|&(a, b)| (b, a)).collect();
    let widths: Vec<usize> = shapes.iter().chain(&back).map(|p| p.1).collect();
    if !tied {
        shapes.extend(back);
    }
    let key = Key::new(seed);
    let weights = shapes.iter().enumerate().map(|(l, &(a, b))| {
        let drawn = Block::random(a, b, key.with("w", l as u64));
        Small::from_fn(a, b, |i, j| f64::from(drawn.get(i, j)))
    });
    let biases = widths.iter().enumerate().map(|(l, &width)| {
        let drawn = Block::random(1, width, key.with("b", l as u64));
        drawn
            .as_slice()
            .iter()
            .map(|&x| 0.5 * f64::from(x))
            .collect()
    });
    let parameters = Parameters {
        weights: weights.collect(),
        biases: biases.collect(),
    };
    Network {
        activation,
        depth,
        parameters,
    }
}

/// Loss of one network on a batch, example by example, in f64.
fn naive_loss(network: &Network, batch: &Block, regularization: f64) -> f64 {
    let Parameters { weights, biases } = &network.parameters;
    let (depth, layers) = (network.depth, biases.len());
    let weight = |layer: usize, i: usize, j: usize| {
        if layer < weights.len() {
            weights[layer].get(i, j)
        } else {
            weights[2 * depth - 1 - layer].get(j, i)
        }
    };
    let mut sum = 0.0;
    for row in 0..batch.rows() {
        let input: Vec<f64> = batch.row(row).iter().map(|&x| f64::from(x)).collect();
        let mut a = input.clone();
        for layer in 0..layers {
            let unit = |j: usize| {
                biases[layer][j]
                    + (0..a.len())
                        .map(|i| a[i] * weight(layer, i, j))
                        .sum::<f64>()
            };
            let z: Vec<f64> = (0..biases[layer].len()).map(unit).collect();
            let f = |z: f64| match network.activation {
                Activation::Sigmoid => 1.0 / (1.0 + (-z).exp()),
                Activation::Tanh => z.tanh(),
                Activation::Relu => z.max(0.0),
                Activation::Identity => z,
            };
            a = if layer + 1 == layers {
                z
            } else {
                z.into_iter().map(f).collect()
            };
        }
        sum += a
            .iter()
            .zip(&input)
            .map(|(a, x)| (a - x).powi(2))
            .sum::<f64>();
    }
    let squares: f64 = weights
        .iter()
        .flat_map(Small::as_slice)
        .map(|w| w * w)
        .sum();
    sum / (batch.rows() * batch.cols()) as f64 + regularization * squares
}

/// Every entry of a gradient against central differences of the naive loss. Networks compute in f32, and rounding grows with the
/// loss.
fn check_gradient(sizes: &[usize], activation: Activation, tied: bool, seed: u64) {
    const H: f64 = 1e-5;
    let network = arbitrary(sizes, activation, tied, seed);
    let batch = Block::random(7, sizes[0], Key::new(seed ^ 4));
    let (loss, gradient) = network.gradient(&batch, 0.01);
    let what = format!("{activation:?}, {sizes:?}, tied {tied}");
    assert!(
        (loss - naive_loss(&network, &batch, 0.0)).abs() < 1e-5 * (1.0 + loss),
        "{what}: loss {loss}"
    );
    let numeric = |change: &dyn Fn(&mut Parameters, f64)| {
        let at = |h: f64| {
            let mut moved = network.clone();
            change(&mut moved.parameters, h);
            naive_loss(&moved, &batch, 0.01)
        };
        (at(H) - at(-H)) / (2.0 * H)
    };
    for (layer, own) in gradient.weights.iter().enumerate() {
        for at in 0..own.as_slice().len() {
            let truth = numeric(&|p, h| p.weights[layer].as_mut_slice()[at] += h);
            let found = own.as_slice()[at];
            assert!(
                (found - truth).abs() < 2e-5 * (1.0 + loss + truth.abs()),
                "{what}: weight {layer} {at} {found} {truth}"
            );
        }
    }
    for (layer, own) in gradient.biases.iter().enumerate() {
        for (at, found) in own.iter().enumerate() {
            let truth = numeric(&|p, h| p.biases[layer][at] += h);
            assert!(
                (found - truth).abs() < 2e-5 * (1.0 + loss + truth.abs()),
                "{what}: bias {layer} {at} {found} {truth}"
            );
        }
    }
    assert!(
        gradient
            .weights
            .iter()
            .flat_map(Small::as_slice)
            .any(|g| g.abs() > 1e-3),
        "{what}: a gradient to check"
    );
}

#[test]
fn gradients_agree_with_finite_differences() {
    for activation in ALL {
        for tied in [false, true] {
            check_gradient(&[6, 3], activation, tied, 3);
            check_gradient(&[6, 5, 3], activation, tied, 3);
            check_gradient(&[4, 7, 5, 2], activation, tied, 3);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn gradients_of_networks_of_any_shape(
        sizes in prop::collection::vec(1usize..7, 2..5), activation in 0usize..3, tied: bool, seed: u64
    ) {
        // At a kink of relu a difference says nothing.
        let smooth = [Activation::Sigmoid, Activation::Tanh, Activation::Identity][activation];
        check_gradient(&sizes, smooth, tied, seed);
    }
}

/// Rows on a plane of rank 3, and some noise.
fn nearly_low_rank(rows: usize, cols: usize, noise: f32) -> Columns {
    let left = Block::random(rows, 3, Key::new(1));
    let right = Block::random(3, cols, Key::new(2));
    let mut y = left.times(&Small::from_fn(3, cols, |i, j| {
        f64::from(right.get(i, j)) * [3.0, 2.0, 1.0][i]
    }));
    let extra = Block::random(rows, cols, Key::new(3));
    y.update_rows(|i, row| {
        row.iter_mut()
            .zip(extra.row(i))
            .for_each(|(y, e)| *y += noise * e);
    });
    y.into()
}

/// What the best linear approximation of a rank misses.
fn svd_residual(y: &Columns, rank: usize) -> f64 {
    let found = svd(
        &Operator::dense("Y", y.clone()),
        &Svd::default(),
        &task(rank),
    )
    .expect("finite");
    1.0 - found.sigma.iter().map(|s| s * s).sum::<f64>() / y.column_energy().iter().sum::<f64>()
}

#[test]
fn a_linear_network_misses_no_more_than_the_svd() {
    let y = nearly_low_rank(300, 12, 0.3);
    let best = svd_residual(&y, 3);
    for tied in [false, true] {
        for start in [Start::Svd, Start::Random] {
            let (rate, epochs, patience) = if start == Start::Svd {
                (1e-3, 200, 10)
            } else {
                (3e-3, 2000, 100)
            };
            let activation = Activation::Identity;
            let options = Autoencoder {
                activation,
                tied,
                start,
                rate,
                epochs,
                patience,
                ..Autoencoder::default()
            };
            let found = encode(&y, &options, &task(3)).expect("finite");
            // The offset may gain a little over the SVD, rows held out lose a little.
            assert!(
                (found.residual / best - 1.0).abs() < 0.03,
                "tied {tied}, {start:?}: {} {best}",
                found.residual
            );
        }
    }
}

#[test]
fn networks_of_every_kind_learn() {
    let y = nearly_low_rank(200, 10, 0.05);
    for activation in ALL {
        for hidden in [vec![], vec![8]] {
            for tied in [false, true] {
                let options = Autoencoder {
                    hidden: hidden.clone(),
                    activation,
                    tied,
                    rate: 1e-2,
                    ..Autoencoder::default()
                };
                let found = encode(&y, &options, &task(4)).expect("finite");
                let what = format!("{activation:?} {hidden:?} tied {tied}: {}", found.residual);
                assert!(found.residual < 0.2, "{what}");
                let decoded: f64 = found.reconstructed.iter().sum();
                let total: f64 = y.column_energy().iter().sum();
                assert!(
                    (decoded / total - 1.0).abs() < 0.3,
                    "{what}: {decoded} of {total}"
                );
                let norms = found.code.column_norms(Norm::L2);
                assert!(
                    norms.windows(2).all(|pair| pair[0] >= pair[1]),
                    "{what}: {norms:?}"
                );
            }
        }
    }
}

#[test]
fn a_start_from_the_svd_is_near_it() {
    let y = nearly_low_rank(300, 12, 0.3);
    let best = svd_residual(&y, 3);
    for (activation, bound) in [
        (Activation::Identity, 1.2),
        (Activation::Tanh, 5.0),
        (Activation::Sigmoid, 5.0),
    ] {
        let of = |start| {
            let options = Autoencoder {
                activation,
                start,
                epochs: 1,
                rate: 1e-9,
                ..Autoencoder::default()
            };
            encode(&y, &options, &task(3)).expect("finite").residual
        };
        assert!(
            of(Start::Svd) < bound * best,
            "{activation:?}: {} {best}",
            of(Start::Svd)
        );
        assert!(of(Start::Random) > 10.0 * of(Start::Svd), "{activation:?}");
    }
}

#[test]
fn training_stops_when_nothing_improves_and_keeps_the_best_weights() {
    let y = nearly_low_rank(100, 8, 0.5);
    let options = Autoencoder {
        patience: 3,
        epochs: 5000,
        rate: 0.02,
        ..Autoencoder::default()
    };
    let found = encode(&y, &options, &task(3)).expect("finite");
    let fit = &found.fit;
    assert!(fit.converged && fit.epochs < 5000, "{fit:?}");
    assert_eq!(
        (fit.training_loss.len(), fit.held_out_loss.len()),
        (fit.epochs, fit.epochs + 1)
    );
    assert_eq!(fit.held_out_rows, 10);
    let least = fit
        .held_out_loss
        .iter()
        .copied()
        .fold(f64::INFINITY, f64::min);
    assert_eq!(fit.held_out_loss[fit.best], least);
    let capped = encode(
        &y,
        &Autoencoder {
            epochs: 2,
            ..options
        },
        &task(3),
    )
    .expect("finite");
    assert!(
        !capped.fit.converged && capped.fit.epochs == 2,
        "{:?}",
        capped.fit
    );
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let rows: Vec<u32> = (0..700).step_by(3).collect();
    let rare = Group::partial(rows.clone(), Block::random(rows.len(), 20, Key::new(6)));
    let y = Columns::new(
        700,
        vec![Group::full(Block::random(700, 70, Key::new(5))), rare],
    );
    let options = Autoencoder {
        hidden: vec![40],
        batch: 256,
        epochs: 3,
        ..Autoencoder::default()
    };
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| encode(&y, &options, &task(16)).expect("finite"))
    };
    let (one, two, seven) = (on(1), on(2), on(7));
    assert!(one.code == two.code && one.fit == two.fit && one.reconstructed == two.reconstructed);
    assert!(one.code == seven.code && one.fit == seven.fit);
}

#[test]
fn degenerate_matrices_have_codes() {
    let zero = encode(
        &Block::zeros(5, 4).into(),
        &Autoencoder::default(),
        &task(3),
    )
    .expect("zeros");
    assert!(zero.code.as_slice().iter().all(|&x| x == 0.0) && zero.residual == 0.0);
    for activation in ALL {
        for (rows, columns, code) in [
            (0, 4, 2),
            (4, 0, 2),
            (1, 4, 2),
            (1, 1, 1),
            (6, 3, 9),
            (2, 50, 8),
        ] {
            let y = Block::random(rows, columns, Key::new(8));
            let options = Autoencoder {
                activation,
                epochs: 20,
                ..Autoencoder::default()
            };
            let found = encode(&y.into(), &options, &task(code)).expect("finite");
            assert_eq!((found.code.rows(), found.code.cols()), (rows, code));
            assert!(
                found.code.as_slice().iter().all(|x| x.is_finite()),
                "{activation:?} {rows} {columns} {code}"
            );
            assert!(found.residual.is_finite() && found.reconstructed.len() == columns);
        }
    }
}

#[test]
fn losses_that_are_not_finite_are_refused_with_the_stage() {
    let y = nearly_low_rank(50, 6, 0.1);
    let options = Autoencoder {
        rate: 1e30,
        activation: Activation::Identity,
        ..Autoencoder::default()
    };
    let error = encode(&y, &options, &task(2)).expect_err("overflows");
    assert!(
        error.to_string().contains("autoencoder") && error.to_string().contains("rate"),
        "{error}"
    );
    let mut broken = Block::zeros(3, 2);
    broken.row_mut(1)[0] = f32::NAN;
    assert!(encode(&broken.into(), &Autoencoder::default(), &task(1)).is_err());
}

#[test]
fn as_a_solver_it_gives_unit_columns_and_their_lengths() {
    let y = nearly_low_rank(60, 6, 0.1);
    let options = Autoencoder {
        activation: Activation::Identity,
        ..Autoencoder::default()
    };
    let direct = encode(&y, &options, &task(2)).expect("finite");
    let found = options
        .factor(&Operator::dense("Y", y), &task(2))
        .expect("finite");
    let mut z = found.u.clone();
    z.scale_columns(&found.sigma);
    for (a, b) in z.as_slice().iter().zip(direct.code.as_slice()) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
    assert!(found.v.is_none() && found.info.rank == 2);
    let lazy = Operator::power(Operator::dense("Y", Block::zeros(2, 2)), 2);
    let zero = options.factor(&lazy, &task(1)).expect("zeros");
    assert_eq!((zero.info.rank, zero.u.get(0, 0)), (0, 0.0));
}

/// A ring with chords as P³, lazily and as a dense matrix; row 7 is zero.
fn walks() -> (Operator, Columns) {
    let n = 60u32;
    let neighbours = |i: u32| match i {
        7 => vec![],
        i => {
            let mut all: Vec<u32> = [1, 5, 11, n - 1, n - 5]
                .iter()
                .map(|k| (i + k) % n)
                .filter(|&j| j != 7)
                .collect();
            all.sort_unstable();
            all
        }
    };
    let rows: Vec<Vec<u32>> = (0..n).map(neighbours).collect();
    let mut offsets = vec![0];
    rows.iter()
        .for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.len()));
    let values: Vec<f32> = rows
        .iter()
        .flat_map(|row| vec![1.0 / row.len() as f32; row.len()])
        .collect();
    let pattern = crate::sparse::Pattern::new(offsets, rows.concat(), n as usize);
    let p = crate::sparse::Csr::new(std::sync::Arc::new(pattern), values.into());
    let lazy = Operator::power(Operator::sparse("P", p), 3);
    let mut dense = Block::zeros(n as usize, n as usize);
    let (mut reader, mut row) = (lazy.read_rows(), Vec::new());
    for i in 0..n as usize {
        reader.read(i, &mut row);
        row.iter()
            .for_each(|&(j, value)| dense.row_mut(i)[j as usize] = value as f32);
    }
    (lazy, dense.into())
}

/// A batch of lazy rows is the batch of the dense matrix, and the network's loss on it that of the f64 one.
#[test]
fn lazy_rows_are_the_rows_of_the_matrix() {
    use super::source::{Data, Source};
    let (lazy, dense) = walks();
    let batch = |source| Data { source, scale: 2.5 }.batch(|at| 3 * at, 20);
    let (own, truth) = (batch(Source::Lazy(&lazy)), batch(Source::Dense(&dense)));
    assert!(own == truth);
    let network = arbitrary(&[60, 4], Activation::Sigmoid, false, 3);
    let (loss, _) = network.gradient(&own, 0.0);
    assert!(
        (loss - naive_loss(&network, &truth, 0.0)).abs() < 1e-5,
        "{loss}"
    );
    let (total, rows) = Source::Lazy(&lazy).measure();
    assert!((total - dense.column_energy().iter().sum::<f64>()).abs() < 1e-5 * total);
    assert_eq!(rows, (0..60).filter(|&i| i != 7).collect::<Vec<u32>>());
    let gram = |source| Data { source, scale: 1.0 }.gram(&[4, 9]);
    let (a, b) = (gram(Source::Lazy(&lazy)), gram(Source::Dense(&dense)));
    assert!(
        a.as_slice()
            .iter()
            .zip(b.as_slice())
            .all(|(a, b)| (a - b).abs() < 1e-6)
    );
}

/// A linear network for a lazy matrix misses about as little as the SVD, and zero rows have a code of zeros.
#[test]
fn codes_of_lazy_rows_are_as_good_as_those_of_the_matrix() {
    let (lazy, dense) = walks();
    let best = svd_residual(&dense, 6);
    for activation in [Activation::Identity, Activation::Sigmoid] {
        let options = Autoencoder {
            activation,
            epochs: 400,
            ..Autoencoder::default()
        };
        let found = encode_lazy(&lazy, &options, &task(6)).expect("finite");
        assert!(
            found.residual < 2.0 * best,
            "{activation:?}: {} {best}",
            found.residual
        );
        assert!(
            found.code.row(7).iter().all(|&x| x == 0.0)
                && found.code.row(8).iter().any(|&x| x != 0.0)
        );
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a pool");
            pool.install(|| encode_lazy(&lazy, &options, &task(6)).expect("finite"))
        };
        assert!(on(1).code == found.code && on(3).code == found.code);
    }
}

#[test]
fn lazy_matrices_that_take_too_long_are_refused() {
    let n = LARGEST_LAZY + 1;
    let empty = crate::sparse::Pattern::new(vec![0; n + 1], Vec::new(), n);
    let s = Operator::symmetric(
        "W",
        crate::sparse::Csr::new(std::sync::Arc::new(empty), Vec::new().into()),
    );
    let error = Autoencoder::default()
        .factor(&s, &task(2))
        .expect_err("too large")
        .to_string();
    assert!(
        error.contains("solver.method") && error.contains("svd"),
        "{error}"
    );
}
