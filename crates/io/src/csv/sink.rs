//! Writes CSV or TSV row after row.

use std::io::{self, Stdout, Write};
use std::path::Path;

use eigenspan_core::data::{Matrix, Samples, Sink, StreamError};

use crate::Names;
use crate::atomic::{Replacement, Storage};
use crate::error::WriteError;

/// Rows on their way to a file or to standard output.
pub(crate) struct CsvSink<W: Write> {
    out: csv::Writer<W>,
    file: String,
    cols: usize,
    /// The names of the rows to come.
    ids: Option<std::vec::IntoIter<String>>,
    /// What is to do when all rows are written.
    commit: fn(W) -> Result<(), WriteError>,
}

impl CsvSink<Replacement> {
    pub(crate) fn create(path: &Path, separator: u8, cols: usize, names: Names<'_>) -> Result<Self, WriteError> {
        Self::replacing(Replacement::begin(path)?, separator, cols, names)
    }
}

impl<F: Storage> CsvSink<Replacement<F>> {
    pub(crate) fn replacing(
        out: Replacement<F>,
        separator: u8,
        cols: usize,
        names: Names<'_>,
    ) -> Result<Self, WriteError> {
        let file = out.name();
        Self::new(out, file, separator, cols, Replacement::commit).with_names(names)
    }
}

impl CsvSink<Stdout> {
    pub(crate) fn stdout(cols: usize, names: Names<'_>) -> Result<Self, WriteError> {
        Self::new(io::stdout(), "standard output".to_string(), b',', cols, |_| Ok(())).with_names(names)
    }
}

impl<W: Write> CsvSink<W> {
    fn new(out: W, file: String, separator: u8, cols: usize, commit: fn(W) -> Result<(), WriteError>) -> Self {
        let out = csv::WriterBuilder::new().delimiter(separator).from_writer(out);
        Self { out, file, cols, ids: None, commit }
    }

    fn with_names(mut self, names: Names<'_>) -> Result<Self, WriteError> {
        let columns = names.of_columns(&self.file, self.cols)?;
        let id = names.ids.is_some().then(|| "id".to_string());
        let header: Vec<&String> = id.iter().chain(columns.iter().flatten()).collect();
        if !header.is_empty() {
            self.out.write_record(header).map_err(|error| failed(&self.file, error))?;
        }
        self.ids = names.ids.map(Vec::into_iter);
        Ok(self)
    }

    fn write_rows(&mut self, rows: &Samples<'_>) -> csv::Result<()> {
        let mut line = vec![0.0; rows.cols()];
        for i in 0..rows.rows() {
            if let Some(ids) = &mut self.ids {
                self.out.write_field(ids.next().unwrap_or_default())?;
            }
            match rows {
                // Through f64 the shortest form of a single would be lost: 0.1 would become 0.10000000149011612.
                Samples::F32(x) => x.row_values(i, 0..rows.cols()).try_for_each(|v| self.out.write_field(single(v)))?,
                _ => {
                    rows.read_row(i, 0..rows.cols(), &mut line);
                    line.iter().try_for_each(|&v| self.out.write_field(double(v)))?;
                }
            }
            self.out.write_record(None::<&[u8]>)?;
        }
        Ok(())
    }
}

impl<W: Write> Sink for CsvSink<W> {
    fn write_block(&mut self, rows: &Matrix) -> Result<(), StreamError> {
        let rows = rows.view();
        if rows.cols() != self.cols {
            return Err(WriteError::Columns { file: self.file.clone(), expected: self.cols, found: rows.cols() }.into());
        }
        Ok(self.write_rows(&rows).map_err(|error| failed(&self.file, error))?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), StreamError> {
        self.out.flush().map_err(|error| failed(&self.file, error.into()))?;
        let Self { out, file, commit, .. } = *self;
        let out = out.into_inner().map_err(|error| failed(&file, io::Error::other(error.to_string()).into()))?;
        Ok(commit(out)?)
    }
}

fn failed(file: &str, error: csv::Error) -> WriteError {
    // Not by `into`, which would forget what kind of error it was, and with it the hint.
    let text = error.to_string();
    let source = match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        _ => io::Error::other(text),
    };
    WriteError::Io { file: file.to_string(), doing: "write", source }
}

/// The shortest text that reads back to the same bits: plain digits, or with an exponent where these would be long.
fn double(value: f64) -> String {
    if plain(value.abs()) { format!("{value}") } else { format!("{value:e}") }
}

fn single(value: f32) -> String {
    if plain(f64::from(value.abs())) { format!("{value}") } else { format!("{value:e}") }
}

fn plain(size: f64) -> bool {
    size == 0.0 || (1e-5..1e16).contains(&size) || !size.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_read_back_to_the_same_bits() {
        for (value, text) in [
            (0.1, "0.1"),
            (-0.0, "-0"),
            (1.0, "1"),
            (1e300, "1e300"),
            (5e-324, "5e-324"),
            (f64::MAX, "1.7976931348623157e308"),
        ] {
            assert_eq!(double(value), text);
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        assert_eq!(single(0.1), "0.1");
    }
}
