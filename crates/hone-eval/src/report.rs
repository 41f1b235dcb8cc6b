//! Results as tables and plots, for terminals, Markdown, CSV, JSON and the browser.

use std::fmt::Write;

use hone::terminal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::plot::Plot;
use crate::plot::escape as escape_xml;
use crate::stats::Summary;

/// The setting that lists the seeds of a run.
pub const SEEDS: &str = "seeds";

/// What one run found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What was run.
    pub title: String,
    /// The settings, so that the run can be repeated.
    pub settings: Vec<(String, String)>,
    /// The tables.
    pub tables: Vec<Table>,
    /// The plots.
    pub plots: Vec<Plot>,
    /// Results of single seeds, with what validation chose for them; in JSON only.
    #[serde(default)]
    pub runs: Vec<Value>,
    /// Methods that failed, which the tables have no figures of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
}

/// A method that failed on a graph, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The method.
    pub method: String,
    /// The graph.
    pub graph: String,
    /// The seed under which it failed.
    pub seed: u64,
    /// What went wrong, and what helps.
    pub reason: String,
}

/// A table of summaries: rows are methods, columns are graphs or settings.
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

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222}\
table{border-collapse:collapse;margin:.6rem 0 1.6rem}caption{text-align:left;font-weight:600;padding:.3rem 0}\
td,th{padding:.25rem .7rem;border-bottom:1px solid #ddd;text-align:right;font-variant-numeric:tabular-nums}\
td:first-child,th:first-child{text-align:left}.best{font-weight:700}.words{text-align:left;font-size:.85em}dt{font-weight:600}dd{margin:0 0 .3rem}";

/// Nothing is loaded, sent or run; the only style is [`STYLE`], which the hash is of.
const POLICY: &str = "default-src 'none'; style-src 'sha256-ixX8NRoSVcrCEvtD9BnNfCZ9ZMQZnU7Fe7QzHgKHQq0='; \
base-uri 'none'; form-action 'none'";

impl Report {
    /// Aligned tables; with terminal escapes for bold text, those in names and notes are escaped.
    pub fn text(&self, bold: bool) -> String {
        let tables: Vec<String> = self.tables.iter().map(|t| t.text(bold)).collect();
        tables.join("\n")
    }

    /// Markdown with the settings at the end.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n", self.title);
        for table in &self.tables {
            out += &table.markdown();
            out.push('\n');
        }
        out += "Settings:\n\n";
        for (key, value) in &self.settings {
            let _ = writeln!(out, "- {key}: {value}");
        }
        out
    }

    /// One line per cell: table, row, column, mean, std, count, what validation chose, and the seeds of the run, if it has some.
    pub fn csv(&self) -> String {
        let quote = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let seeds = self.settings.iter().find(|(key, _)| key == SEEDS);
        let seeds = quote(seeds.map_or("", |(_, seeds)| seeds));
        let mut out = "table,row,column,mean,std,count,chosen,seeds\n".to_string();
        for table in &self.tables {
            for (name, cells) in &table.rows {
                let chosen = table.chosen.iter().find(|(row, _)| row == name);
                for (j, (column, cell)) in table.columns.iter().zip(cells).enumerate() {
                    let Some(Summary { mean, std, count }) = cell else {
                        continue;
                    };
                    let [title, row, column] = [&table.title, name, column].map(|s| quote(s));
                    let chosen = chosen.and_then(|(_, texts)| texts.get(j));
                    let chosen = quote(chosen.map_or("", String::as_str));
                    let _ = writeln!(
                        out,
                        "{title},{row},{column},{mean},{std},{count},{chosen},{seeds}"
                    );
                }
            }
        }
        out
    }

    /// Everything as JSON.
    pub fn json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a report is plain data") + "\n";
        terminal::json(&text).into_owned()
    }

    /// The first plot as an SVG file; an empty one when there is none.
    pub fn figure(&self) -> String {
        let plot = self.plots.first().map(Plot::svg);
        let plot = plot.unwrap_or_else(|| "<svg></svg>".to_owned());
        let named = plot.replacen("<svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"", 1);
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{named}\n")
    }

    /// One page that needs nothing else.
    pub fn html(&self) -> String {
        let title = escape_xml(&self.title);
        let mut out = format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"><title>{title}</title>\
             <style>{STYLE}</style></head><body><h1>{title}</h1>"
        );
        for plot in &self.plots {
            let _ = write!(out, "<figure>{}</figure>", plot.svg());
        }
        self.tables.iter().for_each(|table| table.html(&mut out));
        out += "<h2>Settings</h2><dl>";
        for (key, value) in &self.settings {
            let (key, value) = (escape_xml(key), escape_xml(value));
            let _ = write!(out, "<dt>{key}</dt><dd>{value}</dd>");
        }
        out + "</dl></body></html>\n"
    }
}

impl Failure {
    /// What stands below a table in which the method has no figures.
    pub(crate) fn note(&self) -> String {
        let (method, graph, reason) = (&self.method, &self.graph, &self.reason);
        format!("{method} failed on {graph} (–): {reason}")
    }
}

/// The text of a cell, and whether it is the best of its column.
type Shown = (String, bool);

/// The name of a row and its cells.
type Line = (String, Vec<Shown>);

impl Table {
    /// An empty table of AUC-like numbers.
    pub fn new(title: impl Into<String>, columns: Vec<String>) -> Self {
        Table {
            title: title.into(),
            notes: Vec::new(),
            columns,
            rows: Vec::new(),
            best: Best::Highest,
            style: Style::Decimals(3),
            chosen: Vec::new(),
        }
    }

    /// A cell as text.
    pub fn show(&self, cell: Option<Summary>) -> String {
        match (cell, self.style) {
            (None, _) => "–".to_string(),
            (Some(s), Style::Decimals(d)) if s.count > 1 => {
                format!("{:.d$} ± {:.d$}", s.mean, s.std)
            }
            (Some(s), Style::Decimals(d)) => format!("{:.d$}", s.mean),
            // A gain over nothing has no size.
            (Some(s), Style::Percent) if !s.mean.is_finite() => "–".to_string(),
            (Some(s), Style::Percent) => format!("{:+.2}%", 100.0 * s.mean),
            (Some(s), Style::Significant) => significant(s.mean),
        }
    }

    /// Name and cells of each row as they are shown.
    fn shown_rows(&self) -> Vec<(&String, Vec<Shown>)> {
        let is_best = |own: f64, column: usize| {
            let mut others = self.rows.iter().filter_map(|row| row.1[column]);
            match self.best {
                Best::Highest => others.all(|other| other.mean <= own),
                Best::Lowest => others.all(|other| other.mean >= own),
                Best::Unmarked => false,
            }
        };
        let cell = |(j, &cell): (usize, &Option<Summary>)| {
            (self.show(cell), cell.is_some_and(|s| is_best(s.mean, j)))
        };
        let rows = self.rows.iter();
        rows.map(|(name, cells)| (name, cells.iter().enumerate().map(cell).collect()))
            .collect()
    }

    /// Aligned text; see [`Report::text`].
    pub fn text(&self, bold: bool) -> String {
        let one = |text: &String| match bold {
            true => terminal::line(text).into_owned(),
            false => text.clone(),
        };
        let mut out = format!("{}\n", one(&self.title));
        if !self.rows.is_empty() {
            let (head, rows) = (self.columns.iter().map(one), self.shown_rows().into_iter());
            let head = head.map(|text| (text, false)).collect();
            let rows = rows.map(|(name, cells)| (one(name), cells));
            let lines: Vec<Line> = std::iter::once((String::new(), head)).chain(rows).collect();
            let width = |text: &str| text.chars().count();
            let widest =
                |width_of: &dyn Fn(&Line) -> usize| lines.iter().map(width_of).max().unwrap_or(0);
            let first = widest(&|line| width(&line.0));
            let widths: Vec<usize> = (0..self.columns.len())
                .map(|j| widest(&|line| width(&line.1[j].0)))
                .collect();
            for (name, cells) in &lines {
                let _ = write!(out, "{name}{}", " ".repeat(first - width(name)));
                for ((text, best), w) in cells.iter().zip(&widths) {
                    let pad = " ".repeat(w - width(text));
                    let _ = match *best && bold {
                        true => write!(out, "  {pad}\x1b[1m{text}\x1b[0m"),
                        false => write!(out, "  {pad}{text}"),
                    };
                }
                out.push('\n');
            }
        }
        for (name, texts) in &self.chosen {
            let chosen = self.columns.iter().zip(texts);
            let chosen: Vec<String> = chosen
                .filter(|(_, text)| !text.is_empty())
                .map(|(column, text)| format!("{} on {}", one(text), one(column)))
                .collect();
            let _ = writeln!(
                out,
                "Chosen by validation for {}: {}",
                one(name),
                chosen.join("; ")
            );
        }
        for note in &self.notes {
            let _ = writeln!(out, "{}", one(note));
        }
        out
    }

    /// A Markdown table, best cells in bold.
    pub fn markdown(&self) -> String {
        let escape = |text: &str| text.replace('|', "\\|");
        let head = |corner: &str, columns: &[String], rule: &str| {
            let names: String = columns
                .iter()
                .map(|c| format!(" {} |", escape(c)))
                .collect();
            let rules = format!("{rule}|").repeat(columns.len());
            format!("\n| {corner} |{names}\n|---|{rules}\n")
        };
        let mut out = format!("**{}**\n", escape(&self.title));
        if !self.rows.is_empty() {
            out += &head("", &self.columns, "---:");
        }
        for (name, cells) in self.shown_rows() {
            let _ = write!(out, "| {} |", escape(name));
            for (text, best) in cells {
                let mark = if best { "**" } else { "" };
                let _ = write!(out, " {mark}{text}{mark} |");
            }
            out.push('\n');
        }
        if let Some((_, texts)) = self.chosen.first() {
            out += &head("chosen by validation", &self.columns[..texts.len()], "---");
            for (name, texts) in &self.chosen {
                let texts: Vec<String> = texts.iter().map(|text| escape(text)).collect();
                let _ = writeln!(out, "| {} | {} |", escape(name), texts.join(" | "));
            }
        }
        for note in &self.notes {
            let _ = write!(out, "\n{note}\n");
        }
        out
    }

    fn html(&self, out: &mut String) {
        let head = |out: &mut String, title: &str, columns: &[String]| {
            let title = escape_xml(title);
            let _ = write!(out, "<table><caption>{title}</caption><tr><th></th>");
            for column in columns {
                let _ = write!(out, "<th>{}</th>", escape_xml(column));
            }
        };
        let columns = if self.rows.is_empty() {
            0
        } else {
            self.columns.len()
        };
        head(out, &self.title, &self.columns[..columns]);
        for (name, cells) in self.shown_rows() {
            let _ = write!(out, "</tr><tr><td>{}</td>", escape_xml(name));
            for (text, best) in cells {
                let class = if best { " class=\"best\"" } else { "" };
                let _ = write!(out, "<td{class}>{text}</td>");
            }
        }
        *out += "</tr></table>";
        if let Some((_, texts)) = self.chosen.first() {
            head(out, "Chosen by validation", &self.columns[..texts.len()]);
            for (name, texts) in &self.chosen {
                let _ = write!(out, "</tr><tr><td>{}</td>", escape_xml(name));
                for text in texts {
                    let _ = write!(out, "<td class=\"words\">{}</td>", escape_xml(text));
                }
            }
            *out += "</tr></table>";
        }
        for note in &self.notes {
            let _ = write!(out, "<p>{}</p>", escape_xml(note));
        }
    }
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
