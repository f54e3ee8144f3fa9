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
    /// The next samples: `at_most` of them, fewer only where no more are left; `None` after the last.
    fn next_block(&mut self, at_most: usize) -> Result<Option<Matrix>, StreamError>;
    /// Leaves the next `rows` samples out; returns how many of them there were.
    fn skip(&mut self, rows: usize) -> Result<usize, StreamError> {
        let mut done = 0;
        while done < rows {
            let Some(block) = self.next_block((rows - done).min(4096))? else { break };
            done += block.rows();
        }
        Ok(done)
    }
}

/// Takes rows, block after block.
pub trait Sink {
    /// Takes some rows.
    fn write_block(&mut self, rows: &Matrix) -> Result<(), StreamError>;
    /// Makes what was written visible under its name, all at once. A sink dropped before leaves nothing behind.
    fn finish(self: Box<Self>) -> Result<(), StreamError>;
}
