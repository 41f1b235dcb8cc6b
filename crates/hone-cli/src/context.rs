//! [`Context`]: where notes, progress and results of a run go, and its engine. Built once from the common options.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::ArgAction;
use hone::engine::{Cpu, Engine};
use hone::manual::linked;
use hone::message::{Message, Naming};
use hone::output::is_stream;
use hone::report::Report;
use hone::terminal::{Results, json, line};
use hone::{Error, Progress, parallel, record};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use tracing::level_filters::LevelFilter;

use crate::options::{Flag, Options};
use crate::stdout;
use crate::together::Team;

/// More threads than are useful on any machine: a typing mistake, and gigabytes of stacks.
const MAX_THREADS: usize = 1024;

/// Options of every command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct CommonArgs {
    /// Print results and errors only: no notes, no progress.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Log what is done to standard error (-vv for more); replaces the progress bar.
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,
    /// Print the result, or what was written, as JSON; errors too.
    #[arg(long, global = true)]
    json: bool,
    /// Number of threads [default: one per core]. The result does not depend on it.
    #[arg(long, global = true, value_name = "N")]
    threads: Option<usize>,
}

/// Where notes, progress and results of a run go, and the engine.
pub(crate) struct Context {
    reporter: Reporter,
    options: Options,
    json: bool,
    team: Option<Team>,
}

impl Context {
    /// Starts logging and the thread pool as the options ask. Messages name `options`.
    pub(crate) fn new(
        args: &CommonArgs,
        options: &Options,
        team: Option<&Team>,
    ) -> anyhow::Result<Self> {
        let leads = team.is_none_or(|team| team.engine.leads());
        start_logging(if leads { args.verbose } else { 0 });
        start_threads(args.threads.or(team.and_then(|team| team.threads)))?;
        let quiet = args.quiet || !leads;
        let bars = !quiet && args.verbose == 0 && io::stderr().is_terminal();
        let reporter = Reporter {
            bars,
            notes: !quiet,
            names: options.clone(),
            current: Mutex::new(ProgressBar::hidden()),
        };
        Ok(Context {
            reporter,
            options: options.clone(),
            json: args.json,
            team: team.cloned(),
        })
    }

    /// The engine of the program; none if the user may choose a device.
    pub(crate) fn team(&self) -> Option<&Arc<dyn Engine>> {
        self.team.as_ref().map(|team| &team.engine)
    }

    /// The engine if no device is chosen.
    pub(crate) fn engine(&self) -> &dyn Engine {
        self.team().map_or(&Cpu, |engine| &**engine)
    }

    /// Memory limit of this process, given the user's.
    pub(crate) fn memory(&self, given: Option<u64>) -> Option<u64> {
        given.or(self.team.as_ref().and_then(|team| team.memory))
    }

    /// What long work of the library reports to.
    pub(crate) fn progress(&self) -> &dyn Progress {
        &self.reporter
    }

    /// Takes the progress bar off the terminal: all work is done.
    pub(crate) fn progress_done(&self) {
        self.reporter.replace(ProgressBar::hidden());
    }

    /// The settings that options of the command line give.
    pub(crate) fn flags(&self) -> &[Flag] {
        &self.options.flags
    }

    /// Whether results are printed as JSON.
    pub(crate) fn json(&self) -> bool {
        self.json
    }

    /// Refuses `--json` where standard output has the result in another form.
    pub(crate) fn check_json(&self, output: &Path) -> Result<(), Error> {
        if self.json && is_stream(output) {
            let message = "standard output has the result; give --output a file";
            return Err(Error::config("--json", message));
        }
        Ok(())
    }

    /// With `--json`, what the record of an output says, on standard output.
    pub(crate) fn print_record(&self, output: &Path) -> anyhow::Result<()> {
        let path = record::path(output).filter(|_| self.json && self.engine().leads());
        let text = path.as_deref().map(record::read).transpose()?.flatten();
        Ok(text.map_or(Ok(()), |text| self.print(text))?)
    }

    /// With `--json`, the files that were written, on standard output: of a result without a record.
    pub(crate) fn print_files(&self, files: &[PathBuf]) -> anyhow::Result<()> {
        match self.json {
            true => self.print_json(&serde_json::json!({ "files": files })),
            false => Ok(()),
        }
    }

    /// Whether an option without a value, or its opposite, was given: `--shapes` or `--no-shapes`.
    pub(crate) fn said(&self, option: &str) -> Option<bool> {
        self.options.said(option)
    }

    /// What settings are called.
    pub(crate) fn names(&self) -> &dyn Naming {
        &self.options
    }

    /// One line for the user on standard error, unless `--quiet`.
    pub(crate) fn note(&self, message: impl Display) {
        if self.reporter.notes {
            self.reporter.say(&message.to_string());
        }
    }

    /// The same for a message of the library, as a `kind` of note.
    pub(crate) fn say(&self, kind: &str, message: &Message) {
        self.note(format_args!("{kind}: {}", message.say(&self.options)));
    }

    /// The same for the warnings and notes of a report.
    pub(crate) fn say_all(&self, report: &Report) {
        let warnings = report.warnings.iter();
        warnings.for_each(|text| self.say("warning", text));
        report.notes.iter().for_each(|text| self.say("note", text));
    }

    /// Writes a result to standard output, unless another process does.
    pub(crate) fn print(&self, text: impl AsRef<[u8]>) -> Result<(), Error> {
        self.write(Results::new(io::stdout().lock()), text.as_ref())
    }

    /// Writes a result for a terminal, in which all but our own escapes is escaped.
    pub(crate) fn print_styled(&self, text: &str) -> Result<(), Error> {
        self.write(io::stdout().lock(), text.as_bytes())
    }

    fn write(&self, mut out: impl Write, text: &[u8]) -> Result<(), Error> {
        self.progress_done();
        if !self.engine().leads() {
            return Ok(());
        }
        let written = stdout::check()
            .and_then(|()| out.write_all(text))
            .and_then(|()| out.flush());
        written.map_err(|error| Error::io("standard output", error))
    }

    /// Writes a result to standard output as indented JSON.
    pub(crate) fn print_json(&self, result: &impl Serialize) -> anyhow::Result<()> {
        Ok(self.print(&*json(&(serde_json::to_string_pretty(result)? + "\n")))?)
    }
}

/// Whether standard error takes colours: a terminal, and the user did not set `NO_COLOR`.
pub(crate) fn color() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
}

fn start_logging(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_target(verbose > 1)
        .with_timer(tracing_subscriber::fmt::time::uptime())
        .with_ansi(color())
        .with_writer(io::stderr)
        .init();
}

fn start_threads(threads: Option<usize>) -> anyhow::Result<()> {
    if let Some(threads) = threads.filter(|threads| !(1..=MAX_THREADS).contains(threads)) {
        let message = format!(
            "{threads} is not between 1 and {MAX_THREADS}; leave the option out for one per core"
        );
        return Err(Error::config("--threads", message).into());
    }
    // Now, not at the first parallel loop: there a failure would be a panic.
    let built = rayon::ThreadPoolBuilder::new()
        .num_threads(parallel::threads(threads))
        .build_global();
    built.map_err(|error| {
        let remedy = "use fewer with --threads, or raise the limits on processes and memory (ulimit -u, ulimit -v)";
        anyhow::anyhow!("no threads can be started ({error}); {remedy}")
    })
}

/// A number with so many decimals; – where there is none.
pub(crate) fn decimals(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(|| "–".to_owned(), |number| format!("{number:.decimals$}"))
}

/// Columns side by side, those of `right` to the right.
pub(crate) fn aligned(lines: &[Vec<String>], right: Range<usize>) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |c: usize| lines.iter().map(|line| line[c].chars().count()).max();
    let widths: Vec<usize> = (0..columns).filter_map(width).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().zip(&widths).enumerate();
        let cells = cells.map(|(c, (cell, &width))| match right.contains(&c) {
            true => format!("{cell:>width$}"),
            false => format!("{cell:width$}"),
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

/// Shows one bar at a time: the current stage.
struct Reporter {
    bars: bool,
    notes: bool,
    /// What settings are called.
    names: Options,
    /// Hidden where there is none.
    current: Mutex<ProgressBar>,
}

impl Reporter {
    /// Writes a line to the terminal, with the bar out of the way.
    fn say(&self, text: &str) {
        // Nobody is left to learn that standard error is closed.
        let write = || drop(writeln!(io::stderr(), "{}", line(&linked(text))));
        self.current().suspend(write);
    }

    fn current(&self) -> ProgressBar {
        let current = self.current.lock();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, bar: ProgressBar) {
        let current = self.current.lock();
        let mut current = current.unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *current, bar).finish_and_clear();
    }
}

impl Progress for Reporter {
    fn stage(&self, name: &str, total: u64) {
        let name = line(name);
        tracing::info!("{name}");
        if !self.bars {
            return;
        }
        let (bar, template) = match total {
            0 => (ProgressBar::new_spinner(), "{spinner} {msg} {elapsed}"),
            _ => (ProgressBar::new(total), "{msg} {wide_bar} {percent}% {eta}"),
        };
        let style = ProgressStyle::with_template(template);
        bar.set_style(style.expect("the templates above are well-formed"));
        bar.set_message(name.into_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        self.replace(bar);
    }

    fn note(&self, message: &Message) {
        let message = message.say(&self.names);
        if self.notes {
            self.say(&format!("note: {message}"));
        } else {
            tracing::info!("{}", line(&message));
        }
    }

    fn advance(&self, done: u64) {
        if self.bars {
            self.current().inc(done);
        }
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.replace(ProgressBar::hidden());
    }
}
