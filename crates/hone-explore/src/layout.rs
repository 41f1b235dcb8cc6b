//! [`Layout`]: two coordinates per node, so that similar nodes lie together.
//!
//! Each node is linked to its nearest neighbours. The distance to a neighbour is measured from that of the nearest one, in a
//! unit σ of each node, chosen such that the weights exp(−(d − d₁)/σ) of its neighbours sum to log₂ k. Both directions are
//! joined as probabilities, a + b − ab.
//!
//! Starting from the two leading principal components, links attract their ends and random pairs repel each other:
//! stochastic descent on the cross-entropy of the links. A link of weight w takes part in a share w of the steps, spread
//! evenly with its own phase. In a step each node is attracted by its links and repelled by [`PUSHES`] random nodes per
//! link, one after the other. The forces are the gradients of the low-dimensional similarity 1 / (1 + a d²), clipped; the
//! rate falls to zero. UMAP uses d^1.79, which takes most of the time and makes no visible difference.
//!
//! A step reads the positions of the previous step, and every random number is keyed by seed, step and node: the same bits
//! for any number of threads. Cost: the search for neighbours, O(N D²) for the start, then O(steps · N k). Reference:
//! McInnes, Healy and Melville, *UMAP*, 2018.

use std::borrow::Borrow;

use hone::dense::{Block, Norm, Small};
use hone::graph::NodeIds;
use hone::parallel;
use hone::random::splitmix64;
use hone::store::Embedding;
use hone::{Error, Progress, Result};
use serde::{Deserialize, Serialize};

use crate::search::{Method, Neighbour, Neighbours, Search};
use crate::space::{By, Space};

/// How a layout is computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LayoutMethod {
    /// Neighbours together, by descent.
    #[default]
    Neighbours,
    /// The two leading principal components: fast, but nodes overlap.
    Pca,
}

names!(LayoutMethod, "layout": "neighbours", "pca");

/// Up to this many rows the neighbours of [`Method::Auto`] are exact. A picture needs no more: with 92 of 100 true
/// neighbours its trustworthiness is the same within .003, while an exact search would take most of the time.
const EXACT_LIMIT: usize = 20_000;

/// Settings of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Layout {
    /// The method.
    pub layout: LayoutMethod,
    /// Neighbours that each node is linked to.
    pub neighbours: usize,
    /// Steps of the descent; by default depending on the size of the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// How the neighbours are found; by default exactly up to 20 000 rows.
    pub search: Method,
    /// Seed.
    pub seed: u64,
}

impl Default for Layout {
    fn default() -> Self {
        let layout = LayoutMethod::Neighbours;
        Layout {
            layout,
            neighbours: 15,
            steps: None,
            search: Method::Auto,
            seed: 0,
        }
    }
}

/// Coordinates, and intermediate results.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Two columns, one row per node.
    pub positions: Block,
    /// The neighbours that were linked; none for principal components.
    pub neighbours: Option<Neighbours>,
}

impl Placed {
    /// The recall of an approximate search.
    pub fn recall(&self) -> Option<f64> {
        self.neighbours.as_ref()?.recall
    }

    /// The coordinates as a table with the columns `x` and `y`.
    pub fn embedding(&self, ids: NodeIds) -> Embedding {
        Embedding::with_columns(ids, self.positions.clone(), vec!["x".into(), "y".into()])
    }
}

impl Layout {
    /// Refuses values out of range.
    pub fn check(&self) -> Result<()> {
        if !(2..=200).contains(&self.neighbours) {
            let message = format!("{} is not between 2 and 200", self.neighbours);
            return Err(Error::config("neighbours", message));
        }
        match self.steps {
            Some(steps) if !(1..=10_000).contains(&steps) => Err(Error::config(
                "steps",
                format!("{steps} is not between 1 and 10000"),
            )),
            _ => Ok(()),
        }
    }

    /// The layouts of a map, with neighbours.
    pub fn of_map(
        &self,
        spaces: &[impl Borrow<Space>],
        progress: &dyn Progress,
    ) -> Result<Vec<(By, Placed)>> {
        let place = |space: &Space| {
            let mut placed = self.place(space, progress)?;
            if placed.neighbours.is_none() {
                placed.neighbours = Some(Search::default().all(space, progress)?);
            }
            Ok((space.by(), placed))
        };
        let spaces = spaces.iter().map(Borrow::borrow);
        spaces.map(place).collect()
    }

    /// Places the rows of a space.
    pub fn place(&self, space: &Space, progress: &dyn Progress) -> Result<Placed> {
        self.check()?;
        if self.layout == LayoutMethod::Pca {
            progress.stage("principal components", 0);
            return Ok(Placed {
                positions: components(space)?,
                neighbours: None,
            });
        }
        let search = match self.search {
            Method::Auto if space.len() > EXACT_LIMIT => Method::Approximate,
            method => method,
        };
        let search = Search {
            top: self.neighbours,
            search,
            seed: self.seed,
        };
        let neighbours = search.all(space, progress)?;
        progress.stage("linking neighbours", 0);
        let (links, start) = (links(space.len(), &neighbours), components(space)?);
        let usual = if space.len() > 50_000 { 200 } else { 400 };
        let steps = self.steps.unwrap_or(usual);
        Ok(Placed {
            positions: move_nodes(&links, start, steps, self.seed, progress)?,
            neighbours: Some(neighbours),
        })
    }
}

/// Links in compressed rows; every link is there from both ends.
struct Links {
    offsets: Vec<usize>,
    ends: Vec<u32>,
    /// At most 1, and 1 for some.
    weights: Vec<f32>,
}

/// Halvings of the interval that σ is sought in.
const HALVINGS: usize = 64;

/// The links of `n` rows.
fn links(n: usize, neighbours: &Neighbours) -> Links {
    let k = neighbours.k();
    let mut directed = vec![0f32; n * k];
    if k > 0 {
        parallel::for_rows(&mut directed, k, |i, to| {
            let gap = |near: &Neighbour| (2.0 * (1.0 - f64::from(near.similarity)).max(0.0)).sqrt();
            let distances: Vec<f64> = neighbours.row(i).iter().map(gap).collect();
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
    for near in (0..neighbours.len()).flat_map(|i| neighbours.row(i)) {
        counts[near.row as usize + 1] += 1;
    }
    (0..n).for_each(|i| counts[i + 1] += counts[i]);
    let mut back = vec![(0u32, 0f32); counts[n]];
    let mut next = counts.clone();
    for i in 0..neighbours.len() {
        for (near, &weight) in neighbours.row(i).iter().zip(&directed[i * k..]) {
            let next = &mut next[near.row as usize];
            back[*next] = (i as u32, weight);
            *next += 1;
        }
    }
    let row = |i: usize| {
        let own = neighbours.row(i).iter().zip(&directed[i * k..]);
        let mut both: Vec<(u32, f32, f32)> = own.map(|(near, &w)| (near.row, w, 0.0)).collect();
        let back = back[counts[i]..counts[i + 1]].iter();
        both.extend(back.map(|&(j, w)| (j, 0.0, w)));
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

/// Half the width of the picture that a descent begins with.
const EXTENT: f64 = 10.0;

/// The two leading principal components of the prepared rows. The signs are fixed: positive with the sum of all columns.
fn components(space: &Space) -> Result<Block> {
    let (x, n) = (space.vectors(), space.len());
    let width = x.cols();
    if n == 0 || width == 0 {
        return Ok(Block::zeros(n, 2));
    }
    let ones = Block::from_vec(n, 1, vec![1.0; n]);
    let sums = x.cross(&ones);
    let mean = |j: usize| sums.get(j, 0) / n as f64;
    let gram = x.gram();
    let covariance = Small::from_fn(width, width, |i, j| {
        gram.get(i, j) - n as f64 * mean(i) * mean(j)
    });
    let eigen = covariance.eigen()?;
    let direction = |i: usize, j: usize| {
        if j < width {
            eigen.vectors.get(i, j)
        } else {
            0.0
        }
    };
    let sign = |j: usize| {
        if (0..width).map(|i| direction(i, j)).sum::<f64>() < 0.0 {
            -1.0
        } else {
            1.0
        }
    };
    let signs = [sign(0), sign(1)];
    let mut placed = x.times(&Small::from_fn(width, 2, |i, j| signs[j] * direction(i, j)));
    let centre: [f64; 2] = std::array::from_fn(|j| {
        signs[j] * (0..width).map(|i| mean(i) * direction(i, j)).sum::<f64>()
    });
    placed.update_rows(|_, row| (0..2).for_each(|j| row[j] -= centre[j] as f32));
    let widest = placed
        .column_norms(Norm::Max)
        .into_iter()
        .fold(0.0, f64::max);
    let scale = if widest > 0.0 { EXTENT / widest } else { 0.0 };
    placed.update_rows(|_, row| {
        row.iter_mut()
            .for_each(|x| *x = (f64::from(*x) * scale) as f32);
    });
    Ok(placed)
}

/// How fast the low-dimensional similarity falls, for a smallest distance of about 0.1.
const A: f32 = 1.577;
/// Random nodes that repel a node, per link.
const PUSHES: u32 = 2;
/// The longest part of a move in one direction.
const CLIP: f32 = 4.0;
/// Nodes per task.
const CHUNK: usize = 256;

/// Moves `positions` for a number of steps.
fn move_nodes(
    links: &Links,
    mut positions: Block,
    steps: usize,
    seed: u64,
    progress: &dyn Progress,
) -> Result<Block> {
    let n = positions.rows();
    progress.stage("placing nodes", steps as u64);
    if links.ends.is_empty() {
        return Ok(positions);
    }
    jitter(&mut positions, seed);
    let mut next = positions.clone();
    for step in 0..steps {
        progress.check()?;
        let rate = 1.0 - step as f32 / steps as f32;
        let now = positions.as_slice();
        parallel::for_chunks(next.as_mut_slice(), 2 * CHUNK, &|chunk, to| {
            for (at, to) in to.chunks_exact_mut(2).enumerate() {
                let node = chunk * CHUNK + at;
                to.copy_from_slice(&moved(links, now, n, node, step, rate, seed));
            }
        });
        std::mem::swap(&mut positions, &mut next);
        progress.advance(1);
    }
    Ok(positions)
}

/// Where a node goes in a step.
fn moved(
    links: &Links,
    now: &[f32],
    n: usize,
    node: usize,
    step: usize,
    rate: f32,
    seed: u64,
) -> [f32; 2] {
    let mut at = [now[2 * node], now[2 * node + 1]];
    let mut random = splitmix64(seed ^ splitmix64(((step as u64) << 32) ^ node as u64));
    for link in links.offsets[node]..links.offsets[node + 1] {
        let end = links.ends[link] as usize;
        if !takes_part(links.weights[link], phase(node, end), step) {
            continue;
        }
        pull(&mut at, [now[2 * end], now[2 * end + 1]], rate);
        for _ in 0..PUSHES {
            random = splitmix64(random);
            let other = (((random >> 32) * n as u64) >> 32) as usize;
            if other != node {
                push(&mut at, [now[2 * other], now[2 * other + 1]], rate);
            }
        }
    }
    at
}

/// Whether a link of this weight takes part in a step.
fn takes_part(weight: f32, phase: f32, step: usize) -> bool {
    let until = |step: usize| {
        f64::from(weight)
            .mul_add(step as f64, f64::from(phase))
            .floor()
    };
    until(step + 1) > until(step)
}

/// Where in [0, 1) the steps of a link begin; the same from both ends.
fn phase(a: usize, b: usize) -> f32 {
    (splitmix64((a.min(b) as u64) << 32 | a.max(b) as u64) >> 40) as f32 / (1 << 24) as f32
}

fn pull(at: &mut [f32; 2], to: [f32; 2], rate: f32) {
    let gap = [at[0] - to[0], at[1] - to[1]];
    let squared = gap[0] * gap[0] + gap[1] * gap[1];
    if squared > 0.0 {
        let force = -2.0 * A / (1.0 + A * squared);
        (0..2).for_each(|d| at[d] += rate * (force * gap[d]).clamp(-CLIP, CLIP));
    }
}

fn push(at: &mut [f32; 2], from: [f32; 2], rate: f32) {
    let gap = [at[0] - from[0], at[1] - from[1]];
    let squared = gap[0] * gap[0] + gap[1] * gap[1];
    if squared > 0.0 {
        let force = 2.0 / ((0.001 + squared) * (1.0 + A * squared));
        (0..2).for_each(|d| at[d] += rate * (force * gap[d]).clamp(-CLIP, CLIP));
    }
}

/// Moves equal positions apart a little.
fn jitter(positions: &mut Block, seed: u64) {
    positions.update_rows(|i, row| {
        let bits = splitmix64(seed ^ splitmix64(0x6a69_7474_6572 ^ i as u64));
        let part = |bits: u64| (bits as u32 as f32 / u32::MAX as f32 - 0.5) * 0.01;
        row[0] += part(bits >> 32);
        row[1] += part(bits);
    });
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
        let near = |(row, similarity)| Neighbour { row, similarity };
        let found = [
            (1, 0.9),
            (2, 0.8),
            (0, 0.9),
            (2, 0.3),
            (3, 0.7),
            (1, 0.6),
            (0, 0.2),
            (2, 0.1),
        ];
        let neighbours = Neighbours::new(2, found.map(near).to_vec());
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
