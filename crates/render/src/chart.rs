//! The frame of a terminal chart: heading, labelled axes, legend.

use crate::axis::Tick;
use crate::canvas::{Canvas, DOTS};

/// Below this a chart has no space for its labels; above the upper ends it is an error, not a terminal.
const WIDTHS: (usize, usize) = (20, 2000);
const HEIGHTS: (usize, usize) = (8, 1000);
const MIN_ROWS: usize = 3;
/// Lines that are not the drawing: heading, horizontal axis, its labels.
const FRAME_LINES: usize = 3;

/// The space for a chart, settled before anything is drawn.
pub(crate) struct Layout {
    width: usize,
    gutter: usize,
    legend: Vec<String>,
    upward: Vec<Tick>,
}

impl Layout {
    /// Fits legend and vertical labels first; `upward` gives at most so many ticks of the vertical axis.
    pub fn new(
        (width, height): (usize, usize),
        legend: &[String],
        upward: impl Fn(usize) -> Vec<Tick>,
    ) -> (Self, Canvas) {
        let width = width.clamp(WIDTHS.0, WIDTHS.1);
        let legend = wrapped(legend, width);
        let rows = height.clamp(HEIGHTS.0, HEIGHTS.1).saturating_sub(FRAME_LINES + legend.len()).max(MIN_ROWS);
        let upward = upward(rows.div_ceil(3) + 1);
        let gutter = upward.iter().map(|t| t.label.chars().count()).max().unwrap_or(0) + 1;
        // One column stays free on the right, so that the drawing never touches the edge of the terminal.
        let canvas = Canvas::new(width.saturating_sub(gutter + 2).max(4), rows);
        (Self { width, gutter, legend, upward }, canvas)
    }

    /// The whole chart; `rightward` gives at most so many ticks of the horizontal axis. Every line has
    /// the same number of characters.
    pub fn render(self, heading: &str, canvas: &Canvas, rightward: impl Fn(usize) -> Vec<Tick>) -> String {
        let (ticks, labels) = (2..=12)
            .rev()
            .map(&rightward)
            .find_map(|ticks| self.labels_below(canvas, &ticks).map(|labels| (ticks, labels)))
            .unwrap_or_default();
        let mut lines = vec![heading.to_string()];
        let named: Vec<_> = self.upward.iter().map(|t| (canvas.dot_y(t.share) / DOTS.1, t.label.as_str())).collect();
        for row in 0..canvas.rows() {
            let label = named.iter().find(|(at, _)| *at == row).map(|(_, label)| *label);
            let axis = if label.is_some() { '┤' } else { '│' };
            lines.push(format!("{:>1$} {axis}{2}", label.unwrap_or(""), self.gutter - 1, canvas.line(row)));
        }
        let columns: Vec<_> = ticks.iter().map(|t| canvas.dot_x(t.share) / DOTS.0).collect();
        let rule: String = (0..canvas.cols()).map(|col| if columns.contains(&col) { '┬' } else { '─' }).collect();
        lines.push(format!("{:1$}└{rule}", "", self.gutter));
        lines.push(labels);
        lines.extend(self.legend);
        lines.iter().map(|line| format!("{}\n", fitted(line, self.width))).collect()
    }

    /// The line of labels, each centered under its tick; `None` where two would touch.
    fn labels_below(&self, canvas: &Canvas, ticks: &[Tick]) -> Option<String> {
        let mut line = String::new();
        let mut filled = 0;
        for tick in ticks {
            let length = tick.label.chars().count();
            let centre = self.gutter + 1 + canvas.dot_x(tick.share) / DOTS.0;
            let start = centre.saturating_sub(length / 2).min(self.width.saturating_sub(length));
            if filled > 0 && start < filled + 2 {
                return None;
            }
            line.extend(std::iter::repeat_n(' ', start.saturating_sub(filled)));
            line.push_str(&tick.label);
            filled = start + length;
        }
        Some(line)
    }
}

/// Packs the parts of a legend into as few lines as hold them.
fn wrapped(parts: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 3 + part.chars().count() <= width => {
                line.push_str("   ");
                line.push_str(part);
            }
            _ => lines.push(part.clone()),
        }
    }
    lines
}

/// Exactly `width` characters: padded with spaces, or cut with an ellipsis.
fn fitted(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return format!("{line:width$}");
    }
    line.chars().take(width - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_legend_breaks_between_its_parts() {
        let parts = ["● λ = 5", "k = 118", "λ on a log scale"].map(String::from);
        assert_eq!(wrapped(&parts, 80), ["● λ = 5   k = 118   λ on a log scale"]);
        assert_eq!(wrapped(&parts, 20), ["● λ = 5   k = 118", "λ on a log scale"]);
    }

    #[test]
    fn a_line_is_padded_or_cut_to_the_width() {
        assert_eq!(fitted("λ", 3), "λ  ");
        assert_eq!(fitted("λλλλ", 3), "λλ…");
    }

    #[test]
    fn labels_below_never_touch() {
        let ticks = |labels: &[&str]| -> Vec<Tick> {
            let share = |i: usize| i as f64 / (labels.len() - 1) as f64;
            labels.iter().enumerate().map(|(i, l)| Tick { share: share(i), label: (*l).to_string() }).collect()
        };
        let (layout, canvas) = Layout::new((20, 8), &[], |_| ticks(&["0", "1"]));
        assert_eq!(layout.labels_below(&canvas, &ticks(&["0.01", "1", "100"])).unwrap(), " 0.01      1     100");
        assert!(layout.labels_below(&canvas, &ticks(&["0.001", "0.01", "0.1", "1"])).is_none());
    }
}
