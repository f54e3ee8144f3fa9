//! Samples that arrive later.

use crate::{Run, samples, some};

#[test]
fn a_model_is_updated_with_samples_that_arrive_later() {
    let run = Run::new();
    let x = samples(900, 20);
    for (name, rows) in [("old.npy", 0..400), ("new.npy", 400..700), ("newer.csv", 700..900), ("x.npy", 0..900)] {
        run.write(name, &some(&x, rows));
    }
    let number = |json: &str, name: &str| {
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        let found = name.split('.').fold(&value, |value, part| &value[part]);
        found.as_f64().unwrap_or_else(|| panic!("{name} in {json}"))
    };
    run.ok("fit old.npy --lambda 0.3 -o m.espan");
    let exact = run.ok("fit x.npy --lambda 0.3 --json");
    let old = run.bytes("m.espan");
    let at_once = run.ok("update m.espan new.npy newer.csv --json -o two.espan");
    let words = run.ok("update m.espan new.npy -o m.espan");
    assert!(
        words.starts_with("new.npy: 300 samples taken in after 400\n") && words.contains("online: at most 20"),
        "{words}"
    );
    assert!(run.bytes("m.espan") != old);
    let json = run.ok("update m.espan newer.csv --json -o m.espan");
    for json in [&at_once, &json] {
        assert_eq!((number(json, "n"), number(json, "online.forget")), (900.0, 1.0));
        let k = number(&exact, "k");
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        let (low, high) = (value["k_interval"][0].as_f64().unwrap(), value["k_interval"][1].as_f64().unwrap());
        assert!(low <= k && k <= high && number(json, "online.drift") > 0.0, "{k}: {json}");
    }
    let told = run.ok("inspect m.espan --verify");
    assert!(told.contains("fitted on 900 samples of old.npy … newer.csv") && told.contains("verified"), "{told}");
    let forgetful = run.ok("update m.espan new.npy --rank 8 --forget 0.99 --json -o f.espan");
    assert!(number(&forgetful, "online.weight") < 900.0 * 0.99f64.powi(600) + 1.0 / (1.0 - 0.99f64.powi(2)));
    assert_eq!((number(&forgetful, "online.rank"), number(&forgetful, "n")), (8.0, 1200.0));
    run.ok("transform f.espan new.npy -o z.npy");
    run.ok("export f.espan -o f.onnx");
}

#[test]
fn an_update_that_makes_no_sense_is_refused_and_leaves_the_model() {
    let run = Run::new();
    let x = samples(300, 12);
    run.write("x.npy", &x);
    run.write("narrow.npy", &samples(50, 5));
    let mut bad = x.clone();
    bad.row_mut(7)[2] = f64::NAN;
    run.write("bad.npy", &bad);
    run.ok("fit x.npy --lambda 0.3 -o m.espan");
    run.ok("fit x.npy -o auto.espan");
    run.ok("fit x.npy --lambda 0.3 --normalize zscore -o z.espan");
    run.ok("fit x.npy --method lpp --dim 3 -o lpp.espan");
    run.ok("summarize x.npy -o x.essum");
    let before = run.bytes("m.espan");
    for (args, fact) in [
        ("update auto.espan x.npy -o auto.espan", "an online fit does not support this `lambda`"),
        ("update z.espan x.npy -o z.espan", "an online fit does not support this `normalize`"),
        ("update lpp.espan x.npy -o lpp.espan", "`update` needs a model of PCE or PCA, this is one of `lpp`"),
        ("update x.essum x.npy -o m.espan", "is a summary of samples, not a model"),
        ("update m.espan narrow.npy -o m.espan", "the model was fitted on 12 features, the samples have 5"),
        ("update m.espan bad.npy -o m.espan", "row 7, column 2 (counted from 0) holds NaN"),
        ("update m.espan x.npy --forget 1.5 -o m.espan", "`forget` must be above 0 and at most 1, got 1.5"),
        ("update m.espan x.npy --forget 0 -o m.espan", "`forget` must be above 0 and at most 1, got 0"),
        ("update m.espan x.npy --rank 0 -o m.espan", "`rank` must be at least 1, got 0"),
        ("update m.espan x.npy --dim 9 --rank 4 -o m.espan", "`rank` must be at least the dimension asked for, got 4"),
        ("update m.espan x.npy --energy 0.999 --rank 2 -o m.espan", "carry"),
    ] {
        let output = run.output(args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && said.contains(fact), "{args}: {said}");
        assert_eq!(run.bytes("m.espan"), before, "{args}");
    }
    assert!(run.ok("update auto.espan x.npy --lambda 0.3 -o given.espan").contains("after 300"));
}
