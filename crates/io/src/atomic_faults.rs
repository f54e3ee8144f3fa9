//! Disks that take one byte at a time, interrupt, fill up or cannot sync: the file is the new one or the old one,
//! whole.

use super::*;
use eigenspan_core::data::{Matrix, Sink, StreamError};
use eigenspan_core::{Mat, PceParams};

use crate::csv::CsvSink;
use crate::npy::NpySink;
use crate::{ModelFile, Names, Provenance};

/// A file on a bad disk.
struct Faulty {
    file: File,
    disk: Disk,
    calls: usize,
}

#[derive(Debug, Clone, Copy)]
enum Disk {
    /// Takes one byte of what it is given.
    OneByteAtATime,
    /// Is interrupted at every other call, and takes up to three bytes at the rest.
    Interrupted,
    /// Takes this many bytes, and then fails.
    Full(usize),
    /// Takes this many bytes, and then none, without saying why.
    Deaf(usize),
    /// Cannot go back.
    NoSeek,
    /// Takes everything, and cannot keep it.
    NoSync,
}

impl Write for Faulty {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.calls += 1;
        let most = match &mut self.disk {
            Disk::OneByteAtATime => 1,
            Disk::Interrupted if self.calls % 2 == 1 => return Err(io::ErrorKind::Interrupted.into()),
            Disk::Interrupted => 3,
            Disk::Full(0) => return Err(io::ErrorKind::StorageFull.into()),
            Disk::Full(left) | Disk::Deaf(left) => {
                let taken = bytes.len().min(*left);
                *left -= taken;
                taken
            }
            Disk::NoSeek | Disk::NoSync => bytes.len(),
        };
        self.file.write(&bytes[..most.min(bytes.len())])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Faulty {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self.disk {
            Disk::NoSeek => Err(io::Error::other("no way back")),
            _ => self.file.seek(to),
        }
    }
}

impl Storage for Faulty {
    fn sync(&self) -> io::Result<()> {
        match self.disk {
            Disk::NoSync => Err(io::ErrorKind::QuotaExceeded.into()),
            _ => Ok(()),
        }
    }
}

/// What goes to the disk in these tests.
#[derive(Debug)]
enum Content {
    Model(Box<ModelFile>),
    Npy(Matrix),
    Csv(Matrix),
}

/// Writes over `path` on a bad disk.
fn replace(path: &Path, content: &Content, disk: Disk) -> Result<(), StreamError> {
    let Replacement { out, temporary, target, name } = Replacement::begin(path)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    let out = Replacement { out: BufWriter::new(Faulty { file, disk, calls: 0 }), temporary, target, name };
    let (mut sink, rows): (Box<dyn Sink>, _) = match content {
        Content::Model(model) => return Ok(out.write_and_commit(|out| out.write_all(&model.to_bytes()))?),
        Content::Npy(rows) => (Box::new(NpySink::new(out, rows.cols())?), rows),
        Content::Csv(rows) => (Box::new(CsvSink::replacing(out, b',', rows.cols(), Names::default())?), rows),
    };
    sink.write_block(rows)?;
    sink.finish()
}

/// `n` rows of three columns.
fn rows(n: usize) -> Matrix {
    let values = (0..3 * n).map(|i| ((i * i) as f64).sin()).collect();
    Mat::from_vec(n, 3, values).unwrap().into()
}

/// Every content, few rows and more than the buffers hold, each with the bytes of a whole file.
fn cases() -> Vec<(Content, Vec<u8>)> {
    let model = PceParams::default().fit(&rows(6)).unwrap();
    let model = ModelFile { model: eigenspan_core::Model::Pce(model), provenance: Provenance::of_array("rows") };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("whole");
    let contents = [
        Content::Model(Box::new(model)),
        Content::Npy(rows(6)),
        Content::Csv(rows(6)),
        Content::Npy(rows(700)),
        Content::Csv(rows(300)),
    ];
    let written = |content| {
        replace(&path, &content, Disk::Full(usize::MAX)).unwrap();
        (content, fs::read(&path).unwrap())
    };
    contents.map(written).into()
}

#[test]
fn short_and_interrupted_writes_end_in_the_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (content, whole) in cases() {
        for disk in [Disk::OneByteAtATime, Disk::Interrupted] {
            fs::write(&path, b"old").unwrap();
            replace(&path, &content, disk).unwrap();
            assert!(fs::read(&path).unwrap() == whole, "{disk:?}");
        }
    }
}

#[test]
fn wherever_the_disk_fails_the_old_file_is_whole_and_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for (content, whole) in cases() {
        let step = if whole.len() > 4096 { 61 } else { 1 };
        let lengths = (0..whole.len()).step_by(step);
        let mut disks: Vec<Disk> = lengths.flat_map(|length| [Disk::Full(length), Disk::Deaf(length)]).collect();
        disks.push(Disk::NoSync);
        if let Content::Npy(_) = content {
            // The header is written again when the rows are counted.
            disks.extend([Disk::NoSeek, Disk::Full(whole.len()), Disk::Full(whole.len() + 127)]);
        }
        for disk in disks {
            for old in [Some(b"old"), None] {
                let _ = fs::remove_file(&path);
                old.into_iter().for_each(|old| fs::write(&path, old).unwrap());
                let failed = replace(&path, &content, disk).unwrap_err().downcast::<WriteError>().unwrap();
                assert_eq!(failed.hint().is_some(), matches!(disk, Disk::Full(_) | Disk::NoSync), "{failed:?}");
                let failed = failed.to_string();
                assert!(failed.starts_with(&format!("cannot write {}: ", path.display())), "{failed}");
                assert_eq!(fs::read(&path).ok().as_deref(), old.map(|old| &old[..]), "{disk:?}");
                let entries = fs::read_dir(folder.path()).unwrap().count();
                assert_eq!(entries, usize::from(old.is_some()), "{disk:?}: something is left behind");
            }
        }
    }
}
