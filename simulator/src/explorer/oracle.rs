//! The application, as the explorer plays it. At each event, an imported variable has any value of its domain. The
//! application may change it between any two reads, so a later read within the event may find another value. Draws give
//! any number that they can.

use std::cell::RefCell;

use catapults_compiler::interp::{Application, ThreadId};
use catapults_compiler::policy::{ImportId, ThreadImportId, Value};

use super::values::{Domain, Values};

/// An imported variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Imported {
    /// One of the application.
    Global(ImportId),
    /// One of a thread.
    Of(ThreadId, ThreadImportId),
}

/// The limit on the ways in which variables change and numbers are drawn while a handler runs, for each choice of the
/// variables' values before it. Beyond this, a read finds the same as the access before, and a draw gives 0.
const MOST_WAYS: usize = 16;

/// What reports say of that.
pub(super) const LIMIT: &str =
    "for each event, 16 of the ways were tried in which variables can change and numbers be drawn while a handler runs";

/// Answers reads and draws by choices. [`Oracle::turn`] goes on to the next choices, until all have been made.
pub(super) struct Oracle<'v> {
    values: &'v Values,
    state: RefCell<State>,
}

/// What an event read of a variable.
pub(super) struct Read {
    pub variable: Imported,
    /// One per read, up to the last read that found another value than the access before.
    pub values: Vec<Value>,
    /// Whether it suffices to set the variable before the event: there is one value, and the policy has not assigned
    /// the variable before it was read.
    pub at_once: bool,
}

/// The reads and assignments, in order.
#[derive(Default)]
struct State {
    /// The choices, in order: what was chosen, and from how many.
    choices: Vec<(usize, usize)>,
    /// How many of them have come up since the last turn.
    made: usize,
    /// In how many ways the choices can be made, apart from the first reads of variables.
    ways: usize,
    /// A read or draw that could have had another result did not get it.
    bounded: bool,
    accesses: Vec<Access>,
    /// The numbers drawn.
    draws: Vec<i64>,
    has_drawn: bool,
}

struct Access {
    variable: Imported,
    value: Value,
    /// The policy assigned it.
    is_write: bool,
    /// The value is not that of the access before.
    differs: bool,
}

impl<'v> Oracle<'v> {
    /// Starts with the first choices.
    pub fn new(values: &'v Values) -> Self {
        Oracle { values, state: RefCell::new(State { ways: 1, ..State::default() }) }
    }

    /// What was read of each variable, in the order of the first reads.
    pub fn read(&self) -> Vec<Read> {
        let state = self.state.borrow();
        let reads = || state.accesses.iter().filter(|access| !access.is_write);
        let mut all: Vec<Read> = Vec::new();
        for Access { variable, .. } in reads() {
            if all.iter().any(|read| read.variable == *variable) {
                continue;
            }
            let of_it: Vec<&Access> = reads().filter(|access| access.variable == *variable).collect();
            let Some(last) = of_it.iter().rposition(|access| access.differs) else { continue };
            let values: Vec<Value> = of_it[..=last].iter().map(|access| access.value).collect();
            let first = state.accesses.iter().find(|access| access.variable == *variable);
            let at_once = values.len() == 1 && first.is_some_and(|first| !first.is_write);
            all.push(Read { variable: *variable, values, at_once });
        }
        all
    }

    /// The value that each variable has after the event if the policy assigned it.
    pub fn written(&self) -> Vec<(Imported, Value)> {
        let state = self.state.borrow();
        let mut all: Vec<(Imported, Value)> = Vec::new();
        for written in state.accesses.iter().filter(|access| access.is_write) {
            if let Some(value) = latest(&state.accesses, written.variable)
                && all.iter().all(|(variable, _)| *variable != written.variable)
            {
                all.push((written.variable, value));
            }
        }
        all
    }

    /// Whether a number was drawn that could have been another one.
    pub fn has_drawn(&self) -> bool {
        self.state.borrow().has_drawn
    }

    /// The numbers that were drawn, in order.
    pub fn draws(&self) -> Vec<i64> {
        self.state.borrow().draws.clone()
    }

    /// Whether a read or draw was not tried with all results, because there are too many.
    pub fn is_bounded(&self) -> bool {
        self.state.borrow().bounded
    }

    /// Forgets what was read and goes on to the next choices; `false` if there are none.
    pub fn turn(&mut self) -> bool {
        let state = self.state.get_mut();
        state.accesses.clear();
        state.draws.clear();
        (state.made, state.ways, state.bounded, state.has_drawn) = (0, 1, false, false);
        while let Some((choice, of)) = state.choices.pop() {
            if choice + 1 < of {
                state.choices.push((choice + 1, of));
                return true;
            }
        }
        false
    }

    fn value(&self, variable: Imported, domain: &Domain) -> Option<Value> {
        let mut state = self.state.borrow_mut();
        let before = latest(&state.accesses, variable);
        let others = domain.values.iter().copied().filter(|value| Some(*value) != before);
        // The value before is the first choice.
        let possible: Vec<Value> = before.into_iter().chain(others).collect();
        let ways = if before.is_some() { state.ways * possible.len() } else { state.ways };
        let chooses = ways <= MOST_WAYS;
        let choice = if chooses { state.choose(possible.len()) } else { 0 };
        state.ways = if chooses { ways } else { state.ways };
        state.bounded |= !chooses;
        let value = *possible.get(choice)?;
        state.accesses.push(Access { variable, value, is_write: false, differs: before != Some(value) });
        Some(value)
    }

    /// Any number that can be drawn. [`MOST_WAYS`] limits this together with the changes of variables.
    fn drawn(&self, below: i64) -> i64 {
        let mut state = self.state.borrow_mut();
        let possible = usize::try_from(below).unwrap_or(0).max(1);
        let tried = possible.min((MOST_WAYS / state.ways).max(1));
        state.bounded |= tried < possible;
        state.ways *= tried;
        let choice = state.choose(tried);
        // The highest number is always tried.
        let drawn = if choice + 1 == tried && tried > 1 { possible - 1 } else { choice };
        let drawn = i64::try_from(drawn).unwrap_or(i64::MAX);
        state.draws.push(drawn);
        state.has_drawn |= possible > 1;
        drawn
    }

    fn write(&self, variable: Imported, value: Value) {
        self.state.borrow_mut().accesses.push(Access { variable, value, is_write: true, differs: true });
    }
}

impl State {
    fn choose(&mut self, of: usize) -> usize {
        if self.made == self.choices.len() {
            self.choices.push((0, of));
        }
        self.made += 1;
        self.choices[self.made - 1].0
    }
}

fn latest(accesses: &[Access], variable: Imported) -> Option<Value> {
    accesses.iter().rev().find(|access| access.variable == variable).map(|access| access.value)
}

impl Application for Oracle<'_> {
    fn has_import(&self, _: ImportId) -> bool {
        true
    }

    fn has_thread_import(&self, _: ThreadId, _: ThreadImportId) -> bool {
        true
    }

    fn import(&self, import: ImportId) -> Option<Value> {
        self.value(Imported::Global(import), &self.values.imports[import.0])
    }

    fn set_import(&mut self, import: ImportId, value: Value) {
        self.write(Imported::Global(import), value);
    }

    fn thread_import(&self, thread: ThreadId, import: ThreadImportId) -> Option<Value> {
        self.value(Imported::Of(thread, import), &self.values.thread_imports[import.0])
    }

    fn set_thread_import(&mut self, thread: ThreadId, import: ThreadImportId, value: Value) {
        self.write(Imported::Of(thread, import), value);
    }

    fn draw(&mut self, below: i64) -> Option<i64> {
        Some(self.drawn(below))
    }
}
