//! A simulation as a picture: who ran when, how the processors were shared, and how long it took. To be read on paper, too: kinds of
//! threads differ in colour, in how dark they are and in their hatching, lines in their dashes.
//!
//! ```text
//! title
//! timeline: a row for each processor, a row for each thread
//! shares over time      | distribution of how long it took
//! key: all that is used above
//! ```

mod axis;
mod key;
mod latency;
mod shares;
mod sheet;
mod styles;
mod timeline;

use catapults_compiler::scenario::Scenario;

use super::{Outcome, duration};
use sheet::{Anchor, Area, Sheet};
use styles::Kinds;

/// Of the picture; how high it is depends on what is in it.
const WIDTH: f64 = 960.0;
const MARGIN: f64 = 12.0;
const TITLE: f64 = 34.0;
/// Of the panels below the timeline.
const PANEL: f64 = 260.0;

/// The picture, as SVG.
pub fn svg(scenario: &Scenario, outcome: &Outcome, title: &str) -> String {
    let kinds = Kinds::new(scenario, outcome);
    let mut sheet = Sheet::new();
    let processors = match scenario.processors {
        1 => "1 processor".to_owned(),
        several => format!("{several} processors"),
    };
    let title = format!("{title}, {processors}, {}", duration(outcome.end));
    let size = 16.0;
    let title = sheet::fitting(&title, size, WIDTH - 2.0 * MARGIN);
    sheet.text(MARGIN, 23.0, size, Anchor::Start, &title);
    let mut top = TITLE;
    top += timeline::draw(&mut sheet, top, scenario, outcome, &kinds) + MARGIN;
    let half = (WIDTH - 3.0 * MARGIN) / 2.0;
    let panel = |left: f64| Area { left, top, width: half, height: PANEL };
    shares::draw(&mut sheet, &panel(MARGIN), outcome, &kinds);
    latency::draw(&mut sheet, &panel(2.0 * MARGIN + half), outcome, &kinds);
    top += PANEL + MARGIN;
    top += key::draw(&mut sheet, top, &kinds) + MARGIN;
    sheet.finish(WIDTH, top, &kinds)
}
