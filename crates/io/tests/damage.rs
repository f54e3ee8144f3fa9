//! Files damaged at random. Each must be read or refused: a panic or a huge allocation fails the test.

mod build;

use build::{array, bytes, npz};
use eigenspan_io::{ReadOptions, read_bytes};
use zip::CompressionMethod;

const DAMAGES: usize = 2000;

/// Numbers that are the same in every run (splitmix64, Steele et al. 2014).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

fn try_to_read(bytes: &[u8]) -> bool {
    match read_bytes("data", bytes, &ReadOptions::default()) {
        Ok(data) => {
            assert!(data.samples.view().to_f64().as_slice().iter().all(|v| v.is_finite()));
            assert!(data.labels.is_none_or(|labels| labels.of.len() == data.samples.rows()));
            true
        }
        Err(error) => {
            assert!(error.to_string().contains("data"), "{error}");
            false
        }
    }
}

fn files() -> Vec<Vec<u8>> {
    let x = array("<f8", "(3, 4)", &bytes((0..12).map(|v| (f64::from(v) * 0.5).to_le_bytes())));
    let y = array("<U2", "(3,)", &bytes([97u32, 0, 98, 99, 97, 0].map(u32::to_le_bytes)));
    let shape = array("|u1", "(2,)", &[2, 2]);
    let arrays = [("X.npy", x.clone()), ("y.npy", y), ("shape.npy", shape)];
    let table = "id,width,height,label\na,1.5,2,oak\nb,-3e2,\"4\",elm\r\nc,0.25,7,oak\n";
    vec![
        x,
        npz(CompressionMethod::Stored, &arrays),
        npz(CompressionMethod::Deflated, &arrays),
        table.replace("\\\n", "\n").into_bytes(),
    ]
}

#[test]
fn one_changed_byte_is_read_or_refused() {
    let mut draw = Draw(2015);
    for file in files() {
        assert!(try_to_read(&file));
        let mut refused = 0;
        for _ in 0..DAMAGES {
            let mut damaged = file.clone();
            damaged[draw.below(file.len())] ^= 1 + draw.below(255) as u8;
            refused += usize::from(!try_to_read(&damaged));
        }
        assert!(refused > DAMAGES / 10, "most damage to structure is noticed: {refused}");
    }
}

#[test]
fn a_file_cut_anywhere_is_read_or_refused() {
    for file in files() {
        (0..file.len()).for_each(|end| {
            try_to_read(&file[..end]);
        });
    }
}

#[test]
fn binary_files_cut_anywhere_are_refused() {
    for file in &files()[..3] {
        assert!((0..file.len()).all(|end| !try_to_read(&file[..end])));
    }
}
