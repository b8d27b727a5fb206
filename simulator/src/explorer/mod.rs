//! The explorer: a policy under every order of events that its framework allows, for a few threads.
//!
//! It works breadth first, so that no counterexample is shorter. Situations that differ only in the numbers of threads
//! are one ([`situation`]). Imported variables take the values that can make a difference ([`values`]).
//! [`Report::limits`] says what was not looked at. A counterexample is run again in the interpreter before it is
//! reported ([`scenario`]).

#[cfg(test)]
mod agreement;
mod budget;
mod clock;
mod idle;
mod instants;
mod keep;
mod nodes;
mod oracle;
mod scenario;
mod situation;
mod sorts;
mod starvation;
mod system;
mod values;
mod workload;

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use catapults_compiler::framework::Framework;
use catapults_compiler::policy::{Policy, Value};
use catapults_compiler::verify::Verified;
use indexmap::IndexSet;

use budget::Budget;
use clock::Reckoning;
use instants::NOW;
use scenario::{Arrow, Trail};
pub use scenario::{Moment, Scenario};
use situation::Situation;
use starvation::Edge;
use system::{Outcome, System};
use values::Domain;

/// How far to explore.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many threads live at once, at most: 1 to [`Options::MOST_THREADS`].
    pub threads: usize,
    /// How many situations are kept, at most.
    pub states: usize,
    /// Variables and attributes whose value matters are followed from minus this to this.
    pub bound: i64,
    /// Whether to look for starvation, which takes memory for every transition.
    pub starvation: bool,
    /// About how long it may take. Without this, only the other bounds end it, and each run finds the same.
    pub time: Option<Duration>,
    /// Once this is set, the exploration ends and reports what it has explored.
    pub stop: Option<&'static AtomicBool>,
}

impl Options {
    /// The most threads that can be explored.
    pub const MOST_THREADS: usize = 8;
}

impl Default for Options {
    fn default() -> Self {
        Options { threads: 3, states: 4_000_000, bound: 16, starvation: true, time: None, stop: None }
    }
}

/// What was found.
#[derive(Debug)]
pub struct Report {
    /// How many situations there are, as far as they were explored.
    pub states: usize,
    /// How many events were tried in them.
    pub transitions: u64,
    /// The first broken invariant.
    pub counterexample: Option<Finding>,
    /// A thread that can stay ready for ever. Whether that is wrong is for the author to say: a fixed priority does it.
    pub starvation: Option<Finding>,
    /// What was assumed of imported variables, a line each.
    pub assumptions: Vec<String>,
    /// What was left out; empty if everything was explored.
    pub limits: Vec<String>,
}

/// Something that can happen and should not.
#[derive(Debug)]
pub struct Finding {
    /// The sort of finding.
    pub kind: Kind,
    /// What is wrong, in words.
    pub what: String,
    /// How it comes about.
    pub scenario: Scenario,
}

impl Finding {
    /// Whether it may be what goes wrong at this line of the policy: it names that line, or none.
    pub fn is_of_line(&self, line: u32) -> bool {
        let named = self.what.split("line ").nth(1).map(|rest| rest.split(|one: char| !one.is_ascii_digit()).next());
        named.flatten().and_then(|digits| digits.parse().ok()).is_none_or(|named: u32| named == line)
    }
}

/// The sort of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A guard fails at run time: the policy is out.
    Guard,
    /// A thread is in no container.
    Lost,
    /// A thread is in two places.
    Duplicated,
    /// Something is ready and nothing is dispatched.
    Idle,
    /// The handler broke the event type.
    EventType,
    /// A loop does not end.
    Overrun,
    /// The verifier took something for proved that is not so: a mistake of the compiler.
    Unproved,
    /// A ready thread is never dispatched although others are.
    Starvation,
}

impl fmt::Display for Kind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Kind::Guard => "a guard fails",
            Kind::Lost => "a thread is lost",
            Kind::Duplicated => "a thread is held twice",
            Kind::Idle => "idle with work ready",
            Kind::EventType => "the event type is not kept",
            Kind::Overrun => "a loop does not end",
            Kind::Unproved => "a proof of the compiler does not hold",
            Kind::Starvation => "starvation",
        })
    }
}

/// How many situations between two reports of progress.
const STRIDE: usize = 1024;
/// How many situations between two looks at the clock.
const BETWEEN_LOOKS: usize = 16;
/// How many transitions are kept to search for starvation, at most.
const MOST_EDGES: usize = 24_000_000;

/// Explores a policy. `progress` is told now and then how many situations have been explored and how many are known.
///
/// At first, counters are not followed: at each event, they have any value. All that can go wrong goes wrong then, too.
/// But it need not be real, so it is looked for again with the counters followed. Values beyond the bound, too, are
/// first brought within it and then followed; but not everything that goes wrong with them need be seen.
///
/// Instants are kept relative to now. If the interpreter does not repeat a finding, they are followed as they are
/// instead, and the report says so.
///
/// # Errors
/// The interpreter does not repeat a counterexample even with instants as they are: a mistake of the explorer.
pub fn explore(
    verified: &Verified<Policy>,
    framework: &Framework,
    options: &Options,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Report, String> {
    let framework = &framework.as_met(verified.policy().timers(), verified.policy().has_nodes());
    let budget = Budget::of(options.time, options.stop);
    if verified.policy().has_nodes() {
        return nodes::explore(verified, framework, options, &budget, progress);
    }
    let mut exploration =
        Exploration { verified, framework, options, budget, reckoning: Reckoning::Relative, progress };
    match exploration.report() {
        Err(Mismatch { relative: true, what }) => {
            exploration.reckoning = Reckoning::FROM_ZERO;
            let mut report = exploration.report().map_err(|mismatch| mismatch.what)?;
            report.limits.push(format!("the clock is followed from 0 on: with times relative to now, {what}"));
            Ok(report)
        }
        other => other.map_err(|mismatch| mismatch.what),
    }
}

/// The interpreter does something else than what was found.
#[derive(Debug)]
struct Mismatch {
    /// Instants were relative to now.
    relative: bool,
    /// What it does instead.
    what: String,
}

/// What is explored, and how.
struct Exploration<'a, 'p> {
    verified: &'a Verified<Policy>,
    /// Includes the events of the policy's timers.
    framework: &'a Framework,
    options: &'a Options,
    budget: Budget,
    reckoning: Reckoning,
    progress: &'p mut dyn FnMut(usize, usize),
}

impl<'a> Exploration<'a, '_> {
    /// How many threads live at once.
    fn threads(&self) -> usize {
        let capacity = self.framework.capacity.map_or(Options::MOST_THREADS, |most| most as usize);
        self.options.threads.clamp(1, Options::MOST_THREADS.min(capacity))
    }

    fn system(&self, threads: usize, loose: bool) -> System<'a> {
        System::new(self.verified, self.framework, threads, self.options.bound, loose, self.reckoning)
    }

    fn run(&mut self, system: &System, states: usize, budget: Budget) -> Run {
        Run::of(system, self.options, states, budget, self.progress)
    }

    fn report(&mut self) -> Result<Report, Mismatch> {
        let (options, budget) = (self.options, self.budget);
        let threads = self.threads();
        let loose = self.system(threads, true);
        // Findings must be looked for again in the time that is left.
        let mut run = self.run(&loose, options.states, budget.part(1, 2));
        let mut limits = std::mem::take(&mut run.limits);
        if self.verified.verbatim().is_some() {
            limits.insert("verbatim text is taken to do what its `else` says".to_owned());
        }
        let mut report = Report {
            states: run.known.len(),
            transitions: run.transitions,
            counterexample: None,
            starvation: None,
            assumptions: assumptions(&loose, &mut limits),
            limits: Vec::new(),
        };
        if let Some((last, kind, what)) = run.wrong.take() {
            if loose.has_counters() || run.strayed {
                let exact = self.system(threads, false);
                let mut run = self.run(&exact, options.states, budget);
                report.transitions += run.transitions;
                if let Some((last, kind, what)) = run.wrong.take() {
                    report.counterexample = Some(run.finding(&exact, self.verified, last, kind, what)?);
                } else {
                    limits.append(&mut run.limits);
                }
            } else {
                report.counterexample = Some(run.finding(&loose, self.verified, last, kind, what)?);
            }
        } else if options.starvation && loose.values.clock.end.is_some() {
            // With an end of the clock, a round could repeat for ever only if it took no time.
            limits.insert("starvation was not looked for: the clock has an end".to_owned());
        } else if options.starvation {
            report.starvation = self.starvation(&loose, run, &mut limits)?;
        }
        report.limits = limits.into_iter().collect();
        Ok(report)
    }

    /// Looks for a lasso, after an exploration that found nothing wrong.
    fn starvation(
        &mut self,
        loose: &System<'a>,
        run: Run,
        limits: &mut BTreeSet<String>,
    ) -> Result<Option<Finding>, Mismatch> {
        match run.lasso(loose, self.budget) {
            Lassos::None => return Ok(None),
            Lassos::Unknown(why) => {
                limits.insert(format!("starvation was not looked for: {why}"));
                return Ok(None);
            }
            Lassos::Found(lasso) if !loose.has_counters() && !run.strayed => {
                return run.starvation(loose, self.verified, &lasso).map(Some);
            }
            Lassos::Found(_) => {}
        }
        let (found, said) = if loose.has_counters() {
            drop(run);
            (self.follow_lasso()?, "starvation was looked for among the first situations only")
        } else {
            let run = run.within_bounds();
            let found = match run.lasso(loose, self.budget) {
                Lassos::Found(lasso) => Some(run.starvation(loose, self.verified, &lasso)?),
                Lassos::None | Lassos::Unknown(_) => None,
            };
            (found, "starvation was looked for only where no value is beyond its bound")
        };
        if found.is_none() {
            limits.insert(said.to_owned());
        }
        Ok(found)
    }

    /// Looks for a lasso with the counters followed, and with as few threads as possible.
    fn follow_lasso(&mut self) -> Result<Option<Finding>, Mismatch> {
        for threads in 2..=self.threads() {
            let exact = self.system(threads, false);
            let run = self.run(&exact, self.options.states.min(FOLLOWED), self.budget.part(1, 2));
            if let Lassos::Found(lasso) = run.lasso(&exact, self.budget) {
                return run.starvation(&exact, self.verified, &lasso).map(Some);
            }
        }
        Ok(None)
    }
}

/// How many situations are explored to find starvation with the counters followed.
const FOLLOWED: usize = 60_000;

/// What is known of starvation.
enum Lassos {
    None,
    /// Starvation was not looked for, for this reason.
    Unknown(&'static str),
    Found(starvation::Lasso),
}

/// An exploration. The number of a situation is its index in `known`.
#[derive(Default)]
struct Run {
    known: IndexSet<Box<[u8]>>,
    /// For each situation, the one from which it was first reached.
    parents: Vec<u32>,
    /// For each explored situation, the READY threads.
    ready: Vec<u8>,
    /// The edges of all explored situations, one situation after the other.
    edges: Vec<Edge>,
    /// For each explored situation, its first edge; then the end.
    first_edge: Vec<usize>,
    too_many_edges: bool,
    /// Whether values beyond the bound were brought within it.
    strayed: bool,
    transitions: u64,
    limits: BTreeSet<String>,
    /// The situation in which something went wrong, and what.
    wrong: Option<(usize, Kind, String)>,
}

impl Run {
    /// Explores until something goes wrong or nothing is left.
    fn of(
        system: &System,
        options: &Options,
        states: usize,
        budget: Budget,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Self {
        let mut run = Run::default();
        let mut machine = system.machine();
        run.known.insert(system.start().encode());
        run.parents.push(0);
        let mut at = 0;
        while let (Some(bytes), None) = (run.known.get_index(at), &run.wrong) {
            let situation = Situation::decode(system.policy, bytes);
            run.first_edge.push(run.edges.len());
            run.ready.push(system.ready(&situation));
            let _ = system.each(&mut machine, &situation, &mut |transition| {
                run.transitions += 1;
                if transition.bounded {
                    run.limits.insert(oracle::LIMIT.to_owned());
                }
                match transition.outcome {
                    Outcome::Same => {}
                    Outcome::Beyond(what) => {
                        run.limits.insert(what);
                    }
                    Outcome::Wrong(kind, what) => {
                        run.wrong = Some((at, kind, what));
                        return ControlFlow::Break(());
                    }
                    Outcome::Next(next) => {
                        run.strayed |= next.strayed.is_some();
                        run.limits.extend(next.strayed.clone());
                        if !run.add(at, &next, states, options.starvation) {
                            run.limits.insert(format!("only {states} situations were kept (--states); there are more"));
                        }
                    }
                }
                ControlFlow::Continue(())
            });
            at += 1;
            if at % STRIDE == 0 {
                progress(at, run.known.len());
            }
            if at % BETWEEN_LOOKS == 0 && budget.is_spent() && at < run.known.len() {
                let known = run.known.len();
                run.limits.insert(format!("only {at} of {known} situations known were explored {}", budget.why()));
                break;
            }
        }
        run.first_edge.push(run.edges.len());
        run
    }

    /// Adds a successor of a situation; `false` if there is no room for it.
    fn add(&mut self, from: usize, next: &system::Next, states: usize, edges: bool) -> bool {
        let bytes = next.situation.encode();
        let to = match self.known.get_index_of(&bytes) {
            Some(known) => known,
            None if self.known.len() >= states.min(u32::MAX as usize) => return false,
            None => {
                self.parents.push(from as u32);
                self.known.insert_full(bytes).0
            }
        };
        if self.edges.len() >= MOST_EDGES {
            self.too_many_edges = true;
        } else if edges {
            let edge = Edge::new(to as u32, next);
            let first = self.first_edge.last().copied().unwrap_or_default();
            if !self.edges[first..].contains(&edge) {
                self.edges.push(edge);
            }
        }
        true
    }

    fn finding<'a>(
        &self,
        system: &System<'a>,
        verified: &'a Verified<Policy>,
        last: usize,
        kind: Kind,
        what: String,
    ) -> Result<Finding, Mismatch> {
        let trail = Trail { system, known: &self.known };
        let scenario = trail.scenario(verified, &self.path_to(last), None, true);
        let scenario = scenario.map_err(|what| Mismatch { relative: system.values.instants.is_some(), what })?;
        Ok(Finding { kind, what, scenario })
    }

    fn lasso(&self, system: &System, budget: Budget) -> Lassos {
        if self.too_many_edges {
            return Lassos::Unknown("too many transitions");
        }
        let threads = system.threads();
        let graph = starvation::Graph { edges: &self.edges, first: &self.first_edge, ready: &self.ready, threads };
        match starvation::find(&graph, budget) {
            Ok(found) => found.map_or(Lassos::None, Lassos::Found),
            Err(budget::Spent) => Lassos::Unknown("the time given was over (--seconds), or it was interrupted"),
        }
    }

    fn starvation<'a>(
        &self,
        system: &System<'a>,
        verified: &'a Verified<Policy>,
        lasso: &starvation::Lasso,
    ) -> Result<Finding, Mismatch> {
        let trail = Trail { system, known: &self.known };
        let scenario = trail.scenario(verified, &self.path_to(lasso.start), Some(lasso), false);
        let scenario = scenario.map_err(|what| Mismatch { relative: system.values.instants.is_some(), what })?;
        let thread = scenario.starved.map_or(0, |thread| thread.0);
        let what = format!("thread {thread} can stay ready for ever and never be dispatched, while others are");
        Ok(Finding { kind: Kind::Starvation, what, scenario })
    }

    /// Leaves out what comes after a value was brought within its bound. What remains can really come.
    fn within_bounds(mut self) -> Self {
        let (edges, first) = (std::mem::take(&mut self.edges), std::mem::take(&mut self.first_edge));
        let mut reached = vec![false; self.known.len()];
        let mut queue = VecDeque::from([0]);
        reached[0] = true;
        while let Some(at) = queue.pop_front() {
            let out = first.get(at).zip(first.get(at + 1)).map_or(&[][..], |(start, end)| &edges[*start..*end]);
            for to in out.iter().filter(|edge| !edge.strayed).map(|edge| edge.to as usize) {
                if !reached[to] {
                    reached[to] = true;
                    self.parents[to] = at as u32;
                    queue.push_back(to);
                }
            }
        }
        for (at, window) in first.windows(2).enumerate() {
            self.first_edge.push(self.edges.len());
            if reached[at] {
                self.edges.extend(edges[window[0]..window[1]].iter().filter(|edge| !edge.strayed));
            } else {
                self.ready[at] = 0;
            }
        }
        self.first_edge.push(self.edges.len());
        self
    }

    /// The arrows from the start to a situation.
    fn path_to(&self, mut at: usize) -> Vec<Arrow> {
        let mut path = Vec::new();
        while at != 0 {
            path.push(Arrow { to: at, edge: None });
            at = self.parents[at] as usize;
        }
        path.reverse();
        path
    }
}

/// What is assumed of the imported variables. A domain that leaves values out becomes a limit.
fn assumptions(system: &System, limits: &mut BTreeSet<String>) -> Vec<String> {
    let (clock, policy) = (&system.values.clock, system.policy);
    let instants = system.values.instants.as_ref();
    let globals = policy.imports.iter().zip(&system.values.imports).enumerate();
    let globals = globals.map(|(index, (import, domain))| {
        (&import.name, domain, instants.is_some_and(|instants| instants.imports[index]))
    });
    let of_threads = policy.thread_imports.iter().zip(&system.values.thread_imports).enumerate();
    let of_threads = of_threads.map(|(index, (import, domain))| {
        (&import.name, domain, instants.is_some_and(|instants| instants.thread_imports[index]))
    });
    let mut named: Vec<(&String, &Domain, bool)> = globals.chain(of_threads).collect();
    named.sort_unstable_by_key(|(name, ..)| *name);
    let mut lines: Vec<String> = Vec::new();
    for (name, domain, relative) in named {
        let values = domain.values.iter().map(|value| if relative { from_now(*value) } else { shown(*value) });
        let values = values.collect::<Vec<String>>().join(", ");
        lines.push(format!("`{name}` takes the values {values}, which can change between any two reads"));
        if !domain.whole {
            limits.insert(format!("`{name}` takes the values {values} only"));
        }
    }
    if clock.ticks {
        let steps: Vec<String> = clock.steps.iter().map(|step| shown(Value::Time(*step))).collect();
        let steps = steps.join(", ");
        lines.push(format!("before each event these times pass: {steps}"));
        let timers = if policy.timers().next().is_some() {
            lines.push(format!("a timer expires at most {} late", shown(Value::Time(clock.longest()))));
            " and to the instants of timers"
        } else {
            ""
        };
        let until = clock.end.map_or(String::new(), |end| format!(", and ends at {}", shown(Value::Time(end))));
        limits.insert(format!("time passes in steps of {steps}{timers} only{until}"));
    }
    if policy.uses_random() {
        lines.push("`random` gives any number that it can, and not the same one for ever".to_owned());
    }
    if clock.ticks && clock.end.is_none() {
        lines.push(format!("the clock is at {} or later", shown(Value::Time(NOW))));
    }
    lines
}

/// An instant, in words, when it is [`NOW`].
fn from_now(value: Value) -> String {
    let Value::Time(instant) = value else { return shown(value) };
    match instant - NOW {
        0 => "now".to_owned(),
        _ if instant == 0 => shown(value),
        later @ 1.. => format!("now + {}", Value::Time(later)),
        earlier => format!("now - {}", Value::Time(-earlier)),
    }
}

fn shown(value: Value) -> String {
    value.to_string()
}
