//! Several curves in one chart, as an SVG: accuracies of methods, with the spread of their partitions.

use crate::axis::{LinearAxis, number};
use crate::svg::{Anchor, BOTTOM, Frame, LEFT, Page, TOP, WIDTH, up};

/// The drawing ends here, and names stand beside it; long names have it end before.
const RIGHT: f64 = 596.0;
const SOONEST: f64 = 440.0;
/// How much of the width a letter of a name takes, at most.
const LETTER: f64 = 8.0;
/// Names are at least so far apart, and begin after a piece of their curve.
const LINE: f64 = 19.0;
const SAMPLE: f64 = 24.0;
/// More points than this are drawn without circles.
const CIRCLES: usize = 30;
const COLOURS: usize = 10;

/// Ten colors that stay apart for color-blind eyes together with their dashes, in light and dark.
const RULES: &str = "\
.eigenspan .s{fill:none;stroke-width:2.25;stroke-linejoin:round}\
.eigenspan .dashed{stroke-dasharray:2 4}\
.eigenspan .over{stroke-dasharray:9 9}\
.eigenspan .b{stroke-width:1.25;opacity:.6}\
.eigenspan .c0{stroke:#b4400b}.eigenspan .c1{stroke:#1d5fa6}.eigenspan .c2{stroke:#2f8f5b}\
.eigenspan .c3{stroke:#8b5fbf}.eigenspan .c4{stroke:#c99700}.eigenspan .c5{stroke:#d45a9b}\
.eigenspan .c6{stroke:#3aa6b9}.eigenspan .c7{stroke:#6b7280}.eigenspan .c8{stroke:#7a5230}\
.eigenspan .c9{stroke:#a3b18a}\
.eigenspan .p{fill:#fff;stroke-width:2}\
.eigenspan .name{font-size:14px}\
@media (prefers-color-scheme:dark){\
.eigenspan .c0{stroke:#ffa270}.eigenspan .c1{stroke:#6cb2ff}.eigenspan .c2{stroke:#6fd39b}\
.eigenspan .c3{stroke:#c3a1f0}.eigenspan .c4{stroke:#f1c84b}.eigenspan .c5{stroke:#f59cc9}\
.eigenspan .c6{stroke:#7fd8e6}.eigenspan .c7{stroke:#b8c0cc}.eigenspan .c8{stroke:#c9a27e}\
.eigenspan .c9{stroke:#c9d6b0}\
.eigenspan .p{fill:#14181d}\
}";

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Across.
    pub x: f64,
    /// Up.
    pub y: f64,
    /// Half the length of its error bar.
    pub spread: Option<f64>,
}

/// A curve with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// What the legend says.
    pub name: String,
    /// From left to right.
    pub points: Vec<Point>,
    /// Drawn in dots, on the scale on the right where the chart has one.
    pub second: bool,
}

/// Curves, and what stands around them.
#[derive(Debug, Clone, PartialEq)]
pub struct LineChart<'a> {
    /// Any text.
    pub title: &'a str,
    /// What goes across.
    pub across: &'a str,
    /// What goes up.
    pub up: &'a str,
    /// What goes up on the scale on the right, for the curves that are `second`.
    pub second: Option<&'a str>,
    /// The curves; the first stands out.
    pub series: &'a [Series],
    /// The largest value that there can be, such as 100 for percent.
    pub most: f64,
}

/// Draws the curves as a self-contained SVG of 800 × 480 pixels, in light and dark. Equal input gives equal bytes.
///
/// ```
/// use eigenspan_render::{LineChart, Point, Series, lines_svg};
///
/// let points = vec![Point { x: 1.0, y: 90.0, spread: Some(1.5) }, Point { x: 2.0, y: 95.0, spread: None }];
/// let series = [Series { name: "PCE".into(), points, second: false }];
/// let chart = LineChart { title: "faces", across: "n", up: "%", second: None, series: &series, most: 100.0 };
/// assert!(lines_svg(&chart).contains(">PCE</text>"));
/// ```
pub fn lines_svg(chart: &LineChart<'_>) -> String {
    let axes = Axes::of(chart);
    let frame = Frame {
        title: chart.title,
        description: described(chart),
        rightward: (chart.across, axes.across.ticks(9)),
        upward: (chart.up, axes.up.ticks(8)),
    };
    let mut page = Page::within(&frame, axes.right, RULES);
    if let Some(label) = chart.second {
        for tick in axes.second.ticks(8) {
            page.text((axes.right + 8.0, up(tick.share) + 5.0), "tick", Anchor::Start, &tick.label);
        }
        page.text((axes.right + 8.0, TOP - 16.0), "label", Anchor::Start, label);
    }
    // The first curve last, so that nothing lies over it but the dashes of one that goes the same way.
    let (under, over): (Vec<usize>, _) = (0..chart.series.len()).rev().partition(|&at| chart.before(at).is_none());
    for at in under.into_iter().chain(over) {
        draw(&mut page, chart, at, &axes);
    }
    name(&mut page, chart, &axes);
    page.finish()
}

impl LineChart<'_> {
    /// An earlier curve that goes the same way as curve `at`, and hides it.
    fn before(&self, at: usize) -> Option<&Series> {
        let curve = &self.series[at];
        self.series[..at].iter().find(|other| other.points == curve.points && other.second == curve.second)
    }

    /// How the line of curve `at` looks.
    fn class(&self, at: usize) -> String {
        let dashes = match at {
            at if self.series[at].second || at >= COLOURS => " dashed",
            at if self.before(at).is_some() => " over",
            _ => "",
        };
        format!("s c{}{dashes}", at % COLOURS)
    }

    /// How far the names are from the drawing: a scale on the right takes the space beside it.
    fn shift(&self) -> f64 {
        if self.second.is_some() { 46.0 } else { 12.0 }
    }
}

struct Axes {
    across: LinearAxis,
    up: LinearAxis,
    second: LinearAxis,
    /// Where the drawing ends.
    right: f64,
}

impl Axes {
    fn of(chart: &LineChart<'_>) -> Self {
        let own = |series: &&Series| chart.second.is_none() || !series.second;
        let all = || chart.series.iter().flat_map(|series| &series.points);
        let ends = |point: &Point| {
            let spread = point.spread.unwrap_or(0.0);
            [point.y - spread, point.y + spread]
        };
        let values = chart.series.iter().filter(own).flat_map(|series| &series.points).flat_map(ends);
        let second = chart.series.iter().filter(|series| series.second).flat_map(|series| &series.points);
        let letters = chart.series.iter().map(|series| series.name.chars().count()).max().unwrap_or(0);
        Self {
            across: LinearAxis::spanning(all().map(|point| point.x)),
            up: LinearAxis::spanning(values).with_air(0.0, chart.most),
            second: LinearAxis::spanning(second.map(|point| point.y).chain([0.0])).with_air(0.0, f64::INFINITY),
            right: (WIDTH - LETTER * letters as f64 - chart.shift() - SAMPLE).clamp(SOONEST, RIGHT),
        }
    }

    fn at(&self, point: &Point, second: bool) -> (f64, f64) {
        let axis = if second { &self.second } else { &self.up };
        (LEFT + self.across.share(point.x) * (self.right - LEFT), up(axis.share(point.y)))
    }
}

fn draw(page: &mut Page, chart: &LineChart<'_>, at: usize, axes: &Axes) {
    let (series, color) = (&chart.series[at], at % COLOURS);
    let points: Vec<(f64, f64)> = series.points.iter().map(|point| axes.at(point, series.second)).collect();
    for point in series.points.iter().filter(|_| series.points.len() <= CIRCLES) {
        let Some(spread) = point.spread else { continue };
        let (x, low) = axes.at(&Point { y: point.y - spread, ..*point }, series.second);
        let (_, high) = axes.at(&Point { y: point.y + spread, ..*point }, series.second);
        page.line(&format!("b c{color}"), (x, low), (x, high));
    }
    page.curve(&chart.class(at), &points, false);
    if points.len() <= CIRCLES && !series.second && chart.before(at).is_none() {
        points.iter().for_each(|&at| page.circle(&format!("p c{color}"), at, 3.0));
    }
}

/// Names beside the ends of their curves, from the top down, none over another.
fn name(page: &mut Page, chart: &LineChart<'_>, axes: &Axes) {
    let end = |series: &Series| series.points.last().map_or(BOTTOM, |last| axes.at(last, series.second).1);
    let mut order: Vec<(usize, f64)> = chart.series.iter().map(end).enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let mut heights: Vec<f64> = vec![];
    for (_, desired) in &order {
        heights.push(heights.last().map_or(*desired, |last: &f64| desired.max(last + LINE)));
    }
    // What was pushed over the edge below moves up, and the others move.
    let mut floor = BOTTOM;
    for height in heights.iter_mut().rev() {
        *height = height.min(floor);
        floor = *height - LINE;
    }
    let left = axes.right + chart.shift();
    for ((at, _), y) in order.into_iter().zip(heights) {
        page.line(&chart.class(at), (left, y), (left + SAMPLE - 6.0, y));
        page.text((left + SAMPLE, y + 5.0), "name", Anchor::Start, &chart.series[at].name);
    }
}

fn described(chart: &LineChart<'_>) -> String {
    let one = |series: &Series| {
        let ends = match (series.points.first(), series.points.last()) {
            (Some(first), Some(last)) => {
                let [from, to, low, high] = [first.x, last.x, first.y, last.y].map(number);
                format!("{low} at {from}, {high} at {to}")
            }
            _ => "nothing".into(),
        };
        format!("{}: {ends}.", series.name)
    };
    let curves: Vec<String> = chart.series.iter().map(one).collect();
    format!("{} over {}. {}", chart.up, chart.across, curves.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::tests::assert_well_formed;

    fn curve(name: &str, points: &[(f64, f64)], second: bool) -> Series {
        let points = points.iter().map(|&(x, y)| Point { x, y, spread: Some(0.5) }).collect();
        Series { name: name.into(), points, second }
    }

    fn chart(series: &[Series]) -> LineChart<'_> {
        LineChart { title: "<faces & digits>", across: "n", up: "%", second: Some("k"), series, most: 100.0 }
    }

    #[test]
    fn is_well_formed_whatever_it_draws() {
        let odd = [0.0, f64::NAN, f64::INFINITY, -1e300, 1e300];
        for x in odd {
            for y in odd {
                let series = [curve("a<b", &[(x, y), (y, x)], false), curve("", &[], true)];
                assert_well_formed(&lines_svg(&chart(&series)));
            }
        }
        assert_well_formed(&lines_svg(&chart(&[])));
    }

    #[test]
    fn names_stand_below_each_other_and_inside_the_page() {
        let series: Vec<Series> = (0..14).map(|i| curve(&format!("m{i}"), &[(0.0, 1.0), (1.0, 90.0)], false)).collect();
        let svg = lines_svg(&chart(&series));
        let heights: Vec<f64> = svg
            .lines()
            .filter(|line| line.contains("class=\"name\""))
            .map(|line| line.split(" y=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap())
            .collect();
        assert_eq!(heights.len(), 14);
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= LINE - 0.01), "{heights:?}");
        assert!(heights.iter().all(|y| (20.0..=BOTTOM + 6.0).contains(y)), "{heights:?}");
    }

    #[test]
    fn long_names_end_inside_the_page() {
        let svg = lines_svg(&chart(&[curve("a classifier that was picked", &[(0.0, 1.0), (1.0, 90.0)], false)]));
        let line = svg.lines().find(|line| line.contains("class=\"name\"")).unwrap();
        let x: f64 = line.split(" x=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        assert!(x + 28.0 * LETTER <= WIDTH, "{line}");
    }

    #[test]
    fn a_curve_under_another_shows_in_dashes() {
        let [one, same] = ["one", "same"].map(|name| curve(name, &[(0.0, 1.0), (1.0, 90.0)], false));
        let svg = lines_svg(&chart(&[one, same, curve("else", &[(0.0, 2.0), (1.0, 80.0)], false)]));
        let curves: Vec<&str> =
            svg.lines().filter(|line| line.contains("class=\"s ") && line.contains(" d=")).collect();
        assert!(curves.last().unwrap().contains("s c1 over"), "{curves:?}");
        assert_eq!(svg.matches("s c1 over").count(), 2, "the curve and the piece of it before its name");
        assert_eq!(svg.matches(" over\"").count(), 2);
    }

    #[test]
    fn a_curve_goes_through_its_points() {
        let svg = lines_svg(&chart(&[curve("m", &[(0.0, 0.0), (5.0, 50.0), (10.0, 100.0)], false)]));
        let data = svg.split("class=\"s c0\" d=\"M").nth(1).unwrap().split('"').next().unwrap();
        let points: Vec<f64> = data.split(['L', ' ']).map(|number| number.parse().unwrap()).collect();
        let space = BOTTOM - points[1]; // the scale of percent ends a little below 0 and above 100
        assert!((0.0..0.01 * (BOTTOM - TOP)).contains(&space), "{data}");
        let expected = [LEFT, BOTTOM - space, (LEFT + RIGHT) / 2.0, (TOP + BOTTOM) / 2.0, RIGHT, TOP + space];
        assert!(points.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.01), "{data}");
    }
}
