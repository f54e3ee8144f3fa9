//! MATLAB files of version 5, as `save` writes them with `-v6` and `-v7`.
//!
//! ```text
//!     header (128 bytes: text, version, byte order)  element  element …
//!     element:  type (4 bytes)  length (4 bytes)  data     either an array, or an array packed by zlib
//!     array:    flags with the class  dimensions  name  values, each an element again, padded to 8 bytes
//! ```
//! | array of samples | classes | samples are | |
//! |---|---|---|---|
//! | `DAT` | `labels` | columns | |
//! | `fea` | `gnd` | rows | |
//! | `X` | `y` | rows | |
//! | `data` | `labels`, `label`, `y` | rows | with three axes and no classes: features × samples × classes |
//!
//! Upper and lower case are one. Without such a name, the only matrix with at least two rows and columns is taken. If
//! there is a class for every column and not for every row, samples are columns, and the other way round, whatever the
//! name. Three axes are images, height × width × samples. Values lie column after column: images are turned so that
//! their pixels lie row after row, and so are samples that the caller says are images.
//!
//! The file is read once from its first byte to its last. Values are kept of one array at a time that may be the
//! samples; what is not needed is passed over.

mod classes;
mod element;
mod fault;
mod samples;

use std::collections::HashSet;
use std::io::{self, Read};

use eigenspan_core::data::{Dataset, ImageShape};
use flate2::read::ZlibDecoder;

use self::classes::Classes;
use self::element::{Body, COMPRESSED, Head, MATRIX};
use self::samples::{Kept, MOST_EMPTY};
use crate::array::{ArrayFault, Length, fill};
use crate::error::{ReadError, hexadecimal};

pub use self::element::Place;
pub use self::fault::MatFault;

const HEADER: usize = 128;

/// Names of samples, in lower case.
const SAMPLES: [&str; 4] = ["dat", "fea", "x", "data"];

/// Reads samples, with classes and image shape where these are known.
pub(crate) fn read(
    file: &str,
    source: &mut dyn Read,
    length: Length,
    array: Option<&str>,
    image: Option<ImageShape>,
) -> Result<Dataset, ReadError> {
    let fault = |fault| ReadError::content(file, fault);
    let big_endian = header(source).map_err(fault)?;
    let left = length.bytes().map_or(u64::MAX, |bytes| bytes.saturating_sub(HEADER as u64));
    let mut body = Body::new(source, big_endian, Place { byte: HEADER as u64, packed: None }, left);
    let counted = matches!(length, Length::Counted(_));
    let mut search = Search { file, requested: array, counted, ..Search::default() };
    loop {
        let place = body.place;
        let element = match body.next() {
            Ok(Some(element)) => element,
            Ok(None) => break,
            Err(MatFault::Small { word, .. }) => return Err(fault(no_array(place, word))),
            Err(other) => return Err(fault(other)),
        };
        match element.kind {
            MATRIX => {
                let place = body.place;
                let mut inner = Body::new(&mut body, big_endian, place, element.bytes);
                search.array(&mut inner)?;
                inner.skip(u64::MAX).map_err(fault)?;
            }
            COMPRESSED => search.packed(&mut body, place.byte, element.bytes)?,
            kind => return Err(fault(no_array(place, kind))),
        }
    }
    let (samples, classes) = search.choose()?;
    samples::dataset(file, samples, classes, image)
}

fn no_array(place: Place, kind: u32) -> MatFault {
    let expected = "an array (type 14), a packed one (type 15) or the end of the file";
    MatFault::Kind { place, expected, found: Some(kind) }
}

/// Reads the header; whether numbers have their highest byte first.
fn header(source: &mut dyn Read) -> Result<bool, MatFault> {
    let mut header = [0; HEADER];
    let mut source = source;
    let found = fill(&mut source, &mut header).map_err(|source| ArrayFault::Read { source })?;
    match &header[124..] {
        _ if found < HEADER => Err(MatFault::HeaderCut { found }),
        b"\x00\x01IM" => Ok(false),
        b"\x01\x00MI" => Ok(true),
        _ if header.starts_with(b"MATLAB 7.3") => Err(MatFault::Hdf5),
        other => Err(MatFault::Version { found: hexadecimal(other) }),
    }
}

/// How well an array suits as samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    #[default]
    Matrix,
    Named,
    Asked,
}

/// What has been found so far.
#[derive(Default)]
struct Search<'a> {
    file: &'a str,
    requested: Option<&'a str>,
    /// Whether the bytes of the file were counted before they are read.
    counted: bool,
    /// All names, and all arrays as messages show them.
    names: HashSet<String>,
    arrays: Vec<String>,
    /// The arrays of the best rank so far. Values are kept if it is one.
    rank: Rank,
    candidates: Vec<String>,
    kept: Option<Kept>,
    classes: Vec<Classes>,
}

impl Search<'_> {
    fn named(&self, array: &str, fault: MatFault) -> ReadError {
        ReadError::Content {
            file: self.file.to_string(),
            array: Some(array.to_string()),
            fault: Box::new(fault.into()),
        }
    }

    /// Reads an array that is packed in the next bytes.
    fn packed(&mut self, file: &mut Body<'_>, at: u64, bytes: u64) -> Result<(), ReadError> {
        let (big_endian, name) = (file.big_endian, self.file);
        let fault = |fault| ReadError::content(name, fault);
        let mut packed = file.by_ref().take(bytes);
        let mut unpacked = ZlibDecoder::new(&mut packed);
        let mut body = Body::new(&mut unpacked, big_endian, Place { byte: 0, packed: Some(at) }, u64::MAX);
        let element = body.expect("an array (type 14)", &[MATRIX]).map_err(fault)?;
        body.left = element.bytes;
        // What is not needed is not unpacked.
        if self.array(&mut body)? {
            body.skip(u64::MAX).map_err(fault)?;
            // Reading on also makes the decompressor compare the checksum.
            let place = body.place;
            body.left = 1;
            match fill(&mut body, &mut [0]) {
                Ok(0) => {}
                Ok(_) => return Err(fault(MatFault::Overrun { place })),
                Err(source) => return Err(fault(body.failed(source))),
            }
        }
        match io::copy(&mut packed, &mut io::sink()) {
            Ok(_) if packed.limit() == 0 => Ok(()),
            Ok(_) => Err(fault(ArrayFault::Cut { missing: packed.limit() }.into())),
            Err(source) => Err(fault(ArrayFault::Read { source }.into())),
        }
    }

    /// Looks at an array, and reads its values if they may be needed.
    fn array(&mut self, body: &mut Body<'_>) -> Result<bool, ReadError> {
        let head = Head::read(body).map_err(|fault| ReadError::content(self.file, fault))?;
        // Without a name there is what MATLAB keeps for itself.
        if head.name.is_empty() {
            return Ok(false);
        }
        if !self.names.insert(head.name.clone()) {
            return Err(ReadError::content(self.file, MatFault::Repeated { array: head.name }));
        }
        let shown = format!("`{}` ({})", head.name, head.kind());
        self.arrays.push(shown.clone());
        let rank = self.rank(&head)?;
        if rank.is_none() && classes::is_name(&head.name) {
            let classes = Classes::read(&head, body).map_err(|fault| self.named(&head.name, fault))?;
            let found = classes.is_some();
            self.classes.extend(classes);
            return Ok(found);
        }
        let Some(rank) = rank.filter(|&rank| rank >= self.rank) else { return Ok(false) };
        if rank > self.rank {
            self.candidates.clear();
        }
        self.rank = rank;
        self.candidates.push(shown);
        self.kept = None;
        // Of several that suit alike, none will be taken.
        if self.candidates.len() > 1 {
            return Ok(false);
        }
        let kept = Kept::read(&head, body, self.counted).map_err(|fault| self.named(&head.name, fault))?;
        self.kept = Some(kept);
        Ok(true)
    }

    /// How an array suits as samples, if at all.
    fn rank(&self, head: &Head) -> Result<Option<Rank>, ReadError> {
        let is_matrix = head.is_real() && head.shape[0] >= 2 && head.shape[1] >= 2 && !head.shape.contains(&0);
        Ok(match self.requested {
            Some(requested) if requested == head.name => {
                let fault = match *head.shape {
                    _ if !head.is_real() => MatFault::NotNumbers { found: head.kind() },
                    _ if head.shape.contains(&0) => MatFault::NoValues { shape: head.shape.clone() },
                    [_, _] | [_, _, _] => return Ok(Some(Rank::Asked)),
                    _ => MatFault::Axes { shape: head.shape.clone() },
                };
                return Err(self.named(&head.name, fault));
            }
            None if is_matrix && SAMPLES.contains(&&*head.name.to_lowercase()) => Some(Rank::Named),
            None if is_matrix => Some(Rank::Matrix),
            _ => None,
        })
    }

    /// The array of samples, and the classes that go with it.
    fn choose(self) -> Result<(Kept, Option<Classes>), ReadError> {
        let fault = match (self.requested, self.kept) {
            (_, Some(kept)) => {
                let classes = classes::partner(&kept.name, self.classes);
                return Ok((kept, classes));
            }
            (Some(requested), None) => MatFault::NoArray { requested: requested.to_string(), arrays: self.arrays },
            (None, None) if self.candidates.is_empty() => MatFault::NoSamples { arrays: self.arrays },
            (None, None) => MatFault::Several { arrays: self.candidates },
        };
        Err(ReadError::content(self.file, fault))
    }
}
