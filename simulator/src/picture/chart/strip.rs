//! Where lines of a chart coincide: what is between them, in per cent, in a strip below.

use super::super::sheet::{Anchor, Area, Sheet, pixels};
use super::super::styles::{Kinds, Style};
use super::{Curve, GRID, LABELS, LINE, Panel, number, step, through};

/// Of the strip, with its caption.
pub(super) const HEIGHT: f64 = 84.0;
/// Lines that are no further apart, in pixels, cannot be told from each other.
const APART: f64 = 3.0;
/// The caption, and the room below the strip.
const CAPTION: f64 = 26.0;
const BELOW: f64 = 6.0;

/// Some lines, compared with another one.
pub(super) struct Strip {
    reference: usize,
    others: Vec<usize>,
    /// The per cent at the upper end, and, with a minus, at the lower end.
    most: f64,
}

impl Strip {
    /// `y`: the height of a value, in pixels. None if all lines can be told from each other.
    pub(super) fn new(panel: &Panel, y: impl Fn(f64) -> f64) -> Option<Self> {
        let coincide = |one: &Curve, other: &Curve| {
            one.line.len() > 1
                && one.line.len() == other.line.len()
                && one
                    .line
                    .iter()
                    .zip(&other.line)
                    .all(|(a, b)| a.0 == b.0 && a.1 > 0.0 && (y(a.1) - y(b.1)).abs() <= APART)
        };
        let beside = |reference: usize, one: &Curve| -> Vec<usize> {
            let others = panel.curves.iter().enumerate().skip(reference + 1);
            others.filter(|(_, other)| coincide(one, other)).map(|(number, _)| number).collect()
        };
        let all = panel.curves.iter().enumerate().map(|(reference, one)| (reference, beside(reference, one)));
        let (reference, others) = all.into_iter().find(|(_, others)| !others.is_empty())?;
        let differences =
            others.iter().flat_map(|other| percents(panel, reference, *other)).map(|(_, percent)| percent.abs());
        let most = step(differences.fold(0.1, f64::max));
        Some(Strip { reference, others, most })
    }

    /// Draws it in an area below the panel's lines.
    pub(super) fn draw(&self, sheet: &mut Sheet, panel: &Panel, area: &Area, kinds: &Kinds, x: impl Fn(f64) -> f64) {
        let (top, height) = (area.top + CAPTION, area.height - CAPTION - BELOW);
        let y = |percent: f64| top + height * (self.most - percent) / (2.0 * self.most);
        for percent in [self.most, 0.0, -self.most] {
            let line =
                format!("M{} {}H{}", pixels(area.left - 4.0), pixels(y(percent)), pixels(area.left + area.width));
            sheet.rule(&line, if percent == 0.0 { LINE } else { GRID });
            let sign = if percent > 0.0 { "+" } else { "" };
            let label = format!("{sign}{}%", number(percent, self.most)).replace('-', "\u{2212}");
            sheet.text(area.left - 6.0, y(percent) + 4.0, LABELS, Anchor::End, &label);
        }
        for other in &self.others {
            let Some(place) = kinds.place(*other) else { continue };
            sheet.path(Style::Line(place), &through(percents(panel, self.reference, *other).into_iter(), &x, y));
        }
        let others: Vec<&str> = self.others.iter().map(|other| kinds.name(*other)).collect();
        let caption = format!("{} beside {}, enlarged", others.join(", "), kinds.name(self.reference));
        sheet.text(area.left + 4.0, area.top + CAPTION - 8.0, LABELS, Anchor::Start, &caption);
    }
}

/// How much a line is above another one, in per cent of that.
fn percents(panel: &Panel, reference: usize, other: usize) -> Vec<(f64, f64)> {
    let (Some(one), Some(other)) = (panel.curves.get(reference), panel.curves.get(other)) else { return Vec::new() };
    one.line.iter().zip(&other.line).map(|(a, b)| (a.0, 100.0 * (b.1 / a.1 - 1.0))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(lines: &[&[(f64, f64)]]) -> Panel {
        let curve = |line: &&[(f64, f64)]| Curve { name: String::new(), line: line.to_vec(), dots: Vec::new() };
        Panel { curves: lines.iter().map(curve).collect(), ..Panel::default() }
    }

    #[test]
    fn lines_that_coincide_are_compared_enlarged() {
        let far = [(0.0, 10.0), (1.0, 90.0)];
        let (one, other) = ([(0.0, 50.0), (1.0, 100.0)], [(0.0, 50.5), (1.0, 98.2)]);
        let strip = Strip::new(&panel(&[&far, &one, &other]), |value| value).unwrap();
        assert_eq!((strip.reference, strip.others, strip.most), (1, vec![2], 2.0));
        assert!(Strip::new(&panel(&[&far, &one]), |value| value).is_none());
        // What is 0 has no per cent, and what ends elsewhere does not coincide.
        assert!(Strip::new(&panel(&[&[(0.0, 0.0), (1.0, 1.0)], &[(0.0, 0.0), (1.0, 1.0)]]), |value| value).is_none());
        assert!(Strip::new(&panel(&[&one, &other[..1]]), |value| value).is_none());
    }
}
