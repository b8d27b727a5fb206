//! A condition that always has the same outcome decides nothing (2005, §6.1: "statically known variable values"): what
//! depends on it is always done, or never.
//!
//! Switches are meant to have one value: conditions of literals and constants alone are not reported. Nor are those in
//! functions, which their callers may decide.

use std::collections::BTreeMap;

use super::condition::{assume, branch};
use super::state::{State, Why};
use super::values::{Range, evaluate, most_threads};
use super::{Handling, alternatives, known_from, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{At, Expression, Place, Policy, Statement, Thread, Type, UnaryOperator};

/// The tests of a policy, by the place of the statement and by their number in its condition.
#[derive(Default)]
pub(super) struct Tests {
    /// `None`: it has both outcomes, or is not reported.
    outcomes: BTreeMap<(u32, u32, usize), Option<(bool, Diagnostic)>>,
}

/// Records the outcomes of a handler's tests. A handler for a family is visited once for each member.
pub(super) fn look(handling: &Handling, tests: &mut Tests) {
    walk::statements(&handling.handler.body, &mut |statement| {
        let Some(condition) = statement.condition() else { return };
        let states: Vec<State> = handling.all_before(statement.id).cloned().collect();
        if statement.at.line > 0 && !states.is_empty() {
            let spoken_of = is_within(handling.policy, handling.handler.at, statement.at);
            let whole = !matches!(condition, Expression::Binary(operator, ..) if operator.goes_on_if().is_some())
                && !matches!(condition, Expression::Choose(..));
            Reader { handling, statement, spoken_of, whole, number: 0, tests }.condition(condition, states);
        }
    });
}

/// Reports the tests that always have the same outcome.
pub(super) fn check(tests: Tests, diagnostics: &mut Diagnostics) {
    for (_, diagnostic) in tests.outcomes.into_values().flatten() {
        diagnostics.push(diagnostic);
    }
}

/// Whether a statement stands in the handler with this header itself, and not in a function that it calls.
fn is_within(policy: &Policy, header: At, statement: At) -> bool {
    let headers = policy.events.iter().chain(&policy.queries).map(|handler| handler.at.start);
    let next = headers.filter(|start| *start > header.start).min();
    let own = policy.used_at(statement).is_none();
    own && header.start < statement.start && next.is_none_or(|next| statement.start < next)
}

struct Reader<'a, 't> {
    handling: &'a Handling<'a>,
    statement: &'a Statement,
    spoken_of: bool,
    /// The condition is one test.
    whole: bool,
    /// The number of the next test.
    number: usize,
    tests: &'t mut Tests,
}

impl Reader<'_, '_> {
    /// Looks at the tests of a condition that is evaluated in one of these states.
    fn condition(&mut self, condition: &Expression, states: Vec<State>) {
        // `t != u` is one test.
        if let Expression::Unary(UnaryOperator::Not, operand) = condition
            && !operand.compares_threads()
        {
            self.condition(operand, states);
        } else if let Expression::Binary(operator, left, right) = condition
            && let Some(goes_on) = operator.goes_on_if()
        {
            let after = states.iter().filter_map(|state| self.after(state, left, goes_on)).collect();
            self.condition(left, states);
            self.condition(right, after);
        } else if let Expression::Choose(test, one, other) = condition {
            for (outcome, value) in [(true, one), (false, other)] {
                let chosen = |state: &State| branch(self.handling.policy, state, test, outcome, self.statement.at);
                let after = states.iter().filter_map(chosen).collect();
                self.condition(value, after);
            }
            self.condition(test, states);
        } else {
            self.test(condition, &states);
        }
    }

    fn after(&self, state: &State, condition: &Expression, outcome: bool) -> Option<State> {
        assume(self.handling.policy, state.clone(), condition, outcome, self.statement.at)
    }

    fn test(&mut self, test: &Expression, states: &[State]) {
        let key = (self.statement.at.start, self.statement.at.end, self.number);
        self.number += 1;
        if states.is_empty() {
            return;
        }
        let can = |outcome: bool| states.iter().any(|state| self.after(state, test, outcome).is_some());
        let found = match (can(true), can(false)) {
            (true, false) if self.spoken_of => Some(true),
            (false, true) if self.spoken_of => Some(false),
            (_, _) => None,
        };
        let found = found.filter(|_| !is_switch(test)).map(|outcome| (outcome, self.say(test, outcome, states)));
        let known = self.tests.outcomes.entry(key).or_insert_with(|| found.clone());
        // Another member of a family, or another call of a function, has another outcome.
        if known.as_ref().map(|(outcome, _)| *outcome) != found.map(|(outcome, _)| outcome) {
            *known = None;
        }
    }

    fn say(&self, test: &Expression, outcome: bool, states: &[State]) -> Diagnostic {
        let written = self.handling.heads().expression(test);
        let title = format!("`{written}` is always {outcome} here");
        let label = if self.whole { format!("always {outcome}") } else { "a part of this".to_owned() };
        let diagnostic = Diagnostic::warning("E0414", title, self.statement.at, label);
        let mut diagnostic = diagnostic.of_part(written, format!("always {outcome}"));
        let mut sources = Vec::new();
        followed(test, &mut sources);
        if let Some(state) = states.iter().cloned().reduce(State::join) {
            for source in sources {
                diagnostic = self.because(diagnostic, source, &state);
            }
        }
        diagnostic.help("remove the test, or change what makes it superfluous")
    }

    /// Adds what is known of a part of a test, and from where.
    fn because(&self, diagnostic: Diagnostic, part: &Expression, state: &State) -> Diagnostic {
        let policy = self.handling.policy;
        if let Expression::In(Thread::Local(local), ..) = part {
            let places = state.places(*local).into_iter().flatten().filter_map(|spot| spot.container());
            let names = self.handling.names(&places.collect::<Vec<_>>());
            let thread = self.handling.local(*local);
            return diagnostic.note(format!("{thread} is in {}", alternatives(&names)));
        }
        let range = evaluate(policy, state, part);
        let name = self.handling.heads().expression(part);
        let fact = match (range.ty, range.single()) {
            (Type::Bool, Some(value)) => format!("`{name}` is {}", value != 0),
            (Type::Int, Some(value)) => format!("`{name}` is {value}"),
            (Type::Int, None) => {
                let any = Range::any(policy, Type::Int);
                match (range.least > any.least, range.most < most_threads(policy)) {
                    (true, true) => format!("`{name}` is between {} and {}", range.least, range.most),
                    (true, false) => format!("`{name}` is at least {}", range.least),
                    (false, true) => format!("`{name}` is at most {}", range.most),
                    (false, false) => return diagnostic,
                }
            }
            (Type::Time | Type::Float, _) | (Type::Bool, None) => return diagnostic,
        };
        match range.why {
            Why::Unknown => diagnostic.note(fact),
            Why::Between | Why::Given | Why::Tested(_) | Why::Moved(_) => known_from(diagnostic, range.why, &fact),
        }
    }
}

/// Whether a test consists of literals and constants alone.
fn is_switch(test: &Expression) -> bool {
    let names = test.names();
    let own =
        names.place.is_some() || names.container.is_some() || names.threads[0].is_some() || names.verbatim.is_some();
    !own && *test != Expression::Now && test.parts().all(is_switch)
}

/// The parts of a test of which something can be known.
fn followed<'e>(test: &'e Expression, parts: &mut Vec<&'e Expression>) {
    let names = test.names();
    let known = match names.threads {
        // What is known of two threads is known of each.
        [Some(_), Some(_)] => false,
        [Some(thread), None] => matches!(thread, Thread::Local(_)),
        [None, _] => {
            names.container.is_some()
                || matches!(
                    names.place,
                    Some(Place::Variable(_) | Place::Local(_) | Place::Attribute(Thread::Local(_), _))
                )
        }
    };
    if known && !parts.contains(&test) {
        parts.push(test);
    }
    // The parts of an index are not reported, nor is the `else` part of verbatim text.
    let whole = names.place.is_some() || names.container.is_some() || names.verbatim.is_some();
    if !whole && !matches!(test, Expression::ConstantElement { .. }) {
        test.parts().for_each(|part| followed(part, parts));
    }
}
