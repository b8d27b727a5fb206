//! Simulation: a policy at work on the threads of a scenario, in virtual time. A scenario always gives the same result.
//!
//! ```text
//! Scenario ──► world ── what threads do, when ──► dispatcher ── events ──► policy (interpreted, or compiled)
//!                │                                    └── records: what happened, and why ──► Sink
//!                └──► measures ──► verdicts, tallies, a timeline
//! ```

mod amounts;
mod compiled;
mod dispatch;
mod dispatcher;
mod distribution;
mod drawn;
mod durations;
mod measures;
mod native;
mod plans;
mod policy;
mod record;
mod shares;
mod timeline;
mod world;

use catapults_compiler::framework::Framework;
use catapults_compiler::hierarchy::{Hierarchy, Node};
use catapults_compiler::policy::Policy;
use catapults_compiler::scenario::{Action, Scenario, Subject};
use catapults_compiler::verify::Verified;

pub use compiled::Object;
use dispatch::Dispatch;
pub use dispatcher::{Admitted, Dispatcher, Out};
use dispatcher::{Plan, Scheduler};
pub use distribution::Distribution;
pub use drawn::picture;
pub use durations::{duration, exact, exact_since};
pub use measures::{Tally, Verdict};
use native::Native;
pub use policy::{EventId, Interpreted, Runner};
pub use record::{Kind, Record, Sink};
pub use shares::Shares;
pub use timeline::{Change, Concerned, Timeline};
pub use world::Ending;

use world::World;

/// The result of simulating a scenario.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why the simulation ended.
    pub ending: Ending,
    /// When it ended.
    pub end: i64,
    /// When a thread ended last.
    pub last_end: Option<i64>,
    /// One per expectation, in their order.
    pub verdicts: Vec<Verdict>,
    /// One per kind of the scenario's threads.
    pub tallies: Vec<Tally>,
    /// The time of all processors together.
    pub capacity: i128,
    /// The first changes of states; for a test, those around what is not as expected.
    pub timeline: Timeline,
    /// How the processors were shared, over time.
    pub shares: Shares,
    /// When an expectation was first seen to fail.
    pub divergence: Option<i64>,
}

impl Outcome {
    /// Whether all expectations hold and nothing stopped the simulation.
    pub fn is_as_expected(&self) -> bool {
        !matches!(self.ending, Ending::Out(_) | Ending::Stuck(_)) && self.verdicts.iter().all(|verdict| verdict.holds)
    }

    /// The threads that are not as expected. A picture shows their rows first.
    pub fn concerned(&self) -> Concerned {
        let failed = || self.verdicts.iter().filter(|verdict| !verdict.holds);
        let kinds = failed().filter(|verdict| verdict.thread.is_none()).flat_map(|verdict| verdict.kinds.clone());
        Concerned { threads: failed().filter_map(|verdict| verdict.thread).collect(), kinds: kinds.collect() }
    }
}

/// Which part of a long timeline is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Its beginning.
    Beginning,
    /// What is around the first failed expectation; if all hold, the end.
    AroundDivergence,
    /// From the first instant until before the second, in nanoseconds; if that is too much, its beginning.
    Between(i64, i64),
}

/// What decides.
#[derive(Clone, Copy, Debug)]
pub enum Deciding<'a> {
    /// One policy.
    Policy(&'a Verified<Policy>),
    /// Several schedulers; each is a thread to its parent.
    Hierarchy(&'a Hierarchy),
}

/// How the policies run. Their decisions are the same either way.
#[derive(Clone, Copy)]
pub enum RunBy<'a> {
    /// Records have the line that moved each thread.
    Interpreter,
    /// The policies' shared objects, by [`Deciding::policies`]: faster, but records have the lines of handlers.
    Objects(&'a [Object]),
}

/// Simulates a scenario, and passes what happens to `sink` as it happens.
///
/// # Errors
/// The framework lacks an event that every simulation needs.
pub fn simulate(
    scenario: &Scenario,
    deciding: Deciding<'_>,
    framework: &Framework,
    run_by: RunBy<'_>,
    keep: Keep,
    sink: &mut dyn Sink,
) -> Result<Outcome, String> {
    let processors = scenario.processors as usize;
    match run_by {
        RunBy::Interpreter => {
            let mut dispatcher = dispatcher(deciding, framework, processors, sink)?;
            dispatcher.expect_nodes(&scenario.nodes);
            Ok(run(scenario, dispatcher, framework, keep))
        }
        RunBy::Objects(objects) => {
            let events = policy::Events::new(framework, &deciding.policies())?;
            if is_for_the_core(scenario, deciding, framework) {
                return Ok(run(scenario, Native::new(deciding, objects, framework, events, sink), framework, keep));
            }
            let runner = |policy: usize| {
                compiled::Running::new(&objects[policy], deciding.verified(policy).policy(), framework, &events)
            };
            let plan = deciding.plan(runner);
            let has_nodes = deciding.has_nodes();
            Ok(run(scenario, Dispatcher::new(plan, events.clone(), has_nodes, processors, sink), framework, keep))
        }
    }
}

/// A new dispatcher with interpreted policies. The caller [starts](Dispatcher::start) it and tells it what happens.
///
/// # Errors
/// As for [`simulate`].
pub fn dispatcher<'a, 's>(
    deciding: Deciding<'a>,
    framework: &Framework,
    processors: usize,
    sink: &'s mut dyn Sink,
) -> Result<Dispatcher<'s, Interpreted<'a>>, String> {
    let events = policy::Events::new(framework, &deciding.policies())?;
    let plan = deciding.plan(|policy| Interpreted::new(deciding.verified(policy), &events));
    Ok(Dispatcher::new(plan, events, deciding.has_nodes(), processors, sink))
}

/// Whether compiled policies are dispatched by the native runtime's own core (`native.rs`).
fn is_for_the_core(scenario: &Scenario, deciding: Deciding<'_>, framework: &Framework) -> bool {
    let mut actions = scenario.moments.iter().flat_map(|moment| &moment.actions);
    framework.name == "native"
        && scenario.processors == 1
        && !actions.any(|action| matches!(action, Action::Processors(_)))
        && !deciding.has_nodes()
}

fn run(scenario: &Scenario, mut dispatcher: impl Dispatch, framework: &Framework, keep: Keep) -> Outcome {
    dispatcher.seed(scenario.seed);
    let mut world = World::new(scenario, dispatcher, framework);
    match keep {
        Keep::Beginning => {}
        Keep::AroundDivergence => world.measures.timeline.keep_last(),
        Keep::Between(from, to) => world.measures.timeline.keep_part(from, to),
    }
    let ending = world.run();
    Outcome {
        ending,
        end: world.now,
        last_end: world.measures.last_end,
        verdicts: world.measures.verdicts(),
        divergence: world.measures.first_divergence(),
        capacity: world.measures.capacity(0, world.now),
        tallies: world.measures.tallies.clone(),
        timeline: world.measures.timeline.clone(),
        shares: world.measures.shares.clone(),
    }
}

impl<'a> Deciding<'a> {
    /// The policies at work.
    pub fn policies(self) -> Vec<&'a Policy> {
        match self {
            Deciding::Policy(policy) => vec![policy.policy()],
            Deciding::Hierarchy(hierarchy) => hierarchy.policies().iter().map(Verified::policy).collect(),
        }
    }

    /// What scenarios are checked against.
    pub fn subject(self) -> Subject<'a> {
        let schedulers = match self {
            Deciding::Policy(_) => Vec::new(),
            Deciding::Hierarchy(hierarchy) => {
                hierarchy.nodes().iter().map(|node| (node.name.as_str(), node.policy)).collect()
            }
        };
        Subject { policies: self.policies(), schedulers, instead: false }
    }

    /// Whether a policy has nodes. It is then the root's.
    fn has_nodes(self) -> bool {
        self.policies().iter().any(|policy| policy.has_nodes())
    }

    fn verified(self, policy: usize) -> &'a Verified<Policy> {
        match self {
            Deciding::Policy(only) => only,
            Deciding::Hierarchy(hierarchy) => &hierarchy.policies()[policy],
        }
    }

    /// The schedulers, each with its policy at work.
    fn plan<R: Runner>(self, runner: impl Fn(usize) -> R) -> Plan<R> {
        match self {
            Deciding::Policy(_) => Plan { schedulers: vec![Scheduler::new(runner(0), None, Vec::new())], default: 0 },
            Deciding::Hierarchy(hierarchy) => {
                let scheduler = |node: &Node| Scheduler::of_node(runner(node.policy), node);
                let schedulers = hierarchy.nodes().iter().map(scheduler).collect();
                Plan { schedulers, default: hierarchy.default() }
            }
        }
    }
}

/// A sink that drops all records.
pub struct Nowhere;

impl Sink for Nowhere {
    fn record(&mut self, _: &Record) {}
}

/// The names of the records' events.
pub fn event_names(deciding: Deciding<'_>, framework: &Framework) -> Vec<String> {
    policy::Events::new(framework, &deciding.policies()).map_or(Vec::new(), |events| events.names)
}
