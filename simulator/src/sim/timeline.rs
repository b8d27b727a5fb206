//! Which thread was in which state when, for a small picture: the first changes, or those around a failed expectation.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use catapults_compiler::interp::ThreadId;

use crate::picture::{self, Due, LONGEST_NAME, Row, State, short_names};

/// A change of a thread's state.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// When.
    pub time: i64,
    /// Which thread, counted from 0 in the order in which they came.
    pub thread: u64,
    /// The new state.
    pub state: State,
}

/// The changes that are kept.
#[derive(Clone, Debug)]
pub struct Timeline {
    changes: VecDeque<Change>,
    /// In the order in which the jobs were done; then those of jobs that are not done.
    dues: Vec<Due>,
    /// The number and kind of each living thread, indexed by its record's number.
    numbers: Vec<Option<(u64, usize)>>,
    /// The kinds of the threads in `changes`, and their ordinals in these kinds.
    kinds: BTreeMap<u64, (usize, u64)>,
    came: u64,
    came_of: BTreeMap<usize, u64>,
    end: i64,
    keep: Keep,
    /// The part of the time of which changes are kept.
    part: (i64, i64),
    /// The states of threads at its beginning, until its first change.
    before: BTreeMap<u64, State>,
    /// The states of threads whose last changes were dropped, because they are older than those that are kept.
    dropped: BTreeMap<u64, State>,
}

/// The threads whose rows are shown first.
#[derive(Clone, Debug, Default)]
pub struct Concerned {
    /// By their numbers in the timeline.
    pub threads: Vec<u64>,
    /// One thread of each of these kinds, indices of the scenario's threads.
    pub kinds: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    First,
    Last,
    /// So many more changes.
    Until(usize),
}

const MOST: usize = 4096;

impl Timeline {
    pub(super) fn new() -> Self {
        Timeline {
            changes: VecDeque::new(),
            dues: Vec::new(),
            numbers: Vec::new(),
            kinds: BTreeMap::new(),
            came: 0,
            came_of: BTreeMap::new(),
            end: 0,
            keep: Keep::First,
            part: (0, i64::MAX),
            before: BTreeMap::new(),
            dropped: BTreeMap::new(),
        }
    }

    /// Keeps what happens in a part of the time, and the states at its beginning.
    pub(super) fn keep_part(&mut self, from: i64, to: i64) {
        self.part = (from, to);
    }

    /// Keeps the last changes, until `found` is called.
    pub(super) fn keep_last(&mut self) {
        self.keep = Keep::Last;
    }

    /// What was looked for has happened. A few more changes are kept.
    pub(super) fn found(&mut self) {
        if self.keep == Keep::Last {
            self.keep = Keep::Until(MOST / 4);
        }
    }

    pub(super) fn came(&mut self, thread: ThreadId, kind: usize, now: i64) {
        let index = thread.0 as usize - 1;
        if self.numbers.len() <= index {
            self.numbers.resize(index + 1, None);
        }
        let ordinal = self.came_of.entry(kind).or_insert(0);
        *ordinal += 1;
        let ordinal = *ordinal;
        self.numbers[index] = Some((self.came, kind));
        if self.changes.len() < MOST || self.keep != Keep::First {
            self.kinds.insert(self.came, (kind, ordinal));
        }
        self.came += 1;
        self.change(thread, State::Ready, now);
    }

    pub(super) fn kind_of(&self, thread: ThreadId) -> Option<usize> {
        self.numbers.get(thread.0 as usize - 1).copied().flatten().map(|(_, kind)| kind)
    }

    /// The number of a living thread.
    pub(super) fn number_of(&self, thread: ThreadId) -> Option<u64> {
        self.numbers.get(thread.0 as usize - 1).copied().flatten().map(|(number, _)| number)
    }

    pub(super) fn change(&mut self, thread: ThreadId, state: State, now: i64) {
        let index = thread.0 as usize - 1;
        let Some(Some((number, _))) = self.numbers.get(index).copied() else { return };
        if state == State::Ended {
            self.numbers[index] = None;
        }
        if now < self.part.0 {
            if state == State::Ended {
                self.before.remove(&number);
                self.kinds.remove(&number);
            } else {
                self.before.insert(number, state);
            }
            return;
        }
        self.begins();
        if now >= self.part.1 {
            return;
        }
        match &mut self.keep {
            Keep::First if self.changes.len() >= MOST => return,
            Keep::Until(0) => return,
            Keep::Until(left) => *left -= 1,
            Keep::First | Keep::Last => {}
        }
        if self.changes.len() >= MOST
            && let Some(oldest) = self.changes.pop_front()
        {
            if oldest.state == State::Ended {
                self.kinds.remove(&oldest.thread);
                self.dropped.remove(&oldest.thread);
            } else {
                self.dropped.insert(oldest.thread, oldest.state);
            }
        }
        self.changes.push_back(Change { time: now, thread: number, state });
    }

    /// The kept part begins.
    fn begins(&mut self) {
        if self.before.is_empty() {
            return;
        }
        let (time, _) = self.part;
        let changes = std::mem::take(&mut self.before).into_iter();
        self.changes.extend(changes.map(|(thread, state)| Change { time, thread, state }));
    }

    /// The thread runs on this processor, on its own turn or another thread's.
    pub(super) fn runs(&mut self, thread: ThreadId, processor: usize, turn: ThreadId, now: i64) {
        let donor = self.number_of(turn).filter(|_| turn != thread);
        self.change(thread, State::Running { processor, lent_by: donor }, now);
    }

    /// A job of the thread was due at this instant.
    pub(super) fn due(&mut self, thread: ThreadId, time: i64, missed: bool) {
        let Some(Some((number, _))) = self.numbers.get(thread.0 as usize - 1).copied() else { return };
        let (from, to) = self.part;
        if self.dues.len() < MOST && self.keep == Keep::First && (from..to).contains(&time) {
            self.dues.push(Due { time, thread: number, missed });
        }
    }

    pub(super) fn ends(&mut self, now: i64) {
        self.end = now;
        if now >= self.part.0 {
            self.begins();
        }
    }

    /// The changes, and the instant until which they are complete.
    pub fn changes(&self) -> (impl Iterator<Item = &Change>, i64) {
        let last = if self.changes.len() < MOST { None } else { self.changes.back().map(|last| last.time) };
        let due = if self.dues.len() < MOST { None } else { self.dues.last().map(|last| last.time) };
        let until = last.into_iter().chain(due).fold(self.end.min(self.part.1), i64::min);
        (self.changes.iter(), until)
    }

    /// Whether a later beginning was asked for, and where the asked part ends.
    pub fn asked(&self) -> (bool, i64) {
        (self.part.0 > 0, self.end.min(self.part.1))
    }

    /// The first instants at which jobs were due.
    pub fn dues(&self) -> &[Due] {
        &self.dues
    }

    /// The kind of a thread in the changes, and its ordinal in that kind, from 1.
    pub fn kind(&self, thread: u64) -> Option<(usize, u64)> {
        self.kinds.get(&thread).copied()
    }

    /// A picture in characters, with `around` in the middle; without `around`, from the beginning of what is kept.
    pub fn picture(&self, names: &[(String, bool)], around: Option<i64>, concerned: &Concerned) -> String {
        self.drawn(names, around, concerned, usize::MAX)
    }

    /// The same from the beginning of what is kept, in lines of so many characters at most.
    pub fn picture_within(&self, width: usize, names: &[(String, bool)]) -> String {
        self.drawn(names, None, &Concerned::default(), width)
    }

    fn drawn(&self, names: &[(String, bool)], around: Option<i64>, concerned: &Concerned, width: usize) -> String {
        let (Some(first), Some(last)) = (self.changes.front(), self.changes.back()) else { return String::new() };
        let full = self.changes.len() >= MOST;
        let begin = if full { first.time } else { self.part.0 };
        let end = if full { last.time } else { self.end.max(last.time).min(self.part.1) };
        let short = short_names(names.iter().map(|(name, _)| name.as_str()), LONGEST_NAME);
        let mut rows: BTreeMap<u64, Row> = BTreeMap::new();
        let dropped = self.dropped.iter().map(|(thread, state)| Change { time: begin, thread: *thread, state: *state });
        for Change { time, thread, state } in dropped.chain(self.changes.iter().copied()) {
            let row = rows.entry(thread).or_insert_with(|| {
                let (kind, ordinal) = self.kind(thread).unwrap_or((0, 0));
                let name = short.get(kind).cloned().unwrap_or_default();
                let group = names.get(kind).is_some_and(|(_, group)| *group);
                let label = if group { format!("{name}.{ordinal}") } else { name };
                Row { thread, kind, label, changes: Vec::new(), concerned: false }
            });
            row.changes.push((time, state));
        }
        let of_kinds = concerned.kinds.iter().filter_map(|kind| rows.values().find(|row| row.kind == *kind));
        let concerned: BTreeSet<u64> =
            concerned.threads.iter().copied().chain(of_kinds.map(|row| row.thread)).collect();
        rows.values_mut().for_each(|row| row.concerned = concerned.contains(&row.thread));
        picture::picture(rows.into_values().collect(), self.window(begin, end, around), self.end, around, width)
    }

    /// The part of the time that the picture shows, short enough for something to be seen.
    fn window(&self, begin: i64, end: i64, around: Option<i64>) -> (i64, i64) {
        let middle = around.unwrap_or(begin).clamp(begin, end.max(begin));
        // As long as this many changes take.
        const SEEN: usize = picture::SEEN / 2;
        let place = self.changes.iter().position(|change| change.time >= middle).unwrap_or(self.changes.len());
        let (low, high) = match around {
            None if self.part.1 < i64::MAX => (0, usize::MAX),
            None => (0, SEEN * 2),
            Some(_) => (place.saturating_sub(SEEN), place + SEEN / 2),
        };
        let from = if low == 0 { begin } else { self.changes.get(low).map_or(begin, |change| change.time) };
        let to = self.changes.get(high).map_or(end, |change| change.time);
        (from.min(middle), to.max(middle + 1))
    }
}
