//! The command line: results, messages, exit codes.

mod run;

use std::io::Write as _;
use std::process::{Output, Stdio};

use run::Run;

impl Run {
    fn with_input(&self, args: &str, input: &[u8]) -> Output {
        let mut command = self.command(args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        child.wait_with_output().unwrap()
    }

    /// stderr of a run that ends with `code` and prints nothing.
    fn fails(&self, args: &str, code: i32) -> String {
        let output = self.output(args);
        assert_eq!(output.status.code(), Some(code), "{args}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.is_empty(), "{args} prints a result and fails");
        String::from_utf8(output.stderr).unwrap()
    }

    fn json(&self, args: &str) -> serde_json::Value {
        serde_json::from_str(&self.ok(args)).unwrap()
    }

    #[expect(clippy::disallowed_methods, reason = "a test makes its files")]
    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    /// Row numbers of some of the digits, as a .npy file.
    #[expect(clippy::disallowed_methods, reason = "a test makes its files")]
    fn write_some_digits(&self, name: &str) {
        let header = "{'descr': '<i8', 'fortran_order': False, 'shape': (120,), }";
        let header = format!("{header:<117}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        (0..120i64).for_each(|row| bytes.extend((7 * row).to_le_bytes()));
        std::fs::write(self.path().join(name), bytes).unwrap();
    }
}

#[test]
fn the_demo_finds_the_planted_dimension_and_shows_the_digits() {
    let text = Run::new().ok("demo");
    assert!(text.contains("the true dimension is 12.\n\n   12 of 200 dimensions carry signal"), "{text}");
    assert!(text.contains("21 of 64 dimensions carry signal") && text.contains("CC BY 4.0"), "{text}");
}

#[test]
fn the_report_of_a_fit_has_the_names_that_scripts_depend_on() {
    let report = Run::new().json("fit @digits --lambda 5 --json");
    let expected = "n m k columns lambda tau lambda_rule energy gap solver certified seconds";
    assert!(expected.split(' ').all(|name| !report[name].is_null()), "{report}");
    assert_eq!((&report["n"], &report["m"], &report["lambda"]), (&1797.into(), &64.into(), &5.0.into()));
    assert_eq!((&report["lambda_rule"], &report["certified"]), (&"fixed".into(), &true.into()));
}

#[test]
fn fit_inspect_transform_and_recover_work_together() {
    let run = Run::new();
    let words = run.ok("fit @digits -o digits.espan");
    assert!(
        words.contains("@digits: 1797 samples × 64 features (u8)\n21 of 64") && words.ends_with("wrote digits.espan\n"),
        "{words}"
    );
    let held = run.ok("inspect digits.espan --verify");
    assert!(held.contains("64 features → 21 columns") && held.contains("verified: checksum"), "{held}");
    assert_eq!(run.json("inspect digits.espan --json")["k"], 21);
    assert!(run.ok("inspect digits.espan --svg").starts_with("<svg"));
    run.ok("transform digits.espan @digits -o z.npy");
    assert!(run.bytes("z.npy").starts_with(b"\x93NUMPY") && run.bytes("z.npy").len() == 128 + 1797 * 21 * 8);
    let table = run.ok("transform digits.espan @digits");
    assert_eq!(table.lines().count(), 1798);
    assert!(table.starts_with("pce0,pce1,pce2"), "{}", &table[..40]);
    run.ok("recover digits.espan @digits -o clean.csv --sheet sheet.png --scores scores.csv");
    assert!(run.bytes("sheet.png").starts_with(b"\x89PNG"));
    assert_eq!(String::from_utf8(run.bytes("scores.csv")).unwrap().lines().count(), 1798);
    assert_eq!(String::from_utf8(run.bytes("clean.csv")).unwrap().lines().count(), 1797);
}

#[test]
fn the_same_bytes_for_1_2_and_4_threads_and_again() {
    let run = Run::new();
    for (file, threads) in [("a", 1), ("b", 2), ("c", 4), ("d", 1)] {
        run.ok(&format!("--threads {threads} fit @digits --center -o {file}.espan"));
        run.ok(&format!("--threads {threads} transform {file}.espan @digits -o {file}.npy"));
        assert_eq!(run.bytes("a.espan"), run.bytes(&format!("{file}.espan")));
        assert_eq!(run.bytes("a.npy"), run.bytes(&format!("{file}.npy")));
    }
}

#[test]
fn csv_comes_in_by_pipe_and_goes_out_by_pipe() {
    let run = Run::new();
    let rows: String = (0..40)
        .map(|i| format!("{},{},{},{}\n", i, 2 * i, (i * 7) % 11, if i % 2 == 0 { "up" } else { "down" }))
        .collect();
    let table = format!("a,b,c,state\n{rows}");
    let output = run.with_input("fit - --label state --energy 0.9 --json", table.as_bytes());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["n"], &report["m"], &report["lambda_rule"]), (&40.into(), &3.into(), &"energy".into()));
}

#[test]
fn refusals_say_what_is_wrong_and_what_to_do() {
    let run = Run::new();
    run.write("nan.csv", "1,2\n3,nan\n");
    run.write("wide.csv", "1,2,3\n4,5,7\n");
    run.write("broken.espan", "not a model");
    run.ok("fit @digits -o digits.espan");
    let nan = run.fails("fit nan.csv", 1);
    assert!(nan.starts_with("error: nan.csv") && nan.contains("line 2") && nan.contains("\nhint: "), "{nan}");
    let mismatch = run.fails("transform digits.espan wide.csv", 1);
    assert_eq!(
        mismatch,
        "error: the model was fitted on 64 features, the samples have 3\n\n\
         hint: samples are rows and features are columns: is the matrix transposed?\n"
    );
    assert!(run.fails("inspect broken.espan", 1).contains("is not an .espan model file"));
    assert!(run.fails("fit @digits --energy 95", 1).ends_with("hint: for 95 percent write 0.95\n"));
    assert!(run.fails("fit @digits --dim 65", 1).contains("have rank 61"));
    assert!(run.fails("fit @digits --noise 9999 --strict", 1).contains("no singular value is above the cut"));
    assert!(run.fails("recover digits.espan wide.csv", 2).contains("--output"));
    assert!(run.fails("fit missing.npz", 2).contains("missing.npz"));
    assert!(run.fails("fit @digits --lambda often", 2).contains("expected a number, `auto`"));
    assert!(run.fails("fit @digits --lambda 5 --noise 1", 2).contains("cannot be used with"));
    assert!(run.fails("fit @digits -o no/such/folder.espan", 2).contains("no/such"));
}

#[test]
fn values_too_large_to_be_squared_are_refused_as_input() {
    let run = Run::new();
    run.write("huge.csv", "1,2\n3,1e200\n5,7\n8,1\n");
    run.write("huge_y.csv", "a,x,y\n1,2,u\n3,1e200,u\n5,7,v\n8,1,v\n2,2,u\n7,3,v\n");
    let place = "the value in row 1, column 1 is not finite or too large to be squared";
    let summarized = run.fails("summarize huge.csv -o huge.essum", 1);
    assert!(summarized.contains(place) && summarized.contains("\nhint: "), "{summarized}");
    let classifier = run.fails("fit huge_y.csv --label y --method svm", 1);
    assert!(classifier.contains("too large to be squared"), "{classifier}");
}

#[test]
fn the_direct_solver_finds_the_same_dimension_and_says_that_it_is_not_proved() {
    let run = Run::new();
    let value = |i: usize, j: usize| {
        let signal: f64 = (1..5).map(|r| ((i * r) as f64).sin() * ((j * r * r) as f64).cos() / r as f64).sum();
        signal + 0.01 * ((i * 7919 + j * 104_729 + i * j) as f64).sin()
    };
    let row = |i: usize| (0..450).map(|j| value(i, j).to_string()).collect::<Vec<_>>().join(",") + "\n";
    run.write("wide.csv", &(0..500).map(row).collect::<String>());
    let proved = run.json("fit wide.csv --lambda 0.5 --json");
    let direct = run.json("fit wide.csv --lambda 0.5 --solver direct -o wide.espan --json");
    assert_eq!((&direct["k"], &direct["k_interval"]), (&proved["k"], &proved["k_interval"]));
    assert_eq!((&direct["solver"], &direct["certified"]), (&"krylov".into(), &false.into()));
    assert_eq!(proved["certified"], true);
    assert_eq!(run.json("inspect wide.espan --json")["solver"], "krylov");
    assert!(run.ok("path wide.csv --lambda 0.5 --solver direct --json").contains("steps"));
    let refused = run.fails("fit wide.csv --solver direct", 1);
    assert!(refused.contains("needs all singular values") && refused.contains("hint: give λ"), "{refused}");
}

#[test]
fn a_refused_run_leaves_the_old_file_and_nothing_else() {
    let run = Run::new();
    run.ok("fit @digits -o digits.espan");
    run.write("wide.csv", "1,2,3\n4,5,7\n");
    run.write("z.csv", "old");
    run.fails("transform digits.espan wide.csv -o z.csv", 1);
    assert_eq!(run.bytes("z.csv"), b"old");
    let names: Vec<_> = std::fs::read_dir(run.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn the_path_is_a_staircase_json_or_a_picture() {
    let run = Run::new();
    let path = run.json("path @digits --json");
    let steps = path["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 61); // three pixels are always blank
    assert!(
        steps
            .windows(2)
            .all(|w| w[0]["lambda"].as_f64() < w[1]["lambda"].as_f64() && w[0]["k"].as_u64() < w[1]["k"].as_u64())
    );
    assert_eq!(path["chosen"]["k"], 21);
    assert!(run.ok("path @digits --svg").starts_with("<svg"));
    assert!(run.ok("path @digits").contains("● λ = "));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test makes its files")]
fn rows_are_chosen_by_number_and_checked() {
    let run = Run::new();
    let npy = |numbers: &[i64]| {
        let header = format!("{{'descr': '<i8', 'fortran_order': False, 'shape': ({},), }}", numbers.len());
        let padded = format!("{header:<117}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((padded.len() as u16).to_le_bytes());
        bytes.extend(padded.as_bytes());
        bytes.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
        bytes
    };
    std::fs::write(run.path().join("rows.npy"), npy(&(0..100).collect::<Vec<_>>())).unwrap();
    std::fs::write(run.path().join("far.npy"), npy(&[0, 1797])).unwrap();
    std::fs::write(run.path().join("none.npy"), npy(&[])).unwrap();
    for command in ["fit @digits", "info @digits", "path @digits"] {
        assert!(run.fails(&format!("{command} --rows none.npy"), 1).contains("none.npy names no row"));
    }
    run.ok("fit @digits -o digits.espan");
    assert!(
        run.fails("recover digits.espan @digits --rows none.npy --sheet s.png", 1).contains("none.npy names no row")
    );
    assert_eq!(run.json("fit @digits --rows rows.npy --json")["n"], 100);
    assert!(run.fails("fit @digits --rows far.npy", 1).contains("names row 1797, @digits has rows 0 to 1796"));
}

#[test]
fn info_describes_and_completions_complete() {
    let run = Run::new();
    let info = run.ok("info @digits");
    assert!(info.contains("10 classes of 174 to 183 samples") && info.contains("8 × 8 pixels"), "{info}");
    assert_eq!(run.json("info @digits --json")["max"], 16.0);
    assert!(run.ok("completions bash").contains("eigenspan"));
}

#[test]
fn every_method_fits_and_its_model_is_described_and_used() {
    let run = Run::new();
    let listed = run.ok("methods");
    let names: Vec<&str> = listed.lines().map(|line| line.split_whitespace().next().unwrap()).collect();
    assert!(names.contains(&"npe") && names.contains(&"pce-auto"));
    for name in names {
        let more = match name {
            "nmf" | "nenmf" => "--dim 5 --max-iter 20",
            "lle" | "cesr" | "nn" | "src" => "",
            "svm" => "--cost 0.5 --bias 1 --set max_iter=50",
            _ => "--dim 5",
        };
        run.write_some_digits("some.npy");
        let fitted = run.json(&format!("fit @digits --rows some.npy --method {name} {more} -o m.espan --json"));
        assert_eq!(fitted["method"], name);
        assert_eq!(run.json("inspect m.espan --verify --json")["why"], fitted["why"]);
        assert!(run.ok("inspect m.espan").contains(&format!("{} model", name.to_uppercase())));
        match name {
            "lle" => assert!(run.fails("transform m.espan @digits", 1).contains("no map")),
            _ => {
                let header = run.ok("transform m.espan @digits --rows some.npy").lines().next().unwrap().to_string();
                assert!(header.starts_with(&format!("{}0", name.replace('-', ""))), "{header}");
            }
        }
    }
}

#[test]
fn every_setting_of_every_method_is_set_by_its_name() {
    let run = Run::new();
    run.write_some_digits("some.npy");
    let settings = |args: &str| -> serde_json::Value {
        run.ok(&format!("fit @digits --rows some.npy {args} -o m.espan"));
        let described = run.ok("inspect m.espan");
        let line = described.lines().find_map(|line| line.strip_prefix("settings  ")).unwrap();
        serde_json::from_str(line).unwrap()
    };
    for line in run.ok("methods").lines() {
        let name = line.split_whitespace().next().unwrap();
        let more = match name {
            "nmf" | "nenmf" => "--dim 5 --max-iter 20",
            "lle" | "cesr" | "nn" | "src" | "svm" => "",
            _ => "--dim 5",
        };
        let expected = settings(&format!("--method {name} {more}"));
        let set = |(setting, value): (&String, &serde_json::Value)| format!("--set {setting}={value}");
        let own = expected.as_object().unwrap().iter().filter(|(setting, _)| *setting != "method");
        let flags: Vec<String> = own.map(set).collect();
        let method = expected["method"].as_str().unwrap();
        assert_eq!(settings(&format!("--method {method} {}", flags.join(" "))), expected, "{name}");
    }
}

#[test]
fn flags_of_other_methods_are_refused_by_name() {
    let run = Run::new();
    for (args, flag, method) in [
        ("--neighbours 3", "--neighbours", "pce"),
        ("--method pca --neighbours 3", "--neighbours", "pca"),
        ("--method pca --weights soft", "--weights", "pca"),
        ("--method pce-auto --gamma 0.5", "--gamma", "pce-auto"),
        ("--method npe --unit-features", "--unit-features", "npe"),
        ("--method pca --lambda 3", "--lambda", "pca"),
        ("--method npe --noise 3", "--noise", "npe"),
        ("--method npe --metric cosine", "--metric", "npe"),
        ("--method lpp --center", "--center", "lpp"),
        ("--method src --cost 2", "--cost", "src"),
    ] {
        let said = run.fails(&format!("fit @digits {args}"), 1);
        assert!(said.contains(&format!("`{flag}` has no effect with the method `{method}`")), "{args}: {said}");
    }
    assert!(run.fails("fit @digits --method lle --as-published", 1).contains("the paper does not run `lle`"));
    assert!(run.fails("fit @digits --method magic", 2).contains("magic"));
    assert!(run.fails("fit @digits --method lpp --weights hot", 1).contains("expected `heat`, `binary` or `cosine`"));
    let unknown = run.fails("fit @digits --method npe --set rigde=1", 1);
    assert!(unknown.contains("`npe` has no setting `rigde`") && unknown.contains("ridge"), "{unknown}");
    assert!(run.fails("fit @digits --method npe --set ridge", 2).contains("as in dim=30"));
    assert!(run.fails("fit @digits --low-rank a.npy", 1).contains("`--low-rank` has no effect with the method `pce`"));
    assert!(!run.path().join("a.npy").exists());
}

#[test]
fn soft_weights_are_chosen_by_the_labels_of_the_file_and_it_says_so() {
    let run = Run::new();
    let auto = run.json("fit @digits --method pce-auto --json -o auto.espan");
    assert_eq!((&auto["method"], &auto["chosen"]["tried"]), (&"pce-auto".into(), &1797.into()));
    assert_eq!(auto["chosen"]["trials"].as_array().unwrap().len(), 25);
    assert!(auto["columns"].as_u64() >= auto["k"].as_u64() && auto["gamma"] == auto["chosen"]["gamma"]);
    assert!(auto["why"].as_str().unwrap().contains("knows most of 1797 samples"), "{}", auto["why"]);
    assert_eq!(run.json("inspect auto.espan --json")["chosen"], auto["chosen"]);
    run.ok("transform auto.espan @digits -o z.npy");
    assert_eq!(run.json("info z.npy --json")["m"], auto["columns"]);
    let same = run.json("fit @digits --weights auto --unit-features --json");
    assert_eq!(same["chosen"], auto["chosen"]);
    let soft = run.json("fit @digits --weights soft --gamma 0.25 --json");
    assert_eq!((&soft["method"], &soft["gamma"], &soft["k"]), (&"pce".into(), &0.25.into(), &21.into()));
    let hard = run.json("fit @digits --weights hard --json");
    assert!(hard.get("gamma").is_none() && hard.get("chosen").is_none() && hard["columns"] == 21);
    assert!(
        run.fails("fit @digits --weights heavy", 1).contains("does not take `weights = \"heavy\"`: expected `hard`")
    );
    assert!(run.fails("fit @digits --gamma 0.5", 1).contains("`--gamma` has no effect with these weights"));
    assert!(run.fails("fit @digits --weights soft --gamma -1", 1).contains("`gamma` must be a number from 0"));
}

#[test]
fn classifiers_need_classes() {
    let run = Run::new();
    run.write("bare.csv", "1,2\n3,4\n5,6\n");
    assert!(run.fails("fit bare.csv --method nn", 1).contains("needs the class of every sample"));
}

#[test]
fn both_parts_of_robust_pca_are_written_and_add_up() {
    let run = Run::new();
    run.write("x.csv", "1,2,3\n2,4,6\n3,6,9\n4,8,12\n5,10,15\n6,12,99\n");
    run.ok("fit x.csv --method robust-pca --low-rank a.csv --sparse e.csv --features z.csv");
    let table = |name: &str| {
        let text = String::from_utf8(run.bytes(name)).unwrap();
        let rows = text.lines().filter(|line| !line.contains(char::is_alphabetic) || line.contains('e'));
        rows.map(|line| line.split(',').filter_map(|v| v.parse::<f64>().ok()).collect::<Vec<_>>())
            .filter(|row| !row.is_empty())
            .collect::<Vec<_>>()
    };
    let (a, e, x) = (table("a.csv"), table("e.csv"), table("x.csv"));
    for i in 0..6 {
        for j in 0..3 {
            assert!((a[i][j] + e[i][j] - x[i][j]).abs() < 1e-3, "{i} {j}");
        }
    }
}

#[test]
fn estimators_of_the_dimension_stand_side_by_side() {
    let run = Run::new();
    run.write_some_digits("some.npy");
    let text = run.ok("dimension @digits --rows some.npy");
    for name in ["mle", "mind-ml", "mind-kl", "danco", "two-nn", "correlation", "minka", "parallel-analysis", "pce"] {
        assert!(text.contains(&format!("\n{name} ")), "{name}: {text}");
    }
    assert!(text.lines().last().unwrap().contains(" of 11 say "), "{text}");
    let rows = run.json("dimension @digits --rows some.npy --method mle,danco --json");
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for (row, name) in rows.iter().zip(["mle", "danco"]) {
        assert_eq!(row["method"], name);
        assert!(row["dimension"].as_f64().unwrap() > 1.0 && row["seconds"].as_f64().unwrap() >= 0.0);
        assert_eq!(row["settings"]["neighbours"], 10);
    }
    let again = run.json("dimension @digits --rows some.npy --method danco --json --threads 1");
    assert_eq!(again[0]["dimension"], rows[1]["dimension"]);
}

#[test]
fn neighbours_are_swept_and_balls_are_computed_once() {
    let run = Run::new();
    run.write_some_digits("some.npy");
    let args = "dimension @digits --rows some.npy --method mle,danco --neighbours 8..14:3 --calibration b.json --json";
    let first = run.json(args);
    let ks: Vec<_> =
        first.as_array().unwrap().iter().map(|row| row["settings"]["neighbours"].as_u64().unwrap()).collect();
    assert_eq!(ks, [8, 11, 14, 8, 11, 14]);
    let file = run.bytes("b.json");
    let second = run.json(args);
    assert_eq!(run.bytes("b.json"), file, "nothing was added");
    for (a, b) in first.as_array().unwrap().iter().zip(second.as_array().unwrap()) {
        assert_eq!(a["dimension"], b["dimension"]);
    }
    run.write("b.json", "{}");
    assert!(run.fails(args, 1).contains("is not a calibration file"));
}

#[test]
fn what_an_estimator_cannot_do_is_said_and_stops_no_other() {
    let run = Run::new();
    run.write("wide.csv", "1,2,3,4\n2,3,5,8\n4,5,4,9\n");
    let rows = run.json("dimension wide.csv --json");
    let refused = |name: &str| {
        let row = rows.as_array().unwrap().iter().find(|row| row["method"] == name).unwrap();
        row["refused"].as_str().unwrap_or_default().to_string()
    };
    assert!(refused("mle").contains("12 samples are needed"));
    assert!(refused("minka").contains("at least as many samples as features"));
    assert_eq!(refused("pce"), "");
    assert!(run.fails("dimension wide.csv --method mle", 1).contains("12 samples are needed"));
    assert!(
        run.fails("dimension @digits --method minka --neighbours 3", 1)
            .contains("`--neighbours` has no effect with `minka`")
    );
    assert!(run.fails("dimension @digits --neighbours 3..1", 2).contains("10..30:2"));
    assert!(run.fails("dimension @digits --method magic", 2).contains("magic"));
}

#[test]
fn evaluate_compares_methods_and_says_so_in_json() {
    let run = Run::new();
    run.write_some_digits("rows.npy");
    let command =
        "evaluate @digits --rows rows.npy --method pce --method pca:dim=9 --classifier nn,nn-cosine --repeats 2";
    let rows = run.json(&format!("{command} --json"));
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for (row, (method, classifier)) in
        rows.iter().zip([("pce", "nn"), ("pce", "nn-cosine"), ("pca:dim=9", "nn"), ("pca:dim=9", "nn-cosine")])
    {
        assert_eq!((&row["method"], &row["classifier"]), (&method.into(), &classifier.into()));
        assert!((30.0..=100.0).contains(&row["accuracy_mean"].as_f64().unwrap()), "{row}");
        assert!(row["accuracy_sd"].as_f64().unwrap() >= 0.0 && row["seconds"].as_f64().unwrap() > 0.0);
        assert!(row["k"].as_u64().unwrap() > 0 && row["columns"].as_u64().unwrap() > 0);
    }
    let table = run.ok(command);
    assert!(table.starts_with("| method    | classifier | accuracy (%)"), "{table}");
    assert_eq!(table.lines().count(), 6);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test makes its files")]
fn evaluate_goes_on_where_it_was_and_does_not_depend_on_threads() {
    let run = Run::new();
    run.write_some_digits("rows.npy");
    let command =
        "evaluate @digits --rows rows.npy --method lpp:dim=5 --split stratified --train 60 --repeats 3 --json";
    let accuracies = |flags: &str| run.json(&format!("{command} {flags}"))[0]["accuracies"].clone();
    let whole = accuracies("--threads 1 --cache cells.jsonl");
    assert_eq!(whole.as_array().unwrap().len(), 3);
    let bytes = run.bytes("cells.jsonl");
    std::fs::write(run.path().join("cells.jsonl"), &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(accuracies("--threads 2 --cache cells.jsonl"), whole);
}

#[test]
fn evaluate_refuses_what_it_cannot_judge() {
    let run = Run::new();
    run.write("plain.csv", "a,b\n1,2\n3,4\n5,7\n");
    let said = run.fails("evaluate plain.csv", 1);
    assert!(said.contains("plain.csv has no classes") && said.contains("--label"), "{said}");
    assert!(run.fails("evaluate @digits --method tsne", 1).contains("there is no method `tsne`"));
    assert!(run.fails("evaluate @digits --method npe:lambda=3", 1).contains("`npe` has no setting `lambda`"));
    assert!(run.fails("evaluate @digits --train 1.5", 2).contains("a share between 0 and 1"));
    assert!(run.fails("evaluate @digits --classifier oracle", 2).contains("oracle"));
}

#[test]
fn corrupted_samples_are_told_apart_less_often() {
    let run = Run::new();
    let command = "evaluate @digits --method pca:dim=12 --repeats 2 --json";
    let mean = |flags: &str| run.json(&format!("{command} {flags}"))[0]["accuracy_mean"].as_f64().unwrap();
    let clean = mean("");
    assert!(mean("--corrupt rpc:0.5") < clean - 5.0);
    assert!(mean("--corrupt rpc:0.5 --corrupt-share 0.0") == clean);
    assert!(run.fails("evaluate @digits --corrupt fog:1", 2).contains("is no corruption"));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test looks at the file that was written")]
fn reproduce_lists_what_there_is_and_says_what_is_missing() {
    let run = Run::new();
    let list = run.ok("reproduce --list");
    for name in ["table2", "table3b", "table11", "fig1", "fig3a", "fig6b", "claims", "complexity"] {
        assert!(list.contains(&format!("| {name} ")), "{name}: {list}");
    }
    let said = run.fails("reproduce table3 --data .", 1);
    assert!(said.contains("`exyaleb_54x48_first58.npz`") && said.contains("CroppedYale.zip"), "{said}");
    assert!(run.fails("reproduce table99", 1).contains("there is no table or figure `table99`"));
    let claims = run.ok("reproduce claims --output out");
    assert!(claims.contains("| RPC 30 %: 23.23 "), "{claims}");
    assert_eq!(std::fs::read_to_string(run.path().join("out/claims.md")).unwrap() + "\n", claims);
    let json: serde_json::Value = serde_json::from_slice(&run.bytes("out/claims.json")).unwrap();
    assert_eq!(json["name"], "claims");
}
