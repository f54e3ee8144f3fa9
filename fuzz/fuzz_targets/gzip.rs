//! Files of any format packed by gzip: what is not packed yet is packed here, for its checksum is not to be guessed.
#![no_main]

use eigenspan_fuzz::check;
use flate2::Crc;
use libfuzzer_sys::{Corpus, fuzz_target};

/// The longest block of bytes that are stored as they are.
const LONGEST: usize = 0xffff;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    match bytes {
        [0x1f, 0x8b, ..] => check(bytes),
        _ if bytes.len() > LONGEST => return Corpus::Reject,
        _ => check(&packed(bytes)),
    }
    Corpus::Keep
});

/// Header, one stored block, checksum and length: what a packer would write, in a fraction of its time.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len() as u16;
    let mut crc = Crc::new();
    crc.update(bytes);
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let block = [&[1][..], &length.to_le_bytes(), &(!length).to_le_bytes(), bytes].concat();
    [&header[..], &block, &crc.sum().to_le_bytes(), &u32::from(length).to_le_bytes()].concat()
}
