//! What a user should know of vectors that a model placed.

use super::wanted::Wanted;
use crate::dense::Block;
use crate::embed::context::Context;
use crate::graph::Graph;
use crate::report::Fitting;

/// What a rotation leaves of factors when a new model is better.
const OLD: f64 = 0.4;

/// Says that the model knows no node of the graph.
pub(super) fn strangers(run: &mut Context) {
    run.note(
        "no node of this graph is in the model: the proximity columns are zero; structure-only = true leaves them out",
    );
}

/// Names motifs whose factors were refined, and what was left after rotating them back.
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

/// Counts nodes of the result with edges that have no place among the first `z_cols` columns.
pub(super) fn lost(
    run: &mut Context,
    graph: &Graph,
    (out, wanted): (&Block, &Wanted),
    z_cols: usize,
) {
    let into = if graph.is_directed() {
        graph.in_degrees()
    } else {
        Vec::new()
    };
    let has_edges =
        |i: usize| graph.degree(i as u32) > 0 || into.get(i).is_some_and(|&into| into > 0);
    let is_lost = |i: usize| {
        has_edges(wanted.node(i) as usize) && out.row(i)[..z_cols].iter().all(|&z| z == 0.0)
    };
    match (0..out.rows()).filter(|&i| is_lost(i)).count() {
        0 => (),
        1 => {
            run.note(
                "1 node with edges has zero proximity columns: no short walk leads from it to nodes that the factors of \
                 the model cover",
            );
        }
        many => run.note(format!(
            "{many} nodes with edges have zero proximity columns: no short walk leads from them to nodes that the factors of \
             the model cover"
        )),
    }
}
