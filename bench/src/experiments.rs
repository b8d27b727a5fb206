//! Experiments of papers, repeated. Each is a folder of `bench/experiments`: a program, and a description of what is run, what is plotted
//! and what must hold.

mod answers;
mod description;
mod distribution;
mod plot;
mod points;
mod shares;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use catapults_simulator::picture::Panel;
use clap::Args;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use serde::{Deserialize, Serialize};

use crate::place::Place;
use crate::process::{Processors, ending, limited};
use crate::results::{self, Goal};

use description::{Check, Description, Point};

/// What to run.
#[derive(Args, Debug)]
pub struct Options {
    /// Only these, by the names of their folders
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// How often each point is measured, in turn; otherwise what the experiment says
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: Option<u32>,
    /// Run the first points, or short phases, once, to see that everything runs; judge nothing, write nothing
    #[arg(long)]
    short: bool,
    /// Do not write bench/results
    #[arg(long)]
    dry: bool,
    /// Measure nothing: draw the plots of what is in bench/results
    #[arg(long, conflicts_with_all = ["repeats", "short", "dry"])]
    draw: bool,
}

/// What an experiment has come to.
struct Outcome {
    goals: Vec<Goal>,
    table: Table,
    panels: Vec<Panel>,
}

/// Every repeat at one point of a panel; of a distribution, of the whole panel.
#[derive(Serialize, Deserialize)]
struct Cell {
    panel: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    point: Option<Point>,
    /// In the order of the description's series.
    values: Vec<Vec<f64>>,
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
    let asked = || names.iter().filter(|name| options.only.is_empty() || options.only.contains(name));
    if options.draw {
        for name in asked() {
            let picture = place.folder("bench/results/experiments")?.join(format!("{name}.svg"));
            plot::write(&picture, &drawn(&place.source("."), name)?)?;
            writeln!(std::io::stdout().lock(), "Plot: {}", place.short(&picture))?;
        }
        return Ok(());
    }
    let mut goals = Vec::new();
    for name in asked() {
        let file = place.source("bench/experiments").join(name).join("experiment.json");
        let mut description = Description::read(&file)?;
        if options.short {
            description.points.truncate(2);
        }
        let repeats = if options.short { 1 } else { options.repeats.unwrap_or(description.repeats) };
        let (outcome, measured) = carry_out(place, name, &description, repeats, options.short)?;
        if options.short {
            continue;
        }
        let Outcome { goals: found, table, panels } = outcome;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{name}: {} ({})", description.title, description.source)?;
        for note in &description.notes {
            writeln!(out, "{note}")?;
        }
        writeln!(out, "{}; repeats: {repeats}.\n\n{table}\n", description.y)?;
        if !options.dry {
            let folder = place.folder("bench/results/experiments")?;
            results::write(&folder.join(format!("{name}.json")), &description.title, &measured, &found)?;
            let picture = folder.join(format!("{name}.svg"));
            plot::write(&picture, &plot::svg(&description, &panels))?;
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

/// The plot of what was measured, from `bench/results/experiments`.
fn drawn(root: &Path, name: &str) -> Result<String> {
    #[derive(Deserialize)]
    struct Results {
        repeats: serde_json::Value,
    }
    let description = Description::read(&root.join("bench/experiments").join(name).join("experiment.json"))?;
    let file = root.join("bench/results/experiments").join(format!("{name}.json"));
    let shown = file.display();
    let text = std::fs::read_to_string(&file).with_context(|| format!("cannot read {shown}: measure it first"))?;
    let Results { repeats } = serde_json::from_str(&text).with_context(|| format!("no results in {shown}"))?;
    let outcome = judge(&description, repeats, false).with_context(|| format!("{shown}: measure it anew"))?;
    Ok(plot::svg(&description, &outcome.panels))
}

/// What was measured, judged.
fn judge(description: &Description, measured: serde_json::Value, short: bool) -> Result<Outcome> {
    match &description.check {
        Check::Points(comparisons) => points::judge(description, &cells(measured)?, comparisons),
        Check::Distribution { within, beyond, bound, unit } => {
            distribution::judge(description, &cells(measured)?, (within, beyond), *bound, unit)
        }
        Check::Shares { stacked, .. } => {
            let runs: Vec<shares::Run> = serde_json::from_value(measured)?;
            Ok(shares::judge(description, &runs, &phases(description, short)?, *stacked))
        }
        Check::Answers(check) => answers::judge(description, check, &serde_json::from_value::<Vec<_>>(measured)?),
    }
}

fn cells(measured: serde_json::Value) -> Result<Vec<Cell>> {
    Ok(serde_json::from_value(measured)?)
}

fn phases(description: &Description, short: bool) -> Result<shares::Phases<'_>> {
    let Check::Shares { ticks, short: few, within, phases, .. } = &description.check else {
        bail!("its check is not about shares");
    };
    Ok(shares::Phases { ticks: if short { *few } else { *ticks }, within: *within, expected: phases })
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

/// Runs everything, and judges it; with what was measured.
fn carry_out(
    place: &Place,
    name: &str,
    description: &Description,
    repeats: u32,
    short: bool,
) -> Result<(Outcome, serde_json::Value)> {
    let measured = match &description.check {
        Check::Points(_) | Check::Distribution { .. } => {
            serde_json::to_value(measure(place, name, description, repeats)?)?
        }
        Check::Shares { .. } => {
            let phases = phases(description, short)?;
            let mut runs = Vec::new();
            for repeat in 0..repeats {
                eprintln!("experiments: {name}, {} of {repeats}", repeat + 1);
                for (panel, arguments) in &description.panels {
                    let mut arguments = arguments.clone();
                    arguments.push(phases.ticks.to_string());
                    let printed = output(place, name, description, &arguments)?;
                    runs.push(shares::read(description, &phases, panel, &printed)?);
                }
            }
            serde_json::to_value(&runs)?
        }
        Check::Answers(check) => {
            serde_json::to_value(answers::measure(place, name, description, check, repeats, short)?)?
        }
    };
    Ok((judge(description, measured.clone(), short)?, measured))
}

/// What the program of an experiment prints.
fn output(place: &Place, name: &str, description: &Description, arguments: &[String]) -> Result<String> {
    let program = description.program.clone().unwrap_or_else(|| format!("experiments/{name}"));
    let program = place.built(&program, "experiments")?;
    let policy = description.policy.as_ref().with_context(|| format!("{name} names no policy"))?;
    let policy = place.built(policy, "build")?;
    let mut command = limited(&program, &[Processors::first_two()?.server]);
    let output = command.args(arguments).env("CATAPULTS_POLICY", &policy).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {}: {}", ending(output.status), said.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// All points, `repeats` times. The series of one point are neighbours in time, and who begins takes turns.
fn measure(place: &Place, name: &str, description: &Description, repeats: u32) -> Result<Vec<Cell>> {
    let points: Vec<Option<Point>> = match description.points.as_slice() {
        [] => vec![None],
        points => points.iter().cloned().map(Some).collect(),
    };
    let mut cells = Vec::new();
    for panel in description.panels.keys() {
        for point in &points {
            cells.push(Cell {
                panel: panel.clone(),
                point: point.clone(),
                values: vec![Vec::new(); description.series.len()],
            });
        }
    }
    let series: Vec<&Vec<String>> = description.series.values().collect();
    for repeat in 0..repeats as usize {
        eprintln!("experiments: {name}, {} of {repeats}", repeat + 1);
        for (number, cell) in cells.iter_mut().enumerate() {
            for turn in 0..series.len() {
                let index = (turn + number + repeat) % series.len();
                let point = cell.point.as_ref().map(ToString::to_string);
                let arguments = series[index].iter().chain(&description.panels[&cell.panel]).cloned().chain(point);
                let printed = output(place, name, description, &arguments.collect::<Vec<String>>())?;
                cell.values[index].extend(values(&printed)?);
            }
        }
    }
    Ok(cells)
}

/// Reads lines `value NUMBER`, at least one.
fn values(printed: &str) -> Result<Vec<f64>> {
    ensure!(!printed.is_empty(), "nothing was printed");
    let value = |line: &str| {
        let number = line.strip_prefix("value ").and_then(|number| number.parse().ok());
        number.filter(|number: &f64| number.is_finite()).with_context(|| format!("not a value: {line}"))
    };
    printed.lines().map(value).collect()
}

/// An empty table with this head; numbers stand on the right.
fn headed(head: Vec<String>, left: &[usize]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(head);
    for (index, column) in table.column_iter_mut().enumerate() {
        if !left.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_are_of_the_results_beside_them() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for name in names(&root.join("bench/experiments")).unwrap() {
            let plot = std::fs::read_to_string(root.join(format!("bench/results/experiments/{name}.svg"))).unwrap();
            let same = drawn(&root, &name).unwrap() == plot;
            assert!(same, "{name}.svg is of other results: `catapults-bench experiments --draw` draws it anew");
        }
    }

    #[test]
    fn what_a_program_prints() {
        assert_eq!(values("value 1.5\nvalue 2\n").unwrap(), [1.5, 2.0]);
        for wrong in ["", "1.5", "value", "value x", "value NaN", "value 1 2", "value 1\n\nvalue 2"] {
            assert!(values(wrong).is_err(), "{wrong}");
        }
    }
}
