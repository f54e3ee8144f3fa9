//! Where a model came from.

use eigenspan_core::data::{NumberType, Samples};
use sha2::{Digest, Sha256};

use crate::fingerprint::Fingerprint;
use crate::seal::hex;
use crate::summary::PartOfData;

/// Where a model came from.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// The version of eigenspan that fitted it.
    pub eigenspan: String,
    /// The name of the data, without its folder.
    pub data: String,
    /// SHA-256 of the training samples, see [`Fingerprint`]; of several files, of their names and fingerprints; none
    /// where the samples were an array in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_sha256: Option<String>,
    /// The seed, where chance played a part.
    pub seed: Option<u64>,
}

impl Provenance {
    /// Of a model fitted now, by this version, on `samples`.
    pub fn of(name: &str, samples: Samples<'_>) -> Self {
        Self { data_sha256: Some(Fingerprint::of(samples).digits()), ..Self::of_array(name) }
    }

    /// Of a model fitted now, by this version, on samples in memory: hashing them would cost more than it tells.
    pub fn of_array(name: &str) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_string();
        Self { eigenspan: version, data: name.to_string(), data_sha256: None, seed: None }
    }
}

impl Provenance {
    /// Of a model that went on from one with more samples: the first and the last name, and a hash of both
    /// fingerprints.
    pub fn after(before: &Self, part: &PartOfData) -> Self {
        let first = before.data.split(" … ").next().unwrap_or_default();
        let digits = before.data_sha256.as_deref().unwrap_or("-");
        let PartOfData { data, rows, sha256 } = part;
        let hash = Sha256::digest(format!("{digits}\n{sha256} {rows} {data}\n"));
        let name = format!("{first} … {data}");
        Self { data_sha256: Some(hex(&hash)), seed: before.seed, ..Self::of_array(&name) }
    }
}

/// A type of numbers, in the word that fingerprints have for it.
pub(crate) fn word_of(numbers: NumberType) -> &'static str {
    match numbers {
        NumberType::F64 => "F64",
        NumberType::F32 => "F32",
        NumberType::U8 => "U8",
    }
}

/// SHA-256 of samples: number type, shape, then the values row after row in little-endian order.
pub fn fingerprint(samples: Samples<'_>) -> String {
    let (n, m) = (samples.rows(), samples.cols());
    let mut hash = Sha256::new();
    hash.update(format!("{} {n} {m}\n", word_of(samples.number_type())));
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
