//! NPY arrays as samples, whole or block by block, and as lists of row numbers or classes.

use std::io::Read;

use eigenspan_core::data::{ImageShape, Matrix};

use super::fault::NpyFault;
use super::header::Header;
use crate::array::{self, ArrayFault, ArrayHeader, ArrayRows, BadValue, Encoding, Length, List, Order};
use crate::error::{Fault, ReadError};

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

/// Reads the header of an array whose rows are read one after the other; `None` where it is in Fortran order, whose
/// rows lie all over the file.
pub(crate) fn rows(
    file: &str,
    mut source: Box<dyn Read + Send>,
    length: Length,
) -> Result<Option<ArrayRows<Header>>, ReadError> {
    let content = |fault| ReadError::content(file, fault);
    let header = Header::read(&mut source, length).map_err(content)?;
    let layout = header.layout().map_err(content)?;
    match header.order {
        Order::C => ArrayRows::new(file, source, header, layout, length).map(Some),
        Order::Fortran => Ok(None),
    }
}

impl ArrayHeader for Header {
    fn encoding(&self) -> Encoding {
        self.encoding
    }

    fn fault(&self, fault: ArrayFault) -> Fault {
        in_array(fault, self).into()
    }

    fn overrun(&self) -> Fault {
        NpyFault::Overrun { shape: self.shape.clone(), descr: self.descr.clone(), needed: self.total }.into()
    }
}

/// A packed array is as long as its header says. Reading to its end also makes the zip reader compare the checksum.
fn nothing_follows(source: &mut impl Read, header: &Header) -> Result<(), NpyFault> {
    match array::fill(source, &mut [0]).map_err(|source| ArrayFault::Read { source })? {
        0 => Ok(()),
        _ => Err(NpyFault::Overrun { shape: header.shape.clone(), descr: header.descr.clone(), needed: header.total }),
    }
}

/// A fault in the values; missing bytes are reported with the claim of the header.
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
    use std::io::Cursor;

    use eigenspan_core::data::Source;

    use super::super::header::written;
    use super::*;

    /// The rows of a file that is said to be so many bytes long, or of one that is being unpacked.
    fn opened(bytes: &[u8], length: Length) -> ArrayRows<Header> {
        rows("a.npy", Box::new(Cursor::new(bytes.to_vec())), length).unwrap().unwrap()
    }

    fn counted(bytes: &[u8]) -> Length {
        Length::Counted(bytes.len() as u64)
    }

    fn array(descr: &str, rows: usize, cols: usize, values: &[u8]) -> Vec<u8> {
        [&written(descr, rows, cols), values].concat()
    }

    #[test]
    fn blocks_are_the_rows_of_the_whole() {
        let values: Vec<u8> = (0..35).flat_map(|v| (v as f32 * 0.5).to_le_bytes()).collect();
        let bytes = array("<f4", 7, 5, &values);
        let (whole, _) = samples(&mut &bytes[..], Length::Counted(bytes.len() as u64)).unwrap();
        for (at_most, length) in
            [1, 2, 3, 7, 100].into_iter().flat_map(|n| [(n, counted(&bytes)), (n, Length::Unknown)])
        {
            let mut rows = opened(&bytes, length);
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
        let mut rows = opened(&bytes, counted(&bytes));
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
        let mut rows = opened(&bytes, counted(&bytes));
        assert!(rows.next_block(3).unwrap().is_some());
        let error = rows.next_block(3).unwrap_err().to_string();
        assert_eq!(error, "a.npy: row 4, column 1 (counted from 0) holds inf, expected a finite number");
    }

    #[test]
    fn a_file_that_shrinks_under_the_reader_is_an_error() {
        let bytes = array("|u1", 4, 2, &[0; 5]);
        let mut rows = opened(&bytes, Length::Counted(bytes.len() as u64 + 3));
        assert!(rows.next_block(2).unwrap().is_some());
        assert!(rows.next_block(2).is_err());
    }

    #[test]
    fn what_is_unpacked_in_portions_is_refused_like_the_whole() {
        let whole = |bytes: &[u8]| samples(&mut &bytes[..], Length::Unknown).unwrap_err().to_string();
        let cut = array("|u1", 4, 2, &[0; 5]);
        for at_most in [1, 2, 3, 4] {
            for (bytes, missing) in [(&cut, true), (&[&array("|u1", 4, 2, &[0; 8])[..], b"!"].concat(), false)] {
                let mut rows = opened(bytes, Length::Unknown);
                let error = loop {
                    match rows.next_block(at_most) {
                        Ok(block) => assert!(block.is_some(), "{missing}"),
                        Err(error) => break error.to_string(),
                    }
                };
                assert_eq!(error, format!("a.npy: {}", whole(bytes)));
            }
        }
        // As many features as a header claims are not believed before they are there.
        let claim = array("<f8", 1, 1 << 40, &[0; 8]);
        let refused = rows("a.npy", Box::new(Cursor::new(claim.clone())), Length::Unknown).err().unwrap();
        assert_eq!(refused.to_string(), format!("a.npy: {}", whole(&claim)));
    }
}
