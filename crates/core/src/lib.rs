//! The computing of eigenspan: samples in, models out. The crate `eigenspan` shows what users need of it.
//!
//! | module | what is there |
//! |---|---|
//! | [`data`] | samples: dense `f32`, `f64`, `u8` or sparse; data sets; generators; corruptions |
//! | [`prepare`] | unit length, z-scores, centring |
//! | [`method`] | the methods, one file each |
//! | [`rule`] | from singular values to a cut, one rule a file |
//! | [`spectrum`] | ways of having samples: in memory, summarised, one by one, sketched |
//! | [`model`] | what fitted models share |
//! | [`registry`] | every method by its name |
//! | [`settings`] | settings as a person reads and writes them |
//! | [`classify`] | classifiers, and how often they are right |
//! | [`dimension`] | estimators of the dimension alone, by name, one file each |
//! | [`split`] | samples to train on and to test on |
//!
//! This crate computes. It opens no file, reads no clock and no environment, and prints nothing.

pub mod classify;
pub mod data;
pub mod dimension;
mod distinct;
mod error;
mod median;
pub mod method;
pub mod model;
pub mod prepare;
pub mod registry;
pub mod rule;
pub mod settings;
pub mod spectrum;
pub mod split;
mod text;
mod warning;

pub use eigenspan_linalg as linalg;
pub use eigenspan_linalg::exec::{self, Exec, Monitor, Quiet};
pub use eigenspan_linalg::{Mat, MatRef, Scalar};
pub use error::Error;
pub use method::lle::{Lle, LleParams};
pub use method::lpp::LppParams;
pub use method::npe::NpeParams;
pub use method::pca::PcaParams;
pub use method::pce::online::{OnlineParams, OnlinePce};
pub use method::pce::sketch::{PceSketch, SketchParams};
pub use method::pce::summary::{Keep, PceSummary};
pub use method::pce::{Chosen, Dim, Pce, PceParams, RankRule, Weights};
pub use model::Model;
pub use prepare::Normalize;
pub use rule::Lambda;
pub use spectrum::Solver;
pub use text::short_number;
pub use warning::Warning;
