//! `eigenspan`: how many dimensions your data really have, and the projection onto them.
//!
//! Arguments as typed ([`args`]), one module per command ([`commands`]), results in words and JSON ([`report`]). This
//! crate prints, reads the clock and sets the exit code. Results go to stdout, messages to stderr.

mod args;
mod choice;
mod commands;
mod failure;
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
mod progress;
mod report;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    silence_contained_panics();
    let args = args::Args::parse();
    match commands::run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            failure.exit_code()
        }
    }
}

/// Silences panics of libraries over damaged files, which are reported as errors. Other panics are shown as usual.
#[expect(clippy::disallowed_methods, reason = "the panic hook belongs to the program")]
fn silence_contained_panics() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !eigenspan_io::panic_is_contained() {
            hook(info);
        }
    }));
}
