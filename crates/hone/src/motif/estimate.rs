//! Estimated primitives of every edge, from at most `cap` neighbours of each node (sec. 3.1).
//!
//! Each node v keeps a random sample N̂(v) of its neighbours, all of them when there are no more
//! than the cap; a member stands for d_v / |N̂(v)| neighbours, a pair of members for
//! d_v (d_v − 1) / (|N̂(v)| (|N̂(v)| − 1)) pairs. Samples of different nodes are independent. Nodes
//! are ranked by (degree, node) as in exact counting, and a node's sample is only looked at from its
//! neighbours, so that for an edge {u, v} with v ranked lower:
//!
//! - t, Q: members of N̂(v) adjacent to u;
//! - K: adjacent pairs of them; adjacency inside a sample is a bit row;
//! - R: t(u,w) + t(v,w) over them, where t(v,w) may come from the same N̂(v): then it is a pair;
//! - C: 4-cycles u–v–w–x with x ≠ v: members w of N̂(v) that samples of other neighbours of u hold
//!   too, with the cycle's highest node at u or w.
//!
//! Each is unbiased, and exact where no node involved has more neighbours than the cap: most of a
//! skewed graph. Cost: O(M cap) steps, and O(M cap²/64) for cliques; memory O(M (1 + cap/64)).

use rand_xoshiro::rand_core::Rng;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::column::cut;
use super::ranked::{balanced, by_degree, ranges, sweep};
use crate::error::Result;
use crate::progress::Progress;
use crate::random::Key;
use crate::sparse::Pattern;

/// Estimated primitives of every slot of a symmetric pattern (both directions of an edge alike):
/// the letters of the [module](super), each unbiased on its own.
#[derive(Debug, Clone)]
pub struct Estimates {
    /// Common neighbours of the two ends.
    pub t: Vec<f32>,
    /// Non-induced 4-cycles through the edge.
    pub c: Vec<f32>,
    /// 4-cliques on the edge.
    pub k: Vec<f32>,
    /// Sum of the degrees of the common neighbours.
    pub q: Vec<f32>,
    /// Sum of t(u,w) + t(v,w) over the common neighbours w.
    pub r: Vec<f32>,
}

/// Estimates all primitives.
pub(super) fn estimate(pattern: &Pattern, cap: usize, key: Key, progress: &dyn Progress) -> Result<Estimates> {
    progress.stage("sampling", 0);
    let ranks: Vec<u32> = by_degree(pattern).1.into_iter().map(|packed| (packed >> 32) as u32).collect();
    let samples = Samples::draw(pattern, &ranks, cap, key);
    let reverse = reverse(pattern);
    let bounds = balanced(pattern.rows(), 1 << 12, |i| pattern.range(i).len() as u64 + 4);
    let sweeps = Sweeps { pattern, ranks, samples, reverse, bounds, words: cap.div_ceil(64), progress };
    progress.stage("estimating motifs", 3 * pattern.rows() as u64);
    let (c, masks) = sweeps.cycles()?;
    let c = sweeps.joined(&c);
    let t = sweeps.joined(&sweeps.common(&masks));
    let mut r = sweeps.near_sums(&masks, &t)?;
    let (k, q) = sweeps.cliques(&masks, &t, &mut r)?;
    drop(masks);
    let (k, q, r) = (sweeps.joined(&k), sweeps.joined(&q), sweeps.joined(&r));
    Ok(Estimates { t, c, k, q, r })
}

/// Sampled neighbours of every node, by rank ascending.
struct Samples {
    offsets: Vec<usize>,
    /// Ranks of the members.
    members: Vec<u32>,
    /// Where in the node's row each member stands.
    places: Vec<u32>,
    /// Members ranked below the node itself.
    lower: Vec<u32>,
}

impl Samples {
    fn draw(pattern: &Pattern, ranks: &[u32], cap: usize, key: Key) -> Samples {
        let n = pattern.rows();
        let mut offsets = vec![0];
        (0..n).for_each(|i| offsets.push(offsets[i] + pattern.range(i).len().min(cap)));
        let (mut members, mut places, mut lower) = (vec![0; offsets[n]], vec![0; offsets[n]], vec![0; n]);
        let bounds: Vec<usize> = (0..n).step_by(1024).chain([n]).collect();
        let starts: Vec<usize> = bounds.iter().map(|&i| offsets[i]).collect();
        let parts = cut(&mut members, &starts).into_par_iter().zip(cut(&mut places, &starts));
        let parts = parts.zip(cut(&mut lower, &bounds)).enumerate();
        parts.for_each(|(part, ((members, places), lower))| {
            let mut order: Vec<u64> = Vec::new();
            for i in bounds[part]..bounds[part + 1] {
                let (row, size) = (pattern.row(i), offsets[i + 1] - offsets[i]);
                let entry = |place: u32| u64::from(ranks[row[place as usize] as usize]) << 32 | u64::from(place);
                order.clear();
                if size == row.len() {
                    order.extend((0..size as u32).map(entry));
                } else {
                    order.extend(choose(row.len(), size, key.with("node", i as u64)).map(entry));
                }
                order.sort_unstable();
                let at = offsets[i] - starts[part];
                for (k, entry) in order.iter().enumerate() {
                    (members[at + k], places[at + k]) = ((entry >> 32) as u32, *entry as u32);
                }
                lower[i - bounds[part]] = members[at..at + size].partition_point(|&member| member < ranks[i]) as u32;
            }
        });
        Samples { offsets, members, places, lower }
    }

    #[inline]
    fn members(&self, i: usize) -> &[u32] {
        &self.members[self.offsets[i]..self.offsets[i + 1]]
    }

    #[inline]
    fn places(&self, i: usize) -> &[u32] {
        &self.places[self.offsets[i]..self.offsets[i + 1]]
    }
}

/// `size` different numbers below `n` (Floyd's algorithm, Bentley 1987).
fn choose(n: usize, size: usize, key: Key) -> impl Iterator<Item = u32> {
    let mut rng = key.rng();
    let mut chosen = FxHashSet::with_capacity_and_hasher(size, rustc_hash::FxBuildHasher);
    for last in n - size..n {
        let drawn = ((u128::from(rng.next_u64()) * (last as u128 + 1)) >> 64) as u32;
        if !chosen.insert(drawn) {
            chosen.insert(last as u32);
        }
    }
    chosen.into_iter()
}

/// For each slot i → j the position of i in the row of j.
fn reverse(pattern: &Pattern) -> Vec<u32> {
    let mut next = vec![0u32; pattern.rows()];
    let place = |&j: &u32| {
        next[j as usize] += 1;
        next[j as usize] - 1
    };
    pattern.columns().iter().map(place).collect()
}

/// What all sweeps share. They write to slots of the row they stand at, so that no two threads meet;
/// a primitive found at one end only is zero at the other until both are [joined](Sweeps::joined).
struct Sweeps<'a> {
    pattern: &'a Pattern,
    ranks: Vec<u32>,
    samples: Samples,
    reverse: Vec<u32>,
    bounds: Vec<usize>,
    /// Words of a bit row over a sample.
    words: usize,
    progress: &'a dyn Progress,
}

/// Arrays over ranks, zero between nodes.
struct Scratch {
    mark: Vec<u8>,
    count: Vec<f32>,
}

impl Sweeps<'_> {
    fn degree(&self, i: usize) -> f64 {
        self.pattern.range(i).len() as f64
    }

    /// Neighbours that a member of the sample of `i` stands for.
    fn weight(&self, i: usize) -> f64 {
        self.degree(i) / self.samples.members(i).len() as f64
    }

    /// Pairs of neighbours that a pair of members of the sample of `i` stands for.
    fn pair_weight(&self, i: usize) -> f64 {
        let (d, s) = (self.degree(i), self.samples.members(i).len() as f64);
        if d == s { 1.0 } else { d * (d - 1.0) / (s * (s - 1.0)) }
    }

    /// The slot of the same edge in the other row.
    #[inline]
    fn other(&self, slot: usize) -> usize {
        let j = self.pattern.columns()[slot] as usize;
        self.pattern.range(j).start + self.reverse[slot] as usize
    }

    /// Both ends' parts of a primitive, at both ends.
    fn joined(&self, half: &[f32]) -> Vec<f32> {
        (0..half.len()).into_par_iter().with_min_len(1 << 14).map(|slot| half[slot] + half[self.other(slot)]).collect()
    }

    /// Slots where the stretches of rows begin, times `width`.
    fn starts(&self, width: usize) -> Vec<usize> {
        self.bounds.iter().map(|&i| width * self.pattern.offsets()[i]).collect()
    }

    /// C, and for each slot u → v the members of N̂(v) adjacent to u, as bits.
    fn cycles(&self) -> Result<(Vec<f32>, Vec<u64>)> {
        let (n, slots) = (self.pattern.rows(), self.pattern.nnz());
        let (mut cycles, mut masks) = (vec![0f32; slots], vec![0u64; slots * self.words]);
        let parts = cut(&mut cycles, &self.starts(1)).into_iter().zip(cut(&mut masks, &self.starts(self.words)));
        let parts = ranges(&self.bounds).zip(parts).collect();
        let scratch = || Scratch { mark: vec![0; n], count: vec![0.0; n] };
        sweep(parts, self.progress, scratch, |range, (cycles, masks): (&mut [f32], &mut [u64]), scratch| {
            let base = self.pattern.range(range.start).start;
            for u in range {
                let slots = self.pattern.range(u);
                let slots = slots.start - base..slots.end - base;
                let masks = &mut masks[slots.start * self.words..slots.end * self.words];
                self.cycles_of(u, &mut cycles[slots], masks, scratch);
            }
        })?;
        Ok((cycles, masks))
    }

    /// Wedges from `u` over all its neighbours v to members of their samples: those ranked above v,
    /// and below too when v is ranked below u; so the highest node of a cycle is u or the far end.
    fn cycles_of(&self, u: usize, cycles: &mut [f32], masks: &mut [u64], scratch: &mut Scratch) {
        let (row, rank) = (self.pattern.row(u), self.ranks[u]);
        let Scratch { mark, count } = scratch;
        let far = |v: usize| {
            let from = if self.ranks[v] < rank { 0 } else { self.samples.lower[v] as usize };
            &self.samples.members(v)[from..]
        };
        row.iter().for_each(|&v| mark[self.ranks[v as usize] as usize] = 1);
        for (&v, mask) in row.iter().zip(masks.chunks_exact_mut(self.words)) {
            for (word, members) in mask.iter_mut().zip(self.samples.members(v as usize).chunks(64)) {
                *word = members.iter().rev().fold(0, |bits, &w| bits << 1 | u64::from(mark[w as usize]));
            }
            let weight = self.weight(v as usize) as f32;
            far(v as usize).iter().for_each(|&w| count[w as usize] += weight);
        }
        count[rank as usize] = 0.0;
        for (&v, cycles) in row.iter().zip(cycles) {
            let (far, weight) = (far(v as usize), self.weight(v as usize));
            let ends = far.len() - usize::from(far.binary_search(&rank).is_ok());
            let sum: f64 = far.iter().map(|&w| f64::from(count[w as usize])).sum();
            *cycles = (weight * (sum - weight * ends as f64)) as f32;
        }
        for &v in row {
            mark[self.ranks[v as usize] as usize] = 0;
            far(v as usize).iter().for_each(|&w| count[w as usize] = 0.0);
        }
    }

    fn mask<'a>(&self, masks: &'a [u64], slot: usize) -> &'a [u64] {
        &masks[slot * self.words..][..self.words]
    }

    /// t, at the slots u → v with v ranked lower.
    fn common(&self, masks: &[u64]) -> Vec<f32> {
        let row = |u: usize| {
            self.pattern.range(u).map(move |slot| {
                let v = self.pattern.columns()[slot] as usize;
                let members: u32 = self.mask(masks, slot).iter().map(|word| word.count_ones()).sum();
                if self.ranks[v] < self.ranks[u] { (self.weight(v) * f64::from(members)) as f32 } else { 0.0 }
            })
        };
        (0..self.pattern.rows()).into_par_iter().flat_map_iter(row).collect()
    }

    /// The part Σ t(u,w) of R, at the slots u → v with v ranked lower.
    fn near_sums(&self, masks: &[u64], t: &[f32]) -> Result<Vec<f32>> {
        let mut sums = vec![0f32; t.len()];
        let parts = ranges(&self.bounds).zip(cut(&mut sums, &self.starts(1))).collect();
        let scratch = || vec![0f32; self.pattern.rows()];
        sweep(parts, self.progress, scratch, |range, sums: &mut [f32], near: &mut Vec<f32>| {
            let base = self.pattern.range(range.start).start;
            for u in range {
                let slots = || self.pattern.range(u).zip(self.pattern.row(u));
                slots().for_each(|(slot, &w)| near[self.ranks[w as usize] as usize] = t[slot]);
                for (slot, &v) in slots().filter(|&(_, &v)| self.ranks[v as usize] < self.ranks[u]) {
                    let members = self.samples.members(v as usize);
                    let sum: f64 = bits(self.mask(masks, slot)).map(|k| f64::from(near[members[k] as usize])).sum();
                    sums[slot - base] = (self.weight(v as usize) * sum) as f32;
                }
            }
        })?;
        Ok(sums)
    }

    /// K and Q, at the slots v → u with u ranked higher; adds the part Σ t(v,w) to R there.
    fn cliques(&self, masks: &[u64], t: &[f32], r: &mut [f32]) -> Result<(Vec<f32>, Vec<f32>)> {
        let (mut k, mut q) = (vec![0f32; t.len()], vec![0f32; t.len()]);
        let starts = self.starts(1);
        let parts = cut(&mut k, &starts).into_iter().zip(cut(&mut q, &starts)).zip(cut(r, &starts));
        let parts = ranges(&self.bounds).zip(parts).collect();
        type Out<'a> = ((&'a mut [f32], &'a mut [f32]), &'a mut [f32]);
        sweep(parts, self.progress, Vec::new, |range, ((k, q), r): Out<'_>, rows: &mut Vec<u64>| {
            let base = self.pattern.range(range.start).start;
            for v in range {
                rows.clear();
                self.pattern.range(v).for_each(|slot| rows.extend(self.mask(masks, self.other(slot))));
                for (slot, &u) in self.pattern.range(v).zip(self.pattern.row(v)) {
                    if self.ranks[u as usize] > self.ranks[v] {
                        let [clique, degrees, sum] = self.triangles_of(v, slot, rows, t);
                        let at = slot - base;
                        (k[at], q[at]) = (clique, degrees);
                        r[at] += sum;
                    }
                }
            }
        })?;
        Ok((k, q))
    }

    /// K, Q and Σ t(v,w) of the edge at a slot of `v`, whose bit rows are `rows`.
    fn triangles_of(&self, v: usize, slot: usize, rows: &[u64], t: &[f32]) -> [f32; 3] {
        let (start, places) = (self.pattern.range(v).start, self.samples.places(v));
        let (weight, pair_weight) = (self.weight(v), self.pair_weight(v));
        let mine = self.mask(rows, slot - start);
        let (mut pairs, mut degrees, mut sum) = (0u64, 0.0, 0.0);
        for member in bits(mine) {
            let place = places[member] as usize;
            let shared = self.mask(rows, place).iter().zip(mine).map(|(a, b)| (a & b).count_ones());
            pairs += u64::from(shared.sum::<u32>());
            let w = self.pattern.columns()[start + place] as usize;
            degrees += self.degree(w);
            // t(v,w) is v's own estimate when v is ranked lower, and a member of it then in a pair.
            let own = self.ranks[w] > self.ranks[v];
            sum += f64::from(t[start + place]) * if own { pair_weight / weight } else { weight };
        }
        [(pair_weight * pairs as f64 / 2.0) as f32, (weight * degrees) as f32, sum as f32]
    }
}

/// Positions of the ones of a bit row.
fn bits(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(at, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| 64 * at + rest.trailing_zeros() as usize);
            rest &= rest.wrapping_sub(1);
            bit
        })
    })
}
