//! The malformed files of `attacks/`, chunk by chunk: refused in the words in which they are refused when read
//! whole.

use std::path::{Path, PathBuf};

use eigenspan_io::{ReadOptions, open_samples, read};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

/// All values, three rows at a time.
fn in_chunks(path: &Path) -> Result<Vec<f64>, String> {
    let mut rows = open_samples(path, &ReadOptions::default()).map_err(|error| error.to_string())?;
    let mut values = vec![];
    while let Some(block) = rows.source.next_block(3).map_err(|error| error.to_string())? {
        values.extend(block.into_f64().into_vec());
    }
    Ok(values)
}

#[test]
fn every_attack_is_refused_in_portions_as_it_is_at_once() {
    let (mut all, mut refused) = (vec![], 0);
    // The formats that are read chunk by chunk.
    for format in ["csv", "gzip", "idx", "npy", "parquet", "text"] {
        files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../attacks/files").join(format), &mut all);
    }
    all.sort();
    for path in all {
        let whole = read(&path, &ReadOptions::default()).map(|data| data.samples.into_f64().into_vec());
        let whole = whole.map_err(|error| error.to_string());
        // The classes beside a file of images are looked at where they are requested.
        let of_another_file = |said: &String| !said.contains(&path.display().to_string());
        if whole.as_ref().is_err_and(of_another_file) {
            continue;
        }
        let chunks = in_chunks(&path);
        // A table whose zeros lie behind its first rows is refused by the row that they are in, before it is found to
        // be no text.
        match path.ends_with("table-then-zeros-of-10-mb.csv.gz") {
            true => assert!(chunks.is_err() && whole.is_err()),
            false => assert_eq!(chunks, whole, "{}", path.display()),
        }
        refused += usize::from(whole.is_err());
    }
    assert!(refused > 200, "{refused} of the attacks are refused by the readers of samples");
}
