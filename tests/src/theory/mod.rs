//! Random sets of periodic tasks, simulated, and what theory says of them: response-time analysis, processor-demand analysis, and a
//! schedule that is computed by force. None of the three shares code with the simulator.
//!
//! ```text
//! TaskSet ──► a scenario ──► simulator ──────► when each job was done ─┐
//!    ├──────► schedule (by force) ───────────► when each job is done ──┼── the same?
//!    ├──────► analysis ──────────────────────► the worst responses ────┤
//!    └──────► `catapults admit` (judged) ────► the same, and a verdict ┘
//! ```

mod analysis;
mod judged;
mod schedule;
mod sets;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use catapults_compiler::compile;
use catapults_compiler::diagnostics::Diagnostics;
use catapults_compiler::framework::Framework;
use catapults_compiler::interp::ThreadId;
use catapults_compiler::policy::Policy;
use catapults_compiler::scenario::{self, FileName, Scenario};
use catapults_compiler::source::Source;
use catapults_compiler::verify::Verified;
use catapults_simulator::sim::{Deciding, Ending, Keep, Outcome, Record, RunBy, Sink, simulate};
use fastrand::Rng;

pub use sets::{TaskSet, Under};

use crate::{native, policy_at, root};
use analysis::Bound;

/// A job that is done: when it was released, and when it was done.
pub type Job = (i64, i64);

/// What sets are simulated with.
pub struct Theory {
    framework: Framework,
    policies: Vec<(Under, Verified<Policy>)>,
}

/// How many sets there were, and what was compared of them.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Compared {
    pub sets: usize,
    pub jobs: usize,
    pub misses: usize,
    pub with_locks: usize,
    /// Worst responses that are exactly those of the analysis, or no longer.
    pub exact: usize,
    pub bounded: usize,
    /// Sets that `catapults admit` judges alike.
    pub judged: usize,
    /// Sets of which the processor demand says whether a job is late.
    pub demand: usize,
    /// Sets that were drawn and left out: on two processors, the order in which tasks come to a lock is not decided.
    pub left_out: usize,
}

impl Theory {
    /// With the policies of the library.
    pub fn new() -> Self {
        let framework = native();
        let policy = |under: Under| {
            let path = root().join("policies").join(under.policy());
            let source = policy_at(&path);
            let compiled = compile(&source, &framework);
            (under, compiled.unwrap_or_else(|errors| panic!("{}", errors.render(&source, false))).0)
        };
        Theory { policies: Under::ALL.into_iter().map(policy).collect(), framework }
    }

    /// Compares a random set.
    ///
    /// # Errors
    /// What differs, and a scenario that shows it.
    pub fn compare(&self, seed: u64) -> Result<Compared, String> {
        let mut rng = Rng::with_seed(seed);
        let mut left_out = 0;
        let (set, expected) = loop {
            let set = TaskSet::random(&mut rng);
            if let Some(expected) = schedule::of(&set) {
                break (set, expected);
            }
            left_out += 1;
        };
        let compared = self.compare_set(&set, &expected);
        let compared = compared.map_err(|(difference, text)| format!("seed {seed}: {difference}\n\n{text}"))?;
        Ok(Compared { left_out, ..compared })
    }

    fn compare_set(&self, set: &TaskSet, expected: &[Vec<Job>]) -> Result<Compared, (String, String)> {
        let text = scenario_of(set, expected);
        let (outcome, done) = self.simulated(set, &text);
        let mut compared = Compared { sets: 1, with_locks: usize::from(set.has_locks()), ..Compared::default() };
        let said = |difference: String| (difference, text.clone());
        if outcome.ending != Ending::Duration {
            return Err(said(format!("the simulation ends otherwise: {:?}", outcome.ending)));
        }
        for (place, task) in set.tasks.iter().enumerate() {
            let none = Vec::new();
            let done = done.get(&task.name).unwrap_or(&none);
            let first = done.iter().zip(&expected[place]).position(|(left, right)| left != right);
            if let Some(first) = first {
                let ((release, done), (_, right)) = (done[first], expected[place][first]);
                let name = &task.name;
                return Err(said(format!(
                    "job {first} of {name}, released at {release} ns, is done at {done} ns; the schedule by force has {right} ns"
                )));
            }
            if done.len() != expected[place].len() {
                let (done, right, name) = (done.len(), expected[place].len(), &task.name);
                return Err(said(format!("{done} jobs of {name} are done; by force there are {right}")));
            }
            compared.jobs += done.len();
            let tally = &outcome.tallies[place];
            let (misses, worst) = (set.misses(place, &expected[place]), worst(&expected[place]));
            if (tally.misses, tally.jobs) != (misses, done.len() as u64) {
                let name = &task.name;
                return Err(said(format!(
                    "{} misses and {} jobs of {name} are counted, not {misses} and {}",
                    tally.misses,
                    tally.jobs,
                    done.len()
                )));
            }
            if tally.response.statistic(scenario::Statistic::Worst) != worst {
                return Err(said(format!(
                    "the worst response of {} is {worst:?} ns, and is measured otherwise",
                    task.name
                )));
            }
            compared.misses += usize::try_from(misses).unwrap_or(0);
            let Some(worst) = worst else { continue };
            match analysis::response(set, place) {
                Some(Bound::Exactly(bound)) if worst != bound => {
                    let name = &task.name;
                    return Err(said(format!(
                        "the worst response of {name} is {worst} ns, and {bound} ns by analysis"
                    )));
                }
                Some(Bound::AtMost(bound)) if worst > bound => {
                    let name = &task.name;
                    return Err(said(format!(
                        "the worst response of {name} is {worst} ns, and at most {bound} ns by analysis"
                    )));
                }
                Some(Bound::Exactly(_)) => compared.exact += 1,
                Some(Bound::AtMost(_)) => compared.bounded += 1,
                None => {}
            }
        }
        compared.judged += usize::from(judged::compare(set, expected).map_err(said)?);
        if let Some(feasible) = analysis::is_feasible(set) {
            compared.demand += 1;
            let is_late = compared.misses > 0;
            // With offsets it may be so that no job is late all the same.
            if is_late && feasible || !is_late && !feasible && set.is_synchronous() {
                return Err(said(format!("a job is late: {is_late}; by the processor demand: {}", !feasible)));
            }
        }
        Ok(compared)
    }

    /// And when the jobs of each task were done.
    fn simulated(&self, set: &TaskSet, text: &str) -> (Outcome, BTreeMap<String, Vec<Job>>) {
        let policy = &self.policies.iter().find(|(under, _)| *under == set.under).unwrap().1;
        let deciding = Deciding::Policy(policy);
        let checked = staged(text, &deciding, &self.framework);
        let mut done = Done::default();
        let outcome =
            simulate(&checked, deciding, &self.framework, RunBy::Interpreter, Keep::Beginning, &mut done).unwrap();
        (outcome, done.jobs)
    }
}

impl Default for Theory {
    fn default() -> Self {
        Theory::new()
    }
}

impl Compared {
    /// Both.
    pub fn and(self, other: Compared) -> Compared {
        Compared {
            sets: self.sets + other.sets,
            jobs: self.jobs + other.jobs,
            misses: self.misses + other.misses,
            with_locks: self.with_locks + other.with_locks,
            exact: self.exact + other.exact,
            bounded: self.bounded + other.bounded,
            judged: self.judged + other.judged,
            demand: self.demand + other.demand,
            left_out: self.left_out + other.left_out,
        }
    }
}

/// The first scenario of a text, which is right.
pub(crate) fn staged(text: &str, deciding: &Deciding<'_>, framework: &Framework) -> Scenario {
    let source = Source::new("set.scenario", text);
    let mut diagnostics = Diagnostics::new();
    let drafts = scenario::read(&source, &mut diagnostics);
    let none = &mut |_: &FileName| Err("there is none".to_owned());
    let checked =
        drafts.first().and_then(|draft| scenario::check(draft, &deciding.subject(), framework, none, &mut diagnostics));
    checked.unwrap_or_else(|| panic!("{}\n{text}", diagnostics.render(&source, false)))
}

fn worst(jobs: &[Job]) -> Option<i64> {
    jobs.iter().map(|(released, done)| done - released).max()
}

/// With what is expected of it, for whoever runs it.
fn scenario_of(set: &TaskSet, expected: &[Vec<Job>]) -> String {
    let mut text = set.to_string();
    text.truncate(text.rfind('}').unwrap_or(0));
    for (place, (task, jobs)) in set.tasks.iter().zip(expected).enumerate() {
        let (name, misses) = (&task.name, set.misses(place, jobs));
        let Some(worst) = worst(jobs) else { continue };
        // The one that is not done, if it is released by the end.
        let taken = set.duration - task.offset - task.period * jobs.len() as i64;
        let relation = if taken < worst { "=" } else { ">=" };
        let _ = writeln!(text, "  expect worst response of {name} {relation} {worst}ns;");
        let _ = writeln!(text, "  expect misses of {name} = {misses};\n  expect jobs of {name} = {};", jobs.len());
    }
    text + "}\n"
}

/// Jobs as they are done, by the names of their threads.
#[derive(Default)]
struct Done {
    names: BTreeMap<u32, String>,
    jobs: BTreeMap<String, Vec<Job>>,
}

impl Sink for Done {
    fn record(&mut self, _: &Record) {}

    fn named(&mut self, _: i64, thread: ThreadId, name: &str) {
        self.names.insert(thread.0, name.to_owned());
    }

    fn job_done(&mut self, time: i64, thread: ThreadId, released: i64) {
        let name = self.names.get(&thread.0).cloned().unwrap_or_default();
        self.jobs.entry(name).or_default().push((released, time));
    }
}
