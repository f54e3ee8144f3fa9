//! Summary files: what is written is read, and nothing else is.

use eigenspan_core::data::generate::{Normal, Subspaces};
use eigenspan_core::{Keep, Lambda, Mat, Normalize};

use super::*;
use crate::seal::{Tensor, seal_tensors};

fn samples(n: usize) -> Mat {
    let data = Subspaces { samples: n, features: 12, subspaces: 2, dim: 2, noise: 0.1 }.generate(3).unwrap();
    data.samples.into_f64()
}

fn file(keep: Keep, params: PceParams, rows: &Mat) -> SummaryFile {
    let mut summary = PceSummary::keeping(keep, params, 12).unwrap();
    summary.update(rows, Exec::default()).unwrap();
    let part = PartOfData { data: "a.npy".into(), rows: rows.rows(), sha256: "0f".repeat(32) };
    let parts = if rows.rows() > 0 { vec![part] } else { vec![] };
    SummaryFile { summary, parts, image: Some(ImageShape { height: 3, width: 4 }) }
}

fn settings() -> Vec<(Keep, PceParams)> {
    let fixed = PceParams { lambda: Lambda::Fixed(0.1), center: true, ..PceParams::default() };
    let zscore = PceParams { normalize: Normalize::ZScore, lambda: Lambda::Noise(0.5), ..PceParams::default() };
    vec![
        (Keep::Auto, PceParams::default()),
        (Keep::Triangle, PceParams::default()),
        (Keep::Gram, fixed),
        (Keep::Triangle, zscore),
        (Keep::Auto, PceParams::auto()),
    ]
}

#[test]
fn what_is_written_is_read_and_goes_on_to_the_same_bytes() {
    let (x, folder) = (samples(2500), tempfile::tempdir().unwrap());
    let path = folder.path().join("part.essum");
    for (keep, params) in settings() {
        for n in [0, 5, 2400] {
            let mut ours = file(keep, params, &x.select_rows(&(0..n).collect::<Vec<_>>()));
            ours.save(&path).unwrap();
            let mut back = SummaryFile::load(&path).unwrap();
            assert_eq!(back, ours);
            assert_eq!(back.to_bytes(), ours.to_bytes());
            let more = file(keep, params, &x.select_rows(&(n..2500).collect::<Vec<_>>()));
            let more = SummaryFile::from_bytes("more", &more.to_bytes()).unwrap();
            for all in [&mut ours, &mut back] {
                all.merge(&more, Exec::default()).unwrap();
            }
            let [a, b] = [&ours, &back].map(|all| all.finish(None, Exec::default()).unwrap());
            assert_eq!(a.to_bytes(), b.to_bytes());
            assert_eq!(a.provenance.data, if n > 0 { "a.npy … a.npy (2 parts)" } else { "a.npy" });
        }
    }
}

#[test]
fn one_flipped_bit_or_missing_byte_is_noticed() {
    let bytes = file(Keep::Auto, PceParams::default(), &samples(40)).to_bytes();
    let mut random = Normal::new(4);
    for _ in 0..500 {
        let mut damaged = bytes.clone();
        let at = (random.uniform() * bytes.len() as f64) as usize;
        damaged[at] ^= 1 << (8.0 * random.uniform()) as u8;
        assert!(SummaryFile::from_bytes("s", &damaged).is_err(), "a bit of byte {at}");
    }
    assert!((0..bytes.len()).step_by(7).all(|end| SummaryFile::from_bytes("s", &bytes[..end]).is_err()));
}

/// A file with the right checksum whose contents were changed.
fn forged(change: impl Fn(&mut serde_json::Value, &mut Vec<Tensor>)) -> String {
    let bytes = file(Keep::Auto, PceParams::default(), &samples(40)).to_bytes();
    let opened = seal::open(&bytes, STAMP).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&opened.json).unwrap();
    let names = ["first", "lengths", "prepared", "unscaled", "varies"];
    let mut list: Vec<Tensor> = Vec::from(names.map(|name| {
        let view = opened.tensors.tensor(name).unwrap();
        Tensor { name, kind: view.dtype(), shape: view.shape().to_vec(), bytes: view.data().to_vec() }
    }));
    json["checksum"] = BLANK.into();
    change(&mut json, &mut list);
    let error = SummaryFile::from_bytes("s.essum", &seal_tensors(SUMMARY, &json, &list)).unwrap_err();
    assert!(error.hint().is_some());
    error.to_string()
}

#[test]
fn contents_that_contradict_themselves_are_refused() {
    let tensor = |list: &mut Vec<Tensor>, name: &str, new: Option<Tensor>| {
        list.retain(|t| t.name != name);
        list.extend(new);
    };
    let invalid = |fault: &str| format!("s.essum is not a valid summary: {fault}");
    let apart = invalid("the parts of a summary do not belong together");
    let said = forged(|_, t| tensor(t, "unscaled", None));
    assert_eq!(said, apart);
    assert_eq!(forged(|_, t| tensor(t, "first", None)), apart);
    assert_eq!(forged(|_, t| tensor(t, "first", Some(Tensor::numbers("first", &[f64::NAN; 12])))), apart);
    assert_eq!(forged(|_, t| tensor(t, "lengths", Some(Tensor::numbers("lengths", &[f64::NAN, 1.0])))), apart);
    assert_eq!(forged(|_, t| tensor(t, "varies", Some(Tensor::bytes("varies", vec![1; 11])))), apart);
    assert_eq!(forged(|json, _| json["zeros"] = 41.into()), apart);
    assert_eq!(forged(|json, _| json["params"]["lambda"] = serde_json::json!({"rule": "energy", "value": 0.5})), apart);
    assert_eq!(forged(|_, t| tensor(t, "prepared", None)), invalid("no tensor `prepared`"));
    let words = "tensor `prepared`: this is not a summary, or a damaged one: its length is not that of a summary";
    assert_eq!(forged(|_, t| tensor(t, "prepared", Some(Tensor::bytes("prepared", vec![0; 5])))), invalid(words));
    let twos = forged(|_, t| tensor(t, "varies", Some(Tensor::bytes("varies", vec![2; 12]))));
    assert_eq!(twos, invalid("tensor `varies` holds more than 0 and 1"));
    let image = forged(|json, _| json["image"]["height"] = 5.into());
    assert_eq!(image, invalid("the image shape does not fit the features"));
    let rows = forged(|json, _| json["parts"][0]["rows"] = 41.into());
    assert_eq!(rows, invalid("its parts have more samples than it has"));
    let digits = forged(|json, _| json["parts"][0]["sha256"] = "zz".into());
    assert_eq!(digits, invalid("a fingerprint of its parts is not one"));
    let later = "s.essum has format version 3; this program reads summaries of versions 1 to 2";
    assert_eq!(forged(|json, _| json["format"] = 3.into()), later);
}

#[test]
fn a_model_is_no_summary_and_a_summary_no_model() {
    let summary = file(Keep::Auto, PceParams::default(), &samples(400));
    let model = summary.finish(None, Exec::default()).unwrap();
    let error = SummaryFile::from_bytes("m", &model.to_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "m is a model, not a summary of samples");
    let error = ModelFile::from_bytes("s", &summary.to_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "s is a summary of samples, not a model");
}
