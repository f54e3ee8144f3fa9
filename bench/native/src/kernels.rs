//! The Gram matrix of the small side alone, as the kernels give it: what BLAS calls `syrk`.

use std::ffi::c_void;

use eigenspan_kernel::{Number, Panel, Prefetch, Square, accumulate_prefetching};

use crate::clock::timed;
use crate::{Answer, guarded, slice, slice_mut};

/// The lower triangle of XᵀX (n ≥ m) or XXᵀ (n < m) into `gram`, min(n, m)² values. `kind` as in [`crate::ours::Ask`].
///
/// # Safety
/// `data` points to rows · cols values of `kind`, row after row, `gram` to min(rows, cols)² values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn es_gram(kind: u32, data: *const c_void, rows: usize, cols: usize, gram: *mut f64) -> Answer {
    guarded(|| {
        let p = rows.min(cols);
        // SAFETY: promised by the caller.
        let gram = unsafe { slice_mut(gram, p * p) };
        // SAFETY: promised by the caller.
        let (rows, spent) = unsafe {
            match kind {
                0 => timed(|| multiply(slice(data.cast::<f64>(), rows * cols), (rows, cols))),
                1 => timed(|| multiply(slice(data.cast::<f32>(), rows * cols), (rows, cols))),
                2 => timed(|| multiply(slice(data.cast::<u8>(), rows * cols), (rows, cols))),
                _ => return None,
            }
        };
        gram.copy_from_slice(&rows);
        Some(Answer::timed(spent))
    })
}

fn multiply<T: Number>(x: &[T], (n, m): (usize, usize)) -> Vec<f64> {
    let p = n.min(m);
    let (mut panel, mut gram) = (Panel::new(p), Square::zeros(p));
    if n >= m {
        let mut slabs = x.chunks(T::DEPTH * m).peekable();
        while let Some(slab) = slabs.next() {
            panel.set_depth(slab.len() / m);
            panel.set_rows(0, slab);
            accumulate_prefetching(&panel, gram.whole(), slabs.peek().map(|slab| Prefetch::of(slab)));
        }
        return gram.into_rows();
    }
    for first in (0..m).step_by(T::DEPTH) {
        let features = first..(first + T::DEPTH).min(m);
        panel.set_depth(features.len());
        panel.strips_mut().for_each(|mut strip| strip.set_columns(|i| &x[i * m..][features.clone()]));
        let next = features.end..(features.end + T::DEPTH).min(m);
        accumulate_prefetching(
            &panel,
            gram.whole(),
            x.chunks_exact(m).map(|sample| Prefetch::of(&sample[next.clone()])),
        );
    }
    gram.into_rows()
}
