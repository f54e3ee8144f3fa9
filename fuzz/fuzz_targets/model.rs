//! Model files. The checksum is set right before they are read: no random byte would come past it.
#![no_main]

use eigenspan_fuzz::set_checksum;
use eigenspan_io::ModelFile;
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let mut bytes = bytes.to_vec();
    if set_checksum(&mut bytes).is_none() {
        return Corpus::Reject;
    }
    if let Ok(file) = ModelFile::from_bytes("model", &bytes) {
        let again = ModelFile::from_bytes("model", &file.to_bytes()).expect("what was read can be written and read");
        assert!(again == file, "writing changed the model");
    }
    Corpus::Keep
});
