//! NPY arrays as samples, whole or block by block, and as lists of row numbers or classes.

use std::io::{BufReader, Read};

use eigenspan::data::{ImageShape, Matrix, Source, StreamError};

use super::fault::{BadValue, NpyFault};
use super::header::{Header, Layout, Order};
use super::values::{List, Values, place};
use crate::error::ReadError;

/// Bytes that are decoded at a time; a multiple of every item size.
const CHUNK: usize = 1 << 20;

/// Whether the number of bytes was counted, or only claimed by a zip archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// So many bytes are there: memory for their values may be taken at once.
    Counted(u64),
    /// So many bytes are claimed: memory grows as they arrive.
    Claimed(u64),
}

impl Length {
    fn bytes(self) -> u64 {
        match self {
            Self::Counted(bytes) | Self::Claimed(bytes) => bytes,
        }
    }
}

/// Reads samples in rows, of an array of two axes or of a stack of images.
pub(crate) fn samples(source: &mut impl Read, length: Length) -> Result<(Matrix, Option<ImageShape>), NpyFault> {
    let header = Header::read(source, length.bytes())?;
    let layout = header.layout()?;
    let mut values = Values::empty(header.item);
    if let Length::Counted(_) = length {
        reserve(&mut values, layout.rows * layout.cols)?;
    }
    decode(source, &header, header.data, &mut values, |index| place(index, header.order, &layout))?;
    nothing_follows(source, &header)?;
    Ok((values.into_matrix(header.order, &layout), layout.image))
}

/// Number of axes, from the header alone.
pub(crate) fn axes(source: &mut impl Read, length: Length) -> Result<usize, NpyFault> {
    Ok(Header::read(source, length.bytes())?.shape.len())
}

/// Reads a list of row numbers, or a mask with a bool for every row.
pub(crate) fn row_numbers(source: &mut impl Read, length: Length) -> Result<Vec<usize>, NpyFault> {
    let expected = "row numbers as integers or a mask of bools";
    match list(source, length)? {
        (_, List::Integers(values)) => counts(&values),
        (_, List::Flags(mask)) => Ok(mask.iter().enumerate().filter(|(_, chosen)| **chosen).map(|(i, _)| i).collect()),
        (Header { descr, .. }, _) => Err(NpyFault::NotIntegers { expected, descr }),
    }
}

/// Reads the height and width of an image.
pub(crate) fn image_shape(source: &mut impl Read, length: Length) -> Result<Vec<usize>, NpyFault> {
    match list(source, length)? {
        (_, List::Integers(values)) => counts(&values),
        (Header { descr, .. }, _) => Err(NpyFault::NotIntegers { expected: "height and width as integers", descr }),
    }
}

fn counts(values: &[i128]) -> Result<Vec<usize>, NpyFault> {
    let count = |(at, &value): (usize, &i128)| {
        let found = if value < 0 { BadValue::Negative(value) } else { BadValue::TooLarge(value) };
        usize::try_from(value).map_err(|_| NpyFault::Entry { at, found })
    };
    values.iter().enumerate().map(count).collect()
}

/// Reads a list of classes: integers, bools (as 0 and 1), whole floats or text.
pub(crate) fn classes(source: &mut impl Read, length: Length) -> Result<Vec<String>, NpyFault> {
    let whole = |(at, value): (usize, &f64)| match value.fract() == 0.0 && value.abs() <= (1u64 << 53) as f64 {
        true => Ok((*value as i64).to_string()),
        false => Err(NpyFault::Entry { at, found: BadValue::NotWhole(*value) }),
    };
    match list(source, length)?.1 {
        List::Integers(values) => Ok(values.iter().map(i128::to_string).collect()),
        List::Flags(values) => Ok(values.iter().map(|&flag| u8::from(flag).to_string()).collect()),
        List::Numbers(values) => values.iter().enumerate().map(whole).collect(),
        List::Names(names) => Ok(names),
    }
}

fn list(source: &mut impl Read, length: Length) -> Result<(Header, List), NpyFault> {
    let header = Header::read(source, length.bytes())?;
    if header.shape.len() != 1 {
        return Err(NpyFault::NotAList { shape: header.shape });
    }
    let mut bytes = vec![];
    source.by_ref().take(header.data).read_to_end(&mut bytes).map_err(|source| NpyFault::Read { source })?;
    if bytes.len() as u64 != header.data {
        return Err(cut(&header, header.data - bytes.len() as u64));
    }
    nothing_follows(source, &header)?;
    let list = List::decode(&header, &bytes).map_err(|(at, found)| NpyFault::Entry { at, found })?;
    Ok((header, list))
}

/// An NPY array in C order, read row after row.
pub(crate) struct NpyRows<R> {
    file: String,
    source: BufReader<R>,
    header: Header,
    layout: Layout,
    done: usize,
}

impl<R: Read> NpyRows<R> {
    /// Reads the header; `None` where the array is in Fortran order, whose rows lie all over the file.
    pub(crate) fn new(file: &str, source: R, bytes: u64) -> Result<Option<Self>, NpyFault> {
        let mut source = BufReader::new(source);
        let header = Header::read(&mut source, bytes)?;
        let layout = header.layout()?;
        let rows = Self { file: file.to_string(), source, layout, done: 0, header };
        Ok((rows.header.order == Order::C).then_some(rows))
    }

    fn read_rows(&mut self, count: usize) -> Result<Matrix, NpyFault> {
        let layout = Layout { rows: count, ..self.layout };
        let cells = count * layout.cols;
        let mut values = Values::empty(self.header.item);
        reserve(&mut values, cells)?;
        let bytes = cells as u64 * self.header.item.bytes() as u64;
        let done = self.done;
        decode(&mut self.source, &self.header, bytes, &mut values, |index| {
            let (row, column) = place(index, Order::C, &layout);
            (done + row, column)
        })?;
        self.done += count;
        Ok(values.into_matrix(Order::C, &layout))
    }
}

impl<R: Read> Source for NpyRows<R> {
    fn cols(&self) -> usize {
        self.layout.cols
    }

    fn rows(&self) -> Option<usize> {
        Some(self.layout.rows)
    }

    fn next_block(&mut self, at_most: usize) -> Result<Option<Matrix>, StreamError> {
        let count = at_most.max(1).min(self.layout.rows - self.done);
        if count == 0 {
            return Ok(None);
        }
        let block = self.read_rows(count);
        Ok(Some(block.map_err(|fault| ReadError::Npy { file: self.file.clone(), array: None, fault })?))
    }
}

/// Decodes `bytes` bytes; `place` says which cell the value with some index is.
fn decode(
    source: &mut impl Read,
    header: &Header,
    bytes: u64,
    values: &mut Values,
    place: impl Fn(usize) -> (usize, usize),
) -> Result<(), NpyFault> {
    let mut chunk = vec![0; bytes.min(CHUNK as u64) as usize];
    let mut left = bytes;
    while left > 0 {
        let part = &mut chunk[..left.min(CHUNK as u64) as usize];
        let got = fill(source, part).map_err(|source| NpyFault::Read { source })?;
        left -= got as u64;
        if got < part.len() {
            return Err(cut(header, left));
        }
        values.extend(header, part).map_err(|found| {
            let (row, column) = place(values.len());
            NpyFault::Cell { row, column, found }
        })?;
    }
    Ok(())
}

/// Reads until `part` is full or the source ends.
fn fill(source: &mut impl Read, part: &mut [u8]) -> std::io::Result<usize> {
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

/// A packed array is as long as its header says. Reading to its end also makes the zip reader compare the checksum.
fn nothing_follows(source: &mut impl Read, header: &Header) -> Result<(), NpyFault> {
    match fill(source, &mut [0]).map_err(|source| NpyFault::Read { source })? {
        0 => Ok(()),
        _ => Err(NpyFault::Overrun { shape: header.shape.clone(), descr: header.descr.clone(), needed: header.total }),
    }
}

fn cut(header: &Header, left: u64) -> NpyFault {
    let (shape, descr) = (header.shape.clone(), header.descr.clone());
    NpyFault::Size { shape, descr, needed: header.total, found: header.total - left }
}

fn reserve(values: &mut Values, count: usize) -> Result<(), NpyFault> {
    values.reserve(count).map_err(|_| {
        let size = match values {
            Values::F64(_) => 8,
            Values::F32(_) => 4,
            Values::U8(_) => 1,
        };
        NpyFault::Memory { bytes: count as u64 * size }
    })
}

#[cfg(test)]
mod tests {
    use super::super::header::{Item, written};
    use super::*;

    fn array(descr: &str, rows: usize, cols: usize, values: &[u8]) -> Vec<u8> {
        [&written(descr, rows, cols), values].concat()
    }

    #[test]
    fn blocks_are_the_rows_of_the_whole() {
        let values: Vec<u8> = (0..35).flat_map(|v| (v as f32 * 0.5).to_le_bytes()).collect();
        let bytes = array("<f4", 7, 5, &values);
        let (whole, _) = samples(&mut &bytes[..], Length::Counted(bytes.len() as u64)).unwrap();
        for at_most in [1, 2, 3, 7, 100] {
            let mut rows = NpyRows::new("a.npy", &bytes[..], bytes.len() as u64).unwrap().unwrap();
            assert_eq!((rows.rows(), rows.cols()), (Some(7), 5));
            let mut seen = vec![];
            while let Some(block) = rows.next_block(at_most).unwrap() {
                assert!(block.rows() <= at_most && matches!(block, Matrix::F32(_)));
                seen.extend(block.into_f64().into_vec());
            }
            assert_eq!(seen, whole.clone().into_f64().into_vec());
        }
    }

    #[test]
    fn a_bad_value_in_a_later_block_is_named_by_its_row_in_the_file() {
        let mut values = [1.0f64; 12];
        values[9] = f64::INFINITY;
        let values: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let bytes = array("<f8", 6, 2, &values);
        let mut rows = NpyRows::new("a.npy", &bytes[..], bytes.len() as u64).unwrap().unwrap();
        assert!(rows.next_block(3).unwrap().is_some());
        let error = rows.next_block(3).unwrap_err().to_string();
        assert_eq!(error, "a.npy: row 4, column 1 (counted from 0) holds inf, expected a finite number");
    }

    #[test]
    fn a_file_that_shrinks_under_the_reader_is_an_error() {
        let bytes = array("|u1", 4, 2, &[0; 5]);
        let mut rows = NpyRows::new("a.npy", &bytes[..], bytes.len() as u64 + 3).unwrap().unwrap();
        assert!(rows.next_block(2).unwrap().is_some());
        assert!(rows.next_block(2).is_err());
    }

    #[test]
    fn items_of_every_size_fit_into_chunks() {
        for size in [Item::U1, Item::F2, Item::F4, Item::F8].map(Item::bytes) {
            assert_eq!(CHUNK % size, 0);
        }
    }
}
