//! A method by its name, with some of its settings changed.
//!
//! Settings have the names that they have in a model file, with the values that a person would write: `lambda = 5`,
//! `dim = 300`, `weights = "heat"`.

use eigenspan_core::Normalize;
use eigenspan_core::classify::cesr::CesrParams;
use eigenspan_core::classify::linear_svm::LinearSvmParams;
use eigenspan_core::classify::nearest_neighbour::NearestNeighbourParams;
use eigenspan_core::classify::picked::PickedParams;
use eigenspan_core::classify::sparse_representation::SrcParams;
use eigenspan_core::classify::{CLASSIFIERS, Classifier};
use eigenspan_core::registry::{METHODS, Method};
use eigenspan_core::settings::SettingError;
use serde_json::{Map, Value};

use crate::StudyError;

/// The method of this name, with its defaults or as the paper ran it where it did.
pub fn method(name: &str, as_published: bool) -> Result<Method, StudyError> {
    let published = if as_published { Method::as_published(name) } else { None };
    published
        .or_else(|| Method::named(name))
        .ok_or_else(|| unknown("method", name, &METHODS.iter().map(|method| method.name).collect::<Vec<_>>()))
}

/// The classifier of this name, with its defaults or as the paper ran it.
pub fn classifier(name: &str, as_published: bool) -> Result<Classifier, StudyError> {
    let found = if as_published { Classifier::as_published(name) } else { Classifier::named(name) };
    found.ok_or_else(|| unknown("classifier", name, &CLASSIFIERS.iter().map(|(name, _)| *name).collect::<Vec<_>>()))
}

/// The classifier with samples scaled to length one first.
pub fn with_unit_samples(classifier: Classifier) -> Classifier {
    match classifier {
        Classifier::Nn(params) => Classifier::Nn(NearestNeighbourParams { normalize: Normalize::Unit, ..params }),
        Classifier::Svm(params) => Classifier::Svm(LinearSvmParams { normalize: Normalize::Unit, ..params }),
        Classifier::Src(params) => Classifier::Src(SrcParams { normalize: Normalize::Unit, ..params }),
        Classifier::Cesr(params) => Classifier::Cesr(CesrParams { normalize: Normalize::Unit, ..params }),
        Classifier::Auto(params) => {
            let candidates = params.candidates.into_iter().map(with_unit_samples).collect();
            Classifier::Auto(PickedParams { candidates, ..params })
        }
    }
}

fn unknown(what: &'static str, name: &str, known: &[&str]) -> StudyError {
    let known = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    StudyError::Unknown { what, name: name.into(), known }
}

/// `NAME` or `NAME:setting=value,setting=value`, as on the command line.
pub fn method_of_text(text: &str, as_published: bool) -> Result<Method, StudyError> {
    let (name, changes) = text.split_once(':').unwrap_or((text, ""));
    let mut settings = Map::new();
    for change in changes.split(',').filter(|change| !change.is_empty()) {
        let Some((setting, value)) = change.split_once('=') else {
            let fault = format!("takes settings as in `{name}:dim=30`, found `{change}`");
            return Err(StudyError::Setting { method: name.into(), fault });
        };
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.into()));
        settings.insert(setting.trim().into(), value);
    }
    laid_over(name, method(name, as_published)?, &settings)
}

/// `base` with settings changed.
pub fn laid_over(name: &str, base: Method, changes: &Map<String, Value>) -> Result<Method, StudyError> {
    let fault = |error: SettingError| StudyError::Setting { method: name.into(), fault: error.to_string() };
    changes.iter().try_fold(base, |method, (setting, value)| method.with(setting, value)).map_err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;
    use eigenspan_core::method::pca::Components;
    use eigenspan_core::registry::MethodInfo;
    use eigenspan_core::{Dim, Lambda, PceParams, RankRule, Weights};

    #[test]
    fn settings_are_laid_over_the_defaults() {
        let pce = PceParams { lambda: Lambda::Fixed(5.0), rank_rule: RankRule::Released, ..PceParams::default() };
        assert_eq!(method_of_text("pce:lambda=5,rank_rule=released", false).unwrap(), Method::Pce(pce));
        let soft = PceParams { weights: Weights::Soft { gamma: 1.0 }, unit_features: true, ..PceParams::default() };
        assert_eq!(method_of_text("pce:weights=soft,unit_features=true", false).unwrap(), Method::Pce(soft));
        let Method::L1Graph(l1) = method_of_text("l1-graph:lambda=0.1,tolerance=0.01,dim=7", true).unwrap() else {
            panic!("another method")
        };
        assert_eq!((l1.lambda, l1.tol, l1.dim, l1.max_iter), (0.1, Some(0.01), Dim::Fixed(7), 100));
        let Method::Pca(pca) = method_of_text("pca:dim=9", false).unwrap() else { panic!("another method") };
        assert_eq!(pca.components, Components::Count(9));
    }

    #[test]
    fn what_a_method_does_not_have_is_refused_by_name() {
        for (text, words) in [
            ("pce:neighbours=3", "`pce` has no setting `neighbours`"),
            ("npe:neighbours=many", "`npe` does not take `neighbours = \"many\"`"),
            ("npe:49", "`npe` takes settings as in `npe:dim=30`, found `49`"),
            ("pca:lambda=1", "`pca` has no setting `lambda`"),
            ("pca:dim=most", "`pca` does not take `dim = \"most\"`: expected a number of components"),
            ("tsne", "there is no method `tsne`"),
        ] {
            let error = method_of_text(text, false).unwrap_err();
            assert!(error.to_string().starts_with(words), "{error}");
            assert!(error.hint().is_some());
        }
    }

    #[test]
    fn every_classifier_can_be_told_to_scale_samples_to_length_one() {
        for (name, _) in CLASSIFIERS {
            let plain = classifier(name, true).unwrap();
            let unit = serde_json::to_string(&with_unit_samples(plain.clone())).unwrap();
            assert!(unit.contains("\"normalize\":\"unit\"") && !unit.contains("\"normalize\":\"none\""), "{unit}");
            assert_eq!(with_unit_samples(with_unit_samples(plain.clone())), with_unit_samples(plain));
        }
    }

    #[test]
    fn every_number_of_features_that_is_too_large_is_capped() {
        for MethodInfo { name, .. } in METHODS {
            let method = method(name, true).unwrap();
            let has_dim = serde_json::to_value(&method).unwrap().get("dim").is_some();
            let Ok(large) = method_of_text(&format!("{name}:dim=400"), true) else {
                assert!(!has_dim, "{name}");
                continue;
            };
            assert!(has_dim, "{name}");
            assert_eq!(large.clone().capped(400), large, "{name}");
            let few = method_of_text(&format!("{name}:dim=99"), true).unwrap();
            assert_eq!(large.clone().capped(99), few, "{name}");
            assert_eq!(large.capped(0), method_of_text(&format!("{name}:dim=1"), true).unwrap(), "{name}");
        }
    }
}
