//! The records of what happens in a simulation, and why.

use catapults_compiler::interp::ThreadId;
use catapults_compiler::vocabulary::Value;

use super::policy::EventId;

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Nanoseconds since the start.
    pub time: i64,
    /// The processor on which the policy was told of it.
    pub processor: u32,
    /// The thread; for [`Kind::Idle`], meaningless.
    pub thread: ThreadId,
    /// What happened.
    pub kind: Kind,
    /// The event whose handler decided it.
    pub event: EventId,
    /// The line of the policy that moved the thread; 0: no line of its own.
    pub line: u32,
    /// For [`Kind::Lent`], the thread whose turn it is. Otherwise meaningless.
    pub donor: ThreadId,
    /// How many threads are READY; with nodes, on the processor's node. `None`: several schedulers share them.
    pub ready: Option<usize>,
    /// The scheduler whose handler decided it, as an index in the hierarchy; for a policy, 0.
    pub scheduler: usize,
}

/// What can happen to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It has come, and is READY.
    New,
    /// The policy refused it.
    Refused,
    /// The policy dispatched it: its turn begins.
    Dispatched,
    /// It runs on the turn of another thread, which waits for it; or again on its own turn, which it had lent.
    Lent,
    /// It gave the processor up, and is READY.
    SwitchedOut,
    /// The policy, or one of its timers, took the processor from it.
    Preempted,
    /// It waits for something.
    Blocked,
    /// Its wait is over.
    Raised,
    /// It was suspended.
    Suspended,
    /// Its suspension is over.
    Resumed,
    /// It has ended.
    Exited,
    /// The processor has nothing to run.
    Idle,
}

/// Where records go.
pub trait Sink {
    /// Takes a record about a thread.
    fn record(&mut self, record: &Record);

    /// Takes a record about a scheduler as its parent's thread.
    fn of_scheduler(&mut self, record: &Record) {
        let _ = record;
    }

    /// Takes the name of a thread that has come.
    fn named(&mut self, time: i64, thread: ThreadId, name: &str) {
        let _ = (time, thread, name);
    }

    /// A job that was released then is done.
    fn job_done(&mut self, time: i64, thread: ThreadId, released: i64) {
        let _ = (time, thread, released);
    }

    /// An imported variable has this value now: of a thread, or of the application.
    fn value(&mut self, time: i64, thread: Option<ThreadId>, name: &str, value: Value) {
        let _ = (time, thread, name, value);
    }
}
