//! Bounds, for programs: `docs/messages.md` describes the object.

use super::{Bounded, Row};
use serde_json::{Value, json};

pub fn object(bounded: &Bounded<'_>) -> Value {
    let handlers: Vec<Value> = bounded.rows.iter().map(|row| handler(row, bounded)).collect();
    json!({
        "type": "bounds",
        "file": bounded.file.display().to_string(),
        "framework": bounded.policy.framework,
        "threads": bounded.counts.threads,
        "nodes": bounded.policy.has_nodes().then_some(bounded.counts.nodes),
        "handlers": handlers,
    })
}

fn handler(row: &Row<'_>, bounded: &Bounded<'_>) -> Value {
    let bound = row.bound;
    let path = bound.path.iter().filter(|_| bounded.explained).map(|line| {
        json!({
            "file": bounded.policy.used_at(line.at).map(|used| used.name.as_str()),
            "line": line.at.line,
            "text": line.text,
            "times": line.visit.times,
            "steps": steps(line.visit.steps),
        })
    });
    json!({
        "name": row.name(),
        "events": row.events,
        "query": row.is_query(),
        "line": bound.handler.at.line,
        "formula": bound.formula.to_string(),
        "steps": steps(bound.steps),
        "path": path.collect::<Vec<Value>>(),
    })
}

/// It fits: a bound that does not is refused.
fn steps(steps: u128) -> u64 {
    u64::try_from(steps).unwrap_or(u64::MAX)
}
