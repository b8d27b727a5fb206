//! Calls that wait.

use std::ffi::c_int;

use crate::error::{Error, check};

/// Makes a call until a handler of a signal no longer ends it.
pub(crate) fn again(mut call: impl FnMut() -> c_int, name: &'static str) -> Result<(), Error> {
    loop {
        match call() {
            libc::EINTR => {}
            number => return check(number, name),
        }
    }
}
