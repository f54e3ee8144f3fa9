//! Samples that are read once: files of several formats, limits of memory, checkpoints, summaries made apart and merged.

mod kills;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(feature = "columnar")]
mod parquet;
mod sketch;
mod summaries;
mod update;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use eigenspan_core::Mat;
use eigenspan_core::data::generate::Subspaces;
use eigenspan_io::Names;

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

    #[expect(clippy::disallowed_methods, reason = "a test looks at the file that was written")]
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
