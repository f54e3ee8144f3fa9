//! Parquet, row group by row group: of a file that may be larger than memory one group is held, packed, and of every
//! column the page that is being decoded.
//!
//! ```text
//!     held ≤ max over groups Σ over columns read (bytes packed + bytes unpacked)  +  batches  +  what the footer became
//! ```
//! Both sizes stand in the footer, so that what a group takes is known, and can be refused, before any of it is read.
//! Its bytes are read once and checked page by page before the library sees them; the library decodes these bytes, and
//! never goes back to the file.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{ChunkReader, Length};
use prost::bytes::buf::Reader;
use prost::bytes::{Buf as _, Bytes};

use super::parquet::{BATCH, Contents, damaged, footer_length, not_decoded};
use super::rows::{Batches, ColumnarRows};
use super::{ColumnarFault, can_be_had, cells, guarded, pages};
use crate::error::ReadError;
use crate::read::{ClassCounts, Extras, ReadOptions, Rows};

/// Bytes of a batch that is decoded at once; rows that are longer come one by one.
const BATCH_BYTES: u128 = 4 << 20;

/// Opens a table to be read chunk by chunk; the names of the rows are read first, where they are wanted.
pub(crate) fn open_parquet(
    name: &str,
    mut file: File,
    length: u64,
    options: &ReadOptions,
    extras: Extras,
) -> Result<Rows, ReadError> {
    let io = |source| ReadError::Io { file: name.to_string(), doing: "read", source };
    let content = |fault| ReadError::content(name, fault);
    let mut contents = guarded(name, "Parquet", || {
        let tail = part(&mut file, length.saturating_sub(8), length.min(8) as usize).map_err(io)?;
        let footer = footer_length(&tail, length).map_err(content)?;
        let footer = part(&mut file, length - 8 - footer as u64, footer).map_err(io)?;
        Contents::new(&footer, length, options.label.as_deref()).map_err(content)
    })?;
    let mut names = None;
    if let (true, Some(id)) = (extras.ids, contents.plan.id.take()) {
        let read = std::mem::replace(&mut contents.plan.read, vec![id]);
        let mut groups = Groups::new(name, file, length, contents, options.memory)?;
        let found = guarded(name, "Parquet", || ids_of(&mut groups, id, options.memory))?;
        Groups { file, contents, .. } = groups;
        contents.plan.read = read.into_iter().filter(|&at| at != id).collect();
        names = Some(found);
    }
    let groups = Groups::new(name, file, length, contents, options.memory)?;
    let (held, plan) = (groups.held, groups.contents.plan.clone());
    let classes = (extras.classes && plan.label.is_some()).then(ClassCounts::default);
    let rows = ColumnarRows::new(name, plan, groups, classes.clone())?;
    let feature_names = Some(rows.feature_names());
    Ok(Rows { ids: names, feature_names, held, classes, ..Rows::of(Box::new(rows), true) })
}

/// The names of all rows, of which nothing but the names is read.
fn ids_of(groups: &mut Groups, id: usize, limit: Option<u64>) -> Result<Vec<String>, ReadError> {
    let (mut ids, mut bytes) = (vec![], groups.held);
    while let Some(batch) = groups.next()? {
        let found = cells::classes(batch.column(0).as_ref());
        let found = found.map_err(|bad| groups.contents.plan.fault(ids.len(), id, bad, "a name"));
        let found = found.map_err(|fault| groups.content(fault))?;
        bytes += found.iter().map(|id| (size_of::<String>() + id.capacity()) as u128).sum::<u128>();
        if let Some(allowed) = limit.filter(|&limit| bytes > u128::from(limit)) {
            return Err(groups.content(ColumnarFault::Names { rows: groups.contents.rows, allowed }));
        }
        ids.extend(found);
    }
    Ok(ids)
}

/// Some bytes of a file.
fn part(file: &mut File, start: u64, length: usize) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![];
    bytes.try_reserve_exact(length).map_err(|_| std::io::ErrorKind::OutOfMemory)?;
    file.seek(SeekFrom::Start(start))?;
    match file.take(length as u64).read_to_end(&mut bytes)? {
        got if got == length => Ok(bytes),
        _ => Err(std::io::ErrorKind::UnexpectedEof.into()),
    }
}

/// The row groups of a file, one after the other.
struct Groups {
    name: String,
    file: File,
    length: u64,
    contents: Contents,
    /// The group that is read next.
    next: usize,
    /// The group in work, and how many of its rows are still to come.
    reader: Option<(ParquetRecordBatchReader, usize)>,
    /// Rows that are decoded at once.
    batch: usize,
    /// Bytes that are held at most, if the footer tells the truth.
    held: u128,
    /// Whether more than that is refused.
    limited: bool,
}

impl Groups {
    /// Begins before the first group; refuses what takes more than `limit` bytes by the footer alone.
    fn new(name: &str, file: File, length: u64, contents: Contents, limit: Option<u64>) -> Result<Self, ReadError> {
        let metadata = contents.metadata.metadata().clone();
        let (mut largest, mut rows, mut row) = (0, 0, 1);
        for group in metadata.row_groups().iter().filter(|group| group.num_rows() > 0) {
            let (group_rows, mut bytes, mut values) = (group.num_rows() as u128, 0, 0);
            for (_, chunk) in contents.chunks(group) {
                bytes += size(chunk.compressed_size()) + size(chunk.uncompressed_size());
                // A number or the view of a text, and the levels that tell where lists begin.
                values += 16 * size(chunk.num_values());
            }
            row = row.max(values / group_rows);
            if bytes > largest {
                (largest, rows) = (bytes, group.num_rows() as usize);
            }
        }
        let batch = (BATCH_BYTES / row).clamp(1, BATCH as u128);
        let held = largest + 2 * batch * row + metadata.memory_size() as u128;
        if let Some(allowed) = limit.filter(|&limit| held > u128::from(limit)) {
            return Err(ReadError::content(name, ColumnarFault::Group { rows, bytes: held, allowed }));
        }
        let (name, batch, limited) = (name.to_string(), batch as usize, limit.is_some());
        Ok(Self { name, file, length, contents, next: 0, reader: None, batch, held, limited })
    }

    fn content(&self, fault: ColumnarFault) -> ReadError {
        ReadError::content(&self.name, fault)
    }

    /// Reads a group and checks its pages.
    fn load(&mut self, at: usize) -> Result<(ParquetRecordBatchReader, usize), ReadError> {
        let metadata = self.contents.metadata.metadata().clone();
        let group: &RowGroupMetaData = metadata.row_group(at);
        let rows = group.num_rows() as usize;
        let (mut chunks, mut held) = (vec![], 0);
        for (at, chunk) in self.contents.chunks(group) {
            let column = &self.contents.plan.names[at];
            let (start, length) = pages::place(chunk, column, self.length).map_err(|fault| self.content(fault))?;
            let bytes = part(&mut self.file, start, length);
            let bytes = bytes.map_err(|source| ReadError::Io { file: self.name.clone(), doing: "read", source })?;
            let unpacked = pages::check(&bytes, start, chunk, column).map_err(|fault| self.content(fault))?;
            held += length as u128 + unpacked.held();
            chunks.push((start, Bytes::from(bytes)));
        }
        if self.limited && held > self.held {
            let allowed = u64::try_from(self.held).unwrap_or(u64::MAX);
            return Err(self.content(ColumnarFault::Group { rows, bytes: held, allowed }));
        }
        chunks.sort_by_key(|(start, _)| *start);
        let held = can_be_had(held).map(|()| Held { length: self.length, chunks });
        let reader = held.and_then(|held| self.contents.decode(held, vec![at], self.batch));
        Ok((reader.map_err(|fault| self.content(fault))?, rows))
    }
}

/// A size that a footer claims: what is below zero was none.
fn size(claimed: i64) -> u128 {
    claimed.max(0) as u128
}

impl Batches for Groups {
    const FORMAT: &'static str = "Parquet";

    fn next(&mut self) -> Result<Option<RecordBatch>, ReadError> {
        loop {
            if let Some((reader, left)) = &mut self.reader {
                let expected = *left;
                match reader.next() {
                    Some(Ok(batch)) if batch.num_rows() <= expected => {
                        *left -= batch.num_rows();
                        return Ok(Some(batch));
                    }
                    None if expected == 0 => self.reader = None,
                    Some(Err(error)) => return Err(self.content(not_decoded(error))),
                    other => {
                        let found = other.map_or("fewer", |_| "more");
                        let group = self.next - 1;
                        let problem = format!("{found} rows in row group {group} than its own count says");
                        return Err(self.content(damaged(problem)));
                    }
                }
            }
            let groups = self.contents.metadata.metadata().row_groups();
            let Some(group) = groups.get(self.next) else { return Ok(None) };
            self.next += 1;
            if group.num_rows() > 0 {
                self.reader = Some(self.load(self.next - 1)?);
            }
        }
    }

    fn rows(&self) -> Option<usize> {
        Some(self.contents.rows)
    }

    fn pass(&mut self, rows: usize) -> usize {
        let mut passed = 0;
        if let Some((_, left)) = self.reader.take_if(|(_, left)| *left <= rows) {
            passed = left;
        }
        if self.reader.is_none() {
            let groups = self.contents.metadata.metadata().row_groups();
            while let Some(group) = groups.get(self.next).filter(|group| group.num_rows() as usize <= rows - passed) {
                passed += group.num_rows() as usize;
                self.next += 1;
            }
        }
        passed
    }
}

/// The bytes of a row group, for a library that asks by their places in the file.
struct Held {
    length: u64,
    /// Where a chunk begins, and its bytes, in the order of the file.
    chunks: Vec<(u64, Bytes)>,
}

impl Held {
    /// From a place on, to the end of the chunk that it lies in and that has `least` bytes from there.
    fn from(&self, start: u64, least: usize) -> Result<Bytes, ParquetError> {
        let before = self.chunks.partition_point(|(first, _)| *first <= start);
        for (first, bytes) in self.chunks[..before].iter().rev() {
            let offset = usize::try_from(start - first).unwrap_or(usize::MAX);
            if offset.checked_add(least).is_some_and(|end| end <= bytes.len()) {
                return Ok(bytes.slice(offset..));
            }
        }
        Err(ParquetError::EOF(format!("nothing is held at byte {start}")))
    }
}

impl Length for Held {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Held {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(self.from(start, 1)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        Ok(self.from(start, length)?.slice(..length))
    }
}
