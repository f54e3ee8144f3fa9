//! Builds whole files: NPY arrays, NPZ archives, IDX arrays, and what gzip makes of them.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
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

/// An IDX array.
#[allow(dead_code, reason = "not every test file needs all of the builders")]
pub fn idx(kind: u8, shape: &[u32], values: &[u8]) -> Vec<u8> {
    let lengths = bytes(shape.iter().map(|axis| axis.to_be_bytes()));
    [&[0, 0, kind, shape.len() as u8], &lengths[..], values].concat()
}

/// Packed by gzip.
#[allow(dead_code, reason = "not every test file needs all of the builders")]
pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(vec![], Compression::default());
    packed.write_all(content).expect("memory takes all bytes");
    packed.finish().expect("memory takes all bytes")
}
