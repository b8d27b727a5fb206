//! The picture of a simulation.

use std::collections::BTreeMap;

use catapults_compiler::scenario::{Scenario, Thread};

use super::timeline::Change;
use super::{Distribution, Outcome, Tally};
use crate::picture::{self, Kind, Part, Picture, State, Stay, most_windows};

/// What to draw of a simulation.
pub fn picture(scenario: &Scenario, outcome: &Outcome, title: &str) -> Picture {
    let jobs = outcome.tallies.iter().any(|tally| tally.response.count() > 0);
    let curve = |tally: &Tally| -> Vec<(i64, f64)> {
        let all: &Distribution = if jobs { &tally.response } else { &tally.latency };
        all.curve()
    };
    let kind =
        |(thread, tally): (&Thread, &Tally)| Kind { name: thread.name.clone(), ran: tally.ran, curve: curve(tally) };
    let part = part(scenario, outcome);
    let ran = |stay: &Stay| match stay.state {
        State::Running { processor, .. } => Some(processor + 1),
        State::Ready | State::Blocked | State::Ended => None,
    };
    let processors = part.stays.iter().filter_map(ran).fold(scenario.processors as usize, usize::max);
    let turns = outcome.tallies.iter().map(|tally| tally.dispatches).sum();
    Picture {
        title: title.to_owned(),
        processors: (0..processors).collect(),
        begin: 0,
        end: outcome.end,
        kinds: scenario.threads.iter().zip(&outcome.tallies).map(kind).collect(),
        part,
        windows: outcome.shares.windows(outcome.end, most_windows(turns)),
        jobs,
    }
}

fn part(scenario: &Scenario, outcome: &Outcome) -> Part {
    let timeline = &outcome.timeline;
    let (changes, until) = timeline.changes();
    let mut stays = Vec::new();
    let mut open: BTreeMap<u64, (i64, State)> = BTreeMap::new();
    let mut from = None;
    for Change { time, thread, state } in changes.copied() {
        from.get_or_insert(time);
        if let Some((from, state)) = open.insert(thread, (time, state)) {
            stays.push(Stay { thread, from, to: time, state });
        }
    }
    stays.extend(open.into_iter().map(|(thread, (from, state))| Stay { thread, from, to: until, state }));
    let thread = |stay: &Stay| {
        let (kind, number) = timeline.kind(stay.thread)?;
        let declared = scenario.threads.get(kind)?;
        let several = declared.count != Some(1) || declared.spawned;
        let number = if several { format!(".{number}") } else { String::new() };
        Some((stay.thread, picture::Thread { kind, number }))
    };
    let threads = stays.iter().filter_map(thread).collect();
    let (late, asked) = timeline.asked();
    let from = from.unwrap_or(0);
    let dues = timeline.dues().to_vec();
    Part { from, until: until.max(from + 1), late, asked, stays, gaps: Vec::new(), dues, threads }
}
