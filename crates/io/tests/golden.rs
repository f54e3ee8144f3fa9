//! Every format version that was ever written is read, and its model still gives the same features.

use eigenspan::data::generate::Subspaces;
use eigenspan::{Exec, Lambda, Model, OnlineParams, OnlinePce, Pce, PceParams};
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
