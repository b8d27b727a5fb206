use std::cell::Cell;
use std::env;
use std::ffi::{CString, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use crate::error::{Error, check};
use crate::{ffi, time};

/// Starts the runtime with its usual options: see [`Options::start`].
///
/// # Errors
/// As [`Options::start`].
pub fn start() -> Result<(), Error> {
    Options::new().start()
}

/// How the runtime is started.
///
/// Without further calls, it has one processor, and a thread runs until it waits, sleeps, yields or ends. Whatever safe
/// code does is sound then. The unsafe methods turn on what that is not true of: each says what the program must keep to.
///
/// ```no_run
/// catapults::Options::new().policy("shortest_first.so").stack_size(1 << 20).start()?;
/// # Ok::<(), catapults::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is started before `start`"]
pub struct Options {
    policy: Option<PathBuf>,
    trace: Option<PathBuf>,
    stack_size: usize,
    strict_imports: bool,
    seed: u64,
    handler_limit: Duration,
    starvation_limit: Duration,
    preemptive: bool,
    processors: c_int,
    activations: bool,
    own_thread_locals: bool,
}

/// Formatting, and more so a backtrace, take more than the 64 KiB that C programs have.
const STACK_SIZE: usize = 256 << 10;

impl Options {
    /// The usual ones.
    pub fn new() -> Self {
        Options {
            policy: None,
            trace: None,
            stack_size: STACK_SIZE,
            strict_imports: false,
            seed: 0,
            handler_limit: Duration::ZERO,
            starvation_limit: Duration::ZERO,
            preemptive: false,
            processors: 1,
            activations: false,
            own_thread_locals: false,
        }
    }

    /// The policy: a shared object that `catapults build` has made. Otherwise it is that of `$CATAPULTS_POLICY`, which
    /// `catapults run` sets, or else the built-in FIFO. Its code becomes part of the program.
    pub fn policy(mut self, file: impl AsRef<Path>) -> Self {
        self.policy = Some(file.as_ref().to_owned());
        self
    }

    /// Records who ran when in this file, for `catapults trace`.
    pub fn trace(mut self, file: impl AsRef<Path>) -> Self {
        self.trace = Some(file.as_ref().to_owned());
        self
    }

    /// How many bytes a thread's stack has, unless its [`Builder`](crate::thread::Builder) says otherwise; 256 KiB.
    /// Memory is taken as it is used. A thread that needs more ends the program.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = bytes;
        self
    }

    /// Registering a variable that the policy does not import ends the program.
    pub fn strict_imports(mut self) -> Self {
        self.strict_imports = true;
        self
    }

    /// The seed of the policy's `random`.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How much CPU time a handler of the policy may use. A policy that uses more is replaced by the FIFO. A second.
    pub fn handler_limit(mut self, limit: Duration) -> Self {
        self.handler_limit = limit;
        self
    }

    /// How long the policy may let a ready thread wait. A policy that exceeds it is replaced by the FIFO. For ever.
    pub fn starvation_limit(mut self, limit: Duration) -> Self {
        self.starvation_limit = limit;
        self
    }

    /// Threads are interrupted when the policy ends their turns by time.
    ///
    /// # Safety
    /// A thread can be interrupted at any instruction of the executable, the standard library's among them. All threads
    /// share the `thread_local!` variables of their kernel thread, and nothing may use one that another thread may be in
    /// the middle of changing. That is so if each access, also one that the standard library or another crate makes, is
    /// within [`thread::undisturbed`](crate::thread::undisturbed), or if only one thread accesses it.
    ///
    /// What is no question of soundness: a thread that is interrupted while it holds a lock of `std::sync`, that of
    /// `println!` among them, and another one that waits for the lock, stop the program for good.
    pub unsafe fn preemptive(mut self) -> Self {
        self.preemptive = true;
        self
    }

    /// So many kernel threads run threads at the same time; `None`: as many as the process may use CPUs.
    ///
    /// # Safety
    /// A thread may go on on another kernel thread after each call of this crate. So no reference to a `thread_local!`
    /// variable may be held across such a call, nor used by another thread. `LocalKey::with` and `with_borrow` must not
    /// call this crate in their closures, and no function that accesses a `thread_local!` variable and calls this crate
    /// may be inlined into one that accesses it again. Only Catapults threads may call this crate: nobody else is told so.
    pub unsafe fn processors(mut self, processors: Option<u16>) -> Self {
        const ALL: c_int = -1;
        self.processors = processors.map_or(ALL, c_int::from);
        self
    }

    /// A thread that blocks in the kernel, in any call or page fault, leaves the processor to the others.
    ///
    /// # Safety
    /// As for [`preemptive`](Self::preemptive) and [`processors`](Self::processors) together: threads are interrupted
    /// for threads that come back from the kernel, and they run on several kernel threads, one at a time.
    pub unsafe fn activations(mut self) -> Self {
        self.activations = true;
        self
    }

    /// Each thread has its own `thread_local!` variables, and its own `std::thread::current()`.
    ///
    /// # Safety
    /// A switch exchanges the values, and the addresses stay. So a reference to a `thread_local!` variable must not be
    /// used by another thread, not even by one of [`thread::scope`](crate::thread::scope), nor be kept by an object that
    /// other threads use. Destructors of `thread_local!` variables must be without effects on other threads: they run
    /// when the kernel thread ends, with the values of the thread that it runs then. Only Catapults threads may call this
    /// crate.
    pub unsafe fn own_thread_locals(mut self) -> Self {
        self.own_thread_locals = true;
        self
    }

    /// Starts the runtime for good, with the caller as its first thread.
    ///
    /// # Errors
    /// The policy or an option cannot be used; the caller is not on the first kernel thread of the process, which `main`
    /// is; or it was started before. More is on standard error.
    pub fn start(&self) -> Result<(), Error> {
        // SAFETY: both only ask for a number.
        if unsafe { libc::gettid() != libc::getpid() } {
            let why = "the runtime is started by the first kernel thread of the process, in `main`".to_owned();
            return Err(Error::Unusable(why));
        }
        forbidden("CATAPULTS_ACTIVATIONS", "1", self.activations, "Options::activations")?;
        forbidden("CATAPULTS_THREAD_LOCAL", "own", self.own_thread_locals, "Options::own_thread_locals")?;
        let policy = self.policy.as_deref().map(text_of_path).transpose()?;
        let trace = self.trace.as_deref().map(text_of_path).transpose()?;
        let options = ffi::Options {
            policy: policy.as_ref().map_or(std::ptr::null(), |text| text.as_ptr()),
            strict_imports: self.strict_imports,
            io: std::ptr::null(),
            trace: trace.as_ref().map_or(std::ptr::null(), |text| text.as_ptr()),
            stack_size: self.stack_size,
            cooperative: !self.preemptive,
            processors: self.processors,
            activations: self.activations,
            handler_limit: time::nanoseconds(self.handler_limit),
            starvation_limit: time::nanoseconds(self.starvation_limit),
            seed: self.seed,
            tick: 0,
            accounting: 0,
            own_thread_locals: self.own_thread_locals,
        };
        // SAFETY: all that the options point to lives until the call returns. The caller is on the stack of `main`, which
        // may return.
        check(unsafe { ffi::catapults_init(&options) }, "catapults_init")?;
        let alone = self.processors == 1 && !self.activations && !self.own_thread_locals;
        HERE.set(alone);
        STARTED.store(if alone { ON_ONE } else { ANYWHERE }, Ordering::Release);
        Ok(())
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

/// What of an environment variable would turn on what is unsafe.
fn forbidden(name: &str, value: &str, allowed: bool, method: &str) -> Result<(), Error> {
    if allowed || env::var_os(name).is_none_or(|found| found != value) {
        return Ok(());
    }
    Err(Error::Unusable(format!(
        "{name}={value} is set, but the program is not made for that: unset it, or call {method} if the program keeps to what that says"
    )))
}

fn text_of_path(path: &Path) -> Result<CString, Error> {
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Error::Unusable(format!("{} has a byte 0 in its name: use another name", path.display())))
}

thread_local! {
    /// Whether all threads run on this kernel thread.
    static HERE: Cell<bool> = const { Cell::new(false) };
}

const NOT: u8 = 0;
/// On the kernel thread that has `HERE`.
const ON_ONE: u8 = 1;
const ANYWHERE: u8 = 2;
static STARTED: AtomicU8 = AtomicU8::new(NOT);

/// Whether the caller can make calls: that it is a Catapults thread. A thread that another library has made would take
/// itself for the one that the first processor runs.
pub(crate) fn here() -> Result<(), Error> {
    if HERE.get() {
        return Ok(());
    }
    match STARTED.load(Ordering::Acquire) {
        NOT => Err(Error::NotStarted),
        ON_ONE => Err(Error::Elsewhere),
        // Whoever asks for that has promised it.
        _ => Ok(()),
    }
}
