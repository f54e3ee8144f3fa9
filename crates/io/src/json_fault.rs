//! What is wrong with JSON, in words that are not Rust's.

/// The fault, without its place.
pub fn in_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let fault = text.split(" at line ").next().unwrap_or_default();
    ["usize", "u32", "u64"].iter().fold(fault.to_string(), |text, of| match text.strip_suffix(of) {
        Some(start) => format!("{start}a whole number from 0"),
        None => text,
    })
}
