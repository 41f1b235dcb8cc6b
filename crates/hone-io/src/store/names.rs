//! Names of columns beside formats that have no place for them: `OUT.columns.txt`, one name per line.
//!
//! Names may hold anything, so `\`, line feeds and carriage returns are written as `\\`, `\n` and `\r`.

use std::io::Write;
use std::path::Path;

use super::format::Format;
use crate::error::{Error, Result};
use crate::memory::Allowance;

pub use crate::output::companions::columns as path;

/// Whether a format needs the file.
pub(super) fn are_beside(format: Format) -> bool {
    matches!(format, Format::Npy | Format::Word2vec)
}

pub(super) fn write(names: &[String], path: &Path, out: &mut dyn Write) -> Result<()> {
    let escaped = |name: &String| {
        name.replace('\\', "\\\\")
            .replace('\n', "\\n")
            .replace('\r', "\\r")
            + "\n"
    };
    let text: String = names.iter().map(escaped).collect();
    out.write_all(text.as_bytes())
        .map_err(|e| Error::io(path, e))
}

/// The names of the `columns` columns of `of`, if the file is there.
pub fn read(of: &Path, columns: usize) -> Result<Option<Vec<String>>> {
    let path = path(of);
    if !path.exists() {
        return Ok(None);
    }
    // A line of one byte is a name of thirty.
    let bytes = Allowance::new(None).read(&path, 32, |_, _| Ok(()))?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Error::input(
            &path,
            "text that is not valid UTF-8",
            "write both files again, or remove this one",
        )
    })?;
    let names: Vec<String> = text.lines().map(unescaped).collect();
    if names.len() != columns {
        let message = format!(
            "{} names for {columns} columns of {}",
            names.len(),
            of.display()
        );
        return Err(Error::input(
            &path,
            message,
            "write both files again, or remove this one",
        ));
    }
    Ok(Some(names))
}

fn unescaped(line: &str) -> String {
    let (mut name, mut chars) = (String::with_capacity(line.len()), line.chars());
    while let Some(c) = chars.next() {
        name.push(match c {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            plain => plain,
        });
    }
    name
}
