//! Files in, models out: the same bytes whatever the memory, the interruptions and the way there.
#![expect(clippy::disallowed_methods, reason = "tests look at the files that were written")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use eigenspan_core::data::generate::Subspaces;
use eigenspan_core::{Error, Exec, Lambda, Mat, Model, Monitor, PceParams};
use eigenspan_feed::{Checkpoints, FeedError, Files, Fit, Form, READING, SketchOptions, Transform, Update};
use eigenspan_io::{ModelFile, Names, Provenance, ReadOptions, read};

fn samples(n: usize, m: usize) -> Mat {
    let data = Subspaces { samples: n, features: m, subspaces: 3, dim: 2, noise: 0.2 }.generate(5).unwrap();
    data.samples.into_f64()
}

fn write(path: &Path, x: &Mat) {
    let mut sink = eigenspan_io::create(path, x.cols(), Names::default()).unwrap();
    sink.write_block(&x.clone().into()).unwrap();
    sink.finish().unwrap();
}

/// Two files of 20 features, 9000 samples in all.
fn two(folder: &Path) -> Files {
    let x = samples(9000, 20);
    let paths = [("a.npy", 0..6000), ("b.csv", 6000..9000)].map(|(name, rows)| {
        let path = folder.join(name);
        write(&path, &x.select_rows(&rows.collect::<Vec<_>>()));
        path
    });
    Files::new(paths)
}

fn fixed() -> PceParams {
    PceParams { lambda: Lambda::Fixed(1.0), ..PceParams::default() }
}

fn saved(folder: &Path, file: &ModelFile) -> Vec<u8> {
    let path = folder.join("saved.espan");
    file.save(&path).unwrap();
    std::fs::read(path).unwrap()
}

/// Cancels after so many reports of progress in reading.
struct Until {
    reports: AtomicUsize,
    last: usize,
}

impl Until {
    fn new(last: usize) -> Self {
        Self { reports: AtomicUsize::new(0), last }
    }
}

impl Monitor for Until {
    fn progress(&self, stage: &'static str, _: usize, _: usize) {
        if stage == READING {
            self.reports.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn cancelled(&self) -> bool {
        self.reports.load(Ordering::Relaxed) >= self.last
    }
}

#[test]
fn three_budgets_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let fit = Fit::new(two(folder.path()), PceParams::default());
    let models = [Some(24 << 20), Some(40 << 20), None].map(|max_memory| {
        let fitted = Fit { max_memory, ..fit.clone() }.run(Exec::default()).unwrap();
        assert_eq!((fitted.rows, fitted.form, fitted.parts.len()), (9000, Form::Gram, 2));
        saved(folder.path(), &fitted.file)
    });
    assert!(models.iter().all(|model| *model == models[0]));
    let refused = Fit { max_memory: Some(17 << 20), ..fit }.run(Exec::default()).unwrap_err();
    assert!(matches!(refused, FeedError::Memory { .. }), "{refused}");
}

#[test]
fn a_cancelled_fit_leaves_a_checkpoint_from_which_it_gives_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c");
    let whole = Fit::new(two(folder.path()), fixed());
    let expected = saved(folder.path(), &whole.run(Exec::default()).unwrap().file);
    // Only a cancellation writes it: a gigabyte is never read. 19 MB hold one block at a time.
    let checkpoints = Some(Checkpoints::to(&file));
    let fit = Fit { checkpoints, max_memory: Some(19_000_000), ..whole };
    for last in 1..=5 {
        let monitor = Until::new(last);
        let error = fit.run(Exec::new(None, &monitor)).unwrap_err();
        assert!(error.is_cancelled(), "{error}");
        assert!(file.exists(), "cancelled after chunk {last}");
        let resumed = Until::new(usize::MAX);
        let fitted = fit.run(Exec::new(None, &resumed)).unwrap();
        assert_eq!(saved(folder.path(), &fitted.file), expected, "after chunk {last}");
        assert_eq!(resumed.reports.into_inner(), 5 - last, "what was read is not read again");
        fitted.discard_checkpoint().unwrap();
        assert!(!file.exists());
    }
}

#[test]
fn a_checkpoint_of_other_settings_or_that_is_damaged_is_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("c");
    let checkpoints = Some(Checkpoints::to(&file));
    let fit = Fit { checkpoints, max_memory: Some(19_000_000), ..Fit::new(two(folder.path()), fixed()) };
    assert!(fit.run(Exec::new(None, &Until::new(2))).is_err());
    let said = |fit: &Fit| fit.run(Exec::default()).unwrap_err().to_string();
    let other = Fit { params: PceParams { lambda: Lambda::Fixed(2.0), ..fixed() }, ..fit.clone() };
    assert!(said(&other).contains("it was written with another `lambda`"));
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    assert!(said(&fit).ends_with("is damaged: its checksum does not fit its contents"), "{}", said(&fit));
    std::fs::write(&file, &bytes[..middle]).unwrap();
    assert!(said(&fit).contains("is not a checkpoint, or it is cut short"), "{}", said(&fit));
}

/// In memory, chunk by chunk and by a sketch, from NPY and from CSV, whose samples nobody has counted.
#[test]
fn the_same_samples_have_the_same_fingerprint_on_every_way() {
    let folder = tempfile::tempdir().unwrap();
    let x = samples(2500, 20);
    for name in ["x.npy", "x.csv"] {
        let path = folder.path().join(name);
        write(&path, &x);
        let data = read(&path, &ReadOptions::default()).unwrap();
        let expected = Provenance::of(name, data.samples.view()).data_sha256.unwrap();
        let fit = Fit::new(Files::new([&path]), fixed());
        let passes = SketchOptions { passes: Some(3), ..SketchOptions::default() };
        for fit in [
            Fit { max_memory: Some(30_000_000), ..fit.clone() },
            Fit { form: Form::Triangle, ..fit.clone() },
            Fit { form: Form::Sketch, sketch: passes, max_memory: Some(18_000_000), ..fit },
        ] {
            let file = fit.run(Exec::default()).unwrap().file;
            assert_eq!(file.provenance.data_sha256.as_ref(), Some(&expected), "{name} {:?}", fit.form);
        }
    }
}

#[test]
fn progress_is_in_bytes_of_the_whole_work_and_ends_at_all_of_them() {
    struct Bytes(std::sync::Mutex<Vec<(usize, usize)>>);
    impl Monitor for Bytes {
        fn progress(&self, stage: &'static str, done: usize, total: usize) {
            if stage == READING {
                self.0.lock().unwrap().push((done, total));
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let files = two(folder.path());
    let total: u64 = files.paths().iter().map(|path| std::fs::metadata(path).unwrap().len()).sum();
    let seen = Bytes(std::sync::Mutex::default());
    Fit { max_memory: Some(19_000_000), ..Fit::new(files, fixed()) }.run(Exec::new(None, &seen)).unwrap();
    let seen = seen.0.into_inner().unwrap();
    assert!(seen.len() >= 4 && seen.is_sorted(), "{seen:?}");
    assert!(seen.iter().all(|(_, all)| *all as u64 == total));
    assert_eq!(seen.last().unwrap().0 as u64, total);
}

/// A pipe gives its samples once: whoever opened it again would wait for a writer for ever.
#[cfg(unix)]
#[test]
fn the_first_file_is_opened_once() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (to, x) = (pipe.clone(), samples(200, 3));
    let writer = std::thread::spawn(move || {
        let rows = (0..200).map(|i| x.row(i).iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n");
        std::fs::write(&to, rows.collect::<String>()).unwrap();
    });
    let (done, fitted) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(Fit::new(Files::new([&pipe]), fixed()).run(Exec::default()).unwrap()));
    writer.join().unwrap();
    let fitted = fitted.recv_timeout(std::time::Duration::from_secs(60)).expect("the pipe is not opened again");
    assert_eq!((fitted.rows, fitted.parts.len()), (200, 1));
}

#[test]
fn features_of_several_files_follow_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let files = two(folder.path());
    let model = Fit::new(files.clone(), fixed()).run(Exec::default()).unwrap().file.model;
    let features = |files: &Files, name: &str, max_memory| {
        let output: PathBuf = folder.path().join(name);
        let rows = Transform { model: &model, max_memory }.files(files, &output, Exec::default()).unwrap();
        (rows, read(&output, &ReadOptions::default()).unwrap().samples.into_f64().into_vec())
    };
    let (rows, all) = features(&files, "all.npy", None);
    assert_eq!(rows, 9000);
    assert_eq!(features(&files, "small.npy", Some(20_000_000)), (rows, all.clone()));
    let apart = files.paths().iter().map(|path| features(&Files::new([path]), "one.npy", None).1);
    assert_eq!(apart.collect::<Vec<_>>().concat(), all);
}

#[test]
fn an_update_does_not_depend_on_the_memory() {
    let folder = tempfile::tempdir().unwrap();
    let files = two(folder.path());
    let [first, second] = [0, 1].map(|at| Files::new([&files.paths()[at]]));
    let file = Fit::new(first, fixed()).run(Exec::default()).unwrap().file;
    let Model::Pce(model) = &file.model else { panic!("a fit is one of PCE") };
    let updated = [None, Some(19_000_000)].map(|max_memory| {
        let update = Update { max_memory, ..Update::new(second.clone()) };
        let updated = update.run(model, &file.provenance, Exec::default()).unwrap();
        assert_eq!((updated.taken[0].after, updated.taken[0].part.rows), (6000, 3000));
        saved(folder.path(), &updated.file)
    });
    assert_eq!(updated[0], updated[1]);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_read() {
    let run = |fit: Fit| fit.run(Exec::default()).unwrap_err();
    let nothing = run(Fit::new(Files::new([""; 0]), fixed()));
    assert_eq!(nothing.to_string(), "no file is given");
    let missing = Fit::new(Files::new(["no/such.npy"]), fixed());
    let sketch = Fit { form: Form::Sketch, checkpoints: Some(Checkpoints::to("c")), ..missing.clone() };
    assert!(run(sketch).to_string().contains("a sketch writes no checkpoint"));
    let auto = Fit { form: Form::Sketch, params: PceParams::default(), ..missing.clone() };
    assert!(matches!(run(auto), FeedError::Core(Error::WholeSpectrum { .. })));
    let piped = Fit { form: Form::Sketch, files: Files::new(["-"]), ..missing.clone() };
    assert_eq!(run(piped).to_string(), "standard input cannot be read a second time, as a sketch must");
    assert!(run(missing).is_machine());
}
