//! Models of every other method: the facts of its [`Record`] in the header, its arrays as tensors.

use eigenspan::model::record::{Arrays, Record};
use eigenspan::{Error, Mat, Model};

use super::Provenance;
use crate::seal::{Array, BLANK, MODEL, Opened, in_settings, seal};

/// The format version in which these models are written.
pub const FORMAT: u32 = 3;

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
pub(super) fn to_bytes<R: Record>(method: &str, model: &R, provenance: &Provenance) -> Vec<u8> {
    let (facts, arrays) = model.take_apart();
    let (method, provenance) = (method.to_string(), provenance.clone());
    let header = Header { format: FORMAT, checksum: BLANK.into(), method, facts, provenance };
    let arrays: Vec<Array> =
        arrays.iter().map(|(name, a)| Array::new(name, &[a.rows(), a.cols()], a.as_slice())).collect();
    seal(MODEL, &header, &arrays)
}

/// The model in a file whose outside is whole.
pub(super) fn read<R: Record>(
    file: &Opened<'_>,
    model: impl FnOnce(R) -> Model,
) -> Result<(Model, Provenance), String> {
    let header: Header<R::Facts> = serde_json::from_str(&file.json).map_err(|e| in_settings(&e))?;
    let mut arrays = Arrays::default();
    for name in file.tensors.names() {
        let Array { shape, values, .. } = file.array(name)?.expect("a tensor by its own name");
        let &[rows, cols] = &shape[..] else { return Err(format!("tensor `{name}` is not a matrix")) };
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            return Err(format!("tensor `{name}` holds {} at row {}, column {}", values[at], at / cols, at % cols));
        }
        let array = Mat::from_vec(rows, cols, values).ok_or_else(|| format!("tensor `{name}` has the wrong size"))?;
        arrays = arrays.with(name, array);
    }
    let inside = R::put_together(header.facts, arrays).map_err(|error| match error {
        Error::Model(fault) => fault,
        other => other.to_string(),
    })?;
    Ok((model(inside), header.provenance))
}
