//! Summary files. The checksum is set right before they are read: no random byte would come past it. The checksums inside,
//! of the two summaries, are set by hand as well.
#![no_main]

use eigenspan_core::Exec;
use eigenspan_core::linalg::Summary;
use eigenspan_fuzz::set_checksum;
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
        let again = SummaryFile::from_bytes("summary", &file.to_bytes()).expect("what was read can be written and read");
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

/// Sets the last eight bytes of every summary inside, as long as its header claims.
fn set_inner_checksums(bytes: &mut [u8]) {
    const MARK: &[u8] = b"eigen\xce\xa3\x01";
    let mut from = 0;
    while let Some(at) = bytes[from..].windows(8).position(|window| window == MARK).map(|at| from + at) {
        from = at + 8;
        let word = |i: usize| Some(u64::from_le_bytes(bytes.get(at + 8 * i..at + 8 * i + 8)?.try_into().ok()?));
        let (Some(m), Some(tail), Some(kinds)) = (word(2), word(4), word(1)) else { return };
        if m > 1 << 12 || tail > 1 << 16 {
            continue;
        }
        let (m, tail, centred) = (m as usize, tail as usize, (kinds >> 8) & 0xff == 1);
        let end = at + 8 * (9 + if centred { 2 * m } else { 0 } + m * (m + 1) / 2 + tail * m);
        let Some(body) = bytes.get(at..end) else { continue };
        let sum = body.chunks_exact(8).fold(0xcbf2_9ce4_8422_2325u64, |hash, word| {
            (hash ^ u64::from_le_bytes(word.try_into().expect("eight bytes"))).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let Some(place) = bytes.get_mut(end..end + 8) else { continue };
        place.copy_from_slice(&sum.to_le_bytes());
    }
}
