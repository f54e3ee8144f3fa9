//! Builds NPY arrays and NPZ archives, whole or broken on purpose.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// An NPY array of version 1.0 with this header text and these values.
pub fn npy(header: &str, values: &[u8]) -> Vec<u8> {
    let length = u16::try_from(header.len()).expect("a short header");
    [b"\x93NUMPY\x01\x00", &length.to_le_bytes()[..], header.as_bytes(), values].concat()
}

/// An NPY array in C order.
pub fn array(descr: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    npy(&format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"), values)
}

/// The bytes of numbers, one after the other.
pub fn bytes<const N: usize>(values: impl IntoIterator<Item = [u8; N]>) -> Vec<u8> {
    values.into_iter().flatten().collect()
}

/// An NPZ archive, stored or deflated.
pub fn npz(method: CompressionMethod, entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(vec![]));
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).expect("an entry");
        zip.write_all(content).expect("memory takes all bytes");
    }
    zip.finish().expect("an archive").into_inner()
}

/// An NPZ archive whose entries are not compressed, so that bytes in it can be found and changed.
#[allow(dead_code, reason = "not every test file needs all of the builders")]
pub fn stored(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    npz(CompressionMethod::Stored, entries)
}

/// Replaces the `occurrence`-th `from` by `to`, of the same length.
#[allow(dead_code, reason = "not every test file needs all of the builders")]
pub fn patched(mut bytes: Vec<u8>, occurrence: usize, from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let at = bytes.windows(from.len()).enumerate().filter(|(_, w)| *w == from).map(|(at, _)| at).nth(occurrence);
    let at = at.expect("the bytes to change are there");
    bytes[at..at + to.len()].copy_from_slice(to);
    bytes
}
