//! Parquet: held one row group at a time.

use std::fs;

use eigenspan_io::Names;

use crate::kills::kills;
#[cfg(target_os = "linux")]
use crate::memory::{peak, write_much};
use crate::{Run, samples};

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
        let peak_bytes = peak(&run, &format!("{command} --max-memory 60MB"));
        println!("{command} --max-memory 60MB: {peak_bytes} bytes");
        assert!(peak_bytes > 0 && peak_bytes <= 60_000_000 + (64 << 20), "{command}: {peak_bytes} bytes");
    };
    for more in ["", "--form triangle", "--checkpoint c --checkpoint-every 50MB"] {
        below(&format!("fit x.parquet --lambda 1 -o m.espan {more}"));
    }
    below("transform m.espan x.parquet -o z.npy");
    below("recover m.espan x.parquet -o z.npy --scores s.npy");
    // The Parquet writer holds rows until a row group is full.
    let said = run.refused("recover m.espan x.parquet -o z.parquet --max-memory 60MB");
    assert!(said.contains("more than `--max-memory` allows"), "{said}");
    let peak_bytes = peak(&run, "recover m.espan x.parquet -o z.parquet --max-memory 80MB");
    println!("recover m.espan x.parquet -o z.parquet --max-memory 80MB: {peak_bytes} bytes");
    assert!(peak_bytes <= 80_000_000 + (64 << 20), "{peak_bytes} bytes");
}
