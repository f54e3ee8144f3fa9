//! NPY arrays: as samples, as samples block by block, and as row numbers.
#![no_main]

use std::fs;
use std::path::Path;

use eigenspan_core::data::{Matrix, StreamError};
use eigenspan_fuzz::{check, folder};
use eigenspan_io::{ReadOptions, open, read_bytes, read_row_numbers};
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    if !bytes.starts_with(b"\x93NUMPY") {
        return Corpus::Reject;
    }
    check(bytes);
    let path = folder().join("array.npy");
    fs::write(&path, bytes).expect("room for an array");
    let whole = read_bytes("data", bytes, &ReadOptions::default());
    match (in_blocks(&path), whole) {
        (Ok(blocks), Ok(whole)) => assert!(rows(&blocks) == rows(&[whole.samples]), "blocks and whole differ"),
        (blocks, whole) => assert_eq!(blocks.is_ok(), whole.is_ok(), "blocks and whole disagree"),
    }
    let _ = read_row_numbers(&path);
    Corpus::Keep
});

fn in_blocks(path: &Path) -> Result<Vec<Matrix>, StreamError> {
    let mut source = open(path, &ReadOptions::default())?.source;
    let mut blocks = vec![];
    while let Some(block) = source.next_block(3)? {
        blocks.push(block);
    }
    Ok(blocks)
}

/// All rows, as bits.
fn rows(blocks: &[Matrix]) -> Vec<Vec<u64>> {
    let row = |block: &Matrix, i: usize| {
        let mut values = vec![0.0; block.cols()];
        block.view().read_row(i, 0..block.cols(), &mut values);
        values.into_iter().map(f64::to_bits).collect()
    };
    blocks.iter().flat_map(|block| (0..block.rows()).map(move |i| row(block, i))).collect()
}
