//! [`Tall`]: a matrix of a model with one row per node, in memory or still in the file of the model.
//!
//! A model of a million nodes is 1 GB, nearly all of it two such matrices. Placing new nodes needs the rows of their neighbours
//! alone, so these matrices may wait in the file, and some rows be picked. All bytes pass by then too, a piece at a time,
//! and are compared with the checksum: a damaged file is never used in part. Cost: one pass over the bytes; the rows are held.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::dense::Block;
use crate::error::{Error, Result};
use crate::store::tensors::Located;

/// What to do about a file that is no model, or a damaged one.
pub(super) const REMEDY: &str = "give a file that was saved as a model, or save it again";

/// Bytes of a piece, at least one row: they stay in the caches between reading, summing and picking.
const PIECE: usize = 1 << 18;

/// A tall matrix.
#[derive(Debug, Clone)]
pub(in crate::embed) struct Tall(Place);

#[derive(Debug, Clone)]
enum Place {
    Held(Block),
    InFile(Waiting),
}

/// A matrix in a file.
#[derive(Debug, Clone)]
struct Waiting {
    file: Arc<Mutex<File>>,
    path: PathBuf,
    at: Located,
}

/// Rows of a tall matrix.
pub(in crate::embed) struct Picked<'a> {
    rows: Cow<'a, Block>,
    /// Which row of the matrix each is; nothing for all rows.
    numbers: Option<Vec<u32>>,
}

impl From<Block> for Tall {
    fn from(block: Block) -> Tall {
        Tall(Place::Held(block))
    }
}

/// Whether all values are the same; what cannot be read is like nothing.
impl PartialEq for Tall {
    fn eq(&self, other: &Tall) -> bool {
        matches!((self.whole(), other.whole()), (Ok(a), Ok(b)) if a == b)
    }
}

impl Tall {
    /// A matrix that stays in an open file.
    pub(super) fn waiting(file: &Arc<Mutex<File>>, path: &Path, at: Located) -> Tall {
        Tall(Place::InFile(Waiting { file: Arc::clone(file), path: path.to_owned(), at }))
    }

    pub(in crate::embed) fn rows(&self) -> usize {
        match &self.0 {
            Place::Held(block) => block.rows(),
            Place::InFile(waiting) => waiting.at.rows,
        }
    }

    pub(in crate::embed) fn cols(&self) -> usize {
        match &self.0 {
            Place::Held(block) => block.cols(),
            Place::InFile(waiting) => waiting.at.cols,
        }
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        match &self.0 {
            Place::Held(block) => block.memory(),
            Place::InFile(_) => 0,
        }
    }

    /// All rows.
    pub(in crate::embed) fn whole(&self) -> Result<Cow<'_, Block>> {
        match &self.0 {
            Place::Held(block) => Ok(Cow::Borrowed(block)),
            Place::InFile(waiting) => {
                let mut all = Vec::with_capacity(waiting.at.rows * waiting.at.cols);
                waiting.each_piece(|_, values| all.extend_from_slice(values))?;
                Ok(Cow::Owned(waiting.finite(waiting.at.rows, all)?))
            }
        }
    }

    /// Some rows, which ascend; where the matrix is in memory, all of them.
    pub(in crate::embed) fn some(&self, numbers: Vec<u32>) -> Result<Picked<'_>> {
        let Place::InFile(waiting) = &self.0 else { return Ok(Picked { rows: self.whole()?, numbers: None }) };
        let (cols, mut next) = (waiting.at.cols, 0);
        let mut picked = Vec::with_capacity(numbers.len() * cols);
        waiting.each_piece(|first, values| {
            let end = first + values.len() / cols.max(1);
            while let Some(&row) = numbers.get(next).filter(|&&row| (row as usize) < end) {
                picked.extend_from_slice(&values[(row as usize - first) * cols..][..cols]);
                next += 1;
            }
        })?;
        Ok(Picked { rows: Cow::Owned(waiting.finite(next, picked)?), numbers: Some(numbers) })
    }
}

impl Waiting {
    /// Calls `f` with the number of the first row of each piece, and its values. Fails when the checksum is another, after all
    /// pieces.
    fn each_piece(&self, mut f: impl FnMut(usize, &[f32])) -> Result<()> {
        let Located { start, rows, cols, checksum } = self.at;
        let wrong = |message: String| Error::input(&self.path, message, REMEDY);
        let mut file = self.file.lock().map_err(|_| wrong("reading it was interrupted".into()))?;
        let mut read = || -> io::Result<u32> {
            file.seek(SeekFrom::Start(start))?;
            let at_a_time = (PIECE / (4 * cols).max(1)).max(1);
            let mut values = vec![0f32; at_a_time.min(rows) * cols];
            let mut sum = crc32fast::Hasher::new();
            for first in (0..rows).step_by(at_a_time) {
                let values = &mut values[..at_a_time.min(rows - first) * cols];
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
                file.read_exact(bytes)?;
                sum.update(bytes);
                if cfg!(target_endian = "big") {
                    bytes.chunks_exact_mut(4).for_each(<[u8]>::reverse);
                }
                f(first, values);
            }
            Ok(sum.finalize())
        };
        match read().map_err(|e| Error::io(&self.path, e))? == checksum {
            true => Ok(()),
            false => Err(wrong("it is damaged: the checksum of a matrix does not match".into())),
        }
    }

    /// Rows of the matrix, unless a value is none.
    fn finite(&self, rows: usize, values: Vec<f32>) -> Result<Block> {
        if values.iter().all(|value| value.is_finite()) {
            return Ok(Block::from_vec(rows, self.at.cols, values));
        }
        Err(Error::input(&self.path, "a matrix has values that are not finite", REMEDY))
    }
}

impl Picked<'_> {
    /// A row of the matrix, one of those that were picked.
    ///
    /// # Panics
    /// When it is not.
    pub(in crate::embed) fn row(&self, number: u32) -> &[f32] {
        let at = match &self.numbers {
            None => number as usize,
            Some(numbers) => numbers.binary_search(&number).expect("a row that was picked"),
        };
        self.rows.row(at)
    }
}

impl<'a> From<Cow<'a, Block>> for Picked<'a> {
    fn from(rows: Cow<'a, Block>) -> Picked<'a> {
        Picked { rows, numbers: None }
    }
}

impl From<Block> for Picked<'_> {
    fn from(rows: Block) -> Self {
        Picked { rows: Cow::Owned(rows), numbers: None }
    }
}
