//! How much memory solvers need while they work, for the memory plan.

use crate::space::PANEL;

/// Blocks as wide as a factorisation in memory at once: few if iterations are expensive, more if a Krylov basis is
/// kept.
pub const WORK_BLOCKS: u64 = 5;
pub(super) const KRYLOV_BLOCKS: u64 = 9;
/// Those of the second basis of a matrix that is not symmetric.
pub(super) const LEFT_BLOCKS: u64 = 3;
/// Additional ones of solvers that improve initial factors.
const MORE_BLOCKS: u64 = 2;
/// Panels in addition to the one block of a filter.
const PANELS: u64 = 2;
/// Columns beyond the rank that a solver works with, unless it has an option for it.
pub const OVERSAMPLING: u64 = 8;
/// Blocks in addition to a dense matrix and its factors, of solvers that improve initial factors.
pub(super) const DENSE_BLOCKS: u64 = WORK_BLOCKS + MORE_BLOCKS - 1;

/// Upper bounds on the matrix to be factored.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Rows of the matrix.
    pub rows: u64,
    /// Columns of the matrix.
    pub columns: u64,
    /// Whether there may be fewer rows and columns.
    pub bound: bool,
    /// Entries that are not zero.
    pub entries: u64,
    /// Whether the matrix is symmetric.
    pub symmetric: bool,
    /// Columns of the factors.
    pub rank: u64,
}

/// Columns as tall as the matrix in memory at once.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    /// Columns of one block.
    pub width: u64,
    /// Columns of all blocks.
    pub columns: u64,
    /// Whether the result is one of them; then there is a copy of the values of the matrix.
    pub in_place: bool,
}

impl Held {
    /// Some blocks of one width.
    pub(super) fn blocks(width: u64, blocks: u64) -> Self {
        Held {
            width,
            columns: width * blocks,
            in_place: false,
        }
    }

    /// Those of a Krylov basis.
    pub(super) fn basis(width: u64, symmetric: bool) -> Self {
        Held::blocks(
            width,
            if symmetric {
                KRYLOV_BLOCKS
            } else {
                KRYLOV_BLOCKS + LEFT_BLOCKS
            },
        )
    }

    /// Those of solvers that improve initial factors.
    pub(super) fn improving(rank: u64) -> Self {
        Held::blocks(rank + OVERSAMPLING, WORK_BLOCKS + MORE_BLOCKS)
    }

    /// The one block of a filter, which becomes the result.
    pub(super) fn filtered(width: u64) -> Self {
        Held {
            width,
            columns: width + PANELS * width.min(PANEL as u64),
            in_place: true,
        }
    }
}
