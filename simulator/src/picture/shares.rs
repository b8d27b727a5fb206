//! How the processors were shared over time, as areas on top of each other.

use super::Picture;
use super::axis::{Hundredths, Times};
use super::sheet::{Area, Sheet, pixels};
use super::styles::{Kinds, Style};
use crate::sim::duration;

/// A stretch of time.
#[derive(Clone, Debug)]
pub struct Window {
    /// Its beginning.
    pub from: i64,
    /// Its end.
    pub to: i64,
    /// How long each kind ran, in percent of what all processors could have computed.
    pub shares: Vec<f64>,
    /// The percentage of which nothing is known.
    pub unknown: f64,
}

/// How many windows there are at most, if threads had so many turns.
pub fn most_windows(turns: u64) -> usize {
    /// At most.
    const WINDOWS: u64 = 60;
    /// At least.
    const FEWEST: u64 = 12;
    /// How many turns a window has at least. In shorter ones, one thread would have all or nothing.
    const TURNS: u64 = 8;
    (turns / TURNS).clamp(FEWEST, WINDOWS) as usize
}

/// `shown`: the part of the timeline.
pub(super) fn draw(sheet: &mut Sheet, area: &Area, picture: &Picture, shown: (i64, i64), kinds: &Kinds) {
    let windows = &picture.windows;
    let length = windows.first().map_or(0, |window| window.to - window.from);
    let caption = format!("share of the processors, in windows of {}", duration(length));
    sheet.caption(area.left, area.top, area.width, &caption);
    let inside = area.inside();
    let (shares, bottom) = (Hundredths(&inside), inside.top + inside.height);
    let (from, to) = (picture.begin, picture.end.max(picture.begin + 1));
    let times = Times { from, to, decades: false, left: inside.left, right: inside.left + inside.width };
    shares.draw(sheet);
    times.draw(sheet, inside.top, bottom);
    let mut below = vec![0.0; windows.len()];
    for style in styles(kinds, picture.kinds.len()) {
        let of_style = |window: &Window| -> f64 {
            if style == Style::Unknown {
                return window.unknown;
            }
            let all = window.shares.iter().enumerate();
            all.filter(|(kind, _)| kinds.style(*kind) == style).map(|(_, share)| share).sum()
        };
        let above: Vec<f64> =
            below.iter().zip(windows).map(|(low, window)| (low + of_style(window)).min(100.0)).collect();
        let mut around = String::new();
        for (place, window) in windows.iter().enumerate() {
            let (from, to) = (pixels(times.x(window.from)), pixels(times.x(window.to)));
            let sign = if place == 0 { 'M' } else { 'L' };
            around.push_str(&format!("{sign}{from} {}H{to}", pixels(shares.y(above[place]))));
        }
        let edge = around.clone();
        for (place, window) in windows.iter().enumerate().rev() {
            let (from, to) = (pixels(times.x(window.from)), pixels(times.x(window.to)));
            around.push_str(&format!("L{to} {}H{from}", pixels(shares.y(below[place]))));
        }
        if above.iter().zip(&below).any(|(high, low)| high > low) {
            sheet.path(style, &format!("{around}z"));
            sheet.rule(&edge, "#000");
        }
        below = above;
    }
    if shown.0 > picture.begin || shown.1 < picture.end {
        let (left, right) = (times.x(shown.0), times.x(shown.1));
        sheet.bars(Style::Part, [(left, inside.top - 5.0, right - left, 3.0)]);
    }
}

/// From below.
fn styles(kinds: &Kinds, count: usize) -> Vec<Style> {
    let mut styles: Vec<Style> = (0..count).map(|kind| kinds.style(kind)).chain([Style::Unknown]).collect();
    styles.sort_unstable();
    styles.dedup();
    styles
}
