//! Recognises columns of Unix times, which are numbers and yet no weights.

use rustc_hash::FxHashSet;

/// Seconds from 1973 to 2128.
const SECONDS: std::ops::Range<f64> = 1e8..5e9;

/// Whether numbers are most probably Unix times: whole seconds, or thousandths, millionths or billionths of them, all of
/// one age, and either rising or for the most part different.
pub(super) fn are_times(values: impl Iterator<Item = Option<f64>>) -> bool {
    let Some(values) = values.collect::<Option<Vec<f64>>>() else { return false };
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(0.0, f64::max);
    let fits = |unit: f64| SECONDS.contains(&(smallest / unit)) && SECONDS.contains(&(largest / unit));
    if values.is_empty() || values.iter().any(|value| value.fract() != 0.0) || largest > 3.0 * smallest {
        return false;
    }
    let rises = values.is_sorted() && smallest < largest;
    let distinct = values.iter().map(|value| value.to_bits()).collect::<FxHashSet<u64>>().len();
    [1.0, 1e3, 1e6, 1e9].into_iter().any(fits) && (rises || 2 * distinct >= values.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_weights() {
        let times = |values: &[f64]| are_times(values.iter().copied().map(Some));
        for unit in [1.0, 1e3, 1e6, 1e9] {
            assert!(times(&[978_300_760.0, 978_302_109.0, 978_301_968.0].map(|t| t * unit)), "{unit}");
        }
        assert!(times(&[1e9, 1e9, 1e9, 1e9, 1e9 + 1.0]), "rising");
        assert!(!times(&[1e9; 9]), "all the same");
        assert!(!times(&[]));
        assert!(!times(&[5.0, 3.0, 1.0]));
        assert!(!times(&[1e9, 1e8]), "sums of money");
        assert!(!times(&[1e9 + 0.5, 1e9 + 1.0]));
        assert!(!times(&[1e30, 2e30]));
        assert!(!are_times([Some(1e9), None].into_iter()));
    }
}
