//! Values of one column while they are read: their kind is detected while reading.
//!
//! A column is numeric when each of its values is a number, and categorical when none is. A mixture
//! is more often a mistake (`12O`, `unknown`) than intended, so it is refused with its line unless
//! the user has declared the column categorical.

use crate::graph::Names;
use crate::message::{Message, message, setting};

/// How the values of a column are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As numbers if they are numbers, else as categories.
    Detected,
    /// As categories.
    Categories,
    /// As texts: words without their order.
    Texts,
}

/// The code of a missing category.
pub(super) const NO_CATEGORY: u32 = u32::MAX;

/// Values that stand for a missing one, in any case; also the empty field.
const MISSING: [&str; 7] = ["na", "n/a", "nan", "null", "none", "<na>", "?"];

/// Values of one column, one per row.
#[derive(Debug, Clone)]
pub(super) enum Values {
    /// This many rows without a value.
    Nothing(usize),
    /// Numbers; NaN if there is none.
    Numbers(Vec<f32>),
    /// Numbers of the categories in order of appearance; [`NO_CATEGORY`] if there is none.
    Categories(Vec<u32>, Names),
    /// Numbers of the words of each row, where they end, and the words in order of appearance.
    Texts(Vec<u32>, Vec<usize>, Names),
    /// Rows and values of a sparse format; zero elsewhere.
    Sparse(Vec<(u32, f32)>),
}

/// The first few names of columns.
pub(super) fn listed(names: &[String]) -> String {
    let shown = names[..names.len().min(20)].join(", ");
    let more = if names.len() > 20 { ", …" } else { "" };
    format!("{shown}{more}")
}

/// Why a value cannot be in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A word among numbers.
    Word,
    /// A number among words.
    Number,
    /// Infinite, or beyond 32 bits.
    Infinite,
    /// More categories than 32 bits can number.
    Categories,
}

impl Refusal {
    /// What is wrong with a value of the column `name`, and what helps.
    pub(super) fn explain(self, name: &str) -> (String, Message) {
        let mixed = message![
            format!("fix it, leave it empty where it is missing, or add {name:?} to "),
            setting("attributes.table.categorical"),
            " if all its values are categories"
        ];
        let (what, remedy) = match self {
            Refusal::Word => ("has numbers, but this is not a number", mixed),
            Refusal::Number => ("has words, but this is a number", mixed),
            Refusal::Infinite => {
                let message = format!(
                    "a value of column `{name}` that is infinite or beyond 32-bit floating point"
                );
                let remedy =
                    "scale the column down, or leave the field empty where the value is missing";
                return (message, remedy.into());
            }
            Refusal::Categories => (
                "has more categories than 32 bits can number",
                message![
                    "leave the column out with ",
                    setting("attributes.table.columns")
                ],
            ),
        };
        (format!("column `{name}` {what}"), remedy)
    }
}

/// Whether a field says that its value is missing.
pub(super) fn is_missing(text: &str) -> bool {
    let mut missing = MISSING.iter();
    text.is_empty() || text.len() <= 4 && missing.any(|word| text.eq_ignore_ascii_case(word))
}

impl Values {
    /// Whether a row has a value.
    pub(super) fn has(&self, row: u32) -> bool {
        match self {
            Values::Nothing(_) => false,
            Values::Numbers(values) => !values[row as usize].is_nan(),
            Values::Categories(codes, _) => codes[row as usize] != NO_CATEGORY,
            Values::Texts(_, ends, _) => {
                let row = row as usize;
                ends[row] > row.checked_sub(1).map_or(0, |before| ends[before])
            }
            Values::Sparse(_) => true,
        }
    }

    /// Adds the value that a field has.
    pub(super) fn push_text(&mut self, text: &str, reading: Reading) -> Result<(), Refusal> {
        let text = text.trim();
        if is_missing(text) {
            self.push_missing();
            return Ok(());
        }
        match (reading, text.parse::<f64>()) {
            (Reading::Detected, Ok(number)) => self.push_number(number),
            (Reading::Texts, _) => self.push_words(text),
            _ => self.push_category(text),
        }
    }

    /// Adds a text: its words of two letters or digits and more, in lower case.
    fn push_words(&mut self, text: &str) -> Result<(), Refusal> {
        if let Values::Nothing(rows) = *self {
            *self = Values::Texts(Vec::new(), vec![0; rows], Names::new());
        }
        let Values::Texts(codes, ends, known) = self else {
            return Err(Refusal::Word);
        };
        let text = text.to_lowercase();
        for word in text.split(|c: char| !c.is_alphanumeric()) {
            if word.chars().nth(1).is_some() {
                codes.push(known.intern(word).ok_or(Refusal::Categories)?);
            }
        }
        ends.push(codes.len());
        Ok(())
    }

    /// Adds a number; NaN is a missing one.
    pub(super) fn push_number(&mut self, number: f64) -> Result<(), Refusal> {
        if number.is_nan() {
            self.push_missing();
            return Ok(());
        }
        if let Values::Nothing(rows) = *self {
            *self = Values::Numbers(vec![f32::NAN; rows]);
        }
        let value = number as f32;
        match self {
            Values::Numbers(_) if value.is_infinite() => Err(Refusal::Infinite),
            Values::Numbers(values) => {
                // Adding zero turns -0 into 0.
                values.push(value + 0.0);
                Ok(())
            }
            _ => Err(Refusal::Number),
        }
    }

    /// Adds a category.
    pub(super) fn push_category(&mut self, text: &str) -> Result<(), Refusal> {
        if let Values::Nothing(rows) = *self {
            *self = Values::Categories(vec![NO_CATEGORY; rows], Names::new());
        }
        let Values::Categories(codes, names) = self else {
            return Err(Refusal::Word);
        };
        codes.push(names.intern(text).ok_or(Refusal::Categories)?);
        Ok(())
    }

    /// Adds a missing value.
    pub(super) fn push_missing(&mut self) {
        match self {
            Values::Nothing(rows) => *rows += 1,
            Values::Numbers(values) => values.push(f32::NAN),
            Values::Categories(codes, _) => codes.push(NO_CATEGORY),
            Values::Texts(codes, ends, _) => ends.push(codes.len()),
            Values::Sparse(_) => {}
        }
    }

    /// Adds all values of a later part of the column.
    pub(super) fn append(&mut self, other: Values) -> Result<(), Refusal> {
        match (&mut *self, other) {
            (_, Values::Nothing(rows)) => (0..rows).for_each(|_| self.push_missing()),
            (Values::Nothing(rows), Values::Numbers(values)) => {
                let missing = std::iter::repeat_n(f32::NAN, *rows);
                *self = Values::Numbers(missing.chain(values).collect());
            }
            (Values::Nothing(rows), Values::Categories(codes, names)) => {
                let missing = std::iter::repeat_n(NO_CATEGORY, *rows);
                *self = Values::Categories(missing.chain(codes).collect(), names);
            }
            (Values::Nothing(rows), Values::Texts(codes, ends, names)) => {
                let ends = std::iter::repeat_n(0, *rows).chain(ends).collect();
                *self = Values::Texts(codes, ends, names);
            }
            (Values::Numbers(all), Values::Numbers(values)) => all.extend(values),
            (Values::Categories(all, known), Values::Categories(codes, names)) => {
                all.extend(renumbered(&codes, &names, known)?);
            }
            (Values::Texts(all, all_ends, known), Values::Texts(codes, ends, names)) => {
                all_ends.extend(ends.iter().map(|end| all.len() + end));
                all.extend(renumbered(&codes, &names, known)?);
            }
            (Values::Numbers(_), _) => return Err(Refusal::Word),
            _ => return Err(Refusal::Number),
        }
        Ok(())
    }
}

/// Numbers of words among those that are known, to which they are added.
fn renumbered(codes: &[u32], names: &Names, known: &mut Names) -> Result<Vec<u32>, Refusal> {
    let here = |code| known.intern(names.get(code)).ok_or(Refusal::Categories);
    let numbers = (0..names.len() as u32).map(here);
    let numbers: Vec<u32> = numbers.collect::<Result<_, _>>()?;
    let here = |&code: &u32| *numbers.get(code as usize).unwrap_or(&NO_CATEGORY);
    Ok(codes.iter().map(here).collect())
}
