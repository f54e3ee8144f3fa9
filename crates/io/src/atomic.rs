//! Files that appear under their name all at once, or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::error::WriteError;

/// Writes a file that replaces `path` in one step once `write` has succeeded and the bytes are on the disk.
///
/// The bytes go to a temporary file in the same folder. On any error that file is removed and what stood
/// under `path` is untouched. A replaced file hands its permissions on; a symbolic link keeps pointing to
/// the file that is replaced.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("note.txt");
/// eigenspan_io::write_atomically(&path, |out| out.write_all(b"all or nothing"))?;
/// assert_eq!(std::fs::read_to_string(&path)?, "all or nothing");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
    Replacement::begin(path)?.write_and_commit(write)
}

/// What takes the bytes of a file: the file itself, or in tests one that fails.
pub(crate) trait Storage: Write + Seek {
    /// Puts all bytes on the disk.
    fn sync(&self) -> io::Result<()>;
}

impl Storage for File {
    fn sync(&self) -> io::Result<()> {
        self.sync_all()
    }
}

/// A file in the making that will take the place of another. Dropped before [`commit`](Self::commit), it is gone.
pub(crate) struct Replacement<F: Storage = File> {
    // Dropped in this order: closed, then removed.
    out: BufWriter<F>,
    temporary: TempPath,
    target: PathBuf,
    name: String,
}

impl Replacement {
    pub(crate) fn begin(path: &Path) -> Result<Self, WriteError> {
        let name = path.display().to_string();
        let io = |source| WriteError::Io { file: name.clone(), doing: "create", source };
        let replaced = match fs::metadata(path) {
            Ok(found) if found.is_file() => Some(found),
            Ok(_) => return Err(WriteError::NotAFile { file: name }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(io(error)),
        };
        // Renaming onto a symbolic link would replace the link, not the file it names.
        let target = if replaced.is_some() { fs::canonicalize(path).map_err(io)? } else { path.to_path_buf() };
        // Made by `create_new`, the file has the permissions of any new one, and an error does not have a name that
        // nobody gave.
        let mut builder = tempfile::Builder::new();
        builder.prefix(".eigenspan-").suffix(".tmp");
        #[expect(clippy::disallowed_methods, reason = "this is how files are written")]
        let temporary = builder.make_in(folder_of(&target), |path| File::create_new(path)).map_err(io)?;
        let (file, temporary) = temporary.into_parts();
        if let Some(replaced) = replaced {
            file.set_permissions(replaced.permissions()).map_err(io)?;
        }
        Ok(Self { out: BufWriter::new(file), temporary, target, name })
    }
}

impl<F: Storage> Replacement<F> {
    fn write_and_commit(mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), WriteError> {
        write(&mut self).map_err(|source| self.failed("write", source))?;
        self.commit()
    }

    /// The name the file will have, for messages.
    pub(crate) fn name(&self) -> String {
        self.name.clone()
    }

    pub(crate) fn failed(&self, doing: &'static str, source: io::Error) -> WriteError {
        WriteError::Io { file: self.name(), doing, source }
    }

    /// Puts the bytes on the disk, then the file under its name.
    pub(crate) fn commit(mut self) -> Result<(), WriteError> {
        let on_disk = self.out.flush().and_then(|()| self.out.get_ref().sync());
        on_disk.map_err(|source| self.failed("write", source))?;
        let Self { out, temporary, target, name } = self;
        let replaced = temporary.persist(&target);
        replaced.map_err(|error| WriteError::Io { file: name, doing: "replace", source: error.error })?;
        drop(out);
        // The file is complete under its name. Some file systems cannot sync a folder, which only means that a
        // crash may bring the old file back: not an error, for the caller must be able to trust that one means
        // "untouched".
        #[expect(clippy::disallowed_methods, reason = "a folder is opened to be synced")]
        if cfg!(unix) {
            let _ = File::open(folder_of(&target)).and_then(|folder| folder.sync_all());
        }
        Ok(())
    }
}

impl<F: Storage> Write for Replacement<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<F: Storage> Seek for Replacement<F> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.out.seek(to)
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files that were written")]
#[path = "atomic_faults.rs"]
mod faults;

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests look at the files that were written")]
mod tests {
    use super::*;

    fn entries(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_atomically(&path, |out| out.write_all(b"old")).unwrap();
        let failed = write_atomically(&path, |out| {
            out.write_all(b"new")?;
            Err(io::Error::other("the disk is on fire"))
        });
        let expected = format!("cannot write {}: the disk is on fire", path.display());
        assert_eq!(failed.unwrap_err().to_string(), expected);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(entries(folder.path()), 1);
        assert!(write_atomically(&folder.path().join("b"), |_| Err(io::Error::other("no"))).is_err());
        assert_eq!(entries(folder.path()), 1);
    }

    #[test]
    fn folders_and_missing_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let refused = write_atomically(folder.path(), |_| Ok(()));
        assert!(matches!(refused, Err(WriteError::NotAFile { .. })));
        let missing = write_atomically(&folder.path().join("no/such/file"), |_| Ok(()));
        let message = missing.unwrap_err().to_string();
        assert!(message.starts_with("cannot create ") && !message.contains(".eigenspan-"), "{message}");
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_the_old_file_or_of_any_new_one() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (ours, plain) = (folder.path().join("ours"), folder.path().join("plain"));
        write_atomically(&ours, |_| Ok(())).unwrap();
        File::create(&plain).unwrap();
        assert_eq!(mode(&ours), mode(&plain));
        fs::set_permissions(&ours, fs::Permissions::from_mode(0o640)).unwrap();
        write_atomically(&ours, |out| out.write_all(b"x")).unwrap();
        assert_eq!(mode(&ours), 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_keeps_pointing_to_the_file_that_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        write_atomically(&file, |out| out.write_all(b"old")).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_atomically(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
