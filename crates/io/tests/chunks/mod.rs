//! A file read chunk by chunk: the rows, the names and the refusals of the file read whole.

use std::io::{Seek as _, Write as _};

use eigenspan_core::data::{Dataset, Matrix};
use eigenspan_io::{ReadOptions, Rows, open, open_samples};

/// A file of these bytes; what is done with its path.
fn in_file<T>(bytes: &[u8], f: impl FnOnce(&std::path::Path) -> T) -> T {
    thread_local! {
        // One for every thread of the tests: thousands of damaged files are written.
        static FILE: std::cell::RefCell<tempfile::NamedTempFile> = tempfile::NamedTempFile::new().unwrap().into();
    }
    FILE.with_borrow_mut(|file| {
        file.as_file().set_len(0).unwrap();
        file.rewind().unwrap();
        file.write_all(bytes).unwrap();
        f(file.path())
    })
}

/// All rows from where the source is, in blocks.
fn rest(rows: &mut Rows, at_most: usize) -> Result<Vec<Matrix>, String> {
    let mut blocks = vec![];
    while let Some(block) = rows.source.next_block(at_most).map_err(|error| error.to_string())? {
        assert!(block.rows() <= at_most && block.cols() == rows.source.cols());
        let is_full = |block: &Matrix| block.rows() == at_most;
        assert!(blocks.last().is_none_or(is_full), "only the last block may be short");
        blocks.push(block);
    }
    Ok(blocks)
}

fn values(blocks: &[Matrix]) -> (Option<String>, Vec<f64>) {
    let kind = blocks.first().map(|block| format!("{:?}", block.view().number_type()));
    (kind, blocks.iter().flat_map(|block| block.view().to_f64().into_vec()).collect())
}

/// Reads bytes in chunks, by a path that a message calls `data`.
fn chunks(bytes: &[u8], at_most: usize) -> Result<(Rows, Vec<Matrix>), String> {
    in_file(bytes, |path| {
        let called = |words: String| words.replace(&path.display().to_string(), "data");
        let mut rows = open(path, &ReadOptions::default()).map_err(|error| called(error.to_string()))?;
        assert!(rows.streams, "read chunk by chunk");
        let blocks = rest(&mut rows, at_most).map_err(called)?;
        Ok((rows, blocks))
    })
}

/// The same data in chunks: rows, type, names and ids, and what is left after rows were left out.
pub fn give(bytes: &[u8], whole: &Dataset) {
    let n = whole.samples.rows();
    let all = (Some(format!("{:?}", whole.samples.view().number_type())), whole.samples.view().to_f64().into_vec());
    for at_most in [1, 2, 3, 7, n + 1] {
        let (rows, blocks) = chunks(bytes, at_most).unwrap();
        assert_eq!(values(&blocks), all, "{at_most} rows at a time");
        assert_eq!((&rows.ids, &rows.feature_names), (&whole.ids, &whole.feature_names));
        assert!(rows.source.rows().is_none_or(|rows| rows == n));
    }
    for skipped in 0..(n + 2).min(12) {
        in_file(bytes, |path| {
            let mut rows = open_samples(path, &ReadOptions::default()).unwrap();
            let first = rows.source.next_block(skipped / 3 + 1).unwrap().unwrap().rows();
            let left = n - first;
            assert_eq!(rows.source.skip(skipped).unwrap(), skipped.min(left));
            let from = (first + skipped).min(n) * whole.samples.cols();
            assert_eq!(values(&rest(&mut rows, 2).unwrap()).1, all.1[from..], "after {skipped} rows");
        });
    }
}

/// How the bytes are refused in chunks.
pub fn refusal(bytes: &[u8], at_most: usize) -> Option<String> {
    chunks(bytes, at_most).err()
}
