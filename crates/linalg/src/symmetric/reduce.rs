//! Householder reduction of a symmetric matrix to tridiagonal form, a panel of columns at a time.
//!
//! | paper | code | meaning |
//! |---|---|---|
//! | G | `a` (p × p, column after column) | the matrix; its lower triangle is overwritten |
//! | v_j | column j of `a`, below the diagonal | Householder vector, 1 in row j + 1 |
//! | τ_j | `scales[j]` | H_j = I − v_j v_jᵀ / τ_j, infinite where H_j = I |
//! | V, W | `pair` (rows × 2·PANEL) | the update of one panel: G ← G − V Wᵀ − W Vᵀ |
//!
//! ```text
//!     w = (G v − V Wᵀv − W Vᵀv) / τ,      w ← w − (vᵀw / 2τ) v,      T = QᵀGQ,  Q = H₀H₁…
//! ```
//! Half of the work is a matrix product, at the machine's speed; the other half, G v, reads the whole trailing triangle
//! for every column, at the memory's bandwidth.
//!
//! Dongarra, Sorensen, Hammarling (1989) — `dongarra1989` in `docs/references.bib`.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut as FaerMut, MatRef as FaerRef, Par};
use pulp::Arch;

use crate::Error;
use crate::exec::Exec;

use super::band::WIDTH;
use super::kernel::{add_columns, dots, symv};

/// Columns of a panel.
pub(super) const PANEL: usize = 24;
/// Columns of a stripe of the trailing matrix that are updated together.
const STRIPE: usize = 96;
/// A trailing matrix smaller than this does not justify threads.
const MIN_THREADED: usize = 1000;
/// The squared length below which a vector counts as zero: below, digits are lost to underflow.
pub(super) const NEGLIGIBLE: f64 = 1e-280;

/// The result of the reduction besides the vectors in `a`.
pub struct Reduced {
    pub diagonal: Vec<f64>,
    pub off: Vec<f64>,
    pub scales: Vec<f64>,
}

/// Reduces the lower triangle of `a` and leaves the Householder vectors in it.
pub fn reduce(a: &mut [f64], p: usize, exec: Exec<'_>) -> Result<Reduced, Error> {
    let mut out = Reduced {
        diagonal: vec![0.0; p],
        off: vec![0.0; p.saturating_sub(1)],
        scales: vec![f64::INFINITY; p.saturating_sub(1)],
    };
    let mut panel = UpdatePanel::new(p);
    for start in (0..p).step_by(PANEL) {
        let end = (start + PANEL).min(p);
        panel.begin(p - start);
        for j in start..end {
            // A column reads the whole trailing matrix: for a large matrix, a panel takes long.
            exec.check()?;
            panel.column(a, p, start, j, &mut out);
        }
        if end < p {
            panel.update(&mut a[end * p..], p, end, exec)?;
        }
    }
    Ok(out)
}

/// Delayed updates of the trailing matrix, which are applied together.
pub(super) struct UpdatePanel {
    pub arch: Arch,
    /// V beside W: `2 · PANEL` columns of `rows` values.
    pub pair: Vec<f64>,
    pub rows: usize,
    /// (W V)ᵀ, column after column: the right factor of the update in the order of the product. Scratch memory before
    /// that.
    pub transposed: Vec<f64>,
    /// W under construction: of one column, or of a block of the band.
    pub w: Vec<f64>,
}

impl UpdatePanel {
    pub fn new(p: usize) -> Self {
        let pair = vec![0.0; 2 * PANEL * p];
        Self { arch: Arch::new(), transposed: pair.clone(), pair, rows: p, w: vec![0.0; WIDTH * p] }
    }

    pub fn begin(&mut self, rows: usize) {
        self.rows = rows;
        self.pair[..2 * PANEL * rows].fill(0.0);
    }

    /// Applies pending updates to column `j`, stores its reflector and the corresponding w.
    fn column(&mut self, a: &mut [f64], p: usize, start: usize, j: usize, out: &mut Reduced) {
        let (i, rows) = (j - start, self.rows);
        let (left, right) = a.split_at_mut((j + 1) * p);
        let column = &mut left[j * p + j..];
        self.bring_up_to_date(column, i, i);
        out.diagonal[j] = column[0];
        if j + 1 == p {
            return;
        }
        let v = &mut column[1..];
        let (off, scale) = reflector(self.arch, v);
        out.off[j] = off;
        out.scales[j] = scale;
        if scale.is_infinite() {
            return; // H is the identity: v and w stay zero in the update
        }
        self.pair[i * rows + i + 1..][..v.len()].copy_from_slice(v);
        let w = &mut self.w[..v.len()];
        symv(self.arch, &right[j + 1..], p, v, w);
        let mut z = [0.0; 2 * PANEL];
        if i > 0 {
            let (z_v, z_w) = z.split_at_mut(PANEL);
            let (pair_v, pair_w) = self.pair.split_at(PANEL * rows);
            dots(self.arch, &pair_v[i + 1..], rows, v, &mut z_v[..i]);
            dots(self.arch, &pair_w[i + 1..], rows, v, &mut z_w[..i]);
            z_v[..i].iter_mut().chain(&mut z_w[..i]).for_each(|z| *z = -*z);
            add_columns(self.arch, &pair_v[i + 1..], rows, &z_w[..i], w);
            add_columns(self.arch, &pair_w[i + 1..], rows, &z_v[..i], w);
        }
        w.iter_mut().for_each(|w| *w *= 1.0 / scale);
        let mut along = [0.0];
        dots(self.arch, w, w.len(), v, &mut along);
        add_columns(self.arch, v, v.len(), &[-0.5 * along[0] / scale], w);
        self.pair[(PANEL + i) * rows + i + 1..][..w.len()].copy_from_slice(w);
    }

    /// Subtracts from column i of the panel the updates of its first `done` columns.
    pub fn bring_up_to_date(&self, column: &mut [f64], i: usize, done: usize) {
        let rows = self.rows;
        let mut z = [0.0; 2 * PANEL];
        for c in 0..done {
            z[c] = -self.pair[(PANEL + c) * rows + i];
            z[PANEL + c] = -self.pair[c * rows + i];
        }
        if done > 0 {
            add_columns(self.arch, &self.pair[i..], rows, &z[..done], column);
            add_columns(self.arch, &self.pair[PANEL * rows + i..], rows, &z[PANEL..][..done], column);
        }
    }

    /// The trailing matrix, whose columns are `trailing`, minus V Wᵀ + W Vᵀ: stripe by stripe, from the diagonal down.
    /// The square on the diagonal is computed completely, its upper half is never read.
    pub fn update(&mut self, trailing: &mut [f64], p: usize, end: usize, exec: Exec<'_>) -> Result<(), Error> {
        let (rows, order) = (self.rows, p - end);
        let wide = 2 * PANEL;
        for (block, rows_transposed) in self.transposed[..wide * order].chunks_mut(16 * wide).enumerate() {
            for c in 0..wide {
                let from = &self.pair[((c + PANEL) % wide) * rows + PANEL + block * 16..];
                rows_transposed.chunks_exact_mut(wide).zip(from).for_each(|(to, &value)| to[c] = value);
            }
        }
        let left = FaerRef::from_column_major_slice(&self.pair[..wide * rows], rows, wide).subrows(PANEL, order);
        let right = FaerRef::from_column_major_slice(&self.transposed[..wide * order], wide, order);
        let stripe = |s: usize, columns: &mut [f64]| {
            let first = s * STRIPE;
            let width = STRIPE.min(order - first);
            let target = &mut columns[end + first..];
            let target = FaerMut::from_column_major_slice_with_stride_mut(target, order - first, width, p);
            let (left, right) = (left.subrows(first, order - first), right.subcols(first, width));
            matmul(target, Accum::Add, left, right, -1.0, Par::Seq);
        };
        let stripes = trailing.chunks_mut(STRIPE * p);
        if order < MIN_THREADED {
            stripes.enumerate().for_each(|(s, columns)| stripe(s, columns));
            return Ok(());
        }
        exec.each("reduce", stripes, stripe)
    }
}

/// Replaces `x` by v (first entry 1) with (I − v vᵀ / τ) x = (off, 0, …, 0); returns off and τ.
pub(super) fn reflector(arch: Arch, x: &mut [f64]) -> (f64, f64) {
    let head = x[0];
    x[0] = 1.0;
    let mut squares = [0.0];
    dots(arch, &x[1..], x.len() - 1, &x[1..], &mut squares);
    if squares[0] < NEGLIGIBLE {
        x[1..].fill(0.0);
        return (head, f64::INFINITY);
    }
    let off = -(head * head + squares[0]).sqrt().copysign(head);
    x[1..].iter_mut().for_each(|v| *v *= 1.0 / (head - off));
    (off, off / (off - head))
}
