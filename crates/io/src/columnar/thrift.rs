//! Thrift's compact protocol, in which Parquet writes its footer and its page headers: as much of it as is needed to
//! look at a few fields before the library reads them all.
//!
//! A struct is a sequence of fields that ends in a zero byte. A field begins with a byte: the low half is the type, the
//! high half how much the field's number grew since the last one (0: the number follows). Integers are zigzag varints.

/// Structs and lists within each other beyond this depth are not followed. Parquet itself needs 6.
const DEEPEST: usize = 32;

const BYTE: u8 = 3;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;
const UUID: u8 = 13;

/// Bytes that are read from the first to the last. `None` wherever they end too early, or make no sense.
pub(super) struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Thrift<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes read so far.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn pass(&mut self, count: u64) -> Option<()> {
        let left = (self.bytes.len() - self.at) as u64;
        self.at += usize::try_from(count).ok().filter(|_| count <= left)?;
        Some(())
    }

    /// Seven bits a byte, the lowest first; all bytes but the last have the highest bit.
    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// An integer of any width.
    pub(super) fn integer(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Reads a struct: `field` is called with the number and the type of every field, and says whether it has read it.
    pub(super) fn fields(&mut self, mut field: impl FnMut(&mut Self, i64, u8) -> Option<bool>) -> Option<()> {
        let mut number = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            let kind = head & 0x0f;
            number = match head >> 4 {
                0 => self.integer()?,
                step => number + i64::from(step),
            };
            if !field(self, number, kind)? {
                self.skip(kind, 0)?;
            }
        }
    }

    /// The type of the items of a list, and their number: no more than there are bytes.
    pub(super) fn list(&mut self) -> Option<(u8, u64)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => count.into(),
        };
        (count <= (self.bytes.len() - self.at) as u64).then_some((head & 0x0f, count))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match kind {
            // Bools: the type is the value.
            1 | 2 => Some(()),
            BYTE => self.pass(1),
            4..=6 => self.varint().map(|_| ()),
            DOUBLE => self.pass(8),
            BINARY => {
                let length = self.varint()?;
                self.pass(length)
            }
            LIST | SET => {
                let (kind, count) = self.list()?;
                (0..count).try_for_each(|_| self.skip_item(kind, depth + 1))
            }
            MAP => {
                let count = self.varint()?;
                let kinds = if count == 0 { 0 } else { self.byte()? };
                (0..count).try_for_each(|_| {
                    self.skip_item(kinds >> 4, depth + 1)?;
                    self.skip_item(kinds & 0x0f, depth + 1)
                })
            }
            STRUCT => loop {
                let head = self.byte()?;
                if head == 0 {
                    return Some(());
                }
                if head >> 4 == 0 {
                    self.integer()?;
                }
                self.skip(head & 0x0f, depth + 1)?;
            },
            UUID => self.pass(16),
            _ => None,
        }
    }

    /// In a list or a map a bool is a byte.
    fn skip_item(&mut self, kind: u8, depth: usize) -> Option<()> {
        if matches!(kind, 1 | 2) { self.pass(1) } else { self.skip(kind, depth) }
    }
}

/// What is looked at in a footer before the library reads it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Footer {
    /// How deep columns lie within columns.
    pub depth: usize,
    pub encrypted: bool,
}

impl Footer {
    /// Reads the struct `FileMetaData`: the schema is field 2, the algorithm of encryption field 8. An element of the
    /// schema says in field 5 how many of those that follow lie within it.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut footer = Self { depth: 0, encrypted: false };
        Thrift::new(bytes).fields(|thrift, number, kind| match (number, kind) {
            (2, LIST) => {
                let (STRUCT, count) = thrift.list()? else { return None };
                // How many elements are still to come at every level.
                let mut open: Vec<i64> = vec![];
                for _ in 0..count {
                    let mut children = 0;
                    thrift.fields(|thrift, number, kind| match (number, kind) {
                        (5, 5) => thrift.integer().map(|found| children = found).map(|()| true),
                        _ => Some(false),
                    })?;
                    open.last_mut().into_iter().for_each(|left| *left -= 1);
                    if children > 0 {
                        open.push(children);
                        footer.depth = footer.depth.max(open.len());
                    }
                    while open.last() == Some(&0) {
                        open.pop();
                    }
                }
                Some(true)
            }
            (8, STRUCT) => {
                footer.encrypted = true;
                Some(false)
            }
            _ => Some(false),
        })?;
        Some(footer)
    }
}

/// What a page says of itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PageHeader {
    /// 0: data, 1: index, 2: dictionary, 3: data of version 2.
    pub kind: i64,
    pub unpacked: i64,
    pub packed: i64,
    pub values: i64,
    pub encoding: i64,
    /// Bytes in front of the values that are never packed, in version 2.
    pub levels: i64,
    /// In version 2, a page may be left unpacked.
    pub is_packed: bool,
    /// Bytes of the header.
    pub length: usize,
}

impl PageHeader {
    /// Reads the struct `PageHeader`: type, sizes, and in fields 5, 7 and 8 what data, dictionary and data of version 2
    /// have of their own.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut page = Self { kind: -1, unpacked: -1, packed: -1, values: -1, is_packed: true, ..Self::default() };
        let mut thrift = Thrift::new(bytes);
        thrift.fields(|thrift, number, kind| {
            let own = match (number, kind) {
                (1, 5) => &mut page.kind,
                (2, 5) => &mut page.unpacked,
                (3, 5) => &mut page.packed,
                (5 | 7 | 8, STRUCT) => {
                    let version_2 = number == 8;
                    thrift.fields(|thrift, number, kind| {
                        let own = match (number, kind) {
                            (1, 5) => &mut page.values,
                            (2, 5) if !version_2 => &mut page.encoding,
                            (4, 5) if version_2 => &mut page.encoding,
                            (5 | 6, 5) if version_2 => {
                                let bytes = thrift.integer().filter(|bytes| i32::try_from(*bytes).is_ok())?;
                                page.levels += bytes;
                                return (bytes >= 0).then_some(true);
                            }
                            (7, 1 | 2) if version_2 => {
                                page.is_packed = kind == 1;
                                return Some(true);
                            }
                            _ => return Some(false),
                        };
                        *own = thrift.integer()?;
                        Some(true)
                    })?;
                    return Some(true);
                }
                _ => return Some(false),
            };
            *own = thrift.integer()?;
            Some(true)
        })?;
        page.length = thrift.position();
        Some(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_header_is_read_and_what_is_not_needed_is_passed_over() {
        // Type 0, 100 and 50 bytes, a checksum, a data page header: 7 values, plain, levels, statistics with text.
        let bytes = [
            0x15, 0x00, 0x15, 200, 1, 0x15, 100, 0x15, 3, 0x1c, 0x15, 14, 0x15, 0, 0x15, 6, 0x15, 6, 0x1c, 0x18, 2, 9,
            9, 0, 0, 0, 77,
        ];
        let page = PageHeader::read(&bytes).unwrap();
        assert_eq!((page.kind, page.unpacked, page.packed, page.values), (0, 100, 50, 7));
        assert_eq!(page.length, bytes.len() - 1);
        assert!((0..page.length).all(|end| PageHeader::read(&bytes[..end]).is_none()));
    }

    #[test]
    fn a_footer_tells_how_deep_its_schema_is() {
        // Elements of the schema with so many children: 2, of which the first has 1.
        let schema = [0x29, 0x4c, 0x55, 4, 0, 0x55, 2, 0, 0, 0, 0];
        assert_eq!(Footer::read(&schema), Some(Footer { depth: 2, encrypted: false }));
        assert_eq!(Footer::read(&[0x8c, 0, 0]), Some(Footer { depth: 0, encrypted: true }));
        assert_eq!(Footer::read(&[0x29, 0xfc, 0xff, 0xff, 0x03, 0]), None, "a list longer than the bytes");
        assert_eq!(Footer::read(&[0x1c; 100]), None, "structs within structs");
    }
}
