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
use eigenspan::data::Dataset;

use super::{ColumnarFault, Plan, Table, can_be_had, guarded, pages};
use crate::error::ReadError;

const MAGIC: &[u8; 6] = b"ARROW1";

/// Reads a file with a footer; `label` is the label column asked for.
pub(crate) fn read_file(file: &str, bytes: &[u8], label: Option<&str>) -> Result<Dataset, ReadError> {
    guarded(file, "Arrow", || samples_of_file(bytes, label).map_err(|fault| ReadError::content(file, fault)))
}

fn samples_of_file(bytes: &[u8], label: Option<&str>) -> Result<Dataset, ColumnarFault> {
    let (rest, tail) = bytes.split_at(bytes.len().saturating_sub(10));
    let length = footer_length(tail, bytes.len() as u64)?;
    let Footer { plan, blocks } = Footer::new(&rest[rest.len() - length..], label)?;
    let mut rows = 0u64;
    for block in blocks {
        let start = usize::try_from(block.at).map_err(|_| block.missing())?;
        let bytes = bytes.get(start..).ok_or_else(|| block.missing())?;
        let message = next(bytes)?.ok_or_else(|| block.missing())?;
        block.fits(&message)?;
        rows = rows.saturating_add(check(bytes, &message)?.0);
    }
    let reader = FileReader::try_new(Cursor::new(bytes), Some(plan.read.clone())).map_err(given_up)?;
    collect(plan, rows, reader)
}

/// What a footer tells.
pub(super) struct Footer {
    pub plan: Plan,
    /// Dictionaries, then record batches.
    pub blocks: Vec<Block>,
}

impl Footer {
    pub(super) fn new(bytes: &[u8], label: Option<&str>) -> Result<Self, ColumnarFault> {
        let footer = arrow_ipc::root_as_footer(bytes).map_err(|_| damaged("a footer that makes no sense"))?;
        let schema = footer.schema().ok_or_else(|| damaged("a footer without a schema"))?;
        little(schema.endianness())?;
        let plan = Plan::new(&try_fb_to_schema(schema).map_err(given_up)?, label)?;
        let blocks = footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
        let block = |block: &arrow_ipc::Block| Block {
            at: block.offset(),
            claimed: (block.metaDataLength().into(), block.bodyLength()),
        };
        Ok(Self { plan, blocks: blocks.map(block).collect() })
    }
}

/// Where a footer says that a message is.
pub(super) struct Block {
    pub at: i64,
    /// Bytes before its body, and of it.
    pub claimed: (i64, i64),
}

impl Block {
    pub(super) fn missing(&self) -> ColumnarFault {
        damaged(format!("a block at byte {} that is not in the file", self.at))
    }

    /// Compares a claim with the message that is there.
    pub(super) fn fits(&self, message: &Found<'_>) -> Result<(), ColumnarFault> {
        match self.claimed == (message.body as i64, message.after as i64 - message.body as i64) {
            true => Ok(()),
            false => Err(damaged(format!("a message at byte {} that is not as long as its footer says", self.at))),
        }
    }
}

/// Reads a stream; `label` is the label column asked for.
pub(crate) fn read_stream(file: &str, bytes: &[u8], label: Option<&str>) -> Result<Dataset, ReadError> {
    guarded(file, "Arrow", || samples_of_stream(bytes, label).map_err(|fault| ReadError::content(file, fault)))
}

fn samples_of_stream(bytes: &[u8], label: Option<&str>) -> Result<Dataset, ColumnarFault> {
    let (mut at, mut rows) = (0, 0u64);
    while let Some(message) = next(&bytes[at..])? {
        rows = rows.saturating_add(check(&bytes[at..], &message)?.0);
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

pub(super) fn damaged(problem: impl Into<String>) -> ColumnarFault {
    ColumnarFault::Damaged { format: "Arrow", problem: problem.into() }
}

pub(super) fn given_up(error: ArrowError) -> ColumnarFault {
    damaged(format!("what its reader cannot take: {}", super::shortened(&error.to_string())))
}

fn little(endianness: Endianness) -> Result<(), ColumnarFault> {
    if endianness == Endianness::Little { Ok(()) } else { Err(ColumnarFault::BigEndian) }
}

/// The length of the footer, by the last 10 bytes of a file of `length` bytes.
pub(super) fn footer_length(tail: &[u8], length: u64) -> Result<usize, ColumnarFault> {
    let rest = tail.strip_suffix(MAGIC);
    let rest = rest.ok_or_else(|| damaged(format!("{length} bytes, which do not end in `ARROW1`")))?;
    let footer = i32::from_le_bytes(*rest.last_chunk::<4>().ok_or_else(|| damaged("no footer"))?);
    let room = length.saturating_sub(18);
    match usize::try_from(footer) {
        Ok(footer) if footer as u64 <= room => Ok(footer),
        _ => Err(damaged(format!("a footer of {footer} bytes in a file that has room for {room}"))),
    }
}

/// A message: what it says, where its body begins, and where it ends.
pub(super) struct Found<'a> {
    says: Message<'a>,
    body: usize,
    after: usize,
}

/// The message that begins here; none where the stream says or shows that it ends.
pub(super) fn next(bytes: &[u8]) -> Result<Option<Found<'_>>, ColumnarFault> {
    let Some((start, length)) = described(bytes, bytes.len() as u64)? else { return Ok(None) };
    let body = start + length;
    let says = root_as_message(&bytes[start..body]).map_err(|_| senseless())?;
    let after = body + body_length(says, (bytes.len() - body) as u64)?;
    Ok(Some(Found { says, body, after }))
}

/// Where the description of a message begins, and how long it is, by its first 8 bytes of `left`.
pub(super) fn described(bytes: &[u8], left: u64) -> Result<Option<(usize, usize)>, ColumnarFault> {
    let word = |at: usize| bytes.get(at..at + 4).map(|word| i32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    if bytes.is_empty() {
        return Ok(None);
    }
    let cut = || damaged("a message that ends before its length is told");
    // Before version 0.15 there was no mark in front of the length.
    let (length, start) = match word(0).ok_or_else(cut)? {
        -1 => (word(4).ok_or_else(cut)?, 8),
        length => (length, 4),
    };
    let left = left - start as u64;
    match usize::try_from(length) {
        Ok(0) => Ok(None),
        Ok(length) if length as u64 <= left => Ok(Some((start, length))),
        _ => Err(damaged(format!("a message described by {length} bytes where {left} are left"))),
    }
}

pub(super) fn senseless() -> ColumnarFault {
    damaged("a message whose description makes no sense")
}

/// The length of the body of a message, of which `left` bytes are left.
pub(super) fn body_length(says: Message<'_>, left: u64) -> Result<usize, ColumnarFault> {
    let length = says.bodyLength();
    match usize::try_from(length) {
        Ok(length) if length as u64 <= left => Ok(length),
        _ => Err(damaged(format!("a message of {length} bytes where {left} are left"))),
    }
}

/// Looks at what a message claims to become. Returns its rows, and the bytes that it unpacks to.
pub(super) fn check(bytes: &[u8], message: &Found<'_>) -> Result<(u64, u128), ColumnarFault> {
    let says = message.says;
    let (batch, is_dictionary) = match says.header_type() {
        MessageHeader::RecordBatch => (says.header_as_record_batch(), false),
        MessageHeader::DictionaryBatch => (says.header_as_dictionary_batch().and_then(|values| values.data()), true),
        MessageHeader::Schema => {
            return says.header_as_schema().map_or(Ok(()), |schema| little(schema.endianness())).map(|()| (0, 0));
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
    Ok((if is_dictionary { 0 } else { rows }, unpacked))
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
