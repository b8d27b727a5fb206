//! What holds between two events, whatever has happened: of the sizes of containers and the variables of the policy.
//!
//! Only handlers change these. So what holds when the policy has been loaded, and after every handler that starts where it
//! holds, holds whenever an event is raised. It is found by following all handlers again and again until no end of any tells
//! anything new. When a guard fails the policy is out, and when a request is refused nothing has changed.

use super::flow::{self, Course, EndKind};
use super::situation;
use super::state::State;
use super::{paths, walk};
use crate::framework::{Event, Framework, Pattern};
use crate::policy::{Handler, Policy};

/// What holds between events.
pub(super) struct Between {
    /// Before the first event.
    loaded: State,
    /// At any time.
    always: State,
}

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
        Between { loaded: nothing.clone(), always: nothing }
    }

    /// What the handlers of a policy keep up together.
    pub fn of(policy: &Policy, framework: &Framework, steps: &[i64]) -> Self {
        if walk::count(policy) > MOST_STATEMENTS {
            return Between::nothing(policy);
        }
        let loaded = State::loaded(policy);
        let nothing = State::nothing(policy);
        let mut between = Between { always: loaded.clone(), loaded };
        let mut starts: Vec<Vec<State>> = policy.events.iter().map(|_| Vec::new()).collect();
        for round in 0.. {
            let mut rest = true;
            for (handler, starts) in policy.events.iter().zip(&mut starts) {
                let event = framework.events.iter().find(|event| event.name == handler.name);
                let course = Course { policy, handler, steps };
                let situations = situation::situations(policy, framework, handler, event, &between);
                let new: Vec<State> = situations.into_iter().map(|situation| situation.start).collect();
                if new == *starts {
                    continue;
                }
                *starts = new;
                for start in starts.iter() {
                    for end in flow::ends(course, start.clone(), paths(handler)) {
                        if end.kind == EndKind::Fail {
                            continue;
                        }
                        let after = end.state.between(policy);
                        let next = if round < ROUNDS {
                            between.always.clone().join(after)
                        } else if round < MOST_ROUNDS {
                            between.always.clone().widen(after, &nothing, steps)
                        } else {
                            between.always.clone().widen(after, &nothing, &[]).with_values_of(&nothing)
                        };
                        rest &= next == between.always;
                        between.always = next;
                    }
                }
            }
            if rest {
                return between;
            }
            if round == LAST_ROUND {
                break;
            }
        }
        Between::nothing(policy)
    }

    /// What is known when this handler starts.
    pub fn before(&self, policy: &Policy, framework: &Framework, handler: &Handler, event: Option<&Event>) -> State {
        let first = event.is_some_and(|event| is_first(framework, event));
        if first { &self.loaded } else { &self.always }.entering(policy, handler)
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
