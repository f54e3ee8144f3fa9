//! `eigenspan`: how many dimensions your data really have, and the projection onto them.
//!
//! The only crate that prints, reads the clock and decides how a process ends: words as typed ([`args`]), what they
//! ask for ([`commands`]), what is said about it ([`report`]). Results go to stdout, everything else to stderr.

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

/// A library that panics over a damaged file is told of as an error; every other panic is heard as before.
#[expect(clippy::disallowed_methods, reason = "the panic hook belongs to the program")]
fn silence_contained_panics() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !eigenspan_io::panic_is_contained() {
            hook(info);
        }
    }));
}
