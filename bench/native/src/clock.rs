//! CPU time of the whole process, and wall time.
#![expect(clippy::disallowed_methods, reason = "a benchmark owns a clock")]

use std::time::Instant;

/// What a piece of work took, in seconds.
#[derive(Clone, Copy)]
pub struct Spent {
    pub cpu: f64,
    pub wall: f64,
}

/// CPU seconds of all threads of this process so far.
pub fn cpu() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid place to write to.
    let status = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) };
    assert_eq!(status, 0, "this system has no CPU clock");
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// The result of `work` and what it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Spent) {
    let (cpu_before, wall_before) = (cpu(), Instant::now());
    let result = work();
    let spent = Spent { cpu: cpu() - cpu_before, wall: wall_before.elapsed().as_secs_f64() };
    (result, spent)
}
