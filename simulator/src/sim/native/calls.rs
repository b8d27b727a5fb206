//! The functions of `simulator/core/simulated.h`, which says what they do.

use std::ffi::{c_char, c_void};
use std::marker::{PhantomData, PhantomPinned};

use super::super::compiled::layout::{CPolicy, CStop, CThread};

/// Something whose memory only C looks into.
macro_rules! opaque {
    ($($name:ident),*) => { $(
        #[repr(C)]
        pub(in crate::sim) struct $name {
            _bytes: [u8; 0],
            _pinned: PhantomData<(*mut u8, PhantomPinned)>,
        }
    )* };
}

opaque!(Simulated, SimulatedThread, SimulatedScheduler);

#[repr(C)]
#[derive(Clone, Copy)]
pub(in crate::sim) struct CValue {
    pub offset: u32,
    pub size: u32,
    pub bits: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(in crate::sim) struct CValues {
    pub values: *const CValue,
    pub count: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(in crate::sim) struct CRecord {
    pub kind: u32,
    pub thread: u32,
    pub donor: u32,
    pub scheduler: u32,
    pub line: u32,
    pub event: u32,
    pub of_scheduler: bool,
    pub ready: i64,
}

#[repr(C)]
pub(in crate::sim) struct CFailure {
    pub failed: bool,
    pub event: *const c_char,
    pub stop: *const CStop,
    pub text: *const c_char,
}

#[repr(C)]
pub(in crate::sim) struct CState {
    pub now: i64,
    pub event_raised: u32,
    pub suspend_thread: u32,
    pub resume_thread: u32,
    pub failure: CFailure,
}

/// `SIMULATED_TIMEOUT`.
pub(in crate::sim) const TIMEOUT: u32 = 1 << 31;

pub(in crate::sim) type OnRecord = unsafe extern "C" fn(*mut c_void, *const CRecord);

unsafe extern "C" {
    pub(in crate::sim) fn simulated_size() -> u64;
    pub(in crate::sim) fn simulated_instance_size(policy: *const CPolicy) -> u64;
    pub(in crate::sim) fn simulated_scheduler_size(parent: *const CPolicy) -> u64;
    pub(in crate::sim) fn simulated_thread_size(policy: *const CPolicy) -> u64;
    pub(in crate::sim) fn simulated_begin(
        of: *mut Simulated,
        policy: *const CPolicy,
        instance: *mut c_void,
        seed: u64,
        root: CValues,
        record: Option<OnRecord>,
        to: *mut c_void,
    );
    pub(in crate::sim) fn simulated_add(
        of: *mut Simulated,
        scheduler: *mut SimulatedScheduler,
        parent: *mut SimulatedScheduler,
        number: u32,
        policy: *const CPolicy,
        instance: *mut c_void,
        at_parent: CValues,
        own: CValues,
    ) -> bool;
    pub(in crate::sim) fn simulated_state(of: *mut Simulated) -> *mut CState;
    pub(in crate::sim) fn simulated_next_timeout(of: *mut Simulated) -> i64;
    pub(in crate::sim) fn simulated_someone_waits(of: *mut Simulated) -> bool;
    pub(in crate::sim) fn simulated_create(
        of: *mut Simulated,
        thread: *mut SimulatedThread,
        number: u32,
        scheduler: *mut SimulatedScheduler,
        values: CValues,
        event: u32,
    ) -> *const CStop;
    pub(in crate::sim) fn simulated_policy_part(thread: *mut SimulatedThread) -> *mut CThread;
    pub(in crate::sim) fn simulated_turn(of: *const Simulated) -> u32;
    pub(in crate::sim) fn simulated_current(of: *const Simulated) -> u32;
    pub(in crate::sim) fn simulated_has_lost(of: *mut Simulated) -> bool;
    pub(in crate::sim) fn simulated_take_suspended(of: *mut Simulated) -> u32;
    pub(in crate::sim) fn simulated_is_suspended(thread: *const SimulatedThread) -> bool;
    pub(in crate::sim) fn simulated_is_to_be_suspended(thread: *const SimulatedThread) -> bool;
    pub(in crate::sim) fn simulated_yield(of: *mut Simulated, switch_out: u32);
    pub(in crate::sim) fn simulated_yield_to(
        of: *mut Simulated,
        thread: *mut SimulatedThread,
        set_next: u32,
        switch_out: u32,
    );
    pub(in crate::sim) fn simulated_block(of: *mut Simulated, reason: u32, event: u32);
    pub(in crate::sim) fn simulated_exit(of: *mut Simulated);
    pub(in crate::sim) fn simulated_lend(of: *mut Simulated, owner: *mut SimulatedThread, reason: u32);
    pub(in crate::sim) fn simulated_redirect(thread: *mut SimulatedThread, owner: *mut SimulatedThread);
    pub(in crate::sim) fn simulated_regain(of: *mut Simulated);
    pub(in crate::sim) fn simulated_unblock(of: *mut Simulated, thread: *mut SimulatedThread);
    pub(in crate::sim) fn simulated_unblock_lender(of: *mut Simulated, thread: *mut SimulatedThread);
    pub(in crate::sim) fn simulated_preempt(of: *mut Simulated);
    pub(in crate::sim) fn simulated_suspend(of: *mut Simulated, thread: *mut SimulatedThread);
    pub(in crate::sim) fn simulated_resume(of: *mut Simulated, thread: *mut SimulatedThread);
    pub(in crate::sim) fn simulated_release(of: *mut Simulated, thread: *mut SimulatedThread, event: u32);
    pub(in crate::sim) fn simulated_change(of: *mut Simulated, thread: *mut SimulatedThread, event: u32);
    pub(in crate::sim) fn simulated_tick(of: *mut Simulated, event: u32);
    pub(in crate::sim) fn simulated_expire(of: *mut Simulated) -> bool;
    pub(in crate::sim) fn simulated_wake_idle(of: *mut Simulated);
    pub(in crate::sim) fn simulated_decide(of: *mut Simulated);
}
