//! `eigenspan fit`: data in, dimension and model out.

use eigenspan::Pce;
use eigenspan::data::Dataset;
use eigenspan_io::{ModelFile, Provenance};

use super::{Session, print, print_json, warn};
use crate::args::{Fit, Fitting};
use crate::failure::Failure;
use crate::report;

/// Reads, fits, writes the model, says what was found.
pub fn run(args: &Fit, session: &Session<'_>) -> Result<(), Failure> {
    let data = args.data.read()?;
    let started = session.progress.seconds();
    let model = fit(&data, &args.fitting, session)?;
    let seconds = session.progress.seconds() - started;
    warn(&model.parts().warnings);
    if let Some(path) = &args.output {
        let provenance = Provenance::of(&args.data.name(), data.samples.view());
        ModelFile { model: model.clone(), provenance }.save(path)?;
    }
    if args.json {
        return print_json(&report::Fitted::new(&model, Some(seconds), None));
    }
    print(&format!("{}: {}\n{}", args.data.name(), report::shape(data.samples.view()), report::verdict(&model)))?;
    match &args.output {
        Some(path) => print(&format!("wrote {}\n", path.display())),
        None => Ok(()),
    }
}

/// The model of a data set, with the shape of its images.
pub fn fit(data: &Dataset, fitting: &Fitting, session: &Session<'_>) -> Result<Pce, Failure> {
    let model = fitting.params().fit_with(&data.samples, session.exec)?;
    session.progress.clear();
    Ok(match data.image {
        Some(shape) => model.with_image(shape).expect("a data set's image shape fits its samples"),
        None => model,
    })
}
