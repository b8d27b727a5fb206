//! A trace as a scenario, in which threads do again what they did, under any policy.
//!
//! How long threads ran before they waited, and how long they waited, stays the same. Being ready or preempted was the
//! policy's decision, and is left out. Waits for other threads (locks, messages) become waits of the same length: a
//! trace does not tell who would wait for whom under another policy.
//!
//! A thread starts with the values of imported variables that are known before its first dispatch. The simulator
//! records a new value at once. Other hosts record it at the thread's next dispatch. So the thread itself changed it in
//! its last turn; there, the scenario changes it, before the policy is told that the turn ends.

mod text;

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Seek};

use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::Value;

use super::{Reader, Record, State, States, Stay, TraceError, What, Whose};

/// A thread variable that hosts set.
const RELEASE: &str = "release";

/// A scenario of what threads did.
#[derive(Clone, Debug)]
pub struct Replay {
    /// A `.scenario` without a policy.
    pub scenario: String,
    /// How many threads there were.
    pub threads: usize,
    /// How many phases they have together.
    pub phases: usize,
    /// How many phases, threads and values there are.
    pub taken: usize,
    /// Where reading stopped because there was too much in the trace.
    pub left_at: Option<u64>,
}

#[derive(Clone, Copy)]
enum Phase {
    Run(u64),
    Wait(Wait, u64),
    Yield,
    Set(Given),
}

/// A value for a variable of [`Collector::variables`].
#[derive(Clone, Copy)]
struct Given {
    variable: usize,
    value: Value,
}

/// An event without `block.`, as an index of [`Collector::waits`].
type Wait = usize;

#[derive(Default)]
struct Life {
    name: String,
    start: u64,
    ran: u64,
    /// Until when `ran` counts.
    counted: u64,
    /// The values that it starts with.
    with: Vec<Given>,
    phases: Vec<Phase>,
    /// The index of the phase that ended its last turn; `None` while the turn goes on.
    ended_by: Option<usize>,
    dispatched: bool,
    waits: Option<Wait>,
}

#[derive(Default)]
struct Collector {
    lives: Vec<Life>,
    living: HashMap<u32, usize>,
    waits: Vec<String>,
    /// The names of variables.
    variables: Vec<String>,
    /// By number in the trace. `None`: a scenario cannot name it.
    numbers: HashMap<u16, Option<usize>>,
    /// The present values of the application's and of living threads' variables.
    known: BTreeMap<(u32, usize), Value>,
    /// The application's values before any thread runs.
    values: Vec<Given>,
    /// What others assigned to variables, and when: to one of [`Collector::lives`], or to the application.
    moments: Vec<(u64, Option<usize>, Given)>,
    /// Whether any thread was dispatched.
    begun: bool,
    /// Whether values are recorded at dispatches, not at assignments.
    looked: bool,
    phases: usize,
    /// How many threads and values there are.
    others: usize,
}

/// Reads the rest of `trace`, until there are `most` phases, threads and values together, which bounds the memory.
/// `read` is called after each record.
///
/// # Errors
/// Those of the trace.
pub fn replay<R: Read + Seek>(
    trace: &mut Reader<R>,
    most: usize,
    read: &mut dyn FnMut(),
) -> Result<Replay, TraceError> {
    let mut states = States::of(trace);
    let looked = trace.header().host != "simulator";
    let mut collector = Collector { waits: vec!["sleep".to_owned()], looked, ..Collector::default() };
    let mut stays = Vec::new();
    let mut last = 0;
    let mut processors = 1;
    let mut left_at = None;
    while let Some(record) = trace.next_record()? {
        read();
        last = record.time_ns;
        processors = processors.max(u64::from(record.processor) + 1);
        states.record(&record, &mut stays)?;
        for stay in stays.drain(..) {
            collector.stay(trace, &stay, states.begin());
        }
        collector.happens(trace, &record, &states);
        if collector.phases + collector.others >= most {
            left_at = Some(last - states.begin());
            break;
        }
    }
    let until = if left_at.is_some() { last } else { states.until() };
    states.end(until, &mut stays);
    for stay in stays.drain(..) {
        collector.stay(trace, &stay, states.begin());
    }
    for life in 0..collector.lives.len() {
        collector.has_run(life);
    }
    let threads = collector.lives.len();
    let phases = collector.phases;
    let taken = phases + collector.others;
    let scenario = collector.written(trace, (until - states.begin()).max(1), processors.min(1024));
    Ok(Replay { scenario, threads, phases, taken, left_at })
}

impl Collector {
    fn life(&mut self, thread: u32, start: u64) -> usize {
        if let Some(life) = self.living.get(&thread) {
            return *life;
        }
        self.others += 1;
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
            State::Running => self.lives[life].runs(stay.since, stay.until),
            State::Ready | State::Lending => {}
            State::Blocked(_) | State::Suspended => {
                self.has_run(life);
                let wait = self.lives[life].waits.take().unwrap_or(0);
                self.phase(life, Phase::Wait(wait, length));
            }
        }
    }

    fn happens<R: Read + Seek>(&mut self, trace: &Reader<R>, record: &Record, states: &States) {
        let begin = states.begin();
        match record.what {
            What::New => {
                self.forget(record.thread);
                self.life(record.thread, record.time_ns - begin);
            }
            What::Dispatched | What::Lent { .. } => {
                let life = self.life(record.thread, record.time_ns - begin);
                let life = &mut self.lives[life];
                (life.dispatched, life.ended_by) = (true, None);
                self.begun = true;
            }
            What::SwitchedOut => {
                let life = self.life(record.thread, record.time_ns - begin);
                self.has_run(life);
                self.phase(life, Phase::Yield);
            }
            What::Blocked(reason) => {
                let event = trace.header().name(record.event).map_or("", |name| name.text.as_str());
                let event = event.strip_prefix("block.").unwrap_or(reason.name());
                let known = self.waits.iter().position(|one| one == event);
                let wait = known.or_else(|| {
                    can_be_waited_for(event).then(|| {
                        self.waits.push(event.to_owned());
                        self.waits.len() - 1
                    })
                });
                let life = self.life(record.thread, record.time_ns - begin);
                self.lives[life].waits = wait;
            }
            What::Exited | What::Refused => {
                if let Some(life) = self.forget(record.thread) {
                    self.has_run(life);
                }
            }
            What::Value { variable, value } => {
                let Some(variable) = self.variable(trace, variable) else { return };
                // The lowest number cannot be written.
                let given = Given { variable, value };
                if matches!(value, Value::Int(i64::MIN) | Value::Time(i64::MIN)) {
                    return;
                }
                if self.known.insert((record.thread, variable), value) != Some(value) {
                    self.is_given(record, given, states);
                }
            }
            What::Named { .. }
            | What::Preempted
            | What::Raised
            | What::PolicyOut
            | What::Suspended
            | What::Resumed
            | What::Idle
            | What::Lost { .. } => {}
        }
    }

    /// A new value, of the application or of a thread.
    fn is_given(&mut self, record: &Record, given: Given, states: &States) {
        let instant = record.time_ns - states.begin();
        self.others += 1;
        if record.thread == 0 {
            match self.begun {
                true => self.moments.push((instant, None, given)),
                false => put(&mut self.values, given),
            }
            return;
        }
        let index = self.life(record.thread, instant);
        let life = &mut self.lives[index];
        let runs = states.running_since(record.thread);
        if !life.dispatched && (self.looked || instant == life.start) {
            put(&mut life.with, given);
        } else if let (true, Some(end)) = (self.looked, life.ended_by) {
            life.phases.insert(end, Phase::Set(given));
            life.ended_by = Some(end + 1);
        } else if self.looked || runs.is_some() {
            if let Some(since) = runs {
                life.runs(since, record.time_ns);
            }
            self.has_run(index);
            self.lives[index].phases.push(Phase::Set(given));
        } else {
            self.moments.push((instant, Some(index), given));
        }
    }

    /// `None`: a scenario cannot name it.
    fn variable<R: Read + Seek>(&mut self, trace: &Reader<R>, number: u16) -> Option<usize> {
        if let Some(known) = self.numbers.get(&number) {
            return *known;
        }
        let name = trace.header().name(number).map_or("", |name| name.text.as_str());
        let place = self.variables.iter().position(|known| known == name).or_else(|| {
            // The simulated host sets the instants of releases anew.
            (can_be_named(name) && name != RELEASE).then(|| {
                self.variables.push(name.to_owned());
                self.variables.len() - 1
            })
        });
        self.numbers.insert(number, place);
        place
    }

    /// Another thread may get its number.
    fn forget(&mut self, thread: u32) -> Option<usize> {
        let known: Vec<_> = self.known.range((thread, 0)..=(thread, usize::MAX)).map(|(key, _)| *key).collect();
        known.iter().for_each(|key| {
            self.known.remove(key);
        });
        self.living.remove(&thread)
    }

    fn has_run(&mut self, life: usize) {
        let ran = std::mem::take(&mut self.lives[life].ran);
        if ran > 0 {
            self.phase(life, Phase::Run(ran));
        }
    }

    fn phase(&mut self, life: usize, phase: Phase) {
        self.phases += 1;
        let life = &mut self.lives[life];
        if let Phase::Wait(..) | Phase::Yield = phase {
            life.ended_by.get_or_insert(life.phases.len());
        }
        life.phases.push(phase);
    }
}

impl Life {
    /// It ran.
    fn runs(&mut self, since: u64, until: u64) {
        self.ran += until - since.max(self.counted).min(until);
        self.counted = until;
    }
}

/// Replaces an earlier value of the variable.
fn put(values: &mut Vec<Given>, given: Given) {
    match values.iter_mut().find(|known| known.variable == given.variable) {
        Some(known) => *known = given,
        None => values.push(given),
    }
}

/// Whether a scenario can name the variable. Names in a trace can be any text.
fn can_be_named(name: &str) -> bool {
    let is_word = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_word && can_be_read(&format!("set {name} = 1; thread one {{ }}"))
}

/// Whether a scenario can name the event, which may have dots.
fn can_be_waited_for(event: &str) -> bool {
    const LONGEST: usize = 100;
    let is_of_words = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
    let is_name = !event.is_empty() && event.len() <= LONGEST && event.chars().all(is_of_words);
    is_name && can_be_read(&format!("thread one {{ block {event} 1ms; }}"))
}

/// Whether a scenario with this text can be read.
fn can_be_read(text: &str) -> bool {
    let source = Source::new("", format!("scenario named {{ {text} }}"));
    let mut said = Diagnostics::new();
    !catapults_compiler::scenario::read(&source, &mut said).is_empty() && !said.has_errors()
}
