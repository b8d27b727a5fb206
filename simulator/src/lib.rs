//! Who ran when: the traces that a host records, and what to do with them.

pub mod trace;
