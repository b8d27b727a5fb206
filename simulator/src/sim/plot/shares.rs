//! How the processors were shared, over time: areas, one above the other.

use super::super::{Outcome, duration};
use super::axis::{Hundredths, Times};
use super::sheet::{Anchor, Area, Sheet, fitting, pixels};
use super::styles::{Kinds, Style};

/// So many windows there are, or somewhat fewer,
const WINDOWS: u64 = 60;
/// and at least so many,
const FEWEST: u64 = 12;
/// and no more than leave so many turns to each: of shorter ones one thread would have all or nothing, as the timeline shows anyway.
const TURNS: u64 = 8;

pub(super) fn draw(sheet: &mut Sheet, area: &Area, outcome: &Outcome, kinds: &Kinds) {
    let turns: u64 = outcome.tallies.iter().map(|tally| tally.dispatches).sum();
    let most = (turns / TURNS).clamp(FEWEST, WINDOWS);
    let windows = outcome.shares.windows(outcome.end, most as usize);
    let length = windows.first().map_or(0, |window| window.to - window.from);
    let caption = format!("share of the processors, in windows of {}", duration(length));
    sheet.text(area.left, area.top + 12.0, 13.0, Anchor::Start, &fitting(&caption, 13.0, area.width));
    let inside =
        Area { left: area.left + 42.0, top: area.top + 26.0, width: area.width - 68.0, height: area.height - 52.0 };
    let (shares, bottom) = (Hundredths(&inside), inside.top + inside.height);
    let times =
        Times { from: 0, to: outcome.end.max(1), decades: false, left: inside.left, right: inside.left + inside.width };
    shares.draw(sheet);
    times.draw(sheet, inside.top, bottom);
    let mut below = vec![0.0; windows.len()];
    for style in styles(kinds, outcome) {
        let of_style = |window: &super::super::Window| -> f64 {
            let all = window.shares.iter().enumerate();
            all.filter(|(kind, _)| kinds.style(*kind) == style).map(|(_, share)| share).sum()
        };
        let above: Vec<f64> =
            below.iter().zip(&windows).map(|(low, window)| (low + of_style(window)).min(100.0)).collect();
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
}

/// From below.
fn styles(kinds: &Kinds, outcome: &Outcome) -> Vec<Style> {
    let mut styles: Vec<Style> = (0..outcome.tallies.len()).map(|kind| kinds.style(kind)).collect();
    styles.sort_unstable();
    styles.dedup();
    styles
}
