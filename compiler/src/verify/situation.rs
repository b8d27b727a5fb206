//! What is known when a handler starts: from its event type, and from what all handlers together preserve.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::between::Between;
use super::flow::Flow;
use super::state::{Places, Spot, State, Why};
use super::values::{self, Range};
use crate::framework::{Condition, Event, Framework, Move, Rule, Stage};
use crate::policy::{AttributeId, ContainerId, Entity, Handler, LocalId, LocalKind, Place, Policy, StateClass, Thread};

/// One way in which an event can find the policy.
#[derive(Debug)]
pub(super) struct Situation<'a> {
    /// What is known then.
    pub start: State,
    /// The rules that apply, of which the handler must satisfy one. Empty: the event has no rules.
    pub rules: Vec<&'a Rule>,
    /// The paths from here kept apart, if they have been asked for.
    pub paths: OnceCell<Flow>,
}

/// The situations at the start of a handler: one for each alternative of the event type that agrees with what is known
/// between events. A query or an event without a type has one.
pub(super) fn situations<'a>(
    policy: &Policy,
    framework: &Framework,
    handler: &Handler,
    event: Option<&'a Event>,
    between: &Between,
) -> Vec<Situation<'a>> {
    let known = between.before(policy, framework, handler, event);
    let positions = between.positions(handler);
    known.map_or_else(Vec::new, |known| from(policy, handler, event, &known, positions.as_ref()))
}

/// The same, from what is known besides the event type, and from where the threads are that the event names.
pub(super) fn from<'a>(
    policy: &Policy,
    handler: &Handler,
    event: Option<&'a Event>,
    known: &State,
    positions: Option<&Places>,
) -> Vec<Situation<'a>> {
    // Positions are known for threads only.
    let threads = || (0..handler.parameters).filter(|parameter| entity(handler, *parameter) == Entity::Thread);
    let placed = |state: State| match positions {
        Some(places) => threads()
            .try_fold(state, |state, parameter| state.with_places(LocalId(parameter), |spot| places.contains(&spot))),
        None => Some(state),
    };
    let rules = event.map_or(&[][..], |event| &event.rules);
    if rules.is_empty() {
        let start = placed(known.clone()).into_iter();
        return start.map(|start| Situation { start, rules: Vec::new(), paths: OnceCell::new() }).collect();
    }
    let situation = |rule: &Rule| {
        let concerns = event.map_or(Entity::Thread, Event::concerns);
        let start = placed(start(policy, handler, concerns, rule, known.clone())?)?;
        let rules = rules.iter().filter(|other| applies(other, rule)).collect();
        Some(Situation { start, rules, paths: OnceCell::new() })
    };
    rules.iter().filter_map(situation).collect()
}

/// The containers of threads, or of nodes, of a class.
pub(super) fn of_class(policy: &Policy, holds: Entity, class: StateClass) -> impl Iterator<Item = ContainerId> + '_ {
    policy.holding(holds).filter(move |id| policy.containers[id.0].class == class)
}

/// Whether a local names a thread or a node.
pub(super) fn entity(handler: &Handler, local: usize) -> Entity {
    match handler.locals[local].kind {
        LocalKind::Node => Entity::Node,
        LocalKind::Thread | LocalKind::Value(_) => Entity::Thread,
    }
}

/// `concerns`: what the rule's conditions are about.
fn start(policy: &Policy, handler: &Handler, concerns: Entity, rule: &Rule, known: State) -> Option<State> {
    let mut state = known;
    for condition in &rule.given {
        match condition {
            Condition::Some(class) => {
                state = state.with_some(of_class(policy, concerns, *class).collect::<BTreeSet<_>>())?;
            }
            Condition::None(class) => {
                for container in of_class(policy, concerns, *class) {
                    state = state.with_size(container, 0, Some(0), Why::Given)?;
                }
            }
        }
    }
    for step in &rule.moves {
        match step {
            Move::Parameter(index, from, _) if *index < handler.parameters => {
                let places: Places = match from {
                    // No thread begins placed.
                    Stage::New | Stage::Placed => BTreeSet::from([Spot::Hand]),
                    Stage::In(class) => of_class(policy, entity(handler, *index), *class).map(Spot::In).collect(),
                };
                state = state.placed(LocalId(*index), places)?;
                // Where there are nodes, an event of a thread that has come from another one begins like this, too.
                if *from == Stage::New && !policy.has_nodes() {
                    state = with_initial_attributes(policy, state, LocalId(*index));
                }
            }
            Move::Parameter(..) | Move::One(..) => {}
        }
    }
    Some(state)
}

/// The state in which a local names a thread that no handler has seen yet.
fn with_initial_attributes(policy: &Policy, state: State, local: LocalId) -> State {
    policy.attributes.iter().enumerate().fold(state, |state, (number, attribute)| {
        let place = Place::Attribute(Thread::Local(local), AttributeId(number));
        values::with(policy, state, &place, Range::of(attribute.initial).because(Why::Given))
    })
}

/// Whether `other` applies in every situation in which `rule` does.
fn applies(other: &Rule, rule: &Rule) -> bool {
    let starts = |rule: &Rule| -> BTreeSet<_> {
        let parameters = rule.moves.iter().filter_map(|step| match step {
            Move::Parameter(index, from, _) => Some((*index, stage_number(*from))),
            Move::One(..) => None,
        });
        parameters.collect()
    };
    other.given.iter().all(|condition| rule.given.contains(condition)) && starts(other).is_subset(&starts(rule))
}

fn stage_number(stage: Stage) -> Option<StateClass> {
    match stage {
        Stage::New | Stage::Placed => None,
        Stage::In(class) => Some(class),
    }
}
