//! `eigenspan inspect`: what a model file holds.

use eigenspan_io::{ModelFile, orthogonality, orthogonality_tolerance};

use eigenspan_render::spectrum_svg;

use super::{print, print_json};
use crate::args::Inspect;
use crate::failure::Failure;
use crate::report;

/// Reads, checks and describes a model.
pub fn run(args: &Inspect) -> Result<(), Failure> {
    let ModelFile { model, provenance } = ModelFile::load(&args.model)?;
    let off = args.verify.then(|| orthogonality(&model));
    if let Some(off) = off.filter(|off| *off > orthogonality_tolerance(&model)) {
        return Err(Failure::refused(
            format!("{}: the directions are not orthonormal (off by {off:.1e})", args.model.display()),
            "fit the model again",
        ));
    }
    if args.json {
        return print_json(&report::Fitted::new(&model, None, Some(&provenance)));
    }
    let p = model.parts();
    if args.svg {
        return print(&spectrum_svg(&p.sigma, p.tau, p.k, &format!("Singular values of {}", provenance.data)));
    }
    let mut text = format!(
        "PCE model: {} features → {} columns, fitted on {} samples of {}\n{}",
        model.features(),
        model.columns(),
        p.n,
        provenance.data,
        report::verdict(&model),
    );
    for warning in &p.warnings {
        text += &format!("warning: {warning}\n");
    }
    let settings = serde_json::to_string(&p.params).expect("settings are plain data");
    text += &format!("settings  {settings}\n");
    let hash = provenance.data_sha256.as_ref().map(|hash| format!(" · data SHA-256 {hash}")).unwrap_or_default();
    text += &format!("eigenspan {}{hash}\n", provenance.eigenspan);
    if let Some(off) = off {
        text += &format!("verified: checksum, shapes, order, ‖UᵀU − I‖ = {off:.1e}\n");
    }
    print(&text)
}
