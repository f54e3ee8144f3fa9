//! The elements of a MATLAB file: tags, and the head of an array.

use std::fmt;
use std::io::{self, Read};

use super::MatFault;
use crate::array::{ArrayFault, Item, fill};

pub(super) const INT8: u32 = 1;
pub(super) const INT32: u32 = 5;
pub(super) const UINT32: u32 = 6;
pub(super) const MATRIX: u32 = 14;
pub(super) const COMPRESSED: u32 = 15;
pub(super) const UTF8: u32 = 16;

/// Axes and bytes of a name, beyond which a head is taken for damaged: MATLAB's own names have 63 bytes at most.
const MOST_AXES: u64 = 32;
const LONGEST_NAME: u64 = 1024;

/// Where in a file something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The byte, counted from 0.
    pub byte: u64,
    /// Where the packed element begins, if the byte is counted in what it unpacks to.
    pub packed: Option<u64>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.packed {
            Some(element) => write!(f, "byte {} of what is packed at byte {element}", self.byte),
            None => write!(f, "byte {}", self.byte),
        }
    }
}

/// What the tag of an element says. Its data follow, and then zeros up to a multiple of eight bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element {
    pub(super) kind: u32,
    pub(super) bytes: u64,
    padding: u64,
}

impl Element {
    /// What one of its numbers is.
    pub(super) fn item(&self) -> Option<Item> {
        Some(match self.kind {
            INT8 => Item::I1,
            2 => Item::U1,
            3 => Item::I2,
            4 => Item::U2,
            INT32 => Item::I4,
            UINT32 => Item::U4,
            7 => Item::F4,
            9 => Item::F8,
            12 => Item::I8,
            13 => Item::U8,
            _ => return None,
        })
    }
}

/// The bytes of an element, from the first to the last.
pub(super) struct Body<'a> {
    source: &'a mut dyn Read,
    pub(super) big_endian: bool,
    /// Where the next byte is.
    pub(super) place: Place,
    /// Bytes of the element that are still to come.
    pub(super) left: u64,
}

impl Read for Body<'_> {
    fn read(&mut self, part: &mut [u8]) -> io::Result<usize> {
        let most = part.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let got = self.source.read(&mut part[..most])?;
        self.left -= got as u64;
        self.place.byte += got as u64;
        Ok(got)
    }
}

impl<'a> Body<'a> {
    pub(super) fn new(source: &'a mut dyn Read, big_endian: bool, place: Place, left: u64) -> Self {
        Self { source, big_endian, place, left }
    }

    /// Reads a tag: type and number of bytes in four bytes each, or in two bytes each where at most four bytes of data
    /// follow. `None` at the end of the element.
    pub(super) fn next(&mut self) -> Result<Option<Element>, MatFault> {
        let (place, mut word) = (self.place, [0; 4]);
        let mut got = self.fill(&mut word)?;
        if got == 0 {
            return Ok(None);
        }
        let first = self.number(word);
        if got == 4 && first >> 16 == 0 {
            got = self.fill(&mut word)?;
        }
        if got < 4 {
            return Err(MatFault::TagCut { place, found: self.place.byte - place.byte });
        }
        let element = match first >> 16 {
            0 => {
                let bytes = u64::from(self.number(word));
                // Packed elements follow one another without a gap.
                let padding = if first == COMPRESSED { 0 } else { bytes.wrapping_neg() % 8 };
                Element { kind: first, bytes, padding }
            }
            bytes @ 1..=4 => Element { kind: first & 0xffff, bytes: u64::from(bytes), padding: 4 - u64::from(bytes) },
            bytes => return Err(MatFault::Small { place, found: bytes, word: first }),
        };
        match element.bytes <= self.left {
            true => Ok(Some(element)),
            false => Err(MatFault::Size { place, claimed: element.bytes, found: self.left }),
        }
    }

    /// Reads the tag of an element that must be there.
    pub(super) fn expect(&mut self, what: &'static str, kinds: &[u32]) -> Result<Element, MatFault> {
        let place = self.place;
        match self.next()? {
            Some(element) if kinds.is_empty() || kinds.contains(&element.kind) => Ok(element),
            found => Err(MatFault::Kind { place, expected: what, found: found.map(|element| element.kind) }),
        }
    }

    /// All data of an element. Memory grows as bytes arrive.
    pub(super) fn data(&mut self, element: &Element) -> Result<Vec<u8>, MatFault> {
        let mut data = vec![];
        self.by_ref().take(element.bytes).read_to_end(&mut data).map_err(|source| self.failed(source))?;
        match element.bytes - data.len() as u64 {
            0 => self.skip(element.padding).map(|()| data),
            missing => Err(ArrayFault::Cut { missing }.into()),
        }
    }

    /// Passes over bytes; the last element of an array may lack its padding.
    pub(super) fn skip(&mut self, bytes: u64) -> Result<(), MatFault> {
        let bytes = bytes.min(self.left);
        match io::copy(&mut self.by_ref().take(bytes), &mut io::sink()) {
            Ok(got) if got == bytes => Ok(()),
            Ok(got) => Err(ArrayFault::Cut { missing: bytes - got }.into()),
            Err(source) => Err(self.failed(source)),
        }
    }

    fn fill(&mut self, part: &mut [u8]) -> Result<usize, MatFault> {
        fill(self, part).map_err(|source| self.failed(source))
    }

    /// Why reading failed: the decompressor's words, or the system's.
    pub(super) fn failed(&self, source: io::Error) -> MatFault {
        match self.place.packed {
            Some(at) => MatFault::Unpack { at, source },
            None => ArrayFault::Read { source }.into(),
        }
    }

    pub(super) fn number(&self, bytes: [u8; 4]) -> u32 {
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }
}

/// What an array is called and how large it is, before its values.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub(super) class: u8,
    pub(super) complex: bool,
    pub(super) logical: bool,
    pub(super) name: String,
    /// Lengths of the axes, without those of length 1 after the second.
    pub(super) shape: Vec<usize>,
}

impl Head {
    pub(super) fn read(body: &mut Body<'_>) -> Result<Self, MatFault> {
        let place = body.place;
        let element = body.expect("the flags of an array (type 6)", &[UINT32])?;
        if element.bytes != 8 {
            return Err(MatFault::Field { place, expected: "8 bytes of array flags", found: element.bytes });
        }
        let data = body.data(&element)?;
        let flags = body.number([data[0], data[1], data[2], data[3]]);
        let class = (flags & 0xff) as u8;
        // Objects of unknown make have no axes.
        let shape = if class == OPAQUE { vec![] } else { shape(body)? };
        let place = body.place;
        let element = body.expect("the name of an array (type 1)", &[INT8, UTF8])?;
        if element.bytes > LONGEST_NAME {
            return Err(MatFault::Field { place, expected: "a name of at most 1024 bytes", found: element.bytes });
        }
        let name = String::from_utf8_lossy(&body.data(&element)?).chars().flat_map(char::escape_debug).collect();
        Ok(Self { class, complex: flags & 0x800 != 0, logical: flags & 0x200 != 0, name, shape })
    }

    /// Whether it holds real numbers, stored one by one or sparse.
    pub(super) fn is_real(&self) -> bool {
        !self.complex && matches!(self.class, SPARSE..=UINT64)
    }

    /// Whether it is a row or a column of values.
    pub(super) fn is_vector(&self) -> bool {
        matches!(*self.shape, [1, length] | [length, 1] if length > 0)
    }

    /// Size and class, for messages.
    pub(super) fn kind(&self) -> String {
        let class = match self.class {
            1 => "cell",
            2 => "struct",
            3 | 18 => "object",
            CHAR => "char",
            SPARSE => "sparse",
            DOUBLE => "double",
            SINGLE => "single",
            8 => "int8",
            UINT8 => "uint8",
            10 => "int16",
            11 => "uint16",
            12 => "int32",
            13 => "uint32",
            14 => "int64",
            UINT64 => "uint64",
            16 => "function",
            OPAQUE => return "an opaque object".to_string(),
            _ => "of unknown class",
        };
        format!("{} {}{class}", times(&self.shape), if self.complex { "complex " } else { "" })
    }
}

pub(super) const CHAR: u8 = 4;
pub(super) const SPARSE: u8 = 5;
pub(super) const DOUBLE: u8 = 6;
pub(super) const SINGLE: u8 = 7;
pub(super) const UINT8: u8 = 9;
const UINT64: u8 = 15;
const OPAQUE: u8 = 17;

/// Reads the lengths of the axes.
fn shape(body: &mut Body<'_>) -> Result<Vec<usize>, MatFault> {
    let place = body.place;
    let element = body.expect("the dimensions of an array (type 5)", &[INT32, UINT32])?;
    if element.bytes % 4 != 0 || !(8..=4 * MOST_AXES).contains(&element.bytes) {
        let expected = "2 to 32 dimensions of 4 bytes each";
        return Err(MatFault::Field { place, expected, found: element.bytes });
    }
    let mut shape = vec![];
    for (axis, chunk) in body.data(&element)?.chunks_exact(4).enumerate() {
        let length = body.number(chunk.try_into().expect("chunks of four bytes")).cast_signed();
        shape.push(usize::try_from(length).map_err(|_| MatFault::Negative { place, axis: axis + 1, found: length })?);
    }
    while shape.len() > 2 && shape.last() == Some(&1) {
        shape.pop();
    }
    Ok(shape)
}

/// Lengths of axes as MATLAB shows them.
pub(super) fn times(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join(" × ")
}
