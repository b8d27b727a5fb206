//! How the processors were shared, over time.

use catapults_compiler::scenario::Scenario;
use plotters::prelude::*;

use super::super::{Outcome, duration};
use super::{Area, COLOURS, Drawn, said};

/// Areas, one above the other: of a hundred, what each kind had.
pub(super) fn draw(area: &Area<'_>, scenario: &Scenario, outcome: &Outcome) -> Drawn {
    let (width, kinds) = outcome.shares.until(outcome.end);
    let stretches = kinds.first().map_or(0, |sums| sums.len());
    let mut chart = ChartBuilder::on(area)
        .caption("share of the processors, in hundredths", ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(24)
        .y_label_area_size(36)
        .build_cartesian_2d(0.0..(outcome.end.max(1) as f64) * 1.25, 0.0..100.0)
        .map_err(said)?;
    chart.configure_mesh().max_light_lines(0).x_label_formatter(&|time| duration(*time as i64)).draw().map_err(said)?;
    let capacity = |stretch: usize| {
        let from = stretch as i64 * width;
        ((outcome.end.min(from + width) - from).max(1) as f64) * f64::from(scenario.processors)
    };
    let mut below = vec![0.0; stretches];
    for (kind, sums) in kinds.iter().enumerate() {
        let colour = COLOURS[kind % COLOURS.len()];
        let above: Vec<f64> = (0..stretches).map(|at| below[at] + 100.0 * sums[at] as f64 / capacity(at)).collect();
        let edge = |heights: &[f64]| -> Vec<(f64, f64)> {
            let steps = heights.iter().enumerate();
            steps
                .flat_map(|(at, height)| {
                    let (from, to) = (at as i64 * width, outcome.end.min((at as i64 + 1) * width));
                    [(from as f64, *height), (to as f64, *height)]
                })
                .collect()
        };
        let around: Vec<(f64, f64)> = edge(&above).into_iter().chain(edge(&below).into_iter().rev()).collect();
        chart
            .draw_series([Polygon::new(around, colour.mix(0.6).filled())])
            .map_err(said)?
            .label(&scenario.threads[kind].name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 14, y + 5)], colour.mix(0.6).filled()));
        below = above;
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).draw().map_err(said)
}
