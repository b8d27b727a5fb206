//! What happened to threads and processors, in numbers.

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Seek};

use super::{Doing, Reader, Record, State, States, Stay, TraceError, What, Whose};

/// The summary of a trace.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// From the first record to the end.
    pub length: u64,
    /// How many records there were.
    pub records: u64,
    /// Threads by name. Those with the same name are counted together.
    pub threads: BTreeMap<String, ThreadSummary>,
    /// By number.
    pub processors: BTreeMap<u16, ProcessorSummary>,
    /// How often a handler decided something, by its event and line.
    pub handlers: BTreeMap<(String, u32), u64>,
}

/// The threads of one name. Times are in nanoseconds.
#[derive(Clone, Debug)]
pub struct ThreadSummary {
    /// How many there were.
    pub count: u64,
    /// How long they ran.
    pub running: u64,
    /// How long they were READY.
    pub ready: u64,
    /// How long they waited for other threads that ran on their turns, from the first such turn until they went on
    /// themselves.
    pub lending: u64,
    /// How long they waited or were suspended.
    pub blocked: u64,
    /// How many turns they had.
    pub dispatches: u64,
    /// How many turns of others they ran on.
    pub borrowed: u64,
    /// How long they were ready before they ran: how many stays took at least 2ⁿ ns and less than twice that. The first
    /// number includes those below 2 ns.
    pub latency: [u64; 64],
    /// The longest of these stays.
    pub worst: u64,
}

/// The summary of a processor.
#[derive(Clone, Debug, Default)]
pub struct ProcessorSummary {
    /// Nanoseconds that threads ran.
    pub busy: u64,
    /// Nanoseconds that no thread was ready.
    pub idle: u64,
    /// How often it went from one thread to another.
    pub switches: u64,
    last: Option<u32>,
}

/// Reads the rest of `trace`; `read` is called after each record. The numbers of living threads and of names bound the
/// memory. Ended threads without a name are one group.
///
/// # Errors
/// Those of the trace.
pub fn summarise<R: Read + Seek>(trace: &mut Reader<R>, read: &mut dyn FnMut()) -> Result<Summary, TraceError> {
    let mut summary = Summary::default();
    let mut living: HashMap<u32, Living> = HashMap::new();
    let mut states = States::of(trace);
    let mut stays = Vec::new();
    while let Some(record) = trace.next_record()? {
        read();
        summary.records += 1;
        states.record(&record, &mut stays)?;
        summary.decided(trace, &record, &mut living);
        stays.drain(..).for_each(|stay| summary.stay(&stay, &mut living));
        if let What::Exited = record.what {
            summary.ended(trace, record.thread, &mut living);
        }
    }
    summary.length = states.until() - states.begin();
    states.end(states.until(), &mut stays);
    stays.iter().for_each(|stay| summary.stay(stay, &mut living));
    let mut left: Vec<u32> = living.keys().copied().collect();
    left.sort_unstable();
    for thread in left {
        summary.ended(trace, thread, &mut living);
    }
    Ok(summary)
}

/// A living thread. There can be a million.
#[derive(Default)]
struct Living {
    running: u64,
    ready: u64,
    lending: u64,
    blocked: u64,
    dispatches: u64,
    borrowed: u64,
    /// As in [`ThreadSummary::latency`], but only the few powers that occur.
    latency: Vec<(u8, u64)>,
    worst: u64,
}

impl Living {
    fn was_ready(&mut self, length: u64) {
        self.worst = self.worst.max(length);
        let power = 63 - (length | 1).leading_zeros() as u8;
        match self.latency.iter_mut().find(|(known, _)| *known == power) {
            Some((_, count)) => *count += 1,
            None => {
                self.latency.reserve_exact(1);
                self.latency.push((power, 1));
            }
        }
    }
}

/// How many names are counted apart. Threads with other names are one group.
const MOST_NAMES: usize = 10_000;

impl Summary {
    fn decided<R: Read + Seek>(&mut self, trace: &Reader<R>, record: &Record, living: &mut HashMap<u32, Living>) {
        if let Some((event, line)) = trace.header().why(record) {
            *self.handlers.entry((event.to_owned(), line)).or_default() += 1;
        }
        match record.what {
            What::New => drop(living.entry(record.thread).or_default()),
            What::Dispatched => living.entry(record.thread).or_default().dispatches += 1,
            What::Lent { donor } if donor == record.thread => {}
            What::Lent { .. } => living.entry(record.thread).or_default().borrowed += 1,
            What::Named { .. }
            | What::SwitchedOut
            | What::Preempted
            | What::Blocked(_)
            | What::Raised
            | What::Exited
            | What::Refused
            | What::PolicyOut
            | What::Suspended
            | What::Resumed
            | What::Idle
            | What::Value { .. }
            | What::Lost { .. } => {}
        }
        if let What::Dispatched | What::Lent { .. } = record.what {
            let processor = self.processors.entry(record.processor).or_default();
            if processor.last.is_some_and(|last| last != record.thread) {
                processor.switches += 1;
            }
            processor.last = Some(record.thread);
        }
    }

    /// A sum of the times of many threads may exceed any number. Then it is the highest one.
    fn stay(&mut self, stay: &Stay, living: &mut HashMap<u32, Living>) {
        let length = stay.until - stay.since;
        match stay.whose {
            Whose::Processor(number, doing) => {
                let processor = self.processors.entry(number).or_default();
                match doing {
                    Doing::Running(_) => processor.busy = processor.busy.saturating_add(length),
                    Doing::Idling => processor.idle = processor.idle.saturating_add(length),
                    Doing::Unknown | Doing::Choosing => {}
                }
            }
            Whose::Thread(number, state) => {
                let thread = living.entry(number).or_default();
                match state {
                    State::Running => thread.running = thread.running.saturating_add(length),
                    State::Lending => thread.lending = thread.lending.saturating_add(length),
                    State::Ready => {
                        thread.ready = thread.ready.saturating_add(length);
                        thread.was_ready(length);
                    }
                    State::Blocked(_) | State::Suspended => thread.blocked = thread.blocked.saturating_add(length),
                }
            }
        }
    }

    fn ended<R: Read + Seek>(&mut self, trace: &Reader<R>, number: u32, living: &mut HashMap<u32, Living>) {
        let Some(thread) = living.remove(&number) else { return };
        let named = trace.name(number).map(str::to_owned);
        let called = named.filter(|name| self.threads.len() < MOST_NAMES || self.threads.contains_key(name));
        let all = self.threads.entry(called.unwrap_or_else(|| "(no name)".to_owned())).or_default();
        all.count += 1;
        all.running = all.running.saturating_add(thread.running);
        all.ready = all.ready.saturating_add(thread.ready);
        all.lending = all.lending.saturating_add(thread.lending);
        all.blocked = all.blocked.saturating_add(thread.blocked);
        all.dispatches += thread.dispatches;
        all.borrowed += thread.borrowed;
        all.worst = all.worst.max(thread.worst);
        thread.latency.iter().for_each(|(power, count)| all.latency[usize::from(*power)] += count);
    }
}

impl Default for ThreadSummary {
    fn default() -> Self {
        ThreadSummary {
            count: 0,
            running: 0,
            ready: 0,
            lending: 0,
            blocked: 0,
            dispatches: 0,
            borrowed: 0,
            latency: [0; 64],
            worst: 0,
        }
    }
}

impl ThreadSummary {
    /// A bound that so many in a thousand READY stays did not exceed, as near as the histogram tells.
    pub fn latency_at(&self, per_thousand: u64) -> u64 {
        let total: u64 = self.latency.iter().sum();
        let mut left = (u128::from(total) * u128::from(per_thousand)).div_ceil(1000);
        for (power, count) in self.latency.iter().enumerate() {
            left = left.saturating_sub(u128::from(*count));
            if left == 0 {
                return self.worst.min(2_u64.saturating_mul(1 << power) - 1);
            }
        }
        self.worst
    }
}
