//! The summary of a recording, for programs: `docs/messages.md` describes the object.

use catapults_simulator::trace::{Header, Summary, ThreadSummary};
use serde_json::{Value, json};
use std::path::Path;

/// The whole summary.
pub fn object(path: &Path, header: &Header, lost: u64, summary: &Summary) -> Value {
    let threads: Vec<Value> = summary.threads.iter().map(|(name, thread)| threads(name, thread)).collect();
    let processors = summary.processors.iter().map(|(number, processor)| {
        json!({ "number": number, "busy": processor.busy, "idle": processor.idle, "switches": processor.switches })
    });
    let handlers = summary.handlers.iter().map(|((event, line), count)| {
        json!({ "event": event, "line": Some(*line).filter(|line| *line > 0), "decided": count })
    });
    json!({
        "type": "summary",
        "file": path.display().to_string(),
        "host": header.host,
        "policy": header.policy,
        "length": summary.length,
        "resolution": header.resolution_ns,
        "records": summary.records,
        "lost": lost,
        "threads": threads,
        "processors": processors.collect::<Vec<_>>(),
        "handlers": handlers.collect::<Vec<_>>(),
    })
}

fn threads(name: &str, thread: &ThreadSummary) -> Value {
    json!({
        "name": name,
        "count": thread.count,
        "running": thread.running,
        "ready": thread.ready,
        "lending": thread.lending,
        "blocked": thread.blocked,
        "turns": thread.dispatches,
        "borrowed": thread.borrowed,
        "ready_worst": thread.worst,
    })
}
