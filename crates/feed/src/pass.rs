//! A pass over a file in chunks: reading ahead, fingerprint and progress in one place.

use std::cell::Cell;

use eigenspan_core::Exec;
use eigenspan_core::data::Matrix;
use eigenspan_io::{Ahead, BytesRead, Fingerprint, Rows};

use crate::error::FeedError;

/// The stage that a monitor is told while files are read: bytes done, of the bytes of all passes.
pub const READING: &str = "reading";

/// How far the whole work is.
pub(crate) struct Work<'a> {
    exec: Exec<'a>,
    total: u64,
    /// Bytes of the files that are done, in all passes.
    before: Cell<u64>,
}

impl<'a> Work<'a> {
    /// Work of so many bytes.
    pub fn new(exec: Exec<'a>, total: u64) -> Self {
        Self { exec, total, before: Cell::new(0) }
    }

    /// The threads and the monitor for the small steps: their own stages are not reported.
    pub fn exec(&self) -> Exec<'a> {
        self.exec.silent()
    }

    fn report(&self, of_file: u64) -> Result<(), FeedError> {
        let count = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        let done = (self.before.get() + of_file).min(self.total);
        Ok(self.exec.report(READING, count(done), count(self.total))?)
    }

    /// Counts a file as read.
    pub fn done(&self, bytes: u64) {
        self.before.set(self.before.get() + bytes);
    }
}

/// A chunk, and how far the file has come with it.
pub(crate) struct Chunk {
    /// The samples.
    pub block: Matrix,
    /// Samples of the file before it.
    pub before: usize,
    /// The fingerprint of the file up to its end.
    pub fingerprint: Fingerprint,
}

impl Chunk {
    /// Samples of the file up to its end.
    pub fn end(&self) -> usize {
        self.before + self.block.rows()
    }
}

/// One file in chunks.
pub(crate) struct Pass<'a> {
    ahead: Ahead,
    work: &'a Work<'a>,
    rows: Option<usize>,
    read: Option<BytesRead>,
    bytes: u64,
    count: usize,
}

impl<'a> Pass<'a> {
    /// Begins to read `rows`, from where it is, in chunks of `height` rows: `count` rows came before, with `fingerprint`.
    pub fn new(work: &'a Work<'a>, rows: Rows, height: usize, count: usize, fingerprint: Fingerprint) -> Self {
        let (total, read, bytes) = (rows.source.rows(), rows.read, rows.bytes);
        Self { ahead: Ahead::new(rows.source, height, fingerprint), work, rows: total, read, bytes, count }
    }

    /// Calls `take` on every chunk. After each of them the monitor hears of it and may cancel.
    pub fn each(mut self, mut take: impl FnMut(Chunk) -> Result<(), FeedError>) -> Result<(), FeedError> {
        while let Some(portion) = self.ahead.next() {
            let (block, fingerprint) = portion?;
            let before = self.count;
            self.count += block.rows();
            take(Chunk { block, before, fingerprint })?;
            self.work.report(self.so_far())?;
        }
        self.work.done(self.bytes);
        Ok(())
    }

    /// Bytes of the file so far: by samples where their number is known, else by what was taken from the file.
    fn so_far(&self) -> u64 {
        let bytes = match (self.rows, &self.read) {
            (Some(rows), _) => (u128::from(self.bytes) * self.count as u128 / rows.max(1) as u128) as u64,
            (None, Some(read)) => read.so_far(),
            (None, None) => 0,
        };
        bytes.min(self.bytes)
    }
}
