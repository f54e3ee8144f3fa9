//! Checkpoints of fits. Their checksum, and those of the two summary files inside, are set right before they are read.
#![no_main]

use std::fs;

use eigenspan_core::Exec;
use eigenspan_fuzz::{folder, set_checksum, set_inner_checksums};
use eigenspan_io::Checkpoint;
use libfuzzer_sys::{Corpus, fuzz_target};
use safetensors::SafeTensors;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let mut bytes = bytes.to_vec();
    for (start, end) in tensors(&bytes) {
        // Before the checksums outside of them, which depend on them.
        set_inner_checksums(&mut bytes[start..end]);
        set_checksum(&mut bytes[start..end]);
    }
    if set_checksum(&mut bytes).is_none() {
        return Corpus::Reject;
    }
    let path = folder().join("fit.check");
    fs::write(&path, &bytes).expect("space for a checkpoint");
    match Checkpoint::load(&path) {
        Ok(read) => {
            let Checkpoint { data, position, mut done, current } = read.expect("the file is there");
            assert!(position.at < data.len() && current.summary.rows() == position.rows, "its position is outside");
            Checkpoint::write(&path, &data, &position, &done, &current.summary).expect("a folder to write to");
            let again = Checkpoint::load(&path).expect("what was written can be read").expect("the file is there");
            let same = (&again.data, &again.position, &again.done) == (&data, &position, &done);
            assert!(same && again.current.summary == current.summary, "writing changed the checkpoint");
            if done.summary.features() <= 64 && done.merge(&current, Exec::default()).is_ok() {
                // What a fit that is resumed ends with: a model or an error.
                let _ = done.finish(None, Exec::default());
            }
        }
        Err(error) => assert!(!error.to_string().is_empty() && error.hint().is_none_or(|hint| !hint.is_empty())),
    }
    Corpus::Keep
});

/// Where the tensors are, as far as the header tells.
fn tensors(bytes: &[u8]) -> Vec<(usize, usize)> {
    let Ok((length, header)) = SafeTensors::read_metadata(bytes) else { return vec![] };
    let mut places: Vec<_> = header.tensors().values().map(|tensor| tensor.data_offsets).collect();
    places.sort_unstable();
    places
        .iter()
        .map(|(start, end)| (8 + length + start, 8 + length + end))
        .filter(|(_, end)| *end <= bytes.len())
        .collect()
}
