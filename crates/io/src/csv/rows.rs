//! A table read row after row, for files that are larger than memory.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use csv::{Reader, ReaderBuilder, StringRecord, Trim};
use eigenspan::Mat;
use eigenspan::data::{Matrix, Source, StreamError};

use super::{Cells, CsvFault, Plan, is_blank, lines_before, separator};
use crate::error::{ReadError, hexadecimal};
use crate::libsvm;

/// Bytes at the beginning by which separator and kind are told.
const START: u64 = 8 << 20;

/// A table in a file.
pub(crate) struct CsvRows {
    name: String,
    plan: Plan,
    rows: Reader<File>,
    /// The same file, to count the lines before a fault.
    again: File,
    /// Bytes in front of the first row: a mark of byte order.
    offset: u64,
    /// A row of numbers that was read to learn what the columns are.
    waiting: Option<StringRecord>,
}

impl CsvRows {
    /// Looks at the beginning of the file; `None` where it is no CSV that can be read in order (LIBSVM is such text), or has
    /// names of rows where `ids` are wanted.
    pub(crate) fn open(name: &str, mut file: File, label: Option<&str>, ids: bool) -> Result<Option<Self>, ReadError> {
        let io = |source| ReadError::Io { file: name.to_string(), doing: "read", source };
        let mut start = vec![];
        file.by_ref().take(START).read_to_end(&mut start).map_err(io)?;
        let offset = if start.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        // A character may be cut at the end, and so may a line.
        let whole = start.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(start.len(), |at| at + 1);
        let end = if (start.len() as u64) < START { start.len() } else { whole };
        let Ok(text) = std::str::from_utf8(&start[offset..end]) else { return Ok(None) };
        if text.is_empty() || text.contains('\0') || libsvm::is_libsvm(text) {
            return Ok(None);
        }
        let separator = separator(text);
        drop(start);
        let again = file.try_clone().map_err(io)?;
        file.seek(SeekFrom::Start(offset as u64)).map_err(io)?;
        let mut reader = ReaderBuilder::new();
        reader.delimiter(separator).has_headers(false).flexible(true).trim(Trim::All).buffer_capacity(1 << 18);
        let content = |fault| ReadError::content(name, fault);
        let mut rows = reader.from_reader(file);
        let first = next(name, &mut rows)?.ok_or_else(|| content(CsvFault::NoRows { header: false }))?;
        let plan = Plan::new(&first, label).map_err(content)?;
        if ids && plan.id.is_some() {
            return Ok(None);
        }
        let waiting = if plan.header.is_none() { Some(first) } else { next(name, &mut rows)? };
        if waiting.is_none() {
            return Err(content(CsvFault::NoRows { header: true }));
        }
        Ok(Some(Self { name: name.to_string(), plan, rows, again, offset: offset as u64, waiting }))
    }

    /// The names of the features, where there are some.
    pub(crate) fn feature_names(&self) -> Option<Vec<String>> {
        let names = self.plan.header.as_ref()?;
        Some(self.plan.features.iter().map(|&at| names[at].clone()).collect())
    }

    fn next_row(&mut self) -> Result<Option<StringRecord>, ReadError> {
        match self.waiting.take() {
            Some(row) => Ok(Some(row)),
            None => next(&self.name, &mut self.rows),
        }
    }

    /// The fault, with the line counted from the beginning of the file.
    fn fault(&mut self, row: &StringRecord) -> ReadError {
        let byte = row.position().map_or(0, csv::Position::byte);
        // The reader shares its place in the file, and is not used again after a fault.
        let read = self.again.seek(SeekFrom::Start(self.offset));
        let line = match read.and_then(|_| lines_before(&mut self.again, byte)) {
            Ok(line) => line,
            Err(source) => return ReadError::Io { file: self.name.clone(), doing: "read", source },
        };
        let mut cells =
            Cells { plan: &self.plan, line: &|_| line, values: vec![], labels: vec![], ids: vec![], rows: 0 };
        ReadError::content(&self.name, cells.take(row).expect_err("a row that was refused is refused again"))
    }
}

/// The next row that is not blank.
fn next(name: &str, rows: &mut Reader<File>) -> Result<Option<StringRecord>, ReadError> {
    let mut row = StringRecord::new();
    loop {
        match rows.read_record(&mut row) {
            Ok(false) => return Ok(None),
            Ok(true) if is_blank(&row) => {}
            Ok(true) => return Ok(Some(row)),
            Err(error) => {
                let (file, at) = (name.to_string(), error.position().map_or(0, |at| at.byte() as usize));
                return Err(match error.into_kind() {
                    csv::ErrorKind::Io(source) => ReadError::Io { file, doing: "read", source },
                    _ => ReadError::UnknownFormat { file, start: hexadecimal(row.as_slice().as_bytes()), at },
                });
            }
        }
    }
}

impl Source for CsvRows {
    fn cols(&self) -> usize {
        self.plan.features.len()
    }

    fn rows(&self) -> Option<usize> {
        None
    }

    fn next_block(&mut self, at_most: usize) -> Result<Option<Matrix>, StreamError> {
        let (cols, mut values, mut count) = (self.cols(), vec![], 0);
        while count < at_most.max(1) {
            let Some(row) = self.next_row()? else { break };
            let mut cells = Cells { plan: &self.plan, line: &|_| 0, values, labels: vec![], ids: vec![], rows: count };
            let taken = cells.take(&row);
            values = cells.values;
            if taken.is_err() {
                return Err(self.fault(&row).into());
            }
            count += 1;
        }
        Ok((count > 0).then(|| Mat::from_vec(count, cols, values).expect("every row gave all its features").into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(text: &str, label: Option<&str>) -> Result<Option<CsvRows>, ReadError> {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        file.rewind().unwrap();
        CsvRows::open("a.csv", file, label, false)
    }

    fn outcome(text: &str, label: Option<&str>, at_most: usize) -> Result<Vec<f64>, String> {
        let mut rows = opened(text, label).map_err(|e| e.to_string())?.unwrap();
        let mut values = vec![];
        while let Some(block) = rows.next_block(at_most).map_err(|e| e.to_string())? {
            assert!(block.rows() <= at_most);
            values.extend(block.into_f64().into_vec());
        }
        Ok(values)
    }

    #[test]
    fn rows_and_faults_are_those_of_the_whole() {
        let texts = [
            "1,2.5\n-3e4,4\n5,6\n",
            "\u{feff}id,a,b,label\nx,1,2,u\n\n\ny,3,4,v\n",
            "a;b\r\n1;2\r\n\r\n3;4\r\n5;6",
            "a,b\n1,2\n3\n",
            "a,b\n1,2\n\n\n3,x\n",
            "\u{feff}a,b\n1,2\n3,\n",
            "1,2\n3,inf\n",
            "a,b\n",
            "\n\n",
            "label\nx\n",
        ];
        for text in texts {
            let whole = super::super::read("a.csv", text, None);
            let whole = whole.map(|data| data.samples.into_f64().into_vec()).map_err(|e| e.to_string());
            for at_most in [1, 2, 100] {
                assert_eq!(outcome(text, None, at_most), whole, "{text:?}");
            }
        }
    }

    #[test]
    fn a_label_column_is_left_out_and_other_text_is_not_taken() {
        assert_eq!(outcome("x,1\ny,2\n", Some("1"), 2).unwrap(), [1.0, 2.0]);
        assert!(opened("1 1:2 3:4\n-1 2:5\n", None).unwrap().is_none());
        assert!(opened("a\0b", None).unwrap().is_none());
    }
}
