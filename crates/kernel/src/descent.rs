//! One step of Nesterov's method for many small problems with the same matrix.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | G (r × r) | `gram` | symmetric, in panels of [`Number::DEPTH`] rows |
//! | f, b | `f`, `b` | r values for each unknown: where it is, and the right-hand side |
//! | y | `y` | the point that momentum has led to |
//! | t, β | `length`, `momentum` | of the step |
//!
//! ```text
//!     a = Gy,    f⁺ = max(y − t (a − b), 0),    y ← f⁺ + β (f⁺ − f)
//!     δ = Σ (a − b)²   where a < b or y > 0,  with the y before the step
//! ```
//! Unknowns go [`ABREAST`] at a time, as many as the widest tile has columns; narrower tiles lie side by side. Gy is stored
//! nowhere: the sums of a few rows are used up as soon as they leave the registers, since the product reads y from a packed
//! copy.

use crate::gram::{Ahead, Factors, Soon};
use crate::machine::Machine;
use crate::panel::{GROUP, Number, Packed, Panel, SUMS, TALL, WIDEST};

/// Unknowns side by side.
pub const ABREAST: usize = WIDEST * GROUP * <f64 as Packed>::LANES;

/// One value of each of the unknowns that are side by side.
pub type Row = [f64; ABREAST];

/// Where the unknowns are. All arrays have as many rows: r for the first [`ABREAST`] unknowns, then r for the next.
pub struct Point<'a> {
    /// y, before and after.
    pub y: &'a mut [Row],
    /// f.
    pub f: &'a [Row],
    /// f⁺.
    pub next: &'a mut [Row],
    /// b.
    pub b: &'a [Row],
}

/// Memory for the packed y of unknowns that are side by side.
pub struct Room(Vec<Panel<f64>>);

impl Room {
    /// For unknowns of `r` values.
    pub fn new(r: usize) -> Self {
        Self::on(Machine::detect(), r)
    }

    fn on(machine: Machine, r: usize) -> Self {
        let panel = |first: usize| {
            let mut panel = Panel::on(machine, ABREAST);
            panel.set_depth((r - first).min(f64::DEPTH));
            panel
        };
        Self((0..r).step_by(f64::DEPTH).map(panel).collect())
    }
}

/// Takes the step, and returns δ. `gram` has a panel for each [`Number::DEPTH`] rows of G.
pub fn descend(gram: &[Panel<f64>], point: Point<'_>, length: f64, momentum: f64, room: &mut Room) -> f64 {
    Descent { gram, length, momentum }.checked(point, room)
}

/// What steps are made with.
#[derive(Clone, Copy)]
pub(crate) struct Descent<'a> {
    pub(crate) gram: &'a [Panel<f64>],
    pub(crate) length: f64,
    pub(crate) momentum: f64,
}

impl Descent<'_> {
    /// [`descend`].
    fn checked(self, point: Point<'_>, room: &mut Room) -> f64 {
        let r = self.gram.iter().map(Panel::depth).sum::<usize>();
        let fits = |(gram, room): (&Panel<f64>, &Panel<f64>)| {
            let whole = gram.width() == r && gram.kept().len() == r;
            gram.depth() == room.depth() && whole && room.machine().wide() == gram.machine().wide()
        };
        assert!(
            self.gram.len() == room.0.len() && self.gram.iter().zip(&room.0).all(fits),
            "a square G, and room for its rows"
        );
        let rows = point.y.len();
        assert!([point.f.len(), point.next.len(), point.b.len()] == [rows; 3], "one value an entry");
        assert!(r > 0 && rows.is_multiple_of(r), "r values an unknown");
        match self.gram[0].machine() {
            Machine::Portable => self.all::<1>(r, point, room, crate::portable::tile),
            #[cfg(target_arch = "x86_64")]
            Machine::Avx2(avx2) => crate::avx2::descend(avx2, self, r, point, room),
            #[cfg(target_arch = "x86_64")]
            Machine::Avx512(avx512) => crate::avx512::descend(avx512, self, r, point, room),
        }
    }

    /// The step of all unknowns, with tiles of registers of `WIDE` · 32 bytes.
    #[inline(always)]
    pub(crate) fn all<const WIDE: usize>(
        self,
        r: usize,
        point: Point<'_>,
        room: &mut Room,
        tile: impl Fn(Factors<'_, f64>, &mut [f64; SUMS]),
    ) -> f64 {
        let (mut delta, steps, Point { y, f, next, b }) = (0.0, self.gram[0].steps(), point);
        for first in (0..y.len()).step_by(r) {
            let ((y, y_after), (f, f_after)) = (y[first..].split_at_mut(r), f[first..].split_at(r));
            let ((next, next_after), (b, b_after)) = (next[first..].split_at_mut(r), b[first..].split_at(r));
            for (panel, y) in room.0.iter_mut().zip(y.chunks(f64::DEPTH)) {
                panel.fill_steps(0, y.as_flattened());
            }
            // The next unknowns are on their way meanwhile.
            let after = [&*y_after, b_after, f_after, &*next_after];
            let ahead = after.into_iter().flat_map(|rows| Ahead::of(&rows[..rows.len().min(r)]).pieces(steps));
            delta += self.some::<WIDE>(Point { y, f, next, b }, room, ahead, &tile);
        }
        delta
    }

    /// The step of unknowns side by side, whose y is packed.
    #[inline(always)]
    fn some<'a, const WIDE: usize>(
        self,
        point: Point<'_>,
        room: &Room,
        mut ahead: impl Iterator<Item = Ahead<'a>>,
        tile: &impl Fn(Factors<'_, f64>, &mut [f64; SUMS]),
    ) -> f64 {
        let Point { y, f, next, b } = point;
        let (mut sums, mut deltas, soon) = ([0.0; SUMS], [0.0; ABREAST], &Soon::nothing());
        let (tall, broad) = (WIDE * TALL, WIDE * GROUP * f64::LANES);
        let rows = y.chunks_mut(tall).zip(f.chunks(tall)).zip(next.chunks_mut(tall)).zip(b.chunks(tall));
        for (place, (((y, f), next), b)) in rows.enumerate() {
            let mut a = [[0.0; ABREAST]; WIDEST * TALL];
            for (gram, packed) in self.gram.iter().zip(&room.0) {
                for tiles in 0..ABREAST / broad {
                    let (columns, rows) = (packed.strips_from(tiles * GROUP), gram.strips_from(place));
                    let ahead = [(); 2].map(|()| ahead.next().unwrap_or_else(Ahead::nothing));
                    let steps = gram.steps();
                    tile(Factors { columns, rows, lane: 0, count: GROUP, steps, ahead, soon }, &mut sums);
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

    /// y and f⁺ at some entries. By value, so that the compiler sees that nothing overlaps and takes four at a time.
    #[inline(always)]
    fn entries(self, y: Row, f: Row, b: Row, a: Row, deltas: &mut Row) -> (Row, Row) {
        let (mut led, mut next) = ([0.0; ABREAST], [0.0; ABREAST]);
        for c in 0..ABREAST {
            let slope = a[c] - b[c];
            deltas[c] += if (slope < 0.0) | (y[c] > 0.0) { slope * slope } else { 0.0 };
            let new = y[c] - slope * self.length;
            next[c] = if new > 0.0 { new } else { 0.0 };
            led[c] = next[c] + self.momentum * (next[c] - f[c]);
        }
        (led, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole numbers of eight values or so: products and sums are exact, in any order.
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
            let [y, f, b] = [2, 3, 4].map(|seed| whole(groups * r * ABREAST, seed));
            let (length, momentum) = (0.25, 0.5);
            for machine in Machine::all() {
                let panels = panels(machine, &gram, r);
                let (mut z, mut next) = (y.clone(), vec![f64::NAN; y.len()]);
                let point = Point {
                    y: z.as_chunks_mut().0,
                    f: f.as_chunks().0,
                    next: next.as_chunks_mut().0,
                    b: b.as_chunks().0,
                };
                let by = Descent { gram: &panels, length, momentum };
                let delta = by.checked(point, &mut Room::on(machine, r));
                let mut want = 0.0;
                for at in 0..y.len() {
                    let (group, i, c) = (at / (r * ABREAST), at / ABREAST % r, at % ABREAST);
                    let product: f64 = (0..r).map(|l| gram[i * r + l] * y[(group * r + l) * ABREAST + c]).sum();
                    let slope = product - b[at];
                    let new = (y[at] - slope * length).max(0.0);
                    want += if slope < 0.0 || y[at] > 0.0 { slope * slope } else { 0.0 };
                    assert_eq!((next[at], z[at]), (new, new + momentum * (new - f[at])), "{r}, entry {at}");
                }
                assert_eq!(delta, want, "{r}");
            }
        }
    }

    #[test]
    #[should_panic(expected = "a square G")]
    fn a_matrix_that_is_not_square_is_refused() {
        let (mut y, mut next) = ([[0.0; ABREAST]; 2], [[0.0; ABREAST]; 2]);
        let point = Point { y: &mut y, f: &[[0.0; ABREAST]; 2], next: &mut next, b: &[[0.0; ABREAST]; 2] };
        descend(&panels(Machine::detect(), &[1.0; 6], 3), point, 1.0, 0.0, &mut Room::new(2));
    }
}
