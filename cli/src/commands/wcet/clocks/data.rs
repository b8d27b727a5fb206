//! Bounds in clocks, for programs: `docs/messages.md` describes the object.

use super::Bounded;
use super::shown::lines;
use catapults_wcet::bound::Bound;
use serde_json::{Value, json};

pub fn object(bounded: &Bounded<'_>) -> Value {
    let entries: Vec<Value> = bounded.bounds.iter().map(|bound| entry(bounded, bound)).collect();
    json!({
        "type": "clocks",
        "file": bounded.file.display().to_string(),
        "framework": bounded.framework,
        "processor": bounded.program.costs.processor,
        "threads": bounded.counts.threads,
        "entries": entries,
    })
}

fn entry(bounded: &Bounded<'_>, bound: &Bound) -> Value {
    let path = if bounded.explained { lines(bounded, bound) } else { Vec::new() };
    let path: Vec<Value> = path
        .into_iter()
        .map(|line| {
            let (file, number) = line.place.map_or((None, 0), |(file, number)| (Some(file), number));
            let clocks = number_of(line.clocks);
            json!({"file": file, "line": number, "text": line.text, "times": line.times, "clocks": clocks})
        })
        .collect();
    json!({
        "name": bound.entry,
        "events": bound.events,
        "formula": bound.cost.formula.to_string(),
        "clocks": number_of(bound.cost.clocks),
        "into": bound.into,
        "path": path,
    })
}

fn number_of(clocks: u128) -> u64 {
    u64::try_from(clocks).unwrap_or(u64::MAX)
}
