//! The staircase k(λ) as an SVG.

use crate::axis::{CountAxis, number};
use eigenspan_core::method::pce::PathStep;

use crate::staircase::{choice, lambda_axis, most_kept};
use crate::svg::{Anchor, BOTTOM, Frame, LEFT, Page, RIGHT, across, merged, up};

/// About what a character of an annotation takes; only decides on which side of the point it stands.
const CHARACTER_WIDTH: f64 = 9.5;

/// Draws k(λ) as a self-contained SVG of 800 × 480 pixels, in light and dark.
///
/// `steps` rise in λ; below the first of them k is 0, and a step at λ ≤ 0 holds from the left edge. `chosen`
/// is the (λ, k) to point out. `title` may be any text: it is escaped. Equal input gives equal bytes.
///
/// ```
/// use eigenspan_core::method::pce::PathStep;
/// use eigenspan_render::path_svg;
///
/// let svg = path_svg(&[PathStep { lambda: 0.5, k: 1 }], Some((5.0, 1)), "faces & <digits>");
/// assert!(svg.contains("λ = 5 → k = 1") && svg.contains("faces &amp; &lt;digits&gt;"));
/// ```
pub fn path_svg(steps: &[PathStep], chosen: Option<(f64, usize)>, title: &str) -> String {
    let lambda = lambda_axis(steps, chosen);
    let kept = CountAxis::up_to(most_kept(steps, chosen)).with_headroom();
    let at = |value: f64, k: usize| (across(lambda.share(value)), up(kept.share(k as f64)));
    let mut page = Page::new(&Frame {
        title,
        description: described(steps, chosen),
        rightward: ("λ (log scale)", lambda.ticks(9)),
        upward: ("k (dimensions kept)", kept.ticks(7)),
    });
    if let Some((value, k)) = chosen {
        // Before the curve: on a flat stair the guide runs along it.
        let (x, y) = at(value, k);
        page.line("guide", (LEFT, y), (x, y));
        page.line("guide", (x, y), (x, BOTTOM));
    }
    let stairs = steps.iter().filter(|s| !s.lambda.is_nan()).map(|s| at(s.lambda, s.k));
    let mut points = merged(std::iter::once((LEFT, BOTTOM)).chain(stairs));
    let end = points.last().map_or(BOTTOM, |last| last.1);
    points.push((RIGHT, end));
    page.curve("curve", &points, true);
    if let Some((value, k)) = chosen {
        point_out(&mut page, at(value, k), &choice(value, k));
    }
    page.finish()
}

/// Marks the choice. The stairs rise, so above left and below right of a point on them are free; the words
/// go left unless the axis is too near.
fn point_out(page: &mut Page, (x, y): (f64, f64), words: &str) {
    page.circle("point", (x, y), 6.5);
    let length = words.chars().count() as f64 * CHARACTER_WIDTH;
    if x - 12.0 - length >= LEFT {
        page.text((x - 12.0, y - 11.0), "note", Anchor::End, words);
    } else {
        page.text((x + 13.0, (y + 22.0).min(BOTTOM - 8.0)), "note", Anchor::Start, words);
    }
}

fn described(steps: &[PathStep], chosen: Option<(f64, usize)>) -> String {
    let stairs = match (steps.first(), steps.last()) {
        (Some(first), Some(last)) => format!(
            "The number of dimensions kept, k, rises to {} as λ grows from {} to {}.",
            last.k,
            number(first.lambda),
            number(last.lambda)
        ),
        _ => "No dimension is kept for any λ.".to_string(),
    };
    let mark = chosen.map_or(String::new(), |(lambda, k)| format!(" Chosen: {}.", choice(lambda, k)));
    stairs + &mark
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::tests::assert_well_formed;

    fn power_law(n: usize) -> Vec<PathStep> {
        (1..=n).map(|k| PathStep { lambda: (25.0 * (k as f64).powf(-0.9)).powi(-2), k }).collect()
    }

    #[test]
    fn is_well_formed_whatever_it_draws() {
        let extremes = [0.0, f64::from_bits(1), 1e-300, 1.0, f64::MAX, f64::INFINITY, f64::NAN];
        for low in extremes {
            for high in extremes {
                let steps = [PathStep { lambda: low, k: 0 }, PathStep { lambda: high, k: usize::MAX }];
                assert_well_formed(&path_svg(&steps, Some((high, 1)), "<&\">'"));
            }
        }
        assert_well_formed(&path_svg(&[], None, ""));
    }

    #[test]
    fn says_what_was_chosen() {
        let svg = path_svg(&power_law(700), Some((5.0, 118)), "faces");
        assert!(svg.contains(">λ = 5 → k = 118</text>") && svg.contains("Chosen: λ = 5 → k = 118."));
    }

    #[test]
    fn stairs_never_go_back_or_down() {
        let svg = path_svg(&power_law(700), None, "");
        let data = svg.split_once("class=\"curve\" d=\"M").unwrap().1.split_once('"').unwrap().0;
        let (start, stairs) = data.split_once('H').unwrap();
        let mut last: Vec<f64> = start.split(' ').map(|v| v.parse().unwrap()).collect();
        for stair in stairs.split('H') {
            let next: Vec<f64> = stair.split('V').map(|v| v.parse().unwrap()).collect();
            assert!(next[0] >= last[0] && next[1] <= last[1]);
            last = next;
        }
        assert_eq!(last[0], RIGHT);
    }

    #[test]
    fn many_steps_do_not_bloat_the_file() {
        let svg = path_svg(&power_law(200_000), Some((1.0, 30)), "many");
        assert!(svg.len() < 30_000, "{} bytes", svg.len());
        assert_eq!(svg, path_svg(&power_law(200_000), Some((1.0, 30)), "many"), "equal input, equal bytes");
    }
}
