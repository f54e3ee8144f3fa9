//! Rust peers. They get prepared `f64` samples in the layout they like best; making that layout is not billed.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::matrix_free::eigen::{partial_svd, partial_svd_scratch};
use faer::{Col, Mat, MatRef, Par};
use linfa::DatasetBase;
use linfa::traits::Fit;
use linfa_reduction::Pca;
use ndarray::ArrayView2;

use crate::clock::timed;
use crate::{Answer, guarded, slice, slice_mut};

/// Relative residual at which faer's partial decomposition stops.
const PARTIAL_TOLERANCE: f64 = 1e-6;

/// The tall one of X and Xᵀ, column after column: what faer's decompositions are fastest on.
fn tall(data: &[f64], n: usize, m: usize) -> Mat<f64> {
    let x = MatRef::from_row_major_slice(data, n, m);
    if n >= m { x.to_owned() } else { x.transpose().to_owned() }
}

/// faer, all singular values and both sides of vectors.
///
/// # Safety
/// `data` points to n · m values, `sigma` to `capacity` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn faer_thin_svd(
    data: *const f64,
    n: usize,
    m: usize,
    sigma: *mut f64,
    capacity: usize,
) -> Answer {
    guarded(|| {
        faer::set_global_parallelism(Par::Seq);
        // SAFETY: promised by the caller.
        let (data, out) = unsafe { (slice(data, n * m), slice_mut(sigma, capacity)) };
        let x = tall(data, n, m);
        let (svd, spent) = timed(|| x.thin_svd());
        let values: Vec<f64> = svd.ok()?.S().column_vector().iter().copied().collect();
        Some(Answer::timed(spent).with_sigma(&values, out))
    })
}

/// faer, the k largest singular values and vectors by restarted Lanczos.
///
/// # Safety
/// `data` points to n · m values, `sigma` to k values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn faer_partial_svd(data: *const f64, n: usize, m: usize, sigma: *mut f64, k: usize) -> Answer {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (data, out) = unsafe { (slice(data, n * m), slice_mut(sigma, k)) };
        let x = tall(data, n, m);
        let (values, spent) = timed(|| lanczos(x.as_ref(), k));
        Some(Answer::timed(spent).with_sigma(&values?, out))
    })
}

/// None where not all k converged, or where faer has no room: it needs 2k < min(n, m).
fn lanczos(x: MatRef<'_, f64>, k: usize) -> Option<Vec<f64>> {
    if 2 * k.max(32) >= x.ncols() {
        return None;
    }
    let (mut u, mut v) = (Mat::zeros(x.nrows(), k), Mat::zeros(x.ncols(), k));
    let mut sigma = vec![0.0; k];
    let start = Col::from_fn(x.ncols(), |i| (1.0 + i as f64).sin());
    let mut memory = MemBuffer::new(partial_svd_scratch(&x, k, Par::Seq, Default::default()));
    let info = partial_svd(
        u.as_mut(),
        v.as_mut(),
        &mut sigma,
        &x,
        start.as_ref(),
        PARTIAL_TOLERANCE,
        Par::Seq,
        MemStack::new(&mut memory),
        Default::default(),
    );
    (info.n_converged_eigen == k).then_some(sigma)
}

/// linfa-reduction's PCA (LOBPCG, pure Rust); it subtracts the mean itself.
///
/// # Safety
/// `data` points to n · m values, `sigma` to k values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn linfa_pca(data: *const f64, n: usize, m: usize, sigma: *mut f64, k: usize) -> Answer {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (data, out) = unsafe { (slice(data, n * m), slice_mut(sigma, k)) };
        let dataset = DatasetBase::new(ArrayView2::from_shape((n, m), data).ok()?, ());
        let (model, spent) = timed(|| Pca::params(k).fit(&dataset));
        Some(Answer::timed(spent).with_sigma(model.ok()?.singular_values().as_slice()?, out))
    })
}
