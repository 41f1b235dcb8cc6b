//! The choices of the method as options: presets, settings, attributes.

use std::path::PathBuf;

use hone::Error;
use hone::config::{Config, Layers};
use hone::graph::Graph;
use hone::motif::Delta;

use crate::arguments::SampleArgs;
use crate::context::Context;
use crate::files::Files;
use crate::options;
use crate::repeat;

/// The choices of the method; shared by `embed` and `config`.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct ConfigArgs {
    /// Start from a named variant: hone (the default), or the paper's hone-w, hone-p, hone-l, hone-l-norm, hone-l-rw,
    /// each also with +x for diffused motif features.
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// Read settings from a TOML file, or repeat an earlier run: its OUT.run.json, which also names the graph; with
    /// --preset, the two may not contradict each other.
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Dimensions of the vectors. With the preset hone, one in eight (at most 16) describes structure.
    #[arg(id = "global.dim", long = "dim", value_name = "D")]
    dim: Option<usize>,
    /// Dimensions of each local embedding, of which there is one per motif and step [default: 16, more if --dim needs
    /// more].
    #[arg(id = "local.dim", long = "local-dim", value_name = "D")]
    local_dim: Option<String>,
    /// Number of steps along the edges of each motif graph, or auto.
    #[arg(long, value_name = "K")]
    steps: Option<String>,
    /// Motifs: all, graphlets, size3, or names separated by commas (see `hone count --help`).
    #[arg(long, value_name = "SET")]
    motifs: Option<String>,
    /// Leave out motifs with more nodes than this.
    #[arg(long, value_name = "2-4", value_parser = clap::value_parser!(u8).range(2..=4))]
    motif_size: Option<u8>,
    /// Leave out edges with fewer occurrences of a motif than this; also per motif: triangle=3,clique4=2.
    #[arg(long, value_name = "COUNT")]
    delta: Option<Delta>,
    /// Pairs of nodes linked in a motif graph: edges, or occurrences (all pairs that share an occurrence of
    /// the graphlet, adjacent or not).
    #[arg(long, value_name = "WHICH", value_parser = ["edges", "occurrences"])]
    pairs: Option<String>,
    /// Solver of the matrix factorisations, in both stages (autoencoder: only in the global one); `hone list
    /// solvers` lists them.
    #[arg(id = "local.solver.method", long = "solver", value_name = "NAME")]
    solver: Option<String>,
    /// Call motifs by their numbers in the literature (`hone list motifs --table`): columns E1_k1_0, not triangle_k1_0.
    #[arg(id = "structure.numbers", long = "numbers")]
    numbers: bool,
    #[command(flatten)]
    attributes: AttributeArgs,
    /// The stage whose vectors are written: global, or local (all local embeddings side by side).
    #[arg(id = "global.output", long = "stage", value_name = "STAGE", value_parser = ["global", "local"])]
    stage: Option<String>,
    #[command(flatten)]
    sample: SampleArgs,
    /// Any setting by its dotted name; may be repeated, the last wins.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// The user's own attributes; shared by every command that uses them.
#[derive(Debug, clap::Args)]
pub(crate) struct AttributeArgs {
    /// Node attributes: .csv, .tsv or .parquet with an id column, or .npy, .mtx or .svm in node order.
    #[arg(id = "attributes.file", long = "attributes", value_name = "FILE")]
    attributes: Option<String>,
    /// Column of the node ids in that file: a name, or a position from 0 [default: id, node, …, else the first].
    #[arg(
        id = "attributes.table.id",
        long = "attribute-id",
        value_name = "COLUMN"
    )]
    attribute_id: Option<String>,
}

impl ConfigArgs {
    /// Adds the files that these choices name.
    pub(super) fn files(&self, files: Files, config: &Config) -> Files {
        files
            .read("--config", &self.config)
            .read_vectors("--attributes", &config.attributes.file)
    }

    /// Preset, file, flags and single settings, later ones on top; names the file if no option could be meant.
    pub(crate) fn build(&self, context: &Context) -> Result<Config, Error> {
        let sized = || {
            let mut config = self.with_all_motifs(context)?;
            if let Some(size) = self.motif_size {
                config.motifs = config.motifs.at_most(size.into());
                config.check()?;
            }
            Ok(config)
        };
        sized().map_err(|mut error| {
            let others = self.preset.is_some() || self.motif_size.is_some() || !self.set.is_empty();
            if let (Error::Config { message, .. }, Some(file)) = (&mut error, &self.config)
                && !others
                && context.flags().is_empty()
            {
                message.push(format!(" (a setting of {})", file.display()));
            }
            error
        })
    }

    /// Notes options that were given and have no effect on the embedding of this graph.
    pub(super) fn note_idle(&self, config: &Config, graph: &Graph, context: &Context) {
        let mut found = options::idle_of(context.flags(), &self.set, &config.unused(graph, false));
        if self.motif_size.is_some()
            && let Ok(Config { motifs: all, .. }) = self.with_all_motifs(context)
            && all.motifs() == config.motifs.motifs()
        {
            let why = format!("no motif of {all} is larger");
            found.push(("--motif-size".into(), why));
        }
        options::note_idle(&found, context);
    }

    /// The settings with motifs of any size.
    fn with_all_motifs(&self, context: &Context) -> Result<Config, Error> {
        if let Some(file) = &self.config {
            repeat::refuse_others(file)?;
        }
        let layers = match (&self.preset, &self.config) {
            (Some(preset), Some(file)) => Layers::new().preset_and_file(preset, file)?,
            (None, Some(file)) => Layers::new().file(file)?,
            (Some(preset), None) => Layers::new().preset(preset)?,
            (None, None) => Layers::new(),
        };
        options::lay(layers, context.flags(), &self.set)?.build()
    }
}
