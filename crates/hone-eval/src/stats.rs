//! Summaries of repeated measurements, and whether a difference is more than chance.

use serde::{Deserialize, Serialize};

/// Mean and standard deviation of repeated measurements.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The standard deviation (n − 1 in the denominator; 0 for a single value).
    pub std: f64,
    /// The number of values.
    pub count: usize,
}

impl Summary {
    /// Summarises values; nothing for no values.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        let square: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
        let std = if values.len() > 1 {
            (square / (n - 1.0)).sqrt()
        } else {
            0.0
        };
        Some(Summary {
            mean,
            std,
            count: values.len(),
        })
    }
}

/// What Wilcoxon's signed-rank test says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wilcoxon {
    /// Two-sided p-value; 1 when nothing differs. Exact, also with ties, for up to `EXACT` pairs; beyond, the rank sum counts
    /// as normal.
    pub p: f64,
    /// Pairs that differ; others are left out.
    pub differing: usize,
}

/// Most pairs that differ for which Wilcoxon's test is exact: the exact distribution takes the cube of their number.
const EXACT: usize = 50;

/// The level below which a difference counts as more than chance.
pub const LEVEL: f64 = 0.05;

/// The smallest p-value that Wilcoxon's test can give for this many pairs: when all differ the same way.
pub fn smallest_p(pairs: usize) -> f64 {
    0.5f64.powi(pairs.min(1000) as i32 - 1).min(1.0)
}

/// Wilcoxon's signed-rank test on paired values.
///
/// # Panics
/// When lengths differ.
pub fn wilcoxon(a: &[f64], b: &[f64]) -> Wilcoxon {
    assert_eq!(a.len(), b.len(), "paired values");
    let mut differences: Vec<f64> = a
        .iter()
        .zip(b)
        .map(|(a, b)| a - b)
        .filter(|d| *d != 0.0)
        .collect();
    differences.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    // Twice the mid-rank of each difference is an integer, also with ties.
    let mut ranks: Vec<usize> = Vec::new();
    for tie in differences.chunk_by(|a, b| a.abs() == b.abs()) {
        let first = ranks.len() + 1;
        ranks.extend(std::iter::repeat_n(2 * first + tie.len() - 1, tie.len()));
    }
    let positive: usize = ranks
        .iter()
        .zip(&differences)
        .filter(|(_, d)| **d > 0.0)
        .map(|(r, _)| r)
        .sum();
    let total: usize = ranks.iter().sum();
    let extreme = positive.min(total - positive);
    let differing = differences.len();
    if differing > EXACT {
        // The variance of a sum of ranks with random signs, ties included.
        let square: f64 = ranks.iter().map(|&rank| (rank as f64).powi(2)).sum();
        let p = normal_p((extreme as f64 - total as f64 / 2.0) / (square / 4.0).sqrt());
        return Wilcoxon { p, differing };
    }
    // Distribution of the rank sum when every sign is a fair coin.
    let mut chance = vec![0.0; total + 1];
    chance[0] = 1.0;
    for &rank in &ranks {
        for sum in (0..=total).rev() {
            chance[sum] = 0.5 * (chance[sum] + if sum >= rank { chance[sum - rank] } else { 0.0 });
        }
    }
    let p = (2.0 * chance[..=extreme].iter().sum::<f64>()).min(1.0);
    Wilcoxon { p, differing }
}

/// Two-sided p-value of a standard normal variable: the complementary error function of |z| / √2, by its series, or its continued
/// fraction where that is small (Abramowitz and Stegun 7.1.6 and 7.1.14).
pub fn normal_p(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let scale = (-x * x).exp() / std::f64::consts::PI.sqrt();
    if x < 2.0 {
        let (mut term, mut sum) = (2.0 * x, 0.0);
        for n in 1..60 {
            sum += term;
            term *= 2.0 * x * x / f64::from(2 * n + 1);
        }
        return (1.0 - scale * sum).clamp(0.0, 1.0);
    }
    scale
        / (1..100)
            .rev()
            .fold(x, |rest, n| x + 0.5 * f64::from(n) / rest)
}

/// Two-sided p-value of Student's t with `freedom` degrees: a finite sum of powers of the cosine of atan(t / √freedom)
/// (Abramowitz and Stegun 26.7.3 and 26.7.4). 1 where t is no number: nothing differs.
pub fn student_p(t: f64, freedom: usize) -> f64 {
    if t.is_nan() || freedom == 0 {
        return 1.0;
    }
    let angle = (t.abs() / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2;
    // Terms cosine^k · (product of ratios), k of the parity of freedom, below freedom − 1.
    let (mut term, mut sum) = (if odd == 1 { cosine } else { 1.0 }, 0.0);
    for k in (odd..freedom.saturating_sub(1)).step_by(2) {
        sum += term;
        term *= cosine * cosine * (k + 1) as f64 / (k + 2) as f64;
    }
    let inside = if odd == 1 {
        (angle + sine * sum) / std::f64::consts::FRAC_PI_2
    } else {
        sine * sum
    };
    (1.0 - inside).clamp(0.0, 1.0)
}
