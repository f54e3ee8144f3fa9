//! PCE of samples that arrive in portions and are not kept.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | y ↦ y/‖y‖ | `prepared` | a summary of the samples as they are decomposed |
//! | y | `unscaled` | a summary of the samples as they came, where a rule looks for noise in them |
//!
//! A portion is prepared, reduced and forgotten; [`PceSummary::finish`] gives the model at any time. The model does not depend
//! on how the samples were cut into portions. Summaries of partitions, made anywhere, are merged in the order of the partitions.
//!
//! **What is kept** ([`Keep`]). R, the triangle, answers every cut. The Gram matrix costs several times less and answers cuts
//! not too far below σ₁; a cut that is too low is refused ([`Error::GramTooCoarse`]), since the samples are gone. One summary
//! is finished by several rules for λ where it kept what they look at ([`PceSummary::finish_as`]).
//!
//! **Where it differs from a fit in memory.** Samples that are gone cannot be compared: exact copies count as samples when
//! the noise is read off the spectrum, and samples that all have one length are taken as they are, their noise is not evened.
//! No class is remembered: weights that the data are to choose are those chosen without labels.

use eigenspan_linalg::Exec;
use eigenspan_linalg::summary::{Form, Summary, block_rows};

use super::{Pce, PceParams};
use crate::Error;
use crate::data::{NumberType, Samples};
use crate::prepare::{Normalize, Preparation, Prepared, Scan};
use crate::rule::Depth;
use crate::spectrum::noise::{Lengths, Live};
use crate::spectrum::summary::{Gone, SummarySpectrum};

/// The first rows of length zero that are named.
const NAMED: usize = 10;

/// Which form of the samples is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// The Gram matrix, unless the settings are known to need the triangle: z-scores, and a noise level of zero, which asks
    /// for every direction above rounding.
    #[default]
    Auto,
    /// The Gram matrix.
    Gram,
    /// The triangle.
    Triangle,
}

impl Keep {
    /// The form that serves these settings.
    fn form(self, params: &PceParams) -> Result<Form, Error> {
        let zscore = params.normalize == Normalize::ZScore;
        match self {
            Self::Triangle => Ok(Form::Triangle),
            Self::Auto if zscore || params.rule().needs().depth == Depth::Rounding => Ok(Form::Triangle),
            Self::Gram if zscore => {
                let why = "z-scores are read off the triangle, not off the Gram matrix";
                Err(Error::NotKept { setting: "form", why })
            }
            Self::Auto | Self::Gram => Ok(Form::Gram),
        }
    }
}

/// What is kept of the samples seen.
#[derive(Debug, Clone, PartialEq)]
pub struct PceSummary {
    params: PceParams,
    prepared: Summary,
    unscaled: Option<Summary>,
    seen: SampleStats,
}

/// What was seen of samples and features on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleStats {
    /// The least precise numbers that samples came in.
    pub number_type: NumberType,
    /// The length of the shortest sample that is not zero.
    pub shortest: f64,
    /// The length of the longest sample.
    pub longest: f64,
    /// How many samples have length zero.
    pub zeros: usize,
    /// The first of them.
    pub zero_rows: Vec<usize>,
    /// The first sample; nothing before there is one.
    pub first: Vec<f64>,
    /// For every feature, whether it ever had another value.
    pub varies: Vec<bool>,
}

impl SampleStats {
    pub(crate) fn nothing(features: usize) -> Self {
        Self {
            number_type: NumberType::U8,
            shortest: f64::INFINITY,
            longest: 0.0,
            zeros: 0,
            zero_rows: vec![],
            first: vec![],
            varies: vec![false; features],
        }
    }

    /// Takes note of more samples, of which `before` came earlier.
    pub(crate) fn note(&mut self, samples: Samples<'_>, scan: &Scan, before: usize) {
        let m = samples.cols();
        let mut row = vec![0.0; m];
        for (i, length) in scan.lengths.iter().copied().enumerate() {
            if length > 0.0 {
                (self.shortest, self.longest) = (self.shortest.min(length), self.longest.max(length));
            } else {
                self.zeros += 1;
                if self.zero_rows.len() < NAMED {
                    self.zero_rows.push(before + i);
                }
            }
            samples.read_row(i, 0..m, &mut row);
            if self.first.is_empty() {
                self.first.clone_from(&row);
            }
            for (varies, (y, first)) in self.varies.iter_mut().zip(row.iter().zip(&self.first)) {
                *varies |= y != first;
            }
        }
        if samples.number_type().epsilon() > self.number_type.epsilon() || before == 0 {
            self.number_type = samples.number_type();
        }
    }

    /// Features that are not zero throughout, or not constant where samples are centred.
    pub(crate) fn live_features(&self, centred: bool) -> usize {
        let live = |(varies, first): (&bool, &f64)| *varies || (!centred && *first != 0.0);
        self.varies.iter().zip(&self.first).filter(|feature| live(*feature)).count()
    }

    /// Takes note of what another summary saw after `before` samples of ours.
    fn add(&mut self, next: &Self, before: usize) {
        if next.first.is_empty() {
            return;
        }
        if self.first.is_empty() {
            self.clone_from(next);
            return;
        }
        self.shortest = self.shortest.min(next.shortest);
        self.longest = self.longest.max(next.longest);
        self.zeros += next.zeros;
        let room = NAMED - self.zero_rows.len();
        self.zero_rows.extend(next.zero_rows.iter().take(room).map(|row| before + row));
        let firsts = self.first.iter().zip(&next.first);
        for ((varies, also), (ours, theirs)) in self.varies.iter_mut().zip(&next.varies).zip(firsts) {
            *varies |= also | (ours != theirs);
        }
        if next.number_type.epsilon() > self.number_type.epsilon() {
            self.number_type = next.number_type;
        }
    }
}

/// Whether a rule reads the noise off samples before they were scaled.
fn looks_before_scaling(params: &PceParams) -> bool {
    params.normalize == Normalize::Unit && params.rule().needs().noise.is_some()
}

impl PceSummary {
    /// Of no samples, with so many features; the triangle is kept.
    pub fn empty(params: PceParams, features: usize) -> Result<Self, Error> {
        Self::keeping(Keep::Triangle, params, features)
    }

    /// Of no samples, with so many features.
    pub fn keeping(keep: Keep, params: PceParams, features: usize) -> Result<Self, Error> {
        params.check()?;
        let form = keep.form(&params)?;
        if features == 0 {
            return Err(Error::Empty { n: 0, m: 0 });
        }
        let unit = params.normalize == Normalize::Unit;
        let centred = params.center || params.normalize == Normalize::ZScore;
        let summary = || Summary::empty(features, form, centred);
        // A length is off by m/2 + 2 roundings, its reciprocal and a product by one each.
        let rounding = if unit { (0.5 * features as f64 + 4.0) * f64::EPSILON / 2.0 } else { 0.0 };
        Ok(Self {
            params,
            prepared: summary().with_row_rounding(rounding),
            unscaled: looks_before_scaling(&params).then(summary),
            seen: SampleStats::nothing(features),
        })
    }

    /// Everything there is, for whoever keeps it elsewhere: settings, samples as prepared, samples as they came, and what
    /// was seen of them.
    pub fn state(&self) -> (&PceParams, &Summary, Option<&Summary>, &SampleStats) {
        (&self.params, &self.prepared, self.unscaled.as_ref(), &self.seen)
    }

    /// From what [`state`](PceSummary::state) gave; refused where it does not belong together.
    pub fn from_state(
        params: PceParams,
        prepared: Summary,
        unscaled: Option<Summary>,
        seen: SampleStats,
    ) -> Result<Self, Error> {
        let keep = if prepared.kind().form == Form::Gram { Keep::Gram } else { Keep::Triangle };
        let blank = Self::keeping(keep, params, prepared.kind().features)?;
        let alike = |a: &Summary, b: &Summary| a.kind() == b.kind() && a.rows() == prepared.rows();
        let fits = alike(&prepared, &blank.prepared)
            && match (&unscaled, &blank.unscaled) {
                (Some(a), Some(b)) => alike(a, b),
                (None, None) => true,
                _ => false,
            }
            && seen.varies.len() == blank.features()
            && seen.first.len() == if prepared.rows() > 0 { blank.features() } else { 0 }
            && seen.zeros <= prepared.rows()
            && seen.zero_rows.len() == seen.zeros.min(NAMED)
            && seen.zero_rows.iter().all(|row| *row < prepared.rows())
            && seen.first.iter().all(|y| y.is_finite())
            && seen.shortest > 0.0
            && (0.0..f64::INFINITY).contains(&seen.longest);
        if !fits {
            return Err(Error::Model("the parts of a summary do not belong together".into()));
        }
        Ok(Self { params, prepared, unscaled, seen })
    }

    /// Samples seen.
    pub fn rows(&self) -> usize {
        self.prepared.rows()
    }

    /// Features of a sample.
    pub fn features(&self) -> usize {
        self.seen.varies.len()
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
        let mut learnt = Preparation { normalize: Normalize::None, mean: None, deviation: None };
        let (earlier, block) = (self.rows(), block_rows(self.features()));
        // Rows that only wait for more cannot fail to; where a block is reduced, that may be cancelled.
        let reduces = self.prepared.waiting() + samples.rows() >= block;
        let before = self.unscaled.as_ref().filter(|_| reduces).cloned();
        if let Some(unscaled) = &mut self.unscaled {
            unscaled.update(&Prepared::new(samples, &learnt, &scan), exec)?;
        }
        // z-scores are made of the summary, when all samples are known.
        if self.params.normalize == Normalize::Unit {
            learnt.normalize = Normalize::Unit;
        }
        if let Err(error) = self.prepared.update(&Prepared::new(samples, &learnt, &scan), exec) {
            if reduces {
                self.unscaled = before;
            }
            return Err(error.into());
        }
        self.seen.note(samples, &scan, earlier);
        Ok(())
    }

    /// The form that is kept.
    pub fn form(&self) -> Form {
        self.prepared.kind().form
    }

    /// Bytes that it takes, at most and about, to fill a summary like this and finish it, with portions of so many blocks
    /// ([`block_rows`]) of numbers of `width` bytes, the next of which is read meanwhile.
    ///
    /// With s summaries (two where a rule looks at samples before scaling) and blocks of b rows these are: what is kept of all
    /// partitions and of this one, and a copy while it grows, 8s(3m² + 3bm); blocks in work, 8(m² + bm) each; two
    /// portions; the decomposition, 64m².
    pub fn working_bytes(&self, blocks: usize, width: usize) -> u128 {
        let (m, b) = (self.features() as u128, block_rows(self.features()) as u128);
        let (s, blocks) = (1 + u128::from(self.unscaled.is_some()), blocks as u128);
        8 * (s * (3 * m * m + 3 * b * m) + blocks * (m * m + b * m) + 8 * m * m) + 2 * blocks * b * m * width as u128
    }

    /// Takes the samples of another summary, after ours. After an error nothing has changed.
    ///
    /// Partitions merged one after the other, in their order, give the same model to the last bit wherever and whenever each
    /// was summarised; another order gives the same numbers but for rounding.
    pub fn merge(&mut self, next: &Self, exec: Exec<'_>) -> Result<(), Error> {
        if self.features() != next.features() {
            return Err(Error::FeatureMismatch { expected: self.features(), got: next.features() });
        }
        if let Some((setting, ours, theirs)) = self.difference(next) {
            return Err(Error::OtherSettings { setting, ours, theirs });
        }
        let mut unscaled = self.unscaled.clone();
        if let (Some(ours), Some(theirs)) = (&mut unscaled, &next.unscaled) {
            ours.merge(theirs, exec)?;
        }
        let before = self.rows();
        self.prepared.merge(&next.prepared, exec)?;
        self.unscaled = unscaled;
        self.seen.add(&next.seen, before);
        Ok(())
    }

    /// The first setting in which another summary differs, and both values.
    pub fn difference(&self, other: &Self) -> Option<(&'static str, String, String)> {
        let (a, b) = (&self.params, &other.params);
        let word = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
        let pairs = [
            ("form", word(&self.form()), word(&other.form())),
            ("lambda", word(&a.lambda), word(&b.lambda)),
            ("dim", word(&a.dim), word(&b.dim)),
            ("normalize", word(&a.normalize), word(&b.normalize)),
            ("center", word(&a.center), word(&b.center)),
            ("weights", word(&a.weights), word(&b.weights)),
            ("rank_rule", word(&a.rank_rule), word(&b.rank_rule)),
            ("unit_features", word(&a.unit_features), word(&b.unit_features)),
            ("solver", word(&a.solver), word(&b.solver)),
            ("strict", word(&a.strict), word(&b.strict)),
        ];
        pairs.into_iter().find(|(_, ours, theirs)| ours != theirs)
    }

    /// The model of all samples seen.
    pub fn finish(&self, exec: Exec<'_>) -> Result<Pce, Error> {
        self.finish_as(self.params, exec)
    }

    /// The model of all samples seen, by other settings: any λ, dimension, rank rule and weights, but the same preparation.
    /// A rule that looks for noise in samples before they were scaled is refused where the summary was made for another.
    pub fn finish_as(&self, params: PceParams, exec: Exec<'_>) -> Result<Pce, Error> {
        params.check()?;
        let refuse = |setting, why| Err(Error::NotKept { setting, why });
        if params.normalize != self.params.normalize {
            return refuse("normalize", "samples are scaled on their way into it");
        }
        if params.center != self.params.center {
            return refuse("center", "the mean is taken away on the way into it");
        }
        if looks_before_scaling(&params) && self.unscaled.is_none() {
            return refuse(
                "lambda",
                "this rule looks for noise in the samples as they came, and only scaled ones were kept",
            );
        }
        self.model(&params, exec)
    }

    /// All singular values of the prepared samples, largest first: by a triangle down to rounding.
    pub fn values(&self, exec: Exec<'_>) -> Result<Vec<f64>, Error> {
        let prepared = self.prepared.close(exec)?;
        let standard = if self.params.normalize == Normalize::ZScore { prepared.standardised() } else { None };
        let closed = standard.as_ref().map_or(&prepared, |(standard, _)| standard);
        Ok(closed.spectrum(exec)?.values(self.features().min(self.rows()), exec)?.0)
    }

    fn model(&self, params: &PceParams, exec: Exec<'_>) -> Result<Pce, Error> {
        let (n, m, seen) = (self.rows(), self.features(), &self.seen);
        if n == 0 {
            return Err(Error::Empty { n, m });
        }
        let normalize = params.normalize;
        let zero_rows = if normalize == Normalize::Unit { seen.zero_rows.clone() } else { vec![] };
        let warnings = params.zero_samples(seen.zeros, zero_rows)?;
        let prepared = self.prepared.close(exec)?;
        let standard = match normalize {
            Normalize::ZScore => prepared.standardised(),
            Normalize::Unit | Normalize::None => None,
        };
        let (closed, deviation) = match &standard {
            Some((standard, deviations)) => (standard, Some(deviations.clone())),
            None => (&prepared, None),
        };
        let preparation = Preparation { normalize, mean: prepared.mean().map(<[f64]>::to_vec), deviation };
        let unscaled = self.unscaled.as_ref().filter(|_| looks_before_scaling(params));
        let unscaled = unscaled.map(|unscaled| unscaled.close(exec)).transpose()?;
        let centered = self.prepared.kind().centered;
        let gone = Gone {
            normalize,
            unscaled: standard.as_ref().map(|_| &prepared).or(unscaled.as_ref()),
            lengths: Lengths::between(seen.shortest, seen.longest),
            live: Live { samples: n - seen.zeros, features: seen.live_features(centered), centered },
            epsilon: seen.number_type.epsilon(),
        };
        let spectrum = SummarySpectrum::of(closed, gone, exec)?;
        Ok(params.solve(&spectrum, &preparation, seen.number_type, None, warnings, exec)?.model)
    }
}
