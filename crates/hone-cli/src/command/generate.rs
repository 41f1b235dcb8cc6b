//! `hone generate MODEL`: random and regular graphs into a file.

use std::path::PathBuf;

use clap::Subcommand;
use hone::Error;
use hone::graph::{Generator, GraphFormat, WriteOptions, write_generated};

use crate::arguments::{ReplaceArgs, SeedArgs};
use crate::context::Context;
use crate::files::Files;

/// Generate a random or regular graph.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, subcommand_value_name = "MODEL", subcommand_help_heading = "Models")]
pub(crate) struct Args {
    #[command(subcommand)]
    model: Model,
    #[command(flatten)]
    seed: SeedArgs,
    /// File to write; - is standard output.
    #[arg(short, long, global = true, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    /// Format to write, whatever the extension: tsv, csv, text, mtx, parquet or metis.
    #[arg(id = "format", long = "output-format", global = true, value_name = "FORMAT", value_parser = format)]
    output_format: Option<GraphFormat>,
    #[command(flatten)]
    replace: ReplaceArgs,
}

const EXAMPLES: &str = "\
Examples:
  hone generate er --nodes 1000 --degree 10 -o er.tsv
  hone generate sbm --nodes 1000 --degree 20 --communities 5 --mixing 0.1 --seed 7 -o sbm.mtx
  hone generate rmat --nodes 1000000 --degree 16 -o rmat.tsv.zst
  hone generate ring-of-cliques --cliques 6 --size 5

The same seed gives the same file, whatever the number of threads.";

const WHERE: &str = "\
The format follows the extension: .tsv .csv .txt .edges .el (edge lists), .mtx (Matrix Market),
.graph (METIS), each also with .gz or .zst after it, and .parquet.";

#[derive(Debug, Subcommand)]
enum Model {
    /// Erdős–Rényi G(n, p): every pair with the same probability.
    #[command(after_help = WHERE)]
    Er(Size),
    /// Barabási–Albert: preferential attachment of degree/2 edges per node.
    #[command(after_help = WHERE)]
    Ba(Size),
    /// R-MAT: skewed degrees. Duplicate edges and self-loops are written as drawn, and dropped when the file is read.
    #[command(after_help = WHERE)]
    Rmat {
        #[command(flatten)]
        size: Size,
        /// Probabilities of the quadrants of the adjacency matrix.
        #[arg(
            long,
            value_name = "A,B,C,D",
            value_delimiter = ',',
            default_value = "0.57,0.19,0.19,0.05"
        )]
        quadrants: Vec<f64>,
    },
    /// Stochastic block model: equal communities of consecutive nodes.
    #[command(after_help = WHERE)]
    Sbm {
        #[command(flatten)]
        size: Size,
        /// Number of communities.
        #[arg(long, value_name = "K")]
        communities: u64,
        /// Expected share of a node's edges that leave its community.
        #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
        mixing: f64,
    },
    /// Cliques in a ring, each linked to the next by one edge.
    #[command(after_help = WHERE)]
    RingOfCliques {
        /// Number of cliques.
        #[arg(long, value_name = "K")]
        cliques: u64,
        /// Nodes of a clique.
        #[arg(long, value_name = "N")]
        size: u64,
    },
    /// Two cliques linked by a path.
    #[command(after_help = WHERE)]
    Barbell {
        /// Nodes of each clique.
        #[arg(long, value_name = "N")]
        size: u64,
        /// Nodes of the path between them.
        #[arg(long, value_name = "N", default_value_t = 0)]
        path: u64,
    },
}

#[derive(Debug, clap::Args)]
struct Size {
    /// Number of nodes.
    #[arg(long, value_name = "N")]
    nodes: u64,
    /// Mean degree: twice the edges over the nodes.
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    degree: f64,
}

/// This many edges take minutes, and gigabytes on disk: their number is noted first.
const MANY: f64 = 1e8;

pub(crate) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let generator = generator(&args.model)?;
    let output = &args.output;
    let files = Files::default().write("--output", [output]);
    files.check(args.replace.force)?;
    let options = WriteOptions {
        format: args.output_format,
        overwrite: args.replace.force,
    };
    let expected = generator.expected_edges();
    if expected >= MANY {
        context.note(format_args!(
            "note: this graph has about {expected:.1e} edges"
        ));
    }
    let edges = write_generated(
        &generator,
        args.seed.seed.unwrap_or_default(),
        output,
        &options,
        context.progress(),
    )?;
    if output.as_os_str() != "-" {
        let output = output.display();
        context.note(format_args!("wrote {edges} edges to {output}"));
    }
    context.print_files(std::slice::from_ref(&args.output))
}

fn generator(model: &Model) -> Result<Generator, Error> {
    Ok(match *model {
        Model::Er(Size { nodes, degree }) => Generator::Er { nodes, degree },
        Model::Ba(Size { nodes, degree }) => Generator::Ba { nodes, degree },
        Model::Rmat {
            size: Size { nodes, degree },
            ref quadrants,
        } => {
            let four = quadrants.as_slice().try_into().map_err(|_| {
                let given = quadrants.len();
                let message =
                    format!("{given} probabilities; give four, such as 0.57,0.19,0.19,0.05");
                Error::config("--quadrants", message)
            });
            Generator::Rmat {
                nodes,
                degree,
                quadrants: four?,
            }
        }
        Model::Sbm {
            size: Size { nodes, degree },
            communities,
            mixing,
        } => Generator::Sbm {
            nodes,
            degree,
            communities,
            mixing,
        },
        Model::RingOfCliques { cliques, size } => Generator::RingOfCliques { cliques, size },
        Model::Barbell { size, path } => Generator::Barbell { size, path },
    })
}

fn format(text: &str) -> Result<GraphFormat, String> {
    let all = GraphFormat::ALL;
    let found = all.into_iter().find(|format| format.to_string() == text);
    found.ok_or_else(|| {
        let known = all.map(|format| format.to_string());
        format!("use one of {}", known.join(", "))
    })
}
