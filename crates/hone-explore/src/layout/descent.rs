//! Links attract, random pairs repel: stochastic descent on the cross-entropy of the links.
//!
//! A link of weight w takes part in a share w of the steps, spread evenly with its own phase. In a step each node is
//! attracted by its links and repelled by [`PUSHES`] random nodes per link, one after the other; positions of other
//! nodes are those of the previous step, so all nodes can be moved in parallel. The forces are the gradients of the
//! low-dimensional similarity 1 / (1 + a d²), clipped; the rate falls to zero. UMAP uses d^1.79, which takes most of
//! the time and makes no visible difference.

use hone::dense::Block;
use hone::parallel;
use hone::random::splitmix64;
use hone::{Progress, Result};

use super::weights::Links;

/// How fast the low-dimensional similarity falls, for a smallest distance of about 0.1.
const A: f32 = 1.577;
/// Random nodes that repel a node, per link.
const PUSHES: u32 = 2;
/// The longest part of a move in one direction.
const CLIP: f32 = 4.0;
/// Nodes per task.
const CHUNK: usize = 256;

/// Moves `positions` for a number of steps.
pub(super) fn descend(
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
