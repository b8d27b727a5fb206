//! Workloads of rt-app (https://github.com/scheduler-tools/rt-app), which describes threads in JSON, as scenarios.
//!
//! What a thread does is translated; what it asks of Linux (its class, priority, processors) is not, as that is the policy's affair.

use std::fmt::{self, Write};

use serde_json::{Map, Value};

/// What cannot be a scenario, and where in the file: `tasks.thread0.phases.p1.timer`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The names on the way there, with dots; empty if it is no JSON.
    pub place: String,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() { out.write_str(&self.what) } else { write!(out, "{}: {}", self.place, self.what) }
    }
}

/// What says how a thread is to be run, and not what it does.
const OF_LINUX: [&str; 16] = [
    "priority",
    "policy",
    "cpus",
    "nodes_membind",
    "numa_nodes_membind",
    "dl-runtime",
    "dl-period",
    "dl-deadline",
    "taskgroup",
    "util_min",
    "util_max",
    "slice",
    "instance",
    "delay",
    "loop",
    "phases",
];

/// The text of a scenario of this name. Names that no scenario can have are changed.
///
/// # Errors
/// The first thing that is not understood, or that no scenario can say.
pub fn to_scenario(json: &str, name: &str) -> Result<String, Wrong> {
    let parsed: Value = serde_json::from_str(&without_comments(json)).map_err(|error| wrong("", error.to_string()))?;
    let root = object(&parsed, "")?;
    let mut text = format!("scenario {} {{\n", identifier(name));
    if let Some(duration) = root.get("global").and_then(|global| global.get("duration")) {
        let seconds = duration.as_i64().ok_or_else(|| wrong("global.duration", "this is no number of seconds"))?;
        if seconds > 0 {
            let _ = writeln!(text, "  duration {seconds}s;");
        }
    }
    let tasks = root.get("tasks").ok_or_else(|| wrong("tasks", "there are no tasks"))?;
    for (task, what) in object(tasks, "tasks")? {
        one(task, what, &mut text)?;
    }
    text.push_str("}\n");
    Ok(text)
}

fn one(task: &str, what: &Value, text: &mut String) -> Result<(), Wrong> {
    let place = format!("tasks.{task}");
    let what = object(what, &place)?;
    let instances = what.get("instance").map_or(Ok(1), |value| number(value, &format!("{place}.instance")))?;
    let _ = write!(text, "  thread {}", identifier(task));
    if instances > 1 {
        let _ = write!(text, " * {instances}");
    }
    if let Some(delay) = what.get("delay") {
        let _ = write!(text, " at {}us", number(delay, &format!("{place}.delay"))?);
    }
    let phases: Vec<(String, &Map<String, Value>)> = match what.get("phases") {
        Some(phases) => {
            let place = format!("{place}.phases");
            let all = object(phases, &place)?.iter();
            all.map(|(name, phase)| {
                let place = format!("{place}.{name}");
                object(phase, &place).map(|phase| (place.clone(), phase))
            })
            .collect::<Result<_, _>>()?
        }
        None => vec![(place.clone(), what)],
    };
    let timer = timer(&phases)?;
    if let Some(period) = timer {
        let _ = write!(text, " period {period}us");
    }
    text.push_str(" {\n");
    let rounds = what.get("loop").map_or(Ok(-1), |rounds| signed(rounds, &format!("{place}.loop")))?;
    // A periodic thread does all again each period.
    let depth = match (timer, rounds) {
        (Some(_), _) => 0,
        (None, 1) => 0,
        (None, rounds) => {
            let _ = if rounds < 0 { writeln!(text, "    repeat {{") } else { writeln!(text, "    repeat {rounds} {{") };
            1
        }
    };
    for (phase_place, phase) in &phases {
        let own = what.contains_key("phases");
        let rounds =
            phase.get("loop").filter(|_| own).map_or(Ok(1), |rounds| signed(rounds, &format!("{phase_place}.loop")))?;
        let deeper = if rounds == 1 { depth } else { depth + 1 };
        let indent = "  ".repeat(depth + 2);
        if rounds < 0 {
            let _ = writeln!(text, "{indent}repeat {{");
        } else if rounds != 1 {
            let _ = writeln!(text, "{indent}repeat {rounds} {{");
        }
        for (event, argument) in phase.iter() {
            happens(task, event, argument, &format!("{phase_place}.{event}"), &"  ".repeat(deeper + 2), text)?;
        }
        if rounds != 1 {
            let _ = writeln!(text, "{indent}}}");
        }
    }
    if depth == 1 {
        text.push_str("    }\n");
    }
    text.push_str("  }\n");
    Ok(())
}

/// The period, if the only timer is the last thing that the thread does in a round.
fn timer(phases: &[(String, &Map<String, Value>)]) -> Result<Option<u64>, Wrong> {
    let mut found = None;
    for (index, (place, phase)) in phases.iter().enumerate() {
        let events: Vec<&String> = phase.keys().filter(|key| !OF_LINUX.contains(&key.as_str())).collect();
        for (at, event) in events.iter().enumerate().filter(|(_, event)| kind(event) == "timer") {
            let place = format!("{place}.{event}");
            let rounds = phase.get("loop").filter(|_| phases.len() > 1 || phase.contains_key("phases"));
            let once = rounds.is_none_or(|rounds| rounds.as_i64() == Some(1));
            if index + 1 < phases.len() || at + 1 < events.len() || !once {
                return Err(wrong(&place, "a timer must be the last thing that a thread does in a round"));
            }
            let timer = object(&phase[event.as_str()], &place)?;
            let period = timer.get("period").ok_or_else(|| wrong(&place, "there is no `period`"))?;
            found = Some(number(period, &format!("{place}.period"))?.max(1));
        }
    }
    Ok(found)
}

/// `run`, of `run1`.
fn kind(event: &str) -> &str {
    event.trim_end_matches(|c: char| c.is_ascii_digit())
}

fn happens(task: &str, event: &str, what: &Value, place: &str, indent: &str, text: &mut String) -> Result<(), Wrong> {
    if OF_LINUX.contains(&event) {
        return Ok(());
    }
    let named =
        |value: &Value, place: &str| value.as_str().map(identifier).ok_or_else(|| wrong(place, "this is no name"));
    let both = || -> Result<(String, String), Wrong> {
        let of = object(what, place)?;
        let part = |name: &str| {
            of.get(name).map_or_else(|| Err(wrong(place, format!("there is no `{name}`"))), |one| named(one, place))
        };
        Ok((part("ref")?, part("mutex")?))
    };
    let line = match kind(event) {
        "run" | "runtime" => format!("run {}us;", number(what, place)?),
        "sleep" => format!("sleep {}us;", number(what, place)?),
        "lock" => format!("lock {};", named(what, place)?),
        "unlock" => format!("unlock {};", named(what, place)?),
        "signal" | "broad" => format!("send {};", named(what, place)?),
        "wait" => {
            let (condition, mutex) = both()?;
            format!("unlock {mutex}; receive {condition}; lock {mutex};")
        }
        "sync" => {
            let (condition, mutex) = both()?;
            format!("send {condition}; unlock {mutex}; receive {condition}; lock {mutex};")
        }
        "suspend" => format!("receive {}_resumed;", identifier(task)),
        "resume" => format!("send {}_resumed;", named(what, place)?),
        "fork" => format!("spawn {};", named(what, place)?),
        "yield" => "yield;".to_owned(),
        // It is the thread's period.
        "timer" => return Ok(()),
        other => {
            let what =
                format!("`{other}` cannot be simulated; leave it out, or write `run` or `sleep` for how long it takes");
            return Err(wrong(place, what));
        }
    };
    let _ = writeln!(text, "{indent}{line}");
    Ok(())
}

/// Comments of C, which rt-app allows, as blanks.
fn without_comments(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let (mut rest, mut quoted) = (json, false);
    while let Some(first) = rest.chars().next() {
        let length = match (quoted, first) {
            (false, '/') if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            (false, '/') if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            (true, '\\') => {
                let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                text.push_str(&rest[..length]);
                rest = &rest[length..];
                continue;
            }
            (_, c) => {
                quoted ^= c == '"';
                text.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
        };
        // So that places in messages are right.
        text.extend(rest[..length].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &rest[length..];
    }
    text
}

/// A name as scenarios have them.
fn identifier(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { plain } else { format!("t{plain}") }
}

fn object<'v>(value: &'v Value, place: &str) -> Result<&'v Map<String, Value>, Wrong> {
    value.as_object().ok_or_else(|| wrong(place, "this is no object, `{ … }`"))
}

fn number(value: &Value, place: &str) -> Result<u64, Wrong> {
    value.as_u64().ok_or_else(|| wrong(place, "this is no whole number that is not negative"))
}

fn signed(value: &Value, place: &str) -> Result<i64, Wrong> {
    value.as_i64().filter(|value| *value != 0).ok_or_else(|| wrong(place, "this is no whole number other than 0"))
}

fn wrong(place: &str, what: impl Into<String>) -> Wrong {
    Wrong { place: place.to_owned(), what: what.into() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

    use super::*;

    #[test]
    fn what_threads_do_is_translated() {
        let json = r#"{ /* two threads */
            "global": { "duration": 2, "default_policy": "SCHED_OTHER" },
            "tasks": {
                "heavy-1": { "instance": 2, "delay": 1000, "phases": {
                    "light": { "loop": 10, "run": 300, "sleep": 700 }, // a comment
                    "heavy": { "loop": 5, "run1": 900, "lock": "m", "run2": 50, "unlock": "m", "sleep": 100 } } },
                "tick": { "priority": 10, "run": 2000, "timer": { "ref": "unique", "period": 10000 } },
                "once": { "loop": 1, "run": 5, "resume": "heavy-1", "yield": "" }
            } }"#;
        let text = to_scenario(json, "my file").unwrap();
        assert_eq!(
            text,
            "scenario my_file {
  duration 2s;
  thread heavy_1 * 2 at 1000us {
    repeat {
      repeat 10 {
        run 300us;
        sleep 700us;
      }
      repeat 5 {
        run 900us;
        lock m;
        run 50us;
        unlock m;
        sleep 100us;
      }
    }
  }
  thread tick period 10000us {
    run 2000us;
  }
  thread once {
    run 5us;
    send heavy_1_resumed;
    yield;
  }
}
"
        );
    }

    #[test]
    fn what_is_not_understood_has_a_place() {
        let said = |json: &str| to_scenario(json, "x").unwrap_err().to_string();
        assert_eq!(said(r#"{"tasks": {"a": {"iorun": 5}}}"#).split(':').next(), Some("tasks.a.iorun"));
        assert_eq!(
            said(r#"{"tasks": {"a": {"run": -5}}}"#),
            "tasks.a.run: this is no whole number that is not negative"
        );
        assert_eq!(said(r#"{"tasks": []}"#), "tasks: this is no object, `{ … }`");
        assert!(said(r#"{"tasks": "#).contains("line 1"));
        assert!(said(r#"{"tasks": {"a": {"timer": {"period": 5}, "run": 5}}}"#).contains("last thing"));
        assert_eq!(said("/* never closed"), "EOF while parsing a value at line 1 column 15");
        for hostile in ["\"\\", "/", "{\"tasks\":{\"\u{e9}\":{\"run\":1}}}", "\u{0}", &"[".repeat(10_000)] {
            let _ = to_scenario(hostile, "\u{1F600}");
        }
    }
}
