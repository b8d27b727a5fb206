//! Experiments of papers, repeated. Each is a folder of `bench/experiments`: a program, and a description of what is run, what is plotted
//! and what must hold.

mod description;
mod plot;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

use crate::place::Place;
use crate::process::{Processors, pinned};
use crate::results::{self, Goal};
use crate::statistics::median;

use description::Description;

/// What to run.
#[derive(Args, Debug)]
pub struct Options {
    /// Only these, by the names of their folders
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// How often each point is measured, in turn; otherwise what the experiment says
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: Option<u32>,
    /// Run the first two points once, to see that everything runs; judge nothing, write nothing
    #[arg(long)]
    short: bool,
    /// Do not write bench/results
    #[arg(long)]
    dry: bool,
}

/// Every repeat at one point of a panel.
#[derive(Serialize)]
struct Cell {
    panel: String,
    point: u32,
    /// In the order of the description's series.
    values: Vec<Vec<f64>>,
}

impl Cell {
    /// Of each series.
    fn medians(&self) -> Vec<f64> {
        self.values.iter().map(|values| median(values)).collect()
    }
}

/// Runs the experiments, prints a table of each, and writes `bench/results/experiments`.
///
/// # Errors
///
/// When something is not built, or does not do as it should. What does not hold is no error: it is printed.
pub fn run(place: &Place, options: &Options) -> Result<()> {
    let names = names(&place.source("bench/experiments"))?;
    if let Some(unknown) = options.only.iter().find(|only| !names.contains(only)) {
        bail!("there is no experiment {unknown}; there are: {}", names.join(", "));
    }
    let mut goals = Vec::new();
    for name in names.iter().filter(|name| options.only.is_empty() || options.only.contains(name)) {
        let file = place.source("bench/experiments").join(name).join("experiment.json");
        let mut description = Description::read(&file)?;
        if options.short {
            description.points.truncate(2);
        }
        let repeats = if options.short { 1 } else { options.repeats.unwrap_or(description.repeats) };
        let cells = measure(place, name, &description, repeats)?;
        if options.short {
            continue;
        }
        let found = judge(&description, &cells)?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{name}: {} ({})", description.title, description.source)?;
        for note in &description.notes {
            writeln!(out, "{note}")?;
        }
        writeln!(out, "Medians of {repeats}: {}.\n\n{}\n", description.y, table(&description, &cells, &found))?;
        if !options.dry {
            let folder = place.folder("bench/results/experiments")?;
            results::write(&folder.join(format!("{name}.json")), &description.title, &cells, &found)?;
            let picture = folder.join(format!("{name}.svg"));
            plot::write(&picture, &description, &cells)?;
            writeln!(out, "Plot: {}\n", place.short(&picture))?;
        }
        goals.extend(found);
    }
    if !options.short {
        let mut out = std::io::stdout().lock();
        for goal in goals.iter().filter(|goal| !goal.reached()) {
            writeln!(out, "LOST: {}: {:.3} {}, not {}", goal.what, goal.value, goal.unit, goal.target)?;
        }
        let reached = goals.iter().filter(|goal| goal.reached()).count();
        writeln!(out, "experiments: reached {reached} of {}", goals.len())?;
    }
    Ok(())
}

/// The folders that hold a description, sorted.
fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        if entry.path().join("experiment.json").exists() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// All points, `repeats` times. The series of one point are neighbours in time, and who begins takes turns.
fn measure(place: &Place, name: &str, description: &Description, repeats: u32) -> Result<Vec<Cell>> {
    let processor = Processors::first_two()?.server;
    let program = place.built(&format!("experiments/{name}"), "experiments")?;
    let policy = place.built(&description.policy, "build")?;
    let mut cells = Vec::new();
    for panel in description.panels.keys() {
        for &point in &description.points {
            cells.push(Cell { panel: panel.clone(), point, values: vec![Vec::new(); description.series.len()] });
        }
    }
    let series: Vec<&Vec<String>> = description.series.values().collect();
    for repeat in 0..repeats as usize {
        eprintln!("experiments: {name}, {} of {repeats}", repeat + 1);
        for (number, cell) in cells.iter_mut().enumerate() {
            for turn in 0..series.len() {
                let index = (turn + number + repeat) % series.len();
                let mut command = pinned(&program, &[processor]);
                command.args(series[index]).args(&description.panels[&cell.panel]).arg(cell.point.to_string());
                let output = command.env("CATAPULTS_POLICY", &policy).output()?;
                let said = String::from_utf8_lossy(&output.stderr);
                ensure!(output.status.success(), "{command:?}: {}: {}", output.status, said.trim());
                cell.values[index].push(value(&String::from_utf8_lossy(&output.stdout))?);
            }
        }
    }
    Ok(cells)
}

/// Reads `value NUMBER`.
fn value(printed: &str) -> Result<f64> {
    let number = printed.trim().strip_prefix("value ").and_then(|number| number.parse().ok());
    number.filter(|number: &f64| number.is_finite()).with_context(|| format!("not a value: {printed}"))
}

/// One goal for each point: the median of the ratios of each round.
fn judge(description: &Description, cells: &[Cell]) -> Result<Vec<Goal>> {
    let check = &description.check;
    let index = |name: &String| description.series.get_index_of(name).with_context(|| format!("no series {name}"));
    let (ours, theirs) = (index(&check.series)?, index(&check.times)?);
    let goal = |cell: &Cell| {
        let ratios: Vec<f64> = cell.values[ours].iter().zip(&cell.values[theirs]).map(|(a, b)| a / b).collect();
        Goal {
            what: format!("{}, {} {}: {} / {}", cell.panel, cell.point, description.x, check.series, check.times),
            value: median(&ratios),
            target: check.at_most,
            at_most: true,
            unit: "×",
        }
    };
    Ok(cells.iter().map(goal).collect())
}

/// A row for each point, with the ratio that the check is about.
fn table(description: &Description, cells: &[Cell], goals: &[Goal]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let mut head = vec![String::new(), description.x.clone()];
    head.extend(description.series.keys().cloned());
    head.extend(["ratio".to_owned(), format!("≤ {}", description.check.at_most)]);
    let columns = head.len();
    table.set_header(head);
    let mut panel = "";
    for (cell, goal) in cells.iter().zip(goals) {
        let title = if cell.panel == panel { "" } else { &cell.panel };
        panel = &cell.panel;
        let mut row = vec![title.to_owned(), cell.point.to_string()];
        row.extend(cell.medians().iter().map(|median| format!("{median:.3}")));
        row.push(format!("{:.3}", goal.value));
        row.push((if goal.reached() { "yes" } else { "LOST" }).to_owned());
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1).take(columns - 2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_prints() {
        assert_eq!(value("value 1.5\n").unwrap(), 1.5);
        for wrong in ["", "1.5", "value", "value x", "value NaN", "value 1 2"] {
            assert!(value(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_loss_is_a_loss() {
        let description: Description = serde_json::from_str(
            r#"{"title": "", "source": "", "notes": [], "policy": "", "series": {"A": [], "B": []}, "panels": {"p": []},
                "points": [1, 2], "repeats": 1, "x": "x", "y": "y", "check": {"series": "A", "at_most": 1.05, "times": "B"}}"#,
        )
        .unwrap();
        let cell = |point, ours| Cell { panel: "p".to_owned(), point, values: vec![vec![ours], vec![1.0]] };
        let cells = [cell(1, 1.04), cell(2, 1.06)];
        let goals = judge(&description, &cells).unwrap();
        assert_eq!(goals.iter().map(Goal::reached).collect::<Vec<_>>(), [true, false]);
        assert!(table(&description, &cells, &goals).to_string().contains("LOST"));
    }
}
