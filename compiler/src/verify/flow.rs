//! The flow of knowledge through a handler: the abstract state before each statement and at each end.

use std::collections::{BTreeMap, BTreeSet};

use super::condition::assume;
use super::state::{Decision, Spot, State, Why};
use crate::policy::{
    At, Block, ContainerId, ContainerKind, Expression, Handler, LocalId, Place, Policy, Source, Statement, StatementId,
    StatementKind,
};

/// What is known throughout a handler.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// Before each statement that can be reached.
    pub before: BTreeMap<StatementId, State>,
    /// Where the handler ends.
    pub ends: Vec<End>,
}

/// A point at which a handler ends.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub kind: EndKind,
    /// The statement; for the closing brace, the header of the handler.
    pub at: At,
    pub state: State,
    statement: Option<StatementId>,
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
    /// No, for explanations: the first so many paths, each with all its decisions; loops are gone through once.
    Separate(usize),
}

/// Follows a handler from a state at its start.
pub(super) fn follow(policy: &Policy, handler: &Handler, start: State, paths: Paths) -> Flow {
    let mut engine = Engine { policy, paths, flow: Flow::default() };
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
}

/// States of this many rounds of a loop are joined as they are; after that, what still changes is given up.
const ROUNDS: usize = 3;

impl Engine<'_> {
    fn block(&mut self, block: &Block, mut states: Vec<State>) -> Vec<State> {
        for statement in block {
            let mut next = Vec::new();
            for state in states {
                self.record(statement, &state);
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
            StatementKind::Return { .. } => {
                self.end(EndKind::Return, at, Some(statement.id), state);
                Vec::new()
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
        if let Some(state) = &mut after {
            state.path.push(Decision { at, outcome });
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
        let same = |end: &End| end.statement == statement;
        match self.flow.ends.iter_mut().find(|end| self.paths == Paths::Joined && same(end)) {
            Some(known) => known.state = known.state.clone().join(state),
            None => self.flow.ends.push(End { kind, at, state, statement }),
        }
    }
}
