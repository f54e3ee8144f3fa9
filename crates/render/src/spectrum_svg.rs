//! Singular values against their index as an SVG, cut at τ.

use crate::axis::{CountAxis, number};
use crate::spectrum::{index_ticks, sigma_axis, threshold};
use crate::svg::{Anchor, BOTTOM, Frame, LEFT, Page, RIGHT, TOP, across, merged, up};

/// Up to so many values, each gets a dot: they then stand at least a dot's width apart.
const MOST_DOTS: usize = 60;

/// Draws singular values as a self-contained SVG of 800 × 480 pixels, in light and dark.
///
/// `sigma` falls. The first `k` values are drawn strong, the rest faint; a dashed line lies at `tau`, another
/// stands between the last value kept and the first left out. Zeros lie on the floor of the log scale.
/// `title` may be any text: it is escaped. Equal input gives equal bytes.
///
/// ```
/// let svg = eigenspan_render::spectrum_svg(&[9.0, 3.0, 0.2, 0.0], 0.5, 2, "faces");
/// assert!(svg.contains("τ = 0.5") && svg.contains("k = 2 of 4"));
/// ```
pub fn spectrum_svg(sigma: &[f64], tau: f64, k: usize, title: &str) -> String {
    let n = sigma.len();
    let index = CountAxis::up_to(n);
    let size = sigma_axis(sigma, tau);
    let mut page = Page::new(&Frame {
        title,
        description: described(sigma, tau, k),
        rightward: ("index i", if n == 0 { Vec::new() } else { index_ticks(n, 12) }),
        upward: ("singular value σᵢ (log scale)", size.ticks(7)),
    });
    let at = |i: usize| (across(index.share(i as f64 + 0.5)), up(size.share(sigma[i])));
    let cut = k.min(n);
    let crossing = (across(index.share(cut as f64)), up(size.share(tau)));
    page.line("guide", (LEFT, crossing.1), (RIGHT, crossing.1));
    page.line("guide", (crossing.0, TOP), (crossing.0, BOTTOM));
    // The faint part starts at the last value kept, so that the curve has no gap.
    page.curve("rest", &merged((cut.saturating_sub(1)..n).map(at)), false);
    page.curve("curve", &merged((0..cut).map(at)), false);
    if n <= MOST_DOTS {
        (cut..n).for_each(|i| page.circle("hollow", at(i), 3.5));
        (0..cut).for_each(|i| page.circle("dot", at(i), 4.0));
    }
    name_threshold(&mut page, crossing, &threshold(tau));
    name_cut(&mut page, crossing, &format!("k = {k} of {n}"));
    page.finish()
}

/// The curve falls through the crossing, so it is neither right of it above the threshold nor left of it
/// below: the name goes where there is space of these two, else above the low left end of the line.
fn name_threshold(page: &mut Page, (x, y): (f64, f64), name: &str) {
    if x < RIGHT - 140.0 {
        page.text((RIGHT - 6.0, y - 9.0), "note", Anchor::End, name);
    } else if y < BOTTOM - 30.0 {
        page.text((LEFT + 9.0, y + 20.0), "note", Anchor::Start, name);
    } else {
        page.text((LEFT + 9.0, y - 9.0), "note", Anchor::Start, name);
    }
}

/// Right of the cut and above the threshold is free; where that is too narrow or too flat, the name stands
/// over the drawing, clear of the label of the axis.
fn name_cut(page: &mut Page, (x, y): (f64, f64), name: &str) {
    if x < RIGHT - 180.0 && y > TOP + 50.0 {
        page.text((x + 9.0, TOP + 16.0), "note", Anchor::Start, name);
    } else if x < RIGHT - 180.0 {
        page.text((x.max(LEFT + 230.0), TOP - 10.0), "note", Anchor::Start, name);
    } else {
        page.text((x, TOP - 10.0), "note", Anchor::End, name);
    }
}

fn described(sigma: &[f64], tau: f64, k: usize) -> String {
    let range = match (sigma.first(), sigma.last()) {
        (Some(first), Some(last)) => {
            format!("{} singular values fall from {} to {}", sigma.len(), number(*first), number(*last))
        }
        _ => "No singular values".to_string(),
    };
    format!("{range}; the {k} above {} are kept.", threshold(tau))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::tests::assert_well_formed;

    fn power_law(n: usize) -> Vec<f64> {
        (1..=n).map(|i| 25.0 * (i as f64).powf(-0.9)).collect()
    }

    #[test]
    fn is_well_formed_whatever_it_draws() {
        let extremes = [0.0, f64::from_bits(1), 1e-300, 1.0, f64::MAX, f64::INFINITY, f64::NAN];
        for sigma in extremes {
            for tau in extremes {
                for k in [0, 1, 2, usize::MAX] {
                    assert_well_formed(&spectrum_svg(&[sigma, 0.0], tau, k, "<&\">'"));
                }
            }
        }
        assert_well_formed(&spectrum_svg(&[], 1.0, 0, ""));
    }

    #[test]
    fn names_threshold_and_cut() {
        let svg = spectrum_svg(&power_law(700), 0.258_198_9, 158, "faces");
        assert!(svg.contains(">τ = 0.2582</text>") && svg.contains(">k = 158 of 700</text>"));
    }

    #[test]
    fn few_values_get_a_dot_each_and_kept_ones_a_full_one() {
        let svg = spectrum_svg(&power_law(10), 5.0, 4, "");
        assert_eq!(svg.matches("class=\"dot\"").count(), 4);
        assert_eq!(svg.matches("class=\"hollow\"").count(), 6);
    }

    #[test]
    fn many_values_do_not_bloat_the_file() {
        let svg = spectrum_svg(&power_law(200_000), 0.01, 5000, "many");
        assert!(svg.len() < 35_000, "{} bytes", svg.len());
    }
}
