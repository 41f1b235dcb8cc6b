//! Values of one column while they are read: their kind is detected while reading.
//!
//! A column is numeric when each of its values is a number, and categorical when none is. A mixture
//! is more often a mistake (`12O`, `unknown`) than intended, so it is refused with its line unless
//! the user has declared the column categorical.

use crate::graph::Names;

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
    /// (row, number); all others are zero. A row may stand more than once: its numbers add up.
    Sparse(Vec<(u32, f32)>),
}

/// The first few names of columns.
pub(super) fn listed(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(20).map(String::as_str).collect();
    let more = if names.len() > shown.len() {
        ", …"
    } else {
        ""
    };
    format!("{}{more}", shown.join(", "))
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
    pub(super) fn explain(self, name: &str) -> (String, String) {
        let mixed = format!(
            "fix it, leave it empty where it is missing, or add {name:?} to attributes.table.categorical if all \
             its values are categories"
        );
        match self {
            Refusal::Word => (
                format!("column `{name}` has numbers, but this is not a number"),
                mixed,
            ),
            Refusal::Number => (
                format!("column `{name}` has words, but this is a number"),
                mixed,
            ),
            Refusal::Infinite => (
                format!(
                    "a value of column `{name}` that is infinite or beyond 32-bit floating point"
                ),
                "scale the column down, or leave the field empty where the value is missing".into(),
            ),
            Refusal::Categories => (
                format!("column `{name}` has more categories than 32 bits can number"),
                "leave the column out with attributes.table.columns".into(),
            ),
        }
    }
}

/// Whether a field says that its value is missing.
pub(super) fn is_missing(text: &str) -> bool {
    text.is_empty()
        || text.len() <= 4
            && MISSING
                .iter()
                .any(|missing| text.eq_ignore_ascii_case(missing))
}

impl Values {
    /// Whether a row has a value.
    pub(super) fn has(&self, row: u32) -> bool {
        match self {
            Values::Nothing(_) => false,
            Values::Numbers(values) => !values[row as usize].is_nan(),
            Values::Categories(codes, _) => codes[row as usize] != NO_CATEGORY,
            Values::Sparse(_) => true,
        }
    }

    /// Adds the value that a field has; `words` when numbers are words too.
    pub(super) fn push_text(&mut self, text: &str, words: bool) -> Result<(), Refusal> {
        let text = text.trim();
        if is_missing(text) {
            self.push_missing();
            return Ok(());
        }
        match text.parse::<f64>().ok().filter(|_| !words) {
            Some(number) => self.push_number(number),
            None => self.push_category(text),
        }
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
            Values::Sparse(_) => unreachable!("sparse columns miss nothing"),
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
            (Values::Numbers(all), Values::Numbers(values)) => all.extend(values),
            (Values::Categories(all, known), Values::Categories(codes, names)) => {
                let renumbered: Option<Vec<u32>> = (0..names.len() as u32)
                    .map(|code| known.intern(names.get(code)))
                    .collect();
                let renumbered = renumbered.ok_or(Refusal::Categories)?;
                all.extend(codes.iter().map(|&code| {
                    renumbered
                        .get(code as usize)
                        .copied()
                        .unwrap_or(NO_CATEGORY)
                }));
            }
            (Values::Numbers(_), _) => return Err(Refusal::Word),
            _ => return Err(Refusal::Number),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(texts: &[&str], words: bool) -> Result<Values, Refusal> {
        let mut values = Values::Nothing(0);
        texts
            .iter()
            .try_for_each(|text| values.push_text(text, words))?;
        Ok(values)
    }

    #[test]
    fn kinds_are_found_out_and_mixtures_refused() {
        let numbers = column(&["", "1", "NA", "-2.5e1", "nan", " 7 "], false).expect("numbers");
        let Values::Numbers(values) = numbers else {
            panic!("{numbers:?}")
        };
        let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["NaN", "1", "NaN", "-25", "NaN", "7"]);
        let words = column(&["?", "a", "b", "a", "None"], false).expect("words");
        let Values::Categories(codes, names) = words else {
            panic!("{words:?}")
        };
        assert_eq!(
            (codes, names.len()),
            (vec![NO_CATEGORY, 0, 1, 0, NO_CATEGORY], 2)
        );
        assert_eq!(
            column(&["1", "x"], false).expect_err("mixed"),
            Refusal::Word
        );
        assert_eq!(
            column(&["x", "1"], false).expect_err("mixed"),
            Refusal::Number
        );
        assert_eq!(
            column(&["1", "1e39"], false).expect_err("huge"),
            Refusal::Infinite
        );
        assert_eq!(
            column(&["inf"], false).expect_err("infinite"),
            Refusal::Infinite
        );
        assert!(matches!(
            column(&["1", "x", "inf"], true),
            Ok(Values::Categories(..))
        ));
        assert!(matches!(
            column(&["", "null"], false),
            Ok(Values::Nothing(2))
        ));
    }

    #[test]
    fn parts_joined_are_the_whole() {
        let texts = ["", "b", "a", "", "c", "b", "a"];
        let whole = column(&texts, false).expect("words");
        for cut in 0..=texts.len() {
            let mut joined = column(&texts[..cut], false).expect("words");
            joined
                .append(column(&texts[cut..], false).expect("words"))
                .expect("one kind");
            let (Values::Categories(a, x), Values::Categories(b, y)) = (&joined, &whole) else {
                panic!("words")
            };
            let text = |codes: &[u32], names: &Names| {
                let of = |&code: &u32| {
                    if code == NO_CATEGORY {
                        String::new()
                    } else {
                        names.get(code).to_owned()
                    }
                };
                codes.iter().map(of).collect::<Vec<_>>()
            };
            assert_eq!(text(a, x), text(b, y), "cut at {cut}");
        }
        let mut numbers = column(&["1"], false).expect("numbers");
        assert_eq!(numbers.append(whole), Err(Refusal::Word));
    }
}
