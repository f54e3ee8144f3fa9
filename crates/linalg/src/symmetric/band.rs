//! Tridiagonal form by way of a band, for eigenvalues without eigenvectors.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | G | `a` (p × p, column after column) | the matrix; its lower triangle is overwritten |
//! | B | [`WIDTH`] | stored entries below the diagonal of a column of the band |
//! | V, T | `v`, `t` | the product of B reflections: H₀H₁… = I − V T Vᵀ, T upper triangular |
//! | W | `w` | Y − ½ V Tᵀ(VᵀY) with Y = G V T |
//!
//! ```text
//!     G ← (I − V Tᵀ Vᵀ) G (I − V T Vᵀ) = G − V Wᵀ − W Vᵀ        B columns of the band are done, the rest is smaller
//! ```
//! The direct method ([`reduce`](mod@super::reduce)) reads the trailing triangle once for every column, at the speed of
//! memory. Here B columns share one read, and the remaining reduction from a band of B to one of 1 is some 6·B·p²
//! operations in the nearest caches: a reflection of B entries makes a column tridiagonal, fills a square below the
//! band, and is chased along it to the end.
//!
//! Bischof, Lang, Sun (2000) — `bischof2000` in `docs/references.bib`. **Where we differ:** the band is as narrow as a
//! vector register, so that the chase is cheap; updates of several blocks are delayed and applied together.

use pulp::{Arch, Simd, WithSimd};

use crate::Error;
use crate::exec::Exec;

use super::kernel::{SIDES, add_columns, dots, symm};
use super::reduce::{NEGLIGIBLE, PANEL, UpdatePanel, reflector};

/// B.
pub(super) const WIDTH: usize = SIDES;
/// Entries of a column while a bulge passes: from the diagonal to 2B − 1 below it.
const REACH: usize = 2 * WIDTH;

/// The diagonal and the off-diagonal of a tridiagonal matrix with the eigenvalues of `a`, which is overwritten.
pub(super) fn reduce_by_band(a: &mut [f64], p: usize, exec: Exec<'_>) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let mut band = Band { columns: vec![[0.0; REACH]; p + REACH], order: p };
    let mut panel = UpdatePanel::new(p);
    for start in (0..p).step_by(PANEL) {
        let end = (start + PANEL).min(p);
        panel.begin(p - start);
        for j in (start..end).step_by(WIDTH) {
            exec.check()?;
            panel.block(a, p, start, j, &mut band);
        }
        if end < p {
            panel.update(&mut a[end * p..], p, end, exec)?;
        }
    }
    band.chase(panel.arch, exec)
}

impl UpdatePanel {
    /// Applies pending updates to the columns of the band from `j` on and stores them in the band, their reflections
    /// and the corresponding W in the panel.
    fn block(&mut self, a: &mut [f64], p: usize, start: usize, j: usize, band: &mut Band) {
        let (done, width, below) = (j - start, WIDTH.min(p - j), j + WIDTH);
        let (left, right) = a.split_at_mut((j + width) * p);
        let columns = &mut left[j * p..];
        for c in 0..width {
            self.bring_up_to_date(&mut columns[c * p + j + c..(c + 1) * p], done + c, done);
        }
        if below < p {
            let t = self.triangularize(columns, p, below, done);
            self.delay_update(&right[below..], p, done, &t);
        }
        for (c, column) in columns.chunks_exact(p).enumerate() {
            let entries = &column[j + c..(j + c + WIDTH + 1).min(p)];
            band.columns[j + c][..entries.len()].copy_from_slice(entries);
        }
    }

    /// Makes the rows of a block from `below` on upper triangular. Its reflections become columns of V, from `done` on;
    /// T is returned, row after row.
    fn triangularize(&mut self, columns: &mut [f64], p: usize, below: usize, done: usize) -> [[f64; WIDTH]; WIDTH] {
        let rows = self.rows;
        let mut t = [[0.0; WIDTH]; WIDTH];
        for c in 0..WIDTH.min(p - below) {
            let (this, later) = columns.split_at_mut((c + 1) * p);
            let v = &mut this[c * p + below + c..];
            let (off, scale) = reflector(self.arch, v);
            if scale.is_finite() {
                for other in later.chunks_exact_mut(p) {
                    let other = &mut other[below + c..];
                    let mut along = [0.0];
                    dots(self.arch, v, v.len(), other, &mut along);
                    add_columns(self.arch, v, v.len(), &[-along[0] / scale], other);
                }
                let first = done + WIDTH + c;
                let mut along = [0.0; WIDTH];
                dots(self.arch, &self.pair[done * rows + first..], rows, v, &mut along[..c]);
                for b in 0..c {
                    t[b][c] = -(b..c).map(|l| t[b][l] * along[l]).sum::<f64>() / scale;
                }
                t[c][c] = 1.0 / scale;
                self.pair[(done + c) * rows + first..][..v.len()].copy_from_slice(v);
            }
            v[0] = off;
        }
        t
    }

    /// W of the block whose reflections are the columns of V from `done` on.
    fn delay_update(&mut self, trailing: &[f64], p: usize, done: usize, t: &[[f64; WIDTH]; WIDTH]) {
        let (arch, rows, first) = (self.arch, self.rows, done + WIDTH);
        let height = rows - first;
        let (pair_v, pair_w) = self.pair.split_at_mut(PANEL * rows);
        let v = &pair_v[done * rows + first..];
        let w = &mut self.w[..WIDTH * height];
        let (x, y) = self.transposed[..2 * WIDTH * height].split_at_mut(WIDTH * height);
        (0..height).for_each(|i| (0..WIDTH).for_each(|c| x[i * WIDTH + c] = v[c * rows + i]));
        symm(arch, trailing, p, x, y);
        (0..height).for_each(|i| (0..WIDTH).for_each(|c| w[c * height + i] = y[i * WIDTH + c]));
        if done > 0 {
            // The updates of earlier blocks on G are still pending.
            for (c, w) in w.chunks_exact_mut(height).enumerate() {
                let (mut along_v, mut along_w) = ([0.0; PANEL], [0.0; PANEL]);
                let v = &v[c * rows..][..height];
                dots(arch, &pair_v[first..], rows, v, &mut along_v[..done]);
                dots(arch, &pair_w[first..], rows, v, &mut along_w[..done]);
                along_v.iter_mut().chain(&mut along_w).for_each(|z| *z = -*z);
                add_columns(arch, &pair_v[first..], rows, &along_w[..done], w);
                add_columns(arch, &pair_w[first..], rows, &along_v[..done], w);
            }
        }
        // Y = G V T, from the last column on: each needs the unmodified columns before it.
        for c in (0..WIDTH).rev() {
            let (before, this) = w.split_at_mut(c * height);
            let this = &mut this[..height];
            this.iter_mut().for_each(|y| *y *= t[c][c]);
            let weights: [f64; WIDTH] = std::array::from_fn(|b| t[b][c]);
            add_columns(arch, before, height, &weights[..c], this);
        }
        for y in w.chunks_exact_mut(height) {
            let mut along = [0.0; WIDTH];
            dots(arch, v, rows, y, &mut along);
            let half =
                std::array::from_fn::<f64, WIDTH, _>(|a| -0.5 * (0..=a).map(|b| t[b][a] * along[b]).sum::<f64>());
            add_columns(arch, v, rows, &half, y);
        }
        for (c, w) in w.chunks_exact(height).enumerate() {
            pair_w[(done + c) * rows + first..][..height].copy_from_slice(w);
        }
    }
}

/// A symmetric band, and columns of zeros past its end.
struct Band {
    /// Entry d of column j is that of row j + d.
    columns: Vec<[f64; REACH]>,
    order: usize,
}

impl Band {
    /// From a band of B to one of 1: its diagonal and off-diagonal.
    fn chase(mut self, arch: Arch, exec: Exec<'_>) -> Result<(Vec<f64>, Vec<f64>), Error> {
        let p = self.order;
        for j in 0..p.saturating_sub(2) {
            exec.check()?;
            arch.dispatch(Sweep { columns: &mut self.columns[j..], rows: p - j });
        }
        let entry = |d: usize| self.columns[..p.saturating_sub(d)].iter().map(|c| c[d]).collect();
        Ok((entry(0), entry(1)))
    }
}

/// Makes the first of `columns` tridiagonal, and chases the bulge to the end. There are `rows` rows.
struct Sweep<'a> {
    columns: &'a mut [[f64; REACH]],
    rows: usize,
}

impl WithSimd for Sweep<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let mut column = 0;
        // The first column has its entries below the diagonal; each further one, those below the square of the last
        // step.
        let mut offset = 1;
        while column + offset + 1 < self.rows {
            let (entries, others) = self.columns[column..].split_first_mut().expect("columns end in zeros");
            let (v, scale) = small_reflector(&mut entries[offset..offset + WIDTH]);
            for (d, other) in (1..offset).rev().zip(&mut *others) {
                from_the_left(&v, scale, (&mut other[d..d + WIDTH]).try_into().expect("B entries"));
            }
            let square: &mut [_; WIDTH] = (&mut others[offset - 1..offset - 1 + WIDTH]).try_into().expect("B columns");
            from_both_sides(&v, scale, square);
            from_the_right(&v, scale, square);
            column += offset;
            offset = WIDTH;
        }
    }
}

/// v and 1/τ of H = I − v vᵀ/τ, which makes all but the first entry of `x` zero; `x` becomes H x.
#[inline(always)]
fn small_reflector(x: &mut [f64]) -> ([f64; WIDTH], f64) {
    let squares = x[1] * x[1] + x[2] * x[2] + x[3] * x[3];
    if squares < NEGLIGIBLE {
        x[1..].fill(0.0);
        return ([0.0; WIDTH], 0.0);
    }
    let off = -(x[0] * x[0] + squares).sqrt().copysign(x[0]);
    let unit = 1.0 / (x[0] - off);
    let v = [1.0, x[1] * unit, x[2] * unit, x[3] * unit];
    let scale = (off - x[0]) / off;
    x.copy_from_slice(&[off, 0.0, 0.0, 0.0]);
    (v, scale)
}

/// H y.
#[inline(always)]
fn from_the_left(v: &[f64; WIDTH], scale: f64, y: &mut [f64; WIDTH]) {
    let along = scale * ((v[0] * y[0] + v[1] * y[1]) + (v[2] * y[2] + v[3] * y[3]));
    for i in 0..WIDTH {
        y[i] -= along * v[i];
    }
}

/// H S H for the square S on the diagonal of these columns.
#[inline(always)]
fn from_both_sides(v: &[f64; WIDTH], scale: f64, columns: &mut [[f64; REACH]; WIDTH]) {
    let entry = |i: usize, j: usize, columns: &[[f64; REACH]; WIDTH]| columns[i.min(j)][i.abs_diff(j)];
    let mut w = [0.0; WIDTH];
    for j in 0..WIDTH {
        for i in 0..WIDTH {
            w[i] += entry(i, j, columns) * v[j];
        }
    }
    let along = (w[0] * v[0] + w[1] * v[1]) + (w[2] * v[2] + w[3] * v[3]);
    for i in 0..WIDTH {
        w[i] = scale * (w[i] - 0.5 * scale * along * v[i]);
    }
    for j in 0..WIDTH {
        for i in j..WIDTH {
            columns[j][i - j] -= v[i] * w[j] + w[i] * v[j];
        }
    }
}

/// S H for the square S below that one.
#[inline(always)]
fn from_the_right(v: &[f64; WIDTH], scale: f64, columns: &mut [[f64; REACH]; WIDTH]) {
    let mut z = [0.0; WIDTH];
    for j in 0..WIDTH {
        for i in 0..WIDTH {
            z[i] += columns[j][WIDTH + i - j] * v[j];
        }
    }
    for j in 0..WIDTH {
        for i in 0..WIDTH {
            columns[j][WIDTH + i - j] -= scale * z[i] * v[j];
        }
    }
}
