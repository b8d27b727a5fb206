//! What was simulated, for programs: `docs/messages.md` describes the object.

use crate::scenarios::Case;
use catapults_compiler::scenario::{Statistic, Thread};
use catapults_simulator::sim::{Ending, Outcome, Tally, Verdict};
use serde_json::{Value, json};
use std::path::Path;

/// The whole simulation.
pub fn object(case: &Case, outcome: &Outcome, file: &Path) -> Value {
    let scenario = &case.scenario;
    let tallies = scenario.threads.iter().zip(&outcome.tallies);
    let tallies: Vec<Value> = tallies.map(|(thread, tally)| kind(thread, tally, outcome.capacity)).collect();
    let expectations = outcome.verdicts.iter().zip(&scenario.expectations);
    let expectations: Vec<Value> =
        expectations.map(|(verdict, expectation)| judged(verdict, expectation.at.line)).collect();
    json!({
        "type": "simulated",
        "file": file.display().to_string(),
        "scenario": scenario.name,
        "policy": case.policy.name(),
        "processors": scenario.processors,
        "seed": scenario.seed,
        "end": outcome.end,
        "ending": match &outcome.ending {
            Ending::Duration => "duration",
            Ending::AllEnded => "all ended",
            Ending::Stuck(_) => "stuck",
            Ending::Out(_) => "out",
        },
        "as_expected": outcome.is_as_expected(),
        "threads": tallies,
        "expectations": expectations,
    })
}

/// The threads of one name. What there is none of is null.
fn kind(thread: &Thread, tally: &Tally, capacity: i128) -> Value {
    let share = if capacity > 0 { tally.ran as f64 / capacity as f64 } else { 0.0 };
    let worst = tally.worst_response();
    json!({
        "name": thread.name,
        "came": tally.came,
        "refused": tally.refusals,
        "ran": i64::try_from(tally.ran).unwrap_or(i64::MAX),
        "share": share,
        "jobs": tally.jobs,
        "missed": thread.deadline.as_ref().map(|_| tally.misses),
        "response_mean": tally.response.statistic(Statistic::Mean),
        "response_p99": tally.response.statistic(Statistic::Quantile(990)),
        "response_worst": worst.map(|(taken, _)| taken),
        "unfinished": worst.is_some_and(|(_, unfinished)| unfinished),
        "ready_mean": tally.latency.statistic(Statistic::Mean),
        "ready_worst": tally.latency.statistic(Statistic::Worst),
        "dispatched": tally.dispatches,
        "preempted": tally.preemptions,
        "ended": tally.end,
    })
}

fn judged(verdict: &Verdict, line: u32) -> Value {
    json!({
        "text": verdict.text,
        "line": line,
        "holds": verdict.holds,
        "found": verdict.found,
        "since": verdict.since,
    })
}
