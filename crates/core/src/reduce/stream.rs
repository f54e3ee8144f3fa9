//! PCE of samples that arrive in portions and are not kept.
//!
//! | symbol | code | meaning |
//! |---|---|---|
//! | y ↦ y/‖y‖ | `prepared` | a summary of the samples as they are decomposed |
//! | y | `unscaled` | a summary of the samples as they came, where a rule looks for noise in them |
//!
//! A portion is prepared, reduced and forgotten; [`PceSummary::finish`] gives the model at any time. The triangular form is
//! kept ([`Form::Triangle`]), which answers every cut. The model does not depend on how the samples were cut into portions.
//!
//! **Where it differs from a fit in memory.** Samples that are gone cannot be compared: exact copies count as samples when
//! the noise is read off the spectrum, and samples that all have one length are taken as they are, their noise is not evened.
//! No class is remembered: weights that the data are to choose are those chosen without labels.

use eigenspan_linalg::Exec;
use eigenspan_linalg::spectrum::Cut;
use eigenspan_linalg::summary::{Form, Summary, block_rows};

use super::parts::lambda::{Lambda, Problem, Raw, RawSummary, Source};
use super::parts::noise_cut::Lengths;
use super::pce::{Dim, Pce, PceParams};
use crate::Error;
use crate::data::{NumberType, Samples};
use crate::prepare::{Normalize, Preparation, Prepared, Scan};

/// The first rows of length zero that are named.
const NAMED: usize = 10;

/// What is kept of the samples seen.
#[derive(Debug, Clone, PartialEq)]
pub struct PceSummary {
    params: PceParams,
    prepared: Summary,
    unscaled: Option<Summary>,
    seen: Seen,
}

/// What was seen of samples and features on the way.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
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

impl Seen {
    fn nothing(features: usize) -> Self {
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
    fn note(&mut self, samples: Samples<'_>, scan: &Scan, before: usize) {
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
}

impl PceSummary {
    /// Of no samples, with so many features.
    pub fn empty(params: PceParams, features: usize) -> Result<Self, Error> {
        params.check()?;
        if features == 0 {
            return Err(Error::Empty { n: 0, m: 0 });
        }
        let unit = params.normalize == Normalize::Unit;
        let centred = params.center || params.normalize == Normalize::ZScore;
        let summary = || Summary::empty(features, Form::Triangle, centred);
        // A length is off by m/2 + 2 roundings, its reciprocal and a product by one each.
        let rounding = if unit { (0.5 * features as f64 + 4.0) * f64::EPSILON / 2.0 } else { 0.0 };
        let looks_for_noise = matches!(params.lambda, Lambda::Auto | Lambda::Noise(_) | Lambda::ScreeNot);
        Ok(Self {
            params,
            prepared: summary().with_row_rounding(rounding),
            unscaled: (unit && looks_for_noise && params.dim == Dim::Auto).then(summary),
            seen: Seen::nothing(features),
        })
    }

    /// Everything there is, for whoever keeps it elsewhere: settings, samples as prepared, samples as they came, and what
    /// was seen of them.
    pub fn state(&self) -> (&PceParams, &Summary, Option<&Summary>, &Seen) {
        (&self.params, &self.prepared, self.unscaled.as_ref(), &self.seen)
    }

    /// From what [`state`](PceSummary::state) gave; refused where it does not belong together.
    pub fn from_state(
        params: PceParams,
        prepared: Summary,
        unscaled: Option<Summary>,
        seen: Seen,
    ) -> Result<Self, Error> {
        let blank = Self::empty(params, prepared.kind().features)?;
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
            && seen.zero_rows.len() == seen.zeros.min(NAMED);
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
        let reduces = earlier % block + samples.rows() >= block;
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

    /// The model of all samples seen.
    pub fn finish(&self, exec: Exec<'_>) -> Result<Pce, Error> {
        let (n, m, seen) = (self.rows(), self.features(), &self.seen);
        if n == 0 {
            return Err(Error::Empty { n, m });
        }
        let normalize = self.params.normalize;
        let zero_rows = if normalize == Normalize::Unit { seen.zero_rows.clone() } else { vec![] };
        let warnings = self.params.zero_samples(seen.zeros, zero_rows)?;
        let centred = self.prepared.kind().centred;
        let mean = if centred { self.prepared.finish(Cut::Top(1), exec)?.mean } else { None };
        let standard = match normalize {
            Normalize::ZScore => Some(self.prepared.standardised(exec)?),
            Normalize::Unit | Normalize::None => None,
        };
        let (summary, deviation) = match &standard {
            Some((standard, deviations)) => (standard, Some(deviations.clone())),
            None => (&self.prepared, None),
        };
        let preparation = Preparation { normalize, mean, deviation };
        let live = |(varies, first): (&bool, &f64)| *varies || (!centred && *first != 0.0);
        let raw = Raw::Summary(RawSummary {
            normalize,
            unscaled: standard.as_ref().map(|_| &self.prepared).or(self.unscaled.as_ref()),
            lengths: Lengths::between(seen.shortest, seen.longest),
            live_samples: n - seen.zeros,
            live_features: seen.varies.iter().zip(&seen.first).filter(|feature| live(*feature)).count(),
            centred,
        });
        let (prepared, epsilon) = (Source::Summary(summary), seen.number_type.epsilon());
        let problem = Problem { samples: n, features: m, epsilon, raw: &raw, prepared: &prepared, exec };
        self.params.solve(&problem, &preparation, seen.number_type, None, warnings)
    }
}
