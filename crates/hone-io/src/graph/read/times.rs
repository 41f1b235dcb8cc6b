//! Recognises columns of times, years and dates, which are numbers but not weights.

use rustc_hash::FxHashSet;

/// Seconds from 1973 to 2128.
const SECONDS: std::ops::Range<f64> = 1e8..5e9;
/// Years that tables have.
const YEARS: std::ops::RangeInclusive<f64> = 1900.0..=2100.0;

/// Whether numbers are most probably times of some kind: Unix times, years, or dates such as 20240131.
pub(super) fn are_dates(values: impl Iterator<Item = Option<f64>>) -> bool {
    let Some(values) = values.collect::<Option<Vec<f64>>>() else {
        return false;
    };
    are_unix(&values)
        || (distinct(&values) > 1 && (values.iter().all(is_year) || values.iter().all(is_day)))
}

/// Whether numbers are most probably Unix times: whole seconds, or thousandths, millionths or billionths of them, all of
/// one age, and either rising or for the most part different.
pub(super) fn are_times(values: impl Iterator<Item = Option<f64>>) -> bool {
    values
        .collect::<Option<Vec<f64>>>()
        .is_some_and(|values| are_unix(&values))
}

fn are_unix(values: &[f64]) -> bool {
    let smallest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = values.iter().copied().fold(0.0, f64::max);
    let fits =
        |unit: f64| SECONDS.contains(&(smallest / unit)) && SECONDS.contains(&(largest / unit));
    if values.is_empty()
        || values.iter().any(|value| value.fract() != 0.0)
        || largest > 3.0 * smallest
    {
        return false;
    }
    let rises = values.is_sorted() && smallest < largest;
    [1.0, 1e3, 1e6, 1e9].into_iter().any(fits) && (rises || 2 * distinct(values) >= values.len())
}

fn distinct(values: &[f64]) -> usize {
    values
        .iter()
        .map(|value| value.to_bits())
        .collect::<FxHashSet<u64>>()
        .len()
}

fn is_year(value: &f64) -> bool {
    value.fract() == 0.0 && YEARS.contains(value)
}

/// Whether a number is a day as tables write it: year, month and day in eight digits.
fn is_day(value: &f64) -> bool {
    let (year, month, day) = (
        (value / 1e4).floor(),
        (value / 100.0).floor() % 100.0,
        value % 100.0,
    );
    value.fract() == 0.0
        && is_year(&year)
        && (1.0..=12.0).contains(&month)
        && (1.0..=31.0).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_weights() {
        let times = |values: &[f64]| are_times(values.iter().copied().map(Some));
        for unit in [1.0, 1e3, 1e6, 1e9] {
            assert!(
                times(&[978_300_760.0, 978_302_109.0, 978_301_968.0].map(|t| t * unit)),
                "{unit}"
            );
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

    #[test]
    fn years_and_days() {
        let dates = |values: &[f64]| are_dates(values.iter().copied().map(Some));
        assert!(dates(&[1999.0, 2003.0, 1999.0]) && dates(&[20_240_131.0, 19_991_231.0]));
        assert!(dates(&[978_300_760.0, 978_302_109.0]), "Unix times too");
        for weights in [
            &[1999.0][..],
            &[2000.0, 2000.0],
            &[1999.5, 2001.0],
            &[1.0, 2000.0],
            &[20_241_331.0, 20_240_101.0],
        ] {
            assert!(!dates(weights), "{weights:?}");
        }
    }
}
