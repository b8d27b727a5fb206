//! Tables: a line of names, and a line for each task. Values are separated by commas, semicolons or tabs; `#` begins a comment.

use std::ops::Range;

use csv::{ReaderBuilder, StringRecord, Trim};

use super::amount::Unit;
use super::record::{Field, Record, Said, found};
use super::{Found, Wrong};

pub(super) fn read(text: &str, unit: Unit) -> Result<Found, Wrong> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(Trim::All)
        .comment(Some(b'#'))
        .delimiter(separator(text))
        .from_reader(text.as_bytes());
    let mut lines = reader.records().map(|line| line.map_err(|error| unreadable(text, &error)));
    let Some(names) = lines.next().transpose()? else { return found(&[], unit, None) };
    let mut fields = Vec::new();
    for (name, at) in cells(text, &names) {
        let field = Field::named(&name, &at)?;
        if fields.contains(&field) {
            return Err(Wrong::new(at, format!("there are two columns for `{name}`"), "leave one of the two out"));
        }
        fields.push(field);
    }
    let mut records = Vec::new();
    for line in lines {
        let line = line?;
        let at = place(text, &line);
        let cells = cells(text, &line);
        if cells.len() != fields.len() {
            let what = format!("the line has {} values, and the first line {} names", cells.len(), fields.len());
            return Err(Wrong::new(at, what, "leave a value empty if a task has none, but keep what separates it"));
        }
        let mut record = Record { said: Vec::new(), at };
        for (field, (text, at)) in fields.iter().zip(cells).filter(|(_, (text, _))| !text.is_empty()) {
            record.add(Said { field: *field, text, at })?;
        }
        records.push(record);
    }
    found(&records, unit, None)
}

/// What stands between the names.
fn separator(text: &str) -> u8 {
    let names = text.lines().find(|line| !line.starts_with('#') && !line.trim().is_empty()).unwrap_or_default();
    [b',', b';', b'\t'].into_iter().find(|separator| names.as_bytes().contains(separator)).unwrap_or(b',')
}

/// Where a line stands.
fn place(text: &str, line: &StringRecord) -> Range<usize> {
    let start = line.position().map_or(0, |position| usize::try_from(position.byte()).unwrap_or(0));
    // Blank lines and comments are counted to the line that they stand before.
    let mut start = start.min(text.len());
    loop {
        let rest = text.get(start..).unwrap_or_default();
        let skipped = rest.len() - rest.trim_start().len();
        let rest = &rest[skipped..];
        start += skipped;
        match rest.starts_with('#') {
            true => start += rest.find('\n').unwrap_or(rest.len()),
            false => return start..start + rest.find(['\n', '\r']).unwrap_or(rest.len()),
        }
    }
}

/// The values of a line, and where each stands.
fn cells(text: &str, line: &StringRecord) -> Vec<(String, Range<usize>)> {
    let all = place(text, line);
    let raw = text.get(all.clone()).unwrap_or_default();
    let mut from = 0;
    let cells = line.iter().map(|value| {
        // One that is quoted may be written otherwise: then it is the whole line.
        let found = raw.get(from..).and_then(|rest| rest.find(value)).map(|start| from + start);
        let at = found.map_or_else(|| all.clone(), |start| all.start + start..all.start + start + value.len());
        from = found.map_or(from, |start| start + value.len());
        (value.to_owned(), at)
    });
    cells.collect()
}

fn unreadable(text: &str, error: &csv::Error) -> Wrong {
    let start = error.position().map_or(0, |position| usize::try_from(position.byte()).unwrap_or(0)).min(text.len());
    Wrong::new(
        start..start,
        format!("the table cannot be read: {error}"),
        "write a line of names, and one for each task",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::Order;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Found, Wrong> {
        super::read(text, Unit::Milliseconds)
    }

    #[test]
    fn tables_of_each_kind_are_read() {
        for text in [
            "task,period,wcet\na,10,2\nb,20ms,3\n",
            "task;period;wcet\na;10;2\nb; 20ms ;3",
            "# of a car\n\ntask\tperiod\twcet\r\na\t10\t2\r\n# slow\r\nb\t20\t3",
        ] {
            let found = read(text).unwrap();
            let tasks: Vec<_> =
                found.set.tasks().iter().map(|task| (task.name.as_str(), task.period, task.budget)).collect();
            assert_eq!(tasks, [("a", 10_000_000, 2_000_000), ("b", 20_000_000, 3_000_000)], "{text}");
            assert!(text[found.places[1].clone()].starts_with('b'), "{text}");
        }
        assert_eq!(read("period,wcet,priority\n10,2,1").unwrap().order, Some(Order::Priorities));
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let place = |text: &str| {
            let wrong = read(text).unwrap_err();
            (wrong.what, text[wrong.at].to_owned())
        };
        let said = |what: &str, at: &str| (what.to_owned(), at.to_owned());
        assert_eq!(place("task,perid\n"), said("there is no field `perid`", "perid"));
        assert_eq!(place("task,period,wcet\na,10,x\n"), said("`x` is no time", "x"));
        assert_eq!(place("task,period,wcet\na,10,11\n"), said("the budget of `a` is longer than its period", "11"));
        assert_eq!(
            place("task,period,wcet\na,10\n"),
            said("the line has 2 values, and the first line 3 names", "a,10")
        );
        assert_eq!(place("task,period,wcet\n").0, "there are no tasks");
        assert_eq!(place("").0, "there are no tasks");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z,;\t\n\r\"#0-9.µ -]{0,200}") {
            if let Err(wrong) = read(&text) {
                prop_assert!(text.get(wrong.at).is_some());
            }
        }
    }
}
