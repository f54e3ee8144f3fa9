//! The linear algebra of eigenspan.
//!
//! This is the only crate that names a backend (faer). Everything that leaves it is ours: [`Mat`] and its
//! views, singular values in descending order, and results that do not depend on the number of threads.
//!
//! | module | what it computes |
//! |---|---|
//! | [`mat`] | dense matrices and strided views |
//! | [`blocks`] | matrices that are read block by block |
//! | [`scale`] | powers of two, exact |
//! | [`exec`] | work cut by shape, run on a few threads, watched by a [`exec::Monitor`] |
//! | [`triangle`] | the triangular factor R of a matrix read block by block |
//! | [`svd`] | singular values and vectors of a small dense matrix |
//! | [`product`] | rows times a matrix, each row the same bits in any company |
//! | [`spectrum`] | all singular values of a large matrix and its leading feature directions |

pub mod blocks;
pub mod exec;
pub mod mat;
pub mod product;
pub mod scale;
pub mod spectrum;
pub mod svd;
pub mod triangle;

pub use blocks::{Blocks, Transposed};
pub use exec::{Exec, Monitor, Quiet};
pub use mat::{Float, Mat, MatMut, MatRef, Scalar};
pub use spectrum::{Decomposition, decompose, singular_values};

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
}
