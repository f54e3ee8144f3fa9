//! Flags that several commands share.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use eigenspan_core::data::ImageShape;
use eigenspan_core::{Dim, Lambda, PceParams};
use eigenspan_feed::{Checkpoints, Form, SketchOptions};

use super::values::{
    FormArg, LambdaArg, NormalizeArg, RankRuleArg, Size, SolverArg, parse_image, parse_lambda, parse_size,
};

const DATA_HELP: &str = "DATA is a file of samples in rows: NumPy .npy or .npz (arrays X, and where present y and \
shape), MATLAB up to version 7, IDX, CSV, TSV, LIBSVM, Parquet or Arrow (in builds with `--features columnar`); a \
folder of PNG, JPEG, PNM or BMP images (each sub-folder is a class); `-` for standard input; or `@digits` for the \
built-in handwritten digits, `@synthetic-faces` for rendered heads under many lights. The format is found by content.";

/// Data to read.
#[derive(ClapArgs)]
pub struct Data {
    /// The samples
    #[arg(value_name = "DATA", long_help = DATA_HELP)]
    pub data: PathBuf,
    /// Column of a table that holds the class: its name, or its number counted from 1
    #[arg(long, value_name = "COLUMN")]
    pub label: Option<String>,
    /// Array of an .npz or .mat file that holds the samples
    #[arg(long, value_name = "NAME")]
    pub array: Option<String>,
    /// Height and width of the image that each sample is, where the file does not tell
    #[arg(long, value_name = "HxW", value_parser = parse_image)]
    pub image: Option<ImageShape>,
    /// Bring the images of a folder to this height and width
    #[arg(long, value_name = "HxW", value_parser = parse_image)]
    pub resize: Option<ImageShape>,
    /// Turn the colour images of a folder to grey
    #[arg(long)]
    pub grey: bool,
    /// Use only these rows: a .npy file of row numbers (from 0) or of true and false
    #[arg(long, value_name = "FILE.npy")]
    pub rows: Option<PathBuf>,
}

/// How to fit.
#[derive(ClapArgs)]
pub struct Fitting {
    /// λ: a number, `auto` (optimal hard threshold; the default) or `screenot` (noise of any shape)
    #[arg(long, value_name = "λ", value_parser = parse_lambda, group = "rule")]
    pub lambda: Option<LambdaArg>,
    /// The noise has this standard deviation, in the units of the data
    #[arg(long, value_name = "S", group = "rule", allow_negative_numbers = true)]
    pub noise: Option<f64>,
    /// Keep this share of the energy, between 0 and 1
    #[arg(long, value_name = "SHARE", group = "rule", allow_negative_numbers = true)]
    pub energy: Option<f64>,
    /// Keep exactly this many dimensions; λ plays no part
    #[arg(long, value_name = "M")]
    pub dim: Option<usize>,
    /// How the dimension follows from λ: Theorem 1 of the paper (the default), or one more as in the authors' released code
    #[arg(long, value_enum)]
    pub rank_rule: Option<RankRuleArg>,
    /// Scale samples to unit length (the default of PCE), not at all, or features to z-scores
    #[arg(long, value_enum)]
    pub normalize: Option<NormalizeArg>,
    /// Subtract the mean of the scaled samples
    #[arg(long)]
    pub center: bool,
    /// Refuse zero samples and data in which no direction stands out
    #[arg(long)]
    pub strict: bool,
    /// Prove the dimension, or find it by products with the data alone (probable, not proved): for data too large for a
    /// matrix of min(samples, features) squared. `direct` needs a λ, noise level, energy or dimension
    #[arg(long, value_enum)]
    pub solver: Option<SolverArg>,
}

/// How samples that are not kept are read.
#[derive(ClapArgs)]
pub struct Streaming {
    /// Read the samples chunk by chunk, and take no more memory than this: 500MB, 2GB, 1GiB. The result does not depend
    /// on it
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<Size>,
    /// Write down here, now and then, how far the reading has come; the same command goes on from there after a crash
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// How much is read from one checkpoint to the next
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "1GB", requires = "checkpoint")]
    pub checkpoint_every: Size,
    /// What is kept of the samples: their Gram matrix (fast), their triangle, which answers every cut, or for thousands of
    /// features a sketch, for which they are read several times (probable, not always proved; it needs a λ, noise level, energy or
    /// dimension); `auto` is the first unless the settings need the second, or more than 5000 features the third
    #[arg(long, value_enum)]
    pub form: Option<FormArg>,
    /// How often the samples of a sketch may be read, from 2 to 64; as often as k needs, and at most 8 times by default
    #[arg(long, value_name = "N")]
    pub passes: Option<usize>,
    /// Gaussian columns of a sketch; 200 by default, and more where a larger dimension is asked for
    #[arg(long, value_name = "N")]
    pub sketch_columns: Option<usize>,
    /// The seed of a sketch
    #[arg(long, value_name = "N")]
    pub sketch_seed: Option<u64>,
}

impl Streaming {
    /// What is kept.
    pub fn form(&self) -> Form {
        match self.form {
            None | Some(FormArg::Auto) => Form::Auto,
            Some(FormArg::Gram) => Form::Gram,
            Some(FormArg::Triangle) => Form::Triangle,
            Some(FormArg::Sketch) => Form::Sketch,
        }
    }

    /// Where and how often checkpoints are written.
    pub fn checkpoints(&self) -> Option<Checkpoints> {
        let Size(every) = self.checkpoint_every;
        self.checkpoint.clone().map(|file| Checkpoints { file, every })
    }

    /// Whether anything was asked that only samples that are not kept can have.
    pub fn is_asked(&self) -> bool {
        self.max_memory.is_some() || self.checkpoint.is_some() || self.form.is_some() || self.of_sketch().is_some()
    }

    /// A flag that only a sketch has, where one was given.
    pub fn of_sketch(&self) -> Option<&'static str> {
        let given = [
            ("--passes", self.passes.is_some()),
            ("--sketch-columns", self.sketch_columns.is_some()),
            ("--sketch-seed", self.sketch_seed.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }

    /// Options of a sketch.
    pub fn sketch(&self) -> SketchOptions {
        SketchOptions { passes: self.passes, columns: self.sketch_columns, seed: self.sketch_seed }
    }
}

/// Where to cut, where not as the summary or the model was made to.
#[derive(ClapArgs)]
pub struct CutArgs {
    /// λ: a number, `auto` or `screenot`, instead of what it was made for
    #[arg(long, value_name = "λ", value_parser = parse_lambda, group = "cut")]
    lambda: Option<LambdaArg>,
    /// The noise has this standard deviation, in the units of the data
    #[arg(long, value_name = "S", group = "cut", allow_negative_numbers = true)]
    noise: Option<f64>,
    /// Keep this share of the energy, between 0 and 1
    #[arg(long, value_name = "SHARE", group = "cut", allow_negative_numbers = true)]
    energy: Option<f64>,
    /// Keep exactly this many dimensions
    #[arg(long, value_name = "M", group = "cut")]
    dim: Option<usize>,
}

impl CutArgs {
    /// The settings of the summary or model with another cut, where one is asked for.
    pub fn params(&self, made_for: &PceParams) -> Option<PceParams> {
        let lambda = match (self.lambda, self.noise, self.energy) {
            (Some(LambdaArg(lambda)), ..) => Some(lambda),
            (_, Some(s), _) => Some(Lambda::Noise(s)),
            (.., Some(share)) => Some(Lambda::Energy(share)),
            _ => None,
        };
        match (lambda, self.dim) {
            (Some(lambda), _) => Some(PceParams { lambda, dim: Dim::Auto, ..*made_for }),
            (None, Some(dim)) => Some(PceParams { dim: Dim::Fixed(dim), ..*made_for }),
            (None, None) => None,
        }
    }
}
