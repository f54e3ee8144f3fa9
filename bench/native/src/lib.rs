//! eigenspan and its Rust peers behind a small C ABI, each timed by the CPU clock of the process.
//!
//! Every function returns an [`Answer`]; nothing unwinds into the caller: a panic is the status [`FAILED`].

mod clock;
mod kernels;
mod ours;
mod peak;
mod peers;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// The call did what was requested.
pub const DONE: u32 = 0;
/// The method refused or panicked; there is no result.
pub const FAILED: u32 = 1;

/// What came out, and what it cost.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Answer {
    pub status: u32,
    pub certified: u32,
    pub cpu_seconds: f64,
    pub wall_seconds: f64,
    pub tau: f64,
    pub k: usize,
    /// Singular values written.
    pub count: usize,
    /// The solver's name, ended by a zero byte.
    pub solver: [u8; 64],
}

impl Answer {
    fn failed() -> Self {
        let none = f64::NAN;
        Self {
            status: FAILED,
            certified: 0,
            cpu_seconds: none,
            wall_seconds: none,
            tau: none,
            k: 0,
            count: 0,
            solver: [0; 64],
        }
    }

    fn timed(spent: clock::Spent) -> Self {
        Self { status: DONE, cpu_seconds: spent.cpu, wall_seconds: spent.wall, ..Self::failed() }
    }

    fn with_sigma(mut self, sigma: &[f64], out: &mut [f64]) -> Self {
        self.count = sigma.len().min(out.len());
        out[..self.count].copy_from_slice(&sigma[..self.count]);
        self
    }
}

/// Runs `work`; whatever goes wrong in it is an answer too.
fn guarded(work: impl FnOnce() -> Option<Answer>) -> Answer {
    catch_unwind(AssertUnwindSafe(work)).ok().flatten().unwrap_or_else(Answer::failed)
}

/// # Safety
/// `data` points to `len` values that nobody writes to during the call.
unsafe fn slice<'a, T>(data: *const T, len: usize) -> &'a [T] {
    // SAFETY: promised by the caller.
    unsafe { std::slice::from_raw_parts(data, len) }
}

/// # Safety
/// `data` points to `len` values that nobody else touches during the call.
unsafe fn slice_mut<'a, T>(data: *mut T, len: usize) -> &'a mut [T] {
    // SAFETY: promised by the caller.
    unsafe { std::slice::from_raw_parts_mut(data, len) }
}
