//! The words that every stage shares.

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A signed integer of the width that the framework declares.
    Int,
    /// `true` or `false`.
    Bool,
}

/// A value known before run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Always within the width that the framework declares.
    Int(i64),
    /// A truth value.
    Bool(bool),
}

/// Where something stands in the source, in bytes from its start; the end is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct At {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
    /// The line of the first byte, from 1; 0 in handlers that come from the framework description.
    pub line: u32,
}

/// The state of a thread as its host sees it (Bossa 2005, §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateClass {
    /// A processor runs it.
    Running,
    /// It can run.
    Ready,
    /// It waits for something.
    Blocked,
    /// It has ended.
    Terminated,
}

