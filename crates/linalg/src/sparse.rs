//! A matrix with few nonzeros, scaled and centered, multiplied without its zeros.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X | [`Sparse`] | n × m: the matrix, X = V − w uᵀ |
//! | V | `lines` | the stored values, scaled; line l of q, place j of p |
//! | w, u | `shift` | of rows: w = 1 (or one weight per row) and u = μ, the mean; of columns the other way round |
//! | S | | VᵀV, from stored values alone: Σ nnz² multiplications |
//! | c | `longest` | the maximum number of stored values at one place: no sum is longer |
//!
//! ```text
//!     G = XᵀX = S − s uᵀ − u sᵀ + β u uᵀ,      s = Vᵀw,   β = wᵀw
//!       = S − s uᵀ − u rᵀ,                     r = s − βu   (zero but for rounding where u is the mean)
//! ```
//! Row j of S is Σ v·(line up to place j) over the stored values v at place j: a row of G is summed by one thread in
//! the order of the lines, so the bits do not depend on the number of threads. XXᵀ is computed as XᵀX of the transpose.
//!
//! **Error.** An entry of S, s or β is a sum of at most g terms, so entry by entry
//! |Ĝ − G| ≤ γ_g (|V| + |w||u|ᵀ)ᵀ(|V| + |w||u|ᵀ), and in norm
//! ```text
//!     ‖Ĝ − G‖₂ ≤ γ_g (‖V‖_F + ‖w‖‖u‖)²
//! ```
//! Dividing by a deviation before the mean is subtracted, not after, changes an entry by a few u(|v| + |wu|): within
//! the same bound with a few more terms.
//!
//! **No cancellation.** Subtracting nμ² from Σv² loses all digits where the mean is large relative to the spread, which
//! is why the mean of dense data is subtracted first. A column with c of n values stored is different: by
//! Cauchy–Schwarz nμ² = (Σv)²/n ≤ (c/n)·Σv². So a column with more than half of its values stored is made dense, v − μ
//! value by value ([`Sparse::centered`]; this at most doubles what is stored), and of any other nμ² ≤ ½Σv². Then ‖V‖²_F
//! ≤ 2 tr G and ‖w‖²‖u‖² ≤ ½‖V‖²_F: the bound is at most (1 + √½)²·2·γ_g tr G < 6 γ_g tr G, as good as a dense sum. A
//! shift that is not the mean has no such bound; [`Sparse::pays`] refuses it where the bound is worse, and the dense
//! path is taken.

use crate::Error;
use crate::exec::Exec;
use crate::gram::gamma;
use crate::mat::Mat;

/// Up to this share of nonzero multiplications, skipping the others is faster than the dense kernel.
const MAX_DENSITY: f64 = 0.02;
/// Rows of G that are summed as one piece of work.
const STRIPE: usize = 16;
/// Lines that are multiplied as one piece of work, and terms of a partial sum.
const BLOCK: usize = 512;
/// The error bound may be this much worse than that of a dense sum.
const SLACK: f64 = 16.0;
/// Roundings of an entry besides those of its sum: scaling, shift, products.
const EXTRA: usize = 16;

/// Lines of stored values: line l holds `values[starts[l]..starts[l + 1]]` at the `places` of the same range,
/// ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    width: usize,
    starts: Vec<usize>,
    places: Vec<u32>,
    values: Vec<f64>,
}

impl Lines {
    /// No lines yet, of `width` places each.
    pub fn new(width: usize) -> Self {
        assert!(u32::try_from(width).is_ok(), "a line has fewer than 2³² places");
        Self { width, starts: vec![0], places: vec![], values: vec![] }
    }

    /// Adds a line: places and their values, in ascending order of places.
    pub fn push(&mut self, line: impl IntoIterator<Item = (usize, f64)>) {
        for (place, value) in line {
            debug_assert!(place < self.width);
            self.places.push(place as u32);
            self.values.push(value);
        }
        self.starts.push(self.values.len());
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The places and values of line `l`.
    pub fn line(&self, l: usize) -> (&[u32], &[f64]) {
        let range = self.starts[l]..self.starts[l + 1];
        (&self.places[range.clone()], &self.values[range])
    }

    /// The number of stored values at each place.
    fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.width];
        self.places.iter().for_each(|&j| counts[j as usize] += 1);
        counts
    }

    /// For each place, the stored values there in the order of the lines, as (line, index of the value).
    fn crossing(&self) -> (Vec<usize>, Vec<(u32, usize)>) {
        let mut starts = vec![0; self.width + 1];
        self.places.iter().for_each(|&j| starts[j as usize + 1] += 1);
        (0..self.width).for_each(|j| starts[j + 1] += starts[j]);
        let mut next = starts.clone();
        let mut entries = vec![(0, 0); self.values.len()];
        for l in 0..self.len() {
            for at in self.starts[l]..self.starts[l + 1] {
                let slot = &mut next[self.places[at] as usize];
                entries[*slot] = (l as u32, at);
                *slot += 1;
            }
        }
        (starts, entries)
    }

    fn transposed(&self) -> Self {
        let (starts, entries) = self.crossing();
        let values = entries.iter().map(|(_, at)| self.values[*at]).collect();
        Self { width: self.len(), starts, places: entries.into_iter().map(|(l, _)| l).collect(), values }
    }
}

/// X = V − w uᵀ.
#[derive(Debug, Clone)]
pub struct Sparse {
    lines: Lines,
    /// w, one per line, and u, one per place.
    shift: Option<(Vec<f64>, Vec<f64>)>,
}

impl From<Lines> for Sparse {
    /// The stored values, nothing subtracted.
    fn from(lines: Lines) -> Self {
        Self { lines, shift: None }
    }
}

impl Sparse {
    /// (V − 1μᵀ) D⁻¹, where D are the `deviation`s of the columns. Columns more than half full are made dense.
    pub fn centered(rows: Lines, mean: &[f64], deviation: Option<&[f64]>) -> Self {
        let (n, m) = (rows.len(), rows.width);
        assert_eq!(mean.len(), m, "one mean a column");
        let full: Vec<bool> = rows.counts().iter().map(|c| 2 * c > n).collect();
        let crowded: Vec<usize> = (0..m).filter(|&j| full[j]).collect();
        let scale = |j: usize, v: f64| deviation.map_or(v, |s| v / s[j]);
        let mut lines = Lines::new(m);
        for l in 0..n {
            let (places, values) = rows.line(l);
            let mut missing = crowded.iter().copied().peekable();
            let mut line = Vec::with_capacity(places.len() + crowded.len());
            for (&j, &v) in places.iter().zip(values) {
                let j = j as usize;
                while let Some(gap) = missing.next_if(|&gap| gap <= j) {
                    line.extend((gap < j).then(|| (gap, scale(gap, -mean[gap]))));
                }
                line.push((j, scale(j, if full[j] { v - mean[j] } else { v })));
            }
            line.extend(missing.map(|gap| (gap, scale(gap, -mean[gap]))));
            lines.push(line);
        }
        let u = (0..m).map(|j| if full[j] { 0.0 } else { scale(j, mean[j]) }).collect();
        Self { lines, shift: Some((vec![1.0; n], u)) }
    }

    /// The same with row i multiplied by `weights[i]`.
    pub fn weighted(mut self, weights: &[f64]) -> Self {
        for l in 0..self.lines.len() {
            let range = self.lines.starts[l]..self.lines.starts[l + 1];
            self.lines.values[range].iter_mut().for_each(|v| *v *= weights[l]);
        }
        if let Some((w, _)) = &mut self.shift {
            w.iter_mut().zip(weights).for_each(|(w, weight)| *w *= weight);
        }
        self
    }

    /// Xᵀ.
    pub fn transposed(&self) -> Self {
        let shift = self.shift.as_ref().map(|(w, u)| (u.clone(), w.clone()));
        Self { lines: self.lines.transposed(), shift }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.lines.width
    }

    /// Whether XᵀX is computed faster without the zeros than by the dense kernel, and as accurately.
    pub fn pays(&self) -> bool {
        let pairs = |l: usize| (self.lines.starts[l + 1] - self.lines.starts[l]).pow(2) as f64;
        let work: f64 = (0..self.rows()).map(pairs).sum();
        let dense = self.rows() as f64 * (self.cols() as f64).powi(2);
        work <= MAX_DENSITY * dense && self.size() <= SLACK * self.energy()
    }

    /// XᵀX, lower triangle, and a bound on its error.
    pub(crate) fn gram(&self, exec: Exec<'_>) -> Result<(Mat, f64), Error> {
        let mut g = self.squares(exec)?;
        if let Some((w, u)) = &self.shift {
            let beta = sum(w.iter().map(|w| w * w));
            let mut s = vec![0.0; self.cols()];
            for l in 0..self.rows() {
                let (places, values) = self.lines.line(l);
                places.iter().zip(values).for_each(|(&j, v)| s[j as usize] += w[l] * v);
            }
            let r: Vec<f64> = s.iter().zip(u).map(|(s, u)| s - beta * u).collect();
            for j in 0..s.len() {
                let pairs = u.iter().zip(&r).take(j + 1);
                g.row_mut(j).iter_mut().zip(pairs).for_each(|(g, (uk, rk))| *g -= s[j] * uk + u[j] * rk);
            }
        }
        Ok((g, gamma(self.longest() + EXTRA) * self.size()))
    }

    /// VᵀV, lower triangle.
    fn squares(&self, exec: Exec<'_>) -> Result<Mat, Error> {
        let (lines, p) = (&self.lines, self.cols());
        let (starts, entries) = lines.crossing();
        let mut g = Mat::zeros(p, p);
        exec.each_chunk("multiply", g.as_mut_slice(), STRIPE * p, |piece, out| {
            for (r, row) in out.chunks_exact_mut(p).enumerate() {
                let j = piece * STRIPE + r;
                for &(l, at) in &entries[starts[j]..starts[j + 1]] {
                    let before = lines.starts[l as usize]..at + 1;
                    let v = lines.values[at];
                    let line = lines.places[before.clone()].iter().zip(&lines.values[before]);
                    line.for_each(|(&k, value)| row[k as usize] += v * value);
                }
            }
        })?;
        Ok(g)
    }

    /// X · `v` for `v` of `width` values per place, place after place; the result has `width` values per line.
    pub(crate) fn times(&self, v: &[f64], width: usize, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
        let shift = self.shift.as_ref().map(|(w, u)| (w, along(u, v, width)));
        let mut out = vec![0.0; self.rows() * width];
        exec.each_chunk("multiply", &mut out, (BLOCK * width).max(1), |piece, out| {
            for (r, row) in out.chunks_exact_mut(width).enumerate() {
                let l = piece * BLOCK + r;
                match width {
                    16 => row.copy_from_slice(&self.sum_of_line::<16>(l, v)),
                    8 => row.copy_from_slice(&self.sum_of_line::<8>(l, v)),
                    _ => {
                        let (places, values) = self.lines.line(l);
                        for (&j, value) in places.iter().zip(values) {
                            let from = &v[j as usize * width..][..width];
                            row.iter_mut().zip(from).for_each(|(to, from)| *to += value * from);
                        }
                    }
                }
                if let Some((w, uv)) = &shift {
                    row.iter_mut().zip(uv).for_each(|(to, from)| *to -= w[l] * from);
                }
            }
        })?;
        Ok(out)
    }

    /// Line `l` of V times `v` of W values per place: the widths of Krylov blocks, summed in registers.
    fn sum_of_line<const W: usize>(&self, l: usize, v: &[f64]) -> [f64; W] {
        let (places, values) = self.lines.line(l);
        let (v, _) = v.as_chunks::<W>();
        let mut sums = [0.0; W];
        for (&j, value) in places.iter().zip(values) {
            sums.iter_mut().zip(&v[j as usize]).for_each(|(to, from)| *to += value * from);
        }
        sums
    }

    /// ‖X‖²_F, as a sum without a negative term.
    pub fn energy(&self) -> f64 {
        let Some((w, u)) = &self.shift else { return sum(self.lines.values.iter().map(|v| v * v)) };
        let mut left = vec![sum(w.iter().map(|w| w * w)); self.cols()];
        let of_line = |l: usize| {
            let (places, values) = self.lines.line(l);
            let square = |(&j, v): (&u32, &f64)| {
                left[j as usize] -= w[l] * w[l];
                (v - w[l] * u[j as usize]).powi(2)
            };
            places.iter().zip(values).map(square).sum::<f64>()
        };
        let stored = sum((0..self.rows()).map(of_line));
        stored + sum(left.iter().zip(u).map(|(left, u)| left.max(0.0) * u * u))
    }

    /// (‖V‖_F + ‖w‖‖u‖)².
    fn size(&self) -> f64 {
        let norm = |values: &[f64]| sum(values.iter().map(|v| v * v)).sqrt();
        let shift = self.shift.as_ref().map_or(0.0, |(w, u)| norm(w) * norm(u));
        (norm(&self.lines.values) + shift).powi(2)
    }

    /// A bound on the rounding of XᵀXv for a unit v, either side first.
    pub(crate) fn rounding(&self) -> f64 {
        let line = (0..self.rows()).map(|l| self.lines.starts[l + 1] - self.lines.starts[l]).max().unwrap_or(0);
        let sums = line + self.longest() + self.cols().min(BLOCK) + self.cols().div_ceil(BLOCK);
        gamma(sums + 2 * EXTRA) * self.size()
    }

    /// The longest sum in XᵀX.
    fn longest(&self) -> usize {
        let stored = self.lines.counts().into_iter().max().unwrap_or(0);
        let shift = |_: &_| self.rows().min(BLOCK) + self.rows().div_ceil(BLOCK);
        stored.max(self.shift.as_ref().map_or(0, shift))
    }
}

/// uᵀV for `v` of `width` values per place.
fn along(u: &[f64], v: &[f64], width: usize) -> Vec<f64> {
    let mut total = vec![0.0; width];
    for (u, v) in u.chunks(BLOCK).zip(v.chunks((BLOCK * width).max(1))) {
        let mut part = vec![0.0; width];
        for (u, v) in u.iter().zip(v.chunks_exact(width.max(1))) {
            part.iter_mut().zip(v).for_each(|(part, v)| *part += u * v);
        }
        total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
    }
    total
}

/// The sum of many terms, block by block: the error of q terms is γ of [`BLOCK`] + q/[`BLOCK`] only.
fn sum(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut part, mut count) = (0.0, 0.0, 0);
    for term in terms {
        part += term;
        count += 1;
        if count == BLOCK {
            (total, part, count) = (total + part, 0.0, 0);
        }
    }
    total + part
}

#[cfg(test)]
pub(crate) mod tests;
