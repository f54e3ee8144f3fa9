//! Models of PCE, and of PCA, which is one with settings of its own.
//!
//! ```text
//!     tensors   basis (m × columns) · sigma (min(n, m) or fewer) · cut (τ, λ, √Σσ²) · mean (m)? · deviation (m)?
//! ```
//! Format 1 held all min(n, m) singular values, and no √Σσ² in `cut`; format 2 may hold the leading ones only. Format 4 is the
//! same with soft weights, and what chose them, or features of length one: a program that does not know them says so by the
//! version. Models without are written as format 2. Format 5 is a model of samples that arrived one by one, with what the next
//! sample goes on from: `spare` (m × the other directions), `trail` (f, Σ f^(2·age), energy lost, most of it in one direction).

use eigenspan::data::generate::Normal;
use eigenspan::data::{ImageShape, NumberType};
use eigenspan::linalg::online::Discarded;
use eigenspan::method::pce::PceParts;
use eigenspan::method::pce::online::Trail;
use eigenspan::prepare::Preparation;
use eigenspan::{Chosen, Mat, Pce, PceParams, Warning};

use super::Provenance;
use crate::seal::{Array, BLANK, MODEL, Opened, in_settings, seal};

/// The format version of models with the weights of the paper.
const FORMAT: u32 = 2;
/// That of models with soft weights or features of length one.
pub const SOFT: u32 = 4;

/// That of models of samples that arrived one by one.
pub const ONLINE: u32 = 5;

/// The format version in which models with these settings are written.
fn format_of(params: &PceParams, online: bool) -> u32 {
    match online {
        true => ONLINE,
        false if params.weights.is_soft() || params.unit_features => SOFT,
        false => FORMAT,
    }
}

/// What of a [`Trail`] is no array.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct OnlineHeader {
    rank: usize,
    block: usize,
    updates: usize,
    proved: bool,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: u32,
    checksum: String,
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

/// The bytes of a file.
pub(super) fn to_bytes(model: &Pce, provenance: &Provenance) -> Vec<u8> {
    let p = model.parts();
    let header = Header {
        format: format_of(&p.params, p.online.is_some()),
        checksum: BLANK.into(),
        method: "pce".into(),
        n: p.n,
        number_type: p.number_type,
        image: p.image,
        params: p.params,
        lambda_rule: p.lambda_rule.clone(),
        k: p.k,
        k_interval: p.k_interval,
        solver: p.solver.clone(),
        certified: p.certified,
        why: p.why.clone(),
        warnings: p.warnings.clone(),
        chosen: p.chosen.clone(),
        online: p.online.as_ref().map(|trail| {
            let Trail { rank, block, updates, proved, .. } = **trail;
            OnlineHeader { rank, block, updates, proved }
        }),
        provenance: provenance.clone(),
    };
    let mut arrays = vec![
        Array::new("basis", &[p.basis.rows(), p.basis.cols()], p.basis.as_slice()),
        Array::new("sigma", &[p.sigma.len()], &p.sigma),
        Array::new("cut", &[3], &[p.tau, p.lambda, p.norm]),
    ];
    for (name, values) in [("mean", &p.preparation.mean), ("deviation", &p.preparation.deviation)] {
        arrays.extend(values.as_ref().map(|v| Array::new(name, &[v.len()], v)));
    }
    if let Some(trail) = &p.online {
        let Trail { forget, weight, discarded, spare, .. } = &**trail;
        arrays.push(Array::new("trail", &[4], &[*forget, *weight, discarded.energy, discarded.top]));
        let shape = [spare.rows(), spare.cols()];
        arrays.extend((spare.cols() > 0).then(|| Array::new("spare", &shape, spare.as_slice())));
    }
    seal(MODEL, &header, &arrays)
}

/// The model in a file whose outside is whole.
pub(super) fn read(file: &Opened<'_>) -> Result<(Pce, Provenance), String> {
    let header: Header = serde_json::from_str(&file.json).map_err(|e| in_settings(&e))?;
    let provenance = header.provenance.clone();
    let model = assemble(header, file)?;
    let (off, most) = (probe_orthogonality(&model), orthogonality_tolerance(&model));
    if off.is_nan() || off > most {
        return Err(format!("its directions are not orthonormal (off by {off:.1e}, expected {most:.1e} at most)"));
    }
    Ok((model, provenance))
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
        (1, &[tau, lambda]) if sigma.len() == header.n.min(m) => (tau, lambda, eigenspan::prepare::norm(&sigma)),
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
        eigenspan::Error::Model(fault) => fault,
        other => other.to_string(),
    })
}

/// Refuses a format version that holds no such models.
fn check_format(header: &Header) -> Result<(), String> {
    if (header.format == ONLINE) != header.online.is_some() {
        return Err(format!("format {} and samples that arrived one by one do not go together", header.format));
    }
    if (header.format == SOFT) != (format_of(&header.params, header.online.is_some()) == SOFT) {
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
