//! What can be wrong with a MATLAB file.

use super::element::times;
use super::{MOST_EMPTY, Place};
use crate::array::{ArrayFault, BadValue};

/// What is wrong with a MATLAB file. Bytes are counted from 0.
#[derive(Debug, thiserror::Error)]
pub enum MatFault {
    /// The values cannot be read or taken.
    #[error(transparent)]
    Values(#[from] ArrayFault),
    /// The bytes end before the header does.
    #[error("a MATLAB file starts with a header of 128 bytes, but there are only {found} bytes")]
    HeaderCut {
        /// Bytes that are there.
        found: usize,
    },
    /// Another version, or no byte order.
    #[error("byte 124: expected version 1 and the byte order, `00 01 49 4d` or `01 00 4d 49`, found `{found}`")]
    Version {
        /// The four bytes, in hexadecimal.
        found: String,
    },
    /// Version 7.3 is another format.
    #[error("the header says MATLAB 7.3, which is HDF5 from byte 512 on, but no HDF5 is there")]
    Hdf5,
    /// The bytes end inside a tag.
    #[error("{place}: expected the tag of an element, 8 bytes, found only {found}")]
    TagCut {
        /// Where the tag begins.
        place: Place,
        /// Bytes that are there.
        found: u64,
    },
    /// A short tag that claims more than it has space for.
    #[error("{place}: expected at most 4 bytes of data in a short tag, found a claim of {found}")]
    Small {
        /// Where the tag begins.
        place: Place,
        /// Bytes claimed.
        found: u32,
        /// The tag, which is a type where no short tag is expected.
        word: u32,
    },
    /// An element of another type than its place demands.
    #[error(
        "{place}: expected {expected}, found {}",
        found.map_or("the end of the element".to_string(), |kind| format!("an element of type {kind}"))
    )]
    Kind {
        /// Where the element begins.
        place: Place,
        /// What should be there.
        expected: &'static str,
        /// The number of the type that is there.
        found: Option<u32>,
    },
    /// An element claims more bytes than follow.
    #[error("{place}: the element claims {claimed} bytes, but only {found} follow")]
    Size {
        /// Where the element begins.
        place: Place,
        /// Bytes claimed.
        claimed: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// A part of the head of an array has an impossible size.
    #[error("{place}: expected {expected}, found {found} bytes")]
    Field {
        /// Where the element begins.
        place: Place,
        /// What should be there.
        expected: &'static str,
        /// Bytes that are there.
        found: u64,
    },
    /// A length below zero.
    #[error("{place}: dimension {axis} is {found}, expected 0 or more")]
    Negative {
        /// Where the dimensions begin.
        place: Place,
        /// The dimension, counted from 1.
        axis: usize,
        /// What stands there.
        found: i32,
    },
    /// A packed element cannot be unpacked.
    #[error("what is packed at byte {at} cannot be unpacked: {source}")]
    Unpack {
        /// Where the element begins.
        at: u64,
        /// The decompressor's words.
        source: std::io::Error,
    },
    /// A packed element continues after its array.
    #[error("{place}: expected the end of the packed array, found more bytes")]
    Overrun {
        /// Where the array should end.
        place: Place,
    },
    /// The size of the array and of its values differ.
    #[error("{} values of {item} bytes each take {} bytes, but {found} are there", times(shape), in_words(*needed))]
    ValueBytes {
        /// The claimed lengths of the axes.
        shape: Vec<usize>,
        /// Bytes of an item.
        item: usize,
        /// Bytes that the claimed values take; `None` where they cannot be counted.
        needed: Option<u64>,
        /// Bytes that are there.
        found: u64,
    },
    /// Values stored as a type that does not go with the class of the array.
    #[error("{place}: expected the values of a {class} array, found an element of type {found}")]
    Stored {
        /// Where the values begin.
        place: Place,
        /// Size and class of the array.
        class: String,
        /// The number of the type of the element.
        found: u32,
    },
    /// The array requested holds no real numbers.
    #[error("expected real numbers, found {found}")]
    NotNumbers {
        /// Size and class of the array.
        found: String,
    },
    /// Neither samples × features nor a stack of grey images.
    #[error("expected a matrix, or images as height × width × samples, found {}", times(shape))]
    Axes {
        /// The lengths found.
        shape: Vec<usize>,
    },
    /// No samples or no features.
    #[error("expected at least one sample and one feature, found {}", times(shape))]
    NoValues {
        /// The lengths found.
        shape: Vec<usize>,
    },
    /// The array requested is not there.
    #[error("expected an array `{requested}`, found {}", shown(arrays))]
    NoArray {
        /// The array requested.
        requested: String,
        /// The arrays that are there, with size and class.
        arrays: Vec<String>,
    },
    /// Nothing that could be samples.
    #[error("expected a matrix of real numbers with at least two rows and columns, found {}", shown(arrays))]
    NoSamples {
        /// The arrays that are there, with size and class.
        arrays: Vec<String>,
    },
    /// It is not clear which array holds the samples.
    #[error("expected one array of samples, found {}", shown(arrays))]
    Several {
        /// The arrays that could be meant, with size and class.
        arrays: Vec<String>,
    },
    /// Two arrays have the same name.
    #[error("expected every array once, found `{array}` twice")]
    Repeated {
        /// The name.
        array: String,
    },
    /// Not one class for every sample.
    #[error("found {labels} classes, expected one for each sample of array `{array}`, which is {}", times(shape))]
    LabelCount {
        /// Number of classes.
        labels: usize,
        /// The array of samples.
        array: String,
        /// Its size.
        shape: Vec<usize>,
    },
    /// A class that cannot be taken.
    #[error("class {at} (counted from 0) is {found}, expected {}", found.expected())]
    Class {
        /// Index of the class.
        at: usize,
        /// What stands there.
        found: BadValue,
    },
    /// Cells, where one of them holds something else than a line of text.
    #[error("expected classes as whole numbers or as text, found {found}")]
    NotClasses {
        /// What is there.
        found: String,
    },
    /// The size of a matrix of characters and their number differ.
    #[error("expected {} characters, found {found}", times(shape))]
    Characters {
        /// The claimed lengths of the axes.
        shape: Vec<usize>,
        /// Characters that are there.
        found: usize,
    },
    /// The places of a sparse array do not fit together.
    #[error("expected {expected}, found {found}")]
    Sparse {
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A sparse array that is nearly all empty samples.
    #[error("{samples} samples with {stored} values in all, expected at most {MOST_EMPTY} samples more than values")]
    Empty {
        /// Number of samples.
        samples: usize,
        /// Number of stored values.
        stored: usize,
    },
}

const COMPLEX: &str = "save real and imaginary parts as features: `X = [real(X) imag(X)]`";

impl MatFault {
    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Values(fault) => return Some(fault.hint()),
            Self::Hdf5 => "the file is cut or damaged; save it again with `save(file, '-v7')`",
            Self::NotNumbers { found } if found.contains("complex ") => COMPLEX,
            Self::NoSamples { arrays } if arrays.iter().any(|array| array.contains(" complex ")) => COMPLEX,
            Self::NotNumbers { .. } => "ask for an array of numbers",
            Self::Axes { .. } => {
                "make every sample one row: `X = reshape(X, [], n)'` where the last axis counts samples"
            }
            Self::NoValues { .. } => "check the selection that this array was saved from",
            Self::NoArray { .. } => "ask for one of these with `--array NAME`, or for none",
            Self::NoSamples { .. } => {
                "save the samples as a matrix `X`, or say with `--array NAME` which of these numbers are meant"
            }
            Self::Several { .. } => "say which with `--array NAME`",
            Self::LabelCount { .. } => "check that samples and classes were selected alike",
            Self::NotClasses { .. } | Self::Class { found: BadValue::NotWhole(_), .. } => {
                "save classes as whole numbers or as text"
            }
            Self::Empty { .. } => "check the size of the matrix, or leave the empty samples out",
            _ => "the file is cut or damaged: copy it, or save it again with `save(file, '-v7')`",
        };
        Some(hint.to_string())
    }
}

fn in_words(bytes: Option<u64>) -> String {
    bytes.map_or("more than 2^64".to_string(), |bytes| bytes.to_string())
}

fn shown(arrays: &[String]) -> String {
    match arrays {
        [] => "no array".to_string(),
        _ if arrays.len() > 10 => format!("{} and {} more", arrays[..10].join(", "), arrays.len() - 10),
        _ => arrays.join(", "),
    }
}
