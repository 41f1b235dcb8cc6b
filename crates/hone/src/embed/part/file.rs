//! A part of Y as a file of a checkpoint: a line of JSON that describes it, the row numbers if not all rows are stored (u32), and
//! the values, row after row (f32).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Label, Part};
use crate::dense::{Block, Group, Stored};
use crate::embed::checkpoint::AGAIN;
use crate::error::{Error, Result};
use crate::report::LocalFacts;
use crate::storage::Storage;

/// Values written, or looked at, at a time.
const PIECE: usize = 1 << 16;

/// What the values stand for.
#[derive(Serialize, Deserialize)]
struct Header {
    name: String,
    step: usize,
    /// Names of the columns, if they have names.
    columns: Vec<String>,
    width: u32,
    rows: u32,
    /// Whether row numbers follow.
    numbered: bool,
    facts: Option<LocalFacts>,
}

/// Writes a part.
pub(super) fn write(
    part: &Part,
    facts: Option<&LocalFacts>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (label, group) = (&part.label, &part.group);
    let (rows, width) = (group.stored_rows(), group.cols());
    let header = Header {
        name: label.name.clone(),
        step: label.step,
        columns: label.columns.to_vec(),
        width: width as u32,
        rows: rows as u32,
        numbered: group.rows().is_some(),
        facts: facts.cloned(),
    };
    serde_json::to_writer(&mut *out, &header)?;
    out.write_all(b"\n")?;
    for &row in group.rows().unwrap_or_default() {
        out.write_all(&row.to_le_bytes())?;
    }
    let at_a_time = (PIECE / width.max(1)).max(1);
    let mut values = Vec::new();
    for start in (0..rows).step_by(at_a_time) {
        let range = start..(start + at_a_time).min(rows);
        values.resize(range.len() * width, 0.0);
        group.read(range, &mut values);
        to_little_endian(&mut values);
        out.write_all(bytemuck::cast_slice(&values))?;
    }
    Ok(())
}

/// Reads a part; its values stay in the file unless they are wanted in memory.
pub(super) fn read(file: File, path: &Path, in_memory: bool) -> Result<(Part, Option<LocalFacts>)> {
    let broken =
        |what: &str| Error::input(path, format!("not a part of an embedding: {what}"), AGAIN);
    let failed = |error| Error::io(path, error);
    let (size, mut start) = (file.metadata().map_err(failed)?.len(), Vec::new());
    let mut reader = BufReader::new(&file);
    reader.read_until(b'\n', &mut start).map_err(failed)?;
    let header: Header = serde_json::from_slice(&start).map_err(|e| broken(&e.to_string()))?;
    let (rows, width) = (header.rows as usize, header.width as usize);
    let numbers = if header.numbered { rows } else { 0 };
    let values = (start.len() + 4 * numbers) as u64;
    if values as u128 + 4 * (rows as u128 * width as u128) != u128::from(size) {
        return Err(broken("its length is not what it should be"));
    }
    if !header.columns.is_empty() && header.columns.len() != width {
        return Err(broken("it has other names than columns"));
    }
    let mut bytes = vec![0; 4 * numbers];
    reader.read_exact(&mut bytes).map_err(failed)?;
    let (numbers, _) = bytes.as_chunks();
    let numbers: Vec<u32> = numbers
        .iter()
        .map(|&bytes| u32::from_le_bytes(bytes))
        .collect();
    if !numbers.is_sorted_by(|a, b| a < b) {
        return Err(broken("its rows do not ascend"));
    }
    let mut values = Storage::of_file(file, path, values, rows * width);
    if in_memory || cfg!(target_endian = "big") {
        values.move_to_memory()?;
        to_little_endian(&mut values);
    }
    let mut piece = vec![0f32; PIECE.min(rows * width)];
    for first in (0..rows * width).step_by(PIECE) {
        let piece = &mut piece[..PIECE.min(rows * width - first)];
        values.read(first, piece);
        if !piece.iter().all(|value| value.is_finite()) {
            let message = "the values of this part are not finite";
            return Err(Error::input(path, message, AGAIN));
        }
    }
    values.check()?;
    let block = Block::of_storage(rows, width, values);
    let label = Label {
        name: header.name,
        step: header.step,
        columns: header.columns.into(),
        width,
    };
    let group = Group::panels(header.numbered.then_some(numbers), block.into());
    Ok((Part { label, group }, header.facts))
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
        for (from, to) in [
            ("width\":3", "width\":5"),
            ("rows\":2", "rows\":9"),
            ("{", "["),
        ] {
            let text = String::from_utf8_lossy(&bytes[..80]).replacen(from, to, 1);
            let other = [text.as_bytes(), &bytes[80..]].concat();
            assert!(read_back(&other, true).is_err(), "{from} as {to}");
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
