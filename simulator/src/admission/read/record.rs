//! What a file says of a task, by the names of fields.

use std::ops::Range;

use super::amount::{self, Unit, short};
use super::{Found, Order, Wrong};
use crate::admission::{Task, TaskSet};

/// What can be said of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Name,
    Period,
    Budget,
    Deadline,
    Priority,
    Jitter,
    Blocking,
}

/// The names of each, the first of which is usual.
const NAMES: [(Field, &[&str]); 7] = [
    (Field::Name, &["id", "name", "task"]),
    (Field::Period, &["period", "sporadic", "t"]),
    (Field::Budget, &["worst-case execution time", "wcet", "budget", "c"]),
    (Field::Deadline, &["deadline", "d"]),
    (Field::Priority, &["priority"]),
    (Field::Jitter, &["jitter", "release jitter", "j"]),
    (Field::Blocking, &["blocking", "b"]),
];

impl Field {
    /// The field of this name.
    pub(super) fn named(name: &str, at: &Range<usize>) -> Result<Field, Wrong> {
        let plain = name.trim().to_lowercase().replace('_', " ");
        let known = NAMES.iter().find(|(_, names)| names.contains(&plain.as_str()));
        if let Some((field, _)) = known {
            return Ok(*field);
        }
        if plain == "arrival curve" {
            let help = "write the least time between two releases as `period`";
            return Err(Wrong::new(at.clone(), "arrival curves are not judged here", help));
        }
        let all = || NAMES.iter().flat_map(|(_, names)| names.iter().copied());
        Err(unknown("field", name, at, all()))
    }

    fn word(self) -> &'static str {
        match self {
            Field::Name => "name",
            Field::Period => "period",
            Field::Budget => "budget",
            Field::Deadline => "deadline",
            Field::Priority => "priority",
            Field::Jitter => "jitter",
            Field::Blocking => "blocking",
        }
    }
}

/// A name that means nothing, and those that do; the nearest first.
pub(super) fn unknown<'a>(
    what: &str,
    name: &str,
    at: &Range<usize>,
    all: impl Iterator<Item = &'a str> + Clone,
) -> Wrong {
    let lower = name.to_lowercase();
    let near = all.clone().map(|known| (strsim::damerau_levenshtein(known, &lower), known)).min();
    let near = near.filter(|(steps, known)| *steps <= known.chars().count() / 3);
    let known: Vec<String> = all.filter(|known| known.len() > 1).map(|known| format!("`{known}`")).collect();
    let help = match near {
        Some((_, near)) => format!("did you mean `{near}`?"),
        None => format!("there is {}", known.join(", ")),
    };
    Wrong::new(at.clone(), format!("there is no {what} `{}`", short(name)), help)
}

/// A value, and where it stands.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) field: Field,
    pub(super) text: String,
    pub(super) at: Range<usize>,
}

/// A task as it is written.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) said: Vec<Said>,
    pub(super) at: Range<usize>,
}

impl Record {
    /// Adds what is said. Nothing is said twice.
    pub(super) fn add(&mut self, said: Said) -> Result<(), Wrong> {
        if self.of(said.field).is_some() {
            let what = format!("the {} is said twice", said.field.word());
            return Err(Wrong::new(said.at, what, "leave one of the two out"));
        }
        self.said.push(said);
        Ok(())
    }

    fn of(&self, field: Field) -> Option<&Said> {
        self.said.iter().find(|said| said.field == field)
    }

    fn time(&self, field: Field, unit: Unit) -> Result<Option<i64>, Wrong> {
        let Some(said) = self.of(field) else { return Ok(None) };
        let help = "write a time such as 5ms, 300us or 1.5s; without a unit, --unit says which";
        amount::time(&said.text, unit).map(Some).map_err(|what| Wrong::new(said.at.clone(), what, help))
    }

    fn needed(&self, field: Field, unit: Unit) -> Result<i64, Wrong> {
        self.time(field, unit)?.ok_or_else(|| {
            let what = format!("the task has no {}", field.word());
            let usual = NAMES.iter().find(|(named, _)| *named == field).map_or("", |(_, names)| names[0]);
            Wrong::new(self.at.clone(), what, format!("write its `{usual}`"))
        })
    }

    fn task(&self, unit: Unit, number: usize) -> Result<Task, Wrong> {
        let period = self.needed(Field::Period, unit)?;
        let priority = self.of(Field::Priority).map(|said| {
            amount::whole(&said.text)
                .map_err(|what| Wrong::new(said.at.clone(), what, "higher numbers are more urgent"))
        });
        Ok(Task {
            name: self.of(Field::Name).map_or_else(|| number.to_string(), |said| said.text.clone()),
            period,
            budget: self.needed(Field::Budget, unit)?,
            deadline: self.time(Field::Deadline, unit)?.unwrap_or(period),
            priority: priority.transpose()?,
            jitter: self.time(Field::Jitter, unit)?.unwrap_or(0),
            blocking: self.time(Field::Blocking, unit)?.unwrap_or(0),
            section: 0,
        })
    }

    /// Where this is said, or the task.
    fn place(&self, word: &str) -> Range<usize> {
        let said = self.said.iter().find(|said| said.field.word() == word);
        said.map_or_else(|| self.at.clone(), |said| said.at.clone())
    }
}

/// The set of these tasks. If all have priorities, these are their order unless the file says another.
pub(super) fn found(records: &[Record], unit: Unit, order: Option<Order>) -> Result<Found, Wrong> {
    let Some(last) = records.last() else {
        return Err(Wrong::new(0..0, "there are no tasks", "write one for each thread that is to keep deadlines"));
    };
    let tasks = records.iter().enumerate().map(|(index, record)| record.task(unit, index + 1));
    let tasks: Vec<Task> = tasks.collect::<Result<_, _>>()?;
    let by_priority = tasks.iter().all(|task| task.priority.is_some()).then_some(Order::Priorities);
    let set = TaskSet::new(tasks).map_err(|senseless| {
        let record = records.get(senseless.task).unwrap_or(last);
        Wrong::new(record.place(senseless.field), senseless.what, senseless.help)
    })?;
    let places = records.iter().map(|record| record.at.clone()).collect();
    Ok(Found { set, places, order: order.or(by_priority), processors: None, notes: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_however_they_are_written() {
        for name in ["WCET", "wcet", "Worst-Case Execution Time", "worst-case_execution_time", " C "] {
            assert_eq!(Field::named(name, &(0..1)), Ok(Field::Budget), "{name}");
        }
    }

    #[test]
    fn near_names_are_offered() {
        let help = |name| Field::named(name, &(0..1)).unwrap_err().help;
        assert_eq!(help("perid"), "did you mean `period`?");
        assert_eq!(help("deadlin"), "did you mean `deadline`?");
        assert!(help("colour").starts_with("there is `id`"));
        assert!(help("arrival curve").contains("`period`"));
    }

    #[test]
    fn nothing_is_said_twice_and_what_is_needed_is_named() {
        let said = |field| Said { field, text: "5".to_owned(), at: 1..2 };
        let mut record = Record { said: Vec::new(), at: 0..9 };
        record.add(said(Field::Period)).unwrap();
        assert!(record.add(said(Field::Period)).is_err());
        let without = found(&[record], Unit::Milliseconds, None).unwrap_err();
        assert_eq!((without.what.as_str(), without.at), ("the task has no budget", 0..9));
        assert!(found(&[], Unit::Milliseconds, None).is_err());
    }
}
