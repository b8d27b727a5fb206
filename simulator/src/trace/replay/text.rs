//! The text of a scenario in which threads do again what they did.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::io::{Read, Seek};

use catapults_compiler::vocabulary::Value;

use crate::trace::Reader;

use super::{Collector, Given, Life, Phase, can_be_read};

impl Collector {
    pub(super) fn written<R: Read + Seek>(&self, trace: &Reader<R>, length: u64, processors: u64) -> String {
        let header = trace.header();
        let mut text = String::new();
        let (host, policy) = (one_line(&header.host), one_line(&header.policy));
        let _ = writeln!(text, "// What {host} recorded of threads under {policy}, to be done again under any policy.");
        let _ = writeln!(text, "scenario recorded {{\n  duration {};", time(length));
        if processors > 1 {
            let _ = writeln!(text, "  processors {processors};");
        }
        // So that the policy that was recorded draws the same.
        if let Some(seed) = header.seed.filter(|seed| *seed != 1 && i64::try_from(*seed).is_ok()) {
            let _ = writeln!(text, "  seed {seed};");
        }
        let given = |given: &Given| format!("{} = {};", self.variables[given.variable], given.value);
        for value in &self.values {
            let _ = writeln!(text, "  set {}", given(value));
        }
        let mut names = HashSet::new();
        let named = |(index, life): (usize, &Life)| identifier(&life.name, index + 1, &mut names);
        let names: Vec<String> = self.lives.iter().enumerate().map(named).collect();
        let mut groups: BTreeMap<(u64, usize), &Life> = BTreeMap::new();
        for (index, life) in self.lives.iter().enumerate() {
            groups.insert((life.start, index), life);
        }
        for ((start, index), life) in groups {
            let _ = write!(text, "  thread {}", names[index]);
            if start > 0 {
                let _ = write!(text, " at {}", time(start));
            }
            if !life.with.is_empty() {
                let values: Vec<String> = life.with.iter().map(given).collect();
                let _ = write!(text, " with {{ {} }}", values.join(" "));
            }
            text.push_str(" {");
            for (number, phase) in life.phases.iter().enumerate() {
                text.push_str(if number % 8 == 0 && life.phases.len() > 8 { "\n    " } else { " " });
                let _ = match phase {
                    Phase::Run(length) => write!(text, "run {};", time(*length)),
                    Phase::Wait(0, length) => write!(text, "sleep {};", time(*length)),
                    Phase::Wait(wait, length) => write!(text, "block {} {};", self.waits[*wait], time(*length)),
                    Phase::Yield => write!(text, "yield;"),
                    Phase::Set(value) => write!(text, "set {}", given(value)),
                };
            }
            text.push_str(if life.phases.len() > 8 { "\n  }\n" } else { " }\n" });
        }
        // Nothing happens at the end.
        for (instant, thread, value) in self.moments.iter().filter(|(instant, ..)| *instant < length) {
            let of = thread.map_or(String::new(), |thread| format!("{}.", names[thread]));
            let _ = writeln!(text, "  at {} {{ set {of}{} }}", time(*instant), given(value));
        }
        text.push_str("}\n");
        text
    }
}

/// As a scenario writes it.
fn time(nanoseconds: u64) -> String {
    Value::Time(i64::try_from(nanoseconds).unwrap_or(i64::MAX)).to_string()
}

fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// A unique name: the trace's, if a scenario can have it, or a similar one.
fn identifier(name: &str, number: usize, names: &mut HashSet<String>) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let mut like: String = name.chars().take(40).map(letter).collect();
    if like.is_empty() {
        like = format!("thread_{number}");
    } else if like.starts_with(|first: char| !first.is_ascii_alphabetic()) {
        like.insert_str(0, "thread_");
    }
    if can_be_read(&format!("thread {like} {{ }}")) && names.insert(like.clone()) {
        return like;
    }
    let mut unique = format!("{like}_{number}");
    while !names.insert(unique.clone()) {
        unique.push('_');
    }
    unique
}
