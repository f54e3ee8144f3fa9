//! Model files, `.espan`: safetensors with JSON metadata.
//!
//! ```text
//!     tensors   basis (m × columns) · sigma (min(n, m) or fewer) · cut (τ, λ, √Σσ²) · mean (m)? · deviation (m)?
//!               all f64
//!     metadata  one key, `eigenspan`: JSON with format version, checksum, settings, results, provenance
//! ```
//! Format 1 held all min(n, m) singular values, and no √Σσ² in `cut`; format 2 may hold the leading ones only.
//!
//! The checksum is the SHA-256 of the whole file with the checksum's own 64 digits set to `0`: one flipped bit
//! anywhere is noticed. A model file is hostile until checked: sizes against the file, numbers against each other,
//! and the directions against orthogonality, before anything is computed with them.

use std::collections::HashMap;
use std::path::Path;

use eigenspan::data::generate::Normal;
use eigenspan::data::{ImageShape, NumberType, Samples};
use eigenspan::prepare::Preparation;
use eigenspan::reduce::pce::PceParts;
use eigenspan::{Mat, Pce, PceParams, Warning};
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView, serialize};
use sha2::{Digest, Sha256};

use crate::error::WriteError;
use crate::write_atomically;

/// The format version that is written. Every version that was ever written is read.
pub const FORMAT: u32 = 2;

/// Sixty-four digits that stand for the checksum while it is computed.
const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Where a model came from.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The version of eigenspan that fitted it.
    pub eigenspan: String,
    /// The name of the data, without its folder.
    pub data: String,
    /// SHA-256 of the training samples, see [`fingerprint`]; none where the samples were an array in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_sha256: Option<String>,
    /// The seed, where chance played a part.
    pub seed: Option<u64>,
}

impl Provenance {
    /// Of a model fitted now, by this version, on `samples`.
    pub fn of(name: &str, samples: Samples<'_>) -> Self {
        Self { data_sha256: Some(fingerprint(samples)), ..Self::of_array(name) }
    }

    /// Of a model fitted now, by this version, on samples in memory: hashing them would cost more than it tells.
    pub fn of_array(name: &str) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_string();
        Self { eigenspan: version, data: name.to_string(), data_sha256: None, seed: None }
    }
}

/// A model and where it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFile {
    /// The model.
    pub model: Pce,
    /// Where it came from.
    pub provenance: Provenance,
}

/// Why a model file was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The file could not be read.
    #[error("cannot read {file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// The system's words.
        source: std::io::Error,
    },
    /// Not a safetensors file, or cut short.
    #[error("{file} is not an .espan model file, or it is cut short: {detail}")]
    NotAModel {
        /// The file.
        file: String,
        /// What the parser said.
        detail: String,
    },
    /// A later format.
    #[error("{file} has format version {found}; this program reads versions 1 to {FORMAT}")]
    Version {
        /// The file.
        file: String,
        /// Its version.
        found: u64,
    },
    /// Some bit is not what it was when the file was written.
    #[error("{file} is damaged: its checksum does not fit its contents")]
    Damaged {
        /// The file.
        file: String,
    },
    /// The checksum fits, the contents contradict themselves.
    #[error("{file} is not a valid model: {fault}")]
    Invalid {
        /// The file.
        file: String,
        /// What is wrong.
        fault: String,
    },
}

impl ModelError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Io { .. } => None,
            Self::NotAModel { .. } => Some("model files are written by `eigenspan fit DATA -o MODEL.espan`".into()),
            Self::Version { .. } => Some("update eigenspan, or fit the model again".into()),
            Self::Damaged { .. } | Self::Invalid { .. } => {
                Some("fetch the file again from where it was written, or fit again".into())
            }
        }
    }
}

#[derive(serde::Deserialize)]
struct FormatOnly {
    format: u64,
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
    provenance: Provenance,
}

impl ModelFile {
    /// The bytes of the file. The same model gives the same bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let p = self.model.parts();
        let header = Header {
            format: FORMAT,
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
            provenance: self.provenance.clone(),
        };
        let json = serde_json::to_string(&header).expect("a header is plain data");
        let mut tensors: Vec<(&str, Vec<usize>, Vec<u8>)> = vec![
            ("basis", vec![p.basis.rows(), p.basis.cols()], to_le(p.basis.as_slice())),
            ("sigma", vec![p.sigma.len()], to_le(&p.sigma)),
            ("cut", vec![3], to_le(&[p.tau, p.lambda, p.norm])),
        ];
        let optional = [("mean", &p.preparation.mean), ("deviation", &p.preparation.deviation)];
        for (name, values) in optional {
            tensors.extend(values.as_ref().map(|v| (name, vec![v.len()], to_le(v))));
        }
        let views = tensors.iter().map(|(name, shape, bytes)| {
            (*name, TensorView::new(Dtype::F64, shape.clone(), bytes).expect("the shape is that of the values"))
        });
        let metadata = HashMap::from([("eigenspan".to_string(), json)]);
        let mut bytes = serialize(views, Some(metadata)).expect("names and shapes are valid");
        let at = checksum_position(&bytes).expect("the header was just written");
        let sum = checksum(&bytes, at);
        bytes[at..at + 64].copy_from_slice(sum.as_bytes());
        bytes
    }

    /// Reads and checks the bytes of a file; `name` is for messages.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, ModelError> {
        let not_a_model = |detail: String| ModelError::NotAModel { file: name.into(), detail };
        let invalid = |fault: String| ModelError::Invalid { file: name.into(), fault };
        check_frame(bytes).map_err(not_a_model)?;
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|e| not_a_model(in_header(&e)))?;
        let json = metadata.metadata().as_ref().and_then(|m| m.get("eigenspan"));
        let json = json.ok_or_else(|| not_a_model("its header has no `eigenspan` among its metadata".into()))?;
        let FormatOnly { format } = serde_json::from_str(json).map_err(|e| not_a_model(in_settings(&e)))?;
        if !(1..=u64::from(FORMAT)).contains(&format) {
            return Err(ModelError::Version { file: name.into(), found: format });
        }
        let at = checksum_position(bytes).ok_or_else(|| not_a_model("its settings have no checksum".into()))?;
        if checksum(bytes, at).as_bytes() != &bytes[at..at + 64] {
            return Err(ModelError::Damaged { file: name.into() });
        }
        let header: Header = serde_json::from_str(json).map_err(|e| invalid(in_settings(&e)))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|e| not_a_model(in_header(&e)))?;
        let provenance = header.provenance.clone();
        let model = assemble(header, &tensors).map_err(invalid)?;
        let off = probe_orthogonality(&model);
        if off.is_nan() || off > orthogonality_tolerance(&model) {
            let most = orthogonality_tolerance(&model);
            return Err(invalid(format!(
                "its directions are not orthonormal (off by {off:.1e}, expected {most:.1e} at most)"
            )));
        }
        Ok(Self { model, provenance })
    }

    /// Writes the file: to a sibling, synced, then renamed, so that a crash leaves the old file or the new one.
    pub fn save(&self, path: &Path) -> Result<(), WriteError> {
        write_atomically(path, |out| out.write_all(&self.to_bytes()))
    }

    /// Reads and checks a file.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(|source| ModelError::Io { file: name.clone(), source })?;
        Self::from_bytes(&name, &bytes)
    }
}

/// The file must be as long as its first eight bytes claim the header to be.
fn check_frame(bytes: &[u8]) -> Result<(), String> {
    let found = bytes.len();
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
        return Err(format!("expected 8 bytes with the length of the header, found {found} in all"));
    };
    let claimed = u64::from_le_bytes(*length);
    match claimed <= rest.len() as u64 {
        true => Ok(()),
        false => Err(format!("its first 8 bytes claim a header of {claimed} bytes, but only {} follow", rest.len())),
    }
}

/// What is wrong with the header of the tensors.
fn in_header(error: &SafeTensorError) -> String {
    match error {
        SafeTensorError::InvalidHeader(error) => {
            format!("byte {} of its header is not text in UTF-8", error.valid_up_to())
        }
        SafeTensorError::InvalidHeaderDeserialization(error) if error.is_data() => {
            format!("byte {} of its header does not describe tensors and metadata", error.column())
        }
        SafeTensorError::InvalidHeaderDeserialization(error) => {
            format!("expected JSON as header, found none at byte {}", error.column())
        }
        SafeTensorError::HeaderTooLarge => "its header has more than 100 MB".into(),
        SafeTensorError::TensorInvalidInfo => "shape, type and place of a tensor contradict each other".into(),
        SafeTensorError::InvalidOffset(name) => {
            format!("tensor `{name}` is expected to begin where the one before it ends, and to end after it begins")
        }
        SafeTensorError::MetadataIncompleteBuffer => {
            "its tensors are expected to end where the file ends, and do not".into()
        }
        SafeTensorError::ValidationOverflow => "a tensor claims more bytes than any file holds".into(),
        other => other.to_string(),
    }
}

/// What is wrong with the JSON of the settings, in words that are not Rust's.
fn in_settings(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let fault = text.split(" at line ").next().unwrap_or_default();
    let fault = ["usize", "u32", "u64"].iter().fold(fault.to_string(), |text, of| match text.strip_suffix(of) {
        Some(start) => format!("{start}a whole number from 0"),
        None => text,
    });
    format!("byte {} of its settings: {fault}", error.column())
}

/// SHA-256 of samples: number type, shape, then the values row after row in little-endian order.
pub fn fingerprint(samples: Samples<'_>) -> String {
    let (n, m) = (samples.rows(), samples.cols());
    let mut hash = Sha256::new();
    hash.update(format!("{:?} {n} {m}\n", samples.number_type()));
    let mut row = vec![0.0; m];
    let mut bytes = Vec::with_capacity(8 * m);
    for i in 0..n {
        samples.read_row(i, 0..m, &mut row);
        bytes.clear();
        match samples.number_type() {
            NumberType::F64 => bytes.extend(row.iter().flat_map(|y| y.to_le_bytes())),
            NumberType::F32 => bytes.extend(row.iter().flat_map(|y| (*y as f32).to_le_bytes())),
            NumberType::U8 => bytes.extend(row.iter().map(|y| *y as u8)),
        }
        hash.update(&bytes);
    }
    hex(&hash.finalize())
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
    10.0 * (model.features() as f64 + model.columns() as f64) * f64::EPSILON
}

/// ‖UᵀUg − g‖_max over two random g of signs, divided by √columns: 2mk flops where all of UᵀU takes mk².
fn probe_orthogonality(model: &Pce) -> f64 {
    let u = &model.parts().basis;
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

fn assemble(header: Header, tensors: &SafeTensors<'_>) -> Result<Pce, String> {
    if header.method != "pce" {
        return Err(format!("expected the method `pce`, found `{}`", header.method));
    }
    let known = ["basis", "sigma", "cut", "mean", "deviation"];
    if let Some(name) = tensors.names().into_iter().find(|name| !known.contains(name)) {
        return Err(format!("unknown tensor `{name}`"));
    }
    let basis = array(tensors, "basis")?.ok_or("no tensor `basis`")?;
    let &[m, columns] = &basis.shape[..] else { return Err("tensor `basis` is not a matrix".into()) };
    let vector = |name: &str| match array(tensors, name)? {
        Some(Array { shape, values }) if shape.len() == 1 => Ok(Some(values)),
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
        preparation,
        sigma,
        norm,
        basis: Mat::from_vec(m, columns, basis.values).ok_or("tensor `basis` has the wrong size")?,
    };
    Pce::new(parts).map_err(|e| match e {
        eigenspan::Error::Model(fault) => fault,
        other => other.to_string(),
    })
}

/// A tensor of f64.
struct Array {
    shape: Vec<usize>,
    values: Vec<f64>,
}

fn array(tensors: &SafeTensors<'_>, name: &str) -> Result<Option<Array>, String> {
    let Ok(view) = tensors.tensor(name) else { return Ok(None) };
    if view.dtype() != Dtype::F64 {
        return Err(format!("tensor `{name}` is not f64"));
    }
    let (chunks, _) = view.data().as_chunks::<8>();
    let values = chunks.iter().map(|c| f64::from_le_bytes(*c)).collect();
    Ok(Some(Array { shape: view.shape().to_vec(), values }))
}

fn to_le(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// Where the 64 digits of the checksum are: the JSON is a string inside JSON, so its quotes are escaped.
fn checksum_position(bytes: &[u8]) -> Option<usize> {
    const MARK: &[u8] = br#"\"checksum\":\""#;
    let length = u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?);
    let header = bytes.get(8..)?.get(..usize::try_from(length).ok()?)?;
    let start = 8 + header.windows(MARK.len()).position(|w| w == MARK)? + MARK.len();
    (start + 64 <= 8 + header.len()).then_some(start)
}

fn checksum(bytes: &[u8], at: usize) -> String {
    let mut hash = Sha256::new();
    hash.update(&bytes[..at]);
    hash.update(BLANK);
    hash.update(&bytes[at + 64..]);
    hex(&hash.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
