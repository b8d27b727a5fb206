//! What happens in a simulation, and why: one record each.

use catapults_compiler::interp::ThreadId;
use catapults_compiler::vocabulary::Value;

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
    /// For [`Kind::Lent`]: whose turn it is. Else without meaning.
    pub donor: ThreadId,
    /// How many threads are ready, on the processor's node if the policy has nodes. `None`: schedulers share them.
    pub ready: Option<usize>,
    /// Whose handler decided it, into the schedulers of the hierarchy; 0: the policy.
    pub scheduler: usize,
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
    /// It runs on the turn of another thread, which waits for it; or goes on with its own turn, which it had lent.
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

    /// The same of a scheduler, as a thread to its parent.
    fn of_scheduler(&mut self, record: &Record) {
        let _ = record;
    }

    /// A thread that has come is called this.
    fn named(&mut self, time: i64, thread: ThreadId, name: &str) {
        let _ = (time, thread, name);
    }

    /// A job is done that was released then.
    fn job_done(&mut self, time: i64, thread: ThreadId, released: i64) {
        let _ = (time, thread, released);
    }

    /// A variable that the policy imports has this value now: of a thread, or of the application.
    fn value(&mut self, time: i64, thread: Option<ThreadId>, name: &str, value: Value) {
        let _ = (time, thread, name, value);
    }
}
