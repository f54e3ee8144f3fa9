//! Parquet: `PAR1`, the columns in row groups, a footer with their places, its length, `PAR1`.
//!
//! The footer also holds the Arrow schema that the writer had; it is left alone, as what it adds (categories, the width
//! of offsets) makes no difference here. Read whole, the file is held as it is and unpacked page by page; how it is
//! read row group by row group is in [`super::groups`].

use std::sync::Arc;

use arrow_schema::{ArrowError, DataType, Field, Schema};
use eigenspan_core::data::Dataset;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaDataOptions, ParquetMetaDataReader, ParquetStatisticsPolicy,
    RowGroupMetaData,
};
use parquet::file::reader::ChunkReader;
use prost::bytes::Bytes;

use super::thrift::Footer;
use super::{ColumnarFault, Plan, Table, can_be_had, guarded, pages};
use crate::error::ReadError;

/// Columns within columns beyond this depth are not followed: a list of numbers needs 3.
const DEEPEST: usize = 64;

/// Rows that are decoded at once, where the whole file is read.
pub(super) const BATCH: usize = 4096;

/// Reads a table; `label` is the label column requested.
pub(crate) fn read(file: &str, bytes: Vec<u8>, label: Option<&str>) -> Result<Dataset, ReadError> {
    guarded(file, "Parquet", || samples(Bytes::from(bytes), label).map_err(|fault| ReadError::content(file, fault)))
}

pub(super) fn damaged(problem: impl Into<String>) -> ColumnarFault {
    ColumnarFault::Damaged { format: "Parquet", problem: problem.into() }
}

pub(super) fn given_up(error: ParquetError) -> ColumnarFault {
    damaged(format!("what its reader cannot take: {}", super::shortened(&error.to_string())))
}

pub(super) fn not_decoded(error: ArrowError) -> ColumnarFault {
    damaged(format!("what its reader cannot take: {}", super::shortened(&error.to_string())))
}

/// The length of the footer, by the last 8 bytes of a file of `length` bytes.
pub(super) fn footer_length(tail: &[u8], length: u64) -> Result<usize, ColumnarFault> {
    let not_the_end = || damaged(format!("{length} bytes, which do not end in `PAR1`"));
    let [footer @ .., b'P', b'A', b'R', end] = tail.last_chunk::<8>().ok_or_else(not_the_end)? else {
        return Err(not_the_end());
    };
    match end {
        b'1' => {}
        b'E' => return Err(ColumnarFault::Encrypted),
        _ => return Err(not_the_end()),
    }
    let (footer, space) = (u32::from_le_bytes(*footer), length.saturating_sub(12));
    match u64::from(footer) <= space {
        true => Ok(footer as usize),
        false => Err(damaged(format!("a footer of {footer} bytes in a file that has space for {space}"))),
    }
}

fn check_footer(bytes: &[u8]) -> Result<(), ColumnarFault> {
    let footer = Footer::read(bytes);
    match footer.ok_or_else(|| damaged(format!("a footer of {} bytes that makes no sense", bytes.len())))? {
        Footer { encrypted: true, .. } => Err(ColumnarFault::Encrypted),
        Footer { depth, .. } if depth > DEEPEST => {
            Err(damaged(format!("columns within columns to a depth of {depth}, which is beyond {DEEPEST}")))
        }
        _ => Ok(()),
    }
}

/// What a footer says.
pub(super) struct Contents {
    pub metadata: ArrowReaderMetadata,
    pub plan: Plan,
    pub rows: usize,
    /// Numbers that the features have in all.
    numbers: u128,
}

impl Contents {
    /// Reads the footer of a file of `length` bytes, and checks everything but the pages.
    pub(super) fn new(footer: &[u8], length: u64, label: Option<&str>) -> Result<Self, ColumnarFault> {
        check_footer(footer)?;
        // Statistics are of no use here, and with many columns in many row groups they are most of what is kept.
        let none = || ParquetStatisticsPolicy::SkipAll;
        let lean = ParquetMetaDataOptions::new().with_column_stats_policy(none()).with_size_stats_policy(none());
        let told = ParquetMetaDataReader::decode_metadata_with_options(footer, Some(&lean)).map_err(given_up)?;
        let options =
            || ArrowReaderOptions::new().with_skip_arrow_metadata(true).with_page_index_policy(PageIndexPolicy::Skip);
        let metadata = ArrowReaderMetadata::try_new(Arc::new(told), options()).map_err(given_up)?;
        let plan = Plan::new(metadata.schema(), label)?;
        let (rows, numbers) = check_columns(&metadata, &plan, length)?;
        let schema = Arc::new(with_views(metadata.schema()));
        let metadata = ArrowReaderMetadata::try_new(metadata.metadata().clone(), options().with_schema(schema));
        Ok(Self { metadata: metadata.map_err(given_up)?, plan, rows, numbers })
    }

    /// The chunks of a row group that are read, with the index of their columns.
    pub(super) fn chunks<'a>(
        &self,
        group: &'a RowGroupMetaData,
    ) -> impl Iterator<Item = (usize, &'a ColumnChunkMetaData)> {
        let column = |leaf| self.metadata.parquet_schema().get_column_root_idx(leaf);
        let all = group.columns().iter().enumerate().map(move |(leaf, chunk)| (column(leaf), chunk));
        all.filter(|(at, _)| self.plan.read.binary_search(at).is_ok())
    }

    /// Decodes what is read of some row groups, `batch` rows at a time. The pages must have been checked.
    pub(super) fn decode(
        &self,
        bytes: impl ChunkReader + 'static,
        groups: Vec<usize>,
        batch: usize,
    ) -> Result<ParquetRecordBatchReader, ColumnarFault> {
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, self.metadata.clone());
        let mask = ProjectionMask::roots(builder.parquet_schema(), self.plan.read.iter().copied());
        builder.with_projection(mask).with_row_groups(groups).with_batch_size(batch).build().map_err(given_up)
    }
}

fn samples(bytes: Bytes, label: Option<&str>) -> Result<Dataset, ColumnarFault> {
    let (rest, tail) = bytes.split_at(bytes.len().saturating_sub(8));
    let footer = footer_length(tail, bytes.len() as u64)?;
    let contents = Contents::new(&rest[rest.len() - footer..], bytes.len() as u64, label)?;
    let (mut largest, metadata) = (0, contents.metadata.metadata());
    for group in metadata.row_groups() {
        for (at, chunk) in contents.chunks(group) {
            let column = &contents.plan.names[at];
            let (start, length) = pages::place(chunk, column, bytes.len() as u64)?;
            let found = pages::check(&bytes[start as usize..start as usize + length], start, chunk, column)?;
            largest = largest.max(found.largest);
        }
    }
    can_be_had(contents.numbers * contents.plan.bytes() as u128 + largest)?;
    let reader = contents.decode(bytes, (0..metadata.num_row_groups()).collect(), BATCH)?;
    Table::new(contents.plan).collect("Parquet", contents.rows, reader.map(|batch| batch.map_err(not_decoded)))
}

/// Text as views into the pages: a dictionary with one long text cannot fill the memory with copies of it.
fn with_views(schema: &Schema) -> Schema {
    let field = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
        _ => field.clone(),
    };
    Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>())
}

/// Compares what the footer claims of the columns to be read with what is there. Returns the number of rows, and that
/// of the numbers that the features have in all.
fn check_columns(metadata: &ArrowReaderMetadata, plan: &Plan, length: u64) -> Result<(usize, u128), ColumnarFault> {
    let claimed = metadata.metadata().file_metadata().num_rows();
    let (mut rows, mut numbers) = (0u64, 0u128);
    for group in metadata.metadata().row_groups() {
        let group_rows = u64::try_from(group.num_rows())
            .map_err(|_| damaged(format!("a row group of {} rows", group.num_rows())))?;
        rows = rows.checked_add(group_rows).ok_or_else(|| damaged("more rows than can be counted"))?;
        let mut packed = 0u128;
        for (leaf, chunk) in group.columns().iter().enumerate() {
            let at = metadata.parquet_schema().get_column_root_idx(leaf);
            if plan.read.binary_search(&at).is_err() {
                continue;
            }
            let column = &plan.names[at];
            let values = chunk.num_values();
            let is_list = plan.lists.binary_search(&at).is_ok();
            if values < 0 || (!is_list && values as u64 != group_rows) {
                return Err(damaged(format!("{values} values in column `{column}` for {group_rows} rows")));
            }
            if is_list && group_rows > 0 && !(values as u64).is_multiple_of(group_rows) {
                let (column, values, rows) = (column.clone(), values as usize, group_rows as usize);
                return Err(ColumnarFault::Uneven { column, values, rows });
            }
            if plan.features.binary_search(&at).is_ok() {
                numbers += values as u128;
            }
            packed += pages::place(chunk, column, length)?.1 as u128;
        }
        if packed > u128::from(length) {
            return Err(damaged(format!("{packed} bytes in the columns of a row group, in a file of {length} bytes")));
        }
    }
    if claimed < 0 || claimed as u64 != rows {
        return Err(damaged(format!("{rows} rows in its row groups where its footer says {claimed}")));
    }
    let rows = usize::try_from(rows).map_err(|_| damaged("more rows than this machine can count"))?;
    Ok((rows, numbers))
}
