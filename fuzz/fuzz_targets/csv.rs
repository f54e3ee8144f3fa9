//! CSV and TSV, with the classes looked for, and in the first column.
#![no_main]

use eigenspan_fuzz::{check, check_with};
use eigenspan_io::ReadOptions;
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    if std::str::from_utf8(bytes).is_err() {
        return Corpus::Reject;
    }
    check(bytes);
    check_with(bytes, &ReadOptions { label: Some("1".to_string()), ..ReadOptions::default() });
    Corpus::Keep
});
