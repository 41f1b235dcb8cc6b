//! [`Group`]: some columns of a tall matrix, in memory or stored elsewhere, for all rows or for a few.
//!
//! What is stored elsewhere is read in row order through a buffer of a few thousand values, so a matrix
//! larger than memory is multiplied like any other, chunk by chunk and with the same bits.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

use super::norms;
use super::{Block, Norm, Panels};

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
    /// Lengths of the columns, if they are known without reading.
    fn lengths(&self) -> Option<Vec<f64>> {
        None
    }
    /// The concrete type, so that a device can recognise its own values.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
}

/// Panels as columns of a larger matrix.
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
    /// To be multiplied by the factor, if there is one, in f64.
    Stored(Arc<dyn Stored>, Option<f64>),
}

impl Group {
    /// Columns stored for every row.
    pub fn full(block: Block) -> Self {
        Group::of(None, Values::Held(block))
    }

    fn of(rows: Option<Vec<u32>>, values: Values) -> Self {
        if let Some(rows) = &rows {
            assert_eq!(rows.len(), values.rows(), "one number a stored row");
            assert!(rows.is_sorted_by(|a, b| a < b), "rows do not ascend");
        }
        Group {
            rows,
            values,
            whole: None,
        }
    }

    /// Panels that stand for columns of all rows, or of `rows` only.
    ///
    /// # Panics
    /// As [`Group::partial`].
    pub fn panels(rows: Option<Vec<u32>>, panels: Panels) -> Self {
        let values = match panels.as_slice() {
            [_] => Values::Held(panels.into_block()),
            _ => Values::Stored(Arc::new(panels), None),
        };
        Group::of(rows, values)
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

    /// Columns that are zero outside `rows`, which strictly ascend: row i of the block is row `rows[i]`.
    ///
    /// # Panics
    /// When there are not as many rows as in the block, or they do not ascend.
    pub fn partial(rows: Vec<u32>, block: Block) -> Self {
        Group::of(Some(rows), Values::Held(block))
    }

    /// Where the values of row `i` are stored; nowhere when they are zero.
    pub fn stored_row(&self, i: usize) -> Option<usize> {
        self.rows
            .as_ref()
            .map_or(Some(i), |rows| rows.binary_search(&(i as u32)).ok())
    }

    /// Columns kept elsewhere, zero outside `rows` where these are given.
    ///
    /// # Panics
    /// As [`Group::partial`].
    pub fn stored(rows: Option<Vec<u32>>, values: Arc<dyn Stored>) -> Self {
        Group::of(rows, Values::Stored(values, None))
    }

    /// The values, when they are in memory.
    pub fn block(&self) -> Option<&Block> {
        match &self.values {
            Values::Held(block) => Some(block),
            Values::Stored(..) => None,
        }
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

    /// The values stored elsewhere, and their factor.
    pub fn elsewhere(&self) -> Option<(&dyn Stored, f64)> {
        match &self.values {
            Values::Held(_) => None,
            Values::Stored(values, factor) => Some((&**values, factor.unwrap_or(1.0))),
        }
    }

    /// The block, where it is in memory and has all rows.
    pub(super) fn into_whole(self) -> Result<Block, Group> {
        match self {
            Group {
                rows: None,
                values: Values::Held(block),
                whole: None,
            } => Ok(block),
            other => Err(other),
        }
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.values.cols()
    }

    /// Number of rows that have values.
    pub fn stored_rows(&self) -> usize {
        self.values.rows()
    }

    /// The numbers of these rows, when they are not all rows.
    pub fn rows(&self) -> Option<&[u32]> {
        self.rows.as_deref()
    }

    /// Bytes in memory.
    pub fn memory(&self) -> usize {
        self.values.memory() + self.rows.as_ref().map_or(0, |rows| 4 * rows.len())
    }

    /// The same columns times a factor.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let lengths = |lengths: Vec<f64>| {
            lengths
                .into_iter()
                .map(|length| length * factor.abs())
                .collect()
        };
        let whole = self.whole.map(|whole| Whole {
            lengths: lengths(whole.lengths),
            ..whole
        });
        let values = match self.values {
            Values::Held(mut block) => {
                block.scale_columns(&vec![factor; block.cols()]);
                Values::Held(block)
            }
            Values::Stored(values, None) => Values::Stored(values, Some(factor)),
            Values::Stored(values, Some(before)) => {
                let inner = Group::of(None, Values::Stored(values, Some(before)));
                Values::Stored(Arc::new(inner), Some(factor))
            }
        };
        Group {
            rows: self.rows,
            values,
            whole,
        }
    }

    /// Only rows `range` of the matrix, renumbered from 0; statistics of the whole are kept.
    #[must_use]
    pub fn part(self, range: &Range<usize>) -> Self {
        let stored = match &self.rows {
            None => range.clone(),
            Some(rows) => {
                let below = |end: usize| rows.partition_point(|&row| (row as usize) < end);
                below(range.start)..below(range.end)
            }
        };
        let whole = Some(Whole {
            stored_rows: self.stored_rows(),
            lengths: self.column_norms(Norm::L2),
        });
        let rows = self.rows.map(|rows| {
            rows[stored.clone()]
                .iter()
                .map(|row| row - range.start as u32)
                .collect()
        });
        let values = match self.values {
            Values::Held(block) => Values::Held(Block::from_vec(
                stored.len(),
                block.cols(),
                block.rows_slice(stored).to_vec(),
            )),
            // Values in memory are copied, so that the rest can be freed.
            Values::Stored(values, factor) if values.memory() > 0 => {
                let mut block = Block::zeros(stored.len(), values.cols());
                values.read(stored, block.as_mut_slice());
                Values::Stored(Arc::new(Panels::from(block)), factor)
            }
            Values::Stored(values, factor) => Values::Stored(
                Arc::new(Stretch {
                    values,
                    rows: stored,
                }),
                factor,
            ),
        };
        Group {
            rows,
            values,
            whole,
        }
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
        let known = self.elsewhere().filter(|_| norm == Norm::L2);
        let known = known
            .and_then(|(values, factor)| values.lengths().map(|lengths| (lengths, factor.abs())));
        match known {
            Some((lengths, factor)) => lengths.into_iter().map(|length| length * factor).collect(),
            None => norms::column_norms(&self.values, norm),
        }
    }

    /// The mean of each column over the rows that have values.
    pub fn column_means(&self) -> Vec<f64> {
        norms::column_means(&self.values)
    }
}

/// Some rows of what is stored elsewhere.
#[derive(Debug)]
struct Stretch {
    values: Arc<dyn Stored>,
    rows: Range<usize>,
}

impl Stored for Stretch {
    fn rows(&self) -> usize {
        self.rows.len()
    }

    fn cols(&self) -> usize {
        self.values.cols()
    }

    fn read(&self, range: Range<usize>, to: &mut [f32]) {
        self.values.read(
            self.rows.start + range.start..self.rows.start + range.end,
            to,
        );
    }

    fn memory(&self) -> usize {
        self.values.memory()
    }
}

/// Rounds twice, factor by factor, as for a block in memory.
impl Stored for Group {
    fn rows(&self) -> usize {
        self.values.rows()
    }

    fn cols(&self) -> usize {
        self.values.cols()
    }

    fn read(&self, range: Range<usize>, to: &mut [f32]) {
        self.values.read(range, to);
    }

    fn memory(&self) -> usize {
        Group::memory(self)
    }
}

impl Stored for Values {
    fn rows(&self) -> usize {
        match self {
            Values::Held(block) => block.rows(),
            Values::Stored(values, _) => values.rows(),
        }
    }

    fn cols(&self) -> usize {
        match self {
            Values::Held(block) => block.cols(),
            Values::Stored(values, _) => values.cols(),
        }
    }

    fn read(&self, range: Range<usize>, to: &mut [f32]) {
        match self {
            Values::Held(block) => Stored::read(block, range, to),
            Values::Stored(values, factor) => {
                values.read(range, to);
                if let Some(factor) = factor {
                    to.iter_mut()
                        .for_each(|value| *value = (f64::from(*value) * factor) as f32);
                }
            }
        }
    }

    fn slice<'a>(&'a self, range: Range<usize>, buffer: &'a mut Vec<f32>) -> &'a [f32] {
        match self {
            Values::Held(block) => block.rows_slice(range),
            Values::Stored(..) => {
                buffer.resize(range.len() * self.cols(), 0.0);
                self.read(range, buffer);
                buffer
            }
        }
    }

    fn memory(&self) -> usize {
        match self {
            Values::Held(block) => block.memory(),
            Values::Stored(values, _) => values.memory(),
        }
    }
}

/// Groups side by side, read row after row: a window that moves down.
pub(super) struct Window<'a> {
    /// Each with its first column in the window.
    groups: Vec<(Cursor<'a>, usize)>,
    width: usize,
}

impl<'a> Window<'a> {
    /// A window on some groups, left to right.
    pub(super) fn new(groups: impl Iterator<Item = &'a Group>) -> Self {
        let mut width = 0;
        let place = |group: &'a Group| {
            let at = width;
            width += group.cols();
            (
                Cursor {
                    group,
                    ahead: 0..0,
                    buffer: Vec::new(),
                },
                at,
            )
        };
        let groups = groups.map(place).collect();
        Window { groups, width }
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
        for (cursor, at) in &mut self.groups {
            cursor.each(range, |i, values| {
                let to = &mut to[(i - range.start) * width + *at..][..values.len()];
                to.iter_mut()
                    .zip(values)
                    .for_each(|(to, &value)| *to = as_t(value));
            });
        }
    }

    /// Calls `f` with row, first column and values of all that is stored of rows `range`, group by group.
    pub(super) fn each(&mut self, range: &Range<usize>, mut f: impl FnMut(usize, usize, &[f32])) {
        self.groups
            .iter_mut()
            .for_each(|(cursor, at)| cursor.each(range, |i, values| f(i, *at, values)));
    }
}

/// A place in a group, with what was read ahead where it is stored elsewhere.
struct Cursor<'a> {
    group: &'a Group,
    ahead: Range<usize>,
    buffer: Vec<f32>,
}

impl Cursor<'_> {
    /// Calls `f` with every row of the matrix in `range` that has values.
    fn each(&mut self, range: &Range<usize>, mut f: impl FnMut(usize, &[f32])) {
        let (group, cols) = (self.group, self.group.cols());
        if cols == 0 {
            return;
        }
        let stored = match &group.rows {
            None => range.clone(),
            Some(rows) => {
                let below = |end: usize| move |&row: &u32| (row as usize) < end;
                let first = rows.partition_point(below(range.start));
                first..first + rows[first..].partition_point(below(range.end))
            }
        };
        if stored.is_empty() {
            return;
        }
        let values = self.slice(stored.clone()).chunks_exact(cols);
        match &group.rows {
            None => stored.zip(values).for_each(|(i, values)| f(i, values)),
            Some(rows) => rows[stored]
                .iter()
                .zip(values)
                .for_each(|(&i, values)| f(i as usize, values)),
        }
    }

    fn slice(&mut self, range: Range<usize>) -> &[f32] {
        let cols = self.group.cols();
        if let Values::Held(block) = &self.group.values {
            return block.rows_slice(range);
        }
        if range.start < self.ahead.start || self.ahead.end < range.end {
            let end = range
                .end
                .max(range.start + AHEAD / cols)
                .min(self.group.stored_rows());
            self.ahead = range.start..end;
            self.group
                .values
                .slice(self.ahead.clone(), &mut self.buffer);
        }
        &self.buffer[(range.start - self.ahead.start) * cols..(range.end - self.ahead.start) * cols]
    }
}
