//! Files damaged at random. Each must be read or refused: a panic or a huge allocation fails the test.

mod build;
mod harm;

use build::{array, bytes, gzip, idx, npz};
use harm::{change_bytes, is_read};
use zip::CompressionMethod;

/// How many of the files are binary: these come first.
const BINARY: usize = 5;

fn files() -> Vec<Vec<u8>> {
    let x = array("<f8", "(3, 4)", &bytes((0..12).map(|v| (f64::from(v) * 0.5).to_le_bytes())));
    let y = array("<U2", "(3,)", &bytes([97u32, 0, 98, 99, 97, 0].map(u32::to_le_bytes)));
    let shape = array("|u1", "(2,)", &[2, 2]);
    let arrays = [("X.npy", x.clone()), ("y.npy", y), ("shape.npy", shape)];
    let images = idx(8, &[3, 2, 2], &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    let table = "id,width,height,label\na,1.5,2,oak\nb,-3e2,\"4\",elm\r\nc,0.25,7,oak\n";
    vec![
        x,
        npz(CompressionMethod::Stored, &arrays),
        npz(CompressionMethod::Deflated, &arrays),
        gzip(&images),
        images,
        table.as_bytes().to_vec(),
        b"oak 1:1.5 3:2 # a comment\nelm 2:-3e2\n+1 qid:4 1:0.25 9:7\n".to_vec(),
    ]
}

#[test]
fn one_changed_byte_is_read_or_refused() {
    files().iter().for_each(|file| change_bytes(file, 0, is_read));
}

#[test]
fn a_file_cut_anywhere_is_read_or_refused() {
    for file in files() {
        (0..file.len()).for_each(|end| {
            is_read(&file[..end]);
        });
    }
}

#[test]
fn binary_files_cut_anywhere_are_refused() {
    for file in &files()[..BINARY] {
        assert!((0..file.len()).all(|end| !is_read(&file[..end])));
    }
}
