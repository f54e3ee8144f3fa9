//! The pages of a Parquet column, and how far bytes can be unpacked.
//!
//! The library takes as much memory as a page says that it unpacks to. So every page is looked at first: it must lie
//! in its chunk, and not claim more than its packed bytes can become.

use parquet::basic::{Compression, Type};
use parquet::file::metadata::ColumnChunkMetaData;

use super::ColumnarFault;
use super::thrift::{PageHeader, Thrift};

/// The unit that Zstandard packs by: at most so many bytes come of one block.
const ZSTD_BLOCK: u128 = 128 << 10;

/// The most bytes that a Zstandard frame can become: a block of 4 bytes may say "128 KiB of this byte".
pub(super) fn zstd_bound(packed: u64) -> u128 {
    (u128::from(packed) / 4 + 1) * ZSTD_BLOCK
}

/// The most bytes that LZ4 can become: a byte lengthens a match by up to 255.
pub(super) fn lz4_bound(packed: u64) -> u128 {
    256 * (u128::from(packed) + 1)
}

/// The most bytes that a page can become; `None` for what is not read.
fn bound(codec: Compression, packed: u64) -> Option<u128> {
    let bytes = u128::from(packed);
    Some(match codec {
        Compression::UNCOMPRESSED => bytes,
        // Three bytes repeat up to 64.
        Compression::SNAPPY => 22 * (bytes + 1),
        // Two bits repeat up to 258.
        Compression::GZIP(_) => 1032 * (bytes + 1),
        Compression::LZ4 | Compression::LZ4_RAW => lz4_bound(packed),
        Compression::ZSTD(_) => zstd_bound(packed),
        _ => return None,
    })
}

/// Fewest bytes of one value in a dictionary.
fn value_bytes(chunk: &ColumnChunkMetaData) -> u128 {
    match chunk.column_type() {
        Type::BOOLEAN => 0,
        Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
        Type::INT64 | Type::DOUBLE => 8,
        Type::INT96 => 12,
        Type::FIXED_LEN_BYTE_ARRAY => chunk.column_descr().type_length().max(1) as u128,
    }
}

/// Where a chunk lies in a file of `length` bytes: its first byte, and how many it has. Refuses what is packed in a way
/// that is not read.
pub(super) fn place(chunk: &ColumnChunkMetaData, column: &str, length: u64) -> Result<(u64, usize), ColumnarFault> {
    let codec = chunk.compression();
    if bound(codec, 0).is_none() {
        let codec = match codec {
            Compression::BROTLI(_) => "Brotli",
            Compression::LZO => "LZO",
            _ => "an unknown method",
        };
        return Err(ColumnarFault::Codec { column: column.to_string(), codec });
    }
    let (start, bytes) = (chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset()), chunk.compressed_size());
    let range = u64::try_from(start).ok().zip(u64::try_from(bytes).ok());
    let range = range.filter(|(start, bytes)| start.checked_add(*bytes).is_some_and(|end| end <= length));
    range.and_then(|(start, bytes)| Some((start, usize::try_from(bytes).ok()?))).ok_or_else(|| {
        damaged(format!("column `{column}` at byte {start}, {bytes} bytes long, in a file of {length} bytes"))
    })
}

fn damaged(problem: String) -> ColumnarFault {
    ColumnarFault::Damaged { format: "Parquet", problem }
}

/// What the pages of a chunk claim to become.
pub(super) struct Unpacked {
    pub largest: u128,
    pub all: u128,
}

impl Unpacked {
    /// The most that is held at a time: a dictionary, a page, and the one before it.
    pub(super) fn held(&self) -> u128 {
        self.all.min(3 * self.largest)
    }
}

/// Looks at all pages of a chunk: `bytes` are those of its [`place`], of which the first is at `start` in the file.
pub(super) fn check(
    bytes: &[u8],
    start: u64,
    chunk: &ColumnChunkMetaData,
    column: &str,
) -> Result<Unpacked, ColumnarFault> {
    let codec = chunk.compression();
    let (mut at, mut values, mut found) = (0, 0u128, Unpacked { largest: 0, all: 0 });
    while values < chunk.num_values() as u128 {
        let place = start + at as u64;
        let bad_header = || damaged(format!("no page at byte {place}, where column `{column}` should have one"));
        let page = PageHeader::read(&bytes[at..]).ok_or_else(bad_header)?;
        at += page.length;
        let body = usize::try_from(page.packed).ok().and_then(|packed| bytes.get(at..at.checked_add(packed)?));
        let body = body.ok_or_else(|| {
            damaged(format!(
                "a page of {} bytes at byte {place}, where column `{column}` has {} left",
                page.packed,
                bytes.len() - at
            ))
        })?;
        at += body.len();
        let unpacked = size(&page, codec, body).map_err(|claim| {
            damaged(format!("a page of {} bytes at byte {place} (column `{column}`) that {claim}", body.len()))
        })?;
        found = Unpacked { largest: found.largest.max(unpacked), all: found.all + unpacked };
        let count = u128::try_from(page.values).map_err(|_| bad_header())?;
        match page.kind {
            0 | 3 => values += count,
            2 if count * value_bytes(chunk) <= unpacked => {}
            _ => return Err(bad_header()),
        }
        if let encoding @ 6..=7 = page.encoding {
            // The library takes memory for as many lengths as these say they have.
            let encoding = if encoding == 6 { "DELTA_LENGTH_BYTE_ARRAY" } else { "DELTA_BYTE_ARRAY" };
            return Err(ColumnarFault::Encoding { column: column.to_string(), encoding });
        }
    }
    match values == chunk.num_values() as u128 {
        true => Ok(found),
        false => Err(damaged(format!("{values} values in column `{column}` that should have {}", chunk.num_values()))),
    }
}

/// The bytes that a page becomes; in words what it claims if it cannot become that.
fn size(page: &PageHeader, codec: Compression, body: &[u8]) -> Result<u128, String> {
    let claim = |bytes: i64| format!("claims to unpack to {bytes}");
    let unpacked = u128::try_from(page.unpacked).map_err(|_| claim(page.unpacked))?;
    let levels = usize::try_from(page.levels).ok().filter(|&levels| levels <= body.len() && levels as u128 <= unpacked);
    let levels = levels.ok_or_else(|| format!("claims {} bytes of levels", page.levels))?;
    let packed = &body[levels..];
    let rest = unpacked - levels as u128;
    if codec == Compression::UNCOMPRESSED || !page.is_packed {
        return Ok(body.len() as u128);
    }
    if bound(codec, packed.len() as u64).is_none_or(|most| rest > most) {
        return Err(claim(page.unpacked));
    }
    if codec == Compression::SNAPPY && rest > 0 {
        // Its own first bytes say what it becomes.
        let said = Thrift::new(packed).varint();
        if said.map(u128::from) != Some(rest) {
            let said = said.map_or("nothing".to_string(), |said| said.to_string());
            return Err(format!("claims to unpack to {rest}, while its own first bytes say {said}"));
        }
    }
    Ok(unpacked)
}
