//! [`Config::idle`]: settings that have no effect in combination with the others, so that the user can be told.
//!
//! A setting is listed only where no usual value of it would change the vectors; `global.dim` also where it does not decide
//! how many columns they have. Groups stand for all their members.

use super::share::USUAL;
use super::{Config, Dim, Direction, Model, Output, Steps};
use crate::graph::Graph;
use crate::matrix::Psi;
use crate::motif::{Pairs, Sample};

/// A setting, or a group of them, and why it has no effect.
pub type Idle = (&'static str, String);

/// Settings of structure, but for aggregates.
const MADE: [&str; 3] = ["structure.motifs", "structure.log", "structure.depth"];

/// Settings of aggregates over neighbours.
const AGGREGATES: [&str; 4] = [
    "structure.sum",
    "structure.mean",
    "structure.max",
    "structure.prune",
];

impl Config {
    /// Settings that have no effect on the embedding of a graph.
    ///
    /// ```
    /// use hone::{Config, graph};
    /// let idle = Config::default().idle(&graph::builtin("karate")?);
    /// assert!(idle.iter().any(|(setting, why)| *setting == "attributes.table" && why.contains("no file")));
    /// # Ok::<(), hone::Error>(())
    /// ```
    pub fn idle(&self, graph: &Graph) -> Vec<Idle> {
        self.idle_of(graph, false)
    }

    /// The same if the caller gives attributes with the graph
    /// ([`Hone::with_attributes`](crate::Hone::with_attributes)).
    pub fn idle_with_attributes(&self, graph: &Graph) -> Vec<Idle> {
        self.idle_of(graph, true)
    }

    fn idle_of(&self, graph: &Graph, own: bool) -> Vec<Idle> {
        let mut idle = self.idle_attributes(own);
        idle.extend(self.idle_matrices(graph));
        idle.extend(self.idle_stages());
        idle
    }

    /// The same for a table of features, without an embedding.
    pub fn idle_in_features(&self, graph: &Graph) -> Vec<Idle> {
        let mut idle = self.idle_attributes(false);
        if self.features.diffusion.steps == 0 {
            let of = [
                "motifs",
                "delta",
                "pairs",
                "psi",
                "order",
                "direction",
                "degree",
                "accumulate",
                "regularize",
                "laziness",
            ];
            idle.extend(of.map(|setting| (setting, "nothing is diffused".to_owned())));
        } else {
            idle.extend(self.idle_matrices(graph));
        }
        let stages = [
            "steps",
            "first-step",
            "model",
            "global",
            "joint",
            "local.dim",
            "local.scale",
            "local.row-power",
        ];
        let of = [
            "local.solver",
            "features.form",
            "features.combine",
            "features.weight",
        ];
        idle.extend(
            stages
                .into_iter()
                .chain(of)
                .map(|setting| (setting, "features have no embedding".to_owned())),
        );
        idle
    }

    /// Settings of features that are not used.
    fn idle_attributes(&self, own: bool) -> Vec<Idle> {
        let Config {
            structure,
            attributes,
            features,
            ..
        } = self;
        let mut idle = Vec::new();
        let mut add = |setting, why: &str| idle.push((setting, why.to_owned()));
        if attributes.file.is_none() {
            add("attributes.table", "there is no file of attributes");
        }
        if !self.has_features() && !own {
            let of = [
                "features.diffusion",
                "features.form",
                "features.combine",
                "features.weight",
            ];
            of.into_iter()
                .for_each(|setting| add(setting, "there are no node features"));
        }
        match (structure.enabled, structure.depth) {
            (false, _) => {
                for setting in MADE.iter().chain(&AGGREGATES) {
                    add(setting, "structure.enabled is false");
                }
            }
            (true, 0) => {
                for setting in AGGREGATES {
                    add(setting, "a depth of 0 has no aggregates over neighbours");
                }
            }
            (true, 1) => add("structure.prune", "columns are left out from depth 2 on"),
            _ => {}
        }
        if self.has_features() && features.diffusion.steps == 0 {
            add("features.diffusion.process", "nothing is diffused");
            add("features.diffusion.original", "nothing is diffused");
        }
        idle
    }

    /// Settings of motif graphs and their matrices.
    fn idle_matrices(&self, graph: &Graph) -> Vec<Idle> {
        let mut idle = Vec::new();
        let mut add = |setting, why: &str| idle.push((setting, why.to_owned()));
        let edges = self
            .motifs
            .motifs()
            .iter()
            .all(|motif| motif.name() == "edge");
        // With weights, pairs by occurrences ignore them.
        if edges && self.pairs == Pairs::Occurrences && graph.weights().is_none() {
            add(
                "pairs",
                "the only motif is the edge, whose pairs are the edges",
            );
        }
        // Where all motifs are directed, it is refused.
        let edge = self
            .of(graph)
            .counted_motifs()
            .iter()
            .any(|motif| !motif.is_directed());
        if self.sample != Sample::Exact && edge && !self.of(graph).estimates() {
            add("sample", "counts of edges and of directed motifs are exact");
        }
        if !matches!(self.psi, Psi::P | Psi::ANorm) {
            add("laziness", "only psi = p and a-norm are walks");
        }
        if !graph.is_directed() {
            add("direction", "the graph is undirected");
            add("reverse", "the graph is undirected");
        }
        if !graph.is_directed() || self.direction == Direction::Ignore {
            add("degree", "edges have no direction");
        }
        if self.steps == Steps::Fixed(1) && self.features.diffusion.steps <= 1 {
            add("accumulate", "there is only one step");
            add("order", "there is only one step");
        }
        idle
    }

    /// Settings of the two stages, or of the joint model in their place.
    fn idle_stages(&self) -> Vec<Idle> {
        if self.model != Model::Separate {
            let of = ["local.dim", "local.scale", "local.row-power"];
            return of
                .map(|setting| (setting, "a joint model has no local embeddings".to_owned()))
                .to_vec();
        }
        let mut idle = vec![("joint", "motif matrices are embedded one by one".to_owned())];
        if self.global.output == Output::Local {
            idle.push(("global.solver", "there is no global stage".to_owned()));
            let parts = self.motifs.motifs().len() * self.kept_steps();
            let columns = parts * self.local_dim();
            let wanted = self.z_dim();
            // A rule that makes local embeddings wider than usual follows D.
            let follows = self.local.dim == Dim::Auto && self.local_dim() > USUAL;
            if columns != wanted && !follows {
                let why = format!(
                    "the vectors are the local embeddings, {parts} of {} columns",
                    self.local_dim()
                );
                idle.push(("global.dim", why));
            }
        }
        idle
    }
}
