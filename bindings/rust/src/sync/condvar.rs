use std::cell::UnsafeCell;
use std::time::Duration;

use super::MutexGuard;
use crate::error::Error;
use crate::ffi;
use crate::start::here;
use crate::time::{self, Instant};

/// A condition on which threads wait, each with a mutex. Wake-ups are never spurious.
pub struct Condvar {
    condition: UnsafeCell<ffi::Condition>,
}

// SAFETY: the runtime's calls may be made by every thread.
unsafe impl Sync for Condvar {}
// SAFETY: nobody waits on a condition that is sent.
unsafe impl Send for Condvar {}

impl Condvar {
    /// One on which nobody waits.
    #[must_use]
    pub const fn new() -> Self {
        Condvar { condition: UnsafeCell::new(ffi::Condition::new()) }
    }

    /// Gives the mutex up until the caller is notified.
    ///
    /// # Errors
    /// The runtime's, which has no reason to fail for a guard's owner. The mutex is unlocked then.
    pub fn wait<'a, T: ?Sized>(&self, mut guard: MutexGuard<'a, T>) -> Result<MutexGuard<'a, T>, Error> {
        guard.wait(self.condition.get(), Instant::FOREVER)?;
        Ok(guard)
    }

    /// Waits while this holds.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn wait_while<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> Result<MutexGuard<'a, T>, Error> {
        while condition(&mut guard) {
            guard = self.wait(guard)?;
        }
        Ok(guard)
    }

    /// Waits until this instant at most. The flag: whether it was notified in time.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn wait_until<'a, T: ?Sized>(
        &self,
        mut guard: MutexGuard<'a, T>,
        instant: Instant,
    ) -> Result<(MutexGuard<'a, T>, bool), Error> {
        match guard.wait(self.condition.get(), instant) {
            Ok(()) => Ok((guard, true)),
            Err(Error::TimedOut) => Ok((guard, false)),
            Err(error) => Err(error),
        }
    }

    /// Waits for this long at most. The flag: whether it was notified in time.
    ///
    /// # Errors
    /// As [`wait`](Self::wait).
    pub fn wait_timeout<'a, T: ?Sized>(
        &self,
        guard: MutexGuard<'a, T>,
        length: Duration,
    ) -> Result<(MutexGuard<'a, T>, bool), Error> {
        self.wait_until(guard, time::after(length))
    }

    /// Lets the thread go on that has waited longest. On a kernel thread that is not the runtime's it does nothing.
    pub fn notify_one(&self) {
        if here().is_ok() {
            // SAFETY: the caller is a thread of the runtime.
            unsafe { ffi::catapults_cond_signal(self.condition.get()) };
        }
    }

    /// Lets all waiting threads go on. On a kernel thread that is not the runtime's it does nothing.
    pub fn notify_all(&self) {
        if here().is_ok() {
            // SAFETY: the caller is a thread of the runtime.
            unsafe { ffi::catapults_cond_broadcast(self.condition.get()) };
        }
    }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}
