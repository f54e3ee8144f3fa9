//! Arrays of plain numbers in a file: what one item is, in which order the items lie, and how they become samples.
//! NPY, IDX and MATLAB files differ in their headers, and share this.

mod fault;
mod rows;
mod values;

pub use fault::{ArrayFault, BadValue};
pub(crate) use rows::{ArrayHeader, ArrayRows};
#[cfg(feature = "columnar")]
pub(crate) use values::EXACT;
pub(crate) use values::{List, Values, place};

use std::io::Read;

use eigenspan_core::data::{ImageShape, Matrix};

/// Bytes that are decoded at a time; a multiple of every item size.
const CHUNK: usize = 1 << 20;

/// What one item of an array is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item {
    F2,
    F4,
    F8,
    Bool,
    I1,
    I2,
    I4,
    I8,
    U1,
    U2,
    U4,
    U8,
    /// Text of so many UTF-32 characters.
    Text(usize),
}

impl Item {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Bool | Self::I1 | Self::U1 => 1,
            Self::F2 | Self::I2 | Self::U2 => 2,
            Self::F4 | Self::I4 | Self::U4 => 4,
            Self::F8 | Self::I8 | Self::U8 => 8,
            Self::Text(characters) => characters * 4,
        }
    }
}

/// What one item is, and which of its bytes comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Encoding {
    pub item: Item,
    pub big_endian: bool,
}

/// Where the values lie: row after row (`C`), or column after column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    C,
    Fortran,
}

/// Samples, features, and the image that each sample may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub rows: usize,
    pub cols: usize,
    pub image: Option<ImageShape>,
}

/// What is known of the number of bytes to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// So many bytes are there: memory for their values may be taken at once.
    Counted(u64),
    /// So many bytes are claimed by an archive: memory grows as they arrive.
    Claimed(u64),
    /// They are being unpacked: memory grows as they arrive.
    Unknown,
}

impl Length {
    /// The bytes that are there, or said to be.
    pub(crate) fn bytes(self) -> Option<u64> {
        match self {
            Self::Counted(bytes) | Self::Claimed(bytes) => Some(bytes),
            Self::Unknown => None,
        }
    }
}

/// Reads all values of an array. A small file cannot ask for much memory: where bytes were not counted, it grows
/// only as they arrive.
pub(crate) fn read(
    source: &mut impl Read,
    encoding: Encoding,
    order: Order,
    layout: &Layout,
    length: Length,
) -> Result<Matrix, ArrayFault> {
    let cells = layout.rows * layout.cols;
    let mut values = Values::empty(encoding.item);
    if let Length::Counted(_) = length {
        values.reserve(cells)?;
    }
    decode(source, encoding, cells, &mut values, |index| place(index, order, layout))?;
    Ok(values.into_matrix(order, layout))
}

/// Decodes `count` items; `place` says which cell the value with some index is.
pub(crate) fn decode(
    source: &mut impl Read,
    encoding: Encoding,
    count: usize,
    values: &mut Values,
    place: impl Fn(usize) -> (usize, usize),
) -> Result<(), ArrayFault> {
    let mut left = count as u64 * encoding.item.bytes() as u64;
    let mut chunk = vec![0; left.min(CHUNK as u64) as usize];
    while left > 0 {
        let part = &mut chunk[..left.min(CHUNK as u64) as usize];
        let got = fill(source, part).map_err(|source| ArrayFault::Read { source })?;
        left -= got as u64;
        if got < part.len() {
            return Err(ArrayFault::Cut { missing: left });
        }
        values.extend(encoding, part).map_err(|found| {
            let (row, column) = place(values.len());
            ArrayFault::Cell { row, column, found }
        })?;
    }
    Ok(())
}

/// Reads until `part` is full or the source ends.
pub(crate) fn fill(source: &mut impl Read, part: &mut [u8]) -> std::io::Result<usize> {
    let mut got = 0;
    while got < part.len() {
        match source.read(&mut part[got..]) {
            Ok(0) => break,
            Ok(count) => got += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_every_size_fit_into_chunks() {
        for size in [Item::U1, Item::F2, Item::F4, Item::F8].map(Item::bytes) {
            assert_eq!(CHUNK % size, 0);
        }
    }
}
