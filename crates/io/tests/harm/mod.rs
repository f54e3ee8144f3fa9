//! Damage to files, the same in every run: what is read then fits together, what is not is refused in words.

use eigenspan_io::{ReadOptions, read_bytes};

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

/// Whether the bytes are read. A panic or a huge allocation fails the test.
pub fn is_read(bytes: &[u8]) -> bool {
    match read_bytes("data", bytes, &ReadOptions::default()) {
        Ok(data) => {
            assert!(data.samples.view().to_f64().as_slice().iter().all(|v| v.is_finite()));
            assert!(data.labels.is_none_or(|labels| labels.of.len() == data.samples.rows()));
            assert!(data.ids.is_none_or(|ids| ids.len() == data.samples.rows()));
            true
        }
        Err(error) => {
            assert!(error.to_string().contains("data"), "{error}");
            false
        }
    }
}

/// Reads a file, and then with one byte changed, many times, from the byte `first` on: most damage must be noticed.
pub fn change_bytes(file: &[u8], first: usize, is_read: impl Fn(&[u8]) -> bool) {
    assert!(is_read(file));
    let (mut draw, mut refused) = (Draw(2015), 0);
    for _ in 0..DAMAGES {
        let mut damaged = file.to_vec();
        damaged[first + draw.below(file.len() - first)] ^= 1 + draw.below(255) as u8;
        refused += usize::from(!is_read(&damaged));
    }
    assert!(refused > DAMAGES / 10, "most damage to structure is noticed: {refused}");
}
