//! How Python enters: every call that computes goes through [`enter`].
//!
//! ```text
//!     caller   holds the interpreter ── lets it go, sleeps ── wakes: Ctrl-C? ── … ── takes the result
//!     worker                          └─ computes, asks now and then whether to stop ─┘
//! ```
//! The worker never touches Python, but to ask a clock that Python handed in, so that other Python threads run meanwhile. The caller looks for signals every
//! [`WINK`]; when one says stop, the work ends within about a tenth of a second. Threads live for one call: there is no
//! pool that a forked child would wait for.

use std::any::Any;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use eigenspan_core::{Error, Exec, Monitor};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::{PyErr, PyResult, Python};

/// How long the caller sleeps between two looks for Ctrl-C.
const WINK: Duration = Duration::from_millis(50);

/// Says stop once it was told so.
struct Stop(AtomicBool);

impl Monitor for Stop {
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs `work` without the interpreter's lock, on as many threads as asked, until it is done or Ctrl-C.
pub fn enter<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    work: impl FnOnce(Exec<'_>) -> Result<T, Error> + Send,
) -> PyResult<T> {
    if threads == Some(0) {
        return Err(PyValueError::new_err("`n_jobs` must be at least 1, or None for as many as there are cores"));
    }
    let (stop, done) = (Stop(AtomicBool::new(false)), AtomicBool::new(false));
    let exec = Exec::new(threads.and_then(NonZero::new), &stop);
    let caller = std::thread::current();
    let (outcome, interrupt) = std::thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let outcome = catch_unwind(AssertUnwindSafe(|| work(exec)));
            done.store(true, Ordering::Release);
            caller.unpark();
            outcome
        });
        let mut interrupt = None;
        while !done.load(Ordering::Acquire) {
            py.detach(|| std::thread::park_timeout(WINK));
            if let Err(signal) = py.check_signals() {
                stop.0.store(true, Ordering::Relaxed);
                interrupt = Some(signal);
            }
        }
        (worker.join().and_then(|outcome| outcome), interrupt)
    });
    match (outcome, interrupt) {
        (_, Some(interrupt)) => Err(interrupt),
        (Ok(result), None) => result.map_err(refused),
        (Err(panic), None) => Err(broken(panic.as_ref())),
    }
}

/// An error of ours as Python's: the fact, then what to do.
pub fn refused(error: Error) -> PyErr {
    if error.is_cancelled() {
        return PyKeyboardInterrupt::new_err(());
    }
    let text = with_hint(&error, error.hint());
    match error {
        Error::Linalg(_) => PyRuntimeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// A file that cannot be read or written.
pub fn no_file(error: &dyn std::fmt::Display, hint: Option<String>, source: Option<&std::io::Error>) -> PyErr {
    let text = with_hint(error, hint);
    match source {
        // By its kind Python finds the right class, such as FileNotFoundError.
        Some(source) => std::io::Error::new(source.kind(), text).into(),
        None => PyValueError::new_err(text),
    }
}

fn with_hint(error: &dyn std::fmt::Display, hint: Option<String>) -> String {
    hint.map_or_else(|| error.to_string(), |hint| format!("{error}; {hint}"))
}

/// A panic is our own mistake: Python hears of it, and lives on.
fn broken(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("no message");
    PyRuntimeError::new_err(format!("a mistake inside eigenspan, please report it: {text}"))
}
