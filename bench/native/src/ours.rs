//! eigenspan itself: raw samples in, k and directions out; scan, scaling, fit and certificate are all billed.

use std::ffi::c_void;
use std::num::NonZero;

use eigenspan_core::data::Samples;
use eigenspan_core::method::pce::PathStep;
use eigenspan_core::{Dim, Exec, Lambda, MatRef, Normalize, Pce, PceParams, Quiet};

use crate::clock::timed;
use crate::{Answer, guarded, slice, slice_mut};

/// Parameters of a fit. The numbers of `kind` and `rule` are named in `bench/binding.py`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ask {
    /// 0 `f64`, 1 `f32`, 2 `u8`; row after row.
    pub kind: u32,
    /// 0 auto, 1 λ = `value`, 2 the `value` largest directions.
    pub rule: u32,
    pub value: f64,
    pub unit_rows: u32,
    pub center: u32,
    pub threads: usize,
    pub rows: usize,
    pub cols: usize,
    pub data: *const c_void,
}

impl Ask {
    fn params(&self) -> Option<PceParams> {
        let (lambda, dim) = match self.rule {
            0 => (Lambda::Auto, Dim::Auto),
            1 => (Lambda::Fixed(self.value), Dim::Auto),
            2 => (Lambda::Auto, Dim::Fixed(self.value as usize)),
            _ => return None,
        };
        let normalize = if self.unit_rows != 0 { Normalize::Unit } else { Normalize::None };
        Some(PceParams { lambda, dim, normalize, center: self.center != 0, ..PceParams::default() })
    }

    /// # Safety
    /// `data` points to rows · cols values of `kind`.
    unsafe fn samples<'a>(&self) -> Option<Samples<'a>> {
        let (n, m) = (self.rows, self.cols);
        // SAFETY: promised by the caller.
        unsafe {
            match self.kind {
                0 => MatRef::row_major(slice(self.data.cast::<f64>(), n * m), n, m).map(Samples::from),
                1 => MatRef::row_major(slice(self.data.cast::<f32>(), n * m), n, m).map(Samples::from),
                2 => MatRef::row_major(slice(self.data.cast::<u8>(), n * m), n, m).map(Samples::from),
                _ => None,
            }
        }
    }

    fn exec(&self) -> Exec<'static> {
        Exec::new(NonZero::new(self.threads), &Quiet)
    }
}

fn described(mut answer: Answer, model: &Pce, sigma: &mut [f64]) -> Answer {
    let parts = model.parts();
    answer.k = parts.k;
    answer.tau = parts.tau;
    answer.certified = u32::from(parts.certified);
    let name = parts.solver.as_bytes();
    let shown = name.len().min(answer.solver.len() - 1);
    answer.solver[..shown].copy_from_slice(&name[..shown]);
    answer.with_sigma(&parts.sigma, sigma)
}

/// One fit.
///
/// # Safety
/// `ask.data` points to rows · cols values of its kind, `sigma` to `capacity` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn es_fit(ask: Ask, sigma: *mut f64, capacity: usize) -> Answer {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (samples, sigma) = unsafe { (ask.samples()?, slice_mut(sigma, capacity)) };
        let params = ask.params()?;
        let (model, spent) = timed(|| params.fit_with(samples, ask.exec()));
        Some(described(Answer::timed(spent), &model.ok()?, sigma))
    })
}

/// k for each of many λ, smallest first: one fit at the largest, then its path.
///
/// # Safety
/// As for [`es_fit`]; `lambdas` and `ks` point to `count` values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn es_sweep(ask: Ask, lambdas: *const f64, ks: *mut usize, count: usize) -> Answer {
    guarded(|| {
        // SAFETY: promised by the caller.
        let (samples, lambdas, ks) = unsafe { (ask.samples()?, slice(lambdas, count), slice_mut(ks, count)) };
        let params = PceParams { lambda: Lambda::Fixed(*lambdas.last()?), ..ask.params()? };
        let (model, spent) = timed(|| {
            let model = params.fit_with(samples, ask.exec()).ok()?;
            let path = model.path();
            lambdas.iter().zip(ks).for_each(|(lambda, k)| *k = dimension_at(&path, *lambda));
            Some(model)
        });
        Some(described(Answer::timed(spent), &model?, &mut []))
    })
}

/// The last step of the path that begins below λ.
fn dimension_at(path: &[PathStep], lambda: f64) -> usize {
    let below = path.partition_point(|step| step.lambda < lambda);
    if below == 0 { 0 } else { path[below - 1].k }
}
