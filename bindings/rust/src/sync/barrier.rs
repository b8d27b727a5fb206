use std::cell::UnsafeCell;
use std::num::NonZeroU16;

use crate::error::{Error, check};
use crate::ffi;
use crate::start::here;

/// Where threads wait for each other.
pub struct Barrier {
    barrier: UnsafeCell<ffi::Barrier>,
}

// SAFETY: the runtime's calls may be made by every thread.
unsafe impl Sync for Barrier {}
// SAFETY: nobody waits at a barrier that is sent.
unsafe impl Send for Barrier {}

impl Barrier {
    /// For so many threads.
    #[must_use]
    pub const fn new(count: NonZeroU16) -> Self {
        Barrier { barrier: UnsafeCell::new(ffi::Barrier::new(count.get() as u32)) }
    }

    /// Waits until as many threads are here. Returns whether the caller came last.
    ///
    /// # Errors
    /// The caller is no Catapults thread.
    pub fn wait(&self) -> Result<bool, Error> {
        const LAST: i32 = -1;
        here()?;
        // SAFETY: the barrier is borrowed for as long as anybody waits at it.
        match unsafe { ffi::catapults_barrier_wait(self.barrier.get()) } {
            LAST => Ok(true),
            number => check(number, "catapults_barrier_wait").map(|()| false),
        }
    }
}
