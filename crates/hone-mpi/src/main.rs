//! The `hone-mpi` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    hone_mpi::main()
}
