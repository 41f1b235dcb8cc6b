//! How a run ends: error messages, exit codes, and a clean folder after Ctrl-C.

use std::io::{self, Write};
use std::process::ExitCode;

use hone::{Error, output};

use crate::context::color;
use crate::options;

const FAILED: u8 = 1;
const BAD_INPUT: u8 = 2;
const INTERRUPTED: u8 = 130;

/// On Ctrl-C (also on a polite kill or hang-up) removes unfinished output files and exits with 130.
///
/// Where the caller has these signals ignored, as `nohup` does, they stay ignored.
pub(crate) fn clean_up_when_interrupted() {
    let installed = ctrlc::try_set_handler(|| {
        let _no_new_files = output::remove_unfinished();
        std::process::exit(INTERRUPTED.into());
    });
    if let Err(error) = installed {
        tracing::debug!("signals keep their present handling: {error}");
    }
}

/// Reports how a run went and gives its exit code. A closed pipe is success: the reader had enough.
pub(crate) fn code(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else { return ExitCode::SUCCESS };
    if is_closed_pipe(&error) {
        return ExitCode::SUCCESS;
    }
    let label = if color() { "\x1b[1;31merror:\x1b[0m" } else { "error:" };
    // Nobody is left to hear that standard error is closed.
    let _ = writeln!(io::stderr(), "{label} {}", message(&error));
    ExitCode::from(match error.downcast_ref::<Error>() {
        Some(Error::Interrupted) => INTERRUPTED,
        Some(error) if error.is_input() => BAD_INPUT,
        _ => FAILED,
    })
}

/// The chain of causes in one line; a library error already tells its own.
fn message(error: &anyhow::Error) -> String {
    let mut parts = Vec::new();
    for cause in error.chain() {
        parts.push(cause.to_string());
        if cause.is::<Error>() {
            break;
        }
    }
    options::in_options(&parts.join(": "))
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = match cause.downcast_ref::<Error>() {
            Some(Error::Io { source, .. }) => Some(source),
            _ => cause.downcast_ref::<io::Error>(),
        };
        io.is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}
