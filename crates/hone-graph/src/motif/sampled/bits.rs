//! Bit rows: which members of a sample are adjacent to a node, 64 to a word.
//!
//! Strata of a sample are contiguous, so counts are taken on both sides of a split.

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
