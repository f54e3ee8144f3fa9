//! Axes: where a value falls between the two ends, and which round values to name on the way.

/// A named place on an axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tick {
    /// Position from 0 (low end) to 1 (high end).
    pub share: f64,
    /// What to write there.
    pub label: String,
}

/// A logarithmic axis; its ends are exponents of ten, so that 1e-300 … 1e300 cannot overflow on the way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogAxis {
    low: f64,
    high: f64,
}

impl LogAxis {
    /// Holds every positive finite value, with a little air at both ends and never less than one decade:
    /// a single value then sits in the middle instead of dividing by a span of zero.
    pub fn spanning(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = values
            .into_iter()
            .filter(|v| v.is_finite() && *v > 0.0)
            .map(f64::log10)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), e| (low.min(e), high.max(e)));
        if low > high {
            return Self { low: -1.0, high: 1.0 };
        }
        let air = (0.03 * (high - low)).max((1.0 - (high - low)) / 2.0);
        Self { low: low - air, high: high + air }
    }

    /// The same axis with a lower floor, so that zeros drawn there do not pass for the smallest value.
    pub fn with_cellar(self) -> Self {
        Self { low: self.low - 0.1 * (self.high - self.low), ..self }
    }

    /// Position of `value`; zero and anything else below the axis is drawn at its floor.
    pub fn share(&self, value: f64) -> f64 {
        if value > 0.0 { self.share_of_exponent(value.log10()).clamp(0.0, 1.0) } else { 0.0 }
    }

    fn share_of_exponent(&self, exponent: f64) -> f64 {
        (exponent - self.low) / (self.high - self.low)
    }

    /// At most `most` ticks: 1-2-5 or 1-3 in every decade where they fit, else every s-th power of ten.
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        let finer = [&[1, 2, 5][..], &[1, 3]].into_iter().filter(|_| self.high - self.low <= 3.0);
        let fine = finer.map(|mantissas| self.marks(1, mantissas));
        let coarse = [1, 2, 3, 5, 10, 20, 50, 100, 200].into_iter().map(|stride| self.marks(stride, &[1]));
        let marks = fine.chain(coarse).find(|marks| marks.len() <= most).unwrap_or_default();
        let plain = marks.iter().all(|&(_, exponent)| (-3..=4).contains(&exponent));
        let tick = |(mantissa, exponent)| Tick {
            share: self.share_of_exponent(f64::from(mantissa).log10() + f64::from(exponent)),
            label: tick_label(mantissa, exponent, plain),
        };
        marks.into_iter().map(tick).collect()
    }

    /// All mantissa · 10^exponent on the axis whose exponent is a multiple of `stride`.
    fn marks(&self, stride: i32, mantissas: &[i32]) -> Vec<(i32, i32)> {
        // Exponents of an f64 lie within ±324, so the conversions are exact.
        let first = (self.low.floor() as i32).div_euclid(stride);
        let last = (self.high.floor() as i32).div_euclid(stride);
        (first..=last)
            .flat_map(|e| mantissas.iter().map(move |&m| (m, e * stride)))
            .filter(|&(m, e)| (0.0..=1.0).contains(&self.share_of_exponent(f64::from(m).log10() + f64::from(e))))
            .collect()
    }
}

/// One notation for a whole axis: 0.001 beside 10⁻⁴ would read as two kinds of number.
fn tick_label(mantissa: i32, exponent: i32, plain: bool) -> String {
    match exponent {
        0..=1 => (mantissa * 10_i32.pow(exponent as u32)).to_string(),
        _ if plain => number(f64::from(mantissa) * 10_f64.powi(exponent)),
        _ if mantissa == 1 => format!("10{}", superscript(exponent)),
        _ => format!("{mantissa}·10{}", superscript(exponent)),
    }
}

/// A linear axis of counts that starts at zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CountAxis {
    high: f64,
}

impl CountAxis {
    /// From 0 to `count`, or to 1 where there is nothing to count.
    pub fn up_to(count: usize) -> Self {
        Self { high: count.max(1) as f64 }
    }

    /// The same axis with a little air above its highest value.
    pub fn with_headroom(self) -> Self {
        Self { high: self.high * 1.05 }
    }

    /// Position of a count, or of a place between two counts.
    pub fn share(&self, count: f64) -> f64 {
        (count / self.high).clamp(0.0, 1.0)
    }

    /// At least two and at most `most` ticks (three where fewer are requested: 2 and 5 are too far apart to
    /// always find exactly two) at multiples of 1, 2 or 5 times a power of ten.
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        let gaps = most.max(3) - 1;
        let mut strides = (0..19).flat_map(|e| [1_u64, 2, 5].map(|m| m * 10_u64.pow(e)));
        let fits = |stride: &u64| (self.high / *stride as f64).floor() <= gaps as f64;
        let stride = strides.find(fits).unwrap_or(u64::MAX);
        (0..=gaps as u64)
            .map_while(|i| i.checked_mul(stride))
            .take_while(|&count| count as f64 <= self.high)
            .map(|count| Tick { share: self.share(count as f64), label: count.to_string() })
            .collect()
    }
}

/// A linear axis between any two values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinearAxis {
    low: f64,
    high: f64,
}

impl LinearAxis {
    /// Holds every finite value; a single one sits in the middle of an axis of length two.
    pub fn spanning(values: impl IntoIterator<Item = f64>) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        match low < high {
            true => Self { low, high },
            false if low.is_finite() => Self { low: low - 1.0, high: low + 1.0 },
            false => Self { low: 0.0, high: 1.0 },
        }
    }

    /// The same axis with a little air at both ends, but none beyond these limits.
    pub fn with_air(self, least: f64, most: f64) -> Self {
        let air = 0.05 * (self.high - self.low);
        Self { low: (self.low - air).max(least.min(self.low)), high: (self.high + air).min(most.max(self.high)) }
    }

    /// Position of a value; what lies beyond an end is drawn at it.
    pub fn share(&self, value: f64) -> f64 {
        if value.is_nan() { 0.0 } else { ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0) }
    }

    /// At most `most` ticks at multiples of 1, 2 or 5 times a power of ten.
    pub fn ticks(&self, most: usize) -> Vec<Tick> {
        let span = self.high - self.low;
        let decade = 10_f64.powf((span / most.max(2) as f64).log10().floor());
        let stride =
            [1.0, 2.0, 5.0, 10.0, 20.0].map(|m| m * decade).into_iter().find(|s| span / s < most as f64 - 0.99);
        let stride = stride.unwrap_or(50.0 * decade);
        let (first, last) = ((self.low / stride - 1e-9).ceil(), (self.high / stride + 1e-9).floor());
        let count = (last - first).max(0.0) as usize + 1;
        (0..count.min(most))
            .map(|i| (first + i as f64) * stride)
            .map(|value| Tick { share: self.share(value), label: number(value) })
            .collect()
    }
}

/// A number to four significant digits, as a person would write it: 0.25, 118, 3.2·10⁻⁷.
pub(crate) fn number(value: f64) -> String {
    if value == 0.0 || value.is_nan() {
        return if value.is_nan() { "NaN" } else { "0" }.to_string();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_string();
    }
    let rounded = format!("{value:.3e}");
    let (mantissa, exponent) = rounded.split_once('e').expect("`{:e}` writes an exponent");
    let exponent: i32 = exponent.parse().expect("`{:e}` writes an integer exponent");
    if (-3..=4).contains(&exponent) {
        return without_trailing_zeros(&format!("{value:.*}", (3 - exponent).max(0) as usize)).replace('-', "−");
    }
    let power = format!("10{}", superscript(exponent));
    match without_trailing_zeros(mantissa) {
        "1" => power,
        "-1" => format!("−{power}"),
        mantissa => format!("{}·{power}", mantissa.replace('-', "−")),
    }
}

/// `1.50` → `1.5`, `2.00` → `2`, `100` stays.
pub(crate) fn without_trailing_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

fn superscript(exponent: i32) -> String {
    let raised = |c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + (digit as u32 - '0' as u32)).expect("⁰ and ⁴ … ⁹ are neighbours"),
    };
    exponent.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|t| t.label.as_str()).collect()
    }

    #[test]
    fn numbers_read_as_a_person_writes_them() {
        let written = [5.0, 0.258_198_9, 0.001, 12345.0, 99999.6, 1e-7, 3.2e-7, -1.5e300, 0.0, 1e5, -2.5, 100.0];
        let expected =
            ["5", "0.2582", "0.001", "12345", "10⁵", "10⁻⁷", "3.2·10⁻⁷", "−1.5·10³⁰⁰", "0", "10⁵", "−2.5", "100"];
        assert_eq!(written.map(number), expected);
        assert_eq!(number(f64::INFINITY), "∞");
        assert_eq!(number(f64::from_bits(1)), "4.941·10⁻³²⁴");
    }

    #[test]
    fn decades_get_plain_powers_of_ten() {
        let axis = LogAxis::spanning([0.008, 150.0]);
        assert_eq!(labels(&axis.ticks(8)), ["0.01", "0.1", "1", "10", "100"]);
    }

    #[test]
    fn far_apart_ends_share_one_notation() {
        let axis = LogAxis::spanning([1e-6, 1e3]);
        assert_eq!(labels(&axis.ticks(5)), ["10⁻⁶", "10⁻⁴", "10⁻²", "1", "10²"]);
    }

    #[test]
    fn a_short_range_is_divided_within_its_decade() {
        assert_eq!(labels(&LogAxis::spanning([5.0]).ticks(8)), ["2", "5", "10"]);
    }

    #[test]
    fn ticks_rise_stay_inside_and_are_not_more_than_asked() {
        for (low, high) in [(1e-300, 1e300), (f64::from_bits(1), f64::MAX), (1.0, 1.0), (3.0, 4.0), (1e-9, 1e9)] {
            for most in 3..12 {
                let ticks = LogAxis::spanning([low, high]).ticks(most);
                assert!((1..=most).contains(&ticks.len()), "{low} {high} {most}: {ticks:?}");
                assert!(ticks.windows(2).all(|w| w[0].share < w[1].share));
                assert!(ticks.iter().all(|t| (0.0..=1.0).contains(&t.share)));
            }
        }
        for count in [0, 1, 2, 4, 7, 118, 699, 100_000, usize::MAX] {
            for most in 3..12 {
                let ticks = CountAxis::up_to(count).ticks(most);
                assert!((2..=most).contains(&ticks.len()), "{count} {most}: {ticks:?}");
                assert_eq!(ticks[0], Tick { share: 0.0, label: "0".into() });
            }
        }
    }

    #[test]
    fn a_linear_axis_has_round_ticks_inside_it() {
        assert_eq!(labels(&LinearAxis::spanning([0.0, 100.0]).ticks(6)), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(&LinearAxis::spanning([91.3, 97.2]).ticks(8)), ["92", "93", "94", "95", "96", "97"]);
        for (low, high) in [(0.0, 1e-9), (-5.0, 7.0), (500.0, 9500.0), (3.0, 3.0), (1e300, -1e300), (0.1, 0.3)] {
            for most in 3..12 {
                let ticks = LinearAxis::spanning([low, high]).ticks(most);
                assert!((1..=most).contains(&ticks.len()), "{low} {high} {most}: {ticks:?}");
                assert!(ticks.windows(2).all(|w| w[0].share < w[1].share));
            }
        }
        assert_eq!(LinearAxis::spanning([]).share(f64::NAN), 0.0);
    }

    #[test]
    fn what_is_not_on_the_axis_is_drawn_at_its_end() {
        let axis = LogAxis::spanning([1.0, 100.0]);
        assert_eq!([0.0, -3.0, f64::NAN, 1e-9].map(|v| axis.share(v)), [0.0; 4]);
        assert_eq!([1e9, f64::INFINITY].map(|v| axis.share(v)), [1.0; 2]);
    }

    #[test]
    fn an_axis_without_values_still_has_ticks() {
        assert_eq!(labels(&LogAxis::spanning([0.0, f64::NAN]).ticks(3)), ["0.1", "1", "10"]);
    }
}
