//! Results as tables and plots, for terminals, Markdown, CSV, JSON and the browser.

mod svg;
mod table;

use std::fmt::Write;

use hone::terminal;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use svg::Plot;
pub use table::{Best, Bold, Style, Table};

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

impl Failure {
    /// What stands below a table in which the method has no figures.
    pub(crate) fn note(&self) -> String {
        let Failure {
            method,
            graph,
            reason,
            ..
        } = self;
        format!("{method} failed on {graph} (–): {reason}")
    }
}

const STYLE: &str = "body{font:15px/1.5 sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222}\
table{border-collapse:collapse;margin:.6rem 0 1.6rem}caption{text-align:left;font-weight:600;padding:.3rem 0}\
td,th{padding:.25rem .7rem;border-bottom:1px solid #ddd;text-align:right;font-variant-numeric:tabular-nums}\
td:first-child,th:first-child{text-align:left}.best{font-weight:700}.words{text-align:left;font-size:.85em}dt{font-weight:600}dd{margin:0 0 .3rem}";

/// Nothing is loaded, sent or run; the only style is [`STYLE`], which the hash is of.
const POLICY: &str = "default-src 'none'; style-src 'sha256-ixX8NRoSVcrCEvtD9BnNfCZ9ZMQZnU7Fe7QzHgKHQq0='; \
base-uri 'none'; form-action 'none'";

impl Report {
    /// Takes the tables, plots and results of a part of the work; its settings are its own.
    pub fn absorb(&mut self, part: Report) {
        self.tables.extend(part.tables);
        self.plots.extend(part.plots);
        self.runs.extend(part.runs);
        self.failures.extend(part.failures);
    }

    /// Aligned tables for a terminal.
    pub fn text(&self, bold: Bold) -> String {
        self.tables
            .iter()
            .map(|t| t.text(bold))
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Markdown with the settings at the end.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n", self.title);
        self.tables
            .iter()
            .for_each(|t| out.push_str(&format!("{}\n", t.markdown())));
        out.push_str("Settings:\n\n");
        self.settings
            .iter()
            .for_each(|(k, v)| out.push_str(&format!("- {k}: {v}\n")));
        out
    }

    /// One line per cell, with the seeds of the run, if it has some.
    pub fn csv(&self) -> String {
        let seeds = self
            .settings
            .iter()
            .find(|(key, _)| key == SEEDS)
            .map_or("", |(_, seeds)| seeds.as_str());
        let lines: String = self
            .tables
            .iter()
            .map(|table| table.csv_lines(seeds))
            .collect();
        format!("table,row,column,mean,std,count,chosen,seeds\n{lines}")
    }

    /// Everything as JSON.
    pub fn json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a report is plain data") + "\n";
        terminal::json(&text).into_owned()
    }

    /// The first plot as an SVG file; an empty one when there is none.
    pub fn figure(&self) -> String {
        let plot = self
            .plots
            .first()
            .map_or_else(|| "<svg>".to_owned() + "</svg>", Plot::svg);
        let named = plot.replacen("<svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"", 1);
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{named}\n")
    }

    /// One page that needs nothing else.
    pub fn html(&self) -> String {
        let title = svg::escape(&self.title);
        let mut out = format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"><title>{title}</title>\
             <style>{STYLE}</style></head><body><h1>{title}</h1>"
        );
        self.plots
            .iter()
            .for_each(|plot| out.push_str(&format!("<figure>{}</figure>", plot.svg())));
        self.tables
            .iter()
            .for_each(|table| html_table(&mut out, table));
        out.push_str("<h2>Settings</h2><dl>");
        for (key, value) in &self.settings {
            let _ = write!(
                out,
                "<dt>{}</dt><dd>{}</dd>",
                svg::escape(key),
                svg::escape(value)
            );
        }
        out + "</dl></body></html>\n"
    }
}

fn html_table(out: &mut String, table: &Table) {
    html_head(
        out,
        &table.title,
        if table.rows.is_empty() {
            &[]
        } else {
            &table.columns
        },
    );
    for (i, (name, cells)) in table.rows.iter().enumerate() {
        let _ = write!(out, "</tr><tr><td>{}</td>", svg::escape(name));
        for (j, &cell) in cells.iter().enumerate() {
            let class = if table.is_best(i, j) {
                " class=\"best\""
            } else {
                ""
            };
            let _ = write!(out, "<td{class}>{}</td>", table.show(cell));
        }
    }
    out.push_str("</tr></table>");
    if let Some((_, cells)) = table.chosen.first() {
        html_head(out, "Chosen by validation", &table.columns[..cells.len()]);
        for (name, cells) in &table.chosen {
            let _ = write!(out, "</tr><tr><td>{}</td>", svg::escape(name));
            cells.iter().for_each(|cell| {
                out.push_str(&format!("<td class=\"words\">{}</td>", svg::escape(cell)));
            });
        }
        out.push_str("</tr></table>");
    }
    table
        .notes
        .iter()
        .for_each(|note| out.push_str(&format!("<p>{}</p>", svg::escape(note))));
}

fn html_head(out: &mut String, title: &str, columns: &[String]) {
    let _ = write!(
        out,
        "<table><caption>{}</caption><tr><th></th>",
        svg::escape(title)
    );
    columns
        .iter()
        .for_each(|c| out.push_str(&format!("<th>{}</th>", svg::escape(c))));
}
