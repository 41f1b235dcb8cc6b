//! `hone roles GRAPH`: structural roles of the nodes, with names and reasons.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hone::graph::NodeIds;
use hone::motif::Sample;
use hone::report::{GraphFacts, Input, Stage, Start};
use hone::{Error, record};
use hone_explore::{
    Explanation, MOST_ROLES, MotifScore, RATIOS, Role, RoleOptions, Roles, find_node,
};
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::context::aligned;
use crate::input::RepeatableArgs;
use crate::input::note_idle_weights;
use crate::options::{of_option, translated};
use crate::repeat::Earlier;

/// Find structural roles: groups of nodes with similar neighbourhoods, with a name and reasons for each role.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    input: RepeatableArgs,
    /// File for the roles and memberships of all nodes: .tsv, .csv (also .gz, .zst) or .parquet.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How many roles, or auto [default: auto].
    #[arg(long, value_name = "auto|K", value_parser = roles)]
    roles: Option<Wanted>,
    /// Explain why a node has its role, and what would give it another; may be repeated.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    explain: Vec<String>,
    /// Print JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// Estimate the motif counts, as in `hone count`: cap=64, or error=0.1,confidence=0.95 [default: exact].
    #[arg(long, value_name = "HOW")]
    sample: Option<Sample>,
    /// Seed of estimated counts; nothing else is random [default: 0].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Replace the file if it exists.
    #[arg(short, long)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  hone roles builtin:karate
  hone roles graph.tsv -o roles.tsv
  hone roles graph.tsv --roles 5 --explain alice
  hone roles graph.tsv --json
  hone roles -o again.tsv --config roles.tsv.run.json

A role is a group of nodes with similar motif counts, anywhere in the graph. The columns more and less list motifs \
that its nodes have more or less of than the average node, in standard deviations. The second table shows how often roles \
are linked, relative to what their degrees alone would give. docs/explore.md explains how roles are found, counted and \
named.";

/// The requested number of roles.
#[derive(Debug, Clone, Copy)]
struct Wanted(Option<usize>);

fn roles(text: &str) -> Result<Wanted, String> {
    match text.parse() {
        _ if text == "auto" => Ok(Wanted(None)),
        Ok(count) if (1..=MOST_ROLES).contains(&count) => Ok(Wanted(Some(count))),
        _ => Err(format!("give auto, or a number from 1 to {MOST_ROLES}")),
    }
}

/// What is stored next to a file of roles.
#[derive(Serialize)]
struct Record<'a> {
    version: &'static str,
    command: &'static str,
    choices: &'a RoleOptions,
    input: &'a Input,
    graph: GraphFacts,
    #[serde(flatten)]
    shown: &'a Shown<'a>,
    stages: Vec<Stage>,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Shown<'a> {
    roles: Vec<ShownRole<'a>>,
    affinity: &'a [Vec<f64>],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    explanations: Vec<ShownNode>,
}

#[derive(Serialize)]
struct ShownRole<'a> {
    name: &'a str,
    nodes: usize,
    share: f64,
    degree: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    out_degree: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_degree: Option<f64>,
    /// By name.
    ratios: BTreeMap<&'static str, f64>,
    motifs: &'a [MotifScore],
    /// Ids of typical nodes.
    exemplars: Vec<String>,
    #[serde(skip)]
    role: &'a Role,
}

impl<'a> ShownRole<'a> {
    fn new(role: &'a Role, ids: &NodeIds) -> Self {
        let exemplars = role.exemplars.iter();
        ShownRole {
            name: &role.name,
            nodes: role.nodes,
            share: role.share,
            degree: role.degree,
            out_degree: role.out_degree,
            in_degree: role.in_degree,
            ratios: RATIOS
                .into_iter()
                .zip(role.ratios.iter().copied())
                .collect(),
            motifs: &role.motifs,
            exemplars: exemplars.map(|&node| ids.get(node).to_string()).collect(),
            role,
        }
    }
}

#[derive(Serialize)]
struct ShownNode {
    id: String,
    #[serde(flatten)]
    explanation: Explanation,
}

const COMMAND: &str = "roles";

/// What a record says about the choices.
#[derive(Default, Deserialize)]
struct Chosen {
    choices: RoleOptions,
}

impl Args {
    /// The choices of the command line over those of an earlier run.
    fn options(&self) -> Result<RoleOptions, Error> {
        let read = |path| Earlier::<Chosen>::read(path, COMMAND);
        let earlier = self.input.config().map(read).transpose()?;
        let mut options = earlier.map_or_else(RoleOptions::default, |it| it.choices.choices);
        options.sample = self.sample.unwrap_or(options.sample);
        if self.seed.is_some() && options.sample == Sample::Exact {
            let message = "only applies to --sample; exact counts are not random";
            return Err(Error::config("--seed", message));
        }
        options.seed = self.seed.unwrap_or(options.seed);
        if let Some(Wanted(wanted)) = self.roles {
            options.roles = wanted;
        }
        Ok(options)
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let (options, (source, inputs)) = (args.options()?, args.input.resolve()?);
    let output = args.output.as_deref();
    output.map_or(Ok(()), Roles::check_table)?;
    let outputs = inputs.write("--output", output);
    let outputs = outputs.write("--output", output.and_then(record::path));
    let mut batch = outputs.check(args.force)?;
    let start = Start::now();
    let graph = source.open(false, args.input.memory(), context)?;
    note_idle_weights(&graph, context);
    let (read, start) = (Stage::since("read", &start), Start::now());
    let (ids, index) = (graph.ids(), graph.ids().index());
    let nodes = args.explain.iter().map(|id| find_node(ids, &index, id));
    let nodes = nodes.collect::<Result<Vec<u32>, _>>();
    let nodes = nodes.map_err(|error| of_option(error, "--explain"))?;
    let found = options.find(&graph, context.progress());
    let options_of = [("sample", "--sample"), ("roles", "--roles")];
    let found = found.map_err(|error| translated(error, &options_of))?;
    let stages = vec![read, Stage::since("roles", &start)];
    let role = |role| ShownRole::new(role, ids);
    let explained = nodes
        .iter()
        .zip(&args.explain)
        .map(|(&node, id)| ShownNode {
            id: id.clone(),
            explanation: found.explain(node, id),
        });
    let shown = Shown {
        roles: found.roles.iter().map(role).collect(),
        affinity: &found.affinity,
        explanations: explained.collect(),
    };
    if let Some(path) = output {
        found.add_to(&mut batch, path, ids, context.progress())?;
        let record = Record {
            version: env!("CARGO_PKG_VERSION"),
            command: COMMAND,
            choices: &options,
            input: &source.input,
            graph: GraphFacts::of(&graph),
            shown: &shown,
            stages,
        };
        record::add_to(&mut batch, path, &record)?;
        batch.commit()?;
    }
    context.progress_done();
    if args.json {
        return context.print_json(&shown);
    }
    // No tables next to explanations, or if standard output carries the result.
    if !shown.explanations.is_empty() {
        let texts = shown.explanations.iter();
        let texts = texts.map(|node| format!("{}\n", node.explanation.text));
        return context.print(texts.collect::<String>());
    }
    if output.is_some_and(hone::output::is_stream) {
        return Ok(());
    }
    context.print(table(&shown))
}

/// Both tables for a terminal.
fn table(shown: &Shown<'_>) -> String {
    let motifs = |scores: Vec<&MotifScore>| {
        let parts = scores
            .iter()
            .map(|score| format!("{} {:+.1}", score.motif, score.z));
        let parts: Vec<String> = parts.collect();
        match &parts[..] {
            [] => "–".into(),
            parts => parts.join(", "),
        }
    };
    let directed = shown.roles.iter().any(|role| role.out_degree.is_some());
    let degrees: &[&str] = match directed {
        true => &["degree", "out", "in"],
        false => &["degree"],
    };
    let (first, last) = (["role", "nodes", "share"], ["more", "less", "such as"]);
    let head = [&first, degrees, &last].concat();
    let mut lines = vec![head.into_iter().map(str::to_owned).collect()];
    for shown in &shown.roles {
        let share = format!("{:.1} %", 100.0 * shown.share);
        let mut cells = vec![shown.name.to_owned(), shown.nodes.to_string(), share];
        let degrees = [Some(shown.degree), shown.out_degree, shown.in_degree];
        let degrees = degrees.into_iter().flatten();
        cells.extend(degrees.map(|degree| format!("{degree:.1}")));
        let (more, less) = (motifs(shown.role.more()), motifs(shown.role.less()));
        cells.extend([more, less, shown.exemplars.join(", ")]);
        lines.push(cells);
    }
    let text = aligned(&lines, &(1..3 + degrees.len()).collect::<Vec<_>>());
    let links = match directed {
        true => "arcs from the role of the row to that of the column",
        false => "links between roles",
    };
    let names = || shown.roles.iter().map(|role| role.name.to_owned());
    let mut lines: Vec<Vec<String>> = vec![std::iter::once(String::new()).chain(names()).collect()];
    for (name, row) in names().zip(shown.affinity) {
        let ratios = row.iter().map(|ratio| format!("{ratio:.2}"));
        lines.push(std::iter::once(name).chain(ratios).collect());
    }
    let affinity = aligned(&lines, &(1..=shown.roles.len()).collect::<Vec<_>>());
    format!("{text}\n{links} (1: as many as expected from their degrees)\n{affinity}")
}
