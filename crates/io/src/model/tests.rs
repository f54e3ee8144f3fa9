//! Model files: what is written is read, and nothing else is.

use std::collections::HashMap;

use eigenspan_core::data::generate::Subspaces;
use eigenspan_core::data::{Labels, Matrix, Samples};
use eigenspan_core::method::pca::{Components, PcaParams};
use eigenspan_core::model::fitted::Fitted as _;
use eigenspan_core::registry::{METHODS, Method, MethodInfo};
use eigenspan_core::{Exec, Lambda, Mat, Normalize, OnlineParams, OnlinePce, PceParams, Weights};
use safetensors::tensor::{Dtype, TensorView, serialize};

use super::*;
use crate::seal::{Array, BLANK, Opened, checksum, checksum_position};

fn model(params: PceParams) -> ModelFile {
    let data = Subspaces { samples: 40, features: 12, subspaces: 2, dim: 2, noise: 0.1 }.generate(3).unwrap();
    let model = Model::Pce(params.fit(&data.samples).unwrap());
    ModelFile { model, provenance: Provenance::of("planted.npy", data.samples.view()) }
}

fn open<'a>(name: &str, bytes: &'a [u8]) -> Result<Opened<'a>, ModelError> {
    seal::open(bytes, STAMP).map_err(|broken| ModelError::of(broken, name))
}

type Named = (String, Vec<usize>, Vec<f64>);

/// A file with the right checksum whose contents were changed.
fn forged(change: impl Fn(&mut serde_json::Value, &mut Vec<Named>)) -> Vec<u8> {
    forged_from(&model(PceParams { center: true, ..PceParams::default() }), change)
}

fn forged_from(file: &ModelFile, change: impl Fn(&mut serde_json::Value, &mut Vec<Named>)) -> Vec<u8> {
    forged_bytes(&file.to_bytes(), change)
}

/// The file of an older format.
fn golden(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)).unwrap()
}

fn forged_bytes(bytes: &[u8], change: impl Fn(&mut serde_json::Value, &mut Vec<Named>)) -> Vec<u8> {
    let opened = open("m.espan", bytes).unwrap();
    let mut json = serde_json::from_str(&opened.json).unwrap();
    let mut list: Vec<_> = opened
        .tensors
        .names()
        .into_iter()
        .map(|name| {
            let Array { name, shape, values } = opened.array(name).unwrap().unwrap();
            (name, shape, values)
        })
        .collect();
    change(&mut json, &mut list);
    let to_le = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let stored: Vec<_> = list.iter().map(|(name, shape, v)| (name, shape.clone(), to_le(v))).collect();
    let views = stored.iter().map(|(name, shape, b)| (*name, TensorView::new(Dtype::F64, shape.clone(), b).unwrap()));
    json["checksum"] = BLANK.into();
    let text = serde_json::to_string(&json).unwrap();
    let mut bytes = serialize(views, Some(HashMap::from([("eigenspan".to_string(), text)]))).unwrap();
    let at = checksum_position(&bytes).unwrap();
    let sum = checksum(&bytes, at);
    bytes[at..at + 64].copy_from_slice(sum.as_bytes());
    bytes
}

fn tensor<'a>(list: &'a mut [Named], name: &str) -> &'a mut Named {
    list.iter_mut().find(|t| t.0 == name).unwrap()
}

fn refusal(bytes: &[u8]) -> String {
    ModelFile::from_bytes("m.espan", bytes).unwrap_err().to_string()
}

#[test]
fn save_then_load_is_the_same_model_to_the_bit() {
    let settings = [
        PceParams::default(),
        PceParams { lambda: Lambda::Fixed(0.1), center: true, ..PceParams::default() },
        PceParams { lambda: Lambda::Noise(0.03), normalize: Normalize::ZScore, ..PceParams::default() },
        PceParams { lambda: Lambda::Energy(0.3), normalize: Normalize::None, ..PceParams::default() },
        PceParams { lambda: Lambda::Fixed(1e-9), ..PceParams::default() }, // k = 0, with a warning
        PceParams { weights: Weights::Soft { gamma: 0.3 }, ..PceParams::default() },
        PceParams { unit_features: true, ..PceParams::default() },
        PceParams::auto(),
    ];
    let folder = tempfile::tempdir().unwrap();
    for params in settings {
        let file = model(params);
        let path = folder.path().join("m.espan");
        file.save(&path).unwrap();
        let back = ModelFile::load(&path).unwrap();
        assert_eq!(back, file);
        assert_eq!(back.to_bytes(), file.to_bytes());
    }
}

#[test]
fn parameters_stand_in_a_file_as_a_person_writes_them() {
    let header = |file: &ModelFile| -> serde_json::Value {
        serde_json::from_str(&open("m.espan", &file.to_bytes()).unwrap().json).unwrap()
    };
    let pce = header(&model(PceParams { lambda: Lambda::Fixed(5.0), ..PceParams::auto() }));
    assert_eq!((&pce["format"], &pce["method"]), (&6.into(), &"pce".into()));
    assert_eq!(pce["facts"]["params"]["lambda"], 5.0);
    assert_eq!(pce["facts"]["params"]["dim"], "auto");
    let data = Subspaces { samples: 40, features: 12, subspaces: 2, dim: 2, noise: 0.1 }.generate(3).unwrap();
    let share = PcaParams { components: Components::Share(0.75), ..PcaParams::default() };
    let model = Model::Pca(share.fit(&data.samples).unwrap());
    let pca = header(&ModelFile { model, provenance: Provenance::of_array("planted") });
    assert_eq!(pca["method"], "pca");
    assert_eq!(pca["facts"]["params"], serde_json::json!({ "dim": 0.75, "whiten": false, "solver": "auto" }));
}

#[test]
fn soft_weights_that_contradict_themselves_are_refused() {
    let data = Subspaces { samples: 40, features: 12, subspaces: 2, dim: 2, noise: 0.1 }.generate(3).unwrap();
    let labelled = PceParams::auto().fit_labelled(&data.samples, data.labels.as_ref().unwrap()).unwrap();
    let file = ModelFile { model: Model::Pce(labelled), provenance: Provenance::of_array("planted") };
    assert_eq!(ModelFile::from_bytes("m.espan", &forged_from(&file, |_, _| {})).unwrap(), file);
    let damages: [(Damage, &str); 7] = [
        (|json, _| json["facts"]["chosen"]["gamma"] = 0.3.into(), "not those it chose"),
        (|json, _| json["facts"]["chosen"]["factor"] = 3.0.into(), "not those it chose"),
        (|json, _| json["facts"]["chosen"]["trials"][7]["known"] = 41.into(), "not those it chose"),
        (|json, _| json["facts"]["chosen"] = serde_json::Value::Null, "were not, or the other way round"),
        (|json, _| json["facts"]["params"]["weights"] = "hard".into(), "columns"),
        (|json, _| json["facts"]["params"]["weights"] = serde_json::json!({ "soft": 1.5 }), "`gamma` must be"),
        (|json, _| json["facts"]["k"] = 13.into(), "columns"),
    ];
    for (damage, fault) in damages {
        let refused = refusal(&forged_from(&file, damage));
        assert!(refused.contains(fault), "{refused}");
    }
}

/// Of samples that arrived one by one.
fn online(params: PceParams, rank: usize) -> ModelFile {
    let data = Subspaces { samples: 40, features: 12, subspaces: 2, dim: 2, noise: 0.1 }.generate(3).unwrap();
    let online = OnlineParams { rank, forget: 0.97, ..OnlineParams::default() };
    let mut seen = OnlinePce::new(params, online, 12).unwrap();
    seen.update(&data.samples, Exec::default()).unwrap();
    let model = Model::Pce(seen.finish(Exec::default()).unwrap());
    ModelFile { model, provenance: Provenance::of("planted.npy", data.samples.view()) }
}

#[test]
fn a_model_of_samples_one_by_one_is_read_with_what_it_goes_on_from() {
    let given = PceParams { lambda: Lambda::Fixed(0.5), center: true, ..PceParams::default() };
    let soft = PceParams { weights: Weights::Soft { gamma: 0.3 }, unit_features: true, ..given };
    // Four directions: all of them in the model, none to spare.
    let full = PceParams { dim: eigenspan_core::Dim::Fixed(4), ..given };
    for (params, rank) in [(given, 7), (soft, 7), (full, 4)] {
        let file = online(params, rank);
        let bytes = file.to_bytes();
        assert!(open("m.espan", &bytes).unwrap().json.contains(r#""format":6"#));
        let back = ModelFile::from_bytes("m.espan", &bytes).unwrap();
        assert_eq!(back, file);
        assert_eq!(back.to_bytes(), bytes);
    }
    let file = online(given, 7);
    let damages: [(Damage, &str); 9] = [
        (|json, _| json["facts"]["online"] = serde_json::Value::Null, "unknown array `spare`"),
        (|json, _| json["facts"]["online"]["rank"] = 0.into(), "keeps no directions"),
        (|json, _| json["facts"]["online"]["surprise"] = 0.into(), "unknown field"),
        (|_, t| tensor(t, "trail").2[0] = 1.5, "forgetting factor"),
        (|_, t| tensor(t, "trail").2[3] = -1.0, "what it lost is not told"),
        (|_, t| t.retain(|t| t.0 != "trail"), "no array `trail`"),
        (|_, t| t.retain(|t| t.0 != "spare"), "spare directions do not fit"),
        (|_, t| tensor(t, "spare").2[5] += 1e-6, "not orthonormal"),
        (|_, t| tensor(t, "spare").1.insert(0, 1), "tensor `spare` is not a matrix"),
    ];
    for (damage, fault) in damages {
        let refused = refusal(&forged_from(&file, damage));
        assert!(refused.contains(fault), "{refused} – {fault}");
    }
}

#[test]
fn files_of_older_formats_are_checked_as_they_were() {
    let damages: [(&str, Damage, &str); 12] = [
        ("pce-v5.espan", |json, _| json["format"] = 2.into(), "format 2 and samples that arrived one by one"),
        ("pce-v5.espan", |json, _| json["online"] = serde_json::Value::Null, "format 5 and samples that arrived one"),
        ("pce-v5.espan", |_, t| tensor(t, "trail").2[1] = f64::NAN, "no weight"),
        ("pce-v5.espan", |_, t| tensor(t, "spare").2[5] += 1e-6, "not orthonormal"),
        ("pce-v4.espan", |json, _| json["format"] = 2.into(), "format 2 does not hold"),
        ("pce-v4.espan", |json, _| json["params"]["weights"] = "hard".into(), "expected 2 columns for k = 2, found 4"),
        ("pce-v2.espan", |json, _| json["format"] = 1.into(), "tensor `cut` does not hold τ, λ and √Σσ²"),
        ("pce-v2.espan", |json, _| json["method"] = "pca".into(), "expected the method `pce`, found `pca`"),
        ("pce-v2.espan", |_, t| t.retain(|t| t.0 != "basis"), "no tensor `basis`"),
        ("pce-v2.espan", |_, t| tensor(t, "sigma").2[1] = f64::NAN, "a singular value is negative or not finite"),
        ("npe-v3.espan", |json, _| json["method"] = "magic".into(), "format 3 holds no models of the method `magic`"),
        ("npe-v3.espan", |json, _| json["facts"]["about"]["params"]["dim"] = "many".into(), "expected a number"),
    ];
    for (file, damage, fault) in damages {
        assert!(ModelFile::from_bytes("m.espan", &golden(file)).is_ok());
        let refused = refusal(&forged_bytes(&golden(file), damage));
        assert!(refused.contains(fault), "{refused} – {fault}");
    }
}

#[test]
fn one_flipped_bit_anywhere_is_noticed() {
    let good = model(PceParams::default()).to_bytes();
    assert!(ModelFile::from_bytes("m.espan", &good).is_ok());
    let mut bytes = good.clone();
    for i in 0..bytes.len() {
        for bit in 0..8 {
            bytes[i] ^= 1 << bit;
            assert!(ModelFile::from_bytes("m.espan", &bytes).is_err(), "byte {i}, bit {bit}");
            bytes[i] ^= 1 << bit;
        }
    }
    assert_eq!(bytes, good);
}

#[test]
fn a_file_cut_short_anywhere_or_too_long_is_refused() {
    let good = model(PceParams::default()).to_bytes();
    for length in 0..good.len() {
        assert!(ModelFile::from_bytes("m.espan", &good[..length]).is_err(), "{length} bytes");
    }
    assert!(ModelFile::from_bytes("m.espan", &[&good[..], b"x"].concat()).is_err());
}

#[test]
fn a_header_that_claims_the_moon_is_refused_without_memory() {
    let mut bytes = model(PceParams::default()).to_bytes();
    bytes[..8].copy_from_slice(&(1u64 << 62).to_le_bytes());
    assert!(refusal(&bytes).starts_with("m.espan is not an .espan model file, or it is cut short: "));
    let huge = forged_header(r#"{"basis":{"dtype":"F64","shape":[4611686018427387904,16],"data_offsets":[0,8]}}"#);
    assert!(refusal(&huge).starts_with("m.espan is not an .espan model file, or it is cut short: "));
    let other =
        forged_header(r#"{"__metadata__":{"format":"pt"},"w":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#);
    assert_eq!(
        refusal(&other),
        "m.espan is not an .espan model file, or it is cut short: its header has no `eigenspan` among its metadata"
    );
}

fn forged_header(json: &str) -> Vec<u8> {
    let padded = format!("{json:<width$}", width = json.len().next_multiple_of(8));
    [&(padded.len() as u64).to_le_bytes()[..], padded.as_bytes(), &[0; 8]].concat()
}

#[test]
fn contents_that_contradict_themselves_are_refused_by_name() {
    assert!(ModelFile::from_bytes("m.espan", &forged(|_, _| {})).is_ok());
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (forged(|json, _| json["facts"]["k"] = 3.into()), "expected 3 columns for k = 3, found 4"),
        (forged(|json, _| json["facts"]["n"] = 11.into()), "expected at most min(n, m) = 11 singular values, found 12"),
        (forged(|_, t| tensor(t, "cut").2[2] *= 0.9), "the norm is less than that of the singular values"),
        (forged(|_, t| tensor(t, "cut").1 = vec![3, 1]), "array `cut` is expected to be 1 × 3, found 3 × 1"),
        (
            forged(|json, _| json["facts"]["image"] = serde_json::json!({"height": 5, "width": 2})),
            "the image shape does not fit the features",
        ),
        (
            forged(|json, _| json["facts"]["image"] = serde_json::json!({"height": usize::MAX, "width": 2})),
            "the image shape does not fit the features",
        ),
        (
            forged(|json, _| json["facts"]["params"]["center"] = false.into()),
            "mean and deviation are not those that the settings ask for",
        ),
        (forged(|json, _| json["facts"]["k_interval"] = serde_json::json!([9, 10])), "k is outside its interval"),
        (forged(|_, t| tensor(t, "sigma").2[1] = f64::NAN), "tensor `sigma` holds NaN at row 0, column 1"),
        (forged(|_, t| tensor(t, "sigma").2[1] = -1.0), "a singular value is negative or not finite"),
        (forged(|_, t| tensor(t, "sigma").2.swap(0, 5)), "the singular values are not sorted"),
        (forged(|_, t| tensor(t, "cut").2[0] = 0.0), "τ is not positive or not finite, or λ is negative or no number"),
        (
            forged(|_, t| tensor(t, "cut").2[1] = f64::NAN),
            "τ is not positive or not finite, or λ is negative or no number",
        ),
        (forged(|_, t| tensor(t, "basis").2[7] = f64::INFINITY), "tensor `basis` holds inf at row 1, column 3"),
        (forged(|_, t| t.retain(|t| t.0 != "mean")), "mean and deviation are not those that the settings ask for"),
        (forged(|_, t| t.retain(|t| t.0 != "basis")), "no array `basis`"),
        (forged(|_, t| t.push(("extra".into(), vec![1, 1], vec![1.0]))), "unknown array `extra`"),
        (forged(|_, t| tensor(t, "basis").1 = vec![48]), "tensor `basis` is not a matrix"),
        (forged(|_, t| tensor(t, "mean").1 = vec![3, 4]), "array `mean` is expected to be 1 × 12, found 3 × 4"),
    ];
    for (bytes, fault) in cases {
        assert_eq!(refusal(&bytes), format!("m.espan is not a valid model: {fault}"));
    }
    let skewed = forged(|_, t| tensor(t, "basis").2[0] += 1e-6);
    assert!(refusal(&skewed).starts_with("m.espan is not a valid model: its directions are not orthonormal"));
    let unknown = forged(|json, _| json["surprise"] = 1.into());
    assert!(refusal(&unknown).contains("unknown field `surprise`"));
}

#[test]
fn a_later_format_is_refused_by_its_number() {
    let later = forged(|json, _| json["format"] = 7.into());
    assert_eq!(refusal(&later), "m.espan has format version 7; this program reads versions 1 to 6");
}

#[test]
fn the_fingerprint_tells_data_apart_and_nothing_else() {
    let a = Mat::from_fn(3, 2, |i, j| (i + j) as f64);
    let b = Mat::from_fn(2, 3, |i, j| (i + j) as f64);
    let single = Mat::from_fn(3, 2, |i, j| (i + j) as f32);
    let of = |x: Samples<'_>| fingerprint(x);
    assert_eq!(of(Samples::from(&a)), of(Samples::from(&a.clone())));
    assert_ne!(of(Samples::from(&a)), of(Samples::from(&b)));
    assert_ne!(of(Samples::from(&a)), of(Samples::from(&single)));
}

/// A file of every method.
fn every_method() -> Vec<ModelFile> {
    let data = Subspaces { samples: 40, features: 12, subspaces: 2, dim: 2, noise: 0.1 }.generate(3).unwrap();
    let above = data.samples.clone().into_f64().into_vec().into_iter().map(f64::abs).collect();
    let samples = Matrix::from(Mat::from_vec(40, 12, above).unwrap());
    let labels = Labels::from_numbers(&(0..40).map(|i| i % 2).collect::<Vec<_>>());
    let fit = |info: &MethodInfo| {
        let method = Method::named(info.name).unwrap();
        let model = method.fit_with(samples.view(), Some(&labels), Exec::default()).unwrap().model;
        assert_eq!(model.settings(), method);
        assert_eq!(model.info().method, info.name);
        ModelFile { model, provenance: Provenance::of_array("planted") }
    };
    METHODS.iter().map(fit).collect()
}

#[test]
fn a_model_of_every_method_comes_back_to_the_bit() {
    for file in every_method() {
        let method = file.model.info().method;
        let back = ModelFile::from_bytes("m.espan", &file.to_bytes()).unwrap_or_else(|e| panic!("{method}: {e}"));
        assert_eq!(back, file, "{method}");
        assert_eq!(back.to_bytes(), file.to_bytes(), "{method}");
    }
}

#[test]
fn classifiers_that_keep_their_samples_are_written_in_the_words_of_the_first_files() {
    for (method, names) in [("nn", "classes"), ("cesr", "class_names"), ("src", "class_names")] {
        let file = every_method().into_iter().find(|file| file.model.info().method == method).unwrap();
        let bytes = file.to_bytes();
        let opened = open("m.espan", &bytes).unwrap();
        let json: serde_json::Value = serde_json::from_str(&opened.json).unwrap();
        let mut words: Vec<&String> = json["facts"].as_object().unwrap().keys().collect();
        words.sort();
        assert_eq!(words, ["about", names], "{method}");
        let mut arrays = opened.tensors.names();
        arrays.sort_unstable();
        assert_eq!(arrays, ["classes", "samples"], "{method}");
        assert_eq!(json["facts"]["about"].as_object().unwrap().len(), 7, "{method}");
    }
}

type Damage = fn(&mut serde_json::Value, &mut Vec<Named>);

#[test]
fn the_parts_of_any_model_are_checked_against_each_other() {
    for file in every_method() {
        let method = file.model.info().method;
        assert!(ModelFile::from_bytes("m.espan", &forged_from(&file, |_, _| {})).is_ok(), "{method}");
        let damages: [Damage; 7] = [
            |json, _| json["method"] = "magic".into(),
            |json, _| json["surprise"] = 1.into(),
            |json, _| json["facts"] = serde_json::json!({}),
            |_, t| t.push(("extra".into(), vec![1, 1], vec![1.0])),
            |_, t| drop(t.remove(0)),
            |_, t| t[0].2[0] = f64::NAN,
            |_, t| t[0].1 = vec![1, t[0].2.len(), 1],
        ];
        for (i, damage) in damages.into_iter().enumerate() {
            let bytes = forged_from(&file, damage);
            let refused = ModelFile::from_bytes("m.espan", &bytes);
            assert!(refused.is_err(), "{method}: damage {i}");
        }
    }
}
