//! The linear algebra of eigenspan.
//!
//! This is the only crate that names a backend (faer). Its public types are its own: [`Mat`] and its views, singular
//! values in descending order, and results that do not depend on the number of threads.
//!
//! | module | what it computes |
//! |---|---|
//! | [`mat`] | dense matrices and strided views |
//! | [`blocks`] | matrices that are read block by block |
//! | [`random`] | reproducible random numbers |
//! | [`scale`] | powers of two, exact |
//! | [`exec`] | work cut by shape, run on a few threads, monitored by a [`exec::Monitor`] |
//! | [`triangle`] | the triangular factor R of a matrix read block by block |
//! | [`svd`] | singular values and vectors of a small dense matrix |
//! | [`gram`] | the Gram matrix of the smaller side, and a bound on its error |
//! | [`sparse`] | the Gram matrix of a matrix with few nonzeros, without the zeros |
//! | [`sparse_cholesky`] | systems with a positive definite matrix that has few nonzeros |
//! | [`symmetric`] | eigenvalues of a dense symmetric matrix, vectors for the leading ones |
//! | [`krylov`] | the leading eigenpairs of a symmetric operator, a small share of all |
//! | [`direct`] | the singular values above a cut from products with X alone, for a G too large to form |
//! | [`definite`] | is a matrix positive definite? |
//! | [`certificate`] | the number of eigenvalues above a cut, proved |
//! | [`dense`] | products and positive definite systems of matrices in memory |
//! | [`growing`] | the Cholesky factor of a matrix that gains and loses rows |
//! | [`leverage`] | what of a row or a column the rest cannot predict |
//! | [`polish`] | almost orthonormal columns made orthonormal |
//! | `matmul` | products of dense matrices, in pieces |
//! | [`product`] | rows times a matrix; the bits of a row do not depend on the other rows |
//! | [`mod@spectrum`] | the singular values of a large matrix above a cut, and their feature directions |
//! | [`summary`] | the same for samples that arrive in chunks or are spread over machines |
//! | [`online`] | the same for samples that arrive one by one, in the memory of a few directions |
//! | [`sketch`] | the same for samples too wide for a summary, in a few passes |

pub mod blocks;
pub mod certificate;
pub mod definite;
pub mod dense;
pub mod direct;
pub mod exec;
pub mod gram;
pub mod growing;
pub mod krylov;
pub mod leverage;
pub mod mat;
mod matmul;
pub mod online;
pub mod polish;
pub mod product;
pub mod random;
pub mod scale;
pub mod sketch;
pub mod sparse;
pub mod sparse_cholesky;
pub mod spectrum;
pub mod summary;
pub mod svd;
pub mod symmetric;
#[cfg(test)]
mod testing;
pub mod triangle;

pub use blocks::{Blocks, Transposed};
pub use eigenspan_kernel::{descent, rows, steps};
pub use exec::{Exec, Monitor, Quiet};
pub use mat::{Float, Mat, MatMut, MatRef, Scalar};
pub use sketch::Sketch;
pub use spectrum::{singular_values, spectrum};
pub use summary::Summary;

/// Why a decomposition gives no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The [`Monitor`] cancelled the work.
    #[error("cancelled")]
    Cancelled,
    /// The backend failed to converge, or its result fails a check.
    #[error("the singular value decomposition of a {rows} × {cols} matrix did not converge")]
    NoConvergence {
        /// Rows of the matrix that was decomposed.
        rows: usize,
        /// Its columns.
        cols: usize,
    },
    /// The cut is below the resolution of a Gram summary, relative to σ₁.
    #[error("the cut is too low for a Gram summary: summarize the samples again in the triangular form")]
    CutTooLow,
    /// Two summaries, or a summary and new samples, that do not match.
    #[error("a {theirs} cannot be merged into a {ours}")]
    NotAlike {
        /// The summary to be updated.
        ours: summary::Kind,
        /// What was to be added.
        theirs: summary::Kind,
    },
    /// A value of a sample is NaN, infinite or too large to be squared.
    #[error("the value in row {row}, column {column} is not finite or too large to be squared")]
    OutOfRange {
        /// Row, counted from the first sample of the summary.
        row: usize,
        /// Column.
        column: usize,
    },
    /// The state of a decomposition to resume is invalid.
    #[error("this decomposition cannot be resumed: {0}")]
    NoStart(&'static str),
    /// The samples of two passes differ in number.
    #[error("{now} samples were read in this pass, but {before} in the first one")]
    OtherRows {
        /// Samples of the first pass.
        before: usize,
        /// Samples of this pass.
        now: usize,
    },
    /// A summary of no samples was to be finished.
    #[error("there are no samples to decompose")]
    NoRows,
    /// The bytes are not a valid summary.
    #[error("this is not a summary, or a damaged one: {0}")]
    Damaged(&'static str),
}
