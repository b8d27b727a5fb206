//! What a handler returns to its host, in every language.

use crate::framework::Framework;
use crate::policy::Handler;

/// What a handler returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// An event: nothing but whether the policy has stopped.
    Event,
    /// An event that may dispatch: the thread to run, or none.
    Dispatch,
    /// A query: its answer.
    Query,
}

impl Shape {
    /// That of a handler, on a host.
    pub(super) fn of(handler: &Handler, framework: &Framework) -> Self {
        let dispatches = || framework.events.iter().any(|event| event.name == handler.name && event.dispatches());
        match handler.returns {
            Some(_) => Self::Query,
            None if dispatches() => Self::Dispatch,
            None => Self::Event,
        }
    }
}
