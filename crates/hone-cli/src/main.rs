//! The `hone` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    hone_cli::main()
}
