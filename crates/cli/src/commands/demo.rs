//! `eigenspan demo`: what PCE finds in built-in data.

use eigenspan_core::data::generate::Subspaces;
use eigenspan_core::{Error, PceParams, short_number};
use eigenspan_io::embedded;
use eigenspan_render::scree;

use super::{Session, plot_size, print, warn};
use crate::failure::Failure;
use crate::report;

/// Data of which the truth is known.
const PLANTED: Subspaces = Subspaces { samples: 400, features: 200, subspaces: 3, dim: 4, noise: 0.3 };

/// Fits data with a known dimension, then handwritten digits.
pub fn run(session: &Session<'_>) -> Result<(), Failure> {
    let planted = PLANTED.generate(1)?;
    let model = PceParams::default().fit_with(&planted.samples, session.exec)?;
    let Subspaces { features, subspaces, dim, .. } = PLANTED;
    print(&format!(
        "1. {subspaces} subspaces of {dim} dimensions in {features}, noise {} % as long as the signal; the truth is {}.\n\n   {}\n\n",
        100.0 * PLANTED.noise,
        PLANTED.rank(),
        report::verdict(&model).replace('\n', "\n   ").trim_end(),
    ))?;

    let digits = embedded::digits();
    let model = PceParams::default().fit_with(&digits.samples, session.exec)?;
    warn(&model.parts().warnings);
    let p = model.parts();
    let (width, height) = plot_size();
    let kept = neighbours_kept(&digits.samples, &digits.labels.as_ref().expect("digits have labels").of, &model)?;
    print(&format!(
        "2. Handwritten digits: {}.\n   ({})\n\n   {}\n{}\n   C = VVᵀ, learnt without labels: a digit's {} largest coefficients belong to its own class {} % of the time \
(by chance 10 %).\n\n",
        report::shape(digits.samples.view()),
        embedded::DIGITS_CREDIT,
        report::verdict(&model).replace('\n', "\n   ").trim_end(),
        scree(&p.sigma, p.tau, p.k, width, height).trim_end(),
        NEAREST,
        short_number((1000.0 * kept).round() / 10.0),
    ))?;
    print("Next: eigenspan fit YOUR_DATA.npz -o model.espan    (eigenspan fit --help)\n")
}

/// Coefficients looked at for each sample.
const NEAREST: usize = 5;

/// How often the largest coefficients of a sample belong to samples of its own class.
fn neighbours_kept(
    samples: &eigenspan_core::data::Matrix,
    class: &[usize],
    model: &eigenspan_core::Pce,
) -> Result<f64, Error> {
    let c = model.coefficients(samples, samples)?;
    let mut same = 0;
    for i in 0..c.rows() {
        let mut others: Vec<usize> = (0..c.cols()).filter(|&j| j != i).collect();
        others.sort_by(|&a, &b| c.at(i, b).total_cmp(&c.at(i, a)));
        same += others[..NEAREST].iter().filter(|&&j| class[j] == class[i]).count();
    }
    Ok(same as f64 / (NEAREST * c.rows()) as f64)
}
