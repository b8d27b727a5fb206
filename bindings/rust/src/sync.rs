//! What threads share: as `std::sync`, but that a waiting thread leaves the processor to the others.
//!
//! Locks are not poisoned: a thread that panics gives back what it has, and the panic carries over to whoever joins it.
//! `lock` returns a `Result` all the same, because it finds deadlocks: a thread that would wait for itself, through locks
//! and joins, gets [`Error::Deadlock`](crate::Error::Deadlock). Threads that wait for a mutex lend their turns to its owner.

mod barrier;
mod channel;
mod condvar;
mod mutex;
mod rwlock;
mod semaphore;

pub use barrier::Barrier;
pub use channel::{Receiver, SendError, Sender, bounded, unbounded};
pub use condvar::Condvar;
pub use mutex::{Mutex, MutexGuard};
pub use rwlock::{RwLock, RwLockReadGuard, RwLockWriteGuard};
pub use semaphore::Semaphore;
