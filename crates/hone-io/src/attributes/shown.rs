//! Attributes as in the file, one value per node: for displaying them instead of computing with them.
//!
//! Nothing is encoded and nothing filled: a missing value stays missing, and a column that mixes numbers and words is a column
//! of words.

use std::path::Path;

use super::columns::{NO_CATEGORY, Values};
use super::encode::{NO_ROW, row_of_node};
use super::open;
use super::request::{Raw, Request};
use super::table::Table;
use crate::error::Result;
use crate::graph::NodeIds;
use crate::progress::Progress;

/// One column of a file, one value per node.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// Numbers of a format that has nothing else; NaN if there is none.
    Numbers {
        /// Its name.
        name: String,
        /// The number of every node.
        values: Vec<f32>,
    },
    /// Words; numbers in a text are words too.
    Words {
        /// Its name.
        name: String,
        /// All words that occur, in order of appearance.
        words: Vec<String>,
        /// The index of every node's word, if it has one.
        of: Vec<Option<u32>>,
    },
}

/// Reads the columns of a file for the nodes called `ids`, and notes what it lacks; the process may hold `memory` bytes, or
/// what the machine has free.
pub fn shown(
    file: impl AsRef<Path>,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
) -> Result<(Vec<Shown>, Vec<String>)> {
    shown_at(file.as_ref(), ids, memory, progress)
}

fn shown_at(
    file: &Path,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
) -> Result<(Vec<Shown>, Vec<String>)> {
    let options = Table::default();
    let (request, _, raw) = open(file, &options, ids, memory, true, progress)?;
    let rows = row_of_node(&raw, &request)?;
    let columns = raw.names.iter().zip(&raw.columns);
    let found: Vec<Shown> = columns
        .filter_map(|(name, values)| column(name, values, &raw, &rows))
        .collect();
    if found.is_empty() {
        return Err(request.fail(
            "no column has a value for a node of the graph",
            "give at least one column",
        ));
    }
    Ok((found, notes(&raw, &rows, &request)))
}

/// The values of one column at their nodes; nothing if there is none.
fn column(name: &str, values: &Values, raw: &Raw, rows: &[u32]) -> Option<Shown> {
    let name = name.to_owned();
    match values {
        Values::Nothing(_) => None,
        Values::Numbers(values) => {
            let of = |&row: &u32| values.get(row as usize).copied().unwrap_or(f32::NAN);
            Some(Shown::Numbers {
                name,
                values: rows.iter().map(of).collect(),
            })
        }
        Values::Sparse(entries) => {
            let mut values = vec![0.0; rows.len()];
            for &(row, value) in entries {
                let node = raw.nodes.as_ref().map_or(row, |nodes| nodes[row as usize]);
                values[node as usize] += value;
            }
            Some(Shown::Numbers { name, values })
        }
        Values::Categories(codes, known) => {
            let code = |&row: &u32| {
                codes
                    .get(row as usize)
                    .copied()
                    .filter(|&code| code != NO_CATEGORY)
            };
            let words = (0..known.len() as u32)
                .map(|code| known.get(code).to_owned())
                .collect();
            Some(Shown::Words {
                name,
                words,
                of: rows.iter().map(code).collect(),
            })
        }
    }
}

fn notes(raw: &Raw, rows: &[u32], request: &Request) -> Vec<String> {
    let file = request.path.display();
    let absent = rows.iter().filter(|&&row| row == NO_ROW).count();
    let mut notes = Vec::new();
    if absent > 0 {
        let are = if absent == 1 { "is" } else { "are" };
        notes.push(format!(
            "{absent} of {} nodes {are} not in {file}",
            rows.len()
        ));
    }
    if raw.unknown > 0 {
        let example = raw.example.as_deref().unwrap_or_default();
        let (unknown, all) = (raw.unknown, raw.rows);
        let have = if unknown == 1 {
            "has an id that is"
        } else {
            "have ids that are"
        };
        notes.push(format!(
            "{unknown} of {all} rows of {file} {have} not in the graph, such as `{example}`"
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;

    #[test]
    fn nothing_is_filled_and_mixtures_are_words() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("people.csv");
        std::fs::write(&file, "id,age,when\na,30,2021\nb,,May\nx,1,1\n").expect("written");
        let ids = NodeIds::from_texts(&["b", "a", "c"]);
        let (found, notes) = shown(&file, &ids, None, &Silent).expect("read");
        let word = |column: usize, node: usize| match &found[column] {
            Shown::Words { words, of, .. } => of[node].map(|at| words[at as usize].clone()),
            Shown::Numbers { .. } => panic!("text has words"),
        };
        assert_eq!(
            [word(0, 0), word(0, 1), word(0, 2)],
            [None, Some("30".into()), None]
        );
        assert_eq!(
            [word(1, 0), word(1, 1)],
            [Some("May".into()), Some("2021".into())]
        );
        assert!(
            notes[0].starts_with("1 of 3 nodes") && notes[1].contains("`x`"),
            "{notes:?}"
        );
    }
}
