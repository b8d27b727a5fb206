//! Where a thread is in its life: how far it has come in the sequence that the framework describes.

use catapults_compiler::framework::Framework;
use catapults_compiler::framework::automaton::Automaton;

/// The sequence that begins with the event of a new thread.
#[derive(Debug, Default)]
pub(super) struct Lives(Automaton);

/// A life that the sequence says nothing of.
pub(super) const UNTOLD: u64 = u64::MAX;

impl Lives {
    /// The lives in a framework. Without such a sequence everything is allowed.
    pub fn of(framework: &Framework) -> Self {
        Lives(Automaton::of_lives(framework).unwrap_or_default())
    }

    /// The life of a thread after an event; `None` if the event cannot come now. A thread in its first event has no life yet.
    pub fn after(&self, life: Option<u64>, event: &str) -> Option<u64> {
        match life {
            Some(UNTOLD) => life,
            Some(life) => self.0.after(life, event),
            None if self.0.names(event) => self.0.after(self.0.first(), event),
            None => Some(UNTOLD),
        }
    }

    /// Whether two events come at the same places.
    pub fn alike(&self, one: &str, other: &str) -> bool {
        self.0.alike(one, other)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on says so by panicking")]

    use super::*;
    use catapults_compiler::framework::read;
    use catapults_compiler::source::Source;

    #[test]
    fn a_life_follows_the_sequence() {
        let description = include_str!("../../../frameworks/native/native.framework");
        let lives = Lives::of(&read(&Source::new("native.framework", description)).unwrap());
        let through =
            |events: &[&str]| events.iter().try_fold(None, |life, event| lives.after(life, event).map(Some)).is_some();
        assert!(through(&["newthread", "schedule", "switch_out", "schedule", "block.io.read", "event_raised"]));
        assert!(through(&["newthread", "suspend_thread", "resume_thread", "schedule", "exit"]));
        // The policy may take the processor from a thread, which is asked for or suspended then like any other.
        assert!(through(&["newthread", "schedule", "set_next_thread", "schedule", "suspend_thread", "resume_thread"]));
        // What blocked a thread is over when its event is raised; what is suspended is resumed.
        assert!(!through(&["newthread", "schedule", "block.lock", "resume_thread"]));
        assert!(!through(&["newthread", "suspend_thread", "event_raised"]));
        assert!(!through(&["newthread", "exit"]) && !through(&["schedule"]));
        assert!(lives.alike("block.lock", "block.io.read") && !lives.alike("block.lock", "exit"));
    }
}
