//! CSV and TSV: samples in lines, as text in UTF-8.
//!
//! * Columns are separated by comma, semicolon or tab, whichever splits the first lines alike.
//! * The first line is a header if one of its cells is text; the cells of a label column given by number do not count.
//! * A column named `label`, `class`, `target` or `y` holds classes, unless another is requested. A first column
//!   named `id` names the samples. All others are features.
//! * Blank lines are skipped. There are no comments: `#` is text like any other.

mod fault;
mod rows;
mod sink;

pub use fault::{Column, CsvFault};
pub(crate) use rows::CsvRows;
pub(crate) use sink::CsvSink;

use std::io::{self, BufReader, Read};

use csv::{ReaderBuilder, StringRecord, Trim};
use eigenspan_core::Mat;
use eigenspan_core::data::{Dataset, Labels};

use crate::error::ReadError;
use crate::table;

/// Separators in the order in which a tie is decided.
const SEPARATORS: [u8; 3] = [b',', b'\t', b';'];

/// Rows that are looked at to find the separator.
const LOOK_AT: usize = 20;

/// Reads a table; `label` is the label column requested.
pub(crate) fn read(file: &str, text: &str, label: Option<&str>) -> Result<Dataset, ReadError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    samples(text, label).map_err(|fault| ReadError::content(file, fault))
}

fn samples(text: &str, label: Option<&str>) -> Result<Dataset, CsvFault> {
    let separator = separator(text);
    let mut rows = records(text, separator);
    let first = rows.next().ok_or(CsvFault::NoRows { header: false })?;
    let plan = Plan::new(&first, label)?;
    let line = |byte: u64| lines_before(text.as_bytes(), byte).expect("text in memory can be read");
    let mut cells = Cells { plan: &plan, line: &line, values: vec![], labels: vec![], ids: vec![], rows: 0 };
    if plan.header.is_none() {
        cells.take(&first)?;
    }
    for row in rows {
        cells.take(&row)?;
    }
    let Cells { values, labels, ids, rows, .. } = cells;
    if rows == 0 {
        return Err(CsvFault::NoRows { header: plan.header.is_some() });
    }
    let samples = Mat::from_vec(rows, plan.features.len(), values).expect("every row gave all its features");
    let mut data = Dataset::new(samples);
    data.labels = plan.label.map(|_| Labels::from_names(&labels));
    data.ids = plan.id.map(|_| ids);
    data.feature_names = plan.header.map(|names| plan.features.iter().map(|&at| names[at].clone()).collect());
    Ok(data)
}

/// The rows of a text, blank ones left out.
fn records(text: &str, separator: u8) -> impl Iterator<Item = StringRecord> {
    let reader = ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    // Text in memory gives neither a system error nor bytes that are not UTF-8, and rows may differ in length.
    let rows = reader.into_records().map(|row| row.expect("text in memory can be read"));
    rows.filter(|row| !is_blank(row))
}

fn is_blank(row: &StringRecord) -> bool {
    row.len() <= 1 && row.iter().all(str::is_empty)
}

/// The line on which the row begins that is `byte` bytes after the beginning of `text`. The reader's own count stops
/// before blank lines, so lines are counted anew: this happens once, for the message of an error.
fn lines_before(text: impl Read, byte: u64) -> io::Result<usize> {
    let (mut line, mut after_return) = (1, false);
    for (at, found) in BufReader::new(text).bytes().enumerate() {
        let found = found?;
        if at as u64 >= byte && !matches!(found, b'\r' | b'\n') {
            break;
        }
        line += usize::from(found == b'\r' || (found == b'\n' && !after_return));
        after_return = found == b'\r';
    }
    Ok(line)
}

/// The separator that splits the first rows into the same number of columns, more than one; with several of these,
/// the one with the most numbers. A text that none splits alike is taken to be split by what the first row has most of.
fn separator(text: &str) -> u8 {
    let mut best = (SEPARATORS[0], (false, 0, 0));
    for separator in SEPARATORS {
        let rows: Vec<StringRecord> = records(text, separator).take(LOOK_AT).collect();
        let columns = rows.first().map_or(0, StringRecord::len);
        let alike = columns > 1 && rows.iter().all(|row| row.len() == columns);
        let numbers = rows.iter().flatten().filter(|cell| is_number(cell)).count();
        let score = if alike { (true, numbers, columns) } else { (false, columns, numbers) };
        if score > best.1 {
            best = (separator, score);
        }
    }
    best.0
}

/// What every column is.
struct Plan {
    header: Option<Vec<String>>,
    label: Option<usize>,
    id: Option<usize>,
    features: Vec<usize>,
    columns: usize,
}

impl Plan {
    fn new(first: &StringRecord, requested: Option<&str>) -> Result<Self, CsvFault> {
        let columns = first.len();
        let number = table::requested_number(requested, columns);
        let is_name = |(at, cell): (usize, &str)| match number {
            // The classes in the first row of data are text as well.
            Some(number) if at + 1 == number => table::LABEL_NAMES.contains(&cell),
            _ => !cell.is_empty() && !is_number(cell),
        };
        let header =
            first.iter().enumerate().any(is_name).then(|| first.iter().map(str::to_string).collect::<Vec<_>>());
        let names = header.as_deref().unwrap_or_default();
        let label = table::label(requested, columns, names)?;
        let id = (names.first().is_some_and(|name| name == "id") && label != Some(0)).then_some(0);
        let features: Vec<usize> = (0..columns).filter(|&at| Some(at) != label && Some(at) != id).collect();
        match features.is_empty() {
            true => Err(CsvFault::NoFeatures { columns }),
            false => Ok(Self { header, label, id, features, columns }),
        }
    }

    fn column(&self, at: usize) -> Column {
        let name = self.header.as_ref().map(|names| names[at].clone()).filter(|name| !name.is_empty());
        Column { number: at + 1, name }
    }
}

/// What was read so far.
struct Cells<'a> {
    plan: &'a Plan,
    /// The line of the row at this byte.
    line: &'a dyn Fn(u64) -> usize,
    values: Vec<f64>,
    labels: Vec<String>,
    ids: Vec<String>,
    rows: usize,
}

impl Cells<'_> {
    fn take(&mut self, row: &StringRecord) -> Result<(), CsvFault> {
        let (expected, found) = (self.plan.columns, row.len());
        if found != expected {
            return Err(CsvFault::Ragged { line: self.line(row), expected, found });
        }
        for &at in &self.plan.features {
            let value = number(&row[at]).map_err(|kind| self.bad_cell(row, at, kind))?;
            self.values.push(value);
        }
        if let Some(at) = self.plan.label {
            if row[at].is_empty() {
                let (line, column) = (self.line(row), self.plan.column(at));
                return Err(CsvFault::Missing { line, column, expected: "a class" });
            }
            self.labels.push(row[at].to_string());
        }
        if let Some(at) = self.plan.id {
            self.ids.push(row[at].to_string());
        }
        self.rows += 1;
        Ok(())
    }

    fn bad_cell(&self, row: &StringRecord, at: usize, kind: BadCell) -> CsvFault {
        let (line, column) = (self.line(row), self.plan.column(at));
        let text = row[at].chars().take(40).flat_map(char::escape_debug).collect();
        match kind {
            BadCell::Empty => CsvFault::Missing { line, column, expected: "a number" },
            BadCell::NotFinite => CsvFault::NotFinite { line, column, text },
            BadCell::NotNumber => CsvFault::NotNumber { line, column, text },
        }
    }

    /// The line on which a row begins.
    fn line(&self, row: &StringRecord) -> usize {
        (self.line)(row.position().map_or(0, csv::Position::byte))
    }
}

enum BadCell {
    Empty,
    NotFinite,
    NotNumber,
}

fn number(cell: &str) -> Result<f64, BadCell> {
    match cell.parse::<f64>() {
        // A number too large for 64 bits also comes back as infinity.
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(BadCell::NotFinite),
        Err(_) if cell.is_empty() => Err(BadCell::Empty),
        Err(_) => Err(BadCell::NotNumber),
    }
}

fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<f64> {
        read("a.csv", text, None).unwrap().samples.into_f64().into_vec()
    }

    #[test]
    fn one_table_reads_the_same_in_every_dress() {
        let expected = [1.0, 2.5, -3e4, 4.0];
        for text in [
            "1,2.5\n-3e4,4\n",
            "1,2.5\r\n-3e4,4\r\n\r\n\r\n",
            "1\t2.5\n-3e4\t4",
            "1;2.5\n-3e4;4\n   \n",
            "\u{feff}1, 2.5\n -3e4 ,4\n",
            "\"1\",\"2.5\"\n\"-3e4\",4\n",
            "\n\na,b\n1,2.5\n-3e4,4\n",
            "1,2.5\r-3e4,4\r",
        ] {
            assert_eq!(values(text), expected, "{text:?}");
        }
        assert_eq!(values("1\n2\n3"), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn header_gives_names_labels_and_ids() {
        let data = read("a.csv", "id,w,h,class\na,1,2,cat\nb,3,4,dog\n", None).unwrap();
        assert_eq!(data.samples.into_f64().into_vec(), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(data.feature_names.unwrap(), ["w", "h"]);
        assert_eq!(data.ids.unwrap(), ["a", "b"]);
        assert_eq!(data.labels.unwrap().names, ["cat", "dog"]);
    }

    #[test]
    fn the_label_is_found_by_name_or_number_and_does_not_make_a_header() {
        let by_name = read("a.csv", "kind,w\nx,1\ny,2\n", Some("kind")).unwrap();
        let by_number = read("a.csv", "kind,w\nx,1\ny,2\n", Some("1")).unwrap();
        assert_eq!(by_name, by_number);
        let bare = read("a.csv", "x,1\ny,2\n", Some("1")).unwrap();
        assert_eq!((bare.samples.rows(), bare.feature_names), (2, None));
        assert_eq!(bare.labels, by_name.labels);
        let numbered = read("a.csv", "0,1,label\n5,6,a\n7,8,b\n", Some("3")).unwrap();
        assert_eq!(
            (numbered.samples.rows(), numbered.feature_names.unwrap()),
            (2, vec!["0".to_string(), "1".to_string()])
        );
    }

    #[test]
    fn the_separator_is_the_one_between_numbers() {
        assert_eq!(separator("1,2,a;b\n3,4,c;d\n"), b',');
        assert_eq!(separator("\"a,b\"\t1\n\"c,d\"\t2\n"), b'\t');
        assert_eq!(separator("1;2;3\n4;5\n"), b';');
        assert_eq!(separator("17\n4\n"), b',');
    }
}
