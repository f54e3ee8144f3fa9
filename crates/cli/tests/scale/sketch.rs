//! Samples too wide for a Gram matrix.

use crate::{Run, k, samples, some};

fn solver(json: &str) -> (String, bool) {
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    (json["solver"].as_str().unwrap().into(), json["certified"].as_bool().unwrap())
}

#[test]
fn wide_samples_are_sketched_to_the_model_of_a_fit_in_memory() {
    let run = Run::new();
    let x = samples(360, 5200);
    run.write("x.npy", &x);
    run.write("a.npy", &some(&x, 0..100));
    run.write("b.npy", &some(&x, 100..360));
    for rule in ["--lambda 0.1", "--dim 6", "--energy 0.3 --center"] {
        let inside = k(&run.ok(&format!("fit x.npy {rule} --json")));
        let mut models = vec![];
        for more in ["--max-memory 400MB", "--max-memory 2GB --threads 1", "--form sketch --threads 4"] {
            let json = run.ok(&format!("fit x.npy {rule} {more} --json -o m.espan"));
            assert_eq!((k(&json).0, &solver(&json).0[..]), (inside.0, "sketch"), "{rule} {more}: {json}");
            models.push(run.bytes("m.espan"));
        }
        assert!(models.windows(2).all(|pair| pair[0] == pair[1]), "{rule}");
        assert_eq!(k(&run.ok(&format!("fit a.npy b.npy {rule} --json"))).0, inside.0);
    }
    run.ok("transform m.espan x.npy -o z.npy");
    let words = run.ok("inspect m.espan");
    assert!(words.contains("Gaussian columns"), "{words}");
    // Gram and triangle are kept where they are asked for, and for the rules that need them.
    assert_eq!(solver(&run.ok("fit x.npy --lambda 0.1 --form sketch --passes 2 --json")).0, "sketch");
    let said = run.refused("fit x.npy --max-memory 300MB");
    assert!(
        said.contains("a summary of 5200 features takes") && said.contains("`--form sketch` needs far less"),
        "{said}"
    );
}

#[test]
fn what_a_sketch_cannot_do_is_refused_in_words() {
    let run = Run::new();
    run.write("x.npy", &samples(300, 80));
    let sketch = "fit x.npy --form sketch";
    assert!(run.refused(sketch).contains("the rule `auto` needs all singular values"));
    assert!(run.refused(&format!("{sketch} --lambda 1 --normalize zscore")).contains("a sketch does not support"));
    assert!(run.refused(&format!("{sketch} --lambda 1 --checkpoint c")).contains("writes no checkpoint"));
    assert!(run.refused(&format!("{sketch} --lambda 1 --passes 1")).contains("`passes` must be between 2 and 64"));
    let small = run.refused(&format!("{sketch} --lambda 1 --max-memory 1MB"));
    assert!(small.contains("a sketch of 80 features takes") && small.contains("hint: allow"), "{small}");
    assert!(run.refused("fit - --form sketch --lambda 1").contains("standard input cannot be read a second time"));
    assert!(run.refused("fit x.npy --form gram --passes 3").contains("`--passes` has no effect with a summary"));
    assert!(
        run.refused("summarize x.npy --form sketch --lambda 1 -o s.essum").contains("reads its samples several times")
    );
    // Too few readings for a cut among values that lie close: an interval, a warning, no claim.
    let output =
        run.output("fit x.npy --form sketch --lambda 3 --passes 2 --sketch-columns 12 --normalize none --json");
    assert!(output.status.success());
    let json = String::from_utf8(output.stdout).unwrap();
    let inside = k(&run.ok("fit x.npy --lambda 3 --normalize none --json")).0;
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let ends = [0, 1].map(|i| value["k_interval"][i].as_u64().unwrap());
    assert!(ends[0] <= inside && inside <= ends[1] && ends[0] < ends[1], "{json}");
    assert!(!solver(&json).1 && String::from_utf8(output.stderr).unwrap().contains("do not settle the answer"));
}
