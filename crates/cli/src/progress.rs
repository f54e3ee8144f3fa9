//! A line on a terminal that says how far long work has come.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use eigenspan::Monitor;
use eigenspan_study::clock::Clock;

/// Shows progress on stderr once a second has passed, and only where a person is looking.
pub struct Progress {
    started: Instant,
    shown: Mutex<Option<(Instant, &'static str)>>,
    terminal: bool,
}

impl Progress {
    /// Starts the clock.
    pub fn new() -> Self {
        Self { started: Instant::now(), shown: Mutex::new(None), terminal: std::io::stderr().is_terminal() }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// So many samples of a file were read, of so many where that is known.
    pub fn told(&self, file: &str, done: usize, total: Option<usize>) {
        if !self.terminal || self.started.elapsed() < Duration::from_secs(1) {
            return;
        }
        let Ok(mut shown) = self.shown.lock() else { return };
        *shown = Some((Instant::now(), "read"));
        let share = total.map(|total| format!(" ({} %)", 100 * done / total.max(1))).unwrap_or_default();
        let _ = write!(std::io::stderr(), "\r\x1b[K{file}: {done} samples{share} · {:.0} s", self.seconds());
    }

    /// Clears the line.
    pub fn clear(&self) {
        if self.shown.lock().is_ok_and(|mut shown| shown.take().is_some()) {
            let _ = write!(std::io::stderr(), "\r\x1b[K"); // a closed stderr is no reason to stop
        }
    }
}

impl Clock for Progress {
    fn seconds(&self) -> f64 {
        self.seconds()
    }

    fn cell(&self, done: usize, total: usize, next: &str, left: Option<f64>) {
        if !self.terminal || self.started.elapsed() < Duration::from_secs(1) {
            return;
        }
        let Ok(mut shown) = self.shown.lock() else { return };
        *shown = Some((Instant::now(), "cell"));
        let left = left.map(|left| format!(" · about {} left", duration(left))).unwrap_or_default();
        let _ = write!(std::io::stderr(), "\r\x1b[K{done} of {total}{left} · {next}");
    }
}

/// A duration as a person says it.
fn duration(seconds: f64) -> String {
    match seconds {
        ..100.0 => format!("{seconds:.0} s"),
        ..6000.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

impl Monitor for Progress {
    fn progress(&self, stage: &'static str, done: usize, total: usize) {
        if !self.terminal || self.started.elapsed() < Duration::from_secs(1) {
            return;
        }
        let Ok(mut shown) = self.shown.lock() else { return };
        let news = |(at, before): (Instant, &str)| before != stage || at.elapsed() > Duration::from_millis(100);
        if shown.is_none_or(news) || done == total {
            *shown = Some((Instant::now(), stage));
            let percent = 100 * done / total.max(1);
            let _ = write!(std::io::stderr(), "\r\x1b[K{stage} {percent} % · {:.0} s", self.seconds());
        }
    }
}
