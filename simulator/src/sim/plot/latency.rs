//! How long jobs took, or threads were ready before they ran.

use catapults_compiler::scenario::Scenario;
use plotters::prelude::*;

use super::super::{Distribution, Outcome, duration};
use super::{Area, COLOURS, Drawn, said};

/// Of each kind, how many of a hundred jobs took no longer; where no job is done, how many waited no longer.
pub(super) fn draw(area: &Area<'_>, scenario: &Scenario, outcome: &Outcome) -> Drawn {
    let jobs = outcome.tallies.iter().any(|tally| tally.response.count() > 0);
    let of = |kind: usize| -> &Distribution {
        let tally = &outcome.tallies[kind];
        if jobs { &tally.response } else { &tally.latency }
    };
    let curves: Vec<Vec<(i64, f64)>> = (0..scenario.threads.len()).map(|kind| of(kind).curve()).collect();
    let longest = curves.iter().flatten().map(|(time, _)| *time).max().unwrap_or(1).max(1);
    let what = if jobs { "response times of jobs" } else { "time from ready to running" };
    let mut chart = ChartBuilder::on(area)
        .caption(format!("{what}: hundredths that took no longer"), ("sans-serif", 15))
        .margin(8)
        .x_label_area_size(24)
        .y_label_area_size(36)
        .build_cartesian_2d(0.0..longest as f64 * 1.03, 0.0..105.0)
        .map_err(said)?;
    chart.configure_mesh().max_light_lines(0).x_label_formatter(&|time| duration(*time as i64)).draw().map_err(said)?;
    for (kind, curve) in curves.iter().enumerate().filter(|(_, curve)| !curve.is_empty()) {
        let colour = COLOURS[kind % COLOURS.len()];
        let mut steps = vec![(0.0, 0.0)];
        for (time, share) in curve {
            let before = steps.last().map_or(0.0, |(_, share)| *share);
            steps.push((*time as f64, before));
            steps.push((*time as f64, *share));
        }
        steps.push((longest as f64, steps.last().map_or(0.0, |(_, share)| *share)));
        chart
            .draw_series(LineSeries::new(steps, colour.stroke_width(2)))
            .map_err(said)?
            .label(&scenario.threads[kind].name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 14, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.8))
        .draw()
        .map_err(said)
}
