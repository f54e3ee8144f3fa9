//! eigenspan finds how many dimensions your data really have, and gives you the projection.
//!
//! It is *Principal Coefficients Embedding* (PCE): samples in, k and Θ out, nothing to tune.
//!
//! ```
//! use eigenspan::data::generate::Subspaces;
//! use eigenspan::PceParams;
//!
//! // 300 samples of 60 features in 2 subspaces of 4 dimensions each, with noise.
//! let data = Subspaces { samples: 300, features: 60, subspaces: 2, dim: 4, noise: 0.05 }.generate(7)?;
//!
//! let model = PceParams::default().fit(&data.samples)?;
//! assert_eq!(model.k(), 8);
//!
//! let features = model.transform(&data.samples)?;      // 300 × 8
//! let recovery = model.recover(&data.samples)?;        // clean part and error, in the data's own units
//! println!("{}", model.why());
//! # assert_eq!((features.rows(), features.cols()), (300, 8));
//! # assert_eq!(recovery.score.len(), 300);
//! # Ok::<(), eigenspan::Error>(())
//! ```
//!
//! | module | what is there |
//! |---|---|
//! | [`data`] | samples: dense `f32`, `f64`, `u8` or sparse; data sets; generators; corruptions |
//! | [`prepare`] | unit length, z-scores, centring |
//! | [`method`] | the methods, one file each |
//! | [`rule`] | from singular values to a cut, one rule a file |
//! | [`spectrum`] | ways of having samples: in memory, summarised, one by one, sketched |
//! | [`model`] | what fitted models share |
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

/// The snippets of the README and of the guide run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/index.md")]
struct Readme;
