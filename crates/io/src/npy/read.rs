//! NPY arrays as samples, whole or block by block, and as lists of row numbers or classes.

use std::io::{BufReader, Read};

use eigenspan::data::{ImageShape, Matrix, Source, StreamError};

use super::fault::NpyFault;
use super::header::Header;
use crate::array::{self, ArrayFault, BadValue, Layout, Length, List, Order, Values, place};
use crate::error::ReadError;

/// Reads samples in rows, of an array of two axes or of a stack of images.
pub(crate) fn samples(source: &mut impl Read, length: Length) -> Result<(Matrix, Option<ImageShape>), NpyFault> {
    let header = Header::read(source, length)?;
    let layout = header.layout()?;
    let samples = array::read(source, header.encoding, header.order, &layout, length);
    let samples = samples.map_err(|fault| in_array(fault, &header))?;
    nothing_follows(source, &header)?;
    Ok((samples, layout.image))
}

/// Number of axes, from the header alone.
pub(crate) fn axes(source: &mut impl Read, length: Length) -> Result<usize, NpyFault> {
    Ok(Header::read(source, length)?.shape.len())
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
    list(source, length)?.1.into_classes().map_err(|(at, found)| NpyFault::Entry { at, found })
}

fn list(source: &mut impl Read, length: Length) -> Result<(Header, List), NpyFault> {
    let header = Header::read(source, length)?;
    if header.shape.len() != 1 {
        return Err(NpyFault::NotAList { shape: header.shape });
    }
    let mut bytes = vec![];
    source.by_ref().take(header.data).read_to_end(&mut bytes).map_err(|source| ArrayFault::Read { source })?;
    if bytes.len() as u64 != header.data {
        return Err(in_array(ArrayFault::Cut { missing: header.data - bytes.len() as u64 }, &header));
    }
    nothing_follows(source, &header)?;
    let list = List::decode(header.encoding, &bytes).map_err(|(at, found)| NpyFault::Entry { at, found })?;
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
        let header = Header::read(&mut source, Length::Counted(bytes))?;
        let layout = header.layout()?;
        let rows = Self { file: file.to_string(), source, layout, done: 0, header };
        Ok((rows.header.order == Order::C).then_some(rows))
    }

    /// The image that each row is.
    pub(crate) fn image(&self) -> Option<ImageShape> {
        self.layout.image
    }

    fn read_rows(&mut self, count: usize) -> Result<Matrix, NpyFault> {
        let layout = Layout { rows: count, ..self.layout };
        let cells = count * layout.cols;
        let mut values = Values::empty(self.header.encoding.item);
        values.reserve(cells)?;
        let done = self.done;
        let place = |index| {
            let (row, column) = place(index, Order::C, &layout);
            (done + row, column)
        };
        let decoded = array::decode(&mut self.source, self.header.encoding, cells, &mut values, place);
        decoded.map_err(|fault| in_array(fault, &self.header))?;
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
        Ok(Some(block.map_err(|fault| ReadError::content(&self.file, fault))?))
    }

    fn skip(&mut self, rows: usize) -> Result<usize, StreamError> {
        let count = rows.min(self.layout.rows - self.done);
        let bytes = self.header.data / self.layout.rows.max(1) as u64 * count as u64;
        let passed = std::io::copy(&mut self.source.by_ref().take(bytes), &mut std::io::sink());
        let failed = |source| ReadError::Io { file: self.file.clone(), doing: "read", source };
        match passed.map_err(failed)? {
            passed if passed == bytes => self.done += count,
            passed => {
                let cut = in_array(ArrayFault::Cut { missing: bytes - passed }, &self.header);
                return Err(ReadError::content(&self.file, cut).into());
            }
        }
        Ok(count)
    }
}

/// A packed array is as long as its header says. Reading to its end also makes the zip reader compare the checksum.
fn nothing_follows(source: &mut impl Read, header: &Header) -> Result<(), NpyFault> {
    match array::fill(source, &mut [0]).map_err(|source| ArrayFault::Read { source })? {
        0 => Ok(()),
        _ => Err(NpyFault::Overrun { shape: header.shape.clone(), descr: header.descr.clone(), needed: header.total }),
    }
}

/// A fault in the values; missing bytes are told with the claim of the header.
fn in_array(fault: ArrayFault, header: &Header) -> NpyFault {
    match fault {
        ArrayFault::Cut { missing } => {
            let (shape, descr) = (header.shape.clone(), header.descr.clone());
            NpyFault::Size { shape, descr, needed: header.total, found: header.total - missing }
        }
        other => NpyFault::Values(other),
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::written;
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
    fn what_is_skipped_is_not_handed_out() {
        let values: Vec<u8> = (0..35).flat_map(|v| (v as f32 * 0.5).to_le_bytes()).collect();
        let bytes = array("<f4", 7, 5, &values);
        let mut rows = NpyRows::new("a.npy", &bytes[..], bytes.len() as u64).unwrap().unwrap();
        assert_eq!(rows.skip(3).unwrap(), 3);
        assert_eq!(rows.next_block(1).unwrap().unwrap().into_f64().into_vec(), [7.5, 8.0, 8.5, 9.0, 9.5]);
        assert_eq!(rows.skip(9).unwrap(), 3);
        assert!(rows.next_block(1).unwrap().is_none());
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
}
