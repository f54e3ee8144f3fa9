//! Columnar files, Parquet and Arrow: record batches become samples in rows.
//!
//! | column | what it is | types |
//! |---|---|---|
//! | `label`, `class`, `target`, `y`, or the one requested | classes | text, integers, bools, whole floats, categories |
//! | `id` where it is the first, pandas' `__index_level_0__` | names of the samples | text, integers |
//! | all others | features | floats, integers up to 2^53, bools, lists of these of one length |
//!
//! A list is as many features as it is long: `name_0`, `name_1`, … Where all features are unsigned bytes or bools the
//! samples are bytes, where all are floats of 32 or 16 bits they are singles, else doubles. Nulls, NaN and infinities
//! are refused by row and column, columns of any other type by name.
//!
//! A file is read whole ([`parquet::read`], [`arrow::read_file`], [`arrow::read_stream`]) or chunk by chunk
//! ([`rows::ColumnarRows`]): the checks, the [`Plan`] and the [`Table`] are the same, and so are rows and messages.
//!
//! The libraries that decode these files believe what is written in them, and panic where it is not so. What they
//! would allocate is checked before they see it, and a panic stays inside ([`crate::contain`]).

pub(crate) mod arrow;
mod cells;
mod fault;
mod groups;
mod pages;
pub(crate) mod parquet;
mod rows;
mod sink;
mod thrift;

pub use fault::ColumnarFault;
pub(crate) use groups::open_parquet;
pub(crate) use sink::{ParquetSink, held as held_by_sink};

use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use eigenspan_core::Mat;
use eigenspan_core::data::{Dataset, Labels, Matrix, NumberType};

use crate::array::Values;
use crate::contain::contained;
use crate::error::ReadError;
use crate::table;
use cells::{Bad, Cell};

/// The column that pandas keeps an index without a name in.
const PANDAS_INDEX: &str = "__index_level_0__";

/// Runs a reader with its panics contained.
fn guarded<T>(file: &str, format: &'static str, read: impl FnOnce() -> Result<T, ReadError>) -> Result<T, ReadError> {
    // What the closure holds is not looked at again after a panic.
    let result = contained(std::panic::AssertUnwindSafe(read));
    let damaged = || ColumnarFault::Damaged { format, problem: "contents that contradict each other".to_string() };
    result.unwrap_or_else(|_| Err(ReadError::content(file, damaged())))
}

/// The words of a library, on one line and not too long.
fn shortened(words: &str) -> String {
    words.chars().take(160).flat_map(char::escape_debug).collect()
}

/// Tries whether so much memory can be had now.
fn can_be_had(bytes: u128) -> Result<(), ColumnarFault> {
    let fault = ColumnarFault::Memory { bytes };
    match usize::try_from(bytes) {
        Ok(bytes) if Vec::<u8>::new().try_reserve_exact(bytes).is_ok() => Ok(()),
        _ => Err(fault),
    }
}

/// What every column is. Columns that are not read are left out of the batches.
#[derive(Clone)]
struct Plan {
    /// The names of all columns of the file.
    names: Vec<String>,
    /// The columns that are read, in the order of the file.
    read: Vec<usize>,
    label: Option<usize>,
    id: Option<usize>,
    features: Vec<usize>,
    /// Those of the features that are lists.
    lists: Vec<usize>,
    number: NumberType,
}

impl Plan {
    fn new(schema: &Schema, requested: Option<&str>) -> Result<Self, ColumnarFault> {
        let columns = schema.fields().len();
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let label = table::label(requested, columns, &names)?;
        let named_id = (names.first().is_some_and(|name| name == "id") && label != Some(0)).then_some(0);
        let index = names.iter().position(|name| name == PANDAS_INDEX).filter(|&at| label != Some(at));
        // Where rows have an id, the index is no feature either.
        let id = named_id.or(index);
        let features: Vec<usize> = (0..columns).filter(|&at| ![label, id, index].contains(&Some(at))).collect();
        if features.is_empty() {
            return Err(ColumnarFault::NoFeatures { columns });
        }
        let kind = |at: usize| schema.field(at).data_type();
        let checked = |at: usize, expected: &'static str, fits: fn(&DataType) -> bool| match fits(kind(at)) {
            true => Ok(()),
            false => Err(ColumnarFault::Type { column: names[at].clone(), found: cells::words(kind(at)), expected }),
        };
        label.map_or(Ok(()), |at| checked(at, "classes", cells::are_classes))?;
        id.map_or(Ok(()), |at| checked(at, "names of samples", cells::are_ids))?;
        features.iter().try_for_each(|&at| checked(at, "numbers", cells::are_features))?;
        let all = |types: &[DataType]| features.iter().all(|&at| types.contains(cells::number(kind(at))));
        let number = match () {
            () if all(&[DataType::UInt8, DataType::Boolean]) => NumberType::U8,
            () if all(&[DataType::Float32, DataType::Float16]) => NumberType::F32,
            () => NumberType::F64,
        };
        let lists = features.iter().copied().filter(|&at| cells::is_list(kind(at))).collect();
        let mut read: Vec<usize> = features.iter().copied().chain(label).chain(id).collect();
        read.sort_unstable();
        Ok(Self { names, read, label, id, features, lists, number })
    }

    /// The fault of a cell, with the rows before its batch.
    fn fault(&self, before: usize, at: usize, (row, bad): (usize, Bad), expected: &'static str) -> ColumnarFault {
        let (row, column) = (before + row, self.names[at].clone());
        match bad {
            Bad::Null => ColumnarFault::Missing { row, column, expected },
            Bad::Value(found) => ColumnarFault::Value { row, column, found },
            Bad::Long { bytes } => ColumnarFault::LongText { row, column, bytes },
            Bad::Length { expected, found } => ColumnarFault::ListLength { row, column, expected, found },
        }
    }

    /// A column that is read.
    fn column<'a>(&self, batch: &'a RecordBatch, at: usize) -> &'a dyn Array {
        batch.column(self.read.binary_search(&at).expect("it is read")).as_ref()
    }

    /// Bytes of one number in memory.
    fn bytes(&self) -> usize {
        match self.number {
            NumberType::U8 => 1,
            NumberType::F32 => 4,
            NumberType::F64 => 8,
        }
    }
}

/// What was read so far, and was not handed out yet.
struct Table {
    plan: Plan,
    /// Rows taken, those that were handed out among them.
    rows: usize,
    /// For every feature column, the features it is; known when the first row is.
    widths: Vec<usize>,
    values: Values,
    labels: Vec<String>,
    ids: Vec<String>,
}

impl Table {
    fn new(plan: Plan) -> Self {
        let values = Self::no_values(&plan);
        Self { plan, rows: 0, widths: vec![], values, labels: vec![], ids: vec![] }
    }

    fn no_values(plan: &Plan) -> Values {
        match plan.number {
            NumberType::U8 => Values::U8(vec![]),
            NumberType::F32 => Values::F32(vec![]),
            NumberType::F64 => Values::F64(vec![]),
        }
    }

    fn cols(&self) -> usize {
        self.widths.iter().sum()
    }

    /// Learns from the first row how many features every column is.
    fn learn(&mut self, batch: &RecordBatch) -> Result<(), ColumnarFault> {
        let plan = &self.plan;
        self.widths = plan.features.iter().map(|&at| cells::width(plan.column(batch, at))).collect();
        match self.cols() {
            0 => Err(ColumnarFault::NoFeatures { columns: plan.names.len() }),
            _ => Ok(()),
        }
    }

    /// Makes space for so many rows more.
    fn reserve(&mut self, rows: usize) -> Result<(), ColumnarFault> {
        let bytes = rows as u128 * self.cols() as u128 * self.plan.bytes() as u128;
        let cells = rows.checked_mul(self.cols()).ok_or(ColumnarFault::Memory { bytes })?;
        self.values.reserve(cells).map_err(|_| ColumnarFault::Memory { bytes })
    }

    /// Takes the columns that are read, of some rows.
    fn take(&mut self, batch: &RecordBatch) -> Result<(), ColumnarFault> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let (plan, before) = (&self.plan, self.rows);
        let column = |at: usize| plan.column(batch, at);
        let arrays: Vec<(usize, &dyn Array)> = plan.features.iter().map(|&at| (at, column(at))).collect();
        let (rows, widths) = (batch.num_rows(), &self.widths);
        let filled = match &mut self.values {
            Values::F64(values) => fill(values, rows, widths, &arrays),
            Values::F32(values) => fill(values, rows, widths, &arrays),
            Values::U8(values) => fill(values, rows, widths, &arrays),
        };
        filled.map_err(|(at, bad)| plan.fault(before, at, bad, "a number"))?;
        if let Some(at) = plan.label {
            let classes = cells::classes(column(at)).map_err(|bad| plan.fault(before, at, bad, "a class"))?;
            self.labels.extend(classes);
        }
        if let Some(at) = plan.id {
            let names = cells::classes(column(at)).map_err(|bad| plan.fault(before, at, bad, "a name"))?;
            self.ids.extend(names);
        }
        self.rows += rows;
        Ok(())
    }

    /// All rows of a file, batch after batch; `expected` is how many it says it has.
    fn collect(
        mut self,
        format: &'static str,
        expected: usize,
        batches: impl Iterator<Item = Result<RecordBatch, ColumnarFault>>,
    ) -> Result<Dataset, ColumnarFault> {
        if expected == 0 {
            return Err(ColumnarFault::NoRows);
        }
        for batch in batches {
            let batch = batch?;
            if self.rows == 0 && batch.num_rows() > 0 {
                self.learn(&batch)?;
                self.reserve(expected)?;
            }
            self.take(&batch)?;
        }
        if self.rows != expected {
            let problem = format!("{} rows where its own count says {expected}", self.rows);
            return Err(ColumnarFault::Damaged { format, problem });
        }
        let (samples, names) = (self.hand_out(), self.feature_names());
        let Self { plan, labels, ids, .. } = self;
        let labels = plan.label.map(|_| Labels::from_names(&labels));
        let ids = plan.id.map(|_| ids);
        Ok(Dataset { labels, ids, feature_names: Some(names), ..Dataset::new(samples) })
    }

    /// The rows taken since the last time.
    fn hand_out(&mut self) -> Matrix {
        const COUNTED: &str = "every row gave all its features";
        let cols = self.cols();
        let values = std::mem::replace(&mut self.values, Self::no_values(&self.plan));
        let rows = values.len() / cols.max(1);
        match values {
            Values::F64(values) => Mat::from_vec(rows, cols, values).expect(COUNTED).into(),
            Values::F32(values) => Mat::from_vec(rows, cols, values).expect(COUNTED).into(),
            Values::U8(values) => Mat::from_vec(rows, cols, values).expect(COUNTED).into(),
        }
    }

    fn feature_names(&self) -> Vec<String> {
        let (plan, mut names) = (&self.plan, vec![]);
        for (&at, &width) in plan.features.iter().zip(&self.widths) {
            let name = &plan.names[at];
            match plan.lists.binary_search(&at).is_ok() {
                true => names.extend((0..width).map(|j| format!("{name}_{j}"))),
                false => names.push(name.clone()),
            }
        }
        names
    }
}

/// Appends rows, column by column. With an error comes its column, and its row among these.
fn fill<T: Cell>(
    values: &mut Vec<T>,
    rows: usize,
    widths: &[usize],
    arrays: &[(usize, &dyn Array)],
) -> Result<(), (usize, (usize, Bad))> {
    let (cols, start) = (widths.iter().sum::<usize>(), values.len());
    values.resize(start + rows * cols, T::default());
    let mut first = 0;
    for (&(at, array), &width) in arrays.iter().zip(widths) {
        cells::fill(array, width, &mut values[start..], first, cols).map_err(|bad| (at, bad))?;
        first += width;
    }
    Ok(())
}
