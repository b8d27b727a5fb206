//! What holds between two events, whatever has happened: the sizes of containers, the values of the policy's variables,
//! and where threads are.
//!
//! Only handlers change these. So a fact holds whenever an event is raised if it holds when the policy has been loaded,
//! and after every handler that starts where it holds. To find such facts, all handlers are followed again and again
//! until no end tells anything new. A guard that fails puts the policy out, and a refused request has changed nothing.

use std::collections::BTreeMap;

use super::flow::{self, Course};
use super::positions::{Arrival, Positions, Trace};
use super::situation;
use super::state::{Places, State};
use super::{paths, walk};
use crate::framework::automaton::Order;
use crate::framework::{Event, Framework, Pattern};
use crate::policy::{Handler, Policy};

/// What holds between events.
pub(super) struct Between {
    order: Order,
    /// Before the first event.
    loaded: State,
    /// At any time, by the state of the framework's sequences.
    always: BTreeMap<Vec<u64>, State>,
    /// Where threads can be; `None`: anywhere.
    positions: Option<Positions>,
}

/// How an event comes: the handler, the state of the sequences, and the life of the thread that it names.
type Way = (usize, Vec<u64>, Option<u64>);

/// If the sequences have more states than this, they are not followed.
const MOST_WAYS: usize = 32;

/// In the first rounds through all handlers, what they leave is joined as it is. Later rounds widen it in steps.
const ROUNDS: usize = 3;

/// From this round on, nothing is known of values any more. Sizes have come to rest long before.
const MOST_ROUNDS: usize = 16;

/// After this round nothing is known at all.
const LAST_ROUND: usize = 100;

/// Of policies with more statements, nothing is known between events: nobody writes them, and a check must be quick.
const MOST_STATEMENTS: usize = 30_000;

impl Between {
    /// Nothing is known.
    pub fn nothing(policy: &Policy) -> Self {
        let nothing = State::nothing(policy);
        let always = BTreeMap::from([(Vec::new(), nothing.clone())]);
        Between { order: Order::default(), loaded: nothing, always, positions: None }
    }

    /// The facts that all handlers of a policy together preserve.
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

    /// The same with events in this order; `None` if that is too much work.
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
        let mut between = Between { order, loaded, always, positions: None };
        let mut positions = Positions::none(framework);
        let mut traces: Vec<Trace> = handlers.iter().map(|_| Trace::default()).collect();
        let mut starts: BTreeMap<Way, (Arrival, Vec<State>)> = BTreeMap::new();
        for round in 0..LAST_ROUND {
            let mut rest = true;
            for (index, (handler, trace)) in handlers.iter().copied().zip(&mut traces).enumerate() {
                let event = framework.events.iter().find(|event| event.name == handler.name);
                let course = Course { policy, handler, steps };
                for (way, known) in between.ways(framework, handler, event) {
                    let Some(way_on) = between.order.after(&way, &handler.name) else { continue };
                    let known = known.entering(policy, handler);
                    for arrival in positions.arrivals(handler) {
                        let situations = situation::from(policy, handler, event, &known, Some(&arrival.spots));
                        let new: Vec<State> = situations.into_iter().map(|situation| situation.start).collect();
                        let now = (arrival.clone(), new.clone());
                        let old = starts.insert((index, way.clone(), arrival.life), now.clone());
                        if old.is_some_and(|old| old == now) {
                            continue;
                        }
                        for start in new {
                            let flow = flow::to_its_ends(course, start.unsure(), paths(handler));
                            rest &= !trace.add(policy, flow.moves, &flow.ends);
                            for end in flow.ends {
                                rest &= !positions.left(handler, &arrival, &end);
                                rest &= !between.left(&way_on, end.state.between(policy), round, &nothing, steps);
                            }
                        }
                    }
                }
                rest &= !positions.moved(&handler.name, trace);
            }
            rest &= !positions.unhandled(policy, framework);
            if between.always.len() > MOST_WAYS {
                return None;
            }
            if rest {
                between.positions = Some(positions);
                return Some(between);
            }
        }
        None
    }

    /// Records a state that some handler leaves when the sequences are in state `way`. Returns whether it is new.
    fn left(&mut self, way: &Vec<u64>, after: State, round: usize, nothing: &State, steps: &[i64]) -> bool {
        let Some(before) = self.always.get(way) else {
            self.always.insert(way.clone(), after);
            return true;
        };
        let next = if round < ROUNDS {
            before.clone().join(after)
        } else if round < MOST_ROUNDS {
            before.clone().widen(after, nothing, steps)
        } else {
            before.clone().widen(after, nothing, &[]).with_values_of(nothing)
        };
        let news = next != *before;
        self.always.insert(way.clone(), next);
        news
    }

    /// In which order the framework lets events come.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// How threads come to a handler, as far as they are followed.
    pub fn arrivals(&self, handler: &Handler) -> Vec<Arrival> {
        self.positions.as_ref().map_or_else(Vec::new, |positions| positions.arrivals(handler))
    }

    /// Where the threads can be that the event or query of a handler names; `None`: anywhere.
    pub fn positions(&self, handler: &Handler) -> Option<Places> {
        self.positions.as_ref().map(|positions| positions.before(handler))
    }

    /// What is known when this handler starts; `None` if no order of events leads to it.
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

    /// What is known when this handler starts, by the state of the sequences at that time.
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

/// Whether an event comes once, before all others: a sequence begins with it, and no sequence names it elsewhere.
pub(super) fn is_first(framework: &Framework, event: &Event) -> bool {
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
