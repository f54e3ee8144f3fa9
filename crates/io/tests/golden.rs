//! Every format version that was ever written is read, and its model still gives the same features.

use eigenspan_core::data::generate::Subspaces;
use eigenspan_core::data::{Labels, Matrix};
use eigenspan_core::method::pca::{Components, PcaParams};
use eigenspan_core::registry::{METHODS, Method, MethodInfo};
use eigenspan_core::{Exec, Lambda, Mat, Model, OnlineParams, OnlinePce, Pce, PceParams};
use eigenspan_io::{FORMAT, ModelFile, Provenance};
use std::path::PathBuf;

const SPEC: Subspaces = Subspaces { samples: 30, features: 10, subspaces: 2, dim: 2, noise: 0.1 };

fn golden(version: u32) -> PathBuf {
    let method = if version == 3 { "npe" } else { "pce" };
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{method}-v{version}.espan"))
}

#[test]
fn every_format_version_is_read_and_gives_its_features() {
    let data = SPEC.generate(1).unwrap();
    for version in 1..=2 {
        let ModelFile { model, provenance } = ModelFile::load(&golden(version)).unwrap();
        assert_eq!(provenance.data, "golden");
        let Model::Pce(model) = model else { panic!("not a model of PCE") };
        let fresh = PceParams { center: true, ..PceParams::default() }.fit(&data.samples).unwrap();
        assert_eq!(model.k(), fresh.k());
        let (old, new) = (model.transform(&data.samples).unwrap(), fresh.transform(&data.samples).unwrap());
        let pairs = old.into_f64().into_vec().into_iter().zip(new.into_f64().into_vec());
        // Other machines sum in other orders: equal to rounding, not to the bit.
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
    }
}

#[test]
fn a_model_of_another_method_is_read_and_gives_its_features() {
    let data = SPEC.generate(1).unwrap();
    let ModelFile { model, provenance } = ModelFile::load(&golden(3)).unwrap();
    assert_eq!(provenance.data, "golden");
    let fresh = model.settings().fit_with(data.samples.view(), None, Exec::default()).unwrap().model;
    let (old, new) = (model.transform(&data.samples).unwrap(), fresh.transform(&data.samples).unwrap());
    let pairs = old.into_f64().into_vec().into_iter().zip(new.into_f64().into_vec());
    assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-9));
}

/// The samples behind the files of formats 2 and 3, which some methods need above zero, and two classes of them.
fn above_zero() -> (Matrix, Labels) {
    let above = SPEC.generate(1).unwrap().samples.into_f64().into_vec().into_iter().map(f64::abs).collect();
    (Mat::from_vec(30, 10, above).unwrap().into(), Labels::from_numbers(&(0..30).map(|i| i % 2).collect::<Vec<_>>()))
}

#[test]
fn every_method_is_read_from_the_format_before_and_fits_the_same_model_again() {
    let (samples, labels) = above_zero();
    for MethodInfo { name, .. } in METHODS {
        let path = golden(3).with_file_name(format!("{name}-v3.espan"));
        // Younger methods have no file of that format.
        if *name == "npe" || !path.exists() {
            continue;
        }
        let ModelFile { model, .. } = ModelFile::load(&path).unwrap();
        assert_eq!(model.settings(), Method::named(name).unwrap(), "{name}");
        let fresh = model.settings().fit_with(samples.view(), Some(&labels), Exec::default()).unwrap().model;
        for ((name, old), (_, new)) in model.arrays().iter().zip(fresh.arrays().iter()) {
            assert_eq!((old.rows(), old.cols()), (new.rows(), new.cols()), "{name}");
            assert!(old.as_slice().iter().zip(new.as_slice()).all(|(a, b)| (a - b).abs() < 1e-6), "{name}");
        }
    }
}

#[test]
fn pca_that_a_file_of_before_calls_pce_is_pca() {
    let (samples, _) = above_zero();
    let share = PcaParams { components: Components::Share(0.9), whiten: true, ..PcaParams::default() };
    for (file, params) in [("pca-v2", Some(share)), ("pca-mle-v2", None)] {
        let model = ModelFile::load(&golden(2).with_file_name(format!("{file}.espan"))).unwrap().model;
        let Model::Pca(model) = model else { panic!("{file} is not PCA") };
        // The file knows how many Minka's rule found, not that it was requested.
        let params = params.unwrap_or(PcaParams { components: Components::Count(model.k()), ..share });
        assert_eq!(*model.params(), params, "{file}");
        let fresh = params.fit(&samples).unwrap();
        let (old, new) = (model.transform(&samples).unwrap(), fresh.transform(&samples).unwrap());
        let pairs = old.into_f64().into_vec().into_iter().zip(new.into_f64().into_vec());
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-9), "{file}");
    }
}

#[test]
fn soft_weights_are_read_with_what_chose_them() {
    let data = SPEC.generate(1).unwrap();
    let ModelFile { model: Model::Pce(model), .. } = ModelFile::load(&golden(4)).unwrap() else { panic!("not PCE") };
    let fresh = PceParams::auto().fit_labelled(&data.samples, data.labels.as_ref().unwrap()).unwrap();
    assert_eq!((&model.parts().chosen, model.k()), (&fresh.parts().chosen, fresh.k()));
    let (old, new) = (model.transform(&data.samples).unwrap(), fresh.transform(&data.samples).unwrap());
    let pairs = old.into_f64().into_vec().into_iter().zip(new.into_f64().into_vec());
    assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
}

/// What goes into the golden file of models of samples that arrived one by one.
fn one_by_one() -> Pce {
    let params = PceParams { lambda: Lambda::Fixed(0.5), center: true, ..PceParams::default() };
    let online = OnlineParams { rank: 6, forget: 0.98, ..OnlineParams::default() };
    let mut seen = OnlinePce::new(params, online, 10).unwrap();
    seen.update(&SPEC.generate(1).unwrap().samples, Exec::default()).unwrap();
    seen.finish(Exec::default()).unwrap()
}

#[test]
fn samples_one_by_one_go_on_from_their_file() {
    let data = SPEC.generate(1).unwrap();
    let ModelFile { model: Model::Pce(model), .. } = ModelFile::load(&golden(5)).unwrap() else { panic!("not PCE") };
    let fresh = one_by_one();
    let next = |model: &Pce| {
        let mut seen = OnlinePce::resume(model, model.parts().params, OnlineParams::of(model)).unwrap();
        seen.update(&data.samples, Exec::default()).unwrap();
        seen.finish(Exec::default()).unwrap()
    };
    assert_eq!((model.k(), model.parts().k_interval), (fresh.k(), fresh.parts().k_interval));
    for (a, b) in [(&model, &fresh), (&next(&model), &next(&fresh))] {
        assert!(a.parts().sigma.iter().zip(&b.parts().sigma).all(|(a, b)| (a - b).abs() < 1e-12));
        assert!((a.weight() - b.weight()).abs() < 1e-9 && (a.drift() - b.drift()).abs() < 1e-9);
        let (old, new) = (a.transform(&data.samples).unwrap(), b.transform(&data.samples).unwrap());
        let pairs = old.into_f64().into_vec().into_iter().zip(new.into_f64().into_vec());
        assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-11));
    }
}

/// Run once when a format version is born; never to overwrite the file of an old one.
#[test]
#[ignore = "writes the golden file of a new format version"]
fn write_the_golden_file_of_this_version() {
    assert!(!golden(FORMAT).exists(), "the golden file of version {FORMAT} is history: it is not written again");
    let data = SPEC.generate(1).unwrap();
    let model = Model::Pce(one_by_one());
    let provenance = Provenance::of("golden", data.samples.view());
    std::fs::create_dir_all(golden(FORMAT).parent().unwrap()).unwrap();
    ModelFile { model, provenance }.save(&golden(FORMAT)).unwrap();
}
