//! `hone eval paper`: every experiment of the paper on the graphs that are found.

use std::ops::Range;
use std::path::PathBuf;

use hone::Error;
use hone_eval::claims;
use hone_eval::method::Method;
use hone_eval::paper::{self, Benches, PaperConfig};
use hone_eval::task::{LinkConfig, NodesConfig, RuntimeConfig};

use super::bench::BenchArgs;
use super::output::OutputArgs;
use crate::context::Context;
use crate::files::Files;

const METHODS: &str = "hone,hone-w,hone-p,hone-l,hone-l-norm,hone-l-rw,NODE2VEC,deepwalk,line,line-both,grarep,\
    spectral,degree,log-degree,preferential-attachment,common-neighbors,adamic-adar,jaccard,katz,random";
/// Three values of q from the paper's grid, unless `--grid` requests all; with p = q = 1 alone it is DeepWalk.
const NODE2VEC: &str = "node2vec:q=0.25|1|4";
const DIFFUSED: &str = "hone-w+x,hone-p+x,hone-l+x,hone-l-norm+x,hone-l-rw+x";
const NODE_METHODS: &str = "hone,hone-w,hone-p,deepwalk,line,grarep,spectral,degree";
const ROLE_METHODS: &str =
    "hone,hone-w,hone-p,deepwalk,line,grarep,spectral,degree,degree:columns=1";
/// Seeds of a role experiment per seed of the others: two small graphs, noisy and cheap.
const ROLE_SEEDS: u64 = 5;

/// The paper's experiments on the files of a folder, our figures next to the paper's.
///
/// Reads NAME.edges and NAME.labels of the graphs it knows, and leaves out those it does not find. --methods chooses
/// those of link prediction; the other experiments have their own lists.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Folder with the graphs.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Write the claims and tables as Markdown to this file, and print the tables; by default the Markdown is printed.
    #[arg(short, long, value_name = "FILE")]
    write: Option<PathBuf>,
    #[command(flatten)]
    bench: BenchArgs,
    /// Graphs to leave out.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    skip: Vec<String>,
    /// Only what the paper prints, its tables 1 to 3; no solvers, steps, labelled graphs or mirrored graphs.
    #[arg(long)]
    printed: bool,
    /// Largest random graph of the run-time study; 0 leaves it out.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    largest: usize,
    #[command(flatten)]
    output: OutputArgs,
}

impl Args {
    /// The command that repeats the run.
    fn command(&self) -> String {
        let mut command = format!(
            "hone eval paper --data DIR --seeds {} --largest {}",
            self.bench.seeds, self.largest
        );
        if self.bench.first_seed != 1 {
            command.push_str(&format!(" --first-seed {}", self.bench.first_seed));
        }
        command.push_str(if self.bench.grid { " --grid" } else { "" });
        command.push_str(if self.printed { " --printed" } else { "" });
        command.push_str(if self.bench.search_once {
            " --search-once"
        } else {
            ""
        });
        if !self.bench.methods.is_empty() {
            command.push_str(&format!(" --methods '{}'", self.bench.methods.join(",")));
        }
        if !self.skip.is_empty() {
            command.push_str(&format!(" --skip {}", self.skip.join(",")));
        }
        command
    }
}

pub(super) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    if !args.data.is_dir() {
        return Err(
            Error::config("--data", format!("{} is not a folder", args.data.display())).into(),
        );
    }
    if !paper::any_graph(&args.data) {
        let remedy = "give the folder that holds NAME.edges files, such as soc-hamsterster.edges";
        return Err(Error::input(&args.data, "none of the paper's graphs is in it", remedy).into());
    }
    if let Some(unknown) = args
        .skip
        .iter()
        .find(|name| !paper::names().contains(&name.as_str()))
    {
        let message = format!(
            "`{unknown}` is not one of the graphs: {}",
            paper::names().join(", ")
        );
        return Err(Error::config("--skip", message).into());
    }
    let default = METHODS.replace(
        "NODE2VEC",
        if args.bench.grid {
            "node2vec"
        } else {
            NODE2VEC
        },
    );
    let methods = args.bench.methods(&default)?;
    let names = paper::names();
    let data = names
        .iter()
        .flat_map(|name| ["edges", "labels"].map(|kind| args.data.join(format!("{name}.{kind}"))));
    let inputs = args
        .bench
        .files(Files::default().read("--data", data), args.output.force());
    args.output.check(inputs.write("--write", &args.write))?;
    let folders = args.bench.folders(args.output.force())?;
    let parse = |list: &str| {
        list.split(',')
            .map(Method::parse)
            .collect::<Result<Vec<_>, _>>()
    };
    let searched = |list: &str| {
        list.split(',')
            .map(Method::parse_searched)
            .collect::<Result<Vec<_>, _>>()
    };
    let diffused = if args.bench.grid {
        searched(DIFFUSED)
    } else {
        parse(DIFFUSED)
    }?;
    let node_methods = parse(NODE_METHODS)?;
    let further = claims::further_methods();
    let further = further
        .into_iter()
        .map(Method::parse)
        .collect::<Result<Vec<_>, _>>()?;
    let (role_methods, timed) = (parse(ROLE_METHODS)?, parse("hone-p,node2vec")?);
    let sizes: Vec<usize> = (2..8)
        .map(|p| 10usize.pow(p))
        .filter(|n| *n <= args.largest)
        .collect();
    let operators = paper::OPERATORS
        .iter()
        .map(|operator| operator.parse())
        .collect::<Result<Vec<_>, _>>();
    let config = PaperConfig {
        data: args.data.clone(),
        skip: args.skip.clone(),
        printed: args.printed,
        link: LinkConfig {
            operators: operators?,
            ..LinkConfig::default()
        },
        nodes: NodesConfig::classification(),
        runtime: (!sizes.is_empty()).then(|| RuntimeConfig {
            sizes,
            ..RuntimeConfig::default()
        }),
    };
    let bench = |methods| args.bench.bench(methods, &folders, context.progress());
    let mut roles = bench(&role_methods);
    roles.seeds = role_seeds(&roles.seeds);
    let (link, diffused, further) = (bench(&methods), bench(&diffused), bench(&further));
    let (nodes, runtime) = (bench(&node_methods), bench(&timed));
    let (report, claims) = paper::run(
        &Benches {
            link,
            diffused,
            further,
            nodes,
            roles,
            runtime,
        },
        &config,
    )?;
    folders.finish(context)?;
    let document = paper::markdown(&report, &claims, &args.command());
    match &args.write {
        Some(file) => {
            let further = Some((file.as_path(), document));
            args.output.write_with(None, further, &report, context)
        }
        None => args
            .output
            .write_with(Some(document), None, &report, context),
    }
}

/// Seeds of the role experiments: more, and disjoint from others whenever those of the other experiments are.
fn role_seeds(seeds: &Range<u64>) -> Range<u64> {
    let from = |seed: u64| ROLE_SEEDS * seed.saturating_sub(1) + 1;
    from(seeds.start)..from(seeds.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_of_roles_are_as_fresh_as_the_others() {
        assert_eq!((role_seeds(&(1..4)), role_seeds(&(4..7))), (1..16, 16..31));
    }
}
