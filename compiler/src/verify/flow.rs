//! The flow of knowledge through a handler: the abstract state before each statement and at each end.

use std::collections::{BTreeMap, BTreeSet};

use super::condition::assume;
use super::state::{Spot, State, Step, Why};
use super::values;
use crate::policy::{
    At, Block, ContainerId, ContainerKind, ContainerRef, Expression, Handler, LocalId, Place, Policy, Source,
    Statement, StatementId, StatementKind, Test, text,
};

/// What is known throughout a handler.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// Before each statement that can be reached; of a loop with a condition, before each test of it. One of several
    /// states, if paths were kept apart.
    pub before: BTreeMap<StatementId, Vec<State>>,
    /// Where the handler ends.
    pub ends: Vec<End>,
    /// Of threads that the event does not name.
    pub moves: Moves,
    /// By the statement of an end: where it stands in `ends`.
    ended: BTreeMap<Option<StatementId>, Vec<usize>>,
}

/// From which containers to which others threads can go.
pub(super) type Moves = BTreeSet<(ContainerId, ContainerId)>;

/// A point at which a handler ends.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub kind: EndKind,
    /// The statement; for the closing brace, the header of the handler.
    pub at: At,
    /// `None` for the closing brace.
    pub statement: Option<StatementId>,
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

/// What becomes of paths that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paths {
    /// They stay apart as long as there are no more than so many; in loops, and if there are more, they are taken for one. All
    /// that verification relies on.
    Apart(usize),
    /// For explanations: the first so many paths, each with all its steps; loops are gone through once. Paths with more steps
    /// than anyone reads are left out.
    Explained(usize),
}

/// What is followed, whatever the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course<'a> {
    pub policy: &'a Policy,
    pub handler: &'a Handler,
    /// The values at which loops come to rest: see [`values::steps`].
    pub steps: &'a [i64],
}

/// Follows a handler from a state at its start.
pub(super) fn follow(course: Course, start: State, paths: Paths) -> Flow {
    followed(course, start, paths, true)
}

/// Follows a handler to its ends, and keeps nothing of what is known on the way.
pub(super) fn to_its_ends(course: Course, start: State, paths: Paths) -> Flow {
    followed(course, start, paths, false)
}

fn followed(course: Course, start: State, paths: Paths, records: bool) -> Flow {
    let any = State::unknown(course.policy, course.handler);
    let mut engine = Engine { course, any, paths, records, flow: Flow::default(), heads: BTreeMap::new() };
    for state in engine.block(&course.handler.body, vec![start]) {
        engine.end(EndKind::Last, course.handler.at, None, state);
    }
    engine.flow
}

/// The state in which the guards of a transfer have held. `None`: one of them cannot.
pub(super) fn past_guards(
    policy: &Policy,
    state: State,
    source: &Source,
    destination: Option<&ContainerRef>,
    at: At,
) -> Option<State> {
    let state = match source {
        Source::Container(container) => state.with_size_of(container, 1, None, Why::Tested(at))?,
        Source::Thread(local) => state.with_places(*local, |spot| spot != Spot::Gone)?,
    };
    match destination {
        Some(slot) if is_threadref(policy, slot) => state.with_size_of(slot, 0, Some(0), Why::Tested(at)),
        Some(_) | None => Some(state),
    }
}

/// Whether a container holds one thread at most.
pub(super) fn is_threadref(policy: &Policy, container: &ContainerRef) -> bool {
    container.candidates().all(|container| policy.containers[container.0].kind == ContainerKind::Threadref)
}

struct Engine<'a> {
    course: Course<'a>,
    /// Nothing is known.
    any: State,
    paths: Paths,
    /// Whether it is kept what is known before each statement.
    records: bool,
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

/// After so many rounds of a loop nothing is known of values any more.
const MOST_ROUNDS: usize = 12;

/// Paths that are taken for one.
const JOINED: Paths = Paths::Apart(1);

/// Steps of a path that is to be explained.
const STEPS: usize = 32;

impl Engine<'_> {
    fn block(&mut self, block: &Block, mut states: Vec<State>) -> Vec<State> {
        for statement in block {
            if states.is_empty() {
                break;
            }
            let mut next = Vec::new();
            if matches!(statement.kind, StatementKind::Foreach { .. } | StatementKind::Loop { .. }) {
                states = self.one(states);
            }
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
            StatementKind::Set { place, value } => {
                let mut state = state;
                if let Place::VariableElement { .. } = place {
                    // Any of them can be the one that is assigned.
                    let range = values::evaluate(self.course.policy, &state, value).because(Why::Moved(at));
                    for index in place.variables() {
                        let joined = state.value(index).join(range);
                        state = state.with_value(index, joined);
                    }
                }
                if let Some(index) = values::index(self.course.policy, place) {
                    let range = values::evaluate(self.course.policy, &state, value);
                    state = state.with_value(index, range.because(Why::Moved(at)));
                }
                match place {
                    Place::Local(_) => {}
                    Place::Variable(_)
                    | Place::VariableElement { .. }
                    | Place::Import(_)
                    | Place::Attribute(..)
                    | Place::AttributeElement { .. }
                    | Place::ThreadImport(..) => {
                        state.effect = state.effect.or(Some(at));
                    }
                }
                state.assigned(place);
                vec![state]
            }
            StatementKind::Transfer { source, destination } => self.moved(state, source, Some(destination), "", at),
            StatementKind::Send { source, .. } => self.moved(state, source, None, "goes to a node", at),
            StatementKind::Destroy { source } => self.moved(state, source, None, "is destroyed", at),
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
            StatementKind::Foreach { cursor, container, body } => {
                self.looping(|engine| engine.rounds(state, *cursor, container, body, at))
            }
            StatementKind::Loop { condition, test, body, step } => {
                let turn = Turn { condition, test: *test, body, step };
                self.looping(|engine| engine.turns(statement, state, turn))
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
                // It may have changed every variable.
                let mut state = state.with_values_of(&self.any);
                state.effect = state.effect.or(Some(at));
                state.assigned_anything();
                states.push(state);
                self.meet(states)
            }
            StatementKind::Fail { .. } => {
                self.end(EndKind::Fail, at, Some(statement.id), state);
                Vec::new()
            }
        }
    }

    /// `gone`: what becomes of a thread without a destination, in words.
    fn moved(
        &mut self,
        state: State,
        source: &Source,
        destination: Option<&ContainerRef>,
        gone: &str,
        at: At,
    ) -> Vec<State> {
        let Some(state) = past_guards(self.course.policy, state, source, destination, at) else { return Vec::new() };
        if let Some(destination) = destination {
            self.note(&state, source, destination);
        }
        let after = match source {
            Source::Container(container) => state.after_container(container, destination, at),
            Source::Thread(local) => state.after_thread(*local, destination, at),
        };
        let what = || self.move_in_words(source, destination, gone);
        after.and_then(|state| self.step(state, at, what)).into_iter().collect()
    }

    /// Notes where a transfer can take threads that the event does not name.
    fn note(&mut self, state: &State, source: &Source, destination: &ContainerRef) {
        let sources = match source {
            Source::Container(container) => state.meant(container),
            // Where a parameter goes, only the thread goes that the event names.
            Source::Thread(local) if local.0 < self.course.handler.parameters => return,
            Source::Thread(local) => {
                state.places(*local).into_iter().flatten().filter_map(|spot| spot.container()).collect()
            }
        };
        let moves = sources.iter().flat_map(|from| destination.candidates().map(|to| (*from, to)));
        self.flow.moves.extend(moves);
    }

    fn move_in_words(&self, source: &Source, destination: Option<&ContainerRef>, gone: &str) -> String {
        let (policy, handler) = (self.course.policy, self.course.handler);
        let container = |named: &ContainerRef| text::container(policy, handler, named);
        let thread = match source {
            Source::Container(source) => format!("a {} of `{}`", policy.held_by(source).word(), container(source)),
            Source::Thread(local) => format!("`{}`", self.course.handler.locals[local.0].name),
        };
        match destination {
            Some(destination) => format!("{thread} goes to `{}`", container(destination)),
            None => format!("{thread} {gone}"),
        }
    }

    fn branch(&self, state: &State, condition: &Expression, outcome: bool, at: At) -> Vec<State> {
        let after = assume(self.course.policy, state.clone(), condition, outcome, at);
        after.and_then(|state| self.step(state, at, || format!("this is {outcome}"))).into_iter().collect()
    }

    /// The state with one more step on its path, if it is to be explained. `None`: the path is too long for that.
    fn step(&self, mut state: State, at: At, what: impl FnOnce() -> String) -> Option<State> {
        match self.paths {
            Paths::Apart(_) => Some(state),
            Paths::Explained(_) if state.path.len() < STEPS => {
                state.path.push(Step { at, what: what() });
                Some(state)
            }
            Paths::Explained(_) => None,
        }
    }

    /// `foreach`: the state before a round, until no further round tells anything new.
    fn rounds(&mut self, start: State, cursor: LocalId, container: &ContainerRef, body: &Block, at: At) -> Vec<State> {
        let visit = |state: State| {
            let inside = match container {
                ContainerRef::One(only) => state.with_size(*only, 1, None, Why::Tested(at))?,
                // In later rounds an index can stand for another element than the one visited.
                ContainerRef::Element { .. } | ContainerRef::Whole { .. } => {
                    state.with_some(container.candidates().collect())?
                }
            };
            inside.placed(cursor, container.candidates().map(Spot::In).collect())
        };
        let mut head = start.without(cursor);
        if matches!(self.paths, Paths::Explained(_)) {
            let mut states = vec![head.clone()];
            let what = || format!("`{}` is one of them", self.course.handler.locals[cursor.0].name);
            let round = visit(head).and_then(|state| self.step(state, at, what)).into_iter().collect();
            states.extend(self.block(body, round).into_iter().map(|state| state.without(cursor)));
            return self.meet(states);
        }
        for round in 0.. {
            let Some(inside) = visit(head.clone()) else { break };
            let Some(after) = self.block(body, vec![inside]).pop() else {
                // Every round ends the handler: who comes past the loop found the container empty.
                return head.with_size_of(container, 0, Some(0), Why::Tested(at)).into_iter().collect();
            };
            let after = after.without(cursor);
            let next = self.next(&head, after, round);
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
        if matches!(self.paths, Paths::Explained(_)) {
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
            let next = self.next(&head, again, round);
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
        let left = assume(self.course.policy, tested.clone(), turn.condition, false, at);
        let mut again: Vec<State> = assume(self.course.policy, tested, turn.condition, true, at).into_iter().collect();
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

    /// A loop, in which paths are taken for one.
    fn looping(&mut self, follow: impl FnOnce(&mut Self) -> Vec<State>) -> Vec<State> {
        let outside = self.paths;
        if matches!(outside, Paths::Apart(_)) {
            self.paths = JOINED;
        }
        let states = follow(self);
        self.paths = outside;
        states
    }

    /// What holds before a round, given what holds after the one before it.
    fn next(&self, head: &State, after: State, round: usize) -> State {
        if round < ROUNDS {
            head.clone().join(after)
        } else if round < MOST_ROUNDS {
            head.clone().widen(after, &self.any, self.course.steps)
        } else {
            head.clone().widen(after, &self.any, &[]).with_values_of(&self.any)
        }
    }

    /// Paths that enter a loop.
    fn one(&self, states: Vec<State>) -> Vec<State> {
        match self.paths {
            Paths::Apart(_) => states.into_iter().reduce(State::join).into_iter().collect(),
            Paths::Explained(_) => states,
        }
    }

    /// Paths that meet.
    fn meet(&self, mut states: Vec<State>) -> Vec<State> {
        match self.paths {
            Paths::Apart(most) => apart(states, most),
            Paths::Explained(most) => {
                states.truncate(most);
                states
            }
        }
    }

    fn record(&mut self, statement: &Statement, state: &State) {
        let Paths::Apart(most) = self.paths else { return };
        if !self.records {
            return;
        }
        let known = self.flow.before.entry(statement.id).or_default();
        known.push(state.clone());
        if known.len() > most {
            *known = apart(std::mem::take(known), most);
        }
    }

    fn end(&mut self, kind: EndKind, at: At, statement: Option<StatementId>, state: State) {
        let (Paths::Apart(most) | Paths::Explained(most)) = self.paths;
        let ended = self.flow.ended.entry(statement).or_default();
        let known = ended.last().filter(|_| ended.len() >= most);
        match known.and_then(|index| self.flow.ends.get_mut(*index)) {
            // One more than are kept apart.
            Some(known) => known.state = known.state.clone().join(state),
            None => {
                ended.push(self.flow.ends.len());
                self.flow.ends.push(End { kind, at, statement, state });
            }
        }
    }
}

/// No more than so many states that stand for all of these: those that say more than another are left out, and if there are
/// too many even so, one stands for all.
fn apart(states: Vec<State>, most: usize) -> Vec<State> {
    let mut kept: Vec<State> = Vec::new();
    if most > 1 {
        for state in states {
            let wider = |other: &State| (*other != state).then(|| other.clone().join(state.clone()));
            let place = kept.iter().position(|other| wider(other).is_none_or(|both| both == *other || both == state));
            match place.and_then(|place| kept.get_mut(place)) {
                Some(other) => *other = other.clone().join(state),
                None => kept.push(state),
            }
        }
    } else {
        kept = states;
    }
    if kept.len() > most { kept.into_iter().reduce(State::join).into_iter().collect() } else { kept }
}
