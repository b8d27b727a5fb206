//! Threads whose scheduler is a policy: the native runtime of Catapults for Rust.
//!
//! A policy is a small file that says which thread runs next. The program creates threads and locks as with the standard
//! library, and runs under any policy:
//!
//! ```no_run
//! use catapults::{sync::Mutex, thread};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     catapults::start()?;
//!     let total = Mutex::new(0);
//!     thread::scope(|scope| {
//!         for priority in 0..3 {
//!             let total = &total;
//!             scope.spawn_with(thread::Builder::new().value("priority", priority), move || {
//!                 *total.lock()? += priority;
//!                 Ok::<(), catapults::Error>(())
//!             })?;
//!         }
//!         Ok::<(), catapults::Error>(())
//!     })?;
//!     println!("{}", *total.lock()?);
//!     Ok(())
//! }
//! ```
//!
//! ```text
//! catapults run fixed_priority.sched -- target/debug/program
//! ```
//!
//! [`Options`] says how the runtime starts, [`thread`] has threads, [`sync`] what they share, and [`mod@imports`] the variables
//! that a policy reads.
//!
//! # Threads that are not kernel threads
//!
//! All Catapults threads of a processor share one kernel thread. So:
//!
//! - **What waits otherwise stops all of them.** `std::thread::sleep` and `park`, joining a `std::thread`, a lock of
//!   `std::sync` that another Catapults thread has, `std::sync::mpsc`, reading a socket: use [`thread::sleep`],
//!   [`sync`] and calls of `catapults.h` for descriptors instead. A lock of `std::sync` must not be held across a call of
//!   this crate: a Catapults thread that waits for it stops its owner too, for good.
//! - **`thread_local!` variables are the kernel thread's.** Threads find what others have stored there, and
//!   `std::thread::current` is the same for all. [`Options::own_thread_locals`] changes that.
//! - **`std::thread::panicking` is the kernel thread's, too.** If another thread runs while a panic unwinds one, because a
//!   destructor waits, or gives back a lock and the policy preempts its thread, then other threads seem to panic, and one
//!   that does panic meanwhile ends the program.
//! - **Only Catapults threads call this crate:** `main`, and what [`thread::spawn`] has made. On others, such as
//!   `std::thread`'s and those of the usual test harness, calls return [`Error::Elsewhere`]. There, dropping the last
//!   [`sync::Sender`] wakes nobody, and dropping a [`thread::JoinHandle`] does not give back the stack.
//! - **A stack has 256 KiB** ([`Options::stack_size`]). One that overflows ends the program.
//! - Threads are not cancelled: nothing of this crate does it, and code in C must not, because Rust cannot be unwound so.
//!
//! # What is safe
//!
//! Started by [`start`], the runtime has one processor, and a thread gives it up only in calls of this crate. Nothing that
//! safe code does then is a data race: `Send` and `Sync` are asked for as by `std::thread`. Turns that end by time, several
//! processors, activations and own `thread_local!` variables break assumptions that safe code may make of
//! `thread_local!` variables. So they are turned on by unsafe methods of [`Options`], which say what to keep to; an
//! environment variable that would turn them on is refused.

mod error;
mod ffi;
pub mod imports;
mod start;
pub mod sync;
pub mod thread;
mod time;
mod wait;

use std::ffi::CStr;

pub use error::Error;
pub use start::{Options, start};
pub use std::time::Duration;
pub use time::Instant;

/// The name of the policy in force; `fifo (built-in)` after the policy is out.
///
/// # Errors
/// The caller is no Catapults thread.
pub fn policy_name() -> Result<String, Error> {
    start::here()?;
    // SAFETY: the runtime has started, and the policy's name stays where it is.
    let name = unsafe { CStr::from_ptr(ffi::catapults_policy_name()) };
    Ok(name.to_string_lossy().into_owned())
}

/// How many processors take turns.
///
/// # Errors
/// The caller is no Catapults thread.
pub fn processors() -> Result<usize, Error> {
    start::here()?;
    // SAFETY: the runtime has started.
    Ok(usize::try_from(unsafe { ffi::catapults_processors() }).unwrap_or(0))
}
