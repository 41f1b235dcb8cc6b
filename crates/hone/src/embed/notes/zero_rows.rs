//! Nodes whose vectors are zero: how many, why, and what to do.
//!
//! Cost: O(rows · columns) to find them; where there are any, O(N + M) to say why.

use crate::config::{Direction, Model};
use crate::dense::Columns;
use crate::embed::context::Context;
use crate::graph::Graph;
use crate::matrix::{Degree, Psi};

/// Why a row is zero; the first that holds.
#[derive(Clone, Copy)]
enum Why {
    /// The node has no edge.
    Alone,
    /// All its edges have the weight 0.
    Weightless,
    /// No arc leaves it, and only source factors are columns.
    Sink,
    /// The degree that the matrix is divided by is 0.
    NoDegree,
    /// Y has a row, and Z keeps none of its directions.
    Lost,
    /// It takes part in none of the motifs, or has no walk of enough steps.
    Outside,
}

const ALL: [Why; 6] = [Why::Alone, Why::Weightless, Why::Sink, Why::NoDegree, Why::Lost, Why::Outside];

/// What the reasons of a graph are looked up in.
struct Facts<'a> {
    graph: &'a Graph,
    entering: Vec<u32>,
    /// Nodes with an edge whose weight is not 0, where weights count.
    weighed: Option<Vec<bool>>,
    source_only: bool,
    /// The degree that a node needs to have a row at all.
    divided: Option<Degree>,
}

/// Counts nodes whose rows of Z are zero, and says why and what to do. Where Z keeps the leading directions of `y`, a node
/// may lie outside all of them.
pub(in crate::embed) fn zero_rows(run: &mut Context, graph: &Graph, z: &Columns, y: Option<&Columns>) {
    let (rows, first) = (z.zero_rows(), z.own().range.start);
    let mut totals = [0; ALL.len()];
    if !rows.is_empty() {
        let facts = Facts::of(run, graph);
        let mut row = vec![0.0; y.map_or(0, Columns::cols)];
        for &i in &rows {
            let held = y.is_some_and(|y| {
                y.read_row(i, &mut row);
                row.iter().any(|&value| value != 0.0)
            });
            totals[facts.why(first + i, held) as usize] += 1;
        }
    }
    run.engine.totals(&mut totals);
    let (count, nodes) = (totals.iter().sum::<u64>(), z.own().rows as u64);
    if count == 0 || count == nodes && graph.edges() == 0 {
        return;
    }
    let reasons = ALL.iter().zip(&totals).filter(|(_, count)| **count > 0);
    let reasons: Vec<String> =
        reasons.map(|(why, count)| format!("{count} {}", why.text(run, graph, z.cols()))).collect();
    let have = match (count == 1, run.components() > 0) {
        (true, false) => "has a vector of zeros",
        (false, false) => "have vectors of zeros",
        (true, true) => "has zeros in its proximity columns",
        (false, true) => "have zeros in their proximity columns",
    };
    run.report.warnings.push(format!("{count} of {nodes} nodes {have}: {}", reasons.join(", ")));
}

impl<'a> Facts<'a> {
    fn of(run: &Context, graph: &'a Graph) -> Facts<'a> {
        let matrix = run.config.matrix();
        let divides = matches!(matrix.psi, Psi::LNorm | Psi::ANorm) && graph.is_directed();
        Facts {
            graph,
            entering: if graph.is_directed() { graph.in_degrees() } else { Vec::new() },
            weighed: graph.weights().filter(|_| super::uses_weights(run.config)).map(|weights| weighed(graph, weights)),
            source_only: graph.is_directed() && !run.both_sides(graph),
            divided: divides.then_some(matrix.degree).filter(|_| matrix.regularize == 0.0),
        }
    }

    fn why(&self, node: usize, held: bool) -> Why {
        let leaving = self.graph.degree(node as u32);
        let entering = self.entering.get(node).map_or(leaving, |&arcs| arcs as usize);
        let without = |degree| match degree {
            Degree::Out => leaving == 0,
            Degree::In => entering == 0,
            Degree::Total => leaving + entering == 0,
        };
        match held {
            _ if leaving + entering == 0 => Why::Alone,
            true => Why::Lost,
            _ if self.weighed.as_ref().is_some_and(|weighed| !weighed[node]) => Why::Weightless,
            _ if self.source_only && leaving == 0 => Why::Sink,
            _ if self.divided.is_some_and(without) => Why::NoDegree,
            _ => Why::Outside,
        }
    }
}

impl Why {
    /// The reason, as it follows a number of nodes.
    fn text(self, run: &Context, graph: &Graph, columns: usize) -> String {
        let config = run.config;
        let text = match self {
            Why::Alone => "without an edge",
            Why::Weightless => "whose edges all have the weight 0 (weights = false counts them all the same)",
            Why::Sink if config.direction == Direction::Source => {
                "that no arc leaves (direction = \"keep\" places them by the arcs that enter)"
            }
            Why::Sink if config.model != Model::Separate => {
                "that no arc leaves, and this model has source factors alone (direction = \"ignore\" places them by all arcs)"
            }
            Why::Sink => {
                "that no arc leaves, and this local.solver has source factors alone (direction = \"ignore\" places them by all arcs)"
            }
            Why::NoDegree => match config.matrix().degree {
                Degree::In => "that no arc enters, so that their degree is 0 (degree = \"total\" counts both ways)",
                _ => "that no arc leaves, so that their degree is 0 (degree = \"total\" counts both ways)",
            },
            Why::Lost => {
                return format!(
                    "outside the {columns} leading directions that are kept (a larger global.dim keeps more)"
                );
            }
            Why::Outside if graph.is_directed() => {
                "that take part in none of the motifs, or whose walks along arcs end before the last step"
            }
            Why::Outside => "that take part in none of the motifs",
        };
        text.to_owned()
    }
}

/// Which nodes have an edge whose weight is not 0, in either direction.
fn weighed(graph: &Graph, weights: &[f32]) -> Vec<bool> {
    let mut weighed = vec![false; graph.nodes()];
    for i in 0..graph.nodes() {
        let range = graph.pattern().range(i);
        for (&j, _) in graph.neighbors(i as u32).iter().zip(&weights[range]).filter(|(_, weight)| **weight > 0.0) {
            (weighed[i], weighed[j as usize]) = (true, true);
        }
    }
    weighed
}
