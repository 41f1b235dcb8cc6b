//! [`Samples`]: at most `cap` random neighbours of every node, in two strata.
//!
//! Neighbours ranked below a node and above it are drawn apart: half the cap for each, and what one
//! stratum leaves the other takes. A stratum of which something is left out has at least two members,
//! so that pairs are seen.

use rand_xoshiro::rand_core::Rng;
use rayon::prelude::*;

use super::column::cut;
use crate::random::Key;
use crate::sparse::Pattern;

/// The samples of all nodes.
pub(super) struct Samples {
    heads: Vec<Head>,
    /// Ranks of the members, ascending for each node.
    members: Vec<u32>,
    /// Where in the node's row each member stands.
    places: Vec<u32>,
}

/// Where the sample of a node is; together with its rank, since who needs one needs the other.
#[derive(Clone, Copy, Default)]
pub(super) struct Head {
    start: usize,
    pub(super) rank: u32,
    /// Members ranked below the node, and all.
    lower: u32,
    size: u32,
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
    /// Draws the samples; node i from the stream `key`, "node", i.
    pub(super) fn draw(pattern: &Pattern, ranks: &[u32], cap: usize, key: Key) -> Samples {
        let n = pattern.rows();
        let mut heads = vec![Head::default(); n];
        let mut end = 0;
        for (i, head) in heads.iter_mut().enumerate() {
            head.start = end;
            end += pattern.range(i).len().min(cap);
        }
        let (mut members, mut places) = (vec![0; end], vec![0; end]);
        let bounds: Vec<usize> = (0..n).step_by(1024).chain([n]).collect();
        let starts: Vec<usize> = bounds.iter().map(|&i| heads.get(i).map_or(end, |head| head.start)).collect();
        let parts = cut(&mut members, &starts).into_par_iter().zip(cut(&mut places, &starts));
        let parts = parts.zip(cut(&mut heads, &bounds)).enumerate();
        parts.for_each(|(part, ((members, places), heads))| {
            let mut strata = [Vec::new(), Vec::new()];
            for (head, i) in heads.iter_mut().zip(bounds[part]..) {
                head.rank = ranks[i];
                split_row(pattern.row(i), ranks, ranks[i], &mut strata);
                let most = [cap / 2, cap - cap / 2];
                let left = [strata[1].len(), strata[0].len()].map(|other| cap.saturating_sub(other));
                let mut at = head.start - starts[part];
                for (s, stratum) in strata.iter_mut().enumerate() {
                    let all = stratum.len();
                    let size = all.min(most[s].max(left[s]));
                    pick(stratum, size, key.with("node", 2 * i as u64 + s as u64));
                    for entry in &*stratum {
                        (members[at], places[at]) = ((entry >> 32) as u32, *entry as u32);
                        at += 1;
                    }
                    head.weight[s] = if size == 0 { 1.0 } else { (all as f64 / size as f64) as f32 };
                    head.size += size as u32;
                }
                head.lower = strata[0].len() as u32;
            }
        });
        Samples { heads, members, places }
    }

    #[inline]
    pub(super) fn head(&self, i: usize) -> Head {
        self.heads[i]
    }

    #[inline]
    pub(super) fn of(&self, i: usize) -> Sample<'_> {
        self.at(self.heads[i])
    }

    #[inline]
    pub(super) fn at(&self, head: Head) -> Sample<'_> {
        let Head { start, lower, size, weight, .. } = head;
        let range = start..start + size as usize;
        Sample { members: &self.members[range.clone()], places: &self.places[range], lower: lower as usize, weight }
    }
}

impl Sample<'_> {
    /// Neighbours that member `at` stands for.
    #[inline]
    pub(super) fn weight(&self, at: usize) -> f64 {
        f64::from(self.weight[usize::from(at >= self.lower)])
    }

    /// Pairs of neighbours that a pair of members of a stratum stands for.
    #[inline]
    pub(super) fn pair_weight(&self, stratum: usize) -> f64 {
        let size = [self.lower, self.members.len() - self.lower][stratum] as f64;
        let weight = f64::from(self.weight[stratum]);
        if weight == 1.0 { 1.0 } else { weight * (weight * size - 1.0) / (size - 1.0) }
    }

    /// Members a wedge over this node goes on to: all from above, else only those ranked above it.
    #[inline]
    pub(super) fn far(&self, from_above: bool) -> std::ops::Range<usize> {
        if from_above { 0..self.members.len() } else { self.lower..self.members.len() }
    }

    /// Whether the neighbour of that `rank`, below this node's own, is a member.
    #[inline]
    pub(super) fn has_lower(&self, rank: u32) -> bool {
        self.weight[0] == 1.0 || self.members[..self.lower].binary_search(&rank).is_ok()
    }

    /// The first member ranked above `rank`.
    pub(super) fn above(&self, rank: u32) -> usize {
        self.members.partition_point(|&member| member <= rank)
    }
}

/// The entries of a row, rank in the high half and place in the low: ranked below the node, and above.
fn split_row(row: &[u32], ranks: &[u32], rank: u32, strata: &mut [Vec<u64>; 2]) {
    strata.iter_mut().for_each(Vec::clear);
    for (&j, place) in row.iter().zip(0u64..) {
        let other = ranks[j as usize];
        strata[usize::from(other > rank)].push(u64::from(other) << 32 | place);
    }
}

/// Keeps `size` of the entries, at random, ascending.
fn pick(entries: &mut Vec<u64>, size: usize, key: Key) {
    if size < entries.len() {
        // The first steps of a shuffle (Fisher, Yates 1938).
        let mut rng = key.rng();
        for at in 0..size {
            let left = (entries.len() - at) as u128;
            let other = at + ((u128::from(rng.next_u64()) * left) >> 64) as usize;
            entries.swap(at, other);
        }
        entries.truncate(size);
    }
    entries.sort_unstable();
}
