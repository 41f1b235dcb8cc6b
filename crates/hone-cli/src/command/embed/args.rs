//! The options of `hone embed`.

use std::path::{Path, PathBuf};

use hone::Hone;
use hone::output::parts::is_folder;
use hone_gpu::Device;

use super::choices::ConfigArgs;
use super::table::TableArgs;
use crate::exit::{self, Kept};
use crate::files::{Files, Use};
use crate::input::GraphArgs;

/// Embed a graph: one vector per node, built from network motifs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) input: GraphArgs,
    /// File for the vectors; the extension sets the format (.tsv .csv .npy .npz .parquet .w2v .emb .safetensors). `-`
    /// for standard output; `NAME.parquet/` for a folder of parts.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: PathBuf,
    /// Also write all matrix factors to this folder, as .npy files with a manifest: U, Σ and V of each motif matrix, Z
    /// and H of the global factorisation (docs/formats.md).
    #[arg(long, value_name = "DIR")]
    pub(super) factors: Option<PathBuf>,
    /// Also write a model to this file, with which --like places other graphs in the same space (preset hone);
    /// `hone info FILE` describes it.
    #[arg(long, value_name = "FILE")]
    pub(super) model: Option<PathBuf>,
    /// Where to count motifs and embed: cpu, cuda, cuda:N, or auto for a GPU if there is one [default: a GPU
    /// for graphs of at least a million edges if there is one, else cpu; docs/gpu.md].
    #[arg(long, value_name = "DEVICE")]
    pub(super) device: Option<Device>,
    #[command(flatten)]
    pub(super) table: TableArgs,
    #[command(flatten)]
    pub(super) like: LikeArgs,
    #[command(flatten)]
    pub(super) scale: ScaleArgs,
    #[command(flatten)]
    pub(super) choices: ConfigArgs,
}

const EXAMPLES: &str = "\
Examples:
  hone embed builtin:karate -o karate.tsv
  hone embed graph.tsv -o vectors.npy
  hone embed graph.tsv.gz -o w.npy --preset hone-w --dim 64
  hone embed graph.mtx -o cliques.parquet --motifs edge,triangle,clique4 --steps auto
  hone embed graph.tsv -o people.npy --preset hone-p+x --attributes people.csv
  hone embed graph.tsv -o p.npy --preset hone-p --factors factors
  hone embed graph.tsv -o gpu.npy --device auto
  hone embed graph.tsv -o first.npy --model graph.hone
  hone embed graph.tsv -o next.npy --like graph.hone
  hone embed -o again.npy --config vectors.npy.run.json

OUT.run.json, next to OUT, records the graph and how it was read, all settings, the seed and what was measured.
--config OUT.run.json repeats the run bit for bit, and refuses a graph that has changed.";

/// Settings that come from the model.
const OWN: [&str; 18] = [
    "model",
    "factors",
    "preset",
    "config",
    "dim",
    "local_dim",
    "steps",
    "motifs",
    "motif_size",
    "sample",
    "delta",
    "pairs",
    "solver",
    "attributes",
    "attribute_id",
    "vectors",
    "seed",
    "set",
];

/// Placing a graph in the space of a model.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Models")]
pub(super) struct LikeArgs {
    /// Place the graph in the space of a model written by --model: nodes are matched by id, new ones are placed by
    /// their edges. All settings are those of the model.
    #[arg(long, value_name = "FILE", conflicts_with_all = OWN)]
    pub(super) like: Option<PathBuf>,
    /// Write only the structure columns, which are comparable even between graphs without common nodes.
    #[arg(long, requires = "like")]
    pub(super) structure_only: bool,
    /// Write the rows of new nodes only, those that the model does not have: the same vectors, at a fraction of the cost.
    #[arg(long, requires = "like")]
    pub(super) new_only: bool,
}

/// Runs that exceed the memory or take long.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Large graphs")]
pub(super) struct ScaleArgs {
    /// Folder for temporary files, for what does not fit into --memory [default: that of the output].
    #[arg(long, value_name = "DIR")]
    pub(super) temp_dir: Option<PathBuf>,
    /// Save finished stages in this folder, so that --resume can continue an interrupted run.
    #[arg(long, value_name = "DIR")]
    pub(super) checkpoint: Option<PathBuf>,
    /// Continue from the checkpoint; the result is the same, bit for bit.
    #[arg(long, requires = "checkpoint")]
    resume: bool,
}

impl ScaleArgs {
    /// Adds the folders that are written to.
    pub(super) fn folders(&self, files: Files) -> Files {
        let files = files.folder("--checkpoint", self.checkpoint.as_deref(), Use::Kept);
        files.folder("--temp-dir", self.temp_dir.as_deref(), Use::Kept)
    }

    pub(super) fn lay(&self, mut hone: Hone, output: &Path) -> Hone {
        let file = || is_folder(output) || output.is_file() || !output.exists();
        let beside = || {
            output
                .parent()
                .filter(|_| output.as_os_str() != "-" && file())
        };
        let beside = || {
            beside().map(|folder| {
                if folder.as_os_str().is_empty() {
                    Path::new(".")
                } else {
                    folder
                }
            })
        };
        if let Some(folder) = self.temp_dir.as_deref().or_else(beside) {
            hone = hone.temp_dir(folder);
        }
        match &self.checkpoint {
            Some(folder) => {
                exit::keep(Kept::Stages(folder.clone()));
                if self.resume {
                    hone.resume(folder)
                } else {
                    hone.checkpoint(folder)
                }
            }
            None => {
                exit::could_save(
                    "start again with --checkpoint DIR to be able to continue after an interruption",
                );
                hone
            }
        }
    }
}
