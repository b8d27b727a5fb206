//! Experiments that measure a value at each point.

use anyhow::Result;
use catapults_simulator::picture::{Curve, Panel};
use comfy_table::Table;

use super::description::{Comparison, Description, Of, Point};
use super::{Cell, Outcome, headed};
use crate::results::Goal;
use crate::statistics::median;

/// Goals of each comparison at each point.
///
/// # Errors
///
/// When the series are not there.
pub fn judge(description: &Description, cells: &[Cell], comparisons: &[Comparison]) -> Result<Outcome> {
    // Of each cell, by comparison.
    let mut found: Vec<Vec<Option<Goal>>> = Vec::new();
    for cell in cells {
        let mut of_cell = Vec::new();
        for comparison in comparisons {
            let applies = comparison.panels.is_empty() || comparison.panels.contains(&cell.panel);
            of_cell.push(if applies { goal(description, cells, cell, comparison)? } else { None });
        }
        found.push(of_cell);
    }
    let table = table(description, cells, comparisons, &found);
    let panels = description.panels.keys().map(|title| panel(description, cells, title)).collect();
    Ok(Outcome { goals: found.into_iter().flatten().flatten().collect(), table, panels })
}

/// None where there is nothing to compare with: the first point with itself.
fn goal(description: &Description, cells: &[Cell], cell: &Cell, comparison: &Comparison) -> Result<Option<Goal>> {
    let Comparison { series, at_most, .. } = comparison;
    let ours = description.number(series)?;
    let value = match &comparison.of {
        Of::Times(other) => median(&ratios(&cell.values[ours], &cell.values[description.number(other)?])),
        Of::Unit(_) => median(&cell.values[ours]),
        Of::TimesFirst | Of::TimesFirstEach => {
            let Some(first) = cells.iter().find(|first| first.panel == cell.panel && first.point != cell.point) else {
                return Ok(None);
            };
            let further = cell.place(description) - first.place(description);
            if further < 0.0 {
                return Ok(None);
            }
            let ratios = ratios(&cell.values[ours], &first.values[ours]);
            if matches!(comparison.of, Of::TimesFirst) { median(&ratios) } else { (median(&ratios) - 1.0) / further }
        }
    };
    let (panel, x) = (&cell.panel, &description.x);
    let at = cell.point.as_ref().map_or_else(String::new, |point| match point {
        Point::Number(number) => format!(", {number} {x}"),
        Point::Name(name) => format!(", {name}"),
    });
    let what = match &comparison.of {
        Of::Times(other) => format!("{panel}{at}: {series} / {other}"),
        Of::TimesFirst => format!("{panel}{at}: {series} / at first"),
        Of::TimesFirstEach => format!("{panel}{at}: {series}, what each adds / at first"),
        Of::Unit(unit) => format!("{panel}{at}: {series}, in {unit}"),
    };
    let unit = if matches!(comparison.of, Of::Unit(_)) { "" } else { "×" };
    Ok(Some(Goal { what, value, target: *at_most, at_most: true, unit, why: None }))
}

fn ratios(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    ours.iter().zip(theirs).map(|(a, b)| a / b).collect()
}

impl Cell {
    /// Of each series.
    fn medians(&self) -> Vec<f64> {
        self.values.iter().map(|values| median(values)).collect()
    }

    /// On the horizontal axis.
    fn place(&self, description: &Description) -> f64 {
        match &self.point {
            Some(Point::Number(number)) => f64::from(*number),
            named => {
                let number = description.points.iter().position(|point| Some(point) == named.as_ref());
                number.map_or(0.0, |number| number as f64)
            }
        }
    }
}

/// The medians as a line, with every repeat as a dot.
fn panel(description: &Description, cells: &[Cell], title: &str) -> Panel {
    let of_panel: Vec<&Cell> = cells.iter().filter(|cell| cell.panel == title).collect();
    let curve = |(index, name): (usize, &String)| {
        let place = |cell: &Cell| cell.place(description);
        let dots = of_panel.iter().flat_map(|cell| cell.values[index].iter().map(move |&value| (place(cell), value)));
        Curve {
            name: name.clone(),
            line: of_panel.iter().map(|cell| (place(cell), cell.medians()[index])).collect(),
            dots: dots.collect(),
        }
    };
    let name = |point: &Point| match point {
        Point::Number(_) => None,
        Point::Name(name) => Some(name.clone()),
    };
    Panel {
        curves: description.series.keys().enumerate().map(curve).collect(),
        names: description.points.iter().filter_map(name).collect(),
        by_ratio: true,
        title: title.to_owned(),
        ..Panel::default()
    }
}

/// A row for each point: the medians, and what the checks are about.
fn table(description: &Description, cells: &[Cell], comparisons: &[Comparison], found: &[Vec<Option<Goal>>]) -> Table {
    let mut head = vec![String::new(), description.x.clone()];
    head.extend(description.series.keys().cloned());
    for Comparison { series, at_most, of, .. } in comparisons {
        let (what, unit) = match of {
            Of::Times(other) => (format!("{series} / {other}"), "×"),
            Of::TimesFirst => (format!("{series} / first"), "×"),
            Of::TimesFirstEach => (format!("{series}, each adds / first"), "×"),
            Of::Unit(unit) => (series.clone(), unit.as_str()),
        };
        head.extend([what, format!("≤ {at_most} {unit}")]);
    }
    let mut table = headed(head, &[0]);
    let mut panel = "";
    for (cell, goals) in cells.iter().zip(found) {
        let title = if cell.panel == panel { "" } else { &cell.panel };
        panel = &cell.panel;
        let point = cell.point.as_ref().map_or_else(String::new, ToString::to_string);
        let mut row = vec![title.to_owned(), point];
        row.extend(cell.medians().iter().map(|median| format!("{median:.3}")));
        for goal in goals {
            row.push(goal.as_ref().map_or_else(String::new, |goal| format!("{:.3}", goal.value)));
            let word = goal.as_ref().map_or("", |goal| if goal.reached() { "yes" } else { "LOST" });
            row.push(word.to_owned());
        }
        table.add_row(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(points: &str, check: &str, values: &[(Point, [f64; 2])]) -> Outcome {
        let description: Description = serde_json::from_str(&format!(
            r#"{{"title": "", "source": "", "notes": [], "policy": "", "series": {{"A": [], "B": []}}, "panels": {{"p": []}},
                "points": {points}, "repeats": 1, "x": "x", "y": "y", "check": {{"points": [{check}]}}}}"#,
        ))
        .unwrap();
        let cells: Vec<Cell> = values
            .iter()
            .map(|(point, [a, b])| Cell {
                panel: "p".to_owned(),
                point: Some(point.clone()),
                values: vec![vec![*a], vec![*b]],
            })
            .collect();
        let super::super::description::Check::Points(comparisons) = &description.check else { panic!() };
        judge(&description, &cells, comparisons).unwrap()
    }

    fn reached(outcome: &Outcome) -> Vec<bool> {
        outcome.goals.iter().map(Goal::reached).collect()
    }

    #[test]
    fn a_loss_is_a_loss() {
        let check = r#"{"series": "A", "at_most": 1.05, "of": {"times": "B"}}"#;
        let outcome = judged("[1, 2]", check, &[(Point::Number(1), [1.04, 1.0]), (Point::Number(2), [1.06, 1.0])]);
        assert_eq!(reached(&outcome), [true, false]);
        assert!(outcome.table.to_string().contains("LOST"));
    }

    #[test]
    fn growth_is_judged_by_the_first_point() {
        let check = r#"{"series": "A", "at_most": 0.5, "of": "times_first_each"}"#;
        let values = [(Point::Number(1), [2.0, 0.0]), (Point::Number(3), [4.0, 0.0]), (Point::Number(5), [6.1, 0.0])];
        assert_eq!(reached(&judged("[1, 3, 5]", check, &values)), [true, false]);
        let check = r#"{"series": "B", "at_most": 1.2, "of": "times_first"}"#;
        let values = [(Point::Number(1), [0.0, 1.0]), (Point::Number(8), [0.0, 1.1])];
        assert_eq!(reached(&judged("[1, 8]", check, &values)), [true]);
    }

    #[test]
    fn points_can_have_names_and_bounds_a_unit() {
        let check = r#"{"series": "A", "at_most": 50, "of": {"unit": "per cent"}}"#;
        let values = [(Point::Name("one".to_owned()), [50.0, 0.0]), (Point::Name("two".to_owned()), [51.0, 0.0])];
        let outcome = judged(r#"["one", "two"]"#, check, &values);
        assert_eq!(reached(&outcome), [true, false]);
        assert_eq!(outcome.panels[0].curves[0].line, [(0.0, 50.0), (1.0, 51.0)]);
    }
}
