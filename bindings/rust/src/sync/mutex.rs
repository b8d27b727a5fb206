use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::error::{Error, check};
use crate::ffi;
use crate::start::here;
use crate::time::{self, Instant};

/// A mutex, with what it protects.
pub struct Mutex<T: ?Sized> {
    /// What waits in it borrows it, so it is moved only when nobody waits, and its owner is told by no address of it.
    mutex: UnsafeCell<ffi::Mutex>,
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time has the value.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}
// SAFETY: nobody waits for a mutex that is sent.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}

/// The caller has the mutex until this is dropped.
#[must_use = "the mutex is unlocked at once"]
pub struct MutexGuard<'a, T: ?Sized> {
    pub(super) lock: &'a Mutex<T>,
    /// Only the owner unlocks it.
    own: PhantomData<*const ()>,
}

// SAFETY: a reference to it is one to the value.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T> Mutex<T> {
    /// One that protects this.
    pub const fn new(value: T) -> Self {
        Mutex { mutex: UnsafeCell::new(ffi::Mutex::new()), value: UnsafeCell::new(value) }
    }

    /// What it protects.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until the caller has it.
    ///
    /// # Errors
    /// [`Error::Deadlock`]: the caller has it, or would wait for itself. The caller is no Catapults thread.
    pub fn lock(&self) -> Result<MutexGuard<'_, T>, Error> {
        here()?;
        // SAFETY: the mutex is borrowed for as long as anybody waits for it.
        check(unsafe { ffi::catapults_mutex_lock(self.mutex.get()) }, "catapults_mutex_lock")?;
        Ok(self.guard())
    }

    /// Locks it if it is free.
    ///
    /// # Errors
    /// [`Error::Busy`]: it is not. The caller is no Catapults thread.
    pub fn try_lock(&self) -> Result<MutexGuard<'_, T>, Error> {
        here()?;
        // SAFETY: as above.
        check(unsafe { ffi::catapults_mutex_trylock(self.mutex.get()) }, "catapults_mutex_trylock")?;
        Ok(self.guard())
    }

    /// Waits for it until this instant.
    ///
    /// # Errors
    /// [`Error::TimedOut`], or as [`lock`](Self::lock).
    pub fn lock_until(&self, instant: Instant) -> Result<MutexGuard<'_, T>, Error> {
        here()?;
        // SAFETY: as above.
        let number = unsafe { ffi::catapults_mutex_lock_until(self.mutex.get(), instant.nanoseconds()) };
        check(number, "catapults_mutex_lock_until")?;
        Ok(self.guard())
    }

    /// Waits for it for this long.
    ///
    /// # Errors
    /// [`Error::TimedOut`], or as [`lock`](Self::lock).
    pub fn lock_timeout(&self, length: Duration) -> Result<MutexGuard<'_, T>, Error> {
        self.lock_until(time::after(length))
    }

    /// What it protects: nobody else has the mutex.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    fn guard(&self) -> MutexGuard<'_, T> {
        MutexGuard { lock: self, own: PhantomData }
    }
}

impl<T: ?Sized> MutexGuard<'_, T> {
    /// Waits on a condition: gives the mutex up and has it again.
    pub(super) fn wait(&mut self, condition: *mut ffi::Condition, instant: Instant) -> Result<(), Error> {
        let mutex = self.lock.mutex.get();
        // SAFETY: the caller has the mutex; the condition is borrowed for as long as anybody waits on it.
        let number = unsafe { ffi::catapults_cond_wait_until(condition, mutex, instant.nanoseconds()) };
        check(number, "catapults_cond_wait_until")
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the caller has it, because guards are not sent.
        unsafe { ffi::catapults_mutex_unlock(self.lock.mutex.get()) };
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the caller has the mutex.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the caller has the mutex.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_lock() {
            Ok(value) => to.debug_tuple("Mutex").field(&&*value).finish(),
            Err(_) => to.write_str("Mutex(<locked>)"),
        }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(to)
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Mutex::new(T::default())
    }
}
