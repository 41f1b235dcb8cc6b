//! Products and decompositions of matrices of the linear algebra library, against loops.

use faer::{Mat, MatRef};
use hone_linalg::dense::kernels::{
    add_gram, add_product, orthonormal, product, solve_positive, symmetric_eigen,
};

fn entries(rows: usize, cols: usize, seed: usize) -> Mat<f64> {
    Mat::from_fn(rows, cols, |i, j| {
        ((i * 31 + j * 17 + seed * 7) % 23) as f64 / 23.0 - 0.4
    })
}

fn written_out(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    Mat::from_fn(a.nrows(), b.ncols(), |i, j| {
        (0..a.ncols()).map(|k| a[(i, k)] * b[(k, j)]).sum()
    })
}

fn apart(a: &Mat<f64>, b: &Mat<f64>) -> f64 {
    let all = (0..a.nrows()).flat_map(|i| (0..a.ncols()).map(move |j| (i, j)));
    all.map(|at| (a[at] - b[at]).abs()).fold(0.0, f64::max)
}

#[test]
fn products_are_sums_of_products() {
    let (a, b) = (entries(9, 5, 1), entries(5, 7, 2));
    let truth = written_out(a.as_ref(), b.as_ref());
    assert!(apart(&product(a.as_ref(), b.as_ref()), &truth) < 1e-14);
    let mut sum = entries(9, 7, 3);
    let expected = Mat::from_fn(9, 7, |i, j| sum[(i, j)] - 2.0 * truth[(i, j)]);
    add_product(sum.as_mut(), -2.0, a.as_ref(), b.as_ref());
    assert!(apart(&sum, &expected) < 1e-14);
    let mut gram = Mat::zeros(5, 5);
    add_gram(gram.as_mut(), a.as_ref());
    let whole = written_out(a.transpose(), a.as_ref());
    assert!(
        apart(
            &gram,
            &Mat::from_fn(5, 5, |i, j| if j <= i { whole[(i, j)] } else { 0.0 })
        ) < 1e-14
    );
}

#[test]
fn decompositions_fit_their_matrix() {
    let a = entries(12, 6, 4);
    let q = orthonormal(a.as_ref());
    let unit = Mat::from_fn(6, 6, |i, j| f64::from(u8::from(i == j)));
    assert!(apart(&written_out(q.transpose(), q.as_ref()), &unit) < 1e-13);
    let within = written_out(q.as_ref(), written_out(q.transpose(), a.as_ref()).as_ref());
    assert!(
        apart(&within, &a) < 1e-13,
        "the span is that of the columns"
    );
    let gram = written_out(a.transpose(), a.as_ref());
    let (values, vectors) = symmetric_eigen(gram.as_ref()).expect("converges");
    assert!(values.windows(2).all(|two| two[0] >= two[1]), "{values:?}");
    let scaled = Mat::from_fn(6, 6, |i, j| vectors[(i, j)] * values[j]);
    assert!(apart(&written_out(gram.as_ref(), vectors.as_ref()), &scaled) < 1e-12);
    let even = Mat::from_fn(6, 6, |i, j| gram[(i, j)] + unit[(i, j)]);
    let b: Vec<f64> = (0..6).map(|i| i as f64 - 2.0).collect();
    let x = solve_positive(even.as_ref(), &b).expect("positive definite");
    let back = written_out(even.as_ref(), Mat::from_fn(6, 1, |i, _| x[i]).as_ref());
    assert!((0..6).all(|i| (back[(i, 0)] - b[i]).abs() < 1e-12));
    assert!(solve_positive(Mat::from_fn(6, 6, |i, j| -even[(i, j)]).as_ref(), &b).is_none());
}
