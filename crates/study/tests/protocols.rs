//! Protocols carried out on the built-in digits.

use eigenspan_core::Exec;
use eigenspan_core::data::Dataset;
use eigenspan_core::dimension::{Calibration, Estimator, Near};
use eigenspan_study::cache::Cache;
use eigenspan_study::cell::{Cell, Partition, Reading, SplitRule, Take, TrainSize};
use eigenspan_study::clock::Still;
use eigenspan_study::estimated;
use eigenspan_study::experiment::{Supply, carry_out};
use eigenspan_study::protocol::Protocol;
use eigenspan_study::report::{Line, Report, figure};
use eigenspan_study::reproduce::{Options, run};
use eigenspan_study::run::{Runner, Subject, Workers};
use eigenspan_study::settings::{classifier, method_of_text};

const TINY: &str = r#"
name = "tiny"
printed = "nowhere"
title = "digits"
about = "A few digits."
show = "accuracies"
classifiers = ["nn", "svm"]
repeats = 2
seed = 3

[[case]]
name = "clean"
train = 150
paper = "3"

[[case]]
name = "corrupted"
train = 150
tune_columns = 20

[[method]]
name = "PCE"
method = "pce"
set = { rank_rule = "released" }
parameter = ["lambda"]
grid = { lambda = [0.1, 1, 10] }

[[method]]
name = "Eigenfaces"
method = "eigenfaces"
set = { dim = 8 }
"#;

fn digits() -> Dataset {
    let index: Vec<usize> = (0..300).map(|i| 5 * i).collect();
    eigenspan_io::embedded::digits().select_rows(&index).unwrap()
}

fn runner(cache: Cache) -> Runner<'static> {
    Runner { cache, clock: &Still, exec: Exec::default() }
}

fn subjects(data: &Dataset) -> Vec<Subject> {
    vec![Subject::new("clean", data.clone()).unwrap(), Subject::new("corrupted", data.clone()).unwrap()]
}

fn lines(tune: bool, cache: Cache) -> Vec<Line> {
    let protocol = Protocol::parse("tiny", TINY).unwrap();
    let options = Options { tune, ..Options::default() };
    run(&protocol, &subjects(&digits()), options, &mut runner(cache)).unwrap().0
}

#[test]
fn parameters_are_the_papers_unless_they_are_tuned() {
    let parameters = |lines: &[Line]| lines.iter().map(|line| line.parameter.clone()).collect::<Vec<_>>();
    let printed = lines(false, Cache::in_memory());
    // Cases × methods × classifiers; SVM and NN of the paper's Table 3 have λ = 50 and 5.
    assert_eq!(printed.len(), 8);
    assert_eq!(parameters(&printed)[..4], ["λ = 5", "λ = 50", "", ""]);
    let paper = printed[0].paper.as_ref().unwrap();
    assert_eq!((paper.accuracy, paper.classifier.as_str()), (97.03, "NN"));
    let distance = (printed[0].row.accuracy_mean - 97.03) / 0.57;
    assert!((printed[0].distance.unwrap() - distance).abs() < 1e-12);
    let tuned = lines(true, Cache::in_memory());
    assert!(["λ = 0.1", "λ = 1", "λ = 10"].contains(&tuned[0].parameter.as_str()));
    // Of the second case the columns of Eigenfaces are tuned, and those of PCE are not.
    assert!(tuned[4].best_on_test.is_none());
    let best = tuned[6].best_on_test.unwrap();
    assert!(tuned[6].parameter.starts_with("m′ = ") && best.accuracy >= tuned[6].row.accuracy_mean);
    assert!((1..=20).contains(&best.columns));
}

#[test]
fn tuning_looks_at_partition_zero_alone() {
    let protocol = Protocol::parse("tiny", TINY).unwrap();
    let options = Options { tune: true, ..Options::default() };
    let clean = digits();
    let labels = clean.labels.clone().unwrap();
    let partition = Partition { rule: SplitRule::Random, train: TrainSize::Total(150), seed: 3, repeat: 0 };
    let zero = partition.split(&labels).unwrap();
    let found = |data: &Dataset| run(&protocol, &subjects(data), options, &mut runner(Cache::in_memory())).unwrap().0;
    let chosen = |lines: &[Line]| lines.iter().map(|line| line.parameter.clone()).collect::<Vec<_>>();
    let before = found(&clean);
    // Classes that tuning tests on are mixed up: with nothing to go by, other parameters are chosen …
    let mut corrupted = clean.clone();
    let of = &mut corrupted.labels.as_mut().unwrap().of;
    zero.test.iter().for_each(|&i| of[i] = (of[i] + 1 + i % 9) % 10);
    assert_ne!(chosen(&before), chosen(&found(&corrupted)));
    // … and a run at other reported partitions, with the same partition 0, chooses the same.
    let more = Options { repeats: Some(1), ..options };
    let fewer = run(&protocol, &subjects(&clean), more, &mut runner(Cache::in_memory())).unwrap().0;
    assert_eq!(chosen(&before), chosen(&fewer));
    for line in &before {
        assert_eq!(line.row.accuracies.len(), 2);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test that damages a file")]
fn a_run_cut_at_any_cell_ends_with_the_same_lines() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cells.jsonl");
    let whole = lines(true, Cache::open(&path).unwrap());
    let bytes = std::fs::read(&path).unwrap();
    let ends: Vec<usize> = (0..bytes.len()).filter(|&i| bytes[i] == b'\n').collect();
    for cut in ends.iter().map(|end| end + 1).chain([ends[0] / 2, bytes.len() - 9]) {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        assert_eq!(lines(true, Cache::open(&path).unwrap()), whole, "cut after {cut} bytes");
    }
}

#[test]
fn a_table_reads_as_it_always_did() {
    let report = |lines: Vec<Line>| Report {
        name: "tiny".into(),
        printed: "nowhere".into(),
        title: "digits".into(),
        about: "A few digits.".into(),
        notes: vec!["Beware.".into()],
        eigenspan: "0.0.0".into(),
        seed: 3,
        repeats: 2,
        tuned: false,
        synthetic: false,
        workers: Some(Workers { fits: 2, threads: 1 }),
        data: vec![],
        lines,
        table: None,
        warnings: vec![],
    };
    let all = report(lines(false, Cache::in_memory())[..3].to_vec());
    let text = all.markdown(&[]);
    let expected: Vec<&str> = GOLDEN.trim_start().lines().collect();
    assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{text}");
    let again: Report = serde_json::from_str(&all.json()).unwrap();
    assert_eq!(again, all);
    assert!(
        all.csv().starts_with(
            "method,classifier,parameter,k,accuracy,paper,difference,÷ paper's sd,seconds,paper's\nPCE,nn,"
        )
    );
}

const GOLDEN: &str = r"
# tiny (nowhere): digits

A few digits.

| method     | classifier | parameter |   k |     accuracy |        paper | difference | ÷ paper's sd | seconds | paper's |
|------------|------------|-----------|----:|-------------:|-------------:|-----------:|-------------:|--------:|--------:|
| PCE        | nn         | λ = 5     |  29 | 88.33 ± 1.41 | 97.03 ± 0.57 |      -8.70 |        -15.3 |   0.000 |    6.96 |
| PCE        | svm        | λ = 50    |  48 | 85.33 ± 2.83 | 98.93 ± 0.18 |     -13.60 |        -75.5 |   0.000 |    7.44 |
| Eigenfaces | nn         | –         |   8 | 89.33 ± 0.94 | 82.53 ± 1.70 |      +6.80 |         +4.0 |   0.000 |    4.97 |

* Beware.

eigenspan 0.0.0 · seed 3 · 2 partitions, the paper's parameters · seconds of 2 fits side by side, 1 thread each
";

#[test]
fn along_an_axis_every_place_is_a_line_and_a_point() {
    let text = TINY.split("[[case]]").next().unwrap().replace("\"accuracies\"", "\"curves\"").replace(", \"svm\"", "");
    let case = "[[case]]\nname = \"half\"\nshare = 0.5\n\n";
    let pce = "[[method]]\nname = \"PCE\"\nmethod = \"pce\"\n";
    let subject = [Subject::new("digits", digits()).unwrap()];
    for (axis, count) in [
        ("of = \"lambda\"\nfrom = 1\nto = 9\nstep = 2", 5),
        ("of = \"columns\"\nfrom = 1\nto = 20\nstep = 2", 10),
        ("of = \"train\"\nfrom = 50\nto = 150\nstep = 50", 3),
        ("of = \"each\"\nfrom = 2\nto = 4\nstep = 1", 3),
    ] {
        let protocol = Protocol::parse("x", &format!("{text}{case}[axis]\nlabel = \"x\"\n{axis}\n\n{pce}")).unwrap();
        let (lines, _) = run(&protocol, &subject, Options::default(), &mut runner(Cache::in_memory())).unwrap();
        let places: Vec<usize> = lines.iter().map(|line| line.x.unwrap() as usize).collect();
        assert_eq!(places, protocol.axis.as_ref().unwrap().values());
        assert_eq!(places.len(), count);
        let mut report = carry_out(
            &Protocol::named("claims").unwrap(),
            &Supply::default(),
            Options::default(),
            &mut runner(Cache::in_memory()),
        )
        .unwrap()
        .report;
        report.lines = lines;
        let svg = figure(&protocol, &report).unwrap();
        assert_eq!(svg.matches("class=\"p c0\"").count(), count, "{svg}");
    }
}

#[test]
fn without_data_the_claims_still_stand_beside_the_papers_own_tables() {
    let product = carry_out(
        &Protocol::named("claims").unwrap(),
        &Supply::default(),
        Options::default(),
        &mut runner(Cache::in_memory()),
    );
    let table = product.unwrap().report.table.unwrap();
    let row = table.rows.iter().find(|row| row[0].starts_with("RPC 30 %")).unwrap();
    assert_eq!(row[2..], ["23.23", "17.72", "–", "overlooks ROSL"]);
}

#[test]
fn synthetic_faces_are_called_so_wherever_they_are_shown() {
    let supply = Supply { synthetic: true, ..Supply::default() };
    let fig1 = Protocol::named("fig1").unwrap();
    let product = carry_out(&fig1, &supply, Options::default(), &mut runner(Cache::in_memory())).unwrap();
    assert!(product.report.synthetic && product.report.data[0].name == "synthetic faces for ar");
    assert!(product.report.markdown(&[]).starts_with("# fig1 (Fig. 1): 700 AR faces – on synthetic faces\n"));
    let svg = String::from_utf8(product.figures[1].1.clone()).unwrap();
    assert!(svg.contains("<title>700 AR faces – on synthetic faces: singular values of C</title>"));
    // Theorem: C is a projector of rank k.
    let row = &product.report.table.unwrap().rows[0];
    assert_eq!(row[2], row[3]);
}

#[test]
fn features_of_length_one_stand_beside_the_same_row_of_the_paper() {
    let text = r#"
name = "lengths"
printed = "nowhere"
title = "digits"
about = "A few digits."
show = "accuracies"
classifiers = ["nn", "nn-cosine"]
repeats = 3
seed = 3

[[case]]
name = "clean"
train = 150
paper = "3"

[[method]]
name = "NPE"
method = "npe"
set = { neighbours = 7, dim = 12 }

[[method]]
name = "NPE, unit features"
row = "NPE"
method = "npe"
unit_features = true
set = { neighbours = 7, dim = 12 }
"#;
    let protocol = Protocol::parse("lengths", text).unwrap();
    let subjects = &subjects(&digits())[..1];
    let cache = &mut runner(Cache::in_memory());
    let lines = run(&protocol, subjects, Options::default(), cache).unwrap().0;
    let [plain, by_angle, unit, unit_by_angle] = &lines[..] else { panic!("{} rows", lines.len()) };
    assert_eq!(cache.cache.len(), 3, "one fit a partition serves both");
    assert_eq!((plain.paper.as_ref(), unit.paper.as_ref().unwrap().accuracy), (unit.paper.as_ref(), 93.35));
    assert_ne!(plain.row.accuracies, unit.row.accuracies, "lengths matter, or the test says nothing");
    assert_eq!(by_angle.row.accuracies, unit_by_angle.row.accuracies);
    for (angle, unit) in by_angle.row.accuracies.iter().zip(&unit.row.accuracies) {
        // The nearest of unit length is the nearest by the angle; rounding may decide a tie.
        assert!((angle - unit).abs() <= 100.0 / 150.0, "{angle} {unit}");
    }
}

const ESTIMATED: &str = r#"
name = "estimated"
printed = "nowhere"
title = "digits"
about = "A few digits."
show = "estimated"
classifiers = ["nn"]
repeats = 2
seed = 3

[[case]]
name = "clean"
train = 150
paper = "12"

[[method]]
name = "PCE"
method = "pce"
at = { all = { lambda = 30 } }

[[method]]
name = "MLE+PCA"
method = "eigenfaces"
estimator = { of = "mle", neighbours = 10 }
"#;

#[test]
fn estimators_count_the_columns_of_the_method_behind_them() {
    let protocol = Protocol::parse("estimated", ESTIMATED).unwrap();
    let subjects = &subjects(&digits())[..1];
    let cache = &mut runner(Cache::in_memory());
    let (lines, _) = estimated::run(&protocol, subjects, Options::default(), cache).unwrap();
    assert_eq!(lines.iter().map(|line| line.paper.as_ref().unwrap().accuracy).collect::<Vec<_>>(), [90.31, 68.29]);
    assert_eq!(lines[0].parameter, "λ = 30");
    let mut estimates = vec![];
    for repeat in 1..=2 {
        let partition = Partition { rule: SplitRule::Random, train: TrainSize::Total(150), seed: 3, repeat };
        let split = partition.split(subjects[0].data.labels.as_ref().unwrap()).unwrap();
        let train = subjects[0].data.select_rows(&split.train).unwrap();
        let mle = Estimator::named("mle").unwrap().with_neighbours(10).unwrap();
        let near = Near::of(train.samples.view(), mle.neighbours(), Exec::default()).unwrap();
        let known = &mut Calibration::default();
        let found = mle.estimate(train.samples.view(), &near, known, Exec::default()).unwrap().dimension;
        let at = repeat as usize - 1;
        assert_eq!(lines[1].row.dimensions[at], found.ceil() as usize);
        let method = method_of_text(&format!("eigenfaces:dim={}", found.ceil()), true).unwrap();
        let readings = vec![Reading { take: Take::All, classifiers: vec![classifier("nn", true).unwrap()] }];
        let cell = Cell { partition, method, readings };
        let by_itself = cell.measure(&subjects[0].data, &Still, Exec::default()).unwrap();
        assert_eq!(lines[1].row.accuracies[at], by_itself.readings[0].scores[0].accuracy);
        estimates.push(found);
    }
    let mean = (estimates[0] + estimates[1]) / 2.0;
    assert_eq!(lines[1].parameter, format!("neighbours 10, d = {mean:.2}"));
}

#[test]
fn what_is_no_estimator_with_neighbours_is_refused() {
    for (from, to, words) in [
        ("of = \"mle\"", "of = \"minka\"", "there is no estimator with neighbours `minka`"),
        ("of = \"mle\"", "of = \"magic\"", "there is no estimator with neighbours `magic`"),
        ("method = \"eigenfaces\"", "method = \"npe\"", "counts the columns of `eigenfaces`"),
        ("show = \"estimated\"", "show = \"accuracies\"", "is shown as `estimated`"),
    ] {
        let error = Protocol::parse("x", &ESTIMATED.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn synthetic_faces_stand_for_what_is_not_there_and_other_cases_are_left_out() {
    let protocol = Protocol::named("table12").unwrap();
    assert!(Supply::default().has(&protocol));
    // Both subjects of the smallest kind would take minutes: what is requested follows from the data alone.
    let nothing = Protocol { methods: vec![], ..protocol };
    let empty = tempfile::tempdir().unwrap();
    let supply = Supply { folder: Some(empty.path().into()), synthetic: false };
    let product = carry_out(&nothing, &supply, Options::default(), &mut runner(Cache::in_memory())).unwrap();
    let names: Vec<&str> = product.report.data.iter().map(|data| data.name.as_str()).collect();
    assert_eq!(names, ["synthetic faces for ar"]);
}
