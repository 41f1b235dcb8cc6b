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

use bytemuck::{Pod, Zeroable};

use super::super::column::cut;
use super::super::ranked::{ranges, sweep};
use super::bits::{for_ones, ones, ones_of_both};
use super::links::Link;
use super::shared::{AHEAD, Common, Ground, Sweeps};
use super::wedges::Cycles;
use crate::error::Result;
use crate::parallel;
use crate::progress::Progress;
use crate::random::Key;
use crate::sparse::Pattern;
use crate::storage::Pages;

/// Estimated primitives of every slot of a symmetric pattern (both directions of an edge alike):
/// the letters of `formula`, each unbiased on its own.
#[derive(Debug, Clone)]
pub struct Estimates {
    /// Common neighbours of the two ends.
    pub t: Pages<f32>,
    /// Pairs of them, t(t − 1)/2.
    pub p: Pages<f32>,
    /// Non-induced 4-cycles through the edge.
    pub c: Pages<f32>,
    /// 4-cliques on the edge.
    pub k: Pages<f32>,
    /// Sum of the degrees of the common neighbours.
    pub q: Pages<f32>,
    /// Sum of t(u,w) + t(v,w) over the common neighbours w.
    pub r: Pages<f32>,
}

/// Bytes that estimating takes at its peak.
pub(in super::super) fn bytes(pattern: &Pattern, cap: usize) -> u64 {
    let (slots, members) = (pattern.nnz(), pattern.nnz().min(pattern.rows() * cap));
    let common = size_of::<Common>();
    let masks = 8 * Sweeps::words(pattern, cap);
    let sweeps = masks + (size_of::<f32>() + common).max(size_of::<Half>() + size_of::<Edge>());
    let slot = size_of::<Link>() + common + sweeps.max(size_of::<Edge>() + 6 * size_of::<f32>());
    // Heads, ranks and bounds; counts and common neighbours of every thread.
    let node = 64 + size_of::<Common>() * rayon::current_num_threads();
    (slot * slots + 8 * members + node * pattern.rows()) as u64
}

/// Estimates all primitives.
pub(in super::super) fn estimate(
    pattern: &Pattern,
    cap: usize,
    key: Key,
    progress: &dyn Progress,
) -> Result<Estimates> {
    progress.stage("sampling neighbours", 0);
    let ground = Ground::new(pattern, cap, key);
    let sweeps = Sweeps::new(pattern, &ground, cap, progress);
    progress.stage("estimating motifs", 3 * pattern.rows() as u64);
    let Cycles {
        cycles,
        common,
        masks,
    } = sweeps.cycles()?;
    let common = sweeps.mirrored(common);
    let near = sweeps.near(&masks, &common, cycles)?;
    let edges = sweeps.own(&masks, &common, &near)?;
    drop((masks, near));
    Ok(sweeps.joined(&edges, &common))
}

/// The results of the first sweeps for an edge at one of its ends; both ends are added.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Half {
    c: f32,
    r: f32,
}

/// The primitives of an edge but t.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Edge {
    p: f32,
    c: f32,
    k: f32,
    q: f32,
    r: f32,
}

/// Slots per task in sweeps without a current node.
const CHUNK: usize = 1 << 14;

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

impl Sweeps<'_> {
    /// Copies the values at the slots u → v with v ranked lower to both slots of an edge.
    #[expect(clippy::needless_pass_by_value, reason = "not needed any longer")]
    fn mirrored(&self, common: Pages<Common>) -> Pages<Common> {
        let mut both = Pages::zeros(common.len());
        parallel::each(both.chunks_mut(CHUNK).collect(), &|chunk, both| {
            for (slot, both) in (chunk * CHUNK..).zip(both) {
                self.ask(&common, slot + AHEAD, Link::up);
                let link = self.links[slot];
                *both = common[if link.up() { link.slot() } else { slot }];
            }
        });
        both
    }

    /// Adds Σ t(u,w) of R to the cycles, at the slots u → v with v ranked lower; and of those the cycles
    /// whose highest node has the chord.
    #[expect(clippy::needless_pass_by_value, reason = "not needed any longer")]
    fn near(&self, masks: &[u64], common: &[Common], cycles: Pages<f32>) -> Result<Pages<Half>> {
        let mut found = Pages::zeros(cycles.len());
        let parts = ranges(&self.bounds)
            .zip(cut(&mut found, &self.starts(1)))
            .collect();
        let scratch = || vec![Common::zeroed(); self.pattern.rows()];
        sweep(
            parts,
            self.progress,
            scratch,
            |range, found: &mut [Half], near: &mut Vec<Common>| {
                let base = self.pattern.range(range.start).start;
                for u in range {
                    let slots = self.pattern.range(u);
                    slots
                        .clone()
                        .for_each(|slot| found[slot - base].c = cycles[slot]);
                    // Without a common neighbour among the members of the lower end all bits are zero.
                    let seen = |&slot: &usize| common[slot].all > 0.0 && !self.links[slot].up();
                    if !slots.clone().any(|slot| seen(&slot)) {
                        continue;
                    }
                    let row = slots.clone().zip(self.pattern.row(u));
                    row.for_each(|(slot, &w)| near[self.ranks[w as usize] as usize] = common[slot]);
                    for slot in slots {
                        self.ask_samples(slot);
                        if !seen(&slot) {
                            continue;
                        }
                        let [all, above] = self.near_of(slot, masks, near);
                        let found = &mut found[slot - base];
                        found.r += all as f32;
                        found.c += (all - above) as f32;
                    }
                }
            },
        )?;
        Ok(found)
    }

    /// As [`Sweeps::near`], of one slot: Σ t(u,w), and what of it is ranked above u and w.
    #[inline(always)]
    fn near_of(&self, slot: usize, masks: &[u64], near: &[Common]) -> [f64; 2] {
        let sample = self.samples.of(self.pattern.columns()[slot] as usize);
        let (mut all, mut above) = (0.0, 0.0);
        for_ones(self.mask(masks, slot), |at| {
            let (weight, near) = (sample.weight(at), near[sample.members[at] as usize]);
            all += weight * f64::from(near.all);
            above += weight * f64::from(near.above);
        });
        [all, above]
    }

    /// P, K, Q and Σ t(v,w) of R, and all that was found of both ends, at the slots v → u with u ranked
    /// higher.
    fn own(&self, masks: &[u64], common: &[Common], near: &[Half]) -> Result<Pages<Edge>> {
        let mut edges = Pages::zeros(near.len());
        let parts = ranges(&self.bounds)
            .zip(cut(&mut edges, &self.starts(1)))
            .collect();
        let arch = pulp::Arch::new();
        sweep(
            parts,
            self.progress,
            Own::default,
            |range, edges: &mut [Edge], own: &mut Own| {
                let base = self.pattern.range(range.start).start;
                for v in range {
                    let slots = self.pattern.range(v);
                    let edges = &mut edges[slots.start - base..slots.end - base];
                    // Inlined into code for this processor, which may have an instruction for popcounts.
                    arch.dispatch(
                        #[inline(always)]
                        || self.own_row(v, (masks, common, near), own, edges),
                    );
                }
            },
        )?;
        Ok(edges)
    }

    /// As [`Sweeps::own`], of the row of `v`.
    #[inline(always)]
    fn own_row(
        &self,
        v: usize,
        found: (&[u64], &[Common], &[Half]),
        own: &mut Own,
        edges: &mut [Edge],
    ) {
        let (masks, common, near) = found;
        let slots = self.pattern.range(v);
        let up = |&slot: &usize| self.links[slot].up();
        let seen = |&slot: &usize| up(&slot) && common[slot].all > 0.0;
        if slots.clone().any(|slot| seen(&slot)) {
            self.gather(v, slots.clone().filter(seen), masks, &mut own.rows);
            self.prepare(v, common, own);
        }
        for (slot, edge) in slots.zip(edges) {
            self.ask(near, slot + AHEAD, Link::up);
            if up(&slot) {
                let (here, there) = (near[slot], near[self.links[slot].slot()]);
                *edge = if seen(&slot) {
                    self.own_of(v, slot, own)
                } else {
                    Edge::zeroed()
                };
                edge.c += here.c + there.c - 2.0 * common[slot].all;
                edge.r += there.r;
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
        let below = sample.places[..sample.lower]
            .iter()
            .map(|&place| range.start + place as usize);
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
        own.members
            .extend(sample.places.iter().enumerate().map(|(at, &place)| {
                let (place, weight) = (place as usize, sample.weight(at));
                let degree = self
                    .pattern
                    .range(self.pattern.columns()[start + place] as usize)
                    .len();
                let q = weight * degree as f64;
                if at < sample.lower {
                    let r = weight * f64::from(common[start + place].all);
                    return Member {
                        q,
                        r,
                        below: r - weight,
                        above: r - weight,
                    };
                }
                // t(v,w) is v's own estimate: its members are in pairs with w.
                let row = self.mask(&own.rows, place);
                let [lower, upper] = ones(row, sample.lower).map(f64::from);
                let r = across * lower + pair * upper;
                Member {
                    q,
                    r,
                    below: r - weight,
                    above: pair * f64::from(ones(row, at + 1)[1]),
                }
            }));
    }

    /// As [`Sweeps::own`], of one slot of `v`.
    #[inline(always)]
    fn own_of(&self, v: usize, slot: usize, own: &Own) -> Edge {
        let (start, sample) = (self.pattern.range(v).start, self.samples.of(v));
        let (pair, across) = (sample.pair_weights(), sample.weight_across());
        let mine = self.mask(&own.rows, slot - start);
        let rank = self.ranks[self.pattern.columns()[slot] as usize];
        let (mut k, mut q, mut r, mut chorded) = (0.0, 0.0, 0.0, 0.0);
        for_ones(mine, |at| {
            let (member, row) = (
                &own.members[at],
                self.mask(&own.rows, sample.places[at] as usize),
            );
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
        Edge {
            p: p as f32,
            c: (r - chorded) as f32,
            k: (k / 2.0) as f32,
            q: q as f32,
            r: r as f32,
        }
    }

    /// Copies the values at the slots v → u with u ranked higher to both slots of an edge.
    fn joined(&self, edges: &[Edge], common: &[Common]) -> Estimates {
        let list = || Pages::zeros(edges.len());
        let mut e = Estimates {
            t: list(),
            p: list(),
            c: list(),
            k: list(),
            q: list(),
            r: list(),
        };
        let tpc =
            e.t.chunks_mut(CHUNK)
                .zip(e.p.chunks_mut(CHUNK))
                .zip(e.c.chunks_mut(CHUNK));
        let kqr =
            e.k.chunks_mut(CHUNK)
                .zip(e.q.chunks_mut(CHUNK))
                .zip(e.r.chunks_mut(CHUNK));
        parallel::each(
            tpc.zip(kqr).collect(),
            &|chunk, (((t, p), c), ((k, q), r))| {
                for at in 0..t.len() {
                    let slot = chunk * CHUNK + at;
                    self.ask(edges, slot + AHEAD, |link| !link.up());
                    let link = self.links[slot];
                    t[at] = common[slot].all;
                    let edge = edges[if link.up() { slot } else { link.slot() }];
                    (p[at], c[at], k[at], q[at], r[at]) = (edge.p, edge.c, edge.k, edge.q, edge.r);
                }
            },
        );
        e
    }
}
