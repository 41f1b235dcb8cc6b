//! What nodes of a map can be coloured by besides role, degree and motifs: labels and attributes of files.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use hone::Result;
use hone::attributes::{self, Shown};
use hone::graph::NodeIds;
use hone::progress::Progress;

/// Categories of a colouring; all others share one.
const CATEGORIES: usize = 30;
/// Columns of attributes that are offered.
const COLUMNS: usize = 40;

/// A value per node.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Colour {
    /// One of a few names.
    Categories {
        /// What they are.
        name: String,
        /// Their names.
        names: Vec<String>,
        /// The category of every node.
        of: Vec<u16>,
    },
    /// A number.
    Numbers {
        /// What it is.
        name: String,
        /// The number of every node; NaN if there is none.
        values: Vec<f32>,
    },
}

impl Colour {
    /// What it is called.
    pub fn name(&self) -> &str {
        match self {
            Colour::Categories { name, .. } | Colour::Numbers { name, .. } => name,
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        match self {
            Colour::Categories { of, .. } => of.len(),
            Colour::Numbers { values, .. } => values.len(),
        }
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Labels of nodes: a table of ids and one or more columns, each value of which is a category. Of several labels, separated
/// by commas, a node shows the first. Returns what was read, and notes about what was missing. The process may hold `memory`
/// bytes; by default what the machine has free.
pub fn read_labels(
    file: impl AsRef<Path>,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
) -> Result<(Vec<Colour>, Vec<String>)> {
    labels_at(file.as_ref(), ids, memory, progress)
}

fn labels_at(
    file: &Path,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
) -> Result<(Vec<Colour>, Vec<String>)> {
    let (columns, mut notes) = attributes::shown(file, ids, memory, progress)?;
    let colours = columns.into_iter().map(|column| match column {
        Shown::Numbers { name, values } => {
            let text = |value: f32| (!value.is_nan()).then(|| value.to_string());
            categories(
                named(name, "label"),
                &values.into_iter().map(text).collect::<Vec<_>>(),
            )
        }
        Shown::Words { name, words, of } => {
            let several = has_several(&words);
            if several {
                notes.push(format!(
                    "nodes of {} with several labels show the first",
                    file.display()
                ));
            }
            let word = |at: u32| first(&words[at as usize], several).to_owned();
            categories(
                named(name, "label"),
                &of.into_iter().map(|at| at.map(word)).collect::<Vec<_>>(),
            )
        }
    });
    let colours = colours.collect();
    Ok(few(colours, notes))
}

/// Attributes of nodes: a column of numbers stays one, any other becomes categories.
pub fn read_attributes(
    file: impl AsRef<Path>,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
) -> Result<(Vec<Colour>, Vec<String>)> {
    attributes_at(file.as_ref(), ids, memory, progress)
}

fn attributes_at(
    file: &Path,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
) -> Result<(Vec<Colour>, Vec<String>)> {
    let (columns, notes) = attributes::shown(file, ids, memory, progress)?;
    let colours = columns.into_iter().map(|column| match column {
        Shown::Numbers { name, values } => Colour::Numbers {
            name: named(name, "attribute"),
            values,
        },
        Shown::Words { name, words, of } => {
            let name = named(name, "attribute");
            let parsed: Vec<Option<f32>> = words
                .iter()
                .map(|word| word.parse().ok().filter(|x: &f32| x.is_finite()))
                .collect();
            match parsed.iter().copied().collect::<Option<Vec<f32>>>() {
                Some(numbers) => {
                    let number = |at: Option<u32>| at.map_or(f32::NAN, |at| numbers[at as usize]);
                    Colour::Numbers {
                        name,
                        values: of.into_iter().map(number).collect(),
                    }
                }
                None => {
                    let word = |at: Option<u32>| at.map(|at| words[at as usize].clone());
                    categories(name, &of.into_iter().map(word).collect::<Vec<_>>())
                }
            }
        }
    });
    Ok(few(colours.collect(), notes))
}

/// A name for a column; those without a header are called x1, x2, …
fn named(name: String, fallback: &str) -> String {
    let plain = name
        .strip_prefix('x')
        .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()));
    if plain { fallback.to_owned() } else { name }
}

/// Whether words are lists of labels: taken apart, there are fewer of them. `Rome, Italy` beside `Oslo, Norway` is not.
fn has_several(words: &[String]) -> bool {
    let lists = words.iter().any(|word| word.contains(','));
    let parts: BTreeSet<&str> = words
        .iter()
        .flat_map(|word| word.split(','))
        .map(str::trim)
        .collect();
    lists && parts.len() < words.len()
}

fn first(word: &str, several: bool) -> &str {
    if several {
        word.split(',').next().unwrap_or_default().trim()
    } else {
        word
    }
}

/// The most frequent words as categories, in order; all others share one, and nodes without a word have one.
fn categories(name: String, words: &[Option<String>]) -> Colour {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    words
        .iter()
        .flatten()
        .for_each(|word| *counts.entry(word).or_default() += 1);
    let mut names: Vec<String> = counts.keys().map(|&word| word.to_owned()).collect();
    names.sort_by_key(|word| (Reverse(counts[word.as_str()]), word.clone()));
    let others = names.len() > CATEGORIES;
    names.truncate(CATEGORIES);
    names.sort();
    let places: BTreeMap<String, u16> = names.iter().cloned().zip(0..).collect();
    let (other, none) = (names.len() as u16, names.len() as u16 + u16::from(others));
    let place = |word: &Option<String>| {
        word.as_ref()
            .map_or(none, |word| *places.get(word).unwrap_or(&other))
    };
    let of: Vec<u16> = words.iter().map(place).collect();
    names.extend(others.then(|| "(other)".to_owned()));
    names.extend(of.contains(&none).then(|| "(none)".to_owned()));
    Colour::Categories { name, names, of }
}

/// As many columns as a page offers.
fn few(mut colours: Vec<Colour>, mut notes: Vec<String>) -> (Vec<Colour>, Vec<String>) {
    if colours.len() > COLUMNS {
        notes.push(format!(
            "of {} columns, the first {COLUMNS} are on the map",
            colours.len()
        ));
        colours.truncate(COLUMNS);
    }
    (colours, notes)
}
