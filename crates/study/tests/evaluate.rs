//! Methods and classifiers on the built-in digits.

use std::num::NonZero;

use eigenspan_core::classify::{Classifier, accuracy};
use eigenspan_core::data::Dataset;
use eigenspan_core::exec::Quiet;
use eigenspan_core::{Exec, Lambda, PceParams, RankRule};
use eigenspan_study::cache::Cache;
use eigenspan_study::cell::{Cell, Partition, Reading, SplitRule, Take, TrainSize};
use eigenspan_study::clock::{Clock, Still};
use eigenspan_study::evaluate::Evaluation;
use eigenspan_study::plan::{Case, Plan};
use eigenspan_study::results::Row;
use eigenspan_study::run::{Runner, Subject, Workers};
use eigenspan_study::settings::{classifier, method_of_text, with_unit_samples};

fn digits() -> Dataset {
    let index: Vec<usize> = (0..360).map(|i| 4 * i).collect();
    eigenspan_io::embedded::digits().select_rows(&index).unwrap()
}

fn evaluation(methods: &[&str], classifiers: &[&str]) -> Evaluation {
    Evaluation {
        methods: methods.iter().map(|text| (text.to_string(), method_of_text(text, false).unwrap())).collect(),
        classifiers: classifiers.iter().map(|name| (name.to_string(), classifier(name, false).unwrap())).collect(),
        rule: SplitRule::Random,
        train: TrainSize::Share(0.5),
        repeats: 3,
        seed: 1,
    }
}

fn run(evaluation: &Evaluation, cache: Cache, threads: usize) -> Vec<Row> {
    let exec = Exec::new(NonZero::new(threads), &Quiet);
    let subject = Subject::new("digits", digits()).unwrap();
    evaluation.run(&subject, &mut Runner { cache, clock: &Still, exec }).unwrap().0
}

const METHODS: [&str; 5] = ["pce:lambda=5", "pce:lambda=1", "pca:dim=12", "npe:neighbours=7,dim=12", "nn"];

#[test]
fn threads_do_not_matter_and_methods_that_classify_judge_themselves() {
    let evaluation = evaluation(&METHODS, &["nn", "nn-cosine"]);
    let rows = run(&evaluation, Cache::in_memory(), 1);
    assert_eq!(rows, run(&evaluation, Cache::in_memory(), 2));
    assert_eq!(rows.len(), 9);
    assert_eq!((rows[8].method.as_str(), rows[8].classifier.as_str()), ("nn", "own"));
    for row in &rows {
        assert!((70.0..100.0).contains(&row.accuracy_mean), "{row:?}");
        assert_eq!((row.accuracies.len(), row.samples), (3, [180, 180]));
    }
}

#[test]
fn fits_run_side_by_side_unless_they_are_timed() {
    let workers = |threads, timed| {
        let exec = Exec::new(NonZero::new(threads), &Quiet);
        Runner { cache: Cache::in_memory(), clock: &Still, exec }.workers(timed)
    };
    for (threads, fits, each) in [(1, 1, 1), (2, 2, 1), (3, 3, 1), (9, 8, 1), (64, 8, 8)] {
        assert_eq!(workers(threads, false), Workers { fits, threads: each });
        assert_eq!(workers(threads, true), Workers { fits: 1, threads });
    }
    assert_eq!(workers(4, true).to_string(), "seconds of 4 threads");
    // What was measured in company is measured again where the time counts, and not a second time.
    let subject = [Subject::new("digits", digits()).unwrap()];
    let mut plan = Plan::default();
    let case = plan.case(Case { subject: 0, rule: SplitRule::Random, train: TrainSize::Share(0.5), seed: 1 });
    plan.want(case, &method_of_text("pce", false).unwrap(), Take::All, &classifier("nn", false).unwrap());
    let mut runner = Runner { cache: Cache::in_memory(), clock: &Still, exec: Exec::default() };
    for (timed, known) in [(false, 2), (false, 2), (true, 4), (true, 4), (false, 4)] {
        runner.run(&plan, &subject, 1..3, timed).unwrap();
        assert_eq!(runner.cache.len(), known);
    }
}

#[test]
fn a_smaller_lambda_read_off_a_fit_is_a_fit_of_its_own() {
    let data = digits();
    let labels = data.labels.clone().unwrap();
    let nn = classifier("nn", false).unwrap();
    for rule in [RankRule::Theorem, RankRule::Released] {
        let params = |lambda| PceParams { lambda: Lambda::Fixed(lambda), rank_rule: rule, ..PceParams::default() };
        let partition = Partition { rule: SplitRule::Stratified, train: TrainSize::Total(200), seed: 4, repeat: 2 };
        let lambdas = [1e-4, 0.01, 0.05, 0.3, 2.0];
        let reading = |lambda| Reading { take: Take::Lambda(lambda), classifiers: vec![nn.clone()] };
        let readings = lambdas.map(reading).to_vec();
        let cell = Cell { partition, method: eigenspan_core::registry::Method::Pce(params(2.0)), readings };
        let measured = cell.measure(&data, &Still, Exec::default()).unwrap();
        let split = partition.split(&labels).unwrap();
        let (train, test) = (data.select_rows(&split.train).unwrap(), data.select_rows(&split.test).unwrap());
        assert_eq!((measured.train, measured.test), (200, 160));
        for (lambda, read) in lambdas.into_iter().zip(&measured.readings) {
            let model = params(lambda).fit(&train.samples).unwrap();
            assert_eq!((read.k, read.columns), (model.k(), model.columns()), "λ = {lambda}");
            let features = |part: &Dataset| model.transform(&part.samples).unwrap();
            let (z, y) = (features(&train), features(&test));
            let known = train.labels.as_ref().unwrap();
            let predicted = nn.predict(z.view(), known, y.view(), Exec::default()).unwrap();
            let right = accuracy(&predicted, &test.labels.as_ref().unwrap().of).unwrap();
            // Two decompositions of the same samples differ by rounding: no more than a tie may fall otherwise.
            assert!((read.scores[0].accuracy - right).abs() <= 100.0 / 160.0, "λ = {lambda}");
        }
    }
}

#[test]
fn many_widths_in_one_sweep_are_each_what_a_classifier_says() {
    let data = digits();
    let nn = classifier("nn", false).unwrap();
    let both = vec![nn.clone(), with_unit_samples(nn)];
    let partition = Partition { rule: SplitRule::Random, train: TrainSize::Each(20), seed: 4, repeat: 1 };
    for text in ["eigenfaces:dim=20", "pce:dim=20", "npe:neighbours=7,dim=20"] {
        let method = method_of_text(text, false).unwrap();
        let readings = |widths: &[usize]| {
            widths.iter().map(|w| Reading { take: Take::First(*w), classifiers: both.clone() }).collect::<Vec<_>>()
        };
        let widths = [1, 2, 3, 4, 6, 8, 12, 16, 20, 30];
        let all = Cell { partition, method: method.clone(), readings: readings(&widths) };
        let all = all.measure(&data, &Still, Exec::default()).unwrap();
        for (i, width) in widths.into_iter().enumerate() {
            let one = Cell { partition, method: method.clone(), readings: readings(&[width]) };
            let one = one.measure(&data, &Still, Exec::default()).unwrap();
            assert_eq!(one.readings[0], all.readings[i], "{text}: {width} columns");
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test that damages a file")]
fn a_run_that_was_stopped_goes_on_to_the_same_result() {
    let evaluation = evaluation(&METHODS[..3], &["nn"]);
    let whole = run(&evaluation, Cache::in_memory(), 1);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cells.jsonl");
    assert_eq!(run(&evaluation, Cache::open(&path).unwrap(), 1), whole);
    let bytes = std::fs::read(&path).unwrap();
    // Two fits (all λ share one) on three partitions.
    assert_eq!(Cache::open(&path).unwrap().len(), 6);
    let lines: Vec<usize> = (0..bytes.len()).filter(|&i| bytes[i] == b'\n').collect();
    for cut in lines.iter().flat_map(|&end| [end / 2, end, end + 1]) {
        std::fs::write(&path, &bytes[..cut]).unwrap();
        assert_eq!(run(&evaluation, Cache::open(&path).unwrap(), 1), whole, "cut after {cut} bytes");
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "cut after {cut} bytes");
    }
}

#[test]
fn what_is_known_is_not_computed_again_and_what_differs_is() {
    struct Count(std::sync::atomic::AtomicUsize);
    impl Clock for Count {
        fn seconds(&self) -> f64 {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) as f64
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cells.jsonl");
    let looks = |evaluation: &Evaluation, data: Dataset| {
        let clock = Count(0.into());
        let subject = Subject::new("digits", data).unwrap();
        let cache = Cache::open(&path).unwrap();
        evaluation.run(&subject, &mut Runner { cache, clock: &clock, exec: Exec::default() }).unwrap();
        clock.0.into_inner()
    };
    let evaluation = evaluation(&["pce"], &["nn"]);
    assert!(looks(&evaluation, digits()) > 0);
    assert_eq!(looks(&evaluation, digits()), 0);
    assert!(looks(&Evaluation { seed: 2, ..evaluation.clone() }, digits()) > 0);
    let mut other = digits();
    other.labels.as_mut().unwrap().of.swap(0, 1);
    assert!(looks(&evaluation, other) > 0);
    assert_eq!(looks(&evaluation, digits()), 0);
}

#[test]
fn data_that_cannot_be_judged_are_refused() {
    let mut plain = digits();
    plain.labels = None;
    let error = Subject::new("digits", plain).unwrap_err();
    assert_eq!(error.to_string(), "digits has no classes: whether a classifier is right cannot be determined");
    let subject = Subject::new("digits", digits()).unwrap();
    let mut runner = Runner { cache: Cache::in_memory(), clock: &Still, exec: Exec::default() };
    for train in [TrainSize::Total(360), TrainSize::Total(361), TrainSize::Each(400)] {
        let error = Evaluation { train, ..evaluation(&["pce"], &["nn"]) }.run(&subject, &mut runner).unwrap_err();
        assert!(error.to_string().starts_with("pce, partition 1 of digits: "), "{error}");
    }
    assert!(Classifier::named("oracle").is_none());
}
