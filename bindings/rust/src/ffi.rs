//! What the crate uses of catapults.h. `tests/layout.rs` compares the layouts with the headers'.

use std::ffi::{c_char, c_int, c_void};

/// `catapults_t`.
pub type Handle = *mut c_void;

#[repr(C)]
pub struct Options {
    pub policy: *const c_char,
    pub strict_imports: bool,
    pub io: *const c_char,
    pub trace: *const c_char,
    pub stack_size: usize,
    pub cooperative: bool,
    pub processors: c_int,
    pub activations: bool,
    pub handler_limit: i64,
    pub starvation_limit: i64,
    pub seed: u64,
    pub tick: i64,
    pub accounting: u32,
    pub own_thread_locals: bool,
}

#[repr(C)]
pub struct Attributes {
    pub name: *const c_char,
    pub stack_size: usize,
    pub object: *mut c_void,
    pub detached: bool,
    pub scheduler: *mut c_void,
    pub scheduled_by: *mut c_void,
    pub processors: u64,
    pub values: *const Value,
    pub values_count: usize,
    pub period: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Value {
    pub name: *const c_char,
    pub kind: u32,
    pub is: ValueIs,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union ValueIs {
    pub integer: i64,
    pub boolean: bool,
    pub nanoseconds: i64,
    pub real: f64,
}

#[repr(C)]
pub struct Waiters {
    first: *mut c_void,
    last: *mut c_void,
}

/// All-zero memory is one of the default kind: it checks for errors, and waiting threads lend their turns to the owner.
#[repr(C)]
pub struct Mutex {
    state: usize,
    waiters: Waiters,
    depth: u32,
    kinds: [u8; 4],
    counts: [u32; 2],
    ceiling: i64,
    held: [*mut c_void; 2],
}

#[repr(C)]
pub struct Condition {
    waiters: Waiters,
    owner: usize,
}

#[repr(C)]
pub struct RwLock {
    writer: usize,
    readers: u64,
    waiting: [Waiters; 2],
}

#[repr(C)]
pub struct Semaphore {
    value: u32,
    waiters: Waiters,
}

#[repr(C)]
pub struct Barrier {
    count: u32,
    arrived: u32,
    process: u64,
    waiters: Waiters,
}

const NOBODY: Waiters = Waiters { first: std::ptr::null_mut(), last: std::ptr::null_mut() };

impl Mutex {
    pub const fn new() -> Self {
        let held = [std::ptr::null_mut(); 2];
        Mutex { state: 0, waiters: NOBODY, depth: 0, kinds: [0; 4], counts: [0; 2], ceiling: 0, held }
    }
}

impl Condition {
    pub const fn new() -> Self {
        Condition { waiters: NOBODY, owner: 0 }
    }
}

impl RwLock {
    pub const fn new() -> Self {
        RwLock { writer: 0, readers: 0, waiting: [NOBODY, NOBODY] }
    }
}

impl Semaphore {
    pub const fn new(value: u32) -> Self {
        Semaphore { value, waiters: NOBODY }
    }
}

impl Barrier {
    /// `count` is not 0.
    pub const fn new(count: u32) -> Self {
        Barrier { count, arrived: 0, process: 0, waiters: NOBODY }
    }
}

unsafe extern "C" {
    pub fn catapults_init(options: *const Options) -> c_int;
    pub fn catapults_policy_name() -> *const c_char;
    pub fn catapults_processors() -> c_int;

    pub fn catapults_create(
        thread: *mut Handle,
        attributes: *const Attributes,
        start: extern "C" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
    pub fn catapults_refusal() -> *const c_char;
    pub fn catapults_join(thread: Handle, result: *mut *mut c_void) -> c_int;
    pub fn catapults_join_donating(thread: Handle, result: *mut *mut c_void) -> c_int;
    pub fn catapults_detach(thread: Handle) -> c_int;
    pub fn catapults_self() -> Handle;
    pub fn catapults_name(thread: Handle) -> *const c_char;
    pub fn catapults_yield();
    pub fn catapults_yield_to(thread: Handle) -> c_int;
    pub fn catapults_suspend(thread: Handle) -> c_int;
    pub fn catapults_resume(thread: Handle) -> c_int;
    pub fn catapults_preemption_hold();
    pub fn catapults_preemption_release();

    pub fn catapults_now() -> i64;
    pub fn catapults_sleep_until(instant: i64) -> c_int;
    pub fn catapults_next_period(missed: *mut i64) -> c_int;
    pub fn catapults_set_period(nanoseconds: i64) -> c_int;
    pub fn catapults_release(instant: *mut i64) -> c_int;

    pub fn catapults_schedvar_register(name: *const c_char, variable: *mut i64) -> c_int;
    pub fn catapults_schedvar_register_bool(name: *const c_char, variable: *mut bool) -> c_int;
    pub fn catapults_schedvar_register_time(name: *const c_char, variable: *mut i64) -> c_int;
    pub fn catapults_schedvar_register_float(name: *const c_char, variable: *mut f64) -> c_int;
    pub fn catapults_threadvar_register_at(name: *const c_char, offset: usize) -> c_int;
    pub fn catapults_threadvar_register_bool_at(name: *const c_char, offset: usize) -> c_int;
    pub fn catapults_threadvar_register_time_at(name: *const c_char, offset: usize) -> c_int;
    pub fn catapults_threadvar_register_float_at(name: *const c_char, offset: usize) -> c_int;
    pub fn catapults_set_object(thread: Handle, object: *mut c_void);
    pub fn catapults_set_values(thread: Handle, values: *const Value, count: usize) -> c_int;
    pub fn catapults_changed(thread: Handle) -> c_int;

    pub fn catapults_mutex_lock(mutex: *mut Mutex) -> c_int;
    pub fn catapults_mutex_lock_until(mutex: *mut Mutex, instant: i64) -> c_int;
    pub fn catapults_mutex_trylock(mutex: *mut Mutex) -> c_int;
    pub fn catapults_mutex_unlock(mutex: *mut Mutex) -> c_int;
    pub fn catapults_cond_wait_until(condition: *mut Condition, mutex: *mut Mutex, instant: i64) -> c_int;
    pub fn catapults_cond_signal(condition: *mut Condition) -> c_int;
    pub fn catapults_cond_broadcast(condition: *mut Condition) -> c_int;
    pub fn catapults_rwlock_rdlock(lock: *mut RwLock) -> c_int;
    pub fn catapults_rwlock_rdlock_until(lock: *mut RwLock, instant: i64) -> c_int;
    pub fn catapults_rwlock_tryrdlock(lock: *mut RwLock) -> c_int;
    pub fn catapults_rwlock_wrlock(lock: *mut RwLock) -> c_int;
    pub fn catapults_rwlock_wrlock_until(lock: *mut RwLock, instant: i64) -> c_int;
    pub fn catapults_rwlock_trywrlock(lock: *mut RwLock) -> c_int;
    pub fn catapults_rwlock_unlock(lock: *mut RwLock) -> c_int;
    pub fn catapults_sem_wait(semaphore: *mut Semaphore) -> c_int;
    pub fn catapults_sem_wait_until(semaphore: *mut Semaphore, instant: i64) -> c_int;
    pub fn catapults_sem_trywait(semaphore: *mut Semaphore) -> c_int;
    pub fn catapults_sem_post(semaphore: *mut Semaphore) -> c_int;
    pub fn catapults_barrier_wait(barrier: *mut Barrier) -> c_int;
}
