//! The plot of an experiment, as SVG: panels in two columns (one takes both), in each a line for each series.

use std::path::Path;

use anyhow::{Context, Result};
use plotters::prelude::*;

use super::Cell;
use super::description::Description;

/// Of a panel, in pixels.
const WIDTH: u32 = 480;
const HEIGHT: u32 = 320;
/// For the title above all panels.
const TITLE: u32 = 40;
/// One for each series, distinct for who does not see colours as most do (Okabe and Ito).
const COLOURS: [RGBColor; 4] =
    [RGBColor(0, 114, 178), RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(204, 121, 167)];

/// Draws a line for each series.
///
/// # Errors
///
/// Those of writing the file.
pub fn write(path: &Path, description: &Description, cells: &[Cell]) -> Result<()> {
    let columns = description.panels.len().min(2);
    let rows = description.panels.len().div_ceil(columns);
    let size = (WIDTH * 2, TITLE + HEIGHT * rows as u32);
    draw(path, size, (rows, columns), description, cells).with_context(|| format!("cannot write {}", path.display()))
}

fn draw(
    path: &Path,
    size: (u32, u32),
    split: (usize, usize),
    description: &Description,
    cells: &[Cell],
) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE)?;
    let title = format!("{} ({})", description.title, description.source);
    let body = root.titled(&title, ("sans-serif", 18))?;
    for (area, panel) in body.split_evenly(split).iter().zip(description.panels.keys()) {
        let of_panel: Vec<&Cell> = cells.iter().filter(|cell| cell.panel == *panel).collect();
        let curves = curves(description, &of_panel);
        let most = |of: fn(&(f64, f64)) -> f64| {
            let dots = curves.iter().flat_map(|curve| curve.line.iter().chain(&curve.dots));
            dots.map(of).fold(f64::MIN_POSITIVE, f64::max)
        };
        let mut chart = ChartBuilder::on(area)
            .caption(panel, ("sans-serif", 15))
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(48)
            .build_cartesian_2d(0.0..most(|dot| dot.0) * 1.03, 0.0..most(|dot| dot.1) * 1.05)?;
        chart
            .configure_mesh()
            .x_desc(&description.x)
            .y_desc(&description.y)
            .x_label_formatter(&|x| format!("{x:.0}"))
            .y_label_formatter(&|y| if most(|dot| dot.1) < 10.0 { format!("{y:.2}") } else { format!("{y:.0}") })
            .max_light_lines(0)
            .draw()?;
        for ((name, curve), colour) in description.series.keys().zip(&curves).zip(COLOURS.iter().cycle()) {
            chart
                .draw_series(LineSeries::new(curve.line.iter().copied(), colour.stroke_width(2)))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
            chart.draw_series(curve.dots.iter().map(|&dot| Circle::new(dot, 2, colour.mix(0.5).filled())))?;
        }
        chart
            .configure_series_labels()
            .position(if description.points.is_empty() {
                SeriesLabelPosition::LowerRight
            } else {
                SeriesLabelPosition::UpperLeft
            })
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
    }
    root.present()
}

/// What is drawn of a series.
struct Curve {
    line: Vec<(f64, f64)>,
    dots: Vec<(f64, f64)>,
}

/// Of points the medians, with every repeat as a dot; of a distribution how many per cent of the values are at most so large.
fn curves(description: &Description, cells: &[&Cell]) -> Vec<Curve> {
    let of_series = |index: usize| {
        let mut curve = Curve { line: Vec::new(), dots: Vec::new() };
        for cell in cells {
            let values = &cell.values[index];
            if let Some(point) = cell.point.map(f64::from) {
                curve.line.push((point, cell.medians()[index]));
                curve.dots.extend(values.iter().map(|&value| (point, value)));
            } else {
                let mut sorted = values.clone();
                sorted.sort_by(f64::total_cmp);
                let part = |number: usize| 100.0 * number as f64 / sorted.len() as f64;
                curve.line.extend(sorted.iter().enumerate().map(|(number, &value)| (value, part(number + 1))));
            }
        }
        curve
    };
    (0..description.series.len()).map(of_series).collect()
}
