//! Experiments on labelled data: how often methods and classifiers are right on samples they have not seen, and the
//! paper's experiments with its numbers beside ours.
//!
//! ```text
//!     protocol ─▶ plan (the fewest fits) ─▶ cells, each kept as soon as it is done ─▶ results (JSON) ─▶ tables, figures
//! ```
//!
//! | module | what is there |
//! |---|---|
//! | [`cell`] | one fit on one partition, and everything that is read off it |
//! | [`plan`] | from what is requested to the fewest fits |
//! | [`run`] | the order of cells, progress, resuming |
//! | [`cache`] | finished cells in a file |
//! | [`evaluate`] | methods and classifiers on a user's data |
//! | [`protocol`] | an experiment as a readable file; every table and figure of the paper has one |
//! | [`data`] | the paper's data by name |
//! | [`paper`], [`claims`] | the paper's numbers, and its sentences with numbers |
//! | [`reproduce`] | a protocol carried out, tuned on the extra partition or at the paper's parameters |
//! | [`experiment`], [`report`] | from a protocol to its results, table and figures |
//! | [`settings`] | a method by its name, with some of its settings changed |
//! | [`results`] | what was found, as plain data |
//! | [`table`] | Markdown and CSV |
//!
//! Nothing here has a clock ([`clock::Clock`] is handed in), and no number depends on one.

pub mod cache;
pub mod cell;
pub mod claims;
pub mod clock;
pub mod data;
mod error;
pub mod estimated;
pub mod evaluate;
pub mod experiment;
mod growth;
pub mod paper;
mod pictures;
pub mod plan;
mod prefixes;
pub mod protocol;
pub mod report;
pub mod reproduce;
pub mod results;
pub mod run;
pub mod settings;
pub mod table;

pub use error::StudyError;
