//! Arrow, message by message: of a file or stream that may be larger than memory one record batch is held.
//!
//! The library reads through [`Checked`], which reads a message whole, checks it as [`super::arrow`] does, and serves the bytes that were
//! checked. A file's footer and places of messages are its own; a stream's messages follow one another.
//!
//! How large a batch is, packed and unpacked, is not known before it is read. The first one tells, and with a limit of memory none may be
//! much larger.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::root_as_message;
use arrow_schema::ArrowError;

use super::arrow::{self, Block, damaged, given_up};
use super::groups::part;
use super::rows::{Batches, ColumnarRows};
use super::{ColumnarFault, Plan, guarded};
use crate::error::ReadError;
use crate::read::{ReadOptions, Rows};

/// Opens a file with a footer to be read batch by batch; `None` where rows have names and `ids` are wanted.
pub(crate) fn open_file(
    name: &str,
    mut file: File,
    length: u64,
    options: &ReadOptions,
    ids: bool,
) -> Result<Option<Rows>, ReadError> {
    let content = |fault| ReadError::content(name, fault);
    let io = |source| ReadError::Io { file: name.to_string(), doing: "read", source };
    let shared = Arc::new(Mutex::new(Shared { allowed: options.memory.map(u128::from), ..Shared::default() }));
    let opened = guarded(name, "Arrow", || {
        let tail = part(&mut file, length.saturating_sub(10), length.min(10) as usize).map_err(io)?;
        let footer_length = arrow::footer_length(&tail, length).map_err(content)?;
        let start = length - 10 - footer_length as u64;
        let end = part(&mut file, start, footer_length + 10).map_err(io)?;
        let footer = arrow::Footer::new(&end[..footer_length], options.label.as_deref()).map_err(content)?;
        let (plan, blocks) = (footer.plan, footer.blocks);
        if ids && plan.id.is_some() {
            return Ok(None);
        }
        let largest = blocks.iter().filter_map(|block| u128::try_from(block.claimed.0 + block.claimed.1).ok()).max();
        let place = |block: Block| match u64::try_from(block.at).ok().filter(|at| *at < length) {
            Some(at) => Ok((at, block)),
            None => Err(content(block.missing())),
        };
        let places = Some(blocks.into_iter().map(place).collect::<Result<_, _>>()?);
        let bytes =
            Checked { name: name.to_string(), file, length, at: 0, start, bytes: end, places, shared: shared.clone() };
        let reader = FileReader::try_new(bytes, Some(plan.read.clone())).map_err(|e| failure(&shared, name, e))?;
        Ok(Some((plan, Messages { name: name.to_string(), reader, shared: shared.clone() }, largest)))
    })?;
    let Some((plan, messages, largest)) = opened else { return Ok(None) };
    rows(name, plan, messages, &shared, largest.unwrap_or(0)).map(Some)
}

/// Opens a stream to be read batch by batch; `None` where rows have names and `ids` are wanted.
pub(crate) fn open_stream(
    name: &str,
    file: File,
    length: u64,
    options: &ReadOptions,
    ids: bool,
) -> Result<Option<Rows>, ReadError> {
    let io = |source| ReadError::Io { file: name.to_string(), doing: "read", source };
    let shared = Arc::new(Mutex::new(Shared { allowed: options.memory.map(u128::from), ..Shared::default() }));
    let opened = guarded(name, "Arrow", || {
        let begin = || {
            let file = file.try_clone().map_err(io)?;
            let (name, shared) = (name.to_string(), shared.clone());
            Ok(Checked { name, file, length, at: 0, start: 0, bytes: vec![], places: None, shared })
        };
        let failed = |error| failure(&shared, name, error);
        let schema = StreamReader::try_new(begin()?, None).map_err(failed)?.schema();
        let plan = Plan::new(&schema, options.label.as_deref()).map_err(|fault| ReadError::content(name, fault))?;
        if ids && plan.id.is_some() {
            return Ok(None);
        }
        let reader = StreamReader::try_new(begin()?, Some(plan.read.clone())).map_err(failed)?;
        Ok(Some((plan, Messages { name: name.to_string(), reader, shared: shared.clone() })))
    })?;
    let Some((plan, messages)) = opened else { return Ok(None) };
    rows(name, plan, messages, &shared, 0).map(Some)
}

/// Reads the first batch, and expects of all others what it took; `largest` is the length of the largest message, where known.
fn rows<I>(
    name: &str,
    plan: Plan,
    messages: Messages<I>,
    shared: &Mutex<Shared>,
    largest: u128,
) -> Result<Rows, ReadError>
where
    I: Iterator<Item = Result<RecordBatch, ArrowError>> + Send + 'static,
{
    let rows = ColumnarRows::new(name, plan, messages)?;
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let packed = shared.packed.max(1);
    let held = shared.held * largest.max(packed) / packed * 5 / 4;
    shared.allowed = shared.allowed.map(|_| held);
    let feature_names = Some(rows.feature_names());
    Ok(Rows { source: Box::new(rows), ids: None, feature_names, image: None, streams: true, held })
}

/// What the bytes that are read know, and whoever reads them should.
#[derive(Default)]
struct Shared {
    /// Why the last message was refused: the library would only repeat it in words of its own.
    fault: Option<ReadError>,
    /// Bytes of the message that took most, as it lies in the file.
    packed: u128,
    /// Bytes that it took: twice as it lies in the file, once unpacked.
    held: u128,
    /// Bytes that one may take, where memory is limited.
    allowed: Option<u128>,
}

/// The error of a reader: ours, where it is only passed on.
fn failure(shared: &Mutex<Shared>, name: &str, error: ArrowError) -> ReadError {
    let ours = shared.lock().unwrap_or_else(PoisonError::into_inner).fault.take();
    ours.unwrap_or_else(|| ReadError::content(name, given_up(error)))
}

/// The batches of a reader.
struct Messages<I> {
    name: String,
    reader: I,
    shared: Arc<Mutex<Shared>>,
}

impl<I: Iterator<Item = Result<RecordBatch, ArrowError>> + Send> Batches for Messages<I> {
    const FORMAT: &'static str = "Arrow";

    fn next(&mut self) -> Result<Option<RecordBatch>, ReadError> {
        self.reader.next().transpose().map_err(|error| failure(&self.shared, &self.name, error))
    }

    fn rows(&self) -> Option<usize> {
        None
    }
}

/// The bytes of a file, of which none is served before its message was checked.
struct Checked {
    name: String,
    file: File,
    length: u64,
    /// Where the library reads next.
    at: u64,
    /// Bytes that were checked, and where they begin.
    start: u64,
    bytes: Vec<u8>,
    /// Where messages may begin; in a stream, where the last one ends.
    places: Option<BTreeMap<u64, Block>>,
    shared: Arc<Mutex<Shared>>,
}

impl Checked {
    /// Reads and checks the message at a place.
    fn message(&mut self, at: u64) -> Result<Vec<u8>, Error> {
        let block = match &self.places {
            Some(places) => Some(places.get(&at).ok_or_else(|| damaged(format!("no message at byte {at}")))?),
            None => None,
        };
        let left = self.length - at;
        let mut bytes = part(&mut self.file, at, left.min(8) as usize)?;
        let Some((start, length)) = arrow::described(&bytes, left)? else {
            return match block {
                Some(block) => Err(block.missing().into()),
                None => Ok(bytes),
            };
        };
        bytes = part(&mut self.file, at, start + length)?;
        let says = root_as_message(&bytes[start..]).map_err(|_| arrow::senseless())?;
        let body = arrow::body_length(says, left - bytes.len() as u64)?;
        let packed = bytes.len() as u128 + body as u128;
        let allowed = self.shared.lock().unwrap_or_else(PoisonError::into_inner).allowed;
        let rows = says.header_as_record_batch().map_or(0, |batch| usize::try_from(batch.length()).unwrap_or(0));
        let fits = |bytes: u128| match allowed.filter(|allowed| bytes > *allowed) {
            Some(allowed) => {
                let allowed = u64::try_from(allowed).unwrap_or(u64::MAX);
                Err(ColumnarFault::Group { rows, bytes, allowed })
            }
            None => Ok(()),
        };
        fits(2 * packed)?;
        bytes.extend(part(&mut self.file, at + bytes.len() as u64, body)?);
        let found = arrow::next(&bytes)?.expect("a message that is there");
        if let Some(block) = block {
            block.fits(&found)?;
        }
        let (_, unpacked) = arrow::check(&bytes, &found)?;
        let held = 2 * packed + unpacked;
        fits(held)?;
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if held > shared.held {
            (shared.packed, shared.held) = (packed, held);
        }
        Ok(bytes)
    }
}

/// What stops the reading of a message.
enum Error {
    Io(io::Error),
    Fault(ColumnarFault),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<ColumnarFault> for Error {
    fn from(fault: ColumnarFault) -> Self {
        Self::Fault(fault)
    }
}

impl Read for Checked {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.length {
            return Ok(0);
        }
        if !(self.start..self.start + self.bytes.len() as u64).contains(&self.at) {
            self.bytes = vec![]; // before the next ones are there
            self.start = self.at;
            self.bytes = self.message(self.at).map_err(|error| {
                let file = self.name.clone();
                let error = match error {
                    Error::Io(source) => ReadError::Io { file, doing: "read", source },
                    Error::Fault(fault) => ReadError::content(&file, fault),
                };
                self.shared.lock().unwrap_or_else(PoisonError::into_inner).fault = Some(error);
                io::Error::other("refused")
            })?;
        }
        let got = (&self.bytes[(self.at - self.start) as usize..]).read(out)?;
        self.at += got as u64;
        Ok(got)
    }
}

impl Seek for Checked {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(back) => self.length.checked_add_signed(back),
            SeekFrom::Current(step) => self.at.checked_add_signed(step),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}
