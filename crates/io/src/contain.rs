//! A panic of a library stays inside: it becomes an error.
//!
//! Some libraries that decode files panic where a file is damaged. Unwinding is caught here. What cannot be caught is
//! an allocation that fails and a stack that overflows: sizes and depths are checked before a library sees them.
//!
//! The message of a panic is printed by the panic hook, before unwinding begins. The hook belongs to the program, so
//! none is installed here: the hook of the program asks [`panic_is_contained`].

use std::cell::Cell;
use std::panic::{self, UnwindSafe};

thread_local! {
    /// How many calls of [`contained`] this thread is inside of.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// What was called has panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Whether a panic of this thread would become an error of this crate, about a damaged file.
///
/// A program that does not want to see the message of such a panic beside the error asks in its panic hook:
///
/// ```
/// let hook = std::panic::take_hook();
/// std::panic::set_hook(Box::new(move |info| {
///     if !eigenspan_io::panic_is_contained() {
///         hook(info);
///     }
/// }));
/// ```
pub fn panic_is_contained() -> bool {
    // Where the thread is being taken down its flag may be gone already: then it is not inside.
    INSIDE.try_with(Cell::get).unwrap_or(0) > 0
}

/// Calls `f`; a panic in it comes back as an error.
pub(crate) fn contained<T>(f: impl FnOnce() -> T + UnwindSafe) -> Result<T, Panicked> {
    INSIDE.set(INSIDE.get() + 1);
    let result = panic::catch_unwind(f);
    INSIDE.set(INSIDE.get() - 1);
    result.map_err(|_| Panicked)
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        /// Whether the hook has heard of a contained panic of this thread.
        static HEARD: Cell<bool> = const { Cell::new(false) };
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the hook is what is tested")]
    fn a_panic_inside_is_an_error_and_the_hook_of_the_program_hears_it() {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| match panic_is_contained() {
            true => HEARD.set(true),
            false => before(info),
        }));
        let panics = || -> usize { panic!("not to be seen") };
        assert_eq!(contained(|| INSIDE.get()), Ok(1));
        assert!(!HEARD.take());
        assert_eq!(contained(panics), Err(Panicked));
        assert!(HEARD.take());
        let nested = contained(|| (contained(panics), INSIDE.get()));
        assert_eq!(nested, Ok((Err(Panicked), 1)));
        assert!(!panic_is_contained());
    }
}
