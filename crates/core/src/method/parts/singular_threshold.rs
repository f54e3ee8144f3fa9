//! Singular values made smaller by τ, and those below it zero: the step that makes a matrix low-rank.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | X (n × m) | `x` | X = PΣUᵀ |
//! | τ | `tau` | what is taken from every singular value |
//! | G | | XᵀX (n ≥ m) or XXᵀ (n < m), p × p |
//! | V (p × k) | `vectors` | its eigenvectors for the values above τ² |
//! | S_τ(X) | [`LowRank`] | P max(Σ − τ, 0) Uᵀ: the minimiser of τ‖A‖_* + ½‖A − X‖²_F |
//!
//! ```text
//!     S_τ(X) = X V diag(1 − τ/σ) Vᵀ        or        V diag(1 − τ/σ) Vᵀ X,        σ = ‖X v‖
//! ```
//! Where no value is below τ, the middle of it is one p × p matrix, W = V diag(1 − τ/σ) Vᵀ, and S_τ(X) = X W or W X.
//!
//! Only the pairs above τ are computed, by block Lanczos where they are few. G loses small values: its rounding, about
//! eps·σ₁², turns directions near the cut against each other, and that moves S_τ(X) by eps·σ₁²/(2τ). So G is asked no further
//! down than σ₁ ÷ `REACH`, where this is 1e-11·σ₁. What lies below is found in the Gram matrix of X (I − VVᵀ), which is
//! free of the large values, and so on down to rounding.
//!
//! In a sequence of matrices the directions of one are a guess of the next ([`SingularThreshold`]). A few steps of
//! subspace iteration refine it, and a Cholesky factorisation proves that nothing above the cut was missed. Where the
//! spectrum has no gap at the cut this is slow, which shows after two steps, and Lanczos or the dense decomposition answers.
//!
//! Cai, Candès, Shen (2010) — `cai2010` in `docs/references.bib`.

use eigenspan_linalg::definite::definite;
use eigenspan_linalg::dense::product;
use eigenspan_linalg::gram::{Gram, Side};
use eigenspan_linalg::krylov::{self, Dense, Until};
use eigenspan_linalg::polish::polish;
use eigenspan_linalg::random::Random;
use eigenspan_linalg::symmetric::tridiagonalize;
use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::method::parts::low_rank::{LowRank, column_norms};
use crate::prepare::norm;

/// One Gram matrix is asked for values down to ‖X‖_F ÷ this.
const REACH: f64 = 1e5;
/// Up to this order the dense decomposition is faster than any guess.
const SMALL: usize = 256;
/// Up to this order it is faster than Lanczos where there is no gap at the cut; where there is one, the guess was good.
const MEDIUM: usize = 768;
/// Random vectors beside a guess.
const GUARDS: usize = 8;
/// Steps from a guess, at most: the other ways cost about as much as five.
const STEPS: i32 = 4;
/// Products with G before the Rayleigh–Ritz step, which costs more than one of them.
const POWER: usize = 2;
/// The residual that an eigenpair may keep, relative to the cut.
const CLOSE: f64 = 1e-11;

/// S_τ(X). `x` is expected near one, as a power of two makes it.
pub fn singular_threshold(x: &Mat, tau: f64, exec: Exec<'_>) -> Result<LowRank, Error> {
    SingularThreshold::default().of(x, tau, exec)
}

/// S_τ(X) of one X after the other, each not far from the one before.
#[derive(Debug, Clone, Default)]
pub struct SingularThreshold {
    /// V of the last X, as a first guess of the next.
    guess: Option<Mat>,
}

impl SingularThreshold {
    /// S_τ(X) of the next X.
    pub fn of(&mut self, x: &Mat, tau: f64, exec: Exec<'_>) -> Result<LowRank, Error> {
        let guess = self.guess.take().filter(|guess| guess.rows() == x.rows().min(x.cols()));
        let above = directions_above(x, tau, guess, exec)?;
        self.guess = Some(above.vectors.clone());
        if above.vectors.cols() == above.vectors.rows() {
            return all_shrunk(x, above, tau, exec);
        }
        shrunk(x, above.vectors, tau, exec)
    }
}

/// Directions with their squared singular values.
struct Directions {
    squares: Vec<f64>,
    vectors: Mat,
}

/// X W or W X. The values are those of G: what it rounds them by moves S_τ(X) as little as what it turns the vectors by.
fn all_shrunk(
    x: &Mat,
    Directions { squares, vectors }: Directions,
    tau: f64,
    exec: Exec<'_>,
) -> Result<LowRank, Error> {
    let mut rows = vectors.transposed();
    for (j, square) in squares.iter().enumerate() {
        let root = (1.0 - tau / square.sqrt()).max(0.0).sqrt();
        rows.row_mut(j).iter_mut().for_each(|v| *v *= root);
    }
    let middle = Gram::in_double(&rows, exec.silent())?.matrix;
    Ok(match Side::of(x) {
        Side::Features => LowRank::new(x.clone(), middle),
        Side::Samples => LowRank::new(middle, x.clone()),
    })
}

/// X V diag(1 − τ/σ) Vᵀ, or V diag(1 − τ/σ) Vᵀ X.
fn shrunk(x: &Mat, vectors: Mat, tau: f64, exec: Exec<'_>) -> Result<LowRank, Error> {
    let shrink = |sigma: f64| (1.0 - tau / sigma).max(0.0);
    Ok(match Side::of(x) {
        Side::Features => {
            let mut left = product(x.view(), vectors.view(), exec)?;
            let factors: Vec<f64> = column_norms(&left).into_iter().map(shrink).collect();
            for i in 0..left.rows() {
                left.row_mut(i).iter_mut().zip(&factors).for_each(|(v, factor)| *v *= factor);
            }
            LowRank::new(left, vectors.transposed())
        }
        Side::Samples => {
            let mut right = product(vectors.view().transposed(), x.view(), exec)?;
            for j in 0..right.rows() {
                let row = right.row_mut(j);
                let factor = shrink(norm(row));
                row.iter_mut().for_each(|v| *v *= factor);
            }
            LowRank::new(vectors, right)
        }
    })
}

/// The singular vectors of `x` over its smaller side for all values above `tau`, p × k.
fn directions_above(x: &Mat, tau: f64, guess: Option<Mat>, exec: Exec<'_>) -> Result<Directions, Error> {
    let side = Side::of(x);
    let gram = Gram::in_double(x, exec.silent())?.matrix;
    let mut size = trace(&gram).sqrt();
    // Values below rounding are no values.
    let last = tau.max(2.0 * f64::EPSILON * size);
    let mut cut = last.max(size / REACH);
    let refined = match guess {
        Some(guess) if gram.rows() > SMALL => refine(&gram, guess, cut * cut, exec.silent())?,
        _ => None,
    };
    let mut found = match refined {
        Some(found) => found,
        None => eigenvectors_above(gram, cut * cut, exec)?,
    };
    while cut > last && found.vectors.cols() < found.vectors.rows() {
        let rest = without(x, &found.vectors, side, exec)?;
        let gram = Gram::in_double(&rest, exec.silent())?.matrix;
        size = trace(&gram).sqrt();
        cut = last.max((size / REACH).min(cut / 2.0));
        found = joined(found, eigenvectors_above(gram, cut * cut, exec)?, exec)?;
    }
    Ok(found)
}

/// X (I − VVᵀ), or (I − VVᵀ) X.
fn without(x: &Mat, vectors: &Mat, side: Side, exec: Exec<'_>) -> Result<Mat, Error> {
    let vt = vectors.view().transposed();
    let part = match side {
        Side::Features => product(product(x.view(), vectors.view(), exec)?.view(), vt, exec)?,
        Side::Samples => product(vectors.view(), product(vt, x.view(), exec)?.view(), exec)?,
    };
    let mut rest = x.clone();
    rest.as_mut_slice().iter_mut().zip(part.as_slice()).for_each(|(x, part)| *x -= part);
    Ok(rest)
}

/// Orthonormal columns and a few that are almost orthonormal to them, as orthonormal columns.
fn joined(a: Directions, b: Directions, exec: Exec<'_>) -> Result<Directions, Error> {
    let (rows, first) = (a.vectors.rows(), a.vectors.cols());
    let more = b.vectors.cols().min(rows - first);
    if more == 0 {
        return Ok(a);
    }
    let at = |i, j| if j < first { a.vectors.at(i, j) } else { b.vectors.at(i, j - first) };
    let vectors = polish(Mat::from_fn(rows, first + more, at), exec.silent())?;
    Ok(Directions { squares: [&a.squares[..], &b.squares[..more]].concat(), vectors })
}

/// The eigenvectors of `g` for all values above `square` from vectors that are not far from them; `None` where they are, or
/// where they cannot be proved to be all. The steps are those of subspace iteration, and a few random vectors go along to
/// meet what the guess knows nothing of.
fn refine(g: &Mat, guess: Mat, square: f64, exec: Exec<'_>) -> Result<Option<Directions>, Error> {
    let (p, known) = (g.rows(), guess.cols());
    let width = known + GUARDS;
    if 4 * width > p {
        return Ok(None);
    }
    let mut random = Random::new(p as u64);
    let mut q = Mat::from_fn(p, width, |i, j| if j < known { guess.at(i, j) } else { random.uniform() });
    q = polish(q, exec)?;
    let enough = (CLOSE * square).max(4.0 * f64::EPSILON * trace(g));
    let mut before = f64::INFINITY;
    for left in (0..STEPS).rev() {
        for _ in 0..POWER {
            q = Dense(g).times(&q, exec)?;
        }
        q = polish(q, exec)?;
        let image = Dense(g).times(&q, exec)?;
        let small = product(q.view().transposed(), image.view(), exec)?;
        let eigen = tridiagonalize(small, exec)?.leading(width, exec)?;
        let count = eigen.values.iter().take_while(|v| **v > square).count();
        let vectors = product(q.view(), eigen.vectors.view(), exec)?;
        q = product(image.view(), eigen.vectors.view(), exec)?;
        let worst = worst_residual(&q, &eigen.values[..count], &vectors);
        if worst <= enough {
            let vectors = vectors.leading_columns(count);
            let all = definite(g, square, &eigen.values[..count], &vectors, exec)?;
            let squares = eigen.values[..count].to_vec();
            return Ok(all.then_some(Directions { squares, vectors }));
        }
        let expected = worst * (worst / before).powi(left);
        if count == width || expected > enough && before.is_finite() {
            return Ok(None);
        }
        before = worst;
    }
    Ok(None)
}

/// The largest ‖Gv − θv‖ of some vectors v whose images Gv are the first columns of `images`.
fn worst_residual(images: &Mat, values: &[f64], vectors: &Mat) -> f64 {
    let mut squares = vec![0.0; values.len()];
    for i in 0..images.rows() {
        let row = squares.iter_mut().zip(images.row(i)).zip(vectors.row(i)).zip(values);
        row.for_each(|(((square, image), v), value)| *square += (image - value * v).powi(2));
    }
    squares.into_iter().fold(0.0, f64::max).sqrt()
}

/// The eigenvectors of the symmetric `g` for all values above `square`.
fn eigenvectors_above(g: Mat, square: f64, exec: Exec<'_>) -> Result<Directions, Error> {
    let (p, exec) = (g.rows(), exec.silent());
    let trace = trace(&g);
    if trace <= square {
        return Ok(Directions { squares: vec![], vectors: Mat::zeros(p, 0) });
    }
    if p > MEDIUM {
        let rounding = 4.0 * f64::EPSILON * trace;
        if let Some(found) = krylov::leading(&Dense(&g), Until::Above(square), rounding, exec)? {
            let count = found.values.iter().take_while(|v| **v > square).count();
            return Ok(Directions {
                squares: found.values[..count].to_vec(),
                vectors: found.vectors.leading_columns(count),
            });
        }
    }
    let reduced = tridiagonalize(g, exec)?;
    let count = reduced.count_above(square);
    let found = reduced.leading(count, exec)?;
    Ok(Directions { squares: found.values, vectors: found.vectors })
}

fn trace(g: &Mat) -> f64 {
    (0..g.rows()).map(|i| g.at(i, i)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::generate::Normal;
    use eigenspan_linalg::svd;
    use eigenspan_linalg::triangle::orthonormalize;

    /// By the definition: right vectors and values of the whole decomposition.
    fn by_definition(x: &Mat, tau: f64) -> Mat {
        let exec = Exec::default();
        let svd::RightSvd { sigma, v } = svd::right(x).unwrap();
        let mut scores = product(x.view(), v.view(), exec).unwrap();
        for i in 0..scores.rows() {
            for (score, s) in scores.row_mut(i).iter_mut().zip(&sigma) {
                *score *= if *s > tau { 1.0 - tau / s } else { 0.0 };
            }
        }
        product(scores.view(), v.view().transposed(), exec).unwrap()
    }

    fn gap(a: &Mat, b: &Mat) -> f64 {
        a.as_slice().iter().zip(b.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    fn with_values(n: usize, m: usize, sigma: &[f64]) -> Mat {
        let mut random = Normal::new(3);
        let mut rotation = |n: usize| orthonormalize(&Mat::from_fn(n, sigma.len(), |_, _| random.draw()));
        let (mut left, right) = (rotation(n), rotation(m));
        for i in 0..n {
            left.row_mut(i).iter_mut().zip(sigma).for_each(|(v, s)| *v *= s);
        }
        product(left.view(), right.view().transposed(), Exec::default()).unwrap()
    }

    #[test]
    fn it_is_what_the_whole_decomposition_says_by_every_road() {
        let mut random = Normal::new(1);
        // Small and dense, large enough for Lanczos, tall and wide.
        for (n, m) in [(1, 1), (7, 5), (5, 7), (40, 1), (1, 40), (300, 290), (270, 400), (800, 780)] {
            let x = Mat::from_fn(n, m, |i, j| 0.1 * random.draw() + ((i % 7) * (j % 5)) as f64 * 0.1);
            let first = svd::values(&x).unwrap()[0];
            let shares: &[f64] = if n > 500 { &[0.5] } else { &[2.0, 1.000001, 0.5, 0.05, 1e-7, 0.0] };
            for &share in shares {
                let found = singular_threshold(&x, share * first, Exec::default()).unwrap();
                let off = gap(&found.matrix(Exec::default()).unwrap(), &by_definition(&x, share * first));
                assert!(off <= 1e-11 * first, "{n} × {m}, {share}: {:e}", off / first);
                assert!(found.rank() <= n.min(m) && (share <= 1.0 || found.rank() == 0), "{n} × {m}, {share}");
            }
        }
    }

    #[test]
    fn a_guess_changes_the_way_and_not_the_result() {
        let mut random = Normal::new(5);
        // From one matrix to the next: the same directions, turned a little, and three that come as new.
        let noise = Mat::from_fn(290, 300, |_, _| 1e-3 * random.draw());
        for more in [0, 3, 20] {
            let before = with_values(290, 300, &[5.0, 4.0, 3.0, 2.0, 1.5]);
            let other = with_values(290, 300, &vec![1.2; 5 + more]);
            let next = Mat::from_fn(290, 300, |i, j| {
                before.at(i, j) + noise.at(i, j) + if more > 0 { other.at(i, (j + 7) % 300) } else { 0.0 }
            });
            let mut threshold = SingularThreshold::default();
            assert_eq!(threshold.of(&before, 0.5, Exec::default()).unwrap().rank(), 5);
            let found = threshold.of(&next, 0.5, Exec::default()).unwrap();
            assert_eq!(found.rank(), singular_threshold(&next, 0.5, Exec::default()).unwrap().rank());
            let off = gap(&found.matrix(Exec::default()).unwrap(), &by_definition(&next, 0.5));
            assert!(off < 1e-11, "{more}: {off:e}");
        }
        let gram = Gram::in_double(&with_values(290, 300, &[5.0, 4.0, 3.0]), Exec::default()).unwrap().matrix;
        let near = Mat::from_fn(290, 3, |i, j| ((i * (j + 1)) as f64).sin());
        let refined = refine(&gram, near, 1.0, Exec::default()).unwrap();
        assert_eq!(refined.expect("three large values and nothing else are found at once").vectors.cols(), 3);
    }

    #[test]
    fn a_guess_that_is_right_but_not_all_is_refused() {
        // Three eigenvectors, exactly, and a fourth above the cut that the guess knows nothing of and no step brings out.
        let values = [25.0, 16.0, 9.0, 1.01];
        let g = Mat::from_fn(300, 300, |i, j| if i == j { values.get(i).copied().unwrap_or(0.99) } else { 0.0 });
        let guess = |count: usize| Mat::from_fn(300, count, |i, j| f64::from(u8::from(i == j)));
        assert!(refine(&g, guess(3), 1.0, Exec::default()).unwrap().is_none());
        assert_eq!(refine(&g, guess(4), 1.0, Exec::default()).unwrap().unwrap().vectors.cols(), 4);
        // One that stands out from the rest is brought out by the random vectors.
        let values = [25.0, 16.0, 9.0, 1.5];
        let g = Mat::from_fn(300, 300, |i, j| if i == j { values.get(i).copied().unwrap_or(0.1) } else { 0.0 });
        assert_eq!(refine(&g, guess(3), 1.0, Exec::default()).unwrap().unwrap().vectors.cols(), 4);
    }

    #[test]
    fn equal_values_and_values_at_the_cut_are_no_trouble() {
        for (n, m) in [(60, 30), (30, 60), (290, 300)] {
            let sigma: Vec<f64> = [vec![3.0; 14], vec![1.0; 9], vec![0.25; 5]].concat();
            let x = with_values(n, m, &sigma);
            for (tau, rank) in [(2.0, 14), (1.0 - 1e-9, 23), (0.5, 23), (0.1, 28)] {
                let found = singular_threshold(&x, tau, Exec::default()).unwrap();
                assert_eq!(found.rank(), rank, "{n} × {m}, {tau}");
                assert!(gap(&found.matrix(Exec::default()).unwrap(), &by_definition(&x, tau)) < 1e-11);
            }
            // At the cut itself rounding decides the rank, but not the result.
            let found = singular_threshold(&x, 1.0, Exec::default()).unwrap();
            assert!(gap(&found.matrix(Exec::default()).unwrap(), &by_definition(&x, 1.0)) < 1e-11);
        }
    }

    #[test]
    fn values_far_below_the_reach_of_a_gram_matrix_are_thresholded_too() {
        // σ from 1 down to 1e-10: a Gram matrix alone knows nothing below 1e-8, and little below 1e-6.
        let sigma: Vec<f64> = (0..21).map(|j| 10f64.powf(-0.5 * f64::from(j))).collect();
        for (n, m) in [(80, 60), (60, 80), (300, 280)] {
            let x = with_values(n, m, &sigma);
            for (tau, rank) in [(2e-4, 8), (2e-6, 12), (2e-8, 16), (2e-9, 18)] {
                let found = singular_threshold(&x, tau, Exec::default()).unwrap();
                assert_eq!(found.rank(), rank, "{n} × {m}, {tau}");
                let off = gap(&found.matrix(Exec::default()).unwrap(), &by_definition(&x, tau));
                assert!(off < 1e-12, "{n} × {m}, {tau}: {off:e}");
            }
        }
    }
}
