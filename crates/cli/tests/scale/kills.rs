//! A fit that is killed goes on from its checkpoint, and only from its own.

use std::fs;
use std::process::Stdio;
use std::time::Instant;

use crate::{Run, samples, some};

/// Kills a fit so many times, each time at another moment, and lets it go on: the bytes are those of a fit that was left alone.
#[expect(clippy::disallowed_methods, reason = "a test takes the time")]
#[expect(clippy::print_stdout, reason = "a person reads what a run of this test measured")]
pub fn kills(count: u32, n: usize, kind: &str) {
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
#[expect(clippy::disallowed_methods, reason = "a test makes its files")]
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
    let damaged = fs::read(run.path().join("c")).unwrap();
    run.write("a.npy", &x);
    for at in [damaged.len() / 2, damaged.len() - 1] {
        let mut damaged = damaged.clone();
        damaged[at] ^= 1;
        fs::write(run.path().join("c"), &damaged).unwrap();
        let said = run.refused(fit);
        assert!(said.contains("the checkpoint c is damaged: its checksum does not fit its contents"), "{said}");
    }
    for other in [&damaged[..damaged.len() / 2], b"nothing"] {
        fs::write(run.path().join("c"), other).unwrap();
        let said = run.refused(fit);
        assert!(said.contains("c is not a checkpoint, or it is cut short") && !said.contains("essum"), "{said}");
    }
}
