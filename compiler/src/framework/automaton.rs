//! Sequences as automata. The positions of one are the places in its pattern where an event stands; its state is the set of
//! positions that can come next, as bits: ways with the same future are one.

use super::{Framework, Move, Pattern, Stage};

/// A sequence that is followed.
#[derive(Clone, Debug, Default)]
pub struct Automaton {
    /// The events of each position.
    positions: Vec<Vec<String>>,
    /// By position, those that can come next.
    follow: Vec<u64>,
    /// Those that can come first.
    first: u64,
}

/// More positions than this a sequence does not have; if it has, it is not followed.
const MOST: usize = 63;

/// A part of a pattern.
struct Part {
    may_be_empty: bool,
    first: u64,
    last: u64,
}

impl Automaton {
    /// Follows a pattern; other sequences in it are passed over. `None`: it is too long.
    pub fn of(pattern: &Pattern) -> Option<Self> {
        let mut events = Vec::new();
        events_of(pattern, &mut events);
        if events.len() > MOST {
            return None;
        }
        let mut automaton = Automaton::default();
        automaton.first = automaton.part(pattern).first;
        Some(automaton)
    }

    /// Where it begins.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Whether an event stands in it.
    pub fn names(&self, event: &str) -> bool {
        self.positions.iter().flatten().any(|name| name == event)
    }

    /// The state after an event; `None` if the event cannot come now. An event that is not in the sequence can always come.
    pub fn after(&self, state: u64, event: &str) -> Option<u64> {
        let named = |position: &usize| self.positions[*position].iter().any(|name| name == event);
        let with_event = (0..self.positions.len()).filter(named).fold(0, |set, position| set | 1 << position);
        if with_event == 0 {
            return Some(state);
        }
        match state & with_event {
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

/// The sequences that order the events of all threads together: those without the event of a new thread that neither name
/// another sequence nor are named by one. Events that such a sequence does not name can come at any time.
#[derive(Clone, Debug, Default)]
pub struct Order(Vec<Automaton>);

impl Order {
    /// The order of a framework's events.
    pub fn of(framework: &Framework) -> Self {
        let followed = framework.sequences.iter().filter(|sequence| {
            let mut events = Vec::new();
            events_of(&sequence.pattern, &mut events);
            let named = |other: &Pattern| names_sequence(other, &|name| name == sequence.name);
            !events.iter().any(|event| creates(framework, event))
                && !names_sequence(&sequence.pattern, &|_| true)
                && !framework.sequences.iter().any(|other| named(&other.pattern))
        });
        Order(followed.filter_map(|sequence| Automaton::of(&sequence.pattern)).collect())
    }

    /// Before any event.
    pub fn first(&self) -> Vec<u64> {
        self.0.iter().map(Automaton::first).collect()
    }

    /// After an event; `None` if it cannot come now.
    pub fn after(&self, state: &[u64], event: &str) -> Option<Vec<u64>> {
        self.0.iter().zip(state).map(|(automaton, state)| automaton.after(*state, event)).collect()
    }

    /// Whether two events come at the same places.
    pub fn alike(&self, one: &str, other: &str) -> bool {
        self.0.iter().all(|automaton| automaton.alike(one, other))
    }
}

/// Whether an event is that of a new thread.
pub fn creates(framework: &Framework, name: &str) -> bool {
    let new = |step: &Move| matches!(step, Move::Parameter(_, Stage::New, _));
    let events = framework.events.iter().filter(|event| event.name == name);
    events.flat_map(|event| &event.rules).flat_map(|rule| &rule.moves).any(new)
}

/// The events that a pattern names.
pub fn events_of(pattern: &Pattern, events: &mut Vec<String>) {
    match pattern {
        Pattern::Event(names) => events.extend(names.iter().cloned()),
        Pattern::Sequence(_) => {}
        Pattern::Then(patterns) | Pattern::Either(patterns) => {
            patterns.iter().for_each(|pattern| events_of(pattern, events));
        }
        Pattern::Many(pattern) | Pattern::Maybe(pattern) => events_of(pattern, events),
    }
}

fn names_sequence(pattern: &Pattern, such: &dyn Fn(&str) -> bool) -> bool {
    match pattern {
        Pattern::Event(_) => false,
        Pattern::Sequence(name) => such(name),
        Pattern::Then(patterns) | Pattern::Either(patterns) => {
            patterns.iter().any(|pattern| names_sequence(pattern, such))
        }
        Pattern::Many(pattern) | Pattern::Maybe(pattern) => names_sequence(pattern, such),
    }
}

fn members(set: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |position| set >> position & 1 == 1)
}
