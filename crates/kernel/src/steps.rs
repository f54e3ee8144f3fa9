//! Entrywise steps of an iteration on a matrix.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | f | `f` | entries of a factor |
//! | b, a | `b`, `product` | the two sides of the normal equations at these entries; a − b is the gradient |
//!
//! ```text
//!     multiplicative:     f ← f b / a
//!     inner:              Σ f b
//!     projected squares:  Σ (a − b)²   where a < b or f > 0
//! ```
//! Plain Rust, compiled once for the baseline machine and once for this one. Both versions give the same bits.

use crate::machine::Machine;
use crate::rows::{LANES, Work, total};

/// f ← f b / a. Where a is zero, f or b is zero too, and f becomes zero.
pub fn multiplicative(f: &mut [f64], b: &[f64], product: &[f64]) {
    struct Update<'a>(&'a mut [f64], &'a [f64], &'a [f64]);
    impl Work for Update<'_> {
        type Output = ();
        #[inline(always)]
        fn run(self) {
            for ((f, b), a) in self.0.iter_mut().zip(self.1).zip(self.2) {
                let below = if *a > f64::MIN_POSITIVE { *a } else { f64::MIN_POSITIVE };
                *f = *f * b / below;
            }
        }
    }
    assert!(f.len() == b.len() && f.len() == product.len(), "one value an entry");
    Machine::detect().run(Update(f, b, product));
}

/// ⟨f, b⟩.
pub fn inner(f: &[f64], b: &[f64]) -> f64 {
    struct Inner<'a>(&'a [f64], &'a [f64]);
    impl Work for Inner<'_> {
        type Output = f64;
        #[inline(always)]
        fn run(self) -> f64 {
            let ((f, f_rest), (b, b_rest)) = (self.0.as_chunks::<LANES>(), self.1.as_chunks::<LANES>());
            let mut sums = [0.0; LANES];
            for (f, b) in f.iter().zip(b) {
                for l in 0..LANES {
                    sums[l] += f[l] * b[l];
                }
            }
            total(&sums) + f_rest.iter().zip(b_rest).map(|(f, b)| f * b).sum::<f64>()
        }
    }
    assert_eq!(f.len(), b.len(), "one value an entry");
    Machine::detect().run(Inner(f, b))
}

/// Sum of the squared gradient entries, where a descent step is possible.
pub fn projected_squares(f: &[f64], b: &[f64], product: &[f64]) -> f64 {
    #[inline(always)]
    fn square(f: f64, b: f64, a: f64) -> f64 {
        let gradient = a - b;
        if (gradient < 0.0) | (f > 0.0) { gradient * gradient } else { 0.0 }
    }
    struct Squares<'a>(&'a [f64], &'a [f64], &'a [f64]);
    impl Work for Squares<'_> {
        type Output = f64;
        #[inline(always)]
        fn run(self) -> f64 {
            let ((f, f_rest), (b, b_rest)) = (self.0.as_chunks::<LANES>(), self.1.as_chunks::<LANES>());
            let (a, a_rest) = self.2.as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for ((f, b), a) in f.iter().zip(b).zip(a) {
                for l in 0..LANES {
                    sums[l] += square(f[l], b[l], a[l]);
                }
            }
            let rest = f_rest.iter().zip(b_rest).zip(a_rest).map(|((f, b), a)| square(*f, *b, *a));
            total(&sums) + rest.sum::<f64>()
        }
    }
    assert!(f.len() == b.len() && f.len() == product.len(), "one value an entry");
    Machine::detect().run(Squares(f, b, product))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wave(phase: f64) -> Vec<f64> {
        (0..45).map(|i| (1.3 * i as f64 + phase).sin()).collect()
    }

    #[test]
    fn an_update_is_its_formula_at_every_entry() {
        let (f, b, a) = (wave(0.0), wave(2.0), wave(3.0));
        let positive: Vec<f64> = a.iter().map(|a| a.abs()).collect();
        let mut g = f.clone();
        multiplicative(&mut g, &b, &positive);
        assert!((0..f.len()).all(|i| g[i] == f[i] * b[i] / positive[i]));
        let mut none = [0.0, 3.0];
        multiplicative(&mut none, &[5.0, 0.0], &[0.0, 0.0]);
        assert_eq!(none, [0.0, 0.0]);
    }

    #[test]
    fn inner_products_are_sums_of_products() {
        let (f, b) = (wave(0.0), wave(2.0));
        let expected: f64 = (0..f.len()).map(|i| f[i] * b[i]).sum();
        assert!((inner(&f, &b) - expected).abs() < 1e-14);
    }

    #[test]
    fn slopes_count_where_a_step_against_them_is_possible() {
        assert_eq!(projected_squares(&[0.0, 0.0, 2.0, 2.0, -1.0], &[0.0; 5], &[3.0, -4.0, 5.0, -6.0, 7.0]), 77.0);
        let (f, b, a) = (wave(0.0), wave(2.0), wave(3.0));
        let counts = |i: &usize| a[*i] < b[*i] || f[*i] > 0.0;
        let expected: f64 = (0..f.len()).filter(counts).map(|i| (a[i] - b[i]).powi(2)).sum();
        assert!((projected_squares(&f, &b, &a) - expected).abs() < 1e-14 * expected);
    }
}
