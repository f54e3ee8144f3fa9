//! A panic of a library stays inside: it becomes an error, and its message does not reach standard error.
//!
//! Some libraries that decode files panic where a file is damaged. Unwinding is caught here. What cannot be caught is
//! an allocation that fails and a stack that overflows: sizes and depths are checked before a library sees them.

use std::cell::Cell;
use std::panic::{self, UnwindSafe};
use std::sync::Once;

thread_local! {
    /// How many calls of [`contained`] this thread is inside of.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// What was called has panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Calls `f`; a panic in it comes back as an error, silently.
///
/// The message of a panic is printed by the hook of the process, before unwinding begins. The hook that stood there
/// when this was first called is wrapped, once: threads that are inside of this function are silent, all others are
/// heard as before.
pub(crate) fn contained<T>(f: impl FnOnce() -> T + UnwindSafe) -> Result<T, Panicked> {
    static WRAP: Once = Once::new();
    WRAP.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |about| {
            // Where the thread is being taken down its flag may be gone already: then it is not inside.
            if INSIDE.try_with(Cell::get).unwrap_or(0) == 0 {
                before(about);
            }
        }));
    });
    INSIDE.set(INSIDE.get() + 1);
    let result = panic::catch_unwind(f);
    INSIDE.set(INSIDE.get() - 1);
    result.map_err(|_| Panicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_inside_is_an_error_and_the_thread_is_heard_again_after_it() {
        assert_eq!(contained(|| INSIDE.get()), Ok(1));
        assert_eq!(contained(|| -> usize { panic!("not to be seen") }), Err(Panicked));
        let nested = contained(|| (contained(|| -> usize { panic!("not to be seen") }), INSIDE.get()));
        assert_eq!(nested, Ok((Err(Panicked), 1)));
        assert_eq!(INSIDE.get(), 0);
    }
}
