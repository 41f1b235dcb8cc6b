//! [`Tall`]: a matrix of a model with one row per node, in memory or still in the file of the model.
//!
//! A model of a million nodes is 1 GB, nearly all of it two such matrices. Placing new nodes needs the rows of their neighbours
//! alone, so these matrices may stay in the file, and some rows be read. The file has a checksum of every 16 kB of them: what is
//! read is compared first, and damage elsewhere does no harm. Cost: the pieces that the rows are in are read; the rows are held.

use std::borrow::Cow;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::{REMEDY, check_values};
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::parallel;
use crate::storage::read_exactly;
use crate::store::tensors::{Located, Tensors};

/// Bytes that have a checksum of their own, or one row where that is more.
const PIECE: usize = 1 << 14;
/// Pieces that one task reads.
const PIECES: usize = 16;

/// A tall matrix.
#[derive(Debug, Clone)]
pub(in crate::embed) enum Tall {
    Memory(Block),
    File(InFile),
}

/// A matrix in a file.
#[derive(Debug, Clone)]
pub(in crate::embed) struct InFile {
    file: Arc<File>,
    path: PathBuf,
    name: String,
    at: Located,
    /// CRC-32 of each piece.
    sums: Vec<u32>,
}

/// Rows of a tall matrix.
pub(in crate::embed) struct Rows<'a> {
    rows: Cow<'a, Block>,
    /// Which row of the matrix each is, ascending; nothing for all rows.
    numbers: Option<Vec<u32>>,
}

impl From<Block> for Tall {
    fn from(block: Block) -> Tall {
        Tall::Memory(block)
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
    pub(super) fn in_file(
        file: &Arc<File>,
        path: &Path,
        name: &str,
        tensors: &Tensors,
    ) -> Result<Tall, String> {
        let at = tensors.located(name)?;
        let sums: Vec<u32> = tensors.values(&format!("{name}.sums"))?;
        if sums.len() != (4 * at.rows * at.cols).div_ceil(piece(at.cols).max(1)) {
            return Err(format!("`{name}` does not have one checksum per piece"));
        }
        Ok(Tall::File(InFile {
            file: Arc::clone(file),
            path: path.to_owned(),
            name: name.to_owned(),
            at,
            sums,
        }))
    }

    pub(in crate::embed) fn rows(&self) -> usize {
        match self {
            Tall::Memory(block) => block.rows(),
            Tall::File(matrix) => matrix.at.rows,
        }
    }

    pub(in crate::embed) fn cols(&self) -> usize {
        match self {
            Tall::Memory(block) => block.cols(),
            Tall::File(matrix) => matrix.at.cols,
        }
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        match self {
            Tall::Memory(block) => block.memory(),
            Tall::File(_) => 0,
        }
    }

    /// All rows.
    pub(in crate::embed) fn whole(&self) -> Result<Cow<'_, Block>> {
        match self {
            Tall::Memory(block) => Ok(Cow::Borrowed(block)),
            Tall::File(matrix) => Ok(Cow::Owned(matrix.read(None)?)),
        }
    }

    /// Some rows, which ascend; where the matrix is in memory, all of them.
    pub(in crate::embed) fn some(&self, numbers: Vec<u32>) -> Result<Rows<'_>> {
        match self {
            Tall::Memory(block) => Ok(Cow::Borrowed(block).into()),
            Tall::File(matrix) => Ok(Rows::some(matrix.read(Some(&numbers))?, numbers)),
        }
    }
}

/// Rows of a piece.
fn height(cols: usize) -> usize {
    (PIECE / (4 * cols).max(1)).max(1)
}

/// Bytes of a piece of a matrix with so many columns.
pub(super) fn piece(cols: usize) -> usize {
    height(cols) * 4 * cols
}

impl InFile {
    /// Some rows, which ascend, or all.
    fn read(&self, numbers: Option<&[u32]>) -> Result<Block> {
        let (cols, height) = (self.at.cols, height(self.at.cols));
        let number = |k: usize| numbers.map_or(k, |numbers| numbers[k] as usize);
        let mut block = Block::zeros(numbers.map_or(self.at.rows, <[u32]>::len), cols);
        let task = PIECES * height;
        let parts = block.as_mut_slice().chunks_mut((task * cols).max(1));
        parallel::try_each(parts.collect(), &|part, to: &mut [f32]| {
            let (mut piece, mut values) = (usize::MAX, Vec::new());
            for (k, to) in to.chunks_exact_mut(cols).enumerate() {
                let row = number(part * task + k);
                if row / height != piece {
                    piece = row / height;
                    self.read_piece(piece, &mut values)?;
                }
                to.copy_from_slice(&values[row % height * cols..][..cols]);
            }
            Ok(())
        })?;
        Ok(block)
    }

    /// Reads a piece. Fails when its checksum is another, or a value is one that no fit gives.
    fn read_piece(&self, number: usize, values: &mut Vec<f32>) -> Result<()> {
        let (cols, height) = (self.at.cols, height(self.at.cols));
        let rows = height.min(self.at.rows - number * height);
        values.resize(rows * cols, 0.0);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
        let start = self.at.start + (number * piece(cols)) as u64;
        read_exactly(&self.file, bytes, start).map_err(|e| Error::io(&self.path, e))?;
        let checked = match crc32fast::hash(bytes) == self.sums[number] {
            true => check_values(&self.name, values),
            false => Err(format!(
                "`{}` is damaged: the checksum does not match",
                self.name
            )),
        };
        checked.map_err(|message| Error::input(&self.path, message, REMEDY))
    }
}

impl Rows<'_> {
    /// Rows with these numbers, which ascend.
    pub(in crate::embed) fn some(rows: Block, numbers: Vec<u32>) -> Self {
        Rows {
            rows: Cow::Owned(rows),
            numbers: Some(numbers),
        }
    }

    pub(in crate::embed) fn cols(&self) -> usize {
        self.rows.cols()
    }

    /// All that were read.
    pub(in crate::embed) fn all_mut(&mut self) -> &mut Block {
        self.rows.to_mut()
    }

    /// A row of the matrix, one of those that were read.
    ///
    /// # Panics
    /// When it is not.
    pub(in crate::embed) fn row(&self, number: u32) -> &[f32] {
        let find =
            |numbers: &Vec<u32>| numbers.binary_search(&number).expect("a row that was read");
        let at = self.numbers.as_ref().map_or(number as usize, find);
        self.rows.row(at)
    }
}

impl<'a> From<Cow<'a, Block>> for Rows<'a> {
    fn from(rows: Cow<'a, Block>) -> Rows<'a> {
        Rows {
            rows,
            numbers: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Key;

    /// A matrix in a file, behind some other bytes.
    fn in_file(block: &Block, folder: &Path) -> Tall {
        let path = folder.join("m");
        let bytes: &[u8] = bytemuck::cast_slice(block.as_slice());
        std::fs::write(&path, [b"before", bytes].concat()).expect("written");
        let pieces = bytes.chunks(piece(block.cols()).max(1));
        let matrix = InFile {
            file: Arc::new(File::open(&path).expect("there")),
            path,
            name: "m".into(),
            at: Located {
                start: 6,
                rows: block.rows(),
                cols: block.cols(),
            },
            sums: pieces.map(crc32fast::hash).collect(),
        };
        Tall::File(matrix)
    }

    #[test]
    fn some_rows_are_those_of_the_matrix() {
        let folder = tempfile::tempdir().expect("made");
        for (rows, cols) in [(1, 1), (5000, 3), (40_000, 7), (9, 5000), (20_000, 0)] {
            let block = Block::random(rows, cols, Key::new(rows as u64));
            let tall = in_file(&block, folder.path());
            assert_eq!(*tall.whole().expect("read"), block);
            for every in [1, 2, 37, 4000] {
                let numbers: Vec<u32> = (0..rows as u32).step_by(every).collect();
                let some = tall.some(numbers.clone()).expect("read");
                assert!(
                    numbers
                        .iter()
                        .all(|&i| some.row(i) == block.row(i as usize)),
                    "{rows} × {cols}, {every}"
                );
            }
            assert_eq!(
                tall.some(Vec::new()).expect("nothing to read").rows.rows(),
                0
            );
        }
    }
}
