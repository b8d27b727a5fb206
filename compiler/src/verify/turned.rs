//! A loop is run, turn by turn, where all that decides in it is known when it is come to: it ends, or comes to where it has been before.

use super::state::State;
use super::termination::Turns;
use super::values::{self, Range, evaluate};
use crate::policy::{
    BinaryOperator, Block, Element, Expression, Place, Policy, Statement, StatementKind, Test, Type, VariableId,
};

/// So many statements and tests are run.
const MOST_STEPS: usize = 20_000;

/// What becomes of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    Ends,
    /// What has been before is again: it never ends.
    Repeats,
}

/// What becomes of a loop that is come to in this state; `None` if that is not known, or takes too long.
pub(super) fn run(policy: &Policy, statement: &Statement, entry: &State) -> Option<Run> {
    let mut runner = Runner { policy, steps: 0 };
    match runner.statement(statement, entry.clone())? {
        Next::On(_) | Next::Out => Some(Run::Ends),
        Next::Round => Some(Run::Repeats),
    }
}

/// What follows a statement.
enum Next {
    /// The next one.
    On(State),
    /// The end of the handler.
    Out,
    /// Nothing ever: a loop goes round.
    Round,
}

struct Runner<'a> {
    policy: &'a Policy,
    steps: usize,
}

impl Runner<'_> {
    fn block(&mut self, block: &Block, mut state: State) -> Option<Next> {
        for statement in block {
            match self.statement(statement, state)? {
                Next::On(next) => state = next,
                end @ (Next::Out | Next::Round) => return Some(end),
            }
        }
        Some(Next::On(state))
    }

    fn statement(&mut self, statement: &Statement, state: State) -> Option<Next> {
        self.step()?;
        match &statement.kind {
            StatementKind::Set { place, value } => Some(Next::On(self.assigned(state, place, value))),
            StatementKind::If { condition, then, otherwise } => {
                let body = if self.outcome(&state, condition)? { then } else { otherwise };
                self.block(body, state)
            }
            StatementKind::Loop { condition, test, body, step } => {
                let mut state = state;
                let mut tests = *test == Test::Before;
                // The start of a turn that is waited for, for twice as many turns each time.
                let (mut before, mut waits, mut waited) = (None, 1_u64, 0_u64);
                loop {
                    if tests && !self.outcome(&state, condition)? {
                        return Some(Next::On(state));
                    }
                    if before.as_ref() == Some(&state) {
                        return Some(Next::Round);
                    }
                    (tests, waited) = (true, waited + 1);
                    if waited == waits {
                        (before, waits, waited) = (Some(state.clone()), 2 * waits, 0);
                    }
                    for block in [body, step] {
                        match self.block(block, state)? {
                            Next::On(next) => state = next,
                            end @ (Next::Out | Next::Round) => return Some(end),
                        }
                    }
                    self.step()?;
                }
            }
            StatementKind::Return { .. } => Some(Next::Out),
            // No value changes, and what asks for links is not known.
            StatementKind::Link { .. } => Some(Next::On(state)),
            // Where threads move, sizes change, and guards can fail.
            StatementKind::Transfer { .. }
            | StatementKind::Send { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Verbatim { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. } => None,
        }
    }

    fn step(&mut self) -> Option<()> {
        self.steps += 1;
        (self.steps <= MOST_STEPS).then_some(())
    }

    fn outcome(&mut self, state: &State, condition: &Expression) -> Option<bool> {
        self.step()?;
        evaluate(self.policy, state, condition).single().map(|truth| truth != 0)
    }

    fn assigned(&self, state: State, place: &Place, value: &Expression) -> State {
        let policy = self.policy;
        let range = evaluate(policy, &state, value);
        let mut state = state.with_some_attribute(place.attributes(), range);
        if let Place::VariableElement { first, length, index } = place {
            if let Some(index) = evaluate(policy, &state, index).single() {
                let element = Place::Variable(VariableId(first.0 + Element::nearest(index, *length)));
                state = values::with(policy, state, &element, range);
            } else {
                for index in place.variables() {
                    let joined = Range { open: false, ..state.value(index).join(range) };
                    state = state.with_value(index, joined);
                }
            }
        } else if values::is_followed(policy, place) {
            state = values::with(policy, state, place, range);
        }
        state.assigned(place, value);
        state
    }
}

/// Whether two numbers that must not be equal for another turn never are: they move by what leaves the lowest bits of their difference alone.
pub(super) fn misses(turns: &Turns, condition: &Expression, entry: &State) -> bool {
    let Expression::Binary(BinaryOperator::NotEqual, left, right) = condition else { return false };
    let policy = turns.policy();
    let number = |side: &Expression| {
        let range = evaluate(policy, entry, side);
        range.single().filter(|_| range.ty == Type::Int).map(i128::from)
    };
    let (Some(left_is), Some(right_is)) = (number(left), number(right)) else { return false };
    let (Some(left_by), Some(right_by)) = (turns.moves_by(left), turns.moves_by(right)) else { return false };
    let (apart, by) = (left_is - right_is, left_by - right_by);
    apart != 0 && apart.trailing_zeros() < by.trailing_zeros().min(u32::from(policy.int_bits))
}
