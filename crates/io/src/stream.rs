//! Samples in memory, handed out in blocks.

use eigenspan_core::data::{Matrix, Source, StreamError};

/// What cannot be read in part is read whole, and handed out row after row.
pub struct InMemory {
    samples: Matrix,
    done: usize,
}

impl InMemory {
    /// All rows of `samples`, from the first.
    pub fn new(samples: Matrix) -> Self {
        Self { samples, done: 0 }
    }
}

impl Source for InMemory {
    fn cols(&self) -> usize {
        self.samples.cols()
    }

    fn rows(&self) -> Option<usize> {
        Some(self.samples.rows())
    }

    fn next_block(&mut self, at_most: usize) -> Result<Option<Matrix>, StreamError> {
        let end = self.done.saturating_add(at_most.max(1)).min(self.samples.rows());
        let index: Vec<usize> = (self.done..end).collect();
        self.done = end;
        Ok((!index.is_empty()).then(|| self.samples.select_rows(&index)))
    }
}
