//! Estimated primitives of every edge, from at most `cap` neighbours of each node (sec. 3.1).
//!
//! Nodes are ranked by (degree, node) as in exact counting. Each node v keeps random neighbours, all
//! of them when there are no more than the cap: some ranked below v and some above, for the few above
//! carry most triangles and cycles. Of a stratum of d neighbours with s members, a member stands for
//! d/s of them and a pair for d(d − 1)/(s(s − 1)) pairs. Samples of different nodes are independent.
//! For an edge {u, v} with v ranked lower, and members w of v's sample:
//!
//! - t, its pairs P, Q: members adjacent to u; adjacency inside a sample is a bit row;
//! - K: adjacent pairs of them;
//! - R: t(u,w) + t(v,w) over them, where t(v,w) may come from the same sample: then it is a pair;
//! - C: 4-cycles u–v–w–x, found from u or v when that or the node across is the highest. Those
//!   whose highest node has the chord across would be most, and are what the induced count leaves
//!   out: they are not sampled but taken from R, less those with a chord elsewhere.
//!
//! Each is unbiased, and exact where no node involved has more neighbours than the cap: most of a
//! skewed graph. Cost: O(M cap) steps, and O(M cap²/64) for cliques; memory O(M (1 + cap/64)).

use rayon::prelude::*;

use super::column::cut;
use super::neighbours::{Head, Sample, Samples};
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
    /// Pairs of them, t(t − 1)/2.
    pub p: Vec<f32>,
    /// Non-induced 4-cycles through the edge.
    pub c: Vec<f32>,
    /// 4-cliques on the edge.
    pub k: Vec<f32>,
    /// Sum of the degrees of the common neighbours.
    pub q: Vec<f32>,
    /// Sum of t(u,w) + t(v,w) over the common neighbours w.
    pub r: Vec<f32>,
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

/// Words of a bit row over a sample.
fn words(pattern: &Pattern, cap: usize) -> usize {
    let largest = (0..pattern.rows()).map(|i| pattern.range(i).len()).max().unwrap_or(0);
    largest.min(cap).div_ceil(64).max(1)
}

/// Bytes that estimating takes at its peak.
pub(super) fn bytes(pattern: &Pattern, cap: usize) -> u64 {
    let slot = 8 * words(pattern, cap) + size_of::<Half>() + 2 * size_of::<Common>() + 6 * 4 + 8;
    (slot * pattern.nnz() + 64 * pattern.rows()) as u64
}

/// Estimates all primitives.
pub(super) fn estimate(pattern: &Pattern, cap: usize, key: Key, progress: &dyn Progress) -> Result<Estimates> {
    progress.stage("sampling", 0);
    let ranks: Vec<u32> = by_degree(pattern).1.into_iter().map(|packed| (packed >> 32) as u32).collect();
    let samples = Samples::draw(pattern, &ranks, cap, key);
    let reverse = reverse(pattern);
    let bounds = balanced(pattern.rows(), 1 << 12, |i| pattern.range(i).len() as u64 + 4);
    let sweeps = Sweeps { pattern, ranks, samples, reverse, bounds, words: words(pattern, cap), progress };
    progress.stage("estimating motifs", 3 * pattern.rows() as u64);
    let Cycles { mut found, common, masks } = sweeps.cycles()?;
    let common = sweeps.mirrored(common);
    sweeps.near(&masks, &common, &mut found)?;
    sweeps.own(&masks, &common, &mut found)?;
    drop(masks);
    Ok(sweeps.joined(&found, &common))
}

/// What is found of an edge at one of its ends; both ends add up.
#[derive(Debug, Clone, Copy, Default)]
struct Half {
    p: f32,
    c: f32,
    k: f32,
    q: f32,
    r: f32,
}

/// Common neighbours of an edge: all, and those ranked above both ends.
#[derive(Debug, Clone, Copy, Default)]
struct Common {
    all: f32,
    above: f32,
}

/// What is found of the slots of a stretch of rows.
type Found<'a> = &'a mut [Half];

/// What the first sweep finds.
struct Cycles {
    /// Cycles without the chord across.
    found: Vec<Half>,
    /// Common neighbours, at the slots u → v with v ranked lower.
    common: Vec<Common>,
    /// For each slot u → v the members of v adjacent to u, as bits; only those ranked above v where u is
    /// ranked below v and not a member.
    masks: Vec<u64>,
}

/// The slots of one row, in each of [`Cycles`].
struct Row<'a> {
    found: &'a mut [Half],
    common: &'a mut [Common],
    masks: &'a mut [u64],
}

/// Kept by a thread: counts by rank, zero between nodes, and the neighbours of the node at hand.
struct Scratch {
    count: Vec<f32>,
    heads: Vec<Head>,
}

/// What all sweeps share. They write to slots of the row they stand at, so that no two threads meet.
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

/// Marks a neighbour of the node at hand among counts.
const NEIGHBOUR: f32 = -1e30;

impl Sweeps<'_> {
    /// The slot of the same edge in the other row.
    #[inline]
    fn other(&self, slot: usize) -> usize {
        let j = self.pattern.columns()[slot] as usize;
        self.pattern.range(j).start + self.reverse[slot] as usize
    }

    /// Slots where the stretches of rows begin, times `width`.
    fn starts(&self, width: usize) -> Vec<usize> {
        self.bounds.iter().map(|&i| width * self.pattern.offsets()[i]).collect()
    }

    #[inline]
    fn mask<'a>(&self, masks: &'a [u64], slot: usize) -> &'a [u64] {
        &masks[slot * self.words..][..self.words]
    }

    fn cycles(&self) -> Result<Cycles> {
        let (n, slots) = (self.pattern.rows(), self.pattern.nnz());
        let mut found = vec![Half::default(); slots];
        let mut common = vec![Common::default(); slots];
        let mut masks = vec![0u64; slots * self.words];
        let starts = self.starts(1);
        let parts = cut(&mut found, &starts).into_iter().zip(cut(&mut common, &starts));
        let parts = parts.zip(cut(&mut masks, &self.starts(self.words)));
        let parts = parts.map(|((found, common), masks)| Row { found, common, masks });
        let parts = ranges(&self.bounds).zip(parts).collect();
        let scratch = || Scratch { count: vec![0.0; n], heads: Vec::new() };
        sweep(parts, self.progress, scratch, |range, out: Row<'_>, scratch| {
            let base = self.pattern.range(range.start).start;
            for u in range.filter(|&u| self.pattern.range(u).len() > 1) {
                let slots = self.pattern.range(u);
                let slots = slots.start - base..slots.end - base;
                let masks = &mut out.masks[slots.start * self.words..slots.end * self.words];
                let mut row = Row { found: &mut out.found[slots.clone()], common: &mut out.common[slots], masks };
                self.cycles_of(u, &mut row, scratch);
            }
        })?;
        Ok(Cycles { found, common, masks })
    }

    /// Wedges from `u` over each neighbour v to members of v: those ranked above v, and below too when
    /// v is ranked below u, so that the highest node of a cycle is u or the far end.
    fn cycles_of(&self, u: usize, row: &mut Row<'_>, Scratch { count, heads }: &mut Scratch) {
        let rank = self.ranks[u];
        heads.clear();
        heads.extend(self.pattern.row(u).iter().map(|&v| self.samples.head(v as usize)));
        heads.iter().for_each(|head| count[head.rank as usize] = NEIGHBOUR);
        for (head, mask) in heads.iter().zip(row.masks.chunks_exact_mut(self.words)) {
            self.see(head, rank, mask, count);
        }
        count[rank as usize] = 0.0;
        for (at, (head, mask)) in heads.iter().zip(row.masks.chunks_exact(self.words)).enumerate() {
            let sample = self.samples.at(*head);
            let near = ones(mask, sample.lower);
            row.found[at].c = cycles_over(&sample, head.rank < rank, rank, near, count) as f32;
            if head.rank < rank {
                let [lower, upper] = near.map(|ones| ones as f32);
                let [_, above] = ones(mask, sample.above(rank));
                let [w0, w1] = sample.weight;
                row.common[at] = Common { all: w0 * lower + w1 * upper, above: w1 * above as f32 };
            }
        }
        for head in &*heads {
            count[head.rank as usize] = 0.0;
            let sample = self.samples.at(*head);
            sample.members[sample.far(head.rank < rank)].iter().for_each(|&w| count[w as usize] = 0.0);
        }
    }

    /// Finds the members of a neighbour that are neighbours too, and counts the wedges to its far ones.
    #[inline(always)]
    fn see(&self, head: &Head, rank: u32, mask: &mut [u64], count: &mut [f32]) {
        let sample = self.samples.at(*head);
        let far = sample.far(head.rank < rank);
        // Bits of members that are not far tell of adjacency inside the sample: who is not in it needs none.
        if far.start > 0 && sample.has_lower(rank) {
            for (at, &w) in sample.members[..far.start].iter().enumerate() {
                mask[at / 64] |= u64::from(count[w as usize] < 0.0) << (at % 64);
            }
        }
        for (stratum, range) in [far.start..sample.lower, sample.lower..far.end].into_iter().enumerate() {
            for (&w, at) in sample.members[range.clone()].iter().zip(range) {
                let seen = &mut count[w as usize];
                mask[at / 64] |= u64::from(*seen < 0.0) << (at % 64);
                *seen += sample.weight[stratum];
            }
        }
    }

    /// What stands at the slots u → v with v ranked lower, at both slots of an edge.
    #[expect(clippy::needless_pass_by_value, reason = "not needed any longer")]
    fn mirrored(&self, common: Vec<Common>) -> Vec<Common> {
        let mut both = common.clone();
        let parts: Vec<_> = ranges(&self.bounds).zip(cut(&mut both, &self.starts(1))).collect();
        parts.into_par_iter().for_each(|(range, both)| {
            let base = self.pattern.range(range.start).start;
            for u in range {
                for (slot, &v) in self.pattern.range(u).zip(self.pattern.row(u)) {
                    if self.ranks[v as usize] > self.ranks[u] {
                        both[slot - base] = common[self.other(slot)];
                    }
                }
            }
        });
        both
    }

    /// Σ t(u,w) of R, at the slots u → v with v ranked lower; and of those the cycles whose highest
    /// node has the chord.
    fn near(&self, masks: &[u64], common: &[Common], found: &mut [Half]) -> Result<()> {
        let parts = ranges(&self.bounds).zip(cut(found, &self.starts(1))).collect();
        let scratch = || vec![Common::default(); self.pattern.rows()];
        sweep(parts, self.progress, scratch, |range, found: Found<'_>, near: &mut Vec<Common>| {
            let base = self.pattern.range(range.start).start;
            for u in range {
                let slots = || self.pattern.range(u).zip(self.pattern.row(u));
                slots().for_each(|(slot, &w)| near[self.ranks[w as usize] as usize] = common[slot]);
                for (slot, &v) in slots().filter(|&(_, &v)| self.ranks[v as usize] < self.ranks[u]) {
                    let sample = self.samples.of(v as usize);
                    let (mut all, mut above) = (0.0, 0.0);
                    for_ones(self.mask(masks, slot), |at| {
                        let (weight, near) = (sample.weight(at), near[sample.members[at] as usize]);
                        all += weight * f64::from(near.all);
                        above += weight * f64::from(near.above);
                    });
                    let found = &mut found[slot - base];
                    found.r += all as f32;
                    found.c += (all - above) as f32;
                }
            }
        })
    }

    /// K, Q and Σ t(v,w) of R, at the slots v → u with u ranked higher.
    fn own(&self, masks: &[u64], common: &[Common], found: &mut [Half]) -> Result<()> {
        let parts = ranges(&self.bounds).zip(cut(found, &self.starts(1))).collect();
        sweep(parts, self.progress, Vec::new, |range, found: Found<'_>, rows: &mut Vec<u64>| {
            let base = self.pattern.range(range.start).start;
            for v in range {
                let (start, sample) = (self.pattern.range(v).start, self.samples.of(v));
                // Without a common neighbour among the members of the lower end v all bits are zero.
                let above =
                    |&(slot, &u): &(usize, &u32)| self.ranks[u as usize] > self.ranks[v] && common[slot].all > 0.0;
                let slots = || self.pattern.range(v).zip(self.pattern.row(v)).filter(above).map(|(slot, _)| slot);
                if slots().next().is_none() {
                    continue;
                }
                let below = sample.places[..sample.lower].iter().map(|&place| start + place as usize);
                rows.clear();
                rows.resize(self.pattern.range(v).len() * self.words, 0);
                for slot in below.chain(slots()) {
                    let row = &mut rows[(slot - start) * self.words..][..self.words];
                    row.copy_from_slice(self.mask(masks, self.other(slot)));
                }
                slots().for_each(|slot| self.own_of(v, slot, rows, common, &mut found[slot - base]));
            }
        })
    }

    /// As [`Sweeps::own`], of one slot of `v`; `rows` are the bit rows of v's neighbours.
    fn own_of(&self, v: usize, slot: usize, rows: &[u64], common: &[Common], found: &mut Half) {
        let (start, sample) = (self.pattern.range(v).start, self.samples.of(v));
        let pair = [sample.pair_weight(0), sample.pair_weight(1)];
        let across = f64::from(sample.weight[0]) * f64::from(sample.weight[1]);
        let mine = self.mask(rows, slot - start);
        let rank = self.ranks[self.pattern.columns()[slot] as usize];
        let (mut k, mut q, mut r, mut chorded) = (0.0, 0.0, 0.0, 0.0);
        for_ones(mine, |at| {
            let (place, weight) = (sample.places[at] as usize, sample.weight(at));
            let row = self.mask(rows, place);
            let both = |split: usize| ones_of_both(row, mine, split).map(f64::from);
            let [lower, upper] = both(sample.lower);
            q += weight * self.pattern.range(self.pattern.columns()[start + place] as usize).len() as f64;
            let (all, below) = if at < sample.lower {
                k += pair[0] * lower + across * upper;
                let all = weight * f64::from(common[start + place].all);
                (all, all - weight)
            } else {
                // t(v,w) is v's own estimate: its members are in pairs with w.
                k += across * lower + pair[1] * upper;
                let [lower, upper] = ones(row, sample.lower).map(f64::from);
                let all = across * lower + pair[1] * upper;
                let above = || pair[1] * f64::from(ones(row, at + 1)[1]);
                (all, if sample.members[at] < rank { all - weight } else { above() })
            };
            r += all;
            chorded += below;
        });
        let [lower, upper] = ones(mine, sample.lower).map(f64::from);
        let pairs = pair[0] * lower * (lower - 1.0) + pair[1] * upper * (upper - 1.0);
        found.p += (pairs / 2.0 + across * lower * upper) as f32;
        found.k += (k / 2.0) as f32;
        found.q += q as f32;
        found.r += r as f32;
        found.c += (r - chorded) as f32;
    }

    /// Both ends' parts at both ends.
    fn joined(&self, found: &[Half], common: &[Common]) -> Estimates {
        let list = || vec![0f32; found.len()];
        let mut e = Estimates { t: list(), p: list(), c: list(), k: list(), q: list(), r: list() };
        const CHUNK: usize = 1 << 14;
        let tpc = e.t.par_chunks_mut(CHUNK).zip(e.p.par_chunks_mut(CHUNK)).zip(e.c.par_chunks_mut(CHUNK));
        let kqr = e.k.par_chunks_mut(CHUNK).zip(e.q.par_chunks_mut(CHUNK)).zip(e.r.par_chunks_mut(CHUNK));
        tpc.zip(kqr).enumerate().for_each(|(chunk, (((t, p), c), ((k, q), r)))| {
            for at in 0..t.len() {
                let slot = chunk * CHUNK + at;
                let (a, b) = (found[slot], found[self.other(slot)]);
                t[at] = common[slot].all;
                (p[at], k[at], q[at], r[at]) = (a.p + b.p, a.k + b.k, a.q + b.q, a.r + b.r);
                c[at] = a.c + b.c - 2.0 * t[at];
            }
        });
        e
    }
}

/// Cycles over a neighbour whose members are `near` the node of that `rank` in each stratum: far members
/// counted from other neighbours too.
#[inline(always)]
fn cycles_over(sample: &Sample<'_>, from_above: bool, rank: u32, near: [u32; 2], count: &[f32]) -> f64 {
    let far = sample.far(from_above);
    let home = sample.members[far.clone()].binary_search(&rank).map_or(usize::MAX, |at| at + far.start);
    let mut cycles = 0.0;
    for (stratum, range) in [far.start..sample.lower, sample.lower..far.end].into_iter().enumerate() {
        if range.is_empty() {
            continue;
        }
        let members = &sample.members[range.clone()];
        let sum: f64 = members.iter().map(|&w| f64::from(count[w as usize].max(0.0))).sum();
        let own = members.len() - usize::from(range.contains(&home)) - near[stratum] as usize;
        let weight = f64::from(sample.weight[stratum]);
        cycles += weight * (sum - weight * own as f64);
    }
    cycles
}

/// Calls `f` with the positions of the ones of a bit row.
#[inline(always)]
fn for_ones(words: &[u64], mut f: impl FnMut(usize)) {
    for (at, &word) in words.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            f(64 * at + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}

/// Ones of a bit row before position `split`, and from there on.
#[inline]
fn ones(words: &[u64], split: usize) -> [u32; 2] {
    ones_of_both(words, words, split)
}

/// Ones of the intersection of two bit rows before position `split`, and from there on.
#[inline]
fn ones_of_both(a: &[u64], b: &[u64], split: usize) -> [u32; 2] {
    let mut sums = [0, 0];
    for (at, (a, b)) in a.iter().zip(b).enumerate() {
        let both = a & b;
        let first = both & 1u64.checked_shl(split.saturating_sub(64 * at) as u32).map_or(u64::MAX, |bit| bit - 1);
        sums[0] += first.count_ones();
        sums[1] += (both ^ first).count_ones();
    }
    sums
}
