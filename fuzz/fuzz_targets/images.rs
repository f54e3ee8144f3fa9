//! One image in a folder.
#![no_main]

use std::fs;

use eigenspan_fuzz::{check_answer, folder, pass_contained_panics};
use eigenspan_io::{ReadOptions, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    pass_contained_panics();
    fs::write(folder().join("image"), bytes).expect("space for an image");
    check_answer(read(folder(), &ReadOptions::default()));
    check_answer(read(folder(), &ReadOptions { grey: true, ..ReadOptions::default() }));
});
