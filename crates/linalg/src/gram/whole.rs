//! Exact subtraction of the means from a Gram matrix of integers: only the result is rounded.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | YᵀY, YYᵀ | `g` | integers below 2⁵³, as `f64` |
//! | s | `s` | Yᵀ1, the sum of each feature |
//! | r, t | `r`, `t` | YYᵀ1 and its sum |

use crate::mat::Mat;

/// YᵀY ↦ (n YᵀY − s sᵀ) / n, lower triangle.
pub(super) fn center_features(g: &mut Mat, s: &[f64], n: usize) {
    let s = whole(s);
    let of = |g: i64, si: i64, sj: i64| n as i128 * i128::from(g) - i128::from(si) * i128::from(sj);
    for (i, si) in s.iter().enumerate() {
        for (g, sj) in g.row_mut(i)[..=i].iter_mut().zip(&s) {
            *g = of(*g as i64, *si, *sj) as f64 / n as f64;
        }
    }
}

/// YYᵀ ↦ (n² YYᵀ − n r 1ᵀ − n 1 rᵀ + t) / n², lower triangle.
pub(super) fn center_samples(g: &mut Mat) {
    let n = g.rows() as i128;
    let r: Vec<i128> = (0..g.rows()).map(|i| whole(g.row(i)).into_iter().map(i128::from).sum()).collect();
    let t: i128 = r.iter().sum();
    for (i, ri) in r.iter().enumerate() {
        for (g, rj) in g.row_mut(i)[..=i].iter_mut().zip(&r) {
            *g = (n * (n * i128::from(*g as i64) - ri - rj) + t) as f64 / (n * n) as f64;
        }
    }
}

/// Integers stored as `f64`.
fn whole(values: &[f64]) -> Vec<i64> {
    values.iter().map(|v| *v as i64).collect()
}
