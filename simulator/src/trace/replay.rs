//! A trace as a scenario: what its threads did, to be done again under another policy.
//!
//! How long a thread ran until it waited, and how long it waited, is taken as it was. That a thread was ready, or preempted, is what
//! the policy made of it and is left out. Waits for another thread (a lock, a message) are waits of that length, too: who would have to
//! wait for whom under another policy is not in a trace.
//!
//! Variables that the policy imports: what is known before a thread is first dispatched it comes with. The simulator says at once when
//! one has another value; hosts look when a thread is dispatched, so it was the thread itself, in the turn before, and it is done there
//! again before the policy hears that the turn ends.

mod text;

use std::collections::{BTreeMap, HashMap};
use std::io::{Read, Seek};

use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::source::Source;
use catapults_compiler::vocabulary::Value;

use super::{Reader, Record, State, States, Stay, TraceError, What, Whose};

/// A variable of threads that hosts keep.
const RELEASE: &str = "release";

/// What threads did.
#[derive(Clone, Debug)]
pub struct Replay {
    /// A `.scenario`, without a policy.
    pub scenario: String,
    /// How many threads there were.
    pub threads: usize,
    /// What they did, all together.
    pub phases: usize,
    /// Phases, threads and values of variables.
    pub taken: usize,
    /// When the trace was left because there was too much in it.
    pub left_at: Option<u64>,
}

#[derive(Clone, Copy)]
enum Phase {
    Run(u64),
    Wait(Wait, u64),
    Yield,
    Set(Given),
}

/// A value for a variable, into [`Collector::variables`].
#[derive(Clone, Copy)]
struct Given {
    variable: usize,
    value: Value,
}

/// The event, without `block.`, into [`Collector::waits`].
type Wait = usize;

#[derive(Default)]
struct Life {
    name: String,
    start: u64,
    ran: u64,
    /// Until when that is counted.
    counted: u64,
    /// What it comes with.
    with: Vec<Given>,
    phases: Vec<Phase>,
    /// By what its last turn ended, into its phases; none, while that goes on.
    ended_by: Option<usize>,
    dispatched: bool,
    waits: Option<Wait>,
}

#[derive(Default)]
struct Collector {
    lives: Vec<Life>,
    living: HashMap<u32, usize>,
    waits: Vec<String>,
    /// Names of variables.
    variables: Vec<String>,
    /// By their numbers in the trace; none of those that a scenario cannot name.
    numbers: HashMap<u16, Option<usize>>,
    /// What those of the application, and of threads that live, are now.
    known: BTreeMap<(u32, usize), Value>,
    /// Of the application, before any thread runs.
    values: Vec<Given>,
    /// What others did to variables, and when: of one in [`Collector::lives`], or of the application.
    moments: Vec<(u64, Option<usize>, Given)>,
    /// Somebody was dispatched.
    begun: bool,
    /// Whether values are recorded when threads are dispatched, not when they are assigned.
    looked: bool,
    phases: usize,
    /// Threads and values.
    others: usize,
}

/// Reads what is left of `trace`, until there are `most` phases, threads and values of variables together: that is what bounds
/// memory. `read` is called after each record.
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
                // The lowest number is none that can be written.
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

    /// Of the application, or of a thread.
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

    /// None: no scenario can name it.
    fn variable<R: Read + Seek>(&mut self, trace: &Reader<R>, number: u16) -> Option<usize> {
        if let Some(known) = self.numbers.get(&number) {
            return *known;
        }
        let name = trace.header().name(number).map_or("", |name| name.text.as_str());
        let place = self.variables.iter().position(|known| known == name).or_else(|| {
            // The instants at which jobs were released are those of this run: there the host keeps them anew.
            (can_be_named(name) && name != RELEASE).then(|| {
                self.variables.push(name.to_owned());
                self.variables.len() - 1
            })
        });
        self.numbers.insert(number, place);
        place
    }

    /// Its number may be another one's next.
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
    /// It was on a processor.
    fn runs(&mut self, since: u64, until: u64) {
        self.ran += until - since.max(self.counted).min(until);
        self.counted = until;
    }
}

/// In place of what was given before.
fn put(values: &mut Vec<Given>, given: Given) {
    match values.iter_mut().find(|known| known.variable == given.variable) {
        Some(known) => *known = given,
        None => values.push(given),
    }
}

/// A trace can have any text for a name.
fn can_be_named(name: &str) -> bool {
    let is_word = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_word && can_be_read(&format!("set {name} = 1; thread one {{ }}"))
}

/// As above, with dots.
fn can_be_waited_for(event: &str) -> bool {
    const LONGEST: usize = 100;
    let is_of_words = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
    let is_name = !event.is_empty() && event.len() <= LONGEST && event.chars().all(is_of_words);
    is_name && can_be_read(&format!("thread one {{ block {event} 1ms; }}"))
}

/// In a scenario.
fn can_be_read(text: &str) -> bool {
    let source = Source::new("", format!("scenario named {{ {text} }}"));
    let mut said = Diagnostics::new();
    !catapults_compiler::scenario::read(&source, &mut said).is_empty() && !said.has_errors()
}
