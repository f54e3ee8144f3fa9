//! Writes Parquet: a column for every column, packed by Zstandard.

use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray, UInt8Array};
use arrow_schema::{DataType, Field, Schema};
use eigenspan_core::data::{Matrix, NumberType, Samples, Sink, StreamError};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use crate::Names;
use crate::atomic::Replacement;
use crate::error::WriteError;

/// Bytes of a row group at most: what is kept in memory until it is written, and again by whoever reads it chunk by
/// chunk.
const GROUP_BYTES: usize = 64 << 20;

/// Rows of a row group.
fn group_rows(cols: usize) -> usize {
    (GROUP_BYTES / (8 * cols.max(1))).clamp(256, 1 << 16)
}

/// Bytes that a file of `cols` columns keeps in memory while it is written: a row group, as it is and packed.
pub(crate) fn held(cols: usize) -> u128 {
    16 * group_rows(cols) as u128 * cols as u128
}

/// Rows on their way to a Parquet file.
pub(crate) struct ParquetSink {
    state: State,
    file: String,
    columns: Vec<String>,
    /// The names of the rows to come.
    ids: Option<std::vec::IntoIter<String>>,
}

enum State {
    /// The type of the numbers is not known before the first block.
    Waiting(Replacement),
    Writing(Box<ArrowWriter<Replacement>>, NumberType),
    /// Something failed: the file was given up.
    Failed,
}

impl ParquetSink {
    pub(crate) fn create(path: &Path, cols: usize, names: Names<'_>) -> Result<Self, WriteError> {
        let out = Replacement::begin(path)?;
        let file = out.name();
        let columns = names.of_columns(&file, cols)?;
        let columns = columns.unwrap_or_else(|| (0..cols).map(|j| format!("x{j}")).collect());
        Ok(Self { state: State::Waiting(out), file, columns, ids: names.ids.map(Vec::into_iter) })
    }

    /// Begins the file, where it has not begun yet.
    fn writer(&mut self, number: NumberType) -> Result<(&mut ArrowWriter<Replacement>, NumberType), WriteError> {
        self.state = match std::mem::replace(&mut self.state, State::Failed) {
            State::Waiting(out) => {
                let schema = self.schema(number);
                let writer = ArrowWriter::try_new(out, schema, Some(properties(self.columns.len())));
                State::Writing(Box::new(writer.map_err(|error| failed(&self.file, error))?), number)
            }
            state => state,
        };
        match &mut self.state {
            State::Writing(writer, number) => Ok((writer.as_mut(), *number)),
            _ => Err(failed(&self.file, ParquetError::General("an earlier block could not be written".to_string()))),
        }
    }

    fn schema(&self, number: NumberType) -> Arc<Schema> {
        let kind = match number {
            NumberType::F64 => DataType::Float64,
            NumberType::F32 => DataType::Float32,
            NumberType::U8 => DataType::UInt8,
        };
        let id = self.ids.is_some().then(|| Field::new("id", DataType::Utf8, false));
        let numbers = self.columns.iter().map(|name| Field::new(name, kind.clone(), false));
        Arc::new(Schema::new(id.into_iter().chain(numbers).collect::<Vec<_>>()))
    }
}

fn properties(cols: usize) -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        // Measurements hardly repeat.
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(Some(group_rows(cols)))
        .build()
}

impl Sink for ParquetSink {
    fn write_block(&mut self, rows: &Matrix) -> Result<(), StreamError> {
        let rows = rows.view();
        let (file, expected, found) = (self.file.clone(), self.columns.len(), rows.cols());
        if found != expected {
            return Err(WriteError::Columns { file, expected, found }.into());
        }
        let found = rows.number_type();
        let (_, expected) = self.writer(found)?;
        if found != expected {
            return Err(WriteError::NumberType { file, expected, found }.into());
        }
        let ids = self.ids.as_mut().map(|ids| {
            let names = (0..rows.rows()).map(|_| ids.next().unwrap_or_default());
            Arc::new(StringArray::from_iter_values(names)) as ArrayRef
        });
        let columns = ids.into_iter().chain((0..rows.cols()).map(|j| column(&rows, j))).collect();
        let batch =
            RecordBatch::try_new(self.schema(found), columns).expect("columns of one length, as the schema says");
        let (writer, _) = self.writer(found)?;
        if let Err(error) = writer.write(&batch) {
            self.state = State::Failed;
            return Err(failed(&file, error).into());
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), StreamError> {
        self.writer(NumberType::F64)?;
        let Self { state, file, .. } = *self;
        let State::Writing(writer, _) = state else { unreachable!("the file has just begun") };
        let out = writer.into_inner().map_err(|error| failed(&file, error))?;
        Ok(out.commit()?)
    }
}

fn column(rows: &Samples<'_>, j: usize) -> ArrayRef {
    let all = 0..rows.rows();
    match rows {
        Samples::F32(x) => Arc::new(Float32Array::from_iter_values(all.flat_map(|i| x.row_values(i, j..j + 1)))),
        Samples::U8(x) => Arc::new(UInt8Array::from_iter_values(all.flat_map(|i| x.row_values(i, j..j + 1)))),
        Samples::F64(x) => Arc::new(Float64Array::from_iter_values(all.flat_map(|i| x.row_values(i, j..j + 1)))),
        Samples::Csr(_) => {
            let mut cell = [0.0];
            Arc::new(Float64Array::from_iter_values(all.map(|i| {
                rows.read_row(i, j..j + 1, &mut cell);
                cell[0]
            })))
        }
    }
}

fn failed(file: &str, error: ParquetError) -> WriteError {
    let source = match error {
        ParquetError::External(error) => match error.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(error) => io::Error::other(error),
        },
        error => io::Error::other(error),
    };
    WriteError::Io { file: file.to_string(), doing: "write", source }
}
