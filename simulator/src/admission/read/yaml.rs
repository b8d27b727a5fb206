//! POET's YAML: `scheduling policy`, `preemption model`, and the `task set`. A task may say `jitter` and `blocking`, too, which POET has not.

use std::ops::Range;

use saphyr_parser::{Event, Parser, Span};

use super::amount::{Unit, short};
use super::record::{Field, Record, Said, found, unknown};
use super::{Found, Order, Wrong};

const KEYS: [&str; 3] = ["scheduling policy", "preemption model", "task set"];

pub(super) fn read(text: &str, unit: Unit) -> Result<Found, Wrong> {
    let root = Document::new(text).read()?;
    let What::Map(entries) = &root.what else {
        let help = "write `task set:`, and below it a task in each item of a list";
        return Err(Wrong::new(root.at, "this is no set of tasks", help));
    };
    let (mut order, mut records) = (None, None);
    let mut seen: Vec<&str> = Vec::new();
    for (key, value) in entries {
        let name = key.text()?;
        if seen.contains(&name) {
            return Err(Wrong::new(key.at.clone(), format!("`{name}` is said twice"), "leave one of the two out"));
        }
        seen.push(name);
        match name {
            "scheduling policy" => {
                order = match value.text()? {
                    "FP" => Some(Order::Priorities),
                    "EDF" => Some(Order::EarliestDeadline),
                    other => return Err(unknown("policy", other, &value.at, ["FP", "EDF"].into_iter())),
                }
            }
            "preemption model" => match value.text()? {
                "FP" => {}
                "NP" => {
                    let what = "jobs that are never preempted are not judged here";
                    let help = "write `preemption model: FP`, and as `blocking` of each task the longest job of those less urgent";
                    return Err(Wrong::new(value.at.clone(), what, help));
                }
                other => return Err(unknown("model", other, &value.at, ["FP", "NP"].into_iter())),
            },
            "task set" => records = Some(tasks(value)?),
            other => return Err(unknown("field", other, &key.at, KEYS.into_iter())),
        }
    }
    let Some(records) = records else {
        return Err(Wrong::new(
            root.at,
            "there is no `task set`",
            "write `task set:`, and below it a task in each item",
        ));
    };
    found(&records, unit, order)
}

fn tasks(list: &Node) -> Result<Vec<Record>, Wrong> {
    let What::List(items) = &list.what else {
        return Err(Wrong::new(list.at.clone(), "this is no list of tasks", "begin each task with `- id: 1`"));
    };
    items.iter().map(task).collect()
}

fn task(item: &Node) -> Result<Record, Wrong> {
    let What::Map(entries) = &item.what else {
        return Err(Wrong::new(item.at.clone(), "this is no task", "write `period: 10`, and so on, below each other"));
    };
    let at = entries.first().map_or_else(|| item.at.clone(), |(key, value)| key.at.start..value.at.end);
    let mut record = Record { said: Vec::new(), at };
    for (key, value) in entries {
        let field = Field::named(key.text()?, &key.at)?;
        record.add(Said { field, text: value.text()?.to_owned(), at: value.at.clone() })?;
    }
    Ok(record)
}

struct Node {
    what: What,
    at: Range<usize>,
}

enum What {
    Text(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Node {
    fn text(&self) -> Result<&str, Wrong> {
        match &self.what {
            What::Text(text) => Ok(text),
            What::List(_) | What::Map(_) => {
                Err(Wrong::new(self.at.clone(), "this is no single value", "write one number or name"))
            }
        }
    }
}

/// How deeply lists and maps are nested at the most: a set of tasks needs 3.
const DEEPEST: u32 = 8;

struct Document<'t> {
    parser: Parser<'t, saphyr_parser::StrInput<'t>>,
    /// Where each character begins.
    characters: Vec<usize>,
    length: usize,
}

impl<'t> Document<'t> {
    fn new(text: &'t str) -> Self {
        let characters = text.char_indices().map(|(at, _)| at).collect();
        Document { parser: Parser::new_from_str(text), characters, length: text.len() }
    }

    fn byte(&self, character: usize) -> usize {
        self.characters.get(character).copied().unwrap_or(self.length)
    }

    fn place(&self, span: Span) -> Range<usize> {
        let start = self.byte(span.start.index());
        start..self.byte(span.end.index()).max(start)
    }

    fn next(&mut self) -> Result<(Event<'t>, Range<usize>), Wrong> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => Ok((event, self.place(span))),
            Some(Err(error)) => {
                let at = self.byte(error.marker().index());
                let what = format!("this is no YAML: {}", short(error.info()));
                Err(Wrong::new(at..at, what, "check indentation, quotes and brackets"))
            }
            None => Ok((Event::StreamEnd, self.length..self.length)),
        }
    }

    /// The only document.
    fn read(mut self) -> Result<Node, Wrong> {
        loop {
            match self.next()? {
                (Event::Nothing | Event::StreamStart | Event::DocumentStart(_), _) => {}
                (Event::StreamEnd | Event::DocumentEnd, at) => {
                    return Err(Wrong::new(at, "there are no tasks", "write `task set:`, and below it the tasks"));
                }
                (event, at) => {
                    let root = self.node(event, at, 0)?;
                    loop {
                        match self.next()? {
                            (Event::StreamEnd, _) => return Ok(root),
                            (Event::DocumentStart(_), at) => {
                                return Err(Wrong::new(at, "there is a second document", "write one set in a file"));
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
    }

    fn node(&mut self, event: Event<'t>, at: Range<usize>, depth: u32) -> Result<Node, Wrong> {
        if depth > DEEPEST {
            return Err(Wrong::new(
                at,
                "this is nested too deeply",
                "a set is a list of tasks, and a task a list of fields",
            ));
        }
        match event {
            Event::Scalar(text, ..) => Ok(Node { what: What::Text(text.into_owned()), at }),
            Event::SequenceStart(..) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => return Ok(Node { what: What::List(items), at }),
                        (event, at) => items.push(self.node(event, at, depth + 1)?),
                    }
                }
            }
            Event::MappingStart(..) => {
                let mut entries = Vec::new();
                loop {
                    match self.next()? {
                        (Event::MappingEnd, _) => return Ok(Node { what: What::Map(entries), at }),
                        (event, at) => {
                            let key = self.node(event, at, depth + 1)?;
                            let (event, at) = self.next()?;
                            entries.push((key, self.node(event, at, depth + 1)?));
                        }
                    }
                }
            }
            // They could make a file of some lines one of some millions.
            Event::Alias(_) => Err(Wrong::new(at, "aliases are not read here", "write out what it stands for")),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => {
                Err(Wrong::new(at, "the file ends in the middle", "check indentation, quotes and brackets"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LISTING: &str = "scheduling policy: FP   # fixed-priority
preemption model:  FP
task set:

- id: 1
  worst-case execution time: 50
  period: 220
  deadline: 100
  priority: 2

- id: 2
  worst-case execution time: 10
  sporadic: 30
  deadline: 100
  priority: 1
";

    fn read(text: &str) -> Result<Found, Wrong> {
        super::read(text, Unit::Microseconds)
    }

    #[test]
    fn files_of_poet_are_read() {
        let found = read(LISTING).unwrap();
        assert_eq!(found.order, Some(Order::Priorities));
        let tasks: Vec<_> =
            found.set.tasks().iter().map(|task| (task.period, task.budget, task.deadline, task.priority)).collect();
        assert_eq!(tasks, [(220_000, 50_000, 100_000, Some(2)), (30_000, 10_000, 100_000, Some(1))]);
        assert!(LISTING[found.places[1].clone()].starts_with("id: 2"));
        assert_eq!(read(&LISTING.replace("policy: FP", "policy: EDF")).unwrap().order, Some(Order::EarliestDeadline));
    }

    #[test]
    fn what_is_wrong_has_its_place() {
        let place = |text: &str| {
            let wrong = read(text).unwrap_err();
            (wrong.what, text[wrong.at].trim_end().to_owned())
        };
        let said = |what: &str, at: &str| (what.to_owned(), at.to_owned());
        assert_eq!(place(&LISTING.replace("period", "perod")), said("there is no field `perod`", "perod"));
        assert_eq!(place(&LISTING.replace("220", "twenty")), said("`twenty` is no time", "twenty"));
        assert_eq!(place(&LISTING.replace("220", "49")), said("the budget of `1` is longer than its period", "50"));
        assert_eq!(place(&LISTING.replace("model:  FP", "model: NP")).1, "NP");
        assert_eq!(place(&LISTING.replace("task set", "tasks")), said("there is no field `tasks`", "tasks"));
        assert_eq!(place(&LISTING.replace("id: 2", "id: 1")), said("there are two tasks of the name `1`", "1"));
        assert_eq!(
            place(&LISTING.replace("period: 220", "arrival curve: [220, [[1, 1]]]")).0,
            "arrival curves are not judged here"
        );
        assert_eq!(place("task set: &all []\nmore: *all\n").0, "aliases are not read here");
        assert!(place("task set: [").0.starts_with("this is no YAML"));
        assert_eq!(place("").0, "there are no tasks");
        assert_eq!(place("- a\n").0, "this is no set of tasks");
        assert_eq!(place(&format!("{}{}", "[".repeat(12), "]".repeat(12))).0, "this is nested too deeply");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[a-z:\n\t &*?|>!{}\\[\\]\"'#0-9,µ-]{0,120}") {
            if let Err(wrong) = read(&text) {
                prop_assert!(text.get(wrong.at).is_some());
            }
        }
    }
}
