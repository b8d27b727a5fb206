//! A simulation as a picture: who ran when, how the processors were shared, and how long it took. To be read on paper, too: areas
//! differ in how dark they are.

use catapults_compiler::scenario::Scenario;
use plotters::coord::Shift;
use plotters::prelude::*;

use super::{Distribution, Outcome, State, duration};

const WIDTH: u32 = 960;
/// Of a row of the timeline, and of the panels beneath.
const ROW: u32 = 22;
const PANEL: u32 = 280;
const TITLE: u32 = 36;
const ROWS: usize = 24;
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
    let rows = rows(scenario, outcome);
    let timeline = 60 + ROW * u32::try_from(rows.len()).unwrap_or(0);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (WIDTH, TITLE + timeline + PANEL)).into_drawing_area();
        root.fill(&WHITE).map_err(said)?;
        let body = root.titled(title, ("sans-serif", 18)).map_err(said)?;
        let (above, below) = body.split_vertically(timeline);
        let (left, right) = below.split_horizontally(WIDTH / 2);
        stays(&above, &rows, outcome)?;
        shared(&left, scenario, outcome)?;
        distributions(&right, scenario, outcome)?;
        root.present().map_err(said)?;
    }
    Ok(text)
}

/// A thread's name, its kind, and its stays in states.
struct Row {
    name: String,
    kind: usize,
    stays: Vec<(i64, i64, State)>,
}

fn rows(scenario: &Scenario, outcome: &Outcome) -> Vec<Row> {
    let (changes, until) = outcome.timeline.changes();
    let mut rows: Vec<(u64, Row)> = Vec::new();
    let mut open: std::collections::BTreeMap<u64, (i64, State)> = std::collections::BTreeMap::new();
    let close = |rows: &mut Vec<(u64, Row)>, thread: u64, since: i64, now: i64, state: State| {
        if let Some((_, row)) = rows.iter_mut().find(|(number, _)| *number == thread) {
            row.stays.push((since, now, state));
        }
    };
    for change in changes {
        if rows.iter().all(|(number, _)| *number != change.thread) && rows.len() < ROWS {
            let (kind, ordinal) = outcome.timeline.kind(change.thread).unwrap_or((0, 0));
            let thread = &scenario.threads[kind];
            let several = thread.count != Some(1) || thread.spawned;
            let name = if several { format!("{}.{ordinal}", thread.name) } else { thread.name.clone() };
            rows.push((change.thread, Row { name, kind, stays: Vec::new() }));
        }
        if let Some((since, state)) = open.insert(change.thread, (change.time, change.state)) {
            close(&mut rows, change.thread, since, change.time, state);
        }
    }
    for (thread, (since, state)) in open {
        close(&mut rows, thread, since, until, state);
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

fn stays(area: &Area<'_>, rows: &[Row], outcome: &Outcome) -> Drawn {
    let (mut changes, until) = outcome.timeline.changes();
    let from = changes.next().map_or(0, |first| first.time);
    let count = rows.len().max(1) as f64;
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .x_label_area_size(24)
        .y_label_area_size(110)
        .build_cartesian_2d(from as f64..until.max(from + 1) as f64, count..0.0)
        .map_err(said)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .y_labels(0)
        .x_label_formatter(&|time| duration(*time as i64))
        .draw()
        .map_err(said)?;
    for (place, row) in rows.iter().enumerate() {
        let colour = COLOURS[row.kind % COLOURS.len()];
        for (since, now, state) in &row.stays {
            let (high, low, style) = match state {
                State::Running(_) => (0.12, 0.88, colour.filled()),
                State::Ready => (0.36, 0.64, colour.mix(0.35).filled()),
                State::Blocked => (0.48, 0.52, BLACK.mix(0.35).filled()),
                State::Ended => continue,
            };
            let (top, bottom) = (place as f64 + high, place as f64 + low);
            let bar = Rectangle::new([(*since as f64, top), (*now as f64, bottom)], style);
            chart.draw_series([bar]).map_err(said)?;
        }
        let middle = chart.backend_coord(&(from as f64, place as f64 + 0.5));
        let style = ("sans-serif", 13).into_text_style(area);
        let (width, _) = area.estimate_text_size(&row.name, &style).map_err(said)?;
        let at = (middle.0 - i32::try_from(width).unwrap_or(0) - 6, middle.1 - 7);
        // In the whole picture's coordinates.
        let base = area.get_base_pixel();
        area.draw_text(&row.name, &style, (at.0 - base.0, at.1 - base.1)).map_err(said)?;
    }
    Ok(())
}

/// Areas, one above the other: of a hundred, what each kind had.
fn shared(area: &Area<'_>, scenario: &Scenario, outcome: &Outcome) -> Drawn {
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

/// Of each kind, how many of a hundred jobs took no longer; where no job is done, how many waited no longer.
fn distributions(area: &Area<'_>, scenario: &Scenario, outcome: &Outcome) -> Drawn {
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

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}
