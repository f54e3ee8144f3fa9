//! Arrow tables: files, and streams; at once, and batch by batch.
#![no_main]

use std::fs;

use eigenspan_fuzz::{check, check_in_blocks, folder};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    if !(bytes.starts_with(b"ARROW1") || bytes.starts_with(&[0xff; 4])) {
        return Corpus::Reject;
    }
    check(bytes);
    let path = folder().join("table");
    fs::write(&path, bytes).expect("space for a table");
    check_in_blocks(&path, bytes);
    Corpus::Keep
});
