//! The first sweep of sampled estimation: wedges from each node to members of its neighbours' samples.
//!
//! It finds which members are neighbours of the node (bit rows, and so the common neighbours of every
//! edge) and the 4-cycles without the chord across. The samples of neighbours are scattered: they are
//! prefetched some neighbours ahead.

use super::super::column::cut;
use super::super::ranked::{ranges, sweep};
use super::bits::ones;
use super::neighbours::{HEADS_AHEAD, Head, SAMPLES_AHEAD};
use super::shared::{Common, Sweeps};
use crate::error::Result;
use crate::storage::Pages;

/// What the first sweep finds.
pub(super) struct Cycles {
    /// Cycles without the chord across, of each slot.
    pub(super) cycles: Pages<f32>,
    /// Common neighbours, at the slots u → v with v ranked lower.
    pub(super) common: Pages<Common>,
    /// For each slot u → v the members of v adjacent to u, as bits; none where u is ranked below v and not a
    /// member.
    pub(super) masks: Pages<u64>,
}

/// The slots of one row, in each of [`Cycles`].
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

/// Samples of no more members than this are still in the cache when they are walked again.
const CACHED: usize = 1 << 15;

impl Sweeps<'_> {
    pub(super) fn cycles(&self) -> Result<Cycles> {
        let (n, slots) = (self.pattern.rows(), self.pattern.nnz());
        let mut cycles = Pages::zeros(slots);
        let mut common = Pages::zeros(slots);
        let mut masks = Pages::zeros(slots * self.words);
        let starts = self.starts(1);
        let parts = cut(&mut cycles, &starts)
            .into_iter()
            .zip(cut(&mut common, &starts));
        let parts = parts.zip(cut(&mut masks, &self.starts(self.words)));
        let parts = parts.map(|((cycles, common), masks)| Row {
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
        sweep(
            parts,
            self.progress,
            scratch,
            |range, out: Row<'_>, scratch| {
                let base = self.pattern.range(range.start).start;
                for u in range.filter(|&u| self.pattern.range(u).len() > 1) {
                    let slots = self.pattern.range(u);
                    let slots = slots.start - base..slots.end - base;
                    let masks = &mut out.masks[slots.start * self.words..slots.end * self.words];
                    let mut row = Row {
                        cycles: &mut out.cycles[slots.clone()],
                        common: &mut out.common[slots],
                        masks,
                    };
                    // Inlined into code for this processor, which may have an instruction for popcounts.
                    arch.dispatch(
                        #[inline(always)]
                        || self.cycles_of(u, &mut row, scratch),
                    );
                }
            },
        )?;
        Ok(Cycles {
            cycles,
            common,
            masks,
        })
    }

    /// Wedges from `u` over each neighbour v to members of v: those ranked above v, and below too when
    /// v is ranked below u, so that the highest node of a cycle is u or the far end.
    #[inline(always)]
    fn cycles_of(&self, u: usize, row: &mut Row<'_>, Scratch { count, heads }: &mut Scratch) {
        let rank = self.ranks[u];
        self.heads_of(u, heads);
        let again = heads.iter().map(Head::size).sum::<usize>() > CACHED;
        heads
            .iter()
            .for_each(|head| count[head.rank as usize] = NEIGHBOUR);
        for (at, mask) in row.masks.chunks_exact_mut(self.words).enumerate() {
            self.ask_sample(heads, at + SAMPLES_AHEAD);
            self.see(&heads[at], rank, mask, count);
        }
        count[rank as usize] = 0.0;
        for (at, (head, mask)) in heads
            .iter()
            .zip(row.masks.chunks_exact(self.words))
            .enumerate()
        {
            if again {
                self.ask_sample(heads, at + SAMPLES_AHEAD);
            }
            let sample = self.samples.at(*head);
            let ([lower, upper], [w0, w1]) = (sample.strata(), sample.weight);
            row.cycles[at] = over(upper, w1, count);
            if head.rank < rank {
                row.cycles[at] += over(lower, w0, count);
                let ([near, far], [_, above]) =
                    (ones(mask, lower.len()), ones(mask, sample.up_to(rank)));
                row.common[at] = Common {
                    all: w0 * near as f32 + w1 * far as f32,
                    above: w1 * above as f32,
                };
            }
        }
        for (at, head) in heads.iter().enumerate() {
            if again {
                self.ask_sample(heads, at + SAMPLES_AHEAD);
            }
            count[head.rank as usize] = 0.0;
            let sample = self.samples.at(*head);
            let far = if head.rank < rank {
                sample.members
            } else {
                sample.strata()[1]
            };
            far.iter().for_each(|&w| count[w as usize] = 0.0);
        }
    }

    /// Fetches the heads of the neighbours of `u`, and prefetches those of nodes that follow.
    #[inline(always)]
    fn heads_of(&self, u: usize, heads: &mut Vec<Head>) {
        heads.clear();
        let columns = self.pattern.columns();
        for slot in self.pattern.range(u) {
            if let Some(&next) = columns.get(slot + HEADS_AHEAD) {
                self.samples.ask_head(next as usize);
            }
            heads.push(self.samples.head(columns[slot] as usize));
        }
        (0..SAMPLES_AHEAD.min(heads.len())).for_each(|at| self.ask_sample(heads, at));
    }

    /// Asks for the sample of a neighbour that may be beyond the last.
    #[inline(always)]
    fn ask_sample(&self, heads: &[Head], at: usize) {
        if let Some(head) = heads.get(at) {
            self.samples.ask(*head);
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
}

/// Marks the members that are neighbours of the current node.
#[inline(always)]
fn mark(members: &[u32], mask: &mut [u64], count: &[f32]) {
    for (word, members) in mask.iter_mut().zip(members.chunks(64)) {
        // The sign of a count tells neighbours from others.
        let signs = members
            .iter()
            .rev()
            .map(|&w| u64::from(count[w as usize].to_bits() >> 31));
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
    fours.iter().for_each(|four| {
        sums.iter_mut()
            .zip(four)
            .for_each(|(sum, &w)| *sum += others(w));
    });
    sums.iter_mut()
        .zip(rest)
        .for_each(|(sum, &w)| *sum += others(w));
    (f64::from(weight) * ((sums[0] + sums[1]) + (sums[2] + sums[3]))) as f32
}
