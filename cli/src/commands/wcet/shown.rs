//! Bounds, for people.

use super::{Bounded, Row};
use crate::commands::counted;
use crate::table;
use catapults_compiler::policy::{Entity, Owner, Policy};
use catapults_compiler::steps::Formula;
use std::fmt::Write;

pub fn text(bounded: &Bounded<'_>) -> String {
    let policy = bounded.policy;
    let mut numbers = counted(number(bounded.counts.threads), "thread");
    if policy.has_nodes() {
        numbers = format!("{numbers} and {}", counted(number(bounded.counts.nodes), "node"));
    }
    let mut text = format!("{} on {}, for {numbers} at the most\n\n", bounded.file.display(), policy.framework);
    if bounded.explained {
        bounded.rows.iter().for_each(|row| path(&mut text, row, bounded.policy));
    } else {
        let mut rows = vec![["handler", "line", "steps at the most", "of these"].map(str::to_owned).to_vec()];
        rows.extend(bounded.rows.iter().map(line));
        table::table(&mut text, &rows);
        text.push('\n');
    }
    text + &notes(bounded)
}

fn line(row: &Row<'_>) -> Vec<String> {
    let kind = if row.is_query() { " (query)" } else { "" };
    let bound = row.bound;
    vec![format!("{}{kind}", row.name()), place(row), bound.formula.to_string(), bound.steps.to_string()]
}

/// The line of the handler.
fn place(row: &Row<'_>) -> String {
    match row.bound.handler.owner {
        Owner::Policy => row.bound.handler.at.line.to_string(),
        Owner::Framework => "–".to_owned(),
    }
}

fn path(text: &mut String, row: &Row<'_>, policy: &Policy) {
    let bound = row.bound;
    let _ = writeln!(text, "{} <= {} steps, {} of these, on this path:\n", row.name(), bound.formula, bound.steps);
    let mut rows = vec![["statement", "line", "times", "steps"].map(str::to_owned).to_vec()];
    rows.extend(bound.path.iter().map(|line| {
        let at = match line.at.line {
            0 => "–".to_owned(),
            _ if policy.used_at(line.at).is_some() => policy.place(line.at),
            own => own.to_string(),
        };
        vec![line.text.clone(), at, line.visit.times.to_string(), line.visit.steps.to_string()]
    }));
    table::table(text, &rows);
    text.push('\n');
}

/// What the letters mean, and what is assumed.
fn notes(bounded: &Bounded<'_>) -> String {
    let formulas: Vec<&Formula> = bounded.rows.iter().map(|row| &row.bound.formula).collect();
    let counts = |entity: Entity| formulas.iter().any(|formula| formula.counts(entity));
    let mut text = String::new();
    if counts(Entity::Thread) {
        text.push_str("n: threads that live, with one that comes\n");
    }
    if counts(Entity::Node) {
        text.push_str("m: nodes, with one that comes\n");
    }
    for (letter, log) in [("n", "log n"), ("m", "log m")] {
        if formulas.iter().any(|formula| formula.to_string().contains(log)) {
            let _ = writeln!(text, "{log}: how often {letter} can be halved, rounded down");
        }
    }
    let framework = &bounded.policy.framework;
    let _ = match (bounded.policy.capacity, counts(Entity::Node)) {
        (Some(most), false) => writeln!(text, "assumed: nothing; `{framework}` lets {most} threads live at the most"),
        (Some(_), true) => writeln!(text, "assumed: there are no more nodes, which `{framework}` does not see to"),
        (None, false) => writeln!(text, "assumed: no more threads live, which `{framework}` does not see to"),
        (None, true) => {
            writeln!(
                text,
                "assumed: no more threads live, and there are no more nodes, which `{framework}` does not see to"
            )
        }
    };
    text + "not in it: what the host does before and after the handler\n"
}

fn number(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
