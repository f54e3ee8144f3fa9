//! The solver on matrices made to break it, against what their authors proved about them.
//!
//! | module | what it holds |
//! |---|---|
//! | `classics`, `built` | the matrices of the literature, and matrices made from their singular values |
//! | `cases` | all of them, each with its reference values |
//! | `double` | the reference where there is no formula: Jacobi in twice the precision |
//! | `ratios` | the rows R1 to R17: errors in units of rounding |
//! | `methods` | the methods, and what every answer has to pass |
//! | `ledger` | the largest ratio of every row and method |
//! | `survey` | every case, every method, every row |
//! | `special` | the rows about one matrix each |
//! | `decision` | the rows P1 to P20: the number of values above the cut |
//!
//! `cargo test -p eigenspan-linalg --test torture -- --nocapture the_largest_ratios` prints the table of maxima.

mod built;
mod cases;
mod classics;
mod decision;
mod double;
mod ledger;
mod methods;
mod ratios;
mod scaled;
mod special;
mod survey;
