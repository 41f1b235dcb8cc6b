//! Motif graphs without entries: which they are, why, and what to do, in one line.

use crate::config::Config;
use crate::embed::context::Context;
use crate::motif::Pairs;

/// The size of a motif graph.
pub(in crate::embed) struct Size<'a> {
    pub(in crate::embed) motif: &'a str,
    /// Entries of its matrix.
    pub(in crate::embed) nonzeros: usize,
    /// Positions left out by delta.
    pub(in crate::embed) below_delta: usize,
}

/// Motifs whose graphs are empty.
#[derive(Default)]
struct Empty<'a> {
    /// No position has the motif.
    absent: Vec<&'a str>,
    /// All positions have it less than delta times.
    rare: Vec<&'a str>,
}

/// Says which motif graphs are empty; a warning if all are and nothing else is embedded.
pub(in crate::embed) fn empty_graphs<'a>(
    run: &Context,
    sizes: impl Iterator<Item = Size<'a>>,
) -> Said {
    let (mut empty, mut all) = (Empty::default(), true);
    for Size {
        motif,
        nonzeros,
        below_delta,
    } in sizes
    {
        all &= nonzeros == 0;
        let list = if below_delta == 0 {
            &mut empty.absent
        } else {
            &mut empty.rare
        };
        if nonzeros == 0 && !list.contains(&motif) {
            list.push(motif);
        }
    }
    let (config, weighted) = (
        run.config,
        run.report.graph.weighted && run.config.uses_weights(),
    );
    let more = run.has_attributes() && !run.has_columns_beside();
    if run.report.graph.edges == 0 {
        return Said::Warning(
            "the graph has no edges: its proximity and structure columns are zero".into(),
        );
    }
    let zero = if run.has_columns_beside() {
        "all proximity columns are zero"
    } else {
        "all vectors are zero"
    };
    match (all, more) {
        (false, _) => Said::Notes(empty.parts(config, weighted)),
        (true, false) => Said::Warning(empty.whole(config, weighted, zero)),
        (true, true) => Said::Later(
            empty.whole(config, weighted, zero),
            empty.parts(config, weighted),
        ),
    }
}

/// What is said of empty motif graphs.
pub(in crate::embed) enum Said {
    Warning(String),
    Notes(Vec<String>),
    /// The one if Z turns out to be zero, else the other.
    Later(String, Vec<String>),
}

impl Said {
    /// Adds it to the report of a run.
    pub(in crate::embed) fn to(self, run: &mut Context) {
        match self {
            Said::Warning(warning) => {
                run.report.warnings.push(warning);
                run.zero = true;
            }
            Said::Notes(notes) => run.report.notes.extend(notes),
            Said::Later(warning, notes) => run.empty = Some((warning, notes)),
        }
    }
}

impl Empty<'_> {
    /// What to say if all motif graphs are empty.
    fn whole(&self, config: &Config, weighted: bool, zero: &str) -> String {
        let place = if config.pairs == Pairs::Edges {
            "edge"
        } else {
            "pair"
        };
        match (&self.rare[..], &self.absent[..]) {
            ([], absent) => {
                // Without an entry for a single edge, all of them have weight zero.
                let what = if weighted && absent.contains(&EDGE) {
                    USE_NONE
                } else {
                    USE_ALL
                };
                let on = on_edges(weighted);
                let none = match absent {
                    [one] => format!("motif {one} does not occur{on}"),
                    _ => format!("none of the {} motifs occurs{on}", absent.len()),
                };
                format!("{none}: {zero}; {what}")
            }
            ([one], _) => {
                let delta = one.parse().map_or(1, |motif| config.delta.of(motif));
                format!(
                    "no {place} has motif {one} as often as delta = {delta} requires: {zero}; a smaller value keeps more"
                )
            }
            _ => format!(
                "no {place} has any motif as often as delta requires: {zero}; a smaller value keeps more"
            ),
        }
    }

    /// What to say if some are.
    fn parts(&self, config: &Config, weighted: bool) -> Vec<String> {
        let what = if config.pairs == Pairs::Edges {
            "edges"
        } else {
            "pairs"
        };
        let on = on_edges(weighted);
        let rare = match self.rare[..] {
            [] => None,
            [one] => {
                let delta = one.parse().map_or(1, |motif| config.delta.of(motif));
                let why = format!(
                    "all {what} with motif {one} have fewer than delta = {delta} occurrences"
                );
                Some(format!("{why}: its columns are zero"))
            }
            ref several => {
                let (count, names) = (several.len(), several.join(", "));
                Some(format!(
                    "all {what} have {count} motifs less often than delta requires, so their columns are zero: {names}"
                ))
            }
        };
        let absent = match self.absent[..] {
            [] => None,
            [one] => Some(format!(
                "motif {one} does not occur{on}: its columns are zero"
            )),
            ref several => {
                let (count, names) = (several.len(), several.join(", "));
                Some(format!(
                    "{count} motifs do not occur{on}, so their columns are zero: {names}"
                ))
            }
        };
        rare.into_iter().chain(absent).collect()
    }
}

/// Where motifs were looked for.
fn on_edges(weighted: bool) -> &'static str {
    if weighted {
        " on edges with a weight"
    } else {
        ""
    }
}

/// The motif that every edge has.
const EDGE: &str = "edge";

const USE_NONE: &str = "weights = false ignores the weights";
const USE_ALL: &str = "motifs = \"all\" includes edges";
