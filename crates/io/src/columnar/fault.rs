//! What can be wrong with a columnar file.

use super::cells::LONGEST;
use crate::array::BadValue;
use crate::table::LabelFault;

/// What is wrong with a Parquet or Arrow file. Rows are counted from 0.
#[derive(Debug, thiserror::Error)]
pub enum ColumnarFault {
    /// The structure of the file does not hold together.
    #[error("expected a whole {format} file, found {problem}")]
    Damaged {
        /// `Parquet` or `Arrow`.
        format: &'static str,
        /// What about it is wrong.
        problem: String,
    },
    /// The file or its columns need a key.
    #[error("expected a Parquet file that is not encrypted, found one that is")]
    Encrypted,
    /// The file was written by a machine of the other byte order.
    #[error("expected numbers with their low byte first, found big-endian ones")]
    BigEndian,
    /// A column is packed in a way that is not read.
    #[error("column `{column}` is packed by {codec}, expected Snappy, gzip, LZ4, Zstandard or no packing")]
    Codec {
        /// The column.
        column: String,
        /// How it is packed.
        codec: &'static str,
    },
    /// A column is stored in a way that is not read.
    #[error("column `{column}` is stored as {encoding}, expected plain values or a dictionary")]
    Encoding {
        /// The column.
        column: String,
        /// How it is stored.
        encoding: &'static str,
    },
    /// A table without rows.
    #[error("expected at least one row, found none")]
    NoRows,
    /// Every column is a label or an id.
    #[error("expected at least one column of numbers, found only labels and ids ({columns} in all)")]
    NoFeatures {
        /// Number of columns.
        columns: usize,
    },
    /// A column of a type that cannot be taken.
    #[error("column `{column}` holds {found}, expected {expected}")]
    Type {
        /// The column.
        column: String,
        /// What it holds.
        found: String,
        /// What it should hold.
        expected: &'static str,
    },
    /// A null.
    #[error("row {row} (counted from 0), column `{column}`: expected {expected}, found a null")]
    Missing {
        /// The row.
        row: usize,
        /// The column.
        column: String,
        /// What should stand there.
        expected: &'static str,
    },
    /// A value that cannot be taken.
    #[error("row {row} (counted from 0), column `{column}` holds {found}, expected {}", found.expected())]
    Value {
        /// The row.
        row: usize,
        /// The column.
        column: String,
        /// What stands there.
        found: BadValue,
    },
    /// A text that is too long to be a class or a name.
    #[error("row {row} (counted from 0), column `{column}`: expected at most {LONGEST} bytes of text, found {bytes}")]
    LongText {
        /// The row.
        row: usize,
        /// The column.
        column: String,
        /// Length of the text.
        bytes: usize,
    },
    /// A list that is longer or shorter than the first.
    #[error("row {row} (counted from 0), column `{column}`: expected a list of {expected} as in row 0, found {found}")]
    ListLength {
        /// The row.
        row: usize,
        /// The column.
        column: String,
        /// Length of the first list.
        expected: usize,
        /// Length of this one.
        found: usize,
    },
    /// Values that cannot be dealt out evenly.
    #[error("column `{column}`: expected lists of one length, found {values} values in {rows} rows")]
    Uneven {
        /// The column.
        column: String,
        /// Values of all lists of a row group.
        values: usize,
        /// Rows of the row group.
        rows: usize,
    },
    /// The values do not fit into memory.
    #[error("{bytes} bytes of memory are needed for the values, and could not be had")]
    Memory {
        /// Bytes requested.
        bytes: u128,
    },
    /// A row group or a record batch, which is held as a whole, is larger than what is allowed.
    #[error("{rows} rows in one piece take {} MiB of memory, packed and unpacked, expected at most {}", mib(*bytes), mib((*allowed).into()))]
    Group {
        /// Rows of the largest row group or record batch.
        rows: usize,
        /// Bytes that reading it takes.
        bytes: u128,
        /// Bytes that may be taken.
        allowed: u64,
    },
    /// The names of the rows, which are held all at once, are larger than what is allowed.
    #[error("the names of {rows} rows take more memory than the {} MiB that are allowed", mib((*allowed).into()))]
    Names {
        /// Rows of the file.
        rows: usize,
        /// Bytes that may be taken.
        allowed: u64,
    },
    /// The label column cannot be determined.
    #[error(transparent)]
    Label(#[from] LabelFault),
}

impl ColumnarFault {
    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Damaged { .. } => "the file is cut or damaged: copy or save it again",
            Self::Encrypted => "decrypt it first, with a program that has the key",
            Self::BigEndian => "write it again on a machine that is little-endian, as most are",
            Self::Codec { .. } => "write it again: `compression=\"zstd\"` in pyarrow, pandas and polars",
            Self::Encoding { .. } => "write it again with `use_dictionary=True`",
            Self::NoRows => "check the program that wrote it",
            Self::NoFeatures { .. } => "add the columns that hold the measurements",
            Self::Type { found, .. } if found.contains("decimals") => "write the column as 64-bit floats",
            Self::Type { column, expected: "numbers", .. } => {
                return Some(format!("leave the column out, or use `--label {column}` if it holds classes"));
            }
            Self::Type { expected: "classes", .. } => {
                "give another column with `--label`, or write its classes as text or whole numbers"
            }
            Self::Type { .. } => "leave the column out, or write it as text or whole numbers",
            Self::Missing { expected: "a class", .. } => "drop the rows without a class, or give them one",
            Self::Missing { expected: "a name", .. } => "name all rows, or leave the column out",
            Self::Missing { .. } | Self::Value { found: BadValue::NotFinite(_), .. } => {
                "drop the rows or columns with missing values, or impute them: the column's mean is a common choice"
            }
            Self::Value { found: BadValue::Inexact(_), .. } => {
                "such large integers are mostly identifiers: leave the column out, or save floats"
            }
            Self::Value { .. } => "write classes as text or whole numbers",
            Self::LongText { .. } => "a class and a name are a few words: shorten them, or leave the column out",
            Self::ListLength { .. } | Self::Uneven { .. } => {
                "bring all lists to one length, or leave the column out: every place in a list is a feature"
            }
            Self::Memory { .. } => "use a machine with more memory, or save the columns as 32-bit floats",
            Self::Group { rows, bytes, allowed } => {
                // A quarter of what is allowed leaves space for the rest of the work.
                let most = (*rows as u128 * u128::from(*allowed) / 4 / (*bytes).max(1)).max(1);
                let rows = 1u128 << most.ilog2();
                return Some(format!(
                    "write it with smaller row groups, `row_group_size={rows}` in pyarrow, pandas and polars, or allow more memory"
                ));
            }
            Self::Names { .. } => "leave the column `id` out, or allow more memory",
            Self::Label(fault) => return Some(fault.hint()),
        };
        Some(hint.to_string())
    }
}

/// Bytes in a message.
fn mib(bytes: u128) -> u128 {
    bytes.div_ceil(1 << 20)
}
