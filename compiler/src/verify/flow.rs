//! The flow of knowledge through a handler: the abstract state before each statement and at each end.

mod counts;
mod loops;

use std::collections::{BTreeMap, BTreeSet};

use loops::Turn;

use super::condition::assume;
use super::state::{Assigned, Spot, State, Step, Why};
use super::values::{self, Range};
use super::ways::Ways;
use super::{apart, open, walk};
use crate::policy::{
    At, Block, ContainerId, ContainerKind, ContainerRef, Expression, Handler, Leave, Place, Policy, Source, Statement,
    StatementId, StatementKind, Type, text,
};

/// What is known throughout a handler.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// Before each statement that can be reached, and before each test of a loop's condition. If paths were kept apart,
    /// one of several states holds.
    pub before: BTreeMap<StatementId, Vec<State>>,
    /// Where the handler ends.
    pub ends: Vec<End>,
    /// Moves of threads that the event does not name.
    pub moves: Ways,
    /// Where a guard certainly fails, and what is known there: on a path that can be taken, if there is one.
    pub failing: Vec<(StatementId, State)>,
    /// How each loop ends whose turns are followed.
    pub loops: BTreeMap<StatementId, Ending>,
    /// What is known where a loop is reached, before its first turn.
    pub entries: BTreeMap<StatementId, State>,
    /// Loops that test first and begin a first turn on a path that can be taken.
    pub begun: BTreeSet<StatementId>,
    /// Loops that complete a first turn on a path that can be taken. Those that test last then begin another one.
    pub turned: BTreeSet<StatementId>,
    /// How many ends have been reached.
    ends_seen: usize,
    /// By the statement of an end: its indices in `ends`.
    ended: BTreeMap<Option<StatementId>, Vec<usize>>,
}

/// How a loop that has had a first turn ends, as far as can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ending {
    /// There is a way out in the first turn, or before it.
    pub first: bool,
    /// There is a way out later.
    pub may: bool,
    /// It is seen to have few turns.
    pub does: bool,
    /// If so: after so many turns, at the most, its condition is tested again.
    pub turns: u64,
}

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

/// What is done with paths that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paths {
    /// At most so many stay apart, and half as many in loops. If there are more, the most alike become one.
    /// Verification relies on this alone.
    Apart(usize),
    /// For explanations: the first so many paths, each with all its steps. Loops are followed for one turn. Paths with
    /// more steps than anyone reads are left out.
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

/// Follows a handler to its ends, and records nothing on the way.
pub(super) fn to_its_ends(course: Course, start: State, paths: Paths) -> Flow {
    followed(course, start, paths, false)
}

fn followed(course: Course, start: State, paths: Paths, keeps_states: bool) -> Flow {
    let any = State::unknown(course.policy, course.handler);
    let elements = elements(course.handler);
    let mut engine = Engine {
        course,
        any,
        elements,
        paths,
        keeps_states,
        flow: Flow::default(),
        heads: BTreeMap::new(),
        left: Vec::new(),
    };
    for state in engine.block(&course.handler.body, vec![start]) {
        engine.end(EndKind::Last, course.handler.at, None, state);
    }
    engine.flow
}

/// The state after the guards of a transfer have held. `None`: one of them cannot hold.
pub(super) fn past_guards(
    policy: &Policy,
    state: State,
    source: &Source,
    destination: Option<&ContainerRef>,
    at: At,
) -> Option<State> {
    let state = match source {
        Source::Container(container) => {
            let container = values::element(policy, &state, container);
            state.with_size_of(&container, 1, None, Why::Tested(at))?
        }
        Source::Thread(local) => state.with_places(*local, |spot| spot != Spot::Gone)?,
    };
    match destination {
        Some(slot) if is_threadref(policy, slot) => {
            let slot = values::element(policy, &state, slot);
            state.with_size_of(&slot, 0, Some(0), Why::Tested(at))
        }
        Some(_) | None => Some(state),
    }
}

/// Whether a container holds one thread at most.
pub(super) fn is_threadref(policy: &Policy, container: &ContainerRef) -> bool {
    container.candidates().all(|container| policy.containers[container.0].kind == ContainerKind::Threadref)
}

struct Engine<'a> {
    course: Course<'a>,
    /// A state in which nothing is known.
    any: State,
    /// What the handler names by an index that is a variable.
    elements: Vec<ContainerRef>,
    paths: Paths,
    /// Whether the state before each statement is recorded.
    keeps_states: bool,
    flow: Flow,
    /// What holds before any turn of a loop, as far as found. It is kept when an enclosing loop comes round again. So
    /// the work grows with the nesting depth, not exponentially in it.
    heads: BTreeMap<StatementId, Vec<State>>,
    /// For each loop that is being followed, the innermost last: the states in which it or a turn of it is left.
    left: Vec<Left>,
}

/// States in which a loop is left by `break`, and turns of it by `continue`.
#[derive(Default)]
struct Left {
    looping: Vec<State>,
    turns: Vec<State>,
}

/// What a handler names by an index that is a variable, each once.
fn elements(handler: &Handler) -> Vec<ContainerRef> {
    let mut found = Vec::new();
    let mut note = |container: &ContainerRef| {
        if matches!(container.index(), Some(Expression::Read(Place::Local(_) | Place::Variable(_))))
            && !found.contains(container)
        {
            found.push(container.clone());
        }
    };
    walk::statements(&handler.body, &mut |statement| {
        let Some((source, destination)) = statement.moves() else { return };
        destination.into_iter().for_each(&mut note);
        if let Source::Container(source) = source {
            note(source);
        }
    });
    found
}

/// The most steps of a path that is explained.
const STEPS: usize = 32;

impl Engine<'_> {
    fn block(&mut self, block: &Block, mut states: Vec<State>) -> Vec<State> {
        for statement in block {
            if states.is_empty() {
                break;
            }
            // A loop with a condition is recorded where the condition is tested.
            if !matches!(statement.kind, StatementKind::Loop { .. }) {
                states.iter().for_each(|state| self.keep(statement, state));
            }
            let next = self.statement(statement, states);
            states = self.meet(next);
        }
        states
    }

    fn statement(&mut self, statement: &Statement, states: Vec<State>) -> Vec<State> {
        let at = statement.at;
        match &statement.kind {
            StatementKind::Foreach { cursor, container, body } => {
                let counts = counts::counts(self.course.policy, &states, body);
                let past = self.looping(|engine| engine.rounds(states, *cursor, container, body, at));
                let counted = |state: State| {
                    counts.iter().fold(state, |state, (variable, over)| state.with_count(*variable, container, *over))
                };
                past.into_iter().map(counted).collect()
            }
            StatementKind::Follow { cursor, body, .. } => self.followed(states, *cursor, body, at),
            StatementKind::Link { .. } => {
                let mut states = states;
                states.iter_mut().for_each(|state| state.effect = state.effect.or(Some(at)));
                states
            }
            StatementKind::Loop { condition, test, body, step } => {
                let turn = Turn { condition, test: *test, body, step };
                self.looping(|engine| engine.turns(statement, states, &turn))
            }
            StatementKind::If { condition, then, otherwise } => {
                let taken = states.iter().flat_map(|state| self.branch(state, condition, true, at)).collect();
                let left = states.iter().flat_map(|state| self.branch(state, condition, false, at)).collect();
                let mut states = self.block(then, taken);
                states.extend(self.block(otherwise, left));
                states
            }
            StatementKind::Verbatim { otherwise, .. } => {
                let mut after = match otherwise {
                    Some(otherwise) => self.block(otherwise, states.clone()),
                    None => Vec::new(),
                };
                // The text may have changed every variable.
                after.extend(states.into_iter().map(|state| {
                    let mut state = state.with_values_of(&self.any).unsure();
                    state.effect = state.effect.or(Some(at));
                    state.assigned_anything();
                    state
                }));
                after
            }
            StatementKind::Set { place, value } => {
                states.into_iter().flat_map(|state| self.assigned(state, place, value, at)).collect()
            }
            StatementKind::Transfer { source, destination } => {
                let moved = |state| self.moved(state, statement, source, Some(destination), "");
                states.into_iter().flat_map(moved).collect()
            }
            StatementKind::Send { source, .. } => {
                let moved = |state| self.moved(state, statement, source, None, "goes to a node");
                states.into_iter().flat_map(moved).collect()
            }
            StatementKind::Destroy { source } => {
                let moved = |state| self.moved(state, statement, source, None, "is destroyed");
                states.into_iter().flat_map(moved).collect()
            }
            StatementKind::Dispatch { slot } => {
                for state in states {
                    match state.clone().with_size(*slot, 1, None, Why::Tested(at)) {
                        Some(state) => self.end(EndKind::Dispatch(*slot), at, Some(statement.id), state),
                        None => self.fails(statement, state),
                    }
                }
                Vec::new()
            }
            StatementKind::Return { .. } => {
                states.into_iter().for_each(|state| self.end(EndKind::Return, at, Some(statement.id), state));
                Vec::new()
            }
            StatementKind::Leave { what } => {
                // It stands in a loop.
                if let Some(left) = self.left.last_mut() {
                    match what {
                        Leave::Loop => left.looping.extend(states),
                        Leave::Turn => left.turns.extend(states),
                    }
                }
                Vec::new()
            }
            StatementKind::Fail { .. } => {
                states.into_iter().for_each(|state| self.end(EndKind::Fail, at, Some(statement.id), state));
                Vec::new()
            }
        }
    }

    /// After an assignment. If the value is a condition or a number of threads, two states follow: what is known if it
    /// is true or above 0, and if it is not.
    fn assigned(&self, state: State, place: &Place, value: &Expression, at: At) -> Vec<State> {
        let policy = self.course.policy;
        let counts = values::steps_by(policy, &state, value);
        let mut states = if values::is_followed(policy, place) {
            let (yes, no) = self.apart(&state, value, at);
            let with_value = |state: State| {
                let range = values::evaluate(policy, &state, value);
                let open = open::is_fresh(policy, &state, value);
                let range = Range { open, ..range.because(Why::Moved(at)) };
                values::with(policy, state.with_some_attribute(place.attributes(), range), place, range)
            };
            yes.into_iter().chain(no).map(with_value).collect()
        } else {
            let range = values::evaluate(policy, &state, value).because(Why::Moved(at));
            vec![state.with_some_attribute(place.attributes(), range)]
        };
        for state in &mut states {
            if let Place::VariableElement { .. } = place {
                // Any element can be the one that is assigned.
                let range = values::evaluate(policy, state, value).because(Why::Moved(at));
                for index in place.variables() {
                    let joined = Range { open: false, ..state.value(index).join(range) };
                    *state = state.clone().with_value(index, joined);
                    state.counting(index, Assigned::Perhaps);
                }
            }
            if let Some(variable) = values::index(policy, place) {
                let step = counts.map(|(from, by)| Assigned::Step(from, by));
                state.counting(variable, step.unwrap_or(Assigned::Other(value)));
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
            state.assigned(place, value);
            for element in &self.elements {
                if element.index() == Some(&Expression::Read(place.clone())) {
                    let now = values::element(policy, state, element);
                    if now != *element {
                        state.named_as(element, &now);
                    }
                }
            }
        }
        states
    }

    /// The states in which a value is true, or not 0, and in which it is not; only one if it says nothing of anything
    /// else.
    fn apart(&self, state: &State, value: &Expression, at: At) -> (Option<State>, Option<State>) {
        let policy = self.course.policy;
        let one = || (Some(state.clone()), None);
        let tested = if matches!(value, Expression::Size(_)) {
            Expression::NotZero(Box::new(value.clone()))
        } else if values::evaluate(policy, state, value).ty == Type::Bool {
            value.clone()
        } else {
            return one();
        };
        if values::evaluate(policy, state, &tested).single().is_some() {
            return one();
        }
        let yes = assume(policy, state.clone(), &tested, true, at);
        let no = assume(policy, state.clone(), &tested, false, at);
        if yes.as_ref() == Some(state) && no.as_ref() == Some(state) {
            return one();
        }
        (yes, no)
    }

    /// `gone`: in words, what becomes of a thread without a destination.
    fn moved(
        &mut self,
        state: State,
        statement: &Statement,
        source: &Source,
        destination: Option<&ContainerRef>,
        gone: &str,
    ) -> Vec<State> {
        let at = statement.at;
        let Some(past) = past_guards(self.course.policy, state.clone(), source, destination, at) else {
            self.fails(statement, state);
            return Vec::new();
        };
        // Facts that are not followed may determine which element it is.
        let unclear =
            |container: &ContainerRef| values::element(self.course.policy, &past, container).index().is_some();
        let source_unclear = match source {
            Source::Container(container) => unclear(container),
            Source::Thread(local) => past.places(*local).is_none_or(|places| places.len() != 1),
        };
        let state = if source_unclear || destination.is_some_and(unclear) { past.unsure() } else { past };
        if let Some(destination) = destination {
            self.note(&state, source, destination);
        }
        let now = |container: &ContainerRef| values::element(self.course.policy, &state, container);
        let target = destination.map(now);
        let after = match source {
            Source::Container(container) => {
                let from = now(container);
                state.after_container(&from, target.as_ref(), at)
            }
            Source::Thread(local) => state.after_thread(*local, target.as_ref(), at),
        };
        let what = || self.move_in_words(source, destination, gone);
        after.and_then(|state| self.step(state, at, what)).into_iter().collect()
    }

    /// Records that a guard of a statement certainly fails.
    fn fails(&mut self, statement: &Statement, state: State) {
        match self.flow.failing.iter_mut().find(|(known, _)| *known == statement.id) {
            None => self.flow.failing.push((statement.id, state)),
            Some((_, known)) if state.sure && !known.sure => *known = state,
            Some(_) => {}
        }
    }

    /// Records where a transfer can take threads that the event does not name.
    fn note(&mut self, state: &State, source: &Source, destination: &ContainerRef) {
        let sources = match source {
            Source::Container(container) => state.meant(&values::element(self.course.policy, state, container)),
            // When a parameter moves, only the thread moves that the event names.
            Source::Thread(local) if local.0 < self.course.handler.parameters => return,
            Source::Thread(local) => {
                state.places(*local).into_iter().flatten().filter_map(|spot| spot.container()).collect()
            }
        };
        self.flow.moves.add(sources, destination);
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

    /// Adds a step to the path of a state that is to be explained. `None`: the path is too long.
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

    /// The most paths that are kept apart here.
    fn most(&self) -> usize {
        let (Paths::Apart(most) | Paths::Explained(most)) = self.paths;
        most
    }

    /// Paths that meet.
    fn meet(&self, mut states: Vec<State>) -> Vec<State> {
        match self.paths {
            Paths::Apart(most) => apart::apart(states, most),
            Paths::Explained(most) => {
                states.truncate(most);
                states
            }
        }
    }

    fn keep(&mut self, statement: &Statement, state: &State) {
        let Paths::Apart(most) = self.paths else { return };
        if !self.keeps_states {
            return;
        }
        let known = self.flow.before.entry(statement.id).or_default();
        known.push(state.clone());
        if known.len() > most {
            *known = apart::apart(std::mem::take(known), most);
        }
    }

    fn end(&mut self, kind: EndKind, at: At, statement: Option<StatementId>, state: State) {
        self.flow.ends_seen += 1;
        let most = self.most();
        let ended = self.flow.ended.entry(statement).or_default();
        let known = ended.last().filter(|_| ended.len() >= most);
        match known.and_then(|index| self.flow.ends.get_mut(*index)) {
            // As many are kept apart as are allowed.
            Some(known) => known.state = known.state.clone().join(state),
            None => {
                ended.push(self.flow.ends.len());
                self.flow.ends.push(End { kind, at, statement, state });
            }
        }
    }
}
