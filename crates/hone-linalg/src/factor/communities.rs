//! How clearly the spectrum of a graph shows communities: one number, from eigenvalues alone.
//!
//! If the leading eigenvalues of the normalised matrix are large, walks stay within communities: more steps smooth over
//! noise in single edges, and a window of several steps is more informative than an edge. If they are small, as in
//! dense word networks, walks forget where they began after a step, and further steps mostly add noise. Both the
//! smoothing of columns and the weight of the log window follow from this number.

/// The smallest weight.
const LEAST: f64 = 0.02;
/// Eigenvalues that count, after the first.
const COUNTED: usize = 5;

/// (2 λ̄)⁶ between 0.02 and 1, where λ̄ is the mean absolute value of the five largest eigenvalues after the first.
pub fn weight(values: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = values.iter().map(|value| value.abs()).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let next: Vec<f64> = sizes.into_iter().skip(1).take(COUNTED).collect();
    let mean = next.iter().sum::<f64>() / next.len().max(1) as f64;
    (2.0 * mean).powi(6).clamp(LEAST, 1.0)
}

#[cfg(test)]
mod tests {
    use super::weight;

    #[test]
    fn weights_follow_the_leading_eigenvalues() {
        assert_eq!(weight(&[]), 0.02);
        assert_eq!(weight(&[0.9]), 0.02);
        assert_eq!(weight(&[0.9, 0.8, -0.8, 0.7, 0.6, 0.6, 0.1]), 1.0);
        assert!((weight(&[0.4, 0.9, 0.4, -0.4, 0.4, 0.4, 0.01]) - 0.8f64.powi(6)).abs() < 1e-12);
    }
}
