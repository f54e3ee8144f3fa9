//! Summary files. The checksum is set right before they are read: no random byte would come past it. The checksums
//! inside, of the two summaries, are set by hand as well.
#![no_main]

use eigenspan_core::Exec;
use eigenspan_core::linalg::Summary;
use eigenspan_fuzz::{set_checksum, set_inner_checksums};
use eigenspan_io::SummaryFile;
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    // As it is a summary of its own, without the file around it.
    if let Ok(summary) = Summary::from_bytes(bytes) {
        assert!(Summary::from_bytes(&summary.to_bytes()).is_ok_and(|again| again == summary), "writing changed it");
    }
    let mut bytes = bytes.to_vec();
    set_inner_checksums(&mut bytes);
    if set_checksum(&mut bytes).is_none() {
        return Corpus::Reject;
    }
    if let Ok(file) = SummaryFile::from_bytes("summary", &bytes) {
        let again =
            SummaryFile::from_bytes("summary", &file.to_bytes()).expect("what was read can be written and read");
        assert!(again == file, "writing changed the summary");
        if file.summary.features() <= 64 {
            // What is read can be merged and finished, to a model or an error.
            let mut twice = file.clone();
            if twice.merge(&file, Exec::default()).is_ok() {
                let _ = twice.finish(None, Exec::default());
            }
        }
    }
    Corpus::Keep
});
