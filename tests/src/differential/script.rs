//! Script files: their lines, what the interpreter decides, and what stands in the file of that.

use std::collections::BTreeMap;
use std::fmt;

use catapults_compiler::framework::Framework;
use catapults_compiler::interp::ThreadId;
use catapults_compiler::policy::{Policy, Value};
use catapults_compiler::verify::Verified;

use crate::replay::{Replay, Step};

/// One line of a script file.
pub enum Line {
    /// `policy PATH`, from the root of the repository.
    Policy(String),
    /// A step, and the whole line if a decision stands in it.
    Step(Step, Option<String>),
    /// Many turns, and the same.
    Turns(Turns, Option<String>),
    /// A comment or nothing.
    Comment(String),
}

/// Many turns.
#[derive(Clone, Copy)]
pub struct Turns {
    /// So many.
    pub count: usize,
    /// How long each is, in nanoseconds.
    pub length: Option<i64>,
}

impl Turns {
    fn read(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no number of turns");
        let (count, length) = text.split_once(" of ").map_or((text, None), |(count, length)| (count, Some(length)));
        let length = match length.map(|length| format!("at {length}").parse()) {
            None => None,
            Some(Ok(Step::At(length))) => Some(length),
            Some(_) => return Err(wrong()),
        };
        Ok(Turns { count: count.parse().map_err(|_| wrong())?, length })
    }
}

impl fmt::Display for Turns {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.count)?;
        self.length.map_or(Ok(()), |length| write!(out, " of {}", Value::Time(length)))
    }
}

/// Reads a file.
///
/// # Errors
/// What is none of these lines.
pub fn lines(text: &str) -> Result<Vec<Line>, String> {
    let line = |line: &str| {
        if let Some(policy) = line.strip_prefix("policy ") {
            return Ok(Line::Policy(policy.trim().to_owned()));
        }
        if line.trim().is_empty() || line.starts_with("//") {
            return Ok(Line::Comment(line.to_owned()));
        }
        let step = line.split_once(" -> ").map_or(line, |(step, _)| step);
        let decided = line.contains(" -> ").then(|| line.to_owned());
        if let Some(turns) = step.strip_prefix("turns ") {
            return Ok(Line::Turns(Turns::read(turns)?, decided));
        }
        Ok(Line::Step(step.parse()?, decided))
    };
    text.lines().map(line).collect()
}

/// What blocks a thread has another name in another host.
pub fn translated(framework: &Framework, text: &str) -> String {
    let blocks: Vec<&str> =
        framework.events.iter().map(|event| event.name.as_str()).filter(|name| name.starts_with("block.")).collect();
    let line = |line: &str| match line.split_once(' ') {
        Some((event, thread)) if event.starts_with("block.") && !blocks.contains(&event) => match blocks.first() {
            Some(block) => format!("{block} {thread}\n"),
            None => format!("{line}\n"),
        },
        Some(_) | None => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// A script file, followed in the interpreter.
pub struct Followed {
    /// With those of the turns.
    pub steps: Vec<Step>,
    /// What is to stand in the file: a decision of a line.
    pub interpreted: Vec<String>,
    /// What each step decided.
    pub decisions: Vec<String>,
}

/// Follows it.
pub fn follow(policy: &Verified<Policy>, lines: &[Line]) -> Followed {
    let (mut replay, mut steps, mut interpreted) = (Replay::new(policy), Vec::new(), Vec::new());
    let mut take = |replay: &mut Replay, step: Step| {
        let before = replay.decisions.len();
        replay.step(&step);
        steps.push(step);
        replay.decisions[before..].first().cloned()
    };
    let mut now = 0;
    for line in lines {
        match line {
            Line::Policy(_) | Line::Comment(_) => {}
            Line::Step(step, _) => {
                if let Step::At(instant) = step {
                    now = *instant;
                }
                interpreted.extend(take(&mut replay, step.clone()));
            }
            Line::Turns(turns, _) => {
                let mut shares: BTreeMap<u32, usize> = BTreeMap::new();
                for _ in 0..turns.count {
                    let decision = take(&mut replay, Step::Raise("schedule".to_owned(), Vec::new()));
                    let named = decision.and_then(|text| text.rsplit(' ').next()?.parse().ok());
                    let Some(named) = named else { break };
                    *shares.entry(named).or_default() += 1;
                    if let Some(length) = turns.length {
                        now += length;
                        take(&mut replay, Step::At(now));
                        while take(&mut replay, Step::Expire).is_some_and(|decision| decision != "expire -> nothing") {}
                    }
                    if replay.runs(ThreadId(named)) {
                        take(&mut replay, Step::Raise("switch_out".to_owned(), vec![ThreadId(named)]));
                    }
                }
                let shares: Vec<String> = shares.iter().map(|(thread, count)| format!("{thread}: {count}")).collect();
                interpreted.push(format!("turns {turns} -> {}", shares.join(", ")));
            }
        }
    }
    Followed { steps, interpreted, decisions: replay.decisions }
}

/// The file with these decisions.
pub fn decided(lines: &[Line], decisions: &[String]) -> String {
    let mut decisions = decisions.iter().peekable();
    let mut text = String::new();
    for line in lines {
        text.push_str(&match line {
            Line::Policy(path) => format!("policy {path}"),
            Line::Comment(comment) => comment.clone(),
            Line::Step(step, _) => {
                let prefix = format!("{step} -> ");
                decisions.next_if(|decision| decision.starts_with(&prefix)).cloned().unwrap_or(step.to_string())
            }
            Line::Turns(..) => decisions.next().cloned().unwrap_or_default(),
        });
        text.push('\n');
    }
    text
}

/// Where two lists of decisions part.
pub fn difference(expected: &[String], found: &[String]) -> Option<String> {
    let first = (0..expected.len().max(found.len())).find(|index| expected.get(*index) != found.get(*index))?;
    let at = |list: &[String]| list.get(first).cloned().unwrap_or("nothing more".to_owned());
    Some(format!("decision {}: expected `{}`, found `{}`", first + 1, at(expected), at(found)))
}
