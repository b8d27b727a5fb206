//! A trace as a scenario: what its threads did, to be done again under another policy.
//!
//! How long a thread ran until it waited, and how long it waited, is taken as it was. That a thread was ready, or preempted, is what
//! the policy made of it and is left out. Waits for another thread (a lock, a message) are waits of that length, too: who would have to
//! wait for whom under another policy is not in a trace.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::io::{Read, Seek};

use catapults_compiler::vocabulary::Value;

use super::{Reader, Record, State, States, Stay, TraceError, What, Whose};

/// What threads did.
#[derive(Clone, Debug)]
pub struct Replay {
    /// A `.scenario`, without a policy.
    pub scenario: String,
    /// How many threads there were.
    pub threads: usize,
    /// What they did, all together.
    pub phases: usize,
    /// When the trace was left because there was too much in it.
    pub left_at: Option<u64>,
}

#[derive(Clone, Copy)]
enum Phase {
    Run(u64),
    Wait(Wait, u64),
    Yield,
}

/// The event, without `block.`, into [`Writer::waits`].
type Wait = usize;

#[derive(Default)]
struct Life {
    name: String,
    start: u64,
    ran: u64,
    phases: Vec<Phase>,
    waits: Option<Wait>,
}

struct Collector {
    lives: Vec<Life>,
    living: HashMap<u32, usize>,
    waits: Vec<String>,
    phases: usize,
}

/// Reads what is left of `trace`, until there are `most` phases. `read` is called after each record.
///
/// # Errors
/// Those of the trace.
pub fn replay<R: Read + Seek>(
    trace: &mut Reader<R>,
    most: usize,
    read: &mut dyn FnMut(),
) -> Result<Replay, TraceError> {
    let mut states = States::new(trace.lost() > 0);
    let mut collector =
        Collector { lives: Vec::new(), living: HashMap::new(), waits: vec!["sleep".to_owned()], phases: 0 };
    let mut stays = Vec::new();
    let mut last = 0;
    let mut processors = 1;
    let mut left_at = None;
    while let Some(record) = trace.next_record()? {
        read();
        last = record.time_ns;
        processors = processors.max(u64::from(record.processor) + 1);
        states.record(&record, &mut stays);
        for stay in stays.drain(..) {
            collector.stay(trace, &stay, states.begin());
        }
        collector.happens(trace, &record, states.begin());
        if collector.phases >= most {
            left_at = Some(last - states.begin());
            break;
        }
    }
    states.end(&mut stays);
    for stay in stays.drain(..) {
        collector.stay(trace, &stay, states.begin());
    }
    for life in 0..collector.lives.len() {
        collector.has_run(life);
    }
    let threads = collector.lives.len();
    let phases = collector.phases;
    let scenario = collector.written(trace, (last - states.begin()).max(1), processors.min(1024));
    Ok(Replay { scenario, threads, phases, left_at })
}

impl Collector {
    fn life(&mut self, thread: u32, start: u64) -> usize {
        if let Some(life) = self.living.get(&thread) {
            return *life;
        }
        self.lives.push(Life { start, ..Life::default() });
        self.living.insert(thread, self.lives.len() - 1);
        self.lives.len() - 1
    }

    fn stay<R: Read + Seek>(&mut self, trace: &Reader<R>, stay: &Stay, begin: u64) {
        let Whose::Thread(thread, state) = stay.whose else { return };
        let life = self.life(thread, stay.since - begin);
        if let Some(name) = trace.name(thread) {
            name.clone_into(&mut self.lives[life].name);
        }
        let length = stay.until - stay.since;
        match state {
            State::Running => self.lives[life].ran += length,
            State::Ready => {}
            State::Blocked(_) | State::Suspended => {
                self.has_run(life);
                let wait = self.lives[life].waits.take().unwrap_or(0);
                self.phase(life, Phase::Wait(wait, length));
            }
        }
    }

    fn happens<R: Read + Seek>(&mut self, trace: &Reader<R>, record: &Record, begin: u64) {
        match record.what {
            What::New => {
                self.living.remove(&record.thread);
                self.life(record.thread, record.time_ns - begin);
            }
            What::SwitchedOut => {
                let life = self.life(record.thread, record.time_ns - begin);
                self.has_run(life);
                if let Some(Phase::Run(_) | Phase::Wait(..)) = self.lives[life].phases.last() {
                    self.phase(life, Phase::Yield);
                }
            }
            What::Blocked(reason) => {
                let event = trace.header().name(record.event).map_or("", |name| name.text.as_str());
                let event = event.strip_prefix("block.").unwrap_or(reason.name());
                let event = if event.is_empty() { "sleep" } else { event };
                let known = self.waits.iter().position(|one| one == event);
                let wait = known.unwrap_or_else(|| {
                    self.waits.push(event.to_owned());
                    self.waits.len() - 1
                });
                let life = self.life(record.thread, record.time_ns - begin);
                self.lives[life].waits = Some(wait);
            }
            What::Exited | What::Refused => {
                if let Some(life) = self.living.remove(&record.thread) {
                    self.has_run(life);
                }
            }
            What::Named { .. }
            | What::Dispatched
            | What::Lent { .. }
            | What::Preempted
            | What::Raised
            | What::PolicyOut
            | What::Suspended
            | What::Resumed
            | What::Idle
            | What::Value { .. }
            | What::Lost { .. } => {}
        }
    }

    fn has_run(&mut self, life: usize) {
        let ran = std::mem::take(&mut self.lives[life].ran);
        if ran > 0 {
            self.phase(life, Phase::Run(ran));
        }
    }

    fn phase(&mut self, life: usize, phase: Phase) {
        self.phases += 1;
        self.lives[life].phases.push(phase);
    }

    fn written<R: Read + Seek>(&self, trace: &Reader<R>, length: u64, processors: u64) -> String {
        let header = trace.header();
        let mut text = String::new();
        let (host, policy) = (one_line(&header.host), one_line(&header.policy));
        let _ = writeln!(text, "// What {host} recorded of threads under {policy}, to be done again under any policy.");
        let _ = writeln!(text, "scenario recorded {{\n  duration {};", time(length));
        if processors > 1 {
            let _ = writeln!(text, "  processors {processors};");
        }
        let mut names = HashSet::new();
        let mut groups: BTreeMap<(u64, usize), &Life> = BTreeMap::new();
        for (index, life) in self.lives.iter().enumerate() {
            groups.insert((life.start, index), life);
        }
        for ((start, index), life) in groups {
            let _ = write!(text, "  thread {}", identifier(&life.name, index + 1, &mut names));
            if start > 0 {
                let _ = write!(text, " at {}", time(start));
            }
            text.push_str(" {");
            for (number, phase) in life.phases.iter().enumerate() {
                text.push_str(if number % 8 == 0 && life.phases.len() > 8 { "\n    " } else { " " });
                let _ = match phase {
                    Phase::Run(length) => write!(text, "run {};", time(*length)),
                    Phase::Wait(0, length) => write!(text, "sleep {};", time(*length)),
                    Phase::Wait(wait, length) => write!(text, "block {} {};", self.waits[*wait], time(*length)),
                    Phase::Yield => write!(text, "yield;"),
                };
            }
            text.push_str(if life.phases.len() > 8 { "\n  }\n" } else { " }\n" });
        }
        text.push_str("}\n");
        text
    }
}

/// As a scenario writes it.
fn time(nanoseconds: u64) -> String {
    Value::Time(i64::try_from(nanoseconds).unwrap_or(i64::MAX)).to_string()
}

fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// A name of its own, like the one in the trace.
fn identifier(name: &str, number: usize, names: &mut HashSet<String>) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let mut like: String = name.chars().take(40).map(letter).collect();
    if like.is_empty() || like.starts_with(|first: char| !first.is_ascii_alphabetic()) {
        like.insert_str(0, "thread_");
    }
    let mut unique = format!("{like}_{number}");
    while !names.insert(unique.clone()) {
        unique.push('_');
    }
    unique
}
