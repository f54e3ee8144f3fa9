//! What must hold whatever the bytes: a reader answers with an error, or with data that fit together.
//!
//! Every target says by which sign it knows its format, and rejects the rest, so that each keeps a corpus of its own.

use std::fs;
use std::panic;
use std::path::PathBuf;
use std::sync::{LazyLock, Once};

use eigenspan_core::data::{Dataset, ImageShape, Matrix};
use eigenspan_io::{ReadError, ReadOptions, read_bytes};
use libfuzzer_sys::Corpus;
use sha2::{Digest, Sha256};

/// Reads the bytes of a file where `is_format` says that they are of the target's format.
pub fn check_if(is_format: bool, bytes: &[u8]) -> Corpus {
    if !is_format {
        return Corpus::Reject;
    }
    check(bytes);
    Corpus::Keep
}

/// Reads the bytes of a file of any format.
pub fn check(bytes: &[u8]) {
    check_with(bytes, &ReadOptions::default());
}

/// Reads the bytes of a file, and holds the answer to its promises.
pub fn check_with(bytes: &[u8], options: &ReadOptions) {
    pass_contained_panics();
    check_answer(read_bytes("data", bytes, options));
}

/// Panics that a reader turns into an error are no findings: the hook of libFuzzer, which ends the process, does not
/// hear of them.
pub fn pass_contained_panics() {
    static WRAP: Once = Once::new();
    WRAP.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !eigenspan_io::panic_is_contained() {
                hook(info);
            }
        }));
    });
}

/// An error is put into words, data fit together.
pub fn check_answer(answer: Result<Dataset, ReadError>) {
    match answer {
        Ok(data) => fits(&data),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert!(error.hint().is_none_or(|hint| !hint.is_empty()));
        }
    }
}

fn fits(data: &Dataset) {
    let (n, m) = (data.samples.rows(), data.samples.cols());
    assert!(n > 0 && m > 0, "{n} × {m}");
    assert!(all_finite(&data.samples), "NaN or infinity");
    if let Some(labels) = &data.labels {
        assert_eq!(labels.of.len(), n, "a class for every sample");
        assert!(labels.of.iter().all(|&class| class < labels.names.len()), "a name for every class");
    }
    if let Some(ids) = &data.ids {
        assert_eq!(ids.len(), n, "a name for every sample");
    }
    if let Some(names) = &data.feature_names {
        assert_eq!(names.len(), m, "a name for every feature");
    }
    if let Some(ImageShape { height, width }) = data.image {
        assert_eq!(height.checked_mul(width), Some(m), "a pixel for every feature");
    }
}

fn all_finite(samples: &Matrix) -> bool {
    match samples {
        Matrix::U8(_) => true,
        // A row of a sparse matrix may be far wider than the file.
        Matrix::Csr(sparse) => (0..sparse.rows()).all(|i| sparse.row(i).1.iter().all(|value| value.is_finite())),
        Matrix::F64(_) | Matrix::F32(_) => {
            let (view, mut row) = (samples.view(), vec![0.0; samples.cols()]);
            (0..samples.rows()).all(|i| {
                view.read_row(i, 0..samples.cols(), &mut row);
                row.iter().all(|value| value.is_finite())
            })
        }
    }
}

/// A folder of this process alone, for readers that want files. `fuzz/run` clears it away.
pub fn folder() -> &'static PathBuf {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = std::env::temp_dir().join(format!("eigenspan-fuzz-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for temporary files");
        folder
    });
    &FOLDER
}

/// Makes the checksum of a sealed file correct: the 64 digits after the first `checksum` in the header. `None` where
/// there is none.
pub fn set_checksum(bytes: &mut [u8]) -> Option<()> {
    const MARK: &[u8] = br#"\"checksum\":\""#;
    let start = bytes.windows(MARK.len()).position(|window| window == MARK)? + MARK.len();
    bytes.get_mut(start..start + 64)?.fill(b'0');
    let sum: String = Sha256::digest(&*bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    bytes[start..start + 64].copy_from_slice(sum.as_bytes());
    Some(())
}
