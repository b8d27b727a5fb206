//! Experiments that measure a value at each point, beside another series.

use anyhow::Result;
use comfy_table::Table;

use super::description::Description;
use super::{Cell, headed};
use crate::results::Goal;
use crate::statistics::median;

impl Cell {
    /// Of each series.
    pub fn medians(&self) -> Vec<f64> {
        self.values.iter().map(|values| median(values)).collect()
    }

    /// What its row and its goal call it.
    fn point(&self) -> String {
        self.point.map_or_else(String::new, |point| point.to_string())
    }
}

/// One goal for each point: the median of the ratios of each round.
///
/// # Errors
///
/// When the series are not there.
pub fn judge(description: &Description, cells: &[Cell], at_most: f64) -> Result<Vec<Goal>> {
    let (ours, theirs) = description.compared()?;
    let names: Vec<&String> = description.series.keys().collect();
    let goal = |cell: &Cell| {
        let ratios: Vec<f64> = cell.values[ours].iter().zip(&cell.values[theirs]).map(|(a, b)| a / b).collect();
        let (panel, point, x) = (&cell.panel, cell.point(), &description.x);
        Goal {
            what: format!("{panel}, {point} {x}: {} / {}", names[ours], names[theirs]),
            value: median(&ratios),
            target: at_most,
            at_most: true,
            unit: "×",
        }
    };
    Ok(cells.iter().map(goal).collect())
}

/// A row for each point: the medians, and the ratio that the check is about.
pub fn table(description: &Description, cells: &[Cell], goals: &[Goal], at_most: f64) -> Table {
    let mut head = vec![String::new(), description.x.clone()];
    head.extend(description.series.keys().cloned());
    head.extend(["ratio".to_owned(), format!("≤ {at_most}")]);
    let mut table = headed(head, &[0]);
    let mut panel = "";
    for (cell, goal) in cells.iter().zip(goals) {
        let title = if cell.panel == panel { "" } else { &cell.panel };
        panel = &cell.panel;
        let mut row = vec![title.to_owned(), cell.point()];
        row.extend(cell.medians().iter().map(|median| format!("{median:.3}")));
        row.push(format!("{:.3}", goal.value));
        row.push((if goal.reached() { "yes" } else { "LOST" }).to_owned());
        table.add_row(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_a_loss() {
        let description: Description = serde_json::from_str(
            r#"{"title": "", "source": "", "notes": [], "policy": "", "series": {"A": [], "B": []}, "panels": {"p": []}, "points": [1, 2],
                "repeats": 1, "x": "x", "y": "y", "check": {"points": {"series": "A", "at_most": 1.05, "times": "B"}}}"#,
        )
        .unwrap();
        let cell =
            |point, ours| Cell { panel: "p".to_owned(), point: Some(point), values: vec![vec![ours], vec![1.0]] };
        let cells = [cell(1, 1.04), cell(2, 1.06)];
        let goals = judge(&description, &cells, 1.05).unwrap();
        assert_eq!(goals.iter().map(Goal::reached).collect::<Vec<_>>(), [true, false]);
        assert!(table(&description, &cells, &goals, 1.05).to_string().contains("LOST"));
    }
}
