//! Models of every method: the facts of its [`Record`] in the header, its arrays as tensors.
//!
//! Format 3 is the same with parameters as they were written then: under older names, `{"fixed": 300}` for 300. They
//! are read as what they say.

use eigenspan_core::model::fitted::Fitted;
use eigenspan_core::model::record::{Arrays, Record};
use eigenspan_core::registry::{Reader, Visitor};
use eigenspan_core::{Error, Mat, Model};

use super::{ModelFile, Provenance};
use crate::seal::{Array, BLANK, MODEL, Opened, in_settings, seal};

/// The format version in which models are written.
pub const READABLE: u32 = 6;

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Header<F> {
    format: u32,
    checksum: String,
    method: String,
    facts: F,
    provenance: Provenance,
}

/// The bytes of a file.
pub(super) fn to_bytes(model: &Model, provenance: &Provenance) -> Vec<u8> {
    model.visit(Writing { method: model.settings().name(), provenance })
}

struct Writing<'a> {
    method: &'static str,
    provenance: &'a Provenance,
}

impl Visitor for Writing<'_> {
    type Output = Vec<u8>;

    fn visit<R: Record + Fitted>(self, model: &R) -> Vec<u8> {
        let (facts, arrays) = model.take_apart();
        let (method, provenance) = (self.method.to_string(), self.provenance.clone());
        let header = Header { format: READABLE, checksum: BLANK.into(), method, facts, provenance };
        let arrays: Vec<Array> =
            arrays.iter().map(|(name, a)| Array::new(name, &[a.rows(), a.cols()], a.as_slice())).collect();
        seal(MODEL, &header, &arrays)
    }
}

/// The model in a file whose outside is whole.
pub(super) fn read(file: &Opened<'_>) -> Result<ModelFile, String> {
    let method = file.method.as_deref().unwrap_or_default();
    let mut provenance = None;
    let reading = Reading { file, provenance: &mut provenance };
    // PCE had formats of its own.
    let elsewhere = file.format < READABLE && matches!(method, "pce" | "pca");
    let unknown = || Err(format!("format {} holds no models of the method `{method}`", file.format));
    let model = Some(reading).filter(|_| !elsewhere).and_then(|reading| Model::read(method, reading));
    let model = model.unwrap_or_else(unknown)?;
    Ok(ModelFile { model, provenance: provenance.expect("a header was read") })
}

struct Reading<'a> {
    file: &'a Opened<'a>,
    provenance: &'a mut Option<Provenance>,
}

impl Reader for Reading<'_> {
    type Error = String;

    fn read<R: Record>(self) -> Result<R, String> {
        let header: Header<R::Facts> = serde_json::from_str(&self.file.json).map_err(|e| in_settings(&e))?;
        *self.provenance = Some(header.provenance);
        R::put_together(header.facts, arrays(self.file)?).map_err(|error| match error {
            Error::Model(fault) => fault,
            other => other.to_string(),
        })
    }
}

/// All tensors, which are matrices of finite numbers.
fn arrays(file: &Opened<'_>) -> Result<Arrays, String> {
    let mut arrays = Arrays::default();
    for name in file.tensors.names() {
        let Array { shape, values, .. } = file.array(name)?.expect("a tensor by its own name");
        let &[rows, cols] = &shape[..] else { return Err(format!("tensor `{name}` is not a matrix")) };
        // λ of a model may be infinite.
        let bad = values.iter().position(|v| !v.is_finite()).filter(|_| name != "cut");
        if let Some(at) = bad {
            return Err(format!("tensor `{name}` holds {} at row {}, column {}", values[at], at / cols, at % cols));
        }
        let array = Mat::from_vec(rows, cols, values).ok_or_else(|| format!("tensor `{name}` has the wrong size"))?;
        arrays = arrays.with(name, array);
    }
    Ok(arrays)
}
