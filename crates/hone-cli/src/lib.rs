//! The implementation of the `hone` command: graphs in, embeddings out, from the shell. The program calls [`main`];
//! programs with their own engine call [`together::run`].
//!
//! A subcommand is one file under `command/`: its `Args` and `run(&Args, &Context)`. Here they are
//! listed, parsed and dispatched, and their errors become exit codes: 0 success, 1 the run failed,
//! 2 bad input or usage, 3 some results of an evaluation are missing; an interrupted run ends by the signal. Data goes to
//! standard output, all else to standard error.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod allocator;
mod arguments;
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
    cluster, coefficients, compare, completions, config, count, draw, embed, eval, features,
    generate, info, layout, list, man, map, place, roles, significance, similar, tune,
};
use context::{CommonArgs, Context};
use options::{Options, with_addresses};

/// Higher-order network embeddings: node vectors in which motifs shape structure, edges proximity.
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
  hone similar karate.tsv --node 0          nodes similar to a node
  hone help roles                           all options of a command

Every option without a value has an opposite, --no-…. Exit codes: 0 success, 1 the run failed, 2 bad
input or usage, 3 some results are missing; an interrupted run ends by the signal.";

/// What the commands are for; those in no group are named at the end.
const GROUPS: [(&str, &[&str]); 5] = [
    (
        "make",
        &["embed", "count", "coefficients", "significance", "features"],
    ),
    (
        "ask",
        &[
            "similar", "roles", "cluster", "compare", "map", "layout", "draw",
        ],
    ),
    ("keep", &["place"]),
    ("judge", &["eval", "tune"]),
    ("about", &["info", "list", "config", "generate"]),
];

/// The whole command line, whose help lists the commands by what they are for.
fn grouped(command: clap::Command) -> clap::Command {
    let listed = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let others = command.get_subcommands().map(clap::Command::get_name);
    let others: Vec<&str> = others.filter(|name| !listed(name)).collect();
    let mut lines = String::new();
    for (group, names) in GROUPS {
        let found = names
            .iter()
            .filter_map(|name| command.find_subcommand(name));
        for (at, found) in found.enumerate() {
            let group = if at == 0 { group } else { "" };
            lines += &format!("  {group:6} {:13} {}\n", found.get_name(), summary(found));
        }
    }
    lines += &format!("  {:6} {}\n", "", others.join(", "));
    let template = format!(
        "{{about-with-newline}}{{usage-heading}} {{usage}}\n\nCommands:\n{lines}\nOptions:\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

/// What a command does, in one short line.
fn summary(command: &clap::Command) -> String {
    const WIDE: usize = 57;
    let about = command.get_about().map(ToString::to_string);
    let mut about = about.unwrap_or_default();
    for ends in [&[':', ';'][..], &[',']] {
        if about.chars().count() > WIDE {
            about.truncate(about.find(ends).unwrap_or(about.len()));
        }
    }
    about
}

#[derive(Debug, Subcommand)]
enum Command {
    Embed(Box<embed::Args>),
    Place(Box<place::Args>),
    Info(info::Args),
    Count(count::Args),
    Coefficients(coefficients::Args),
    Significance(significance::Args),
    Compare(compare::Args),
    Cluster(cluster::Args),
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
    List(list::Args),
    Completions(completions::Args),
    Man(man::Args),
}

fn whole() -> clap::Command {
    with_addresses(grouped(Cli::command()))
}

fn run(cli: &Cli, options: &Options) -> anyhow::Result<()> {
    let context = Context::new(&cli.common, options, None)?;
    match &cli.command {
        Command::Embed(args) => embed::run(args, &context),
        Command::Place(args) => place::run(args, &context),
        Command::Info(args) => info::run(args, &context),
        Command::Count(args) => count::run(args, &context),
        Command::Coefficients(args) => coefficients::run(args, &context),
        Command::Significance(args) => significance::run(args, &context),
        Command::Compare(args) => compare::run(args, &context),
        Command::Cluster(args) => cluster::run(args, &context),
        Command::Features(args) => features::run(args, &context),
        Command::Draw(args) => draw::run(args, &context),
        Command::Similar(args) => similar::run(args, &context),
        Command::Roles(args) => roles::run(args, &context),
        Command::Layout(args) => layout::run(args, &context),
        Command::Map(args) => map::run(args, &context),
        Command::Tune(args) => tune::run(args, &context),
        Command::Eval(args) => eval::run(args, &context),
        Command::Generate(args) => generate::run(args, &context),
        Command::Config(args) => config::run(args, &context),
        Command::List(args) => list::run(args, &context),
        Command::Completions(args) => completions::run(args, &mut whole(), &context),
        Command::Man(args) => man::run(args, whole(), &context),
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
    let work = || match exit::parse::<Cli>(whole()) {
        Ok((cli, options)) => {
            match exit::clean_up_when_interrupted().and_then(|()| run(&cli, &options)) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => ExitCode::from(exit::tell(&error, "", Some(&options))),
            }
        }
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
