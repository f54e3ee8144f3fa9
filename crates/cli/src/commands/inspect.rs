//! `eigenspan inspect`: what a model file holds.

use eigenspan_core::Model;
use eigenspan_core::model::fitted::Fitted;
use eigenspan_io::{ModelFile, Provenance, orthogonality, orthogonality_tolerance};

use eigenspan_render::spectrum_svg;

use super::{print, print_json};
use crate::args::Inspect;
use crate::failure::Failure;
use crate::report;

/// Reads, checks and describes a model.
pub fn run(args: &Inspect) -> Result<(), Failure> {
    let ModelFile { model, provenance } = ModelFile::load(&args.model)?;
    let Some(pce) = model.as_pce() else { return any(args, &model, &provenance) };
    let off = args.verify.then(|| orthogonality(pce));
    if let Some(off) = off.filter(|off| *off > orthogonality_tolerance(pce)) {
        return Err(Failure::refused(
            format!("{}: the directions are not orthonormal (off by {off:.1e})", args.model.display()),
            "fit the model again",
        ));
    }
    if args.json {
        return print_json(&report::Report::new(&model, None, Some(&provenance)));
    }
    let p = pce.parts();
    if args.svg {
        return print(&spectrum_svg(&p.sigma, p.tau, p.k, &format!("Singular values of {}", provenance.data)));
    }
    let mut text = described(&model, &provenance);
    if let Some(off) = off {
        text += &format!("verified: checksum, shapes, order, ‖UᵀU − I‖ = {off:.1e}\n");
    }
    print(&text)
}

/// Describes a model of any method but PCE and PCA.
fn any(args: &Inspect, model: &Model, provenance: &Provenance) -> Result<(), Failure> {
    if args.json {
        return print_json(&report::Report::new(model, None, Some(provenance)));
    }
    if args.svg {
        let fact = format!("a model of `{}` has no spectrum to draw", model.info().method);
        return Err(Failure::refused(fact, "leave `--svg` out"));
    }
    let mut text = described(model, provenance);
    if let Some(trace) = model.info().trace {
        text += &report::rounds(trace);
    }
    if args.verify {
        text += "verified: checksum, shapes, every number\n";
    }
    print(&text)
}

/// What is said of every model.
fn described(model: &Model, provenance: &Provenance) -> String {
    let told = model.info();
    let found = report::found(model);
    let settings = serde_json::to_string(&model.settings()).expect("settings are plain data");
    let mut text = format!(
        "{} model: {} features → {} columns, fitted on {} samples of {}\n{found}",
        told.method.to_uppercase(),
        model.features(),
        model.columns(),
        told.n,
        provenance.data,
    );
    for warning in told.warnings {
        text += &format!("warning: {warning}\n");
    }
    text += &format!("settings  {settings}\n");
    let hash = provenance.data_sha256.as_ref().map(|hash| format!(" · data SHA-256 {hash}")).unwrap_or_default();
    text += &format!("eigenspan {}{hash}\n", provenance.eigenspan);
    text
}
