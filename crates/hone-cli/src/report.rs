//! [`Reporter`]: the library's progress as a bar on a terminal, and as log lines with `-v`.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hone::{Progress, terminal};
use indicatif::{ProgressBar, ProgressStyle};

/// Shows one bar at a time: the current stage.
pub(crate) struct Reporter {
    bars: bool,
    notes: bool,
    current: Mutex<Option<ProgressBar>>,
}

impl Reporter {
    /// A reporter that draws when `bars`, writes notes when `notes`, and only logs otherwise.
    pub(crate) fn new(bars: bool, notes: bool) -> Self {
        Reporter {
            bars,
            notes,
            current: Mutex::new(None),
        }
    }

    /// Runs `write`, which prints to the terminal, with the bar out of the way.
    pub(crate) fn suspended(&self, write: impl FnOnce()) {
        match self.current() {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Takes the bar off the terminal.
    pub(crate) fn finish(&self) {
        self.replace(None);
    }

    fn current(&self) -> Option<ProgressBar> {
        self.current
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn replace(&self, bar: Option<ProgressBar>) {
        let old = std::mem::replace(
            &mut *self.current.lock().unwrap_or_else(PoisonError::into_inner),
            bar,
        );
        if let Some(old) = old {
            old.finish_and_clear();
        }
    }
}

impl Progress for Reporter {
    fn stage(&self, name: &str, total: u64) {
        let name = terminal::line(name);
        tracing::info!("{name}");
        if !self.bars {
            return;
        }
        let (bar, template) = if total == 0 {
            (ProgressBar::new_spinner(), "{spinner} {msg} {elapsed}")
        } else {
            (ProgressBar::new(total), "{msg} {wide_bar} {percent}% {eta}")
        };
        bar.set_style(
            ProgressStyle::with_template(template).expect("the templates above are well-formed"),
        );
        bar.set_message(name.into_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        self.replace(Some(bar));
    }

    fn note(&self, message: &str) {
        let message = terminal::line(message);
        if self.notes {
            // Nobody is left to learn that standard error is closed.
            self.suspended(|| drop(writeln!(io::stderr(), "note: {message}")));
        } else {
            tracing::info!("{message}");
        }
    }

    fn advance(&self, done: u64) {
        if self.bars
            && let Some(bar) = self.current()
        {
            bar.inc(done);
        }
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.finish();
    }
}
