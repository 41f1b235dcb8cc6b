//! [`Tall`]: a matrix of a model with one row per node, in memory or still in the file of the model.
//!
//! A model of a million nodes is 1 GB, nearly all of it two such matrices. Placing new nodes needs the rows of their neighbours
//! alone, so these matrices may wait in the file, and some rows be picked. The file has a checksum of every 16 kB of them: what is
//! read is compared first, and damage elsewhere does no harm. Cost: the pieces that the rows are in are read; the rows are held.

use std::borrow::Cow;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file::{VECTORS, moderate};
use crate::dense::Block;
use crate::error::{Error, Result};
use crate::parallel;
use crate::storage::read_exactly;
use crate::store::tensors::{Located, finite};

/// What to do about a file that is no model, or a damaged one.
pub(super) const REMEDY: &str = "give a file that was saved as a model, or save it again";

/// Bytes that have a checksum of their own, or one row where that is more.
const PIECE: usize = 1 << 14;

/// Pieces that are read together, where one follows the other: they stay in the caches between reading, summing and picking.
const TOGETHER: usize = 16;

/// Rows that a task picks.
const PICKED: usize = 1 << 12;

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
    file: Arc<File>,
    path: PathBuf,
    name: String,
    at: Located,
    /// CRC-32 of each piece.
    sums: Vec<u32>,
}

/// What fills a part of some rows, given its number.
type Fill<'a> = &'a (dyn Fn(usize, &mut [f32]) -> Result<()> + Sync);

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
    /// A matrix that stays in an open file, with the checksums of its pieces.
    pub(super) fn waiting(
        file: &Arc<File>,
        path: &Path,
        name: &str,
        (at, sums): (Located, Vec<u32>),
    ) -> Result<Tall, String> {
        let bytes = 4 * at.rows * at.cols;
        if sums.len() != bytes.div_ceil(piece(at.cols).max(1)) {
            return Err(format!("`{name}` does not have one checksum per piece"));
        }
        Ok(Tall(Place::InFile(Waiting {
            file: Arc::clone(file),
            path: path.to_owned(),
            name: name.to_owned(),
            at,
            sums,
        })))
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
            Place::InFile(waiting) => Ok(Cow::Owned(waiting.all()?)),
        }
    }

    /// All rows, if they are in memory.
    pub(super) fn held(&self) -> Option<&Block> {
        match &self.0 {
            Place::Held(block) => Some(block),
            Place::InFile(_) => None,
        }
    }

    /// Some rows, which ascend; where the matrix is in memory, all of them.
    pub(in crate::embed) fn some(&self, numbers: Vec<u32>) -> Result<Picked<'_>> {
        let Place::InFile(waiting) = &self.0 else {
            return Ok(Picked {
                rows: self.whole()?,
                numbers: None,
            });
        };
        let rows = waiting.filled(numbers.len(), PICKED, &|k, part| {
            waiting.pick(&numbers[k * PICKED..], part)
        })?;
        Ok(Picked {
            rows: Cow::Owned(rows),
            numbers: Some(numbers),
        })
    }
}

/// Rows of a piece.
fn rows_of_piece(cols: usize) -> usize {
    (PIECE / (4 * cols).max(1)).max(1)
}

/// Bytes of a piece of a matrix with so many columns.
pub(super) fn piece(cols: usize) -> usize {
    rows_of_piece(cols) * 4 * cols
}

impl Waiting {
    /// All rows.
    fn all(&self) -> Result<Block> {
        let height = TOGETHER * rows_of_piece(self.at.cols);
        self.filled(self.at.rows, height, &|k, part| {
            self.read(k * TOGETHER, part)
        })
    }

    /// So many rows, of which `fill` reads `height` at a time, unless a value is one that no fit gives.
    fn filled(&self, rows: usize, height: usize, fill: Fill) -> Result<Block> {
        let mut block = Block::zeros(rows, self.at.cols);
        let parts = block
            .as_mut_slice()
            .chunks_mut((height * self.at.cols).max(1))
            .collect();
        parallel::try_each(parts, &|k, part: &mut [f32]| {
            fill(k, part)?;
            self.check(part)
                .map_err(|message| Error::input(&self.path, message, REMEDY))
        })?;
        Ok(block)
    }

    /// Vectors may have the largest finite numbers; factors are orthonormal but for a scale.
    fn check(&self, values: &[f32]) -> Result<(), String> {
        match &*self.name {
            VECTORS => finite(VECTORS, values),
            factors => moderate(factors, values),
        }
    }

    /// Fills `to` with the first of some rows, which ascend.
    fn pick(&self, numbers: &[u32], to: &mut [f32]) -> Result<()> {
        let (cols, height) = (self.at.cols, rows_of_piece(self.at.cols));
        let mut values = Vec::new();
        let (mut rest, mut to) = (&numbers[..to.len() / cols], to.chunks_exact_mut(cols));
        while let Some(&first) = rest.first() {
            let (pieces, count) = run(rest, height);
            let rows = pieces.start * height..self.at.rows.min(pieces.end * height);
            values.resize(rows.len() * cols, 0f32);
            self.read(first as usize / height, &mut values)?;
            for (&row, to) in rest[..count].iter().zip(&mut to) {
                to.copy_from_slice(&values[(row as usize - rows.start) * cols..][..cols]);
            }
            rest = &rest[count..];
        }
        Ok(())
    }

    /// Reads values from the beginning of a piece on, to the end of another. Fails when a checksum is another.
    fn read(&self, first: usize, values: &mut [f32]) -> Result<()> {
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
        let length = piece(self.at.cols).max(1);
        let start = self.at.start + (first * length) as u64;
        read_exactly(&self.file, bytes, start).map_err(|e| Error::io(&self.path, e))?;
        if bytes
            .chunks(length)
            .zip(&self.sums[first..])
            .any(|(piece, &sum)| crc32fast::hash(piece) != sum)
        {
            let message = format!("`{}` is damaged: the checksum does not match", self.name);
            return Err(Error::input(&self.path, message, REMEDY));
        }
        Ok(())
    }
}

/// Pieces without a gap that the first of some rows are in, and how many of these rows are.
fn run(rows: &[u32], height: usize) -> (Range<usize>, usize) {
    let piece = |row: u32| row as usize / height;
    let mut pieces = piece(rows[0])..piece(rows[0]) + 1;
    let follows = |row: &&u32| {
        let next = piece(**row);
        pieces.end += usize::from(next == pieces.end && pieces.len() < TOGETHER);
        next < pieces.end
    };
    let count = rows.iter().take_while(follows).count();
    (pieces, count)
}

impl Picked<'_> {
    /// A row of the matrix, one of those that were picked.
    ///
    /// # Panics
    /// When it is not.
    pub(in crate::embed) fn row(&self, number: u32) -> &[f32] {
        let at = match &self.numbers {
            None => number as usize,
            Some(numbers) => numbers
                .binary_search(&number)
                .expect("a row that was picked"),
        };
        self.rows.row(at)
    }
}

impl<'a> From<Cow<'a, Block>> for Picked<'a> {
    fn from(rows: Cow<'a, Block>) -> Picked<'a> {
        Picked {
            rows,
            numbers: None,
        }
    }
}

impl From<Block> for Picked<'_> {
    fn from(rows: Block) -> Self {
        Picked {
            rows: Cow::Owned(rows),
            numbers: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Key;

    /// A matrix in a file, behind some other bytes.
    fn waiting(block: &Block, folder: &Path) -> (Tall, PathBuf) {
        let (path, bytes) = (
            folder.join("m"),
            bytemuck::cast_slice::<f32, u8>(block.as_slice()),
        );
        std::fs::write(&path, [b"before".as_slice(), bytes].concat()).expect("written");
        let sums = bytes
            .chunks(piece(block.cols()).max(1))
            .map(crc32fast::hash)
            .collect();
        let at = Located {
            start: 6,
            rows: block.rows(),
            cols: block.cols(),
        };
        let file = Arc::new(File::open(&path).expect("there"));
        (
            Tall::waiting(&file, &path, "m", (at, sums)).expect("one sum per piece"),
            path,
        )
    }

    #[test]
    fn picked_rows_are_those_of_the_matrix() {
        let folder = tempfile::tempdir().expect("made");
        for (rows, cols) in [(1, 1), (5000, 3), (40_000, 7), (9, 5000), (20_000, 0)] {
            let block = Block::random(rows, cols, Key::new(rows as u64));
            let (tall, _) = waiting(&block, folder.path());
            assert_eq!(*tall.whole().expect("read"), block);
            for every in [1, 2, 37, 4000] {
                let numbers: Vec<u32> = (0..rows as u32).step_by(every).collect();
                let picked = tall.some(numbers.clone()).expect("read");
                assert!(
                    numbers
                        .iter()
                        .all(|&i| picked.row(i) == block.row(i as usize)),
                    "{rows} × {cols}, {every}"
                );
            }
            assert_eq!(
                tall.some(Vec::new()).expect("nothing to read").rows.rows(),
                0
            );
        }
    }

    /// Damage is found where it is read, and only there.
    #[test]
    fn damaged_pieces_are_refused() {
        let folder = tempfile::tempdir().expect("made");
        let block = Block::random(10_000, 4, Key::new(1));
        let (tall, path) = waiting(&block, folder.path());
        let mut bytes = std::fs::read(&path).expect("there");
        let height = rows_of_piece(4) as u32;
        bytes[6 + 3 * piece(4) + 17] ^= 4;
        std::fs::write(&path, &bytes).expect("written");
        let refused = |numbers: Vec<u32>| {
            tall.some(numbers)
                .map(|_| ())
                .is_err_and(|e| e.to_string().contains("damaged"))
        };
        assert!(
            tall.whole()
                .is_err_and(|e| e.to_string().contains("damaged"))
        );
        assert!(refused(vec![3 * height]) && refused(vec![0, 4 * height - 1]));
        assert!(!refused(vec![0, 3 * height - 1, 4 * height]));
        bytes.truncate(bytes.len() - 1);
        std::fs::write(&path, &bytes).expect("written");
        assert!(tall.some(vec![9999]).is_err() && tall.some(vec![0]).is_ok());
    }
}
