//! From samples to a linear model that keeps their graph: what LPP and NPE have in common around
//! [`graph_embedding`](crate::method::parts::graph_embedding).
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | 2⁻ᵉX (n × m) | [`GraphSamples::x`] | samples scaled as asked, not centred, brought near one by a power of two |
//! | μ | `mean` of [`GraphSamples::preparation`] | their mean, in the samples' units |
//!
//! Neighbours are searched among samples that are not centred: whole numbers stay whole, and equal distances equal. Distances
//! are squared on the way, which the power of two keeps from overflow; it rounds nothing, and Θ is scaled back.

use eigenspan_linalg::scale::{exponent_of, times_power_of_two};
use eigenspan_linalg::spectrum::resolution;
use eigenspan_linalg::{Exec, Mat};

use crate::Error;
use crate::data::Samples;
use crate::method::parts::graph_embedding::{Columns, Graph, GraphEmbedding};
use crate::model::fitted::{About, Settings};
use crate::model::linear::Linear;
use crate::prepare::{Normalize, Preparation, Scan};
use crate::text::short_number;
use crate::warning::Warning;

/// Samples to learn a graph from, and a projection.
pub(crate) struct GraphSamples {
    /// 2⁻ᵉX.
    pub x: Mat,
    /// e.
    pub exponent: i32,
    /// What is done to a sample before it is projected.
    pub preparation: Preparation,
    /// What the user should know.
    pub warnings: Vec<Warning>,
    centred: bool,
}

impl GraphSamples {
    /// Looks at the samples and scales them; `center` says whether their mean will be asked for.
    pub fn of(samples: Samples<'_>, normalize: Normalize, center: bool, exec: Exec<'_>) -> Result<Self, Error> {
        let (scan, n) = (Scan::of(samples, exec)?, samples.rows());
        if n < 2 {
            return Err(Error::TooFewSamples { needed: 2, why: "to have a neighbour", got: n });
        }
        let preparation = Preparation::learn(samples, &scan, normalize, center, None, exec)?;
        let z_score = normalize == Normalize::ZScore;
        let scaling = if z_score { preparation.clone() } else { Preparation::scaling(normalize) };
        let mut x = scaling.matrix(samples, exec)?;
        let largest = x.as_slice().iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        if let Some(at) = x.as_slice().iter().position(|v| !v.is_finite()) {
            return Err(Error::NotFinite { row: at / x.cols(), column: at % x.cols(), value: x.as_slice()[at] });
        }
        let exponent = exponent_of(largest);
        if exponent != 0 {
            x.as_mut_slice().iter_mut().for_each(|v| *v = times_power_of_two(*v, -exponent));
        }
        let warnings = scan.zero_sample_warning(normalize).into_iter().collect();
        Ok(Self { x, exponent, preparation, warnings, centred: center || z_score })
    }

    /// X ← X − 1μᵀ with the plain mean; nothing where samples are not to be centred, or are already.
    pub fn subtract_mean(&mut self) {
        if let (Some(mean), None) = (&self.preparation.mean, &self.preparation.deviation) {
            let mean: Vec<f64> = mean.iter().map(|mu| times_power_of_two(*mu, -self.exponent)).collect();
            subtract(&mut self.x, &mean);
        }
    }

    /// X ← X − 1μᵀ with μ = XᵀD1 / 1ᵀD1, the mean in which sample i counts dᵢ times.
    pub fn subtract_mean_weighted_by(&mut self, degree: &[f64]) {
        self.subtract_mean(); // the plain mean first: what is left to subtract is small
        let total: f64 = degree.iter().sum();
        let mut shift = vec![0.0; self.x.cols()];
        for (i, d) in degree.iter().enumerate() {
            shift.iter_mut().zip(self.x.row(i)).for_each(|(sum, x)| *sum += d / total * x);
        }
        subtract(&mut self.x, &shift);
        let Preparation { mean, deviation, .. } = &mut self.preparation;
        let mean = mean.get_or_insert_with(|| vec![0.0; shift.len()]);
        for (j, (mean, shift)) in mean.iter_mut().zip(&shift).enumerate() {
            let unit = deviation.as_ref().map_or(1.0, |s| s[j]);
            *mean += unit * times_power_of_two(*shift, self.exponent);
        }
    }
}

fn subtract(x: &mut Mat, mean: &[f64]) {
    (0..x.rows()).for_each(|i| x.row_mut(i).iter_mut().zip(mean).for_each(|(x, mu)| *x -= mu));
}

/// What is asked of the projection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EmbeddingOptions {
    /// k, at most.
    pub dim: usize,
    /// Directions with σ at or below this share of σ₁ are left out; `None`: what is not above rounding.
    pub floor: Option<f64>,
    /// Columns with an eigenvalue below this are left out; `None`: none.
    pub least: Option<f64>,
    /// How long the columns are.
    pub columns: Columns,
    /// Whether the mean stays in new samples.
    pub keep_mean: bool,
}

/// Refuses settings that LPP and NPE share and that are out of range.
pub(crate) fn check(neighbours: usize, floor: Option<f64>, least: Option<f64>) -> Result<(), Error> {
    let wrong = |name, expected, got| Err(Error::Parameter { name, expected, got });
    match (neighbours, floor, least) {
        (0, _, _) => wrong("neighbours", "at least 1", 0.0),
        (_, Some(floor), _) if !(0.0..1.0).contains(&floor) => wrong("floor", "from 0 to below 1", floor),
        (_, _, Some(least)) if !least.is_finite() => wrong("least", "a finite number", least),
        _ => Ok(()),
    }
}

impl EmbeddingOptions {
    /// The model for samples that are centred and weighted as their method asks, and their graph, named by `graph_is`.
    pub fn solve<P: Settings>(
        self,
        params: &P,
        samples: Samples<'_>,
        learning: GraphSamples,
        graph: &dyn Graph,
        graph_is: &str,
        exec: Exec<'_>,
    ) -> Result<Linear<P>, Error> {
        let (n, m) = (samples.rows(), samples.cols());
        let GraphSamples { x, exponent, mut preparation, mut warnings, centred } = learning;
        let floor = self.floor.unwrap_or_else(|| resolution(&[1.0], n, m));
        let least = self.least.unwrap_or(f64::NEG_INFINITY);
        let engine = GraphEmbedding { dim: self.dim, floor, least, columns: self.columns };
        let mut found = match engine.solve(&x, graph, exec) {
            Err(Error::AllZero { .. }) => return Err(Error::AllZero { n, m, centred }),
            found => found?,
        };
        let k = found.values.len();
        if k == 0 {
            return Err(Error::NothingKept { least });
        }
        if self.columns == Columns::Constraint && exponent != 0 {
            found.theta.as_mut_slice().iter_mut().for_each(|t| *t = times_power_of_two(*t, -exponent));
        }
        if self.dim > found.rank {
            warnings.push(Warning::RankCapped { asked: self.dim, most: found.rank });
        }
        if self.keep_mean && preparation.deviation.is_none() {
            preparation.mean = None;
        }
        let dropped = self.dim.min(found.rank) - k;
        let below = if dropped == 0 { String::new() } else { format!("; {dropped} below {least:e} are left out") };
        let [first, last] = [found.values[0], found.values[k - 1]].map(short_number);
        let why = format!("k = {k}: eigenvalues from {first} down to {last} of {graph_is}{below}");
        let mut about = About::new(params, samples, why);
        about.warnings = warnings;
        Linear { about, preparation, unit_features: false, theta: found.theta, values: found.values }.checked()
    }
}
