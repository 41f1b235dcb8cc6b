//! A run of the command as one process of a job: how it starts, and how all processes end together.
//!
//! Invalid input is invalid in all processes: each ends with the same error, and one prints it. A process that fails
//! alone (a full disk, too little memory) reports the error with its number and ends the job: the others would wait for
//! it forever. A failing process waits [`PATIENCE`] for the others to fail too, and so learns which case it is. A process
//! that panics ends the job at once; one that is killed is noticed by `mpirun`, which ends the others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hone::memory;
use hone_cli::together::{self, Ended, Team};
use mpi::Threading;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

use crate::space::Ranks;
use crate::world::World;

/// How long a process that fails waits for the others to fail as well.
const PATIENCE: Duration = Duration::from_secs(5);

/// The exit code of a process that met a fault of the program.
const PANICKED: i32 = 101;

/// Starts MPI and runs the command that the arguments of the process name.
pub fn main() -> ExitCode {
    let Some((universe, _)) = mpi::initialize_with_threading(Threading::Funneled) else {
        unreachable!("MPI is started once");
    };
    let world = World::of_job();
    // Failures have their own messages, separate from those of the work.
    let failures = universe.world().duplicate();
    let Ok(ended) = catch_unwind(AssertUnwindSafe(|| together::run(&team(world)))) else {
        // The others may wait for this process, which has told why it ends.
        universe.world().abort(PANICKED);
    };
    let code = if !matches!(ended, Ended::Failed(_)) || all_failed(&failures) {
        if world.rank() == 0 {
            ended.tell("")
        } else {
            ended.code()
        }
    } else {
        let code = ended.tell(&format!("process {} of {}: ", world.rank(), world.size()));
        universe.world().abort(code.into());
    };
    drop(failures);
    drop(universe);
    ExitCode::from(code)
}

/// This process among the others.
fn team(world: World) -> Team {
    let here = world.on_this_machine();
    let free = memory::available().map(|free| free + memory::resident().unwrap_or(0));
    Team {
        engine: Arc::new(Ranks::new(world)),
        memory: free.filter(|_| here > 1).map(|free| free / here as u64),
        threads: threads(here),
    }
}

/// Cores for each of `here` processes on a machine, if they share all of them; none if `mpirun` has bound each
/// to its own.
fn threads(here: usize) -> Option<usize> {
    let usable = std::thread::available_parallelism().ok()?.get();
    let online = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let online = online
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    (here > 1 && usable == online).then(|| (usable / here).max(1))
}

/// Whether all processes fail within [`PATIENCE`].
fn all_failed(failures: &SimpleCommunicator) -> bool {
    let (begin, mut waiting) = (Instant::now(), failures.immediate_barrier());
    loop {
        match waiting.test() {
            Ok(_) => return true,
            Err(request) if begin.elapsed() < PATIENCE => waiting = request,
            Err(request) => {
                // The job is about to end: nobody is left to complete it.
                std::mem::forget(request);
                return false;
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
