//! The variables that a policy imports.

use std::collections::HashMap;

use super::ThreadId;
use crate::policy::{Import, ImportId, Policy, ThreadImportId, Value};

/// The variables that the application has registered (2005, §5.2). Those that it has not, the machine keeps itself: they
/// start with their defaults.
pub trait Application {
    /// The value of an imported variable, or `None` if it is not registered.
    fn import(&self, import: ImportId) -> Option<Value>;

    /// Assigns a registered variable.
    fn set_import(&mut self, import: ImportId, value: Value);

    /// The value of a thread's imported variable, or `None` if it is not registered for this thread.
    fn thread_import(&self, thread: ThreadId, import: ThreadImportId) -> Option<Value>;

    /// Assigns a registered variable of a thread.
    fn set_thread_import(&mut self, thread: ThreadId, import: ThreadImportId, value: Value);
}

/// An application that is nothing but its variables. A variable is registered when it is first set.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    imports: HashMap<ImportId, Value>,
    thread_imports: HashMap<(ThreadId, ThreadImportId), Value>,
}

impl Variables {
    /// Sets a variable by name.
    ///
    /// # Errors
    /// What is wrong, if the policy imports no such variable or one of another type.
    pub fn set(&mut self, policy: &Policy, name: &str, value: Value) -> Result<(), String> {
        let index = find(&policy.imports, name, value)?;
        self.imports.insert(ImportId(index), value);
        Ok(())
    }

    /// Sets a variable of a thread by name.
    ///
    /// # Errors
    /// What is wrong, if the policy imports no such variable of threads or one of another type.
    pub fn set_of_thread(&mut self, policy: &Policy, thread: ThreadId, name: &str, value: Value) -> Result<(), String> {
        let index = find(&policy.thread_imports, name, value)?;
        self.thread_imports.insert((thread, ThreadImportId(index)), value);
        Ok(())
    }

    /// Drops the variables of a thread that has ended.
    pub fn forget(&mut self, thread: ThreadId) {
        self.thread_imports.retain(|(owner, _), _| *owner != thread);
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
    fn import(&self, import: ImportId) -> Option<Value> {
        self.imports.get(&import).copied()
    }

    fn set_import(&mut self, import: ImportId, value: Value) {
        self.imports.insert(import, value);
    }

    fn thread_import(&self, thread: ThreadId, import: ThreadImportId) -> Option<Value> {
        self.thread_imports.get(&(thread, import)).copied()
    }

    fn set_thread_import(&mut self, thread: ThreadId, import: ThreadImportId, value: Value) {
        self.thread_imports.insert((thread, import), value);
    }
}
