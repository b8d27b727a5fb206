//! C17 for hosts that build it freestanding.
//!
//! The file can be compiled by itself, or included by a dispatcher so that handlers inline into it. For the latter it
//! defines:
//! - `CATAPULTS_COMPILED_IN_HANDLERS`: the constant table of handlers, `fifo_handlers` (an object, not a pointer);
//! - `CATAPULTS_COMPILED_IN_INSTANCE`: the type of the scheduler's own data, `struct fifo`;
//! - `CATAPULTS_COMPILED_IN_THREAD`: the type of a thread, `struct fifo_thread`, whose first member is a
//!   `struct catapults_thread`.

use super::File;
use crate::framework::Framework;
use crate::policy::Policy;
use crate::verify::Verified;

/// One translation unit.
pub(super) fn emit(verified: &Verified<Policy>, _framework: &Framework) -> File {
    File { name: format!("{}.c", verified.policy().name), text: String::new() }
}
