//! `hone coefficients INPUT`: clustering, square clustering and closure of a graph and of its nodes.

use std::ops::Range;
use std::path::PathBuf;

use hone::motif::{COEFFICIENTS, count};
use hone::output::Existing;
use hone::record;
use hone::store::table::{Column, Kind, Table, format_of};

use crate::arguments::ReplaceArgs;
use crate::context::{Context, aligned, decimals};
use crate::files;
use crate::input::{InputArgs, note_idle_weights};

/// Show clustering and closure coefficients, also of order 3 and of squares.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,
    /// File for the coefficients of all nodes: .tsv, .csv (also .gz, .zst) or .parquet; - is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    replace: ReplaceArgs,
}

const EXAMPLES: &str = "\
Examples:
  hone coefficients builtin:karate
  hone coefficients graph.tsv -o nodes.tsv
  hone coefficients graph.tsv --json

The column global is what is closed of all that could be (of `clustering` also called transitivity), mean the mean over all \
nodes, with 0 for those where nothing could be closed, defined the mean over the others, whose number is in the last \
column. Directions and weights are ignored.";

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let source = args.input.source()?;
    let output = args.output.as_deref();
    output.map_or(Ok(()), |path| context.check_json(path))?;
    let mut batch = source
        .files()
        .write("--output", output)
        .check(args.replace.force)?;
    if let Some(path) = output {
        format_of(path)?;
        record::check_without(path, Existing::replaced_if(args.replace.force))?;
    }
    let graph = source.open(false, context)?;
    note_idle_weights(&graph, context);
    let found = count(&graph, context.progress())?.coefficients()?;
    if let Some(path) = output {
        let columns = COEFFICIENTS.map(|name| (name, Kind::Float));
        let columns = std::iter::once(("id", Kind::Node)).chain(columns);
        let values = |rows: Range<usize>| {
            let column = |at: usize| {
                found.nodes[rows.clone()]
                    .iter()
                    .map(move |node| node[at] as f32)
            };
            let own = Column::Nodes(rows.clone().map(|row| row as u32).collect());
            let others = (0..COEFFICIENTS.len()).map(|at| Column::Floats(column(at).collect()));
            Ok(std::iter::once(own).chain(others).collect())
        };
        let table = Table::new(graph.ids(), columns, graph.nodes(), &values);
        table.add_to(&mut batch, path, context.progress())?;
        files::note_written(&batch.commit()?, path, context);
    }
    context.progress_done();
    if context.json() {
        return context.print_json(&found.graph);
    }
    if output.is_some_and(hone::output::is_stream) {
        return Ok(());
    }
    let head = ["coefficient", "global", "mean", "defined", "nodes"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(found.graph.iter().map(|of| {
        let numbers = [of.global, of.mean, of.mean_where_defined];
        let numbers = numbers.map(|number| decimals(number, 4)).to_vec();
        [
            vec![of.name.to_owned()],
            numbers,
            vec![of.defined.to_string()],
        ]
        .concat()
    }));
    Ok(context.print(aligned(&lines, 1..5))?)
}
