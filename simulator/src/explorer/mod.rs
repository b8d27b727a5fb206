//! The explorer: a policy under every order of events that its framework allows, for a few threads.
//!
//! Breadth first, so that a counterexample is as short as any. Situations that differ in the numbers of threads alone are
//! one ([`situation`]); imported variables take the values that can make a difference ([`values`]); what is not
//! looked at is said in [`Report::limits`]. A counterexample is run again in the interpreter before it is reported
//! ([`scenario`]).

mod budget;
mod clock;
mod oracle;
mod scenario;
mod situation;
mod starvation;
mod system;
mod values;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::ControlFlow;
use std::time::Duration;

use catapults_compiler::framework::Framework;
use catapults_compiler::policy::{Policy, Value};
use catapults_compiler::verify::Verified;
use indexmap::IndexSet;

use budget::Budget;
use scenario::{Arrow, Trail};
pub use scenario::{Moment, Scenario};
use situation::Situation;
use starvation::Edge;
use system::{Outcome, System, domains};

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// At most so many threads live at once, 1 to [`Options::MOST_THREADS`].
    pub threads: usize,
    /// At most so many situations are kept.
    pub states: usize,
    /// Variables and attributes whose value matters are followed from minus this to this.
    pub bound: i64,
    /// Whether to look for starvation, which takes memory for every transition.
    pub starvation: bool,
    /// It takes no longer than about this. Without it, only the other bounds end it, and it finds the same whenever it is run.
    pub time: Option<Duration>,
}

impl Options {
    /// The most threads that can be explored.
    pub const MOST_THREADS: usize = 8;
}

impl Default for Options {
    fn default() -> Self {
        Options { threads: 3, states: 4_000_000, bound: 16, starvation: true, time: None }
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
    /// What sort.
    pub kind: Kind,
    /// What is wrong, in words.
    pub what: String,
    /// How it comes about.
    pub scenario: Scenario,
}

/// What sort of finding.
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
    /// The event type is not kept.
    EventType,
    /// A loop does not end.
    Overrun,
    /// The verifier took for proved what is not so: a mistake of the compiler.
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
/// More transitions than this are not kept for the search for starvation.
const MOST_EDGES: usize = 24_000_000;

/// Explores a policy. `progress` is told now and then how many situations have been explored and how many are known.
///
/// Counters are not followed at first: at each event they have any value. Nothing can go wrong that does not go wrong then.
/// What goes wrong then may be real or not: it is looked for again with the counters followed. The same holds for values beyond
/// the bound, which are brought within it at first; but then not everything that goes wrong need be seen.
///
/// # Errors
/// A counterexample that the interpreter does not repeat: a mistake of the explorer.
pub fn explore(
    verified: &Verified<Policy>,
    framework: &Framework,
    options: &Options,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Report, String> {
    let framework = &framework.with_timers(verified.policy().timers());
    let capacity = framework.capacity.map_or(Options::MOST_THREADS, |most| most as usize);
    let threads = options.threads.clamp(1, Options::MOST_THREADS.min(capacity));
    let loose = System::new(verified, framework, threads, options.bound, true);
    let budget = Budget::of(options.time);
    // What is found must be looked for again, in what time is left.
    let mut run = Run::of(&loose, options, options.states, budget.part(1, 2), progress);
    let mut limits = std::mem::take(&mut run.limits);
    if verified.verbatim().is_some() {
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
    let follow = loose.has_counters() || run.strayed;
    if let Some((last, kind, what)) = run.wrong.take() {
        if follow {
            let exact = System::new(verified, framework, threads, options.bound, false);
            let mut run = Run::of(&exact, options, options.states, budget, progress);
            report.transitions += run.transitions;
            if let Some((last, kind, what)) = run.wrong.take() {
                report.counterexample = Some(run.finding(&exact, verified, last, kind, what)?);
            } else {
                limits.append(&mut run.limits);
            }
        } else {
            report.counterexample = Some(run.finding(&loose, verified, last, kind, what)?);
        }
    } else if options.starvation && loose.values.clock.ticks {
        // A round that repeats for ever would have to take no time.
        limits.insert("starvation was not looked for: the policy looks at the clock".to_owned());
    } else if options.starvation {
        match (run.lasso(&loose, budget), follow) {
            (Lassos::None, _) => {}
            (Lassos::Unknown(why), _) => {
                limits.insert(format!("starvation was not looked for: {why}"));
            }
            (Lassos::Found(lasso), false) => report.starvation = Some(run.starvation(&loose, verified, &lasso)?),
            (Lassos::Found(_), true) => {
                drop(run);
                report.starvation = follow_lasso(verified, framework, options, budget, progress)?;
                if report.starvation.is_none() {
                    limits.insert("starvation was looked for among the first situations only".to_owned());
                }
            }
        }
    }
    report.limits = limits.into_iter().collect();
    Ok(report)
}

/// So many situations are explored to find starvation with counters followed.
const FOLLOWED: usize = 60_000;

/// A lasso with the counters followed, of as few threads as there can be.
fn follow_lasso(
    verified: &Verified<Policy>,
    framework: &Framework,
    options: &Options,
    budget: Budget,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Option<Finding>, String> {
    for threads in 2..=options.threads {
        let exact = System::new(verified, framework, threads, options.bound, false);
        let run = Run::of(&exact, options, options.states.min(FOLLOWED), budget.part(1, 2), progress);
        if let Lassos::Found(lasso) = run.lasso(&exact, budget) {
            return run.starvation(&exact, verified, &lasso).map(Some);
        }
    }
    Ok(None)
}

/// What is known of starvation.
enum Lassos {
    None,
    /// For this reason.
    Unknown(&'static str),
    Found(starvation::Lasso),
}

/// An exploration. The index of a situation in `known` is its number.
#[derive(Default)]
struct Run {
    known: IndexSet<Box<[u8]>>,
    /// By situation, the one from which it was first reached.
    parents: Vec<u32>,
    /// By situation explored, the threads that are ready.
    ready: Vec<u8>,
    /// Of all situations explored, one after the other.
    edges: Vec<Edge>,
    /// By situation explored, its first edge; and the end.
    first_edge: Vec<usize>,
    too_many_edges: bool,
    /// Values beyond the bound were brought within it.
    strayed: bool,
    transitions: u64,
    limits: BTreeSet<String>,
    /// The situation in which something goes wrong, and what.
    wrong: Option<(usize, Kind, String)>,
}

impl Run {
    /// Explores until something is wrong, or until there is nothing more.
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
                run.limits.insert(format!(
                    "only {at} of {known} situations known were explored in the time given (--seconds)"
                ));
                break;
            }
        }
        run.first_edge.push(run.edges.len());
        run
    }

    /// Adds what follows a situation; `false` if there is no room for it.
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
            let edge = Edge::new(to as u32, &next.moved, next.dispatches);
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
    ) -> Result<Finding, String> {
        let trail = Trail { system, known: &self.known };
        let scenario = trail.scenario(verified, &self.path_to(last), None, true)?;
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
            Err(budget::Spent) => Lassos::Unknown("the time given was over (--seconds)"),
        }
    }

    fn starvation<'a>(
        &self,
        system: &System<'a>,
        verified: &'a Verified<Policy>,
        lasso: &starvation::Lasso,
    ) -> Result<Finding, String> {
        let trail = Trail { system, known: &self.known };
        let scenario = trail.scenario(verified, &self.path_to(lasso.start), Some(lasso), false)?;
        let thread = scenario.starved.map_or(0, |thread| thread.0);
        let what = format!("thread {thread} can stay ready for ever and never be dispatched, while others are");
        Ok(Finding { kind: Kind::Starvation, what, scenario })
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

/// What is assumed of the imported variables. A domain that leaves something out is a limit.
fn assumptions(system: &System, limits: &mut BTreeSet<String>) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, (values, whole)) in domains(system.policy, &system.values) {
        let values: Vec<String> = values.iter().map(|value| shown(*value)).collect();
        let line = format!("`{name}` takes the values {}, anew at each event", values.join(", "));
        if !whole {
            limits.insert(format!("`{name}` takes the values {} only", values.join(", ")));
        }
        lines.push(line);
    }
    let clock = &system.values.clock;
    if clock.ticks {
        let steps: Vec<String> = clock.steps.iter().map(|step| shown(Value::Time(*step))).collect();
        let (steps, end) = (steps.join(", "), shown(Value::Time(clock.end)));
        lines.push(format!("before each event these times pass: {steps}"));
        limits.insert(format!("time passes in steps of {steps} only, and ends at {end}"));
    }
    lines
}

fn shown(value: Value) -> String {
    value.to_string()
}
