//! Values of flags, and how they are read.

use clap::ValueEnum;
use eigenspan_core::Lambda;
use eigenspan_core::data::ImageShape;
use eigenspan_study::cell::{SplitRule, TrainSize};

pub fn parse_image(text: &str) -> Result<ImageShape, String> {
    let length = |text: &str| text.trim().parse::<usize>().ok().filter(|length| *length > 0);
    let sides = text.split_once(['x', '×']).and_then(|(height, width)| Some((length(height)?, length(width)?)));
    let (height, width) = sides.ok_or("expected height and width, as in 32x24")?;
    Ok(ImageShape { height, width })
}

#[derive(Clone, Copy)]
pub struct LambdaArg(pub Lambda);

pub fn parse_lambda(text: &str) -> Result<LambdaArg, String> {
    text.parse().map(LambdaArg)
}

#[derive(Clone, Copy, ValueEnum)]
pub enum RankRuleArg {
    Theorem,
    Released,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum NormalizeArg {
    Unit,
    None,
    Zscore,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum SolverArg {
    Auto,
    Direct,
}

/// A size, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

/// `500MB`, `2GB`, `1GiB`, or a number of bytes.
pub fn parse_size(text: &str) -> Result<Size, String> {
    let size = eigenspan_feed::parse_size(text);
    size.map(Size).ok_or_else(|| "expected a size such as 500MB, 2GB or 1GiB".into())
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormArg {
    Auto,
    Gram,
    Triangle,
    Sketch,
}

/// Numbers of neighbours.
#[derive(Clone)]
pub struct Sweep(pub Vec<usize>);

pub fn parse_sweep(text: &str) -> Result<Sweep, String> {
    let (range, step) = text.split_once(':').unwrap_or((text, "1"));
    let (first, last) = range.split_once("..").unwrap_or((range, range));
    let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number > 0);
    let all = (number(first), number(last), number(step));
    match all {
        (Some(first), Some(last), Some(step)) if first <= last => Ok(Sweep((first..=last).step_by(step).collect())),
        _ => Err("expected a number from 1 on, or a range as in 10..30:2".into()),
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum SplitArg {
    Random,
    Stratified,
}

impl From<SplitArg> for SplitRule {
    fn from(asked: SplitArg) -> Self {
        match asked {
            SplitArg::Random => Self::Random,
            SplitArg::Stratified => Self::Stratified,
        }
    }
}

/// A whole number is a number of samples, any other a share.
pub fn parse_train(text: &str) -> Result<TrainSize, String> {
    match (text.parse::<usize>(), text.parse::<f64>()) {
        (Ok(count), _) if count > 0 => Ok(TrainSize::Total(count)),
        (Err(_), Ok(share)) if share > 0.0 && share < 1.0 => Ok(TrainSize::Share(share)),
        _ => Err("expected a share between 0 and 1, or a number of samples".into()),
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub enum NumbersArg {
    F64,
    F32,
    U8,
}
