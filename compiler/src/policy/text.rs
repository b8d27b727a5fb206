//! The text form of a policy: close to the language, but with nothing left implicit.
//!
//! ```text
//! policy fifo
//! framework native
//! source "policies/fifo.sched"
//! int 64
//!
//! container current: threadref RUNNING @9:310..327
//! container ready: queue READY @10:332..344
//!
//! event newthread(t) @13:352..370 {
//!   t => ready; @13:375..386
//! }
//! ```
//!
//! Declarations and statements carry their place in the source, `@line:start..end`. Behind the source stand the files
//! whose functions it uses: `uses "admission/utilization.sched" from 9120` says from where on places are in that file. What the framework supplies says
//! `framework` before it. Binary operators stand in parentheses. If a name means several things, each but the first is
//! followed by its number: beside a variable `x`, a local `x` is `x#1`. The order is constants, variables, imports,
//! containers, locals; after a dot: attributes, links, thread imports. An array is declared on one line,
//! `variable count[2]: int = 0, 7`.
//!
//! [`print`] and [`read`] are inverse: reading a printed policy gives the same policy, statement numbers included.

mod lexer;
mod names;
mod print;
mod read;

pub use print::{Heads, container, print};
pub use read::{ReadError, read};
