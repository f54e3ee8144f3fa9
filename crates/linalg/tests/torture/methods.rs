//! The methods, and the rows that every answer has to pass.

use super::cases::{Case, Origin};
use super::ledger::Ledger;
use super::ratios;
use eigenspan_linalg::certificate::Certificate;
use eigenspan_linalg::scale::times_power_of_two;
use eigenspan_linalg::spectrum::{GramSpectrum, Leading, REACH, Select, resolution};
use eigenspan_linalg::triangle::orthonormalize;
use eigenspan_linalg::{Blocks, Exec, Mat, Quiet};
use std::num::NonZero;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    Leading,
    Krylov,
    Dense,
    Triangle,
}

/// Maximum number of values computed together: all, except for the largest matrices.
const MOST: usize = 90;

pub const METHODS: [Method; 4] = [Method::Leading, Method::Krylov, Method::Dense, Method::Triangle];

pub fn exec() -> Exec<'static> {
    Exec::new(NonZero::new(1), &Quiet)
}

pub fn compress(x: &dyn Blocks) -> GramSpectrum<'_> {
    GramSpectrum::of(x, exec()).unwrap()
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Self::Leading => "leading",
            Self::Krylov => "krylov",
            Self::Dense => "dense",
            Self::Triangle => "triangle",
        }
    }

    /// The answer; `None` where this method has none.
    pub fn run<'a>(self, x: &GramSpectrum<'a>, cut: Select) -> Option<Leading<'a>> {
        let answer = match self {
            Self::Leading => x.leading(cut, exec()).map(Some),
            Self::Krylov => x.by_krylov(cut, exec()),
            Self::Dense => x.by_dense(cut, exec()),
            Self::Triangle => x.by_triangle(cut, exec()).map(Some),
        };
        answer.unwrap_or_else(|e| panic!("{self:?} {cut:?}: {e}"))
    }
}

/// Selections for a case: the largest possible number of values of the method, and a few cuts.
pub fn selections(case: &Case, method: Method) -> Vec<Select> {
    let all = case.sigma.len();
    let first = case.sigma[0];
    let reach = case.sigma.iter().filter(|s| first <= **s * REACH.min(case.most())).count();
    let top = match method {
        Method::Krylov => reach.min(15),
        Method::Dense => reach.min(MOST),
        _ => all.min(MOST),
    };
    let between = |i: usize| (case.sigma[i] * case.sigma[i + 1].max(case.sigma[i] / 100.0)).sqrt();
    // The triangle of a large matrix takes long, and one decomposition gives all values.
    let some: &[usize] = if method == Method::Triangle && all > 200 { &[] } else { &[top / 3, top / 2] };
    let above = some.iter().copied().filter(|i| i + 1 < all && first > 0.0);
    let above = above.map(|i| Select::Above(times_power_of_two(between(i), case.read.exponent)));
    std::iter::once(Select::Top(top)).chain(above).collect()
}

/// The answer's values in the units of the values read.
pub fn values(case: &Case, answer: &Leading<'_>) -> Vec<f64> {
    answer.sigma.iter().map(|s| times_power_of_two(*s, -case.read.exponent)).collect()
}

/// Records every row that applies to an answer.
pub fn try_answer(case: &Case, method: Method, answer: &Leading<'_>, ledger: &mut Ledger) {
    let (name, sigma) = (case.name.as_str(), values(case, answer));
    let (count, first) = (answer.count, case.sigma[0]);
    let mut note = |row, ratio| ledger.note(row, method.name(), ratio, name);
    let row = if case.known == Origin::Exact { "R6x" } else { "R6" };
    // Past the cut: the triangle has all values, the dense method those within reach, Krylov's method none.
    let known = match answer.solver {
        "qr-svd" => sigma.len(),
        "gram-dense" => sigma.iter().filter(|s| sigma[0] <= **s * REACH.min(case.most())).count().max(count),
        _ => count,
    };
    note(row, ratios::difference(&sigma[..known], &case.sigma, case.most(), first));
    let small = answer.small_side(count);
    note("R2", ratios::orthonormality(&small));
    let least = resolution(&sigma, case.a.rows(), case.a.cols());
    let k = sigma[..count].iter().take_while(|s| **s > least).count();
    if k > 0 {
        let v = answer.basis(k, exec()).unwrap();
        let u = if case.a.rows() >= case.a.cols() {
            orthonormalize(&ratios::times(&case.a, &v))
        } else {
            small.leading_columns(k)
        };
        note("R3", ratios::orthonormality(&v));
        note("R9", ratios::eckart_young(case, &v));
        let (one, frobenius) = ratios::residual(case, &u, &v, &sigma);
        let subspace = ratios::subspace(case, &v, f64::EPSILON).unwrap_or(0.0);
        match answer.solver {
            "gram-krylov" | "gram-dense" => {
                note("R1g", frobenius);
                note("(R1k)", one);
                note("R10", subspace);
            }
            _ => {
                note("R1k", one);
                note("R10", subspace);
            }
        }
        ledger.check(is_canonical(&v), || format!("{name}, {method:?}: the largest entry of a direction is negative"));
    }
    let ordered = sigma.windows(2).all(|w| w[0] >= w[1]) && sigma.iter().all(|s| s.is_finite() && *s >= 0.0);
    ledger.check(ordered, || format!("R4 {name}, {method:?}: {sigma:?}"));
}

/// P12: the largest entry of every column is positive.
fn is_canonical(v: &Mat) -> bool {
    (0..v.cols()).all(|j| {
        let column = (0..v.rows()).map(|i| v.at(i, j));
        column.fold(0.0f64, |best, x| if x.abs() > best.abs() { x } else { best }) > 0.0
    })
}

/// Twenty cuts across the spectrum: at values, a few ulp beside them, between them, above and below all.
pub fn cuts(case: &Case, many: usize) -> Vec<f64> {
    let positive: Vec<f64> = case.sigma.iter().copied().filter(|s| *s > 1e-290).collect();
    let Some((first, last)) = positive.first().zip(positive.last()) else { return vec![1e-300, 1e-9, 1.0] };
    let half = many / 2;
    let spread = (0..half).map(|i| 1.1 * first * (last / (2.0 * first)).powf(i as f64 / (half - 1) as f64));
    let beside = [0.0, 1e-15, -1e-15, 1e-13, -1e-12, 1e-10, -1e-8, 1e-5, -1e-3, 0.02];
    let near =
        (0..many - half).map(|i| positive[i * positive.len() / (many - half)] * (1.0 + beside[i % beside.len()]));
    spread.chain(near).collect()
}

/// "k correct or an interval": records a fault where an answer claims what is wrong.
pub fn try_cut(case: &Case, method: Method, x: &GramSpectrum<'_>, cut: f64, ledger: &mut Ledger) {
    let unscaled_cut = times_power_of_two(cut, case.read.exponent);
    let Some(answer) = method.run(x, Select::Above(unscaled_cut)) else { return };
    let (least, most) = case.above(times_power_of_two(unscaled_cut, -case.read.exponent));
    let (low, high) = answer.interval;
    let right = match answer.certificate() {
        Certificate::Proved => (least..=most).contains(&answer.count),
        Certificate::Interval(..) => low <= most && least <= high,
        Certificate::Probable(_) => false,
    };
    let fault = || {
        let result = (answer.count, answer.interval, answer.margin);
        format!("{}, {method:?}, cut {cut:e}: {result:?} where {least}..={most} are above", case.name)
    };
    ledger.check(right && low <= answer.count && answer.count <= high, fault);
}
