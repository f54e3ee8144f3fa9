//! Models of PCE, and of PCA, which is one with settings of its own, in the formats before 6.
//!
//! ```text
//!     tensors   basis (m × columns) · sigma (min(n, m) or fewer) · cut (τ, λ, √Σσ²) · mean (m)? · deviation (m)?
//! ```
//! Format 1 held all min(n, m) singular values, and no √Σσ² in `cut`; format 2 may hold the leading ones only. Format 4
//! is the same with soft weights, and what chose them, or features of length one: a program that does not know them
//! says so by the version. Format 5 is a model of samples that arrived one by one, with what the next sample goes on
//! from: `spare` (m × the other directions), `trail` (f, Σ f^(2·age), energy lost, most of it in one direction).

use eigenspan_core::data::generate::Normal;
use eigenspan_core::data::{ImageShape, NumberType};
use eigenspan_core::linalg::online::Discarded;
use eigenspan_core::method::pce::PceParts;
use eigenspan_core::method::pce::online::Trail;
use eigenspan_core::model::fitted::Fitted as _;
use eigenspan_core::prepare::Preparation;
use eigenspan_core::{Chosen, Mat, Model, Pce, PceParams, Warning};

use super::{ModelFile, Provenance};
use crate::seal::{Array, Opened, in_settings};

/// The format version of models with soft weights or features of length one.
pub const SOFT: u32 = 4;

/// That of models of samples that arrived one by one.
pub const ONLINE: u32 = 5;

/// What of a [`Trail`] is no array.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct OnlineHeader {
    rank: usize,
    block: usize,
    updates: usize,
    proved: bool,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    #[serde(rename = "checksum")]
    _checksum: String,
    method: String,
    n: usize,
    number_type: NumberType,
    image: Option<ImageShape>,
    params: PceParams,
    lambda_rule: String,
    k: usize,
    k_interval: (usize, usize),
    solver: String,
    certified: bool,
    why: String,
    warnings: Vec<Warning>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chosen: Option<Chosen>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    online: Option<OnlineHeader>,
    provenance: Provenance,
}

/// The model in a file whose outside is whole.
pub(super) fn read(file: &Opened<'_>) -> Result<ModelFile, String> {
    let header: Header = serde_json::from_str(&file.json).map_err(|e| in_settings(&e))?;
    let provenance = header.provenance.clone();
    Ok(ModelFile { model: assemble(header, file)?.into(), provenance })
}

/// Refuses directions that are not orthonormal.
pub(super) fn check_orthogonality(model: &Model) -> Result<(), String> {
    let Some(pce) = model.as_pce() else { return Ok(()) };
    let (off, max) = (probe_orthogonality(pce), orthogonality_tolerance(pce));
    if off.is_nan() || off > max {
        return Err(format!("its directions are not orthonormal (off by {off:.1e}, expected {max:.1e} at most)"));
    }
    Ok(())
}

fn assemble(header: Header, file: &Opened<'_>) -> Result<Pce, String> {
    if header.method != "pce" {
        return Err(format!("expected the method `pce`, found `{}`", header.method));
    }
    check_format(&header)?;
    let known: &[&str] = match &header.online {
        Some(_) => &["basis", "sigma", "cut", "mean", "deviation", "trail", "spare"],
        None => &["basis", "sigma", "cut", "mean", "deviation"],
    };
    if let Some(name) = file.tensors.names().into_iter().find(|name| !known.contains(name)) {
        return Err(format!("unknown tensor `{name}`"));
    }
    let basis = file.array("basis")?.ok_or("no tensor `basis`")?;
    let &[m, columns] = &basis.shape[..] else { return Err("tensor `basis` is not a matrix".into()) };
    let vector = |name: &str| match file.array(name)? {
        Some(Array { shape, values, .. }) if shape.len() == 1 => Ok(Some(values)),
        Some(_) => Err(format!("tensor `{name}` is not a vector")),
        None => Ok(None),
    };
    let cut = vector("cut")?.ok_or("no tensor `cut`")?;
    let sigma = vector("sigma")?.ok_or("no tensor `sigma`")?;
    let (tau, lambda, norm) = match (header.format, &cut[..]) {
        (1, &[tau, lambda]) if sigma.len() == header.n.min(m) => (tau, lambda, eigenspan_core::prepare::norm(&sigma)),
        (1, &[_, _]) => return Err("the number of singular values is not min(n, m)".into()),
        (2.., &[tau, lambda, norm]) => (tau, lambda, norm),
        _ => return Err("tensor `cut` does not hold τ, λ and √Σσ²".into()),
    };
    let online = header.online.as_ref().map(|online| trail(online, file, m)).transpose()?;
    let preparation =
        Preparation { normalize: header.params.normalize, mean: vector("mean")?, deviation: vector("deviation")? };
    let parts = PceParts {
        params: header.params,
        n: header.n,
        number_type: header.number_type,
        image: header.image,
        tau,
        lambda,
        lambda_rule: header.lambda_rule,
        k: header.k,
        k_interval: header.k_interval,
        solver: header.solver,
        certified: header.certified,
        why: header.why,
        warnings: header.warnings,
        chosen: header.chosen,
        preparation,
        online: online.map(Box::new),
        sigma,
        norm,
        basis: Mat::from_vec(m, columns, basis.values).ok_or("tensor `basis` has the wrong size")?,
    };
    Pce::new(parts).map_err(|e| match e {
        eigenspan_core::Error::Model(fault) => fault,
        other => other.to_string(),
    })
}

/// Refuses a format version that holds no such models.
fn check_format(header: &Header) -> Result<(), String> {
    if (header.format == ONLINE) != header.online.is_some() {
        return Err(format!("format {} and samples that arrived one by one do not go together", header.format));
    }
    let soft = header.params.weights.is_soft() || header.params.unit_features;
    if header.online.is_none() && (header.format == SOFT) != soft {
        return Err(format!("format {} does not hold models with these weights", header.format));
    }
    Ok(())
}

/// What the next sample goes on from, in a model of `m` features.
fn trail(online: &OnlineHeader, file: &Opened<'_>, m: usize) -> Result<Trail, String> {
    let numbers = file.array("trail")?.filter(|array| array.shape == [4]).map(|array| array.values);
    let Some(&[forget, weight, energy, top]) = numbers.as_deref() else {
        return Err("tensor `trail` does not hold f, the weight and what was lost".into());
    };
    let spare = match file.array("spare")? {
        Some(Array { shape, values, .. }) => {
            let &[rows, columns] = &shape[..] else { return Err("tensor `spare` is not a matrix".into()) };
            Mat::from_vec(rows, columns, values).ok_or("tensor `spare` has the wrong size")?
        }
        None => Mat::zeros(m, 0),
    };
    let &OnlineHeader { rank, block, updates, proved } = online;
    Ok(Trail { rank, block, forget, weight, updates, discarded: Discarded { energy, top }, proved, spare })
}

/// ‖UᵀU − I‖_max, all of it.
pub fn orthogonality(model: &Pce) -> f64 {
    let u = model.parts().basis.transposed();
    let dot = |i: usize, j: usize| u.row(i).iter().zip(u.row(j)).map(|(a, b)| a * b).sum::<f64>();
    let pairs = (0..u.rows()).flat_map(|i| (0..=i).map(move |j| (i, j)));
    pairs.map(|(i, j)| (dot(i, j) - f64::from(u8::from(i == j))).abs()).fold(0.0, f64::max)
}

/// What rounding leaves of UᵀU = I: entries of m products each, with room to spare.
pub fn orthogonality_tolerance(model: &Pce) -> f64 {
    let spare = model.parts().online.as_ref().map_or(0, |trail| trail.spare.cols());
    10.0 * (model.features() + model.columns() + spare) as f64 * f64::EPSILON
}

/// ‖UᵀUg − g‖_max over two random g of signs, divided by √columns: 2mk flops where all of UᵀU takes mk².
fn probe_orthogonality(model: &Pce) -> f64 {
    let parts = model.parts();
    let joined;
    let u = match &parts.online {
        Some(trail) => {
            let (k, rest) = (parts.basis.cols(), trail.spare.cols());
            let at = |i, j| if j < k { parts.basis.at(i, j) } else { trail.spare.at(i, j - k) };
            joined = Mat::from_fn(parts.basis.rows(), k + rest, at);
            &joined
        }
        None => &parts.basis,
    };
    let mut random = Normal::new(0x65_73_70_61_6e);
    let mut worst: f64 = 0.0;
    for _ in 0..2 {
        let g: Vec<f64> = (0..u.cols()).map(|_| if random.uniform() < 0.5 { -1.0 } else { 1.0 }).collect();
        let mut back = vec![0.0; u.cols()];
        for i in 0..u.rows() {
            let along: f64 = u.row(i).iter().zip(&g).map(|(u, g)| u * g).sum();
            back.iter_mut().zip(u.row(i)).for_each(|(b, u)| *b += along * u);
        }
        // `max` would swallow NaN, and NaN must not pass.
        for (b, g) in back.iter().zip(&g) {
            let off = (b - g).abs();
            worst = if off > worst || off.is_nan() { off } else { worst };
        }
    }
    worst / (u.cols() as f64).sqrt()
}
