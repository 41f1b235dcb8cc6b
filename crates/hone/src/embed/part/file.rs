//! A part of Y as a file of a checkpoint.
//!
//! `HONEPART`, four little-endian numbers (version and kind, rows, columns, length of the description), a
//! description in JSON (name, step, names of columns, facts), the row numbers if not all rows are stored
//! (u32), and the values, row after row (f32).

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Label, Part};
use crate::dense::{Block, Group, Stored};
use crate::embed::checkpoint::AGAIN;
use crate::error::{Error, Result};
use crate::report::LocalFacts;
use crate::storage::Storage;

const MAGIC: &[u8; 8] = b"HONEPART";
const VERSION: u64 = 1;
/// Added to the version when row numbers follow.
const SOME_ROWS: u64 = 1 << 32;
/// Bytes before the description.
const HEAD: usize = 40;
/// Values written, or looked at, at a time.
const PIECE: usize = 1 << 16;

/// What the values stand for.
#[derive(Serialize, Deserialize)]
struct Description {
    name: String,
    step: usize,
    columns: Vec<String>,
    facts: Option<LocalFacts>,
}

/// Writes a part.
pub(super) fn write(
    part: &Part,
    facts: Option<&LocalFacts>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (label, group) = (&part.label, &part.group);
    let (rows, cols) = (group.stored_rows(), group.cols());
    let description = serde_json::to_vec(&Description {
        name: label.name.clone(),
        step: label.step,
        columns: label.columns.to_vec(),
        facts: facts.cloned(),
    })?;
    let kind = VERSION + group.rows().map_or(0, |_| SOME_ROWS);
    out.write_all(MAGIC)?;
    for number in [kind, rows as u64, cols as u64, description.len() as u64] {
        out.write_all(&number.to_le_bytes())?;
    }
    out.write_all(&description)?;
    for &row in group.rows().unwrap_or_default() {
        out.write_all(&row.to_le_bytes())?;
    }
    let at_a_time = (PIECE / cols.max(1)).max(1);
    let mut values = Vec::new();
    for start in (0..rows).step_by(at_a_time) {
        let range = start..(start + at_a_time).min(rows);
        values.resize(range.len() * cols, 0.0);
        group.read(range, &mut values);
        to_little_endian(&mut values);
        out.write_all(bytemuck::cast_slice(&values))?;
    }
    Ok(())
}

/// Reads a part; its values stay in the file unless they are wanted in memory.
pub(super) fn read(
    mut file: File,
    path: &Path,
    in_memory: bool,
) -> Result<(Part, Option<LocalFacts>)> {
    let broken =
        |what: &str| Error::input(path, format!("not a part of an embedding: {what}"), AGAIN);
    let failed = |error| Error::io(path, error);
    let mut head = [0; HEAD];
    file.read_exact(&mut head)
        .map_err(|_| broken("the file is too short"))?;
    let number =
        |i: usize| u64::from_le_bytes(head[8 * i..8 * i + 8].try_into().expect("eight bytes"));
    let (kind, rows, cols, length) = (number(1), number(2), number(3), number(4));
    if &head[..8] != MAGIC || kind & !SOME_ROWS != VERSION {
        return Err(broken("its first bytes are wrong"));
    }
    let some_rows = kind & SOME_ROWS != 0;
    let numbers = if some_rows { rows } else { 0 };
    let size = file.metadata().map_err(failed)?.len();
    let start = numbers
        .checked_mul(4)
        .and_then(|bytes| bytes.checked_add(HEAD as u64)?.checked_add(length));
    let values = rows
        .checked_mul(cols)
        .and_then(|values| values.checked_mul(4));
    let (Some(start), Some(values)) = (start, values) else {
        return Err(broken("its length is not what it should be"));
    };
    if start.checked_add(values) != Some(size) {
        return Err(broken("its length is not what it should be"));
    }
    let mut text = vec![0; length as usize];
    file.read_exact(&mut text).map_err(failed)?;
    let Description {
        name,
        step,
        columns,
        facts,
    } = serde_json::from_slice(&text).map_err(|error| broken(&error.to_string()))?;
    let (rows, width) = (rows as usize, cols as usize);
    if !columns.is_empty() && columns.len() != width {
        return Err(broken("it has other names than columns"));
    }
    let mut bytes = vec![0; 4 * numbers as usize];
    file.read_exact(&mut bytes).map_err(failed)?;
    let numbers = bytes.chunks_exact(4);
    let numbers: Vec<u32> = numbers
        .map(|b| u32::from_le_bytes(b.try_into().expect("four bytes")))
        .collect();
    if numbers.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(broken("its rows do not ascend"));
    }
    let mut values = Storage::of_file(file, path, start, rows * width);
    if in_memory || cfg!(target_endian = "big") {
        values.move_to_memory()?;
        to_little_endian(&mut values);
    }
    let mut piece = vec![0f32; PIECE.min(rows * width)];
    for first in (0..rows * width).step_by(PIECE) {
        let piece = &mut piece[..PIECE.min(rows * width - first)];
        values.read(first, piece);
        if !piece.iter().all(|value| value.is_finite()) {
            return Err(Error::input(
                path,
                "the values of this part are not finite",
                AGAIN,
            ));
        }
    }
    values.check()?;
    let block = Block::of_storage(rows, width, values);
    let label = Label {
        name,
        step,
        columns: columns.into(),
        width,
    };
    let group = Group::panels(some_rows.then_some(numbers), block.into());
    Ok((Part { label, group }, facts))
}

/// To the byte order of files, or back.
fn to_little_endian(values: &mut [f32]) {
    if cfg!(target_endian = "big") {
        let swap = |value: &mut f32| *value = f32::from_bits(value.to_bits().swap_bytes());
        values.iter_mut().for_each(swap);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Seek;

    use super::*;
    use crate::random::Key;

    fn part(rows: Option<Vec<u32>>) -> Part {
        let block = Block::random(rows.as_ref().map_or(500, Vec::len), 3, Key::new(4));
        let columns = ["a".to_owned(), "b".into(), "c".into()].into();
        Part {
            label: Label {
                columns,
                ..Label::numbered("star4", 2, 3)
            },
            group: Group::panels(rows, block.into()),
        }
    }

    fn file_of(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(bytes).expect("written");
        file.rewind().expect("a file");
        file
    }

    fn bytes_of(part: &Part) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(part, None, &mut bytes).expect("memory takes it");
        bytes
    }

    fn read_back(bytes: &[u8], in_memory: bool) -> Result<(Part, Option<LocalFacts>)> {
        read(file_of(bytes), Path::new("p"), in_memory)
    }

    #[test]
    fn parts_come_back_as_they_were() {
        for rows in [None, Some(vec![]), Some(vec![0, 5, 6, 4_000_000_000])] {
            let before = part(rows);
            let bytes = bytes_of(&before);
            for in_memory in [true, false] {
                let (after, facts) = read_back(&bytes, in_memory).expect("whole");
                assert_eq!(after.label, before.label);
                let n = before.group.stored_rows();
                let held = after.group.block().is_some();
                assert_eq!((after.group.rows(), held), (before.group.rows(), in_memory));
                let mut values = vec![0.0; 3 * n];
                after.group.read(0..n, &mut values);
                let whole = before.group.block().expect("in memory").as_slice();
                assert!(facts.is_none() && values == whole && after.group.check().is_ok());
            }
        }
    }

    #[test]
    fn what_is_no_part_is_an_error_and_never_a_panic() {
        let bytes = bytes_of(&part(Some(vec![3, 8])));
        for length in 0..bytes.len() {
            assert!(
                read_back(&bytes[..length], true).is_err(),
                "cut to {length}"
            );
        }
        for at in 0..HEAD {
            let mut other = bytes.clone();
            other[at] ^= 0x40;
            assert!(read_back(&other, true).is_err(), "byte {at}");
        }
    }

    #[test]
    fn values_that_are_not_finite_are_refused_with_the_file() {
        for (value, in_memory) in [(f32::INFINITY, true), (f32::NAN, false)] {
            let mut bytes = bytes_of(&part(None));
            let last = bytes.len() - 4;
            bytes[last..].copy_from_slice(&value.to_le_bytes());
            let refused = read_back(&bytes, in_memory).map(|_| ());
            let error = refused.expect_err("not finite");
            assert!(error.is_input(), "{error}");
            assert!(error.to_string().starts_with("p: the values of"), "{error}");
        }
    }

    #[test]
    fn a_file_that_shrinks_is_told_of_later() {
        let file = file_of(&bytes_of(&part(None)));
        let other = file.try_clone().expect("open");
        let (part, _) = read(file, Path::new("p"), false).expect("whole");
        other.set_len(1000).expect("cut");
        let mut row = [1.0; 3];
        part.group.read(499..500, &mut row);
        assert_eq!(row, [0.0; 3]);
        assert!(matches!(part.group.check(), Err(Error::Io { .. })));
        assert!(part.group.check().is_ok(), "reported once");
    }
}
