//! Automatic K: as many steps as add new directions.
//!
//! Steps 1..=4 are computed, and the largest K is chosen for which every step from 2 to K adds at
//! least 5 % new directions: the share of the energy of the step's columns outside the span of the
//! columns of all earlier steps, tr(C − Bᵀ A⁺ B) / tr(C) with A = Y_<ᵀ Y_<, B = Y_<ᵀ Y_k and
//! C = Y_kᵀ Y_k. All of it follows from the Gram matrix of Y. (For Psi = W every step has the same
//! singular vectors, so K = 1 follows.)
//!
//! What lies outside a span is what a Cholesky elimination of its columns leaves on the diagonal. Columns are
//! eliminated in the order of the steps, within a step the one with most left first, until nothing but rounding is
//! left: with n columns of rank r that takes O(n r²), which is little if a small graph has many columns.

use std::ops::{Range, RangeInclusive};

use crate::config::{Auto, Config};
use crate::dense::Small;
use crate::parallel;
use crate::report::AutomaticSteps;

/// Steps that are tried.
pub(super) const TRIED: usize = 4;
/// Share of new directions that a step must add to be kept.
const NOVELTY: f64 = 0.05;
/// The rest of a column counts as zero below this fraction of the largest column.
const ZERO: f64 = 1e-9;
/// Columns per task.
const CHUNK: usize = 256;

/// The steps that are computed; of automatic ones all that are tried.
pub(super) fn computed(config: &Config) -> RangeInclusive<usize> {
    match config.steps {
        Auto::Auto => 1..=TRIED,
        Auto::Given(k) => config.first_step.of(k)..=k,
    }
}

/// Chooses K from the Gram matrix of Y, whose columns are sorted by step: `widths[k - 1]` of them
/// belong to step k.
pub(super) fn choose(gram: &Small, widths: &[usize]) -> AutomaticSteps {
    let mut left = Elimination::new(gram);
    let (mut novelty, mut end) = (Vec::new(), 0);
    for &width in widths {
        let own = end..end + width;
        let energy: f64 = own.clone().map(|j| gram.get(j, j)).sum();
        let outside: f64 = left.diagonal[own.clone()].iter().sum();
        novelty.push(if energy > 0.0 {
            (outside / energy).clamp(0.0, 1.0)
        } else {
            0.0
        });
        end = own.end;
        // Nothing is measured after the last step.
        while end < gram.cols() && left.eliminate(own.clone()) {}
    }
    novelty[0] = 1.0;
    let steps = 1 + novelty[1..]
        .iter()
        .take_while(|&&part| part >= NOVELTY)
        .count();
    AutomaticSteps { steps, novelty }
}

/// A Cholesky elimination in progress.
struct Elimination<'a> {
    gram: &'a Small,
    /// Squared lengths of what is left of the columns.
    diagonal: Vec<f64>,
    /// Rows of the factor.
    rows: Vec<Vec<f64>>,
    floor: f64,
}

impl<'a> Elimination<'a> {
    fn new(gram: &'a Small) -> Self {
        let diagonal: Vec<f64> = (0..gram.cols()).map(|j| gram.get(j, j)).collect();
        let floor = ZERO * diagonal.iter().copied().fold(0.0, f64::max);
        Elimination {
            gram,
            diagonal,
            rows: Vec::new(),
            floor,
        }
    }

    /// Eliminates from all columns the direction of the column of `own` with most left; false if none has any.
    fn eliminate(&mut self, own: Range<usize>) -> bool {
        let first = own.start;
        let more = |best: usize, j: usize| {
            if self.diagonal[j] > self.diagonal[best] {
                j
            } else {
                best
            }
        };
        let pivot = own.fold(first, more);
        if self
            .diagonal
            .get(pivot)
            .is_none_or(|&most| most <= self.floor)
        {
            return false;
        }
        let root = self.diagonal[pivot].sqrt();
        let mut row = self.gram.row(pivot).to_vec();
        // Columns of earlier steps are not looked at again.
        row[..first].fill(0.0);
        parallel::each(
            row[first..].chunks_mut(CHUNK).collect(),
            &|at, part: &mut [f64]| {
                let start = first + at * CHUNK;
                for earlier in &self.rows {
                    let factor = earlier[pivot];
                    part.iter_mut()
                        .zip(&earlier[start..])
                        .for_each(|(to, x)| *to -= factor * x);
                }
                part.iter_mut().for_each(|value| *value /= root);
            },
        );
        self.diagonal
            .iter_mut()
            .zip(&row)
            .for_each(|(left, x)| *left = (*left - x * x).max(0.0));
        self.diagonal[pivot] = 0.0;
        self.rows.push(row);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::Block;
    use crate::random::Key;

    fn choose_of(rows: usize, columns: &[&[f32]], widths: &[usize]) -> AutomaticSteps {
        let values = (0..rows)
            .flat_map(|i| columns.iter().map(move |column| column[i]))
            .collect();
        let y = Block::from_vec(rows, columns.len(), values);
        choose(&y.gram(), widths)
    }

    /// The part of the energy of columns `before..before + width` outside the span of those before, by eigenvectors.
    fn outside(gram: &Small, before: usize, width: usize) -> f64 {
        let span = Small::from_fn(before, before, |i, j| gram.get(i, j))
            .eigen()
            .expect("finite");
        let floor = span.values[0] * ZERO;
        let energy: f64 = (before..before + width).map(|j| gram.get(j, j)).sum();
        let along = |e: usize, j: usize| {
            (0..before)
                .map(|i| span.vectors.get(i, e) * gram.get(i, j))
                .sum::<f64>()
        };
        let inside = |e: usize| {
            (before..before + width)
                .map(|j| along(e, j).powi(2))
                .sum::<f64>()
                / span.values[e]
        };
        let inside: f64 = (0..before)
            .filter(|&e| span.values[e] > floor)
            .map(inside)
            .sum();
        (1.0 - inside / energy).clamp(0.0, 1.0)
    }

    #[test]
    fn what_elimination_leaves_is_what_lies_outside() {
        for (seed, rows) in [3, 5, 9, 20, 40, 400].into_iter().enumerate() {
            let widths = [7, 6, 8, 5];
            // A third of the columns repeat others, so that spans have less than full rank.
            let mut y = Block::random(rows, 26, Key::new(seed as u64));
            y.update_rows(|_, row| {
                (0..26)
                    .step_by(3)
                    .for_each(|j| row[j] = row[j / 2] - 2.0 * row[j / 3]);
            });
            let gram = y.gram();
            let found = choose(&gram, &widths);
            let mut before = 0;
            for (k, width) in widths.into_iter().enumerate() {
                let expected = if before == 0 {
                    1.0
                } else {
                    outside(&gram, before, width)
                };
                assert!(
                    (found.novelty[k] - expected).abs() < 1e-6,
                    "{rows} rows, step {k}: {found:?}, {expected}"
                );
                before += width;
            }
        }
    }

    #[test]
    fn repeated_directions_end_the_steps() {
        let (a, b, c) = (
            [1.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, 0.0, 0.0],
            [0.6, 0.8, 0.0, 0.0],
        );
        let chosen = choose_of(4, &[&a, &b, &c], &[1, 1, 1]);
        assert_eq!(chosen.steps, 2, "{chosen:?}");
        assert!(
            (chosen.novelty[1] - 1.0).abs() < 1e-12 && chosen.novelty[2] < 1e-6,
            "{chosen:?}"
        );
    }

    #[test]
    fn a_step_of_zeros_brings_nothing() {
        let chosen = choose_of(2, &[&[1.0, 2.0], &[0.0, 0.0]], &[1, 1]);
        assert_eq!((chosen.steps, chosen.novelty[1]), (1, 0.0));
    }

    #[test]
    fn partly_new_directions_are_measured() {
        let chosen = choose_of(2, &[&[1.0, 0.0], &[3.0, 4.0]], &[1, 1]);
        assert!((chosen.novelty[1] - 16.0 / 25.0).abs() < 1e-6, "{chosen:?}");
    }
}
