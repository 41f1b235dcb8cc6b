//! [`Config::unused`]: settings that have no effect in combination with the others, so that the user can be told.
//!
//! A setting is listed only where no usual value of it would change the vectors; `global.dim` also where it does not decide
//! how many columns they have. Groups stand for all their members.

use super::automatic::USUAL;
use super::{Auto, Config, Direction, Form, Model, Output};
use crate::graph::Graph;
use crate::motif::{Motif, Pairs, Sample};

/// A setting, or a group of them, and why it has no effect.
pub type Unused = (&'static str, String);

/// Those of some settings, if they have no effect.
fn if_so(unused: bool, settings: &[&'static str], why: &str) -> Vec<Unused> {
    let settings = settings.iter().filter(|_| unused);
    settings.map(|setting| (*setting, why.to_owned())).collect()
}

/// Settings of motif graphs and their matrices.
const OF_MATRICES: &[&str] = &[
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
/// Settings of an embedding beyond that.
const OF_STAGES: &[&str] = &[
    "steps",
    "first-step",
    "model",
    "global",
    "joint",
    "local.dim",
    "local.scale",
    "local.row-power",
    "local.solver",
    "features.form",
    "features.combine",
    "features.weight",
];

impl Config {
    /// Settings that have no effect on the embedding of a graph; `own` says that the caller gives attributes with it
    /// ([`Hone::with_attributes`](crate::Hone::with_attributes)).
    ///
    /// ```
    /// use hone::{Config, graph};
    /// let unused = Config::default().unused(&graph::builtin("karate")?, false);
    /// assert!(unused.iter().any(|(setting, why)| *setting == "attributes.table" && why.contains("no file")));
    /// # Ok::<(), hone::Error>(())
    /// ```
    pub fn unused(&self, graph: &Graph, own: bool) -> Vec<Unused> {
        let (of_attributes, of_matrices) =
            (self.unused_attributes(own), self.unused_matrices(graph));
        [of_attributes, of_matrices, self.unused_stages()].concat()
    }

    /// The same for a table of features, without an embedding.
    pub fn unused_in_features(&self, graph: &Graph) -> Vec<Unused> {
        let of_matrices = match self.features.diffusion.steps {
            0 => if_so(true, OF_MATRICES, "nothing is diffused"),
            _ => self.unused_matrices(graph),
        };
        let of_stages = if_so(true, OF_STAGES, "features have no embedding");
        let of_names = if_so(
            !self.structure.enabled && self.features.diffusion.steps == 0,
            &["structure.numbers"],
            "there are no motif features",
        );
        let of_features = self.unused_attributes(false);
        [of_features, of_matrices, of_stages, of_names].concat()
    }

    /// Settings of features that are not used.
    fn unused_attributes(&self, own: bool) -> Vec<Unused> {
        let (structure, diffusion) = (&self.structure, &self.features.diffusion);
        let features = self.has_features();
        let of_features = [
            "features.diffusion",
            "features.form",
            "features.combine",
            "features.weight",
        ];
        let of_profiles = [
            "attributes.dim",
            "attributes.weight",
            "attributes.words",
            "attributes.steps",
        ];
        let of_counts = ["structure.motifs", "structure.log", "structure.depth"];
        let of_levels = [
            "structure.sum",
            "structure.mean",
            "structure.max",
            "structure.prune",
        ];
        let (enabled, depth) = (structure.enabled, structure.depth);
        let of_diffusion = ["features.diffusion.process", "features.diffusion.original"];
        let parts = [
            if_so(
                self.attributes.file.is_none(),
                &["attributes.table"],
                "there is no file of attributes",
            ),
            if_so(
                self.attributes.file.is_none() && !own,
                &of_profiles,
                "there are no attributes",
            ),
            if_so(
                (self.attributes.file.is_some() || own) && self.features.form == Form::Columns,
                &of_profiles,
                "features.form is columns",
            ),
            if_so(
                !features && !own,
                &of_features,
                "there are no node features",
            ),
            if_so(!enabled, &of_counts, "there are no motif features"),
            if_so(!enabled, &of_levels, "there are no motif features"),
            if_so(
                enabled && depth == 0,
                &of_levels,
                "a depth of 0 has no aggregates over neighbours",
            ),
            if_so(
                enabled && depth == 1,
                &["structure.prune"],
                "columns are left out from depth 2 on",
            ),
            if_so(
                features && diffusion.steps == 0,
                &of_diffusion,
                "nothing is diffused",
            ),
        ];
        parts.concat()
    }

    /// Settings of motif graphs and their matrices.
    fn unused_matrices(&self, graph: &Graph) -> Vec<Unused> {
        let motifs = self.motifs.motifs();
        // With weights, pairs by occurrences ignore them.
        let pairs = motifs.iter().all(|motif| motif.name() == "edge")
            && self.pairs == Pairs::Occurrences
            && graph.weights().is_none();
        // Where all motifs are directed, it is refused.
        let of_graph = self.of(graph);
        let undirected = |motif: &Motif| !motif.is_directed();
        let sample = self.sample != Sample::Exact
            && of_graph.counted_motifs().iter().any(undirected)
            && !of_graph.estimates();
        let one_step = self.steps == Auto::Given(1) && self.features.diffusion.steps <= 1;
        let without_arcs = !graph.is_directed() || self.direction == Direction::Ignore;
        let parts = [
            if_so(
                pairs,
                &["pairs"],
                "the only motif is the edge, whose pairs are the edges",
            ),
            if_so(
                sample,
                &["sample"],
                "counts of edges and of directed motifs are exact",
            ),
            if_so(
                !self.psi.is_walk(),
                &["laziness"],
                "only p and a-norm are walks",
            ),
            if_so(
                !graph.is_directed(),
                &["direction", "reverse"],
                "the graph is undirected",
            ),
            if_so(without_arcs, &["degree"], "edges have no direction"),
            if_so(one_step, &["accumulate", "order"], "there is only one step"),
        ];
        parts.concat()
    }

    /// Settings of the two stages, or of the joint model in their place.
    fn unused_stages(&self) -> Vec<Unused> {
        if self.model != Model::Separate {
            let settings = ["local.dim", "local.scale", "local.row-power"];
            return if_so(true, &settings, "a joint model has no local embeddings");
        }
        let local = self.global.output == Output::Local;
        let (parts, dim) = (
            self.motifs.motifs().len() * self.kept_steps(),
            self.local_dim(),
        );
        // A rule that makes local embeddings wider than usual follows D.
        let follows = self.local.dim == Auto::Auto && dim > USUAL;
        let dim_is_unused = local && parts * dim != self.z_dim() && !follows;
        let parts = [
            if_so(true, &["joint"], "motif matrices are embedded one by one"),
            if_so(local, &["global.solver"], "there is no global stage"),
            if_so(
                dim_is_unused,
                &["global.dim"],
                &format!("the vectors are the local embeddings, {parts} of {dim} columns"),
            ),
        ];
        parts.concat()
    }
}
