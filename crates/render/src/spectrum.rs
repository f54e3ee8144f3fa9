//! The scree chart for a terminal: singular values against their index, cut at τ.

use crate::axis::{CountAxis, LogAxis, Tick, number};
use crate::canvas::{Canvas, DOTS};
use crate::chart::Layout;

/// Draws singular values in characters, `width` columns by about `height` lines, every line equally long
/// and ended by a newline; needs no color.
///
/// `sigma` falls; the i-th value is a stair from i − 1 to i, so the mark `┊` at `k` stands exactly between
/// the last value kept and the first left out, and meets the dashed line at `tau` on the curve. Zeros, and what is
/// rounding beside the first value, are drawn at the floor of the log scale. Widths below 20 and heights below 8 are
/// drawn at those sizes.
///
/// ```
/// let text = eigenspan_render::scree(&[9.0, 3.0, 0.2, 0.1, 0.0], 0.5, 2, 60, 12);
/// assert!(text.contains("k = 2 of 5"));
/// ```
pub fn scree(sigma: &[f64], tau: f64, k: usize, width: usize, height: usize) -> String {
    if sigma.is_empty() {
        return "no spectrum to draw: there are no singular values\n".to_string();
    }
    let across = CountAxis::up_to(sigma.len());
    let up = sigma_axis(sigma, tau);
    let legend = [format!("╌ {}", threshold(tau)), format!("┊ k = {k} of {}", sigma.len())];
    let (layout, mut canvas) = Layout::new((width, height), &legend, |most| up.ticks(most));
    let heights = falls(sigma, &up, &canvas);
    canvas.curve(&heights);
    let cut = canvas.dot_x(across.share(k as f64)) / DOTS.0;
    let level = canvas.dot_y(up.share(tau)) / DOTS.1;
    canvas.behind(cut, level, '┼');
    (0..canvas.rows()).for_each(|row| canvas.behind(cut, row, '┊'));
    (0..canvas.cols()).for_each(|col| canvas.behind(col, level, '╌'));
    layout.render("σᵢ (log scale)", &canvas, |most| index_ticks(sigma.len(), most))
}

/// For every dot column, the dot rows of the first and the last value in it: at hundreds of values a column
/// holds several, and the first column all those that matter most.
fn falls(sigma: &[f64], up: &LogAxis, canvas: &Canvas) -> Vec<(usize, usize)> {
    let (n, columns) = (sigma.len() as f64, DOTS.0 * canvas.cols());
    let first = |x: usize| (x as f64 / columns as f64 * n) as usize;
    let height = |i: usize| canvas.dot_y(up.share(sigma[i.min(sigma.len() - 1)]));
    (0..columns).map(|x| (height(first(x)), height(first(x).max(first(x + 1).saturating_sub(1))))).collect()
}

/// "τ = 0.25", the same words in every picture.
pub(crate) fn threshold(tau: f64) -> String {
    format!("τ = {}", number(tau))
}

/// Values below this share of the first are rounding.
const ROUNDING: f64 = 1e-12;

/// The axis that holds every value above rounding and the threshold. What is rounding would squeeze the rest: it lies
/// on the floor, as zeros do.
pub(crate) fn sigma_axis(sigma: &[f64], tau: f64) -> LogAxis {
    let floor = ROUNDING * sigma.first().copied().filter(|first| first.is_finite()).unwrap_or(0.0);
    let axis = LogAxis::spanning(sigma.iter().copied().filter(|s| *s > floor).chain([tau]));
    if sigma.iter().any(|s| *s <= floor) { axis.with_cellar() } else { axis }
}

/// Ticks in the middle of the stairs they name. The first names 1, since there is no value 0, unless 2
/// comes next and then 4: that would look like a slip.
pub(crate) fn index_ticks(n: usize, most: usize) -> Vec<Tick> {
    let axis = CountAxis::up_to(n);
    let mut ticks = axis.ticks(most);
    ticks.iter_mut().for_each(|t| t.share = (t.share - axis.share(0.5)).max(0.0));
    match ticks[1].label.as_str() {
        "1" | "2" => drop(ticks.remove(0)),
        _ => ticks[0] = Tick { share: axis.share(0.5), label: "1".to_string() },
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power_law(n: usize) -> Vec<f64> {
        (1..=n).map(|i| 25.0 * (i as f64).powf(-0.9)).collect()
    }

    #[test]
    fn every_line_has_the_asked_width() {
        for (n, width) in [(1, 20), (3, 40), (700, 80), (100_000, 120)] {
            let text = scree(&power_law(n), 0.2582, n / 2, width, 12);
            assert!(text.lines().all(|line| line.chars().count() == width), "{text}");
        }
    }

    #[test]
    fn zeros_lie_on_the_floor() {
        let text = scree(&[10.0, 1.0, 0.0], 3.0, 1, 40, 12);
        let floor = text.lines().rfind(|line| line.contains(['┤', '│'])).unwrap();
        let cells: Vec<char> = floor.chars().collect();
        assert!(('⡀'..='⣿').contains(&cells[cells.len() - 2]), "{text}");
        assert!(!('⡀'..='⣿').contains(&cells[cells.len() / 2]), "{text}");
    }

    #[test]
    fn a_zero_does_not_pass_for_the_smallest_value() {
        let axis = |sigma: &[f64]| sigma_axis(sigma, 1.0);
        assert!(axis(&[10.0, 0.1, 0.0]).share(0.1) > 0.1);
        assert!(axis(&[10.0, 0.1]).share(0.1) < 0.05, "without zeros no space is wasted");
        assert_eq!(axis(&[10.0, 0.1, 1e-14]).share(0.1), axis(&[10.0, 0.1, 0.0]).share(0.1), "rounding is like zero");
    }

    #[test]
    fn first_and_last_value_are_seen_among_thousands() {
        let mut sigma = vec![1.0; 5000];
        (sigma[0], sigma[4999]) = (1e3, 0.0);
        let text = scree(&sigma, 10.0, 1, 60, 20);
        let drawn: Vec<&str> = text.lines().filter_map(|l| l.split_once(['┤', '│'])).map(|(_, cells)| cells).collect();
        assert!(drawn[0].starts_with(|c| ('⠁'..='⣿').contains(&c)), "{text}");
        assert!(drawn[drawn.len() - 1].trim_end().ends_with(|c| ('⠁'..='⣿').contains(&c)), "{text}");
    }

    #[test]
    fn indices_start_at_one() {
        let labels = |n| index_ticks(n, 6).into_iter().map(|t| t.label).collect::<Vec<_>>();
        assert_eq!(labels(1), ["1"]);
        assert_eq!(labels(4), ["1", "2", "3", "4"]);
        assert_eq!(labels(9), ["2", "4", "6", "8"]);
        assert_eq!(labels(700), ["1", "200", "400", "600"]);
    }

    #[test]
    fn threshold_and_cut_are_drawn_and_named() {
        let text = scree(&power_law(700), 0.2582, 158, 80, 20);
        assert!(text.contains("╌ τ = 0.2582   ┊ k = 158 of 700"), "{text}");
        assert!(text.matches('╌').count() > 30 && text.matches('┊').count() > 10, "{text}");
    }

    #[test]
    fn extreme_values_are_drawn() {
        let extremes = [0.0, f64::from_bits(1), 1e-300, 1.0, f64::MAX, f64::INFINITY, f64::NAN];
        for sigma in extremes {
            for tau in extremes {
                for k in [0, 1, 2, usize::MAX] {
                    let text = scree(&[sigma, 0.0], tau, k, 20, 8);
                    assert!(text.lines().all(|line| line.chars().count() == 20), "{text}");
                }
            }
        }
        assert_eq!(scree(&[], 1.0, 0, 80, 20).lines().count(), 1);
    }
}
