//! The staircase k(λ) for a terminal: how many dimensions are kept as λ grows.

use eigenspan_core::method::pce::PathStep;

use crate::axis::{CountAxis, LogAxis, number};
use crate::canvas::{Canvas, DOTS};
use crate::chart::Layout;

/// Draws k(λ) in characters, `width` columns by about `height` lines, every line equally long and ended
/// by a newline; needs no color.
///
/// `steps` rise in λ; below the first of them k is 0. A step at λ ≤ 0 holds from the left edge, which has
/// no zero on a log scale. `chosen` is the (λ, k) to mark with `●`. Widths below 20 and heights below 8
/// are drawn at those sizes.
///
/// ```
/// use eigenspan_core::method::pce::PathStep;
/// use eigenspan_render::staircase;
///
/// let steps = [(0.02, 1), (0.4, 2), (7.0, 3)].map(|(lambda, k)| PathStep { lambda, k });
/// let text = staircase(&steps, Some((1.0, 2)), 60, 12);
/// assert!(text.contains("● λ = 1 → k = 2"));
/// ```
pub fn staircase(steps: &[PathStep], chosen: Option<(f64, usize)>, width: usize, height: usize) -> String {
    if steps.is_empty() {
        return "no staircase to draw: no λ keeps a dimension\n".to_string();
    }
    let across = lambda_axis(steps, chosen);
    let up = CountAxis::up_to(most_kept(steps, chosen));
    let mut legend = vec!["λ on a log scale".to_string()];
    if let Some((lambda, k)) = chosen {
        legend.insert(0, format!("● {}", choice(lambda, k)));
    }
    let (layout, mut canvas) = Layout::new((width, height), &legend, |most| up.ticks(most));
    let heights = stairs(steps, &across, &up, &canvas);
    canvas.curve(&heights);
    if let Some((lambda, k)) = chosen {
        let (x, y) = (canvas.dot_x(across.share(lambda)), canvas.dot_y(up.share(k as f64)));
        canvas.mark(x / DOTS.0, y / DOTS.1, '●');
    }
    layout.render("k (dimensions kept)", &canvas, |most| across.ticks(most))
}

/// The dot row of k for every dot column; where several steps share a column the last one counts.
fn stairs(steps: &[PathStep], across: &LogAxis, up: &CountAxis, canvas: &Canvas) -> Vec<(usize, usize)> {
    let mut starts = vec![None; DOTS.0 * canvas.cols()];
    for step in steps.iter().filter(|s| !s.lambda.is_nan()) {
        starts[canvas.dot_x(across.share(step.lambda))] = Some(canvas.dot_y(up.share(step.k as f64)));
    }
    let mut level = canvas.dot_y(0.0);
    let mut height = |start: Option<usize>| {
        level = start.unwrap_or(level);
        (level, level)
    };
    starts.into_iter().map(&mut height).collect()
}

/// "λ = 5 → k = 118", the same words in every picture.
pub(crate) fn choice(lambda: f64, k: usize) -> String {
    format!("λ = {} → k = {k}", number(lambda))
}

/// The axis that holds every step and the choice.
pub(crate) fn lambda_axis(steps: &[PathStep], chosen: Option<(f64, usize)>) -> LogAxis {
    LogAxis::spanning(steps.iter().map(|s| s.lambda).chain(chosen.map(|(lambda, _)| lambda)))
}

/// The largest k that has to be drawn.
pub(crate) fn most_kept(steps: &[PathStep], chosen: Option<(f64, usize)>) -> usize {
    steps.iter().map(|s| s.k).chain(chosen.map(|(_, k)| k)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power_law(n: usize) -> Vec<PathStep> {
        (1..=n).map(|k| PathStep { lambda: (25.0 * (k as f64).powf(-0.9)).powi(-2), k }).collect()
    }

    /// For each column of the drawing, how high its highest dot is; `None` where it holds no dot.
    fn tops(text: &str) -> Vec<Option<usize>> {
        let drawn: Vec<Vec<char>> = text
            .lines()
            .filter_map(|line| line.split_once(['┤', '│']))
            .map(|(_, cells)| cells.chars().collect())
            .collect();
        let top = |col: usize| {
            let row = drawn.iter().position(|line| ('⠁'..='⣿').contains(&line[col]))?;
            let bits = drawn[row][col] as u32 - 0x2800;
            let dot = [0x09, 0x12, 0x24, 0xc0].iter().position(|row| bits & row != 0)?;
            Some(4 * (drawn.len() - row) - dot)
        };
        (0..drawn[0].len()).map(top).collect()
    }

    #[test]
    fn never_decreases_from_left_to_right() {
        for (n, width, height) in [(1, 20, 8), (3, 40, 10), (700, 80, 20), (5000, 120, 40)] {
            let tops: Vec<_> = tops(&staircase(&power_law(n), None, width, height)).into_iter().flatten().collect();
            assert!(tops.len() > width / 2, "the curve spans the drawing");
            assert!(tops.is_sorted(), "{n} steps: {tops:?}");
        }
    }

    #[test]
    fn every_line_has_the_asked_width() {
        for width in [20, 37, 80, 200] {
            for steps in [1, 2, 700, 123_456] {
                let chosen = Some((1.234_567e-300, 123_456));
                let text = staircase(&power_law(steps), chosen, width, 12);
                assert!(text.lines().all(|line| line.chars().count() == width), "{text}");
            }
        }
    }

    #[test]
    fn keeps_to_the_asked_height() {
        for height in [8, 10, 20, 50] {
            assert_eq!(staircase(&power_law(9), Some((1.0, 9)), 80, height).lines().count(), height);
        }
    }

    #[test]
    fn the_choice_is_marked_once_in_the_drawing_and_named_below() {
        let text = staircase(&power_law(700), Some((15.0, 158)), 80, 20);
        assert_eq!(text.matches('●').count(), 2);
        assert!(text.contains("● λ = 15 → k = 158"));
        assert!(!staircase(&power_law(700), None, 80, 20).contains('●'));
    }

    #[test]
    fn extreme_lambdas_are_drawn() {
        let lambdas = [-1.0, 0.0, f64::from_bits(1), 1e-300, 1.0, 1e300, f64::MAX, f64::INFINITY, f64::NAN];
        for low in lambdas {
            for high in lambdas {
                let steps = [PathStep { lambda: low, k: 1 }, PathStep { lambda: high, k: usize::MAX }];
                let text = staircase(&steps, Some((high, 0)), 20, 0);
                assert!(text.lines().all(|line| line.chars().count() == 20), "{text}");
            }
        }
        assert!(
            staircase(&[PathStep { lambda: 1e-300, k: 1 }, PathStep { lambda: 1e300, k: 2 }], None, 80, 20)
                .contains("10⁻²⁰⁰")
        );
    }

    #[test]
    fn no_steps_make_one_line_of_text() {
        assert_eq!(staircase(&[], Some((5.0, 0)), 80, 20).lines().count(), 1);
    }
}
