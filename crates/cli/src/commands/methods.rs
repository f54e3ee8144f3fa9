//! `eigenspan methods`: the methods by name, one line each.

use eigenspan_core::registry::METHODS;

use super::print;
use crate::failure::Failure;

/// Lists the methods.
pub fn run() -> Result<(), Failure> {
    let width = METHODS.iter().map(|method| method.name.len()).max().unwrap_or(0);
    let lines: String = METHODS.iter().map(|method| format!("{:width$}  {}\n", method.name, method.line)).collect();
    print(&lines)
}
