//! Experiments with a web server on GNU Pth: how many requests it answers, and how soon, under several schedulers.

use anyhow::{Context, Result, ensure};
use catapults_simulator::picture::{Curve, Panel};
use comfy_table::Table;
use serde::{Deserialize, Serialize};

use super::description::{Answers, Description, Point, Promise, Quantity};
use super::{Outcome, headed};
use crate::client::{self, Errors, Load};
use crate::files::{self, Served};
use crate::place::Place;
use crate::process::{self, Processors};
use crate::results::Goal;
use crate::server::{Cow, Host};
use crate::statistics::{median, overlap};

/// Every repeat with one kind of files and one number of handlers.
#[derive(Serialize, Deserialize)]
pub struct Cell {
    panel: String,
    handlers: u32,
    /// In the order of the description's series.
    runs: Vec<Vec<client::Outcome>>,
}

/// Measures all cells, `repeats` times. The series of a cell are neighbours in time, and who begins takes turns. A short run is of
/// the first and last panel with the fewest handlers, a second each.
///
/// # Errors
///
/// When something is not built or installed, or the server or the client does not do as it should.
pub fn measure(
    place: &Place,
    name: &str,
    description: &Description,
    check: &Answers,
    repeats: u32,
    short: bool,
) -> Result<Vec<Cell>> {
    process::prefer();
    let work = place.folder(&format!("build/experiments/served/{name}"))?;
    let root = place.folder(&format!("build/experiments/served/{name}/files"))?;
    let processors = Processors::first_two()?;
    let mut cells = Vec::new();
    for (number, (panel, asked)) in description.panels.iter().enumerate() {
        let served = served(&root, asked)?;
        for point in &description.points {
            let Point::Number(handlers) = *point else { anyhow::bail!("{point} is no number of handlers") };
            if short && (handlers != fewest(description) || !(number == 0 || number + 1 == description.panels.len())) {
                continue;
            }
            let runs = vec![Vec::new(); description.series.len()];
            cells.push((Cell { panel: panel.clone(), handlers, runs }, served.clone()));
        }
    }
    for repeat in 0..repeats as usize {
        eprintln!("experiments: {name}, {} of {repeats}", repeat + 1);
        for (number, (cell, files)) in cells.iter_mut().enumerate() {
            for turn in 0..description.series.len() {
                let index = (turn + number + repeat) % description.series.len();
                let (series, policy) = description.series.get_index(index).context("no such series")?;
                let cow = Cow {
                    on: Host::Pth(policy.first().map(String::as_str)),
                    handlers: cell.handlers as usize,
                    root: &root,
                    turn: Some(check.turn),
                    trace: None,
                    log: &work.join("server.log"),
                };
                let load = Load {
                    connections: check.clients as usize,
                    seconds: if short { 1 } else { check.seconds },
                    close: true,
                    files,
                    processors: &[processors.client],
                    seed: repeat as u64,
                };
                let outcome = once(place, &cow, &load, processors);
                let what = || format!("{}, {} handlers, {series}", cell.panel, cell.handlers);
                cell.runs[index].push(outcome.with_context(what)?);
            }
        }
    }
    Ok(cells.into_iter().map(|(cell, _)| cell).collect())
}

fn fewest(description: &Description) -> u32 {
    let number = |point: &Point| match point {
        Point::Number(number) => Some(*number),
        Point::Name(_) => None,
    };
    description.points.iter().filter_map(number).min().unwrap_or(0)
}

fn once(place: &Place, cow: &Cow, load: &Load, processors: Processors) -> Result<client::Outcome> {
    let server = cow.start(place, processors)?;
    server.warm(load.files)?;
    let outcome = load.run(place, server.address())?;
    let said = server.stop()?;
    ensure!(said.is_empty(), "the server said: {said}");
    Ok(outcome)
}

/// `mix`, or the size of the only file.
fn served(root: &std::path::Path, asked: &[String]) -> Result<Vec<Served>> {
    match asked {
        [mix] if mix == "mix" => files::heavy_tailed(root),
        [bytes] => {
            let size = bytes.parse().with_context(|| format!("{bytes} is no number of bytes"))?;
            files::single(root, bytes, size)
        }
        _ => anyhow::bail!("a panel has `mix` or a number of bytes, not {asked:?}"),
    }
}

impl Quantity {
    const ALL: [Quantity; 4] = [Quantity::Requests, Quantity::Mean, Quantity::Half, Quantity::Slowest];

    fn title(self) -> &'static str {
        match self {
            Quantity::Requests => "requests/s",
            Quantity::Mean => "mean ms",
            Quantity::Half => "half in ms",
            Quantity::Slowest => "slowest ms",
        }
    }

    fn of(self, outcome: &client::Outcome) -> f64 {
        match self {
            Quantity::Requests => outcome.rate(),
            Quantity::Mean => outcome.mean / 1000.0,
            Quantity::Half => outcome.p50 as f64 / 1000.0,
            Quantity::Slowest => outcome.max as f64 / 1000.0,
        }
    }

    /// How many times better the second is.
    fn better(self, one: f64, other: f64) -> f64 {
        match self {
            Quantity::Requests => other / one,
            Quantity::Mean | Quantity::Half | Quantity::Slowest => one / other,
        }
    }

    /// How many times better the paper's own scheduler was, by point.
    fn in_paper(self, check: &Answers, panel: &str) -> Option<Vec<f64>> {
        let table = match self {
            Quantity::Requests => &check.paper.requests,
            Quantity::Mean => &check.paper.mean,
            Quantity::Half | Quantity::Slowest => return None,
        };
        Some(table.get(panel)?.iter().map(|[generic, own]| self.better(*generic, *own)).collect())
    }
}

impl Cell {
    fn values(&self, series: usize, quantity: Quantity) -> Vec<f64> {
        self.runs[series].iter().map(|outcome| quantity.of(outcome)).collect()
    }

    /// How many times better one series is than another: the median of what each round says.
    fn gain(&self, series: usize, than: usize, quantity: Quantity) -> f64 {
        let (ours, theirs) = (self.values(series, quantity), self.values(than, quantity));
        median(&theirs.iter().zip(&ours).map(|(one, other)| quantity.better(*one, *other)).collect::<Vec<f64>>())
    }
}

/// A goal wherever the paper has a figure, and for each promise at each point.
///
/// # Errors
///
/// When what was measured is not what the description describes.
pub fn judge(description: &Description, check: &Answers, cells: &[Cell]) -> Result<Outcome> {
    let own = description.number(&check.paper.series)?;
    for cell in cells {
        ensure!(cell.runs.len() == description.series.len(), "{}: other series were measured", cell.panel);
    }
    let mut head = vec![String::new(), String::new(), description.x.clone()];
    head.extend(description.series.keys().cloned());
    head.extend(description.series.keys().skip(1).map(|series| format!("{series} ×")));
    head.extend(["the paper ×".to_owned(), String::new()]);
    let mut outcome = Outcome { goals: Vec::new(), table: headed(head, &[0, 1]), panels: Vec::new() };
    for quantity in Quantity::ALL {
        for panel in description.panels.keys() {
            let paper = quantity.in_paper(check, panel);
            // What the paper has not measured is told of files that it has not either.
            if paper.is_none() && check.paper.requests.contains_key(panel) {
                continue;
            }
            let of_panel: Vec<&Cell> = cells.iter().filter(|cell| cell.panel == *panel).collect();
            for (number, cell) in of_panel.iter().enumerate() {
                let paper = paper.as_ref().and_then(|paper| paper.get(number).copied());
                let at = format!("{panel}, {} {}: {}", cell.handlers, description.x, quantity.title());
                let mut goals: Vec<Goal> = promises(description, check, cell, quantity, &at)?;
                goals.extend(paper.map(|paper| Goal {
                    what: format!("{at}, {} / {}, as in the paper", check.paper.series, first(description)),
                    value: cell.gain(own, 0, quantity),
                    target: paper,
                    at_most: false,
                    unit: "×",
                    why: None,
                }));
                row(&mut outcome.table, description, cell, quantity, paper, &goals, number == 0);
                outcome.goals.extend(goals);
            }
            outcome.panels.push(plotted(description, &of_panel, quantity, panel, paper.as_deref()));
        }
    }
    Ok(outcome)
}

fn first(description: &Description) -> &str {
    description.series.keys().next().map_or("", String::as_str)
}

fn promises(
    description: &Description,
    check: &Answers,
    cell: &Cell,
    quantity: Quantity,
    at: &str,
) -> Result<Vec<Goal>> {
    let here = check.promises.iter().filter(|promise| {
        promise.panel == cell.panel
            && promise.quantity == quantity
            && (promise.points.is_empty() || promise.points.contains(&cell.handlers))
    });
    let goal = |Promise { series, than, at_least, .. }: &Promise| {
        Ok(Goal {
            what: format!("{at}, {series} / {than}"),
            value: cell.gain(description.number(series)?, description.number(than)?, quantity),
            target: *at_least,
            at_most: false,
            unit: "×",
            why: None,
        })
    };
    here.map(goal).collect()
}

fn row(
    table: &mut Table,
    description: &Description,
    cell: &Cell,
    quantity: Quantity,
    paper: Option<f64>,
    goals: &[Goal],
    begins: bool,
) {
    let title = |text: &str| if begins { text.to_owned() } else { String::new() };
    let failed = cell.runs.iter().flatten().any(|run| run.errors != Errors::default());
    let mark = if failed { " !" } else { "" };
    let mut row = vec![title(quantity.title()), title(&cell.panel), format!("{}{mark}", cell.handlers)];
    let series = 0..description.series.len();
    row.extend(series.clone().map(|series| format!("{:.0}", median(&cell.values(series, quantity)))));
    row.extend(series.skip(1).map(|series| {
        let chance = overlap(&cell.values(0, quantity), &cell.values(series, quantity));
        format!("{:.2}{}", cell.gain(series, 0, quantity), if chance { "~" } else { " " })
    }));
    row.push(paper.map_or_else(String::new, |paper| format!("{paper:.2}")));
    row.push(match goals {
        [] => String::new(),
        goals if goals.iter().all(Goal::reached) => "yes".to_owned(),
        _ => "LOST".to_owned(),
    });
    table.add_row(row);
}

/// A line for each series but the first, which the others are compared with, and one for the paper.
fn plotted(
    description: &Description,
    cells: &[&Cell],
    quantity: Quantity,
    title: &str,
    paper: Option<&[f64]>,
) -> Panel {
    let mut curves: Vec<Curve> = Vec::new();
    for (index, name) in description.series.keys().enumerate().skip(1) {
        let place = |cell: &Cell| f64::from(cell.handlers);
        let each = |cell: &Cell| {
            let pairs: Vec<(f64, f64)> =
                cell.values(0, quantity).into_iter().zip(cell.values(index, quantity)).collect();
            pairs.into_iter().map(move |(one, other)| quantity.better(one, other))
        };
        curves.push(Curve {
            name: name.clone(),
            line: cells.iter().map(|cell| (place(cell), cell.gain(index, 0, quantity))).collect(),
            dots: cells.iter().flat_map(|cell| each(cell).map(|gain| (place(cell), gain))).collect(),
        });
    }
    let places = cells.iter().map(|cell| f64::from(cell.handlers));
    let line = places.zip(paper.unwrap_or_default().iter().copied()).collect();
    curves.push(Curve { name: "the paper".to_owned(), line, dots: Vec::new() });
    Panel { curves, by_ratio: true, title: format!("{}, {title}", quantity.title()), ..Panel::default() }
}

#[cfg(test)]
mod tests {
    use super::super::description::Check;
    use super::*;

    fn run(requests: u64, mean: f64) -> client::Outcome {
        client::Outcome {
            requests,
            microseconds: 1_000_000,
            bytes: 0,
            recorded: requests,
            mean,
            p50: mean as u64,
            p99: mean as u64,
            max: mean as u64,
            errors: Errors::default(),
        }
    }

    fn judged(runs: Vec<Vec<client::Outcome>>) -> Outcome {
        let text = r#"{"title": "", "source": "", "notes": [], "series": {"generic": [], "own": ["x"]}, "panels": {"p": ["4"], "m": ["mix"]},
            "points": [5], "repeats": 1, "x": "handlers", "y": "", "check": {"answers": {"clients": 1, "turn": 1, "seconds": 1,
            "paper": {"series": "own", "requests": {"p": [[100, 150]]}, "mean": {"p": [[4, 2]]}},
            "promises": [{"panel": "m", "series": "own", "quantity": "slowest", "at_least": 1, "than": "generic"}]}}}"#;
        let description: Description = serde_json::from_str(text).unwrap();
        let Check::Answers(check) = &description.check else { panic!() };
        let cell = |panel: &str| Cell { panel: panel.to_owned(), handlers: 5, runs: runs.clone() };
        judge(&description, check, &[cell("p"), cell("m")]).unwrap()
    }

    #[test]
    fn what_the_paper_gained_is_the_bound() {
        let reached = |runs| judged(runs).goals.iter().map(Goal::reached).collect::<Vec<bool>>();
        assert_eq!(reached(vec![vec![run(10, 4000.0)], vec![run(15, 2000.0)]]), [true, true, true]);
        assert_eq!(reached(vec![vec![run(10, 4000.0)], vec![run(14, 2001.0)]]), [false, false, true]);
        let outcome = judged(vec![vec![run(10, 4000.0)], vec![run(15, 4001.0)]]);
        assert_eq!(outcome.goals.iter().map(Goal::reached).collect::<Vec<bool>>(), [true, false, false]);
        assert!(outcome.table.to_string().contains("LOST"), "{}", outcome.table);
    }
}
