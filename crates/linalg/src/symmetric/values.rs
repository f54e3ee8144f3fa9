//! Eigenvalues of a symmetric tridiagonal matrix T: all of them, the number above a cut, the largest few.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | a_i | `diagonal` (p) | the diagonal of T |
//! | b_i | `off` (p − 1) | its off-diagonal |
//! | q_i | `pivot` | pivots of xI − T: as many are negative as there are eigenvalues above x |
//!
//! ```text
//!     q₀ = x − a₀,      q_i = x − a_i − b²_{i−1} / q_{i−1}                          (Sturm)
//! ```
//! [`all`] is the square-root-free QL iteration of Pal, Walker and Kahan; [`Sturm::bisect`] bisects with Sturm counts,
//! a batch of shifts together, because a single count is limited by the latency of its divisions. The error of every
//! value is a few eps·‖T‖.
//!
//! Parlett (1998), ch. 8 — `parlett1998`; Demmel, Dhillon, Ren (1995) — `demmel1995` in `docs/references.bib`.

use pulp::Arch;

/// Shifts counted together: enough independent divisions to keep the divider busy.
pub const BATCH: usize = 16;
/// A secant beyond this is that of a right angle.
const LARGE: f64 = 1e300;
/// Maximum average number of sweeps per value; three are usual.
const SWEEPS: usize = 30;

/// All eigenvalues, in descending order; `None` if the iteration does not converge.
pub fn all(diagonal: &[f64], off: &[f64]) -> Option<Vec<f64>> {
    let mut d = diagonal.to_vec();
    let norm = bound(diagonal, off);
    let mut squares: Vec<f64> = off.iter().map(|b| b * b).collect();
    // Off-diagonals this small, all of them together, change no value by more than 2·eps·‖T‖. Among values that agree
    // to the last digit, rounding prevents the iteration from making them much smaller.
    let negligible = (f64::EPSILON * norm).powi(2);
    let mut sweeps = SWEEPS * d.len();
    let mut end = d.len();
    while end > 0 {
        let start = (1..end).rev().find(|&i| squares[i - 1] <= negligible).unwrap_or(0);
        if end - start > 1 {
            let (d, squares) = (&mut d[start..end], &mut squares[start..end - 1]);
            // The iteration converges from the top down, and small values lose least if they come first.
            if d[d.len() - 1].abs() < d[0].abs() {
                d.reverse();
                squares.reverse();
            }
            ql(d, squares, negligible, &mut sweeps)?;
        }
        end = start;
    }
    d.sort_by(|a, b| b.total_cmp(a));
    Some(d)
}

/// Replaces `d` by the eigenvalues of the block with diagonal `d` and squared off-diagonal `squares`.
fn ql(d: &mut [f64], squares: &mut [f64], negligible: f64, sweeps: &mut usize) -> Option<()> {
    let n = d.len();
    let mut first = 0;
    while first < n {
        let last = (first..n - 1).find(|&i| squares[i] <= negligible).unwrap_or(n - 1);
        if last == first {
            first += 1;
            continue;
        }
        *sweeps = sweeps.checked_sub(1)?;
        let root = squares[first].sqrt();
        let half = (d[first + 1] - d[first]) / (2.0 * root);
        let shift = d[first] - root / (half + half.hypot(1.0).copysign(half));
        sweep(&mut d[first..=last], &mut squares[first..last], shift);
    }
    Some(())
}

/// One QL sweep with the shift σ, on squared entries.
fn sweep(d: &mut [f64], squares: &mut [f64], sigma: f64) {
    let last = d.len() - 1;
    let (mut cosine, mut sine) = (1.0, 0.0);
    let mut gamma = d[last] - sigma;
    let mut p = gamma * gamma;
    for i in (0..last).rev() {
        let square = squares[i];
        let r = p + square;
        if i + 1 < last {
            squares[i + 1] = sine * r;
        }
        let (old_cosine, old_gamma) = (cosine, gamma);
        // Two independent divisions: 1/r, and r/p for 1/cosine.
        let (inverse, secant) = (1.0 / r, r / p);
        cosine = p * inverse;
        sine = square * inverse;
        gamma = cosine * (d[i] - sigma) - sine * old_gamma;
        d[i + 1] = old_gamma + (d[i] - gamma);
        p = if secant < LARGE { gamma * gamma * secant } else { old_cosine * square };
    }
    squares[0] = sine * p;
    d[0] = sigma + gamma;
}

/// The largest row sum of |T|: no eigenvalue is larger in absolute value.
pub fn bound(diagonal: &[f64], off: &[f64]) -> f64 {
    let beside = |i: usize| off.get(i).map_or(0.0, |b| b.abs());
    (0..diagonal.len())
        .map(|i| diagonal[i].abs() + beside(i) + if i > 0 { beside(i - 1) } else { 0.0 })
        .fold(0.0, f64::max)
}

/// Counts of eigenvalues above many shifts.
pub struct Sturm {
    arch: Arch,
    /// a_i and b²_{i−1}.
    rows: Vec<(f64, f64)>,
    /// The smallest pivot that b² can be divided by.
    least: f64,
    norm: f64,
}

impl Sturm {
    pub fn new(diagonal: &[f64], off: &[f64]) -> Self {
        let squares = std::iter::once(0.0).chain(off.iter().map(|b| b * b));
        let rows: Vec<_> = diagonal.iter().copied().zip(squares).collect();
        let least = rows.iter().fold(1.0, |most: f64, row| most.max(row.1)) * f64::MIN_POSITIVE;
        Self { arch: Arch::new(), rows, least, norm: bound(diagonal, off) }
    }

    /// The number of eigenvalues above each shift.
    pub fn above(&self, shifts: &[f64; BATCH]) -> [usize; BATCH] {
        let count = || {
            let (mut pivot, mut counts) = ([1.0; BATCH], [0.0; BATCH]);
            for &(a, square) in &self.rows {
                for s in 0..BATCH {
                    let next: f64 = (shifts[s] - a) - square / pivot[s];
                    // A shift equal to an eigenvalue counts as just above it.
                    pivot[s] = if next.abs() < self.least { self.least } else { next };
                    counts[s] += if pivot[s] < 0.0 { 1.0 } else { 0.0 };
                }
            }
            counts
        };
        self.arch.dispatch(count).map(|c| c as usize)
    }

    /// The eigenvalues number `first`, `first + 1`, … in descending order, each to eps·‖T‖.
    pub fn bisect(&self, first: usize) -> [f64; BATCH] {
        let reach = self.norm * (1.0 + 4.0 * f64::EPSILON) + f64::MIN_POSITIVE;
        let (mut low, mut high) = ([-reach; BATCH], [reach; BATCH]);
        for _ in 0..4 * f64::MANTISSA_DIGITS {
            let shifts = spread(&low, &high);
            for (x, above) in shifts.into_iter().zip(self.above(&shifts)) {
                // Value number i lies above x exactly if more than i values do: one count serves all intervals.
                for s in 0..BATCH {
                    if x > low[s] && x < high[s] {
                        *if above > first + s { &mut low[s] } else { &mut high[s] } = x;
                    }
                }
            }
            if (0..BATCH).all(|s| high[s] - low[s] <= f64::EPSILON * self.norm) {
                break;
            }
        }
        std::array::from_fn(|s| 0.5 * (low[s] + high[s]))
    }
}

/// Shifts that cut the intervals [low, high]: m values that still share an interval cut it into m + 1 parts.
fn spread(low: &[f64; BATCH], high: &[f64; BATCH]) -> [f64; BATCH] {
    let mut shifts = [0.0; BATCH];
    let mut start = 0;
    while start < BATCH {
        let same = |s: &usize| low[*s] == low[start] && high[*s] == high[start];
        let run = (start..BATCH).take_while(same).count();
        for r in 0..run {
            let part = (r + 1) as f64 / (run + 1) as f64;
            shifts[start + r] = low[start] + part * (high[start] - low[start]);
        }
        start += run;
    }
    shifts
}
