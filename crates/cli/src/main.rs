//! `eigenspan`: how many dimensions your data really have, and the projection onto them.
//!
//! The only crate that prints, reads the clock and decides how a process ends: words as typed ([`args`]), what they
//! ask for ([`commands`]), what is said about it ([`report`]). Results go to stdout, everything else to stderr.
#![expect(clippy::disallowed_methods, reason = "this crate owns the clock and the environment")]

mod args;
mod choice;
mod commands;
mod failure;
mod progress;
mod report;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = args::Args::parse();
    match commands::run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            failure.exit_code()
        }
    }
}
