//! Model files. The checksum is set right before they are read: no random byte would come past it.
#![no_main]

use eigenspan_io::ModelFile;
use libfuzzer_sys::{Corpus, fuzz_target};
use sha2::{Digest, Sha256};

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

/// Sets the 64 digits after the first `checksum` in the header; `None` where there is none.
fn set_checksum(bytes: &mut [u8]) -> Option<()> {
    const MARK: &[u8] = br#"\"checksum\":\""#;
    let start = bytes.windows(MARK.len()).position(|window| window == MARK)? + MARK.len();
    bytes.get_mut(start..start + 64)?.fill(b'0');
    let sum: String = Sha256::digest(&*bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    bytes[start..start + 64].copy_from_slice(sum.as_bytes());
    Some(())
}
