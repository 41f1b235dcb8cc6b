//! Motif graphs without entries: which they are, why, and what to do, in one line.

use crate::embed::context::Context;
use crate::message::{Message, message, set, setting};
use crate::motif::{Delta, Pairs};

/// Motifs whose graphs are empty.
pub(in crate::embed) struct Empty {
    /// No position has the motif.
    absent: Vec<String>,
    /// All positions have it less than delta times.
    rare: Vec<String>,
    /// Whether there are no others.
    all: bool,
}

impl Empty {
    /// Those of some motif graphs: the motif, the entries of its matrix, and the positions left out by delta.
    pub(in crate::embed) fn of<'a>(graphs: impl Iterator<Item = (&'a str, usize, usize)>) -> Empty {
        let (mut absent, mut rare, mut all) = (Vec::new(), Vec::new(), true);
        for (motif, nonzeros, below_delta) in graphs {
            all &= nonzeros == 0;
            let list = if below_delta == 0 {
                &mut absent
            } else {
                &mut rare
            };
            if nonzeros == 0 && !list.iter().any(|listed| listed == motif) {
                list.push(motif.to_owned());
            }
        }
        Empty { absent, rare, all }
    }

    /// Says which motif graphs are empty; a warning if all are and nothing else is embedded.
    pub(in crate::embed) fn note(&self, run: &mut Context) {
        if run.report.graph.edges == 0 {
            let warning = "the graph has no edges: its proximity and structure columns are zero";
            run.report.warnings.push(warning.into());
            run.zero = true;
            return;
        }
        let config = run.config;
        let weighted = run.report.graph.weighted && config.uses_weights();
        let edges = config.pairs == Pairs::Edges;
        let on = if weighted {
            " on edges with a weight"
        } else {
            ""
        };
        let mut notes: Vec<Message> = self.rare(&config.delta, edges).into_iter().collect();
        notes.extend(match &self.absent[..] {
            [] => None,
            [one] => Some(format!("motif {one} does not occur{on}: its columns are zero").into()),
            several => {
                let (count, names) = (several.len(), several.join(", "));
                let text =
                    format!("{count} motifs do not occur{on}, so their columns are zero: {names}");
                Some(text.into())
            }
        });
        if !self.all {
            return run.report.notes.extend(notes);
        }
        let zero = match run.has_columns_beside() {
            true => "all proximity columns are zero",
            false => "all vectors are zero",
        };
        let (place, delta) = (if edges { "edge" } else { "pair" }, &config.delta);
        let warning = match (&self.rare[..], &self.absent[..]) {
            ([], absent) => {
                // Without an entry for a single edge, all of them have weight zero.
                let remedy = match weighted && absent.iter().any(|motif| motif == "edge") {
                    true => set("weights", false).and(" ignores the weights"),
                    false => set("motifs", "all").and(" includes edges"),
                };
                let none = match absent {
                    [one] => format!("motif {one} does not occur{on}"),
                    _ => format!("none of the {} motifs occurs{on}", absent.len()),
                };
                message![format!("{none}: {zero}; "), remedy]
            }
            ([one], _) => message![
                format!("no {place} has motif {one} as often as "),
                set("delta", delta_of(delta, one)),
                format!(" requires: {zero}; a smaller value keeps more")
            ],
            _ => message![
                format!("no {place} has any motif as often as "),
                setting("delta"),
                format!(" requires: {zero}; a smaller value keeps more")
            ],
        };
        // Features among the columns may make vectors of their own.
        if run.has_attributes() && !run.has_columns_beside() {
            run.empty = Some((warning, notes));
        } else {
            run.report.warnings.push(warning);
            run.zero = true;
        }
    }

    /// What to say if delta leaves out whole motif graphs.
    fn rare(&self, delta: &Delta, edges: bool) -> Option<Message> {
        let what = if edges { "edges" } else { "pairs" };
        match &self.rare[..] {
            [] => None,
            [one] => Some(message![
                format!("all {what} with motif {one} have fewer than "),
                set("delta", delta_of(delta, one)),
                " occurrences: its columns are zero"
            ]),
            several => Some(message![
                format!("all {what} have {} motifs less often than ", several.len()),
                setting("delta"),
                format!(
                    " requires, so their columns are zero: {}",
                    several.join(", ")
                )
            ]),
        }
    }
}

fn delta_of(delta: &Delta, motif: &str) -> u64 {
    motif.parse().map_or(1, |motif| delta.of(motif))
}
