//! [`Rows`]: the part of a tall matrix that this process owns.

use std::borrow::Borrow;
use std::ops::Range;

use hone::dense::Block;
use hone::dense::panels::Own;

/// Rows of a tall matrix, with their range and the total number.
#[derive(Debug, Clone)]
pub struct Rows {
    /// Rows of the whole matrix.
    pub(crate) rows: usize,
    /// The rows of this process.
    pub(crate) range: Range<usize>,
    pub(crate) block: Block,
}

impl Rows {
    pub(crate) fn own(&self) -> Own {
        Own {
            rows: self.rows,
            range: self.range.clone(),
        }
    }
}

impl Borrow<Block> for Rows {
    fn borrow(&self) -> &Block {
        &self.block
    }
}

/// Applies a function to the blocks of all panels, in place.
pub(crate) fn change<T>(x: &mut [Rows], change: impl FnOnce(&mut [Block]) -> T) -> T {
    let nothing = || Block::zeros(0, 0);
    let mut blocks: Vec<Block> = x
        .iter_mut()
        .map(|panel| std::mem::replace(&mut panel.block, nothing()))
        .collect();
    let changed = change(&mut blocks);
    x.iter_mut()
        .zip(blocks)
        .for_each(|(panel, block)| panel.block = block);
    changed
}
