//! Finished cells of an experiment, one line each: lines that are not ours are passed over.
#![no_main]

use std::fs;

use eigenspan_fuzz::folder;
use eigenspan_study::cache::Cache;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let path = folder().join("cells.jsonl");
    fs::write(&path, bytes).expect("space for cells");
    let cells = Cache::open(&path).expect("any file is a cache, if only of nothing").len();
    // The first opening cuts off a line without an end, and nothing else.
    assert_eq!(Cache::open(&path).expect("the same file").len(), cells, "cells were lost");
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
    assert!(cells <= lines, "more cells than lines");
});
