//! The parts every SVG shares: the page, its two color schemes, grid, axes and escaped text.
//!
//! A file stands alone: no script, no font, no link, no `id` that could clash when two are put into one
//! page. All rules are scoped to one class for the same reason.

use crate::axis::{Tick, without_trailing_zeros};
use std::fmt::Write as _;

pub(crate) const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 480.0;
/// Edges of the drawing.
pub(crate) const LEFT: f64 = 70.0;
pub(crate) const RIGHT: f64 = 772.0;
pub(crate) const TOP: f64 = 88.0;
pub(crate) const BOTTOM: f64 = 412.0;

/// Characters of a title that fit on the page; the whole of it stays in `<title>`.
const TITLE_LENGTH: usize = 72;

const STYLE: &str = "\
.eigenspan{font-family:sans-serif;font-size:14px}\
.eigenspan .page{fill:#fff}\
.eigenspan text{fill:#52606d}\
.eigenspan .title{fill:#1f2933;font-size:19px;font-weight:600}\
.eigenspan .note{fill:#b4400b;font-size:16px;font-weight:600;stroke:#fff;stroke-width:4px;\
stroke-linejoin:round;paint-order:stroke}\
.eigenspan .grid{stroke:#e4e7eb}\
.eigenspan .axis{stroke:#9aa5b1}\
.eigenspan .curve,.eigenspan .rest{fill:none;stroke:#1d5fa6;stroke-width:2.25;stroke-linejoin:round}\
.eigenspan .rest{stroke:#7f9ab8}\
.eigenspan .guide{stroke:#b4400b;stroke-width:1.25;stroke-dasharray:5 4}\
.eigenspan .point{fill:#b4400b;stroke:#fff;stroke-width:2}\
.eigenspan .dot{fill:#1d5fa6}\
.eigenspan .hollow{fill:#fff;stroke:#7f9ab8;stroke-width:1.5}\
@media (prefers-color-scheme:dark){\
.eigenspan .page{fill:#14181d}\
.eigenspan text{fill:#aab4bf}\
.eigenspan .title{fill:#eef1f4}\
.eigenspan .note{fill:#ffa270;stroke:#14181d}\
.eigenspan .grid{stroke:#2a3138}\
.eigenspan .axis{stroke:#5b6672}\
.eigenspan .curve{stroke:#6cb2ff}\
.eigenspan .rest{stroke:#5f7d9e}\
.eigenspan .guide{stroke:#ffa270}\
.eigenspan .point{fill:#ffa270;stroke:#14181d}\
.eigenspan .dot{fill:#6cb2ff}\
.eigenspan .hollow{fill:#14181d;stroke:#5f7d9e}\
}";

/// What stands around a drawing.
pub(crate) struct Frame<'a> {
    /// Any text, such as the name of a file from elsewhere.
    pub title: &'a str,
    /// The picture in words, for who cannot see it.
    pub description: String,
    pub rightward: (&'a str, Vec<Tick>),
    pub upward: (&'a str, Vec<Tick>),
}

/// An SVG being drawn.
pub(crate) struct Page {
    body: String,
}

/// Which end of a text stands at its coordinates.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Horizontal pixel at a share of the drawing's width.
pub(crate) fn across(share: f64) -> f64 {
    LEFT + share * (RIGHT - LEFT)
}

/// Vertical pixel at a share of the drawing's height, counted from the bottom as a chart is.
pub(crate) fn up(share: f64) -> f64 {
    BOTTOM - share * (BOTTOM - TOP)
}

impl Page {
    /// Starts the page with everything that lies behind the curve.
    pub fn new(frame: &Frame) -> Self {
        Self::within(frame, RIGHT, "")
    }

    /// The same with a drawing that ends at `right`, which leaves space beside it, and with rules of its own.
    pub fn within(frame: &Frame, right: f64, rules: &str) -> Self {
        let across = |share: f64| LEFT + share * (right - LEFT);
        let body = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"eigenspan\" role=\"img\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\">\n\
             <title>{}</title>\n<desc>{}</desc>\n<style>{STYLE}{rules}</style>\n\
             <rect class=\"page\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n",
            escaped(frame.title),
            escaped(&frame.description)
        );
        let mut page = Self { body };
        page.text((LEFT, 36.0), "title", Anchor::Start, &shortened(frame.title));
        for tick in &frame.rightward.1 {
            let x = across(tick.share);
            page.line("grid", (x, TOP), (x, BOTTOM));
            page.text((x, BOTTOM + 22.0), "tick", Anchor::Middle, &tick.label);
        }
        for tick in &frame.upward.1 {
            let y = up(tick.share);
            page.line("grid", (LEFT, y), (right, y));
            page.text((LEFT - 10.0, y + 5.0), "tick", Anchor::End, &tick.label);
        }
        page.line("axis", (LEFT, BOTTOM), (right, BOTTOM));
        // A rotated label saves no space here and is harder to read from the back of a hall.
        page.text((LEFT, TOP - 16.0), "label", Anchor::Start, frame.upward.0);
        page.text((across(0.5), HEIGHT - 20.0), "label", Anchor::Middle, frame.rightward.0);
        page
    }

    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(px);
        self.push(format_args!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"));
    }

    pub fn text(&mut self, (x, y): (f64, f64), class: &str, anchor: Anchor, content: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y, content) = (px(x), px(y), escaped(content));
        self.push(format_args!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{content}</text>"
        ));
    }

    pub fn circle(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let [x, y, radius] = [x, y, radius].map(px);
        self.push(format_args!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"));
    }

    /// A curve through points, by way of corners where `stairs`: first across, then up.
    pub fn curve(&mut self, class: &str, points: &[(f64, f64)], stairs: bool) {
        let Some((first, others)) = points.split_first() else { return };
        let mut data = format!("M{} {}", px(first.0), px(first.1));
        for &(x, y) in others {
            data += &if stairs { format!("H{}V{}", px(x), px(y)) } else { format!("L{} {}", px(x), px(y)) };
        }
        self.push(format_args!("<path class=\"{class}\" d=\"{data}\"/>"));
    }

    pub fn finish(mut self) -> String {
        self.body.push_str("</svg>\n");
        self.body
    }

    fn push(&mut self, element: std::fmt::Arguments) {
        writeln!(self.body, "{element}").expect("writing to a string cannot fail");
    }
}

/// Keeps the last of all points within half a pixel of the first of them: what is dropped cannot be seen,
/// and thousands of values make a file no larger than the screen can show.
pub(crate) fn merged(points: impl IntoIterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::new();
    for (x, y) in points {
        match kept.last_mut() {
            Some(last) if x - last.0 < 0.5 => last.1 = y,
            _ => kept.push((x, y)),
        }
    }
    kept
}

/// A coordinate to two decimals.
fn px(value: f64) -> String {
    without_trailing_zeros(&format!("{value:.2}")).to_string()
}

/// Text that is safe between tags and inside quotes. Characters that XML 1.0 forbids even when escaped
/// – a file name may hold them – become U+FFFD.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            _ => safe.push(c),
        }
    }
    safe
}

fn shortened(title: &str) -> String {
    if title.chars().count() <= TITLE_LENGTH {
        return title.to_string();
    }
    title.chars().take(TITLE_LENGTH - 1).chain(['…']).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Reads tags one by one: every one is closed by its own name, in order, and no stray `<`, `&` or
    /// control character is left between them.
    pub(crate) fn assert_well_formed(svg: &str) {
        let mut open: Vec<&str> = Vec::new();
        let mut rest = svg;
        while let Some(start) = rest.find('<') {
            assert_plain(&rest[..start]);
            let end = start + rest[start..].find('>').expect("a tag ends");
            let tag = &rest[start + 1..end];
            rest = &rest[end + 1..];
            assert_eq!(tag.matches('"').count() % 2, 0, "quotes are paired in <{tag}>");
            assert_plain(tag);
            let name = tag.trim_matches('/').split(' ').next().unwrap();
            match (tag.starts_with('/'), tag.ends_with('/')) {
                (true, _) => assert_eq!(open.pop(), Some(name)),
                (false, false) => open.push(name),
                (false, true) => {}
            }
        }
        assert_eq!((open.len(), rest), (0, "\n"), "one root element, closed");
    }

    fn assert_plain(text: &str) {
        assert!(!text.contains(|c: char| c == '<' || (c.is_control() && c != '\n')), "{text:?}");
        for after in text.split('&').skip(1) {
            let entity = after.split_once(';').expect("an entity ends").0;
            assert!(["amp", "lt", "gt", "quot", "#39"].contains(&entity), "&{entity};");
        }
    }

    fn frame(title: &str) -> Frame<'_> {
        Frame { title, description: "d".into(), rightward: ("x", vec![]), upward: ("y", vec![]) }
    }

    #[test]
    fn an_untrusted_title_stays_text() {
        let svg = Page::new(&frame("</title><script>\"a\" & 'b'\u{1b}[2J\0.csv")).finish();
        assert_well_formed(&svg);
        assert!(!svg.contains("<script"));
        assert!(svg.contains("&lt;/title&gt;&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;\u{fffd}[2J\u{fffd}.csv"));
    }

    #[test]
    fn a_long_title_is_cut_on_the_page_but_kept_as_the_name() {
        let title = "λ".repeat(100);
        let svg = Page::new(&frame(&title)).finish();
        assert!(svg.contains(&format!("<title>{title}</title>")));
        assert!(svg.contains(&format!(">{}…</text>", "λ".repeat(TITLE_LENGTH - 1))));
    }

    #[test]
    fn a_file_stands_alone() {
        let svg = Page::new(&frame("t")).finish();
        assert_eq!(svg.matches("http").count(), 1, "only the name space");
        assert!(svg.contains("role=\"img\"") && svg.contains("prefers-color-scheme:dark"));
    }

    #[test]
    fn merging_keeps_half_a_pixel_between_points_and_the_last_height() {
        let points = merged((0..10_000).map(|i| (f64::from(i) / 100.0, f64::from(i))));
        assert!(points.windows(2).all(|w| w[1].0 - w[0].0 >= 0.5));
        assert_eq!(points.last().unwrap().1, 9999.0);
    }

    #[test]
    fn coordinates_have_two_decimals() {
        assert_eq!([1.0 / 3.0, 2.0, 2.5, 1e3].map(px), ["0.33", "2", "2.5", "1000"]);
    }
}
