//! Human-readable numbers.

/// Four significant digits, without an exponent where that stays readable.
pub fn short_number(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let magnitude = x.abs().log10().floor() as i32;
    if !(-4..7).contains(&magnitude) {
        return format!("{x:.3e}");
    }
    let text = format!("{x:.*}", usize::try_from(3 - magnitude).unwrap_or(0));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well_at_every_size() {
        let read: Vec<String> =
            [5.0, 0.44721, 123456.0, 1.0 / 3.0, 2e-7, 6e22, -0.05, 100.0, 0.0, f64::INFINITY].map(short_number).into();
        assert_eq!(read, ["5", "0.4472", "123456", "0.3333", "2.000e-7", "6.000e22", "-0.05", "100", "0", "inf"]);
    }
}
