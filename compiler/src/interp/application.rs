//! The variables that a policy imports.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use super::ThreadId;
use crate::policy::{Import, ImportId, Policy, ThreadImportId, Value};

/// The variables that the application has registered (2005, §5.2). The machine keeps the others itself: they start with
/// their defaults.
pub trait Application {
    /// Whether a variable is registered. Unlike [`Application::import`], this does not read it.
    fn has_import(&self, import: ImportId) -> bool;

    /// Whether a variable of a thread is registered.
    fn has_thread_import(&self, thread: ThreadId, import: ThreadImportId) -> bool;

    /// The value of an imported variable, or `None` if it is not registered. The application may change it between
    /// reads.
    fn import(&self, import: ImportId) -> Option<Value>;

    /// Assigns a registered variable.
    fn set_import(&mut self, import: ImportId, value: Value);

    /// The value of a thread's imported variable, or `None` if it is not registered for this thread.
    fn thread_import(&self, thread: ThreadId, import: ThreadImportId) -> Option<Value>;

    /// Assigns a registered variable of a thread.
    fn set_thread_import(&mut self, thread: ThreadId, import: ThreadImportId, value: Value);

    /// The value of `random(below)`, or `None` if the machine's generator draws it: see [`super::Machine::seed`].
    fn draw(&mut self, below: i64) -> Option<i64>;
}

/// An application that consists of its variables. A variable is registered when it is first set.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    imports: HashMap<ImportId, Variable>,
    thread_imports: HashMap<(ThreadId, ThreadImportId), Variable>,
    /// What the next draws give.
    draws: VecDeque<i64>,
}

#[derive(Clone, Debug)]
struct Variable {
    value: Cell<Value>,
    /// What the next reads find, one after the other; the last value stays.
    reads: RefCell<VecDeque<Value>>,
}

impl Variables {
    /// Sets a variable by name.
    ///
    /// # Errors
    /// What is wrong, if the policy imports no such variable or one of another type.
    pub fn set(&mut self, policy: &Policy, name: &str, value: Value) -> Result<(), String> {
        let index = find(&policy.imports, name, value)?;
        set(&mut self.imports, ImportId(index), value);
        Ok(())
    }

    /// Sets a variable of a thread by name.
    ///
    /// # Errors
    /// What is wrong, if the policy imports no such variable of threads or one of another type.
    pub fn set_of_thread(&mut self, policy: &Policy, thread: ThreadId, name: &str, value: Value) -> Result<(), String> {
        let index = find(&policy.thread_imports, name, value)?;
        set(&mut self.thread_imports, (thread, ThreadImportId(index)), value);
        Ok(())
    }

    /// Lets the next reads of a variable find these values, one after the other, as if the application changed it in
    /// between. The last value stays. Without a thread, it is a variable of the application.
    ///
    /// # Errors
    /// As [`Variables::set`].
    pub fn let_read(
        &mut self,
        policy: &Policy,
        thread: Option<ThreadId>,
        name: &str,
        values: &[Value],
    ) -> Result<(), String> {
        for value in values {
            match thread {
                None => {
                    let index = find(&policy.imports, name, *value)?;
                    will_be(&mut self.imports, ImportId(index), *value);
                }
                Some(thread) => {
                    let index = find(&policy.thread_imports, name, *value)?;
                    will_be(&mut self.thread_imports, (thread, ThreadImportId(index)), *value);
                }
            }
        }
        Ok(())
    }

    /// Lets the next draws give these numbers, each within its bound. After them, the machine draws by itself.
    pub fn let_draw(&mut self, numbers: &[i64]) {
        self.draws.extend(numbers);
    }

    /// Drops the variables of a thread that has ended.
    pub fn forget(&mut self, thread: ThreadId) {
        self.thread_imports.retain(|(owner, _), _| *owner != thread);
    }
}

/// Assigns a variable, and registers it.
fn set<K: Eq + Hash>(variables: &mut HashMap<K, Variable>, key: K, value: Value) {
    let variable = variables.entry(key).or_insert_with(|| Variable::new(value));
    variable.value.set(value);
}

/// Adds a value for the next reads of a variable, and registers it.
fn will_be<K: Eq + Hash>(variables: &mut HashMap<K, Variable>, key: K, value: Value) {
    variables.entry(key).or_insert_with(|| Variable::new(value)).reads.get_mut().push_back(value);
}

impl Variable {
    fn new(value: Value) -> Self {
        Variable { value: Cell::new(value), reads: RefCell::default() }
    }

    fn read(&self) -> Value {
        if let Some(next) = self.reads.borrow_mut().pop_front() {
            self.value.set(next);
        }
        self.value.get()
    }
}

fn find(imports: &[Import], name: &str, value: Value) -> Result<usize, String> {
    let index = imports.iter().position(|import| import.name == name);
    let index = index.ok_or_else(|| format!("the policy does not import `{name}`"))?;
    let expected = imports[index].ty;
    if expected == value.ty() {
        return Ok(index);
    }
    Err(format!("`{name}` is imported as {}, not as {}", expected.word(), value.ty().word()))
}

impl Application for Variables {
    fn has_import(&self, import: ImportId) -> bool {
        self.imports.contains_key(&import)
    }

    fn has_thread_import(&self, thread: ThreadId, import: ThreadImportId) -> bool {
        self.thread_imports.contains_key(&(thread, import))
    }

    fn import(&self, import: ImportId) -> Option<Value> {
        self.imports.get(&import).map(Variable::read)
    }

    fn set_import(&mut self, import: ImportId, value: Value) {
        set(&mut self.imports, import, value);
    }

    fn thread_import(&self, thread: ThreadId, import: ThreadImportId) -> Option<Value> {
        self.thread_imports.get(&(thread, import)).map(Variable::read)
    }

    fn set_thread_import(&mut self, thread: ThreadId, import: ThreadImportId, value: Value) {
        set(&mut self.thread_imports, (thread, import), value);
    }

    fn draw(&mut self, below: i64) -> Option<i64> {
        self.draws.pop_front().map(|number| number.clamp(0, below.saturating_sub(1).max(0)))
    }
}
