//! [`Rank`]: an index for values that are stored only for some positions.

/// Finds, for a position with a nonzero, how many nonzeros come before it.
#[derive(Debug, Clone)]
pub(super) struct Rank {
    /// Nonzeros before each block.
    before: Vec<usize>,
}

impl Rank {
    const BLOCK: usize = 256;

    pub(super) fn new(len: usize, nonzeros: impl Fn(std::ops::Range<usize>) -> usize) -> Rank {
        let mut before = Vec::with_capacity(len / Rank::BLOCK + 2);
        before.push(0);
        let mut sum = 0;
        for start in (0..len).step_by(Rank::BLOCK) {
            sum += nonzeros(start..len.min(start + Rank::BLOCK));
            before.push(sum);
        }
        Rank { before }
    }

    /// Number of nonzeros at positions below `i`; `nonzeros` as at construction.
    #[inline]
    pub(super) fn below(
        &self,
        i: usize,
        nonzeros: impl Fn(std::ops::Range<usize>) -> usize,
    ) -> usize {
        let block = i / Rank::BLOCK;
        self.before[block] + nonzeros(block * Rank::BLOCK..i)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.before)
    }
}
