//! Which standard streams were closed when the command started, as by `>&-`. Rust opens /dev/null in their place before
//! `main`, where output would be lost silently. So they are checked even before.

#![allow(unsafe_code, reason = "whether a descriptor is open is asked before Rust's runtime opens it")]

use crate::failure::Failure;
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::vocabulary::At;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

/// A standard stream, by descriptor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Input = 0,
    Output = 1,
    Error = 2,
}

const ALL: [Stream; 3] = [Stream::Input, Stream::Output, Stream::Error];

static CLOSED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

extern "C" fn look() {
    for stream in ALL {
        // SAFETY: reading the flags of a descriptor, which may be closed, changes nothing.
        let flags = unsafe { libc::fcntl(stream as c_int, libc::F_GETFD) };
        CLOSED[stream as usize].store(flags < 0, Ordering::Relaxed);
    }
}

/// The C library calls this before `main`.
#[used]
// SAFETY: the section contains such functions. This one does not use Rust's runtime, which does not exist yet.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = look;

impl Stream {
    /// Whether it was closed when the command started.
    pub fn is_closed(self) -> bool {
        CLOSED[self as usize].load(Ordering::Relaxed)
    }
}

/// Refuses to do something whose result would be lost.
pub fn output_is_open() -> Result<(), Failure> {
    if !Stream::Output.is_closed() {
        return Ok(());
    }
    let closed = Diagnostic::error("E0503", "output cannot be written: it is closed", At::default(), "");
    Err(Failure::unwritten(closed.help("nothing was done; use `> /dev/null` to discard the results")))
}

/// For a program that replaces this one: streams that were closed when the command started are closed then.
pub fn as_they_were() {
    for stream in ALL.into_iter().filter(|stream| stream.is_closed()) {
        // SAFETY: the descriptor is the /dev/null that Rust opened, and stays open until the program starts.
        unsafe { libc::fcntl(stream as c_int, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}
