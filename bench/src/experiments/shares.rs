//! Experiments about the shares that threads have of the processor, over time.

use anyhow::{Context, Result, ensure};
use catapults_simulator::picture::{Curve, Panel};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::description::Description;
use super::{Outcome, headed};
use crate::results::Goal;
use crate::statistics::median;

/// What a run printed.
#[derive(Serialize, Deserialize)]
pub struct Run {
    pub panel: String,
    pub rows: Vec<Row>,
}

/// What each series had come to at a time, in ticks.
#[derive(Serialize, Deserialize)]
pub struct Row {
    pub ticks: f64,
    pub done: Vec<f64>,
}

/// How long phases are, in ticks, by what begins each, and what shares must be.
pub struct Phases<'a> {
    pub ticks: u32,
    pub within: f64,
    pub expected: &'a IndexMap<String, IndexMap<String, f64>>,
}

/// Reads lines `value TICKS NUMBER…`.
///
/// # Errors
///
/// When there are other lines, or too few to judge by.
pub fn read(description: &Description, phases: &Phases, panel: &str, printed: &str) -> Result<Run> {
    let row = |line: &str| -> Option<Row> {
        let numbers =
            line.strip_prefix("value ")?.split(' ').map(|number| number.parse().ok().filter(|n: &f64| n.is_finite()));
        let mut numbers = numbers.collect::<Option<Vec<f64>>>()?;
        (numbers.len() == description.series.len() + 1).then(|| Row { ticks: numbers.remove(0), done: numbers })
    };
    let rows = printed.lines().map(|line| row(line).with_context(|| format!("not a time and values: {line}")));
    let run = Run { panel: panel.to_owned(), rows: rows.collect::<Result<Vec<Row>>>()? };
    let end = f64::from(phases.ticks) * phases.expected.len() as f64;
    let last = run.rows.last().map_or(0.0, |row| row.ticks);
    ensure!(last >= end, "the last line is of {last} ticks, and {end} are judged");
    Ok(run)
}

impl Run {
    /// In a phase, by series.
    fn shares(&self, phase: usize, ticks: u32) -> Vec<f64> {
        let at = |number: usize| {
            let time = f64::from(ticks) * number as f64;
            self.rows.iter().find(|row| row.ticks >= time)
        };
        let (Some(begin), Some(end)) = (at(phase), at(phase + 1)) else { return Vec::new() };
        let share = |(before, after): (&f64, &f64)| (after - before) / (end.ticks - begin.ticks);
        begin.done.iter().zip(&end.done).map(share).collect()
    }
}

/// A goal for each phase of each panel: how far the share that is furthest off may be off.
pub fn judge(description: &Description, runs: &[Run], phases: &Phases, stacked: bool) -> Outcome {
    let mut head = vec![String::new(), description.x.clone()];
    head.extend(description.series.keys().cloned());
    head.extend(["furthest off".to_owned(), format!("≤ {}", phases.within)]);
    let mut outcome = Outcome { goals: Vec::new(), table: headed(head, &[0, 1]), panels: Vec::new() };
    for title in description.panels.keys() {
        let of_panel: Vec<&Run> = runs.iter().filter(|run| run.panel == *title).collect();
        for (number, (name, expected)) in phases.expected.iter().enumerate() {
            let each: Vec<Vec<f64>> = of_panel.iter().map(|run| run.shares(number, phases.ticks)).collect();
            let mut furthest = (0.0, "");
            let mut row = vec![title.clone(), name.clone()];
            for (index, series) in description.series.keys().enumerate() {
                let share = median(&each.iter().map(|shares| shares[index]).collect::<Vec<f64>>());
                let wanted = expected.get(series).copied().unwrap_or(0.0);
                row.push(format!("{share:.3} ({wanted:.3})"));
                if (share - wanted).abs() > furthest.0 {
                    furthest = ((share - wanted).abs(), series);
                }
            }
            let goal = Goal {
                what: format!("{title}, {name}: the share of {}, furthest off", furthest.1),
                value: furthest.0,
                target: phases.within,
                at_most: true,
                unit: "",
                why: None,
            };
            row.extend([format!("{:.3}", goal.value), (if goal.reached() { "yes" } else { "LOST" }).to_owned()]);
            outcome.table.add_row(row);
            outcome.goals.push(goal);
        }
        outcome.panels.extend(of_panel.first().map(|run| panel(description, run, phases, stacked)));
    }
    outcome
}

/// Of the first run: what each has come to, or its share of the time since the row before, in per cent.
fn panel(description: &Description, run: &Run, phases: &Phases, stacked: bool) -> Panel {
    let line = |index: usize| -> Vec<(f64, f64)> {
        if !stacked {
            return run.rows.iter().map(|row| (row.ticks, row.done[index])).collect();
        }
        let length = |pair: &[Row]| pair[1].ticks - pair[0].ticks;
        let share = |pair: &[Row]| 100.0 * (pair[1].done[index] - pair[0].done[index]) / length(pair);
        // What is shorter than the others, as at the end, shows what threads happened to do in an instant.
        let longest = run.rows.windows(2).map(length).fold(0.0, f64::max);
        let whole = run.rows.windows(2).filter(|pair| length(pair) >= longest / 2.0);
        whole.map(|pair| (pair[1].ticks, share(pair))).collect()
    };
    let curve = |(index, name): (usize, &String)| Curve { name: name.clone(), line: line(index), dots: Vec::new() };
    let begin = |number: usize| f64::from(phases.ticks) * number as f64;
    Panel {
        curves: description.series.keys().enumerate().map(curve).collect(),
        stacked,
        marks: phases.expected.keys().enumerate().map(|(number, name)| (begin(number), name.clone())).collect(),
        title: run.panel.clone(),
        ..Panel::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_judged_in_each_phase() {
        let description: Description = serde_json::from_str(
            r#"{"title": "", "source": "", "notes": [], "policy": "", "series": {"A": [], "B": []}, "panels": {"p": []}, "repeats": 1,
                "x": "x", "y": "y", "check": {"shares": {"ticks": 10, "short": 1, "within": 0.05,
                "phases": {"A begins": {"A": 1}, "B begins": {"A": 0.5, "B": 0.5}}}}}"#,
        )
        .unwrap();
        let super::super::description::Check::Shares { ticks, within, phases, .. } = &description.check else {
            panic!()
        };
        let phases = Phases { ticks: *ticks, within: *within, expected: phases };
        let run = read(&description, &phases, "p", "value 0 0 0\nvalue 10 9.8 0\nvalue 20 16 3.8\n").unwrap();
        let outcome = judge(&description, &[run], &phases, false);
        assert_eq!(outcome.goals.iter().map(Goal::reached).collect::<Vec<_>>(), [true, false]);
        assert!(outcome.table.to_string().contains("LOST"));
        let text = "value 0 0 0\nvalue 10 8 2\nvalue 20 16 4\nvalue 20.1 16 4\n";
        let drawn = panel(&description, &read(&description, &phases, "p", text).unwrap(), &phases, true);
        assert_eq!(drawn.curves[0].line, [(10.0, 80.0), (20.0, 80.0)]);
        for wrong in ["", "value 0 0 0\nvalue 10 9 0", "value 20 1", "value 20 1 x", "20 1 1"] {
            assert!(read(&description, &phases, "p", wrong).is_err(), "{wrong}");
        }
    }
}
