//! LIBSVM text.
#![no_main]

use eigenspan_fuzz::check_if;
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(|bytes: &[u8]| -> Corpus {
    check_if(std::str::from_utf8(bytes).is_ok_and(|text| text.contains(':')), bytes)
});
