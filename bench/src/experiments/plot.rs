//! The plot of an experiment, as SVG: a panel beside the other, in two columns, a line for each series.

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

/// Draws medians, and every repeat as a dot.
///
/// # Errors
///
/// Those of writing the file.
pub fn write(path: &Path, description: &Description, cells: &[Cell]) -> Result<()> {
    let columns = description.panels.len().min(2);
    let rows = description.panels.len().div_ceil(columns);
    let size = (WIDTH * columns as u32, TITLE + HEIGHT * rows as u32);
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
        let x = description.points.iter().max().map_or(1.0, |&last| f64::from(last));
        let y = of_panel.iter().flat_map(|cell| cell.values.iter().flatten()).copied().fold(0.0, f64::max);
        let mut chart = ChartBuilder::on(area)
            .caption(panel, ("sans-serif", 15))
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(48)
            .build_cartesian_2d(0.0..x + 0.5, 0.0..y * 1.05)?;
        chart
            .configure_mesh()
            .x_desc(&description.x)
            .y_desc(&description.y)
            .x_label_formatter(&|x| format!("{x:.0}"))
            .y_label_formatter(&|y| format!("{y:.2}"))
            .max_light_lines(0)
            .draw()?;
        for (index, (name, colour)) in description.series.keys().zip(COLOURS.iter().cycle()).enumerate() {
            let line = of_panel.iter().map(|cell| (f64::from(cell.point), cell.medians()[index]));
            chart
                .draw_series(LineSeries::new(line, colour.stroke_width(2)))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
            chart.draw_series(of_panel.iter().flat_map(|cell| {
                let repeats = cell.values[index].iter();
                repeats.map(move |&value| Circle::new((f64::from(cell.point), value), 2, colour.mix(0.5).filled()))
            }))?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
    }
    root.present()
}
