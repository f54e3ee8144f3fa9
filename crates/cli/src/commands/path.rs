//! `eigenspan path`: the dimension for every λ.

use eigenspan_core::method::pce::PathStep;
use eigenspan_core::{Pce, Solver};
use eigenspan_feed::Path as Job;
use eigenspan_render::{path_svg, staircase};

use super::{Session, plot_size, print, print_json, warn};
use crate::args::{PathArgs, Size};
use crate::failure::Failure;
use crate::report;

/// Fits once and shows the staircase.
pub fn run(args: &PathArgs, session: &Session<'_>) -> Result<(), Failure> {
    let (model, steps) = match args.max_memory {
        Some(Size(limit)) => {
            let (files, params) = (args.data.files(&[])?, args.fitting.params()?);
            Job { files, params, max_memory: Some(limit) }.run(session.exec)?
        }
        None => in_memory(args, session)?,
    };
    session.progress.clear();
    let p = model.parts();
    warn(&p.warnings);
    let chosen = PathStep { lambda: p.lambda, k: p.k };
    if args.json {
        return print_json(&report::Path { n: p.n, m: model.features(), chosen, steps });
    }
    let mark = Some((chosen.lambda, chosen.k));
    if args.svg {
        return print(&path_svg(&steps, mark, &format!("Dimension of {} for every λ", args.data.name())));
    }
    let (width, height) = plot_size();
    print(&format!("{}\n{}", staircase(&steps, mark, width, height).trim_end(), report::verdict(&model)))
}

/// The model and its path, of samples that are kept.
fn in_memory(args: &PathArgs, session: &Session<'_>) -> Result<(Pce, Vec<PathStep>), Failure> {
    let data = args.data.read()?;
    let model = super::fit::fit(&data, &args.fitting, session)?;
    let p = model.parts();
    // The direct solver was asked for because the whole spectrum is out of reach: its path is that of the known values.
    let whole = p.sigma.len() == p.n.min(model.features()) || p.params.solver == Solver::Direct;
    let steps = if whole { model.path() } else { model.path_over(&p.params.values(&data.samples, session.exec)?) };
    Ok((model, steps))
}
