//! The flow of knowledge through a handler: the abstract state before each statement and at each end.

use std::collections::{BTreeMap, BTreeSet};

use super::condition::assume;
use super::state::{Decision, Spot, State, Why};
use crate::policy::{
    At, Block, ContainerId, ContainerKind, Expression, Handler, LocalId, Place, Policy, Source, Statement, StatementId,
    StatementKind, Test,
};

/// What is known throughout a handler.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// Before each statement that can be reached; of a loop with a condition, before each test of it.
    pub before: BTreeMap<StatementId, State>,
    /// Where the handler ends.
    pub ends: Vec<End>,
    /// By the statement of an end: where it stands in `ends`. Of joined paths, each statement ends them once.
    ended: BTreeMap<Option<StatementId>, usize>,
}

/// A point at which a handler ends.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub kind: EndKind,
    /// The statement; for the closing brace, the header of the handler.
    pub at: At,
    pub state: State,
}

/// How a handler ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndKind {
    /// After its last statement.
    Last,
    /// `return`
    Return,
    /// `dispatch`
    Dispatch(ContainerId),
    /// `fail`
    Fail,
}

/// Whether paths that meet are taken for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paths {
    /// Yes: all that verification relies on.
    Joined,
    /// No, for explanations: the first so many paths, each with all its decisions; loops are gone through once. Paths with
    /// more decisions than anyone reads are left out.
    Separate(usize),
}

/// Follows a handler from a state at its start.
pub(super) fn follow(policy: &Policy, handler: &Handler, start: State, paths: Paths) -> Flow {
    let mut engine = Engine { policy, paths, flow: Flow::default(), heads: BTreeMap::new() };
    for state in engine.block(&handler.body, vec![start]) {
        engine.end(EndKind::Last, handler.at, None, state);
    }
    engine.flow
}

/// The state in which the guards of a transfer have held. `None`: one of them cannot.
pub(super) fn past_guards(
    policy: &Policy,
    state: State,
    source: Source,
    destination: Option<ContainerId>,
    at: At,
) -> Option<State> {
    let state = match source {
        Source::Container(container) => state.with_size(container, 1, None, Why::Tested(at))?,
        Source::Thread(local) => state.with_places(local, |spot| spot != Spot::Gone)?,
    };
    match destination {
        Some(slot) if is_threadref(policy, slot) => state.with_size(slot, 0, Some(0), Why::Tested(at)),
        Some(_) | None => Some(state),
    }
}

/// Whether a container holds one thread at most.
pub(super) fn is_threadref(policy: &Policy, container: ContainerId) -> bool {
    policy.containers[container.0].kind == ContainerKind::Threadref
}

struct Engine<'a> {
    policy: &'a Policy,
    paths: Paths,
    flow: Flow,
    /// What has been found to hold before any turn of a loop. It stays when an enclosing loop comes round again, so that the
    /// work grows with the depth of loops and not with its exponential.
    heads: BTreeMap<StatementId, State>,
}

/// The parts of a loop.
struct Turn<'a> {
    condition: &'a Expression,
    test: Test,
    body: &'a Block,
    step: &'a Block,
}

/// States of this many rounds of a loop are joined as they are; after that, what still changes is given up.
const ROUNDS: usize = 3;

/// Decisions of a path that is to be explained.
const DECISIONS: usize = 32;

impl Engine<'_> {
    fn block(&mut self, block: &Block, mut states: Vec<State>) -> Vec<State> {
        for statement in block {
            if states.is_empty() {
                break;
            }
            let mut next = Vec::new();
            for state in states {
                // The condition of `do` is tested only where its body has ended.
                if !matches!(statement.kind, StatementKind::Loop { .. }) {
                    self.record(statement, &state);
                }
                next.extend(self.statement(statement, state));
            }
            states = self.meet(next);
        }
        states
    }

    fn statement(&mut self, statement: &Statement, state: State) -> Vec<State> {
        let at = statement.at;
        match &statement.kind {
            StatementKind::Set { place, .. } => {
                let mut state = state;
                match place {
                    Place::Local(_) => {}
                    Place::Variable(_) | Place::Import(_) | Place::Attribute(..) | Place::ThreadImport(..) => {
                        state.effect = state.effect.or(Some(at));
                    }
                }
                vec![state]
            }
            StatementKind::Transfer { source, destination } => self.moved(state, *source, Some(*destination), at),
            StatementKind::Destroy { source } => self.moved(state, *source, None, at),
            StatementKind::Dispatch { slot } => {
                if let Some(state) = state.with_size(*slot, 1, None, Why::Tested(at)) {
                    self.end(EndKind::Dispatch(*slot), at, Some(statement.id), state);
                }
                Vec::new()
            }
            StatementKind::If { condition, then, otherwise } => {
                let taken = self.branch(&state, condition, true, at);
                let left = self.branch(&state, condition, false, at);
                let mut states = self.block(then, taken);
                states.extend(self.block(otherwise, left));
                self.meet(states)
            }
            StatementKind::Foreach { cursor, container, body } => self.rounds(state, *cursor, *container, body, at),
            StatementKind::Loop { condition, test, body, step } => {
                self.turns(statement, state, Turn { condition, test: *test, body, step })
            }
            StatementKind::Return { .. } => {
                self.end(EndKind::Return, at, Some(statement.id), state);
                Vec::new()
            }
            StatementKind::Verbatim { otherwise, .. } => {
                let mut states = match otherwise {
                    Some(otherwise) => self.block(otherwise, vec![state.clone()]),
                    None => Vec::new(),
                };
                let mut state = state;
                state.effect = state.effect.or(Some(at));
                states.push(state);
                self.meet(states)
            }
            StatementKind::Fail { .. } => {
                self.end(EndKind::Fail, at, Some(statement.id), state);
                Vec::new()
            }
        }
    }

    fn moved(&self, state: State, source: Source, destination: Option<ContainerId>, at: At) -> Vec<State> {
        let after = past_guards(self.policy, state, source, destination, at).and_then(|state| match source {
            Source::Container(container) => state.after_container(container, destination, at),
            Source::Thread(local) => state.after_thread(local, destination, at),
        });
        after.into_iter().collect()
    }

    fn branch(&self, state: &State, condition: &Expression, outcome: bool, at: At) -> Vec<State> {
        let mut after = assume(self.policy, state.clone(), condition, outcome, at);
        match (self.paths, &mut after) {
            (Paths::Separate(_), Some(state)) if state.path.len() < DECISIONS => {
                state.path.push(Decision { at, outcome });
            }
            (Paths::Separate(_), _) => after = None,
            (Paths::Joined, _) => {}
        }
        after.into_iter().collect()
    }

    /// `foreach`: the state before a round, until no further round tells anything new.
    fn rounds(&mut self, start: State, cursor: LocalId, container: ContainerId, body: &Block, at: At) -> Vec<State> {
        let visit = |state: State| {
            let inside = state.with_size(container, 1, None, Why::Tested(at))?;
            inside.placed(cursor, BTreeSet::from([Spot::In(container)]))
        };
        let mut head = start.without(cursor);
        if self.paths != Paths::Joined {
            let mut states = vec![head.clone()];
            let round = visit(head).into_iter().collect();
            states.extend(self.block(body, round).into_iter().map(|state| state.without(cursor)));
            return self.meet(states);
        }
        for round in 0.. {
            let Some(inside) = visit(head.clone()) else { break };
            let Some(after) = self.block(body, vec![inside]).pop() else {
                // Every round ends the handler: who comes past the loop found the container empty.
                return head.with_size(container, 0, Some(0), Why::Tested(at)).into_iter().collect();
            };
            let after = after.without(cursor);
            let next = if round < ROUNDS { head.clone().join(after) } else { head.clone().widen(after) };
            if next == head {
                break;
            }
            head = next;
        }
        vec![head]
    }

    /// `while`, `for`, `do`: the state before a turn, until no further turn tells anything new. What comes past the loop are the
    /// states in which its condition does not hold.
    fn turns(&mut self, statement: &Statement, start: State, turn: Turn) -> Vec<State> {
        if self.paths != Paths::Joined {
            return self.one_turn(statement, start, &turn);
        }
        let mut head = match self.heads.remove(&statement.id) {
            Some(known) => known.join(start),
            None => start,
        };
        let mut past = None;
        for round in 0.. {
            let Some((again, left)) = self.turn(statement, head.clone(), &turn) else { break };
            past = left;
            let Some(again) = again else { break };
            let next = if round < ROUNDS { head.clone().join(again) } else { head.clone().widen(again) };
            if next == head {
                break;
            }
            head = next;
        }
        self.heads.insert(statement.id, head);
        past.into_iter().collect()
    }

    /// The states before the next turn and past the loop. `None`: the condition is never tested.
    fn turn(&mut self, statement: &Statement, head: State, turn: &Turn) -> Option<(Option<State>, Option<State>)> {
        let (at, test_first) = (statement.at, turn.test == Test::Before);
        let tested = if test_first { head } else { self.body(vec![head], turn).pop()? };
        self.record(statement, &tested);
        let left = assume(self.policy, tested.clone(), turn.condition, false, at);
        let mut again: Vec<State> = assume(self.policy, tested, turn.condition, true, at).into_iter().collect();
        if test_first {
            again = self.body(again, turn);
        }
        Some((again.pop(), left))
    }

    fn body(&mut self, states: Vec<State>, turn: &Turn) -> Vec<State> {
        let states = self.block(turn.body, states);
        self.block(turn.step, states)
    }

    /// For explanations: past the loop at once, or after one turn.
    fn one_turn(&mut self, statement: &Statement, start: State, turn: &Turn) -> Vec<State> {
        let at = statement.at;
        let mut states = Vec::new();
        let mut turned = vec![start];
        if turn.test == Test::Before {
            states.extend(turned.iter().flat_map(|state| self.branch(state, turn.condition, false, at)));
            turned = turned.iter().flat_map(|state| self.branch(state, turn.condition, true, at)).collect();
        }
        for state in self.body(turned, turn) {
            self.record(statement, &state);
            states.extend(self.branch(&state, turn.condition, false, at));
        }
        self.meet(states)
    }

    /// Paths that meet.
    fn meet(&self, mut states: Vec<State>) -> Vec<State> {
        match self.paths {
            Paths::Joined => states.into_iter().reduce(State::join).into_iter().collect(),
            Paths::Separate(most) => {
                states.truncate(most);
                states
            }
        }
    }

    fn record(&mut self, statement: &Statement, state: &State) {
        let known = self.flow.before.remove(&statement.id);
        let joined = known.map_or_else(|| state.clone(), |known| known.join(state.clone()));
        self.flow.before.insert(statement.id, joined);
    }

    fn end(&mut self, kind: EndKind, at: At, statement: Option<StatementId>, state: State) {
        let known = self.flow.ended.get(&statement).filter(|_| self.paths == Paths::Joined);
        match known.and_then(|index| self.flow.ends.get_mut(*index)) {
            Some(known) => known.state = known.state.clone().join(state),
            None => {
                self.flow.ended.insert(statement, self.flow.ends.len());
                self.flow.ends.push(End { kind, at, state });
            }
        }
    }
}
