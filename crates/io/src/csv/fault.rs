//! What can be wrong with a CSV table.

use std::fmt;

use crate::table::LabelFault;

/// What is wrong with a CSV table. Lines and columns are counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CsvFault {
    /// Nothing but a header, or blank lines.
    #[error("expected at least one row of numbers, found {}", if *header { "a header alone" } else { "none" })]
    NoRows {
        /// Whether there is one line, and it is not one of numbers.
        header: bool,
    },
    /// Every column is a label or an id.
    #[error("expected at least one column of numbers, found only labels and ids ({columns} in all)")]
    NoFeatures {
        /// Number of columns.
        columns: usize,
    },
    /// A row is longer or shorter than the first.
    #[error("line {line}: expected as many columns as the first row has ({expected}), found {found}")]
    Ragged {
        /// The line.
        line: usize,
        /// Columns of the first row.
        expected: usize,
        /// Columns of this row.
        found: usize,
    },
    /// A cell is empty.
    #[error("line {line}, {column}: expected {expected}, found an empty cell")]
    Missing {
        /// The line.
        line: usize,
        /// The column.
        column: Column,
        /// What should stand there.
        expected: &'static str,
    },
    /// A cell holds NaN or an infinity.
    #[error("line {line}, {column}: expected a finite number, found `{text}`")]
    NotFinite {
        /// The line.
        line: usize,
        /// The column.
        column: Column,
        /// What stands there.
        text: String,
    },
    /// A cell is not a number.
    #[error("line {line}, {column}: expected a number, found `{text}`")]
    NotNumber {
        /// The line.
        line: usize,
        /// The column.
        column: Column,
        /// What stands there, cut after 40 characters.
        text: String,
    },
    /// The label column cannot be determined.
    #[error(transparent)]
    Label(#[from] LabelFault),
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its number, counted from 1.
    pub number: usize,
    /// Its name, where there is a header.
    pub name: Option<String>,
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "column {} (`{name}`)", self.number),
            None => write!(f, "column {}", self.number),
        }
    }
}

impl CsvFault {
    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NoRows { header: true } => {
                "numbers are separated by comma, semicolon or tab, and decimals have a point".to_string()
            }
            Self::NoRows { .. } => "check the program that wrote it".to_string(),
            Self::NoFeatures { .. } => "add the columns that hold the measurements".to_string(),
            Self::Ragged { expected: 1, .. } => {
                "remove titles and comments above the table; columns are separated by comma, semicolon or tab"
                    .to_string()
            }
            Self::Ragged { .. } => "check this line for a missing or an additional separator or quote".to_string(),
            Self::Missing { expected: "a class", .. } => "drop the rows without a class, or give them one".to_string(),
            Self::Missing { .. } | Self::NotFinite { .. } => {
                "drop the rows or columns with missing values, or impute them: the column's mean is a common choice"
                    .to_string()
            }
            Self::NotNumber { text, .. } if text.contains([',', ';']) => {
                "write decimals with a point; columns are separated by comma, semicolon or tab".to_string()
            }
            Self::NotNumber { column, .. } => {
                format!("leave the column out, or use `--label {}` if it holds classes", column.number)
            }
            Self::Label(fault) => fault.hint(),
        })
    }
}
