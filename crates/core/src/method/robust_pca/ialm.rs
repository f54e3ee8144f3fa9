//! RPCA by the inexact augmented Lagrange method: the low-rank step of [`Alternation`] is a singular value threshold.
//!
//! ```text
//!     start      A = 0,   Y = D / max(‖D‖₂, ‖D‖_max/λ),   μ = 1.25/‖D‖₂
//!     a round    A ← S_{1/μ}(D − E + Y/μ)
//!     end        ‖D − A − E‖_F / ‖D‖_F below the tolerance
//! ```

use eigenspan_linalg::Exec;

use super::Task;
use crate::Error;
use crate::method::parts::alternation::Alternation;
use crate::method::parts::singular_threshold::SingularThreshold;
use crate::model::decomposed::{Split, largest};
use crate::model::trace::Trace;

pub(super) fn solve(task: &Task<'_>, exec: Exec<'_>) -> Result<Split, Error> {
    let Task { data, lambda, first, growth, tolerance, rounds } = *task;
    let mu = 1.25 / first;
    let dual = 1.0 / (first.max(largest(data) / lambda) * mu);
    let mut state = Alternation::start(data, lambda, [mu, growth], [0.0, dual]);
    let mut trace = Trace::of("residual");
    let mut shrink = SingularThreshold::default();
    loop {
        let low_rank = shrink.of(&state.target, state.threshold(), exec)?;
        let residual = state.advance(&low_rank, exec)?;
        exec.report("separate", trace.rounds + 1, rounds)?;
        if trace.ended(residual, residual < tolerance, rounds) {
            return Ok(Split { low_rank, sparse: state.finish(), trace });
        }
    }
}
