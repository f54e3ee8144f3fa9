//! A file before its format is known: its first bytes, and the ways to read on.

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::read::MultiGzDecoder;

use crate::array::{Length, fill};
use crate::error::{self, ReadError};
use crate::npy;

/// Bytes that are inspected to find the format: where the latest sign of one ends (HDF5 after MATLAB's own header).
const LOOK_AT: usize = 520;

/// The formats that are distinguished by their first bytes. Text is what is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Npy,
    Zip,
    Idx,
    Mat,
    Hdf5,
    Parquet,
    ArrowFile,
    ArrowStream,
    Feather1,
    Image,
    Model,
    Summary,
    /// A folder, which has no bytes to be recognized by.
    Folder,
}

impl Format {
    pub(crate) fn of(start: &[u8]) -> Option<Self> {
        let hdf5 = |at: usize| start.get(at..).is_some_and(|rest| rest.starts_with(b"\x89HDF\r\n\x1a\n"));
        Some(match start {
            _ if start.starts_with(npy::MAGIC) => Self::Npy,
            // The second is an archive without entries.
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Self::Zip,
            _ if hdf5(0) || hdf5(512) => Self::Hdf5,
            _ if is_matlab_5(start) => Self::Mat,
            [0, 0, 8 | 9 | 11..=14, 1..=8, ..] => Self::Idx,
            // The second has an encrypted footer.
            _ if start.starts_with(b"PAR1") || start.starts_with(b"PARE") => Self::Parquet,
            _ if start.starts_with(b"ARROW1") => Self::ArrowFile,
            [0xff, 0xff, 0xff, 0xff, _, _, 0, 0, ..] => Self::ArrowStream,
            _ if start.starts_with(b"FEA1") => Self::Feather1,
            _ if is_image(start) => Self::Image,
            [_, _, _, 0, 0, 0, 0, 0, text @ ..] if text.starts_with(br#"{"__metadata__":{"eigenspan-summary""#) => {
                Self::Summary
            }
            // Safetensors: the length of a JSON object, and the object.
            [_, _, _, 0, 0, 0, 0, 0, b'{', ..] => Self::Model,
            _ => return None,
        })
    }

    /// What messages call files of this format.
    pub(crate) fn plural(self) -> String {
        match self {
            Self::Folder => "folders of images".to_string(),
            format => format!("{format} files"),
        }
    }

    /// Whether the format is read from the first byte to the last, without going back.
    fn is_sequential(self) -> bool {
        matches!(self, Self::Npy | Self::Idx | Self::Mat)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Npy => "NPY",
            Self::Zip => "NPZ",
            Self::Idx => "IDX",
            Self::Mat => "MATLAB",
            Self::Hdf5 => "HDF5",
            Self::Parquet => "Parquet",
            Self::ArrowFile | Self::ArrowStream => "Arrow",
            Self::Feather1 => "Feather V1",
            Self::Image => "image",
            Self::Model => ".espan",
            Self::Summary => ".essum",
            Self::Folder => "folder",
        })
    }
}

/// A file, with the name that messages call it.
pub(crate) struct Input<'a> {
    pub(crate) name: String,
    /// What the first bytes say; `None` for text, and for what is no format at all.
    pub(crate) format: Option<Format>,
    /// Whether the bytes lie in a file, packed or not, and are read from there as they are requested.
    pub(crate) in_file: bool,
    /// Bytes that were taken from the file so far.
    pub(crate) read: BytesRead,
    body: Body<'a>,
}

/// Bytes that were taken from a file so far, for whoever watches while others read.
#[derive(Debug, Clone, Default)]
pub struct BytesRead(Arc<AtomicU64>);

impl BytesRead {
    /// How many.
    pub fn so_far(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A file whose bytes are counted as they are taken.
struct Counted<R>(R, BytesRead);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, part: &mut [u8]) -> io::Result<usize> {
        let got = self.0.read(part)?;
        self.1.0.fetch_add(got as u64, Ordering::Relaxed);
        Ok(got)
    }
}

enum Body<'a> {
    /// A file at its first byte, and its length.
    File(File, u64),
    /// Bytes in memory: read from a pipe, which has neither a length nor a way back.
    Memory(Cow<'a, [u8]>),
    /// What is being unpacked.
    Unpacked(Box<dyn Read + Send + 'a>),
}

/// A file that can be read from any place.
pub(crate) trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

impl<'a> Input<'a> {
    /// Opens a file; `-` is standard input.
    #[expect(clippy::disallowed_methods, reason = "bytes enter here")]
    pub(crate) fn open(path: &Path) -> Result<Self, ReadError> {
        if path == Path::new("-") {
            let (file, mut bytes) = ("standard input".to_string(), vec![]);
            return match io::stdin().read_to_end(&mut bytes) {
                Ok(_) => Self::new(file, Body::Memory(bytes.into())),
                Err(source) => Err(ReadError::Io { file, doing: "read", source }),
            };
        }
        let name = path.display().to_string();
        let io = |doing| move |source| ReadError::Io { file: path.display().to_string(), doing, source };
        let mut file = File::open(path).map_err(io("open"))?;
        let about = file.metadata().map_err(io("read"))?;
        if about.is_file() {
            return Self::new(name, Body::File(file, about.len()));
        }
        let mut bytes = vec![];
        file.read_to_end(&mut bytes).map_err(io("read"))?;
        Self::new(name, Body::Memory(bytes.into()))
    }

    /// Bytes in memory.
    pub(crate) fn bytes(name: &str, bytes: &'a [u8]) -> Result<Self, ReadError> {
        Self::new(name.to_string(), Body::Memory(bytes.into()))
    }

    /// Looks at the first bytes, and begins to unpack what is packed by gzip.
    fn new(name: String, body: Body<'a>) -> Result<Self, ReadError> {
        let failed = |source| ReadError::Io { file: name.clone(), doing: "read", source };
        let (start, body) = match body {
            Body::File(mut file, bytes) => {
                let mut start = vec![0; LOOK_AT];
                let got = fill(&mut file, &mut start).map_err(failed)?;
                start.truncate(got);
                file.rewind().map_err(failed)?;
                (start, Body::File(file, bytes))
            }
            Body::Memory(bytes) => (bytes[..bytes.len().min(LOOK_AT)].to_vec(), Body::Memory(bytes)),
            Body::Unpacked(_) => unreachable!("nothing is unpacked before its first bytes were seen"),
        };
        let in_file = matches!(body, Body::File(..));
        if !start.starts_with(&[0x1f, 0x8b]) {
            return Ok(Self { name, format: Format::of(&start), in_file, read: BytesRead::default(), body });
        }
        let read = BytesRead::default();
        let packed: Box<dyn Read + Send + 'a> = match body {
            Body::File(file, _) => Box::new(BufReader::new(Counted(file, read.clone()))),
            Body::Memory(Cow::Borrowed(bytes)) => Box::new(bytes),
            Body::Memory(Cow::Owned(bytes)) => Box::new(Cursor::new(bytes)),
            Body::Unpacked(_) => unreachable!("nothing is unpacked before its first bytes were seen"),
        };
        let mut unpacked = Unpacked(MultiGzDecoder::new(packed));
        let mut start = vec![0; LOOK_AT];
        let got = fill(&mut unpacked, &mut start);
        start.truncate(got.map_err(|source| ReadError::Gzip { file: name.clone(), source })?);
        match Format::of(&start) {
            Some(Format::Image) => Err(ReadError::Packed { file: name, format: "an image".to_string() }),
            Some(format) if !format.is_sequential() => {
                Err(ReadError::Packed { file: name, format: format.to_string() })
            }
            // A second layer, however small, can unpack to anything.
            _ if start.starts_with(&[0x1f, 0x8b]) => Err(ReadError::Packed { file: name, format: "gzip".to_string() }),
            format => {
                let body = Body::Unpacked(Box::new(Cursor::new(start).chain(unpacked)));
                Ok(Self { name, format, in_file, read, body })
            }
        }
    }

    /// Whether it is being unpacked.
    pub(crate) fn is_packed(&self) -> bool {
        matches!(self.body, Body::Unpacked(_))
    }

    /// From the first byte to the last.
    pub(crate) fn sequential(self) -> (Box<dyn Read + Send + 'a>, Length) {
        match self.body {
            Body::File(file, bytes) => (Box::new(BufReader::new(Counted(file, self.read))), Length::Counted(bytes)),
            Body::Memory(Cow::Borrowed(bytes)) => (Box::new(bytes), Length::Counted(bytes.len() as u64)),
            Body::Memory(Cow::Owned(bytes)) => {
                let length = Length::Counted(bytes.len() as u64);
                (Box::new(Cursor::new(bytes)), length)
            }
            Body::Unpacked(stream) => (stream, Length::Unknown),
        }
    }

    /// From any place.
    pub(crate) fn seekable(self) -> Box<dyn ReadSeek + 'a> {
        match self.body {
            Body::File(file, _) => Box::new(BufReader::new(file)),
            Body::Memory(Cow::Borrowed(bytes)) => Box::new(Cursor::new(bytes)),
            Body::Memory(Cow::Owned(bytes)) => Box::new(Cursor::new(bytes)),
            Body::Unpacked(_) => unreachable!("what needs a way back is refused while packed"),
        }
    }

    /// All of it, as bytes.
    #[cfg(feature = "columnar")]
    pub(crate) fn whole(self) -> Result<Vec<u8>, ReadError> {
        let Body::File(file, length) = self.body else {
            return match self.body {
                Body::Memory(bytes) => Ok(bytes.into_owned()),
                _ => unreachable!("what needs a way back is refused while packed"),
            };
        };
        let failed = |source| ReadError::Io { file: self.name.clone(), doing: "read", source };
        let mut bytes = vec![];
        let space = usize::try_from(length).is_ok_and(|length| bytes.try_reserve_exact(length).is_ok());
        if !space {
            return Err(failed(io::ErrorKind::OutOfMemory.into()));
        }
        file.take(length).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// The file itself, where it is one.
    #[cfg(feature = "columnar")]
    pub(crate) fn into_file(self) -> Result<(File, u64), Self> {
        match self.body {
            Body::File(file, bytes) => Ok((file, bytes)),
            body => Err(Self { body, ..self }),
        }
    }

    /// All of it, as text. Reading ends at the first zero byte, which is valid UTF-8, but no text: a packed file of
    /// zeros is not unpacked further.
    pub(crate) fn text(self) -> Result<String, ReadError> {
        const PART: usize = 1 << 16;
        let file = self.name.clone();
        let packed = self.is_packed();
        let (mut source, _) = self.sequential();
        let mut bytes = vec![];
        loop {
            let before = bytes.len();
            bytes.resize(before + PART, 0);
            let got = fill(&mut source, &mut bytes[before..]).map_err(|source| match packed {
                true => ReadError::Gzip { file: file.clone(), source },
                false => ReadError::Io { file: file.clone(), doing: "read", source },
            })?;
            bytes.truncate(before + got);
            if bytes[before..].contains(&0) || got < PART {
                break;
            }
        }
        if bytes.is_empty() {
            return Err(ReadError::Empty { file, packed });
        }
        let start = error::hexadecimal(&bytes);
        let zero = bytes.iter().position(|&byte| byte == 0);
        match (String::from_utf8(bytes), zero) {
            (Ok(text), None) => Ok(text),
            (Ok(_), Some(at)) => Err(ReadError::UnknownFormat { file, start, at }),
            (Err(error), zero) => {
                let at = error.utf8_error().valid_up_to().min(zero.unwrap_or(usize::MAX));
                Err(ReadError::UnknownFormat { file, start, at })
            }
        }
    }
}

/// What is being unpacked. The decompressor's words are about its own parts: a user is better served by what is wrong
/// with the file.
struct Unpacked<R>(MultiGzDecoder<R>);

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, part: &mut [u8]) -> io::Result<usize> {
        self.0.read(part).map_err(|error| {
            let problem = match error.kind() {
                io::ErrorKind::UnexpectedEof => "the packed bytes end too early",
                io::ErrorKind::InvalidInput if error.to_string().contains("checksum") => {
                    "the unpacked bytes do not fit their checksum"
                }
                io::ErrorKind::InvalidInput if error.to_string().contains("header") => {
                    "the header in front of the packed bytes is damaged"
                }
                io::ErrorKind::InvalidInput => "the packed bytes are damaged",
                _ => return error,
            };
            io::Error::new(error.kind(), problem)
        })
    }
}

/// Whether these are the first bytes of a PNG, JPEG, BMP or PNM image.
pub(crate) fn is_image(start: &[u8]) -> bool {
    start.starts_with(b"\x89PNG\r\n\x1a\n")
        || start.starts_with(&[0xff, 0xd8, 0xff])
        // The length of the file, then four bytes that are zero.
        || (start.starts_with(b"BM") && start.get(6..10) == Some(&[0; 4]))
        || is_pnm(start)
}

/// `P` and a digit, white space or a comment, and then the width: sensors may be called P1 to P6, too.
fn is_pnm(start: &[u8]) -> bool {
    let [b'P', b'1'..=b'6', after @ ..] = start else { return false };
    let sizes = after.trim_ascii_start();
    sizes.starts_with(b"#")
        || (sizes.len() < after.len() && sizes.first().is_none_or(|byte| b"-0123456789".contains(byte)))
}

/// Whether this is the header of a MATLAB file of version 5: 124 bytes of text, the version, and the byte order.
fn is_matlab_5(start: &[u8]) -> bool {
    let is_header = start.starts_with(b"MATLAB 5.0 MAT-file") || start.starts_with(b"MATLAB 7.3 MAT-file");
    is_header || matches!(start.get(124..128), Some(b"\x00\x01IM" | b"\x01\x00MI"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_named_like_a_picture_are_no_picture() {
        for picture in ["P5 24 7 255\n", "P2\n# made by hand\n2 2\n", "P6#\n", "P1\n\n3 4"] {
            assert!(is_image(picture.as_bytes()), "{picture:?}");
        }
        for table in ["P1\tP2\tP3\n1\t2\t3\n", "P5,P6\n1,2\n", "P1 (bar),T\n", "BMI,age\n", "P\n", ""] {
            assert!(!is_image(table.as_bytes()), "{table:?}");
        }
    }
}
