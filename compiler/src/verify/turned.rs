//! Runs a loop turn by turn if all that decides in it is known at its start: it ends, or returns to an earlier state.

use super::state::State;
use super::termination::Turns;
use super::values::{self, Range, evaluate};
use crate::policy::{
    BinaryOperator, Block, Element, Expression, Place, Policy, Statement, StatementId, StatementKind, Test, Type,
    VariableId,
};

/// At most this many statements and tests are run.
const MOST_STEPS: usize = 20_000;

/// What a run of a loop shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    Ends,
    /// The loop returns to an earlier state, so it never ends.
    Repeats,
}

/// How many turns a loop has that ends, however it is reached; `None` if that is not known, or takes too long.
pub(super) fn turns<'a>(
    policy: &Policy,
    statement: &Statement,
    entries: impl Iterator<Item = &'a State>,
) -> Option<u64> {
    let mut most = None;
    for entry in entries {
        let mut runner = Runner { policy, steps: 0, counted: statement.id, turns: 0 };
        match runner.statement(statement, entry.clone())? {
            Next::On(_) | Next::Out => most = most.max(Some(runner.turns)),
            Next::Round => return None,
        }
    }
    most
}

/// Runs a loop that is reached in this state; `None` if the result is not known, or takes too long.
pub(super) fn run(policy: &Policy, statement: &Statement, entry: &State) -> Option<Run> {
    let mut runner = Runner { policy, steps: 0, counted: statement.id, turns: 0 };
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
    /// Nothing: a loop goes round for ever.
    Round,
}

struct Runner<'a> {
    policy: &'a Policy,
    steps: usize,
    /// The loop whose turns are counted.
    counted: StatementId,
    turns: u64,
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
                // The state whose return is awaited. It is renewed after twice as many turns each time.
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
                    self.turns += u64::from(statement.id == self.counted);
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
            // No value changes, and conditions on links are not followed.
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

/// Whether two numbers never become equal, as they must for the loop to end: their steps leave the lowest bits of their
/// difference alone.
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
