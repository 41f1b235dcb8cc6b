//! [`Group`]: some columns of a tall matrix, in memory or stored elsewhere, for all rows or for a few.
//!
//! What is stored elsewhere is read in row order through a buffer of a few thousand values, so a matrix
//! larger than memory is multiplied like any other, chunk by chunk and with the same bits.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::norms;
use super::{Block, Norm, Panels};
use crate::error;
use crate::storage::Storage;

/// Values written to a file at a time.
const WRITTEN: usize = 1 << 16;
/// Values read ahead if they are stored elsewhere.
const AHEAD: usize = 1 << 14;

/// Rows of values kept elsewhere, such as in a file.
pub trait Stored: Debug + Send + Sync {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Number of columns.
    fn cols(&self) -> usize;
    /// Writes rows `range`, row-major, into `to`. Products cannot fail: what cannot be read becomes zero,
    /// and the owner of the rows reports the error.
    fn read(&self, range: Range<usize>, to: &mut [f32]);
    /// Rows `range`, row after row; `buffer` serves those that are not in memory.
    fn slice<'a>(&'a self, range: Range<usize>, buffer: &'a mut Vec<f32>) -> &'a [f32] {
        buffer.resize(range.len() * self.cols(), 0.0);
        self.read(range, buffer);
        buffer
    }
    /// Bytes in memory.
    fn memory(&self) -> usize {
        0
    }
    /// Fails if a row could not be read, once for each failure.
    fn check(&self) -> error::Result<()> {
        Ok(())
    }
    /// Lengths of the columns, if they are known without reading.
    fn lengths(&self) -> Option<Vec<f64>> {
        None
    }
    /// The owner of the rows, for an engine that recognises its own.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
}

impl Stored for Panels {
    fn rows(&self) -> usize {
        Panels::rows(self)
    }

    fn cols(&self) -> usize {
        Panels::cols(self)
    }

    fn read(&self, range: Range<usize>, to: &mut [f32]) {
        Panels::read(self, &range, to);
    }

    fn memory(&self) -> usize {
        Panels::memory(self)
    }

    fn check(&self) -> error::Result<()> {
        self.as_slice().iter().try_for_each(Block::check)
    }
}

/// A block, whose rows are read where they are.
impl Stored for Block {
    fn rows(&self) -> usize {
        Block::rows(self)
    }

    fn cols(&self) -> usize {
        Block::cols(self)
    }

    fn read(&self, range: Range<usize>, to: &mut [f32]) {
        to.copy_from_slice(self.rows_slice(range));
    }

    fn slice<'a>(&'a self, range: Range<usize>, _buffer: &'a mut Vec<f32>) -> &'a [f32] {
        self.rows_slice(range)
    }

    fn memory(&self) -> usize {
        Block::memory(self)
    }
}

/// Some columns of a tall matrix.
#[derive(Debug, Clone)]
pub struct Group {
    /// The numbers of the rows that have values, when they are not all rows.
    rows: Option<Vec<u32>>,
    values: Values,
    whole: Option<Whole>,
}

/// Statistics of all rows, if only some are present.
#[derive(Debug, Clone)]
struct Whole {
    /// Rows that have values.
    stored_rows: usize,
    /// Lengths of the columns.
    lengths: Vec<f64>,
}

#[derive(Debug, Clone)]
enum Values {
    Held(Block),
    Stored {
        stored: Arc<dyn Stored>,
        /// The rows of what is stored.
        range: Range<usize>,
        /// Multiply the values in f64, one after the other, each with its own rounding as for a block in memory.
        factors: Vec<f64>,
    },
}

impl Group {
    /// Columns stored for every row.
    pub fn full(block: Block) -> Self {
        Group::of(None, Values::Held(block))
    }

    /// Columns that are zero outside `rows`, which strictly ascend: row i of the block is row `rows[i]`.
    ///
    /// # Panics
    /// When there are not as many rows as in the block, or they do not ascend.
    pub fn partial(rows: Vec<u32>, block: Block) -> Self {
        Group::of(Some(rows), Values::Held(block))
    }

    /// Columns kept elsewhere, zero outside `rows` where these are given.
    ///
    /// # Panics
    /// As [`Group::partial`].
    pub fn stored(rows: Option<Vec<u32>>, stored: Arc<dyn Stored>) -> Self {
        let values = Values::Stored {
            range: 0..stored.rows(),
            stored,
            factors: Vec::new(),
        };
        Group::of(rows, values)
    }

    /// Panels that stand for columns of all rows, or of `rows` only.
    ///
    /// # Panics
    /// As [`Group::partial`].
    pub fn panels(rows: Option<Vec<u32>>, panels: Panels) -> Self {
        match panels.as_slice() {
            [only] if !only.is_in_file() => Group::of(rows, Values::Held(panels.into_block())),
            _ => Group::stored(rows, Arc::new(panels)),
        }
    }

    /// The same columns with their values in a temporary file of a folder.
    pub fn in_file(self, folder: &Path) -> error::Result<Self> {
        let (rows, cols) = (self.stored_rows(), self.cols());
        let piece = (WRITTEN / cols.max(1)).max(1) * cols;
        let values = Storage::write(folder, rows * cols, piece, |range, to| {
            self.read(range.start / cols..range.end / cols, to);
            Ok(())
        })?;
        self.check()?;
        let panels = Panels::from(Block::of_storage(rows, cols, values));
        Ok(Group {
            whole: self.whole,
            ..Group::panels(self.rows, panels)
        })
    }

    /// Rows that a process holds of a matrix with `rows` rows, given the lengths of all columns.
    pub fn own_rows(panels: Panels, rows: usize, lengths: Vec<f64>) -> Self {
        Group {
            whole: Some(Whole {
                stored_rows: rows,
                lengths,
            }),
            ..Group::panels(None, panels)
        }
    }

    fn of(rows: Option<Vec<u32>>, values: Values) -> Self {
        let group = Group {
            rows,
            values,
            whole: None,
        };
        if let Some(rows) = &group.rows {
            assert_eq!(rows.len(), group.stored_rows(), "one number a stored row");
            assert!(rows.is_sorted_by(|a, b| a < b), "rows do not ascend");
        }
        group
    }

    /// The same columns of all rows as columns that are zero outside `rows`, where these are given.
    ///
    /// # Panics
    /// As [`Group::partial`].
    #[must_use]
    pub fn with_rows(self, rows: Option<Vec<u32>>) -> Self {
        Group {
            whole: self.whole,
            ..Group::of(rows, self.values)
        }
    }

    /// Where the values of row `i` are stored; nowhere when they are zero.
    pub fn stored_row(&self, i: usize) -> Option<usize> {
        self.rows
            .as_ref()
            .map_or(Some(i), |rows| rows.binary_search(&(i as u32)).ok())
    }

    /// Where the values of rows `range` are stored.
    fn stored_range(&self, range: &Range<usize>) -> Range<usize> {
        let Some(rows) = &self.rows else {
            return range.clone();
        };
        let below = |end: usize| move |&row: &u32| (row as usize) < end;
        let first = rows.partition_point(below(range.start));
        first..first + rows[first..].partition_point(below(range.end))
    }

    /// The values, when they are in memory.
    pub fn block(&self) -> Option<&Block> {
        match &self.values {
            Values::Held(block) => Some(block),
            Values::Stored { .. } => None,
        }
    }

    /// The values stored elsewhere, and their factor.
    pub fn elsewhere(&self) -> Option<(&dyn Stored, f64)> {
        match &self.values {
            Values::Held(_) => None,
            Values::Stored {
                stored, factors, ..
            } => Some((&**stored, factors.iter().product())),
        }
    }

    /// The block, where it is in memory and has all rows that are present.
    pub(super) fn into_whole(self) -> Result<Block, Group> {
        match self {
            Group {
                rows: None,
                values: Values::Held(block),
                ..
            } => Ok(block),
            other => Err(other),
        }
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        match &self.values {
            Values::Held(block) => block.cols(),
            Values::Stored { stored, .. } => stored.cols(),
        }
    }

    /// Number of rows that have values.
    pub fn stored_rows(&self) -> usize {
        match &self.values {
            Values::Held(block) => block.rows(),
            Values::Stored { range, .. } => range.len(),
        }
    }

    /// The numbers of these rows, when they are not all rows.
    pub fn rows(&self) -> Option<&[u32]> {
        self.rows.as_deref()
    }

    /// Bytes in memory.
    pub fn memory(&self) -> usize {
        let values = match &self.values {
            Values::Held(block) => block.memory(),
            Values::Stored { stored, .. } => stored.memory(),
        };
        values + self.rows.as_ref().map_or(0, |rows| 4 * rows.len())
    }

    /// The same columns times a factor.
    #[must_use]
    pub fn scaled(mut self, factor: f64) -> Self {
        let lengths = self.whole.iter_mut().flat_map(|whole| &mut whole.lengths);
        lengths.for_each(|length| *length *= factor.abs());
        match &mut self.values {
            Values::Held(block) => block.scale_columns(&vec![factor; block.cols()]),
            Values::Stored { factors, .. } => factors.push(factor),
        }
        self
    }

    /// Only rows `range` of the matrix, renumbered from 0; statistics of the whole are kept. Values in memory are copied, so that
    /// the rest can be freed.
    #[must_use]
    pub fn part(mut self, range: &Range<usize>) -> Self {
        let kept = self.stored_range(range);
        self.whole = Some(Whole {
            stored_rows: self.stored_rows(),
            lengths: self.column_norms(Norm::L2),
        });
        self.values = match self.values {
            Values::Stored {
                stored,
                range: all,
                factors,
            } if stored.memory() == 0 => Values::Stored {
                stored,
                range: all.start + kept.start..all.start + kept.end,
                factors,
            },
            _ => {
                let mut block = Block::zeros(kept.len(), self.cols());
                self.read(kept.clone(), block.as_mut_slice());
                Values::Held(block)
            }
        };
        let renumbered = |row: &u32| row - range.start as u32;
        self.rows = self
            .rows
            .map(|rows| rows[kept].iter().map(renumbered).collect());
        self
    }

    /// Whether these are some rows of a larger matrix.
    pub fn is_part(&self) -> bool {
        self.whole.is_some()
    }

    /// Number of rows that have values in the whole matrix.
    pub(super) fn whole_rows(&self) -> usize {
        self.whole
            .as_ref()
            .map_or_else(|| self.stored_rows(), |whole| whole.stored_rows)
    }

    /// The norm of each column of the whole matrix, in f64.
    pub fn column_norms(&self, norm: Norm) -> Vec<f64> {
        if let Some(whole) = &self.whole {
            assert_eq!(norm, Norm::L2, "of a part, lengths of the whole are known");
            return whole.lengths.clone();
        }
        let elsewhere = self.elsewhere().filter(|_| norm == Norm::L2);
        let known = elsewhere.and_then(|(values, factor)| Some((values.lengths()?, factor.abs())));
        match known {
            Some((lengths, factor)) => lengths.into_iter().map(|length| length * factor).collect(),
            None => norms::column_norms(self, norm),
        }
    }

    /// The sum of the squares of all values of the whole matrix.
    pub fn energy(&self) -> f64 {
        let lengths = self.column_norms(Norm::L2);
        lengths.iter().map(|length| length * length).sum()
    }

    /// The mean of each column over the rows that have values.
    pub fn column_means(&self) -> Vec<f64> {
        norms::column_means(self)
    }
}

/// The rows that have values.
impl Stored for Group {
    fn rows(&self) -> usize {
        self.stored_rows()
    }

    fn cols(&self) -> usize {
        Group::cols(self)
    }

    fn read(&self, rows: Range<usize>, to: &mut [f32]) {
        match &self.values {
            Values::Held(block) => Stored::read(block, rows, to),
            Values::Stored {
                stored,
                range,
                factors,
            } => {
                stored.read(range.start + rows.start..range.start + rows.end, to);
                for factor in factors {
                    to.iter_mut()
                        .for_each(|value| *value = (f64::from(*value) * factor) as f32);
                }
            }
        }
    }

    fn slice<'a>(&'a self, range: Range<usize>, buffer: &'a mut Vec<f32>) -> &'a [f32] {
        if let Values::Held(block) = &self.values {
            return block.rows_slice(range);
        }
        buffer.resize(range.len() * Group::cols(self), 0.0);
        self.read(range, buffer);
        buffer
    }

    fn memory(&self) -> usize {
        Group::memory(self)
    }

    fn check(&self) -> error::Result<()> {
        match &self.values {
            Values::Held(_) => Ok(()),
            Values::Stored { stored, .. } => stored.check(),
        }
    }
}

/// Groups side by side, read row after row: a window that moves down.
pub(super) struct Window<'a> {
    cursors: Vec<Cursor<'a>>,
    width: usize,
}

/// A place in a group, with what was read ahead where it is stored elsewhere.
struct Cursor<'a> {
    group: &'a Group,
    /// The first column of the group in the window.
    first: usize,
    ahead: Range<usize>,
    buffer: Vec<f32>,
}

impl<'a> Window<'a> {
    /// A window on some groups, left to right.
    pub(super) fn new(groups: impl IntoIterator<Item = &'a Group>) -> Self {
        let mut width = 0;
        let cursor = |group: &'a Group| {
            width += group.cols();
            Cursor {
                group,
                first: width - group.cols(),
                ahead: 0..0,
                buffer: Vec::new(),
            }
        };
        let cursors = groups.into_iter().map(cursor).collect();
        Window { cursors, width }
    }

    /// Writes rows `range` of the matrix into `to`, row-major.
    pub(super) fn read<T: Copy + Default>(
        &mut self,
        range: &Range<usize>,
        to: &mut [T],
        as_t: impl Fn(f32) -> T,
    ) {
        to.fill(T::default());
        let width = self.width;
        self.each(range, |i, first, values| {
            let to = &mut to[(i - range.start) * width + first..][..values.len()];
            to.iter_mut()
                .zip(values)
                .for_each(|(to, &value)| *to = as_t(value));
        });
    }

    /// Calls `f` with row, first column and values of all that is stored of rows `range`, group by group.
    pub(super) fn each(&mut self, range: &Range<usize>, mut f: impl FnMut(usize, usize, &[f32])) {
        for cursor in &mut self.cursors {
            let (group, first, cols) = (cursor.group, cursor.first, cursor.group.cols());
            let stored = group.stored_range(range);
            if cols == 0 || stored.is_empty() {
                continue;
            }
            let values = cursor.slice(stored.clone()).chunks_exact(cols);
            match &group.rows {
                None => stored
                    .zip(values)
                    .for_each(|(i, values)| f(i, first, values)),
                Some(rows) => rows[stored]
                    .iter()
                    .zip(values)
                    .for_each(|(&i, values)| f(i as usize, first, values)),
            }
        }
    }
}

impl Cursor<'_> {
    fn slice(&mut self, range: Range<usize>) -> &[f32] {
        if let Values::Held(block) = &self.group.values {
            return block.rows_slice(range);
        }
        let cols = self.group.cols();
        if range.start < self.ahead.start || self.ahead.end < range.end {
            let ahead = range.end.max(range.start + AHEAD / cols);
            self.ahead = range.start..ahead.min(self.group.stored_rows());
            self.group.slice(self.ahead.clone(), &mut self.buffer);
        }
        &self.buffer[(range.start - self.ahead.start) * cols..(range.end - self.ahead.start) * cols]
    }
}
