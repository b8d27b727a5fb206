//! The application as the explorer plays it: an imported variable has, at each event, any value of its domain.

use std::cell::RefCell;

use catapults_compiler::interp::{Application, ThreadId};
use catapults_compiler::policy::{ImportId, ThreadImportId, Value};

use super::values::{Domain, Values};

/// Which variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Imported {
    /// One of the application.
    Global(ImportId),
    /// One of a thread.
    Of(ThreadId, ThreadImportId),
}

/// Answers reads by its choices; [`Oracle::turn`] goes to the next choices until all have been made.
pub(super) struct Oracle<'v> {
    values: &'v Values,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    /// For each variable in the order of its first read: the choice, and how many there are.
    choices: Vec<(usize, usize)>,
    read: Vec<(Imported, Value)>,
    written: Vec<(Imported, Value)>,
}

impl<'v> Oracle<'v> {
    /// With the first choices.
    pub fn new(values: &'v Values) -> Self {
        Oracle { values, state: RefCell::default() }
    }

    /// What was read, each variable once, with its value before the event.
    pub fn read(&self) -> Vec<(Imported, Value)> {
        self.state.borrow().read.clone()
    }

    /// What the policy has assigned.
    pub fn written(&self) -> Vec<(Imported, Value)> {
        self.state.borrow().written.clone()
    }

    /// Forgets what was read and goes to the next choices; `false` if there are none.
    pub fn turn(&mut self) -> bool {
        let state = self.state.get_mut();
        state.read.clear();
        state.written.clear();
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
        let known = |list: &[(Imported, Value)]| list.iter().find(|(one, _)| *one == variable).map(|(_, value)| *value);
        if let Some(value) = known(&state.written).or_else(|| known(&state.read)) {
            return Some(value);
        }
        let index = state.read.len();
        if index == state.choices.len() {
            state.choices.push((0, domain.values.len()));
        }
        let value = *domain.values.get(state.choices[index].0)?;
        state.read.push((variable, value));
        Some(value)
    }

    fn write(&self, variable: Imported, value: Value) {
        let mut state = self.state.borrow_mut();
        state.written.retain(|(one, _)| *one != variable);
        state.written.push((variable, value));
    }
}

impl Application for Oracle<'_> {
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
}
