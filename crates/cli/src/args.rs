//! The command line as typed: the commands here, flags that several of them share in `groups`, values of flags in `values`.

mod groups;
mod values;

use std::num::NonZero;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args as ClapArgs, Parser, Subcommand};
use eigenspan_core::classify::CLASSIFIERS;
use eigenspan_core::data::Corruption;
use eigenspan_core::dimension::ESTIMATORS;
use eigenspan_study::cell::TrainSize;

use crate::choice::Choice;

pub use groups::{CutArgs, Data, Fitting, Streaming};
pub use values::{NumbersArg, Size, SplitArg, Sweep};
use values::{parse_size, parse_sweep, parse_train};

const EXIT_HELP: &str =
    "Exit codes: 0 done · 1 the data, model or a value was refused · 2 mistyped, or the machine failed";

/// Finds how many dimensions your data really have, and gives you the projection.
#[derive(Parser)]
#[command(name = "eigenspan", version, after_help = EXIT_HELP, arg_required_else_help = true)]
pub struct Args {
    /// Threads to use; as many as there are cores by default. The result does not depend on it.
    #[arg(long, global = true, value_name = "N")]
    pub threads: Option<NonZero<usize>>,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run PCE on built-in data and show what it finds
    Demo,
    /// Find the dimension of data and learn the projection
    #[command(
        after_help = "Examples:\n  eigenspan fit faces.npz -o faces.espan\n  eigenspan fit faces.npz --lambda 5 --json\n  \
eigenspan fit sensors.csv --label state --noise 0.02\n  cat table.csv | eigenspan fit - --energy 0.95\n  \
eigenspan fit faces.npz --method npe --neighbours 49 --dim 300 -o faces.espan\n  \
eigenspan fit huge.npy --max-memory 2GB --checkpoint huge.check -o huge.espan\n  \
eigenspan fit 2024.npy 2025.npy 2026.npy -o years.espan"
    )]
    Fit(Box<Fit>),
    /// Summarise samples, to be merged with others and finished to a model
    #[command(after_help = "Example, on as many machines as there are files:\n  \
eigenspan summarize part1.npy -o part1.essum\n  eigenspan summarize part2.npy -o part2.essum\n  \
eigenspan merge part1.essum part2.essum -o all.essum\n  eigenspan finish all.essum -o model.espan")]
    Summarize(Box<Summarize>),
    /// Merge summaries, in the order given
    #[command(after_help = "Example:\n  eigenspan merge part1.essum part2.essum -o all.essum")]
    Merge(Merge),
    /// Make a model of a summary
    #[command(after_help = "Examples:\n  eigenspan finish all.essum -o model.espan\n  \
eigenspan finish all.essum --lambda 5 -o other.espan")]
    Finish(Finish),
    /// Go on with a fitted model where new samples arrive, without the old ones
    #[command(after_help = "Examples:\n  eigenspan fit january.npy --lambda 5 -o model.espan\n  \
eigenspan update model.espan february.npy -o model.espan\n  \
eigenspan update model.espan today.csv --rank 50 --forget 0.999 -o model.espan")]
    Update(Box<Update>),
    /// Estimate the dimension of data by several estimators, side by side
    #[command(
        after_help = "Examples:\n  eigenspan dimension faces.npz\n  eigenspan dimension faces.npz --method danco --neighbours 10..30:2\n  \
eigenspan dimension faces.npz --method mle,danco --json\n  \
eigenspan dimension faces.npz --method fast-danco --calibration balls.json"
    )]
    Dimension(Dimension),
    /// List the methods that `fit --method` knows
    Methods,
    /// Map samples to their features, Z = XΘ
    #[command(after_help = "Examples:\n  eigenspan transform faces.espan new.npz -o features.npy\n  \
eigenspan transform faces.espan new.csv | head")]
    Transform(Transform),
    /// Split samples into a clean part and an error
    #[command(after_help = "Examples:\n  eigenspan recover faces.espan new.npz -o clean.npy --sheet faces.png\n  \
eigenspan recover sensors.espan today.csv --scores novelty.csv")]
    Recover(Recover),
    /// Show the dimension for every λ
    #[command(after_help = "Examples:\n  eigenspan path faces.npz\n  eigenspan path faces.npz --svg > path.svg")]
    Path(PathArgs),
    /// Compare methods and classifiers on labelled data: how often are they right on samples they have not seen?
    #[command(
        after_help = "Examples:\n  eigenspan evaluate faces.npz --method pce --method eigenfaces --classifier nn,nn-cosine\n  \
eigenspan evaluate faces.npz --method npe:neighbours=49,dim=300 --train 1520 --repeats 10 --json"
    )]
    Evaluate(Evaluate),
    /// Run the experiments of the paper, its numbers beside ours
    #[command(
        after_help = "Examples:\n  eigenspan reproduce --list\n  eigenspan reproduce table3 --data ../shared/data\n  \
eigenspan reproduce all --data ../shared/data --output results\n  eigenspan reproduce fig4a --synthetic --output results"
    )]
    Reproduce(Reproduce),
    /// Show what a model file holds
    Inspect(Inspect),
    /// Write a model as an ONNX graph, for runtimes without eigenspan
    #[command(after_help = "Example:\n  eigenspan export faces.espan -o faces.onnx --numbers f32")]
    Export(Export),
    /// Describe data without fitting
    Info(Info),
    /// Print a completion script for a shell
    #[command(
        after_help = "Example:\n  eigenspan completions bash > ~/.local/share/bash-completion/completions/eigenspan"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

#[derive(ClapArgs)]
pub struct Summarize {
    #[command(flatten)]
    pub data: Data,
    /// More files, read after it in this order
    #[arg(value_name = "DATA")]
    pub more: Vec<PathBuf>,
    #[command(flatten)]
    pub fitting: Fitting,
    #[command(flatten)]
    pub choice: Choice,
    #[command(flatten)]
    pub streaming: Streaming,
    /// Write the summary here
    #[arg(short, long, value_name = "PART.essum")]
    pub output: PathBuf,
}

#[derive(ClapArgs)]
pub struct Merge {
    /// The summaries, in the order of their samples
    #[arg(value_name = "PART.essum", required = true)]
    pub summaries: Vec<PathBuf>,
    /// Write the merged summary here
    #[arg(short, long, value_name = "ALL.essum")]
    pub output: PathBuf,
}

#[derive(ClapArgs)]
pub struct Finish {
    /// The summary
    #[arg(value_name = "ALL.essum")]
    pub summary: PathBuf,
    #[command(flatten)]
    pub cut: CutArgs,
    /// Write the model here
    #[arg(short, long, value_name = "MODEL.espan")]
    pub output: Option<PathBuf>,
    /// Print one JSON object instead of words
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct Update {
    /// The model, of PCE or PCA with a λ, a share of the energy or a dimension that was given
    #[arg(value_name = "MODEL.espan")]
    pub model: PathBuf,
    #[command(flatten)]
    pub data: Data,
    /// More files, read after it in this order
    #[arg(value_name = "DATA")]
    pub more: Vec<PathBuf>,
    /// Keep so many directions on the way; as before, or twice those of the model and 100 at least
    #[arg(long, value_name = "R")]
    pub rank: Option<usize>,
    /// Multiply all that was seen by this when a sample arrives, above 0 and at most 1: 0.999 forgets over some thousand samples;
    /// as before, or 1, which forgets nothing
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub forget: Option<f64>,
    /// Take no more memory than this: 500MB, 2GB, 1GiB. The result does not depend on it
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<Size>,
    #[command(flatten)]
    pub cut: CutArgs,
    /// Write the model here; it may be the one that is read
    #[arg(short, long, value_name = "MODEL.espan")]
    pub output: PathBuf,
    /// Print one JSON object instead of words
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct Fit {
    #[command(flatten)]
    pub data: Data,
    /// More files, read after it in this order: each is a partition of its own
    #[arg(value_name = "DATA")]
    pub more: Vec<PathBuf>,
    #[command(flatten)]
    pub streaming: Streaming,
    #[command(flatten)]
    pub fitting: Fitting,
    #[command(flatten)]
    pub choice: Choice,
    /// Write the model here
    #[arg(short, long, value_name = "MODEL.espan")]
    pub output: Option<PathBuf>,
    /// Write the features of the samples here (.npy, .csv, .tsv, .parquet)
    #[arg(long, value_name = "FILE")]
    pub features: Option<PathBuf>,
    /// Write the low-rank part of the samples here (robust-pca, rosl)
    #[arg(long, value_name = "FILE")]
    pub low_rank: Option<PathBuf>,
    /// Write the sparse part of the samples here (robust-pca, rosl)
    #[arg(long, value_name = "FILE")]
    pub sparse: Option<PathBuf>,
    /// Print one JSON object instead of words
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct Dimension {
    #[command(flatten)]
    pub data: Data,
    /// The estimators, in this order; all but `fast-danco` where none is named
    #[arg(long, value_name = "NAME", value_delimiter = ',',
        value_parser = clap::builder::PossibleValuesParser::new(ESTIMATORS.map(|(name, _)| name)))]
    pub method: Vec<String>,
    /// Neighbours of a sample, for estimators that look at them: one number, or several as in 10..30 or 10..30:2
    #[arg(long, value_name = "K", value_parser = parse_sweep)]
    pub neighbours: Option<Sweep>,
    /// Use the settings of the paper's Table 12 where no other flag says otherwise (mle, mind-ml, mind-kl, danco)
    #[arg(long)]
    pub as_published: bool,
    /// Look at no more dimensions than this (mind-ml, mind-kl, danco, fast-danco)
    #[arg(long, value_name = "D")]
    pub max_dim: Option<usize>,
    /// The seed of balls and shuffles (mind-kl, danco, fast-danco, parallel-analysis)
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Read what is known of balls from here, and write what was computed
    #[arg(long, value_name = "FILE.json")]
    pub calibration: Option<PathBuf>,
    /// Take no more memory than this: 500MB, 2GB, 1GiB. Estimators need all samples: data that
    /// would take more are refused
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<Size>,
    /// Print a JSON list instead of a table
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct Transform {
    /// The model
    #[arg(value_name = "MODEL.espan")]
    pub model: PathBuf,
    #[command(flatten)]
    pub data: Data,
    /// Take no more memory than this: 500MB, 2GB, 1GiB. The result does not depend on it
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<Size>,
    /// Write the features here (.npy, .csv, .tsv, .parquet); CSV on standard output by default
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
}

#[derive(ClapArgs)]
pub struct Recover {
    /// The model
    #[arg(value_name = "MODEL.espan")]
    pub model: PathBuf,
    #[command(flatten)]
    pub data: Data,
    /// Take no more memory than this: 500MB, 2GB, 1GiB. The result does not depend on it
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<Size>,
    /// Write the clean samples here, in their own units (.npy, .csv, .tsv, .parquet, `-` for CSV on standard output)
    #[arg(short, long, value_name = "FILE", required_unless_present_any = ["sheet", "scores"])]
    pub output: Option<PathBuf>,
    /// Write a contact sheet here: original | clean | error of some samples, as a PNG
    #[arg(long, value_name = "FILE.png")]
    pub sheet: Option<PathBuf>,
    /// Samples on the contact sheet, spread evenly over the data
    #[arg(long, value_name = "N", default_value = "12", requires = "sheet")]
    pub sheet_samples: NonZero<usize>,
    /// Write how little each sample looks like the training samples here, one number a sample (.npy, .csv, .tsv, .parquet)
    #[arg(long, value_name = "FILE")]
    pub scores: Option<PathBuf>,
}

#[derive(ClapArgs)]
pub struct PathArgs {
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub fitting: Fitting,
    /// Take no more memory than this: 500MB, 2GB, 1GiB. The samples are then read chunk by
    /// chunk and not kept
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<Size>,
    /// Print one JSON object instead of a staircase
    #[arg(long, conflicts_with = "svg")]
    pub json: bool,
    /// Print an SVG picture instead of a staircase
    #[arg(long)]
    pub svg: bool,
}

#[derive(ClapArgs)]
pub struct Evaluate {
    #[command(flatten)]
    pub data: Data,
    /// A method, with settings where wanted: `pce`, `npe:neighbours=49,dim=300`. May be given several times;
    /// `eigenspan methods` lists them
    #[arg(long = "method", value_name = "NAME[:SETTINGS]", default_value = "pce")]
    pub methods: Vec<String>,
    /// Use the settings of the paper's experiments where a method has them, with what else is set laid over them
    #[arg(long)]
    pub as_published: bool,
    /// Who tells the features apart; several, with commas between them, or the flag several times
    #[arg(long = "classifier", value_name = "NAME", default_value = "nn", value_delimiter = ',', hide_possible_values = true,
        value_parser = PossibleValuesParser::new(CLASSIFIERS.iter().map(|(name, _)| *name)))]
    pub classifiers: Vec<String>,
    /// How many samples to train on: a share below 1, or a number
    #[arg(long, value_name = "SHARE|N", default_value = "0.5", value_parser = parse_train)]
    pub train: TrainSize,
    /// Part all samples at random, or every class alike
    #[arg(long, value_enum, default_value = "random")]
    pub split: SplitArg,
    /// Random partitions: the result is their mean and standard deviation
    #[arg(long, value_name = "N", default_value = "10")]
    pub repeats: NonZero<u32>,
    /// The seed of the partitions
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
    /// Corrupt samples before they are parted: `gaussian:sd=25`, `gaussian:relative=0.1`, `rpc:0.3`, `block:0.2`,
    /// `salt-pepper:0.1`
    #[arg(long, value_name = "KIND")]
    pub corrupt: Option<Corruption>,
    /// The share of the samples that is corrupted
    #[arg(long, value_name = "SHARE", default_value = "1", requires = "corrupt")]
    pub corrupt_share: f64,
    /// Take no more memory than this: 500MB, 2GB, 1GiB. All samples are needed: data that would
    /// take more are refused
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<Size>,
    /// Keep finished partitions in this file: a run that was stopped goes on where it was
    #[arg(long, value_name = "FILE")]
    pub cache: Option<PathBuf>,
    /// Print JSON, one object for every method and classifier, instead of a table
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct Reproduce {
    /// Tables and figures by the labels of the paper's source: `table3`, `fig4b`, `claims`, `complexity`; `all` for those
    /// whose data are there
    #[arg(value_name = "NAME", required_unless_present = "list")]
    pub names: Vec<String>,
    /// List what there is, what the printed paper calls it, and whether its data are there
    #[arg(long)]
    pub list: bool,
    /// The folder of the data: .npz files, the authors' .mat files, or the distributors' folders
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Let synthetic faces stand for the faces
    #[arg(long)]
    pub synthetic: bool,
    /// Tune parameters on the extra partition instead of taking those that the paper prints
    #[arg(long)]
    pub tune: bool,
    /// Partitions, where not as many as the paper has
    #[arg(long, value_name = "N")]
    pub repeats: Option<NonZero<u32>>,
    /// Write results, tables and figures into this folder; a run that was stopped goes on where it was
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Print the results as JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

#[derive(ClapArgs)]
pub struct Inspect {
    /// The model
    #[arg(value_name = "MODEL.espan")]
    pub model: PathBuf,
    /// Check every number, not a sample of them
    #[arg(long)]
    pub verify: bool,
    /// Print one JSON object instead of words
    #[arg(long, conflicts_with = "svg")]
    pub json: bool,
    /// Print an SVG picture of the spectrum and its cut instead of words
    #[arg(long)]
    pub svg: bool,
}

#[derive(ClapArgs)]
pub struct Export {
    /// The model
    #[arg(value_name = "MODEL.espan")]
    pub model: PathBuf,
    /// Write the graph here; `-` for standard output
    #[arg(short, long, value_name = "MODEL.onnx")]
    pub output: PathBuf,
    /// The numbers that samples will come in; those of the training samples by default. Features are f32 for f32, f64 for
    /// the others
    #[arg(long, value_enum)]
    pub numbers: Option<NumbersArg>,
}

#[derive(ClapArgs)]
pub struct Info {
    #[command(flatten)]
    pub data: Data,
    /// Take no more memory than this: 500MB, 2GB, 1GiB. Data are read chunk by chunk in any
    /// case: a format that is read as a whole is refused
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub max_memory: Option<Size>,
    /// Print one JSON object instead of words
    #[arg(long)]
    pub json: bool,
}
