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
    pub fn nodes(&self) -> usize {
        match self {
            Colour::Categories { of, .. } => of.len(),
            Colour::Numbers { values, .. } => values.len(),
        }
    }
}

/// Colours by the columns of a file, and notes about what was missing.
type Colours = (Vec<Colour>, Vec<String>);

/// Labels of nodes: a table of ids and one or more columns, each value of which is a category. Of several labels, separated
/// by commas, a node shows the first. The process may hold `memory` bytes; by default what the machine has free.
pub fn read_labels(
    file: &Path,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
) -> Result<Colours> {
    read(file, ids, memory, progress, |column, notes| match column {
        Shown::Numbers { name, values } => {
            let text = |value: f32| (!value.is_nan()).then(|| value.to_string());
            let values: Vec<_> = values.into_iter().map(text).collect();
            categories(named(name, "label"), &values)
        }
        Shown::Words {
            name,
            mut words,
            of,
        } => {
            if are_lists(&words) {
                let file = file.display();
                notes.push(format!(
                    "nodes of {file} with several labels show the first"
                ));
                for word in &mut words {
                    *word = word.split(',').next().unwrap_or_default().trim().to_owned();
                }
            }
            categories(named(name, "label"), &of_nodes(&words, of))
        }
    })
}

/// Attributes of nodes: a column of numbers stays one, any other becomes categories.
pub fn read_attributes(
    file: &Path,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
) -> Result<Colours> {
    read(file, ids, memory, progress, |column, _| match column {
        Shown::Numbers { name, values } => Colour::Numbers {
            name: named(name, "attribute"),
            values,
        },
        Shown::Words { name, words, of } => {
            let name = named(name, "attribute");
            let number = |word: &String| word.parse().ok().filter(|x: &f32| x.is_finite());
            match words.iter().map(number).collect::<Option<Vec<f32>>>() {
                Some(numbers) => {
                    let number = |at: Option<u32>| at.map_or(f32::NAN, |at| numbers[at as usize]);
                    let values = of.into_iter().map(number).collect();
                    Colour::Numbers { name, values }
                }
                None => categories(name, &of_nodes(&words, of)),
            }
        }
    })
}

/// The word of each node.
fn of_nodes(words: &[String], of: Vec<Option<u32>>) -> Vec<Option<String>> {
    let word = |at: Option<u32>| at.map(|at| words[at as usize].clone());
    of.into_iter().map(word).collect()
}

/// As many columns of a file as a page offers.
fn read(
    file: &Path,
    ids: &NodeIds,
    memory: Option<u64>,
    progress: &dyn Progress,
    colour: impl Fn(Shown, &mut Vec<String>) -> Colour,
) -> Result<Colours> {
    let (columns, mut notes) = attributes::shown(file, ids, memory, progress)?;
    let colours = columns.into_iter().map(|column| colour(column, &mut notes));
    let mut colours: Vec<Colour> = colours.collect();
    if colours.len() > COLUMNS {
        let all = colours.len();
        notes.push(format!(
            "of {all} columns, the first {COLUMNS} are on the map"
        ));
        colours.truncate(COLUMNS);
    }
    Ok((colours, notes))
}

/// A name for a column; those without a header are called x1, x2, …
fn named(name: String, fallback: &str) -> String {
    let plain = name
        .strip_prefix('x')
        .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit()));
    if plain { fallback.to_owned() } else { name }
}

/// Whether words are lists of labels: taken apart, there are fewer of them. `Rome, Italy` beside `Oslo, Norway` is not.
fn are_lists(words: &[String]) -> bool {
    let parts = words.iter().flat_map(|word| word.split(','));
    let parts: BTreeSet<&str> = parts.map(str::trim).collect();
    words.iter().any(|word| word.contains(',')) && parts.len() < words.len()
}

/// The most frequent words as categories, in order; all others share one, and nodes without a word have one.
fn categories(name: String, words: &[Option<String>]) -> Colour {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in words.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let mut frequent: Vec<&str> = counts.keys().copied().collect();
    frequent.sort_by_key(|&word| (Reverse(counts[word]), word));
    let others = frequent.len() > CATEGORIES;
    frequent.truncate(CATEGORIES);
    frequent.sort_unstable();
    let places: BTreeMap<&str, u16> = frequent.iter().copied().zip(0..).collect();
    let (other, none) = (
        frequent.len() as u16,
        frequent.len() as u16 + u16::from(others),
    );
    let place = |word: &Option<String>| {
        let place = |word: &String| *places.get(word.as_str()).unwrap_or(&other);
        word.as_ref().map_or(none, place)
    };
    let of: Vec<u16> = words.iter().map(place).collect();
    let mut names: Vec<String> = frequent.into_iter().map(str::to_owned).collect();
    names.extend(others.then(|| "(other)".to_owned()));
    names.extend(of.contains(&none).then(|| "(none)".to_owned()));
    Colour::Categories { name, names, of }
}
