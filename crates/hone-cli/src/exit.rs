//! How a run ends: error messages, exit codes, and a clean folder after Ctrl-C.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use hone::output::Frozen;
use hone::{Error, output};

use crate::context::color;
use crate::options;
use crate::usage;

const FAILED: u8 = 1;
const BAD_INPUT: u8 = 2;
const INCOMPLETE: u8 = 3;
const INTERRUPTED: u8 = 130;

/// What a run that has otherwise succeeded had to leave out; the message says so.
#[derive(Debug)]
pub(crate) struct Incomplete(pub(crate) String);

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Incomplete {}

/// What remains of an interrupted run.
#[derive(Debug)]
pub(crate) enum Kept {
    /// Nothing: outputs appear at the end.
    Nothing,
    /// The same, of a run that could have kept what it had finished: how.
    Unsaved(&'static str),
    /// The beginning of an output that cannot be taken back.
    Stream,
    /// Finished stages, in a folder.
    Stages(PathBuf),
    /// Finished cells of an evaluation, in a folder.
    Cells(PathBuf),
}

static KEPT: Mutex<Kept> = Mutex::new(Kept::Nothing);

/// Whether another process reports for this one.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Leaves it to another process to say that the run was interrupted.
pub(crate) fn be_silent() {
    SILENT.store(true, Relaxed);
}

/// Sets what an interrupt would leave from now on.
pub(crate) fn keep(kept: Kept) {
    *KEPT.lock().unwrap_or_else(PoisonError::into_inner) = kept;
}

/// Says how this run could have kept what it had finished, unless what it writes is a stream.
pub(crate) fn could_save(how: &'static str) {
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if matches!(*kept, Kept::Nothing) {
        *kept = Kept::Unsaved(how);
    }
}

/// On Ctrl-C, Ctrl-\, SIGTERM, SIGHUP and at the limit on CPU time, removes unfinished output files, says in one line
/// what is kept, and exits with 130. A write beyond the limit on file sizes becomes an error, which ends the run
/// properly.
///
/// A signal that the caller has ignored, as `nohup` does, stays ignored; the others are handled.
pub(crate) fn clean_up_when_interrupted() -> anyhow::Result<()> {
    use anyhow::Context;
    let remedy = "cannot listen for signals; raise the limits on processes and on open files (ulimit -u, ulimit -n)";
    signals::listen(stop).context(remedy)
}

fn stop() -> ! {
    let no_new_files = output::remove_unfinished();
    // The bar of progress is still on its line.
    let clear = if io::stderr().is_terminal() {
        "\r\x1b[2K"
    } else {
        ""
    };
    // In one piece: the run may end by itself meanwhile.
    let line = format!("{clear}interrupted: {}\n", left(&no_new_files));
    if !SILENT.load(Relaxed) {
        let _ = io::stderr().write_all(line.as_bytes());
    }
    std::process::exit(INTERRUPTED.into());
}

/// What remains, and how to continue. Finished outputs are named in any case.
fn left(frozen: &Frozen) -> String {
    let kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let inner = match &*kept {
        Kept::Stages(folder) | Kept::Cells(folder) => Some(folder),
        Kept::Nothing | Kept::Unsaved(_) | Kept::Stream => None,
    };
    let outputs = frozen
        .published()
        .filter(|path| inner.is_none_or(|folder| !path.starts_with(folder)));
    let outputs: Vec<String> = outputs.map(shown).collect();
    let kept = match &*kept {
        Kept::Cells(folder) => Some(format!(
            "finished results are saved in {}; run the same command again to continue",
            folder.display()
        )),
        _ if !outputs.is_empty() => None,
        Kept::Stages(folder) if folder.join("manifest.json").is_file() => Some(format!(
            "finished stages are saved in {}; run the same command with --resume to continue",
            folder.display()
        )),
        Kept::Stream => Some("what was written may be incomplete".into()),
        Kept::Unsaved(how) => Some(format!("nothing was written; {how}")),
        Kept::Nothing | Kept::Stages(_) => Some("nothing was written".into()),
    };
    let complete = (!outputs.is_empty())
        .then(|| format!("{} had already been written in full", listed(&outputs)));
    complete
        .into_iter()
        .chain(kept)
        .collect::<Vec<_>>()
        .join("; ")
}

fn shown(path: &Path) -> String {
    if path == Path::new("-") {
        "standard output".into()
    } else {
        path.display().to_string()
    }
}

/// The first few names, and how many more there are.
fn listed(names: &[String]) -> String {
    const FEW: usize = 4;
    let more = names.len().saturating_sub(FEW);
    let few = names[..names.len() - more].join(", ");
    if more == 0 {
        few
    } else {
        format!("{few} and {more} more")
    }
}

#[cfg(unix)]
mod signals {
    use std::io;
    use std::sync::Arc;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
    use signal_hook::iterator::Signals;

    /// Calls `stop` at the first signal that requests an end.
    pub(super) fn listen(stop: fn() -> !) -> io::Result<()> {
        // With a handler, whatever it does, the write that passed the limit fails with an error (EFBIG).
        signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        let handled = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU]
            .into_iter()
            .filter(|&signal| !ignored(signal));
        let mut signals = Signals::new(handled)?;
        let wait = move || signals.forever().next().map(|_| stop());
        std::thread::Builder::new()
            .name("signals".into())
            .spawn(wait)
            .map(drop)
    }

    /// Whether the caller has a signal ignored.
    #[cfg(target_os = "linux")]
    fn ignored(signal: i32) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
    }

    /// Not known here; a hang-up, which `nohup` ignores, is left as it is.
    #[cfg(not(target_os = "linux"))]
    fn ignored(signal: i32) -> bool {
        signal == SIGHUP
    }
}

#[cfg(not(unix))]
mod signals {
    use std::io;

    pub(super) fn listen(stop: fn() -> !) -> io::Result<()> {
        ctrlc::set_handler(move || stop()).map_err(io::Error::other)
    }
}

/// Prints the message of the command-line parser: help, the version, or what is wrong with the options. Returns the
/// exit code.
pub(crate) fn of_parser(said: &clap::Error) -> u8 {
    let print = || match said.use_stderr() {
        true => {
            let message = usage::plain(&said.to_string());
            let message = message
                .strip_prefix("error: ")
                .map_or(message.clone(), |rest| format!("{} {rest}", label()));
            io::stderr().write_all(message.as_bytes())
        }
        false => said.print(),
    };
    let printed = print().and_then(|()| io::stdout().flush());
    match printed.map_err(|error| Error::io("standard output", error)) {
        Ok(()) => code_of_parser(said),
        // Wrong options are an error even if the message cannot be printed.
        Err(_) if said.use_stderr() => BAD_INPUT,
        Err(error) => told(&error.into(), ""),
    }
}

/// The exit code that goes with it.
pub(crate) fn code_of_parser(said: &clap::Error) -> u8 {
    u8::try_from(said.exit_code()).unwrap_or(BAD_INPUT)
}

/// Reports how a run went and gives its exit code.
pub(crate) fn code(result: anyhow::Result<()>) -> ExitCode {
    ExitCode::from(result.err().map_or(0, |error| told(&error, "")))
}

/// What stands before an error.
fn label() -> &'static str {
    if color() {
        "\x1b[1;31merror:\x1b[0m"
    } else {
        "error:"
    }
}

/// Prints an error, after who has met it, if anybody is named; returns its exit code.
pub(crate) fn told(error: &anyhow::Error, who: &str) -> u8 {
    if !is_closed_pipe(error) {
        let label = label();
        // Nobody is left to learn that standard error is closed.
        let _ = writeln!(io::stderr(), "{label} {who}{}", message(error));
    }
    code_of(error)
}

/// The exit code of an error. A closed pipe is success: the reader had enough.
pub(crate) fn code_of(error: &anyhow::Error) -> u8 {
    match error.downcast_ref::<Error>() {
        _ if is_closed_pipe(error) => 0,
        _ if error.is::<Incomplete>() => INCOMPLETE,
        Some(Error::Interrupted) => INTERRUPTED,
        Some(error) if error.is_input() => BAD_INPUT,
        _ => FAILED,
    }
}

/// The chain of causes in one line; a library error already names its own.
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
