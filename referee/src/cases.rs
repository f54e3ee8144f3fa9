//! Samples and settings for a fit, drawn from a seed: most of them chosen to be hard.

use eigenspan_core::data::{Csr, Matrix, Samples};
use eigenspan_core::linalg::random::Random;
use eigenspan_core::rule::threshold::known_noise;
use eigenspan_core::{Dim, Exec, Lambda, Mat, Normalize, PceParams};

/// What the samples look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Normal numbers.
    Normal,
    /// Singular values that fall by a constant factor, down to 1e-1 … 1e-16.
    Graded,
    /// Singular values within 1e-15 … 1e-2 of one value.
    Clustered,
    /// Rows that occur several times.
    Duplicates,
    /// A spread around a mean 1e2 … 1e12 times as large.
    Offset,
    /// Entries 1 and −1, or the rows of a Hadamard matrix.
    Signs,
    /// Small integers of low rank.
    LowRank,
    /// Rows that are multiples of a few, exactly or but for rounding.
    Parallel,
    /// Rows of very different lengths.
    Uneven,
    /// Mostly zeros, whole rows and columns among them.
    Sparse,
    /// More rows than a summary reduces at once.
    Tall,
}

/// A case by its number: samples, settings, and how ways that take samples in portions cut them.
pub struct Case {
    /// Its number.
    pub index: u64,
    /// What the samples look like.
    pub kind: Kind,
    /// The samples.
    pub matrix: Matrix,
    /// log₁₀ of what they were multiplied with, about.
    pub scale: i32,
    /// The settings.
    pub params: PceParams,
    /// Where portions end, rising; the last is the number of samples.
    pub cuts: Vec<usize>,
    /// Directions kept by the way that keeps few.
    pub rank: usize,
    /// Samples taken in at once by ways that arrive one by one.
    pub block: usize,
    /// A seed for ways that draw numbers.
    pub seed: u64,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::Normal,
        Self::Graded,
        Self::Clustered,
        Self::Duplicates,
        Self::Offset,
        Self::Signs,
        Self::LowRank,
        Self::Parallel,
        Self::Uneven,
        Self::Sparse,
        Self::Tall,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Graded => "graded",
            Self::Clustered => "clustered",
            Self::Duplicates => "duplicates",
            Self::Offset => "offset",
            Self::Signs => "signs",
            Self::LowRank => "low rank",
            Self::Parallel => "parallel",
            Self::Uneven => "uneven",
            Self::Sparse => "sparse",
            Self::Tall => "tall",
        }
    }
}

/// Draws from a stream.
struct Draw(Random);

impl Draw {
    fn below(&mut self, count: usize) -> usize {
        (self.0.bits() % count as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn normal(&mut self) -> f64 {
        self.0.normal_pair()[0]
    }

    /// 10^x for x between `low` and `high`.
    fn power(&mut self, low: f64, high: f64) -> f64 {
        10f64.powf(low + (high - low) * 0.5 * (self.0.uniform() + 1.0))
    }

    fn sign(&mut self) -> f64 {
        if self.chance(50) { 1.0 } else { -1.0 }
    }

    fn normals(&mut self, n: usize, m: usize) -> Mat {
        Mat::from_fn(n, m, |_, _| self.normal())
    }

    /// n × p with orthonormal columns but for rounding, by Gram–Schmidt, twice.
    fn orthonormal(&mut self, n: usize, p: usize) -> Vec<Vec<f64>> {
        let mut columns: Vec<Vec<f64>> = vec![];
        for _ in 0..p {
            let mut column: Vec<f64> = (0..n).map(|_| self.normal()).collect();
            for _ in 0..2 {
                for other in &columns {
                    let along: f64 = other.iter().zip(&column).map(|(a, b)| a * b).sum();
                    column.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
                }
            }
            let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
            column.iter_mut().for_each(|x| *x /= length);
            columns.push(column);
        }
        columns
    }

    /// A matrix with these singular values but for rounding.
    fn with_values(&mut self, n: usize, m: usize, sigma: &[f64]) -> Mat {
        let (u, v) = (self.orthonormal(n, sigma.len()), self.orthonormal(m, sigma.len()));
        Mat::from_fn(n, m, |i, j| (0..sigma.len()).map(|r| u[r][i] * sigma[r] * v[r][j]).sum())
    }

    fn values(&mut self, kind: Kind, n: usize, m: usize) -> Mat {
        let p = n.min(m);
        match kind {
            Kind::Normal | Kind::Tall => self.normals(n, m),
            Kind::Graded => {
                let last = -self.of(&[1.0, 3.0, 6.0, 9.0, 12.0, 16.0]);
                let sigma: Vec<f64> = (0..p).map(|i| 10f64.powf(last * i as f64 / p as f64)).collect();
                self.with_values(n, m, &sigma)
            }
            Kind::Clustered => {
                let near = self.of(&[1e-15, 1e-12, 1e-9, 1e-6, 1e-2]);
                let few = 1 + self.below(p);
                let sigma: Vec<f64> = (0..p)
                    .map(|i| if i < few { 1.0 + near * self.normal() } else { 0.3 * self.power(-3.0, 0.0) })
                    .collect();
                self.with_values(n, m, &sigma)
            }
            Kind::Duplicates => {
                let few = 1 + self.below(n);
                let some = self.normals(few, m);
                let rows: Vec<usize> = (0..n).map(|_| self.below(few)).collect();
                some.select_rows(&rows)
            }
            Kind::Offset => {
                let offset = self.power(2.0, 12.0);
                let mean: Vec<f64> = (0..m).map(|_| offset * self.normal()).collect();
                Mat::from_fn(n, m, |_, j| mean[j] + self.normal())
            }
            Kind::Signs => self.signs(n, m),
            Kind::LowRank => {
                let r = 1 + self.below(p.div_ceil(2));
                let mut small = |_, _| self.below(7) as f64 - 3.0;
                let (a, b) = (Mat::from_fn(n, r, &mut small), Mat::from_fn(r, m, &mut small));
                Mat::from_fn(n, m, |i, j| (0..r).map(|l| a.at(i, l) * b.at(l, j)).sum())
            }
            Kind::Parallel => {
                let few = 1 + self.below(3);
                let some = self.normals(few, m);
                let exact = self.chance(40);
                let factors: Vec<(usize, f64)> = (0..n)
                    .map(|_| {
                        (self.below(few), if exact { 2f64.powi(self.below(9) as i32) } else { self.power(-2.0, 2.0) })
                    })
                    .collect();
                Mat::from_fn(n, m, |i, j| factors[i].1 * some.at(factors[i].0, j))
            }
            Kind::Uneven => {
                let spread = self.of(&[2.0, 6.0, 10.0]);
                let lengths: Vec<f64> = (0..n).map(|_| self.power(-spread, spread)).collect();
                Mat::from_fn(n, m, |i, _| lengths[i] * self.normal())
            }
            Kind::Sparse => {
                let (row, column) = (self.below(n + 1), self.below(m + 1));
                Mat::from_fn(n, m, |i, j| {
                    let zero = i == row || j == column || self.chance(75);
                    if zero { 0.0 } else { self.normal() }
                })
            }
        }
    }

    fn signs(&mut self, n: usize, m: usize) -> Mat {
        if self.chance(50) {
            return Mat::from_fn(n, m, |_, _| self.sign());
        }
        // Sylvester's matrix, some rows and columns of it, each times a sign.
        let (rows, columns): (Vec<f64>, Vec<f64>) =
            ((0..n).map(|_| self.sign()).collect(), (0..m).map(|_| self.sign()).collect());
        Mat::from_fn(
            n,
            m,
            |i, j| if (i & j).count_ones() % 2 == 0 { rows[i] * columns[j] } else { -rows[i] * columns[j] },
        )
    }

    fn shape(&mut self, kind: Kind) -> (usize, usize) {
        if kind == Kind::Tall {
            return (2049 + self.below(2500), 1 + self.below(4));
        }
        match self.below(10) {
            0..3 => (1 + self.below(7), 1 + self.below(7)),
            3..6 => (2 + self.below(23), 1 + self.below(12)),
            6..8 => (1 + self.below(12), 2 + self.below(23)),
            8 => (40 + self.below(21), 1 + self.below(6)),
            _ => self.of(&[(60, 12), (24, 24), (16, 16), (8, 8), (12, 60)]),
        }
    }
}

impl Case {
    /// The case of that number.
    pub fn draw(seed: u64, index: u64) -> Self {
        let mut draw = Draw(Random::new(Random::new(seed).bits() ^ Random::new(!index).bits()));
        let kind = if draw.chance(1) { Kind::Tall } else { draw.of(&Kind::ALL[..Kind::ALL.len() - 1]) };
        let (n, m) = draw.shape(kind);
        let values = draw.values(kind, n, m);
        let (matrix, scale) = stored(&mut draw, values);
        let normalize =
            draw.of(&[Normalize::Unit, Normalize::Unit, Normalize::None, Normalize::None, Normalize::ZScore]);
        let center = draw.chance(40);
        let lambda = Lambda::Fixed(1.0);
        let mut params = PceParams { lambda, normalize, center, ..PceParams::default() };
        let sigma = params.values(&matrix, Exec::default()).unwrap_or_default();
        (params.lambda, params.dim) = rule(&mut draw, &params, &sigma, (n, m));
        let mut cuts: Vec<usize> = (0..draw.below(4)).map(|_| draw.below(n + 1)).chain([n]).collect();
        cuts.sort_unstable();
        let (rank, block) = (1 + draw.below(n.min(m)), 1 + draw.below(8));
        Self { index, kind, matrix, scale, params, cuts, rank, block, seed: draw.0.bits() }
    }

    /// The samples.
    pub fn samples(&self) -> Samples<'_> {
        self.matrix.view()
    }

    /// The name of the rule that places the cut.
    pub fn rule(&self) -> &'static str {
        match (self.params.dim, self.params.lambda) {
            (Dim::Fixed(_), _) => "dimension",
            (_, Lambda::Auto) => "auto",
            (_, Lambda::Fixed(_)) => "lambda",
            (_, Lambda::Noise(_)) => "noise",
            (_, Lambda::ScreeNot) => "screenot",
            (_, Lambda::Energy(_)) => "energy",
        }
    }

    /// The portions that `cuts` say.
    pub fn portions(&self) -> Vec<Matrix> {
        let mut first = 0;
        let mut next = |end: &usize| {
            let rows: Vec<usize> = (first..*end).collect();
            first = *end;
            self.matrix.select_rows(&rows)
        };
        self.cuts.iter().map(&mut next).filter(|portion| portion.rows() > 0).collect()
    }
}

/// The values as numbers of some type, at some scale.
fn stored(draw: &mut Draw, mut values: Mat) -> (Matrix, i32) {
    let (n, m) = (values.rows(), values.cols());
    match draw.below(20) {
        0..3 => {
            let most = values.as_slice().iter().fold(f64::MIN_POSITIVE, |most, x| most.max(x.abs()));
            return (Matrix::U8(Mat::from_fn(n, m, |i, j| (255.0 * (values.at(i, j) / most).abs()).round() as u8)), 0);
        }
        3..7 => {
            let scale = if draw.chance(70) { 0 } else { draw.of(&[-30, -10, 10, 25]) };
            let factor = 10f64.powi(scale);
            return (Matrix::F32(Mat::from_fn(n, m, |i, j| (values.at(i, j) * factor) as f32)), scale);
        }
        _ => (),
    }
    let scale = match draw.below(10) {
        0..6 => 0,
        6 | 7 => draw.of(&[-300, -150, -85, -75, -70, 70, 75, 150, 290]),
        8 => draw.below(580) as i32 - 290,
        _ => draw.of(&[-5, 5, 40, -40]),
    };
    // Powers of two keep exact values exact.
    let exponent = (f64::from(scale) * std::f64::consts::LOG2_10).round() as i32;
    let factor = eigenspan_core::linalg::scale::times_power_of_two(1.0, exponent);
    values.as_mut_slice().iter_mut().for_each(|x| *x *= factor);
    if draw.chance(80) { (Matrix::F64(values), scale) } else { (Matrix::Csr(sparse(&values)), scale) }
}

fn sparse(values: &Mat) -> Csr {
    let (mut starts, mut columns, mut kept) = (vec![0], vec![], vec![]);
    for i in 0..values.rows() {
        for (j, x) in values.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0) {
            columns.push(j);
            kept.push(*x);
        }
        starts.push(columns.len());
    }
    Csr::new(values.cols(), starts, columns, kept).expect("rows in their order, columns rising")
}

/// A cut, most often beside a singular value.
fn rule(draw: &mut Draw, params: &PceParams, sigma: &[f64], (n, m): (usize, usize)) -> (Lambda, Dim) {
    let some = if sigma.is_empty() { 1.0 } else { draw.of(sigma) };
    let off = match draw.below(6) {
        0 => 0.0,
        1 => draw.sign() * draw.power(-16.5, -15.0),
        2 | 3 => draw.sign() * draw.power(-15.0, -8.0),
        4 => draw.sign() * draw.power(-8.0, -1.0),
        _ => draw.sign() * draw.power(-16.0, -12.0),
    };
    let tau = some * (1.0 + off);
    let lambda = 1.0 / (tau * tau);
    match draw.below(20) {
        0 => (Lambda::Auto, Dim::Auto),
        1 => (Lambda::ScreeNot, Dim::Auto),
        2 => (Lambda::Energy(0.5 + 0.4999 * draw.below(1001) as f64 / 1000.0), Dim::Auto),
        3 => (Lambda::Auto, Dim::Fixed(1 + draw.below(n.min(m)))),
        4..17 if lambda.is_normal() => (Lambda::Fixed(lambda), Dim::Auto),
        _ if params.normalize == Normalize::None && tau.is_normal() => {
            let samples = (n - usize::from(params.center && n > 1)) as f64;
            let (short, long) = (samples.min(m as f64), samples.max(m as f64));
            (Lambda::Noise(tau / known_noise(short / long) / long.sqrt()), Dim::Auto)
        }
        17 => (Lambda::Noise(0.0), Dim::Auto),
        _ => (Lambda::Auto, Dim::Auto),
    }
}
