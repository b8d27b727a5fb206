//! What holds between two events, whatever has happened: of the sizes of containers and the variables of the policy.
//!
//! Only handlers change these. So what holds when the policy has been loaded, and after every handler that starts where it
//! holds, holds whenever an event is raised. It is found by following all handlers again and again until no end of any tells
//! anything new. When a guard fails the policy is out, and when a request is refused nothing has changed.

use std::collections::BTreeMap;

use super::flow::{self, Course};
use super::situation;
use super::state::State;
use super::{paths, walk};
use crate::framework::automaton::Order;
use crate::framework::{Event, Framework, Pattern};
use crate::policy::{Handler, Policy};

/// What holds between events.
pub(super) struct Between {
    order: Order,
    /// Before the first event.
    loaded: State,
    /// At any time, by how far the framework's sequences have come.
    always: BTreeMap<Vec<u64>, State>,
}

/// Sequences that can come so far in more ways than this are not followed.
const MOST_WAYS: usize = 32;

/// Rounds through all handlers in which what they leave is joined as it is; after that, what still changes is given up by steps.
const ROUNDS: usize = 3;

/// After so many rounds nothing is known of values any more; sizes have come to rest long before.
const MOST_ROUNDS: usize = 16;

/// After so many rounds nothing is known.
const LAST_ROUND: usize = 100;

/// In policies of more statements nothing is known between events: nobody writes them, and a check is to take a moment.
const MOST_STATEMENTS: usize = 30_000;

impl Between {
    /// Nothing is known.
    pub fn nothing(policy: &Policy) -> Self {
        let nothing = State::nothing(policy);
        Between { order: Order::default(), loaded: nothing.clone(), always: BTreeMap::from([(Vec::new(), nothing)]) }
    }

    /// What the handlers of a policy keep up together.
    pub fn of(policy: &Policy, framework: &Framework, steps: &[i64], firsts: &[usize]) -> Self {
        let handlers = policy.events.iter().enumerate().filter(|(index, _)| firsts[*index] == *index);
        let handlers: Vec<&Handler> = handlers.map(|(_, handler)| handler).collect();
        if handlers.iter().map(|handler| walk::length(&handler.body)).sum::<usize>() > MOST_STATEMENTS {
            return Between::nothing(policy);
        }
        let ordered = Between::ordered(policy, framework, steps, &handlers, Order::of(framework));
        let any = || Between::ordered(policy, framework, steps, &handlers, Order::default());
        ordered.or_else(any).unwrap_or_else(|| Between::nothing(policy))
    }

    /// The same in this order of events; `None` if that is too much work.
    fn ordered(
        policy: &Policy,
        framework: &Framework,
        steps: &[i64],
        handlers: &[&Handler],
        order: Order,
    ) -> Option<Self> {
        let loaded = State::loaded(policy);
        let nothing = State::nothing(policy);
        let always = BTreeMap::from([(order.first(), loaded.clone())]);
        let mut between = Between { order, loaded, always };
        let mut starts: BTreeMap<(usize, Vec<u64>), Vec<State>> = BTreeMap::new();
        for round in 0..LAST_ROUND {
            let mut rest = true;
            for (index, handler) in handlers.iter().copied().enumerate() {
                let event = framework.events.iter().find(|event| event.name == handler.name);
                let course = Course { policy, handler, steps };
                for (way, known) in between.ways(framework, handler, event) {
                    let known = known.entering(policy, handler);
                    let situations = situation::from(policy, handler, event, &known);
                    let new: Vec<State> = situations.into_iter().map(|situation| situation.start).collect();
                    let old = starts.insert((index, way.clone()), new.clone());
                    if old.is_some_and(|old| old == new) {
                        continue;
                    }
                    let Some(way) = between.order.after(&way, &handler.name) else { continue };
                    for start in new {
                        for end in flow::ends(course, start, paths(handler)) {
                            let after = end.state.between(policy);
                            let Some(before) = between.always.get(&way).cloned() else {
                                between.always.insert(way.clone(), after);
                                rest = false;
                                continue;
                            };
                            let next = if round < ROUNDS {
                                before.clone().join(after)
                            } else if round < MOST_ROUNDS {
                                before.clone().widen(after, &nothing, steps)
                            } else {
                                before.clone().widen(after, &nothing, &[]).with_values_of(&nothing)
                            };
                            rest &= next == before;
                            between.always.insert(way.clone(), next);
                        }
                    }
                }
            }
            if between.always.len() > MOST_WAYS {
                return None;
            }
            if rest {
                return Some(between);
            }
        }
        None
    }

    /// What is known when this handler starts; `None` if no order of events comes to it.
    pub fn before(
        &self,
        policy: &Policy,
        framework: &Framework,
        handler: &Handler,
        event: Option<&Event>,
    ) -> Option<State> {
        let known = self.ways(framework, handler, event).into_iter().map(|(_, state)| state);
        known.reduce(State::join).map(|state| state.entering(policy, handler))
    }

    /// What is known when this handler starts, by how far the sequences have come then.
    fn ways(&self, framework: &Framework, handler: &Handler, event: Option<&Event>) -> Vec<(Vec<u64>, State)> {
        if event.is_some_and(|event| is_first(framework, event)) {
            return vec![(self.order.first(), self.loaded.clone())];
        }
        // A query is asked at any time.
        let can_come = |way: &Vec<u64>| handler.returns.is_some() || self.order.after(way, &handler.name).is_some();
        let ways = self.always.iter().filter(|(way, _)| can_come(way));
        ways.map(|(way, state)| (way.clone(), state.clone())).collect()
    }
}

/// Whether an event comes before all others, once: a sequence begins with it, and it stands nowhere else.
fn is_first(framework: &Framework, event: &Event) -> bool {
    let is_it = |pattern: &Pattern| match pattern {
        Pattern::Event(names) => *names == [event.name.as_str()],
        Pattern::Sequence(_) | Pattern::Then(_) | Pattern::Either(_) | Pattern::Many(_) | Pattern::Maybe(_) => false,
    };
    let begins = |pattern: &Pattern| match pattern {
        Pattern::Then(parts) => parts.first().is_some_and(|first| match first {
            Pattern::Maybe(inner) => is_it(inner),
            Pattern::Event(_) | Pattern::Sequence(_) | Pattern::Then(_) | Pattern::Either(_) | Pattern::Many(_) => {
                is_it(first)
            }
        }),
        Pattern::Event(_) | Pattern::Sequence(_) | Pattern::Either(_) | Pattern::Many(_) | Pattern::Maybe(_) => false,
    };
    let patterns = || framework.sequences.iter().map(|sequence| &sequence.pattern);
    event.parameters.is_empty()
        && patterns().any(begins)
        && patterns().map(|pattern| times(pattern, &event.name)).sum::<usize>() == 1
}

/// How many times an event is named.
fn times(pattern: &Pattern, event: &str) -> usize {
    match pattern {
        Pattern::Event(names) => names.iter().filter(|name| *name == event).count(),
        Pattern::Sequence(_) => 0,
        Pattern::Then(parts) | Pattern::Either(parts) => parts.iter().map(|part| times(part, event)).sum(),
        Pattern::Many(inner) | Pattern::Maybe(inner) => times(inner, event),
    }
}
