//! [`Work`]: what is to be done, and the resulting columns.

use crate::config::{Config, Form, Weights};
use crate::embed::context::Context;
use crate::embed::steps;
use crate::embed::weighted::is_of_edges;
use crate::graph::Graph;
use crate::motif::Motif;
use crate::store::Format;

/// Bytes of an f32.
pub(super) const FLOAT: u64 = 4;

/// What is to be done.
#[derive(Clone, Copy)]
pub(in crate::embed) struct Work<'a> {
    pub(super) config: &'a Config,
    /// The user's attribute columns.
    pub(super) own: usize,
    pub(super) graph: &'a Graph,
    pub(super) motifs: &'a [Motif],
    /// Whether right factors are requested too.
    pub(super) right: bool,
    /// 2 if target factors are parts of Y as well.
    pub(super) sides: u64,
    /// Whether a model is kept.
    pub(super) model: bool,
    /// Whether factors are written.
    pub(super) factors: bool,
    /// Processes that share the rows of Y and Z.
    pub(super) sharing: u64,
    /// Whether each of them keeps its own rows of all factors.
    pub(super) own_factors: bool,
    /// The last step that is computed.
    pub(super) steps: usize,
    /// Maximum number of positions of a W_t.
    pub(super) positions: u64,
    /// The format of the output.
    pub(super) written: Option<Format>,
    /// Whether the engine can move tall matrices to files.
    pub(super) puts_aside: bool,
    /// Whether it does: panels of a factorisation, U while its log window is computed, X and Z are in files.
    pub(super) aside: bool,
}

impl<'a> Work<'a> {
    /// The embedding of a graph with `own` attribute columns of the user.
    pub(in crate::embed) fn new(
        run: &Context<'a>,
        graph: &'a Graph,
        motifs: &'a [Motif],
        own: usize,
    ) -> Self {
        let steps = *steps::computed(run.config).end();
        let both = run.both_sides(graph);
        let reversed = graph.is_directed() && run.config.reverse.given() > 0.0;
        Work {
            config: run.config,
            own,
            graph,
            motifs,
            right: run.factors || both,
            sides: if both { 2 } else { 1 },
            model: run.draft.is_some(),
            factors: run.factors,
            sharing: 1,
            own_factors: run.checkpoint.is_none()
                && motifs
                    .iter()
                    .all(|&motif| has_all_nodes(run.config, graph, motif)),
            steps,
            written: run.written,
            puts_aside: run.engine.puts_aside(),
            aside: false,
            positions: graph.pattern().nnz() as u64 * if reversed { 2 } else { 1 },
        }
    }

    /// Columns of the log window of each motif; 0 for none.
    pub(super) fn view(&self) -> u64 {
        self.config.log_window_dim(self.graph) as u64
    }

    /// Steps that are computed of each motif.
    pub(super) fn kept(&self) -> usize {
        steps::computed(self.config).count()
    }

    /// Columns of Z alone.
    pub(super) fn z_columns(&self) -> u64 {
        self.config
            .z_columns(self.config.has_features() || self.own > 0) as u64
    }
}

/// Whether W_t of a motif certainly has the rows of the graph: it shares the pattern of the graph.
fn has_all_nodes(config: &Config, graph: &Graph, motif: Motif) -> bool {
    let weighted = graph.weights().is_some() && config.weights != Weights::Ignored;
    is_of_edges(config, motif)
        && config.delta.of(motif) <= 1
        && !weighted
        && graph.pattern().nnz() > 0
}

/// Columns of X before and after it is reduced to components.
pub(super) fn x_columns(config: &Config, own: usize) -> (usize, usize) {
    let structure = if config.structure.enabled {
        config.structure.columns()
    } else {
        0
    };
    let features = structure + own;
    match config.features.form {
        Form::Components(_) if features > 0 => (features, config.components_dim()),
        _ => (features, features),
    }
}

/// Maximum number of attribute columns in the embedding.
pub(super) fn attribute_columns(config: &Config, own: usize, motifs: usize) -> usize {
    let (_, x) = x_columns(config, own);
    let diffusion = &config.features.diffusion;
    let plain = usize::from(diffusion.steps == 0 || diffusion.original);
    x * (plain + diffusion.steps * motifs)
}
