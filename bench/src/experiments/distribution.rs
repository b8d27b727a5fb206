//! Experiments in which it is the distribution of values that matters, and whether it has a bound.

use anyhow::Result;
use catapults_simulator::picture::{Curve, Panel};
use comfy_table::Table;

use super::description::Description;
use super::{Cell, Outcome, headed};
use crate::results::Goal;

/// Two goals for each panel: the bound holds for the series `within`, and not for `beyond`.
///
/// # Errors
///
/// When the series are not there.
pub fn judge(
    description: &Description,
    cells: &[Cell],
    (within, beyond): (&str, &str),
    bound: f64,
    unit: &str,
) -> Result<Outcome> {
    let mut goals = Vec::new();
    for cell in cells {
        for (series, at_most) in [(within, true), (beyond, false)] {
            goals.push(Goal {
                what: format!("{}, {series}: the largest, in {unit}", cell.panel),
                value: at_least(&cell.values[description.number(series)?], 1.0),
                target: bound,
                at_most,
                unit: "",
                why: None,
            });
        }
    }
    let panels = cells.iter().map(|cell| panel(description, cell)).collect();
    Ok(Outcome { goals, table: table(description, cells, unit), panels })
}

/// How many per cent of the values are at most so large.
fn panel(description: &Description, cell: &Cell) -> Panel {
    let curve = |(name, values): (&String, &Vec<f64>)| {
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let part = |number: usize| 100.0 * number as f64 / sorted.len() as f64;
        let line = sorted.iter().enumerate().map(|(number, &value)| (value, part(number + 1))).collect();
        Curve { name: name.clone(), line, dots: Vec::new() }
    };
    Panel {
        curves: description.series.keys().zip(&cell.values).map(curve).collect(),
        title: cell.panel.clone(),
        ..Panel::default()
    }
}

/// A row for each series of each panel.
fn table(description: &Description, cells: &[Cell], unit: &str) -> Table {
    let columns = ["", "", "values", "median", "90 %", "99 %", "largest", ""];
    let mut table = headed(columns.map(str::to_owned).to_vec(), &[0, 1, 7]);
    for cell in cells {
        for (name, values) in description.series.keys().zip(&cell.values) {
            let mut row = vec![cell.panel.clone(), name.clone(), values.len().to_string()];
            row.extend([0.5, 0.9, 0.99, 1.0].map(|part| format!("{:.2}", at_least(values, part))));
            row.push(unit.to_owned());
            table.add_row(row);
        }
    }
    table
}

/// The least value that `part` of all are not above.
fn at_least(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let number = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(number.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_distribution() {
        let values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!([0.5, 0.99, 1.0].map(|part| at_least(&values, part)), [50.0, 99.0, 100.0]);
        assert_eq!(at_least(&[3.0], 0.5), 3.0);
    }

    #[test]
    fn both_sides_of_a_bound_are_judged() {
        let description: Description = serde_json::from_str(
            r#"{"title": "", "source": "", "notes": [], "policy": "", "series": {"A": [], "B": []}, "panels": {"p": []}, "repeats": 1,
                "x": "x", "y": "y", "check": {"distribution": {"within": "A", "beyond": "B", "bound": 3, "unit": "ticks"}}}"#,
        )
        .unwrap();
        let reached = |a, b| -> Vec<bool> {
            let cell = Cell { panel: "p".to_owned(), point: None, values: vec![vec![1.0, a], vec![b, 1.0]] };
            judge(&description, &[cell], ("A", "B"), 3.0, "ticks").unwrap().goals.iter().map(Goal::reached).collect()
        };
        assert_eq!(reached(2.9, 17.0), [true, true]);
        assert_eq!(reached(3.1, 2.9), [false, false]);
    }
}
