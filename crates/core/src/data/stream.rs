//! Rows that arrive and leave block by block. The traits are here, the files behind them in `eigenspan-io`.

use super::matrix::Matrix;

/// What a source or sink failed on, in its own words.
pub type StreamError = Box<dyn std::error::Error + Send + Sync>;

/// Samples that arrive block after block.
pub trait Source {
    /// Number of features in every block.
    fn cols(&self) -> usize;
    /// Number of samples in all blocks together, where known beforehand.
    fn rows(&self) -> Option<usize>;
    /// The next samples, at most `at_most` of them; `None` after the last.
    fn next_block(&mut self, at_most: usize) -> Result<Option<Matrix>, StreamError>;
}

/// Takes rows, block after block.
pub trait Sink {
    /// Takes some rows.
    fn write_block(&mut self, rows: &Matrix) -> Result<(), StreamError>;
    /// Makes what was written visible under its name, all at once. A sink dropped before leaves nothing behind.
    fn finish(self: Box<Self>) -> Result<(), StreamError>;
}
