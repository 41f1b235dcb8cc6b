//! Estimated primitives of every edge, from at most `cap` neighbours of each node (sec. 3.1).
//!
//! Nodes are ranked by (degree, node) as in exact counting. Each node v keeps random neighbours, all of them when there
//! are no more than the cap: some ranked below v and some above, since the few above carry most triangles and cycles.
//! Of a stratum of d neighbours with s members, a member stands for d/s of them and a pair for d(d − 1)/(s(s − 1))
//! pairs. Samples of different nodes are independent. For an edge {u, v} with v ranked lower, and members w of v's
//! sample:
//!
//! - t, its pairs P, Q: members adjacent to u; adjacency inside a sample is a bit row;
//! - K: adjacent pairs of them;
//! - R: t(u,w) + t(v,w) over them, where t(v,w) may come from the same sample: then it is a pair;
//! - C: 4-cycles u–v–w–x, found from u or v when that or the node across is the highest. Most have
//!   a chord at the highest node, and the induced count leaves them out: they are not sampled but
//!   taken from R, minus those with a chord elsewhere.
//!
//! Each is unbiased, and exact if no node involved has more neighbours than the cap, as in most of
//! a skewed graph. Cost: O(M cap) steps, and O(M cap²/64) for cliques; memory O(M (1 + cap/64)).
//! Sweeps write only to slots of their own row, so that threads do not conflict.

use bytemuck::{Pod, Zeroable};

use super::neighbours::{
    HEADS_AHEAD, Head, Link, SAMPLES_AHEAD, Samples, for_ones, links, ones, ones_of_both,
};
use crate::error::Result;
use crate::motif::formula::largest_degree;
use crate::motif::ranked::{balanced, by_degree, ranges, sweep};
use crate::parallel::{self, cut};
use crate::progress::Progress;
use crate::random::Key;
use crate::sparse::{Pattern, prefetch};
use crate::storage::Pages;

/// Bytes that estimating takes at its peak.
pub(in crate::motif) fn bytes(pattern: &Pattern, cap: usize) -> u64 {
    let (slots, members) = (pattern.nnz(), pattern.nnz().min(pattern.rows() * cap));
    let common = size_of::<Common>();
    let masks = 8 * words(pattern, cap);
    let sweeps = masks + (size_of::<f32>() + common).max(size_of::<Half>() + size_of::<Edge>());
    let slot = size_of::<Link>() + (common + sweeps).max(2 * size_of::<Edge>());
    // Heads, ranks and bounds; counts and common neighbours of every thread.
    let node = 64 + size_of::<Common>() * rayon::current_num_threads();
    (slot * slots + 8 * members + node * pattern.rows()) as u64
}

/// Words of a bit row over a sample.
fn words(pattern: &Pattern, cap: usize) -> usize {
    largest_degree(pattern).min(cap).div_ceil(64).max(1)
}

/// Estimates t, P, C, K, Q and R of every slot of a symmetric pattern (both directions of an edge alike), each unbiased on
/// its own.
pub(in crate::motif) fn estimate(
    pattern: &Pattern,
    cap: usize,
    key: Key,
    progress: &dyn Progress,
) -> Result<Pages<Edge>> {
    progress.stage("sampling neighbours", 0);
    let (_, ranks) = by_degree(pattern);
    let ranks: Vec<u32> = ranks
        .into_iter()
        .map(|packed| (packed >> 32) as u32)
        .collect();
    let sweeps = Sweeps {
        pattern,
        samples: Samples::new(pattern, &ranks, cap, key),
        links: links(pattern, &ranks),
        ranks,
        bounds: balanced(pattern.rows(), 1 << 12, |i| {
            pattern.range(i).len() as u64 + 4
        }),
        words: words(pattern, cap),
        progress,
    };
    progress.stage("estimating motifs", 3 * pattern.rows() as u64);
    let (cycles, common, masks) = sweeps.cycles()?;
    let common = sweeps.mirrored(common, false);
    let near = sweeps.near(&masks, &common, cycles)?;
    let edges = sweeps.edges(&masks, &common, &near)?;
    drop((masks, near, common));
    Ok(sweeps.mirrored(edges, true))
}

/// Slots from the current one to the one whose other slot is prefetched.
const AHEAD: usize = 16;
/// Slots per task in sweeps without a current node.
const CHUNK: usize = 1 << 14;

/// Common neighbours of an edge: all, and those ranked above both ends.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Common {
    all: f32,
    above: f32,
}

/// The results of the first sweeps for an edge at one of its ends; both ends are added.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Half {
    c: f32,
    r: f32,
}

/// t, P, C, K, Q and R of an edge.
type Edge = [f32; 6];

/// Samples and links of a graph.
struct Sweeps<'a> {
    pattern: &'a Pattern,
    ranks: Vec<u32>,
    samples: Samples,
    links: Pages<Link>,
    /// Ranges of rows with about equal work.
    bounds: Vec<usize>,
    /// Words of a bit row over a sample.
    words: usize,
    progress: &'a dyn Progress,
}

/// The slots of one row: cycles without the chord across; common neighbours, at the slots u → v with v ranked lower; the
/// members of v adjacent to u, as bits; none where u is ranked below v and not a member.
struct Row<'a> {
    cycles: &'a mut [f32],
    common: &'a mut [Common],
    masks: &'a mut [u64],
}

/// Kept by a thread: counts by rank, zero between nodes, and the neighbours of the current node.
struct Scratch {
    count: Vec<f32>,
    heads: Vec<Head>,
}

/// Marks a neighbour of the current node among counts.
const NEIGHBOUR: f32 = -1e30;

impl Sweeps<'_> {
    /// Slots where the ranges of rows begin, times `width`.
    fn starts(&self, width: usize) -> Vec<usize> {
        let start = |&i: &usize| width * self.pattern.offsets()[i];
        self.bounds.iter().map(start).collect()
    }

    /// The bit row of a slot.
    #[inline]
    fn mask<'m>(&self, masks: &'m [u64], slot: usize) -> &'m [u64] {
        &masks[slot * self.words..][..self.words]
    }

    /// The first sweep: wedges from each node to members of its neighbours' samples. It finds which members are neighbours
    /// of the node (bit rows, and so the common neighbours of every edge) and the 4-cycles without the chord across. The
    /// samples of neighbours are scattered: they are prefetched some neighbours ahead.
    fn cycles(&self) -> Result<(Pages<f32>, Pages<Common>, Pages<u64>)> {
        let (n, slots) = (self.pattern.rows(), self.pattern.nnz());
        let (mut cycles, mut common) = (Pages::zeros(slots), Pages::zeros(slots));
        let mut masks = Pages::zeros(slots * self.words);
        let starts = self.starts(1);
        let parts = cut(&mut cycles, &starts)
            .into_iter()
            .zip(cut(&mut common, &starts))
            .zip(cut(&mut masks, &self.starts(self.words)))
            .map(|((cycles, common), masks)| Row {
                cycles,
                common,
                masks,
            });
        let parts = ranges(&self.bounds).zip(parts).collect();
        let scratch = || Scratch {
            count: vec![0.0; n],
            heads: Vec::new(),
        };
        let arch = pulp::Arch::new();
        sweep(parts, self.progress, scratch, |range, out: Row, scratch| {
            let base = self.pattern.range(range.start).start;
            for u in range.filter(|&u| self.pattern.range(u).len() > 1) {
                let slots = self.pattern.range(u);
                let slots = slots.start - base..slots.end - base;
                let masks = slots.start * self.words..slots.end * self.words;
                let mut row = Row {
                    cycles: &mut out.cycles[slots.clone()],
                    common: &mut out.common[slots],
                    masks: &mut out.masks[masks],
                };
                // Inlined into code for this processor, which may have an instruction for popcounts.
                arch.dispatch(
                    #[inline(always)]
                    || self.cycles_of(u, &mut row, scratch),
                );
            }
        })?;
        Ok((cycles, common, masks))
    }

    /// Wedges from `u` over each neighbour v to members of v: those ranked above v, and below too when
    /// v is ranked below u, so that the highest node of a cycle is u or the far end.
    #[inline(always)]
    fn cycles_of(&self, u: usize, row: &mut Row<'_>, Scratch { count, heads }: &mut Scratch) {
        let rank = self.ranks[u];
        let ask = |heads: &[Head], at: usize| {
            if let Some(head) = heads.get(at) {
                self.samples.ask(*head);
            }
        };
        heads.clear();
        let columns = self.pattern.columns();
        for slot in self.pattern.range(u) {
            if let Some(&next) = columns.get(slot + HEADS_AHEAD) {
                self.samples.ask_head(next as usize);
            }
            heads.push(self.samples.head(columns[slot] as usize));
        }
        (0..SAMPLES_AHEAD).for_each(|at| ask(heads, at));
        for head in heads.iter() {
            count[head.rank as usize] = NEIGHBOUR;
        }
        for (at, mask) in row.masks.chunks_exact_mut(self.words).enumerate() {
            ask(heads, at + SAMPLES_AHEAD);
            self.see(&heads[at], rank, mask, count);
        }
        count[rank as usize] = 0.0;
        let masks = row.masks.chunks_exact(self.words);
        for (at, (head, mask)) in heads.iter().zip(masks).enumerate() {
            ask(heads, at + SAMPLES_AHEAD);
            let sample = self.samples.at(*head);
            let ([lower, upper], [w0, w1]) = (sample.strata(), sample.weight);
            row.cycles[at] = over(upper, w1, count);
            if head.rank < rank {
                row.cycles[at] += over(lower, w0, count);
                let [near, far] = ones(mask, lower.len());
                let [_, above] = ones(mask, sample.up_to(rank));
                row.common[at] = Common {
                    all: w0 * near as f32 + w1 * far as f32,
                    above: w1 * above as f32,
                };
            }
        }
        for (at, head) in heads.iter().enumerate() {
            ask(heads, at + SAMPLES_AHEAD);
            count[head.rank as usize] = 0.0;
            let sample = self.samples.at(*head);
            let lower = if head.rank < rank { 0 } else { sample.lower };
            for &w in &sample.members[lower..] {
                count[w as usize] = 0.0;
            }
        }
    }

    /// Finds the members of a neighbour that are neighbours too, if that is requested later, and counts
    /// the wedges to its far ones.
    #[inline(always)]
    fn see(&self, head: &Head, rank: u32, mask: &mut [u64], count: &mut [f32]) {
        let sample = self.samples.at(*head);
        let ([lower, upper], [w0, w1]) = (sample.strata(), sample.weight);
        if head.rank > rank {
            // Bits are for adjacency inside the sample: other nodes need none.
            if !lower.is_empty() && sample.has_lower(rank) {
                mark(sample.members, mask, count);
            }
            add(upper, w1, count);
        } else if w0 == w1 {
            // Both at once.
            for (word, members) in mask.iter_mut().zip(sample.members.chunks(64)) {
                for (bit, &w) in members.iter().enumerate() {
                    let seen = &mut count[w as usize];
                    *word |= u64::from(*seen < 0.0) << bit;
                    *seen += w0;
                }
            }
        } else {
            mark(sample.members, mask, count);
            add(lower, w0, count);
            add(upper, w1, count);
        }
    }

    /// Copies the values at the slots u → v with v ranked lower, or higher (`up`), to both slots of an edge.
    #[expect(clippy::needless_pass_by_value, reason = "not needed any longer")]
    fn mirrored<T: Pod + Send + Sync>(&self, values: Pages<T>, up: bool) -> Pages<T> {
        let mut both = Pages::zeros(values.len());
        parallel::each(
            both.chunks_mut(CHUNK).collect(),
            &|chunk, both: &mut [T]| {
                for (slot, both) in (chunk * CHUNK..).zip(both) {
                    if let Some(link) = self.links.get(slot + AHEAD).filter(|link| link.up() != up)
                    {
                        prefetch(&values[link.slot()..=link.slot()]);
                    }
                    let link = self.links[slot];
                    *both = values[if link.up() == up { slot } else { link.slot() }];
                }
            },
        );
        both
    }

    /// Adds Σ t(u,w) of R to the cycles, at the slots u → v with v ranked lower; and of those the cycles
    /// whose highest node has the chord.
    #[expect(clippy::needless_pass_by_value, reason = "not needed any longer")]
    fn near(&self, masks: &[u64], common: &[Common], cycles: Pages<f32>) -> Result<Pages<Half>> {
        let mut found = Pages::<Half>::zeros(cycles.len());
        let parts = ranges(&self.bounds).zip(cut(&mut found, &self.starts(1)));
        let scratch = || vec![Common::zeroed(); self.pattern.rows()];
        sweep(
            parts.collect(),
            self.progress,
            scratch,
            |range, found, near| {
                let base = self.pattern.range(range.start).start;
                for u in range {
                    let slots = self.pattern.range(u);
                    for slot in slots.clone() {
                        found[slot - base].c = cycles[slot];
                    }
                    // Without a common neighbour among the members of the lower end all bits are zero.
                    let seen = |&slot: &usize| common[slot].all > 0.0 && !self.links[slot].up();
                    if !slots.clone().any(|slot| seen(&slot)) {
                        continue;
                    }
                    for (slot, &w) in slots.clone().zip(self.pattern.row(u)) {
                        near[self.ranks[w as usize] as usize] = common[slot];
                    }
                    let columns = self.pattern.columns();
                    for slot in slots {
                        if let Some(&next) = columns.get(slot + HEADS_AHEAD) {
                            self.samples.ask_head(next as usize);
                        }
                        if let Some(&next) = columns.get(slot + SAMPLES_AHEAD) {
                            self.samples.ask(self.samples.head(next as usize));
                        }
                        if !seen(&slot) {
                            continue;
                        }
                        let sample = self.samples.of(columns[slot] as usize);
                        // Σ t(u,w), and what of it is ranked above u and w.
                        let (mut all, mut above) = (0.0, 0.0);
                        for_ones(self.mask(masks, slot), |at| {
                            let weight = sample.weight(at);
                            let near = near[sample.members[at] as usize];
                            all += weight * f64::from(near.all);
                            above += weight * f64::from(near.above);
                        });
                        found[slot - base].r += all as f32;
                        found[slot - base].c += (all - above) as f32;
                    }
                }
            },
        )?;
        Ok(found)
    }

    /// P, K, Q and Σ t(v,w) of R, and all that was found of both ends, at the slots v → u with u ranked
    /// higher.
    fn edges(&self, masks: &[u64], common: &[Common], near: &[Half]) -> Result<Pages<Edge>> {
        let mut edges = Pages::<Edge>::zeros(near.len());
        let parts = ranges(&self.bounds).zip(cut(&mut edges, &self.starts(1)));
        let arch = pulp::Arch::new();
        sweep(
            parts.collect(),
            self.progress,
            Own::default,
            |range, edges, own| {
                let base = self.pattern.range(range.start).start;
                for v in range {
                    let slots = self.pattern.range(v);
                    let edges = &mut edges[slots.start - base..slots.end - base];
                    // Inlined into code for this processor, which may have an instruction for popcounts.
                    arch.dispatch(
                        #[inline(always)]
                        || self.edges_of(v, (masks, common, near), own, edges),
                    );
                }
            },
        )?;
        Ok(edges)
    }

    /// As [`Sweeps::edges`], of the row of `v`.
    #[inline(always)]
    fn edges_of(
        &self,
        v: usize,
        (masks, common, near): (&[u64], &[Common], &[Half]),
        own: &mut Own,
        edges: &mut [Edge],
    ) {
        let slots = self.pattern.range(v);
        let up = |&slot: &usize| self.links[slot].up();
        let seen = |&slot: &usize| up(&slot) && common[slot].all > 0.0;
        if slots.clone().any(|slot| seen(&slot)) {
            self.gather(v, slots.clone().filter(seen), masks, &mut own.rows);
            self.prepare(v, common, own);
        }
        for (slot, edge) in slots.zip(edges) {
            if let Some(link) = self.links.get(slot + AHEAD).filter(|link| link.up()) {
                prefetch(&near[link.slot()..=link.slot()]);
            }
            if up(&slot) {
                let (here, there) = (near[slot], near[self.links[slot].slot()]);
                if seen(&slot) {
                    *edge = self.edge(v, slot, own);
                }
                edge[0] = common[slot].all;
                edge[2] += here.c + there.c - 2.0 * common[slot].all;
                edge[5] += there.r;
            }
        }
    }

    /// The bit rows of those neighbours of `v` that are lower members of it or at the `slots`.
    #[inline(always)]
    fn gather(
        &self,
        v: usize,
        slots: impl Iterator<Item = usize>,
        masks: &[u64],
        rows: &mut Vec<u64>,
    ) {
        let (range, sample) = (self.pattern.range(v), self.samples.of(v));
        rows.clear();
        rows.resize(range.len() * self.words, 0);
        let below = sample.places[..sample.lower].iter();
        let below = below.map(|&place| range.start + place as usize);
        for slot in below.chain(slots) {
            let (at, other) = (slot - range.start, self.links[slot].slot());
            if self.words == 1 {
                rows[at] = masks[other];
            } else {
                rows[at * self.words..][..self.words].copy_from_slice(self.mask(masks, other));
            }
        }
    }

    /// What each member of `v` adds to the edges it is a common neighbour of.
    #[inline(always)]
    fn prepare(&self, v: usize, common: &[Common], own: &mut Own) {
        let (start, sample) = (self.pattern.range(v).start, self.samples.of(v));
        let ([_, pair], across) = (sample.pair_weights(), sample.weight_across());
        own.members.clear();
        for (at, &place) in sample.places.iter().enumerate() {
            let (place, weight) = (place as usize, sample.weight(at));
            let neighbour = self.pattern.columns()[start + place] as usize;
            let q = weight * self.pattern.range(neighbour).len() as f64;
            let (r, above) = if at < sample.lower {
                let r = weight * f64::from(common[start + place].all);
                (r, r - weight)
            } else {
                // t(v,w) is v's own estimate: its members are in pairs with w.
                let row = self.mask(&own.rows, place);
                let [lower, upper] = ones(row, sample.lower).map(f64::from);
                let above = pair * f64::from(ones(row, at + 1)[1]);
                (across * lower + pair * upper, above)
            };
            own.members.push(Member {
                q,
                r,
                below: r - weight,
                above,
            });
        }
    }

    /// As [`Sweeps::edges`], of one slot of `v`.
    #[inline(always)]
    fn edge(&self, v: usize, slot: usize, own: &Own) -> Edge {
        let (start, sample) = (self.pattern.range(v).start, self.samples.of(v));
        let (pair, across) = (sample.pair_weights(), sample.weight_across());
        let mine = self.mask(&own.rows, slot - start);
        let rank = self.ranks[self.pattern.columns()[slot] as usize];
        let (mut k, mut q, mut r, mut chorded) = (0.0, 0.0, 0.0, 0.0);
        for_ones(mine, |at| {
            let member = &own.members[at];
            let row = self.mask(&own.rows, sample.places[at] as usize);
            let [lower, upper] = ones_of_both(row, mine, sample.lower).map(f64::from);
            let weights = if at < sample.lower {
                [pair[0], across]
            } else {
                [across, pair[1]]
            };
            k += weights[0] * lower + weights[1] * upper;
            q += member.q;
            r += member.r;
            chorded += if sample.members[at] < rank {
                member.below
            } else {
                member.above
            };
        });
        let [lower, upper] = ones(mine, sample.lower).map(f64::from);
        let pairs = pair[0] * lower * (lower - 1.0) + pair[1] * upper * (upper - 1.0);
        let p = pairs / 2.0 + across * lower * upper;
        [0.0, p, r - chorded, k / 2.0, q, r].map(|value| value as f32)
    }
}

/// Marks the members that are neighbours of the current node.
#[inline(always)]
fn mark(members: &[u32], mask: &mut [u64], count: &[f32]) {
    for (word, members) in mask.iter_mut().zip(members.chunks(64)) {
        // The sign of a count tells neighbours from others.
        let sign = |&w: &u32| u64::from(count[w as usize].to_bits() >> 31);
        let signs = members.iter().rev().map(sign);
        *word = signs.fold(0, |bits, sign| (bits << 1) | sign);
    }
}

/// Counts the wedges to members of that weight.
#[inline(always)]
fn add(members: &[u32], weight: f32, count: &mut [f32]) {
    members.iter().for_each(|&w| count[w as usize] += weight);
}

/// Cycles over a neighbour to members of that weight: those counted from other neighbours too. Neighbours of
/// the current node and that node itself have a count below the weight.
#[inline(always)]
fn over(members: &[u32], weight: f32, count: &[f32]) -> f32 {
    let others = |w: u32| f64::from((count[w as usize] - weight).max(0.0));
    // In four sums, which do not wait for one another.
    let mut sums = [0f64; 4];
    let (fours, rest) = members.as_chunks::<4>();
    for four in fours {
        for (sum, &w) in sums.iter_mut().zip(four) {
            *sum += others(w);
        }
    }
    for (sum, &w) in sums.iter_mut().zip(rest) {
        *sum += others(w);
    }
    (f64::from(weight) * ((sums[0] + sums[1]) + (sums[2] + sums[3]))) as f32
}

/// Kept by a thread for the current node: the bit rows of its neighbours, and what its members add.
#[derive(Default)]
struct Own {
    rows: Vec<u64>,
    members: Vec<Member>,
}

/// What a member w of v adds to an edge {u, v} that it is a common neighbour of.
struct Member {
    /// Its degree, to Q.
    q: f64,
    /// t(v,w), to R.
    r: f64,
    /// Of that, what has the chord at the highest node: when w is ranked below u, and above.
    below: f64,
    above: f64,
}
