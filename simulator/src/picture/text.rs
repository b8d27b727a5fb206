//! Who ran when, in characters: `█` runs, `░` is ready, `·` waits.

use super::rows::chosen;
use super::{LONGEST_NAME, Picture, State, Stay, short_names};
use crate::sim::duration;

/// What becomes of a thread.
#[derive(Clone, Debug)]
pub struct Row {
    /// In the order in which they came.
    pub thread: u64,
    /// Of each there is a row before there are two of one.
    pub kind: usize,
    /// What it is called.
    pub label: String,
    /// To what its state changes when.
    pub changes: Vec<(i64, State)>,
}

/// Rows and columns.
const ROWS: usize = 16;
const COLUMNS: usize = 72;
/// So many changes are told from each other.
pub(crate) const SEEN: usize = 180;

/// What is between two instants; `end`: of all. `around` is marked.
pub fn picture(mut rows: Vec<Row>, (from, to): (i64, i64), end: i64, around: Option<i64>) -> String {
    let width = (to - from).max(1);
    let column = |time: i64| {
        usize::try_from((i128::from(time - from) * COLUMNS as i128 / i128::from(width)).max(0))
            .unwrap_or(0)
            .min(COLUMNS)
    };
    // Those of which something is to be seen.
    rows.iter_mut().for_each(|row| row.changes.retain(|(time, _)| *time < to));
    rows.retain(|row| match row.changes.last() {
        Some((time, State::Ended)) => *time >= from,
        last => last.is_some(),
    });
    let all = rows.len();
    let shown = chosen(rows.iter().map(|row| (row.thread, row.kind, row.runs(from, to))), ROWS);
    rows.retain(|row| shown.contains(&row.thread));
    let wide = rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    if let Some(around) = around {
        text.push_str(&format!("  {:wide$}  {}▼ {}\n", "", " ".repeat(column(around)), duration(around)));
    }
    for row in &rows {
        let mut cells: Vec<(i64, char)> = vec![(0, ' '); COLUMNS];
        for (time, until, state) in row.stays(to) {
            let sign = match state {
                State::Running { .. } => '█',
                State::Ready => '░',
                State::Blocked => '·',
                State::Ended => ' ',
            };
            if until <= from {
                continue;
            }
            let (start, stop) = (column(time.max(from)), column(until.max(from)));
            // In each cell what lasts longest there.
            let edge =
                |cell: usize| from + i64::try_from(cell as i128 * i128::from(width) / COLUMNS as i128).unwrap_or(0);
            for (cell, (longest, shown)) in cells.iter_mut().enumerate().take(stop + 1).skip(start) {
                let share = until.min(edge(cell + 1)) - time.max(edge(cell)).max(from);
                if share > *longest {
                    (*longest, *shown) = (share, sign);
                }
            }
        }
        let line: String = cells.iter().map(|(_, sign)| *sign).collect();
        text.push_str(&format!("  {:<wide$}  {}\n", row.label, line.trim_end()));
    }
    if all > ROWS {
        text.push_str(&format!("  and {} more\n", all - ROWS));
    }
    let (left, mut right) = (duration(from), duration(to));
    if around.is_none() && to < end {
        right = format!("{right} of {}", duration(end));
    }
    let gap = COLUMNS.saturating_sub(left.chars().count() + right.chars().count());
    text.push_str(&format!("  {:wide$}  {left}{}{right}\n", "", " ".repeat(gap)));
    text
}

impl Row {
    /// From when to when it was in what, until then.
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
    /// Its timeline, for a terminal: of the beginning only as much as is told from each other, unless a part was asked for.
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
            Row { thread: *thread, kind: about.kind, label, changes: changes(&stays, *thread) }
        };
        let rows = part.threads.iter().map(row).collect();
        picture(rows, (part.from, seen.max(part.from + 1)), self.end, None)
    }
}

/// With nothing where nothing is known.
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
