//! Axes: where values and labels are, in pixels.

use crate::sim::duration;

use super::sheet::{Anchor, Area, Sheet, pixels};

pub(super) const LABELS: f64 = 11.0;
const GRID: &str = "#ddd";
const LINE: &str = "#555";

/// A horizontal axis of times.
pub(super) struct Times {
    pub(super) from: i64,
    pub(super) to: i64,
    /// The axis is logarithmic.
    pub(super) decades: bool,
    pub(super) left: f64,
    pub(super) right: f64,
}

impl Times {
    pub(super) fn x(&self, time: i64) -> f64 {
        let time = time.clamp(self.from, self.to);
        let part = if self.decades {
            let (from, to) = ((self.from.max(1) as f64).log10(), (self.to.max(2) as f64).log10());
            ((time.max(1) as f64).log10() - from) / (to - from)
        } else {
            (time - self.from) as f64 / (self.to - self.from).max(1) as f64
        };
        self.left + (self.right - self.left) * part
    }

    /// Labels are below `bottom`, lines between it and `top`.
    pub(super) fn draw(&self, sheet: &mut Sheet, top: f64, bottom: f64) {
        for (time, label) in self.labels() {
            let x = pixels(self.x(time));
            sheet.rule(&format!("M{x} {}V{}", pixels(top), pixels(bottom + 4.0)), GRID);
            sheet.text(self.x(time), bottom + 16.0, LABELS, Anchor::Middle, &label);
        }
        sheet.rule(&format!("M{} {}H{}", pixels(self.left), pixels(bottom), pixels(self.right)), LINE);
    }

    fn labels(&self) -> Vec<(i64, String)> {
        if self.decades {
            let decades = (0..19).map(|power| 10_i64.pow(power)).filter(|time| (self.from..=self.to).contains(time));
            // Shorter times are drawn there, too.
            let least = |time: i64| if time == self.from { "≤" } else { "" };
            return decades.map(|time| (time, format!("{}{}", least(time), duration(time)))).collect();
        }
        let room = ((self.right - self.left) / 90.0).max(2.0) as i64;
        let step = step((self.to - self.from) / room);
        let first = self.from.div_euclid(step) + i64::from(self.from.rem_euclid(step) != 0);
        let steps = first..=self.to.div_euclid(step);
        steps.map(|number| (number * step, in_unit_of(step, number * step))).collect()
    }
}

/// A vertical axis of percentages.
pub(super) struct Hundredths<'a>(pub(super) &'a Area);

impl Hundredths<'_> {
    pub(super) fn y(&self, hundredths: f64) -> f64 {
        self.0.top + self.0.height * (1.0 - hundredths / 100.0)
    }

    pub(super) fn draw(&self, sheet: &mut Sheet) {
        let Area { left, width, .. } = self.0;
        for hundredths in [0, 20, 40, 60, 80, 100] {
            let y = self.y(f64::from(hundredths));
            sheet.rule(&format!("M{} {}H{}", pixels(left - 4.0), pixels(y), pixels(left + width)), GRID);
            sheet.text(left - 6.0, y + 4.0, LABELS, Anchor::End, &format!("{hundredths}%"));
        }
    }
}

/// The least of 1, 2, 5 with zeros that is at least this.
pub(crate) fn step(least: i64) -> i64 {
    let powers = (0..18).map(|power| 10_i64.pow(power));
    powers.flat_map(|power| [power, 2 * power, 5 * power]).find(|step| *step >= least).unwrap_or(i64::MAX / 2)
}

/// In the unit in which a step is a whole number.
fn in_unit_of(step: i64, time: i64) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
    let (length, unit) = units.into_iter().find(|(length, _)| step >= *length).unwrap_or((1, "ns"));
    format!("{}{unit}", time / length)
}
