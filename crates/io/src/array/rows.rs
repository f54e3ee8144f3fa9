//! An array in C order, read row after row: what NPY and IDX files have in common when they are larger than memory.

use std::io::{Cursor, Read};

use eigenspan_core::data::{ImageShape, Matrix, Source, StreamError};

use super::{ArrayFault, Encoding, Layout, Length, Order, Values, decode, fill, place};
use crate::error::{Fault, ReadError};

/// What a header says of the values behind it.
pub(crate) trait ArrayHeader: Send {
    /// What one item is.
    fn encoding(&self) -> Encoding;
    /// A fault in the values, in the words of the format.
    fn fault(&self, fault: ArrayFault) -> Fault;
    /// More bytes follow the values.
    fn overrun(&self) -> Fault;
}

/// The values behind a header.
pub(crate) struct ArrayRows<H> {
    file: String,
    source: Box<dyn Read + Send>,
    header: H,
    layout: Layout,
    done: usize,
    /// Whether so many bytes as the header claims are known to be there: memory for their values may be taken at once.
    counted: bool,
}

impl<H: ArrayHeader> ArrayRows<H> {
    /// Begins with the first value. Where bytes are being unpacked the first row is looked at: nobody should make space
    /// for as many features as a header merely claims.
    pub(crate) fn new(
        file: &str,
        mut source: Box<dyn Read + Send>,
        header: H,
        layout: Layout,
        length: Length,
    ) -> Result<Self, ReadError> {
        let counted = matches!(length, Length::Counted(_));
        if !counted {
            let (mut first, row) = (vec![], row_bytes(&header, &layout));
            let read = source.by_ref().take(row).read_to_end(&mut first);
            let fault = match read {
                Err(source) => Some(ArrayFault::Read { source }),
                Ok(got) if (got as u64) < row => {
                    Some(ArrayFault::Cut { missing: row * layout.rows as u64 - got as u64 })
                }
                Ok(_) => None,
            };
            if let Some(fault) = fault {
                return Err(ReadError::content(file, header.fault(fault)));
            }
            source = Box::new(Cursor::new(first).chain(source));
        }
        Ok(Self { file: file.to_string(), source, header, layout, done: 0, counted })
    }

    /// The image that each row is.
    pub(crate) fn image(&self) -> Option<ImageShape> {
        self.layout.image
    }

    fn read_rows(&mut self, count: usize) -> Result<Matrix, Fault> {
        let (encoding, layout) = (self.header.encoding(), Layout { rows: count, ..self.layout });
        let cells = count * layout.cols;
        let mut values = Values::empty(encoding.item);
        if self.counted {
            values.reserve(cells).map_err(|fault| self.header.fault(fault))?;
        }
        let done = self.done;
        let place = |index| {
            let (row, column) = place(index, Order::C, &layout);
            (done + row, column)
        };
        decode(&mut self.source, encoding, cells, &mut values, place).map_err(|fault| self.fault(fault, count))?;
        self.passed(count)?;
        Ok(values.into_matrix(Order::C, &layout))
    }

    /// A fault in the next `count` rows; missing are those after them, too.
    fn fault(&self, fault: ArrayFault, count: usize) -> Fault {
        let after = (self.layout.rows - self.done - count) as u64 * row_bytes(&self.header, &self.layout);
        self.header.fault(match fault {
            ArrayFault::Cut { missing } => ArrayFault::Cut { missing: missing + after },
            other => other,
        })
    }

    /// Counts rows; after the last one nothing may follow. Reading to the end also makes a decompressor compare its
    /// checksum.
    fn passed(&mut self, count: usize) -> Result<(), Fault> {
        self.done += count;
        if self.done < self.layout.rows {
            return Ok(());
        }
        match fill(&mut self.source, &mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.header.overrun()),
            Err(source) => Err(self.header.fault(ArrayFault::Read { source })),
        }
    }

    fn pass(&mut self, count: usize) -> Result<(), Fault> {
        let bytes = row_bytes(&self.header, &self.layout) * count as u64;
        let passed = std::io::copy(&mut self.source.by_ref().take(bytes), &mut std::io::sink());
        match passed.map_err(|source| self.header.fault(ArrayFault::Read { source }))? {
            passed if passed == bytes => self.passed(count),
            passed => Err(self.fault(ArrayFault::Cut { missing: bytes - passed }, count)),
        }
    }
}

/// Bytes of a row. The header's claim was counted without overflow.
fn row_bytes(header: &impl ArrayHeader, layout: &Layout) -> u64 {
    header.encoding().item.bytes() as u64 * layout.cols as u64
}

impl<H: ArrayHeader> Source for ArrayRows<H> {
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
        if count > 0 {
            self.pass(count).map_err(|fault| ReadError::content(&self.file, fault))?;
        }
        Ok(count)
    }
}
