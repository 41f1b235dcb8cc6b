//! One part of Y in a file: the only format of spilled parts and of checkpoints.
//!
//! `HONEPART`, four little-endian numbers (version and kind, rows, columns, length of the description), a
//! description in JSON (name, step, names of columns, facts), the row numbers if not all rows are stored
//! (u32), and the values, row after row (f32). All threads can read values at any position at the same
//! time, without moving the file's own position.

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::checkpoint::AGAIN;
use crate::dense::{Block, Group, Stored};
use crate::embed::part::Part;
use crate::error::{Error, Result};
use crate::report::LocalFacts;
use crate::storage::read_at;

const MAGIC: &[u8; 8] = b"HONEPART";
const VERSION: u64 = 1;
/// Added to the version when row numbers follow.
const SOME_ROWS: u64 = 1 << 32;
/// Bytes before the description.
const HEAD: usize = 40;
/// Values converted to bytes, or read, at a time.
const PIECE: usize = 1 << 16;

/// What the values stand for.
#[derive(Serialize, Deserialize)]
struct Description {
    name: String,
    step: usize,
    columns: Vec<String>,
    facts: Option<LocalFacts>,
}

/// The first read that failed, stored until it is checked: products themselves cannot fail.
#[derive(Debug, Default)]
pub(super) struct Faults(Mutex<Option<Error>>);

impl Faults {
    fn note(&self, error: Error) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
    }

    /// The error of the first read that failed, if one did.
    pub(super) fn check(&self) -> Result<()> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
            .map_or(Ok(()), Err)
    }
}

/// Writes a part.
pub(super) fn write(
    part: &Part,
    facts: Option<&LocalFacts>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (rows, cols) = (part.group.stored_rows(), part.group.cols());
    let description = Description {
        name: part.name.clone(),
        step: part.step,
        columns: part.columns.to_vec(),
        facts: facts.cloned(),
    };
    let description = serde_json::to_vec(&description)?;
    let kind = VERSION
        + if part.group.rows().is_some() {
            SOME_ROWS
        } else {
            0
        };
    out.write_all(MAGIC)?;
    for number in [kind, rows as u64, cols as u64, description.len() as u64] {
        out.write_all(&number.to_le_bytes())?;
    }
    out.write_all(&description)?;
    for piece in part.group.rows().unwrap_or_default().chunks(PIECE) {
        out.write_all(
            &piece
                .iter()
                .flat_map(|row| row.to_le_bytes())
                .collect::<Vec<u8>>(),
        )?;
    }
    let at_a_time = (PIECE / cols.max(1)).max(1);
    let mut values = Vec::new();
    for start in (0..rows).step_by(at_a_time) {
        let range = start..(start + at_a_time).min(rows);
        values.resize(range.len() * cols, 0.0);
        part.group.read(range, &mut values);
        let piece = &values[..];
        if cfg!(target_endian = "little") {
            out.write_all(bytemuck::cast_slice(piece))?;
        } else {
            out.write_all(
                &piece
                    .iter()
                    .flat_map(|value| value.to_le_bytes())
                    .collect::<Vec<u8>>(),
            )?;
        }
    }
    Ok(())
}

/// Opens a part; with `hold` its values are read into memory, else they stay in the file.
pub(super) fn open(
    file: File,
    path: &Path,
    hold: bool,
    faults: &Arc<Faults>,
) -> Result<(Part, Option<LocalFacts>)> {
    let broken =
        |what: &str| Error::input(path, format!("not a part of an embedding: {what}"), AGAIN);
    let mut input = At { file: &file, at: 0 };
    let mut head = [0; HEAD];
    input
        .read_exact(&mut head)
        .map_err(|_| broken("the file is too short"))?;
    let number =
        |i: usize| u64::from_le_bytes(head[8 * i..8 * i + 8].try_into().expect("eight bytes"));
    let (kind, rows, cols, length) = (number(1), number(2), number(3), number(4));
    if &head[..8] != MAGIC || kind & !SOME_ROWS != VERSION {
        return Err(broken("its first bytes are wrong"));
    }
    let some_rows = kind & SOME_ROWS != 0;
    let numbers = if some_rows { rows } else { 0 };
    let size = file.metadata().map_err(|e| Error::io(path, e))?.len();
    let values = rows
        .checked_mul(cols)
        .and_then(|values| values.checked_add(numbers)?.checked_mul(4));
    if values.and_then(|bytes| bytes.checked_add(HEAD as u64)?.checked_add(length)) != Some(size) {
        return Err(broken("its length is not what it should be"));
    }
    let mut text = vec![0; length as usize];
    input
        .read_exact(&mut text)
        .map_err(|e| Error::io(path, e))?;
    let Description {
        name,
        step,
        columns,
        facts,
    } = serde_json::from_slice(&text).map_err(|e| broken(&e.to_string()))?;
    let mut bytes = vec![0; 4 * numbers as usize];
    input
        .read_exact(&mut bytes)
        .map_err(|e| Error::io(path, e))?;
    let numbers: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")))
        .collect();
    if numbers.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(broken("its rows do not ascend"));
    }
    let start = input.at;
    let (rows, cols) = (rows as usize, cols as usize);
    let stored = PartFile {
        file,
        path: path.to_path_buf(),
        rows,
        cols,
        start,
        faults: faults.clone(),
    };
    let numbers = some_rows.then_some(numbers);
    let group = if hold {
        stored.load(numbers)?
    } else {
        Group::stored(numbers, Arc::new(stored))
    };
    Ok((
        Part {
            name,
            step,
            columns: columns.into(),
            group,
        },
        facts,
    ))
}

/// Values in a file.
#[derive(Debug)]
struct PartFile {
    file: File,
    path: PathBuf,
    rows: usize,
    cols: usize,
    /// Where the values begin.
    start: u64,
    faults: Arc<Faults>,
}

impl PartFile {
    fn load(self, numbers: Option<Vec<u32>>) -> Result<Group> {
        let mut block = Block::zeros(self.rows, self.cols);
        for (index, piece) in block.as_mut_slice().chunks_mut(PIECE).enumerate() {
            self.fill(index * PIECE, piece)?;
        }
        Ok(match numbers {
            Some(numbers) => Group::partial(numbers, block),
            None => Group::full(block),
        })
    }

    /// Reads values from index `first` on. They were finite when they were written.
    fn fill(&self, first: usize, to: &mut [f32]) -> Result<()> {
        let mut input = At {
            file: &self.file,
            at: self.start + 4 * first as u64,
        };
        let read = input.read_exact(bytemuck::cast_slice_mut(to));
        read.map_err(|e| Error::io(&self.path, e))?;
        if cfg!(target_endian = "big") {
            to.iter_mut()
                .for_each(|value| *value = f32::from_bits(value.to_bits().swap_bytes()));
        }
        match to.iter().all(|value| value.is_finite()) {
            true => Ok(()),
            false => {
                let message = "the values of this part are not finite";
                Err(Error::input(&self.path, message, AGAIN))
            }
        }
    }
}

impl Stored for PartFile {
    fn rows(&self) -> usize {
        self.rows
    }

    fn cols(&self) -> usize {
        self.cols
    }

    fn read(&self, range: Range<usize>, to: &mut [f32]) {
        if let Err(error) = self.fill(range.start * self.cols, to) {
            to.fill(0.0);
            self.faults.note(error);
        }
    }
}

/// A position in a file that others read too.
struct At<'a> {
    file: &'a File,
    at: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = read_at(self.file, buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, SeekFrom};

    use super::*;
    use crate::random::Key;

    fn part(rows: Option<Vec<u32>>) -> Part {
        let block = Block::random(rows.as_ref().map_or(500, Vec::len), 3, Key::new(4));
        let group = match rows {
            Some(rows) => Group::partial(rows, block),
            None => Group::full(block),
        };
        Part {
            name: "star4".into(),
            step: 2,
            columns: ["a".to_owned(), "b".into(), "c".into()].into(),
            group,
        }
    }

    fn file_of(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(bytes).expect("written");
        file.seek(SeekFrom::Start(3)).expect("any place will do");
        file
    }

    fn bytes_of(part: &Part) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(part, None, &mut bytes).expect("memory takes it");
        bytes
    }

    #[test]
    fn parts_come_back_as_they_were() {
        for rows in [None, Some(vec![]), Some(vec![0, 5, 6, 4_000_000_000])] {
            let before = part(rows);
            let bytes = bytes_of(&before);
            for hold in [true, false] {
                let faults = Arc::default();
                let (after, facts) =
                    open(file_of(&bytes), Path::new("p"), hold, &faults).expect("whole");
                assert_eq!(
                    (&after.name, after.step, &after.columns),
                    (&before.name, 2, &before.columns)
                );
                assert_eq!(
                    (after.group.rows(), after.group.block().is_some()),
                    (before.group.rows(), hold)
                );
                let n = before.group.stored_rows();
                let mut values = vec![0.0; 3 * n];
                after.group.read(0..n, &mut values);
                assert!(
                    facts.is_none() && values == before.group.block().expect("held").as_slice()
                );
                assert!(faults.check().is_ok());
            }
        }
    }

    #[test]
    fn what_is_no_part_is_an_error_and_never_a_panic() {
        let bytes = bytes_of(&part(Some(vec![3, 8])));
        let opened =
            |bytes: &[u8]| open(file_of(bytes), Path::new("p"), true, &Arc::default()).map(|_| ());
        for length in 0..bytes.len() {
            assert!(opened(&bytes[..length]).is_err(), "cut to {length}");
        }
        for at in 0..HEAD {
            let mut other = bytes.clone();
            other[at] ^= 0x40;
            assert!(opened(&other).is_err(), "byte {at}");
        }
    }

    #[test]
    fn values_that_are_not_finite_are_refused_with_the_file() {
        for value in [f32::INFINITY, f32::NAN] {
            let mut bytes = bytes_of(&part(None));
            let last = bytes.len() - 4;
            bytes[last..].copy_from_slice(&value.to_le_bytes());
            let faults: Arc<Faults> = Arc::default();
            let held = open(file_of(&bytes), Path::new("p"), true, &faults).map(|_| ());
            let (part, _) =
                open(file_of(&bytes), Path::new("p"), false, &faults).expect("not read yet");
            part.group.read(499..500, &mut [1.0; 3]);
            for refused in [held, faults.check()] {
                let error = refused.expect_err("not finite");
                assert!(error.is_input(), "{error}");
                assert!(error.to_string().starts_with("p: the values of"), "{error}");
            }
        }
    }

    #[test]
    fn a_file_that_shrinks_is_told_of_later() {
        let faults: Arc<Faults> = Arc::default();
        let file = file_of(&bytes_of(&part(None)));
        let (part, _) = open(
            file.try_clone().expect("open"),
            Path::new("p"),
            false,
            &faults,
        )
        .expect("whole");
        file.set_len(1000).expect("cut");
        let mut row = [1.0; 3];
        part.group.read(499..500, &mut row);
        assert_eq!(row, [0.0; 3]);
        assert!(matches!(faults.check(), Err(Error::Io { .. })));
        assert!(faults.check().is_ok(), "reported once");
    }
}
