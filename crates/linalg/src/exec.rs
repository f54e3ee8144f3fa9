//! How work is run: cut into pieces by shape, done by a few threads, watched and stopped by a [`Monitor`].
//!
//! Threads live for one call (`std::thread::scope`). There is no pool to keep: nothing global, nothing that a
//! `fork` could leave hanging, nothing to configure twice. The price is starting threads at every call, so
//! pieces should be worth a millisecond and more. What is cut is decided by the shape of the data and
//! never by the number of threads, and results are taken in the order of the pieces: the same bits come out of
//! one thread and of sixty-four.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use crate::Error;

/// Multiplications and additions that another thread is worth: to start it takes a tenth of their time, and what it works on
/// has to come from another core. The tests take all threads, so that small matrices show what several threads do.
const WORTH: usize = if cfg!(test) { 1 } else { 24_000_000 };

/// Watches long work and may stop it. It has no clock: whoever implements it decides when to look at one.
pub trait Monitor: Sync {
    /// `done` of `total` pieces of `stage` are finished.
    fn progress(&self, _stage: &'static str, _done: usize, _total: usize) {}
    /// True once the work should stop.
    fn cancelled(&self) -> bool {
        false
    }
}

/// Watches nothing, stops nothing.
#[derive(Debug, Clone, Copy)]
pub struct Quiet;

impl Monitor for Quiet {}

/// How many threads to use and who watches.
#[derive(Clone, Copy)]
pub struct Exec<'a> {
    threads: usize,
    monitor: &'a dyn Monitor,
    silent: bool,
}

impl Default for Exec<'_> {
    /// All cores, watched by nobody.
    fn default() -> Self {
        Exec::new(None, &Quiet)
    }
}

impl<'a> Exec<'a> {
    /// `threads` threads, or as many as there are cores.
    pub fn new(threads: Option<NonZero<usize>>, monitor: &'a dyn Monitor) -> Self {
        let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
        Self { threads: threads.map_or_else(cores, NonZero::get), monitor, silent: false }
    }

    /// The same threads and the same way to be stopped, without reports of progress: for the small steps of work that
    /// reports on itself as a whole.
    pub fn silent(self) -> Self {
        Self { silent: true, ..self }
    }

    /// How many threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The same watch over another number of threads: for parts of the work that run side by side.
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads: threads.max(1), ..self }
    }

    /// The same with no more threads than so many multiplications and additions are worth.
    pub fn worth(self, multiplications: usize) -> Self {
        self.with_threads(self.threads.min(multiplications / WORTH))
    }

    /// Says that `done` of `total` pieces of `stage` are finished.
    pub fn report(&self, stage: &'static str, done: usize, total: usize) -> Result<(), Error> {
        if !self.silent {
            self.monitor.progress(stage, done, total);
        }
        self.check()
    }

    /// Says that a step has begun that cannot be watched: one call into the backend.
    pub fn begin(&self, stage: &'static str) -> Result<(), Error> {
        self.report(stage, 0, 1)
    }

    /// Runs one call that cannot be interrupted on a thread of its own. When the work is cancelled the caller returns at
    /// once; the call goes on alone until it ends, and its result is dropped.
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

    /// [`aside`](Exec::aside) where the call is `long`. Where it is short it is not worth a thread.
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

    /// Says whether to go on: for loops that run long between two pieces of work.
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

    /// Runs `work(0, room), …, work(pieces − 1, room)`, each in a room of its own, and makes the rooms one, in the order of the
    /// pieces: `join(first, next)` adds the second room to the first, then the third, and leaves what it has added as a new room
    /// is, to serve again. So there are few rooms: one is the first, each thread has one, and some wait for an earlier piece.
    pub fn fold<R: Send>(
        &self,
        stage: &'static str,
        pieces: usize,
        room: impl Fn() -> R + Sync,
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
            let mut mine = spare.unwrap_or_else(&room);
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
        outcome.map(|()| whole.unwrap_or_else(room))
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
    fn a_cancelled_run_says_so_and_stops_early() {
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
    fn rooms_are_joined_in_the_order_of_the_pieces_and_serve_again() {
        for threads in [1, 2, 4, 9] {
            let exec = Exec::new(NonZero::new(threads), &Quiet);
            let made = AtomicUsize::new(0);
            let room = || {
                made.fetch_add(1, Ordering::Relaxed);
                vec![]
            };
            let work = |i: usize, room: &mut Vec<usize>| {
                assert!(room.is_empty(), "a room is as new");
                // The first piece of four takes longest, so that others wait for it.
                std::thread::sleep(Duration::from_millis(if i.is_multiple_of(4) { 5 } else { 0 }));
                room.push(i);
                Ok(())
            };
            let all = exec.fold("count", 40, room, work, |whole, part| whole.append(part)).unwrap();
            assert_eq!(all, (0..40).collect::<Vec<_>>());
            assert!(threads > 1 || made.into_inner() == 2, "one thread needs the first room and its own");
        }
    }

    #[test]
    fn a_piece_that_fails_fails_the_whole() {
        let work = |i: usize, _: &mut usize| if i == 7 { Err(Error::Cancelled) } else { Ok(()) };
        assert_eq!(Exec::default().fold("count", 20, || 0, work, |_, _| ()), Err(Error::Cancelled));
    }

    #[test]
    fn no_pieces_is_done_at_once() {
        assert_eq!(Exec::default().map("nothing", 0, |i| i), Ok(vec![]));
        assert_eq!(Exec::default().fold("nothing", 0, || 5, |_, _| Ok(()), |_, _| ()), Ok(5));
    }
}
