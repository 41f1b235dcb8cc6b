//! `hone-fuzz`: mutated files for every reader of hone, until the time is over or something breaks.
//!
//! A reader must give a value or an error, whatever bytes it is given: no panic, no abort, no more than
//! [`child::LONGEST_SECONDS`] for an input, no more than [`child::MOST_MEMORY`]. Each target runs in a process of its
//! own, so that one that dies takes nothing along and its input can be saved. Inputs are the files of the corpus as
//! they are, then mutations of them that depend on the seed alone.

mod checkpoint;
mod child;
mod folders;
mod karate;
mod message;
mod models;
mod mutate;
mod pack;
mod parent;
mod seeds;
mod state;
mod tables;
mod target;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use hone::{Error, Result};

use target::{TARGETS, Target};

/// Mutated files for every reader of hone.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run targets, and print what was tried and found.
    Run {
        /// Seconds for all targets together.
        #[arg(long, default_value_t = 20.0)]
        seconds: f64,
        /// The targets whose names begin like this [default: all].
        #[arg(long, default_value = "")]
        target: String,
        /// Seed of the mutations.
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// Inputs for each target at most.
        #[arg(long, default_value_t = u64::MAX)]
        inputs: u64,
        /// Keep count in this file, and go on from what it says: --inputs is then of all runs together.
        #[arg(long)]
        state: Option<PathBuf>,
    },
    /// Write the seeds of the corpus again.
    Seeds,
    /// List the targets.
    List,
    /// One target in this process; what `run` starts.
    #[command(hide = true)]
    Child {
        name: String,
        folder: PathBuf,
        seed: u64,
        seconds: f64,
        inputs: u64,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether nothing broke.
fn run(command: Command) -> Result<bool> {
    match command {
        Command::List => TARGETS
            .iter()
            .for_each(|target| println!("{}", target.name)),
        Command::Seeds => seeds::write()?,
        Command::Run {
            seconds,
            target,
            seed,
            inputs,
            state,
        } => {
            let chosen: Vec<&Target> = TARGETS
                .iter()
                .filter(|known| known.name.starts_with(&target))
                .collect();
            if chosen.is_empty() {
                return Err(Error::config(
                    "--target",
                    "no target is called like that; `hone-fuzz list` names them",
                ));
            }
            return parent::run(
                &chosen,
                &parent::Plan {
                    seconds,
                    seed,
                    inputs,
                    state,
                },
            );
        }
        Command::Child {
            name,
            folder,
            seed,
            seconds,
            inputs,
        } => {
            let target = TARGETS.iter().find(|target| target.name == name);
            let target = target.ok_or_else(|| Error::config("name", "no such target"))?;
            let seeds = seeds::read(target)?;
            let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
            // One thread: what is read is small, and handing work over would take longer than doing it.
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
            let pool = pool.map_err(|e| Error::config("threads", e.to_string()))?;
            pool.install(|| {
                child::run(&child::Task {
                    target,
                    folder,
                    seeds,
                    seed,
                    time,
                    inputs,
                })
            })?;
        }
    }
    Ok(true)
}
