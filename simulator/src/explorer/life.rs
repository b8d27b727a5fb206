//! Where a thread is in its life: how far it has come in the sequence that the framework describes.

use catapults_compiler::framework::{Framework, Move, Pattern, Stage};

/// The sequence that begins with the event of a new thread, as an automaton. Its positions are the places in the pattern
/// where an event stands; a life is the set of positions that can come next, as bits: lives with the same future are one.
#[derive(Debug, Default)]
pub(super) struct Lives {
    /// The events of each position.
    positions: Vec<Vec<String>>,
    /// By position, those that can come next.
    follow: Vec<u64>,
    /// Where a life begins.
    first: u64,
}

/// A life that the sequence says nothing of.
pub(super) const UNTOLD: u64 = u64::MAX;

/// More positions than this a sequence does not have; if it has, it is not followed.
const MOST: usize = 63;

/// A part of a pattern.
struct Part {
    may_be_empty: bool,
    first: u64,
    last: u64,
}

impl Lives {
    /// The automaton of a framework. Without such a sequence it allows everything.
    pub fn of(framework: &Framework) -> Self {
        let mut lives = Lives::default();
        let creates = |name: &String| {
            framework.events.iter().any(|event| {
                let new = |step: &Move| matches!(step, Move::Parameter(_, Stage::New, _));
                event.name == *name && event.rules.iter().flat_map(|rule| &rule.moves).any(new)
            })
        };
        for sequence in &framework.sequences {
            let mut events = Vec::new();
            events_of(&sequence.pattern, &mut events);
            if events.iter().any(creates) && events.len() <= MOST {
                lives.first = lives.part(&sequence.pattern).first;
                break;
            }
        }
        lives
    }

    /// The life of a thread after an event; `None` if the event cannot come now. A thread in its first event has no life yet.
    pub fn after(&self, life: Option<u64>, event: &str) -> Option<u64> {
        let named = |position: &usize| self.positions[*position].iter().any(|name| name == event);
        let with_event = (0..self.positions.len()).filter(named).fold(0, |set, position| set | 1 << position);
        if with_event == 0 || life == Some(UNTOLD) {
            return Some(life.unwrap_or(UNTOLD));
        }
        match life.unwrap_or(self.first) & with_event {
            0 => None,
            now => Some(members(now).fold(0, |set, position| set | self.follow[position])),
        }
    }

    /// Whether two events come at the same places.
    pub fn alike(&self, one: &str, other: &str) -> bool {
        let stands = |position: &[String], event: &str| position.iter().any(|name| name == event);
        self.positions.iter().all(|position| stands(position, one) == stands(position, other))
    }

    fn part(&mut self, pattern: &Pattern) -> Part {
        match pattern {
            Pattern::Event(names) => {
                let bit = 1 << self.positions.len();
                self.positions.push(names.clone());
                self.follow.push(0);
                Part { may_be_empty: false, first: bit, last: bit }
            }
            // The lives of other threads.
            Pattern::Sequence(_) => Part { may_be_empty: true, first: 0, last: 0 },
            Pattern::Then(patterns) => {
                let mut whole = Part { may_be_empty: true, first: 0, last: 0 };
                for pattern in patterns {
                    let next = self.part(pattern);
                    self.link(whole.last, next.first);
                    whole.first |= if whole.may_be_empty { next.first } else { 0 };
                    whole.last = next.last | if next.may_be_empty { whole.last } else { 0 };
                    whole.may_be_empty &= next.may_be_empty;
                }
                whole
            }
            Pattern::Either(patterns) => {
                let mut whole = Part { may_be_empty: false, first: 0, last: 0 };
                for pattern in patterns {
                    let one = self.part(pattern);
                    whole.first |= one.first;
                    whole.last |= one.last;
                    whole.may_be_empty |= one.may_be_empty;
                }
                whole
            }
            Pattern::Many(pattern) => {
                let once = self.part(pattern);
                self.link(once.last, once.first);
                Part { may_be_empty: true, ..once }
            }
            Pattern::Maybe(pattern) => Part { may_be_empty: true, ..self.part(pattern) },
        }
    }

    fn link(&mut self, last: u64, first: u64) {
        for position in members(last) {
            self.follow[position] |= first;
        }
    }
}

fn members(set: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |position| set >> position & 1 == 1)
}

fn events_of(pattern: &Pattern, events: &mut Vec<String>) {
    match pattern {
        Pattern::Event(names) => events.extend(names.iter().cloned()),
        Pattern::Sequence(_) => {}
        Pattern::Then(patterns) | Pattern::Either(patterns) => {
            patterns.iter().for_each(|pattern| events_of(pattern, events));
        }
        Pattern::Many(pattern) | Pattern::Maybe(pattern) => events_of(pattern, events),
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
        // What blocked a thread is over when its event is raised; what is suspended is resumed.
        assert!(!through(&["newthread", "schedule", "block.lock", "resume_thread"]));
        assert!(!through(&["newthread", "suspend_thread", "event_raised"]));
        assert!(!through(&["newthread", "exit"]) && !through(&["schedule"]));
        assert!(lives.alike("block.lock", "block.io.read") && !lives.alike("block.lock", "exit"));
    }
}
