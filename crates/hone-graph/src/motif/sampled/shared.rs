//! [`Sweeps`]: common data of the sweeps of sampled estimation.

use bytemuck::{Pod, Zeroable};

use super::super::ranked::{balanced, by_degree};
use super::links::{Link, links};
use super::neighbours::{Drawn, HEADS_AHEAD, SAMPLES_AHEAD, Samples};
use crate::progress::Progress;
use crate::random::Key;
use crate::sparse::{Pattern, prefetch};
use crate::storage::Pages;

/// Slots from the current one to the one whose other slot is prefetched.
pub(super) const AHEAD: usize = 16;

/// Common neighbours of an edge: all, and those ranked above both ends.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Common {
    pub(super) all: f32,
    pub(super) above: f32,
}

/// What is computed before the sweeps.
pub(super) struct Ground {
    ranks: Vec<u32>,
    drawn: Drawn,
    links: Pages<Link>,
}

impl Ground {
    /// Ranks the nodes and draws the samples.
    pub(super) fn new(pattern: &Pattern, cap: usize, key: Key) -> Ground {
        let ranks: Vec<u32> = by_degree(pattern)
            .1
            .into_iter()
            .map(|packed| (packed >> 32) as u32)
            .collect();
        let drawn = Drawn::new(pattern, &ranks, cap, key);
        let links = links(pattern, &ranks);
        Ground {
            ranks,
            drawn,
            links,
        }
    }
}

/// Samples and links of a graph. Sweeps write only to slots of their own row, so that threads do not conflict.
pub(super) struct Sweeps<'a> {
    pub(super) pattern: &'a Pattern,
    pub(super) ranks: &'a [u32],
    pub(super) samples: Samples<'a>,
    pub(super) links: &'a [Link],
    /// Ranges of rows with about equal work.
    pub(super) bounds: Vec<usize>,
    /// Words of a bit row over a sample.
    pub(super) words: usize,
    pub(super) progress: &'a dyn Progress,
}

impl<'a> Sweeps<'a> {
    pub(super) fn new(
        pattern: &'a Pattern,
        ground: &'a Ground,
        cap: usize,
        progress: &'a dyn Progress,
    ) -> Self {
        let Ground {
            ranks,
            drawn,
            links,
        } = ground;
        let bounds = balanced(pattern.rows(), 1 << 12, |i| {
            pattern.range(i).len() as u64 + 4
        });
        let words = Self::words(pattern, cap);
        Sweeps {
            pattern,
            ranks,
            samples: drawn.samples(),
            links,
            bounds,
            words,
            progress,
        }
    }

    /// Words of a bit row over a sample.
    pub(super) fn words(pattern: &Pattern, cap: usize) -> usize {
        let largest = (0..pattern.rows())
            .map(|i| pattern.range(i).len())
            .max()
            .unwrap_or(0);
        largest.min(cap).div_ceil(64).max(1)
    }

    /// Slots where the ranges of rows begin, times `width`.
    pub(super) fn starts(&self, width: usize) -> Vec<usize> {
        self.bounds
            .iter()
            .map(|&i| width * self.pattern.offsets()[i])
            .collect()
    }

    /// The bit row of a slot.
    #[inline]
    pub(super) fn mask<'m>(&self, masks: &'m [u64], slot: usize) -> &'m [u64] {
        &masks[slot * self.words..][..self.words]
    }

    /// Prefetches the samples of the neighbours of slots ahead.
    #[inline(always)]
    pub(super) fn ask_samples(&self, slot: usize) {
        let columns = self.pattern.columns();
        if let Some(&next) = columns.get(slot + HEADS_AHEAD) {
            self.samples.ask_head(next as usize);
        }
        if let Some(&next) = columns.get(slot + SAMPLES_AHEAD) {
            self.samples.ask(self.samples.head(next as usize));
        }
    }

    /// Prefetches the values at the other slot of an edge, if the link is `wanted`.
    #[inline(always)]
    pub(super) fn ask<T>(&self, values: &[T], slot: usize, wanted: impl Fn(Link) -> bool) {
        if let Some(link) = self.links.get(slot).filter(|&&link| wanted(link)) {
            prefetch(&values[link.slot()..=link.slot()]);
        }
    }
}
