//! Rows times a matrix, Z = Y B, where the bits of each row of Z do not depend on the other rows.
//!
//! Every entry of Z is one running sum over the columns of Y in their order. A general matrix product picks its
//! order of summation from the shape of the whole, so a sample would come out differently alone and in a batch.

use crate::mat::Mat;

/// Columns that are summed together.
const WIDTH: usize = 8;
/// Rows that are summed together.
const HEIGHT: usize = 4;

/// B (m × k) packed for [`Columns::multiply`]: panels of eight columns, zero-padded.
pub struct Columns {
    panels: Vec<f64>,
    m: usize,
    k: usize,
}

impl Columns {
    /// Packs `b`.
    pub fn new(b: &Mat) -> Self {
        let (m, k) = (b.rows(), b.cols());
        let mut panels = vec![0.0; m * k.next_multiple_of(WIDTH)];
        for (p, panel) in panels.chunks_exact_mut((m * WIDTH).max(1)).enumerate() {
            let first = p * WIDTH;
            let width = WIDTH.min(k - first);
            for (l, line) in panel.chunks_exact_mut(WIDTH).enumerate() {
                line[..width].copy_from_slice(&b.row(l)[first..first + width]);
            }
        }
        Self { panels, m, k }
    }

    /// Z = Y B for the rows `y` (m values each, one after the other); `z` takes k values per row.
    pub fn multiply(&self, y: &[f64], z: &mut [f64]) {
        assert_eq!(y.len() * self.k, z.len() * self.m, "rows in and rows out agree");
        if self.m == 0 || self.k == 0 {
            z.fill(0.0);
            return;
        }
        for (y, z) in y.chunks(HEIGHT * self.m).zip(z.chunks_mut(HEIGHT * self.k)) {
            match y.len() / self.m {
                4 => self.rows::<4>(y, z),
                3 => self.rows::<3>(y, z),
                2 => self.rows::<2>(y, z),
                _ => self.rows::<1>(y, z),
            }
        }
    }

    fn rows<const R: usize>(&self, y: &[f64], z: &mut [f64]) {
        for (p, panel) in self.panels.chunks_exact(self.m * WIDTH).enumerate() {
            let sums = tile::<R>(panel, y, self.m);
            let first = p * WIDTH;
            let width = WIDTH.min(self.k - first);
            for (r, sum) in sums.iter().enumerate() {
                z[r * self.k + first..][..width].copy_from_slice(&sum[..width]);
            }
        }
    }
}

/// R rows of `y` (m values each) times a panel of eight columns.
fn tile<const R: usize>(panel: &[f64], y: &[f64], m: usize) -> [[f64; WIDTH]; R] {
    let mut sums = [[0.0; WIDTH]; R];
    let rows: [&[f64]; R] = std::array::from_fn(|r| &y[r * m..(r + 1) * m]);
    for (l, line) in panel.chunks_exact(WIDTH).enumerate() {
        for r in 0..R {
            let factor = rows[r][l];
            for w in 0..WIDTH {
                sums[r][w] += factor * line[w];
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(rows: usize, m: usize, k: usize) -> (Mat, Mat) {
        let y = Mat::from_fn(rows, m, |i, j| ((i * 3 + j) as f64).sin());
        let b = Mat::from_fn(m, k, |i, j| ((i + 5 * j) as f64).cos());
        (y, b)
    }

    #[test]
    fn agrees_with_the_plain_sum_to_the_last_bit() {
        for (rows, m, k) in [(1, 1, 1), (7, 5, 3), (9, 33, 17), (4, 8, 8), (0, 3, 2), (3, 4, 0)] {
            let (y, b) = case(rows, m, k);
            let mut z = vec![f64::NAN; rows * k];
            Columns::new(&b).multiply(y.as_slice(), &mut z);
            for i in 0..rows {
                for j in 0..k {
                    let expected = (0..m).fold(0.0, |sum, l| sum + y.at(i, l) * b.at(l, j));
                    assert_eq!(z[i * k + j], expected);
                }
            }
        }
    }

    #[test]
    fn a_row_does_not_depend_on_its_company() {
        let (y, b) = case(11, 29, 13);
        let b = Columns::new(&b);
        let mut together = vec![0.0; 11 * 13];
        b.multiply(y.as_slice(), &mut together);
        for i in 0..11 {
            let mut alone = vec![0.0; 13];
            b.multiply(y.row(i), &mut alone);
            assert_eq!(alone, together[i * 13..(i + 1) * 13]);
        }
    }
}
