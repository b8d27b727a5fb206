//! What has happened, as the native runtime records it.

use std::fmt;

use catapults_compiler::interp::ThreadId;

/// What has happened to a thread, or to a scheduler as the thread that it is to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// What.
    pub kind: Kind,
    /// To whom; 0 if to nobody.
    pub thread: ThreadId,
}

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It has been created.
    New,
    /// It has the processor.
    Dispatched,
    /// It has lost or given up the processor and could go on.
    SwitchedOut,
    /// It cannot go on.
    Blocked,
    /// It can again.
    Raised,
    /// It has ended.
    Exited,
    /// Somebody has suspended it, or it has nothing to run.
    Suspended,
    /// Not any more.
    Resumed,
    /// Nothing could run.
    Idle,
}

/// A policy has broken a rule, or has stopped at a guard: it is out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Out {
    /// The scheduler, into [`catapults_compiler::hierarchy::Hierarchy::nodes`].
    pub scheduler: usize,
    /// The event that was raised.
    pub event: String,
    /// What it did.
    pub why: String,
}

impl fmt::Display for Record {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            Kind::New => "new",
            Kind::Dispatched => "dispatched",
            Kind::SwitchedOut => "switched_out",
            Kind::Blocked => "blocked",
            Kind::Raised => "raised",
            Kind::Exited => "exited",
            Kind::Suspended => "suspended",
            Kind::Resumed => "resumed",
            Kind::Idle => return out.write_str("idle"),
        };
        write!(out, "{what} {}", self.thread.0)
    }
}

impl fmt::Display for Out {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.event, self.why)
    }
}
