//! What happens in a simulation, and why: one record each.

use catapults_compiler::interp::ThreadId;

use super::policy::EventId;

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Nanoseconds since the start.
    pub time: i64,
    /// The processor on which the policy was told.
    pub processor: u32,
    /// To whom; without meaning for [`Kind::Idle`].
    pub thread: ThreadId,
    /// What.
    pub kind: Kind,
    /// The event whose handler decided it.
    pub event: EventId,
    /// The line of the policy that moved the thread; 0: none of its own.
    pub line: u32,
}

/// What can happen to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It has come, and is ready.
    New,
    /// The policy did not admit it.
    Refused,
    /// The policy dispatched it: its turn begins.
    Dispatched,
    /// It runs on the turn of another thread, which waits for it.
    Lent,
    /// It gave the processor up, and is ready.
    SwitchedOut,
    /// The policy, or one of its timers, took the processor from it.
    Preempted,
    /// It waits for something.
    Blocked,
    /// It does so no longer.
    Raised,
    /// It was suspended.
    Suspended,
    /// Not any more.
    Resumed,
    /// It has ended.
    Exited,
    /// The processor has nothing to run.
    Idle,
}

/// Where records go.
pub trait Sink {
    /// In the order of time.
    fn record(&mut self, record: &Record);
}
