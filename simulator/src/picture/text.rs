//! A timeline in characters: `█` runs, `▏` runs too shortly to be seen, `░` is ready, `·` waits.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::rows::chosen;
use super::{LONGEST_NAME, Picture, State, Stay, short_names};
use crate::sim::{duration, exact};

/// The row of a thread.
#[derive(Clone, Debug)]
pub struct Row {
    /// By the order in which threads came.
    pub thread: u64,
    /// Each kind gets a row before any gets two.
    pub kind: usize,
    /// The thread's name.
    pub label: String,
    /// When its state changes, and to what.
    pub changes: Vec<(i64, State)>,
    /// It gets a row before threads that are not.
    pub concerned: bool,
}

/// Rows and columns.
const ROWS: usize = 16;
const COLUMNS: usize = 72;
/// With fewer, nothing could be told apart, however narrow the terminal is.
const FEWEST_COLUMNS: usize = 16;
/// A thread runs there, too shortly to be seen.
const BRIEFLY: char = '▏';
/// How many changes can be distinguished.
pub(crate) const SEEN: usize = 180;

/// The part between two instants. `end`: of the whole time. `around` is marked. `width`: of the whole picture, at most.
pub fn picture(mut rows: Vec<Row>, (from, to): (i64, i64), end: i64, around: Option<i64>, width: usize) -> String {
    // Only rows with something to see.
    rows.iter_mut().for_each(|row| row.changes.retain(|(time, _)| *time < to));
    rows.retain(|row| match row.changes.last() {
        Some((time, State::Ended)) => *time >= from,
        last => last.is_some(),
    });
    let all = rows.len();
    let mut shown: BTreeSet<u64> = rows.iter().filter(|row| row.concerned).map(|row| row.thread).take(ROWS).collect();
    let others = rows.iter().filter(|row| !shown.contains(&row.thread));
    let room = ROWS - shown.len();
    let others = chosen(others.map(|row| (row.thread, row.kind, row.runs(from, to))), room);
    shown.extend(others);
    rows.retain(|row| shown.contains(&row.thread));
    let wide = rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
    let columns = width.saturating_sub(wide + "    ".len()).clamp(FEWEST_COLUMNS, COLUMNS);
    let scale = Scale { from, to, columns };
    let mut text = String::new();
    if let Some(around) = around {
        // What happened before what is kept is at the left.
        let sign = if around < from { '◀' } else { '▼' };
        text.push_str(&format!("  {:wide$}  {}{sign} {}\n", "", " ".repeat(scale.column(around)), exact(around)));
    }
    for row in &rows {
        let line = row.cells(scale);
        text.push_str(&format!("  {:<wide$}  {}\n", row.label, line.trim_end()));
    }
    if all > ROWS {
        text.push_str(&format!("  and {} more\n", all - ROWS));
    }
    let (left, mut right) = (duration(from), duration(to));
    if around.is_none() && to < end {
        right = format!("{right} of {}", duration(end));
    }
    let gap = columns.saturating_sub(left.chars().count() + right.chars().count());
    text.push_str(&format!("  {:wide$}  {left}{}{right}\n", "", " ".repeat(gap)));
    text
}

/// The part that is shown, and in how many columns.
#[derive(Clone, Copy)]
struct Scale {
    from: i64,
    to: i64,
    columns: usize,
}

impl Scale {
    /// The column of an instant.
    fn column(self, time: i64) -> usize {
        let place = i128::from(time - self.from) * self.columns as i128 / self.length();
        usize::try_from(place.max(0)).unwrap_or(0).min(self.columns)
    }

    /// The cells of a stay, and how much of it is in each.
    fn shares(self, since: i64, until: i64) -> impl Iterator<Item = (usize, i64)> {
        let Scale { from, columns, .. } = self;
        let edge = move |cell: usize| from + i64::try_from(cell as i128 * self.length() / columns as i128).unwrap_or(0);
        let (since, until) = (since.max(from), until.max(from));
        let cells = self.column(since)..columns.min(self.column(until) + 1);
        let shares = cells.map(move |cell| (cell, until.min(edge(cell + 1)) - since.max(edge(cell))));
        shares.filter(|(_, share)| *share > 0)
    }

    fn length(self) -> i128 {
        i128::from((self.to - self.from).max(1))
    }
}

impl Row {
    /// The states in this part. Each cell shows the one that lasts longest there.
    fn cells(&self, scale: Scale) -> String {
        let to = scale.to;
        let mut cells: Vec<(i64, char)> = vec![(0, ' '); scale.columns];
        let seen = |state: State| match state {
            State::Running { .. } => '█',
            State::Ready => '░',
            State::Blocked => '·',
            State::Ended => ' ',
        };
        for (since, until, state) in self.stays(to) {
            for (cell, share) in scale.shares(since, until) {
                let (longest, sign) = &mut cells[cell];
                if share > *longest {
                    (*longest, *sign) = (share, seen(state));
                }
            }
        }
        let mut line: Vec<char> = cells.iter().map(|(_, sign)| *sign).collect();
        // A run is shown even where other states last longer; and so is a thread that was there at all.
        let is_empty = line.iter().all(|sign| *sign == ' ');
        let mut brief: Vec<(i64, i64, char)> = Vec::new();
        for (since, until, state) in self.stays(to).filter(|(since, until, _)| since < until) {
            let sign = match state {
                State::Running { .. } => BRIEFLY,
                State::Ready | State::Blocked if is_empty => seen(state),
                State::Ready | State::Blocked | State::Ended => continue,
            };
            match brief.last_mut() {
                // Turns without a gap are one run.
                Some((_, end, before)) if *end == since && *before == sign => *end = until,
                Some(_) | None => brief.push((since, until, sign)),
            }
        }
        for (since, until, sign) in brief {
            let most = scale.shares(since, until).max_by_key(|(cell, share)| (*share, Reverse(*cell)));
            if let Some((cell, _)) = most
                && scale.shares(since, until).all(|(cell, _)| line[cell] != '█')
                && (sign == BRIEFLY || line[cell] == ' ')
            {
                line[cell] = sign;
            }
        }
        line.into_iter().collect()
    }

    /// From when to when it was in each state, until `to`.
    fn stays(&self, to: i64) -> impl Iterator<Item = (i64, i64, State)> {
        let ends = self.changes.iter().skip(1).map(move |(next, _)| (*next).min(to)).chain([to]);
        self.changes.iter().zip(ends).map(|((time, state), until)| (*time, until, *state))
    }

    fn runs(&self, from: i64, to: i64) -> i64 {
        let length = |(since, until, state): (i64, i64, State)| match state {
            State::Running { .. } => (until - since.max(from)).max(0),
            State::Ready | State::Blocked | State::Ended => 0,
        };
        self.stays(to).map(length).sum()
    }
}

impl Picture {
    /// The timeline for a terminal: only as much of the beginning as can be distinguished, unless a part was asked for.
    pub fn text(&self) -> String {
        let part = &self.part;
        let mut stays: Vec<Stay> = part.stays.clone();
        stays.sort_by_key(|stay| (stay.from, stay.thread));
        let asked = part.late || part.asked < self.end;
        let seen = stays.get(SEEN).filter(|_| !asked).map_or(part.until, |stay| stay.from);
        let names = short_names(self.kinds.iter().map(|kind| kind.name.as_str()), LONGEST_NAME);
        let row = |(thread, about): (&u64, &super::Thread)| {
            let name = names.get(about.kind).map_or("", String::as_str);
            let label = format!("{name}{}", about.number);
            Row { thread: *thread, kind: about.kind, label, changes: changes(&stays, *thread), concerned: false }
        };
        let rows = part.threads.iter().map(row).collect();
        picture(rows, (part.from, seen.max(part.from + 1)), self.end, None, usize::MAX)
    }
}

/// Nothing, where nothing is known.
fn changes(stays: &[Stay], thread: u64) -> Vec<(i64, State)> {
    let mut changes: Vec<(i64, State)> = Vec::new();
    for stay in stays.iter().filter(|stay| stay.thread == thread) {
        if changes.last().is_some_and(|(time, state)| *time == stay.from && *state == State::Ended) {
            changes.pop();
        }
        changes.extend([(stay.from, stay.state), (stay.to, State::Ended)]);
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(thread: u64, changes: &[(i64, State)], concerned: bool) -> Row {
        Row { thread, kind: thread as usize, label: format!("t{thread}"), changes: changes.to_vec(), concerned }
    }

    const SCALE: Scale = Scale { from: 0, to: 7200, columns: 72 };
    const RUNS: State = State::Running { processor: 0, lent_by: None };

    #[test]
    fn what_runs_for_less_than_a_cell_is_seen() {
        let brief = row(0, &[(0, State::Blocked), (300, RUNS), (301, State::Blocked)], false);
        assert_eq!(brief.cells(SCALE), format!("···▏{}", "·".repeat(68)));
        // A part of a longer run is not brief.
        let long = row(0, &[(0, State::Blocked), (301, RUNS), (501, State::Blocked)], false);
        assert_eq!(long.cells(SCALE), format!("···██{}", "·".repeat(67)));
        let gone = row(0, &[(310, State::Ready), (311, RUNS), (312, State::Ended)], false);
        assert_eq!(gone.cells(SCALE).trim_end(), "   ▏");
        let idle = row(0, &[(310, State::Ready), (312, State::Ended)], false);
        assert_eq!(idle.cells(SCALE).trim_end(), "   ░");
    }

    #[test]
    fn who_is_concerned_has_a_row() {
        let mut rows: Vec<Row> = (0..40).map(|thread| row(thread, &[(0, RUNS)], false)).collect();
        rows.push(row(40, &[(0, State::Ready)], true));
        let shown = picture(rows, (0, 100), 100, Some(50), usize::MAX);
        assert!(shown.contains("  t40  ░") && shown.contains("and 25 more"), "{shown}");
    }

    #[test]
    fn a_picture_is_no_wider_than_asked_for() {
        let widest = |width: usize| {
            let shown = picture(vec![row(0, &[(0, RUNS)], false)], (0, 7200), 7200, None, width);
            shown.lines().map(|line| line.chars().count()).max().unwrap_or(0)
        };
        assert_eq!([usize::MAX, 200, 78, 77, 40, 22, 0].map(widest), [78, 78, 78, 77, 40, 22, 22]);
    }
}
