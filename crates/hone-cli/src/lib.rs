//! The implementation of the `hone` command: graphs in, embeddings out, from the shell. The program calls [`main`];
//! programs with their own engine call [`together::run`].
//!
//! A subcommand is one file under `command/`: its `Args` and `run(&Args, &Context)`. Here they are
//! listed, parsed and dispatched, and their errors become exit codes: 0 success, 1 the run failed,
//! 2 bad input or usage, 3 some results of an evaluation are missing; an interrupted run ends by the signal. Data goes to
//! standard output, all else to standard error.

#![warn(clippy::print_stdout, clippy::print_stderr)]
// Code used only by commands that are left out is kept.
#![cfg_attr(
    not(all(feature = "eval", feature = "explore")),
    allow(dead_code, unused_imports)
)]

mod allocator;
mod command;
mod context;
mod exit;
mod files;
mod input;
mod next;
mod options;
mod repeat;
mod stdout;
pub mod together;
#[cfg(feature = "explore")]
mod vectors;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

#[cfg(not(all(feature = "eval", feature = "explore")))]
use command::left_out;
use command::{completions, config, count, embed, features, generate, info, man, solvers};
#[cfg(feature = "explore")]
use command::{draw, layout, map, roles, similar};
#[cfg(feature = "eval")]
use command::{eval, tune};
use context::{CommonArgs, Context};

/// Higher-order network embeddings: node vectors built from network motifs.
#[derive(Debug, Parser)]
#[command(name = "hone", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  hone embed builtin:karate -o karate.tsv   one vector per node
  hone info builtin:karate                  look at a built-in graph
  hone info graph.tsv --json                size, degrees and components of a file, as JSON
  hone count graph.tsv --by total           motifs of a file
  hone features graph.tsv -o x.csv          node features from motif counts
  hone draw graph.tsv -o graph.svg          a picture of the graph
  hone similar karate.tsv --node 0          nodes similar to a node
  hone roles graph.tsv                      hubs, bridges, cliques, chains: roles of nodes
  hone map graph.tsv -o map.html            an interactive map
  hone tune graph.tsv -o best.toml          settings that suit a graph
  hone help info                            all options of a command (or: hone info --help)

Exit codes: 0 success, 1 the run failed, 2 bad input or usage, 3 some results of an evaluation are missing. An interrupted run
ends by the signal (Ctrl-C: 130 in a shell).";

#[derive(Debug, Subcommand)]
enum Command {
    Embed(Box<embed::Args>),
    Info(info::Args),
    Count(count::Args),
    Features(features::Args),
    #[cfg(feature = "explore")]
    Draw(draw::Args),
    #[cfg(feature = "explore")]
    Similar(similar::Args),
    #[cfg(feature = "explore")]
    Roles(roles::Args),
    #[cfg(feature = "explore")]
    Layout(layout::Args),
    #[cfg(feature = "explore")]
    Map(map::Args),
    #[cfg(not(feature = "explore"))]
    #[command(name = "similar", aliases = ["draw", "roles", "layout", "map"], hide = true)]
    Explore(left_out::Args),
    #[cfg(feature = "eval")]
    Tune(tune::Args),
    #[cfg(feature = "eval")]
    Eval(eval::Args),
    Generate(generate::Args),
    #[cfg(not(feature = "eval"))]
    #[command(name = "eval", aliases = ["tune"], hide = true)]
    Evaluate(left_out::Args),
    Config(config::Args),
    Solvers(solvers::Args),
    Completions(completions::Args),
    Man(man::Args),
}

fn run(cli: &Cli) -> anyhow::Result<()> {
    let context = Context::new(&cli.common, None)?;
    match &cli.command {
        Command::Embed(args) => embed::run(args, &context),
        Command::Info(args) => info::run(args, &context),
        Command::Count(args) => count::run(args, &context),
        Command::Features(args) => features::run(args, &context),
        #[cfg(feature = "explore")]
        Command::Draw(args) => draw::run(args, &context),
        #[cfg(feature = "explore")]
        Command::Similar(args) => similar::run(args, &context),
        #[cfg(feature = "explore")]
        Command::Roles(args) => roles::run(args, &context),
        #[cfg(feature = "explore")]
        Command::Layout(args) => layout::run(args, &context),
        #[cfg(feature = "explore")]
        Command::Map(args) => map::run(args, &context),
        #[cfg(not(feature = "explore"))]
        Command::Explore(_) => left_out::run("draw, similar, roles, layout and map", "explore"),
        #[cfg(feature = "eval")]
        Command::Tune(args) => tune::run(args, &context),
        #[cfg(feature = "eval")]
        Command::Eval(args) => eval::run(args, &context),
        Command::Generate(args) => generate::run(args, &context),
        #[cfg(not(feature = "eval"))]
        Command::Evaluate(_) => left_out::run("eval and tune", "eval"),
        Command::Config(args) => config::run(args, &context),
        Command::Solvers(args) => solvers::run(args, &context),
        Command::Completions(args) => completions::run(args, &mut Cli::command(), &context),
        Command::Man(args) => man::run(args, Cli::command(), &context),
    }
}

/// Bytes of the stack of the thread that works: the first one has what `ulimit -s` leaves it.
const STACK: usize = 8 << 20;

/// Exit code of a panic.
const PANICKED: u8 = 101;

/// Runs the command that the arguments of the process name.
pub fn main() -> ExitCode {
    allocator::give_back_large_blocks();
    exit::say_nothing_of_the_decoder();
    let work = || match exit::parse::<Cli>() {
        Ok(cli) => exit::code(exit::clean_up_when_interrupted().and_then(|()| run(&cli))),
        Err(said) => ExitCode::from(exit::of_parser(&said)),
    };
    let thread = std::thread::Builder::new()
        .name("main".into())
        .stack_size(STACK);
    match thread.spawn(work) {
        // A panic has said what it is about.
        Ok(worker) => worker.join().unwrap_or(ExitCode::from(PANICKED)),
        Err(_) => work(),
    }
}
