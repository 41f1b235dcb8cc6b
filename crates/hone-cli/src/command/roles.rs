//! `hone roles GRAPH`: structural roles of the nodes, with names and reasons.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use hone::graph::NodeIds;
use hone::motif::Sample;
use hone::report::{GraphFacts, Input, Stage, Start};
use hone::{Error, record};
use hone_explore::{
    Explanation, MOST_ROLES, MotifScore, RATIOS, Role, RoleOptions, RoleTable, Roles, find_node,
};
use serde::{Deserialize, Serialize};

use crate::aligned::aligned;
use crate::context::Context;
use crate::input::RepeatableArgs;
use crate::options::translated;
use crate::reading::note_idle_weights;
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
    fn of(role: &'a Role, ids: &NodeIds) -> Self {
        let &Role {
            nodes,
            share,
            degree,
            out_degree,
            in_degree,
            ..
        } = role;
        let exemplars = role
            .exemplars
            .iter()
            .map(|&node| ids.get(node).to_string())
            .collect();
        let ratios = RATIOS
            .into_iter()
            .zip(role.ratios.iter().copied())
            .collect();
        let (name, motifs) = (&role.name, &role.motifs);
        ShownRole {
            name,
            nodes,
            share,
            degree,
            out_degree,
            in_degree,
            ratios,
            motifs,
            exemplars,
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
        let earlier = self
            .input
            .config()
            .map(|path| Earlier::<Chosen>::read(path, COMMAND))
            .transpose()?;
        let RoleOptions {
            roles,
            sample,
            seed,
        } = earlier.map_or_else(Default::default, |it| it.choices.choices);
        let sample = self.sample.unwrap_or(sample);
        if self.seed.is_some() && sample == Sample::Exact {
            return Err(Error::config(
                "--seed",
                "only applies to --sample; exact counts are not random",
            ));
        }
        let roles = self.roles.map_or(roles, |Wanted(wanted)| wanted);
        Ok(RoleOptions {
            roles,
            sample,
            seed: self.seed.unwrap_or(seed),
        })
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let (options, (source, inputs)) = (args.options()?, args.input.resolve()?);
    args.output.iter().try_for_each(RoleTable::check)?;
    let record_path = args.output.as_deref().and_then(record::path);
    let outputs = inputs.write("--output", args.output.iter().chain(&record_path));
    let mut batch = outputs.check(args.force)?;
    let start = Start::now();
    let graph = source.open(false, args.input.memory(), context)?;
    note_idle_weights(&graph, context);
    let (read, start) = (Stage::since("read", &start), Start::now());
    let index = graph.ids().index();
    let nodes = args
        .explain
        .iter()
        .map(|id| asked(find_node(graph.ids(), &index, id)));
    let nodes: Vec<u32> = nodes.collect::<Result<_, _>>()?;
    let found = options.find(&graph, context.progress());
    let options_of = [("sample", "--sample"), ("roles", "--roles")];
    let found = found.map_err(|error| translated(error, &options_of))?;
    let stages = vec![read, Stage::since("roles", &start)];
    let shown = shown(&found, graph.ids(), &nodes, &args.explain);
    if let Some(path) = &args.output {
        RoleTable::new(graph.ids(), &found).add_to(&mut batch, path, context.progress())?;
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
    print(args, &shown, &found, context)
}

/// Prints explanations if requested, else the tables.
fn print(args: &Args, shown: &Shown, found: &Roles, context: &Context) -> anyhow::Result<()> {
    if args.json {
        return context.print(serde_json::to_string_pretty(shown)? + "\n");
    }
    // No tables next to explanations, or if standard output carries the result.
    if !shown.explanations.is_empty() {
        let texts = shown
            .explanations
            .iter()
            .map(|node| format!("{}\n", node.explanation.text));
        return context.print(texts.collect::<String>());
    }
    if args.output.as_deref().is_some_and(hone::output::is_stream) {
        return Ok(());
    }
    context.print(table(shown, found))
}

/// Names the option that an unknown id was given with.
fn asked(found: Result<u32, Error>) -> Result<u32, Error> {
    found.map_err(|error| match error {
        Error::Config { message, .. } => Error::config("--explain", message),
        other => other,
    })
}

fn shown<'a>(found: &'a Roles, ids: &NodeIds, nodes: &[u32], names: &[String]) -> Shown<'a> {
    let explained = nodes.iter().zip(names).map(|(&node, id)| ShownNode {
        id: id.clone(),
        explanation: found.explain(node, id),
    });
    Shown {
        roles: found
            .roles
            .iter()
            .map(|role| ShownRole::of(role, ids))
            .collect(),
        affinity: &found.affinity,
        explanations: explained.collect(),
    }
}

/// Both tables for a terminal.
fn table(shown: &Shown<'_>, found: &Roles) -> String {
    let motifs = |scores: Vec<&MotifScore>| {
        let parts: Vec<String> = scores
            .iter()
            .map(|score| format!("{} {:+.1}", score.motif, score.z))
            .collect();
        if parts.is_empty() {
            "–".into()
        } else {
            parts.join(", ")
        }
    };
    let directed = found.roles.iter().any(|role| role.out_degree.is_some());
    let degrees: &[&str] = if directed {
        &["degree", "out", "in"]
    } else {
        &["degree"]
    };
    let head = [
        &["role", "nodes", "share"],
        degrees,
        &["more", "less", "such as"],
    ]
    .concat();
    let line = |ShownRole {
                    role, exemplars, ..
                }: &ShownRole<'_>| {
        let mut cells = vec![
            role.name.clone(),
            role.nodes.to_string(),
            format!("{:.1} %", 100.0 * role.share),
        ];
        let degrees = [Some(role.degree), role.out_degree, role.in_degree];
        cells.extend(
            degrees
                .into_iter()
                .flatten()
                .map(|degree| format!("{degree:.1}")),
        );
        cells.extend([
            motifs(role.more()),
            motifs(role.less()),
            exemplars.join(", "),
        ]);
        cells
    };
    let mut lines = vec![head.into_iter().map(str::to_owned).collect()];
    lines.extend(shown.roles.iter().map(line));
    let mut text = aligned(&lines, &(1..3 + degrees.len()).collect::<Vec<_>>());
    let links = if directed {
        "arcs from the role of the row to that of the column"
    } else {
        "links between roles"
    };
    let _ = writeln!(
        text,
        "\n{links} (1: as many as expected from their degrees)"
    );
    let names = || found.roles.iter().map(|role| role.name.clone());
    let mut lines = vec![
        std::iter::once(String::new())
            .chain(names())
            .collect::<Vec<_>>(),
    ];
    for (name, row) in names().zip(shown.affinity) {
        lines.push(
            std::iter::once(name)
                .chain(row.iter().map(|ratio| format!("{ratio:.2}")))
                .collect(),
        );
    }
    text + &aligned(&lines, &(1..=found.roles.len()).collect::<Vec<_>>())
}
