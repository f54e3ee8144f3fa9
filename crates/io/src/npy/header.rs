//! The header of an NPY array: what its values are, and in which order they lie.
//!
//! ```text
//!     93 'NUMPY' major minor  length (2 bytes in version 1, else 4)  {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
//! ```
//! The text is a Python dictionary. It is not evaluated: exactly the three keys are taken, in any order.
//! Format: NumPy Enhancement Proposal 1.

use std::io::Read;

use eigenspan_core::data::ImageShape;

use super::fault::NpyFault;
use crate::array::{ArrayFault, Encoding, Item, Layout, Length, Order};
use crate::error::hexadecimal;

/// The first bytes of an NPY file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that is read. NumPy's own are below 200 bytes unless records are described.
const LONGEST: u64 = 64 * 1024;

/// Bytes of every header written here: space for any two axes, so that the rows can be filled in at the end.
pub(crate) const WRITTEN: usize = 128;

#[derive(Debug, Clone)]
pub(crate) struct Header {
    pub encoding: Encoding,
    /// The type in NumPy's words, for messages.
    pub descr: String,
    pub order: Order,
    pub shape: Vec<usize>,
    /// Bytes of header and values together.
    pub total: u64,
    /// Bytes of the values alone.
    pub data: u64,
}

/// The type in NumPy's words.
fn encoding(descr: &str) -> Result<Encoding, NpyFault> {
    let refuse = |kind| Err(NpyFault::ItemType { descr: descr.to_string(), kind });
    let (order, rest) = descr.split_at_checked(1).unwrap_or(("", descr));
    let item = match rest {
        "f2" => Item::F2,
        "f4" => Item::F4,
        "f8" => Item::F8,
        "b1" => Item::Bool,
        "i1" => Item::I1,
        "i2" => Item::I2,
        "i4" => Item::I4,
        "i8" => Item::I8,
        "u1" => Item::U1,
        "u2" => Item::U2,
        "u4" => Item::U4,
        "u8" => Item::U8,
        _ => match rest.as_bytes().first() {
            // Items of no bytes would let a header claim any number of them.
            Some(b'U') => match rest[1..].parse::<u32>() {
                Ok(characters) if characters > 0 => Item::Text(characters as usize),
                _ => return refuse("items of an unknown type"),
            },
            Some(b'O') => return Err(NpyFault::Pickled { descr: descr.to_string() }),
            Some(b'c') => return refuse("complex numbers"),
            Some(b'S' | b'a') => return refuse("text"),
            Some(b'V') => return refuse("structured records"),
            Some(b'M' | b'm') => return refuse("dates or times"),
            Some(b'f') => return refuse("extended floating-point numbers"),
            _ => return refuse("items of an unknown type"),
        },
    };
    match order {
        "<" => Ok(Encoding { item, big_endian: false }),
        ">" => Ok(Encoding { item, big_endian: true }),
        "|" if item.bytes() == 1 => Ok(Encoding { item, big_endian: false }),
        _ => refuse("items of an unknown byte order"),
    }
}

impl Header {
    /// Reads the header and compares its claim with what is known of the bytes of the whole array. Nothing as large
    /// as the claim has been allocated by then.
    pub(crate) fn read(source: &mut impl Read, length: Length) -> Result<Self, NpyFault> {
        let (text, start) = header_text(source, length.bytes().unwrap_or(u64::MAX))?;
        let header = parse(&text, start - text.len())?;
        match length.bytes() {
            Some(present) if header.total != present => {
                let (shape, descr) = (header.shape, header.descr);
                Err(NpyFault::Size { shape, descr, needed: header.total, found: present })
            }
            _ => Ok(header),
        }
    }

    /// How samples and features lie in the array.
    pub(crate) fn layout(&self) -> Result<Layout, NpyFault> {
        if matches!(self.encoding.item, Item::Text(_)) {
            return Err(NpyFault::ItemType { descr: self.descr.clone(), kind: "text" });
        }
        let layout = match *self.shape {
            [len] => return Err(NpyFault::OneAxis { len }),
            [rows, cols] => Layout { rows, cols, image: None },
            // `total` was counted without overflow, and so is height · width, unless another axis is 0.
            [rows, height, width] | [rows, height, width, 1] => {
                Layout { rows, cols: height.saturating_mul(width), image: Some(ImageShape { height, width }) }
            }
            _ => return Err(NpyFault::Axes { shape: self.shape.clone() }),
        };
        match layout.rows == 0 || layout.cols == 0 {
            true => Err(NpyFault::NoValues { shape: self.shape.clone() }),
            false => Ok(layout),
        }
    }
}

/// The header of a two-axis array in C order, always [`WRITTEN`] bytes long.
pub(crate) fn written(descr: &str, rows: usize, cols: usize) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows}, {cols}), }}");
    let space = WRITTEN - 10;
    let mut bytes = [MAGIC, &[1, 0], &(space as u16).to_le_bytes()].concat();
    bytes.extend(format!("{text:<width$}\n", width = space - 1).into_bytes());
    assert_eq!(bytes.len(), WRITTEN, "two axes of 20 digits leave space in the header");
    bytes
}

/// The text of the header, and the offset of the first value.
fn header_text(source: &mut impl Read, present: u64) -> Result<(Vec<u8>, usize), NpyFault> {
    let mut take = |count: u64| -> Result<Vec<u8>, NpyFault> {
        let mut bytes = vec![];
        source.by_ref().take(count).read_to_end(&mut bytes).map_err(|source| ArrayFault::Read { source })?;
        Ok(bytes)
    };
    let cut = |needed: u64, found: u64| NpyFault::HeaderCut { needed, found };
    let start = take(8)?;
    if !start.starts_with(MAGIC) {
        return Err(NpyFault::Magic { found: hexadecimal(&start) });
    }
    let (width, found) = match start[6..] {
        [1, 0] => (2, 10),
        [2 | 3, 0] => (4, 12),
        [major, minor] => return Err(NpyFault::Version { major, minor }),
        _ => return Err(cut(8, start.len() as u64)),
    };
    let mut length = take(width)?;
    if length.len() as u64 != width {
        return Err(cut(found, 8 + length.len() as u64));
    }
    length.resize(8, 0);
    let length = u64::from_le_bytes(length.try_into().expect("resized to eight bytes"));
    if length > LONGEST {
        return Err(NpyFault::HeaderLength { found: length, most: LONGEST });
    }
    let needed = found + length;
    if needed > present {
        return Err(cut(needed, present));
    }
    let text = take(length)?;
    match text.len() as u64 == length {
        true => Ok((text, needed as usize)),
        false => Err(cut(needed, found + text.len() as u64)),
    }
}

/// Reads the dictionary; `offset` is where `text` begins in the array.
fn parse(text: &[u8], offset: usize) -> Result<Header, NpyFault> {
    let mut cursor = Cursor { text, at: 0, offset };
    let (mut descr, mut order, mut shape) = (None, None, None);
    cursor.take(b'{', "`{`")?;
    while !cursor.next_is(b'}') {
        let at = offset + cursor.at;
        let key = cursor.quoted("a key in quotes")?;
        cursor.take(b':', "`:`")?;
        match key.as_str() {
            "descr" if descr.is_none() => descr = Some(cursor.descr()?),
            "fortran_order" if order.is_none() => order = Some(cursor.order()?),
            "shape" if shape.is_none() => shape = Some(cursor.shape()?),
            _ => return Err(NpyFault::KeyUnexpected { at, key }),
        }
        if !cursor.next_is(b'}') {
            cursor.take(b',', "`,` or `}`")?;
        }
    }
    cursor.take(b'}', "`}`")?;
    cursor.end()?;
    let missing = |key| NpyFault::KeyMissing { key };
    let descr = descr.ok_or(missing("descr"))?;
    let order = order.ok_or(missing("fortran_order"))?;
    let shape = shape.ok_or(missing("shape"))?;
    let encoding = encoding(&descr)?;
    let data = shape.iter().try_fold(encoding.item.bytes() as u64, |product, &axis| product.checked_mul(axis as u64));
    let total = data.and_then(|data| data.checked_add((offset + text.len()) as u64));
    match (data, total) {
        // Reading counts bytes in `usize` as well.
        (Some(data), Some(total)) if usize::try_from(total).is_ok() => {
            Ok(Header { encoding, descr, order, shape, total, data })
        }
        _ => Err(NpyFault::Overflow { shape, descr }),
    }
}

/// A place in the text of a header.
struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    offset: usize,
}

impl Cursor<'_> {
    fn skip_spaces(&mut self) {
        self.at += self.text[self.at..].iter().take_while(|b| b.is_ascii_whitespace()).count();
    }

    fn next_is(&mut self, byte: u8) -> bool {
        self.skip_spaces();
        self.text.get(self.at) == Some(&byte)
    }

    fn unexpected(&self, expected: &'static str) -> NpyFault {
        let rest = &self.text[self.at..];
        let found = match rest {
            [] => "the end of the header".to_string(),
            _ => format!("`{}`", readable(&rest[..rest.len().min(12)])),
        };
        NpyFault::HeaderText { at: self.offset + self.at, expected, found }
    }

    fn take(&mut self, byte: u8, expected: &'static str) -> Result<(), NpyFault> {
        if !self.next_is(byte) {
            return Err(self.unexpected(expected));
        }
        self.at += 1;
        Ok(())
    }

    fn quoted(&mut self, expected: &'static str) -> Result<String, NpyFault> {
        self.skip_spaces();
        let rest = &self.text[self.at..];
        let inside = match rest {
            [quote @ (b'\'' | b'"'), after @ ..] => after.iter().position(|b| b == quote).map(|end| &after[..end]),
            _ => None,
        };
        let inside = inside.ok_or_else(|| self.unexpected(expected))?;
        self.at += inside.len() + 2;
        Ok(readable(inside))
    }

    fn descr(&mut self) -> Result<String, NpyFault> {
        if self.next_is(b'[') || self.next_is(b'(') {
            let rest = &self.text[self.at..];
            let descr = readable(&rest[..rest.len().min(12)]) + "…";
            return Err(NpyFault::ItemType { descr, kind: "structured records" });
        }
        self.quoted("a type in quotes")
    }

    fn order(&mut self) -> Result<Order, NpyFault> {
        self.skip_spaces();
        for (word, order) in [("True", Order::Fortran), ("False", Order::C)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(order);
            }
        }
        Err(self.unexpected("True or False"))
    }

    fn shape(&mut self) -> Result<Vec<usize>, NpyFault> {
        let mut shape = vec![];
        self.take(b'(', "`(`")?;
        while !self.next_is(b')') {
            shape.push(self.length()?);
            // Python writes `(3,)`: without the comma the parentheses would mean nothing.
            if !self.next_is(b')') || shape.len() == 1 {
                self.take(b',', "`,` after a length")?;
            }
        }
        self.take(b')', "`)`")?;
        Ok(shape)
    }

    fn length(&mut self) -> Result<usize, NpyFault> {
        const EXPECTED: &str = "a length below 2^64 in digits";
        let digits = self.text[self.at..].iter().take_while(|b| b.is_ascii_digit()).count();
        let text = std::str::from_utf8(&self.text[self.at..][..digits]).expect("digits are ASCII");
        let length = text.parse().map_err(|_| self.unexpected(EXPECTED))?;
        self.at += digits;
        Ok(length)
    }

    fn end(&mut self) -> Result<(), NpyFault> {
        self.skip_spaces();
        match self.at == self.text.len() {
            true => Ok(()),
            false => Err(self.unexpected("nothing but spaces after `}`")),
        }
    }
}

/// Bytes of a header for a message: what is not plain text as hexadecimal.
fn readable(bytes: &[u8]) -> String {
    let one = |&byte: &u8| match byte {
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    bytes.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Result<Header, NpyFault> {
        parse(text.as_bytes(), 10)
    }

    #[test]
    fn keys_come_in_any_order_and_quotes() {
        let a = header("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }    \n").unwrap();
        let b = header("{\"shape\":(3,4),\"descr\":\"<f8\",'fortran_order':False}").unwrap();
        assert_eq!((a.encoding.item, a.order, &a.shape), (Item::F8, Order::C, &vec![3, 4]));
        assert_eq!((b.encoding.item, b.order, &b.shape), (Item::F8, Order::C, &vec![3, 4]));
        assert_eq!(a.total, 10 + 64 + 96);
    }

    #[test]
    fn a_written_header_reads_back_and_is_what_numpy_writes() {
        let bytes = written("<f4", 3, usize::MAX / 64);
        assert_eq!(bytes.len(), WRITTEN);
        let text = &bytes[10..];
        assert_eq!(parse(text, 10).unwrap().shape, [3, usize::MAX / 64]);
        // np.save of np.zeros((3, 2)), NumPy 2.4
        let numpy = [
            b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }".as_slice(),
            &[b' '; 58],
            b"\n",
        ]
        .concat();
        assert_eq!(written("<f8", 3, 2), numpy);
    }

    #[test]
    fn grey_images_are_samples_and_colour_is_refused() {
        let layout = |shape: &str| {
            header(&format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}}}")).unwrap().layout()
        };
        let image = Some(ImageShape { height: 2, width: 3 });
        assert_eq!(layout("(5, 2, 3)").unwrap(), Layout { rows: 5, cols: 6, image });
        assert_eq!(layout("(5, 2, 3, 1)").unwrap(), Layout { rows: 5, cols: 6, image });
        assert!(matches!(layout("(5, 2, 3, 3)"), Err(NpyFault::Axes { .. })));
        assert!(matches!(layout("()"), Err(NpyFault::Axes { .. })));
        assert!(matches!(layout("(5,)"), Err(NpyFault::OneAxis { len: 5 })));
        assert!(matches!(layout("(5, 0)"), Err(NpyFault::NoValues { .. })));
    }
}
