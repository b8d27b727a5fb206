//! Charts of measurements: panels in two columns (or one over both), each with a line, an area or bars for each series,
//! and a key.

use super::font::width;
use super::sheet::{Anchor, Area, Sheet, pixels};
use super::styles::Kinds;
use super::{MARGIN, TITLE, WIDTH, key};
use strip::Strip;

mod lines;
mod strip;

/// The horizontal and vertical value.
pub type Dot = (f64, f64);

/// What to draw.
#[derive(Clone, Debug)]
pub struct Chart<'a> {
    /// At the top.
    pub title: &'a str,
    /// Below the title: for instance, who measured.
    pub source: &'a str,
    /// What the horizontal axes show.
    pub x: &'a str,
    /// What the vertical axes show, with the unit.
    pub y: &'a str,
    /// At least one.
    pub panels: &'a [Panel],
}

/// A part of a chart, with axes of its own.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// Above the panel.
    pub title: String,
    /// The same series in the same order in all panels.
    pub curves: Vec<Curve>,
    /// Areas on top of each other. The values of curves are their heights, in percent.
    pub stacked: bool,
    /// The ratio of values matters, not their difference: for a wide range, the axis is logarithmic.
    pub by_ratio: bool,
    /// The names of the places 0, 1, … on the horizontal axis, for bars.
    pub names: Vec<String>,
    /// Where on the horizontal axis something begins, and what.
    pub marks: Vec<(f64, String)>,
}

/// A series in a panel.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The series.
    pub name: String,
    /// The points of the line.
    pub line: Vec<Dot>,
    /// The single measurements, if there are more of them.
    pub dots: Vec<Dot>,
}

/// Above the panels: title and source.
const ABOVE: f64 = TITLE + 26.0;
/// The height of a panel.
const HEIGHT: f64 = 270.0;
const LABELS: f64 = 11.0;
const GRID: &str = "#ddd";
const LINE: &str = "#555";
/// A range is wide if its largest value is so many times the least.
const WIDE: f64 = 100.0;

impl Chart<'_> {
    /// Draws the chart.
    pub fn svg(&self) -> String {
        let series = self.panels.first().map_or(&[][..], |panel| &panel.curves);
        let kinds = Kinds::new(series.iter().map(|curve| (curve.name.as_str(), 0)));
        let mut sheet = Sheet::new();
        sheet.title(self.title, WIDTH - 2.0 * MARGIN);
        sheet.caption(MARGIN, TITLE, WIDTH - 2.0 * MARGIN, self.source);
        let columns = self.panels.len().clamp(1, 2);
        let wide = (WIDTH - (columns + 1) as f64 * MARGIN) / columns as f64;
        for (number, panel) in self.panels.iter().enumerate() {
            let left = MARGIN + (number % columns) as f64 * (wide + MARGIN);
            let top = ABOVE + (number / columns) as f64 * (HEIGHT + MARGIN);
            self.panel(&mut sheet, panel, &Area { left, top, width: wide, height: HEIGHT }, &kinds);
        }
        let mut top = ABOVE + self.panels.len().div_ceil(columns) as f64 * (HEIGHT + MARGIN);
        top += key::draw(&mut sheet, top, &kinds) + MARGIN;
        let marks = self.panels.iter().find(|panel| !panel.marks_fit(wide)).map_or(&[][..], |panel| &panel.marks);
        for (number, (_, what)) in marks.iter().enumerate() {
            sheet.text(MARGIN, top + 8.0, 12.0, Anchor::Start, &format!("{} {what}", number + 1));
            top += 17.0;
        }
        sheet.finish(WIDTH, top + MARGIN, &kinds)
    }

    /// Names stand at the ends of lines, if they do in all panels.
    fn is_direct(&self, wide: f64) -> bool {
        self.panels.iter().all(|panel| panel.are_lines() && lines::names_fit(panel, wide))
    }

    fn panel(&self, sheet: &mut Sheet, panel: &Panel, area: &Area, kinds: &Kinds) {
        let caption = if panel.title.is_empty() { self.y.to_owned() } else { format!("{}: {}", panel.title, self.y) };
        sheet.caption(area.left, area.top, area.width, &caption);
        let values = Values::new(panel);
        let labels = values.labels();
        let widest = labels.iter().map(|(_, label)| width(label, LABELS)).fold(0.0, f64::max);
        let left = area.left + widest + 10.0;
        let above = if panel.marks.is_empty() { 24.0 } else { 38.0 };
        let direct = self.is_direct(area.width);
        let right = if direct { lines::room(panel) } else { 24.0 };
        let top = area.top + above;
        let whole =
            Area { left, top, width: area.left + area.width - right - left, height: area.height - above - 36.0 };
        let strip = if panel.are_lines() { Strip::new(panel, |value| whole.height * values.part(value)) } else { None };
        let lower = strip.as_ref().map_or(0.0, |_| strip::HEIGHT);
        let inside = Area { height: whole.height - lower, ..whole };
        let end = inside.top + inside.height;
        let bottom = end + lower;
        let y = |value: f64| end - inside.height * values.part(value);
        for (value, label) in &labels {
            let line = format!("M{} {}H{}", pixels(left - 4.0), pixels(y(*value)), pixels(left + inside.width));
            sheet.rule(&line, GRID);
            sheet.text(left - 6.0, y(*value) + 4.0, LABELS, Anchor::End, label);
        }
        let places = Places::new(panel);
        let x = |place: f64| left + inside.width * places.part(place);
        for (place, label) in places.labels(inside.width) {
            if panel.names.is_empty() {
                sheet.rule(&format!("M{} {}V{}", pixels(x(place)), pixels(inside.top), pixels(bottom + 4.0)), GRID);
            }
            sheet.text(x(place), bottom + 16.0, LABELS, Anchor::Middle, &label);
        }
        sheet.text(left + inside.width / 2.0, bottom + 31.0, LABELS, Anchor::Middle, self.x);
        sheet.rule(&format!("M{} {}H{}", pixels(left), pixels(end), pixels(left + inside.width)), LINE);
        for (number, (place, what)) in panel.marks.iter().enumerate() {
            if number > 0 {
                sheet.rule(&format!("M{} {}V{}", pixels(x(*place)), pixels(inside.top - 10.0), pixels(end)), "#000");
            }
            let what = if panel.marks_fit(area.width) { what.clone() } else { (number + 1).to_string() };
            sheet.text(x(*place) + 4.0, inside.top - 3.0, LABELS, Anchor::Start, &what);
        }
        if panel.stacked {
            areas(sheet, panel, kinds, x, y);
        } else if panel.names.is_empty() {
            lines::draw(sheet, panel, kinds, x, y);
        } else {
            bars(sheet, panel, kinds, x, y);
        }
        if let Some(strip) = strip {
            strip.draw(sheet, panel, &Area { top: end, height: lower, ..inside }, kinds, x);
        }
        if direct {
            lines::names(sheet, panel, &inside, kinds, y);
        }
    }
}

impl Panel {
    /// Not areas, nor bars.
    fn are_lines(&self) -> bool {
        !self.stacked && self.names.is_empty()
    }

    /// Whether each mark's words have room before the next mark, in a panel of this width.
    fn marks_fit(&self, wide: f64) -> bool {
        let places = Places::new(self);
        let ends = self.marks.iter().skip(1).map(|(place, _)| places.part(*place)).chain([1.0]);
        // Beside the plot are labels.
        let room = |(place, end): (f64, f64)| (end - place) * (wide - 110.0) - 10.0;
        self.marks.iter().zip(ends).all(|((place, what), end)| width(what, LABELS) <= room((places.part(*place), end)))
    }
}

fn areas(sheet: &mut Sheet, panel: &Panel, kinds: &Kinds, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) {
    let mut below: Vec<Dot> =
        panel.curves.first().map_or_else(Vec::new, |curve| curve.line.iter().map(|dot| (dot.0, 0.0)).collect());
    for (number, curve) in panel.curves.iter().enumerate() {
        let above: Vec<Dot> = below.iter().zip(&curve.line).map(|(low, dot)| (dot.0, low.1 + dot.1)).collect();
        let around = through(above.iter().copied().chain(below.iter().rev().copied()), &x, &y);
        sheet.path(kinds.style(number), &format!("{around}z"));
        sheet.rule(&through(above.iter().copied(), &x, &y), "#000");
        below = above;
    }
}

fn bars(sheet: &mut Sheet, panel: &Panel, kinds: &Kinds, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) {
    let each = 0.8 / panel.curves.len().max(1) as f64;
    for (number, curve) in panel.curves.iter().enumerate() {
        let bar = |(place, value): &Dot| {
            let from = place - 0.4 + each * number as f64;
            (x(from), y(*value), x(from + each) - x(from), y(0.0) - y(*value))
        };
        sheet.bars(kinds.style(number), curve.line.iter().map(bar));
    }
}

fn through(dots: impl Iterator<Item = Dot>, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) -> String {
    let sign = |number: usize| if number == 0 { 'M' } else { 'L' };
    let dot =
        |(number, (place, value)): (usize, Dot)| format!("{}{} {}", sign(number), pixels(x(place)), pixels(y(value)));
    dots.enumerate().map(dot).collect()
}

/// The vertical axis.
struct Values {
    from: f64,
    to: f64,
    /// Between labels; `None`: the axis is logarithmic.
    step: Option<f64>,
}

impl Values {
    fn new(panel: &Panel) -> Self {
        if panel.stacked {
            return Values { from: 0.0, to: 100.0, step: Some(20.0) };
        }
        let all = || panel.curves.iter().flat_map(|curve| curve.line.iter().chain(&curve.dots)).map(|dot| dot.1);
        let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::MIN_POSITIVE, f64::max));
        if panel.by_ratio && panel.names.is_empty() && least > 0.0 && most / least >= WIDE {
            let power = |value: f64| 10_f64.powf(value);
            return Values { from: power(least.log10().floor()), to: power(most.log10().ceil()), step: None };
        }
        let step = step(most / 5.0);
        Values { from: 0.0, to: (most / step).ceil() * step, step: Some(step) }
    }

    /// The height of a value, as a part of the whole.
    fn part(&self, value: f64) -> f64 {
        match self.step {
            Some(_) => value / self.to,
            None => (value / self.from).log10() / (self.to / self.from).log10(),
        }
    }

    fn labels(&self) -> Vec<(f64, String)> {
        let Some(step) = self.step else {
            let decades = (self.to / self.from).log10().round() as i32;
            let decade = |power: i32| self.from * 10_f64.powi(power);
            return (0..=decades).map(|power| (decade(power), number(decade(power), decade(power)))).collect();
        };
        let count = (self.to / step).round() as u32;
        (0..=count).map(|place| (f64::from(place) * step, number(f64::from(place) * step, step))).collect()
    }
}

/// The horizontal axis.
struct Places<'a> {
    from: f64,
    to: f64,
    names: &'a [String],
}

impl<'a> Places<'a> {
    fn new(panel: &'a Panel) -> Self {
        if !panel.names.is_empty() {
            return Places { from: -0.5, to: panel.names.len() as f64 - 0.5, names: &panel.names };
        }
        let dots = panel.curves.iter().flat_map(|curve| curve.line.iter().chain(&curve.dots));
        Places { from: 0.0, to: dots.map(|dot| dot.0).fold(f64::MIN_POSITIVE, f64::max), names: &[] }
    }

    fn part(&self, place: f64) -> f64 {
        (place - self.from) / (self.to - self.from)
    }

    fn labels(&self, wide: f64) -> Vec<(f64, String)> {
        if !self.names.is_empty() {
            let most = wide / self.names.len() as f64;
            let name = |(place, name): (usize, &String)| (place as f64, super::sheet::fitting(name, LABELS, most));
            return self.names.iter().enumerate().map(name).collect();
        }
        let step = step(self.to / (wide / 80.0));
        let count = (self.to / step + 1e-9).floor() as u32;
        (0..=count).map(|place| (f64::from(place) * step, number(f64::from(place) * step, step))).collect()
    }
}

/// The least of 1, 2, 5 with zeros that is at least this.
fn step(least: f64) -> f64 {
    let decade = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].map(|times| times * decade).into_iter().find(|step| *step >= least).unwrap_or(least)
}

/// With as many digits as the step has.
fn number(value: f64, step: f64) -> String {
    let digits = (-step.log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_round_numbers() {
        assert_eq!([0.3, 1.0, 1.1, 43.0, 5200.0].map(step), [0.5, 1.0, 2.0, 50.0, 10_000.0]);
        assert_eq!([number(0.4, 0.2), number(12.0, 5.0), number(0.01, 0.01)], ["0.4", "12", "0.01"]);
    }

    #[test]
    fn decades_are_where_a_range_is_wide_and_compared_by_ratio() {
        let curve = |line: &[Dot]| Curve { name: "a".to_owned(), line: line.to_vec(), dots: Vec::new() };
        let panel = |by_ratio, line: &[Dot]| Panel { curves: vec![curve(line)], by_ratio, ..Panel::default() };
        let labels =
            |panel: &Panel| Values::new(panel).labels().into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        let wide = [(1.0, 7.0), (2.0, 4200.0)];
        assert_eq!(labels(&panel(true, &wide)), ["1", "10", "100", "1000", "10000"]);
        assert_eq!(labels(&panel(false, &wide)), ["0", "1000", "2000", "3000", "4000", "5000"]);
        assert_eq!(labels(&panel(true, &[(1.0, 0.0), (2.0, 4.2)])), ["0", "1", "2", "3", "4", "5"]);
    }
}
