//! Peak memory, where the system tells.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use eigenspan::Mat;
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
