//! The key: the meaning of each style that is used, in an area of its own.

use std::collections::BTreeSet;

use super::font::width;
use super::sheet::{Anchor, Sheet, pixels};
use super::styles::{Kinds, Style};
use super::{MARGIN, WIDTH};

const SIZE: f64 = 12.0;
const LINE: f64 = 20.0;
const SAMPLE: f64 = 30.0;
const GAP: f64 = 18.0;

/// Draws the key of what is not explained where it is used. Returns its height.
pub(super) fn draw(sheet: &mut Sheet, top: f64, kinds: &Kinds) -> f64 {
    let used = sheet.unexplained();
    if used.is_empty() {
        return 0.0;
    }
    let (mut left, mut line) = (MARGIN, top + LINE / 2.0);
    sheet.group("key", |sheet| {
        for style in &used {
            // A kind's line has its sample beside that of its bars.
            let samples: Vec<Style> = match style {
                Style::Kind(place) => {
                    [*style, Style::Line(*place)].into_iter().filter(|one| used.contains(one)).collect()
                }
                Style::Line(place) if used.contains(&Style::Kind(*place)) => continue,
                Style::Others
                | Style::Line(_)
                | Style::Ready
                | Style::Waits
                | Style::Lends
                | Style::Lent
                | Style::Deadline
                | Style::Missed
                | Style::Unknown
                | Style::Part
                | Style::Dots => vec![*style],
            };
            let meaning = kinds.meaning(*style);
            let wide = samples.len() as f64 * (SAMPLE + 6.0) + width(&meaning, SIZE);
            if left > MARGIN && left + wide > WIDTH - MARGIN {
                (left, line) = (MARGIN, line + LINE);
            }
            let mut at = left;
            for one in samples {
                sample(sheet, one, at, line, &used);
                at += SAMPLE + 6.0;
            }
            sheet.text(at, line + 4.0, SIZE, Anchor::Start, &meaning);
            left += wide + GAP;
        }
    });
    line + LINE / 2.0 - top
}

fn sample(sheet: &mut Sheet, style: Style, x: f64, y: f64, used: &BTreeSet<Style>) {
    match style {
        Style::Kind(_) | Style::Others | Style::Unknown => sheet.bars(style, [(x, y - 6.0, SAMPLE, 12.0)]),
        Style::Line(_) => sheet.path(style, &format!("M{} {}h{}", pixels(x), pixels(y), pixels(SAMPLE))),
        Style::Ready => sheet.bars(style, [(x, y - 2.0, SAMPLE, 4.0)]),
        Style::Part => sheet.bars(style, [(x, y - 1.5, SAMPLE, 3.0)]),
        Style::Dots => {
            let round = format!("M{} {}a1.8 1.8 0 1 0 3.6 0a1.8 1.8 0 1 0 -3.6 0", pixels(x + SAMPLE - 5.0), pixels(y));
            sheet.path(style, &round);
        }
        Style::Waits => sheet.bars(style, [(x, y - 0.5, SAMPLE, 1.0)]),
        Style::Lends => {
            let outline = format!("M{} {}h{}v8h{}z", pixels(x), pixels(y - 4.0), pixels(SAMPLE), pixels(-SAMPLE));
            sheet.path(style, &outline);
        }
        Style::Lent => {
            // As in the timeline: below a bar.
            if let Some(kind) = used.iter().find(|one| matches!(one, Style::Kind(_) | Style::Others)) {
                sheet.bars(*kind, [(x, y - 6.0, SAMPLE, 9.0)]);
            }
            sheet.bars(style, [(x, y + 3.0, SAMPLE, 2.5)]);
        }
        Style::Deadline => sheet.path(style, &super::timeline::deadline(x + SAMPLE / 2.0, y - 7.0)),
        Style::Missed => sheet.path(style, &super::timeline::missed(x + SAMPLE / 2.0, y)),
    }
}
