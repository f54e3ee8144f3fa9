//! Zero and duplicate samples and features: they carry no noise of their own, so they must not count when the noise
//! level is estimated from the spectrum.

use std::collections::HashMap;

use eigenspan_linalg::Exec;

use crate::Error;
use crate::data::{Csr, Samples};
use crate::prepare::{BLOCK_ROWS, Scan};

/// Features are compared on this many first samples, and about as many of the others.
const SAMPLED: usize = 64;

/// The samples and features that are neither zero nor exact copies of an earlier one.
pub struct Distinct {
    /// Remaining samples.
    pub rows: Vec<usize>,
    /// Remaining features.
    pub columns: Vec<usize>,
    /// Whether an exact copy was found, beyond zero samples and features.
    pub repeats: bool,
}

impl Distinct {
    /// Finds zero and duplicate samples and features. Constant features count as zero where the mean is subtracted.
    pub fn of(samples: Samples<'_>, scan: &Scan, centered: bool, exec: Exec<'_>) -> Result<Self, Error> {
        exec.begin("compare")?;
        let hashes = match samples {
            Samples::Csr(x) => of_stored(x),
            _ => of_values(samples, &scan.lengths, exec)?,
        };
        let (n, m) = (samples.rows(), samples.cols());
        let mut first = vec![0.0; m];
        samples.read_row(0, 0..m, &mut first);
        let live_row = |i: &usize| scan.lengths[*i] > 0.0;
        let live_column = |j: &usize| !hashes.constant[*j] || (!centered && first[*j] != 0.0);
        let same_row = |a: usize, b: usize| {
            let read = |i| {
                let mut row = vec![0.0; m];
                samples.read_row(i, 0..m, &mut row);
                row
            };
            read(a) == read(b)
        };
        let same_column = |a: usize, b: usize| {
            let mut pair = [[0.0]; 2];
            (0..n).all(|i| {
                samples.read_row(i, a..a + 1, &mut pair[0]);
                samples.read_row(i, b..b + 1, &mut pair[1]);
                pair[0] == pair[1]
            })
        };
        let live_rows: Vec<usize> = (0..n).filter(live_row).collect();
        let live_columns: Vec<usize> = (0..m).filter(live_column).collect();
        let rows = without_copies(&live_rows, &hashes.rows, same_row);
        let columns = without_copies(&live_columns, &hashes.columns, same_column);
        let repeats = rows.len() < live_rows.len() || columns.len() < live_columns.len();
        Ok(Self { rows, columns, repeats })
    }
}

/// 64-bit hashes of rows and columns: different hashes, different values.
struct Hashes {
    rows: Vec<u64>,
    columns: Vec<u64>,
    /// Whether each column has one and the same value in all rows.
    constant: Vec<bool>,
}

/// An odd number with irregular bits.
const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

/// One round of a multiplicative mixer; −0 and 0 are equal and give the same bits.
fn mix(hash: u64, y: f64) -> u64 {
    (hash.rotate_left(29) ^ (y + 0.0).to_bits()).wrapping_mul(MIXER)
}

/// Hashes of sparse samples: the nonzero values, each with its position.
fn of_stored(x: &Csr) -> Hashes {
    let (n, m) = (x.rows(), x.cols());
    let mut first = vec![0.0; m];
    Samples::from(x).read_row(0, 0..m, &mut first);
    let (mut rows, mut columns) = (vec![0u64; n], vec![0u64; m]);
    let (mut stored, mut constant) = (vec![0usize; m], vec![true; m]);
    for i in 0..n {
        let (places, values) = x.row(i);
        for (&j, y) in places.iter().zip(values).filter(|(_, y)| **y != 0.0) {
            rows[i] = mix(mix(rows[i], j as f64 + 1.0), *y);
            columns[j] = mix(mix(columns[j], i as f64 + 1.0), *y);
            stored[j] += 1;
            constant[j] &= *y == first[j];
        }
    }
    // A zero that is not stored is a value too.
    (0..m).filter(|&j| stored[j] < n).for_each(|j| constant[j] &= first[j] == 0.0 && stored[j] == 0);
    Hashes { rows, columns, constant }
}

/// Hashes of dense samples. Most samples already differ in length, and most features within a few samples; only the
/// others are hashed completely.
fn of_values(samples: Samples<'_>, lengths: &[f64], exec: Exec<'_>) -> Result<Hashes, Error> {
    let (n, m) = (samples.rows(), samples.cols());
    let some = (0..n.min(SAMPLED)).chain((SAMPLED..n).step_by(n.div_ceil(SAMPLED)));
    let sample = PartialHashes::at(samples, some, |_| false, &(0..m).collect::<Vec<_>>());
    let mut hashes = Hashes {
        rows: lengths.iter().map(|length| length.to_bits()).collect(),
        columns: sample.columns,
        constant: sample.constant,
    };
    let row_alike = alike(&hashes.rows);
    let column_alike = alike(&hashes.columns);
    let suspects: Vec<usize> = (0..m).filter(|&j| column_alike[j] || hashes.constant[j]).collect();
    let parts = exec.map("compare", n.div_ceil(BLOCK_ROWS), |part| {
        let block = part * BLOCK_ROWS..((part + 1) * BLOCK_ROWS).min(n);
        let read = block.filter(|&i| row_alike[i] || !suspects.is_empty());
        PartialHashes::at(samples, read, |i| row_alike[i], &suspects)
    })?;
    suspects.iter().for_each(|&j| hashes.columns[j] = 0);
    for part in parts {
        part.rows.into_iter().for_each(|(i, hash)| hashes.rows[i] = hash);
        for (&j, (hash, constant)) in suspects.iter().zip(part.columns.into_iter().zip(part.constant)) {
            hashes.columns[j] = mix(hashes.columns[j], 1.0).wrapping_add(hash);
            hashes.constant[j] &= constant;
        }
    }
    Ok(hashes)
}

/// Hashes of some rows and columns.
struct PartialHashes {
    /// Rows that were hashed, each with its hash.
    rows: Vec<(usize, u64)>,
    columns: Vec<u64>,
    constant: Vec<bool>,
}

impl PartialHashes {
    fn at(
        samples: Samples<'_>,
        rows: impl Iterator<Item = usize>,
        hashed: impl Fn(usize) -> bool,
        columns: &[usize],
    ) -> Self {
        let mut partial = Self { rows: vec![], columns: vec![0; columns.len()], constant: vec![true; columns.len()] };
        let (mut first, mut buffer) = (vec![0.0; samples.cols()], vec![0.0; samples.cols()]);
        samples.read_row(0, 0..first.len(), &mut first);
        for i in rows {
            let row = samples.row(i, &mut buffer);
            if hashed(i) {
                partial.rows.push((i, row.iter().fold(0, |hash, y| mix(hash, *y))));
            }
            for ((hash, constant), &j) in partial.columns.iter_mut().zip(&mut partial.constant).zip(columns) {
                *hash = mix(*hash, row[j]);
                *constant &= row[j] == first[j];
            }
        }
        partial
    }
}

/// Whether each hash occurs more than once. Most are unique in a table indexed by some of their bits; only the others
/// are sorted.
fn alike(hashes: &[u64]) -> Vec<bool> {
    let bits = (8 * hashes.len().max(1)).ilog2();
    let place = |hash: u64| (hash.wrapping_mul(MIXER) >> (u64::BITS - bits)) as usize;
    let mut counts = vec![0u8; 1 << bits];
    for hash in hashes {
        let count = &mut counts[place(*hash)];
        *count = count.saturating_add(1);
    }
    let company = |(hash, _): &(u64, usize)| counts[place(*hash)] > 1;
    let mut shared: Vec<(u64, usize)> = hashes.iter().copied().zip(0..).filter(company).collect();
    shared.sort_unstable();
    let mut alike = vec![false; hashes.len()];
    for pair in shared.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        pair.iter().for_each(|(_, i)| alike[*i] = true);
    }
    alike
}

/// Keeps the first of equal ones. Equal hashes only suggest equality; `same` decides.
fn without_copies(of: &[usize], hashes: &[u64], same: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let suspected = alike(hashes);
    let mut groups = HashMap::<u64, Vec<usize>>::new();
    let mut distinct = Vec::with_capacity(of.len());
    for &i in of {
        if !suspected[i] {
            distinct.push(i);
            continue;
        }
        let alike = groups.entry(hashes[i]).or_default();
        if !alike.iter().any(|&j| same(j, i)) {
            alike.push(i);
            distinct.push(i);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan_linalg::Mat;

    #[test]
    fn zero_and_duplicate_rows_and_columns_are_removed() {
        // Column 1 is zero, column 3 copies column 0 (0 and −0 are one number), column 4 is constant; row 3 copies row
        // 1.
        let rows = [
            [0.0, 0.0, 5.0, -0.0, 2.0],
            [2.0, 0.0, 4.0, 2.0, 2.0],
            [3.0, -0.0, 9.0, 3.0, 2.0],
            [2.0, 0.0, 4.0, 2.0, 2.0],
        ];
        let dense = Mat::from_fn(4, 5, |i, j| rows[i][j]);
        let starts = vec![0, 4, 8, 12, 16];
        let sparse =
            Csr::new(5, starts, [0, 2, 3, 4].repeat(4), rows.iter().flat_map(|r| [r[0], r[2], r[3], r[4]]).collect())
                .unwrap();
        for samples in [Samples::from(&dense), Samples::from(&sparse)] {
            let scan = Scan::of(samples, Exec::default()).unwrap();
            let plain = Distinct::of(samples, &scan, false, Exec::default()).unwrap();
            assert_eq!((&plain.rows[..], &plain.columns[..], plain.repeats), (&[0, 1, 2][..], &[0, 2, 4][..], true));
            let centered = Distinct::of(samples, &scan, true, Exec::default()).unwrap();
            assert_eq!(centered.columns, [0, 2]);
        }
    }

    /// The remaining rows and columns, by comparing everything with everything.
    fn assert_as_by_brute_force(x: &Mat, centered: bool) -> Distinct {
        let columns = x.transposed();
        let distinct = |x: &Mat, dead: &dyn Fn(&[f64]) -> bool| -> Vec<usize> {
            (0..x.rows()).filter(|&i| !dead(x.row(i)) && (0..i).all(|earlier| x.row(earlier) != x.row(i))).collect()
        };
        let zero = |line: &[f64]| line.iter().all(|y| *y == 0.0);
        let constant = |line: &[f64]| line.iter().all(|y| *y == line[0]);
        let (rows, columns) = (distinct(x, &zero), distinct(&columns, if centered { &constant } else { &zero }));
        let scan = Scan::of(Samples::from(x), Exec::default()).unwrap();
        let found = Distinct::of(Samples::from(x), &scan, centered, Exec::default()).unwrap();
        assert_eq!((&found.rows, &found.columns), (&rows, &columns));
        found
    }

    #[test]
    fn features_that_differ_in_one_sample_are_two() {
        // Of a thousand samples the first comparison omits numbers 70 and 71.
        let value = |i: usize, j: usize| match j {
            0 | 1 => (i as f64).sin(),
            2 => (i as f64).sin() + f64::from(u8::from(i == 70)),
            3 => 5.0,
            4 => 5.0 + f64::from(u8::from(i == 71)),
            5 => f64::from(u8::from(i == 70)),
            6 => 0.0,
            7 => 8.0 + f64::from(u8::from(i == 70)),
            _ => (i as f64).cos(),
        };
        let x = Mat::from_fn(1000, 9, value);
        assert_eq!(assert_as_by_brute_force(&x, false).columns, [0, 2, 3, 4, 5, 7, 8]);
        assert_eq!(assert_as_by_brute_force(&x, true).columns, [0, 2, 4, 5, 7, 8]);
    }

    #[test]
    fn many_features_and_samples_that_start_alike_are_distinguished() {
        // Zeros in the first samples, then a single one in each: all samples have one length, and most features are
        // equal on the first samples. Every seventh feature copies the one before it, so that samples repeat as well.
        let place = |i: usize| if i < 64 { 0 } else { 1 + i % 300 };
        let x = Mat::from_fn(700, 301, |i, j| f64::from(u8::from(place(i) == j || j % 7 == 6 && place(i) + 1 == j)));
        let found = assert_as_by_brute_force(&x, false);
        assert!(found.repeats && found.rows.len() < 302 && found.columns.len() > 200);
        assert_as_by_brute_force(&x, true);
    }
}
