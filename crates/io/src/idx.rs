//! IDX: one array of numbers, as MNIST and its relatives come.
//!
//! ```text
//!     00 00  type (08 u8, 09 i8, 0b i16, 0c i32, 0d f32, 0e f64)  number of axes  lengths (4 bytes each)  values
//! ```
//! All numbers have their highest byte first. Images and their classes are two files: where `…images…idx3…` has
//! a sibling `…labels…idx1…`, packed by gzip or not, the classes are read from it.

use std::io::Read;
use std::path::{Path, PathBuf};

use eigenspan_core::data::{Dataset, ImageShape, Labels};

use crate::array::{self, ArrayFault, ArrayHeader, ArrayRows, BadValue, Encoding, Item, Layout, Length, List, Order};
use crate::error::{Fault, ReadError};
use crate::input::Input;
use crate::npy::tuple;

/// What is wrong with an IDX file.
#[derive(Debug, thiserror::Error)]
pub enum IdxFault {
    /// The values cannot be read or taken.
    #[error(transparent)]
    Values(#[from] ArrayFault),
    /// Not the first bytes of an IDX file.
    #[error("expected an IDX file, which starts with 00 00 and a type from 08 to 0e, found {found}")]
    Magic {
        /// The first bytes, in hexadecimal.
        found: String,
    },
    /// The bytes end before the lengths of the axes do.
    #[error("the header of {axes} axes ends at byte {needed}, but there are only {found} bytes")]
    HeaderCut {
        /// Number of axes.
        axes: usize,
        /// Bytes of the header.
        needed: usize,
        /// Bytes that are there.
        found: usize,
    },
    /// The header's claim and the bytes present differ.
    #[error(
        "the header claims shape {} of {item}, {needed} bytes with the header, but there are {found}",
        tuple(shape)
    )]
    Size {
        /// The claimed shape.
        shape: Vec<usize>,
        /// The type of an item.
        item: &'static str,
        /// Bytes that header and claimed values take.
        needed: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// Shape times item size has more bytes than can be counted.
    #[error("the header claims shape {} of {item}, more bytes than any file holds", tuple(shape))]
    Overflow {
        /// The claimed shape.
        shape: Vec<usize>,
        /// The type of an item.
        item: &'static str,
    },
    /// A packed file continues after its values.
    #[error("the header claims shape {}, but more bytes follow its values", tuple(shape))]
    Overrun {
        /// The claimed shape.
        shape: Vec<usize>,
    },
    /// Neither samples in rows nor a stack of grey images.
    #[error("expected samples × features or images × height × width, found shape {}", tuple(shape))]
    Axes {
        /// The shape found.
        shape: Vec<usize>,
    },
    /// No samples or no features.
    #[error("expected at least one sample and one feature, found shape {}", tuple(shape))]
    NoValues {
        /// The shape found.
        shape: Vec<usize>,
    },
    /// Classes are a list.
    #[error("expected a list of classes, found shape {}", tuple(shape))]
    NotAList {
        /// The shape found.
        shape: Vec<usize>,
    },
    /// A class that cannot be taken.
    #[error("class {at} (counted from 0) is {found}, expected {}", found.expected())]
    Class {
        /// Index of the class.
        at: usize,
        /// What stands there.
        found: BadValue,
    },
    /// Not one class for every sample.
    #[error("there are {labels} classes for the {samples} samples of the file beside it, expected one for each")]
    LabelCount {
        /// Number of classes.
        labels: usize,
        /// Number of samples.
        samples: usize,
    },
}

impl IdxFault {
    /// What to do about it, where something can be said.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Values(fault) => return Some(fault.hint()),
            Self::Axes { shape } if shape.len() == 1 => {
                "this looks like a file of classes: give the file of images, the classes beside it are found"
            }
            Self::Axes { .. } => "make every sample one row, or one image of two axes",
            Self::LabelCount { .. } | Self::NotAList { .. } | Self::Class { .. } => {
                "put the right labels file beside the images, or move this one away"
            }
            Self::NoValues { .. } => "check the program that wrote it",
            Self::Magic { .. }
            | Self::HeaderCut { .. }
            | Self::Size { .. }
            | Self::Overflow { .. }
            | Self::Overrun { .. } => "the file is cut or damaged: copy or fetch it again",
        };
        Some(hint.to_string())
    }
}

/// Reads samples in rows, of an array of two axes or of a stack of images.
pub(crate) fn samples(source: &mut impl Read, length: Length) -> Result<Dataset, IdxFault> {
    let header = Header::read(source, length)?;
    let layout = header.layout()?;
    let samples = array::read(source, header.encoding, Order::C, &layout, length);
    let samples = samples.map_err(|fault| header.clone().in_array(fault))?;
    nothing_follows(source, header.shape)?;
    Ok(Dataset { image: layout.image, ..Dataset::new(samples) })
}

/// Reads the header of an array whose rows are read one after the other.
pub(crate) fn rows(
    file: &str,
    mut source: Box<dyn Read + Send>,
    length: Length,
) -> Result<ArrayRows<Header>, ReadError> {
    let content = |fault| ReadError::content(file, fault);
    let header = Header::read(&mut source, length).map_err(content)?;
    let layout = header.layout().map_err(content)?;
    ArrayRows::new(file, source, header, layout, length)
}

/// Reads the classes from the labels file beside a file of images, where there is one.
pub(crate) fn labels_beside(images: &Path, samples: usize) -> Result<Option<Labels>, ReadError> {
    let Some(path) = candidates(images).into_iter().find(|path| path.is_file()) else { return Ok(None) };
    let input = Input::open(&path)?;
    let name = input.name.clone();
    let (mut source, length) = input.sequential();
    let labels = classes(&mut source, length).and_then(|classes| match classes.len() {
        labels if labels == samples => Ok(Labels::from_names(&classes)),
        labels => Err(IdxFault::LabelCount { labels, samples }),
    });
    labels.map(Some).map_err(|fault| ReadError::content(&name, fault))
}

/// The names that the labels of a file of images may have.
fn candidates(images: &Path) -> Vec<PathBuf> {
    let Some(name) = images.file_name().and_then(|name| name.to_str()) else { return vec![] };
    if !name.contains("images") {
        return vec![];
    }
    let name = name.replace("images", "labels").replace("idx3", "idx1");
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    vec![images.with_file_name(name), images.with_file_name(format!("{name}.gz"))]
}

fn classes(source: &mut impl Read, length: Length) -> Result<Vec<String>, IdxFault> {
    let header = Header::read(source, length)?;
    let Header { encoding, shape, .. } = header.clone();
    let [count] = *shape else { return Err(IdxFault::NotAList { shape }) };
    let (needed, mut bytes) = (count as u64 * encoding.item.bytes() as u64, vec![]);
    source.by_ref().take(needed).read_to_end(&mut bytes).map_err(|source| ArrayFault::Read { source })?;
    if bytes.len() as u64 != needed {
        return Err(header.in_array(ArrayFault::Cut { missing: needed - bytes.len() as u64 }));
    }
    nothing_follows(source, shape)?;
    let list = List::decode(encoding, &bytes).map_err(|(at, found)| IdxFault::Class { at, found })?;
    list.into_classes().map_err(|(at, found)| IdxFault::Class { at, found })
}

/// What stands before the values.
#[derive(Clone)]
pub(crate) struct Header {
    encoding: Encoding,
    /// The type of an item, for messages.
    item: &'static str,
    shape: Vec<usize>,
    /// Bytes that header and claimed values take.
    total: u64,
}

impl Header {
    /// Reads the header and compares its claim with what is known of the bytes of the file.
    fn read(source: &mut impl Read, length: Length) -> Result<Self, IdxFault> {
        let failed = |source| ArrayFault::Read { source };
        let mut magic = [0; 4];
        let got = array::fill(source, &mut magic).map_err(failed)?;
        let known = match magic[..got] {
            [0, 0, kind, axes] => item(kind).map(|(item, name)| (item, name, usize::from(axes))),
            _ => None,
        };
        let (encoded, item, axes) =
            known.ok_or_else(|| IdxFault::Magic { found: crate::error::hexadecimal(&magic[..got]) })?;
        let (start, mut lengths) = (4 + 4 * axes, vec![0; 4 * axes]);
        let got = array::fill(source, &mut lengths).map_err(failed)?;
        if got < lengths.len() {
            return Err(IdxFault::HeaderCut { axes, needed: start, found: 4 + got });
        }
        let axis = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().expect("chunks of four bytes")) as usize;
        let shape: Vec<usize> = lengths.chunks_exact(4).map(axis).collect();
        let values = shape.iter().try_fold(encoded.bytes() as u64, |all, &axis| all.checked_mul(axis as u64));
        let total = values.and_then(|values| values.checked_add(start as u64));
        let Some(total) = total.filter(|&total| total <= isize::MAX as u64) else {
            return Err(IdxFault::Overflow { shape, item });
        };
        // What is being unpacked has no length.
        match length.bytes().filter(|&found| found != total) {
            None => Ok(Self { encoding: Encoding { item: encoded, big_endian: true }, item, shape, total }),
            Some(found) => Err(IdxFault::Size { shape, item, needed: total, found }),
        }
    }

    /// How samples and features lie in the array.
    fn layout(&self) -> Result<Layout, IdxFault> {
        let shape = self.shape.clone();
        let layout = match *shape {
            [rows, cols] => Layout { rows, cols, image: None },
            [rows, height, width] | [rows, height, width, 1] => {
                // Lengths are below 2³²: the product of two can be counted.
                Layout { rows, cols: height * width, image: Some(ImageShape { height, width }) }
            }
            _ => return Err(IdxFault::Axes { shape }),
        };
        match layout.rows == 0 || layout.cols == 0 {
            true => Err(IdxFault::NoValues { shape }),
            false => Ok(layout),
        }
    }

    /// A fault in the values; missing bytes are reported with the claim of the header.
    fn in_array(self, fault: ArrayFault) -> IdxFault {
        match fault {
            ArrayFault::Cut { missing } => {
                let Self { item, shape, total, .. } = self;
                IdxFault::Size { shape, item, needed: total, found: total - missing }
            }
            other => other.into(),
        }
    }
}

impl ArrayHeader for Header {
    fn encoding(&self) -> Encoding {
        self.encoding
    }

    fn fault(&self, fault: ArrayFault) -> Fault {
        self.clone().in_array(fault).into()
    }

    fn overrun(&self) -> Fault {
        IdxFault::Overrun { shape: self.shape.clone() }.into()
    }
}

/// The item of a type, and its name.
fn item(kind: u8) -> Option<(Item, &'static str)> {
    Some(match kind {
        0x08 => (Item::U1, "u8"),
        0x09 => (Item::I1, "i8"),
        0x0b => (Item::I2, "i16"),
        0x0c => (Item::I4, "i32"),
        0x0d => (Item::F4, "f32"),
        0x0e => (Item::F8, "f64"),
        _ => return None,
    })
}

/// Reading to the end also makes the decompressor compare the checksum.
fn nothing_follows(source: &mut impl Read, shape: Vec<usize>) -> Result<(), IdxFault> {
    match array::fill(source, &mut [0]).map_err(|source| ArrayFault::Read { source })? {
        0 => Ok(()),
        _ => Err(IdxFault::Overrun { shape }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan_core::data::{Matrix, Source as _};

    fn idx(kind: u8, shape: &[u32], values: &[u8]) -> Vec<u8> {
        let lengths = shape.iter().flat_map(|axis| axis.to_be_bytes());
        [0, 0, kind, shape.len() as u8].into_iter().chain(lengths).chain(values.iter().copied()).collect()
    }

    fn read(bytes: &[u8], length: Length) -> Result<Dataset, String> {
        samples(&mut &bytes[..], length).map_err(|fault| fault.to_string())
    }

    #[test]
    fn every_type_reads_to_the_same_numbers() {
        let numbers = [1i8, 0, 100, -7];
        let bytes = |of: fn(i8) -> Vec<u8>| numbers.iter().flat_map(|&v| of(v)).collect::<Vec<u8>>();
        for (kind, values) in [
            (0x09, bytes(|v| v.to_be_bytes().to_vec())),
            (0x0b, bytes(|v| i16::from(v).to_be_bytes().to_vec())),
            (0x0c, bytes(|v| i32::from(v).to_be_bytes().to_vec())),
            (0x0d, bytes(|v| f32::from(v).to_be_bytes().to_vec())),
            (0x0e, bytes(|v| f64::from(v).to_be_bytes().to_vec())),
        ] {
            let file = idx(kind, &[2, 2], &values);
            for length in [Length::Counted(file.len() as u64), Length::Unknown] {
                let data = read(&file, length).unwrap();
                assert_eq!(data.samples.into_f64().as_slice(), numbers.map(f64::from), "type {kind:#04x}");
            }
        }
    }

    #[test]
    fn a_stack_of_images_is_samples_with_a_shape() {
        let file = idx(8, &[2, 1, 3], &[1, 2, 3, 4, 5, 6]);
        let data = read(&file, Length::Unknown).unwrap();
        assert_eq!(data.image, Some(ImageShape { height: 1, width: 3 }));
        assert!(matches!(data.samples, Matrix::U8(pixels) if pixels.row(1) == [4, 5, 6]));
    }

    #[test]
    fn blocks_are_the_rows_of_the_whole() {
        let values: Vec<u8> = (0..12).flat_map(|v: i16| (v * 100).to_be_bytes()).collect();
        let file = idx(0x0b, &[4, 1, 3], &values);
        for length in [Length::Counted(file.len() as u64), Length::Unknown] {
            for at_most in [1, 3, 4, 9] {
                let mut rows = rows("a", Box::new(std::io::Cursor::new(file.clone())), length).unwrap();
                assert_eq!((rows.rows(), rows.image()), (Some(4), Some(ImageShape { height: 1, width: 3 })));
                assert_eq!(rows.skip(1).unwrap(), 1);
                let mut seen = vec![];
                while let Some(block) = rows.next_block(at_most).unwrap() {
                    seen.extend(block.into_f64().into_vec());
                }
                assert!(seen.into_iter().eq((3..12).map(|v| f64::from(v) * 100.0)));
            }
        }
    }

    #[test]
    fn the_labels_of_mnist_are_found_under_all_its_names() {
        let names =
            |images: &str| candidates(Path::new(images)).iter().map(|p| p.display().to_string()).collect::<Vec<_>>();
        assert_eq!(
            names("d/train-images-idx3-ubyte.gz"),
            ["d/train-labels-idx1-ubyte", "d/train-labels-idx1-ubyte.gz"]
        );
        assert_eq!(names("t10k-images.idx3-ubyte")[0], "t10k-labels.idx1-ubyte");
        assert!(names("faces.idx").is_empty());
    }
}
