//! Nodes whose vectors are zero: how many, why, and what to do. Those that only the choice of leading directions leaves out are
//! noted, and get vectors of their own ([`uncovered`](crate::embed::uncovered)).
//!
//! Cost: O(rows · columns) to find them; if there are any, the same for Y and O(N + M) to say why.

use crate::config::{Auto, Combine, Config, Direction, FirstStep, Model};
use crate::dense::Columns;
use crate::embed::context::Context;
use crate::embed::rounding::Floors;
use crate::embed::uncovered::Uncovered;
use crate::graph::Graph;
use crate::matrix::{Degree, Psi};
use crate::message::{Message, message, set, setting};

/// Why a row is zero; the first reason that applies.
#[derive(Clone, Copy, PartialEq)]
enum Why {
    /// The node has no edge.
    Alone,
    /// Its row of Y is not zero, but Z keeps none of its directions.
    Lost,
    /// No motif occurs in the graph.
    Absent,
    /// All its edges have weight 0.
    Weightless,
    /// It has no outgoing arc, and only source factors are columns.
    Sink,
    /// The degree by which the matrix is divided is 0.
    NoDegree,
    /// Every edge is in the motif graph, but the factors keep none of its directions.
    Cut,
    /// It may take part in none of the motifs, or have no walk of enough steps.
    Outside,
}

/// Number of reasons.
const WHYS: usize = 8;
/// Those of nodes that have edges, but none of the leading directions.
const OUTSIDE: [Why; 3] = [Why::Lost, Why::Cut, Why::Outside];

/// What is needed to find the reasons.
struct Facts<'a> {
    graph: &'a Graph,
    /// Arcs that enter each node.
    entering: Vec<u32>,
    /// Whether a node has an outgoing, and an incoming, arc of non-zero weight, if weights are used.
    weighed: Option<[Vec<bool>; 2]>,
    source_only: bool,
    /// Whether any of the motifs occurs.
    occurs: bool,
    /// The degree that a node needs to have a row at all.
    divided: Option<Degree>,
    /// Whether every node with an edge has a nonzero row in one of the factored matrices: that of edges, after one
    /// step, or after several if walks can always turn back.
    edges: bool,
}

/// Counts nodes whose rows of Z are zero, and says why and what to do. If Z keeps only the leading directions of Y, a
/// node may lie outside all of them.
pub(in crate::embed) fn zero_rows(
    run: &mut Context,
    graph: &Graph,
    z: &Columns,
    y: Option<(&Columns, &Floors)>,
) {
    let (rows, first) = (z.zero_rows(), z.own().range.start);
    let (mut totals, mut uncovered) = ([0; WHYS], Vec::new());
    if !rows.is_empty() {
        let facts = Facts::of(run, graph);
        let held = y.map(|(y, floors)| y.map_rows(&rows, |_, row| floors.length(row) > 0.0));
        for (number, &i) in rows.iter().enumerate() {
            let why = facts.why(first + i, held.as_ref().is_some_and(|held| held[number]));
            totals[why as usize] += 1;
            if OUTSIDE.contains(&why) {
                uncovered.push((first + i) as u32);
            }
        }
    }
    run.engine.totals(&mut totals);
    if fills(run) && totals.iter().sum::<u64>() < z.own().rows as u64 {
        let count = OUTSIDE
            .iter()
            .map(|&why| std::mem::take(&mut totals[why as usize]))
            .sum();
        note_uncovered(run, count);
        run.uncovered = Uncovered {
            nodes: uncovered,
            count,
            columns: z.cols(),
        };
    }
    let (count, nodes) = (totals.iter().sum::<u64>(), z.own().rows as u64);
    let empty = run.empty.take();
    let is_empty = empty.is_some();
    match empty {
        Some((warning, _)) if count == nodes => return run.report.warnings.push(warning),
        Some((_, notes)) => run.report.notes.extend(notes),
        None => {}
    }
    if count == 0 || count == nodes && run.zero {
        return;
    }
    let reasons = match is_empty {
        true => "no motif graph has an entry for them".into(),
        false => {
            let texts = texts(run, graph, z.cols()).into_iter().zip(totals);
            let found = texts.filter(|(_, count)| *count > 0).enumerate();
            found.fold(Message::default(), |said, (at, (text, count))| {
                let between = if at > 0 { ", " } else { "" };
                message![said, format!("{between}{count} "), text]
            })
        }
    };
    let have = match (count == 1, run.has_columns_beside()) {
        (true, false) => "has a vector of zeros",
        (false, false) => "have vectors of zeros",
        (true, true) => "has zeros in its proximity columns",
        (false, true) => "have zeros in their proximity columns",
    };
    let which = format!("{count} of {nodes} nodes {have}: ");
    run.report.warnings.push(message![which, reasons]);
}

/// Whether nodes outside the leading directions get directions of their own: where edges are a motif of a matrix that is not in
/// the paper, and no features are among the columns.
fn fills(run: &Context) -> bool {
    let Config { psi, features, .. } = run.config;
    let inside = run.has_attributes() && features.combine == Combine::Before;
    *psi == Psi::ANorm && has_edges(run.config) && !inside
}

/// Whether edges are one of the motifs.
fn has_edges(config: &Config) -> bool {
    config
        .motifs
        .motifs()
        .iter()
        .any(|motif| motif.name() == "edge")
}

/// Says what the vectors of nodes outside the leading directions tell.
fn note_uncovered(run: &mut Context, count: u64) {
    let why = "outside the leading directions, as in a small component or far from the core";
    let texts = [
        format!("is {why}: its proximity columns are random"),
        format!("are {why}: their proximity columns only say which of them are connected"),
    ];
    note_nodes(run, count, texts, "covers more nodes");
}

/// Counts nodes whose rows of Z are far shorter than the typical one.
pub(in crate::embed) fn short_rows(run: &mut Context, count: u64) {
    let texts = [
        "is poorly represented (a short vector), often because it lies in a small component; usually you can ignore this",
        "are poorly represented (short vectors), often because they lie in small components; usually you can ignore this",
    ];
    note_nodes(run, count, texts.map(str::to_owned), "may help");
}

/// Notes something of one node or of several, and what more columns would do.
fn note_nodes(run: &mut Context, count: u64, [one, several]: [String; 2], remedy: &str) {
    let (nodes, more) = (run.own.rows, room(run.config));
    let text = if count == 1 { one } else { several };
    if count > 0 {
        run.note(message![
            format!("{count} of {nodes} nodes {text} ("),
            more,
            format!(" {remedy})")
        ]);
    }
}

/// What gives the factors of motif matrices twice as many columns.
fn room(config: &Config) -> Message {
    match config.local.dim {
        Auto::Auto => set("global.dim", 2 * config.global.dim),
        Auto::Given(columns) => set("local.dim", 2 * columns),
    }
}

impl<'a> Facts<'a> {
    fn of(run: &Context, graph: &'a Graph) -> Facts<'a> {
        let (config, matrix) = (run.config, run.config.matrix());
        let divides = matches!(matrix.psi, Psi::LNorm | Psi::ANorm) && graph.is_directed();
        let weights = graph.weights().filter(|_| config.uses_weights());
        let one_step =
            matches!(config.first_step, FirstStep::Fixed(1)) || config.steps == Auto::Given(1);
        Facts {
            graph,
            entering: if graph.is_directed() {
                graph.in_degrees()
            } else {
                Vec::new()
            },
            weighed: weights.map(|weights| weighed(graph, weights)),
            source_only: graph.is_directed() && !run.both_sides(graph),
            occurs: run.report.local.is_empty()
                || run
                    .report
                    .local
                    .iter()
                    .any(|facts| facts.nonzeros + facts.below_delta > 0),
            divided: divides
                .then_some(matrix.degree)
                .filter(|_| matrix.regularize == 0.0),
            edges: (one_step || !graph.is_directed() || config.reverse.or(0.0) > 0.0)
                && has_edges(config),
        }
    }

    fn why(&self, node: usize, held: bool) -> Why {
        let arcs = self.graph.degree(node as u32);
        let (leaves, enters) = (
            arcs > 0,
            self.entering.get(node).map_or(arcs > 0, |&arcs| arcs > 0),
        );
        if !leaves && !enters {
            return Why::Alone;
        }
        let (leaves, enters) = match &self.weighed {
            Some([leaving, entering]) => (leaving[node], entering[node]),
            None => (leaves, enters),
        };
        let without = |degree| match degree {
            Degree::Out | Degree::Auto => !leaves,
            Degree::In => !enters,
            Degree::Total => false,
        };
        match held {
            true => Why::Lost,
            _ if !leaves && !enters => Why::Weightless,
            _ if !self.occurs && self.weighed.is_none() => Why::Absent,
            _ if self.source_only && !leaves => Why::Sink,
            _ if self.divided.is_some_and(without) => Why::NoDegree,
            _ if self.edges => Why::Cut,
            _ => Why::Outside,
        }
    }
}

/// Each reason as a phrase after a number of nodes.
fn texts(run: &Context, graph: &Graph, columns: usize) -> [Message; WHYS] {
    let (config, more) = (run.config, room(run.config));
    let columns = match columns {
        1 => "1 column".to_owned(),
        _ => format!("{columns} columns"),
    };
    let by_all = message![
        " has only source factors (",
        set("direction", "ignore"),
        " places them by all arcs)"
    ];
    let sink = if config.direction == Direction::Source {
        message![
            " (",
            set("direction", "keep"),
            " places them by incoming arcs)"
        ]
    } else if config.model != Model::Separate {
        message![": this model", by_all]
    } else {
        message![": this ", setting("local.solver"), by_all]
    };
    let way = match config.degree {
        Degree::In => "incoming",
        _ => "outgoing",
    };
    let weights = graph.weights().is_some_and(|_| config.uses_weights());
    let small = match weights {
        true => "; very small weights next to large ones have the same effect",
        false => "",
    };
    let cut = message![
        "not covered by the leading factors of each motif matrix (",
        more,
        format!(" covers more{small})")
    ];
    let walks = match graph.is_directed() {
        true => "without walks of enough steps along arcs, ",
        false => "",
    };
    [
        "without an edge".into(),
        message![
            format!("not covered by the factors that fit into {columns} ("),
            set("global.dim", 2 * config.global.dim),
            " has room for more)"
        ],
        message![
            "without the motifs, which do not occur in this graph (",
            set("motifs", "all"),
            " includes edges)"
        ],
        message![
            "with edges of weight 0 only (",
            set("weights", false),
            " ignores the weights)"
        ],
        message!["without an outgoing arc", sink],
        message![
            format!("without an {way} arc, hence of degree 0 ("),
            set("degree", "total"),
            " counts both directions)"
        ],
        cut.clone(),
        message![format!("without the motifs, {walks}or "), cut],
    ]
}

/// Whether each node has an outgoing, and an incoming, arc of non-zero weight.
fn weighed(graph: &Graph, weights: &[f32]) -> [Vec<bool>; 2] {
    let mut weighed = [vec![false; graph.nodes()], vec![false; graph.nodes()]];
    for i in 0..graph.nodes() {
        let range = graph.pattern().range(i);
        for (&j, _) in graph
            .neighbors(i as u32)
            .iter()
            .zip(&weights[range])
            .filter(|(_, weight)| **weight > 0.0)
        {
            weighed[0][i] = true;
            weighed[1][j as usize] = true;
        }
    }
    weighed
}
