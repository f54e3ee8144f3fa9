//! `eigenspan path`: the dimension for every λ.

use eigenspan::Solver;
use eigenspan::method::pce::PathStep;
use eigenspan_render::{path_svg, staircase};

use super::{Session, plot_size, print, print_json, warn};
use crate::args::PathArgs;
use crate::failure::Failure;
use crate::report;

/// Fits once and shows the staircase.
pub fn run(args: &PathArgs, session: &Session<'_>) -> Result<(), Failure> {
    let data = args.data.read()?;
    let model = super::fit::fit(&data, &args.fitting, session)?;
    warn(&model.parts().warnings);
    let p = model.parts();
    let chosen = PathStep { lambda: p.lambda, k: p.k };
    // The direct solver was asked for because the whole spectrum is out of reach: its path is that of the known values.
    let whole = p.sigma.len() == p.n.min(model.features()) || p.params.solver == Solver::Direct;
    let steps = if whole { model.path() } else { model.path_over(&p.params.values(&data.samples, session.exec)?) };
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
