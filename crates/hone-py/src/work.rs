//! Long work on behalf of Python: off the interpreter, on threads of its own, and interruptible.
//!
//! The calling thread releases the GIL and waits; several times per second it acquires it for a
//! moment, to report progress and to notice Ctrl-C, which cancels the work through the library's
//! `Progress`. Every call has its own thread pool: one shared by the process would not survive
//! `fork`, which `multiprocessing` still uses. A panic ends the work, not the interpreter.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use hone::message::Message;
use hone::{Progress, Result, parallel, terminal};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::{Parameters, panicked, raise};

/// How often the waiting thread checks.
const POLL: Duration = Duration::from_millis(50);
/// How long cancelled work may take to end before it is left to itself.
const PATIENCE: Duration = Duration::from_millis(500);

/// What happened since the interpreter last heard.
#[derive(Default)]
struct Teller {
    cancelled: AtomicBool,
    events: Mutex<Vec<Event>>,
    done: AtomicU64,
}

enum Event {
    Stage(String, u64),
    Note(String),
}

impl Progress for Teller {
    fn stage(&self, name: &str, total: u64) {
        self.push(Event::Stage(name.to_owned(), total));
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, done: u64) {
        self.done.fetch_add(done, Ordering::Relaxed);
    }

    fn note(&self, message: &Message) {
        self.push(Event::Note(message.say(&Parameters)));
    }

    fn cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

impl Teller {
    fn push(&self, event: Event) {
        if let Ok(mut events) = self.events.lock() {
            events.push(event);
        }
    }

    /// Passes everything on to `listener(kind, text, number)`.
    fn tell(&self, py: Python<'_>, listener: Option<&Py<PyAny>>) -> PyResult<()> {
        let Some(listener) = listener else {
            return Ok(());
        };
        let events = self
            .events
            .lock()
            .map(|mut events| std::mem::take(&mut *events))
            .unwrap_or_default();
        for event in events {
            match event {
                Event::Stage(name, total) => {
                    listener.call1(py, ("stage", terminal::line(&name), total))?
                }
                Event::Note(message) => {
                    listener.call1(py, ("note", terminal::line(&message), 0))?
                }
            };
        }
        listener.call1(py, ("done", "", self.done.load(Ordering::Relaxed)))?;
        Ok(())
    }

    /// Waits for the end of the work, looking up now and then; what was raised meanwhile, by Ctrl-C or
    /// by the listener, cancels the work, which then has `patience` to end.
    fn watch(
        &self,
        wait: Receiver<()>,
        listener: Option<&Py<PyAny>>,
        patience: Option<Duration>,
    ) -> Option<PyErr> {
        let look_up = || {
            Python::attach(|py| {
                py.check_signals()?;
                self.tell(py, listener)
            })
        };
        let mut raised: Option<(PyErr, Instant)> = None;
        while wait.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
            match &raised {
                None => raised = look_up().err().map(|error| (error, Instant::now())),
                Some((_, since)) if patience.is_some_and(|patience| since.elapsed() > patience) => {
                    break;
                }
                Some(_) => {}
            }
            self.cancelled.store(raised.is_some(), Ordering::Relaxed);
        }
        raised.map(|(error, _)| error)
    }

    /// The result of work that came to its end.
    fn finish<T>(
        &self,
        py: Python<'_>,
        listener: Option<&Py<PyAny>>,
        outcome: thread::Result<Result<T>>,
    ) -> PyResult<T> {
        match outcome {
            Ok(result) => {
                self.tell(py, listener)?;
                result.map_err(raise)
            }
            Err(payload) => Err(panicked(&*payload)),
        }
    }
}

/// Runs `work` on `jobs` threads (0: all cores) without the interpreter; `listener` gets the progress.
///
/// Work that does not notice Ctrl-C in time is left to itself: it ends at its next look at `Progress`,
/// and its result is thrown away.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    jobs: usize,
    listener: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Progress) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let pool = pool(jobs)?;
    let teller = Arc::new(Teller::default());
    let (finished, wait) = mpsc::channel::<()>();
    let worker = thread::spawn({
        let teller = Arc::clone(&teller);
        move || {
            let _dropped_at_the_end = finished;
            pool.install(|| work(&*teller))
        }
    });
    let outcome = py.detach(|| {
        let raised = teller.watch(wait, listener.as_ref(), Some(PATIENCE));
        raised.map_or_else(|| Ok(worker.join()), Err)
    })?;
    teller.finish(py, listener.as_ref(), outcome)
}

/// The same for short work on borrowed arrays, which cannot be left to itself.
pub(crate) fn run_borrowed<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    let pool = pool(0)?;
    let teller = Teller::default();
    let outcome = py.detach(|| {
        thread::scope(|scope| {
            let (finished, wait) = mpsc::channel::<()>();
            let worker = scope.spawn(|| {
                let _dropped_at_the_end = finished;
                pool.install(work)
            });
            let raised = teller.watch(wait, None, None);
            let outcome = worker.join();
            raised.map_or(Ok(outcome), Err)
        })
    })?;
    teller.finish(py, None, outcome)
}

/// Short work: no signals, no progress.
pub(crate) fn run_short<T: Send>(
    py: Python<'_>,
    jobs: usize,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let pool = pool(jobs)?;
    let caught =
        py.detach(|| std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pool.install(work))));
    caught.map_err(|payload| panicked(&*payload))
}

/// A pool of `jobs` threads, or of as many as there are cores (0).
fn pool(jobs: usize) -> PyResult<ThreadPool> {
    let named = ThreadPoolBuilder::new()
        .num_threads(parallel::threads((jobs > 0).then_some(jobs)))
        .thread_name(|i| format!("hone-{i}"));
    named
        .build()
        .map_err(|error| PyRuntimeError::new_err(format!("threads cannot be started: {error}")))
}
