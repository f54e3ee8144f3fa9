//! The Cholesky factor of a matrix that gains and loses rows and columns one at a time.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | A = L Lᵀ (p × p) | [`Growing`] | positive definite; L is lower triangular |
//! | a, α | `off`, `diagonal` | the added column, and its entry on the diagonal |
//! | ℓ, s | | ℓ = L⁻¹a and s = α − ‖ℓ‖², the Schur complement: L gains the row (ℓ, √s) |
//!
//! A row is removed by deleting it from L and rotating the columns behind it, two at a time, until L is triangular
//! again (Golub & Van Loan 2013, 6.5.4). Every step costs O(p²), and rounding errors of one step do not grow in the
//! next: unlike an updated inverse, L Lᵀ stays close to A however often rows are added and removed.
//!
//! Golub, Van Loan (2013) — `golub2013` in `docs/references.bib`.

/// The factor L.
#[derive(Debug, Clone, Default)]
pub struct Growing {
    /// Row i begins at i · `capacity` and has i + 1 entries.
    lower: Vec<f64>,
    capacity: usize,
    order: usize,
    turns: Vec<(f64, f64)>,
}

impl Growing {
    /// The factor of a matrix without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// p.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Resets to a matrix without rows; the memory is retained.
    pub fn clear(&mut self) {
        self.order = 0;
    }

    /// Adds a row and column at the end, unless the Schur complement is not above `least`: returns whether it was
    /// added.
    pub fn push(&mut self, off: impl ExactSizeIterator<Item = f64>, diagonal: f64, least: f64) -> bool {
        let p = self.order;
        assert_eq!(off.len(), p, "an entry for each row there is");
        self.grow();
        let (above, row) = self.lower.split_at_mut(p * self.capacity);
        for (i, a) in off.enumerate() {
            let l = &above[i * self.capacity..][..=i];
            row[i] = (a - dot(&l[..i], &row[..i])) / l[i];
        }
        let schur = diagonal - dot(&row[..p], &row[..p]);
        let well = schur > least && schur > 0.0 && schur.is_finite();
        if well {
            row[p] = schur.sqrt();
            self.order += 1;
        }
        well
    }

    /// Removes row and column `place`; those behind it move up.
    pub fn remove(&mut self, place: usize) {
        let (capacity, p) = (self.capacity, self.order);
        assert!(place < p, "a row that is there");
        self.turns.clear();
        for i in place + 1..p {
            let (above, row) = self.lower.split_at_mut(i * capacity);
            let (to, row) = (&mut above[(i - 1) * capacity..], &mut row[..=i]);
            for (t, (cos, sin)) in self.turns.iter().enumerate() {
                let (a, b) = (row[place + t], row[place + t + 1]);
                (row[place + t], row[place + t + 1]) = (cos * a + sin * b, cos * b - sin * a);
            }
            let (a, b) = (row[i - 1], row[i]);
            let length = a.hypot(b);
            self.turns.push((a / length, b / length));
            row[i - 1] = length;
            to[..i].copy_from_slice(&row[..i]);
        }
        self.order -= 1;
    }

    /// x with A x = b, in place of b.
    pub fn solve(&self, b: &mut [f64]) {
        let p = self.order;
        assert_eq!(b.len(), p, "an entry for each row");
        let row = |i: usize| &self.lower[i * self.capacity..][..=i];
        for i in 0..p {
            let l = row(i);
            b[i] = (b[i] - dot(&l[..i], &b[..i])) / l[i];
        }
        for i in (0..p).rev() {
            let l = row(i);
            b[i] /= l[i];
            let x = b[i];
            b[..i].iter_mut().zip(l).for_each(|(b, l)| *b -= x * l);
        }
    }

    /// Grows the memory for one more row.
    fn grow(&mut self) {
        if self.order < self.capacity {
            return;
        }
        let capacity = (2 * self.capacity).max(16);
        let mut lower = vec![0.0; capacity * capacity];
        for i in 0..self.order {
            lower[i * capacity..][..=i].copy_from_slice(&self.lower[i * self.capacity..][..=i]);
        }
        (self.lower, self.capacity) = (lower, capacity);
    }
}

/// a·b, with independent partial sums.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_tail), (b, b_tail)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for l in 0..8 {
            sums[l] += a[l] * b[l];
        }
    }
    let [s0, s1, s2, s3, s4, s5, s6, s7] = sums;
    let tail: f64 = a_tail.iter().zip(b_tail).map(|(a, b)| a * b).sum();
    ((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7)) + tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Some columns of a random matrix; the last is the sum of the first two.
    fn gram(order: usize) -> Vec<Vec<f64>> {
        let mut random = Random::new(3);
        let mut columns: Vec<Vec<f64>> = (0..order).map(|_| random.normals(40)).collect();
        columns[order - 1] = (0..40).map(|i| columns[0][i] + columns[1][i]).collect();
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum();
        columns.iter().map(|a| columns.iter().map(|b| product(a, b)).collect()).collect()
    }

    #[test]
    fn systems_are_solved_while_rows_come_and_go() {
        let g = gram(30);
        let mut factor = Growing::new();
        let mut present: Vec<usize> = Vec::new();
        let push = |factor: &mut Growing, present: &mut Vec<usize>, j: usize| {
            let added = factor.push(present.iter().map(|i| g[j][*i]), g[j][j], 1e-12 * g[j][j]);
            if added {
                present.push(j);
            }
            added
        };
        for round in 0..200 {
            let j = round * 7 % 29;
            match present.iter().position(|i| *i == j) {
                Some(place) => {
                    factor.remove(place);
                    present.remove(place);
                }
                None => assert!(push(&mut factor, &mut present, j)),
            }
            let expected: Vec<f64> = (0..present.len()).map(|i| (i as f64).cos()).collect();
            let times = |i: &usize| present.iter().zip(&expected).map(|(j, x)| g[*i][*j] * x).sum();
            let mut b: Vec<f64> = present.iter().map(times).collect();
            factor.solve(&mut b);
            // The condition of these matrices is below 1e3.
            assert!(b.iter().zip(&expected).all(|(b, x)| (b - x).abs() < 1e-11), "round {round}");
        }
        factor.clear();
        present.clear();
        assert!(push(&mut factor, &mut present, 0) && push(&mut factor, &mut present, 1));
        assert!(!push(&mut factor, &mut present, 29), "the sum of the first two brings nothing new");
        assert!(!push(&mut factor, &mut present, 0), "nor does the same again");
        assert_eq!(factor.order(), 2);
    }
}
