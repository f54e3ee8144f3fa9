//! Files in their order, and how they are read.

use std::path::{Path, PathBuf};

use eigenspan_io::{Probe, ReadOptions, Rows, embedded};

use crate::error::FeedError;

/// Files of samples of one kind, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    paths: Vec<PathBuf>,
    options: ReadOptions,
}

impl Files {
    /// Files or folders of images, read by content. `-` is standard input; `@digits` and `@synthetic-faces` come with the
    /// library.
    pub fn new(paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self { paths: paths.into_iter().map(Into::into).collect(), options: ReadOptions::default() }
    }

    /// The same files read by other options. [`ReadOptions::memory`] is set by the budget of the work.
    pub fn read_by(self, options: ReadOptions) -> Self {
        Self { options, ..self }
    }

    /// The files.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The first file; refused where there is none.
    pub(crate) fn first(&self) -> Result<&Path, FeedError> {
        let none = || FeedError::Setting { fact: "no file is given".into(), hint: "give at least one" };
        self.paths.first().map(PathBuf::as_path).ok_or_else(none)
    }

    /// Refuses standard input, which has no way back.
    pub(crate) fn read_again(&self, why: &'static str) -> Result<(), FeedError> {
        if self.is_piped() { Err(FeedError::StandardInput { why }) } else { Ok(()) }
    }

    /// Whether one of them is standard input.
    pub(crate) fn is_piped(&self) -> bool {
        self.paths.iter().any(|path| path == Path::new("-"))
    }

    /// Opens a file without names of rows, with no more than `memory` held by the reader.
    pub(crate) fn open(&self, path: &Path, memory: Option<u64>) -> Result<Rows, FeedError> {
        self.open_by(path, memory, eigenspan_io::open_samples)
    }

    /// Opens a file with the names of its rows.
    pub fn open_named(&self, path: &Path, memory: Option<u64>) -> Result<Rows, FeedError> {
        self.open_by(path, memory, eigenspan_io::open)
    }

    fn open_by(
        &self,
        path: &Path,
        memory: Option<u64>,
        open: impl Fn(&Path, &ReadOptions) -> Result<Rows, eigenspan_io::ReadError>,
    ) -> Result<Rows, FeedError> {
        if let Some(name) = embedded::NAMES.into_iter().find(|name| path.as_os_str() == *name) {
            return Ok(Rows { streams: true, ..embedded::by_name(name).expect("one of the names").into() });
        }
        let rows = open(path, &ReadOptions { memory, ..self.options.clone() })?;
        if memory.is_some() && !rows.streams {
            return Err(FeedError::ReadWhole { file: path.display().to_string() });
        }
        Ok(rows)
    }

    /// By what each file is recognized.
    pub(crate) fn probes(&self) -> Result<Vec<Probe>, FeedError> {
        Ok(self.paths.iter().map(|path| Probe::of(path)).collect::<Result<_, _>>()?)
    }

    /// Bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.paths.iter().map(|path| eigenspan_io::bytes_of(path)).sum()
    }
}

/// The name without its folder.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
