//! Is M = s·I − G + VΘVᵀ positive definite? Cholesky answers by completing.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | G | `g` | symmetric, p × p |
//! | V, Θ | `vectors`, `values` | c columns and their weights: directions of G that are shifted above s |
//! | M = LLᵀ | | the factor is discarded, only its existence matters |
//!
//! ```text
//!     M = [ B  · ]      L_B = chol(B),   L_W = W L_B⁻ᵀ,   M′ − L_W L_Wᵀ  next
//!         [ W  M′]
//! ```
//! Block after block; the last step is a Gram matrix of the rows of L_W, computed by the kernel in stripes that the
//! threads share. The kernel only adds, so −M is stored.
//!
//! **What completion proves** (Rump 2006, `rump2006` in `docs/references.bib`): if floating-point Cholesky of a
//! symmetric M completes, the smallest eigenvalue of M is above −γ_{p+1}/(1 − γ_{p+1})·tr M, for any order of
//! summation; the theorem excludes underflow, which entries near one do not reach.

use eigenspan_kernel::{Number, Panel, STRIPE_ROWS, Square, Stripe, accumulate};
use faer::Par;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;

use crate::Error;
use crate::exec::Exec;
use crate::mat::Mat;

/// Columns eliminated together: of 96, 128 and 256 the fastest at p = 500, and as fast as the others at 1520 and 2200.
const BLOCK: usize = 96;

/// Whether the Cholesky factorization of M = s·I − G + VΘVᵀ completes. `values` are positive; V has one column for
/// each.
pub fn definite(g: &Mat, s: f64, values: &[f64], vectors: &Mat, exec: Exec<'_>) -> Result<bool, Error> {
    let p = g.rows();
    let (mut negative, mut panel) = (Square::zeros(p), Panel::<f64>::new(p));
    shift(&mut negative, &mut panel, values, vectors, exec)?;
    for i in 0..p {
        let row = &mut negative.row_mut(i)[..=i];
        row.iter_mut().zip(g.row(i)).for_each(|(m, g)| *m = g - *m);
        row[i] -= s;
    }
    for first in (0..p).step_by(BLOCK) {
        exec.check()?;
        let width = BLOCK.min(p - first);
        let Some(block) = factor(&negative, first, width) else { return Ok(false) };
        eliminate(&mut negative, &mut panel, first, &block, exec)?;
    }
    Ok(true)
}

/// Adds VΘVᵀ to the lower triangle of `m`: the Gram matrix of the rows √θ vᵀ.
fn shift(m: &mut Square, panel: &mut Panel<f64>, values: &[f64], vectors: &Mat, exec: Exec<'_>) -> Result<(), Error> {
    let roots: Vec<f64> = values.iter().map(|v| v.sqrt()).collect();
    let mut weighted = vectors.clone();
    (0..m.order()).for_each(|i| weighted.row_mut(i).iter_mut().zip(&roots).for_each(|(v, root)| *v *= root));
    for first in (0..values.len()).step_by(f64::DEPTH) {
        let some = first..(first + f64::DEPTH).min(values.len());
        panel.set_depth(some.len());
        panel.strips_mut().for_each(|mut strip| strip.set_columns(|i| &weighted.row(i)[some.clone()]));
        add_gram(panel, m, 0, exec)?;
    }
    Ok(())
}

/// L_B (row by row) of the diagonal block of M = −`negative`; `None` where the block is not positive definite.
fn factor(negative: &Square, first: usize, width: usize) -> Option<Mat> {
    let mut block = Mat::from_fn(width, width, |i, j| if j <= i { -negative.row(first + i)[first + j] } else { 0.0 });
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(width, Par::Seq, Default::default()));
    let view = faer::MatMut::from_row_major_slice_mut(block.as_mut_slice(), width, width);
    let reached = cholesky_in_place(view, Default::default(), Par::Seq, MemStack::new(&mut memory), Default::default());
    let finite = (0..width).all(|i| block.at(i, i) > 0.0 && block.at(i, i).is_finite());
    (reached.is_ok() && finite).then_some(block)
}

/// L_W = W L_B⁻ᵀ, then −M′ += L_W L_Wᵀ.
fn eliminate(
    negative: &mut Square,
    panel: &mut Panel<f64>,
    first: usize,
    block: &Mat,
    exec: Exec<'_>,
) -> Result<(), Error> {
    let (p, stride, width) = (negative.order(), negative.stride(), block.rows());
    let rest = first + width;
    if rest == p {
        return Ok(());
    }
    let below = &mut negative.entries()[rest * stride..];
    let solves = exec.worth((p - rest) * width * width / 2);
    solves.each_chunk("certify", below, 4 * STRIPE_ROWS * stride, |_, rows| {
        let count = rows.len() / stride;
        let mut w: Vec<f64> = rows.chunks_exact(stride).flat_map(|row| row[first..rest].iter().map(|v| -v)).collect();
        solve_lower_triangular_in_place(
            faer::MatRef::from_row_major_slice(block.as_slice(), width, width),
            faer::MatMut::from_column_major_slice_mut(&mut w, width, count),
            Par::Seq,
        );
        for (row, solved) in rows.chunks_exact_mut(stride).zip(w.chunks_exact(width)) {
            row[first..rest].copy_from_slice(solved);
        }
    })?;
    panel.narrow(p - rest);
    panel.set_depth(width);
    panel.strips_mut().for_each(|mut strip| strip.set_columns(|i| &negative.row(rest + i)[first..rest]));
    add_gram(panel, negative, rest, exec)
}

/// Adds the panel's Gram matrix to the lower triangle of `m` from row and column `from` on.
fn add_gram(panel: &Panel<f64>, m: &mut Square, from: usize, exec: Exec<'_>) -> Result<(), Error> {
    let (p, stride) = (m.order(), m.stride());
    let height = (p - from).div_ceil(16).next_multiple_of(STRIPE_ROWS);
    let stripes: Vec<(usize, &mut [f64])> =
        m.entries()[from * stride..].chunks_mut(height * stride).enumerate().collect();
    // The last stripes are the longest, so they are started first.
    exec.worth((p - from).pow(2) / 2 * panel.depth()).each("certify", stripes.into_iter().rev(), |_, (i, stripe)| {
        let rows = i * height..i * height + stripe.len() / stride;
        accumulate(panel, Stripe { rows, entries: &mut stripe[from..], stride });
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A symmetric matrix with the given eigenvalues: a reflection H D H.
    fn with_eigenvalues(values: &[f64]) -> (Mat, Mat) {
        let p = values.len();
        let u: Vec<f64> = (0..p).map(|i| ((3 * i + 1) as f64).sin()).collect();
        let norm: f64 = u.iter().map(|x| x * x).sum();
        let h = Mat::from_fn(p, p, |i, j| f64::from(u8::from(i == j)) - 2.0 * u[i] * u[j] / norm);
        let g = Mat::from_fn(p, p, |i, j| (0..p).map(|l| h.at(i, l) * values[l] * h.at(j, l)).sum());
        (g, h)
    }

    #[test]
    fn definiteness_changes_at_the_largest_unshifted_eigenvalue() {
        // One block, an edge of a block, several blocks.
        for p in [1, 5, BLOCK, BLOCK + 1, 2 * BLOCK + 37] {
            let values: Vec<f64> = (0..p).map(|i| 2.0 / (1.0 + i as f64)).collect();
            let (g, h) = with_eigenvalues(&values);
            for c in [0, 1, 3, p - 1].into_iter().filter(|c| *c < p) {
                let is_definite =
                    |s: f64| definite(&g, s, &values[..c], &h.leading_columns(c), Exec::default()).unwrap();
                assert!(is_definite(values[c] * (1.0 + 1e-9)), "p = {p}, c = {c}");
                assert!(!is_definite(values[c] * (1.0 - 1e-9)), "p = {p}, c = {c}");
            }
        }
    }

    #[test]
    fn shifting_one_direction_too_few_is_detected() {
        let values: Vec<f64> = (0..300).map(|i| if i < 40 { 5.0 } else { 1.0 }).collect();
        let (g, h) = with_eigenvalues(&values);
        let is_definite = |c: usize| definite(&g, 2.0, &values[..c], &h.leading_columns(c), Exec::default()).unwrap();
        assert!(is_definite(40));
        assert!(!is_definite(39));
    }
}
