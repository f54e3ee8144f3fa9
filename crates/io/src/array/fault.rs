//! What can be wrong with the values of an array.

use std::fmt;

/// What is wrong with the values of an array. Rows and columns are counted from 0.
#[derive(Debug, thiserror::Error)]
pub enum ArrayFault {
    /// The bytes could not be read.
    #[error("cannot read the array: {source}")]
    Read {
        /// The words of the system, or of the decompressor.
        source: std::io::Error,
    },
    /// The bytes end before the values do.
    #[error("the last {missing} bytes of the values are missing")]
    Cut {
        /// Bytes that should have come.
        missing: u64,
    },
    /// The values do not fit into memory.
    #[error("{bytes} bytes of memory are needed for the values, and could not be had")]
    Memory {
        /// Bytes requested.
        bytes: u64,
    },
    /// A value that cannot be taken.
    #[error("row {row}, column {column} (counted from 0) holds {found}, expected {}", found.expected())]
    Cell {
        /// The sample.
        row: usize,
        /// The feature.
        column: usize,
        /// What stands there.
        found: BadValue,
    },
}

impl ArrayFault {
    /// What to do about it.
    pub fn hint(&self) -> String {
        let hint = match self {
            Self::Cell { found: BadValue::NotFinite(_), .. } => {
                "drop these rows or columns, or impute: the column's mean is a common choice"
            }
            Self::Cell { found: BadValue::Inexact(_), .. } => {
                "such large integers are mostly identifiers: leave the column out, or save floats"
            }
            Self::Memory { .. } => "use a machine with more memory, or save the array as 32-bit floats",
            Self::Read { .. } | Self::Cut { .. } | Self::Cell { .. } => {
                "the file is cut or damaged: copy or save it again"
            }
        };
        hint.to_string()
    }
}

/// A value that cannot be taken for what it should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BadValue {
    /// NaN or an infinity.
    NotFinite(f64),
    /// An integer that a 64-bit float would round.
    Inexact(i128),
    /// A bool that is neither 0 nor 1.
    NotBool(u8),
    /// A row number or length below zero.
    Negative(i128),
    /// A row number or length beyond what this machine can count.
    TooLarge(i128),
    /// A class number with a fraction, or too large to be exact.
    NotWhole(f64),
    /// A code that is no Unicode character.
    NotUnicode(u32),
}

impl BadValue {
    /// What should stand there, for messages.
    pub fn expected(&self) -> &'static str {
        match self {
            Self::NotFinite(_) => "a finite number",
            Self::Inexact(_) => "at most 2^53, beyond which 64-bit floats skip integers",
            Self::NotBool(_) => "0 or 1",
            Self::Negative(_) => "0 or more",
            Self::TooLarge(_) => "a number that this machine can count to",
            Self::NotWhole(_) => "a whole number as class",
            Self::NotUnicode(_) => "a Unicode character",
        }
    }
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite(value) | Self::NotWhole(value) => write!(f, "{value}"),
            Self::Inexact(value) | Self::Negative(value) | Self::TooLarge(value) => write!(f, "{value}"),
            Self::NotBool(byte) => write!(f, "the byte {byte} as a bool"),
            Self::NotUnicode(code) => write!(f, "the code {code:#x}"),
        }
    }
}
