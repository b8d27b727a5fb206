//! Threads: as `std::thread`, but that a policy says which of them runs.

mod scope;

use std::any::Any;
use std::cell::UnsafeCell;
use std::ffi::{CStr, CString, c_void};
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe};
use std::ptr;
use std::sync::Arc;
use std::time::Duration;

pub use scope::{Scope, ScopedJoinHandle, scope};
/// What a thread has returned, or the payload of its panic.
pub use std::thread::Result;

use crate::error::{Error, check};
use crate::imports::{self, Imports, Value, Values};
use crate::start::here;
use crate::time::{self, Instant};
use crate::{ffi, wait};

/// Creates a thread that calls this function.
///
/// # Errors
/// As [`Builder::spawn`].
pub fn spawn<F, T>(function: F) -> std::result::Result<JoinHandle<T>, Error>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    Builder::new().spawn(function)
}

/// What a thread is created with.
#[derive(Default)]
#[must_use = "no thread is created before `spawn`"]
pub struct Builder {
    name: Option<String>,
    stack_size: usize,
    values: Vec<(String, Value)>,
    period: Duration,
    processors: u64,
    imports: Option<Object>,
}

/// A thread's variables. They live until the policy no longer reads them.
struct Object {
    keep: Arc<dyn Any + Send + Sync>,
    register: fn() -> std::result::Result<(), Error>,
}

impl Builder {
    /// The usual ones.
    pub fn new() -> Self {
        Self::default()
    }

    /// Its name, for messages and traces, which cut it at 31 bytes.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How many bytes its stack has, instead of what [`Options::stack_size`](crate::Options::stack_size) says.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = bytes;
        self
    }

    /// What the thread has for this per-thread import of its policy, as long as no field of [`imports`](Self::imports)
    /// is linked with it. A policy without such an import does not mind.
    pub fn value(mut self, import: impl Into<String>, value: impl Into<Value>) -> Self {
        self.values.push((import.into(), value.into()));
        self
    }

    /// The thread's own variables, whose fields the policy reads as its per-thread imports: a struct of
    /// [`imports!`](crate::imports!). When the thread's function has returned, the policy has the defaults again.
    pub fn imports<T: Imports>(mut self, variables: Arc<T>) -> Self {
        self.imports = Some(Object { keep: variables, register: imports::register::<T> });
        self
    }

    /// How long it is from one of its jobs to the next: see [`next_period`].
    pub fn period(mut self, period: Duration) -> Self {
        self.period = period;
        self
    }

    /// Bit n: it may run on processor n. 0, as at first: on all.
    pub fn processors(mut self, processors: u64) -> Self {
        self.processors = processors;
        self
    }

    /// Creates the thread. It may run before this returns, if the policy says so.
    ///
    /// # Errors
    /// [`Error::Refused`]: the policy's `fail`. There is no memory; the policy imports a value as another type; a name
    /// has a byte 0.
    pub fn spawn<F, T>(self, function: F) -> std::result::Result<JoinHandle<T>, Error>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: both live for as long as the thread needs them.
        unsafe { self.spawn_unchecked(function, ()) }
    }

    /// As `spawn`; `after` is dropped at the thread's very end.
    ///
    /// # Safety
    /// What the function and its result borrow has to outlive the thread, until it drops `after`.
    unsafe fn spawn_unchecked<F, T, A>(self, function: F, after: A) -> std::result::Result<JoinHandle<T>, Error>
    where
        F: FnOnce() -> T + Send,
        T: Send,
        A: Send,
    {
        here()?;
        let values = Values::new(&self.values)?;
        let name = self.name.map(CString::new).transpose();
        let name = name.map_err(|wrong| Error::Unusable(format!("a thread's name has a byte 0: {wrong}")))?;
        let object = match &self.imports {
            None => ptr::null_mut(),
            Some(object) => {
                (object.register)()?;
                Arc::as_ptr(&object.keep).cast::<c_void>().cast_mut()
            }
        };
        let attributes = ffi::Attributes {
            name: name.as_ref().map_or(ptr::null(), |name| name.as_ptr()),
            stack_size: self.stack_size,
            object,
            detached: false,
            scheduler: ptr::null_mut(),
            scheduled_by: ptr::null_mut(),
            processors: self.processors,
            values: values.as_ptr(),
            values_count: values.len(),
            period: time::nanoseconds(self.period),
        };
        let packet = Arc::new(Packet(UnsafeCell::new(None)));
        let task = Box::new(Task { function, packet: packet.clone(), object: self.imports, after });
        let task = Box::into_raw(task);
        let mut handle = ptr::null_mut();
        // SAFETY: all that the attributes point to lives until the call returns; the object until the thread gives it up.
        let number = unsafe { ffi::catapults_create(&mut handle, &attributes, run::<F, T, A>, task.cast()) };
        if number != 0 {
            // SAFETY: no thread has it.
            drop(unsafe { Box::from_raw(task) });
            return Err(refusal(number));
        }
        Ok(JoinHandle { thread: Joinable { handle }, packet, of: PhantomData })
    }
}

/// Why a thread could not be created.
fn refusal(number: i32) -> Error {
    if number == libc::EAGAIN {
        // SAFETY: the caller is a thread of the runtime.
        let text = unsafe { ffi::catapults_refusal() };
        if !text.is_null() {
            // SAFETY: it is a text of the policy's, which stays loaded.
            return Error::Refused(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned());
        }
    }
    check(number, "catapults_create").err().unwrap_or(Error::Busy)
}

/// What a new thread is given.
struct Task<F, T, A> {
    function: F,
    packet: Arc<Packet<T>>,
    object: Option<Object>,
    after: A,
}

/// Where a thread leaves its result. It is written before the thread ends, and read when it has been joined.
struct Packet<T>(UnsafeCell<Option<Result<T>>>);

// SAFETY: one thread writes it, and one other reads it after that has ended.
unsafe impl<T: Send> Sync for Packet<T> {}
// SAFETY: the result can be sent.
unsafe impl<T: Send> Send for Packet<T> {}

extern "C" fn run<F: FnOnce() -> T, T, A>(task: *mut c_void) -> *mut c_void {
    // SAFETY: `spawn_unchecked` has made it for this call alone.
    let Task { function, packet, object, after } = *unsafe { Box::from_raw(task.cast::<Task<F, T, A>>()) };
    let result = panic::catch_unwind(AssertUnwindSafe(function));
    // SAFETY: nobody reads it before the thread has dropped `after`, or ended.
    unsafe { *packet.0.get() = Some(result) };
    if object.is_some() {
        // SAFETY: the thread has not ended. From here on the policy no longer reads the object.
        unsafe { ffi::catapults_set_object(ffi::catapults_self(), ptr::null_mut()) };
    }
    // A payload or a result that nobody wants may panic as it is dropped, and nothing may unwind into the runtime.
    let dropped = panic::catch_unwind(AssertUnwindSafe(move || {
        drop(object);
        drop(packet);
    }));
    if dropped.is_err() {
        std::process::abort();
    }
    drop(after);
    ptr::null_mut()
}

/// A thread that can be joined. Dropping it detaches the thread, which goes on.
pub struct JoinHandle<T> {
    thread: Joinable,
    packet: Arc<Packet<T>>,
    of: PhantomData<T>,
}

/// The right to join a thread.
struct Joinable {
    handle: ffi::Handle,
}

// SAFETY: every thread may join it, and the runtime's calls may be made by every thread.
unsafe impl Send for Joinable {}
// SAFETY: as above; joining and detaching take it whole.
unsafe impl Sync for Joinable {}

impl Joinable {
    fn join(self, call: unsafe extern "C" fn(ffi::Handle, *mut *mut c_void) -> i32) -> std::result::Result<(), Error> {
        here()?;
        // SAFETY: the thread has been neither joined nor detached. If it cannot be joined, it is detached now.
        wait::again(|| unsafe { call(self.handle, ptr::null_mut()) }, "catapults_join")?;
        std::mem::forget(self);
        Ok(())
    }
}

impl Drop for Joinable {
    fn drop(&mut self) {
        // On a foreign kernel thread nothing can be said to the runtime: then its stack is never given back.
        if here().is_ok() {
            // SAFETY: the thread has been neither joined nor detached.
            unsafe { ffi::catapults_detach(self.handle) };
        }
    }
}

impl<T> JoinHandle<T> {
    /// Waits until the thread has ended. `Err`: it has panicked, with this payload; or it cannot be joined, and the payload
    /// is an [`Error`]: [`Error::Deadlock`] if it waits for the caller itself. It is detached then.
    ///
    /// # Errors
    /// The payload.
    pub fn join(self) -> Result<T> {
        self.join_by(ffi::catapults_join)
    }

    /// As [`join`](Self::join), but the caller lends its turns to the thread until that ends.
    ///
    /// # Errors
    /// The payload.
    pub fn join_donating(self) -> Result<T> {
        self.join_by(ffi::catapults_join_donating)
    }

    fn join_by(self, call: unsafe extern "C" fn(ffi::Handle, *mut *mut c_void) -> i32) -> Result<T> {
        self.thread.join(call).map_err(|error| Box::new(error) as Box<dyn Any + Send>)?;
        // SAFETY: the thread has ended, and nobody else reads it.
        let result = unsafe { (*self.packet.0.get()).take() };
        result.unwrap_or_else(|| Err(Box::new(Error::Closed)))
    }

    /// Whether its function has returned, or panicked.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        Arc::strong_count(&self.packet) == 1
    }

    /// The thread does not run until [`resume`](Self::resume).
    ///
    /// # Errors
    /// It has ended.
    pub fn suspend(&self) -> std::result::Result<(), Error> {
        here()?;
        // SAFETY: it can still be joined, so its handle is valid.
        check(unsafe { ffi::catapults_suspend(self.thread.handle) }, "catapults_suspend")
    }

    /// Ends what [`suspend`](Self::suspend) has begun.
    ///
    /// # Errors
    /// It has ended, or is not suspended.
    pub fn resume(&self) -> std::result::Result<(), Error> {
        here()?;
        // SAFETY: as above.
        check(unsafe { ffi::catapults_resume(self.thread.handle) }, "catapults_resume")
    }

    /// Gives the processor up, and asks for this thread next. If that cannot run, it only yields.
    ///
    /// # Errors
    /// The caller is no Catapults thread.
    pub fn yield_to(&self) -> std::result::Result<(), Error> {
        here()?;
        // SAFETY: as above.
        match unsafe { ffi::catapults_yield_to(self.thread.handle) } {
            libc::EAGAIN | libc::ESRCH => Ok(()),
            number => check(number, "catapults_yield_to"),
        }
    }

    /// Gives the thread this value for a per-thread import, as [`Builder::value`]. The policy is told, and may preempt the
    /// caller.
    ///
    /// # Errors
    /// It has ended; the policy imports it as another type.
    pub fn set_value(&self, import: &str, value: impl Into<Value>) -> std::result::Result<(), Error> {
        here()?;
        let values = Values::new(&[(import.to_owned(), value.into())])?;
        // SAFETY: as above; the values live until the call returns.
        let number = unsafe { ffi::catapults_set_values(self.thread.handle, values.as_ptr(), values.len()) };
        check(number, "catapults_set_values")
    }

    /// Tells the policy that the thread's variables have changed: see [`imports::changed`].
    ///
    /// # Errors
    /// It has ended.
    pub fn changed(&self) -> std::result::Result<(), Error> {
        here()?;
        // SAFETY: as above.
        check(unsafe { ffi::catapults_changed(self.thread.handle) }, "catapults_changed")
    }
}

/// The calling thread's own.
pub(crate) fn own_handle() -> ffi::Handle {
    // SAFETY: the caller has asked `here`.
    unsafe { ffi::catapults_self() }
}

/// Gives the processor up to the other ready threads. Before the start, and on other kernel threads, it does nothing.
pub fn yield_now() {
    if here().is_ok() {
        // SAFETY: the caller is a thread of the runtime.
        unsafe { ffi::catapults_yield() };
    }
}

/// Lets the other threads run for this long at least.
///
/// # Errors
/// The caller is no Catapults thread.
pub fn sleep(length: Duration) -> std::result::Result<(), Error> {
    sleep_until(time::after(length))
}

/// Lets the other threads run until this instant.
///
/// # Errors
/// The caller is no Catapults thread.
pub fn sleep_until(instant: Instant) -> std::result::Result<(), Error> {
    here()?;
    // SAFETY: the caller is a thread of the runtime.
    wait::again(|| unsafe { ffi::catapults_sleep_until(instant.nanoseconds()) }, "catapults_sleep_until")
}

/// Ends the caller's job, and waits until the next one is released. Returns how many releases had passed: 0, if the job was
/// done in its period. Jobs are released exactly a period apart, whenever they are done. The policy may import `time
/// release` and `time period`.
///
/// # Errors
/// The thread has no [`period`](Builder::period).
pub fn next_period() -> std::result::Result<u64, Error> {
    here()?;
    let mut missed = 0;
    // SAFETY: it writes a number.
    check(unsafe { ffi::catapults_next_period(&mut missed) }, "catapults_next_period")?;
    Ok(u64::try_from(missed).unwrap_or(0))
}

/// Sets the caller's period, from this job on, which begins now; nothing: it has no more jobs.
///
/// # Errors
/// The caller is no Catapults thread.
pub fn set_period(period: Duration) -> std::result::Result<(), Error> {
    here()?;
    // SAFETY: the caller is a thread of the runtime.
    check(unsafe { ffi::catapults_set_period(time::nanoseconds(period)) }, "catapults_set_period")
}

/// When the caller's job was released.
///
/// # Errors
/// The thread has no [`period`](Builder::period).
pub fn release() -> std::result::Result<Instant, Error> {
    here()?;
    let mut instant = 0;
    // SAFETY: it writes a number.
    check(unsafe { ffi::catapults_release(&mut instant) }, "catapults_release")?;
    Ok(Instant::from_nanoseconds(instant))
}

/// The caller's name; `None`: it has none, or is no Catapults thread.
#[must_use]
pub fn name() -> Option<String> {
    here().ok()?;
    // SAFETY: the calling thread lives, and so does its name.
    let name = unsafe { CStr::from_ptr(ffi::catapults_name(own_handle())) };
    Some(name.to_string_lossy().into_owned()).filter(|name| !name.is_empty())
}

/// Calls this function, during which the caller is not preempted by time. It is for what knows of kernel threads alone, such
/// as `println!` or a lock of `std::sync`, in programs that are [`preemptive`](crate::Options::preemptive).
pub fn undisturbed<R>(function: impl FnOnce() -> R) -> R {
    struct Release;
    impl Drop for Release {
        fn drop(&mut self) {
            // SAFETY: `undisturbed` has called the other one.
            unsafe { ffi::catapults_preemption_release() };
        }
    }
    if here().is_err() {
        return function();
    }
    // SAFETY: they nest.
    unsafe { ffi::catapults_preemption_hold() };
    let _release = Release;
    function()
}
