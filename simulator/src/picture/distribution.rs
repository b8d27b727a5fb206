//! For each kind, the percentage of jobs that took no longer; without done jobs, of waits.

use super::Picture;
use super::axis::{Hundredths, Times};
use super::sheet::{Area, Sheet, pixels};
use super::styles::{Kinds, Style};

/// If the longest time is so many times the shortest, the axis is logarithmic.
const WIDE: i64 = 100;
/// The greatest ratio of a logarithmic axis's ends.
const DECADES: i64 = 1_000_000;

pub(super) fn draw(sheet: &mut Sheet, area: &Area, picture: &Picture, kinds: &Kinds) {
    let shown = picture.kinds.iter().enumerate().filter_map(|(kind, all)| Some((kinds.place(kind)?, &all.curve)));
    let curves: Vec<(usize, &Vec<(i64, f64)>)> = shown.filter(|(_, curve)| !curve.is_empty()).collect();
    let all = || curves.iter().flat_map(|(_, curve)| *curve).map(|(time, _)| *time);
    let longest = all().max().unwrap_or(1).max(1);
    let shortest = all().filter(|time| *time > 0).min().unwrap_or(1).max(longest / DECADES).max(1);
    let decades = longest / shortest >= WIDE;
    let what = if picture.jobs { "jobs that took no longer" } else { "ready for no longer before they ran" };
    sheet.caption(area.left, area.top, area.width, what);
    let inside = area.inside();
    let (shares, bottom) = (Hundredths(&inside), inside.top + inside.height);
    let (from, to) = if decades { (floor(shortest), longest) } else { (0, longest) };
    let times = Times { from, to, decades, left: inside.left, right: inside.left + inside.width };
    shares.draw(sheet);
    times.draw(sheet, inside.top, bottom);
    for (place, curve) in &curves {
        sheet.path(Style::Line(*place), &steps(curve, &times, &shares));
    }
}

/// A curve in steps that are not too small to be seen.
fn steps(curve: &[(i64, f64)], times: &Times, shares: &Hundredths<'_>) -> String {
    let first = curve.first().map_or(times.left, |(time, _)| times.x(*time));
    let mut path = format!("M{} {}", pixels(first), pixels(shares.y(0.0)));
    let mut drawn = (first, shares.y(0.0));
    for (place, (time, share)) in curve.iter().enumerate() {
        let (x, y) = (times.x(*time), shares.y(*share));
        if x - drawn.0 >= 0.3 || drawn.1 - y >= 0.5 || place + 1 == curve.len() {
            path.push_str(&format!("H{}V{}", pixels(x), pixels(y)));
            drawn = (x, y);
        }
    }
    path
}

/// The beginning of the decade of this time.
fn floor(time: i64) -> i64 {
    (0..19).map(|power| 10_i64.pow(power)).take_while(|decade| *decade <= time).last().unwrap_or(1)
}
