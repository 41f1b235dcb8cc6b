//! `hone eval runtime`.

use hone_eval::cache::Cache;
use hone_eval::experiment::Bench;
use hone_eval::search::Search;
use hone_eval::task::RuntimeConfig;

use super::bench::parse_methods;
use super::output::OutputArgs;
use crate::context::Context;
use crate::files::Files;
use crate::options::{Known, translated};

/// Run time on Erdős–Rényi graphs of growing size, with the fitted exponent.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Methods, separated by commas (see `hone eval list`), with options after a colon; may be repeated.
    #[arg(long, value_name = "NAMES", default_value = "hone-p,node2vec")]
    methods: Vec<String>,
    /// Numbers of nodes.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "100,1000,10000,100000,1000000"
    )]
    sizes: Vec<usize>,
    /// Average degree.
    #[arg(long, value_name = "D", default_value_t = 10.0)]
    degree: f64,
    /// A method that took longer than this many seconds is not run on larger graphs.
    #[arg(long, value_name = "SECONDS", default_value_t = 100.0)]
    cap: f64,
    #[command(flatten)]
    output: OutputArgs,
}

/// Settings and the options that give them.
const OPTIONS: &[Known] = &[("sizes", "--sizes"), ("cap", "--cap")];

pub(super) fn run(args: &Args, context: &Context) -> anyhow::Result<()> {
    let methods = parse_methods(&args.methods, &[], "", false)?;
    args.output.check(Files::default())?;
    let mut sizes = args.sizes.clone();
    sizes.sort_unstable();
    let config = RuntimeConfig {
        sizes,
        degree: args.degree,
        cap: args.cap,
    };
    let cache = Cache::none();
    let bench = Bench {
        methods: &methods,
        seeds: 1..2,
        search: Search::Every,
        cache: &cache,
        save: None,
        progress: context.progress(),
    };
    let times = bench
        .run_times(&config)
        .map_err(|error| translated(error, OPTIONS))?;
    let report = bench.runtime_report(&times, &config);
    args.output.write(&report, context)
}
