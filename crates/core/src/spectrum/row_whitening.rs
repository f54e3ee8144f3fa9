//! Rows brought to the same level of noise, when someone has scaled them before us.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | wᵢ | `weights` | what row i is multiplied with |
//! | k | `k` | directions above the optimal hard threshold |
//! | hᵢ | `leverage` | ‖row i of V_k‖², the share of the row's own noise that the k directions swallow |
//! | vᵢ | `variance` | noise of row i: ‖row i − its part in the k directions‖² / ((m − k)(1 − hᵢ)) |
//!
//! White noise that was scaled row by row is white no more, and the optimal hard threshold finds too much. But the
//! noise shows itself in what the leading directions leave of each row: estimate it, divide by it, look again, until
//! k stays. Rows whose noise was even keep their weights to within √(2/m), and so their k.

use eigenspan_linalg::gram::{Gram, Side};
use eigenspan_linalg::spectrum::{GramSpectrum, Leading, Select};
use eigenspan_linalg::{Blocks, Exec, Mat, MatMut};

use super::noise::{NoiseView, Sides};
use super::weighted::Weighted;
use crate::Error;
use crate::median::median_of;

/// Looks at the weighted rows at most this often.
const ROUNDS: usize = 4;
/// No row counts as quieter than this share of the median row.
const QUIETEST: f64 = 0.05;
/// Rows read at once.
const STRETCH: usize = 256;

/// Singular values of the rows once their noise is even; as they are where there is no noise. `gram` is the Gram matrix
/// of the samples where it is known: then no round reads them again. `sides` are those that noise can fill, `epsilon` is the
/// rounding of the numbers the data came in, and `cut` gives the cut of a spectrum with even noise, nothing where there is none.
pub fn whitened_values(
    x: &dyn Blocks,
    gram: Option<Gram>,
    sides: Sides,
    (epsilon, cut): (f64, &dyn Fn(&NoiseView) -> Option<f64>),
    exec: Exec<'_>,
) -> Result<Vec<f64>, Error> {
    let short = sides.short;
    let mut weights = vec![1.0; x.rows()];
    let mut last = None;
    for _ in 0..ROUNDS {
        let view = Weighted::rows(x, &weights);
        let whole = match &gram {
            Some(gram) => GramSpectrum::with_gram(&view, gram.weighted(&weights)),
            None => GramSpectrum::of(&view, exec)?,
        };
        let all = whole.values(exec)?;
        let seen = NoiseView::of_rows(&all, sides, (x.rows(), x.cols()), epsilon);
        let Some(tau) = cut(&seen) else { return Ok(all) };
        let k = seen.sigma.iter().take_while(|s| **s > tau).count();
        if k == 0 || 2 * k >= short || last.as_ref().is_some_and(|(before, _)| *before == k) {
            return Ok(all);
        }
        let leading = whole.leading(Select::Top(k), exec)?;
        let variance = match whole.gram().side {
            Side::Samples => row_noise_in_gram(&view, whole.gram(), &leading, k),
            Side::Features => row_noise(&view, &leading, k, exec)?,
        };
        last = Some((k, all));
        let mut sorted = variance.clone();
        sorted.sort_by(f64::total_cmp);
        let typical = median_of(&sorted);
        weights.iter_mut().zip(&variance).for_each(|(w, v)| *w /= (v / typical).max(QUIETEST).sqrt());
    }
    Ok(last.expect("there was a round").1)
}

/// vᵢ for every row, given its k leading directions.
fn row_noise(x: &dyn Blocks, leading: &Leading<'_>, k: usize, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
    use eigenspan_linalg::product::Columns;
    use eigenspan_linalg::scale::times_power_of_two;
    let (n, m) = (x.rows(), x.cols());
    let directions = Columns::new(&leading.basis(k, exec)?);
    let scaled: Vec<f64> = leading.sigma[..k].iter().map(|s| times_power_of_two(*s, -x.exponent())).collect();
    let mut variance = vec![0.0; n];
    exec.each_chunk("compare", &mut variance, STRETCH, |part, out| {
        let first = part * STRETCH;
        let mut rows = Mat::zeros(out.len(), m);
        x.read(first..first + out.len(), 0..m, &mut MatMut::row_major(rows.as_mut_slice(), m));
        let mut along = Mat::zeros(out.len(), k);
        directions.multiply(rows.as_slice(), along.as_mut_slice());
        for (i, v) in out.iter_mut().enumerate() {
            let square = |row: &[f64]| row.iter().map(|y| y * y).sum::<f64>();
            let leverage: f64 = along.row(i).iter().zip(&scaled).map(|(z, s)| (z / s).powi(2)).sum();
            let left = (square(rows.row(i)) - square(along.row(i))).max(0.0);
            *v = left / (m - k) as f64 / (1.0 - leverage).max(QUIETEST);
        }
    })?;
    Ok(variance)
}

/// The same without a look at the rows: their lengths are the diagonal of G, V its eigenvectors.
fn row_noise_in_gram(x: &dyn Blocks, gram: &Gram, leading: &Leading<'_>, k: usize) -> Vec<f64> {
    use eigenspan_linalg::scale::times_power_of_two;
    let v = leading.small_side(k);
    let squares: Vec<f64> = leading.sigma[..k].iter().map(|s| times_power_of_two(*s, -x.exponent()).powi(2)).collect();
    let noise = |i: usize| {
        let leverage: f64 = v.row(i).iter().map(|v| v * v).sum();
        let explained: f64 = v.row(i).iter().zip(&squares).map(|(v, s)| v * v * s).sum();
        (gram.matrix.at(i, i) - explained).max(0.0) / (x.cols() - k) as f64 / (1.0 - leverage).max(QUIETEST)
    };
    (0..x.rows()).map(noise).collect()
}
