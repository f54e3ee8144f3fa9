//! Exact scaling by powers of two.

/// `x · 2^exponent`, exact unless the result leaves the range of normal numbers.
pub fn times_power_of_two(x: f64, exponent: i32) -> f64 {
    // Three factors within range reach every exponent of an f64, and none overflows.
    let step = (exponent / 3).clamp(-1000, 1000);
    let rest = (exponent - 2 * step).clamp(-1000, 1000);
    x * power_of_two(step) * power_of_two(step) * power_of_two(rest)
}

/// The exponent e with `2^(e−1) ≤ |x| < 2^e`; 0 for zero.
pub fn exponent_of(x: f64) -> i32 {
    if x == 0.0 {
        return 0;
    }
    let biased = |v: f64| ((v.to_bits() >> 52) & 0x7ff) as i32;
    match biased(x) {
        0 => biased(x * power_of_two(64)) - 1022 - 64,
        e => e - 1022,
    }
}

/// 2^e for −1022 ≤ e ≤ 1023.
fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_brackets_the_number() {
        for x in [1.0, 0.75, 3e-310, 5e-324, 1e300, f64::MAX, -2.0, f64::MIN_POSITIVE] {
            let scaled = times_power_of_two(x, -exponent_of(x)).abs();
            assert!((0.5..1.0).contains(&scaled), "{x}: {scaled}");
            assert_eq!(times_power_of_two(times_power_of_two(x, -exponent_of(x)), exponent_of(x)), x);
        }
        assert_eq!(exponent_of(0.0), 0);
    }
}
