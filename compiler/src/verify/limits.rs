//! What bounds the work of a handler: which statements and branches can be reached, how many turns loops have, and how
//! many threads are in the containers that a statement uses.

use super::condition::assume;
use super::state::{Spot, State};
use super::{Between, Handling, Known, Verified, repeated, statements, termination, values, walk};
use crate::framework::Framework;
use crate::policy::{ContainerId, ContainerRef, Entity, Policy, Source, Statement, StatementId, StatementKind};

/// What is known of each statement of a policy.
#[derive(Clone, Debug)]
pub struct Limits(Vec<Limit>);

/// What is known of a statement.
#[derive(Clone, Debug)]
pub struct Limit {
    /// Whether some order of events leads to it, as far as is known.
    pub reached: bool,
    /// For an `if`: whether its condition can be true, and whether it can be false.
    pub outcomes: (bool, bool),
    /// For a loop with a condition; `None`: no number is known.
    pub turns: Option<Turns>,
    /// How many threads there are in what it takes a thread from, or visits.
    pub source: Most,
    /// How many there are in the container to which it moves a thread, with that one.
    pub destination: Most,
    /// How many there are in the sorted container in which it re-files a thread.
    pub refiled: Most,
}

/// How many turns a loop has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    /// Turns that begin.
    pub begun: Most,
    /// Turns after which the condition is tested again.
    pub completed: Most,
}

/// An upper bound: the lower of the two, if both are there. One is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Most {
    /// A number.
    pub number: Option<u64>,
    /// A multiple of how many threads there are, or nodes.
    pub counted: Option<Multiple>,
}

/// `each` times the number of threads or nodes, plus `more`; at least 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiple {
    /// What is counted.
    pub of: Entity,
    /// The factor.
    pub each: u64,
    /// What is added to it.
    pub more: i64,
}

impl Limits {
    /// Of a statement.
    pub fn of(&self, statement: StatementId) -> &Limit {
        &self.0[statement.0]
    }
}

impl Most {
    /// At most this number.
    pub fn number(number: u64) -> Most {
        Most { number: Some(number), counted: None }
    }

    /// At most as many as there are threads, or nodes.
    pub fn all(of: Entity) -> Most {
        Most { number: None, counted: Some(Multiple { of, each: 1, more: 0 }) }
    }

    /// If both hold.
    #[must_use]
    pub(super) fn and(self, other: Most) -> Most {
        let number = match (self.number, other.number) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let counted = match (self.counted, other.counted) {
            (Some(one), Some(other)) => Some(if (other.each, other.more) < (one.each, one.more) { other } else { one }),
            (one, other) => one.or(other),
        };
        Most { number, counted }
    }

    /// If one of them holds; of two that are not alike, nothing is known.
    #[must_use]
    pub fn or(self, other: Most) -> Most {
        let both = |one: Multiple, other: Multiple| {
            let multiple = Multiple { of: one.of, each: one.each.max(other.each), more: one.more.max(other.more) };
            (one.of == other.of).then_some(multiple)
        };
        Most {
            number: self.number.zip(other.number).map(|(one, other)| one.max(other)),
            counted: self.counted.zip(other.counted).and_then(|(one, other)| both(one, other)),
        }
    }

    /// Whether it is a bound at all.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.number.is_some() || self.counted.is_some()
    }

    /// So many more.
    #[must_use]
    pub fn plus(self, more: i64) -> Most {
        Most {
            number: self.number.map(|number| number.saturating_add_signed(more)),
            counted: self.counted.map(|one| Multiple { more: one.more.saturating_add(more), ..one }),
        }
    }
}

impl Verified<Policy> {
    /// What bounds the work of each handler. `framework` is that of the policy.
    pub fn limits(&self, framework: &Framework) -> Limits {
        let policy = self.policy();
        let framework = &framework.as_met(policy.timers(), policy.has_nodes());
        let steps = values::steps(policy);
        let firsts = repeated::firsts(policy, framework);
        let between = Between::of(policy, framework, &steps, &firsts);
        let nothing = Between::nothing(policy);
        let known = Known { policy, framework, steps: &steps, firsts: &firsts, between, nothing };
        let nowhere = Limit {
            reached: false,
            outcomes: (false, false),
            turns: None,
            source: Most::number(0),
            destination: Most::number(0),
            refiled: Most::number(0),
        };
        let mut limits = vec![nowhere; walk::count(policy)];
        for (index, handler) in policy.events.iter().chain(&policy.queries).enumerate() {
            if let Some(first) = firsts.get(index).filter(|first| **first != index) {
                for (from, to) in statements(&policy.events[*first]).zip(statements(handler)) {
                    limits[to] = limits[from].clone();
                }
                continue;
            }
            let handling = Handling::of(&known, handler);
            walk::statements(&handler.body, &mut |statement| {
                limits[statement.id.0] = self.limit(&handling, statement);
            });
        }
        Limits(limits)
    }

    fn limit(&self, handling: &Handling, statement: &Statement) -> Limit {
        let nothing = Most::number(0);
        let (mut source, mut destination, mut refiled) = (nothing, nothing, nothing);
        if let Some((from, to)) = statement.moves() {
            source = match from {
                Source::Container(container) => most_in(handling, statement, container),
                Source::Thread(_) => {
                    each_most(handling, statement, &self.facts(statement.id).positions).unwrap_or(nothing)
                }
            };
            destination = to.map_or(nothing, |to| joining(handling, statement, to));
        } else if let StatementKind::Foreach { container, .. } = &statement.kind {
            source = most_in(handling, statement, container);
        } else if let Some(most) = each_most(handling, statement, &self.facts(statement.id).refile) {
            refiled = most;
        }
        let is_loop = matches!(statement.kind, StatementKind::Loop { .. });
        Limit {
            reached: match is_loop {
                true => handling.flows.iter().any(|flow| flow.entries.contains_key(&statement.id)),
                false => handling.all_before(statement.id).next().is_some(),
            },
            outcomes: outcomes(handling, statement),
            turns: termination::most_turns(handling, &self.facts, statement),
            source,
            destination,
            refiled,
        }
    }
}

/// Which outcomes the condition of an `if` can have.
fn outcomes(handling: &Handling, statement: &Statement) -> (bool, bool) {
    let StatementKind::If { condition, .. } = &statement.kind else { return (false, false) };
    let can_be = |outcome: bool| {
        let mut states = handling.all_before(statement.id);
        states.any(|state| assume(handling.policy, state.clone(), condition, outcome, statement.at).is_some())
    };
    (can_be(true), can_be(false))
}

/// How many threads there are at most in what `container` names, when a statement begins.
fn most_in(handling: &Handling, statement: &Statement, container: &ContainerRef) -> Most {
    let all = Most::all(handling.holds(container));
    let known = |state: &State| {
        let container = values::element(handling.policy, state, container);
        let others = outside(handling, state, &container);
        Most { number: state.size_of(&container).most, ..all.plus(-i64::from(others)) }
    };
    handling.all_before(statement.id).map(known).reduce(Most::or).unwrap_or(all)
}

/// The same for one of several containers.
fn each_most(handling: &Handling, statement: &Statement, containers: &[ContainerId]) -> Option<Most> {
    let each = containers.iter().map(|id| most_in(handling, statement, &ContainerRef::One(*id)));
    each.reduce(Most::or)
}

/// How many threads there are in `container` once one has come to it.
fn joining(handling: &Handling, statement: &Statement, container: &ContainerRef) -> Most {
    let most = most_in(handling, statement, container).plus(1);
    // No more than there are.
    Most { counted: most.counted.map(|all| Multiple { more: all.more.min(0), ..all }), ..most }
}

/// So many threads, or nodes, are certainly not in what `container` names.
fn outside(handling: &Handling, state: &State, container: &ContainerRef) -> u32 {
    let holds = handling.holds(container);
    let others = handling.policy.holding(holds).filter(|id| !container.may_be(*id));
    let held: u64 = others.map(|id| state.size(id).least).sum();
    let is_away = |spot: &Spot| matches!(spot, Spot::Hand | Spot::Gone);
    let is_out = |spot: &Spot| is_away(spot) || spot.container().is_some_and(|id| !container.may_be(id));
    let named = |such: &dyn Fn(&Spot) -> bool| {
        let mut threads = state.named_threads();
        threads.any(|(local, places)| places.iter().all(such) && handling.entity(local) == holds)
    };
    // A thread that is named can be one of those in other containers.
    let sure = if named(&is_away) { held.saturating_add(1) } else { held.max(u64::from(named(&is_out))) };
    u32::try_from(sure).unwrap_or(u32::MAX)
}
