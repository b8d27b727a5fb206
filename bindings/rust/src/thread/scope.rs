use std::any::Any;
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Builder, JoinHandle, Result};
use crate::error::Error;
use crate::sync::Semaphore;

/// Calls this function, which may create threads that borrow from the caller. Returns when all of them have ended.
///
/// As `std::thread::scope`. If a thread has panicked and was not joined, so does the caller, with `a scoped thread
/// panicked`.
///
/// ```no_run
/// catapults::start()?;
/// let mut numbers = vec![1, 2, 3];
/// let sum = catapults::thread::scope(|scope| {
///     let sum = scope.spawn(|| numbers.iter().sum::<i32>())?;
///     Ok::<_, catapults::Error>(sum.join().unwrap_or(0))
/// })?;
/// numbers.push(sum);
/// # Ok::<(), catapults::Error>(())
/// ```
pub fn scope<'env, F, T>(function: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let shared =
        Arc::new(Shared { living: AtomicUsize::new(0), panicked: AtomicUsize::new(0), ended: Semaphore::new(0) });
    let scope = Scope { shared, environment: PhantomData, scope: PhantomData };
    let result = panic::catch_unwind(AssertUnwindSafe(|| function(&scope)));
    while scope.shared.living.load(Ordering::Acquire) > 0 {
        // Threads of a scope are made by threads of the runtime only, which can wait.
        if scope.shared.ended.acquire().is_err() {
            std::process::abort();
        }
    }
    match result {
        Err(payload) => panic::resume_unwind(payload),
        Ok(_) if scope.shared.panicked.load(Ordering::Relaxed) > 0 => {
            let payload: Box<dyn Any + Send> = Box::new("a scoped thread panicked");
            panic::resume_unwind(payload)
        }
        Ok(result) => result,
    }
}

/// In which threads are created that borrow: see [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    shared: Arc<Shared>,
    scope: PhantomData<&'scope mut &'scope ()>,
    environment: PhantomData<&'env mut &'env ()>,
}

struct Shared {
    /// Threads that have not ended.
    living: AtomicUsize,
    /// Threads that have panicked and were not joined.
    panicked: AtomicUsize,
    /// Released by the last one to end, now and then.
    ended: Semaphore,
}

/// A thread of a [`Scope`]. Dropping it leaves the thread to the end of the scope.
pub struct ScopedJoinHandle<'scope, T> {
    handle: JoinHandle<T>,
    shared: Arc<Shared>,
    scope: PhantomData<&'scope ()>,
}

impl<'scope> Scope<'scope, '_> {
    /// Creates a thread that calls this function.
    ///
    /// # Errors
    /// As [`Builder::spawn`].
    pub fn spawn<F, T>(&'scope self, function: F) -> std::result::Result<ScopedJoinHandle<'scope, T>, Error>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.spawn_with(Builder::new(), function)
    }

    /// The same, with these attributes.
    ///
    /// # Errors
    /// As [`Builder::spawn`].
    pub fn spawn_with<F, T>(
        &'scope self,
        builder: Builder,
        function: F,
    ) -> std::result::Result<ScopedJoinHandle<'scope, T>, Error>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        self.shared.living.fetch_add(1, Ordering::Relaxed);
        let end = End(self.shared.clone());
        let counted = self.shared.clone();
        let guarded = move || match panic::catch_unwind(AssertUnwindSafe(function)) {
            Ok(result) => result,
            Err(payload) => {
                counted.panicked.fetch_add(1, Ordering::Relaxed);
                panic::resume_unwind(payload)
            }
        };
        // SAFETY: `scope` returns when `end` has been dropped. If there is no thread, it is dropped at once.
        let handle = unsafe { builder.spawn_unchecked(guarded, end) }?;
        Ok(ScopedJoinHandle { handle, shared: self.shared.clone(), scope: PhantomData })
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// As [`JoinHandle::join`].
    ///
    /// # Errors
    /// The payload of its panic.
    pub fn join(self) -> Result<T> {
        let result = self.handle.join();
        if result.as_ref().is_err_and(|payload| !payload.is::<Error>()) {
            self.shared.panicked.fetch_sub(1, Ordering::Relaxed);
        }
        result
    }

    /// As [`JoinHandle::is_finished`].
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.handle.is_finished()
    }
}

/// The end of a thread of a scope.
struct End(Arc<Shared>);

impl Drop for End {
    fn drop(&mut self) {
        if self.0.living.fetch_sub(1, Ordering::Release) == 1 {
            // Beyond what a semaphore counts, the waiting thread has long been released.
            let _ = self.0.ended.release();
        }
    }
}
