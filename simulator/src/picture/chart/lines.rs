//! Lines of a chart, with their names at their ends.

use super::super::font::width;
use super::super::sheet::{Anchor, Area, Sheet, pixels};
use super::super::styles::{Kinds, Style};
use super::{Dot, LABELS, Panel, Places, through};

/// Between the end of a line and its name.
const GAP: f64 = 10.0;
/// Of one name below another.
const HEIGHT: f64 = 13.0;
/// The part of a panel that names may take.
const MOST: f64 = 0.3;
/// More names are easier to find in a key.
const SEVERAL: usize = 8;
const LEADER: &str = "#999";

/// Draws the lines, and the single measurements.
pub(super) fn draw(sheet: &mut Sheet, panel: &Panel, kinds: &Kinds, x: impl Fn(f64) -> f64, y: impl Fn(f64) -> f64) {
    for (number, curve) in panel.curves.iter().enumerate() {
        let Some(place) = kinds.place(number) else { continue };
        sheet.path(Style::Line(place), &through(curve.line.iter().copied(), &x, &y));
    }
    let round = |(place, value): &Dot| {
        let (left, middle) = (pixels(x(*place) - 1.8), pixels(y(*value)));
        format!("M{left} {middle}a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0 -3.6 0")
    };
    let dots: String = panel.curves.iter().flat_map(|curve| &curve.dots).map(round).collect();
    sheet.path(Style::Dots, &dots);
}

/// Whether there is room for the names, and each line that is there ends where its name would be.
pub(super) fn names_fit(panel: &Panel, wide: f64) -> bool {
    let places = Places::new(panel);
    let ends = |curve: &super::Curve| curve.line.last().is_none_or(|(place, _)| places.part(*place) > 0.98);
    panel.curves.len() <= SEVERAL && room(panel) <= MOST * wide && panel.curves.iter().all(ends)
}

/// How much room they take beside the plot.
pub(super) fn room(panel: &Panel) -> f64 {
    panel.curves.iter().map(|curve| width(&curve.name, LABELS)).fold(0.0, f64::max) + GAP + 4.0
}

/// Writes the names beside the plot.
pub(super) fn names(sheet: &mut Sheet, panel: &Panel, inside: &Area, kinds: &Kinds, y: impl Fn(f64) -> f64) {
    let ends = panel.curves.iter().enumerate();
    let mut ends: Vec<(usize, f64)> =
        ends.filter_map(|(number, curve)| curve.line.last().map(|(_, value)| (number, y(*value)))).collect();
    // The first of those that end alike is uppermost.
    ends.sort_by(|one, other| one.1.total_cmp(&other.1));
    let right = inside.left + inside.width;
    let wanted: Vec<f64> = ends.iter().map(|(_, end)| *end).collect();
    for ((number, end), at) in ends.iter().zip(apart(&wanted, inside.top, inside.top + inside.height)) {
        if (at - end).abs() > 1.0 {
            let leader = [right + 2.0, *end, right + GAP - 2.0, at].map(pixels);
            sheet.rule(&format!("M{} {}L{} {}", leader[0], leader[1], leader[2], leader[3]), LEADER);
        }
        let name = panel.curves.get(*number).map_or("", |curve| curve.name.as_str());
        sheet.text(right + GAP, at + 4.0, LABELS, Anchor::Start, name);
        if let Some(place) = kinds.place(*number) {
            sheet.explains(Style::Line(place));
        }
    }
}

/// Places in order, each at least a line below the one before, as near as can be to where they should be.
fn apart(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut places: Vec<f64> = Vec::new();
    for place in wanted {
        let least = places.last().map_or(top, |above| above + HEIGHT);
        places.push(place.max(least));
    }
    let mut most = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - HEIGHT;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_lie_on_each_other_nor_outside() {
        assert_eq!(apart(&[10.0, 50.0], 0.0, 100.0), [10.0, 50.0]);
        assert_eq!(apart(&[50.0, 50.0, 50.0], 0.0, 100.0), [50.0, 63.0, 76.0]);
        assert_eq!(apart(&[98.0, 99.0, 100.0], 0.0, 100.0), [74.0, 87.0, 100.0]);
        assert_eq!(apart(&[-5.0, 0.0], 0.0, 100.0), [0.0, 13.0]);
    }
}
