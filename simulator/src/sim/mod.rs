//! Simulation: a policy at work on the threads of a scenario, in virtual time. The same scenario always gives the same.
//!
//! ```text
//! Scenario ──► world ── what threads do, when ──► dispatcher ── events ──► policy (interpreted, or compiled)
//!                │                                    └── records: what happened, and why ──► Sink
//!                └──► measures ──► verdicts, tallies, a timeline
//! ```

mod amounts;
mod dispatcher;
mod measures;
mod policy;
mod record;
mod timeline;
mod world;

use catapults_compiler::framework::Framework;
use catapults_compiler::policy::Policy;
use catapults_compiler::scenario::Scenario;
use catapults_compiler::verify::Verified;

pub use dispatcher::Out;
pub use measures::{Distribution, Tally, Verdict, duration};
pub use policy::EventId;
pub use record::{Kind, Record, Sink};
pub use timeline::{Change, State, Timeline};
pub use world::Ending;

use dispatcher::Dispatcher;
use policy::Interpreted;
use world::World;

/// What came of a scenario.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why it ended.
    pub ending: Ending,
    /// When.
    pub end: i64,
    /// Of each expectation, in their order.
    pub verdicts: Vec<Verdict>,
    /// Of each of the scenario's threads.
    pub tallies: Vec<Tally>,
    /// The time of all processors together.
    pub capacity: i128,
    /// The first changes of states; or, for a test, those around what is not as expected.
    pub timeline: Timeline,
    /// When something was first seen not to be as expected.
    pub divergence: Option<i64>,
}

impl Outcome {
    /// Whether all is as expected, and nothing stopped it.
    pub fn is_as_expected(&self) -> bool {
        !matches!(self.ending, Ending::Out(_)) && self.verdicts.iter().all(|verdict| verdict.holds)
    }
}

/// Which part of the timeline is kept, if it is long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Its beginning.
    Beginning,
    /// What is around the first thing that is not as expected; its end, if all is.
    AroundDivergence,
}

/// Simulates a scenario under a policy. What happens goes to `sink` as it does.
///
/// # Errors
/// The framework has no such events as every simulation needs.
pub fn simulate(
    scenario: &Scenario,
    verified: &Verified<Policy>,
    framework: &Framework,
    keep: Keep,
    sink: &mut dyn Sink,
) -> Result<Outcome, String> {
    let events = policy::Events::new(framework, verified.policy())?;
    let runner = Interpreted::new(verified, &events);
    let processors = scenario.processors as usize;
    let dispatcher = Dispatcher::new(runner, framework, verified.policy(), processors, sink)?;
    let mut world = World::new(scenario, dispatcher, framework);
    if keep == Keep::AroundDivergence {
        world.measures.timeline.keep_last();
    }
    let ending = world.run();
    Ok(Outcome {
        ending,
        end: world.now,
        verdicts: world.measures.verdicts(),
        divergence: world.measures.first_divergence(),
        capacity: world.measures.capacity(),
        tallies: world.measures.tallies.clone(),
        timeline: world.measures.timeline.clone(),
    })
}

/// Of no use to anybody.
pub struct Nowhere;

impl Sink for Nowhere {
    fn record(&mut self, _: &Record) {}
}

/// The names of the events of a policy's records.
pub fn event_names(policy: &Policy, framework: &Framework) -> Vec<String> {
    policy::Events::new(framework, policy).map_or(Vec::new(), |events| events.names)
}
