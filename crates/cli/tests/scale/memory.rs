//! Peak memory, where the system tells.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use eigenspan_core::Mat;
use eigenspan_io::Names;

use crate::{Run, samples};

/// Peak resident memory of a child, in bytes.
#[expect(clippy::disallowed_methods, reason = "a test looks at the file that was written")]
pub fn peak(run: &Run, args: &str) -> u64 {
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
pub fn write_much(run: &Run, name: &str, m: usize) {
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
#[expect(clippy::print_stdout, reason = "a person reads what a run of this test measured")]
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
fn memory_stays_below_the_limit() {
    // 8 times the limit and 20 times what is held of it; `bench/scale.py` does the same with gigabytes.
    let run = Run::new();
    write_much(&run, "x.npy", 100);
    for more in ["", "--form triangle", "--checkpoint c --checkpoint-every 50MB"] {
        let most = peak(&run, &format!("fit x.npy --lambda 1 --max-memory 40MB {more}"));
        assert!(most > 0 && most <= 40_000_000 + (64 << 20), "{more}: {most} bytes");
    }
}

/// A file of zeros of so many bytes that takes no space on the disk.
fn write_zeros(run: &Run, name: &str, rows: usize, cols: usize) {
    let dict = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {cols}), }}");
    let dict = format!("{dict:<117}\n");
    let head = [b"\x93NUMPY\x01\x00".as_slice(), &118u16.to_le_bytes(), dict.as_bytes()].concat();
    let path = run.path().join(name);
    fs::write(&path, &head).unwrap();
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_len((head.len() + 8 * rows * cols) as u64).unwrap();
}

#[test]
fn info_and_a_path_hold_no_file() {
    // 400 MB.
    let run = Run::new();
    write_zeros(&run, "zeros.npy", 500_000, 100);
    let most = peak(&run, "info zeros.npy");
    println!("info: {most} bytes");
    assert!(most > 0 && most <= 64_000_000, "{most} bytes");
    assert!(run.ok("info zeros.npy").contains("500000 samples × 100 features (f64)"));
    write_much(&run, "x.npy", 100);
    let most = peak(&run, "path x.npy --max-memory 60MB");
    println!("path: {most} bytes");
    assert!(most > 0 && most <= 60_000_000 + (32 << 20), "{most} bytes");
}

#[test]
fn what_needs_all_samples_says_so_and_how_much_that_would_take() {
    let run = Run::new();
    write_zeros(&run, "zeros.npy", 500_000, 100);
    let said = run.refused("dimension zeros.npy --method mle,two-nn --max-memory 100MB");
    assert!(
        said.contains("`dimension` by mle, two-nn, which needs all 500000 samples of 100 features in memory"),
        "{said}"
    );
    let said = run.refused("evaluate zeros.npy --max-memory 100MB");
    assert!(said.contains("`evaluate`, which needs all 500000 samples") && said.contains("takes 398 MiB"), "{said}");
    assert!(said.contains("more than `--max-memory` allows"), "{said}");
}

#[test]
fn a_checkpoint_takes_no_memory_besides_the_fit() {
    let run = Run::new();
    write_much(&run, "x.npy", 256);
    let limit = 50_000_000;
    let [without, with] = ["", "--checkpoint c --checkpoint-every 20MB"].map(|more| {
        let most = peak(&run, &format!("fit x.npy --lambda 1 --max-memory {limit} --threads 1 {more}"));
        println!("256 features {more}: {most} bytes");
        most
    });
    assert!(without > 0 && with <= limit + (16 << 20) && with <= without + (4 << 20), "{without} and {with} bytes");
}
