//! How a run ends: error messages, exit codes, and a clean folder after Ctrl-C.

use std::cell::Cell;
use std::env;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use hone::error::human_bytes;
use hone::manual::linked;
use hone::message::{Fields, Naming};
use hone::output::Frozen;
use hone::store::table::is_decoding;
use hone::terminal::{self, line, shown};
use hone::{Error, output};
use serde_json::{Value, json};

use crate::context::color;
use crate::options::{Options, with_addresses, with_commands, with_opposites};
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

/// What an earlier version or another tool called something: the commands where (none: all), the spellings, and what is here in
/// their place.
type Former = (
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
);

const FORMER: [Former; 28] = [
    (
        &[],
        &["--input"],
        "the graph has no option before it: hone embed GRAPH -o VECTORS",
    ),
    (
        &["embed", "config", "tune"],
        &["--dimensions"],
        "the number of dimensions is --dim",
    ),
    (
        &["embed", "config"],
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
        "no walks are sampled; docs/from-node2vec.md translates the options of node2vec",
    ),
    (&[""], &["solvers"], "hone list solvers"),
    (&["eval"], &["list"], "hone list methods"),
    (
        &["embed"],
        &["--like"],
        "hone place GRAPH --model MODEL -o VECTORS places a graph in the space of a model",
    ),
    (&["embed"], &["--model"], "--save-model FILE writes a model"),
    (
        &["embed", "config"],
        &["--vectors"],
        "the stage whose vectors are written is --stage",
    ),
    (
        &["layout", "map"],
        &["--steps"],
        "the iterations of a layout are --iterations",
    ),
    (
        &["count"],
        &["--by"],
        "what a line stands for is --per edge, node or total",
    ),
    (
        &["tune"],
        &["--by"],
        "what decides is --goal links, labels or both",
    ),
    (&["tune"], &["--first-seed"], "--seed"),
    (&[], &["--nodes"], "the file of node ids is --node-list"),
    (&[], &["--changed-graph"], "--changed"),
    (
        &[],
        &["--directed", "--weighted", "--bipartite", "--header"],
        "it takes no value: --no-directed, --no-weighted, --no-bipartite and --no-header are the opposites",
    ),
    (
        &["eval"],
        &["--html", "--svg", "--png"],
        "-o FILE, whose extension sets the format; it may be repeated",
    ),
    (
        &["embed", "place", "features", "similar"],
        &["--layout"],
        "one column of vectors in Parquet is --output-format parquet-vector",
    ),
    (
        &["draw"],
        &["--labels"],
        "the number of labelled nodes is --labelled",
    ),
    (
        &["similar"],
        &["--k", "-k", "--limit", "-n", "--topn", "--top-k"],
        "the number of similar nodes is --top",
    ),
    (&["similar"], &["--id"], "a node is named with --node ID"),
    (
        &["similar", "map"],
        &["--metric"],
        "what is compared is --by all, proximity or structure",
    ),
    (&[], &["--random-state"], "--seed"),
    (&[], &["--sep"], "what separates columns is --delimiter"),
    (&[], &["--overwrite"], "--force"),
    (
        &["significance"],
        &["--samples", "--n-random"],
        "the number of random graphs is --random",
    ),
    (
        &["eval"],
        &["--vectors"],
        "vectors of a file are --embedding FILE",
    ),
    (&["eval"], &["labels"], "hone eval nodes"),
    (
        &["generate"],
        &["powerlaw", "power-law", "barabasi-albert"],
        "hone generate ba",
    ),
];

/// The name of the command that the arguments call; empty for hone itself.
fn called(command: &Command, arguments: impl Iterator<Item = OsString>) -> String {
    let mut names = arguments
        .skip(1)
        .filter_map(|argument| argument.into_string().ok());
    names
        .find(|name| command.find_subcommand(name).is_some())
        .unwrap_or_default()
}

/// What is here in the place of a former spelling in a command.
fn today(command: &str, wrong: &str) -> Option<&'static str> {
    let is_of = |(commands, former, _): &&Former| {
        (commands.is_empty() || commands.contains(&command)) && former.contains(&wrong)
    };
    FORMER.iter().find(is_of).map(|(.., tip)| *tip)
}

/// What the command line says, and the options that messages may name; or an error, which says what has taken the place of a
/// former spelling.
pub(crate) fn parse<T: clap::Parser>(command: Command) -> Result<(T, Options), clap::Error> {
    let command = with_opposites(with_addresses(command));
    let read = |arguments: Vec<OsString>| {
        let matches = command.clone().try_get_matches_from(arguments)?;
        let cli = T::from_arg_matches(&matches);
        let cli = cli.map_err(|error| error.format(&mut command.clone()))?;
        Ok((cli, Options::of(command.clone(), &matches)))
    };
    let quoted = |argument: OsString| argument.to_string_lossy().replace('\n', "\\n").into();
    let arguments = || env::args_os();
    read(arguments().collect()).map_err(|error: clap::Error| {
        // Where it is wrong, each argument is quoted in one line.
        let again = read(arguments().map(quoted).collect());
        let mut error = again.err().unwrap_or(error);
        let kinds = [ContextKind::InvalidArg, ContextKind::InvalidSubcommand];
        let wrong = kinds.into_iter().find_map(|kind| match error.get(kind) {
            Some(ContextValue::String(wrong)) => wrong.split([' ', '=']).next(),
            _ => None,
        });
        let is_unknown = matches!(
            error.kind(),
            ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand | ErrorKind::TooManyValues
        );
        let called = called(&command, arguments());
        let tip = wrong.filter(|_| is_unknown);
        let tip = tip.and_then(|wrong| match today(&called, wrong) {
            Some(tip) => Some(tip.to_owned()),
            None if called == "similar" && !wrong.starts_with('-') => {
                Some(format!("a node is named with --node {wrong}"))
            }
            None if error.kind() == ErrorKind::InvalidSubcommand && !called.is_empty() => {
                let of = command.find_subcommand(&called)?;
                let names: Vec<&str> = of.get_subcommands().map(Command::get_name).collect();
                let is_close = error.get(ContextKind::SuggestedSubcommand).is_some();
                (!is_close).then(|| format!("there are {}", names.join(", ")))
            }
            None => None,
        });
        // Clap recommends to pass an unknown option as a value.
        if error.kind() == ErrorKind::UnknownArgument
            && let Some(ContextValue::StyledStrs(tips)) = error.get(ContextKind::Suggested)
        {
            let mut tips = tips.clone();
            tips.retain(|tip| !tip.to_string().contains("as a value, use"));
            error.remove(ContextKind::Suggested);
            if !tips.is_empty() {
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
            }
        }
        if let Some(tip) = tip {
            let suggested = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand];
            suggested
                .into_iter()
                .for_each(|kind| drop(error.remove(kind)));
            let tips = ContextValue::StyledStrs(vec![linked(&tip).into_owned().into()]);
            error.insert(ContextKind::Suggested, tips);
        }
        error
    })
}

/// Prints the message of the command-line parser: help, the version, or what is wrong with the options. Returns the
/// exit code.
pub(crate) fn of_parser(said: &clap::Error) -> u8 {
    let json = env::args_os()
        .take_while(|it| it != "--")
        .any(|it| it == "--json");
    let print = || match said.use_stderr() {
        true if json => writeln!(io::stderr(), "{}", terminal::json(&usage(said).to_string())),
        true => {
            let message = with_commands(&said.to_string());
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
        Err(error) => tell(&error.into(), "", None),
    }
}

/// What programs are told of wrong options (docs/start.md).
fn usage(said: &clap::Error) -> Value {
    let text = with_commands(&said.to_string());
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let text = text.split("\n\nUsage:").next().unwrap_or(text);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let option = match said.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) => Some(option.as_str()),
        _ => None,
    };
    let message = lines.collect::<Vec<_>>().join("; ");
    let code = code_of_parser(said);
    json!({"error": {"kind": "usage", "option": option, "message": message, "exit_code": code}})
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
pub(crate) fn tell(error: &anyhow::Error, who: &str, options: Option<&Options>) -> u8 {
    let names: &dyn Naming = options.map_or(&Fields, |options| options);
    if !is_closed_pipe(error) && options.is_some_and(Options::want_json) {
        let facts = facts(error, names).to_string();
        let _ = writeln!(io::stderr(), "{}", terminal::json(&facts));
    } else if !is_closed_pipe(error) {
        // Nobody is left to learn that standard error is closed.
        let message = said(error, names);
        let _ = writeln!(io::stderr(), "{} {who}{}", label(), line(&message));
    }
    code_of(error)
}

/// The chain of causes in one line; a library error already names its own.
fn said(error: &anyhow::Error, names: &dyn Naming) -> String {
    let said = match error.downcast_ref::<Error>() {
        Some(error) => error.say(names),
        None => format!("{error:#}"),
    };
    linked(&with_commands(&said)).into_owned()
}

/// What programs are told of an error (docs/start.md).
fn facts(error: &anyhow::Error, names: &dyn Naming) -> Value {
    let file = |path: &Path| path.display().to_string();
    let mut facts = match error.downcast_ref::<Error>() {
        Some(Error::Io { path, .. }) => json!({"kind": "file", "file": file(path)}),
        Some(Error::Exists { path }) => json!({"kind": "exists", "file": file(path)}),
        Some(Error::Input {
            path,
            line,
            text,
            message,
            remedy,
        }) => {
            let (what, remedy) = (message.say(names), remedy.say(names));
            json!({"kind": "input", "file": file(path), "line": line, "found": text, "what": what, "remedy": remedy})
        }
        Some(Error::Config { field, message }) => {
            let (option, what) = (names.setting(field), message.say(names));
            let option = option.trim_matches('`');
            json!({"kind": "option", "option": option, "setting": field, "what": what})
        }
        Some(Error::Memory {
            need,
            limit,
            remedy,
            ..
        }) => {
            json!({"kind": "memory", "need": need, "limit": limit, "remedy": remedy.say(names)})
        }
        Some(Error::Device { device, .. }) => json!({"kind": "device", "device": device}),
        None if error.is::<Incomplete>() => json!({"kind": "incomplete"}),
        _ => json!({"kind": "failed"}),
    };
    facts["message"] = said(error, names).into();
    facts["exit_code"] = code_of(error).into();
    json!({ "error": facts })
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
