//! Samples that are read once: files of several formats, limits of memory, checkpoints, summaries made apart and merged.
#![expect(clippy::print_stdout, reason = "a test of fifty kills says how many came in time")]
#![expect(clippy::disallowed_methods, reason = "tests look at the files that were written")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use eigenspan::Mat;
use eigenspan::data::Matrix;
use eigenspan::data::generate::Subspaces;
use eigenspan_io::{Names, ReadOptions};

struct Run {
    folder: tempfile::TempDir,
}

impl Run {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eigenspan"));
        command.args(args.split_whitespace()).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    fn output(&self, args: &str) -> Output {
        self.command(args).output().unwrap()
    }

    /// stdout of a run that succeeds.
    fn ok(&self, args: &str) -> String {
        let output = self.output(args);
        assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// stderr of a run that is refused.
    fn refused(&self, args: &str) -> String {
        let output = self.output(args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{args}: {said}");
        assert!(said.contains("hint: "), "{said}");
        said
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap()
    }

    fn write(&self, name: &str, rows: &Mat) {
        let mut sink = eigenspan_io::create(&self.path().join(name), rows.cols(), Names::default()).unwrap();
        sink.write_block(&rows.clone().into()).unwrap();
        sink.finish().unwrap();
    }
}

fn samples(n: usize, m: usize) -> Mat {
    let data = Subspaces { samples: n, features: m, subspaces: 3, dim: 2, noise: 0.2 }.generate(5).unwrap();
    data.samples.into_f64()
}

fn some(x: &Mat, rows: std::ops::Range<usize>) -> Mat {
    x.select_rows(&rows.collect::<Vec<_>>())
}

fn k(json: &str) -> (u64, f64, u64) {
    let json: serde_json::Value = serde_json::from_str(json).unwrap();
    (json["k"].as_u64().unwrap(), json["tau"].as_f64().unwrap(), json["n"].as_u64().unwrap())
}

#[test]
fn the_model_is_that_of_a_fit_in_memory_whatever_the_memory() {
    let run = Run::new();
    run.write("x.npy", &samples(20_000, 30));
    let inside = k(&run.ok("fit x.npy --json"));
    let mut models = vec![];
    for limit in ["30MB", "60MB", "2GB"] {
        let json = run.ok(&format!("fit x.npy --max-memory {limit} --json -o {limit}.espan"));
        let (dim, tau, n) = k(&json);
        assert_eq!((dim, n), (inside.0, 20_000));
        assert!((tau / inside.1 - 1.0).abs() < 1e-9);
        models.push(run.bytes(&format!("{limit}.espan")));
    }
    assert!(models.windows(2).all(|pair| pair[0] == pair[1]));
    run.ok("fit x.npy --max-memory 1GB --threads 1 -o one.espan");
    assert_eq!(run.bytes("one.espan"), models[0]);
    let said = run.refused("fit x.npy --max-memory 1MB");
    assert!(said.contains("a summary of 30 features takes") && said.contains("hint: allow"), "{said}");
}

#[test]
fn files_summarised_apart_and_merged_are_one_fit_over_the_files() {
    let run = Run::new();
    let x = samples(9000, 20);
    for (name, rows) in [("a.npy", 0..2500), ("b.csv", 2500..2600), ("c.npy", 2600..9000)] {
        run.write(name, &some(&x, rows));
    }
    for form in ["", "--form triangle"] {
        run.ok(&format!("fit a.npy b.csv c.npy {form} -o one.espan"));
        for part in ["a.npy", "b.csv", "c.npy"] {
            run.ok(&format!("summarize {part} {form} -o {part}.essum --threads 1"));
        }
        run.ok("merge a.npy.essum b.csv.essum c.npy.essum -o all.essum");
        let words = run.ok("finish all.essum -o merged.espan");
        assert!(words.starts_with("3 files: 9000 samples of 20 features, summarised"), "{words}");
        assert_eq!(run.bytes("one.espan"), run.bytes("merged.espan"));
        run.ok(&format!("summarize a.npy b.csv c.npy {form} -o at-once.essum"));
        assert_eq!(run.bytes("at-once.essum"), run.bytes("all.essum"));
        assert_eq!(k(&run.ok("finish all.essum --dim 3 --json")).0, 3);
        let fixed = k(&run.ok("finish all.essum --lambda 0.2 --json"));
        run.write("x.npy", &x);
        assert_eq!(fixed.0, k(&run.ok("fit x.npy --lambda 0.2 --json")).0);
        assert_eq!(k(&run.ok("finish all.essum --json")).0, k(&run.ok("fit x.npy --json")).0);
    }
}

#[test]
fn what_cannot_be_merged_or_streamed_is_refused_in_words() {
    let run = Run::new();
    let x = samples(400, 12);
    run.write("x.npy", &x);
    run.write("narrow.npy", &samples(50, 5));
    run.ok("summarize x.npy -o x.essum");
    run.ok("summarize x.npy --form triangle -o t.essum");
    run.ok("fit x.npy -o x.espan");
    let said = run.refused("merge x.essum t.essum -o all.essum");
    assert!(said.contains("`form` is gram in the one and triangle in the other"), "{said}");
    assert!(run.refused("finish x.espan").contains("is a model, not a summary of samples"));
    assert!(run.refused("inspect x.essum").contains("is a summary of samples, not a model"));
    assert!(run.refused("fit x.essum").contains("is a summary of samples"));
    assert!(run.refused("fit x.npy narrow.npy").contains("has 5 features, the files before it have 12"));
    assert!(run.refused("fit x.npy --method lpp --max-memory 1GB").contains("`lpp` needs all samples in memory"));
    assert!(run.refused("fit x.npy --max-memory 1GB --features f.npy").contains("`--features` needs the samples"));
    // Samples without noise: the Gram matrix cannot say where rounding begins.
    let wave = |i: usize, d: usize| (((i + 1) * (d + 3)) as f64 * 0.618).sin();
    run.write("clean.npy", &Mat::from_fn(3000, 12, |i, j| (0..5).map(|d| wave(i, d) * wave(7 * j, d)).sum()));
    assert!(
        run.refused("fit clean.npy --max-memory 1GB")
            .contains("hint: read the samples again and keep their triangle: `--form triangle`")
    );
    assert_eq!(k(&run.ok("fit clean.npy --form triangle --json")).0, k(&run.ok("fit clean.npy --json")).0);
}

/// Kills a fit so many times, each time at another moment, and lets it go on: the bytes are those of a fit that was left alone.
fn kills(count: u32, n: usize, kind: &str) {
    let run = Run::new();
    let x = samples(n, 40);
    run.write(&format!("a.{kind}"), &some(&x, 0..2 * n / 3));
    run.write(&format!("b.{kind}"), &some(&x, 2 * n / 3..n));
    // A Parquet file is held one row group at a time.
    let limit = if kind == "npy" { "60MB" } else { "66MB" };
    let fit = &format!("fit a.{kind} b.{kind} --max-memory {limit} --checkpoint c --checkpoint-every 700kB");
    let started = Instant::now();
    run.ok(&format!("{fit} -o whole.espan"));
    let whole = started.elapsed();
    assert!(!run.path().join("c").exists(), "a checkpoint goes when all is done");
    let (mut resumed, mut finished) = (0, 0);
    for i in 0..count {
        let _ = fs::remove_file(run.path().join("c"));
        let _ = fs::remove_file(run.path().join("killed.espan"));
        // Multiples of the golden ratio: spread over the whole run, and never twice the same.
        let moment = whole.mul_f64((f64::from(i + 1) * 0.618_033_988_749_895).fract());
        let mut child = run.command(&format!("{fit} -o killed.espan")).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(moment);
        finished += usize::from(child.try_wait().unwrap().is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        resumed += usize::from(run.path().join("c").exists());
        run.ok(&format!("{fit} -o killed.espan --threads 1"));
        assert_eq!(run.bytes("killed.espan"), run.bytes("whole.espan"), "after {moment:?} of {whole:?}");
    }
    println!("{count} kills: {resumed} left a checkpoint, {finished} came too late");
    assert!(resumed > 0, "no kill came between the first checkpoint and the end");
}

#[test]
fn a_fit_that_is_killed_goes_on_to_the_same_bytes() {
    kills(5, 60_000, "npy");
}

/// `cargo test --release -p eigenspan-cli --test scale -- --ignored --nocapture fifty`
#[test]
#[ignore = "takes a minute or more: the command is above"]
fn fifty_kills_leave_the_same_bytes() {
    kills(50, 300_000, "npy");
}

#[test]
fn a_checkpoint_of_other_data_or_settings_is_refused() {
    let run = Run::new();
    let x = samples(30_000, 40);
    run.write("a.npy", &x);
    // A checkpoint that stays: the second file is not there when its turn comes.
    run.write("b.npy", &some(&x, 0..10));
    let bad = [b"1,2\n3,x\n".as_slice()].concat();
    fs::write(run.path().join("c.csv"), &bad).unwrap();
    let fit = "fit a.npy c.csv --checkpoint c --checkpoint-every 700kB";
    run.refused(fit);
    assert!(run.path().join("c").exists());
    assert!(
        run.refused(&format!("{fit} --lambda 3"))
            .contains("it was written with another `lambda`: auto, now fixed(3.0)")
    );
    let fewer = run.refused("fit a.npy --checkpoint c");
    assert!(fewer.contains("it was written with 2 files, these are 1"), "{fewer}");
    assert!(run.refused("fit a.npy b.npy --checkpoint c").contains("c.csv was in the place of b.npy"));
    run.write("a.npy", &some(&x, 0..29_999));
    assert!(run.refused(fit).contains("a.npy is not what it was when the checkpoint was written"));
    fs::write(run.path().join("c"), b"nothing").unwrap();
    assert!(run.refused(fit).contains("is not an .essum summary file"));
}

#[test]
fn transform_and_recover_give_the_same_whatever_the_memory() {
    let run = Run::new();
    let x = samples(9000, 30);
    run.write("x.npy", &x);
    run.write("x.csv", &x);
    run.ok("fit x.npy -o m.espan");
    run.ok("transform m.espan x.npy -o whole.npy");
    run.ok("recover m.espan x.npy -o clean.npy --scores scores.npy");
    for (data, limit) in [("x.npy", "20MB"), ("x.csv", "17MB"), ("x.csv", "1GB")] {
        run.ok(&format!("transform m.espan {data} -o some.npy --max-memory {limit}"));
        assert_eq!(run.bytes("some.npy"), run.bytes("whole.npy"));
        run.ok(&format!("recover m.espan {data} -o some.npy --scores s.npy --max-memory {limit}"));
        assert_eq!((run.bytes("some.npy"), run.bytes("s.npy")), (run.bytes("clean.npy"), run.bytes("scores.npy")));
    }
    assert!(run.refused("transform m.espan x.npy --max-memory 1MB").contains("more than `--max-memory` allows"));
}

#[test]
fn a_folder_of_images_is_read_one_by_one() {
    let run = Run::new();
    let folder = run.path().join("faces");
    fs::create_dir(&folder).unwrap();
    for i in 0..70u8 {
        let pixels: Vec<u8> = (0..12u32).map(|j| (37 * u32::from(i) * (j + 1) % 251) as u8).collect();
        fs::write(folder.join(format!("{i:03}.pgm")), [b"P5 4 3 255\n".as_slice(), &pixels].concat()).unwrap();
    }
    fs::write(folder.join("notes.txt"), "not an image").unwrap();
    let whole = eigenspan_io::read(&folder, &ReadOptions::default()).unwrap();
    let mut rows = eigenspan_io::open(&folder, &ReadOptions::default()).unwrap();
    assert!(rows.streams && rows.ids == whole.ids && rows.image == whole.image);
    assert_eq!(rows.source.skip(3).unwrap(), 3);
    let block = rows.source.next_block(20).unwrap().unwrap();
    assert!(matches!(block, Matrix::U8(_)));
    assert_eq!(block, whole.samples.select_rows(&(3..23).collect::<Vec<_>>()));
    let (a, b) =
        (k(&run.ok("fit faces --lambda 2 --json")), k(&run.ok("fit faces --lambda 2 --max-memory 1GB --json")));
    assert_eq!((a.0, a.2), (b.0, b.2));
}

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
    assert!(run.refused(&format!("{sketch} --lambda 1 --normalize zscore")).contains("a sketch cannot serve"));
    assert!(run.refused(&format!("{sketch} --lambda 1 --checkpoint c")).contains("writes no checkpoint"));
    assert!(run.refused(&format!("{sketch} --lambda 1 --passes 1")).contains("`passes` must be between 2 and 64"));
    let small = run.refused(&format!("{sketch} --lambda 1 --max-memory 1MB"));
    assert!(small.contains("a sketch of 80 features takes") && small.contains("hint: allow"), "{small}");
    assert!(run.refused("fit - --form sketch --lambda 1").contains("standard input cannot be read a second time"));
    assert!(run.refused("fit x.npy --form gram --passes 3").contains("`--passes` says nothing to a summary"));
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

/// Peak resident memory of a child, in bytes, where the system tells.
#[cfg(target_os = "linux")]
fn peak(run: &Run, args: &str) -> u64 {
    let mut child = run.command(args).stdout(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|word| word.parse::<u64>().ok());
        most = most.max(kilobytes.unwrap_or(0) * 1024);
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(child.wait().unwrap().success(), "{args}");
    most
}

/// 320 MB of which no two rows are alike.
#[cfg(target_os = "linux")]
fn write_much(run: &Run, name: &str, m: usize) {
    let n = 200_000 / m;
    let x = samples(n, m);
    let mut sink = eigenspan_io::create(&run.path().join(name), m, Names::default()).unwrap();
    for i in 0..200 {
        let rows = Mat::from_fn(n, m, |row, column| x.row(row)[column] * (1.0 + f64::from(i) / 977.0));
        sink.write_block(&rows.into()).unwrap();
    }
    sink.finish().unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn memory_of_a_sketch_stays_below_the_limit() {
    // 250 MB of samples and m² = 288 MB, in 180 MB.
    let run = Run::new();
    let x = samples(260, 6000);
    let mut sink = eigenspan_io::create(&run.path().join("x.npy"), 6000, Names::default()).unwrap();
    for _ in 0..20 {
        sink.write_block(&x.clone().into()).unwrap();
    }
    sink.finish().unwrap();
    let most = peak(&run, "fit x.npy --lambda 0.01 --max-memory 180MB --passes 4 --sketch-columns 64");
    println!("{most} bytes");
    assert!(most > 0 && most <= 180_000_000, "{most} bytes");
}

#[test]
#[cfg(target_os = "linux")]
fn memory_stays_below_the_limit() {
    // 8 times the limit and 20 times what is held of it; `bench/scale.py` does the same with gigabytes.
    let run = Run::new();
    write_much(&run, "x.npy", 100);
    for more in ["", "--form triangle", "--checkpoint c --checkpoint-every 50MB"] {
        let most = peak(&run, &format!("fit x.npy --lambda 1 --max-memory 40MB {more}"));
        assert!(most > 0 && most <= 40_000_000 + (64 << 20), "{more}: {most} bytes");
    }
}

/// IDX, and files packed by gzip: nothing of them is held, either.
#[test]
fn packed_files_stream_to_the_same_bytes() {
    let run = Run::new();
    let x = samples(5000, 20);
    let bytes = Mat::from_fn(5000, 20, |i, j| (x.row(i)[j] * 40.0 + 128.0).round().clamp(0.0, 255.0));
    run.write("x.csv", &bytes);
    run.write("x.npy", &bytes);
    let pixels = bytes.as_slice().iter().map(|&v| v as u8);
    let idx: Vec<u8> = [0, 0, 8, 2, 0, 0, 0x13, 0x88, 0, 0, 0, 20].into_iter().chain(pixels).collect();
    fs::write(run.path().join("x.idx"), idx).unwrap();
    // A model names its data by the name of the file: the same name in folders of their own.
    for kind in ["npy", "csv", "idx"] {
        let content = run.bytes(&format!("x.{kind}"));
        let mut gzip = flate2::write::GzEncoder::new(vec![], flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, &content).unwrap();
        let mut models = vec![];
        for (folder, content) in [(kind.to_string(), content), (format!("{kind}.gz"), gzip.finish().unwrap())] {
            fs::create_dir(run.path().join(&folder)).unwrap();
            fs::write(run.path().join(&folder).join("x"), content).unwrap();
            for limit in ["30MB", "1GB"] {
                run.ok(&format!("fit {folder}/x --max-memory {limit} -o model.espan"));
                models.push(run.bytes("model.espan"));
            }
        }
        assert!(models.iter().all(|model| *model == models[0]), "{kind}");
    }
    // What is read as a whole is refused by a hint that is true in every build.
    fs::write(run.path().join("x.svm"), "1 1:2 3:4\n-1 2:5\n").unwrap();
    let said = run.refused("fit x.svm --max-memory 1GB");
    let parquet = if cfg!(feature = "columnar") { ", CSV or Parquet" } else { " or CSV" };
    assert!(said.contains(&format!("hint: write it as NPY (C order){parquet}, or leave")), "{said}");
}

#[cfg(feature = "columnar")]
mod parquet {
    use super::*;

    #[test]
    fn the_model_has_the_bytes_of_that_of_an_array_whatever_the_memory() {
        let run = Run::new();
        let x = samples(20_000, 30);
        let mut models = vec![];
        for kind in ["npy", "parquet"] {
            fs::create_dir(run.path().join(kind)).unwrap();
            run.write(&format!("{kind}/x.{kind}"), &x);
            fs::rename(run.path().join(format!("{kind}/x.{kind}")), run.path().join(kind).join("x")).unwrap();
            for limit in ["50MB", "80MB", "2GB"] {
                run.ok(&format!("fit {kind}/x --max-memory {limit} -o {limit}.espan"));
                models.push(run.bytes(&format!("{limit}.espan")));
            }
        }
        assert!(models.iter().all(|model| *model == models[0]));
        let said = run.refused("fit parquet/x --max-memory 2MB");
        assert!(said.contains("rows in one piece take") && said.contains("`row_group_size="), "{said}");
        let said = run.refused("fit parquet/x --max-memory 25MB");
        assert!(said.contains("more than `--max-memory` allows") && said.contains("hint: allow"), "{said}");
    }

    #[test]
    fn transform_and_recover_keep_rows_and_names() {
        let run = Run::new();
        let x = samples(9000, 30);
        run.write("x.npy", &x);
        let ids = Some((0..9000).map(|i| format!("sample {i}")).collect());
        let mut sink = eigenspan_io::create(&run.path().join("x.parquet"), 30, Names { columns: None, ids }).unwrap();
        sink.write_block(&x.into()).unwrap();
        sink.finish().unwrap();
        run.ok("fit x.npy -o m.espan");
        run.ok("transform m.espan x.npy -o whole.npy");
        run.ok("recover m.espan x.npy -o clean.npy --scores scores.npy");
        for limit in ["", "--max-memory 40MB", "--max-memory 1GB"] {
            run.ok(&format!("transform m.espan x.parquet -o some.npy {limit}"));
            assert_eq!(run.bytes("some.npy"), run.bytes("whole.npy"));
            run.ok(&format!("recover m.espan x.parquet -o some.npy --scores s.npy {limit}"));
            assert_eq!((run.bytes("some.npy"), run.bytes("s.npy")), (run.bytes("clean.npy"), run.bytes("scores.npy")));
            let csv = run.ok(&format!("transform m.espan x.parquet {limit}"));
            assert!(csv.lines().skip(1).zip(0..).all(|(line, i)| line.starts_with(&format!("sample {i},"))));
        }
    }

    #[test]
    fn a_fit_that_is_killed_goes_on_to_the_same_bytes() {
        kills(5, 60_000, "parquet");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_stays_below_the_limit() {
        let run = Run::new();
        write_much(&run, "x.parquet", 20);
        let size = fs::metadata(run.path().join("x.parquet")).unwrap().len();
        assert!(size > 250_000_000, "{size} bytes: packed too well to test anything");
        let below = |command: &str| {
            let most = peak(&run, &format!("{command} --max-memory 60MB"));
            println!("{command} --max-memory 60MB: {most} bytes");
            assert!(most > 0 && most <= 60_000_000 + (64 << 20), "{command}: {most} bytes");
        };
        for more in ["", "--form triangle", "--checkpoint c --checkpoint-every 50MB"] {
            below(&format!("fit x.parquet --lambda 1 -o m.espan {more}"));
        }
        below("transform m.espan x.parquet -o z.npy");
        below("recover m.espan x.parquet -o z.npy --scores s.npy");
        // What is written as Parquet is kept until a row group is full.
        let said = run.refused("recover m.espan x.parquet -o z.parquet --max-memory 60MB");
        assert!(said.contains("more than `--max-memory` allows"), "{said}");
        let most = peak(&run, "recover m.espan x.parquet -o z.parquet --max-memory 80MB");
        println!("recover m.espan x.parquet -o z.parquet --max-memory 80MB: {most} bytes");
        assert!(most <= 80_000_000 + (64 << 20), "{most} bytes");
    }
}

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
        ("update auto.espan x.npy -o auto.espan", "this `lambda` cannot be used for samples that arrive one by one"),
        ("update z.espan x.npy -o z.espan", "this `normalize` cannot be used"),
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
