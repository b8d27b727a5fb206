//! The plot of an experiment, as SVG: panels in two columns (one takes both), in each a line, an area or bars for each series.

use std::path::Path;

use anyhow::{Context, Result};
use plotters::prelude::*;

use super::description::Description;

/// Of a panel, in pixels.
const WIDTH: u32 = 480;
const HEIGHT: u32 = 320;
/// For the title above all panels.
const TITLE: u32 = 40;
/// One for each series, distinct for who does not see colours as most do (Okabe and Ito), and in grey: neighbours differ in how dark
/// they are.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(213, 94, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// Horizontal and vertical.
type Dot = (f64, f64);

/// What is drawn of a panel.
pub struct Panel {
    pub title: String,
    pub curves: Vec<Curve>,
    /// Areas, one above the other: the values of a curve are their heights.
    pub stacked: bool,
    /// Names of the places 0, 1, … on the horizontal axis.
    pub names: Vec<String>,
    /// Where something happens, on the horizontal axis.
    pub marks: Vec<f64>,
}

/// What is drawn of a series.
pub struct Curve {
    pub name: String,
    pub line: Vec<Dot>,
    pub dots: Vec<Dot>,
}

impl Panel {
    /// An empty one.
    pub fn of(title: &str) -> Panel {
        Panel { title: title.to_owned(), curves: Vec::new(), stacked: false, names: Vec::new(), marks: Vec::new() }
    }

    /// The largest of a coordinate.
    fn most(&self, of: fn(&Dot) -> f64) -> f64 {
        let dots = self.curves.iter().flat_map(|curve| curve.line.iter().chain(&curve.dots));
        dots.map(of).fold(f64::MIN_POSITIVE, f64::max)
    }

    /// Curves above one another: each with what is below it.
    fn piled(&self) -> Vec<(Vec<Dot>, Vec<Dot>)> {
        let mut below: Vec<Dot> =
            self.curves.first().map_or_else(Vec::new, |curve| curve.line.iter().map(|dot| (dot.0, 0.0)).collect());
        let mut pile = Vec::new();
        for curve in &self.curves {
            let above: Vec<_> = below.iter().zip(&curve.line).map(|(low, dot)| (dot.0, low.1 + dot.1)).collect();
            pile.push((above.clone(), below));
            below = above;
        }
        pile
    }
}

/// Draws all panels.
///
/// # Errors
///
/// Those of writing the file.
pub fn write(path: &Path, description: &Description, panels: &[Panel]) -> Result<()> {
    draw(path, description, panels).with_context(|| format!("cannot write {}", path.display()))
}

fn draw(path: &Path, description: &Description, panels: &[Panel]) -> Result<(), DrawingAreaErrorKind<std::io::Error>> {
    let columns = panels.len().min(2);
    let rows = panels.len().div_ceil(columns);
    let size = (WIDTH * 2, TITLE + HEIGHT * rows as u32);
    let root = SVGBackend::new(path, size).into_drawing_area();
    root.fill(&WHITE)?;
    let title = format!("{} ({})", description.title, description.source);
    let body = root.titled(&title, ("sans-serif", 18))?;
    for (area, panel) in body.split_evenly((rows, columns)).iter().zip(panels) {
        let rising = description.points.is_empty() && panel.marks.is_empty();
        let above = if rising || panel.curves.len() < 2 { 1.05 } else { 1.3 }; // room for the legend
        let (left, right, highest) = if panel.stacked {
            (0.0, panel.most(|dot| dot.0) * 1.12, 100.0) // beside the areas is the legend
        } else if panel.names.is_empty() {
            (0.0, panel.most(|dot| dot.0) * 1.03, panel.most(|dot| dot.1) * above)
        } else {
            (-0.5, panel.names.len() as f64 - 0.5, panel.most(|dot| dot.1) * above)
        };
        let mut chart = ChartBuilder::on(area)
            .caption(&panel.title, ("sans-serif", 15))
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(48)
            .build_cartesian_2d(left..right, 0.0..highest)?;
        chart
            .configure_mesh()
            .x_desc(&description.x)
            .y_desc(&description.y)
            .x_labels(if panel.names.is_empty() { 10 } else { 2 * panel.names.len() })
            .x_label_formatter(&|x| {
                if panel.names.is_empty() {
                    format!("{x:.0}")
                } else {
                    let whole = x.fract().abs() < 1e-6 && *x > -0.5;
                    panel.names.get(*x as usize).filter(|_| whole).cloned().unwrap_or_default()
                }
            })
            .y_label_formatter(&|y| if highest < 10.0 { format!("{y:.2}") } else { format!("{y:.0}") })
            .max_light_lines(0)
            .draw()?;
        let colours = COLOURS.iter().cycle();
        if panel.stacked {
            let pile: Vec<_> = panel.curves.iter().zip(panel.piled()).zip(colours).collect();
            // The one on top comes first in the legend.
            for ((curve, (above, below)), colour) in pile.into_iter().rev() {
                let around: Vec<_> = below.into_iter().chain(above.iter().copied().rev()).collect();
                chart
                    .draw_series([Polygon::new(around, colour.mix(0.6).filled())])?
                    .label(&curve.name)
                    .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 16, y + 5)], colour.mix(0.6).filled()));
                chart.draw_series(LineSeries::new(above, colour.stroke_width(1)))?;
            }
        } else if !panel.names.is_empty() {
            let width = 0.8 / panel.curves.len() as f64;
            for ((number, curve), colour) in panel.curves.iter().enumerate().zip(colours) {
                let left = width * number as f64 - 0.4;
                let bar = |&(x, y): &Dot| Rectangle::new([(x + left, 0.0), (x + left + width, y)], colour.filled());
                chart
                    .draw_series(curve.line.iter().map(bar))?
                    .label(&curve.name)
                    .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 16, y + 5)], colour.filled()));
            }
        } else {
            for (curve, colour) in panel.curves.iter().zip(colours) {
                chart
                    .draw_series(LineSeries::new(curve.line.iter().copied(), colour.stroke_width(2)))?
                    .label(&curve.name)
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
                chart.draw_series(curve.dots.iter().map(|&dot| Circle::new(dot, 2, colour.mix(0.5).filled())))?;
            }
        }
        chart.draw_series(
            panel.marks.iter().map(|&x| PathElement::new([(x, 0.0), (x, highest)], BLACK.mix(0.5).stroke_width(1))),
        )?;
        chart
            .configure_series_labels()
            .position(match (panel.stacked, rising) {
                (true, _) => SeriesLabelPosition::UpperRight,
                (false, true) => SeriesLabelPosition::LowerRight,
                (false, false) => SeriesLabelPosition::UpperLeft,
            })
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK.mix(0.3))
            .draw()?;
    }
    root.present()
}
