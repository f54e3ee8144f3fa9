//! The interface between Python and Rust: arrays in, models and arrays out.
//!
//! | module | what it holds |
//! |---|---|
//! | `door` | threads, the interpreter's lock, Ctrl-C, panics and errors of every call |
//! | `arrays` | NumPy arrays and SciPy rows as [`eigenspan_core::data::Samples`] without a copy, results as arrays |
//! | `settings` | settings of a Python class, as JSON |
//! | `method` | fits of every method by its name |
//! | `model` | a fitted model |
//! | `summary` | samples that arrive in blocks |
//! | `online` | samples that arrive one by one |
//! | `dimension` | estimators of the dimension by their name |
//! | `feed` | files that may be larger than memory |
//! | `evaluate` | methods and classifiers on labeled data |
//! | `datasets` | built-in and synthetic data, data from files, corruptions |
//! | `verification` | pairs of samples of the same class or not |
//!
//! The public classes are written in Python (`python/eigenspan`) by the conventions of scikit-learn. Neither they nor
//! this crate compute anything.

mod arrays;
mod datasets;
mod dimension;
mod door;
mod evaluate;
mod feed;
mod method;
mod model;
mod online;
mod settings;
mod summary;
mod verification;

#[pyo3::pymodule]
mod _eigenspan {
    #[pymodule_export]
    use crate::datasets::{corrupt, digits, read_file, split, subspaces, synthetic_faces};
    #[pymodule_export]
    use crate::dimension::{Calibration, Neighbourhood, agreement, estimators};
    #[pymodule_export]
    use crate::evaluate::evaluate;
    #[pymodule_export]
    use crate::feed::{fit_files, recover_file, summarize_files, transform_files, update_files};
    #[pymodule_export]
    use crate::method::{fit_method, methods, published, rules};
    #[pymodule_export]
    use crate::model::{Model, singular_values, write};
    #[pymodule_export]
    use crate::online::Online;
    #[pymodule_export]
    use crate::summary::Summary;
    #[pymodule_export]
    use crate::verification::{cosine_scores, fold_accuracy, folds, make_pairs, roc};

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
