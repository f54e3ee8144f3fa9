//! Writes an NPY array row after row.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use eigenspan_core::data::{Matrix, NumberType, Samples, Sink, StreamError};

use super::header::{WRITTEN, written};
use crate::atomic::{Replacement, Storage};
use crate::error::WriteError;

/// An NPY file whose rows are not counted yet: the header is written when they are.
pub(crate) struct NpySink<F: Storage = File> {
    out: Replacement<F>,
    cols: usize,
    rows: usize,
    number_type: Option<NumberType>,
}

impl NpySink {
    pub(crate) fn create(path: &Path, cols: usize) -> Result<Self, WriteError> {
        Self::new(Replacement::begin(path)?, cols)
    }
}

impl<F: Storage> NpySink<F> {
    pub(crate) fn new(mut out: Replacement<F>, cols: usize) -> Result<Self, WriteError> {
        out.write_all(&[0; WRITTEN]).map_err(|source| out.failed("write", source))?;
        Ok(Self { out, cols, rows: 0, number_type: None })
    }
}

impl<F: Storage> Sink for NpySink<F> {
    fn write_block(&mut self, rows: &Matrix) -> Result<(), StreamError> {
        let rows = rows.view();
        let (found, first) = (rows.number_type(), *self.number_type.get_or_insert(rows.number_type()));
        if rows.cols() != self.cols {
            return Err(WriteError::Columns { file: self.out.name(), expected: self.cols, found: rows.cols() }.into());
        }
        if found != first {
            return Err(WriteError::NumberType { file: self.out.name(), expected: first, found }.into());
        }
        write_rows(&mut self.out, &rows).map_err(|source| self.out.failed("write", source))?;
        self.rows += rows.rows();
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), StreamError> {
        let descr = match self.number_type {
            Some(NumberType::F32) => "<f4",
            Some(NumberType::U8) => "|u1",
            Some(NumberType::F64) | None => "<f8",
        };
        let header = written(descr, self.rows, self.cols);
        let start = self.out.seek(SeekFrom::Start(0)).and_then(|_| self.out.write_all(&header));
        start.map_err(|source| self.out.failed("write", source))?;
        Ok(self.out.commit()?)
    }
}

fn write_rows(out: &mut impl Write, rows: &Samples<'_>) -> std::io::Result<()> {
    let cols = 0..rows.cols();
    let mut line = vec![0.0; rows.cols()];
    for i in 0..rows.rows() {
        match rows {
            Samples::F32(x) => x.row_values(i, cols.clone()).try_for_each(|v| out.write_all(&v.to_le_bytes()))?,
            Samples::U8(x) => x.row_values(i, cols.clone()).try_for_each(|v| out.write_all(&[v]))?,
            Samples::F64(_) | Samples::Csr(_) => {
                rows.read_row(i, cols.clone(), &mut line);
                line.iter().try_for_each(|v| out.write_all(&v.to_le_bytes()))?;
            }
        }
    }
    Ok(())
}
