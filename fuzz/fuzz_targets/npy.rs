//! NPY arrays: as samples, as samples block by block, and as row numbers.
#![no_main]

use std::fs;

use eigenspan_fuzz::{check, check_in_blocks, folder};
use eigenspan_io::read_row_numbers;
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    if !bytes.starts_with(b"\x93NUMPY") {
        return Corpus::Reject;
    }
    check(bytes);
    let path = folder().join("array.npy");
    fs::write(&path, bytes).expect("space for an array");
    check_in_blocks(&path, bytes);
    let _ = read_row_numbers(&path);
    Corpus::Keep
});
