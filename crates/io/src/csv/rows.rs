//! A table read row after row, for files that are larger than memory.

use std::io::{self, Read};
use std::path::PathBuf;

use csv::{Reader, ReaderBuilder, StringRecord, Trim};
use eigenspan_core::Mat;
use eigenspan_core::data::{Matrix, Source, StreamError};

use super::{Cells, CsvFault, Plan, is_blank, lines_before, separator};
use crate::error::{ReadError, hexadecimal};
use crate::input::Input;
use crate::libsvm;
use crate::read::{ClassCounts, Extras};

/// Bytes at the beginning by which separator and kind are detected.
const START: u64 = 8 << 20;

/// A table in a file.
pub(crate) struct CsvRows {
    name: Name,
    plan: Plan,
    rows: Reader<Box<dyn Read + Send>>,
    /// Where the file is, to count the lines before a fault.
    path: PathBuf,
    /// Bytes in front of the first row: a mark of byte order.
    offset: u64,
    /// A row of numbers that was read to learn what the columns are.
    waiting: Option<StringRecord>,
    /// The classes read so far, where they are counted.
    classes: Option<ClassCounts>,
}

/// What messages call the file, and whether it is packed.
#[derive(Clone)]
struct Name {
    file: String,
    packed: bool,
}

impl Name {
    fn failed(&self, source: io::Error) -> ReadError {
        let file = self.file.clone();
        match self.packed {
            true => ReadError::Gzip { file, source },
            false => ReadError::Io { file, doing: "read", source },
        }
    }
}

impl CsvRows {
    /// Looks at the beginning of the file; `None` where it is no CSV that can be read in order (LIBSVM is such text),
    /// or has names of rows where `ids` are wanted.
    pub(crate) fn open(
        input: Input<'static>,
        path: PathBuf,
        label: Option<&str>,
        extras: Extras,
    ) -> Result<Option<Self>, ReadError> {
        let name = Name { file: input.name.clone(), packed: input.is_packed() };
        let (mut source, _) = input.sequential();
        let mut start = vec![];
        source.by_ref().take(START).read_to_end(&mut start).map_err(|error| name.failed(error))?;
        let offset = if start.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        // A character may be cut at the end, and so may a line.
        let whole = start.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(start.len(), |at| at + 1);
        let end = if (start.len() as u64) < START { start.len() } else { whole };
        let Ok(text) = std::str::from_utf8(&start[offset..end]) else { return Ok(None) };
        if text.is_empty() || text.contains('\0') || libsvm::is_libsvm(text) {
            return Ok(None);
        }
        let separator = separator(text);
        let mut reader = ReaderBuilder::new();
        reader.delimiter(separator).has_headers(false).flexible(true).trim(Trim::All).buffer_capacity(1 << 18);
        let content = |fault| ReadError::content(&name.file, fault);
        let mut rows = reader.from_reader(Box::new(Replay { start, at: offset, rest: source }) as Box<dyn Read + Send>);
        let first = next(&name, &mut rows)?.ok_or_else(|| content(CsvFault::NoRows { header: false }))?;
        let plan = Plan::new(&first, label).map_err(content)?;
        if extras.ids && plan.id.is_some() {
            return Ok(None);
        }
        let waiting = if plan.header.is_none() { Some(first) } else { next(&name, &mut rows)? };
        if waiting.is_none() {
            return Err(content(CsvFault::NoRows { header: true }));
        }
        let classes = (extras.classes && plan.label.is_some()).then(ClassCounts::default);
        Ok(Some(Self { name, plan, rows, path, offset: offset as u64, waiting, classes }))
    }

    /// The classes read so far, where they are counted.
    pub(crate) fn classes(&self) -> Option<ClassCounts> {
        self.classes.clone()
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
        let lines = Input::open(&self.path).map(|input| input.sequential().0).and_then(|mut again| {
            let mark = io::copy(&mut again.by_ref().take(self.offset), &mut io::sink());
            mark.and_then(|_| lines_before(again, byte)).map_err(|error| self.name.failed(error))
        });
        let line = match lines {
            Ok(line) => line,
            Err(error) => return error,
        };
        let mut cells =
            Cells { plan: &self.plan, line: &|_| line, values: vec![], labels: vec![], ids: vec![], rows: 0 };
        ReadError::content(&self.name.file, cells.take(row).expect_err("a row that was refused is refused again"))
    }
}

/// What was looked at, once more, and then the rest. The look is forgotten when it has been read again.
struct Replay<R> {
    start: Vec<u8>,
    at: usize,
    rest: R,
}

impl<R: Read> Read for Replay<R> {
    fn read(&mut self, part: &mut [u8]) -> io::Result<usize> {
        let got = (&self.start[self.at..]).read(part)?;
        self.at += got;
        if self.at < self.start.len() || got > 0 {
            return Ok(got);
        }
        (self.start, self.at) = (vec![], 0);
        self.rest.read(part)
    }
}

/// The next row that is not blank.
fn next(name: &Name, rows: &mut Reader<Box<dyn Read + Send>>) -> Result<Option<StringRecord>, ReadError> {
    let mut row = StringRecord::new();
    loop {
        match rows.read_record(&mut row) {
            Ok(false) => return Ok(None),
            Ok(true) if is_blank(&row) => {}
            Ok(true) => return Ok(Some(row)),
            Err(error) => {
                let (file, at) = (name.file.clone(), error.position().map_or(0, |at| at.byte() as usize));
                return Err(match error.into_kind() {
                    csv::ErrorKind::Io(source) => name.failed(source),
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
            if let (Some(classes), Some(class)) = (&self.classes, cells.labels.first()) {
                classes.add(class);
            }
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

    /// A file of this text, and how it opens; packed by gzip where requested.
    fn opened(
        text: &str,
        label: Option<&str>,
        packed: bool,
    ) -> (tempfile::NamedTempFile, Result<Option<CsvRows>, ReadError>) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        match packed {
            true => {
                let mut gzip = flate2::write::GzEncoder::new(&mut file, flate2::Compression::fast());
                io::Write::write_all(&mut gzip, text.as_bytes()).unwrap();
                gzip.finish().unwrap();
            }
            false => io::Write::write_all(&mut file, text.as_bytes()).unwrap(),
        }
        let path = file.path().to_path_buf();
        let rows = Input::open(&path).and_then(|input| CsvRows::open(input, path, label, Extras::default()));
        (file, rows)
    }

    fn outcome(text: &str, label: Option<&str>, at_most: usize, packed: bool) -> Result<Vec<f64>, String> {
        let (file, rows) = opened(text, label, packed);
        let called = |words: String| words.replace(&file.path().display().to_string(), "a.csv");
        let mut rows = rows.map_err(|e| called(e.to_string()))?.unwrap();
        let mut values = vec![];
        while let Some(block) = rows.next_block(at_most).map_err(|e| called(e.to_string()))? {
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
            for (at_most, packed) in [(1, false), (2, false), (100, false), (2, true)] {
                assert_eq!(outcome(text, None, at_most, packed), whole, "{text:?}");
            }
        }
    }

    #[test]
    fn a_label_column_is_left_out_and_other_text_is_not_taken() {
        assert_eq!(outcome("x,1\ny,2\n", Some("1"), 2, false).unwrap(), [1.0, 2.0]);
        assert!(opened("1 1:2 3:4\n-1 2:5\n", None, false).1.unwrap().is_none());
        assert!(opened("a\0b", None, false).1.unwrap().is_none());
    }
}
