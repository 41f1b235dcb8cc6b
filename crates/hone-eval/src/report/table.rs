//! A table of summaries: rows are methods, columns are graphs or settings.

use std::fmt::Write;

use hone::terminal::line;
use serde::{Deserialize, Serialize};

use crate::stats::Summary;

/// Which value of a column is best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Best {
    /// The largest.
    Highest,
    /// The smallest.
    Lowest,
    /// None is marked.
    Unmarked,
}

/// How numbers are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    /// With this many decimals, ± the standard deviation where there are several values.
    Decimals(usize),
    /// As a signed percentage with two decimals.
    Percent,
    /// With three significant digits.
    Significant,
}

/// A titled table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// What the numbers are.
    pub title: String,
    /// Remarks below it.
    pub notes: Vec<String>,
    /// Head of each column.
    pub columns: Vec<String>,
    /// Name and cells of each row; a missing cell was not measured.
    pub rows: Vec<(String, Vec<Option<Summary>>)>,
    /// What is marked in each column.
    pub best: Best,
    /// How numbers are shown.
    pub style: Style,
    /// What validation chose: rows where there was a choice, with a text per column; empty where there was none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<(String, Vec<String>)>,
}

/// How bold text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bold {
    /// Not at all.
    Never,
    /// With terminal escapes; those in names and notes are escaped.
    Ansi,
}

impl Table {
    /// An empty table of AUC-like numbers.
    pub fn new(title: impl Into<String>, columns: Vec<String>) -> Self {
        let title = title.into();
        let (notes, rows, chosen) = (Vec::new(), Vec::new(), Vec::new());
        Table {
            title,
            notes,
            columns,
            rows,
            best: Best::Highest,
            style: Style::Decimals(3),
            chosen,
        }
    }

    /// Whether the cell is the best of its column (ties count).
    pub fn is_best(&self, row: usize, column: usize) -> bool {
        let value = |r: usize| self.rows[r].1[column].map(|s| s.mean);
        let mut others = (0..self.rows.len()).filter_map(value);
        match (value(row), self.best) {
            (None, _) | (_, Best::Unmarked) => false,
            (Some(own), Best::Highest) => others.all(|v| v <= own),
            (Some(own), Best::Lowest) => others.all(|v| v >= own),
        }
    }

    /// A cell as text.
    pub fn show(&self, cell: Option<Summary>) -> String {
        let Some(s) = cell else {
            return "–".to_string();
        };
        match self.style {
            Style::Decimals(d) if s.count > 1 => format!("{:.d$} ± {:.d$}", s.mean, s.std),
            Style::Decimals(d) => format!("{:.d$}", s.mean),
            // A gain over nothing has no size.
            Style::Percent if !s.mean.is_finite() => "–".to_string(),
            Style::Percent => format!("{:+.2}%", 100.0 * s.mean),
            Style::Significant => significant(s.mean),
        }
    }

    /// Aligned text for a terminal.
    pub fn text(&self, bold: Bold) -> String {
        match bold {
            Bold::Ansi => self.escaped().lines(bold),
            Bold::Never => self.lines(bold),
        }
    }

    /// The same table with nothing in its texts that acts on a terminal.
    fn escaped(&self) -> Table {
        let one = |text: &String| line(text).into_owned();
        let all = |texts: &Vec<String>| texts.iter().map(one).collect::<Vec<_>>();
        let (rows, chosen) = (self.rows.iter(), self.chosen.iter());
        Table {
            title: one(&self.title),
            notes: all(&self.notes),
            columns: all(&self.columns),
            rows: rows.map(|(row, cells)| (one(row), cells.clone())).collect(),
            chosen: chosen.map(|(row, cells)| (one(row), all(cells))).collect(),
            ..self.clone()
        }
    }

    fn lines(&self, bold: Bold) -> String {
        let mut out = format!("{}\n", self.title);
        if !self.rows.is_empty() {
            self.push_rows(bold, &mut out);
        }
        for (name, cells) in &self.chosen {
            let of = |(column, cell): (&String, &String)| {
                (!cell.is_empty()).then(|| format!("{column}: {cell}"))
            };
            let of_columns: Vec<String> = self.columns.iter().zip(cells).filter_map(of).collect();
            let _ = writeln!(out, "{name} was chosen with {}", of_columns.join("; "));
        }
        self.notes
            .iter()
            .for_each(|note| out.push_str(&format!("{note}\n")));
        out
    }

    fn push_rows(&self, bold: Bold, out: &mut String) {
        let shown: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|(_, cells)| cells.iter().map(|&c| self.show(c)).collect())
            .collect();
        let width = |text: &str| text.chars().count();
        let first = self.rows.iter().map(|r| width(&r.0)).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|j| {
                shown
                    .iter()
                    .map(|r| width(&r[j]))
                    .chain([width(&self.columns[j])])
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        out.push_str(&" ".repeat(first));
        for (head, w) in self.columns.iter().zip(&widths) {
            let _ = write!(out, "  {}{head}", " ".repeat(w - width(head)));
        }
        for (i, (name, _)) in self.rows.iter().enumerate() {
            let _ = write!(out, "\n{name}{}", " ".repeat(first - width(name)));
            for (j, w) in widths.iter().enumerate() {
                let pad = " ".repeat(w - width(&shown[i][j]));
                let (on, off) = if bold == Bold::Ansi && self.is_best(i, j) {
                    ("\x1b[1m", "\x1b[0m")
                } else {
                    ("", "")
                };
                let _ = write!(out, "  {pad}{on}{}{off}", shown[i][j]);
            }
        }
        out.push('\n');
    }

    /// A Markdown table, best cells in bold.
    pub fn markdown(&self) -> String {
        let mut out = format!("**{}**\n", escape(&self.title));
        if !self.rows.is_empty() {
            out.push_str(&head_line("", &self.columns, "---:"));
        }
        for (i, (name, cells)) in self.rows.iter().enumerate() {
            let _ = write!(out, "\n| {} |", escape(name));
            for (j, &cell) in cells.iter().enumerate() {
                let mark = if self.is_best(i, j) { "**" } else { "" };
                let _ = write!(out, " {mark}{}{mark} |", self.show(cell));
            }
        }
        if !self.rows.is_empty() {
            out.push('\n');
        }
        if let Some((_, cells)) = self.chosen.first() {
            out.push_str(&head_line(
                "chosen by validation",
                &self.columns[..cells.len()],
                "---",
            ));
            for (name, cells) in &self.chosen {
                let cells: Vec<String> = cells.iter().map(|cell| escape(cell)).collect();
                let _ = write!(out, "\n| {} | {} |", escape(name), cells.join(" | "));
            }
            out.push('\n');
        }
        self.notes
            .iter()
            .for_each(|note| out.push_str(&format!("\n{note}\n")));
        out
    }

    /// What validation chose for a cell; empty where there was no choice.
    fn choice(&self, row: &str, column: usize) -> &str {
        let cells = self
            .chosen
            .iter()
            .find(|(name, _)| name == row)
            .map(|(_, cells)| cells);
        cells
            .and_then(|cells| cells.get(column))
            .map_or("", String::as_str)
    }

    /// One line per cell: table, row, column, mean, std, count, what validation chose, and the seeds of the run.
    pub fn csv_lines(&self, seeds: &str) -> String {
        let quote = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let mut out = String::new();
        for (name, cells) in &self.rows {
            for (j, (column, cell)) in self.columns.iter().zip(cells).enumerate() {
                if let Some(s) = cell {
                    let (table, row, column) = (quote(&self.title), quote(name), quote(column));
                    let (chosen, seeds) = (quote(self.choice(name, j)), quote(seeds));
                    let _ = writeln!(
                        out,
                        "{table},{row},{column},{},{},{},{chosen},{seeds}",
                        s.mean, s.std, s.count
                    );
                }
            }
        }
        out
    }
}

/// Text safe in a Markdown table.
fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}

/// The first two lines of a Markdown table.
fn head_line(corner: &str, columns: &[String], rule: &str) -> String {
    let names: String = columns
        .iter()
        .map(|c| format!(" {} |", escape(c)))
        .collect();
    format!(
        "\n| {corner} |{names}\n|---|{}",
        format!("{rule}|").repeat(columns.len())
    )
}

/// Three significant digits.
fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor() as i32;
    match magnitude {
        -3..=5 => format!("{value:.*}", usize::try_from(2 - magnitude).unwrap_or(0)),
        _ => format!("{value:.2e}"),
    }
}
