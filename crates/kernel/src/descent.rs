//! One step of Nesterov's method for many small problems with the same matrix.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | G (r × r) | `gram` | symmetric, in panels of [`Number::DEPTH`] rows |
//! | f, b | `f`, `b` | r values for each unknown: the current iterate and the right-hand side |
//! | y | `y` | the extrapolated iterates |
//! | t, β | `length`, `momentum` | step length and momentum |
//!
//! ```text
//!     a = Gy,    f⁺ = max(y − t (a − b), 0),    y ← f⁺ + β (f⁺ − f)
//!     δ = Σ (a − b)²   where a < b or y > 0,  with the y before the step
//! ```
//! Unknowns are processed in batches of [`BATCH`], the number of columns of the widest tile; narrower tiles lie side
//! by side. Gy is never stored: the sums of a few rows are used as soon as they leave the registers, since the product
//! reads y from a packed copy.

use crate::gram::{Factors, Prefetch, PrefetchQueue};
use crate::machine::Machine;
use crate::panel::{MAX_REGISTER, Number, Packed, Panel, TILE_ROWS, TILE_STRIPS, TILE_SUMS};

/// Unknowns in a batch.
pub const BATCH: usize = MAX_REGISTER * TILE_STRIPS * <f64 as Packed>::LANES;

/// One value of each unknown of a batch.
pub type BatchRow = [f64; BATCH];

/// The iterates of all unknowns. All arrays have the same number of rows: r for the first [`BATCH`] unknowns, then r
/// for the next.
pub struct Iterates<'a> {
    /// y before the step, overwritten by y after it.
    pub y: &'a mut [BatchRow],
    /// f.
    pub f: &'a [BatchRow],
    /// f⁺.
    pub next: &'a mut [BatchRow],
    /// b.
    pub b: &'a [BatchRow],
}

/// Scratch memory for the packed y of one batch.
pub struct Workspace(Vec<Panel<f64>>);

impl Workspace {
    /// Workspace for unknowns of `r` values.
    pub fn new(r: usize) -> Self {
        Self::on(Machine::detect(), r)
    }

    fn on(machine: Machine, r: usize) -> Self {
        let panel = |first: usize| {
            let mut panel = Panel::on(machine, BATCH);
            panel.set_depth((r - first).min(f64::DEPTH));
            panel
        };
        Self((0..r).step_by(f64::DEPTH).map(panel).collect())
    }
}

/// Performs the step and returns δ. `gram` has one panel for each [`Number::DEPTH`] rows of G.
pub fn descend(
    gram: &[Panel<f64>],
    iterates: Iterates<'_>,
    length: f64,
    momentum: f64,
    workspace: &mut Workspace,
) -> f64 {
    Descent { gram, length, momentum }.checked(iterates, workspace)
}

/// The parameters of a step.
#[derive(Clone, Copy)]
pub(crate) struct Descent<'a> {
    pub(crate) gram: &'a [Panel<f64>],
    pub(crate) length: f64,
    pub(crate) momentum: f64,
}

impl Descent<'_> {
    /// [`descend`].
    fn checked(self, iterates: Iterates<'_>, workspace: &mut Workspace) -> f64 {
        let r = self.gram.iter().map(Panel::depth).sum::<usize>();
        let fits = |(gram, workspace): (&Panel<f64>, &Panel<f64>)| {
            let whole = gram.width() == r && gram.stored_columns().len() == r;
            gram.depth() == workspace.depth() && whole && workspace.machine().wide() == gram.machine().wide()
        };
        assert!(
            self.gram.len() == workspace.0.len() && self.gram.iter().zip(&workspace.0).all(fits),
            "a square G, and workspace for its rows"
        );
        let rows = iterates.y.len();
        assert!([iterates.f.len(), iterates.next.len(), iterates.b.len()] == [rows; 3], "one value an entry");
        assert!(r > 0 && rows.is_multiple_of(r), "r values an unknown");
        match self.gram[0].machine() {
            Machine::Portable => self.all::<1>(r, iterates, workspace, crate::portable::tile),
            #[cfg(target_arch = "x86_64")]
            Machine::Avx2(avx2) => crate::avx2::descend(avx2, self, r, iterates, workspace),
            #[cfg(target_arch = "x86_64")]
            Machine::Avx512(avx512) => crate::avx512::descend(avx512, self, r, iterates, workspace),
        }
    }

    /// The step of all unknowns, with tiles of registers of `WIDE` · 32 bytes.
    #[inline(always)]
    pub(crate) fn all<const WIDE: usize>(
        self,
        r: usize,
        iterates: Iterates<'_>,
        workspace: &mut Workspace,
        tile: impl Fn(Factors<'_, f64>, &mut [f64; TILE_SUMS]),
    ) -> f64 {
        let (mut delta, steps, Iterates { y, f, next, b }) = (0.0, self.gram[0].steps(), iterates);
        for first in (0..y.len()).step_by(r) {
            let ((y, y_after), (f, f_after)) = (y[first..].split_at_mut(r), f[first..].split_at(r));
            let ((next, next_after), (b, b_after)) = (next[first..].split_at_mut(r), b[first..].split_at(r));
            for (panel, y) in workspace.0.iter_mut().zip(y.chunks(f64::DEPTH)) {
                panel.fill_steps(0, y.as_flattened());
            }
            // The next batch is prefetched meanwhile.
            let after = [&*y_after, b_after, f_after, &*next_after];
            let ahead = after.into_iter().flat_map(|rows| Prefetch::of(&rows[..rows.len().min(r)]).pieces(steps));
            delta += self.batch::<WIDE>(Iterates { y, f, next, b }, workspace, ahead, &tile);
        }
        delta
    }

    /// The step of one batch, whose y is packed.
    #[inline(always)]
    fn batch<'a, const WIDE: usize>(
        self,
        iterates: Iterates<'_>,
        workspace: &Workspace,
        mut ahead: impl Iterator<Item = Prefetch<'a>>,
        tile: &impl Fn(Factors<'_, f64>, &mut [f64; TILE_SUMS]),
    ) -> f64 {
        let Iterates { y, f, next, b } = iterates;
        let (mut sums, mut deltas, soon) = ([0.0; TILE_SUMS], [0.0; BATCH], &PrefetchQueue::none());
        let (tall, broad) = (WIDE * TILE_ROWS, WIDE * TILE_STRIPS * f64::LANES);
        let rows = y.chunks_mut(tall).zip(f.chunks(tall)).zip(next.chunks_mut(tall)).zip(b.chunks(tall));
        for (place, (((y, f), next), b)) in rows.enumerate() {
            let mut a = [[0.0; BATCH]; MAX_REGISTER * TILE_ROWS];
            for (gram, packed) in self.gram.iter().zip(&workspace.0) {
                for tiles in 0..BATCH / broad {
                    let (columns, rows) = (packed.strips_from(tiles * TILE_STRIPS), gram.strips_from(place));
                    let ahead = [(); 2].map(|()| ahead.next().unwrap_or_else(Prefetch::none));
                    let steps = gram.steps();
                    tile(Factors { columns, rows, lane: 0, count: TILE_STRIPS, steps, ahead, soon }, &mut sums);
                    for (a, sums) in a.iter_mut().zip(sums.chunks_exact(broad)).take(tall) {
                        a[tiles * broad..][..broad].iter_mut().zip(sums).for_each(|(a, sum)| *a += sum);
                    }
                }
            }
            for ((((y, f), next), b), a) in y.iter_mut().zip(f).zip(next).zip(b).zip(a) {
                (*y, *next) = self.entries(*y, *f, *b, a, &mut deltas);
            }
        }
        deltas.iter().sum()
    }

    /// y and f⁺ at some entries. Arguments are passed by value, so that the compiler sees no aliasing and vectorizes.
    #[inline(always)]
    fn entries(
        self,
        y: BatchRow,
        f: BatchRow,
        b: BatchRow,
        a: BatchRow,
        deltas: &mut BatchRow,
    ) -> (BatchRow, BatchRow) {
        let (mut extrapolated, mut next) = ([0.0; BATCH], [0.0; BATCH]);
        for c in 0..BATCH {
            let gradient = a[c] - b[c];
            deltas[c] += if (gradient < 0.0) | (y[c] > 0.0) { gradient * gradient } else { 0.0 };
            let new = y[c] - gradient * self.length;
            next[c] = if new > 0.0 { new } else { 0.0 };
            extrapolated[c] = next[c] + self.momentum * (next[c] - f[c]);
        }
        (extrapolated, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Integers of about eight values: products and sums are exact, in any order.
    fn whole(count: usize, seed: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 7919 + seed * 104_729) % 1013 % 9) as f64 - 4.0).collect()
    }

    fn panels(machine: Machine, gram: &[f64], r: usize) -> Vec<Panel<f64>> {
        let panel = |rows: &[f64]| {
            let mut panel = Panel::on(machine, r);
            panel.set_depth(rows.len() / r);
            panel.set_rows(0, rows);
            panel
        };
        gram.chunks(f64::DEPTH * r).map(panel).collect()
    }

    #[test]
    fn a_step_is_its_formula_at_every_entry() {
        for (r, groups) in [(1, 1), (4, 3), (13, 2), (100, 2), (300, 2)] {
            let half = whole(r * r, 1);
            let gram: Vec<f64> = (0..r * r).map(|at| half[at] + half[at % r * r + at / r]).collect();
            let [y, f, b] = [2, 3, 4].map(|seed| whole(groups * r * BATCH, seed));
            let (length, momentum) = (0.25, 0.5);
            for machine in Machine::all() {
                let panels = panels(machine, &gram, r);
                let (mut z, mut next) = (y.clone(), vec![f64::NAN; y.len()]);
                let iterates = Iterates {
                    y: z.as_chunks_mut().0,
                    f: f.as_chunks().0,
                    next: next.as_chunks_mut().0,
                    b: b.as_chunks().0,
                };
                let by = Descent { gram: &panels, length, momentum };
                let delta = by.checked(iterates, &mut Workspace::on(machine, r));
                let mut expected = 0.0;
                for at in 0..y.len() {
                    let (group, i, c) = (at / (r * BATCH), at / BATCH % r, at % BATCH);
                    let product: f64 = (0..r).map(|l| gram[i * r + l] * y[(group * r + l) * BATCH + c]).sum();
                    let gradient = product - b[at];
                    let new = (y[at] - gradient * length).max(0.0);
                    expected += if gradient < 0.0 || y[at] > 0.0 { gradient * gradient } else { 0.0 };
                    assert_eq!((next[at], z[at]), (new, new + momentum * (new - f[at])), "{r}, entry {at}");
                }
                assert_eq!(delta, expected, "{r}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "a square G")]
    fn a_matrix_that_is_not_square_is_refused() {
        let (mut y, mut next) = ([[0.0; BATCH]; 2], [[0.0; BATCH]; 2]);
        let iterates = Iterates { y: &mut y, f: &[[0.0; BATCH]; 2], next: &mut next, b: &[[0.0; BATCH]; 2] };
        descend(&panels(Machine::detect(), &[1.0; 6], 3), iterates, 1.0, 0.0, &mut Workspace::new(2));
    }
}
