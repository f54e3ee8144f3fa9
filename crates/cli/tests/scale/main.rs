//! Samples in files: formats, memory limits, checkpoints, updates, summaries made separately and merged.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "tests print what they measure, and make files")]

mod kills;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(feature = "columnar")]
mod parquet;
#[path = "../run/mod.rs"]
mod run;
mod sketch;
mod summaries;
mod update;

use eigenspan_core::Mat;
use eigenspan_core::data::generate::Subspaces;
use eigenspan_io::Names;
use run::Run;

impl Run {
    /// stderr of a run that is refused.
    fn refused(&self, args: &str) -> String {
        let output = self.output(args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{args}: {said}");
        assert!(said.contains("hint: "), "{said}");
        said
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
