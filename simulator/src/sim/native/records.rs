//! What the core has recorded, in the terms of the simulator.
#![allow(unsafe_code, reason = "the core's records are C")]

use std::cell::RefCell;
use std::ffi::c_void;

use catapults_compiler::interp::ThreadId;

use super::super::compiled::layout::{CStop, GUARD, text, timeouts};
use super::super::dispatcher::Out;
use super::super::policy::EventId;
use super::super::record::{Kind, Record};
use super::Native;
use super::calls::{CRecord, TIMEOUT};

impl Native<'_, '_> {
    pub(super) fn passes_on(&mut self, of: &CRecord) {
        let Some(kind) = kind(of.kind) else { return };
        let event = match kind {
            Kind::Preempted => self.taken_by(of.event),
            Kind::New
            | Kind::Refused
            | Kind::Dispatched
            | Kind::Lent
            | Kind::SwitchedOut
            | Kind::Blocked
            | Kind::Raised
            | Kind::Suspended
            | Kind::Resumed
            | Kind::Exited
            | Kind::Idle => self.handlers.get(of.event as usize).copied().flatten(),
        };
        let record = Record {
            time: self.now,
            processor: 0,
            thread: ThreadId(of.thread),
            kind,
            event: event.unwrap_or(self.events.schedule),
            line: of.line,
            donor: ThreadId(of.donor),
            ready: usize::try_from(of.ready).ok(),
            scheduler: of.scheduler as usize,
        };
        if of.of_scheduler { self.sink.of_scheduler(&record) } else { self.sink.record(&record) }
    }

    /// An event by our own number, or a timer by its scheduler and its place.
    fn taken_by(&self, event: u32) -> Option<EventId> {
        if event & TIMEOUT == 0 {
            return u16::try_from(event).ok().map(EventId);
        }
        let scheduler = (event & !TIMEOUT) >> 16;
        let policy = self.schedulers.get(scheduler as usize)?.object.policy();
        self.events.find(text(timeouts(policy).get((event & 0xffff) as usize)?.name))
    }

    /// The policy that is out, and why.
    pub(super) fn out(&mut self) -> Out {
        let time = self.now;
        let failure = &self.state().failure;
        let event = text(failure.event).to_owned();
        // SAFETY: a stop is constant data of a policy.
        match unsafe { failure.stop.as_ref() } {
            Some(stop) => Out { time, event, line: stop.line, why: why(stop) },
            None => Out { time, event, line: 0, why: text(failure.text).to_owned() },
        }
    }
}

/// Called by the core, within a call of ours.
pub(super) unsafe extern "C" fn on_record(to: *mut c_void, record: *const CRecord) {
    // SAFETY: the core was given these records, and calls with one of its own.
    unsafe { (*to.cast::<RefCell<Vec<CRecord>>>()).borrow_mut().push(*record) };
}

/// By `enum trace_kind`; `None`: a simulation has no such record.
fn kind(number: u32) -> Option<Kind> {
    Some(match number {
        1 => Kind::New,
        3 => Kind::Dispatched,
        4 => Kind::SwitchedOut,
        5 => Kind::Blocked,
        6 => Kind::Raised,
        7 => Kind::Exited,
        9 => Kind::Suspended,
        10 => Kind::Resumed,
        11 => Kind::Idle,
        12 => Kind::Refused,
        13 => Kind::Lent,
        14 => Kind::Preempted,
        _ => return None,
    })
}

fn why(stop: &CStop) -> String {
    let said = text(stop.text);
    if stop.why == GUARD { format!("a guard fails: {said}") } else { format!("it refuses a thread: {said}") }
}
