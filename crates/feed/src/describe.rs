//! What is in a file, chunk by chunk: shape, range, lengths, classes. Nothing of it is held.

use std::path::Path;

use eigenspan_core::data::{ImageShape, NumberType, Samples};
use eigenspan_core::prepare::norm;
use eigenspan_core::{Error, Exec};
use eigenspan_io::{Fingerprint, ReadOptions, Rows, embedded, open_counted};

use crate::error::FeedError;
use crate::pass::{Pass, Work};

/// Bytes of a chunk, as doubles.
const CHUNK: usize = 4 << 20;

/// A description of a file.
pub struct Describe {
    rows: Rows,
}

/// What is in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Samples.
    pub rows: usize,
    /// Features.
    pub features: usize,
    /// The numbers that they came in.
    pub number_type: NumberType,
    /// Whether they came as sparse rows.
    pub sparse: bool,
    /// Height and width of the image that each sample is.
    pub image: Option<ImageShape>,
    /// The samples of every class that has some; none where there are no classes.
    pub classes: Option<Vec<usize>>,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The mean of all values.
    pub mean: f64,
    /// Samples of length zero.
    pub zero_samples: usize,
    /// The length of the shortest sample.
    pub shortest: f64,
    /// The length of the longest sample.
    pub longest: f64,
}

impl Describe {
    /// Opens a file.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<Self, FeedError> {
        let name = embedded::NAMES.into_iter().find(|name| path.as_os_str() == *name);
        let rows = match name {
            Some(name) => embedded::by_name(name).expect("one of the names").into(),
            None => open_counted(path, options)?,
        };
        if options.memory.is_some() && name.is_none() && !rows.streams {
            return Err(FeedError::ReadWhole { file: path.display().to_string() });
        }
        Ok(Self { rows })
    }

    /// The same of samples that are open.
    pub fn of(rows: Rows) -> Self {
        Self { rows }
    }

    /// Looks at every value once, with the given threads and monitor. The readers have refused what is not finite.
    pub fn run(self, exec: Exec<'_>) -> Result<Description, FeedError> {
        let (m, image, classes) = (self.rows.source.cols(), self.rows.image, self.rows.classes.clone());
        let work = Work::new(exec, self.rows.bytes);
        let mut found: Option<Description> = None;
        let mut total = 0.0;
        let height = (CHUNK / (8 * m.max(1))).clamp(1, 1 << 16);
        Pass::new(&work, self.rows, height, 0, Fingerprint::none()).each(|chunk| {
            let x = chunk.block.view();
            let rows = work.exec().map("scan", x.rows(), |i| Row::of(x, i)).map_err(Error::from)?;
            let sparse = matches!(x, Samples::Csr(_));
            let found = found.get_or_insert_with(|| Description::nothing(m, x.number_type(), sparse));
            for row in &rows {
                found.note(row);
                total += row.mean;
            }
            Ok(())
        })?;
        let mut found = found.ok_or(Error::Empty { n: 0, m })?;
        found.mean = total / found.rows as f64;
        (found.image, found.classes) = (image, classes.map(|classes| classes.counts()));
        Ok(found)
    }
}

/// One sample.
struct Row {
    low: f64,
    high: f64,
    mean: f64,
    length: f64,
}

impl Row {
    fn of(x: Samples<'_>, i: usize) -> Self {
        let (m, mut row) = (x.cols(), vec![]);
        if let Samples::Csr(x) = x {
            // One zero stands for all zeros of a row.
            row.extend_from_slice(x.row(i).1);
            row.resize(m.min(row.len() + 1), 0.0);
        } else {
            row.resize(m, 0.0);
            x.read_row(i, 0..m, &mut row);
        }
        let (low, high) = row.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(*y), h.max(*y)));
        Self { low, high, mean: row.iter().sum::<f64>() / m as f64, length: norm(&row) }
    }
}

impl Description {
    fn nothing(features: usize, number_type: NumberType, sparse: bool) -> Self {
        Self {
            rows: 0,
            features,
            number_type,
            sparse,
            image: None,
            classes: None,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            mean: f64::NAN,
            zero_samples: 0,
            shortest: f64::INFINITY,
            longest: f64::NEG_INFINITY,
        }
    }

    fn note(&mut self, row: &Row) {
        self.rows += 1;
        (self.min, self.max) = (self.min.min(row.low), self.max.max(row.high));
        (self.shortest, self.longest) = (self.shortest.min(row.length), self.longest.max(row.length));
        self.zero_samples += usize::from(row.length == 0.0);
    }
}
