//! `embed`, `place` and `count` by several processes together, for a program that provides the engine.
//!
//! All processes run the same command on the same input. One of them ([`Engine::leads`]) prints, and puts files
//! in place once all are done; the others work with it, write their rows of the vectors, and are silent.

use std::sync::Arc;

use clap::{CommandFactory, Parser, Subcommand};
use hone::engine::Engine;

use crate::command::{count, embed, place};
use crate::context::{CommonArgs, Context};
use crate::options::Options;
use crate::{allocator, exit};

/// The engine of several processes, and the resources of each.
#[derive(Debug, Clone)]
pub struct Team {
    /// Does the work.
    pub engine: Arc<dyn Engine>,
    /// Bytes that this process may hold where the user gives no limit; what the machine has free where this is none.
    pub memory: Option<u64>,
    /// Threads of this process where the user gives no number; one per core where this is none.
    pub threads: Option<usize>,
}

/// Higher-order network embeddings by several processes together: edges shape proximity, and motifs shape structure.
#[derive(Debug, Parser)]
#[command(name = "hone-mpi", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
Examples:
  mpirun -n 4 hone-mpi embed graph.parquet -o vectors.npy
  mpirun -n 4 hone-mpi count graph.tsv --per total
  mpirun -n 2 --map-by ppr:1:node --bind-to none hone-mpi embed graph.tsv -o vectors.npy   one process per machine

Options are those of `hone embed`, `hone place` and `hone count`, and so are the results, bit for bit; --memory is the limit of each \
process. docs/cluster.md explains how to start it on several machines.";

#[derive(Debug, Subcommand)]
enum Command {
    Embed(Box<embed::Args>),
    Place(Box<place::Args>),
    Count(Box<count::Args>),
}

/// How a command ended.
#[derive(Debug)]
pub enum Ended {
    /// As it should.
    Well,
    /// The parser of the command line has something to say: help, the version, or what is wrong with the options.
    Said(clap::Error),
    /// With an error.
    Failed(Box<Failure>),
}

/// An error, and the options that it may name.
#[derive(Debug)]
pub struct Failure {
    error: anyhow::Error,
    options: Options,
}

impl Ended {
    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Ended::Well => 0,
            Ended::Said(said) => exit::code_of_parser(said),
            Ended::Failed(failure) => exit::code_of(&failure.error),
        }
    }

    /// Prints what there is to say, after who says it, if anybody is named; returns the exit code.
    pub fn tell(&self, who: &str) -> u8 {
        match self {
            Ended::Well => 0,
            Ended::Said(said) => exit::of_parser(said),
            Ended::Failed(failure) => exit::tell(&failure.error, who, Some(&failure.options)),
        }
    }
}

/// Runs the command that the arguments of the process name.
pub fn run(team: &Team) -> Ended {
    allocator::prepare();
    exit::say_nothing_of_the_decoder();
    if !team.engine.leads() {
        exit::be_silent();
    }
    let (cli, options): (Cli, _) = match exit::parse(Cli::command()) {
        Ok(parsed) => parsed,
        Err(said) => return Ended::Said(said),
    };
    let done = exit::clean_up_when_interrupted().and_then(|()| {
        let context = Context::new(&cli.common, &options, Some(team))?;
        match &cli.command {
            Command::Embed(args) => embed::run(args, &context),
            Command::Place(args) => place::run(args, &context),
            Command::Count(args) => count::run(args, &context),
        }
    });
    match done {
        Ok(()) => Ended::Well,
        Err(error) => Ended::Failed(Box::new(Failure { error, options })),
    }
}
