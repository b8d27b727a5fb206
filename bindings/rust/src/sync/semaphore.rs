use std::cell::UnsafeCell;
use std::time::Duration;

use crate::error::{Error, check};
use crate::start::here;
use crate::time::{self, Instant};
use crate::{ffi, wait};

/// Counts what there is. Threads take one, or wait for it.
pub struct Semaphore {
    semaphore: UnsafeCell<ffi::Semaphore>,
}

// SAFETY: the runtime's calls may be made by every thread.
unsafe impl Sync for Semaphore {}
// SAFETY: nobody waits for a semaphore that is sent.
unsafe impl Send for Semaphore {}

impl Semaphore {
    /// With so many at first.
    #[must_use]
    pub const fn new(value: u16) -> Self {
        Semaphore { semaphore: UnsafeCell::new(ffi::Semaphore::new(value as u32)) }
    }

    /// Takes one, and waits until there is one.
    ///
    /// # Errors
    /// The caller is no Catapults thread.
    pub fn acquire(&self) -> Result<(), Error> {
        here()?;
        // SAFETY: the semaphore is borrowed for as long as anybody waits for it.
        wait::again(|| unsafe { ffi::catapults_sem_wait(self.semaphore.get()) }, "catapults_sem_wait")
    }

    /// Takes one, if there is one.
    ///
    /// # Errors
    /// [`Error::Busy`]: there is none. The caller is no Catapults thread.
    pub fn try_acquire(&self) -> Result<(), Error> {
        here()?;
        // SAFETY: as above.
        match unsafe { ffi::catapults_sem_trywait(self.semaphore.get()) } {
            libc::EAGAIN => Err(Error::Busy),
            number => check(number, "catapults_sem_trywait"),
        }
    }

    /// Takes one, and waits for it until this instant.
    ///
    /// # Errors
    /// [`Error::TimedOut`]. The caller is no Catapults thread.
    pub fn acquire_until(&self, instant: Instant) -> Result<(), Error> {
        here()?;
        // SAFETY: as above.
        wait::again(
            || unsafe { ffi::catapults_sem_wait_until(self.semaphore.get(), instant.nanoseconds()) },
            "catapults_sem_wait_until",
        )
    }

    /// Takes one, and waits for it for this long.
    ///
    /// # Errors
    /// [`Error::TimedOut`]. The caller is no Catapults thread.
    pub fn acquire_timeout(&self, length: Duration) -> Result<(), Error> {
        self.acquire_until(time::after(length))
    }

    /// Gives one back, or a new one.
    ///
    /// # Errors
    /// There are more than it counts. The caller is no Catapults thread.
    pub fn release(&self) -> Result<(), Error> {
        here()?;
        // SAFETY: as above.
        check(unsafe { ffi::catapults_sem_post(self.semaphore.get()) }, "catapults_sem_post")
    }
}
