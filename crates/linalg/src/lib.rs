//! The linear algebra of eigenspan.
//!
//! This is the only crate that names a backend (faer). Everything that leaves it is ours: [`Mat`] and its
//! views, singular values in descending order, and results that do not depend on the number of threads.
//!
//! | module | what it computes |
//! |---|---|
//! | [`mat`] | dense matrices and strided views |
//! | [`blocks`] | matrices that are read block by block |
//! | [`random`] | reproducible random numbers |
//! | [`scale`] | powers of two, exact |
//! | [`exec`] | work cut by shape, run on a few threads, watched by a [`exec::Monitor`] |
//! | [`triangle`] | the triangular factor R of a matrix read block by block |
//! | [`svd`] | singular values and vectors of a small dense matrix |
//! | [`gram`] | the Gram matrix of the smaller side, and how far it can be off |
//! | [`sparse`] | the same of a matrix with few nonzeros, without the zeros |
//! | [`sparse_cholesky`] | systems with a positive definite matrix that has few nonzeros |
//! | [`symmetric`] | eigenvalues of a dense symmetric matrix, vectors for the leading ones |
//! | [`krylov`] | the leading eigenpairs of a symmetric operator, few of many |
//! | [`direct`] | the singular values above a cut from products with X alone, for G too large to form |
//! | [`definite`] | is a matrix positive definite? |
//! | [`certificate`] | how many eigenvalues lie above a cut, proved |
//! | [`dense`] | products and positive definite systems of matrices in memory |
//! | [`growing`] | the Cholesky factor of a matrix that gains and loses rows |
//! | [`leverage`] | what of a row or a column the rest cannot predict |
//! | [`polish`] | almost orthonormal columns made orthonormal |
//! | `matmul` | products of dense matrices, in pieces |
//! | [`product`] | rows times a matrix, each row the same bits in any company |
//! | [`mod@spectrum`] | the singular values of a large matrix above a cut, and their feature directions |
//! | [`summary`] | the same for samples that arrive in portions or are spread over machines |
//! | [`online`] | the same for samples that arrive one by one, in the memory of a few directions |
//! | [`sketch`] | the same for samples too wide for a summary, which are read a few times |

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
pub mod triangle;

pub use blocks::{Blocks, Transposed};
pub use eigenspan_kernel::{descent, rows, steps};
pub use exec::{Exec, Monitor, Quiet};
pub use mat::{Float, Mat, MatMut, MatRef, Scalar};
pub use sketch::Sketch;
pub use spectrum::{singular_values, spectrum};
pub use summary::Summary;

/// What a decomposition can answer besides its result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The [`Monitor`] asked to stop.
    #[error("cancelled")]
    Cancelled,
    /// The backend gave up, or gave an answer that fails its check.
    #[error("the singular value decomposition of a {rows} × {cols} matrix did not converge")]
    NoConvergence {
        /// Rows of the matrix that was decomposed.
        rows: usize,
        /// Its columns.
        cols: usize,
    },
    /// A Gram summary knows nothing as far below σ₁ as the cut.
    #[error("the cut is too low for a Gram summary: summarise the samples again in the triangular form")]
    CutTooLow,
    /// Two summaries, or a summary and new samples, have nothing to do with each other.
    #[error("a {ours} cannot take in a {theirs}")]
    NotAlike {
        /// The summary that was to grow.
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
    /// A decomposition to go on from that cannot be one.
    #[error("no decomposition goes on from here: {0}")]
    NoStart(&'static str),
    /// Samples that are read several times were not the same ones.
    #[error("{now} samples were read, and {before} in the reading before")]
    OtherRows {
        /// Samples of the first reading.
        before: usize,
        /// Samples of this one.
        now: usize,
    },
    /// A summary of no samples was to be finished.
    #[error("there are no samples to decompose")]
    NoRows,
    /// Bytes are not those of a summary.
    #[error("this is not a summary, or a damaged one: {0}")]
    Damaged(&'static str),
}
