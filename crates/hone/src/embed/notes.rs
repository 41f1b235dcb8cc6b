//! Notes for the reader of the result, each given once: choices that depend on the graph, and columns or rows of zeros.

mod empty;
mod zero_rows;

pub(super) use empty::Empty;
pub(super) use zero_rows::{short_rows, zero_rows};

use std::borrow::Cow;

use super::context::Context;
use crate::config::{Auto, Config, Direction, Form};
use crate::dense::Block;
use crate::factor::svd::{Iterations, Svd};
use crate::factor::{Divergence, Info, Solver};
use crate::graph::Graph;
use crate::message::{Message, message, set, setting};
use crate::motif::Pairs;
use crate::report::{Fitting, LocalFacts, Report};

/// The graph whose motif graphs are used, with or without the direction of its arcs; notes on direction and weights.
/// Without `matrices` neither is used.
pub(super) fn as_chosen<'a>(run: &mut Context, graph: &'a Graph, matrices: bool) -> Cow<'a, Graph> {
    let config = run.config;
    let weights = match (graph.weights().is_some(), config.weights) {
        (true, _) if !matrices => Some(
            "weights are not used here: features are motif counts, and nothing is diffused".into(),
        ),
        (true, _) if config.pairs == Pairs::Occurrences => Some(message![
            "edge weights are ignored: ",
            set("pairs", "occurrences"),
            " includes pairs without an edge, which have no weight"
        ]),
        (true, Auto::Given(false)) => Some(message![
            "edge weights are ignored (",
            set("weights", false),
            ")"
        ]),
        (false, Auto::Given(true)) => Some(message![
            set("weights", true),
            " has no effect: the graph was read without weights"
        ]),
        _ => None,
    };
    run.report.notes.extend(weights);
    if matrices && config.uses_weights() {
        run.report.warnings.extend(
            graph
                .weights()
                .and_then(|weights| vanishing(graph, weights)),
        );
        run.report
            .notes
            .extend(graph.weights().and_then(|weights| dominated(weights)));
    }
    if graph.is_directed()
        && matrices
        && config.direction == Direction::Keep
        && config.reverse.or(0.0) > 0.0
    {
        run.note(message![
            "the graph is directed: nodes are placed by their outgoing and incoming arcs; ",
            set("direction", "ignore"),
            " ignores directions"
        ]);
    }
    let chosen = undirected_as_chosen(config, graph, matrices);
    if let Cow::Owned(_) = chosen {
        run.note(message![
            "the graph is directed: nodes are placed by their arcs in both directions (",
            set("direction", "ignore"),
            "); ",
            set("direction", "keep"),
            " distinguishes outgoing from incoming arcs"
        ]);
    }
    chosen
}

/// The graph itself, or without the direction of its arcs if they are ignored.
pub(super) fn undirected_as_chosen<'a>(
    config: &Config,
    graph: &'a Graph,
    matrices: bool,
) -> Cow<'a, Graph> {
    match graph.is_directed() && matrices && config.direction == Direction::Ignore {
        true => Cow::Owned(graph.underlying()),
        false => Cow::Borrowed(graph),
    }
}

/// Says why a requested log window is left out. Directed graphs never have one, which needs no note.
pub(super) fn no_log_window(run: &mut Context) {
    if let Some(why) = run.config.log_window_conflict(false) {
        let window = setting("local.log-window");
        run.note(message!["the log window (", window, ") is left out: ", why]);
    }
}

/// Says which motif graphs are empty, and which local embeddings are not as close as requested.
pub(super) fn local(run: &mut Context) {
    let local = run.report.local.iter();
    let graphs = local.map(|facts| (&*facts.motif, facts.nonzeros, facts.below_delta));
    Empty::of(graphs).note(run);
    unconverged(run);
    let cut = |facts: &LocalFacts| {
        let place = format!("motif {}, step {}", facts.motif, facts.step);
        Some((place, facts.multiple_from?))
    };
    let cuts: Vec<(String, usize)> = run.report.local.iter().filter_map(cut).collect();
    let what = match cuts.len() {
        1 => "a local embedding has".to_owned(),
        count => format!("{count} local embeddings have"),
    };
    if let Some((place, from)) = cuts.first() {
        multiple(run, &format!("{what} ({place})"), (*from, "local.dim"));
    }
}

/// Says that only some vectors of a multiple singular value are among the columns, `from` of which come before these.
fn multiple(run: &mut Context, what: &str, (from, option): (usize, &str)) {
    let remedy = match from {
        0 => Message::default(),
        _ => message!["; ", set(option, from), " leaves them out"],
    };
    run.note(message![
        what,
        " only some vectors of a multiple singular value: which ones depends on rounding, the seed and the order of nodes",
        remedy
    ]);
}

/// Says how many local embeddings missed their tolerance, unless iterations are automatic: these are few on
/// large graphs by design.
fn unconverged(run: &mut Context) {
    let (report, solver) = (&mut run.report, &run.config.local.solver);
    if matches!(solver, Solver::Svd(options) if options.iterations == Iterations::Auto) {
        return;
    }
    let passes = solver.passes();
    let open = || report.local.iter().filter(|facts| !facts.converged);
    let done = |facts: &LocalFacts| match solver {
        Solver::Svd(Svd {
            iterations: Iterations::AtMost(most),
            ..
        }) => facts.iterations < *most,
        _ => false,
    };
    let (count, all) = (open().count(), report.local.len());
    if count > 0 {
        let worst = open().filter_map(|facts| facts.residual).reduce(f64::max);
        let worst = worst.map_or_else(String::new, |worst| {
            format!(" (largest relative residual {worst:.1e})")
        });
        let remedy = match open().all(done) {
            true => message![
                "a smaller ",
                setting("local.solver.tolerance"),
                " may bring them closer, as far as 32 bits allow"
            ],
            false => message![
                "a larger ",
                setting(format!("local.solver.{passes}")),
                " brings them closer"
            ],
        };
        report.warnings.push(message![
            format!("{count} of {all} local embeddings did not reach the tolerance{worst}; "),
            remedy
        ]);
    }
}

/// Says that D leaves no room for node features.
pub(super) fn no_room(run: &mut Context) {
    let config = run.config;
    let components = matches!(config.features.form, Form::Components(_));
    if config.structure.enabled && components && config.components_dim() == 0 {
        run.note(message![
            set("global.dim", config.global.dim),
            " leaves no column for structure, which is left out; a larger ",
            setting("global.dim"),
            " includes it"
        ]);
    }
}

/// Says how many weights are so much smaller than the largest that they count as zero.
fn vanishing(graph: &Graph, weights: &[f32]) -> Option<Message> {
    let largest = weights.iter().copied().fold(0f32, f32::max);
    let least = f64::from(largest) * f64::from(f32::MIN_POSITIVE);
    let count = weights
        .iter()
        .filter(|&&weight| weight > 0.0 && f64::from(weight) < least)
        .count();
    // An undirected edge has its weight twice.
    let count = if graph.is_directed() {
        count
    } else {
        count / 2
    };
    let count_as = if count == 1 {
        "is so small that it counts"
    } else {
        "are so small that they count"
    };
    (count > 0).then(|| {
        format!(
            "{count} of {} weights {count_as} as zero: less than 1e-38 times the largest, {largest:e}; check the largest \
             weight, or use logarithms of the weights",
            graph.edges()
        )
        .into()
    })
}

/// The ratio of the largest weight to that of most edges from which a note is given.
const HEAVY: f32 = 1e4;

/// Notes that the heaviest edges outweigh most others by far.
fn dominated(weights: &[f32]) -> Option<Message> {
    let largest = weights.iter().copied().fold(0f32, f32::max);
    let light = weights
        .iter()
        .filter(|&&weight| weight > 0.0 && weight < largest / HEAVY)
        .count();
    (2 * light > weights.len()).then(|| {
        format!(
            "the largest weight, {largest:e}, is more than {HEAVY} times that of most edges, so that the heaviest edges \
             dominate the vectors: logarithms of such weights usually work better"
        )
        .into()
    })
}

/// Notes on the global stage; `columns` are those of Y.
pub(super) fn global(run: &mut Context, info: &Info, columns: usize) {
    let solver = &run.config.global.solver;
    if solver.loss() != Divergence::Gaussian {
        run.note("residual and motif importance are measured before the link function of the loss");
    }
    if info.code.is_none() {
        zero_columns(
            info.rank,
            run.z_dim(),
            columns,
            run.components(),
            &mut run.report,
        );
    }
    if let Some(from) = info.multiple_from {
        multiple(run, "the global embedding has", (from, "global.dim"));
    }
    if !info.converged {
        let as_columns = run.config.has_features() && run.config.features.form == Form::Columns;
        let reduce = match as_columns && info.code.is_none() {
            true => message![
                ", or reduce features to ",
                set("features.form", "components")
            ],
            false => Message::default(),
        };
        let (count, passes) = (info.iterations, solver.passes());
        let taken = if count == 1 {
            passes.trim_end_matches('s')
        } else {
            passes
        };
        run.report.warnings.push(message![
            format!("the global embedding did not converge in {count} {taken}; raise "),
            setting(format!("global.solver.{passes}")),
            reduce
        ]);
    }
}

/// The same for a joint model, which has its own words for the columns of Z.
pub(super) fn zero_components(run: &mut Context) {
    zero_columns(0, 0, 0, run.components(), &mut run.report);
}

/// The last of some columns of Z, in words.
fn z_columns(last: usize, all: usize) -> Option<String> {
    match (last, all) {
        (0, _) => None,
        (1, 1) => Some("the proximity column".to_owned()),
        (1, _) => Some(format!("the last of {all} proximity columns")),
        _ if last == all => Some(format!("all {all} proximity columns")),
        _ => Some(format!("the last {last} of {all} proximity columns")),
    }
}

fn dimensions(count: usize) -> String {
    match count {
        0 => "no dimension".into(),
        1 => "1 dimension".into(),
        _ => format!("{count} dimensions"),
    }
}

/// Says which columns of the result are zero, in one line: `rank` of `wanted` columns of Z are not zero, and of the
/// components those in the report.
fn zero_columns(
    rank: usize,
    wanted: usize,
    columns: usize,
    components: usize,
    report: &mut Report,
) {
    let solver = &report.config.local.solver;
    let whose = match solver {
        Solver::Svd(_) if report.graph.weighted && report.config.uses_weights() => {
            "this graph with its weights has".into()
        }
        Solver::Svd(_) => "this graph has".into(),
        other => set("local.solver.method", other.name()).and(" finds"),
    };
    let bent = matches!(report.config.features.form, Form::Components(form) if form.has_extremes(components));
    let held = report.structure.as_ref().map_or(components, |found| {
        found.components + usize::from(bent && found.components > 0)
    });
    // If all columns of Z are zero, so are all rows, which are counted elsewhere.
    let empty = if rank > 0 {
        wanted.saturating_sub(rank)
    } else {
        0
    };
    let lacking = components.saturating_sub(held);
    if empty + lacking == 0 {
        return;
    }
    let structure = match (lacking, components) {
        (0, _) => None,
        (1, 1) => Some("the structure column".to_owned()),
        _ => Some(format!("{lacking} of {components} structure columns")),
    };
    let parts: Vec<String> = z_columns(empty, wanted)
        .into_iter()
        .chain(structure)
        .collect();
    let why = if rank == columns && empty > 0 {
        message![
            format!("the local embeddings have {columns} columns in all; a larger "),
            setting("local.dim"),
            ", or \"auto\", gives more"
        ]
    } else if report
        .local
        .iter()
        .any(|facts| facts.rank >= report.config.local_dim())
    {
        message![
            format!("the local embeddings span {}; a larger ", dimensions(rank)),
            setting("local.dim"),
            " may give more, or a smaller ",
            setting("global.dim"),
            " is enough"
        ]
    } else {
        message![
            whose,
            format!(" {} of proximity; a smaller ", dimensions(rank)),
            setting("global.dim"),
            " leaves them out"
        ]
    };
    let why = if empty > 0 {
        why
    } else {
        "the node features have no further principal components".into()
    };
    let are = if empty + lacking == 1 { "is" } else { "are" };
    let which = format!("{} {are} zero: ", parts.join(" and "));
    report.notes.push(message![which, why]);
}

/// What is left of factors, or new in places, when a new model is better.
const OLD: f64 = 0.4;

/// Names motifs whose factors were refined to place a graph, and what was left after rotating them back.
pub(super) fn refined(run: &mut Context, facts: &[Fitting]) {
    for fitting in facts.iter().filter(|fitting| fitting.iterations > 0) {
        let (motif, left) = (&fitting.motif, fitting.rotation.unwrap_or(0.0));
        let remedy = if left > OLD {
            ", which is large: fit a new model"
        } else {
            ""
        };
        run.note(format!(
            "many edges between nodes of the model have changed: the factors of motif {motif} were refined and rotated onto \
             those of the model (relative residual {left:.3}{remedy})"
        ));
    }
}

/// Says when arcs changed so much that a new model is better; `left` is the share of the places that is new.
pub(super) fn moved(run: &mut Context, left: f64) {
    if left > OLD {
        run.note(format!(
            "many arcs between nodes of the model have changed (relative change of the vectors of shared nodes: {left:.2}): \
             fit a new model"
        ));
    }
}

/// Counts placed nodes with edges whose first `z_cols` columns are zero.
pub(super) fn without_place(
    run: &mut Context,
    graph: &Graph,
    (out, nodes): (&Block, &[u32]),
    z_cols: usize,
) {
    let into = match graph.is_directed() {
        true => graph.in_degrees(),
        false => Vec::new(),
    };
    let has_edges =
        |node: u32| graph.degree(node) > 0 || into.get(node as usize).is_some_and(|&into| into > 0);
    let is_zero = |row: usize| out.row(row)[..z_cols].iter().all(|&z| z == 0.0);
    let rows = nodes.iter().enumerate();
    match rows.filter(|&(row, &node)| has_edges(node) && is_zero(row)).count() {
        0 => (),
        1 => run.note(
            "1 node with edges is not connected to the model's nodes within a few steps; its proximity columns are zero",
        ),
        many => run.note(format!(
            "{many} nodes with edges are not connected to the model's nodes within a few steps; their proximity columns are \
             zero"
        )),
    }
}
