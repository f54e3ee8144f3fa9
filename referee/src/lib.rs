//! A referee for certificates: random and adversarial samples are fitted in every way there is, and the number of singular
//! values above the cut that a model reports is counted again in exact arithmetic.
//!
//! ```text
//!     cd referee && cargo run --release -- --fits 20000 --seed 1
//! ```
//! A model that says `certified` and whose k is not that number is a *certified wrong* answer, and there must be none. A
//! model that is not certified gives an interval; where it does not hold the number, the answer is *outside*. Ways that are
//! only probable may be outside as often as their chance says.
//!
//! | module | what is there |
//! |---|---|
//! | [`field`] | balls and rationals |
//! | [`inertia`] | the number of positive eigenvalues |
//! | [`truth`] | the number of singular values above a cut, after an exact preparation |
//! | [`cases`] | samples and settings, drawn from a seed |
//! | [`ways`] | the ways to fit |
//! | [`judge`] | the verdict on a fit, and tables of verdicts |

pub mod cases;
pub mod field;
pub mod inertia;
pub mod judge;
pub mod truth;
pub mod ways;
