//! Rows that are read and written block by block. The traits are here, the files behind them in `eigenspan-io`.

use super::matrix::Matrix;

/// The error of a source or sink.
pub type StreamError = Box<dyn std::error::Error + Send + Sync>;

/// Samples that are read block after block.
pub trait Source {
    /// Number of features in every block.
    fn cols(&self) -> usize;
    /// Number of samples in all blocks together, where it is available beforehand.
    fn rows(&self) -> Option<usize>;
    /// The next samples: `at_most` of them, fewer only where no more are left; `None` after the last.
    fn next_block(&mut self, at_most: usize) -> Result<Option<Matrix>, StreamError>;
    /// Skips the next `rows` samples; returns how many there were.
    fn skip(&mut self, rows: usize) -> Result<usize, StreamError> {
        let mut done = 0;
        while done < rows {
            let Some(block) = self.next_block((rows - done).min(4096))? else { break };
            done += block.rows();
        }
        Ok(done)
    }
}

/// A destination of rows, block after block.
pub trait Sink {
    /// Writes some rows.
    fn write_block(&mut self, rows: &Matrix) -> Result<(), StreamError>;
    /// Publishes everything written under the final name, atomically. A sink dropped before leaves nothing behind.
    fn finish(self: Box<Self>) -> Result<(), StreamError>;
}
