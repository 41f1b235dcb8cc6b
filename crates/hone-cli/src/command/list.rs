//! `hone list WHAT`: the names that options take.

use clap::ValueEnum;
use hone::Error;
use hone::config::{MODELS, PRESETS};
use hone::factor::SOLVERS;
use hone::graph::{GraphFormat, InputFormat};
use hone::motif::{Motif, MotifSet, catalogue};
use hone::store::Format;
use hone_eval::method;
use serde::Serialize;

use crate::context::{Context, aligned};

/// List presets, motifs, solvers, formats or methods.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to list.
    #[arg(value_enum, value_name = "WHAT")]
    what: What,
    /// Motifs with their numbers in the literature, mfinder's identifiers, drawings, and the nodes or edges of a position.
    #[arg(long)]
    table: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    /// Named variants of the method, for --preset.
    Presets,
    /// Motifs, for --motifs.
    Motifs,
    /// Solvers, for --solver, and joint models, for --set model=….
    Solvers,
    /// Formats of graphs and vectors.
    Formats,
    /// Methods that `hone eval` compares, for --methods.
    Methods,
}

const EXAMPLES: &str = "\
Examples:
  hone list presets
  hone list motifs --table
  hone list solvers --json
  hone embed graph.tsv -o vectors.npy --solver als";

/// A name and what it stands for.
#[derive(Serialize)]
struct Entry {
    name: String,
    meaning: String,
}

impl Entry {
    fn new(name: impl Into<String>, meaning: impl Into<String>) -> Entry {
        let (name, meaning) = (name.into(), meaning.into());
        Entry { name, meaning }
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    if args.table {
        return catalogued(args, context);
    }
    let entries = entries(args.what);
    if context.json() {
        return context.print_json(&entries);
    }
    let lines = entries
        .into_iter()
        .map(|entry| vec![entry.name, entry.meaning]);
    Ok(context.print(aligned(&lines.collect::<Vec<_>>(), 0..0))?)
}

/// The table of motifs, which no other names have.
fn catalogued(args: &Args, context: &Context) -> anyhow::Result<()> {
    if !matches!(args.what, What::Motifs) {
        let message = "only motifs have numbers and drawings; leave it out";
        return Err(Error::config("table", message).into());
    }
    let all = catalogue();
    if context.json() {
        return context.print_json(&all);
    }
    let head = ["kind", "name", "number", "mfinder", "drawing", "position"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(all.into_iter().map(|named| {
        let texts = [named.kind, named.name, named.number].map(str::to_owned);
        let mfinder = named.mfinder.map(|number| number.to_string());
        let rest = [
            mfinder.unwrap_or_default(),
            named.drawing.to_owned(),
            named.position,
        ];
        [texts, rest].concat()
    }));
    Ok(context.print(aligned(&lines, 0..0))?)
}

fn entries(what: What) -> Vec<Entry> {
    let of = |names: &[(&str, &str)]| -> Vec<Entry> {
        let entries = names.iter();
        entries
            .map(|(name, line)| Entry::new(*name, *line))
            .collect()
    };
    match what {
        What::Presets => of(&PRESETS),
        What::Solvers => {
            let model = |(name, line): &(&str, &str)| Entry::new(format!("model={name}"), *line);
            let models = MODELS.iter().map(model);
            of(SOLVERS).into_iter().chain(models).collect()
        }
        What::Motifs => {
            let sets = ["all", "graphlets", "triads", "triad-orbits"];
            let sets = sets
                .into_iter()
                .filter_map(|set| set.parse::<MotifSet>().ok());
            let mut motifs: Vec<Motif> = Vec::new();
            for motif in sets.flat_map(|set| set.motifs()) {
                if !motifs.contains(&motif) {
                    motifs.push(motif);
                }
            }
            let entry = |motif: Motif| Entry::new(motif.name(), meaning(motif));
            motifs.into_iter().map(entry).collect()
        }
        What::Formats => {
            let read = InputFormat::ALL.map(|format| Entry::new(format.name(), "graphs, read"));
            let write = GraphFormat::ALL;
            let write = write.map(|format| Entry::new(format.to_string(), "graphs, written"));
            let vectors = Format::ALL.map(|(_, name)| Entry::new(name, "vectors"));
            read.into_iter().chain(write).chain(vectors).collect()
        }
        What::Methods => {
            let file = "vectors from a file: .npy .npz .tsv .csv .parquet .w2v .emb .safetensors";
            let mut methods: Vec<Entry> = method::registry()
                .into_iter()
                .map(|(name, line)| Entry::new(name, line))
                .collect();
            methods.push(Entry::new("file:PATH", file));
            methods
        }
    }
}

fn meaning(motif: Motif) -> String {
    let nodes = motif.size();
    match motif.graphlet() {
        None => format!("directed, {nodes} nodes"),
        Some(graphlet) if graphlet.name() == motif.name() => format!("graphlet, {nodes} nodes"),
        Some(graphlet) => format!("edges in one position of {graphlet}, {nodes} nodes"),
    }
}
