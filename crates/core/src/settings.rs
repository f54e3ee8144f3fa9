//! Settings as a person reads and writes them: one language for the command line, Python, protocols and model files.
//!
//! | setting | written | read as well, from older files |
//! |---|---|---|
//! | λ | `5`, `"auto"`, `"screenot"`, `{"noise": 0.1}`, `{"energy": 0.95}` | `{"rule": "fixed", "value": 5}` |
//! | a number of dimensions | `300`, `"auto"` | `{"fixed": 300}` |
//! | that of PCA | the same, `0.95`, `"all"`, `"mle"` | |
//! | weights | `"hard"`, `"soft"`, `{"soft": 0.3}`, `"auto"`, … | `{"soft": {"gamma": 0.3}}` |
//! | weights of a graph | `"heat"`, `{"heat": 2}`, `"binary"`, `"cosine"` | `{"heat": {"t": 2}}` |
//! | where a path may end | `null`, `0.001` | `"exact"`, `{"published": {"tolerance": 0.001}}` |
//!
//! Parameters of PCE take a share of the energy as `dim`, too: `"dim": 0.95` is `"lambda": {"energy": 0.95}`.
//!
//! Every method has one way to be told a setting by its name: [`Method::with`]. Names that a setting had before are read where
//! it is not given by its own.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::method::eigenfaces::EigenfacesParams;
use crate::method::parts::neighbour_graph::EdgeWeights;
use crate::method::pca::Components;
use crate::method::pce::{Dim, PceParams, Weights};
use crate::method::robust_pca::RobustPcaParams;
use crate::method::rosl::RoslParams;
use crate::registry::Method;
use crate::rule::Lambda;

/// Why a setting was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The method does not have it.
    #[error("has no setting `{name}`")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The settings that there are.
        known: Vec<String>,
    },
    /// The value is none of this setting.
    #[error("does not take `{name} = {value}`: {fault}")]
    Value {
        /// The setting.
        name: String,
        /// What it was given, as JSON.
        value: String,
        /// What is wrong with it.
        fault: String,
    },
}

impl Method {
    /// The settings by name.
    pub fn settings(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(mut all)) => {
                all.remove("method");
                all
            }
            other => unreachable!("parameters are a map, not {other:?}"),
        }
    }

    /// The method with one setting changed.
    pub fn with(&self, name: &str, value: &Value) -> Result<Self, SettingError> {
        let known = self.settings();
        let read = |without: &str| {
            let mut all = known.clone();
            all.remove(without);
            all.insert(name.into(), value.clone());
            all.insert("method".into(), self.name().into());
            serde_json::from_value::<Self>(Value::Object(all))
        };
        if name != "method" {
            if known.contains_key(name) {
                let fault = |error: serde_json::Error| error.to_string();
                return read(name).map_err(fault).map_err(|fault| SettingError::Value {
                    name: name.into(),
                    value: value.to_string(),
                    fault,
                });
            }
            // A name of before stands for the one setting that may be left out for it.
            if let Some(method) = known.keys().find_map(|instead| read(instead).ok()) {
                return Ok(method);
            }
        }
        Err(SettingError::Unknown { name: name.into(), known: known.keys().cloned().collect() })
    }
}

/// λ as it is written; the names are those of the registry of rules.
impl From<Lambda> for Value {
    fn from(lambda: Lambda) -> Self {
        match (lambda, lambda.value()) {
            (Lambda::Fixed(lambda), _) => lambda.into(),
            (_, None) => lambda.rule().name().into(),
            (_, Some(value)) => serde_json::json!({ lambda.rule().name(): value }),
        }
    }
}

impl TryFrom<Value> for Lambda {
    type Error = String;

    fn try_from(written: Value) -> Result<Self, String> {
        let read = match &written {
            Value::Number(lambda) => lambda.as_f64().map(Self::Fixed),
            Value::String(name) => Self::named(name),
            Value::Object(map) => match (map.get("rule").and_then(Value::as_str), map.get("value"), map.len()) {
                (Some(name), None, 1) => Self::named(name),
                (Some(name), Some(value), 2) => value.as_f64().and_then(|value| Self::with_value(name, value)),
                (None, _, 1) => {
                    let (name, value) = map.iter().next().expect("it has one entry");
                    value.as_f64().and_then(|value| Self::with_value(name, value))
                }
                _ => None,
            },
            _ => None,
        };
        read.ok_or_else(Self::expected)
    }
}

/// A number of dimensions as it is written.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number of dimensions or `auto`")]
pub(crate) enum DimForm {
    Count(usize),
    Word(DimWord),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DimWord {
    Auto,
    /// As older files have it.
    Fixed(usize),
}

impl From<DimForm> for Dim {
    fn from(form: DimForm) -> Self {
        match form {
            DimForm::Count(count) | DimForm::Word(DimWord::Fixed(count)) => Self::Fixed(count),
            DimForm::Word(DimWord::Auto) => Self::Auto,
        }
    }
}

impl From<Dim> for DimForm {
    fn from(dim: Dim) -> Self {
        match dim {
            Dim::Auto => Self::Word(DimWord::Auto),
            Dim::Fixed(count) => Self::Count(count),
        }
    }
}

/// The number of components of PCA as it is written.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number of components, a share below 1, `all`, `auto` or `mle`")]
pub(crate) enum ComponentsForm {
    Count(usize),
    Share(f64),
    Word(ComponentsWord),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ComponentsWord {
    All,
    Auto,
    Mle,
}

impl From<ComponentsForm> for Components {
    fn from(form: ComponentsForm) -> Self {
        match form {
            ComponentsForm::Count(count) => Self::Count(count),
            ComponentsForm::Share(share) => Self::Share(share),
            ComponentsForm::Word(ComponentsWord::All) => Self::All,
            ComponentsForm::Word(ComponentsWord::Auto) => Self::Auto,
            ComponentsForm::Word(ComponentsWord::Mle) => Self::Mle,
        }
    }
}

impl From<Components> for ComponentsForm {
    fn from(components: Components) -> Self {
        match components {
            Components::All => Self::Word(ComponentsWord::All),
            Components::Count(count) => Self::Count(count),
            Components::Share(share) => Self::Share(share),
            Components::Auto => Self::Word(ComponentsWord::Auto),
            Components::Mle => Self::Word(ComponentsWord::Mle),
        }
    }
}

/// Weights of directions as they are written.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected `hard`, `soft`, `auto`, `scores`, `whitened`, or `soft` with its γ")]
pub(crate) enum WeightsForm {
    Word(WeightsWord),
    Soft(SoftForm),
    Old(OldSoft),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WeightsWord {
    Hard,
    Soft,
    Auto,
    Scores,
    Whitened,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SoftForm {
    Soft(f64),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum OldSoft {
    Soft { gamma: f64 },
}

impl From<WeightsForm> for Weights {
    fn from(form: WeightsForm) -> Self {
        match form {
            WeightsForm::Word(WeightsWord::Hard) => Self::Hard,
            WeightsForm::Word(WeightsWord::Soft) => Self::Soft { gamma: 1.0 },
            WeightsForm::Word(WeightsWord::Auto) => Self::Auto,
            WeightsForm::Word(WeightsWord::Scores) => Self::Scores,
            WeightsForm::Word(WeightsWord::Whitened) => Self::Whitened,
            WeightsForm::Soft(SoftForm::Soft(gamma)) | WeightsForm::Old(OldSoft::Soft { gamma }) => {
                Self::Soft { gamma }
            }
        }
    }
}

impl From<Weights> for WeightsForm {
    fn from(weights: Weights) -> Self {
        match weights {
            Weights::Hard => Self::Word(WeightsWord::Hard),
            Weights::Soft { gamma: 1.0 } => Self::Word(WeightsWord::Soft),
            Weights::Soft { gamma } => Self::Soft(SoftForm::Soft(gamma)),
            Weights::Auto => Self::Word(WeightsWord::Auto),
            Weights::Scores => Self::Word(WeightsWord::Scores),
            Weights::Whitened => Self::Word(WeightsWord::Whitened),
        }
    }
}

/// Weights of the edges of a graph as they are written.
#[derive(Clone, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected `heat`, `binary` or `cosine`, or `heat` with its width")]
pub(crate) enum EdgesForm {
    Word(EdgesWord),
    Heat(HeatForm),
    Old(OldHeat),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EdgesWord {
    Heat,
    Binary,
    Cosine,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum HeatForm {
    Heat(f64),
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum OldHeat {
    Heat { t: Option<f64> },
}

impl From<EdgesForm> for EdgeWeights {
    fn from(form: EdgesForm) -> Self {
        match form {
            EdgesForm::Word(EdgesWord::Heat) => Self::Heat { t: None },
            EdgesForm::Word(EdgesWord::Binary) => Self::Binary,
            EdgesForm::Word(EdgesWord::Cosine) => Self::Cosine,
            EdgesForm::Heat(HeatForm::Heat(t)) => Self::Heat { t: Some(t) },
            EdgesForm::Old(OldHeat::Heat { t }) => Self::Heat { t },
        }
    }
}

impl From<EdgeWeights> for EdgesForm {
    fn from(weights: EdgeWeights) -> Self {
        match weights {
            EdgeWeights::Heat { t: None } => Self::Word(EdgesWord::Heat),
            EdgeWeights::Heat { t: Some(t) } => Self::Heat(HeatForm::Heat(t)),
            EdgeWeights::Binary => Self::Word(EdgesWord::Binary),
            EdgeWeights::Cosine => Self::Word(EdgesWord::Cosine),
        }
    }
}

/// Where a path may end before λ, as older files have it.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, or null")]
enum PathForm {
    Share(Option<f64>),
    Old(OldPath),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum OldPath {
    Exact,
    Published { tolerance: f64 },
}

/// Reads the share at which a path ends, or null where it is exact.
pub(crate) fn path_end<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Ok(match PathForm::deserialize(from)? {
        PathForm::Share(share) => share,
        PathForm::Old(OldPath::Exact) => None,
        PathForm::Old(OldPath::Published { tolerance }) => Some(tolerance),
    })
}

/// Parameters that are read through `$modernize`, which makes a map of today of one of an older file.
macro_rules! read_through {
    ($($params:ty, $modernize:expr;)*) => {$(
        impl Serialize for $params {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                Self::serialize(self, to)
            }
        }

        impl<'de> Deserialize<'de> for $params {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let mut all = Map::deserialize(from)?;
                let modernize: fn(&mut Map<String, Value>) -> Result<(), &'static str> = $modernize;
                modernize(&mut all).map_err(serde::de::Error::custom)?;
                Self::deserialize(Value::Object(all)).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

read_through! {
    PceParams, share_of_energy;
    EigenfacesParams, mean_that_is_kept;
    RobustPcaParams, mean_in_words;
    RoslParams, mean_in_words;
}

/// `dim = 0.95` is a share of the energy.
fn share_of_energy(all: &mut Map<String, Value>) -> Result<(), &'static str> {
    let Some(share) = all.get("dim").filter(|dim| dim.is_f64()).cloned() else { return Ok(()) };
    if all.get("lambda").is_some_and(|lambda| lambda != "auto" && lambda["rule"] != "auto") {
        return Err("`lambda` and `dim` both say where to cut: give one of them");
    }
    all.insert("dim".into(), "auto".into());
    all.insert("lambda".into(), serde_json::json!({ "energy": share }));
    Ok(())
}

/// `subtract_mean` was the contrary of `keep_mean`.
fn mean_that_is_kept(all: &mut Map<String, Value>) -> Result<(), &'static str> {
    if let Some(Value::Bool(subtracted)) = all.get("subtract_mean")
        && !all.contains_key("keep_mean")
    {
        let kept = !subtracted;
        all.remove("subtract_mean");
        all.insert("keep_mean".into(), kept.into());
    }
    Ok(())
}

/// `center` was `samples`, `basis` (where directions are learned only) or `none`.
fn mean_in_words(all: &mut Map<String, Value>) -> Result<(), &'static str> {
    let (center, keep_mean) = match all.get("center").and_then(Value::as_str) {
        Some("samples") => (true, false),
        Some("basis") => (true, true),
        Some("none") => (false, false),
        _ => return Ok(()),
    };
    all.insert("center".into(), center.into());
    all.insert("keep_mean".into(), keep_mean.into());
    Ok(())
}
