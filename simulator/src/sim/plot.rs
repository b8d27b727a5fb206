//! A simulation as a picture: who ran when, how the processors were shared, and how long it took. To be read on paper, too: areas
//! differ in how dark they are.

mod latency;
mod shares;
mod timeline;

use catapults_compiler::scenario::Scenario;
use plotters::coord::Shift;
use plotters::prelude::*;

use super::Outcome;

const WIDTH: u32 = 960;
/// Of a row of the timeline, and of the panels beneath.
const ROW: u32 = 22;
const PANEL: u32 = 280;
const TITLE: u32 = 36;
/// Distinct for who does not see colours as most do (Okabe and Ito), and in grey.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(213, 94, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

type Drawn = Result<(), String>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The picture, as SVG.
///
/// # Errors
/// What the library of plots says.
pub fn svg(scenario: &Scenario, outcome: &Outcome, title: &str) -> Result<String, String> {
    let rows = timeline::rows(scenario, outcome);
    let timeline = 60 + ROW * u32::try_from(rows.len()).unwrap_or(0);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, TITLE + timeline + PANEL)).into_drawing_area();
        root.fill(&WHITE).map_err(said)?;
        let body = root.titled(title, ("sans-serif", 18)).map_err(said)?;
        let (above, below) = body.split_vertically(timeline);
        let (left, right) = below.split_horizontally(WIDTH / 2);
        timeline::draw(&above, &rows, outcome)?;
        shares::draw(&left, scenario, outcome)?;
        latency::draw(&right, scenario, outcome)?;
        root.present().map_err(said)?;
    }
    Ok(text)
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}
