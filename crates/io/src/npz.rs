//! NPZ: several NPY arrays in a zip archive, as `np.savez` and `np.savez_compressed` write it.
//!
//! | array | what | needed |
//! |---|---|---|
//! | `X` | samples in rows, or a stack of images | yes |
//! | `y` | a class for every sample: integers, bools, whole floats or text | no |
//! | `shape` | height and width of the image that each sample is | no |
//!
//! Without `X`, an array `x`, `data` or `arr_0` is taken if there is one of these, then the only array with two
//! axes or more. An entry is read no further than the header of its array claims, and memory grows only
//! as bytes really arrive: a small archive cannot ask for a large allocation.

use std::collections::BTreeMap;
use std::io::{Read, Seek};

use eigenspan_core::data::{Dataset, ImageShape, Labels};
use zip::read::ZipFile;
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use crate::array::{ArrayFault, Length};
use crate::error::{ReadError, listed};
use crate::npy::{self, NpyFault};

/// What is wrong with an NPZ archive, apart from its arrays.
#[derive(Debug, thiserror::Error)]
pub enum NpzFault {
    /// The archive cannot be taken apart.
    #[error("expected a zip archive that is whole, found one that {problem}")]
    Archive {
        /// What about it is wrong.
        problem: String,
    },
    /// An entry cannot be unpacked.
    #[error("array `{array}` cannot be unpacked: its entry {problem}")]
    Entry {
        /// The array.
        array: String,
        /// What about the entry is wrong.
        problem: String,
    },
    /// An entry needs a password.
    #[error("array `{array}` is encrypted, expected one that is not")]
    Encrypted {
        /// The array.
        array: String,
    },
    /// An entry is packed in an unusual way.
    #[error("array `{array}` is packed by zip method {method}, expected 0 (stored) or 8 (deflated)")]
    Compression {
        /// The array.
        array: String,
        /// The number of the method.
        method: u16,
    },
    /// Two entries have the same name.
    #[error("expected every array once, found entries of the same name")]
    Repeated,
    /// It is not clear which array holds the samples.
    #[error("expected the samples in an array `X`, found {}", found(arrays))]
    NoSamples {
        /// The arrays that are there.
        arrays: Vec<String>,
    },
    /// The array requested is not there.
    #[error("expected an array `{requested}`, found {}", found(arrays))]
    NoArray {
        /// The array requested.
        requested: String,
        /// The arrays that are there.
        arrays: Vec<String>,
    },
    /// A sparse matrix as SciPy saves it.
    #[error("expected the samples in an array `X`, found a SciPy sparse matrix")]
    Sparse,
    /// Not one class for every sample.
    #[error("array `y` has {labels} classes for {samples} samples, expected one for each")]
    LabelCount {
        /// Length of `y`.
        labels: usize,
        /// Rows of `X`.
        samples: usize,
    },
    /// `shape` is not two numbers.
    #[error("array `shape` has {found} numbers, expected height and width")]
    ShapeLength {
        /// Length of `shape`.
        found: usize,
    },
    /// `shape` does not fit the samples.
    #[error("array `shape` says {height} × {width}, which does not fit samples of {features}")]
    ShapeSize {
        /// The height it says.
        height: usize,
        /// The width it says.
        width: usize,
        /// The features of `X`: their number, or height and width where `X` is a stack of images.
        features: String,
    },
}

impl NpzFault {
    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Archive { .. } | Self::Entry { .. } => "the file is cut or damaged: copy or save it again",
            Self::Encrypted { .. } | Self::Compression { .. } => "save it with `np.savez_compressed`",
            Self::Repeated => "save it again with `np.savez(file, X=…)`",
            Self::NoArray { .. } => "ask for one of these, or for none",
            Self::NoSamples { .. } => "name the samples: `np.savez(file, X=…)`",
            Self::Sparse => "save it dense: `np.savez_compressed(file, X=x.toarray())`",
            Self::LabelCount { .. } => "check that `X` and `y` were selected alike",
            Self::ShapeLength { .. } | Self::ShapeSize { .. } => "save `shape=[height, width]`, or leave it out",
        };
        Some(hint.to_string())
    }
}

/// The arrays of a file, for messages.
fn found(arrays: &[String]) -> String {
    if arrays.is_empty() { "no array".to_string() } else { listed(arrays) }
}

/// Reads samples with classes and image shape.
pub(crate) fn read(file: &str, source: impl Read + Seek, array: Option<&str>) -> Result<Dataset, ReadError> {
    let mut archive = Archive::open(file, source)?;
    let name = match array {
        Some(name) if archive.has(name) => name.to_string(),
        Some(name) => {
            return Err(archive.fault(NpzFault::NoArray { requested: name.to_string(), arrays: archive.names() }));
        }
        None => archive.name_of_samples()?,
    };
    let (samples, image) = archive.array(&name, |source, length| npy::samples(source, length))?;
    let mut data = Dataset::new(samples);
    data.image = image;
    if name != "y" && archive.has("y") {
        let classes = archive.array("y", |source, length| npy::classes(source, length))?;
        let (labels, samples) = (classes.len(), data.samples.rows());
        if labels != samples {
            return Err(archive.fault(NpzFault::LabelCount { labels, samples }));
        }
        data.labels = Some(Labels::from_names(&classes));
    }
    if name != "shape" && archive.has("shape") {
        let shape = archive.array("shape", |source, length| npy::image_shape(source, length))?;
        data.image = Some(image_shape(&shape, &data).map_err(|fault| archive.fault(fault))?);
    }
    Ok(data)
}

fn image_shape(shape: &[usize], data: &Dataset) -> Result<ImageShape, NpzFault> {
    let [height, width] = *shape else {
        return Err(NpzFault::ShapeLength { found: shape.len() });
    };
    let (said, cols) = (ImageShape { height, width }, data.samples.cols());
    let features = match data.image {
        Some(image) if image != said => format!("{} × {}", image.height, image.width),
        _ if height.checked_mul(width) != Some(cols) => format!("{cols} features"),
        _ => return Ok(said),
    };
    Err(NpzFault::ShapeSize { height, width, features })
}

struct Archive<'a, S> {
    file: &'a str,
    zip: ZipArchive<S>,
    /// The arrays by name, with their numbers in the archive.
    arrays: BTreeMap<String, usize>,
}

impl<'a, S: Read + Seek> Archive<'a, S> {
    fn open(file: &'a str, source: S) -> Result<Self, ReadError> {
        let fault = |fault: NpzFault| ReadError::content(file, fault);
        let damaged = |error: ZipError| fault(NpzFault::Archive { problem: problem(&error) });
        let zip = ZipArchive::new(source).map_err(damaged)?;
        let (mut arrays, mut repeated) = (BTreeMap::new(), zip.has_duplicate_names());
        for index in 0..zip.len() {
            let entry = zip.name_for_index(index).expect("an entry for every index").map_err(damaged)?;
            if let Some(array) = entry.strip_suffix(".npy") {
                repeated |= arrays.insert(array.to_string(), index).is_some();
            }
        }
        match repeated {
            true => Err(fault(NpzFault::Repeated)),
            false => Ok(Self { file, zip, arrays }),
        }
    }

    fn fault(&self, fault: NpzFault) -> ReadError {
        ReadError::content(self.file, fault)
    }

    fn has(&self, name: &str) -> bool {
        self.arrays.contains_key(name)
    }

    fn names(&self) -> Vec<String> {
        self.arrays.keys().cloned().collect()
    }

    fn name_of_samples(&mut self) -> Result<String, ReadError> {
        if self.has("X") {
            return Ok("X".to_string());
        }
        if ["data", "indices", "indptr", "format"].iter().all(|name| self.has(name)) {
            return Err(self.fault(NpzFault::Sparse));
        }
        let usual: Vec<&str> = ["x", "data", "arr_0"].into_iter().filter(|name| self.has(name)).collect();
        if let [only] = usual[..] {
            return Ok(only.to_string());
        }
        let arrays = self.names();
        let mut candidates = vec![];
        for name in &arrays {
            // What cannot be read is not a candidate: it is named if something is read from it.
            if self.array(name, |source, length| npy::axes(source, length)).is_ok_and(|axes| axes >= 2) {
                candidates.push(name);
            }
        }
        match candidates[..] {
            [only] => Ok(only.clone()),
            _ => Err(self.fault(NpzFault::NoSamples { arrays })),
        }
    }

    /// Unpacks one array and hands it to `read`.
    fn array<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut ZipFile<'_, S>, Length) -> Result<T, NpyFault>,
    ) -> Result<T, ReadError> {
        let index = self.arrays[name];
        let file = self.file;
        let mut entry = match self.zip.by_index(index) {
            Ok(entry) => entry,
            Err(error) => return Err(ReadError::content(file, entry_fault(name, error))),
        };
        let method = entry.compression();
        if !matches!(method, CompressionMethod::Stored | CompressionMethod::Deflated) {
            #[expect(deprecated, reason = "it is only shown, never compared")]
            let (array, method) = (name.to_string(), method.to_u16());
            return Err(ReadError::content(file, NpzFault::Compression { array, method }));
        }
        let length = Length::Claimed(entry.size());
        read(&mut entry, length).map_err(|fault| match fault {
            NpyFault::Values(ArrayFault::Read { source }) => {
                let problem = unpacking_problem(&source).to_string();
                ReadError::content(file, NpzFault::Entry { array: name.to_string(), problem })
            }
            fault => ReadError::Content {
                file: file.to_string(),
                array: Some(name.to_string()),
                fault: Box::new(fault.into()),
            },
        })
    }
}

fn entry_fault(array: &str, error: ZipError) -> NpzFault {
    let array = array.to_string();
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => NpzFault::Encrypted { array },
        other => NpzFault::Entry { array, problem: problem(&other) },
    }
}

fn unpacking_problem(error: &std::io::Error) -> &'static str {
    let words = error.to_string().to_lowercase();
    match () {
        () if words.contains("checksum") => "does not fit its checksum",
        () if words.contains("larger than") => "is larger than the archive's directory claims",
        () => "is cut or damaged",
    }
}

/// The zip reader's words name its own inner types: a user is better served by what follows from them.
fn problem(error: &ZipError) -> String {
    match error {
        ZipError::Io(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => format!("cannot be read: {error}"),
        ZipError::UnsupportedArchive(what) => format!("uses what is not supported: {what}"),
        _ => "is cut or damaged".to_string(),
    }
}
