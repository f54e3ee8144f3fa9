//! A columnar file read chunk by chunk: record batches in, blocks of samples out.
//!
//! ```text
//!     batches     ├──────┼──────┼──────┼──────┤        as the file has them
//!     blocks      ├─────────┼─────────┼───────┤        as they are requested
//! ```
//! What of a batch does not fit into a block waits for the next one. Every batch goes through the same [`Table`] as in
//! a file that is read whole, behind the same wall: rows, types and messages are the same. Classes and names are
//! checked, and dropped.

use arrow_array::RecordBatch;
use eigenspan_core::data::{Matrix, Source, StreamError};

use super::{ColumnarFault, Plan, Table, guarded};
use crate::error::ReadError;
use crate::read::ClassCounts;

/// Where the batches of a file come from, in their order.
pub(super) trait Batches: Send {
    /// What messages call the format.
    const FORMAT: &'static str;

    /// The next rows; `None` after the last.
    fn next(&mut self) -> Result<Option<RecordBatch>, ReadError>;

    /// Rows of all batches, where the file has them.
    fn rows(&self) -> Option<usize>;

    /// Leaves out as much as can be without decoding it, `rows` at most; returns how many rows these were.
    fn pass(&mut self, _rows: usize) -> usize {
        0
    }
}

/// The samples of a columnar file.
pub(super) struct ColumnarRows<B> {
    file: String,
    batches: B,
    table: Table,
    /// Rows that were decoded and are still to be handed out.
    waiting: Option<RecordBatch>,
    /// After an error nothing that is left can be trusted.
    failed: bool,
    /// The classes read so far, where they are counted.
    classes: Option<ClassCounts>,
}

impl<B: Batches> ColumnarRows<B> {
    /// Reads the first batch, to learn how many features the columns are.
    pub(super) fn new(file: &str, plan: Plan, batches: B, classes: Option<ClassCounts>) -> Result<Self, ReadError> {
        let (file, table) = (file.to_string(), Table::new(plan));
        let mut rows = Self { file, batches, table, waiting: None, failed: false, classes };
        rows.guarded(|rows| {
            let first = rows.next()?.ok_or_else(|| ReadError::content(&rows.file, ColumnarFault::NoRows))?;
            rows.table.learn(&first).map_err(|fault| ReadError::content(&rows.file, fault))?;
            rows.waiting = Some(first);
            Ok(())
        })?;
        Ok(rows)
    }

    /// The names of the features.
    pub(super) fn feature_names(&self) -> Vec<String> {
        self.table.feature_names()
    }

    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, ReadError>) -> Result<T, ReadError> {
        let file = self.file.clone();
        if self.failed {
            let problem = "what could not be read before".to_string();
            return Err(ReadError::content(&file, ColumnarFault::Damaged { format: B::FORMAT, problem }));
        }
        let result = guarded(&file, B::FORMAT, || work(self));
        self.failed = result.is_err();
        result
    }

    /// The next batch that has rows.
    fn next(&mut self) -> Result<Option<RecordBatch>, ReadError> {
        if self.waiting.is_some() {
            return Ok(self.waiting.take());
        }
        while let Some(batch) = self.batches.next()? {
            if batch.num_rows() > 0 {
                return Ok(Some(batch));
            }
        }
        Ok(None)
    }

    /// The next batch, of which what is beyond `most` rows waits.
    fn next_part(&mut self, most: usize) -> Result<Option<RecordBatch>, ReadError> {
        let Some(batch) = self.next()? else { return Ok(None) };
        let rows = batch.num_rows();
        if rows <= most {
            return Ok(Some(batch));
        }
        self.waiting = Some(batch.slice(most, rows - most));
        Ok(Some(batch.slice(0, most)))
    }

    fn block(&mut self, at_most: usize) -> Result<Option<Matrix>, ReadError> {
        let mut count = 0;
        if let Some(all) = self.batches.rows() {
            let left = all - self.table.rows.min(all);
            self.table.reserve(at_most.min(left)).map_err(|fault| ReadError::content(&self.file, fault))?;
        }
        while count < at_most {
            let Some(batch) = self.next_part(at_most - count)? else { break };
            self.table.take(&batch).map_err(|fault| ReadError::content(&self.file, fault))?;
            if let Some(classes) = &self.classes {
                self.table.labels.iter().for_each(|class| classes.add(class));
            }
            self.table.labels.clear();
            self.table.ids.clear();
            count += batch.num_rows();
        }
        Ok((count > 0).then(|| self.table.hand_out()))
    }

    fn leave_out(&mut self, rows: usize) -> Result<usize, ReadError> {
        let mut done = 0;
        while done < rows {
            let mut passed = if self.waiting.is_none() { self.batches.pass(rows - done) } else { 0 };
            if passed == 0 {
                let Some(batch) = self.next_part(rows - done)? else { break };
                passed = batch.num_rows();
            }
            done += passed;
            self.table.rows += passed;
        }
        Ok(done)
    }
}

impl<B: Batches> Source for ColumnarRows<B> {
    fn cols(&self) -> usize {
        self.table.cols()
    }

    fn rows(&self) -> Option<usize> {
        self.batches.rows()
    }

    fn next_block(&mut self, at_most: usize) -> Result<Option<Matrix>, StreamError> {
        Ok(self.guarded(|rows| rows.block(at_most.max(1)))?)
    }

    fn skip(&mut self, rows: usize) -> Result<usize, StreamError> {
        Ok(self.guarded(|all| all.leave_out(rows))?)
    }
}
