//! `eigenspan methods`: the methods by name, one line each.

use eigenspan::registry::METHODS;

use super::print;
use crate::failure::Failure;

/// Lists the methods.
pub fn run() -> Result<(), Failure> {
    let width = METHODS.map(|(name, _)| name.len()).into_iter().max().unwrap_or(0);
    let lines: String = METHODS.iter().map(|(name, line)| format!("{name:width$}  {line}\n")).collect();
    print(&lines)
}
