//! Which of its streams the command was started without, as by `>&-`. Rust opens /dev/null in their place before `main`, and what is
//! written there would be lost without a word: so it is looked at before that.

#![allow(unsafe_code, reason = "whether a descriptor is open is asked before Rust's runtime opens it")]

use crate::failure::Failure;
use catapults_compiler::diagnostics::Diagnostic;
use catapults_compiler::vocabulary::At;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

/// A stream, and what stands for it.
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
        // SAFETY: asking for the flags of a descriptor, which may be none, changes nothing.
        let flags = unsafe { libc::fcntl(stream as c_int, libc::F_GETFD) };
        CLOSED[stream as usize].store(flags < 0, Ordering::Relaxed);
    }
}

/// What the C library calls before `main`.
#[used]
// SAFETY: the section is of such functions. This one uses nothing of Rust's runtime, which is not there yet.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = look;

impl Stream {
    /// Whether nobody gave it to the command.
    pub fn is_closed(self) -> bool {
        CLOSED[self as usize].load(Ordering::Relaxed)
    }
}

/// Refuses to do something whose result nobody could be told.
pub fn output_is_open() -> Result<(), Failure> {
    if !Stream::Output.is_closed() {
        return Ok(());
    }
    let closed = Diagnostic::error("E0503", "output cannot be written: it is closed", At::default(), "");
    Err(Failure::unwritten(closed.help("nothing is done; `> /dev/null` is for results that nobody wants")))
}

/// A program that takes this one's place finds its streams as this one did: those that were closed are closed then.
pub fn as_they_were() {
    for stream in ALL.into_iter().filter(|stream| stream.is_closed()) {
        // SAFETY: what is open there is the /dev/null that Rust opened, and stays so until the program starts.
        unsafe { libc::fcntl(stream as c_int, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}
