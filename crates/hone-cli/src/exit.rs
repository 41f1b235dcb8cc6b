//! How a run ends: error messages, exit codes, and a clean folder after Ctrl-C.

use std::cell::Cell;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use hone::error::human_bytes;
use hone::output::Frozen;
use hone::store::table::is_decoding;
use hone::terminal::{line, shown};
use hone::{Error, output};

use crate::context::color;
use crate::options;
use crate::stdout;

const FAILED: u8 = 1;
const BAD_INPUT: u8 = 2;
const INCOMPLETE: u8 = 3;
#[cfg(not(unix))]
const INTERRUPTED: i32 = 130;

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

fn kept() -> MutexGuard<'static, Kept> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets what an interrupt would leave from now on.
pub(crate) fn keep(now: Kept) {
    *kept() = now;
}

/// Says how this run could have kept what it had finished, unless what it writes is a stream.
pub(crate) fn could_save(how: &'static str) {
    let mut kept = kept();
    if matches!(*kept, Kept::Nothing) {
        *kept = Kept::Unsaved(how);
    }
}

/// On Ctrl-C, Ctrl-\, SIGTERM, SIGHUP and at the limit on CPU time, removes unfinished output files, says in one line
/// what is kept, and ends by the same signal, so that the loop of a shell ends too. A write beyond the limit on file sizes
/// becomes an error, which ends the run properly.
///
/// A signal that the caller has ignored, as `nohup` does, stays ignored; the others are handled.
pub(crate) fn clean_up_when_interrupted() -> anyhow::Result<()> {
    use anyhow::Context;
    let remedy = "cannot listen for signals; raise the limits on processes and on open files (ulimit -u, ulimit -n)";
    signals::listen().context(remedy)
}

/// Cleans up, and ends the process as `end` does.
fn stop(end: impl FnOnce()) {
    let no_new_files = output::remove_unfinished();
    // In one piece: the run may end by itself meanwhile.
    let last = format!("{}interrupted: {}\n", clear(), line(&left(&no_new_files)));
    if !SILENT.load(Relaxed) {
        let _ = io::stderr().write_all(last.as_bytes());
    }
    end();
}

/// What clears a line of the terminal: the bar of progress is still on it.
fn clear() -> &'static str {
    match io::stderr().is_terminal() {
        true => "\r\x1b[2K",
        false => "",
    }
}

/// Bytes of the first request that the system has refused.
static REFUSED: AtomicUsize = AtomicUsize::new(0);

/// The thread that cleans up when there is no memory left. It holds no lock that it could need then.
static CLEANER: OnceLock<Thread> = OnceLock::new();

thread_local!(static CLEANING: Cell<bool> = const { Cell::new(false) });

/// From now on a request for memory that fails ends the process in order.
pub(crate) fn prepare_for_want_of_memory() {
    let wait = || {
        while REFUSED.load(Relaxed) == 0 {
            thread::park();
        }
        end_for_want_of_memory();
    };
    let cleaner = thread::Builder::new().name("memory".into()).spawn(wait);
    if let Ok(cleaner) = cleaner {
        let _ = CLEANER.set(cleaner.thread().clone());
    }
}

/// What a request is for that the system has refused.
pub(crate) enum Want {
    /// To clean up.
    ToCleanUp,
    /// A small one, perhaps under a lock that is needed to clean up: it is granted, so that the lock is given back.
    ToGoOn,
    /// Any other: it waits for the end.
    TooMuch,
}

/// The system has refused this many bytes: the process is about to end.
pub(crate) fn out_of_memory(bytes: usize) -> Want {
    const SMALL: usize = 1 << 12;
    const PATIENCE: Duration = Duration::from_secs(10);
    if CLEANING.get() {
        return Want::ToCleanUp;
    }
    let _ = REFUSED.compare_exchange(0, bytes, Relaxed, Relaxed);
    match CLEANER.get() {
        Some(cleaner) => cleaner.unpark(),
        None => end_for_want_of_memory(),
    }
    if bytes < SMALL {
        return Want::ToGoOn;
    }
    thread::sleep(PATIENCE);
    Want::TooMuch
}

/// Removes unfinished output files and ends the process.
fn end_for_want_of_memory() -> ! {
    CLEANING.set(true);
    let (clear, label) = (clear(), label());
    let refused = human_bytes(REFUSED.load(Relaxed) as u64);
    let line = format!(
        "{clear}{label} the system refused {refused} of memory; close other programs, raise the limit of the process \
         (ulimit -v), or let it plan with less (--memory)\n"
    );
    let _ = io::stderr().write_all(line.as_bytes());
    let _no_new_files = output::remove_unfinished();
    std::process::exit(FAILED.into());
}

/// Leaves out the message of a panic that becomes an error: the decoder of Parquet panics at some damage.
pub(crate) fn say_nothing_of_the_decoder() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if !is_decoding() {
            before(info);
        }
    }));
}

/// What remains, and how to continue. Finished outputs are named in any case: the first few.
fn left(frozen: &Frozen) -> String {
    const FEW: usize = 4;
    let kept = kept();
    let inner = match &*kept {
        Kept::Stages(folder) | Kept::Cells(folder) => Some(folder),
        _ => None,
    };
    let outputs = frozen.published();
    let outputs = outputs.filter(|path| inner.is_none_or(|folder| !path.starts_with(folder)));
    let outputs: Vec<String> = outputs
        .map(|path| match path == Path::new("-") {
            true => "standard output".into(),
            false => path.display().to_string(),
        })
        .collect();
    let more = outputs.len().saturating_sub(FEW);
    let mut complete = outputs[..outputs.len() - more].join(", ");
    if more > 0 {
        complete += &format!(" and {more} more");
    }
    let kept = match &*kept {
        Kept::Cells(folder) => format!(
            "finished results are saved in {}; run the same command again to continue",
            folder.display()
        ),
        _ if !outputs.is_empty() => return format!("{complete} had already been written in full"),
        Kept::Stages(folder) if folder.join("manifest.json").is_file() => format!(
            "finished stages are saved in {}; run the same command with --resume to continue",
            folder.display()
        ),
        Kept::Stream => "what was written may be incomplete".into(),
        Kept::Unsaved(how) => format!("nothing was written; {how}"),
        Kept::Nothing | Kept::Stages(_) => "nothing was written".into(),
    };
    match outputs.is_empty() {
        true => kept,
        false => format!("{complete} had already been written in full; {kept}"),
    }
}

#[cfg(unix)]
mod signals {
    use std::io;
    use std::sync::Arc;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    use super::stop;

    /// Stops at the first signal that requests an end.
    pub(super) fn listen() -> io::Result<()> {
        // With a handler, whatever it does, the write that passed the limit fails with an error (EFBIG).
        signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        let handled = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU]
            .into_iter()
            .filter(|&signal| !ignored(signal));
        let mut signals = Signals::new(handled)?;
        let wait = move || {
            if let Some(signal) = signals.forever().next() {
                stop(|| drop(emulate_default_handler(signal)));
            }
        };
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

    use super::{INTERRUPTED, stop};

    pub(super) fn listen() -> io::Result<()> {
        let handler = || stop(|| std::process::exit(INTERRUPTED));
        ctrlc::set_handler(handler).map_err(io::Error::other)
    }
}

/// Options of node2vec, and what is here in their place.
const OF_NODE2VEC: [(&str, &[&str]); 3] = [
    (
        "the graph has no option before it: hone embed GRAPH -o VECTORS",
        &["--input"],
    ),
    ("the number of dimensions is --dim", &["--dimensions"]),
    (
        "no walks are sampled; docs/from-node2vec.md translates the options of node2vec",
        &[
            "--walk-length",
            "--num-walks",
            "--window-size",
            "--iter",
            "--p",
            "--q",
            "--workers",
            "--epochs",
        ],
    ),
];

/// What the command line says, or an error; of an option of node2vec, with a better tip than another option.
pub(crate) fn parse<T: clap::Parser>() -> Result<T, clap::Error> {
    let arguments = || std::env::args_os().map(|a| a.to_string_lossy().into_owned());
    // Where it is wrong, each argument is quoted in one line.
    let quoted = |error| {
        if !arguments().any(|argument| argument.contains('\n')) {
            return error;
        }
        let lines = arguments().map(|argument| argument.replace('\n', "\\n"));
        T::try_parse_from(lines).err().unwrap_or(error)
    };
    T::try_parse().map_err(quoted).map_err(|mut error| {
        let tip = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::String(argument)) if error.kind() == ErrorKind::UnknownArgument => {
                OF_NODE2VEC
                    .iter()
                    .find(|(_, options)| options.contains(&argument.as_str()))
            }
            _ => None,
        };
        if let Some((tip, _)) = tip {
            error.remove(ContextKind::SuggestedArg);
            let tips = ContextValue::StyledStrs(vec![(*tip).into()]);
            error.insert(ContextKind::Suggested, tips);
        }
        error
    })
}

/// Prints the message of the command-line parser: help, the version, or what is wrong with the options. Returns the
/// exit code.
pub(crate) fn of_parser(said: &clap::Error) -> u8 {
    let print = || match said.use_stderr() {
        true => {
            let message = said.to_string();
            let message = shown(&message);
            let rest = message.strip_prefix("error: ").unwrap_or(&message);
            io::stderr().write_all(format!("{} {rest}", label()).as_bytes())
        }
        false => stdout::check().and_then(|()| said.print()),
    };
    let printed = print().and_then(|()| io::stdout().flush());
    match printed.map_err(|error| Error::io("standard output", error)) {
        Ok(()) => code_of_parser(said),
        // Wrong options are an error even if the message cannot be printed.
        Err(_) if said.use_stderr() => BAD_INPUT,
        Err(error) => tell(&error.into(), ""),
    }
}

/// The exit code that goes with it.
pub(crate) fn code_of_parser(said: &clap::Error) -> u8 {
    u8::try_from(said.exit_code()).unwrap_or(BAD_INPUT)
}

/// What stands before an error.
fn label() -> &'static str {
    match color() {
        true => "\x1b[1;31merror:\x1b[0m",
        false => "error:",
    }
}

/// Prints an error, after who has met it, if anybody is named; returns its exit code.
pub(crate) fn tell(error: &anyhow::Error, who: &str) -> u8 {
    if !is_closed_pipe(error) {
        // The chain of causes in one line; a library error already names its own.
        let message = match error.downcast_ref::<Error>() {
            Some(error) => error.to_string(),
            None => format!("{error:#}"),
        };
        let (label, message) = (label(), options::in_options(&message));
        // Nobody is left to learn that standard error is closed.
        let _ = writeln!(io::stderr(), "{label} {who}{}", line(&message));
    }
    code_of(error)
}

/// The exit code of an error. A closed pipe is success: the reader had enough.
pub(crate) fn code_of(error: &anyhow::Error) -> u8 {
    match error.downcast_ref::<Error>() {
        _ if is_closed_pipe(error) => 0,
        _ if error.is::<Incomplete>() => INCOMPLETE,
        Some(error) if error.is_input() => BAD_INPUT,
        _ => FAILED,
    }
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
