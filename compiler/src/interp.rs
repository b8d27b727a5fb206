//! What a policy means: the reference for every host.

use crate::policy::{ContainerId, ImportId, Policy, ThreadImportId, Value};
use crate::verify::Verified;

/// The host's number for a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

/// The variables that the application has registered. Those that it has not, the machine keeps itself, from their defaults.
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

/// Why a handler ended before its end. It has changed nothing since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A guard did not hold: the policy is out.
    Guard {
        /// In the policy's source.
        line: u32,
        /// As [`Verified::guard_text`] says it.
        text: String,
    },
    /// `fail`: the request is refused.
    Fail {
        /// In the policy's source.
        line: u32,
        /// As written.
        reason: String,
    },
    /// The verifier claimed what is not so: a mistake of the compiler.
    Unproved {
        /// In the policy's source.
        line: u32,
        /// What was claimed.
        text: String,
    },
    /// The caller raised an event or asked a query that the policy does not have, or with threads that do not exist.
    Misuse(String),
}

/// A policy at work.
pub struct Machine<'a> {
    verified: &'a Verified<Policy>,
}

impl<'a> Machine<'a> {
    /// A policy with no threads yet.
    pub fn new(verified: &'a Verified<Policy>) -> Self {
        Machine { verified }
    }

    /// A new thread, in hand.
    pub fn spawn(&mut self, thread: ThreadId) {
        let _ = thread;
    }

    /// Whether the policy has a handler for this event.
    pub fn handles(&self, event: &str) -> bool {
        self.verified.policy().events.iter().any(|handler| handler.name == event)
    }

    /// Runs the handler of an event. The result is the thread dispatched, if any.
    pub fn raise(&mut self, event: &str, threads: &[ThreadId], application: &mut dyn Application) -> Result<Option<ThreadId>, Stop> {
        let _ = (threads, application);
        Err(Stop::Misuse(event.to_owned()))
    }

    /// Runs the handler of a query.
    pub fn ask(&mut self, query: &str, threads: &[ThreadId], application: &mut dyn Application) -> Result<Value, Stop> {
        let _ = (threads, application);
        Err(Stop::Misuse(query.to_owned()))
    }

    /// The threads in a container, in the order in which they would be removed.
    pub fn contents(&self, container: ContainerId) -> Vec<ThreadId> {
        let _ = container;
        Vec::new()
    }
}
