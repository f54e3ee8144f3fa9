//! eigenspan finds how many dimensions your data really have, and gives you the projection.
//!
//! It is *Principal Coefficients Embedding* (PCE): samples in, k and Θ out, nothing to tune.
//!
//! ```
//! use eigenspan::prelude::*;
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
//! # Ok::<(), Error>(())
//! ```
//!
//! | names | for |
//! |---|---|
//! | [`Samples`], [`Matrix`], [`Csr`], [`Mat`], [`MatRef`], [`Dataset`], [`Labels`] | data |
//! | [`datasets`] | built-in data, generators, files |
//! | [`PceParams`], [`PcaParams`] and those of [`methods`] | parameters: each has `fit` |
//! | [`Lambda`], [`Dim`], [`Weights`], [`Normalize`], [`RankRule`], [`Solver`] | settings of PCE |
//! | [`Pce`], [`Model`], [`ModelFile`], [`Fitted`] | what a fit gives; loading and saving |
//! | [`PceSummary`], [`OnlinePce`], [`PceSketch`] | samples that are not kept |
//! | [`files`] | fits of files that may be larger than memory |
//! | [`Method`], [`Classifier`], [`Estimator`] | anything that can be chosen by name |
//! | [`Error`], [`Warning`], [`Exec`], [`Monitor`] | errors; threads, progress and cancelling |
//!
//! The crate has no code of its own. What it shows is what we promise to keep; the crates behind it may change with any version.

pub use eigenspan_core::classify::Classifier;
pub use eigenspan_core::data::{Csr, Dataset, Labels, Matrix, Samples};
pub use eigenspan_core::dimension::Estimator;
pub use eigenspan_core::model::fitted::Fitted;
pub use eigenspan_core::registry::Method;
pub use eigenspan_core::{
    Dim, Error, Exec, Keep, Lambda, Mat, MatRef, Model, Monitor, Normalize, OnlineParams, OnlinePce, PcaParams, Pce,
    PceParams, PceSketch, PceSummary, RankRule, SketchParams, Solver, Warning, Weights,
};
pub use eigenspan_io::ModelFile;

/// Data to try things on, and readers of files.
pub mod datasets {
    pub use eigenspan_core::data::generate::Subspaces;
    pub use eigenspan_core::data::{Corruption, SyntheticFaces};
    pub use eigenspan_io::embedded::{digits, synthetic_faces};
    pub use eigenspan_io::{ReadOptions, read};
}

/// Fits of files that may be larger than memory, and features of them.
pub mod files {
    pub use eigenspan_feed::{Checkpoints, FeedError, Files, Fit, Form, Recover, Summarize, Transform, Update};
}

/// The parameters of every method.
pub mod methods {
    pub use eigenspan_core::method::params::*;
}

/// What most programs need, in one line.
pub mod prelude {
    pub use crate::datasets::Subspaces;
    pub use crate::{Dim, Error, Exec, Lambda, Model, Normalize, Pce, PceParams, Samples};
}

/// The snippets of the README and of the guide run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/index.md")]
struct Readme;
