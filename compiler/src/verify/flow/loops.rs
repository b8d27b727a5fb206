//! The flow of knowledge through loops: what holds before every turn, and past the last one.

use super::{Ending, Engine, Left, Paths};
use crate::policy::{At, BinaryOperator, Block, ContainerRef, Expression, LocalId, Policy, Statement, Test, Type};
use crate::verify::condition::assume;
use crate::verify::state::{Spot, State, Why};
use crate::verify::{apart, open, values};

/// The parts of a loop.
pub(super) struct Turn<'a> {
    pub condition: &'a Expression,
    pub test: Test,
    pub body: &'a Block,
    pub step: &'a Block,
}

/// In the first rounds of a loop, states are joined as they are. Later rounds give up what still changes.
const ROUNDS: usize = 3;

/// From this round of a loop on, nothing is known of values any more.
const MOST_ROUNDS: usize = 12;

/// A loop is followed turn by turn if its counter and its bound say that it has at most so many turns.
const MOST_TURNS: u64 = 16;

/// A `foreach` over at most so many threads is followed round by round.
const MOST_ROUNDS_APART: u64 = 3;

impl Engine<'_> {
    /// `foreach`: the states before a round, found by repetition until a round tells nothing new.
    pub(super) fn rounds(
        &mut self,
        starts: Vec<State>,
        cursor: LocalId,
        container: &ContainerRef,
        body: &Block,
        at: At,
    ) -> Vec<State> {
        let visit = |state: &State| {
            let inside = match container {
                ContainerRef::One(only) => state.clone().with_size(*only, 1, None, Why::Tested(at))?,
                // In later rounds, the index can stand for another element than the one that is visited.
                ContainerRef::Element { .. } | ContainerRef::Whole { .. } => {
                    state.clone().with_some(container.candidates().collect())?
                }
            };
            inside.placed(cursor, container.candidates().map(Spot::In).collect())
        };
        let starts = starts.into_iter().map(|state| state.without(cursor));
        let mut heads = self.meet(starts.collect());
        // If the loop has no round, the container is empty.
        let empty = |state: &State| state.clone().with_size_of(container, 0, Some(0), Why::Tested(at));
        let mut past: Vec<State> = heads.iter().filter_map(empty).collect();
        if matches!(self.paths, Paths::Explained(_)) {
            let what = || format!("`{}` is one of them", self.course.handler.locals[cursor.0].name);
            let visited = heads.iter().filter_map(visit);
            let round = visited.filter_map(|state| self.step(state, at, what)).collect();
            let (after, left) = self.round(body, round);
            past.extend(after.into_iter().chain(left).map(|state| state.without(cursor)));
            return past;
        }
        if let Some(past) = self.each_round(&heads, cursor, container, visit, body) {
            return past;
        }
        let (mut after, mut left) = (Vec::new(), Vec::new());
        for round in 0.. {
            let inside: Vec<State> = heads.iter().filter_map(visit).collect();
            (after, left) = self.round(body, inside);
            after = after.into_iter().map(|state| state.without(cursor)).collect();
            let next = self.next(&heads, after.clone(), round);
            if next == heads {
                break;
            }
            heads = next;
        }
        past.extend(after);
        past.extend(left.into_iter().map(|state| state.without(cursor)));
        past
    }

    /// `foreach u in t.owner`: either no round, or one with a thread that can be anywhere.
    pub(super) fn followed(&mut self, starts: Vec<State>, cursor: LocalId, body: &Block, at: At) -> Vec<State> {
        let policy = self.course.policy;
        // What links name is not followed, so nobody knows whether there is a round.
        let starts: Vec<State> = starts.into_iter().map(|state| state.without(cursor).unsure()).collect();
        let named = |state: &State| {
            let state = state.clone().placed(cursor, state.anywhere(policy))?;
            self.step(state, at, || format!("a thread is named, as `{}`", self.course.handler.locals[cursor.0].name))
        };
        let inside = starts.iter().filter_map(named).collect();
        let (after, left) = self.round(body, inside);
        let past = after.into_iter().chain(left).map(|state| state.without(cursor));
        starts.into_iter().chain(past).collect()
    }

    /// The states after a turn of a loop, and those in which the loop is left.
    fn round(&mut self, body: &Block, states: Vec<State>) -> (Vec<State>, Vec<State>) {
        self.left.push(Left::default());
        let mut after = self.block(body, states);
        let Left { looping, turns } = self.left.pop().unwrap_or_default();
        if turns.is_empty() && looping.is_empty() {
            return (after, looping);
        }
        after.extend(turns);
        (self.meet(after), self.meet(looping))
    }

    /// The same, round by round, if the number of rounds is known and small: each thread there is visited once.
    fn each_round(
        &mut self,
        starts: &[State],
        cursor: LocalId,
        container: &ContainerRef,
        visit: impl Fn(&State) -> Option<State>,
        body: &Block,
    ) -> Option<Vec<State>> {
        let ContainerRef::One(only) = container else { return None };
        let rounds = |state: &State| {
            let size = state.size(*only);
            Some(size.least).filter(|least| size.most == Some(*least) && *least <= MOST_ROUNDS_APART)
        };
        if self.most() == 1 {
            return None;
        }
        let starts: Vec<(u64, &State)> =
            starts.iter().map(|state| Some((rounds(state)?, state))).collect::<Option<_>>()?;
        let mut past = Vec::new();
        for (rounds, start) in starts {
            let mut states = vec![start.clone()];
            for _ in 0..rounds {
                let inside = states.iter().filter_map(&visit).collect();
                let (after, left) = self.round(body, inside);
                states = after.into_iter().map(|state| state.without(cursor)).collect();
                past.extend(left.into_iter().map(|state| state.without(cursor)));
            }
            past.extend(states);
        }
        Some(past)
    }

    /// `while`, `for`, `do`: the states before a turn, found by repetition until a turn tells nothing new. The result
    /// is the states past the loop, in which its condition does not hold.
    pub(super) fn turns(&mut self, statement: &Statement, starts: Vec<State>, turn: &Turn) -> Vec<State> {
        if matches!(self.paths, Paths::Explained(_)) {
            return self.one_turn(statement, starts, turn);
        }
        let starts = self.meet(starts);
        if self.keeps_states {
            let known = self.flow.entries.remove(&statement.id).into_iter().chain(starts.iter().cloned());
            self.flow.entries.extend(known.reduce(State::join).map(|entry| (statement.id, entry)));
        }
        if starts.iter().any(|state| self.begins(state, turn)) {
            self.flow.begun.insert(statement.id);
        }
        if let Some(past) = self.each_turn(statement, &starts, turn) {
            return past;
        }
        // The first turn is followed separately, since more is known of it than of the others.
        let at_first = self.flow.ends_seen;
        let (again, mut past) = self.turn(statement, starts, turn);
        if again.is_empty() {
            return past;
        }
        let first = !past.is_empty() || self.flow.ends_seen > at_first;
        if again.iter().any(|state| state.sure) {
            self.flow.turned.insert(statement.id);
        }
        let mut heads = match self.heads.remove(&statement.id) {
            Some(known) => self.next(&known, again, 0),
            None => self.meet(again),
        };
        let before = self.flow.ends_seen;
        for round in 0.. {
            let (again, left) = self.turn(statement, heads.clone(), turn);
            let next = self.next(&heads, again.clone(), round);
            if next == heads {
                let may = !left.is_empty() || self.flow.ends_seen > before;
                self.note_loop(statement, Ending { first, may, does: again.is_empty(), turns: 1 });
                past.extend(left);
                break;
            }
            heads = next;
        }
        self.heads.insert(statement.id, heads);
        past
    }

    /// Whether a first turn can begin in this state, if the state can be reached.
    fn begins(&self, start: &State, turn: &Turn) -> bool {
        let policy = self.course.policy;
        let outcome = |outcome: bool| assume(policy, start.clone(), turn.condition, outcome, self.course.handler.at);
        let free = || open::is_free(policy, start, turn.condition);
        let decided = || outcome(false).is_none();
        let begins = || decided() || outcome(true).is_some_and(|state| state.sure || free());
        turn.test == Test::Before && start.sure && begins()
    }

    /// Records how a loop ends. Over several visits, only what holds at each stays known.
    fn note_loop(&mut self, statement: &Statement, ending: Ending) {
        let known = self.flow.loops.entry(statement.id).or_insert(ending);
        *known = Ending {
            first: known.first || ending.first,
            may: known.may || ending.may,
            does: known.does && ending.does,
            turns: known.turns.max(ending.turns),
        };
    }

    /// The same, turn by turn, if there are only a few turns. `None`: there may be more.
    fn each_turn(&mut self, statement: &Statement, starts: &[State], turn: &Turn) -> Option<Vec<State>> {
        let few = |state: &State| few(self.course.policy, state, turn.condition);
        if self.most() == 1 || !starts.iter().all(few) {
            return None;
        }
        let (mut states, mut past) = (starts.to_vec(), Vec::new());
        for turns in 0..=MOST_TURNS {
            let (again, left) = self.turn(statement, states, turn);
            past.extend(left);
            if again.is_empty() {
                self.note_loop(statement, Ending { first: true, may: true, does: true, turns });
                return Some(past);
            }
            states = again;
        }
        None
    }

    /// The states before the next turn, and those past the loop.
    fn turn(&mut self, statement: &Statement, heads: Vec<State>, turn: &Turn) -> (Vec<State>, Vec<State>) {
        let (policy, at, test_first) = (self.course.policy, statement.at, turn.test == Test::Before);
        let (tested, mut past) = if test_first { (heads, Vec::new()) } else { self.body(heads, turn) };
        tested.iter().for_each(|state| self.keep(statement, state));
        let find = |outcome: bool| {
            let found = tested.iter().filter_map(|state| assume(policy, state.clone(), turn.condition, outcome, at));
            found.collect::<Vec<State>>()
        };
        let (again, left) = (find(true), find(false));
        past.extend(left);
        if !test_first {
            return (again, past);
        }
        let (again, left) = self.body(again, turn);
        past.extend(left);
        (again, past)
    }

    fn body(&mut self, states: Vec<State>, turn: &Turn) -> (Vec<State>, Vec<State>) {
        let (states, left) = self.round(turn.body, states);
        (self.block(turn.step, states), left)
    }

    /// For explanations: no turn, or one turn.
    fn one_turn(&mut self, statement: &Statement, starts: Vec<State>, turn: &Turn) -> Vec<State> {
        let at = statement.at;
        let mut states = Vec::new();
        let mut turned = starts;
        if turn.test == Test::Before {
            states.extend(turned.iter().flat_map(|state| self.branch(state, turn.condition, false, at)));
            turned = turned.iter().flat_map(|state| self.branch(state, turn.condition, true, at)).collect();
        }
        let (turned, left) = self.body(turned, turn);
        states.extend(left);
        for state in turned {
            self.keep(statement, &state);
            states.extend(self.branch(&state, turn.condition, false, at));
        }
        states
    }

    /// Follows a loop, in which fewer paths are kept apart.
    pub(super) fn looping(&mut self, follow: impl FnOnce(&mut Self) -> Vec<State>) -> Vec<State> {
        let outside = self.paths;
        if let Paths::Apart(most) = outside {
            self.paths = Paths::Apart((most / 2).max(1));
        }
        let states = follow(self);
        self.paths = outside;
        states
    }

    /// What holds before a round, given what held before the last one and what holds after it.
    fn next(&self, heads: &[State], after: Vec<State>, round: usize) -> Vec<State> {
        let (any, steps) = (&self.any, self.course.steps);
        apart::heads(heads, after, self.most(), |head, after| {
            if round < ROUNDS {
                head.clone().join(after)
            } else if round < MOST_ROUNDS {
                head.clone().widen(after, any, steps)
            } else {
                head.clone().widen(after, any, &[]).with_values_of(any)
            }
        })
    }
}

/// Whether a condition holds only a few times, as far as a state can tell: it compares two ints that are known, and
/// near each other.
fn few(policy: &Policy, state: &State, condition: &Expression) -> bool {
    let Expression::Binary(operator, left, right) = condition else { return false };
    if *operator == BinaryOperator::And {
        return few(policy, state, left) || few(policy, state, right);
    }
    let (left, right) = (values::evaluate(policy, state, left), values::evaluate(policy, state, right));
    let near = |(left, right): (i64, i64)| left.abs_diff(right) <= MOST_TURNS;
    left.ty == Type::Int && left.single().zip(right.single()).is_some_and(near)
}
