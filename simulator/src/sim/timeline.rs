//! Who was in which state when, for a small picture: the first changes, or those around what is not as expected.

use std::collections::{BTreeMap, VecDeque};

use catapults_compiler::interp::ThreadId;

use super::measures::duration;
use super::rows::{LONGEST_NAME, chosen, short_names};

/// What a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It computes.
    Running {
        /// Where.
        processor: usize,
        /// Whose turn it is, if that is another thread, which waits for it: counted as [`Change::thread`].
        lent_by: Option<u64>,
    },
    /// It could.
    Ready,
    /// It waits.
    Blocked,
    /// It is no more.
    Ended,
}

/// A change of a thread's state.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// When.
    pub time: i64,
    /// Which thread, counted from 0 as they came.
    pub thread: u64,
    /// To what.
    pub state: State,
}

/// When a job was due.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    /// When.
    pub time: i64,
    /// Whose job, counted as [`Change::thread`].
    pub thread: u64,
    /// It was not done by then.
    pub missed: bool,
}

/// The changes that are kept.
#[derive(Clone, Debug)]
pub struct Timeline {
    changes: VecDeque<Change>,
    /// In the order in which the jobs were done; of those that are not, after these.
    dues: Vec<Due>,
    /// Of threads that live, by number: which one came how late.
    numbers: Vec<Option<(u64, usize)>>,
    /// Kinds of those in the changes, and their places among their kind.
    kinds: BTreeMap<u64, (usize, u64)>,
    came: u64,
    came_of: BTreeMap<usize, u64>,
    end: i64,
    keep: Keep,
    /// From when on, and until when changes are kept.
    part: (i64, i64),
    /// In what threads are at the beginning of that, until the first change in it.
    before: BTreeMap<u64, State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    First,
    Last,
    /// So many more.
    Until(usize),
}

const MOST: usize = 4096;
/// Rows and columns of the picture.
const ROWS: usize = 16;
const COLUMNS: usize = 72;

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
        }
    }

    /// Keeps what happens in a part, and in what threads are when it begins.
    pub(super) fn keep_part(&mut self, from: i64, to: i64) {
        self.part = (from, to);
    }

    /// Keeps what happened last, until something is found.
    pub(super) fn keep_last(&mut self) {
        self.keep = Keep::Last;
    }

    /// What is looked for has happened: a little more is kept.
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
            && oldest.state == State::Ended
        {
            self.kinds.remove(&oldest.thread);
        }
        self.changes.push_back(Change { time: now, thread: number, state });
    }

    /// The part that is kept.
    fn begins(&mut self) {
        let (time, _) = self.part;
        let changes = std::mem::take(&mut self.before).into_iter();
        self.changes.extend(changes.map(|(thread, state)| Change { time, thread, state }));
    }

    /// It runs there, on its own turn or that of another thread.
    pub(super) fn runs(&mut self, thread: ThreadId, processor: usize, turn: ThreadId, now: i64) {
        let donor = self.numbers.get(turn.0 as usize - 1).copied().flatten().filter(|_| turn != thread);
        self.change(thread, State::Running { processor, lent_by: donor.map(|(number, _)| number) }, now);
    }

    /// A job of the thread was due at that time.
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

    /// The changes, and until when they are all.
    pub fn changes(&self) -> (impl Iterator<Item = &Change>, i64) {
        let last = if self.changes.len() < MOST { None } else { self.changes.back().map(|last| last.time) };
        let due = if self.dues.len() < MOST { None } else { self.dues.last().map(|last| last.time) };
        let until = last.into_iter().chain(due).fold(self.end.min(self.part.1), i64::min);
        (self.changes.iter(), until)
    }

    /// When jobs were due: the first ones.
    pub fn dues(&self) -> &[Due] {
        &self.dues
    }

    /// The kind of a thread of the changes, and its number among its kind, from 1.
    pub fn kind(&self, thread: u64) -> Option<(usize, u64)> {
        self.kinds.get(&thread).copied()
    }

    /// A picture in characters: `█` runs, `░` is ready, `·` waits. `around` stands in the middle, or it begins where what is kept does.
    pub fn picture(&self, names: &[(String, bool)], around: Option<i64>) -> String {
        let (Some(first), Some(last)) = (self.changes.front(), self.changes.back()) else { return String::new() };
        let full = self.changes.len() >= MOST;
        let begin = if full { first.time } else { self.part.0 };
        let end = if full { last.time } else { self.end.max(last.time).min(self.part.1) };
        let (from, to) = self.window(begin, end, around);
        let width = (to - from).max(1);
        let column = |time: i64| {
            usize::try_from((i128::from(time - from) * COLUMNS as i128 / i128::from(width)).max(0))
                .unwrap_or(0)
                .min(COLUMNS)
        };
        let mut rows: BTreeMap<u64, Vec<(i64, State)>> = BTreeMap::new();
        for change in self.changes.iter().filter(|change| change.time < to) {
            rows.entry(change.thread).or_default().push((change.time, change.state));
        }
        // Those of which something is to be seen.
        rows.retain(|_, changes| !matches!(changes.last(), Some((time, State::Ended)) if *time < from));
        let all = rows.len();
        let shown = chosen(rows.keys().map(|thread| (*thread, self.kind(*thread).map_or(0, |(kind, _)| kind))), ROWS);
        rows.retain(|thread, _| shown.contains(thread));
        let short = short_names(names.iter().map(|(name, _)| name.as_str()), LONGEST_NAME);
        let label = |thread: u64| {
            let (kind, ordinal) = self.kind(thread).unwrap_or((0, 0));
            let name = short.get(kind).cloned().unwrap_or_default();
            let group = names.get(kind).is_some_and(|(_, group)| *group);
            if group { format!("{name}.{ordinal}") } else { name }
        };
        let wide = rows.keys().map(|thread| label(*thread).chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        if let Some(around) = around {
            let place = column(around);
            text.push_str(&format!("  {:wide$}  {}▼ {}\n", "", " ".repeat(place), duration(around)));
        }
        for (thread, changes) in &rows {
            let mut cells: Vec<(i64, char)> = vec![(0, ' '); COLUMNS];
            for (place, (time, state)) in changes.iter().enumerate() {
                let until = changes.get(place + 1).map_or(to, |(next, _)| *next).min(to);
                let sign = match state {
                    State::Running { .. } => '█',
                    State::Ready => '░',
                    State::Blocked => '·',
                    State::Ended => ' ',
                };
                let (start, stop) = (column((*time).max(from)), column(until.max(from)));
                if until <= from {
                    continue;
                }
                // In each cell what lasts longest there.
                let edge =
                    |cell: usize| from + i64::try_from(cell as i128 * i128::from(width) / COLUMNS as i128).unwrap_or(0);
                for (cell, (longest, shown)) in cells.iter_mut().enumerate().take(stop + 1).skip(start) {
                    let share = until.min(edge(cell + 1)) - (*time).max(edge(cell)).max(from);
                    if share > *longest {
                        (*longest, *shown) = (share, sign);
                    }
                }
            }
            let line: String = cells.iter().map(|(_, sign)| *sign).collect();
            text.push_str(&format!("  {:<wide$}  {}\n", label(*thread), line.trim_end()));
        }
        if all > ROWS {
            text.push_str(&format!("  and {} more\n", all - ROWS));
        }
        let (left, mut right) = (duration(from), duration(to));
        if around.is_none() && to < self.end {
            right = format!("{right} of {}", duration(self.end));
        }
        let gap = COLUMNS.saturating_sub(left.chars().count() + right.chars().count());
        text.push_str(&format!("  {:wide$}  {left}{}{right}\n", "", " ".repeat(gap)));
        text
    }

    /// From when to when the picture is: not so much that nothing is to be seen.
    fn window(&self, begin: i64, end: i64, around: Option<i64>) -> (i64, i64) {
        let middle = around.unwrap_or(begin).clamp(begin, end.max(begin));
        // As long as some changes take.
        const SEEN: usize = 90;
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
