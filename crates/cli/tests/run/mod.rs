//! The program in a folder of its own.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A temporary folder, in which the program runs.
pub struct Run {
    folder: tempfile::TempDir,
}

impl Run {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The program with arguments that are separated by spaces, without input.
    pub fn command(&self, args: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_eigenspan"));
        command.args(args.split_whitespace()).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    pub fn output(&self, args: &str) -> Output {
        self.command(args).output().unwrap()
    }

    /// stdout of a run that succeeds.
    pub fn ok(&self, args: &str) -> String {
        let output = self.output(args);
        assert!(output.status.success(), "{args}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[expect(clippy::disallowed_methods, reason = "a test reads the file that was written")]
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path().join(name)).unwrap()
    }
}
