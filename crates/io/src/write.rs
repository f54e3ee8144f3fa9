//! Files that take rows in blocks.

use std::path::Path;

use eigenspan_core::data::Sink;

#[cfg(feature = "columnar")]
use crate::columnar;
use crate::error::WriteError;
use crate::{csv, npy};

/// What rows and columns of a file to be written are called.
#[derive(Debug, Clone, Default)]
pub struct Names<'a> {
    /// A name for every column.
    pub columns: Option<&'a [String]>,
    /// A name for every row, in the order in which rows will be written.
    pub ids: Option<Vec<String>>,
}

impl Names<'_> {
    /// The names of `cols` columns: those given, `x0`, `x1`, … where rows have names and columns have not.
    pub(crate) fn of_columns(&self, file: &str, cols: usize) -> Result<Option<Vec<String>>, WriteError> {
        match self.columns {
            Some(names) if names.len() != cols => {
                Err(WriteError::Names { file: file.to_string(), cols, found: names.len() })
            }
            Some(names) => Ok(Some(names.to_vec())),
            None => Ok(self.ids.is_some().then(|| (0..cols).map(|j| format!("x{j}")).collect())),
        }
    }
}

/// Creates a file of `cols` columns that takes rows in blocks: NPY, CSV, TSV or Parquet (feature `columnar`) by the end
/// of its name; `-` is CSV on standard output.
///
/// NPY and Parquet keep the number type of the first block, NPY no names. CSV begins with the names of the columns, and
/// every row with its own, where there are some; Parquet has names of rows in a column `id`. The file appears under its
/// name when the sink is finished, and not before.
pub fn create(path: &Path, cols: usize, names: Names<'_>) -> Result<Box<dyn Sink>, WriteError> {
    if path == Path::new("-") {
        return Ok(Box::new(csv::CsvSink::stdout(cols, names)?));
    }
    let extension = path.extension().map(|end| end.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("npy") => Ok(Box::new(npy::NpySink::create(path, cols)?)),
        Some("csv") => Ok(Box::new(csv::CsvSink::create(path, b',', cols, names)?)),
        Some("tsv") => Ok(Box::new(csv::CsvSink::create(path, b'\t', cols, names)?)),
        #[cfg(feature = "columnar")]
        Some("parquet") => Ok(Box::new(columnar::ParquetSink::create(path, cols, names)?)),
        #[cfg(not(feature = "columnar"))]
        Some("parquet") => Err(WriteError::NotBuilt { file: path.display().to_string() }),
        _ => Err(WriteError::Extension { file: path.display().to_string() }),
    }
}

/// Bytes that the sink of [`create`] keeps in memory besides the blocks that it is given: a row group of a Parquet
/// file.
pub fn held_by_sink(path: &Path, cols: usize) -> u128 {
    let is_parquet = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"));
    if is_parquet { parquet_bytes(cols) } else { 0 }
}

#[cfg(feature = "columnar")]
use columnar::held_by_sink as parquet_bytes;

/// Nothing is written as Parquet in this build.
#[cfg(not(feature = "columnar"))]
fn parquet_bytes(_cols: usize) -> u128 {
    0
}
