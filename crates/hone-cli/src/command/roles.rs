//! `hone roles GRAPH`: structural roles of the nodes, with names and reasons.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hone::graph::NodeIds;
use hone::motif::Sample;
use hone::{Error, record};
use hone_explore::{
    Explanation, MOST_ROLES, MotifScore, RATIOS, Role, RoleOptions, Roles, find_node,
};
use serde::{Deserialize, Serialize};

use crate::arguments::{ReplaceArgs, SampleArgs};
use crate::context::{Context, aligned};
use crate::input::{RepeatableArgs, note_idle_weights};
use crate::options::of_option;
use crate::repeat::{Record, Stages};

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
    roles: Option<Count>,
    /// Explain why a node has its role, and what would give it another; may be repeated. `all`: a table of all nodes; with -o it is
    /// a column of the file.
    #[arg(long, value_name = "ID|all", allow_hyphen_values = true)]
    explain: Vec<String>,
    /// Call motifs by their numbers in the literature (`hone list motifs --table`), not by name.
    #[arg(long)]
    numbers: bool,
    #[command(flatten)]
    sample: SampleArgs,
    #[command(flatten)]
    replace: ReplaceArgs,
}

const EXAMPLES: &str = "\
Examples:
  hone roles builtin:karate
  hone roles graph.tsv -o roles.tsv
  hone roles graph.tsv --roles 5 --explain alice
  hone roles graph.tsv --explain all
  hone roles graph.tsv --json --numbers
  hone roles -o again.tsv --config roles.tsv.run.json

A role is a group of nodes with similar motif counts, anywhere in the graph. The columns more and less list motifs \
that its nodes have more or less of than the average node, in standard deviations. The second table shows how often roles \
are linked, relative to what their degrees alone would give. docs/explore.md explains how roles are found, counted and \
named.";

/// The requested number of roles; none to choose it.
#[derive(Debug, Clone, Copy)]
struct Count(Option<usize>);

fn roles(text: &str) -> Result<Count, String> {
    match text.parse() {
        _ if text == "auto" => Ok(Count(None)),
        Ok(count) if (1..=MOST_ROLES).contains(&count) => Ok(Count(Some(count))),
        _ => Err(format!("give auto, or a number from 1 to {MOST_ROLES}")),
    }
}

const COMMAND: &str = "roles";

/// What stands for every node.
const ALL: &str = "all";

/// What a record says about the choices.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Choices {
    choices: RoleOptions,
}

/// What a run did: part of its record.
#[derive(Serialize)]
struct Done<'a> {
    #[serde(flatten)]
    choices: &'a Choices,
    #[serde(flatten)]
    shown: &'a Shown<'a>,
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

#[derive(Serialize)]
struct ShownNode {
    id: String,
    #[serde(flatten)]
    explanation: Explanation,
}

impl Args {
    /// The choices of the command line over those of an earlier run.
    fn choices(&self, context: &Context) -> Result<Choices, Error> {
        let earlier = self.input.earlier::<Choices>(COMMAND)?;
        let mut choices = earlier.map(|it| it.choices).unwrap_or_default();
        let options = &mut choices.choices;
        options.sample = self.sample.sample.unwrap_or(options.sample);
        if self.sample.seed.seed.is_some() && options.sample == Sample::Exact {
            let message = "only applies to --sample; exact counts are not random";
            return Err(Error::config("--seed", message));
        }
        options.seed = self.sample.seed.seed.unwrap_or(options.seed);
        options.numbers = context.said("numbers").unwrap_or(options.numbers);
        if let Some(Count(count)) = self.roles {
            options.roles = count;
        }
        Ok(choices)
    }
}

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let (choices, (source, inputs)) = (args.choices(context)?, args.input.resolve()?);
    let output = args.output.as_deref();
    output.map_or(Ok(()), Roles::check_table)?;
    output.map_or(Ok(()), |path| context.check_json(path))?;
    let outputs = inputs.write("--output", output);
    let outputs = outputs.write("--output", output.and_then(record::path));
    let mut batch = outputs.check(args.replace.force)?;
    let mut stages = Stages::begin();
    let graph = source.open(false, context)?;
    note_idle_weights(&graph, context);
    stages.end("read");
    let (ids, index) = (graph.ids(), graph.ids().index());
    let all = args.explain.iter().any(|id| id == ALL) && index.find(ALL).is_none();
    let nodes = match all {
        true => Ok((0..graph.nodes() as u32).collect()),
        false => args
            .explain
            .iter()
            .map(|id| find_node(ids, &index, id))
            .collect(),
    };
    let nodes: Vec<u32> = nodes.map_err(|error| of_option(error, "--explain"))?;
    let found = choices.choices.find(&graph, context.progress())?;
    stages.end("roles");
    let explain = |nodes: &[u32]| -> Vec<ShownNode> {
        let shown = nodes.iter().map(|&node| {
            let id = ids.get(node).to_string();
            let explanation = found.explain(node, &id);
            ShownNode { id, explanation }
        });
        shown.collect()
    };
    // Those of all nodes are in the file, not in its record.
    let mut shown = Shown {
        roles: found.roles.iter().map(|role| shown(role, ids)).collect(),
        affinity: &found.affinity,
        explanations: if all { Vec::new() } else { explain(&nodes) },
    };
    if let Some(path) = output {
        found.add_to(&mut batch, path, ids, all, context.progress())?;
        let done = Done {
            choices: &choices,
            shown: &shown,
        };
        let of = Some((&source.input, &graph));
        Record::new(COMMAND, of, &done, stages.done).add_to(&mut batch, path)?;
        batch.commit()?;
    }
    context.progress_done();
    if all && (context.json() || output.is_none()) {
        shown.explanations = explain(&nodes);
    }
    if context.json() {
        return context.print_json(&shown);
    }
    // No tables next to explanations, or if standard output carries the result.
    let streamed = output.is_some_and(hone::output::is_stream);
    if all && output.is_none() {
        context.print(table_of_all(&shown.explanations))?;
    } else if all && !streamed {
        context.print(table(&shown))?;
    } else if !all && !shown.explanations.is_empty() {
        let texts = shown.explanations.iter();
        let texts = texts.map(|node| format!("{}\n", node.explanation.text));
        context.print(texts.collect::<String>())?;
    } else if !streamed {
        context.print(table(&shown))?;
    }
    Ok(())
}

fn shown<'a>(role: &'a Role, ids: &NodeIds) -> ShownRole<'a> {
    let exemplars = role.exemplars.iter();
    let ratios = RATIOS.into_iter().zip(role.ratios.iter().copied());
    ShownRole {
        name: &role.name,
        nodes: role.nodes,
        share: role.share,
        degree: role.degree,
        out_degree: role.out_degree,
        in_degree: role.in_degree,
        ratios: ratios.collect(),
        motifs: &role.motifs,
        exemplars: exemplars.map(|&node| ids.get(node).to_string()).collect(),
        role,
    }
}

/// One line per node: its role, what supports that, and the role that it would have otherwise.
fn table_of_all(nodes: &[ShownNode]) -> String {
    let head = ["id", "role", "membership", "because", "otherwise"];
    let mut lines: Vec<Vec<String>> = vec![head.map(str::to_owned).to_vec()];
    for ShownNode { id, explanation } in nodes {
        let reasons = explanation.reasons.iter();
        let reasons =
            reasons.map(|it| format!("{} {:.2} (mean {:.2})", it.ratio, it.value, it.average));
        let or_dash = |text: String| {
            if text.is_empty() {
                "–".to_owned()
            } else {
                text
            }
        };
        let otherwise = explanation.otherwise.as_ref();
        lines.push(vec![
            id.clone(),
            explanation.role.clone(),
            format!("{:.4}", explanation.membership),
            or_dash(reasons.collect::<Vec<_>>().join(", ")),
            or_dash(otherwise.map_or(String::new(), |it| it.role.clone())),
        ]);
    }
    aligned(&lines, 2..3)
}

/// Both tables for a terminal.
fn table(shown: &Shown<'_>) -> String {
    let motifs = |scores: Vec<&MotifScore>| {
        let parts = scores
            .iter()
            .map(|score| format!("{} {:+.1}", score.motif, score.z));
        match parts.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => "–".into(),
            parts => parts,
        }
    };
    let directed = shown.roles.iter().any(|role| role.out_degree.is_some());
    let degrees = if directed {
        &["degree", "out", "in"][..]
    } else {
        &["degree"]
    };
    let head = [
        &["role", "nodes", "share"],
        degrees,
        &["more", "less", "such as"],
    ]
    .concat();
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
    let text = aligned(&lines, 1..3 + degrees.len());
    let links = match directed {
        true => "edges from the role of the row to that of the column",
        false => "links between roles",
    };
    let names = || shown.roles.iter().map(|role| role.name.to_owned());
    let mut lines: Vec<Vec<String>> = vec![std::iter::once(String::new()).chain(names()).collect()];
    for (name, row) in names().zip(shown.affinity) {
        let ratios = row.iter().map(|ratio| format!("{ratio:.2}"));
        lines.push(std::iter::once(name).chain(ratios).collect());
    }
    let affinity = aligned(&lines, 1..lines.len());
    format!("{text}\n{links}, observed / expected from degrees\n{affinity}")
}
