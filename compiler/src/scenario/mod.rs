//! Scenarios: what threads do, when they come, and what is then expected of a policy.
//!
//! A `NAME.scenario` file has one or more. Like hierarchies, they are read in steps, because they name files, and
//! nothing here opens files. [`read`] says what is written, the caller finds the policy, and [`check`] puts the two
//! together. `simulator/src/sim` defines what a scenario means; `docs/scenarios.md` describes the language.

mod arrivals;
mod check;
mod due;
mod exact;
mod expect;
mod extent;
mod ineffective;
mod lock_use;
mod meetings;
mod nodes;
mod phases;
mod reader;

pub use check::{Subject, check};
pub use exact::Exact;
pub use nodes::Nodes;
pub use phases::event_for;
pub use reader::{Draft, FileName, read};

pub(crate) use check::twice;

use std::sync::Arc;

use crate::diagnostics::Diagnostic;
use crate::syntax::grammar::{self, Grammar};
use crate::syntax::words::RESERVED;
use crate::vocabulary::{At, Type, Value};

/// The grammar of scenarios, whatever the framework.
pub fn grammar() -> Grammar {
    grammar::for_scenarios(include_str!("grammar.ebnf"))
}

/// When a simulation without a duration is given up, in nanoseconds: after 73 years. Sums of a few such still fit.
pub const LONGEST: i64 = i64::MAX / 4;

/// The most that is done at one instant. With more, time is taken to stand still.
pub const MOST_AT_ONCE: u64 = 10_000_000;

/// Whether this, made of letters, digits and underscores, is a word of the language, which cannot be a name.
pub fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// What became of the policy of a scenario.
pub enum Found<P> {
    /// It is safe to run.
    Policy(P),
    /// The same, in place of the scenario's own. What the scenario says of variables and schedulers that this one lacks
    /// has no effect.
    Instead(P),
    /// It has errors, which have been reported.
    Refused,
    /// There is none that can be simulated: why, and what to do about it.
    None(String, &'static str),
}

/// A policy or a hierarchy that is safe to run.
pub trait Decides {
    /// As scenarios see it.
    fn subject(&self) -> Subject<'_>;
}

/// Finds what scenarios name: nothing here opens files.
pub trait Surroundings {
    /// A policy or a hierarchy, with all that its finder knows of it.
    type Policy: Decides;

    /// The policy of a scenario.
    fn policy(&mut self, draft: &Draft) -> Found<Self::Policy>;

    /// The numbers in a file, or why there are none.
    ///
    /// # Errors
    /// A message: there is no such file, or it has something else.
    fn numbers(&mut self, file: &FileName) -> Result<Vec<i64>, String>;
}

pub(crate) fn without_policy(draft: &Draft, why: String, help: &str) -> Diagnostic {
    let at = draft.policy.as_ref().map_or(draft.name.at, |named| named.at);
    Diagnostic::error("E0706", why, at, "").help(help)
}

/// What is simulated. Only [`check`] makes one. All instants and durations are in nanoseconds, and none is negative.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The name after `scenario`, unique in its file.
    pub name: String,
    /// At least 1.
    pub processors: u32,
    /// The families of the processors, in order, if the policy has families of nodes. Those that come later are of the last one.
    pub nodes: Vec<Nodes>,
    /// The seed of all that is random.
    pub seed: u64,
    /// When the simulation ends, if threads are left. `None`: when no thread is left, or none can ever go on.
    pub duration: Option<i64>,
    /// How long a thread runs before `tick` is raised while another one is ready; at least 1.
    pub tick: i64,
    /// How far apart the host looks, while all processors compute, whether what threads wait for has come; 0: it learns
    /// at once.
    pub poll: i64,
    /// How long a processor takes to switch to another thread.
    pub switch_cost: i64,
    /// What is assigned to the policy's `imports` before anything else.
    pub values: Vec<Assignment>,
    /// As written.
    pub threads: Vec<Thread>,
    /// The locks that threads use.
    pub locks: Vec<Lock>,
    /// As declared.
    pub semaphores: Vec<Semaphore>,
    /// The names of the message ports that threads use.
    pub ports: Vec<String>,
    /// Those that threads use.
    pub barriers: Vec<Barrier>,
    /// In the order of their instants.
    pub moments: Vec<Moment>,
    /// As written.
    pub expectations: Vec<Expectation>,
}

/// `thread worker * 10 every exponential(3ms) with { bytesleft = 100; } { run 2ms; }`: one thread, or a group.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Unique in the scenario.
    pub name: String,
    /// How many there are; `None`: they come for ever.
    pub count: Option<u32>,
    /// Whether it comes only when another one creates it by `spawn`.
    pub spawned: bool,
    /// When the first one comes.
    pub start: Amount,
    /// The time from one to the next. `None`: all come at once.
    pub every: Option<Amount>,
    /// It repeats its phases each period.
    pub period: Option<i64>,
    /// If a job is late, the next one is released when it is done, and later periods count from then.
    pub relative: bool,
    /// The time from its release, or its coming, until all phases are to be done.
    pub deadline: Option<i64>,
    /// The scheduler that it is under, by its index in the hierarchy.
    pub under: Option<usize>,
    /// What is assigned to the policy's `threadimports`, anew for each thread.
    pub values: Vec<Assignment>,
    /// In order; jumps are indices into the same list. Never empty: it ends with [`Phase::End`].
    pub phases: Vec<Phase>,
    /// Where each phase stands in the source.
    pub places: Vec<At>,
    /// The name, in the source.
    pub at: At,
}

impl Thread {
    /// Whether its phases have no end, so that a job of it is never done.
    pub fn is_endless(&self) -> bool {
        let has = |wanted: fn(&Phase) -> bool| self.phases.iter().any(wanted);
        has(|phase| matches!(phase, Phase::Jump(_))) && !has(|phase| matches!(phase, Phase::Exit))
    }
}

/// One thread at a time has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// As written.
    pub name: String,
    /// One that the framework has.
    pub protocol: Protocol,
}

/// What is done for the owner of a lock that others wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Nothing.
    None,
    /// The owner is as urgent as the waiting threads.
    Inheritance,
    /// The owner is as urgent as this.
    Ceiling(i64),
}

/// So many threads at a time can have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Semaphore {
    /// As written.
    pub name: String,
    /// At the beginning.
    pub value: u64,
}

/// Where threads meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barrier {
    /// As written.
    pub name: String,
    /// How many come to it.
    pub threads: u32,
}

/// A value for a variable that the policy imports.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// As the policy declares it.
    pub name: String,
    /// Of the variable's type.
    pub value: Amount,
}

/// Which timer a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// Shared timers have numbers of their own.
    pub number: usize,
    /// All threads that name it advance the same timer; otherwise each has its own.
    pub shared: bool,
    /// If it has expired already, it counts from that instant, and not from now.
    pub absolute: bool,
}

/// What a thread, "it", does next.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// It computes.
    Run(Amount),
    /// It blocks in an event, for so long.
    Block(String, Amount),
    /// It gives the processor up.
    Yield,
    /// It asks that one of these threads run next.
    YieldTo(usize),
    /// It waits until the lock is free, and takes it.
    Lock(usize),
    /// It gives the lock up.
    Unlock(usize),
    /// It waits until the semaphore is above 0, and takes 1 from it.
    Wait(usize),
    /// It adds 1 to the semaphore.
    Post(usize),
    /// It leaves a message at the port.
    Send(usize),
    /// It waits for a message.
    Receive(usize),
    /// It lets the thread go on that has waited longest at the port, if there is one.
    Signal(usize),
    /// It lets all threads go on that wait at the port.
    Broadcast(usize),
    /// It waits until all threads that come to the barrier are there.
    Barrier(usize),
    /// It waits until this long after the timer last expired, or first after it came. If that has passed, it goes on.
    Timer(Timer, Amount),
    /// It creates one of these threads.
    Spawn(usize),
    /// It waits until none of these threads lives.
    Join(usize),
    /// It suspends those of these threads that live.
    Suspend(usize),
    /// It ends their suspension.
    Resume(usize),
    /// It assigns a variable of its own.
    Set(Assignment),
    /// It goes on at this phase.
    Jump(usize),
    /// It repeats the next phases so many times, and then goes on at `end`.
    Repeat {
        /// At least 1.
        times: u64,
        /// The phase after the last of those that are repeated.
        end: usize,
    },
    /// The end of what the [`Phase::Repeat`] at this index repeats.
    Again(usize),
    /// It ends.
    Exit,
    /// All is done: a periodic thread waits for its next period, any other ends.
    End,
}

/// A number that may be drawn anew each time.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// Always this.
    Fixed(Value),
    /// Uniform between the two, both included.
    Uniform(Value, Value),
    /// Exponentially distributed, with this mean.
    Exponential(Value),
    /// Pareto distributed.
    Pareto {
        /// The least value.
        least: Value,
        /// Positive. The smaller, the longer the tail.
        shape: f64,
    },
    /// The numbers of a file, in order, again and again, of this type. Never empty.
    Listed(Type, Arc<[i64]>),
}

/// `at 5s { … }`
#[derive(Clone, Debug)]
pub struct Moment {
    /// When.
    pub instant: i64,
    /// In order.
    pub actions: Vec<Action>,
}

/// What happens from outside.
#[derive(Clone, Debug)]
pub enum Action {
    /// `set quantum = 5ms;`
    Set(Assignment),
    /// `set A.tickets = 5;`: for all living threads of the group.
    SetOf(usize, Assignment),
    /// `suspend A;`
    Suspend(usize),
    /// `resume A;`
    Resume(usize),
    /// `processors 3;`: the last ones go, or new ones come.
    Processors(u32),
}

/// `expect …;`
#[derive(Clone, Debug)]
pub struct Expectation {
    /// What is expected.
    pub what: Expected,
    /// As written, without `expect` and `;`, with uniform spaces.
    pub text: String,
    /// In the source.
    pub at: At,
}

/// What can be expected. Threads are indices into [`Scenario::threads`]; a group means all of its threads.
#[derive(Clone, Debug)]
pub enum Expected {
    /// `p99 response of A <= 20ms`
    Measure {
        /// What is measured.
        measure: Measure,
        /// The thread; `None`: the processors.
        of: Option<usize>,
        /// Only what happens between these instants counts.
        window: Option<(i64, i64)>,
        /// How it is compared with the bound.
        relation: Relation,
        /// Nanoseconds, hundredths, or a count.
        bound: Exact,
        /// How far an equal number may be away, in the same unit.
        tolerance: Exact,
    },
    /// `order A, B, C`: each ends before the next one does.
    Order(Vec<usize>),
    /// `dispatched A, B, A`: these are dispatched first, each time another one.
    Dispatched(Vec<usize>),
    /// `A never overlaps B`: no two processors run them at once. With itself: no two of the group.
    NeverOverlaps(usize, usize),
    /// `A runs within 5ms`: when it is ready, it runs within this time.
    Runs(usize, i64),
    /// `refusals of A = 2 because "no"`: all refused threads of A have this reason.
    Reason(usize, String),
    /// `refusal of A says "no"`: a refused thread of A has this reason.
    Says(usize, String),
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Its share of the time of all processors, in hundredths.
    Share,
    /// In how much of the time of all processors nothing ran, in hundredths.
    Idle,
    /// The time from the release of a job until it is done.
    Response(Statistic),
    /// The time from when a thread is ready until it runs.
    Latency(Statistic),
    /// Jobs that were not done by their deadline.
    Misses,
    /// Jobs that are done.
    Jobs,
    /// How often it got a processor.
    Dispatches,
    /// How often it lost the processor to another thread without giving it up.
    Preemptions,
    /// Threads that the policy did not admit.
    Refusals,
    /// When the last thread ended.
    End,
}

/// One number that stands for many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The highest.
    Worst,
    /// The average.
    Mean,
    /// So many thousandths are no higher.
    Quantile(u16),
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Relation {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Measure {
    /// The word in scenarios, after its statistic.
    pub fn word(self) -> &'static str {
        match self {
            Measure::Share => "share",
            Measure::Idle => "idle",
            Measure::Response(_) => "response",
            Measure::Latency(_) => "latency",
            Measure::Misses => "misses",
            Measure::Jobs => "jobs",
            Measure::Dispatches => "dispatches",
            Measure::Preemptions => "preemptions",
            Measure::Refusals => "refusals",
            Measure::End => "end",
        }
    }

    /// The unit of its numbers.
    pub fn unit(self) -> Unit {
        match self {
            Measure::Share | Measure::Idle => Unit::Percent,
            Measure::Response(_) | Measure::Latency(_) | Measure::End => Unit::Time,
            Measure::Misses | Measure::Jobs | Measure::Dispatches | Measure::Preemptions | Measure::Refusals => {
                Unit::Count
            }
        }
    }
}

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Hundredths.
    Percent,
    /// Nanoseconds.
    Time,
    /// How many.
    Count,
}

impl Relation {
    /// The sign in scenarios.
    pub fn word(self) -> &'static str {
        match self {
            Relation::Equal => "=",
            Relation::Less => "<",
            Relation::LessOrEqual => "<=",
            Relation::Greater => ">",
            Relation::GreaterOrEqual => ">=",
        }
    }

    /// Whether it holds; for equality, within the tolerance.
    pub fn holds(self, left: Exact, right: Exact, tolerance: Exact) -> bool {
        match self {
            Relation::Equal if tolerance == Exact::from(0) => left == right,
            Relation::Equal => right - tolerance <= left && left <= right + tolerance,
            Relation::Less => left < right,
            Relation::LessOrEqual => left <= right,
            Relation::Greater => left > right,
            Relation::GreaterOrEqual => left >= right,
        }
    }
}
