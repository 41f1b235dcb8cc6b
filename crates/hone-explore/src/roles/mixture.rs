//! A mixture of Gaussians with diagonal covariances that are never narrower than [`RESOLUTION`].
//!
//! Roles are groups of signatures. Differences below the resolution are not worth a role, and a group of equal nodes, which
//! many graphs have, would otherwise be infinitely likely. Rows have weights, since equal signatures are kept once. All sums
//! go over chunks of fixed size in order: with rows in sorted order the result depends on neither threads nor node order.
//! Cost: O(rows · components · width) per iteration. Reference: Dempster, Laird and Rubin, 1977.

use std::ops::Range;

use hone::parallel;

use super::signature::{Signature, WIDTH};

/// Standard deviations are at least this, in units of a signature.
pub(crate) const RESOLUTION: f64 = 0.35;
/// Rows per task.
const CHUNK: usize = 1 << 12;
/// Components with less than this many nodes are dropped.
const LEAST: f64 = 1e-3;
/// Centres that move less than this have converged.
const STILL: f64 = 1e-5;

/// A signature and how many nodes have it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Row {
    pub(crate) at: Signature,
    pub(crate) weight: f64,
}

/// A group of the mixture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Component {
    /// Its part of all nodes.
    pub(crate) share: f64,
    pub(crate) centre: Signature,
    pub(crate) variance: Signature,
    /// How many ratios count.
    pub(crate) width: usize,
}

/// Sums over the rows that a new component follows from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moments {
    weight: f64,
    first: Signature,
    second: Signature,
    width: usize,
}

impl Moments {
    /// Sums over no rows, of which this many ratios will count.
    pub(crate) fn new(width: usize) -> Self {
        Moments {
            weight: 0.0,
            first: [0.0; WIDTH],
            second: [0.0; WIDTH],
            width,
        }
    }

    /// Nodes that were added.
    pub(crate) fn weight(&self) -> f64 {
        self.weight
    }

    pub(crate) fn add(&mut self, at: &Signature, weight: f64) {
        self.weight += weight;
        for d in 0..WIDTH {
            self.first[d] += weight * at[d];
            self.second[d] += weight * at[d] * at[d];
        }
    }

    fn join(&mut self, other: &Moments) {
        self.weight += other.weight;
        for d in 0..WIDTH {
            self.first[d] += other.first[d];
            self.second[d] += other.second[d];
        }
    }

    /// The component of the rows summed up, of `total` weight in all.
    pub(crate) fn component(&self, total: f64) -> Component {
        let weight = self.weight.max(f64::MIN_POSITIVE);
        let centre = self.first.map(|sum| sum / weight);
        let spread = |d: usize| (self.second[d] / weight - centre[d] * centre[d]).max(0.0);
        let variance = std::array::from_fn(|d| spread(d) + RESOLUTION * RESOLUTION);
        Component {
            share: self.weight / total,
            centre,
            variance,
            width: self.width,
        }
    }
}

impl Component {
    /// The logarithm of its density at a place, its share included.
    pub(crate) fn log_density(&self, at: &Signature) -> f64 {
        let mut sum = self.share.ln();
        for d in 0..self.width {
            let (gap, variance) = (at[d] - self.centre[d], self.variance[d]);
            sum -= 0.5 * (gap * gap / variance + (std::f64::consts::TAU * variance).ln());
        }
        sum
    }
}

/// Components together, and how well they fit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mixture {
    pub(crate) components: Vec<Component>,
    /// Logarithm of the likelihood of all rows.
    pub(crate) likelihood: f64,
    /// Entropy of the memberships, summed over the rows.
    pub(crate) entropy: f64,
}

impl Mixture {
    /// Improves components until their centres converge, for at most `most` iterations.
    pub(crate) fn fitted(rows: &[Row], mut components: Vec<Component>, most: usize) -> Mixture {
        let total: f64 = rows.iter().map(|row| row.weight).sum();
        for _ in 0..most {
            let moments = expect(rows, &components).moments;
            let kept: Vec<usize> = (0..components.len())
                .filter(|&k| moments[k].weight >= LEAST)
                .collect();
            let next: Vec<Component> = kept.iter().map(|&k| moments[k].component(total)).collect();
            let still = kept.len() == components.len()
                && next
                    .iter()
                    .zip(&components)
                    .all(|(a, b)| (0..WIDTH).all(|d| (a.centre[d] - b.centre[d]).abs() < STILL));
            components = next;
            if still {
                break;
            }
        }
        let Expected {
            likelihood,
            entropy,
            ..
        } = expect(rows, &components);
        Mixture {
            components,
            likelihood,
            entropy,
        }
    }

    /// The integrated completed likelihood as a cost: the Bayesian information criterion, and twice the entropy of the
    /// memberships, so that overlapping groups are penalised. Biernacki, Celeux and Govaert, 2000.
    pub(crate) fn cost(&self, nodes: f64) -> f64 {
        let parameters = self
            .components
            .iter()
            .map(|component| 2 * component.width + 1)
            .sum::<usize>()
            - 1;
        2.0 * (self.entropy - self.likelihood) + parameters as f64 * nodes.ln()
    }

    /// The same without components that no row belongs to most.
    pub(crate) fn without_empty(mut self, rows: &[Row]) -> Mixture {
        let best = |i: usize| {
            let (logs, top, _) = responsibilities(&self.components, &rows[i].at);
            logs.iter().position(|&log| log == top).unwrap_or(0)
        };
        let used: Vec<usize> = parallel::collect(rows.len(), best);
        let mut at = 0;
        self.components.retain(|_| {
            at += 1;
            used.contains(&(at - 1))
        });
        self
    }

    /// The memberships of a place: they sum to one.
    pub(crate) fn memberships(&self, at: &Signature, to: &mut [f32]) {
        let (logs, top, sum) = responsibilities(&self.components, at);
        to.iter_mut()
            .zip(logs)
            .for_each(|(to, log)| *to = ((log - top).exp() / sum) as f32);
    }
}

/// What one pass over the rows gives.
struct Expected {
    moments: Vec<Moments>,
    likelihood: f64,
    entropy: f64,
}

fn responsibilities(components: &[Component], at: &Signature) -> (Vec<f64>, f64, f64) {
    let logs: Vec<f64> = components
        .iter()
        .map(|component| component.log_density(at))
        .collect();
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum = logs.iter().map(|log| (log - top).exp()).sum();
    (logs, top, sum)
}

fn expect(rows: &[Row], components: &[Component]) -> Expected {
    let moments = || {
        components
            .iter()
            .map(|component| Moments::new(component.width))
            .collect()
    };
    let empty = || Expected {
        moments: moments(),
        likelihood: 0.0,
        entropy: 0.0,
    };
    let chunk = |range: Range<usize>| {
        let mut sums = empty();
        for row in &rows[range] {
            let (logs, top, sum) = responsibilities(components, &row.at);
            sums.likelihood += row.weight * (top + sum.ln());
            for (moments, log) in sums.moments.iter_mut().zip(logs) {
                let part = (log - top).exp() / sum;
                if part > 0.0 {
                    moments.add(&row.at, row.weight * part);
                    sums.entropy -= row.weight * part * part.ln();
                }
            }
        }
        sums
    };
    let parts: Vec<Expected> = parallel::stretches(rows.len(), CHUNK, chunk);
    parts.into_iter().fold(empty(), |mut all, part| {
        all.moments
            .iter_mut()
            .zip(&part.moments)
            .for_each(|(all, part)| all.join(part));
        all.likelihood += part.likelihood;
        all.entropy += part.entropy;
        all
    })
}
