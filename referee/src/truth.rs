//! How many singular values of prepared samples lie above a cut, exactly.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X | [`Truth::of`] | the samples, as the exact numbers that their storage holds |
//! | Z | | X prepared without any rounding |
//! | N_i | | ‖row i of X‖² |
//! | Y | | nX − 11ᵀX: n times X less its mean, in integers |
//! | S, W | `square`, `weights` | symmetric and diagonal, with S = congruent to W^½ (ZᵀZ or ZZᵀ) W^½ |
//!
//! The count #{σ² > t} is that of the positive eigenvalues of S − tW (Sylvester), on the smaller side of X:
//! ```text
//!     preparation       features                              samples
//!     none              XᵀX − t                               XXᵀ − t
//!     centered          YᵀY − t·n²                            YYᵀ − t·n²
//!     z-scores          n·YᵀY − t·diag(YᵀY)                   n·Y diag(YᵀY)⁻¹ Yᵀ − t
//!     unit              Xᵀ diag(1/N) X − t                    XXᵀ − t·diag(N)
//!     unit, centered    with ρ_i = √(N₁N_i)/N_i and rows ρ_i x_i in place of x_i: YᵀY − t·n²N₁
//! ```
//! Roots occur in the last line alone. Balls of more and more bits decide; where a value lies exactly at the cut none can, and
//! rationals do, unless the numbers are too long or a root is irrational. Then the count is known within bounds only.

use std::cell::OnceCell;

use dashu_int::ops::{BitTest, UnsignedAbs};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use eigenspan_core::Normalize;
use eigenspan_core::data::Samples;

use crate::field::{Ball, Field};
use crate::inertia::positive;

/// Bits of balls, tried in turn.
const BITS: [usize; 3] = [256, 1024, 5000];
/// Rationals decide matrices of entries up to so many bits, and of this order.
const SHORT: usize = 160;
const LOW: usize = 24;
/// Where a value lies at the cut, it is counted at τ(1 ± 2^−this).
const BESIDE: isize = 90;

/// A cut: σ² is compared with `above`/`below`, each an integer times a power of two.
#[derive(Debug, Clone)]
pub struct Threshold {
    above: (IBig, isize),
    below: (IBig, isize),
}

impl Threshold {
    /// σ > τ.
    pub fn tau(tau: f64) -> Self {
        let (value, exponent) = integer(tau);
        Self { above: (&value * &value, 2 * exponent), below: (IBig::ONE, 0) }
    }

    /// λσ² > 1.
    pub fn lambda(lambda: f64) -> Self {
        Self { above: (IBig::ONE, 0), below: integer(lambda) }
    }

    /// The same cut, t times 1 + 2^−`BESIDE` or 1 − 2^−`BESIDE`.
    fn beside(&self, higher: bool) -> Self {
        let one = IBig::ONE << BESIDE as usize;
        let factor = if higher { one + IBig::ONE } else { one - IBig::ONE };
        Self { above: (&self.above.0 * factor, self.above.1 - BESIDE), below: self.below.clone() }
    }
}

/// At least and at most so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// At least.
    pub low: usize,
    /// At most.
    pub high: usize,
}

impl Count {
    /// Whether it can be `k`.
    pub fn allows(&self, k: usize) -> bool {
        (self.low..=self.high).contains(&k)
    }
}

/// S and W.
struct Pencil<F> {
    square: Vec<Vec<F>>,
    weights: Vec<F>,
}

/// Samples and what is done to them, as exact numbers. See the head of this file.
pub struct Truth {
    rows: Vec<Vec<IBig>>,
    /// X is `rows` times two to this.
    exponent: isize,
    normalize: Normalize,
    center: bool,
    balls: [OnceCell<Option<Pencil<Ball>>>; BITS.len()],
    rational: OnceCell<Option<Pencil<RBig>>>,
}

/// x = value·2^exponent.
fn integer(x: f64) -> (IBig, isize) {
    let bits = x.to_bits();
    let (raw, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
    let (value, exponent) = if raw == 0 { (fraction, -1074) } else { (fraction | (1 << 52), raw as isize - 1075) };
    let zeros = value.trailing_zeros().min(52);
    let value = IBig::from(value >> zeros);
    (if x < 0.0 { -value } else { value }, if x == 0.0 { 0 } else { exponent + zeros as isize })
}

impl Truth {
    /// Samples in rows; all must be finite numbers.
    pub fn of(samples: Samples<'_>, normalize: Normalize, center: bool) -> Self {
        let (n, m) = (samples.rows(), samples.cols());
        let mut row = vec![0.0; m];
        let parts: Vec<Vec<(IBig, isize)>> = (0..n)
            .map(|i| {
                samples.read_row(i, 0..m, &mut row);
                assert!(row.iter().all(|x| x.is_finite()), "samples are finite numbers");
                row.iter().map(|x| integer(*x)).collect()
            })
            .collect();
        let live = parts.iter().flatten().filter(|(value, _)| *value != IBig::ZERO);
        let exponent = live.map(|(_, exponent)| *exponent).min().unwrap_or(0);
        let aligned = |(value, own): &(IBig, isize)| match value {
            zero if *zero == IBig::ZERO => IBig::ZERO,
            value => value << (own - exponent) as usize,
        };
        let rows = parts.iter().map(|row| row.iter().map(aligned).collect()).collect();
        let center = center || normalize == Normalize::ZScore;
        Self { rows, exponent, normalize, center, balls: Default::default(), rational: OnceCell::new() }
    }

    /// The number of singular values above the threshold.
    pub fn count(&self, threshold: &Threshold) -> Count {
        let exactly = |k| Count { low: k, high: k };
        if let Some(k) = self.by_balls(threshold).or_else(|| self.by_rationals(threshold)) {
            return exactly(k);
        }
        let [low, high] = [true, false].map(|higher| self.by_balls(&threshold.beside(higher)));
        let most = self.rows.len().min(self.rows[0].len());
        Count { low: low.unwrap_or(0), high: high.unwrap_or(most) }
    }

    fn by_balls(&self, threshold: &Threshold) -> Option<usize> {
        BITS.iter().zip(&self.balls).find_map(|(bits, known)| {
            let pencil = known.get_or_init(|| self.pencil::<Ball>(*bits)).as_ref()?;
            self.decide(pencil, threshold, *bits)
        })
    }

    fn by_rationals(&self, threshold: &Threshold) -> Option<usize> {
        let long = self.rows.iter().flatten().any(|x| x.bit_len() > SHORT);
        if long || self.rows.len().min(self.rows[0].len()) > LOW {
            return None;
        }
        self.decide(self.rational.get_or_init(|| self.pencil::<RBig>(0)).as_ref()?, threshold, 0)
    }

    /// The number of positive eigenvalues of S − tW.
    fn decide<F: Field>(&self, pencil: &Pencil<F>, threshold: &Threshold, bits: usize) -> Option<usize> {
        // Only without scaling does S carry the units of the samples, squared.
        let units = if self.normalize == Normalize::None { 2 * self.exponent } else { 0 };
        let [above, below] = [&threshold.above, &threshold.below].map(|(value, exponent)| (value, *exponent));
        let (above, below) = (F::of(above.0, above.1, bits), F::of(below.0, below.1 + units, bits));
        let mut rows: Vec<Vec<F>> =
            pencil.square.iter().map(|row| row.iter().map(|s| s.times(&below)).collect()).collect();
        for (i, (row, weight)) in rows.iter_mut().zip(&pencil.weights).enumerate() {
            row[i] = row[i].minus(&above.times(weight));
        }
        positive(rows)
    }

    fn pencil<F: Field>(&self, bits: usize) -> Option<Pencil<F>> {
        let (n, m) = (self.rows.len(), self.rows[0].len());
        let by_features = m <= n;
        let whole = |x: &IBig| F::of(x, 0, bits);
        let square_of_n = IBig::from(n) * IBig::from(n);
        Some(match (self.normalize, self.center) {
            (Normalize::None, false) => even(&side(&self.rows, by_features), &IBig::ONE, bits),
            (Normalize::None, true) => even(&side(&centered(&self.rows), by_features), &square_of_n, bits),
            (Normalize::Unit, false) => {
                let (rows, squares) = self.live_rows();
                if by_features {
                    let shares: Option<Vec<F>> = squares.iter().map(|s| whole(&IBig::ONE).over(&whole(s))).collect();
                    weighted(&side(&rows, true), &shares?, whole(&IBig::ONE), bits)
                } else {
                    let weights = squares.iter().map(whole).collect();
                    Pencil { weights, ..even(&rows, &IBig::ONE, bits) }
                }
            }
            (Normalize::ZScore, _) => {
                let columns: Vec<Vec<IBig>> = side(&centered(&self.rows), true);
                let columns: Vec<Vec<IBig>> =
                    columns.into_iter().filter(|column| column.iter().any(|x| *x != IBig::ZERO)).collect();
                let squares: Vec<IBig> = columns.iter().map(|column| dot(column, column)).collect();
                let count = whole(&IBig::from(n));
                if by_features {
                    let mut pencil: Pencil<F> = even(&columns, &IBig::ONE, bits);
                    pencil.square.iter_mut().flatten().for_each(|s| *s = s.times(&count));
                    Pencil { weights: squares.iter().map(whole).collect(), ..pencil }
                } else {
                    let shares: Option<Vec<F>> = squares.iter().map(|s| count.over(&whole(s))).collect();
                    let rows: Vec<Vec<IBig>> =
                        (0..n).map(|i| columns.iter().map(|column| column[i].clone()).collect()).collect();
                    weighted(&rows, &shares?, whole(&IBig::ONE), bits)
                }
            }
            (Normalize::Unit, true) => self.unit_centered(by_features, bits)?,
        })
    }

    /// The rows that are not zero, and their N.
    fn live_rows(&self) -> (Vec<Vec<IBig>>, Vec<IBig>) {
        let pairs = self.rows.iter().map(|row| (row.clone(), dot(row, row)));
        pairs.filter(|(_, square)| *square != IBig::ZERO).unzip()
    }

    fn unit_centered<F: Field>(&self, by_features: bool, bits: usize) -> Option<Pencil<F>> {
        let (n, m) = (self.rows.len(), self.rows[0].len());
        let whole = |x: &IBig| F::of(x, 0, bits);
        let zero = whole(&IBig::ZERO);
        let squares: Vec<IBig> = self.rows.iter().map(|row| dot(row, row)).collect();
        let Some(first) = squares.iter().find(|s| **s != IBig::ZERO).cloned() else {
            return Some(Pencil { square: vec![], weights: vec![] });
        };
        let mut rows: Vec<Vec<F>> = vec![];
        for (row, square) in self.rows.iter().zip(&squares) {
            if *square == IBig::ZERO {
                rows.push(vec![zero.clone(); m]);
                continue;
            }
            let root: UBig = (&first * square).unsigned_abs();
            let share = F::root(&root, bits)?.over(&whole(square))?;
            rows.push(row.iter().map(|x| whole(x).times(&share)).collect());
        }
        let count = whole(&IBig::from(n));
        for j in 0..m {
            let sum = rows.iter().fold(zero.clone(), |sum, row| sum.plus(&row[j]));
            rows.iter_mut().for_each(|row| row[j] = row[j].times(&count).minus(&sum));
        }
        let vectors: Vec<Vec<F>> = match by_features {
            true => (0..m).map(|j| rows.iter().map(|row| row[j].clone()).collect()).collect(),
            false => rows,
        };
        let product = |a: &[F], b: &[F]| a.iter().zip(b).fold(zero.clone(), |sum, (x, y)| sum.plus(&x.times(y)));
        let square = (0..vectors.len()).map(|i| (0..=i).map(|j| product(&vectors[i], &vectors[j])).collect()).collect();
        let weight = whole(&(IBig::from(n) * IBig::from(n) * first));
        Some(Pencil { square, weights: vec![weight; vectors.len()] })
    }
}

fn dot(a: &[IBig], b: &[IBig]) -> IBig {
    a.iter().zip(b).fold(IBig::ZERO, |sum, (x, y)| sum + x * y)
}

/// n times the rows less their sum.
fn centered(rows: &[Vec<IBig>]) -> Vec<Vec<IBig>> {
    let (n, m) = (IBig::from(rows.len()), rows[0].len());
    let sums: Vec<IBig> = (0..m).map(|j| rows.iter().fold(IBig::ZERO, |sum, row| sum + &row[j])).collect();
    rows.iter().map(|row| row.iter().zip(&sums).map(|(x, sum)| x * &n - sum).collect()).collect()
}

/// The columns, or the rows as they are.
fn side(rows: &[Vec<IBig>], features: bool) -> Vec<Vec<IBig>> {
    match features {
        true => {
            (0..rows.first().map_or(0, Vec::len)).map(|j| rows.iter().map(|row| row[j].clone()).collect()).collect()
        }
        false => rows.to_vec(),
    }
}

/// The inner products of the vectors, and one weight for all.
fn even<F: Field>(vectors: &[Vec<IBig>], weight: &IBig, bits: usize) -> Pencil<F> {
    let entry = |i: usize, j: usize| F::of(&dot(&vectors[i], &vectors[j]), 0, bits);
    let square = (0..vectors.len()).map(|i| (0..=i).map(|j| entry(i, j)).collect()).collect();
    Pencil { square, weights: vec![F::of(weight, 0, bits); vectors.len()] }
}

/// The same with a share for each entry of the vectors.
fn weighted<F: Field>(vectors: &[Vec<IBig>], shares: &[F], weight: F, bits: usize) -> Pencil<F> {
    let zero = F::of(&IBig::ZERO, 0, bits);
    let entry = |i: usize, j: usize| {
        let products = vectors[i].iter().zip(&vectors[j]).zip(shares);
        products.fold(zero.clone(), |sum, ((x, y), share)| sum.plus(&F::of(&(x * y), 0, bits).times(share)))
    };
    let square = (0..vectors.len()).map(|i| (0..=i).map(|j| entry(i, j)).collect()).collect();
    Pencil { square, weights: vec![weight; vectors.len()] }
}
