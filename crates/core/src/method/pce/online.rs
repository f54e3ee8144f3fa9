//! PCE of samples that arrive one by one, in the memory of a few directions.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | r | `rank` | directions kept on the way |
//! | f | `forget` | a sample counts f², f⁴, … after one, two, … more have come; 1 forgets nothing |
//! | σ̂, U | | what is known of the samples seen, at most r of each |
//! | δ | [`Trail::drift`] | σ̂ᵢ ≤ σᵢ ≤ √(σ̂ᵢ² + δ²): how far the values may have drifted from those of an exact fit |
//!
//! [`PceSummary`](crate::method::pce::summary::PceSummary) keeps m² numbers and gives the exact fit; this keeps 2mr and gives a fit with a bound.
//! Samples are prepared as ever and handed to Brand's incremental SVD
//! ([`eigenspan_linalg::online`], where the bound is proved); k = #{σ̂² > 1/λ} at the moment of asking, with the interval in which the
//! k of an exact fit lies. Where that is one number and nothing before was only probable, the dimension is proved.
//! ```text
//!     sample ─ prepared ─▶ waits ─ block is full ─▶ U, σ̂ ─ asked ─▶ Pce: U_k, σ̂, and the Trail to go on from
//! ```
//! **Rules.** A λ, a share of the energy and a dimension ask for leading values. Rules that read the noise off the spectrum need the
//! part of it that is dropped here, and are refused; so are z-scores, whose deviations are known only at the end.
//!
//! **Going on from a model.** A model has directions, values, √Σσ² and the mean: a state to go on from
//! ([`OnlinePce::resume`]). Of an ordinary model the directions below its cut are gone, and counted as lost; a model made here
//! carries them along ([`Trail::spare`]), so that it goes on from all r.
//!
//! Brand (2006), Ross et al. (2008) — `brand2006`, `ross2008` in `docs/references.bib`.

use eigenspan_linalg::online::{Discarded, Online, OnlineKind, OnlineState};
use eigenspan_linalg::{Exec, Mat};

use super::{Dim, Pce, PceParams, PceParts, Weights};
use crate::Error;
use crate::data::{ImageShape, NumberType, Samples};
use crate::prepare::{Normalize, Preparation, Prepared, Scan};
use crate::rule::Needs;
use crate::spectrum::online::OnlineSpectrum;
use crate::warning::Warning;

/// The first rows of length zero that are named.
const NAMED: usize = 10;
/// Directions kept where nobody says how many.
const RANK: usize = 100;

/// How samples that arrive one by one are taken in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OnlineParams {
    /// r: the most directions that are kept; no more than there are features.
    pub rank: usize,
    /// f, above 0 and at most 1.
    pub forget: f64,
    /// Samples that are taken in together; about `rank` of them where not given, which costs least.
    pub block: Option<usize>,
}

impl Default for OnlineParams {
    fn default() -> Self {
        Self { rank: RANK, forget: 1.0, block: None }
    }
}

impl OnlineParams {
    /// What a model goes on with where nobody says otherwise: as before, or with twice its directions and 100 at least.
    pub fn of(model: &Pce) -> Self {
        match &model.parts().online {
            Some(trail) => Self { rank: trail.rank, forget: trail.forget, block: Some(trail.block) },
            None => Self { rank: RANK.max(2 * model.columns()), ..Self::default() },
        }
    }

    fn check(&self) -> Result<(), Error> {
        let refuse = |name, expected, got| Err(Error::Parameter { name, expected, got });
        if self.rank == 0 {
            return refuse("rank", "at least 1", 0.0);
        }
        if self.block == Some(0) {
            return refuse("block", "at least 1", 0.0);
        }
        if !(self.forget > 0.0 && self.forget <= 1.0) {
            return refuse("forget", "above 0 and at most 1", self.forget);
        }
        Ok(())
    }

    fn kind(&self, features: usize, centred: bool) -> OnlineKind {
        let usual = OnlineKind::new(features, self.rank, self.forget, centred);
        OnlineKind { block: self.block.map_or(usual.block, |block| block.min(features.max(1))), ..usual }
    }
}

/// What samples to come go on from, beside the model itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Trail {
    /// r.
    pub rank: usize,
    /// Samples that are taken in together.
    pub block: usize,
    /// f.
    pub forget: f64,
    /// Σ f^(2·age) over the samples: how many there are in effect.
    pub weight: f64,
    /// Updates so far.
    pub updates: usize,
    /// What was dropped on the way.
    pub discarded: Discarded,
    /// Whether the bounds are proved, all the way from the first sample.
    pub proved: bool,
    /// The directions below those of the model, m × any number; their singular values are in the model.
    pub spare: Mat,
}

impl Trail {
    /// δ: every singular value of the samples lies between σ̂ and √(σ̂² + δ²).
    pub fn drift(&self) -> f64 {
        self.discarded.top.min(self.discarded.energy).sqrt()
    }

    /// Refuses what does not belong to a model of `m` features with `sigma`, of which `columns` have directions in the model.
    pub(crate) fn check(&self, m: usize, columns: usize, sigma: &[f64]) -> Result<(), String> {
        let say = |ok: bool, fault: &str| if ok { Ok(()) } else { Err(fault.to_string()) };
        let (spare, Discarded { energy, top }) = (&self.spare, self.discarded);
        let sizes = spare.rows() == m && columns + spare.cols() == sigma.len();
        say(sizes && spare.as_slice().iter().all(|u| u.is_finite()), "the spare directions do not fit the model")?;
        say(sigma.last().is_some_and(|s| *s > 0.0), "a singular value to go on from is zero")?;
        say(self.rank > 0 && self.block > 0, "it keeps no directions on the way")?;
        say(self.forget > 0.0 && self.forget <= 1.0, "its forgetting factor is not above 0 and at most 1")?;
        say(self.weight > 0.0 && self.weight.is_finite(), "its samples have no weight")?;
        say(energy >= 0.0 && energy.is_finite() && top >= 0.0 && top.is_finite(), "what it lost is not told")
    }
}

/// Everything there is, as plain data. [`OnlinePce::from_parts`] checks it.
#[derive(Debug, Clone, PartialEq)]
pub struct OnlineParts {
    /// What the model will be asked.
    pub params: PceParams,
    /// How samples are taken in.
    pub online: OnlineParams,
    /// The least precise numbers that samples came in.
    pub number_type: NumberType,
    /// How many samples have length zero.
    pub zeros: usize,
    /// The first of them.
    pub zero_rows: Vec<usize>,
    /// The shape of the image that each sample is, where known.
    pub image: Option<ImageShape>,
    /// Whether the bounds are proved, all the way from the first sample.
    pub proved: bool,
    /// What is known of the samples.
    pub state: OnlineState,
}

/// PCE of the samples seen so far. See the head of this file.
///
/// ```
/// use eigenspan_core::data::generate::Subspaces;
/// use eigenspan_core::{Exec, Lambda, OnlineParams, OnlinePce, PceParams};
///
/// let data = Subspaces { samples: 300, features: 60, subspaces: 2, dim: 4, noise: 0.05 }.generate(7)?;
/// let params = PceParams { lambda: Lambda::Fixed(0.2), ..PceParams::default() };
/// let mut seen = OnlinePce::new(params, OnlineParams { rank: 20, ..OnlineParams::default() }, 60)?;
/// for i in 0..300 {
///     seen.update(&data.samples.select_rows(&[i]), Exec::default())?;
/// }
/// let model = seen.finish(Exec::default())?;
/// assert_eq!((model.k(), model.parts().k_interval), (8, (8, 8)));
/// # Ok::<(), eigenspan_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct OnlinePce {
    parts: OnlineParts,
    online: Online,
}

impl OnlinePce {
    /// Of no samples, with so many features.
    pub fn new(params: PceParams, online: OnlineParams, features: usize) -> Result<Self, Error> {
        online.check()?;
        if features == 0 {
            return Err(Error::Empty { n: 0, m: 0 });
        }
        let state = Online::new(online.kind(features, params.center))?.state().clone();
        let number_type = NumberType::U8;
        let (zeros, zero_rows, image, proved) = (0, vec![], None, true);
        Self::from_parts(OnlineParts { params, online, number_type, zeros, zero_rows, image, proved, state })
    }

    /// Goes on from a model, by settings that prepare samples as it does.
    ///
    /// Weights that its classes chose stay as they are.
    pub fn resume(model: &Pce, params: PceParams, online: OnlineParams) -> Result<Self, Error> {
        online.check()?;
        let p = model.parts();
        if params.normalize != p.params.normalize || params.center != p.params.center {
            let why = "the model prepared its samples in another way";
            return Err(Error::NotOnline { setting: "normalize", why });
        }
        let weights = match (params.weights, &p.chosen) {
            (Weights::Auto, Some(chosen)) => Weights::Soft { gamma: chosen.gamma },
            (weights, _) => weights,
        };
        let (zeros, zero_rows) = p.warnings.iter().find_map(zero_samples).unwrap_or_default();
        let proved = p.online.as_ref().map_or(p.certified, |trail| trail.proved);
        Self::from_parts(OnlineParts {
            params: PceParams { weights, ..params },
            online,
            number_type: p.number_type,
            zeros,
            zero_rows,
            image: p.image,
            proved,
            state: state_of(model),
        })
    }

    /// From what [`parts`](Self::parts) gave; refused where it does not belong together.
    pub fn from_parts(mut parts: OnlineParts) -> Result<Self, Error> {
        let OnlineParts { params, online, zeros, zero_rows, state, .. } = &parts;
        params.check()?;
        online.check()?;
        suits(params, online)?;
        let kind = online.kind(state.basis.rows(), params.center);
        if *zeros < zero_rows.len() || zero_rows.len() > NAMED {
            return Err(Error::Model("samples of length zero are named that are not there".into()));
        }
        // From here on the state is that of `online`; a copy of what it was would only take memory.
        let nothing = Online::new(kind)?.state().clone();
        let online = Online::resume(kind, std::mem::replace(&mut parts.state, nothing))?;
        Ok(Self { parts, online })
    }

    /// Everything there is.
    pub fn parts(&self) -> OnlineParts {
        OnlineParts { state: self.online.state().clone(), ..self.parts.clone() }
    }

    /// Samples seen.
    pub fn rows(&self) -> usize {
        self.online.rows()
    }

    /// Features of a sample.
    pub fn features(&self) -> usize {
        self.online.kind().features
    }

    /// How samples are taken in.
    pub fn online(&self) -> OnlineParams {
        let OnlineKind { rank, block, forget, .. } = self.online.kind();
        OnlineParams { rank, forget, block: Some(block) }
    }

    /// Takes more samples, any number of them. After an error nothing has changed.
    pub fn update<'a>(&mut self, samples: impl Into<Samples<'a>>, exec: Exec<'_>) -> Result<(), Error> {
        let samples = samples.into();
        if samples.cols() != self.features() {
            return Err(Error::FeatureMismatch { expected: self.features(), got: samples.cols() });
        }
        if samples.rows() == 0 {
            return Ok(());
        }
        let scan = Scan::of(samples, exec)?;
        let learnt = Preparation::scaling(self.parts.params.normalize);
        let before = self.rows();
        self.online.update(&Prepared::new(samples, &learnt, &scan), exec)?;
        let zero = scan.zero_samples();
        let room = NAMED - self.parts.zero_rows.len();
        self.parts.zeros += zero.len();
        self.parts.zero_rows.extend(zero.iter().take(room).map(|row| before + row));
        if before == 0 || samples.number_type().epsilon() > self.parts.number_type.epsilon() {
            self.parts.number_type = samples.number_type();
        }
        Ok(())
    }

    /// The model of the samples seen so far.
    pub fn finish(&self, exec: Exec<'_>) -> Result<Pce, Error> {
        let (params, m) = (&self.parts.params, self.features());
        let state = self.online.closed(exec)?;
        let (n, block) = (state.rows, self.online.kind().block);
        if n == 0 {
            return Err(Error::Empty { n, m });
        }
        let named = if params.normalize == Normalize::Unit { self.parts.zero_rows.clone() } else { vec![] };
        let warnings = params.zero_samples(self.parts.zeros, named)?;
        let mean = state.mean.as_ref().map(|[high, _]| high.clone());
        let preparation = Preparation { normalize: params.normalize, mean, deviation: None };
        let (rank, epsilon) = (self.online.kind().rank, self.parts.number_type.epsilon());
        let spectrum = OnlineSpectrum { state: &state, block, rank, epsilon };
        let model = params.solve(&spectrum, &preparation, self.parts.number_type, None, warnings, exec)?.model;
        let parts = model.parts().clone();
        let mut warnings = parts.warnings.clone();
        let (low, high) = parts.k_interval;
        if low < high && state.discarded.energy > 0.0 {
            warnings.push(Warning::Dropped { rank, low, high });
        }
        let (image, certified) = (self.parts.image, parts.certified && self.parts.proved);
        let online = Some(Box::new(self.trail(&state, model.columns())));
        Pce::new(PceParts { online, image, certified, warnings, ..parts })
    }

    /// What goes with a model of so many columns.
    fn trail(&self, state: &OnlineState, columns: usize) -> Trail {
        let OnlineKind { rank, block, forget, .. } = self.online.kind();
        let (q, proved) = (state.sigma.len(), self.parts.proved);
        let spare = Mat::from_fn(self.features(), q - columns, |i, j| state.basis.at(i, columns + j));
        Trail {
            rank,
            block,
            forget,
            weight: state.weight,
            updates: state.updates,
            discarded: state.discarded,
            proved,
            spare,
        }
    }
}

/// Refuses what cannot be asked of samples that were dropped.
fn suits(params: &PceParams, online: &OnlineParams) -> Result<(), Error> {
    let refuse = |setting, why| Err(Error::NotOnline { setting, why });
    if params.normalize == Normalize::ZScore {
        return refuse("normalize", "z-scores need the deviation of every feature over all samples");
    }
    match params.dim {
        Dim::Fixed(dim) if dim > online.rank => Err(Error::Parameter {
            name: "rank",
            expected: "at least the dimension asked for",
            got: online.rank as f64,
        }),
        _ if params.rule().needs() == Needs::LEADING => Ok(()),
        _ => refuse("lambda", "it is read off all singular values, of which only the leading ones are kept here"),
    }
}

fn zero_samples(warning: &Warning) -> Option<(usize, Vec<usize>)> {
    if let Warning::ZeroSamples { count, rows } = warning { Some((*count, rows.clone())) } else { None }
}

/// What a model knows of its samples. Of an ordinary one, what is below its directions is discarded: in all the rest of Σσ², at most the
/// next singular value in any direction.
fn state_of(model: &Pce) -> OnlineState {
    let (p, columns, m) = (model.parts(), model.columns(), model.features());
    let square = |sigma: &[f64]| sigma.iter().map(|s| s * s).sum::<f64>();
    let mean = p.preparation.mean.as_ref().map(|mean| [mean.clone(), vec![0.0; m]]);
    let (basis, sigma, lost, weight, updates) = if let Some(trail) = &p.online {
        let at = |i, j: usize| if j < columns { p.basis.at(i, j) } else { trail.spare.at(i, j - columns) };
        (Mat::from_fn(m, p.sigma.len(), at), p.sigma.clone(), trail.discarded, trail.weight, trail.updates)
    } else {
        let sigma = p.sigma[..columns].to_vec();
        // Known values below are summed, not subtracted: where all are known, nothing is lost but these.
        let below = square(&p.sigma[columns..]);
        let whole = p.sigma.len() == p.n.min(m);
        let energy = if whole { below } else { (p.norm * p.norm - square(&sigma)).max(below) };
        let top = p.sigma.get(columns).map_or(energy, |next| next * next);
        (p.basis.clone(), sigma, Discarded { energy, top }, p.n as f64, 0)
    };
    OnlineState { rows: p.n, updates, weight, mean, basis, sigma, discarded: lost, waiting: vec![] }
}
