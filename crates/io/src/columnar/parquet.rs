//! Parquet: `PAR1`, the columns in row groups, a footer that tells where they are, its length, `PAR1`.
//!
//! The footer also holds the Arrow schema that the writer had; it is left alone, as what it adds (categories, the width
//! of offsets) makes no difference here. The file is read into memory as it is, and unpacked page by page.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use eigenspan::data::Dataset;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::PageIndexPolicy;
use prost::bytes::Bytes;

use super::thrift::Footer;
use super::{ColumnarFault, Plan, Table, can_be_had, guarded, pages};
use crate::error::ReadError;

/// Columns within columns beyond this depth are not followed: a list of numbers needs 3.
const DEEPEST: usize = 64;

/// Rows that are decoded at once.
const BATCH: usize = 4096;

/// Reads a table; `label` is the label column asked for.
pub(crate) fn read(file: &str, bytes: Vec<u8>, label: Option<&str>) -> Result<Dataset, ReadError> {
    guarded(file, "Parquet", || {
        check_footer(&bytes)?;
        samples(Bytes::from(bytes), label)
    })
}

fn damaged(problem: impl Into<String>) -> ColumnarFault {
    ColumnarFault::Damaged { format: "Parquet", problem: problem.into() }
}

fn given_up(error: ParquetError) -> ColumnarFault {
    damaged(format!("what its reader cannot take: {}", super::shortened(&error.to_string())))
}

fn check_footer(bytes: &[u8]) -> Result<(), ColumnarFault> {
    let Some((rest, [length @ .., b'P', b'A', b'R', end])) = bytes.split_last_chunk::<8>() else {
        return Err(damaged(format!("{} bytes, which do not end in `PAR1`", bytes.len())));
    };
    match end {
        b'1' => {}
        b'E' => return Err(ColumnarFault::Encrypted),
        _ => return Err(damaged(format!("{} bytes, which do not end in `PAR1`", bytes.len()))),
    }
    let length = u32::from_le_bytes(*length);
    let room = rest.len().saturating_sub(4);
    if length as usize > room {
        return Err(damaged(format!("a footer of {length} bytes in a file that has room for {room}")));
    }
    let footer = Footer::read(&rest[rest.len() - length as usize..]);
    match footer.ok_or_else(|| damaged(format!("a footer of {length} bytes that makes no sense")))? {
        Footer { encrypted: true, .. } => Err(ColumnarFault::Encrypted),
        Footer { depth, .. } if depth > DEEPEST => {
            Err(damaged(format!("columns within columns to a depth of {depth}, which is beyond {DEEPEST}")))
        }
        _ => Ok(()),
    }
}

fn samples(bytes: Bytes, label: Option<&str>) -> Result<Dataset, ColumnarFault> {
    let options =
        || ArrowReaderOptions::new().with_skip_arrow_metadata(true).with_page_index_policy(PageIndexPolicy::Skip);
    let metadata = ArrowReaderMetadata::load(&bytes, options()).map_err(given_up)?;
    let plan = Plan::new(metadata.schema(), label)?;
    let rows = check_columns(&bytes, &metadata, &plan)?;
    let metadata = ArrowReaderMetadata::try_new(
        metadata.metadata().clone(),
        options().with_schema(Arc::new(with_views(metadata.schema()))),
    );
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, metadata.map_err(given_up)?);
    let mask = ProjectionMask::roots(builder.parquet_schema(), plan.read.iter().copied());
    let reader = builder.with_projection(mask).with_batch_size(BATCH).build().map_err(given_up)?;
    let mut table = Table::new(plan, rows)?;
    for batch in reader {
        let batch = batch.map_err(|error| {
            damaged(format!("what its reader cannot take: {}", super::shortened(&error.to_string())))
        })?;
        table.take(&batch)?;
    }
    table.finish("Parquet")
}

/// Text as views into the pages: a dictionary with one long text cannot fill the memory with copies of it.
fn with_views(schema: &Schema) -> Schema {
    let field = |field: &Arc<Field>| match field.data_type() {
        DataType::Utf8 => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)),
        _ => field.clone(),
    };
    Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>())
}

/// Compares what the footer claims of the columns to be read with what is there, and with the memory that can be had.
/// Returns the number of rows.
fn check_columns(bytes: &[u8], metadata: &ArrowReaderMetadata, plan: &Plan) -> Result<usize, ColumnarFault> {
    let claimed = metadata.metadata().file_metadata().num_rows();
    let (mut rows, mut numbers, mut largest) = (0u64, 0u128, 0);
    for group in metadata.metadata().row_groups() {
        let group_rows = u64::try_from(group.num_rows())
            .map_err(|_| damaged(format!("a row group of {} rows", group.num_rows())))?;
        rows = rows.checked_add(group_rows).ok_or_else(|| damaged("more rows than can be counted"))?;
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
            largest = largest.max(pages::check(bytes, chunk, column)?);
        }
    }
    if claimed < 0 || claimed as u64 != rows {
        return Err(damaged(format!("{rows} rows in its row groups where its footer says {claimed}")));
    }
    can_be_had(numbers * plan.bytes() as u128 + largest)?;
    usize::try_from(rows).map_err(|_| damaged("more rows than this machine can count"))
}
