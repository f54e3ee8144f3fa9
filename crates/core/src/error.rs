//! Errors of fits and transforms, each with a hint.

/// Why a fit or a transform was refused. [`Display`](std::fmt::Display) states the fact, [`hint`](Error::hint) the
/// remedy.
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
    /// There are no samples or no features.
    #[error("cannot fit {n} samples of {m} features: at least one of each is needed")]
    Empty {
        /// Samples.
        n: usize,
        /// Features.
        m: usize,
    },
    /// Every value is zero, possibly after centering.
    #[error(
        "the {n} sample(s) of {m} feature(s) are all zero{}",
        if *.centred { " once their mean is subtracted" } else { "" }
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
    /// More dimensions than the rank of the data.
    #[error("{asked} dimensions were requested, but {n} samples of {m} features have rank {most}")]
    DimTooLarge {
        /// Requested dimensions.
        asked: usize,
        /// The numerical rank of the prepared data.
        most: usize,
        /// Samples.
        n: usize,
        /// Features.
        m: usize,
    },
    /// A rule that needs all singular values, with a solver that computes the leading ones only.
    #[error("the rule `{rule}` needs all singular values, but only the leading ones are computed here")]
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
    #[error("no singular value is above the cut {tau:.6e}: the largest is {sigma:.6e}")]
    NothingAboveCut {
        /// The largest singular value.
        sigma: f64,
        /// The cut.
        tau: f64,
    },
    /// Samples whose number of features differs from that of the model.
    #[error("the model was fitted on {expected} features, the samples have {got}")]
    FeatureMismatch {
        /// Features of the model.
        expected: usize,
        /// Features of the samples.
        got: usize,
    },
    /// Features whose number of columns differs from that of the model.
    #[error("the model has {expected} columns, the features have {got}")]
    ColumnMismatch {
        /// Columns of the model.
        expected: usize,
        /// Columns given.
        got: usize,
    },
    /// The number of lengths differs from the number of rows.
    #[error("{rows} rows need {rows} lengths, got {got}")]
    LengthMismatch {
        /// Rows given.
        rows: usize,
        /// Lengths given.
        got: usize,
    },
    /// A nonnegative method, with a negative value.
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
        /// Why they are needed.
        why: &'static str,
        /// How many there are.
        got: usize,
    },
    /// A graph without edges.
    #[error("the graph has no edges: every weight is zero")]
    NoEdges,
    /// Every direction was dropped.
    #[error("no direction remains: all eigenvalues are below {least:e}")]
    NothingKept {
        /// The smallest eigenvalue to be kept.
        least: f64,
    },
    /// A decomposition that exceeds the memory limit.
    #[error("{what} of {n} samples needs {gigabytes:.1} GB, more than the limit of {most:.1} GB")]
    TooMuchMemory {
        /// What needs the memory.
        what: &'static str,
        /// Samples.
        n: usize,
        /// The memory needed.
        gigabytes: f64,
        /// The limit.
        most: f64,
    },
    /// A method that embeds its training samples only.
    #[error("{method} has no map for new samples")]
    NoMap {
        /// The method.
        method: &'static str,
    },
    /// Features of unit length, which do not determine the length of the projection.
    #[error("features of unit length cannot be mapped back to samples: their original length is not stored")]
    NoWayBack,
    /// A rule that needs at least as many samples as features.
    #[error("the rule `{rule}` needs at least as many samples as features, got {n} samples of {m} features")]
    FewerSamplesThanFeatures {
        /// The rule.
        rule: &'static str,
        /// Samples.
        n: usize,
        /// Features.
        m: usize,
    },
    /// A class with fewer samples than requested of every class.
    #[error("{asked} samples of every class were requested, but class `{class}` has {got}")]
    ClassTooSmall {
        /// The class.
        class: String,
        /// Requested samples.
        asked: usize,
        /// Samples of the class.
        got: usize,
    },
    /// A block corruption of samples without an image shape.
    #[error("a block is a rectangle of an image, but these samples have no image shape")]
    NoImageShape,
    /// A classifier without labels.
    #[error("a classifier needs the class of every sample, but these samples have no labels")]
    NoLabels,
    /// Classes requested from a method that computes features.
    #[error("{method} is no classifier: it computes features, not classes")]
    NoClasses {
        /// The method.
        method: &'static str,
    },
    /// The number of labels differs from the number of samples.
    #[error("{samples} samples need {samples} labels, got {got}")]
    LabelMismatch {
        /// Samples.
        samples: usize,
        /// Labels.
        got: usize,
    },
    /// Distances that are all the same.
    #[error("all {neighbours} neighbors of every sample are equally far: the dimension is undetermined")]
    EqualDistances {
        /// Number of neighbors.
        neighbours: usize,
    },
    /// An inconsistent calibration table.
    #[error("not a valid calibration: {0}")]
    Calibration(&'static str),
    /// A cut below the resolution of a Gram summary.
    #[error("the cut is too far below the largest singular value for a Gram summary, whose rounding errors are larger")]
    GramTooCoarse,
    /// Two summaries with different settings.
    #[error(
        "summaries of different settings cannot be merged: `{setting}` is {ours} in the one and {theirs} in the other"
    )]
    OtherSettings {
        /// The first setting that differs.
        setting: &'static str,
        /// Its value in the summary to be updated.
        ours: String,
        /// Its value in the other.
        theirs: String,
    },
    /// A setting that the stored summary does not support.
    #[error("the summary was computed for another `{setting}`: {why}")]
    NotKept {
        /// The setting.
        setting: &'static str,
        /// What is missing.
        why: &'static str,
    },
    /// A setting that a sketch does not support.
    #[error("a sketch does not support this `{setting}`: {why}")]
    NotSketched {
        /// The setting.
        setting: &'static str,
        /// What is missing.
        why: &'static str,
    },
    /// A setting that needs samples or singular values which an online fit does not store.
    #[error("an online fit does not support this `{setting}`: {why}")]
    NotOnline {
        /// The setting.
        setting: &'static str,
        /// What is missing.
        why: &'static str,
    },
    /// A share of the energy that the stored directions do not carry.
    #[error(
        "the {rank} stored directions carry {:.1} % of the energy, but {:.1} % were requested",
        100.0 * .carried, 100.0 * .asked
    )]
    RankTooLow {
        /// Stored directions.
        rank: usize,
        /// The share that they carry.
        carried: f64,
        /// The requested share.
        asked: f64,
    },
    /// A share of the energy that needs more directions than the sketch has.
    #[error("the requested share of the energy needs more directions than a sketch of {columns} columns finds")]
    SketchTooSmall {
        /// Columns of the sketch.
        columns: usize,
    },
    /// The arrays and settings of a model are inconsistent.
    #[error("not a valid model: {0}")]
    Model(String),
    /// A value is NaN, infinite or too large to be squared.
    #[error("the value in row {row}, column {column} is not finite or too large to be squared")]
    OutOfRange {
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
    },
    /// Linear algebra refused its input, such as samples that differ between two passes.
    #[error(transparent)]
    Input(eigenspan_linalg::Error),
    /// The decomposition failed or was cancelled.
    #[error(transparent)]
    Linalg(eigenspan_linalg::Error),
}

impl From<eigenspan_linalg::Error> for Error {
    /// Separates what the input causes, which is refused, from failures of the computation.
    fn from(error: eigenspan_linalg::Error) -> Self {
        use eigenspan_linalg::Error as Linalg;
        match error {
            Linalg::OutOfRange { row, column } => Self::OutOfRange { row, column },
            Linalg::CutTooLow => Self::GramTooCoarse,
            Linalg::NotAlike { .. }
            | Linalg::NoStart(_)
            | Linalg::OtherRows { .. }
            | Linalg::NoRows
            | Linalg::Damaged(_) => Self::Input(error),
            Linalg::Cancelled | Linalg::NoConvergence { .. } => Self::Linalg(error),
        }
    }
}

impl Error {
    /// The remedy.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotFinite { .. } => "drop the row or fill the value in before fitting".into(),
            Self::OutOfRange { .. } => "drop the row, fill the value in, or scale the features".into(),
            Self::AllZero { centred: true, .. } => "fit without centering, or several distinct samples".into(),
            Self::DimTooLarge { most, .. } => format!("use a dimension of {most} or less, or `auto`"),
            Self::Parameter { name: "energy", got, .. } if (1.0..=100.0).contains(got) => {
                format!("for {got} percent write {}", got / 100.0)
            }
            Self::Parameter { name: "passes", .. } => "one pass sketches, the second makes the result exact".into(),
            Self::WholeSpectrum { .. } => {
                "give λ, a noise level above rounding, a share of the energy or a dimension, or set solver and form to \
                 `auto`"
                    .into()
            }
            Self::NotSketched { .. } => "store the triangle of the samples instead: `--form triangle`".into(),
            Self::SketchTooSmall { columns } => {
                format!("request more than {columns} columns (`--sketch-columns`), or a smaller share")
            }
            Self::ZeroSamples { .. } => "drop these rows, normalize with `none`, or turn strict mode off".into(),
            Self::NothingAboveCut { .. } => {
                "raise λ, give the noise level, or turn strict mode off to keep one direction".into()
            }
            Self::FeatureMismatch { .. } => {
                "samples are rows and features are columns: is the matrix transposed?".into()
            }
            Self::Negative { .. } => "shift the features to start at zero, or use a method that takes any sign".into(),
            Self::TooFewSamples { .. } => "use fewer neighbors, or more samples".into(),
            Self::FewerSamplesThanFeatures { .. } => {
                "choose the number by `auto`, by a share of the variance, or give it".into()
            }
            Self::ClassTooSmall { got, .. } => format!("request {got} or fewer of every class, or a share"),
            Self::NoEdges => "give the heat kernel a larger width `t`, or use binary weights".into(),
            Self::EqualDistances { .. } => "use more neighbors, or an estimator based on singular values".into(),
            Self::Calibration(_) => "delete the file: it is computed again".into(),
            Self::NothingKept { .. } => "keep smaller eigenvalues, or use fewer neighbors".into(),
            Self::NoImageShape => "give the height and the width of the images".into(),
            Self::NoLabels => "name the column with `--label`, or put the array `y` beside the samples".into(),
            Self::TooMuchMemory { .. } => {
                "fit fewer samples, use fewer neighbors, or use `npe`, whose cost grows with the features".into()
            }
            Self::GramTooCoarse => {
                "read the samples again in triangular form: `--form triangle`, in Python `form=\"triangle\"`".into()
            }
            Self::OtherSettings { .. } => "compute all summaries with the same settings, or finish each".into(),
            Self::NotKept { .. } => "read the samples again with the settings of the model".into(),
            Self::NotOnline { setting: "lambda", .. } => {
                "give λ, a share of the energy or a dimension, or use an exact summary: `eigenspan summarize`, in \
                 Python `partial_fit(mode=\"exact\")`"
                    .into()
            }
            Self::NotOnline { .. } => {
                "scale samples to unit length or not at all, or use an exact summary: `eigenspan summarize`, in Python \
                 `partial_fit(mode=\"exact\")`"
                    .into()
            }
            Self::RankTooLow { .. } => "store more directions (`rank`), or request a smaller share".into(),
            Self::NoMap { .. } => "fit `npe`, its linear relative, for a map of new samples".into(),
            Self::NoWayBack => "project the samples themselves (`recover`), or fit without unit features".into(),
            Self::NoClasses { .. } => "pass its features to a classifier: `nn`, `svm`, `src` or `cesr`".into(),
            Self::LengthMismatch { .. } => "pass the row lengths of the original samples".into(),
            _ => return None,
        })
    }

    /// Whether the work was cancelled by its monitor rather than refused.
    pub fn is_cancelled(&self) -> bool {
        matches!(self, Self::Linalg(eigenspan_linalg::Error::Cancelled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan_linalg::summary::{Form, Summary};
    use eigenspan_linalg::{Exec, Mat};

    #[test]
    fn values_out_of_range_are_a_refusal_of_the_input_and_no_machine_failure() {
        let huge = Mat::from_fn(3, 2, |i, j| if (i, j) == (2, 1) { 1e200 } else { 1.0 });
        let refused = Summary::empty(2, Form::Gram, false).update(&huge, Exec::default()).unwrap_err();
        let error = Error::from(refused);
        assert_eq!(error, Error::OutOfRange { row: 2, column: 1 });
        assert!(error.to_string().contains("row 2, column 1") && error.hint().is_some(), "{error}");
        let empty =
            Summary::empty(2, Form::Gram, false).finish(eigenspan_linalg::spectrum::Select::Top(1), Exec::default());
        assert!(matches!(empty.map_err(Error::from), Err(Error::Input(_))));
    }

    #[test]
    fn cancellation_and_failed_convergence_are_no_refusals() {
        let cancelled = Error::from(eigenspan_linalg::Error::Cancelled);
        assert!(cancelled.is_cancelled() && matches!(cancelled, Error::Linalg(_)));
        let failed = eigenspan_linalg::Error::NoConvergence { rows: 1, cols: 1 };
        assert!(matches!(Error::from(failed), Error::Linalg(_)));
    }
}
