//! Laws of the autoencoder: linear networks are as good as the SVD, training stops, bits do not depend on threads.

use hone_linalg::Result;
use hone_linalg::dense::{Block, Columns, Group, Norm, Small};
use hone_linalg::factor::autoencoder::{
    Activation, Autoencoder, Encoding, LARGEST_LAZY, Start, encode as encode_operator,
};
use hone_linalg::factor::svd::{Svd, svd};
use hone_linalg::factor::{Solver, Task};
use hone_linalg::operator::Operator;
use hone_linalg::random::Key;
use hone_linalg::sparse::{Csr, Pattern};

const ALL: [Activation; 4] = [
    Activation::Sigmoid,
    Activation::Tanh,
    Activation::Relu,
    Activation::Identity,
];

fn task(rank: usize) -> Task<'static> {
    Task {
        right: false,
        ..super::task(rank, 9)
    }
}

/// The code of the rows of Y.
fn encode(y: &Columns, options: &Autoencoder, task: &Task) -> Result<Encoding> {
    encode_operator(&Operator::dense("Y", y.clone()), options, task)
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
                (found.coded.residual / best - 1.0).abs() < 0.03,
                "tied {tied}, {start:?}: {} {best}",
                found.coded.residual
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
                let what = format!(
                    "{activation:?} {hidden:?} tied {tied}: {}",
                    found.coded.residual
                );
                assert!(found.coded.residual < 0.2, "{what}");
                let decoded: f64 = found.coded.reconstructed.iter().sum();
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
            encode(&y, &options, &task(3))
                .expect("finite")
                .coded
                .residual
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
    let fit = &found.coded.fit;
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
        !capped.coded.fit.converged && capped.coded.fit.epochs == 2,
        "{:?}",
        capped.coded.fit
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
    assert!(
        one.code == two.code
            && one.coded.fit == two.coded.fit
            && one.coded.reconstructed == two.coded.reconstructed
    );
    assert!(one.code == seven.code && one.coded.fit == seven.coded.fit);
}

#[test]
fn degenerate_matrices_have_codes() {
    let zero = encode(
        &Block::zeros(5, 4).into(),
        &Autoencoder::default(),
        &task(3),
    )
    .expect("zeros");
    assert!(zero.code.as_slice().iter().all(|&x| x == 0.0) && zero.coded.residual == 0.0);
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
            assert!(found.coded.residual.is_finite() && found.coded.reconstructed.len() == columns);
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
    let found = Solver::Autoencoder(options.clone())
        .factor(&Operator::dense("Y", y), &task(2))
        .expect("finite");
    let mut z = found.u.clone();
    z.scale_columns(&found.sigma);
    for (a, b) in z.as_slice().iter().zip(direct.code.as_slice()) {
        assert!((a - b).abs() < 1e-6, "{a} {b}");
    }
    assert!(found.v.is_none() && found.info.rank == 2);
    let lazy = Operator::power(Operator::dense("Y", Block::zeros(2, 2)), 2);
    let zero = Solver::Autoencoder(options)
        .factor(&lazy, &task(1))
        .expect("zeros");
    assert_eq!((zero.info.rank, zero.u.get(0, 0)), (0, 0.0));
}

/// A ring with chords as P³, lazily and as a dense matrix; one row may be zero.
fn walks(zero: Option<u32>) -> (Operator, Columns) {
    let n = 60u32;
    let neighbours = |i: u32| match i {
        i if zero == Some(i) => vec![],
        i => {
            let mut all: Vec<u32> = [1, 5, 11, n - 1, n - 5]
                .iter()
                .map(|k| (i + k) % n)
                .filter(|&j| zero != Some(j))
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
    let pattern = Pattern::new(offsets, rows.concat(), n as usize);
    let p = Csr::new(std::sync::Arc::new(pattern), values.into());
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

/// The rows of a lazy matrix are those of the dense one, and so is what is learnt from them.
#[test]
fn lazy_rows_are_the_rows_of_the_matrix() {
    let (lazy, dense) = walks(None);
    for start in [Start::Random, Start::Svd] {
        let options = Autoencoder {
            start,
            epochs: 5,
            ..Autoencoder::default()
        };
        let found = encode_operator(&lazy, &options, &task(4)).expect("finite");
        let truth = encode(&dense, &options, &task(4)).expect("finite");
        assert!((found.coded.residual - truth.coded.residual).abs() < 1e-4);
        // Directions with equal singular values, with which it may start, are any mixture.
        let codes = found.code.as_slice().iter().zip(truth.code.as_slice());
        let alike = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-3;
        assert!(start == Start::Svd || codes.into_iter().all(alike));
    }
}

/// A linear network for a lazy matrix misses about as little as the SVD, and zero rows have a code of zeros.
#[test]
fn codes_of_lazy_rows_are_as_good_as_those_of_the_matrix() {
    let (lazy, dense) = walks(Some(7));
    let best = svd_residual(&dense, 6);
    for activation in [Activation::Identity, Activation::Sigmoid] {
        let options = Autoencoder {
            activation,
            epochs: 400,
            ..Autoencoder::default()
        };
        let found = encode_operator(&lazy, &options, &task(6)).expect("finite");
        assert!(
            found.coded.residual < 2.0 * best,
            "{activation:?}: {} {best}",
            found.coded.residual
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
            pool.install(|| encode_operator(&lazy, &options, &task(6)).expect("finite"))
        };
        assert!(on(1).code == found.code && on(3).code == found.code);
    }
}

#[test]
fn lazy_matrices_that_take_too_long_are_refused() {
    let n = LARGEST_LAZY + 1;
    let empty = Pattern::new(vec![0; n + 1], Vec::new(), n);
    let s = Operator::symmetric("W", Csr::new(std::sync::Arc::new(empty), Vec::new().into()));
    let error = Solver::Autoencoder(Autoencoder::default())
        .factor(&s, &task(2))
        .expect_err("too large")
        .to_string();
    assert!(
        error.contains("solver.method") && error.contains("svd"),
        "{error}"
    );
}
