//! Files of several formats, read once: the model of a fit in memory, and of summaries made apart and merged.

use std::fs;

use eigenspan_core::Mat;
use eigenspan_core::data::Matrix;
use eigenspan_io::ReadOptions;

use crate::{Run, k, samples, some};

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
            .contains("hint: read the samples again in triangular form: `--form triangle`")
    );
    assert_eq!(k(&run.ok("fit clean.npy --form triangle --json")).0, k(&run.ok("fit clean.npy --json")).0);
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
#[expect(clippy::disallowed_methods, reason = "a test makes its files")]
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

/// IDX, and files packed by gzip: nothing of them is held, either.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test makes its files")]
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
    let tables = if cfg!(feature = "columnar") { "CSV, Parquet" } else { "CSV" };
    let hint = format!("hint: write it as NPY (C order), IDX, {tables} or a folder of images, or leave");
    assert!(said.contains(&hint), "{said}");
}

/// One number for the same samples, however they were read.
#[test]
fn a_model_knows_its_samples_by_the_same_fingerprint_however_they_were_read() {
    let run = Run::new();
    run.write("x.npy", &samples(5000, 12));
    let fingerprint = |more: &str| {
        run.ok(&format!("fit x.npy --lambda 0.2 {more} -o m.espan"));
        let json: serde_json::Value = serde_json::from_str(&run.ok("inspect m.espan --json")).unwrap();
        json["provenance"]["data_sha256"].as_str().unwrap().to_string()
    };
    let inside = fingerprint("");
    for more in ["--max-memory 60MB", "--form triangle", "--form sketch --passes 3"] {
        assert_eq!(fingerprint(more), inside, "{more}");
    }
}

#[test]
fn info_is_the_same_whether_classes_are_counted_in_chunks_or_not() {
    let run = Run::new();
    let x = samples(3000, 4);
    let lines = (0..3000).map(|i| {
        let cells: Vec<String> = x.row(i).iter().map(f64::to_string).collect();
        format!("{},{}\n", cells.join(","), ["oak", "elm", "ash"][i % 7 % 3])
    });
    fs::write(run.path().join("x.csv"), format!("a,b,c,d,label\n{}", lines.collect::<String>())).unwrap();
    let words = run.ok("info x.csv");
    assert!(words.contains("labels    3 classes of 857 to 1286 samples"), "{words}");
    assert_eq!(run.ok("info x.csv --json"), run.ok("info x.csv --json --max-memory 30MB"));
}
