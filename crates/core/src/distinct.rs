//! Dead and repeated samples and features: they carry no noise of their own, so they must not count when the
//! level of the noise is read off the spectrum.

use eigenspan_linalg::Exec;

use crate::Error;
use crate::data::Samples;
use crate::prepare::{STRETCH, Scan};

/// The samples and features that are not exact copies of an earlier one and not dead.
pub struct Distinct {
    /// Samples kept.
    pub rows: Vec<usize>,
    /// Features kept.
    pub columns: Vec<usize>,
    /// Whether an exact copy was found, beyond dead samples and features.
    pub repeats: bool,
}

impl Distinct {
    /// Finds dead and repeated samples and features. Dead is all zero; constant, where the mean is taken away.
    pub fn of(samples: Samples<'_>, scan: &Scan, centred: bool, exec: Exec<'_>) -> Result<Self, Error> {
        let Marks { rows: row_marks, columns: column_marks, constant } = fingerprints(samples, exec)?;
        let (n, m) = (samples.rows(), samples.cols());
        let mut first = vec![0.0; m];
        samples.read_row(0, 0..m, &mut first);
        let live_row = |i: &usize| scan.lengths[*i] > 0.0;
        let live_column = |j: &usize| !constant[*j] || (!centred && first[*j] != 0.0);
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
        let rows = without_copies(&live_rows, &row_marks, same_row);
        let columns = without_copies(&live_columns, &column_marks, same_column);
        let repeats = rows.len() < live_rows.len() || columns.len() < live_columns.len();
        Ok(Self { rows, columns, repeats })
    }
}

/// 64-bit marks of rows and columns: different marks, different values.
struct Marks {
    rows: Vec<u64>,
    columns: Vec<u64>,
    /// Whether each column has one and the same value in all rows.
    constant: Vec<bool>,
}

fn fingerprints(samples: Samples<'_>, exec: Exec<'_>) -> Result<Marks, Error> {
    // One round of a multiplicative mixer; −0 and 0 are the same number and get the same bits.
    let mix = |mark: u64, y: f64| (mark.rotate_left(29) ^ (y + 0.0).to_bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let (n, m) = (samples.rows(), samples.cols());
    let mut first = vec![0.0; m];
    samples.read_row(0, 0..m, &mut first);
    if let Samples::Csr(x) = samples {
        // The values that are not zero, each with its place.
        exec.begin("compare")?;
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
        return Ok(Marks { rows, columns, constant });
    }
    let parts = exec.map("compare", n.div_ceil(STRETCH), |part| {
        let mut marks = Marks { rows: vec![], columns: vec![0u64; m], constant: vec![true; m] };
        let mut buffer = vec![0.0; m];
        for i in part * STRETCH..((part + 1) * STRETCH).min(n) {
            let row = samples.row(i, &mut buffer);
            marks.rows.push(row.iter().fold(0, |mark, y| mix(mark, *y)));
            marks.columns.iter_mut().zip(row).for_each(|(mark, y)| *mark = mix(*mark, *y));
            marks.constant.iter_mut().zip(row.iter().zip(&first)).for_each(|(same, (y, f))| *same &= y == f);
        }
        marks
    })?;
    let mut whole = Marks { rows: Vec::with_capacity(n), columns: vec![0u64; m], constant: vec![true; m] };
    for part in parts {
        whole.rows.extend(part.rows);
        whole.columns.iter_mut().zip(part.columns).for_each(|(mark, part)| *mark = mix(*mark, 1.0).wrapping_add(part));
        whole.constant.iter_mut().zip(part.constant).for_each(|(all, here)| *all &= here);
    }
    Ok(whole)
}

/// Keeps the first of equal ones. Equal marks only suggest equality; `same` decides.
fn without_copies(of: &[usize], marks: &[u64], same: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut seen = std::collections::HashMap::<u64, Vec<usize>>::new();
    let mut kept = Vec::with_capacity(of.len());
    for &i in of {
        let alike = seen.entry(marks[i]).or_default();
        if !alike.iter().any(|&j| same(j, i)) {
            alike.push(i);
            kept.push(i);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Csr;
    use eigenspan_linalg::Mat;

    #[test]
    fn dead_and_repeated_rows_and_columns_are_set_aside() {
        // Column 1 is zero, column 3 copies column 0 (0 and −0 are one number), column 4 is constant; row 3 copies row 1.
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
            let centred = Distinct::of(samples, &scan, true, Exec::default()).unwrap();
            assert_eq!(centred.columns, [0, 2]);
        }
    }
}
