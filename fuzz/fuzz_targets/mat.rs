//! MATLAB files of version 5, in both byte orders.
#![no_main]

use eigenspan_fuzz::check_if;
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let version = bytes.get(124..128);
    check_if(bytes.starts_with(b"MATLAB") || matches!(version, Some(b"\x00\x01IM" | b"\x01\x00MI")), bytes)
});
