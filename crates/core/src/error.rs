//! What can be wrong with what was asked, and what to do about it.

/// Why a fit or a transform was refused. [`Display`](std::fmt::Display) is the fact, [`hint`](Error::hint) the next step.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A value is NaN or infinite.
    #[error("the value at row {row}, column {column} is {value}; every value must be finite")]
    NotFinite {
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// There is nothing to learn from.
    #[error("cannot fit {n} samples of {m} features: at least one of each is needed")]
    Empty {
        /// Samples.
        n: usize,
        /// Features.
        m: usize,
    },
    /// Every value is zero, or centring leaves nothing.
    #[error(
        "the {n} sample(s) of {m} feature(s) are all zero{}",
        if *.centred { " once their mean is taken away" } else { "" }
    )]
    AllZero {
        /// Samples.
        n: usize,
        /// Features.
        m: usize,
        /// Whether the mean was subtracted.
        centred: bool,
    },
    /// A parameter is out of its range.
    #[error("`{name}` must be {expected}, got {got}")]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// What it must be.
        expected: &'static str,
        /// What it was.
        got: f64,
    },
    /// More dimensions than the data carry.
    #[error("cannot keep {asked} dimensions: {n} samples of {m} features carry {most}")]
    DimTooLarge {
        /// Dimensions asked for.
        asked: usize,
        /// The numerical rank of the prepared data.
        most: usize,
        /// Samples.
        n: usize,
        /// Features.
        m: usize,
    },
    /// A rule that looks at all singular values, with a solver that finds the leading ones only.
    #[error("the rule `{rule}` needs all singular values, and only the leading ones are found here")]
    WholeSpectrum {
        /// The rule.
        rule: &'static str,
    },
    /// Zero samples, refused in strict mode.
    #[error("{count} of the samples have length zero, the first in row {first}, and cannot be scaled to unit length")]
    ZeroSamples {
        /// How many.
        count: usize,
        /// The first of them, counted from 0.
        first: usize,
    },
    /// No singular value above the cut, refused in strict mode.
    #[error("no direction stands out: the largest singular value {sigma:.6e} is not above the cut {tau:.6e}")]
    NothingAboveCut {
        /// The largest singular value.
        sigma: f64,
        /// The cut.
        tau: f64,
    },
    /// Samples to transform that do not fit the model.
    #[error("the model was fitted on {expected} features, the samples have {got}")]
    FeatureMismatch {
        /// Features of the model.
        expected: usize,
        /// Features of the samples.
        got: usize,
    },
    /// Features to map back that do not fit the model.
    #[error("the model has {expected} columns, the features have {got}")]
    ColumnMismatch {
        /// Columns of the model.
        expected: usize,
        /// Columns given.
        got: usize,
    },
    /// One length a row is needed.
    #[error("{rows} rows need {rows} lengths, got {got}")]
    LengthMismatch {
        /// Rows given.
        rows: usize,
        /// Lengths given.
        got: usize,
    },
    /// A method of parts that only add up, with a value that takes away.
    #[error("the value at row {row}, column {column} is {value}; every value must be zero or more")]
    Negative {
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// Fewer samples than the method needs.
    #[error("{needed} samples are needed {why}, got {got} sample{}", if *.got == 1 { "" } else { "s" })]
    TooFewSamples {
        /// How many at least.
        needed: usize,
        /// What for.
        why: &'static str,
        /// How many there are.
        got: usize,
    },
    /// A graph in which nothing is joined.
    #[error("no two samples are joined: every weight of the graph is zero")]
    NoEdges,
    /// Every direction was left out.
    #[error("no direction is kept: all eigenvalues are below {least:e}")]
    NothingKept {
        /// The least eigenvalue that was asked for.
        least: f64,
    },
    /// A decomposition that would not fit in memory.
    #[error("{what} of {n} samples takes {gigabytes:.1} GB, more than the {most:.1} GB that are allowed")]
    TooMuchMemory {
        /// What takes it.
        what: &'static str,
        /// Samples.
        n: usize,
        /// How much.
        gigabytes: f64,
        /// How much is allowed.
        most: f64,
    },
    /// A method that places its training samples and nothing else.
    #[error("{method} has no map for samples that it was not fitted on")]
    NoMap {
        /// The method.
        method: &'static str,
    },
    /// Features of length one, which do not tell how large the sample's part in the directions was.
    #[error("features of length one cannot be mapped back to samples: how long they were is not in them")]
    NoWayBack,
    /// A rule of many samples and few features, with fewer samples than features.
    #[error("the rule `{rule}` needs at least as many samples as features, got {n} samples of {m} features")]
    FewerSamplesThanFeatures {
        /// The rule.
        rule: &'static str,
        /// Samples.
        n: usize,
        /// Features.
        m: usize,
    },
    /// A class that cannot give the samples that every class is to give.
    #[error("{asked} samples of every class are asked for, class `{class}` has {got}")]
    ClassTooSmall {
        /// The class.
        class: String,
        /// How many are asked for.
        asked: usize,
        /// How many it has.
        got: usize,
    },
    /// A block somewhere in an image, of samples that are not known to be images.
    #[error("a block is a part of an image, and the shape of these samples as images is not known")]
    NoImageShape,
    /// A classifier without classes to learn.
    #[error("a classifier needs the class of every sample, and these come without")]
    NoLabels,
    /// Classes asked of a method that gives features.
    #[error("{method} is no classifier: it gives features, not classes")]
    NoClasses {
        /// The method.
        method: &'static str,
    },
    /// Labels that do not go with the samples.
    #[error("{samples} samples need {samples} labels, got {got}")]
    LabelMismatch {
        /// Samples.
        samples: usize,
        /// Labels.
        got: usize,
    },
    /// Distances that are all the same.
    #[error("every sample is as far from its nearest neighbour as from all of its {neighbours}: no dimension is told")]
    EqualDistances {
        /// Neighbours looked at.
        neighbours: usize,
    },
    /// A table of calibrations that contradicts itself.
    #[error("not a valid calibration: {0}")]
    Calibration(&'static str),
    /// A Gram summary, and a cut that it cannot tell from rounding.
    #[error("the cut is too far below the largest singular value for a Gram summary, which knows nothing down there")]
    GramTooCoarse,
    /// Two summaries that were made by different settings.
    #[error(
        "summaries of different settings cannot be merged: `{setting}` is {ours} in the one and {theirs} in the other"
    )]
    OtherSettings {
        /// The first setting that differs.
        setting: &'static str,
        /// Its value in the summary that was to grow.
        ours: String,
        /// Its value in the other.
        theirs: String,
    },
    /// A rule for λ that a summary was not prepared for.
    #[error("the summary was made for another `{setting}`: {why}")]
    NotKept {
        /// What was asked for.
        setting: &'static str,
        /// What is missing.
        why: &'static str,
    },
    /// A setting that samples which are sketched cannot have.
    #[error("a sketch cannot serve this `{setting}`: {why}")]
    NotSketched {
        /// What was asked for.
        setting: &'static str,
        /// What is missing.
        why: &'static str,
    },
    /// Settings that need samples or singular values which are not kept.
    #[error("this `{setting}` cannot be used for samples that arrive one by one: {why}")]
    NotOnline {
        /// The setting.
        setting: &'static str,
        /// What is missing.
        why: &'static str,
    },
    /// A share of the energy that the directions kept do not carry.
    #[error("the {rank} directions that were kept carry {:.1} % of the energy, {:.1} % are asked for", 100.0 * .carried, 100.0 * .asked)]
    RankTooLow {
        /// Directions kept.
        rank: usize,
        /// The share that they carry.
        carried: f64,
        /// The share asked for.
        asked: f64,
    },
    /// A share of the energy that lies in more directions than a sketch found.
    #[error(
        "the share of the energy that was asked for lies in more directions than a sketch of {columns} columns found"
    )]
    SketchTooSmall {
        /// Gaussian vectors.
        columns: usize,
    },
    /// The parts of a model contradict each other.
    #[error("not a valid model: {0}")]
    Model(String),
    /// The decomposition failed or was cancelled.
    #[error(transparent)]
    Linalg(#[from] eigenspan_linalg::Error),
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotFinite { .. } => "drop the row or fill the value in before fitting".into(),
            Self::AllZero { centred: true, .. } => "fit without centring, or with more than one distinct sample".into(),
            Self::DimTooLarge { most, .. } => format!("use a dimension of {most} or less, or `auto`"),
            Self::Parameter { name: "energy", got, .. } if (1.0..=100.0).contains(got) => {
                format!("for {got} percent write {}", got / 100.0)
            }
            Self::Parameter { name: "passes", .. } => "one reading is to sketch, the second to be exact".into(),
            Self::WholeSpectrum { .. } => {
                "give λ, a noise level above rounding, a share of the energy or a dimension, or leave solver and form to \
                 `auto`"
                    .into()
            }
            Self::NotSketched { .. } => "keep the triangle of the samples instead: `--form triangle`".into(),
            Self::SketchTooSmall { columns } => {
                format!("ask for more than {columns} columns (`--sketch-columns`), or for a smaller share")
            }
            Self::ZeroSamples { .. } => "drop these rows, normalise with `none`, or leave strict mode".into(),
            Self::NothingAboveCut { .. } => {
                "raise λ, give the noise level, or leave strict mode to keep one direction".into()
            }
            Self::FeatureMismatch { .. } => {
                "samples are rows and features are columns: is the matrix transposed?".into()
            }
            Self::Negative { .. } => "shift the features to start at zero, or use a method that takes any sign".into(),
            Self::TooFewSamples { .. } => "ask for fewer neighbours, or give more samples".into(),
            Self::FewerSamplesThanFeatures { .. } => "choose the number by `auto`, by a share of the variance, or give it".into(),
            Self::ClassTooSmall { got, .. } => format!("ask for {got} or fewer of every class, or for a share"),
            Self::NoEdges => "give the heat kernel a larger width `t`, or use binary weights".into(),
            Self::EqualDistances { .. } => "ask for more neighbours, or use an estimator of the spectrum".into(),
            Self::Calibration(_) => "delete the file: it is computed again".into(),
            Self::NothingKept { .. } => "keep smaller eigenvalues, or ask for fewer neighbours".into(),
            Self::NoImageShape => "give the height and the width of the images".into(),
            Self::NoLabels => "name the column with `--label`, or put the array `y` beside the samples".into(),
            Self::TooMuchMemory { .. } => {
                "fit a part of the samples, ask for fewer neighbours, or use `npe`, whose cost grows with the features".into()
            }
            Self::GramTooCoarse => {
                "read the samples again and keep their triangle: `--form triangle`, in Python `form=\"triangle\"`".into()
            }
            Self::OtherSettings { .. } => "make all summaries with the same settings, or finish them one by one".into(),
            Self::NotKept { .. } => "read the samples again with the settings that the model is to have".into(),
            Self::NotOnline { setting: "lambda", .. } => {
                "give λ, a share of the energy or a dimension, or take the samples in exactly: `eigenspan summarize`, in \
                 Python `partial_fit(mode=\"exact\")`"
                    .into()
            }
            Self::NotOnline { .. } => {
                "scale samples to unit length or not at all, or take them in exactly: `eigenspan summarize`, in Python \
                 `partial_fit(mode=\"exact\")`"
                    .into()
            }
            Self::RankTooLow { .. } => "keep more directions (`rank`), or ask for a smaller share".into(),
            Self::NoMap { .. } => "fit `npe`, its linear relative, for a map of new samples".into(),
            Self::NoWayBack => "take the clean part of the samples themselves (`recover`), or fit without unit features".into(),
            Self::NoClasses { .. } => "give its features to a classifier: `nn`, `svm`, `src` or `cesr`".into(),
            Self::LengthMismatch { .. } => "pass the row lengths of the samples the features came from".into(),
            _ => return None,
        })
    }

    /// Whether the work was stopped by its monitor rather than refused.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Linalg(eigenspan_linalg::Error::Cancelled))
    }
}
