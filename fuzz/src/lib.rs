//! What must hold whatever the bytes: a reader answers with an error, or with data that fit together.
//!
//! Every target says by which sign it knows its format, and rejects the rest, so that each keeps a corpus of its own.

use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Once};

use eigenspan_core::data::{Dataset, ImageShape, Matrix, StreamError};
use eigenspan_io::{ReadError, ReadOptions, open, read_bytes};
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

/// Reads a file in blocks of three samples: the same rows as at once, or an error in both ways.
pub fn check_in_blocks(path: &Path, bytes: &[u8]) {
    match (in_blocks(path), read_bytes("data", bytes, &ReadOptions::default())) {
        (Ok(blocks), Ok(whole)) => assert!(rows(&blocks) == rows(&[whole.samples]), "blocks and whole differ"),
        (blocks, whole) => assert_eq!(blocks.is_ok(), whole.is_ok(), "blocks and whole disagree"),
    }
}

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

/// Sets the last eight bytes of every summary inside, as long as its header claims.
pub fn set_inner_checksums(bytes: &mut [u8]) {
    const MARK: &[u8] = b"eigen\xce\xa3\x01";
    let mut from = 0;
    while let Some(at) = bytes[from..].windows(8).position(|window| window == MARK).map(|at| from + at) {
        from = at + 8;
        let word = |i: usize| Some(u64::from_le_bytes(bytes.get(at + 8 * i..at + 8 * i + 8)?.try_into().ok()?));
        let (Some(m), Some(tail), Some(kinds)) = (word(2), word(4), word(1)) else { return };
        if m > 1 << 12 || tail > 1 << 16 {
            continue;
        }
        let (m, tail, centred) = (m as usize, tail as usize, (kinds >> 8) & 0xff == 1);
        let end = at + 8 * (9 + if centred { 2 * m } else { 0 } + m * (m + 1) / 2 + tail * m);
        let Some(body) = bytes.get(at..end) else { continue };
        let sum = body.chunks_exact(8).fold(0xcbf2_9ce4_8422_2325u64, |hash, word| {
            (hash ^ u64::from_le_bytes(word.try_into().expect("eight bytes"))).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let Some(place) = bytes.get_mut(end..end + 8) else { continue };
        place.copy_from_slice(&sum.to_le_bytes());
    }
}
