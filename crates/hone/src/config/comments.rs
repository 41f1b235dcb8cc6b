//! The configuration as a TOML file with a comment at every setting.

use std::fmt::Write;

use super::Config;

/// What each setting means; options of solvers are described in docs/solvers.md.
const COMMENTS: &[(&str, &str)] = &[
    (
        "seed",
        "Seed of every random number: the same seed gives the same bits for any number of threads.",
    ),
    (
        "motifs",
        "\"all\" (the 13 edge orbits), \"graphlets\" (9 whole graphlets), \"triads\" or \"triad-orbits\" (directed graphs), \
         or a list of names.",
    ),
    (
        "sample",
        "exact, or estimates from at most cap=64 neighbours, or with error=0.1,confidence=0.95.",
    ),
    (
        "delta",
        "Edges with fewer occurrences of a motif are left out of its motif graph; also per motif: { triangle = 3 }.",
    ),
    (
        "pairs",
        "Pairs linked in a motif graph: edges, or occurrences (all pairs that share an occurrence of a graphlet, adjacent or not).",
    ),
    (
        "occurrence",
        "Directed motifs: induced, or subgraph (all triads that contain the motif).",
    ),
    (
        "weights",
        "Edge weights multiply the motif counts: auto (if the graph is read with weights), true, or false (ignored).",
    ),
    (
        "psi",
        "Motif matrix: w, p (transition), l (Laplacian), l-norm (normalised), l-rw (random walk), a-norm (I − l-norm).",
    ),
    (
        "order",
        "psi-of-power: Psi(W^k); power-of-psi: Psi(W)^k; auto: the latter for p and a-norm, else the former.",
    ),
    (
        "direction",
        "Arcs of directed graphs: auto, keep (vectors of sources and of targets side by side), source (of sources alone), or ignore (edges instead of arcs).",
    ),
    (
        "reverse",
        "Weight of arcs when walked against their direction, from 0 (the paper) to 1, or \"auto\": 0.5 if arcs keep their direction.",
    ),
    (
        "degree",
        "Motif degree of directed graphs: out, in, total, or auto (total if arcs keep their direction).",
    ),
    (
        "steps",
        "Number of steps along the edges of a motif graph, K in the paper: 1 to 16, or \"auto\".",
    ),
    (
        "first-step",
        "The first step that is used, 1 in the paper, or \"last\" for the last one alone.",
    ),
    (
        "regularize",
        "Added to motif degrees before dividing by them, in multiples of their mean; 0 in the paper.",
    ),
    (
        "laziness",
        "Share of steps in which a walk stays at its node, for psi = p and a-norm: 0 (the paper) to 0.9, or \"auto\": 0.2 if the graph is bipartite.",
    ),
    (
        "accumulate",
        "none, mean (of steps 1..k), or { decay = alpha }.",
    ),
    (
        "model",
        "separate: local embeddings, then a global one; tucker or cp: all motif matrices at once, as a tensor.",
    ),
    (
        "local",
        "Local embeddings, one per motif and step: each motif matrix S is factored, S ≈ U V.",
    ),
    (
        "local.dim",
        "Columns of each local embedding, or \"auto\": 16, more if global.dim needs more.",
    ),
    (
        "local.norm",
        "How columns are normalised: l2, l1, max or none.",
    ),
    (
        "local.scale",
        "unit: no scaling after the norm; sigma: by the singular value; spectral: by a power of it, lower if the spectrum shows no communities.",
    ),
    (
        "local.row-power",
        "Each row is divided by its length to this power; 0 in the paper.",
    ),
    (
        "local.log-window",
        "A second view of each motif: factors of log max(1, window matrix); docs/research.md has its formula.",
    ),
    (
        "local.log-window.steps",
        "Steps of the window; 0 for no second view.",
    ),
    (
        "local.log-window.dim",
        "Columns of the view, or \"auto\": half of the columns of Z per motif.",
    ),
    (
        "local.log-window.weight",
        "Squared norm of the view relative to that of the local embedding, or \"auto\": larger the more clearly the spectrum shows communities.",
    ),
    (
        "local.solver",
        "How the factors are computed; `hone solvers` lists the methods, docs/solvers.md their options.",
    ),
    (
        "global",
        "The global embedding: Y, all local embeddings side by side, is factored, Y ≈ Z H.",
    ),
    ("global.dim", "Dimensions of the vectors."),
    (
        "global.output",
        "Vectors to return: global (Z), or local (Y, all local embeddings side by side).",
    ),
    (
        "global.solver",
        "How Z and H are computed: the same methods (svd is exact, from the Gram matrix of Y), or autoencoder, a neural network.",
    ),
    (
        "joint",
        "The tensor of all motif matrices, for model = tucker or cp; its vectors have global.dim dimensions.",
    ),
    (
        "joint.slices",
        "How each matrix is scaled: frobenius (norm 1), spectral (largest singular value 1) or none.",
    ),
    (
        "joint.motif-rank",
        "Motif factors of tucker; cp has one per dimension.",
    ),
    (
        "joint.iterations",
        "Maximum number of sweeps; 0 keeps the start, the higher-order SVD.",
    ),
    (
        "joint.tolerance",
        "Stop after a sweep that lowers the relative loss by less than this.",
    ),
    (
        "joint.regularization",
        "Weight of the squared factors in the loss of cp.",
    ),
    ("structure", "Structure: node features from motif counts."),
    ("structure.enabled", "Whether they are used."),
    (
        "structure.motifs",
        "Motifs to count: auto (triads if arcs keep their direction, else all), or names as above.",
    ),
    ("structure.sum", "Add sums over neighbours."),
    ("structure.mean", "Add means over neighbours."),
    ("structure.max", "Add maxima over neighbours."),
    ("structure.log", "Counts x become log(1 + x)."),
    (
        "structure.depth",
        "Levels of aggregation; 0 for the counts alone.",
    ),
    (
        "structure.prune",
        "From level 2 on, columns whose correlation with an earlier one exceeds this are dropped.",
    ),
    (
        "attributes.table",
        "How a table of your own attributes is read; attributes.file = \"FILE\" names it. See docs/formats.md.",
    ),
    (
        "attributes.table.columns",
        "Columns to use; all but the id if empty.",
    ),
    (
        "attributes.table.categorical",
        "Columns whose values are categories even if they are numbers.",
    ),
    (
        "attributes.table.categories",
        "Maximum number of categories with their own 0/1 column; the others share one.",
    ),
    (
        "attributes.table.missing",
        "What replaces a missing number: mean (of the column), zero, or refuse.",
    ),
    (
        "features",
        "How node features, both structure and attributes, are combined with the embedding.",
    ),
    (
        "features.form",
        "columns, or { components = { dim, size-decay, level-decay, offset, extremes } }; dim = \"auto\": one column in 8, 16 at most.",
    ),
    (
        "features.form.components",
        "Columns are replaced by their principal components, unscaled.",
    ),
    (
        "features.form.components.dim",
        "Number of components, or \"auto\": one column in 8, 16 at most.",
    ),
    (
        "features.form.components.size-decay",
        "Counts of motifs with s nodes are divided by this to the power s − 2.",
    ),
    (
        "features.form.components.level-decay",
        "Aggregates over neighbours are divided by this, once per level.",
    ),
    (
        "features.form.components.offset",
        "Added to each component, in standard deviations.",
    ),
    (
        "features.form.components.extremes",
        "Scale of the last column, x²/(1 + x²) of the first component x: how far a node is from the middle; 0 for none.",
    ),
    (
        "features.combine",
        "before: next to the local embeddings; after: next to the global embedding.",
    ),
    (
        "features.weight",
        "Squared norm of these columns relative to that of the embeddings next to them; a quarter of it with directed motifs; \"unit\" for no scaling.",
    ),
    (
        "features.diffusion",
        "How features are diffused over each motif graph.",
    ),
    ("features.diffusion.steps", "Number of steps; 0 for none."),
    (
        "features.diffusion.original",
        "Keep the original features next to the diffused ones; false in the paper.",
    ),
    (
        "features.diffusion.process",
        "linear, or { laplacian = θ } with θ from 0 to 1.",
    ),
];

impl Config {
    /// The configuration as TOML with comments; reads back as the same configuration.
    pub fn to_commented_toml(&self) -> String {
        let mut out = String::from("# Settings of hone. Read with: hone embed --config FILE\n");
        let mut table = String::new();
        for line in self.to_toml().lines() {
            if let Some(name) = line
                .strip_prefix('[')
                .and_then(|line| line.strip_suffix(']'))
            {
                table = format!("{name}.");
                comment(&mut out, name);
            } else if let Some((key, _)) = line.split_once(" = ") {
                comment(&mut out, &format!("{table}{key}"));
            }
            let _ = writeln!(out, "{line}");
        }
        out
    }
}

fn comment(out: &mut String, key: &str) {
    if let Some((_, text)) = COMMENTS.iter().find(|(known, _)| *known == key) {
        let _ = writeln!(out, "# {text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_but_solver_options_is_explained_and_reads_back() {
        let plain = Config::preset("hone-p").expect("a preset");
        let text = plain.to_commented_toml();
        let back: Config = toml::from_str(&text).expect("valid TOML");
        assert_eq!(back, plain);
        let default = Config::default().to_commented_toml();
        for (key, comment) in COMMENTS {
            let found = text.contains(comment) || default.contains(comment);
            assert!(found, "{key} is explained but not a setting:\n{text}");
        }
        let (mut table, mut above) = ("", "");
        for line in text.lines().chain(default.lines()) {
            let own = table.contains("solver");
            if line.starts_with('[') {
                table = line;
            } else if !line.is_empty() && !line.starts_with('#') {
                assert!(
                    own || above.starts_with('#'),
                    "no comment above {line} in {table}"
                );
            }
            above = line;
        }
    }
}
