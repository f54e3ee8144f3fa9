//! Arrow IPC, also known as Feather of version 2: a stream of messages, or a file of them with a footer that tells
//! where they are.
//!
//! A message is its length, a FlatBuffer that describes it, and a body: the buffers of some rows of every column, each
//! of which may be packed by LZ4 or Zstandard, with the length it becomes in front.

use std::io::Cursor;

use arrow_array::RecordBatch;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::{BodyCompressionMethod, CompressionType, Endianness, Message, MessageHeader, root_as_message};
use arrow_schema::ArrowError;
use eigenspan_core::data::Dataset;

use super::{ColumnarFault, Plan, Table, can_be_had, guarded, pages};
use crate::error::ReadError;

const MAGIC: &[u8; 6] = b"ARROW1";

/// Reads a file with a footer; `label` is the label column requested.
pub(crate) fn read_file(file: &str, bytes: &[u8], label: Option<&str>) -> Result<Dataset, ReadError> {
    guarded(file, "Arrow", || samples_of_file(bytes, label).map_err(|fault| ReadError::content(file, fault)))
}

fn samples_of_file(bytes: &[u8], label: Option<&str>) -> Result<Dataset, ColumnarFault> {
    let footer = footer(bytes)?;
    let footer = arrow_ipc::root_as_footer(footer).map_err(|_| damaged("a footer that makes no sense"))?;
    let schema = footer.schema().ok_or_else(|| damaged("a footer without a schema"))?;
    little(schema.endianness())?;
    let plan = Plan::new(&try_fb_to_schema(schema).map_err(given_up)?, label)?;
    let mut rows = 0u64;
    for block in footer.dictionaries().iter().flatten().chain(footer.recordBatches().iter().flatten()) {
        let place = || damaged(format!("a block at byte {} that is not in the file", block.offset()));
        let start = usize::try_from(block.offset()).map_err(|_| place())?;
        let bytes = bytes.get(start..).ok_or_else(place)?;
        let message = next(bytes)?.ok_or_else(place)?;
        let claimed = (i64::from(block.metaDataLength()), block.bodyLength());
        if claimed != (message.body as i64, message.after as i64 - message.body as i64) {
            return Err(damaged(format!("a message at byte {start} that is not as long as its footer says")));
        }
        rows = rows.saturating_add(check(bytes, &message)?);
    }
    let reader = FileReader::try_new(Cursor::new(bytes), Some(plan.read.clone())).map_err(given_up)?;
    collect(plan, rows, reader)
}

/// Reads a stream; `label` is the label column requested.
pub(crate) fn read_stream(file: &str, bytes: &[u8], label: Option<&str>) -> Result<Dataset, ReadError> {
    guarded(file, "Arrow", || samples_of_stream(bytes, label).map_err(|fault| ReadError::content(file, fault)))
}

fn samples_of_stream(bytes: &[u8], label: Option<&str>) -> Result<Dataset, ColumnarFault> {
    let (mut at, mut rows) = (0, 0u64);
    while let Some(message) = next(&bytes[at..])? {
        rows = rows.saturating_add(check(&bytes[at..], &message)?);
        at += message.after;
    }
    let schema = StreamReader::try_new(Cursor::new(bytes), None).map_err(given_up)?.schema();
    let plan = Plan::new(&schema, label)?;
    let reader = StreamReader::try_new(Cursor::new(bytes), Some(plan.read.clone())).map_err(given_up)?;
    collect(plan, rows, reader)
}

fn collect(
    plan: Plan,
    rows: u64,
    reader: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
) -> Result<Dataset, ColumnarFault> {
    let rows = usize::try_from(rows).map_err(|_| damaged("more rows than this machine can count"))?;
    Table::new(plan).collect("Arrow", rows, reader.map(|batch| batch.map_err(given_up)))
}

fn damaged(problem: impl Into<String>) -> ColumnarFault {
    ColumnarFault::Damaged { format: "Arrow", problem: problem.into() }
}

fn given_up(error: ArrowError) -> ColumnarFault {
    damaged(format!("what its reader cannot take: {}", super::shortened(&error.to_string())))
}

fn little(endianness: Endianness) -> Result<(), ColumnarFault> {
    if endianness == Endianness::Little { Ok(()) } else { Err(ColumnarFault::BigEndian) }
}

/// The footer: in front of its length and the magic bytes.
fn footer(bytes: &[u8]) -> Result<&[u8], ColumnarFault> {
    let rest = bytes.strip_suffix(MAGIC);
    let rest = rest.ok_or_else(|| damaged(format!("{} bytes, which do not end in `ARROW1`", bytes.len())))?;
    let (rest, length) = rest.split_last_chunk::<4>().ok_or_else(|| damaged("no footer"))?;
    let (length, space) = (i32::from_le_bytes(*length), rest.len().saturating_sub(8));
    match usize::try_from(length) {
        Ok(length) if length <= space => Ok(&rest[rest.len() - length..]),
        _ => Err(damaged(format!("a footer of {length} bytes in a file that has space for {space}"))),
    }
}

/// A message: what it says, where its body begins, and where it ends.
struct Found<'a> {
    says: Message<'a>,
    body: usize,
    after: usize,
}

/// The message that begins here; none where the stream says or shows that it ends.
fn next(bytes: &[u8]) -> Result<Option<Found<'_>>, ColumnarFault> {
    let word = |at: usize| bytes.get(at..at + 4).map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    if bytes.is_empty() {
        return Ok(None);
    }
    let cut = || damaged("a message that ends before its length is known");
    // Before version 0.15 there was no mark in front of the length.
    let (length, start) = match word(0).ok_or_else(cut)? {
        -1 => (word(4).ok_or_else(cut)?, 8),
        length => (length, 4),
    };
    if length == 0 {
        return Ok(None);
    }
    let left = bytes.len() - start;
    let described = usize::try_from(length).ok().and_then(|length| bytes.get(start..start.checked_add(length)?));
    let described =
        described.ok_or_else(|| damaged(format!("a message described by {length} bytes where {left} are left")))?;
    let says = root_as_message(described).map_err(|_| damaged("a message whose description makes no sense"))?;
    let (body, length) = (start + described.len(), says.bodyLength());
    let after = usize::try_from(length).ok().and_then(|length| body.checked_add(length));
    match after.filter(|&after| after <= bytes.len()) {
        Some(after) => Ok(Some(Found { says, body, after })),
        None => Err(damaged(format!("a message of {length} bytes where {} are left", bytes.len() - body))),
    }
}

/// Looks at what a message claims to become. Returns its rows.
fn check(bytes: &[u8], message: &Found<'_>) -> Result<u64, ColumnarFault> {
    let says = message.says;
    let (batch, is_dictionary) = match says.header_type() {
        MessageHeader::RecordBatch => (says.header_as_record_batch(), false),
        MessageHeader::DictionaryBatch => (says.header_as_dictionary_batch().and_then(|values| values.data()), true),
        MessageHeader::Schema => {
            return says.header_as_schema().map_or(Ok(()), |schema| little(schema.endianness())).map(|()| 0);
        }
        _ => return Err(damaged("a message that is neither a schema nor rows")),
    };
    let batch = batch.ok_or_else(|| damaged("a message of rows without rows"))?;
    let rows = u64::try_from(batch.length()).map_err(|_| damaged(format!("a batch of {} rows", batch.length())))?;
    let body = &bytes[message.body..message.after];
    let (mut taken, mut unpacked) = (0u128, 0u128);
    for buffer in batch.buffers().iter().flatten() {
        let (start, length) = (buffer.offset(), buffer.length());
        let range = usize::try_from(start).ok().zip(usize::try_from(length).ok());
        let part = range.and_then(|(start, length)| body.get(start..start.checked_add(length)?)).ok_or_else(|| {
            damaged(format!("a buffer of {length} bytes at byte {start} of a body of {} bytes", body.len()))
        })?;
        taken += part.len() as u128;
        if let Some(packing) = batch.compression() {
            if packing.method() != BodyCompressionMethod::BUFFER {
                return Err(damaged("buffers packed in a way that is not known"));
            }
            unpacked += claim(packing.codec(), part)?;
        }
    }
    if taken > body.len() as u128 {
        return Err(damaged(format!("buffers of {taken} bytes in a body of {} bytes", body.len())));
    }
    can_be_had(unpacked)?;
    Ok(if is_dictionary { 0 } else { rows })
}

/// The bytes that a packed buffer says it becomes, if it can.
fn claim(codec: CompressionType, part: &[u8]) -> Result<u128, ColumnarFault> {
    let Some((length, packed)) = part.split_first_chunk::<8>() else {
        return match part {
            [] => Ok(0),
            _ => Err(damaged(format!("a packed buffer of {} bytes, which is less than its length takes", part.len()))),
        };
    };
    let most = match codec {
        CompressionType::LZ4_FRAME => pages::lz4_bound(packed.len() as u64),
        CompressionType::ZSTD => pages::zstd_bound(packed.len() as u64),
        _ => return Err(damaged("buffers packed in a way that is not known")),
    };
    match i64::from_le_bytes(*length) {
        // Left as it is.
        -1 => Ok(0),
        claimed if (0..=most).contains(&u128::try_from(claimed).unwrap_or(u128::MAX)) => Ok(claimed as u128),
        claimed => Err(damaged(format!("a buffer of {} bytes that claims to unpack to {claimed}", packed.len()))),
    }
}
