//! Links between neighbours: how strongly each belongs to the other's neighbourhood.
//!
//! The distance to a neighbour is measured from that of the nearest one, in a unit σ of each node, chosen such
//! that the weights exp(−(d − d₁)/σ) of its neighbours sum to log₂ k. Both directions are joined as
//! probabilities, a + b − ab. Cost: O(N k).

use hone::parallel;

use crate::neighbours::Neighbours;

/// Links in compressed rows; every link is there from both ends.
pub(super) struct Links {
    pub(super) offsets: Vec<usize>,
    pub(super) ends: Vec<u32>,
    /// At most 1, and 1 for some.
    pub(super) weights: Vec<f32>,
}

/// Halvings of the interval that σ is sought in.
const HALVINGS: usize = 64;

/// The links of `n` rows.
pub(super) fn links(n: usize, neighbours: &Neighbours) -> Links {
    let k = neighbours.k();
    let mut directed = vec![0f32; n * k];
    if k > 0 {
        parallel::for_rows(&mut directed, k, |i, to| {
            let gap = |&similarity: &f32| (2.0 * (1.0 - f64::from(similarity)).max(0.0)).sqrt();
            let distances: Vec<f64> = neighbours.similarities(i).iter().map(gap).collect();
            memberships(&distances, to);
        });
    }
    joined(n, neighbours, &directed)
}

/// The weights of a node's neighbours at these distances, ascending.
fn memberships(distances: &[f64], to: &mut [f32]) {
    let nearest = distances.iter().copied().find(|&d| d > 0.0).unwrap_or(0.0);
    let weight = |d: f64, sigma: f64| (-(d - nearest).max(0.0) / sigma).exp();
    let wanted = (distances.len() as f64).log2();
    let (mut low, mut high, mut sigma) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..HALVINGS {
        let sum: f64 = distances.iter().map(|&d| weight(d, sigma)).sum();
        if (sum - wanted).abs() < 1e-5 {
            break;
        }
        if sum > wanted {
            high = sigma;
            sigma = (low + high) / 2.0;
        } else {
            low = sigma;
            sigma = if high == f64::INFINITY {
                2.0 * sigma
            } else {
                (low + high) / 2.0
            };
        }
    }
    let mean = distances.iter().sum::<f64>() / distances.len() as f64;
    let sigma = sigma.max(1e-3 * mean).max(f64::MIN_POSITIVE);
    to.iter_mut()
        .zip(distances)
        .for_each(|(to, &d)| *to = weight(d, sigma) as f32);
}

/// Both directions together.
fn joined(n: usize, neighbours: &Neighbours, directed: &[f32]) -> Links {
    let k = neighbours.k();
    // Who lists a row, in the order of rows.
    let mut counts = vec![0usize; n + 1];
    (0..neighbours.len())
        .flat_map(|i| neighbours.row(i))
        .for_each(|&j| counts[j as usize + 1] += 1);
    (0..n).for_each(|i| counts[i + 1] += counts[i]);
    let mut back = vec![(0u32, 0f32); counts[n]];
    let mut next = counts.clone();
    for i in 0..neighbours.len() {
        for (&j, &weight) in neighbours.row(i).iter().zip(&directed[i * k..]) {
            back[next[j as usize]] = (i as u32, weight);
            next[j as usize] += 1;
        }
    }
    let row = |i: usize| {
        let own = if k == 0 { &[][..] } else { neighbours.row(i) };
        let mut both: Vec<(u32, f32, f32)> = own
            .iter()
            .zip(&directed[i * k..])
            .map(|(&j, &w)| (j, w, 0.0))
            .collect();
        both.extend(
            back[counts[i]..counts[i + 1]]
                .iter()
                .map(|&(j, w)| (j, 0.0, w)),
        );
        both.sort_unstable_by_key(|&(j, ..)| j);
        let mut merged: Vec<(u32, f32, f32)> = Vec::with_capacity(both.len());
        for (j, a, b) in both {
            match merged.last_mut() {
                Some(last) if last.0 == j => *last = (j, last.1 + a, last.2 + b),
                _ => merged.push((j, a, b)),
            }
        }
        merged
            .into_iter()
            .map(|(j, a, b)| (j, a + b - a * b))
            .collect::<Vec<_>>()
    };
    let rows: Vec<Vec<(u32, f32)>> = parallel::collect(n, row);
    let (mut offsets, mut ends, mut weights) = (vec![0], Vec::new(), Vec::new());
    for row in rows {
        ends.extend(row.iter().map(|link| link.0));
        weights.extend(row.iter().map(|link| link.1));
        offsets.push(ends.len());
    }
    let most = weights.iter().copied().fold(0f32, f32::max);
    weights
        .iter_mut()
        .for_each(|weight| *weight /= if most > 0.0 { most } else { 1.0 });
    Links {
        offsets,
        ends,
        weights,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_the_logarithm_and_fall_with_the_distance() {
        let distances: Vec<f64> = (0..15).map(|i| 0.3 + 0.05 * f64::from(i * i)).collect();
        let mut weights = vec![0f32; 15];
        memberships(&distances, &mut weights);
        assert!(
            (weights.iter().sum::<f32>() - 15f32.log2()).abs() < 1e-3,
            "{weights:?}"
        );
        assert!(weights[0] == 1.0 && weights.windows(2).all(|w| w[0] >= w[1]));
        memberships(&[0.0; 15], &mut weights);
        assert!(weights.iter().all(|weight| weight.is_finite()));
    }

    #[test]
    fn links_are_there_from_both_ends() {
        let neighbours = Neighbours::new(
            2,
            vec![1, 2, 0, 2, 3, 1, 0, 2],
            vec![0.9, 0.8, 0.9, 0.3, 0.7, 0.6, 0.2, 0.1],
        );
        let links = links(4, &neighbours);
        let weight = |i: usize, j: u32| {
            let at = (links.offsets[i]..links.offsets[i + 1]).find(|&at| links.ends[at] == j);
            at.map(|at| links.weights[at])
        };
        for i in 0..4usize {
            for j in 0..4u32 {
                assert_eq!(weight(i, j), weight(j as usize, i as u32), "{i} {j}");
            }
        }
        assert!(weight(0, 3).is_some() && links.weights.contains(&1.0));
    }
}
