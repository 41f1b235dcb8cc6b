//! Automatic K: as many steps as bring new directions.
//!
//! Steps 1..=4 are computed, and the largest K is kept for which every step from 2 to K brings at
//! least 5 % that is new: the part of the energy of the step's columns that lies outside the span
//! of the columns of all steps before, tr(C − Bᵀ A⁺ B) / tr(C) with A = Y_<ᵀ Y_<, B = Y_<ᵀ Y_k and
//! C = Y_kᵀ Y_k. All of it is read off the Gram matrix of Y. (For Psi = W every step has the same
//! singular vectors, so K = 1 follows.)

use crate::dense::Small;
use crate::error::Result;
use crate::report::AutomaticSteps;

/// Steps that are tried.
pub(super) const TRIED: usize = 4;
/// New directions that a step must bring to be kept.
const NOVELTY: f64 = 0.05;
/// Eigenvalues of A below this part of the largest count as zero.
const ZERO: f64 = 1e-9;

/// Chooses K from the Gram matrix of Y, whose columns are sorted by step: `widths[k - 1]` of them
/// belong to step k.
pub(super) fn choose(gram: &Small, widths: &[usize]) -> Result<AutomaticSteps> {
    let mut novelty = vec![1.0];
    let mut before = widths[0];
    for &width in &widths[1..] {
        novelty.push(outside(gram, before, width)?);
        before += width;
    }
    let steps = 1 + novelty[1..].iter().take_while(|&&part| part >= NOVELTY).count();
    Ok(AutomaticSteps { steps, novelty })
}

/// The part of the energy of columns `before..before + width` outside the span of those before.
fn outside(gram: &Small, before: usize, width: usize) -> Result<f64> {
    let span = Small::from_fn(before, before, |i, j| gram.get(i, j)).eigen()?;
    let floor = span.values.first().map_or(0.0, |most| most * ZERO);
    let energy: f64 = (before..before + width).map(|j| gram.get(j, j)).sum();
    if energy <= 0.0 {
        return Ok(0.0);
    }
    let cross = Small::from_fn(before, width, |i, j| gram.get(i, before + j));
    let inside: f64 = (0..before)
        .filter(|&e| span.values[e] > floor)
        .map(|e| {
            let along = |j: usize| (0..before).map(|i| span.vectors.get(i, e) * cross.get(i, j)).sum::<f64>();
            (0..width).map(|j| along(j).powi(2)).sum::<f64>() / span.values[e]
        })
        .sum();
    Ok((1.0 - inside / energy).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::Block;

    fn choose_of(rows: usize, columns: &[&[f32]], widths: &[usize]) -> AutomaticSteps {
        let values = (0..rows).flat_map(|i| columns.iter().map(move |column| column[i])).collect();
        let y = Block::from_vec(rows, columns.len(), values);
        choose(&y.gram(), widths).expect("a Gram matrix has eigenvalues")
    }

    #[test]
    fn repeated_directions_end_the_steps() {
        let (a, b, c) = ([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.6, 0.8, 0.0, 0.0]);
        let chosen = choose_of(4, &[&a, &b, &c], &[1, 1, 1]);
        assert_eq!(chosen.steps, 2, "{chosen:?}");
        assert!((chosen.novelty[1] - 1.0).abs() < 1e-12 && chosen.novelty[2] < 1e-6, "{chosen:?}");
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
