//! [`Link`]: for each slot of a symmetric pattern, the slot of the same edge in the other row.
//!
//! Found in one pass over the slots: rows come in order, so the slot i → j is met when j's row has
//! been linked up to i. Which end is ranked higher is stored with it, since both are needed together.

use bytemuck::{Pod, Zeroable};

use crate::sparse::Pattern;
use crate::storage::Pages;

/// Of a slot i → j: the slot j → i, and whether j is ranked above i.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub(super) struct Link(u64);

/// The links of all slots.
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
