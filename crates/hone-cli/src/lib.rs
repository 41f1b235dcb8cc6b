//! The implementation of the `hone` command: graphs in, embeddings out, from the shell. The program calls [`main`];
//! programs with their own engine call [`together::run`].
//!
//! A subcommand is one file under `command/`: its `Args` and `run(&Args, &Context)`. Here they are
//! listed, parsed and dispatched, and their errors become exit codes: 0 success, 1 the run failed,
//! 2 bad input or usage, 3 some results of an evaluation are missing; an interrupted run ends by the signal. Data goes to
//! standard output, all else to standard error.

#![warn(clippy::print_stdout, clippy::print_stderr)]

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
mod vectors;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use command::{
    completions, config, count, draw, embed, eval, features, generate, info, layout, man, map,
    roles, similar, solvers, tune,
};
use context::{CommonArgs, Context};
use options::{Known, in_words_of};

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
    Draw(draw::Args),
    Similar(similar::Args),
    Roles(roles::Args),
    Layout(layout::Args),
    Map(map::Args),
    Tune(tune::Args),
    Eval(eval::Args),
    Generate(generate::Args),
    Config(config::Args),
    Solvers(solvers::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Runs a command; its errors name its options.
fn run(cli: &Cli) -> anyhow::Result<()> {
    let context = Context::new(&cli.common, None)?;
    let none: &[Known] = &[];
    match &cli.command {
        Command::Embed(args) => in_words_of(embed::run(args, &context), &embed::options()),
        Command::Info(args) => in_words_of(info::run(args, &context), none),
        Command::Count(args) => in_words_of(count::run(args, &context), count::OPTIONS),
        Command::Features(args) => in_words_of(features::run(args, &context), &features::options()),
        Command::Draw(args) => in_words_of(draw::run(args, &context), none),
        Command::Similar(args) => in_words_of(similar::run(args, &context), similar::OPTIONS),
        Command::Roles(args) => in_words_of(roles::run(args, &context), roles::OPTIONS),
        Command::Layout(args) => in_words_of(layout::run(args, &context), similar::OPTIONS),
        Command::Map(args) => in_words_of(map::run(args, &context), similar::OPTIONS),
        Command::Tune(args) => in_words_of(tune::run(args, &context), tune::OPTIONS),
        Command::Eval(args) => in_words_of(eval::run(args, &context), eval::OPTIONS),
        Command::Generate(args) => in_words_of(generate::run(args, &context), generate::OPTIONS),
        Command::Config(args) => in_words_of(config::run(args, &context), &embed::options()),
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
    allocator::prepare();
    exit::say_nothing_of_the_decoder();
    let work = || match exit::parse::<Cli>() {
        Ok(cli) => match exit::clean_up_when_interrupted().and_then(|()| run(&cli)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => ExitCode::from(exit::tell(&error, "")),
        },
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
