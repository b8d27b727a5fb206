//! The table of the demonstration: what Tables 1 and 2 of CATAPULTS 2005 compare, a line for each quantity.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::client::Outcome;
use crate::demo::{Cell, Run, SCHEDULERS};
use crate::statistics::{geometric_mean, median, overlap};

/// A quantity that is compared.
struct Quantity {
    /// As its line says.
    title: &'static str,
    of: fn(&Outcome) -> f64,
    /// Whether more of it is better.
    more_is_better: bool,
    decimals: usize,
}

const QUANTITIES: [Quantity; 5] = [
    Quantity { title: "requests/s", of: Outcome::rate, more_is_better: true, decimals: 0 },
    Quantity { title: "mean ms", of: |outcome| outcome.mean / 1000.0, more_is_better: false, decimals: 1 },
    Quantity { title: "p50 ms", of: |outcome| outcome.p50 as f64 / 1000.0, more_is_better: false, decimals: 1 },
    Quantity { title: "p99 ms", of: |outcome| outcome.p99 as f64 / 1000.0, more_is_better: false, decimals: 1 },
    Quantity { title: "slowest ms", of: |outcome| outcome.max as f64 / 1000.0, more_is_better: false, decimals: 1 },
];

/// Tables 1 and 2 of the paper: pages served, generic and own scheduler; response times in ms, generic and own.
const PAPER: [(&str, usize, [f64; 2], [f64; 2]); 9] = [
    ("90K files", 5, [8658.0, 10101.0], [6014.0, 4691.0]),
    ("90K files", 20, [9807.0, 10983.0], [4570.0, 1527.0]),
    ("90K files", 100, [10917.0, 10653.0], [1893.0, 1963.0]),
    ("250K files", 5, [5604.0, 5760.0], [10687.0, 9708.0]),
    ("250K files", 20, [5478.0, 5109.0], [7354.0, 5698.0]),
    ("250K files", 100, [5184.0, 5406.0], [4865.0, 4248.0]),
    ("4 byte files", 5, [89883.0, 86343.0], [732.0, 794.0]),
    ("4 byte files", 20, [202_938.0, 295_425.0], [589.0, 455.0]),
    ("4 byte files", 100, [463_093.0, 464_457.0], [333.0, 346.0]),
];

/// The medians of all cells, and how the policies compare with the generic scheduler; in `full` with what the paper says of some, and
/// with the geometric means of the ratios at the end.
pub fn of(cells: &[Cell], full: bool) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let mut head = vec!["".to_owned(), SCHEDULERS[0].to_owned()];
    head.extend(SCHEDULERS[1..].iter().flat_map(|policy| [(*policy).to_owned(), "ratio".to_owned()]));
    if full {
        head.push("paper".to_owned());
    }
    let columns = head.len();
    table.set_header(head);
    for cell in cells {
        table.add_row([title(cell)]);
        for quantity in &QUANTITIES {
            table.add_row(line(cell, quantity, full));
        }
    }
    if full {
        table.add_row(["geometric means of the ratios"]);
        for quantity in &QUANTITIES {
            table.add_row(means(cells, quantity));
        }
    }
    for column in table.column_iter_mut().skip(1).take(columns) {
        column.set_cell_alignment(CellAlignment::Right);
        column.set_padding((1, 0));
    }
    table
}

/// Where cow gains the most and where it loses the most, of the ratios that are not chance.
pub fn in_short(cells: &[Cell]) -> String {
    let mut ratios = Vec::new();
    for cell in cells {
        for quantity in &QUANTITIES {
            let [generic, cow, _] = values(cell, quantity);
            if !overlap(&generic, &cow) {
                let title = quantity.title.trim_end_matches(" ms");
                ratios.push((better(&generic, &cow, quantity), format!("{title}, {}", cell.name())));
            }
        }
    }
    let by_ratio = |a: &&(f64, String), b: &&(f64, String)| a.0.total_cmp(&b.0);
    let told = |found: Option<&(f64, String)>| match found {
        Some((ratio, what)) => format!("{ratio:.2} × ({what})"),
        None => "nowhere beyond chance".to_owned(),
    };
    let gain = ratios.iter().filter(|(ratio, _)| *ratio > 1.0).max_by(by_ratio);
    let loss = ratios.iter().filter(|(ratio, _)| *ratio < 1.0).min_by(by_ratio);
    format!("In short: cow.sched gains the most at {}, and loses the most at {}.", told(gain), told(loss))
}

/// Of one quantity, the repeats under each scheduler.
fn values(cell: &Cell, quantity: &Quantity) -> [Vec<f64>; SCHEDULERS.len()] {
    cell.runs.each_ref().map(|runs| runs.iter().map(|run: &Run| (quantity.of)(&run.outcome)).collect())
}

fn title(cell: &Cell) -> String {
    let failed = cell.runs.iter().flatten().any(|run| run.outcome.errors != Default::default());
    let marks = [(failed, " !"), (cell.disturbed(), " *")];
    let marks: String = marks.iter().filter(|(marked, _)| *marked).map(|(_, mark)| *mark).collect();
    format!("{}{marks}", cell.name())
}

fn line(cell: &Cell, quantity: &Quantity, full: bool) -> Vec<String> {
    let [generic, policies @ ..] = values(cell, quantity);
    let number = |values: &[f64]| format!("{:.*}", quantity.decimals, median(values));
    let mut line = vec![format!("  {}", quantity.title), number(&generic)];
    for policy in &policies {
        line.extend([number(policy), shown(better(&generic, policy, quantity), overlap(&generic, policy))]);
    }
    if full {
        line.push(paper(cell, quantity).map_or(String::new(), |ratio| shown(ratio, false)));
    }
    line
}

fn means(cells: &[Cell], quantity: &Quantity) -> Vec<String> {
    let mut line = vec![format!("  {}", quantity.title), String::new()];
    for policy in 1..SCHEDULERS.len() {
        let ratio = |cell: &Cell| {
            let values = values(cell, quantity);
            better(&values[0], &values[policy], quantity)
        };
        line.extend([String::new(), shown(geometric_mean(&cells.iter().map(ratio).collect::<Vec<f64>>()), false)]);
    }
    line
}

/// How many times better the paper's own scheduler was.
fn paper(cell: &Cell, quantity: &Quantity) -> Option<f64> {
    let (.., pages, times) = PAPER.iter().find(|paper| (paper.0, paper.1) == (cell.workload, cell.handlers))?;
    let [generic, own] = match quantity.title {
        "requests/s" => pages,
        "mean ms" => times,
        _ => return None,
    };
    Some(better(&[*generic], &[*own], quantity))
}

/// How many times better the second is than the first.
fn better(generic: &[f64], own: &[f64], quantity: &Quantity) -> f64 {
    let (generic, own) = (median(generic), median(own));
    if quantity.more_is_better { own / generic } else { generic / own }
}

fn shown(ratio: f64, chance: bool) -> String {
    let mark = if chance {
        "~"
    } else if ratio < 0.995 {
        "-"
    } else {
        " "
    };
    format!("{ratio:.2}{mark}")
}
