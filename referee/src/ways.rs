//! The ways to fit: all of them are to say the same of the same samples.

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};

use eigenspan_core::data::Matrix;
use eigenspan_core::{
    Dim, Error, Exec, Keep, Lambda, Normalize, OnlineParams, OnlinePce, Pce, PceParams, PceSketch, PceSummary, Quiet,
    SketchParams, Solver,
};

use crate::cases::Case;

/// A way to fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// In memory.
    Memory,
    /// By products with the samples.
    Direct,
    /// By the Gram matrix of samples that arrive in portions.
    Gram,
    /// By their triangle.
    Triangle,
    /// By Gram matrices of portions, merged.
    MergedGram,
    /// By triangles of portions, merged.
    MergedTriangle,
    /// One by one, keeping all directions.
    Online,
    /// One by one, keeping a few.
    OnlineRank,
    /// The first portions in memory, the others one by one.
    Resumed,
    /// By a sketch.
    Sketch,
}

/// What came of a fit.
pub enum Outcome {
    /// A model.
    Fitted(Box<Pce>),
    /// An error, in words.
    Refused(String),
    /// A panic.
    Panicked,
}

impl Way {
    /// All ways.
    pub const ALL: [Self; 10] = [
        Self::Memory,
        Self::Direct,
        Self::Gram,
        Self::Triangle,
        Self::MergedGram,
        Self::MergedTriangle,
        Self::Online,
        Self::OnlineRank,
        Self::Resumed,
        Self::Sketch,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Direct => "direct",
            Self::Gram => "gram summary",
            Self::Triangle => "triangle summary",
            Self::MergedGram => "merged gram",
            Self::MergedTriangle => "merged triangle",
            Self::Online => "online",
            Self::OnlineRank => "online, low rank",
            Self::Resumed => "resumed",
            Self::Sketch => "sketch",
        }
    }

    /// Whether it serves such settings at all.
    pub fn serves(self, params: &PceParams) -> bool {
        let fixed = params.dim != Dim::Auto;
        let leading = fixed || matches!(params.lambda, Lambda::Fixed(_) | Lambda::Energy(_));
        let noise = matches!(params.lambda, Lambda::Noise(deviation) if deviation > 0.0);
        let zscore = params.normalize == Normalize::ZScore;
        match self {
            Self::Memory | Self::Triangle | Self::MergedTriangle => true,
            Self::Gram | Self::MergedGram => !zscore,
            Self::Direct => leading || noise,
            Self::Online | Self::OnlineRank | Self::Resumed => leading && !zscore,
            Self::Sketch => (leading || noise) && !zscore,
        }
    }

    /// Fits a case.
    pub fn fit(self, case: &Case) -> Outcome {
        match catch_unwind(AssertUnwindSafe(|| self.run(case))) {
            Ok(Ok(model)) => Outcome::Fitted(Box::new(model)),
            Ok(Err(error)) => Outcome::Refused(error.to_string()),
            Err(_) => Outcome::Panicked,
        }
    }

    fn run(self, case: &Case) -> Result<Pce, Error> {
        let exec = Exec::new(NonZero::new(1), &Quiet);
        let params = case.params;
        match self {
            Self::Memory => params.fit_with(case.samples(), exec),
            Self::Direct => PceParams { solver: Solver::Direct, ..params }.fit_with(case.samples(), exec),
            Self::Gram => summarized(case, Keep::Gram, exec),
            Self::Triangle => summarized(case, Keep::Triangle, exec),
            Self::MergedGram => merged(case, Keep::Gram, exec),
            Self::MergedTriangle => merged(case, Keep::Triangle, exec),
            Self::Online => online(case, case.samples().cols(), exec),
            Self::OnlineRank => online(case, case.rank, exec),
            Self::Resumed => resumed(case, exec),
            Self::Sketch => sketched(case, exec),
        }
    }
}

fn summarized(case: &Case, keep: Keep, exec: Exec<'_>) -> Result<Pce, Error> {
    let mut summary = PceSummary::keeping(keep, case.params, case.samples().cols())?;
    case.portions().iter().try_for_each(|portion| summary.update(portion, exec))?;
    summary.finish(exec)
}

fn merged(case: &Case, keep: Keep, exec: Exec<'_>) -> Result<Pce, Error> {
    let empty = || PceSummary::keeping(keep, case.params, case.samples().cols());
    let mut whole = empty()?;
    for portion in &case.portions() {
        let mut part = empty()?;
        part.update(portion, exec)?;
        whole.merge(&part, exec)?;
    }
    whole.finish(exec)
}

fn online(case: &Case, rank: usize, exec: Exec<'_>) -> Result<Pce, Error> {
    let settings = OnlineParams { rank, forget: 1.0, block: Some(case.block) };
    let mut seen = OnlinePce::new(case.params, settings, case.samples().cols())?;
    case.portions().iter().try_for_each(|portion| seen.update(portion, exec))?;
    seen.finish(exec)
}

fn resumed(case: &Case, exec: Exec<'_>) -> Result<Pce, Error> {
    let portions = case.portions();
    let (first, rest): (&Matrix, &[Matrix]) = portions.split_first().expect("there are samples");
    let model = case.params.fit_with(first, exec)?;
    let settings = OnlineParams { rank: case.samples().cols(), forget: 1.0, block: Some(case.block) };
    let mut seen = OnlinePce::resume(&model, case.params, settings)?;
    rest.iter().try_for_each(|portion| seen.update(portion, exec))?;
    seen.finish(exec)
}

fn sketched(case: &Case, exec: Exec<'_>) -> Result<Pce, Error> {
    let readings = 2 + (case.seed % 3) as usize;
    let columns = Some(1 + (case.seed / 3) as usize % case.samples().cols());
    let settings = SketchParams { columns, readings, seed: case.seed };
    let mut sketch = PceSketch::new(case.params, settings, case.samples().cols())?;
    loop {
        case.portions().iter().try_for_each(|portion| sketch.update(portion, exec))?;
        if let Some(model) = sketch.end_of_reading(exec)? {
            return Ok(model);
        }
    }
}
