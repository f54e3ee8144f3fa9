//! What can be wrong with an NPY array.

use crate::array::{ArrayFault, BadValue};

/// What is wrong with an NPY array. Rows, columns and entries are counted from 0, as NumPy counts them.
#[derive(Debug, thiserror::Error)]
pub enum NpyFault {
    /// The values cannot be read or taken.
    #[error(transparent)]
    Values(#[from] ArrayFault),
    /// The bytes are not an NPY array at all.
    #[error("expected an NPY array, which starts with the bytes 93 4e 55 4d 50 59, found {found}")]
    Magic {
        /// The first bytes, in hexadecimal.
        found: String,
    },
    /// A version of the format that is not known.
    #[error("byte 6: expected NPY version 1.0, 2.0 or 3.0, found {major}.{minor}")]
    Version {
        /// The first number of the version.
        major: u8,
        /// The second number of the version.
        minor: u8,
    },
    /// The bytes end before the header does.
    #[error("the header ends at byte {needed}, but there are only {found} bytes")]
    HeaderCut {
        /// Bytes up to the end of the header.
        needed: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// The header claims to be longer than any real one.
    #[error("byte 8: a header of at most {most} bytes is expected, found one of {found}")]
    HeaderLength {
        /// The length that the file claims.
        found: u64,
        /// The longest header that is read.
        most: u64,
    },
    /// The header is not the text it should be.
    #[error("header, byte {at}: expected {expected}, found {found}")]
    HeaderText {
        /// Offset in the array's bytes.
        at: usize,
        /// What should stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// One of the three keys is missing.
    #[error("the header has no '{key}', expected 'descr', 'fortran_order' and 'shape'")]
    KeyMissing {
        /// The missing key.
        key: &'static str,
    },
    /// A key stands there twice, or is not one of the three.
    #[error("header, byte {at}: expected each of 'descr', 'fortran_order' and 'shape' once, found '{key}'")]
    KeyUnexpected {
        /// Offset in the array's bytes.
        at: usize,
        /// The key that stands there.
        key: String,
    },
    /// Pickled Python objects: reading them would run code from the file.
    #[error("the array holds pickled Python objects (`{descr}`), expected plain numbers")]
    Pickled {
        /// NumPy's name of the type.
        descr: String,
    },
    /// Items that are not real numbers.
    #[error("the array holds {kind} (`{descr}`), expected real numbers of at most 64 bits")]
    ItemType {
        /// NumPy's name of the type.
        descr: String,
        /// What the items are.
        kind: &'static str,
    },
    /// Shape times item size has more bytes than can be counted.
    #[error("the header claims shape {} of `{descr}`, more bytes than any file holds", tuple(shape))]
    Overflow {
        /// The claimed shape.
        shape: Vec<usize>,
        /// NumPy's name of the type.
        descr: String,
    },
    /// The header's claim and the bytes present differ.
    #[error(
        "the header claims shape {} of `{descr}`, {needed} bytes with the header, but there are {found}",
        tuple(shape)
    )]
    Size {
        /// The claimed shape.
        shape: Vec<usize>,
        /// NumPy's name of the type.
        descr: String,
        /// Bytes that header and claimed values take.
        needed: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// A packed array continues after its values.
    #[error(
        "the header claims shape {} of `{descr}`, {needed} bytes with the header, but more bytes follow",
        tuple(shape)
    )]
    Overrun {
        /// The claimed shape.
        shape: Vec<usize>,
        /// NumPy's name of the type.
        descr: String,
        /// Bytes that header and claimed values take.
        needed: u64,
    },
    /// One axis: the values of one feature, or of one sample?
    #[error("expected samples in rows, found an array with one axis of length {len}")]
    OneAxis {
        /// Number of values.
        len: usize,
    },
    /// Neither samples in rows nor a stack of grey images.
    #[error("expected samples × features or images × height × width, found shape {}", tuple(shape))]
    Axes {
        /// The shape found.
        shape: Vec<usize>,
    },
    /// No samples or no features.
    #[error("expected at least one sample and one feature, found shape {}", tuple(shape))]
    NoValues {
        /// The shape found.
        shape: Vec<usize>,
    },
    /// A list of values was expected, with one axis.
    #[error("expected an array with one axis, found shape {}", tuple(shape))]
    NotAList {
        /// The shape found.
        shape: Vec<usize>,
    },
    /// Row numbers and lengths must be integers.
    #[error("expected {expected}, found `{descr}`")]
    NotIntegers {
        /// What the integers should be.
        expected: &'static str,
        /// NumPy's name of the type.
        descr: String,
    },
    /// A value in a list that cannot be taken.
    #[error("entry {at} (counted from 0) holds {found}, expected {}", found.expected())]
    Entry {
        /// Index of the value.
        at: usize,
        /// What stands there.
        found: BadValue,
    },
}

impl NpyFault {
    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Values(fault) => return Some(fault.hint()),
            Self::Pickled { .. } => "make plain numbers or text of them before saving: `np.array(x.tolist())`",
            Self::ItemType { kind: "complex numbers", .. } => {
                "save real and imaginary parts as features: `np.hstack([x.real, x.imag])`"
            }
            Self::ItemType { .. } => "save plain numbers: `np.save(file, np.asarray(x, dtype=float))`",
            Self::OneAxis { .. } => "use `x.reshape(-1, 1)` for one feature, `x.reshape(1, -1)` for one sample",
            Self::Axes { shape } if shape.len() == 4 => {
                "color images: use one channel, or `x.reshape(len(x), -1)` to take all as features"
            }
            Self::Axes { .. } => "use `x.reshape(len(x), -1)` to make every sample one row",
            Self::NoValues { .. } => "check the selection that this array was saved from",
            Self::NotAList { .. } => "use `x.ravel()`",
            Self::NotIntegers { .. } => "save `x.astype(int)`",
            Self::Entry { found: BadValue::Negative(_), .. } => "row numbers count from 0, from the start of the data",
            Self::Entry { found: BadValue::NotWhole(_), .. } => "save classes as integers or as text",
            Self::HeaderCut { .. } | Self::Size { .. } | Self::Overrun { .. } => {
                "the file is cut or damaged: copy or save it again"
            }
            Self::Magic { .. }
            | Self::Version { .. }
            | Self::HeaderLength { .. }
            | Self::HeaderText { .. }
            | Self::KeyMissing { .. }
            | Self::KeyUnexpected { .. }
            | Self::Overflow { .. }
            | Self::Entry { .. } => "the file is damaged or not made by NumPy: save it again with `np.save`",
        };
        Some(hint.to_string())
    }
}

/// A shape as Python writes it.
pub(crate) fn tuple(shape: &[usize]) -> String {
    match shape {
        [one] => format!("({one},)"),
        _ => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}
