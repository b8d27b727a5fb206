use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::error::{Error, check};
use crate::ffi;
use crate::start::here;
use crate::time::{self, Instant};

/// A lock that several threads have for reading, or one for writing, with what it protects. Writers come first, but starve
/// no reader. A thread that reads must not ask to read again: a writer may have come in between, and both would wait.
pub struct RwLock<T: ?Sized> {
    lock: UnsafeCell<ffi::RwLock>,
    value: UnsafeCell<T>,
}

// SAFETY: several threads read the value, or one changes it.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}
// SAFETY: nobody waits for a lock that is sent.
unsafe impl<T: ?Sized + Send> Send for RwLock<T> {}

/// The caller has the lock for reading until this is dropped.
#[must_use = "the lock is unlocked at once"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    own: PhantomData<*const ()>,
}

/// The caller has the lock for writing until this is dropped.
#[must_use = "the lock is unlocked at once"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    own: PhantomData<*const ()>,
}

// SAFETY: a reference to it is one to the value.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: a reference to it is one to the value.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<T> RwLock<T> {
    /// One that protects this.
    pub const fn new(value: T) -> Self {
        RwLock { lock: UnsafeCell::new(ffi::RwLock::new()), value: UnsafeCell::new(value) }
    }

    /// What it protects.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until the caller has it for reading.
    ///
    /// # Errors
    /// [`Error::Deadlock`]: the caller has it for writing. The caller is no Catapults thread.
    pub fn read(&self) -> Result<RwLockReadGuard<'_, T>, Error> {
        here()?;
        // SAFETY: the lock is borrowed for as long as anybody waits for it.
        check(unsafe { ffi::catapults_rwlock_rdlock(self.lock.get()) }, "catapults_rwlock_rdlock")?;
        Ok(RwLockReadGuard { lock: self, own: PhantomData })
    }

    /// Locks it for reading if nobody has it for writing, or waits for that.
    ///
    /// # Errors
    /// [`Error::Busy`]. The caller is no Catapults thread.
    pub fn try_read(&self) -> Result<RwLockReadGuard<'_, T>, Error> {
        here()?;
        // SAFETY: as above.
        check(unsafe { ffi::catapults_rwlock_tryrdlock(self.lock.get()) }, "catapults_rwlock_tryrdlock")?;
        Ok(RwLockReadGuard { lock: self, own: PhantomData })
    }

    /// Waits for it until this instant.
    ///
    /// # Errors
    /// [`Error::TimedOut`], or as [`read`](Self::read).
    pub fn read_until(&self, instant: Instant) -> Result<RwLockReadGuard<'_, T>, Error> {
        here()?;
        // SAFETY: as above.
        let number = unsafe { ffi::catapults_rwlock_rdlock_until(self.lock.get(), instant.nanoseconds()) };
        check(number, "catapults_rwlock_rdlock_until")?;
        Ok(RwLockReadGuard { lock: self, own: PhantomData })
    }

    /// Waits until the caller has it for writing.
    ///
    /// # Errors
    /// [`Error::Deadlock`]: the caller has it for writing. The caller is no Catapults thread.
    pub fn write(&self) -> Result<RwLockWriteGuard<'_, T>, Error> {
        here()?;
        // SAFETY: as above.
        check(unsafe { ffi::catapults_rwlock_wrlock(self.lock.get()) }, "catapults_rwlock_wrlock")?;
        Ok(RwLockWriteGuard { lock: self, own: PhantomData })
    }

    /// Locks it for writing if nobody has it.
    ///
    /// # Errors
    /// [`Error::Busy`]. The caller is no Catapults thread.
    pub fn try_write(&self) -> Result<RwLockWriteGuard<'_, T>, Error> {
        here()?;
        // SAFETY: as above.
        check(unsafe { ffi::catapults_rwlock_trywrlock(self.lock.get()) }, "catapults_rwlock_trywrlock")?;
        Ok(RwLockWriteGuard { lock: self, own: PhantomData })
    }

    /// Waits for it until this instant.
    ///
    /// # Errors
    /// [`Error::TimedOut`], or as [`write`](Self::write).
    pub fn write_until(&self, instant: Instant) -> Result<RwLockWriteGuard<'_, T>, Error> {
        here()?;
        // SAFETY: as above.
        let number = unsafe { ffi::catapults_rwlock_wrlock_until(self.lock.get(), instant.nanoseconds()) };
        check(number, "catapults_rwlock_wrlock_until")?;
        Ok(RwLockWriteGuard { lock: self, own: PhantomData })
    }

    /// Waits for it for this long.
    ///
    /// # Errors
    /// [`Error::TimedOut`], or as [`write`](Self::write).
    pub fn write_timeout(&self, length: Duration) -> Result<RwLockWriteGuard<'_, T>, Error> {
        self.write_until(time::after(length))
    }

    /// What it protects: nobody else has the lock.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// The caller has it, because guards are not sent.
    fn unlock(&self) {
        // SAFETY: the lock lives, and the runtime refuses to unlock what nobody has.
        unsafe { ffi::catapults_rwlock_unlock(self.lock.get()) };
    }
}

impl<T: ?Sized> Drop for RwLockReadGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.unlock();
    }
}

impl<T: ?Sized> Drop for RwLockWriteGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.unlock();
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: nobody writes while the caller reads.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the caller alone has it.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the caller alone has it.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_read() {
            Ok(value) => to.debug_tuple("RwLock").field(&&*value).finish(),
            Err(_) => to.write_str("RwLock(<locked>)"),
        }
    }
}

impl<T: Default> Default for RwLock<T> {
    fn default() -> Self {
        RwLock::new(T::default())
    }
}
