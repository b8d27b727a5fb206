//! A condition that comes out the same way whenever it is tested decides nothing (2005, §6.1: "statically known variable
//! values"): what depends on it is always done, or never.
//!
//! Switches are meant to have one value: what is made of literals and constants alone is not spoken of. Nor is a function,
//! whose condition may be decided by what its callers pass.

use std::collections::BTreeMap;

use super::condition::assume;
use super::state::{State, Why};
use super::values::{Range, evaluate};
use super::{Handling, alternatives, known_from, walk};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{
    At, BinaryOperator, Expression, Place, Policy, Statement, StatementKind, Thread, Type, UnaryOperator,
};

/// The tests of a policy, by the place of their statement and their number in its condition.
#[derive(Default)]
pub(super) struct Tests {
    /// `None`: it comes out both ways, or is not spoken of.
    outcomes: BTreeMap<(u32, u32, usize), Option<(bool, Diagnostic)>>,
}

/// Notes how the tests of a handler come out. A handler for a family is looked at once for each member.
pub(super) fn look(handling: &Handling, tests: &mut Tests) {
    walk::statements(&handling.handler.body, &mut |statement| {
        let condition = match &statement.kind {
            StatementKind::If { condition, .. } | StatementKind::Loop { condition, .. } => condition,
            StatementKind::Set { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Return { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Fail { .. } => return,
        };
        let states: Vec<State> = handling.all_before(statement.id).cloned().collect();
        if statement.at.line > 0 && !states.is_empty() {
            let spoken_of = is_within(handling.policy, handling.handler.at, statement.at);
            let whole = !matches!(condition, Expression::Binary(BinaryOperator::And | BinaryOperator::Or, ..));
            Reader { handling, statement, spoken_of, whole, number: 0, tests }.condition(condition, states);
        }
    });
}

/// Says which of them always come out the same way.
pub(super) fn check(tests: Tests, diagnostics: &mut Diagnostics) {
    for (_, diagnostic) in tests.outcomes.into_values().flatten() {
        diagnostics.push(diagnostic);
    }
}

/// Whether a statement stands in the handler with this header, and not in a function that it calls.
fn is_within(policy: &Policy, header: At, statement: At) -> bool {
    let headers = policy.events.iter().chain(&policy.queries).map(|handler| handler.at.start);
    let next = headers.filter(|start| *start > header.start).min();
    header.start < statement.start && next.is_none_or(|next| statement.start < next)
}

struct Reader<'a, 't> {
    handling: &'a Handling<'a>,
    statement: &'a Statement,
    spoken_of: bool,
    /// The condition is one test.
    whole: bool,
    /// Of the test that comes next.
    number: usize,
    tests: &'t mut Tests,
}

impl Reader<'_, '_> {
    /// Looks at the tests of a condition that is evaluated in one of these states.
    fn condition(&mut self, condition: &Expression, states: Vec<State>) {
        match condition {
            Expression::Binary(operator @ (BinaryOperator::And | BinaryOperator::Or), left, right) => {
                let goes_on = *operator == BinaryOperator::And;
                let after = states.iter().filter_map(|state| self.after(state, left, goes_on)).collect();
                self.condition(left, states);
                self.condition(right, after);
            }
            Expression::Unary(UnaryOperator::Not, operand) => self.condition(operand, states),
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ConstantElement { .. }
            | Expression::Read(_)
            | Expression::Now
            | Expression::Convert(..)
            | Expression::Size(_)
            | Expression::In(..)
            | Expression::Unary(UnaryOperator::Negate, _)
            | Expression::NotZero(_)
            | Expression::Verbatim { .. }
            | Expression::Binary(..) => self.test(condition, &states),
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
        // One member of a family comes out otherwise, or a function is called elsewhere too.
        if known.as_ref().map(|(outcome, _)| *outcome) != found.map(|(outcome, _)| outcome) {
            *known = None;
        }
    }

    fn say(&self, test: &Expression, outcome: bool, states: &[State]) -> Diagnostic {
        let written = self.handling.heads().expression(test);
        let title = format!("`{written}` is always {outcome} here");
        let label = if self.whole { format!("always {outcome}") } else { "a part of this".to_owned() };
        let mut diagnostic = Diagnostic::warning("E0414", title, self.statement.at, label);
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
        if let Expression::In(Thread::Local(local), _) = part {
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
                match (range.least > any.least, range.most < any.most) {
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

/// Whether a test is made of literals and constants alone.
fn is_switch(test: &Expression) -> bool {
    match test {
        Expression::Literal(_) | Expression::Constant(_) => true,
        Expression::ConstantElement { index, .. } => is_switch(index),
        Expression::Read(_)
        | Expression::Now
        | Expression::Size(_)
        | Expression::In(..)
        | Expression::Verbatim { .. } => false,
        Expression::Unary(_, operand) | Expression::Convert(_, operand) | Expression::NotZero(operand) => {
            is_switch(operand)
        }
        Expression::Binary(_, left, right) => is_switch(left) && is_switch(right),
    }
}

/// The parts of a test of which something can be known.
fn followed<'e>(test: &'e Expression, parts: &mut Vec<&'e Expression>) {
    match test {
        Expression::Read(Place::Variable(_) | Place::Local(_))
        | Expression::Size(_)
        | Expression::In(Thread::Local(_), _) => {
            if !parts.contains(&test) {
                parts.push(test);
            }
        }
        Expression::Read(
            Place::Import(_)
            | Place::VariableElement { .. }
            | Place::Attribute(..)
            | Place::AttributeElement { .. }
            | Place::ThreadImport(..),
        )
        | Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::ConstantElement { .. }
        | Expression::Now
        | Expression::Verbatim { .. }
        | Expression::In(Thread::Slot(_), _) => {}
        Expression::Unary(_, operand) | Expression::Convert(_, operand) | Expression::NotZero(operand) => {
            followed(operand, parts);
        }
        Expression::Binary(_, left, right) => {
            followed(left, parts);
            followed(right, parts);
        }
    }
}
