//! What settings promise: one language, whoever reads or writes it, and the words of older files.

use eigenspan_core::method::pca::{Components, PcaParams};
use eigenspan_core::registry::{METHODS, Method};
use eigenspan_core::settings::SettingError;
use eigenspan_core::{Dim, Lambda, PceParams, Weights};
use serde_json::{Map, Value, json};

/// Settings of every method as they were written before format 6.
const BEFORE: &str = include_str!("settings_before.json");

/// Every method as it is by name, and as the paper ran it.
fn every_method() -> impl Iterator<Item = Method> {
    let both = |name| [Method::named(name), Method::as_published(name)];
    METHODS.iter().flat_map(move |method| both(method.name)).flatten()
}

#[test]
fn settings_written_are_the_settings_read() {
    for method in every_method() {
        let text = serde_json::to_string(&method).unwrap();
        assert_eq!(serde_json::from_str::<Method>(&text).unwrap(), method, "{text}");
    }
    let pce = PceParams::default();
    for params in [
        PceParams { lambda: Lambda::Fixed(0.1), dim: Dim::Fixed(7), ..pce },
        PceParams { lambda: Lambda::Noise(0.0), weights: Weights::Soft { gamma: 0.3 }, ..pce },
        PceParams { lambda: Lambda::ScreeNot, weights: Weights::Soft { gamma: 1.0 }, strict: true, ..pce },
        PceParams { lambda: Lambda::Energy(0.95), weights: Weights::Whitened, unit_features: true, ..pce },
    ] {
        let text = serde_json::to_string(&params).unwrap();
        assert_eq!(serde_json::from_str::<PceParams>(&text).unwrap(), params, "{text}");
    }
    for components in [Components::All, Components::Auto, Components::Mle, Components::Count(3), Components::Share(0.5)]
    {
        let params = PcaParams { components, ..PcaParams::default() };
        let text = serde_json::to_string(&params).unwrap();
        assert_eq!(serde_json::from_str::<PcaParams>(&text).unwrap(), params, "{text}");
    }
}

#[test]
fn every_setting_is_set_by_its_name_to_what_it_is_written_as() {
    for method in every_method() {
        let named = Method::named(method.name()).unwrap();
        let set = |to: Method, (name, value): (&String, &Value)| to.with(name, value).unwrap();
        assert_eq!(method.settings().iter().fold(named, set), method);
        // Whatever is written is short: words, numbers, and a word with its number.
        let short = |value: &Value| match value {
            Value::Object(of) => of.len() == 1 && of.values().all(Value::is_number),
            other => !other.is_array(),
        };
        assert!(method.settings().values().all(short), "{:?}", method.settings());
        let unknown = method.with("surprise", &json!(1)).unwrap_err();
        let known = method.settings().keys().cloned().collect();
        assert_eq!(unknown, SettingError::Unknown { name: "surprise".into(), known });
        assert!(matches!(method.with("method", &json!("pce")), Err(SettingError::Unknown { .. })));
    }
}

#[test]
fn one_idea_has_one_name() {
    let other = [
        "rounds",
        "most_steps",
        "most_rounds",
        "n_iter",
        "tolerance",
        "stop",
        "random_state",
        "rng",
        "n_jobs",
        "subtract_mean",
        "centre",
        "n_components",
    ];
    for method in every_method() {
        assert!(!method.settings().keys().any(|name| other.contains(&name.as_str())), "{:?}", method.settings());
    }
}

#[test]
fn settings_of_older_files_say_what_they_said() {
    let before: Map<String, Value> = serde_json::from_str(BEFORE).unwrap();
    assert!(before.len() > 25);
    for (key, value) in &before {
        let read: Method = serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{key}: {error}"));
        let expected = match key.split_once(' ').unwrap() {
            (name, "default") => Method::named(name),
            (name, "published") => Method::as_published(name),
            _ => Some(Method::Pce(of_before(key))),
        };
        assert_eq!(Some(read), expected, "{key}");
    }
}

fn of_before(key: &str) -> PceParams {
    use eigenspan_core::{Normalize, RankRule, Solver};
    let d = PceParams::default();
    match key {
        "pce fixed" => PceParams { lambda: Lambda::Fixed(5.0), dim: Dim::Fixed(7), ..d },
        "pce noise" => {
            let (normalize, rank_rule) = (Normalize::ZScore, RankRule::Released);
            PceParams { lambda: Lambda::Noise(0.0), normalize, rank_rule, ..d }
        }
        "pce energy" => PceParams { lambda: Lambda::Energy(0.9), solver: Solver::Direct, strict: true, ..d },
        "pce screenot" => PceParams { lambda: Lambda::ScreeNot, center: true, normalize: Normalize::None, ..d },
        "pce soft" => PceParams { weights: Weights::Soft { gamma: 0.3 }, unit_features: true, ..d },
        "pce whitened" => PceParams { weights: Weights::Whitened, ..d },
        other => panic!("{other} is not known"),
    }
}

#[test]
fn a_name_of_before_stands_for_the_name_of_today() {
    for (method, before, value, today, now) in [
        ("nmf", "rounds", json!(7), "max_iter", json!(7)),
        ("nenmf", "tolerance", json!(0.5), "tol", json!(0.5)),
        ("svm", "most_rounds", json!(7), "max_iter", json!(7)),
        ("svm", "rounds", json!(7), "max_iter", json!(7)),
        ("l1-graph", "most_steps", json!(7), "max_iter", json!(7)),
        ("l1-graph", "tolerance", json!(0.5), "tol", json!(0.5)),
        ("src", "stop", json!({ "published": { "tolerance": 0.5 } }), "tol", json!(0.5)),
        ("src", "stop", json!("exact"), "tol", json!(null)),
        ("eigenfaces", "subtract_mean", json!(true), "keep_mean", json!(false)),
        ("rosl", "center", json!("basis"), "keep_mean", json!(true)),
        ("pce", "lambda", json!({ "rule": "fixed", "value": 5.0 }), "lambda", json!(5.0)),
        ("npe", "dim", json!({ "fixed": 9 }), "dim", json!(9)),
        ("lpp", "weights", json!({ "heat": { "t": 2.0 } }), "weights", json!({ "heat": 2.0 })),
    ] {
        let named = Method::named(method).unwrap();
        let (old, new) = (named.with(before, &value), named.with(today, &now));
        assert_eq!(old, new, "{method}: {before}");
        assert!(old.is_ok(), "{old:?}");
        assert_eq!(old.unwrap().settings()[today], now, "{method}: {before}");
    }
}

#[test]
fn a_share_of_the_energy_may_stand_for_the_dimension() {
    let pce = Method::named("pce").unwrap();
    let energy = Method::Pce(PceParams { lambda: Lambda::Energy(0.95), ..PceParams::default() });
    assert_eq!(pce.with("dim", &json!(0.95)), Ok(energy));
    let twice = pce.with("lambda", &json!(5)).unwrap().with("dim", &json!(0.95)).unwrap_err();
    assert!(twice.to_string().contains("`lambda` and `dim` both say where to cut"), "{twice}");
    let pca = PcaParams { components: Components::Share(0.95), ..PcaParams::default() };
    assert_eq!(Method::named("pca").unwrap().with("dim", &json!(0.95)), Ok(Method::Pca(pca)));
}

#[test]
fn what_is_no_value_is_refused_in_words() {
    for (method, name, value, words) in [
        ("pce", "lambda", json!("large"), "expected a number, `auto`, `screenot`"),
        ("pce", "weights", json!("heavy"), "expected `hard`, `soft`"),
        ("npe", "dim", json!("many"), "expected a number of dimensions or `auto`"),
        ("npe", "dim", json!(2.5), "expected a number of dimensions or `auto`"),
        ("pca", "dim", json!("most"), "expected a number of components"),
        ("lpp", "weights", json!("hot"), "expected `heat`, `binary` or `cosine`"),
        ("src", "tol", json!("small"), "expected a number, or null"),
        ("svm", "solver", json!("fast"), "unknown variant `fast`, expected `auto` or `descent`"),
    ] {
        let said = Method::named(method).unwrap().with(name, &value).unwrap_err().to_string();
        assert!(said.starts_with(&format!("does not take `{name} = {value}`: ")) && said.contains(words), "{said}");
    }
}
