//! Who ran, was ready and waited when: a row for each thread.

use catapults_compiler::scenario::Scenario;
use plotters::prelude::*;

use super::super::{Outcome, State, duration};
use super::{Area, COLOURS, Drawn, said};

const ROWS: usize = 24;

/// A thread's name, its kind, and its stays in states.
pub(super) struct Row {
    name: String,
    kind: usize,
    stays: Vec<(i64, i64, State)>,
}

pub(super) fn rows(scenario: &Scenario, outcome: &Outcome) -> Vec<Row> {
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

pub(super) fn draw(area: &Area<'_>, rows: &[Row], outcome: &Outcome) -> Drawn {
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
