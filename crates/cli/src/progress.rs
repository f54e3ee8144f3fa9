//! A line on a terminal that says how far long work has come.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use eigenspan_core::Monitor;
use eigenspan_feed::READING;
use eigenspan_study::clock::Clock;

/// Shows progress on stderr once a second has passed, and only where a person is looking.
pub struct Progress {
    started: Instant,
    shown: Mutex<Option<(Instant, &'static str)>>,
    /// When reading began, and the bytes that were done then.
    reading: Mutex<Option<(Instant, usize)>>,
    terminal: bool,
}

impl Progress {
    /// Starts the clock.
    pub fn new() -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self { started: Instant::now(), shown: Mutex::new(None), reading: Mutex::new(None), terminal }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// So many bytes of all that will be read were read: one line for the whole work.
    fn bytes(&self, done: usize, total: usize) {
        let now = Instant::now();
        let Ok(mut reading) = self.reading.lock() else { return };
        let (since, from) = *reading.get_or_insert((now, done));
        drop(reading);
        let Ok(mut shown) = self.shown.lock() else { return };
        if shown.is_some_and(|(at, stage)| stage == READING && at.elapsed() < Duration::from_millis(100)) {
            return;
        }
        *shown = Some((now, READING));
        let line = reading_line(done, total, from, since.elapsed().as_secs_f64());
        let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
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

/// Percent of the bytes of the whole work, rate, time left: `42 % · 310 MB/s · about 12 s left`.
fn reading_line(done: usize, total: usize, from: usize, seconds: f64) -> String {
    if total == 0 {
        return format!("reading · {}", duration(seconds));
    }
    let mut line = format!("{} %", (100.0 * done as f64 / total as f64) as usize);
    let rate = (done - from.min(done)) as f64 / seconds;
    if rate > 0.0 && rate.is_finite() {
        let left = (total - done.min(total)) as f64 / rate;
        line += &format!(" · {:.0} MB/s · about {} left", rate / 1e6, duration(left));
    }
    line
}

impl Monitor for Progress {
    fn progress(&self, stage: &'static str, done: usize, total: usize) {
        if !self.terminal || self.started.elapsed() < Duration::from_secs(1) {
            return;
        }
        if stage == READING {
            return self.bytes(done, total);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_tells_percent_rate_and_time_left() {
        assert_eq!(reading_line(420, 1000, 0, 1.0), "42 % · 0 MB/s · about 1 s left");
        assert_eq!(reading_line(600_000_000, 1_000_000_000, 0, 2.0), "60 % · 300 MB/s · about 1 s left");
        // After a checkpoint only what was read since counts.
        assert_eq!(reading_line(600_000_000, 1_000_000_000, 500_000_000, 2.0), "60 % · 50 MB/s · about 8 s left");
        assert_eq!(reading_line(5, 1000, 5, 0.0), "0 %");
        assert_eq!(reading_line(0, 0, 0, 3.0), "reading · 3 s");
    }
}
