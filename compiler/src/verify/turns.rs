//! Whether a policy limits turns: whether a thread that computes for ever loses the processor at some time. A policy
//! need not limit them, and many do not on purpose; its author is told.

use super::Verified;
use crate::framework::{Event, Framework, Move, Stage};
use crate::policy::{Block, ContainerRef, LocalId, Policy, Source, StateClass};

impl Verified<Policy> {
    /// The event by which the policy could limit turns, if no handler of a tick or a timer takes the processor from a
    /// thread. `None` also if the host raises no such event for policies, and ends turns itself or not at all.
    pub fn unlimited_turns(&self, framework: &Framework) -> Option<String> {
        let policy = self.policy();
        let met = framework.as_met(policy.timers(), policy.has_nodes());
        let tick = met.events.iter().find(|event| is_of_who_runs(event))?;
        let ends = |event: &&Event| event.timer.is_some() || is_of_who_runs(event);
        let mut handlers = met
            .events
            .iter()
            .filter(ends)
            .filter_map(|event| policy.events.iter().find(|handler| handler.name == event.name));
        (!handlers.any(|handler| takes(policy, &handler.body, &|_| true))).then(|| tick.name.clone())
    }

    /// Whether the handler of an event can take the processor from a thread that the event is not about: that one is READY
    /// then, and the host decides anew.
    pub fn preempts(&self, event: &Event) -> bool {
        let handler = self.policy().events.iter().find(|handler| handler.name == event.name);
        handler.is_some_and(|handler| takes(self.policy(), &handler.body, &|named| named.0 >= handler.parameters))
    }
}

/// Whether an event names running threads only, and can leave them running, as time passes.
fn is_of_who_runs(event: &Event) -> bool {
    let mut moves = event.rules.iter().flat_map(|rule| &rule.moves);
    let running = Stage::In(StateClass::Running);
    let stays = Move::Parameter(0, running, running);
    moves.clone().any(|one| *one == stays)
        && moves.all(|one| matches!(one, Move::Parameter(0, from, _) if *from == running))
}

/// Whether a block moves a thread that may be RUNNING to a READY container. `may_run`: whether one with a name may be.
fn takes(policy: &Policy, block: &Block, may_run: &dyn Fn(LocalId) -> bool) -> bool {
    block.iter().any(|statement| {
        let moves = statement.moves().is_some_and(|(source, destination)| {
            let class =
                |container: &ContainerRef| container.candidates().next().map(|first| policy.containers[first.0].class);
            let from = match source {
                Source::Thread(named) => may_run(*named),
                Source::Container(container) => class(container) == Some(StateClass::Running),
            };
            from && destination.and_then(class) == Some(StateClass::Ready)
        });
        moves || statement.blocks().any(|inner| takes(policy, inner, may_run))
    })
}
