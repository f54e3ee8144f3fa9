//! Calibrations of estimators of the dimension. What was read can be written, and reads the same.
#![no_main]

use eigenspan_fuzz::folder;
use eigenspan_io::{calibration_of_bytes, load_calibration, save_calibration};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match calibration_of_bytes("calibration", bytes) {
        Ok(known) => {
            let path = folder().join("calibration.json");
            save_calibration(&path, &known).expect("a folder to write to");
            assert!(load_calibration(&path).expect("what was written can be read") == known, "writing changed it");
        }
        Err(error) => assert!(!error.to_string().is_empty() && error.hint().is_some_and(|hint| !hint.is_empty())),
    }
});
