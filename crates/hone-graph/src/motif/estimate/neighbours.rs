//! [`Samples`]: at most `cap` random neighbours of every node, in two strata.
//!
//! Neighbours ranked below a node and above it are drawn separately: half the cap each, and a stratum
//! may use what the other leaves. An incomplete stratum has at least two members, so that there are
//! pairs.

use bytemuck::{Pod, Zeroable};
use rand_xoshiro::rand_core::Rng;

use crate::parallel::{self, cut};
use crate::random::{Key, below};
use crate::sparse::{Pattern, prefetch};
use crate::storage::Pages;

/// The samples of all nodes.
pub(super) struct Samples {
    heads: Pages<Head>,
    /// Ranks of the members, ascending for each node.
    members: Pages<u32>,
    /// The position of each member in the node's row.
    places: Pages<u32>,
}

/// Slots from the current one to the one whose neighbour's head is prefetched, and whose sample is.
pub(super) const HEADS_AHEAD: usize = 32;
pub(super) const SAMPLES_AHEAD: usize = 8;

/// Members of a sample that are prefetched: the hardware prefetches those that follow.
const MEMBERS_AHEAD: usize = 64;

/// Where the sample of a node is; together with its rank, since both are needed together.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Head {
    start: u64,
    pub(super) rank: u32,
    /// Members ranked below the node, and all; no cap is larger than u16 holds.
    lower: u16,
    size: u16,
    /// Neighbours that a member of each stratum stands for.
    weight: [f32; 2],
}

/// The sample of a node.
pub(super) struct Sample<'a> {
    pub(super) members: &'a [u32],
    pub(super) places: &'a [u32],
    /// Members ranked below the node.
    pub(super) lower: usize,
    /// Neighbours that a member of each stratum stands for.
    pub(super) weight: [f32; 2],
}

impl Samples {
    /// Draws the samples; stratum s of node i from the stream `key`, "node", 2i + s.
    pub(super) fn new(pattern: &Pattern, ranks: &[u32], cap: usize, key: Key) -> Samples {
        let n = pattern.rows();
        let mut heads = Pages::<Head>::zeros(n);
        let mut end = 0;
        for (i, head) in heads.iter_mut().enumerate() {
            head.start = end as u64;
            end += pattern.range(i).len().min(cap);
        }
        let (mut members, mut places) = (Pages::zeros(end), Pages::zeros(end));
        let bounds: Vec<usize> = (0..n).step_by(1024).chain([n]).collect();
        let starts: Vec<usize> = bounds
            .iter()
            .map(|&i| heads.get(i).map_or(end, |head| head.start as usize))
            .collect();
        let parts = cut(&mut members, &starts)
            .into_iter()
            .zip(cut(&mut places, &starts));
        let parts = parts.zip(cut(&mut heads, &bounds)).collect();
        parallel::each(parts, &|part, ((members, places), heads)| {
            let mut entries = Vec::new();
            for (head, i) in heads.iter_mut().zip(bounds[part]..) {
                head.rank = ranks[i];
                entries.clear();
                let row = pattern.row(i).iter().zip(0u64..);
                entries.extend(row.map(|(&j, at)| u64::from(ranks[j as usize]) << 32 | at));
                choose(head, &mut entries, cap, |stratum| {
                    key.with("node", 2 * i as u64 + stratum)
                });
                for (at, entry) in (head.start as usize - starts[part]..).zip(&entries) {
                    (members[at], places[at]) = ((entry >> 32) as u32, *entry as u32);
                }
            }
        });
        Samples {
            heads,
            members,
            places,
        }
    }

    #[inline]
    pub(super) fn head(&self, i: usize) -> Head {
        self.heads[i]
    }

    /// Prefetches the head of a node.
    #[inline(always)]
    pub(super) fn ask_head(&self, i: usize) {
        prefetch(&self.heads[i..=i]);
    }

    /// Prefetches the members of a sample.
    #[inline(always)]
    pub(super) fn ask(&self, head: Head) {
        prefetch(&self.members[head.start as usize..][..head.size().min(MEMBERS_AHEAD)]);
    }

    #[inline]
    pub(super) fn of(&self, i: usize) -> Sample<'_> {
        self.at(self.heads[i])
    }

    #[inline]
    pub(super) fn at(&self, head: Head) -> Sample<'_> {
        let range = head.start as usize..head.start as usize + head.size();
        Sample {
            members: &self.members[range.clone()],
            places: &self.places[range],
            lower: head.lower.into(),
            weight: head.weight,
        }
    }
}

impl Head {
    /// Members of the sample.
    #[inline]
    pub(super) fn size(&self) -> usize {
        self.size.into()
    }
}

impl<'a> Sample<'a> {
    /// Members ranked below this node, and above.
    #[inline(always)]
    pub(super) fn strata(&self) -> [&'a [u32]; 2] {
        let (lower, upper) = self.members.split_at(self.lower);
        [lower, upper]
    }

    /// Neighbours that member `at` stands for.
    #[inline]
    pub(super) fn weight(&self, at: usize) -> f64 {
        f64::from(self.weight[usize::from(at >= self.lower)])
    }

    /// Pairs of neighbours that a pair of members of each stratum stands for.
    #[inline]
    pub(super) fn pair_weights(&self) -> [f64; 2] {
        [(0, self.lower), (1, self.members.len() - self.lower)].map(|(stratum, size)| {
            let (weight, size) = (f64::from(self.weight[stratum]), size as f64);
            if weight == 1.0 {
                1.0
            } else {
                weight * (weight * size - 1.0) / (size - 1.0)
            }
        })
    }

    /// Pairs of neighbours that a pair of members of both strata stands for.
    #[inline]
    pub(super) fn weight_across(&self) -> f64 {
        f64::from(self.weight[0]) * f64::from(self.weight[1])
    }

    /// Whether the neighbour of that `rank`, below this node's own, is a member.
    #[inline]
    pub(super) fn has_lower(&self, rank: u32) -> bool {
        self.weight[0] == 1.0 || self.members[..self.lower].contains(&rank)
    }

    /// Members ranked at most `rank`, which is above this node's own.
    #[inline(always)]
    pub(super) fn up_to(&self, rank: u32) -> usize {
        self.lower + self.strata()[1].partition_point(|&w| w <= rank)
    }
}

/// Keeps the members of the sample of a row in `entries` (rank in the high half, place in the low), ascending, and fills in
/// the head. Each stratum may have half the cap and what the other leaves; `key` is that of the stratum.
fn choose(head: &mut Head, entries: &mut Vec<u64>, cap: usize, key: impl Fn(u64) -> Key) {
    let bound = u64::from(head.rank) << 32;
    head.weight = [1.0; 2];
    if entries.len() > cap {
        let (lower, upper) = entries
            .iter()
            .partition::<Vec<u64>, _>(|&&entry| entry < bound);
        let all = [lower.len(), upper.len()];
        let left = [all[1], all[0]].map(|other| cap.saturating_sub(other));
        entries.clear();
        for (s, mut stratum) in [lower, upper].into_iter().enumerate() {
            let most = if s == 0 { cap / 2 } else { cap - cap / 2 };
            let size = all[s].min(most.max(left[s]));
            if size < all[s] {
                pick(&mut stratum, size, key(s as u64));
                head.weight[s] = (all[s] as f64 / size as f64) as f32;
            }
            entries.extend(stratum);
        }
    }
    entries.sort_unstable();
    head.size = entries.len() as u16;
    head.lower = entries.partition_point(|&entry| entry < bound) as u16;
}

/// Keeps `size` of the entries, at random: the first steps of a shuffle (Fisher, Yates 1938).
fn pick(entries: &mut Vec<u64>, size: usize, key: Key) {
    let mut rng = key.rng();
    for at in 0..size {
        let other = at + below(rng.next_u64(), (entries.len() - at) as u64) as usize;
        entries.swap(at, other);
    }
    entries.truncate(size);
}

/// Of a slot i → j: the slot j → i, and whether j is ranked above i, since both are needed together.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Link(u64);

/// The links of all slots, found in one pass: rows come in order, so the slot i → j is met when j's row has been linked up
/// to i.
pub(super) fn links(pattern: &Pattern, ranks: &[u32]) -> Pages<Link> {
    let rows = pattern.offsets().iter().zip(ranks);
    let mut next: Vec<(u64, u32)> = rows.map(|(&start, &rank)| (start as u64, rank)).collect();
    let mut links = Pages::<Link>::zeros(pattern.nnz());
    let mut places = links.iter_mut();
    for (i, &rank) in ranks.iter().enumerate() {
        for (&j, link) in pattern.row(i).iter().zip(places.by_ref()) {
            let (slot, other) = &mut next[j as usize];
            *link = Link(*slot << 1 | u64::from(*other > rank));
            *slot += 1;
        }
    }
    links
}

impl Link {
    /// The slot of the same edge in the other row.
    #[inline(always)]
    pub(super) fn slot(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether the other end is ranked higher.
    #[inline(always)]
    pub(super) fn up(self) -> bool {
        self.0 & 1 == 1
    }
}

// Bit rows: which members of a sample are adjacent to a node, 64 to a word. Strata of a sample are contiguous, so counts are
// taken on both sides of a split.

/// Calls `f` with the positions of the ones of a bit row.
#[inline(always)]
pub(super) fn for_ones(words: &[u64], mut f: impl FnMut(usize)) {
    for (at, &word) in words.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            f(64 * at + rest.trailing_zeros() as usize);
            rest &= rest - 1;
        }
    }
}

/// Ones of a bit row before position `split`, and from there on.
#[inline(always)]
pub(super) fn ones(words: &[u64], split: usize) -> [u32; 2] {
    ones_of_both(words, words, split)
}

/// Ones of the intersection of two bit rows before position `split`, and from there on.
#[inline(always)]
pub(super) fn ones_of_both(a: &[u64], b: &[u64], split: usize) -> [u32; 2] {
    let mut sums = [0, 0];
    for (at, (a, b)) in a.iter().zip(b).enumerate() {
        let both = a & b;
        let first = both
            & 1u64
                .checked_shl(split.saturating_sub(64 * at) as u32)
                .map_or(u64::MAX, |bit| bit - 1);
        sums[0] += first.count_ones();
        sums[1] += (both ^ first).count_ones();
    }
    sums
}
