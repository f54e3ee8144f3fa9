//! Execution of work: cut into pieces by shape, run on a few threads, monitored and cancelled by a [`Monitor`].
//!
//! Threads live for one call (`std::thread::scope`). There is no thread pool: nothing is global, nothing can be left
//! hanging by a `fork`, nothing is configured twice. The price is starting threads at every call, so pieces should take
//! a millisecond or more. Pieces are cut by the shape of the data and never by the number of threads, and results are
//! taken in the order of the pieces: one thread and sixty-four give the same bits.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use crate::Error;

/// Multiplications and additions that justify another thread: starting it takes a tenth of their time, and its data
/// come from another core. Tests use all threads, so that small matrices test what several threads do.
const MIN_WORK: usize = if cfg!(test) { 1 } else { 24_000_000 };

/// Monitors long work and may cancel it. The monitor has no clock here: its implementation decides when to read one.
pub trait Monitor: Sync {
    /// `done` of `total` pieces of `stage` are finished.
    fn progress(&self, _stage: &'static str, _done: usize, _total: usize) {}
    /// True once the work should stop.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Monitors nothing and never cancels.
#[derive(Debug, Clone, Copy)]
pub struct Quiet;

impl Monitor for Quiet {}

/// The number of threads and the monitor.
#[derive(Clone, Copy)]
pub struct Exec<'a> {
    threads: usize,
    monitor: &'a dyn Monitor,
    silent: bool,
}

impl Default for Exec<'_> {
    /// All cores, without a monitor.
    fn default() -> Self {
        Exec::new(None, &Quiet)
    }
}

impl<'a> Exec<'a> {
    /// `threads` threads, or the number of cores.
    pub fn new(threads: Option<NonZero<usize>>, monitor: &'a dyn Monitor) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
        Self { threads: threads.map_or_else(cores, NonZero::get), monitor, silent: false }
    }

    /// The same threads and cancellation, without progress reports: for the small steps of work that reports as a
    /// whole.
    pub fn silent(self) -> Self {
        Self { silent: true, ..self }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The same monitor with another number of threads: for branches of the work that run side by side.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads: threads.max(1), ..self }
    }

    /// The same with no more threads than this many multiplications and additions justify.
    pub fn worth(self, multiplications: usize) -> Self {
        self.with_threads(self.threads.min(multiplications / MIN_WORK))
    }

    /// Reports that `done` of `total` pieces of `stage` are finished.
    pub fn report(&self, stage: &'static str, done: usize, total: usize) -> Result<(), Error> {
        if !self.silent {
            self.monitor.progress(stage, done, total);
        }
        self.check()
    }

    /// Reports the start of a step that cannot be monitored: one call into the backend.
    pub fn begin(&self, stage: &'static str) -> Result<(), Error> {
        self.report(stage, 0, 1)
    }

    /// Runs one call that cannot be interrupted on a thread of its own. When the work is cancelled the caller returns
    /// at once; the call continues alone until it ends, and its result is dropped.
    pub fn aside<T: Send + 'static>(
        &self,
        stage: &'static str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        self.begin(stage)?;
        let (sender, receiver) = std::sync::mpsc::channel();
        #[expect(clippy::disallowed_methods, reason = "this is where threads belong")]
        let worker = std::thread::spawn(move || sender.send(work()));
        loop {
            match receiver.recv_timeout(Duration::from_millis(20)) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => self.check()?,
                Err(RecvTimeoutError::Disconnected) => {
                    let cause = worker.join().expect_err("a worker that sends nothing has panicked");
                    std::panic::resume_unwind(cause);
                }
            }
        }
    }

    /// [`aside`](Exec::aside) where the call is `long`. A short call does not justify a thread.
    pub fn aside_if<T: Send + 'static>(
        &self,
        long: bool,
        stage: &'static str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        if long {
            return self.aside(stage, work);
        }
        self.begin(stage)?;
        Ok(work())
    }

    /// Checks for cancellation: for loops that run long between two pieces of work.
    pub fn check(&self) -> Result<(), Error> {
        if self.monitor.cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Runs `work(0), …, work(pieces − 1)` and returns the results in that order.
    pub fn map<T: Send>(
        &self,
        stage: &'static str,
        pieces: usize,
        work: impl Fn(usize) -> T + Sync,
    ) -> Result<Vec<T>, Error> {
        let mut slots: Vec<Option<T>> = (0..pieces).map(|_| None).collect();
        self.each_chunk(stage, &mut slots, 1, |i, slot| slot[0] = Some(work(i)))?;
        Ok(slots.into_iter().map(|slot| slot.expect("every piece was run")).collect())
    }

    /// Runs `work(0, buffer), …, work(pieces − 1, buffer)`, each with a buffer of its own, and merges the buffers in
    /// the order of the pieces: `join(first, next)` adds the second buffer to the first, then the third, and resets the
    /// added one for reuse. So there are few buffers: the first, one for each thread, and some that wait for an earlier
    /// piece.
    pub fn fold<R: Send>(
        &self,
        stage: &'static str,
        pieces: usize,
        buffer: impl Fn() -> R + Sync,
        work: impl Fn(usize, &mut R) -> Result<(), Error> + Sync,
        join: impl Fn(&mut R, &mut R) + Sync,
    ) -> Result<R, Error> {
        struct Fold<R> {
            whole: Option<R>,
            joined: usize,
            waiting: BTreeMap<usize, R>,
            spare: Vec<R>,
            outcome: Result<(), Error>,
        }
        let (waiting, spare) = (BTreeMap::new(), vec![]);
        let fold = Mutex::new(Fold { whole: None, joined: 0, waiting, spare, outcome: Ok(()) });
        let hold = || fold.lock().expect("joining does not panic");
        self.each(stage, 0..pieces, |i, _| {
            let spare = hold().spare.pop();
            let mut mine = spare.unwrap_or_else(&buffer);
            let outcome = work(i, &mut mine);
            let mut fold = hold();
            if outcome.is_err() {
                fold.outcome = outcome;
                return;
            }
            fold.waiting.insert(i, mine);
            let fold = &mut *fold;
            while let Some(mut part) = fold.waiting.remove(&fold.joined) {
                fold.joined += 1;
                match &mut fold.whole {
                    None => fold.whole = Some(part),
                    Some(whole) => {
                        join(whole, &mut part);
                        fold.spare.push(part);
                    }
                }
            }
        })?;
        let Fold { whole, outcome, .. } = fold.into_inner().expect("joining does not panic");
        outcome.map(|()| whole.unwrap_or_else(buffer))
    }

    /// Cuts `out` into chunks of `size` and runs `work(i, chunk i)` on each.
    pub fn each_chunk<T: Send>(
        &self,
        stage: &'static str,
        out: &mut [T],
        size: usize,
        work: impl Fn(usize, &mut [T]) + Sync,
    ) -> Result<(), Error> {
        self.each(stage, out.chunks_mut(size.max(1)), work)
    }

    /// Runs `work(i, piece i)` on each piece.
    pub fn each<P: Send>(
        &self,
        stage: &'static str,
        pieces: impl ExactSizeIterator<Item = P> + Send,
        work: impl Fn(usize, P) + Sync,
    ) -> Result<(), Error> {
        let total = pieces.len();
        let queue = Mutex::new(pieces.enumerate());
        let done = AtomicUsize::new(0);
        let worker = || {
            while !self.monitor.cancelled() {
                let next = queue.lock().expect("no piece panics while it holds the queue").next();
                let Some((i, piece)) = next else { return };
                work(i, piece);
                let finished = done.fetch_add(1, Ordering::Relaxed) + 1;
                if !self.silent {
                    self.monitor.progress(stage, finished, total);
                }
            }
        };
        match self.threads.min(total) {
            0 | 1 => worker(),
            threads => std::thread::scope(|scope| {
                for _ in 1..threads {
                    scope.spawn(worker);
                }
                worker();
            }),
        }
        if done.into_inner() == total { Ok(()) } else { Err(Error::Cancelled) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_pieces_for_any_number_of_threads() {
        for threads in [1, 2, 4, 9] {
            let exec = Exec::new(NonZero::new(threads), &Quiet);
            assert_eq!(exec.map("square", 100, |i| i * i).unwrap(), (0..100).map(|i| i * i).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_cancelled_run_returns_an_error_and_stops_early() {
        struct After(AtomicUsize);
        impl Monitor for After {
            fn progress(&self, _: &'static str, done: usize, _: usize) {
                self.0.store(done, Ordering::Relaxed);
            }
            fn cancelled(&self) -> bool {
                self.0.load(Ordering::Relaxed) >= 3
            }
        }
        let monitor = After(AtomicUsize::new(0));
        let exec = Exec::new(NonZero::new(1), &monitor);
        assert_eq!(exec.map("count", 1000, |i| i), Err(Error::Cancelled));
        assert_eq!(monitor.0.into_inner(), 3);
    }

    #[test]
    fn buffers_are_joined_in_the_order_of_the_pieces_and_reused() {
        for threads in [1, 2, 4, 9] {
            let exec = Exec::new(NonZero::new(threads), &Quiet);
            let made = AtomicUsize::new(0);
            let buffer = || {
                made.fetch_add(1, Ordering::Relaxed);
                vec![]
            };
            let work = |i: usize, buffer: &mut Vec<usize>| {
                assert!(buffer.is_empty(), "a buffer is reset before reuse");
                // The first piece of four takes longest, so that others wait for it.
                std::thread::sleep(Duration::from_millis(if i.is_multiple_of(4) { 5 } else { 0 }));
                buffer.push(i);
                Ok(())
            };
            let all = exec.fold("count", 40, buffer, work, |whole, part| whole.append(part)).unwrap();
            assert_eq!(all, (0..40).collect::<Vec<_>>());
            assert!(threads > 1 || made.into_inner() == 2, "one thread needs the first buffer and its own");
        }
    }

    #[test]
    fn a_piece_that_fails_fails_the_whole() {
        let work = |i: usize, _: &mut usize| if i == 7 { Err(Error::Cancelled) } else { Ok(()) };
        assert_eq!(Exec::default().fold("count", 20, || 0, work, |_, _| ()), Err(Error::Cancelled));
    }

    #[test]
    fn no_pieces_give_an_empty_result() {
        assert_eq!(Exec::default().map("nothing", 0, |i| i), Ok(vec![]));
        assert_eq!(Exec::default().fold("nothing", 0, || 5, |_, _| Ok(()), |_, _| ()), Ok(5));
    }
}
