//! Motif matrices entry by entry, as the paper defines them.

use hone::matrix::{Accumulate, Degree, MotifMatrix, Order, Psi};

use super::{Matrix, power, zeros};

/// Psi(A) entry by entry, as sec. 2.3 writes it.
pub fn psi(a: &Matrix, m: &MotifMatrix, directed: bool) -> Matrix {
    let n = a.len();
    let out: Vec<f64> = (0..n).map(|i| a[i].iter().sum()).collect();
    let into: Vec<f64> = (0..n).map(|j| (0..n).map(|i| a[i][j]).sum()).collect();
    let w: Vec<f64> = match m.degree {
        Degree::Out | Degree::Auto => out,
        Degree::In => into,
        Degree::Total if directed => (0..n).map(|i| out[i] + into[i]).collect(),
        Degree::Total => out,
    };
    let some: Vec<f64> = w.iter().copied().filter(|&w| w != 0.0).collect();
    let tau = m.regularize * some.iter().sum::<f64>() / some.len().max(1) as f64;
    let entry = |i: usize, j: usize| {
        let one = f64::from(u8::from(i == j));
        match m.psi {
            Psi::W => a[i][j],
            Psi::P if w[i] == 0.0 => 0.0,
            Psi::P => m.laziness * one + (1.0 - m.laziness) * a[i][j] / (w[i] + tau),
            Psi::L => one * w[i] - a[i][j],
            Psi::LNorm if w[i] == 0.0 || w[j] == 0.0 => 0.0,
            Psi::LNorm => one - a[i][j] / ((w[i] + tau) * (w[j] + tau)).sqrt(),
            Psi::LRw if w[i] == 0.0 => 0.0,
            Psi::LRw => one - a[i][j] / (w[i] + tau),
            Psi::ANorm if w[i] == 0.0 || w[j] == 0.0 => 0.0,
            Psi::ANorm => {
                m.laziness * one
                    + (1.0 - m.laziness) * a[i][j] / ((w[i] + tau) * (w[j] + tau)).sqrt()
            }
        }
    };
    (0..n)
        .map(|i| (0..n).map(|j| entry(i, j)).collect())
        .collect()
}

/// Psi(W^k) or Psi(W)^k.
pub fn step(w: &Matrix, m: &MotifMatrix, k: usize, directed: bool) -> Matrix {
    let of_power = match m.order {
        Order::PsiOfPower => true,
        Order::PowerOfPsi => false,
        Order::Auto => m.psi != Psi::P && m.psi != Psi::ANorm,
    };
    if of_power {
        psi(&power(w, k), m, directed)
    } else {
        power(&psi(w, m, directed), k)
    }
}

/// S^(k), accumulated as eq. 24 to 26 say.
pub fn explicit(w: &Matrix, m: &MotifMatrix, k: usize, directed: bool) -> Matrix {
    let alpha: f64 = match m.accumulate {
        Accumulate::None => return step(w, m, k, directed),
        Accumulate::Mean => 1.0,
        Accumulate::Decay(alpha) => alpha,
    };
    let mut sum = zeros(w.len(), w.len());
    for l in 1..=k {
        for (to, from) in sum
            .iter_mut()
            .flatten()
            .zip(step(w, m, l, directed).iter().flatten())
        {
            *to += alpha.powi(l as i32) / k as f64 * from;
        }
    }
    sum
}
