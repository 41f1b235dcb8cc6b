//! Dense matrices through their public interface: products and decompositions by their definitions.

use hone_linalg::dense::{Block, Logs, Norm, Small, log_above_one, rows_times};
use hone_linalg::random::Key;

/// L by its definition.
fn naive(u: &Block, roots: &[f32], logs: &Logs) -> Vec<Vec<f64>> {
    let dot = |i: usize, j: usize| -> f64 {
        u.row(i)
            .iter()
            .zip(logs.landmarks.row(j))
            .map(|(&a, &b)| f64::from(a) * f64::from(b))
            .sum()
    };
    let entry = |i: usize, j: usize| {
        (f64::from(roots[i]) * dot(i, j)).max(1.0).ln() * f64::from(logs.scales[j])
    };
    (0..u.rows())
        .map(|i| (0..logs.scales.len()).map(|j| entry(i, j)).collect())
        .collect()
}

#[test]
fn products_are_those_of_the_definition_whoever_holds_which_rows() {
    let (n, cols, count) = (1300, 40, 70);
    let u = Block::random(n, cols, Key::new(1));
    let landmarks = Block::random(count, cols, Key::new(2));
    let scales: Vec<f32> = (0..count).map(|j| 0.5 + j as f32 / 50.0).collect();
    let roots: Vec<f32> = (0..n).map(|i| (i % 5) as f32 / 4.0).collect();
    let logs = Logs {
        landmarks: &landmarks,
        scales: &scales,
    };
    let truth = naive(&u, &roots, &logs);
    let matrix = Small::from_fn(count, 9, |i, j| ((i * 7 + j * 3) % 11) as f64 / 5.0 - 1.0);
    let panels = [u.columns(0..32), u.columns(32..40)];
    let found = logs.times(&panels, &roots, &matrix, &[5, 4]);
    for i in 0..n {
        for j in 0..9 {
            let expected: f64 = (0..count).map(|k| truth[i][k] * matrix.get(k, j)).sum();
            let own = if j < 5 {
                found[0].get(i, j)
            } else {
                found[1].get(i, j - 5)
            };
            assert!(
                (f64::from(own) - expected).abs() < 1e-3,
                "({i}, {j}): {own}, not {expected}"
            );
        }
    }
    for range in [0..256, 256..1024, 1024..1300] {
        let some = |panel: &Block| {
            Block::from_vec(
                range.len(),
                panel.cols(),
                panel.rows_slice(range.clone()).to_vec(),
            )
        };
        let part = logs.times(
            &panels.each_ref().map(some),
            &roots[range.clone()],
            &matrix,
            &[5, 4],
        );
        assert_eq!(
            part,
            found.iter().map(some).collect::<Vec<_>>(),
            "{range:?}"
        );
    }
    let gram = logs.gram(&u, &roots);
    for i in 0..count {
        for j in 0..count {
            let expected: f64 = truth.iter().map(|row| row[i] * row[j]).sum();
            assert!(
                (gram.get(i, j) - expected).abs() < 1e-3 * expected.abs().max(1.0),
                "({i}, {j})"
            );
        }
    }
}

#[test]
fn nothing_has_no_logarithms() {
    let (none, empty) = (Block::zeros(0, 4), Block::zeros(0, 4));
    let logs = Logs {
        landmarks: &none,
        scales: &[],
    };
    let u = Block::random(70, 4, Key::new(1));
    let found = logs.times(&[u], &[1.0; 70], &Small::zeros(0, 2), &[2]);
    assert!(found[0].as_slice().iter().all(|&x| x == 0.0));
    let landmark = Block::random(1, 4, Key::new(1));
    let logs = Logs {
        landmarks: &landmark,
        scales: &[1.0],
    };
    assert_eq!(
        logs.times(&[empty], &[], &Small::zeros(1, 2), &[2])[0].rows(),
        0
    );
}

#[test]
fn logarithms_have_seven_digits() {
    for x in [
        -3.0f32, 0.0, 1.0, 1.0001, 1.4, 1.5, 2.0, 3.7, 1e3, 12345.6, 3e30,
    ] {
        let exact = f64::from(x).max(1.0).ln();
        assert!(
            (f64::from(log_above_one(x)) - exact).abs() <= 4e-6 * exact.max(0.1),
            "{x}: {}",
            log_above_one(x)
        );
    }
}

/// Entry by entry, added up in the order of the definition: the same bits, in batches of any size.
#[test]
fn products_are_those_of_the_definition() {
    let value =
        |i: usize, j: usize, salt: usize| ((i * 31 + j * 17 + salt) % 29) as f64 / 7.0 - 2.0;
    for (rows, inner, cols) in [
        (1, 1, 1),
        (7, 5, 3),
        (8, 4, 9),
        (9, 13, 1),
        (17, 3, 40),
        (0, 3, 2),
        (3, 0, 2),
        (3, 2, 0),
    ] {
        let (a, b) = (
            Small::from_fn(rows, inner, |i, k| value(i, k, 3)),
            Small::from_fn(inner, cols, |k, j| value(k, j, 5)),
        );
        let naive =
            |i: usize, j: usize| (0..inner).fold(0.0, |sum, k| sum + a.get(i, k) * b.get(k, j));
        let product = a.times(&b);
        assert_eq!(
            product,
            Small::from_fn(rows, cols, naive),
            "{rows} × {inner} × {cols}"
        );
        for i in (0..rows).filter(|_| inner > 0) {
            assert_eq!(rows_times(a.row(i), &b), product.row(i), "row {i} alone");
        }
    }
}

/// Gram matrices of few rows: rank 1 to 5, most columns zero, repeated, or multiples of others.
fn deficient(seed: u64) -> Small {
    let (rows, cols) = (1 + seed as usize % 5, [6, 17, 160][seed as usize / 5 % 3]);
    let mut x = Block::random(rows, cols, Key::new(seed));
    x.update_rows(|_, row| {
        for j in 1..row.len() {
            match (j as u64 * 31 + seed) % 4 {
                0 => row[j] = 0.0,
                1 => row[j] = row[j - 1],
                2 => row[j] = -1e-3 * row[j / 2],
                _ => {}
            }
        }
    });
    x.gram()
}

/// The Gram matrix of Y of a path of three nodes: eight columns of rank two, 408 of zeros.
fn nearly_empty(seed: u64) -> Small {
    let (basis, turns) = (
        Block::random(3, 2, Key::new(seed)),
        Block::random(2, 8, Key::new(seed + 1)),
    );
    let mut x = Block::zeros(3, 416);
    for (at, column) in [0, 1, 16, 17, 208, 209, 224, 225].into_iter().enumerate() {
        let along = |t: usize| {
            if at < 4 {
                if at % 2 == t { 1.0 } else { 0.0 }
            } else {
                turns.get(t, at)
            }
        };
        (0..3).for_each(|i| {
            x.row_mut(i)[column] = basis.get(i, 0) * along(0) + basis.get(i, 1) * along(1);
        });
    }
    x.normalize_columns(Norm::L2);
    x.gram()
}

fn off(a: &Small, b: &Small) -> f64 {
    a.as_slice()
        .iter()
        .zip(b.as_slice())
        .fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs()))
}

/// An iteration on the nearly empty ones as they are fails in seven of ten cases, after seconds.
#[test]
fn matrices_of_deficient_rank_are_no_trouble() {
    // A nearly empty one, and all three sizes.
    for seed in [0, 1, 3, 5, 8, 10] {
        let gram = if seed % 12 == 0 {
            nearly_empty(seed)
        } else {
            deficient(seed)
        };
        for scale in [1.0, 1e-200, 1e200] {
            let scaled = Small::from_fn(gram.rows(), gram.rows(), |i, j| scale * gram.get(i, j));
            let found = scaled.eigen().expect("finite");
            let most = found.values[0];
            assert!(
                off(&found.function(|value| value), &scaled) < 1e-13 * most,
                "seed {seed}, scale {scale}"
            );
            let unit = found.vectors.transposed().times(&found.vectors);
            assert!(
                off(&unit, &Small::identity(gram.rows())) < 1e-12,
                "seed {seed}, scale {scale}"
            );
        }
        let svd = gram.svd().expect("finite");
        let mut left = svd.u.clone();
        left.scale_columns(&svd.sigma);
        assert!(
            off(&left.times(&svd.v.transposed()), &gram) < 1e-13 * svd.sigma[0],
            "seed {seed}"
        );
    }
}

#[test]
fn zero_and_empty_matrices_have_decompositions() {
    for n in [0, 1, 5] {
        let zero = Small::zeros(n, n);
        let found = zero.eigen().expect("finite");
        assert!(found.values == vec![0.0; n] && found.vectors == Small::identity(n));
        assert_eq!(
            Small::zeros(n, 3).svd().expect("finite").sigma,
            vec![0.0; n.min(3)]
        );
    }
}
