//! Sequences as automata. A position is a place in the pattern where an event stands. A state is the set of positions
//! that can come next, as bits; so histories with the same future are one.

use std::collections::{BTreeMap, BTreeSet};

use super::{Framework, Move, Pattern, Sequence, Stage};
use crate::vocabulary::At;

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

/// The most positions of a sequence. If it has more, it is not followed.
pub(super) const MOST: usize = 63;

/// The most parts of a sequence, with the sequences that it names written out.
const MOST_PARTS: usize = 10_000;

/// How deep sequences are written out in one another.
pub(super) const DEEPEST: usize = 16;

/// A part of a pattern.
struct Part {
    may_be_empty: bool,
    first: u64,
    last: u64,
}

impl Automaton {
    /// The sequence that the life of each thread follows: it has the event of a new thread.
    pub fn of_lives(framework: &Framework) -> Option<Self> {
        let sequences = Sequences::of(framework);
        Automaton::of(&sequences.unfolded(sequences.lives.first()?)?.0)
    }

    /// The automaton of a pattern. Sequences that it names are passed over. `None`: it is too long.
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

    /// The state at the start.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The events of each position.
    pub(super) fn positions(&self) -> &[Vec<String>] {
        &self.positions
    }

    /// The positions that can come first, and those that can come after one.
    pub(super) fn first_positions(&self) -> impl Iterator<Item = usize> {
        members(self.first)
    }

    pub(super) fn positions_after(&self, position: usize) -> impl Iterator<Item = usize> {
        members(self.follow.get(position).copied().unwrap_or_default())
    }

    /// Whether an event stands in it.
    pub fn names(&self, event: &str) -> bool {
        self.positions.iter().flatten().any(|name| name == event)
    }

    /// The state after an event; `None` if it cannot come now. An event that is not in the sequence can always come.
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

    /// Whether two events stand at the same positions.
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

/// The sequences that order the events of all threads together. They have neither the event of a new thread nor its
/// life in them, and no sequence names them. Events that such a sequence does not name can come at any time.
#[derive(Clone, Debug, Default)]
pub struct Order(Vec<Automaton>);

impl Order {
    /// The order of a framework's events.
    pub fn of(framework: &Framework) -> Self {
        let sequences = Sequences::of(framework);
        let followed = sequences.orders().filter_map(|sequence| sequences.unfolded(sequence));
        Order(followed.filter_map(|(pattern, _)| Automaton::of(&pattern)).collect())
    }

    /// The state before any event.
    pub fn first(&self) -> Vec<u64> {
        self.0.iter().map(Automaton::first).collect()
    }

    /// The state after an event; `None` if the event cannot come now.
    pub fn after(&self, state: &[u64], event: &str) -> Option<Vec<u64>> {
        self.0.iter().zip(state).map(|(automaton, state)| automaton.after(*state, event)).collect()
    }

    /// Whether two events stand at the same positions.
    pub fn alike(&self, one: &str, other: &str) -> bool {
        self.0.iter().all(|automaton| automaton.alike(one, other))
    }
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

/// The sequences of a framework, looked through once.
pub(super) struct Sequences<'a> {
    all: BTreeMap<&'a str, &'a Sequence>,
    /// In source order.
    in_order: &'a [Sequence],
    /// Those with the event of a new thread.
    pub(super) lives: Vec<&'a Sequence>,
    /// Those, and the ones that name them.
    with_lives: BTreeSet<&'a str>,
    /// Those that others name.
    named: BTreeSet<&'a str>,
}

impl<'a> Sequences<'a> {
    pub(super) fn of(framework: &'a Framework) -> Self {
        let new = |step: &Move| matches!(step, Move::Parameter(_, Stage::New, _));
        // Nodes have no such sequence, and what happens before a thread is on a node is no part of its life there.
        let of_threads = framework.events.iter().filter(|event| !event.is_global());
        let creating = of_threads.filter(|event| event.rules.iter().flat_map(|rule| &rule.moves).any(new));
        let creating: BTreeSet<&str> = creating.map(|event| event.name.as_str()).collect();
        let (mut lives, mut with_lives, mut named) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        for sequence in &framework.sequences {
            let mut events = Vec::new();
            events_of(&sequence.pattern, &mut events);
            let names = named_in(&sequence.pattern);
            let is_life = events.iter().any(|event| creating.contains(event.as_str()));
            lives.extend(is_life.then_some(sequence));
            // A sequence names only those before it.
            if is_life || names.iter().any(|name| with_lives.contains(name)) {
                with_lives.insert(sequence.name.as_str());
            }
            named.extend(names);
        }
        let all = framework.sequences.iter().map(|sequence| (sequence.name.as_str(), sequence)).collect();
        Sequences { all, in_order: &framework.sequences, lives, with_lives, named }
    }

    /// The sequences of [`Order`].
    pub(super) fn orders(&self) -> impl Iterator<Item = &'a Sequence> {
        let is_order = |sequence: &&Sequence| {
            [&self.with_lives, &self.named].iter().all(|not| !not.contains(sequence.name.as_str()))
        };
        self.in_order.iter().filter(is_order)
    }

    /// A sequence with the sequences that it names written out, except the lives of threads, and where each of its
    /// events stands. `None`: it is too long.
    pub(super) fn unfolded(&self, sequence: &Sequence) -> Option<(Pattern, Vec<At>)> {
        let mut unfold = Unfold { sequences: self, places: Vec::new(), parts: 0, depth: 0 };
        let pattern = unfold.pattern(&sequence.pattern, &mut sequence.places.iter())?;
        Some((pattern, unfold.places))
    }
}

struct Unfold<'a> {
    sequences: &'a Sequences<'a>,
    places: Vec<At>,
    parts: usize,
    depth: usize,
}

impl Unfold<'_> {
    fn pattern(&mut self, pattern: &Pattern, places: &mut std::slice::Iter<'_, At>) -> Option<Pattern> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return None;
        }
        Some(match pattern {
            Pattern::Event(names) => {
                self.places.extend(places.next());
                Pattern::Event(names.clone())
            }
            Pattern::Sequence(name) => {
                let named = self.sequences.all.get(name.as_str());
                match named.filter(|_| !self.sequences.with_lives.contains(name.as_str())) {
                    Some(_) if self.depth == DEEPEST => return None,
                    Some(named) => {
                        self.depth += 1;
                        let inner = self.pattern(&named.pattern, &mut named.places.iter())?;
                        self.depth -= 1;
                        inner
                    }
                    None => pattern.clone(),
                }
            }
            Pattern::Then(patterns) => Pattern::Then(self.patterns(patterns, places)?),
            Pattern::Either(patterns) => Pattern::Either(self.patterns(patterns, places)?),
            Pattern::Many(inner) => Pattern::Many(Box::new(self.pattern(inner, places)?)),
            Pattern::Maybe(inner) => Pattern::Maybe(Box::new(self.pattern(inner, places)?)),
        })
    }

    fn patterns(&mut self, patterns: &[Pattern], places: &mut std::slice::Iter<'_, At>) -> Option<Vec<Pattern>> {
        patterns.iter().map(|pattern| self.pattern(pattern, places)).collect()
    }
}

/// The sequences that a pattern names.
fn named_in(pattern: &Pattern) -> Vec<&str> {
    match pattern {
        Pattern::Event(_) => Vec::new(),
        Pattern::Sequence(name) => vec![name],
        Pattern::Then(patterns) | Pattern::Either(patterns) => patterns.iter().flat_map(named_in).collect(),
        Pattern::Many(pattern) | Pattern::Maybe(pattern) => named_in(pattern),
    }
}

fn members(set: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |position| set >> position & 1 == 1)
}
