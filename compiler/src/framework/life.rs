//! How far a thread has come in its life: its state in the sequence that the framework describes.

use super::Framework;
use super::automaton::Automaton;

/// The sequence with the event of a new thread.
#[derive(Clone, Debug, Default)]
pub struct Lives(Automaton);

/// A life about which the sequence says nothing.
pub const UNTOLD: u64 = u64::MAX;

impl Lives {
    /// The lives in a framework. Without such a sequence everything is allowed.
    pub fn of(framework: &Framework) -> Self {
        Lives(Automaton::of_lives(framework).unwrap_or_default())
    }

    /// The life of a thread after an event that names it or lets it run; `None` if the event cannot come now. In its
    /// first event, a thread has no life yet.
    pub fn after(&self, life: Option<u64>, event: &str) -> Option<u64> {
        match life {
            Some(UNTOLD) => life,
            Some(life) => self.0.after(life, event),
            None if self.0.names(event) => self.0.after(self.0.first(), event),
            None => Some(UNTOLD),
        }
    }

    /// Whether two events stand at the same positions.
    pub fn alike(&self, one: &str, other: &str) -> bool {
        self.0.alike(one, other)
    }
}
