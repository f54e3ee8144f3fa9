//! The solver against matrices made to break it, and against what their authors proved about them.
//!
//! | module | what it holds |
//! |---|---|
//! | `classics`, `built` | the matrices of the literature, and matrices made from their singular values |
//! | `cases` | all of them, each with its truth |
//! | `double` | the truth where there is no formula: Jacobi in twice the precision |
//! | `ratios` | the rows R1 to R17: errors in units of rounding |
//! | `ways` | the ways to an answer, and what every answer has to pass |
//! | `ledger` | the largest ratio of every row and way |
//! | `survey` | every case, every way, every row |
//! | `special` | the rows that are about one matrix each |
//! | `decision` | the rows P1 to P20: how many values are above the cut, and who says so |
//!
//! `cargo test -p eigenspan-linalg --test torture -- --nocapture the_largest_ratios` prints the table of maxima.

mod built;
mod cases;
mod classics;
mod decision;
mod double;
mod ledger;
mod ratios;
mod scaled;
mod special;
mod survey;
mod ways;
