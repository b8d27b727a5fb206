//! Records a simulation as a host would.

use std::io::{self, Seek, Write};

use catapults_compiler::framework::Framework;
use catapults_compiler::interp::ThreadId;
use catapults_compiler::policy::{Owner, Policy};
use catapults_compiler::vocabulary::Value;

use crate::sim::{self, Deciding, Kind, Sink};

use super::{Header, Name, Reason, Record, What, Writer};

/// Writes what happens to a file. Errors are reported at the end.
pub struct Recorder<W> {
    writer: Writer<W>,
    /// By the index of an event in [`sim::event_names`], what a thread that blocks in it waits for.
    reasons: Vec<Reason>,
    /// The names of variables, and their indices among the trace's names.
    variables: Vec<(String, u16)>,
    failed: Option<io::Error>,
}

/// How many names a trace has before those of events.
const FIXED: u16 = 4;

impl<W: Write + Seek> Recorder<W> {
    /// `name` and `source`: the policy's or hierarchy's name and file. `seed`: the scenario's.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(
        out: W,
        deciding: Deciding<'_>,
        name: &str,
        framework: &Framework,
        source: &str,
        seed: u64,
    ) -> io::Result<Self> {
        let mut header = Header {
            policy: name.to_owned(),
            source: source.to_owned(),
            host: "simulator".to_owned(),
            clock: "virtual".to_owned(),
            seed: Some(seed),
            names: vec![Name::default(); usize::from(FIXED)],
            ..Header::default()
        };
        let events = sim::event_names(deciding, framework);
        let reasons = events.iter().map(|event| Reason::of_event(event)).collect();
        let policies = deciding.policies();
        let schedulers: Vec<&Policy> = match deciding {
            Deciding::Policy(_) => policies.clone(),
            Deciding::Hierarchy(hierarchy) => hierarchy.nodes().iter().map(|node| policies[node.policy]).collect(),
        };
        for policy in &schedulers {
            for event in &events {
                let own = policy.events.iter().find(|one| one.name == *event && one.owner == Owner::Policy);
                let line = own.map_or(0, |handler| handler.at.line);
                let source = if schedulers.len() > 1 { policy.name.clone() } else { String::new() };
                header.names.push(Name { text: event.clone(), line, source });
            }
        }
        let mut variables: Vec<(String, u16)> = Vec::new();
        let of_all = policies.iter().flat_map(|policy| policy.imports.iter().map(|import| &import.name));
        let of_threads = policies.iter().flat_map(|policy| policy.thread_imports.iter().map(|import| &import.name));
        for name in of_all.chain(of_threads) {
            if let Ok(place) = u16::try_from(header.names.len())
                && variables.iter().all(|(known, _)| known != name)
            {
                variables.push((name.clone(), place));
                header.names.push(Name { text: name.clone(), ..Name::default() });
            }
        }
        Ok(Recorder { writer: Writer::new(out, &header)?, reasons, variables, failed: None })
    }

    /// Returns how many records were written. `end`: of the simulation.
    ///
    /// # Errors
    /// The first error.
    pub fn finish(mut self, end: i64) -> io::Result<u64> {
        self.writer.ends_at(instant(end));
        match self.failed {
            Some(failed) => Err(failed),
            None => self.writer.finish(),
        }
    }

    fn write(&mut self, write: impl FnOnce(&mut Writer<W>) -> io::Result<()>) {
        if self.failed.is_none() {
            self.failed = write(&mut self.writer).err();
        }
    }
}

impl<W: Write + Seek> Sink for Recorder<W> {
    fn record(&mut self, record: &sim::Record) {
        let place = record.event.index();
        let reason = || self.reasons.get(place).copied().unwrap_or(Reason::Other);
        let what = match record.kind {
            Kind::New => What::New,
            Kind::Refused => What::Refused,
            Kind::Dispatched => What::Dispatched,
            Kind::Lent => What::Lent { donor: record.donor.0 },
            Kind::SwitchedOut => What::SwitchedOut,
            Kind::Preempted => What::Preempted,
            Kind::Blocked => What::Blocked(reason()),
            Kind::Raised => What::Raised,
            Kind::Suspended => What::Suspended,
            Kind::Resumed => What::Resumed,
            Kind::Exited => What::Exited,
            Kind::Idle => What::Idle,
        };
        let place = usize::from(FIXED) + record.scheduler * self.reasons.len() + place;
        let event = u16::try_from(place).unwrap_or(0);
        // No handler decided that nothing runs.
        let event = if record.kind == Kind::Idle { 0 } else { event };
        let recorded = Record {
            time_ns: instant(record.time),
            thread: record.thread.0,
            processor: u16::try_from(record.processor).unwrap_or(u16::MAX),
            what,
            event,
            line: record.line,
            ready: record.ready.and_then(|ready| u16::try_from(ready).ok()).filter(|ready| *ready != u16::MAX),
        };
        self.write(|writer| writer.record(&recorded));
    }

    fn named(&mut self, time: i64, thread: ThreadId, name: &str) {
        self.write(|writer| writer.name(instant(time), thread.0, name));
    }

    fn value(&mut self, time: i64, thread: Option<ThreadId>, name: &str, value: Value) {
        let Some((_, variable)) = self.variables.iter().find(|(known, _)| known == name) else { return };
        let record = Record {
            time_ns: instant(time),
            thread: thread.map_or(0, |thread| thread.0),
            processor: 0,
            what: What::Value { variable: *variable, value },
            event: 0,
            line: 0,
            ready: None,
        };
        self.write(|writer| writer.record(&record));
    }
}

fn instant(time: i64) -> u64 {
    u64::try_from(time).unwrap_or(0)
}
