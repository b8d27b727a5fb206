//! A source text and its name.

/// The text of a `.sched` or `.framework` file.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path as the user gave it, for messages.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// The longest source that is accepted, in bytes. Offsets are kept in 32 bits, and no scheduler is this long.
    pub const LONGEST: usize = 4 << 20;

    /// A source from text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Source { name: name.into(), text: text.into() }
    }
}
