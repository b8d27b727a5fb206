//! Scripts: what a host and an application do to a policy, one step per line, and what the policy decides.
//!
//! ```text
//! newthread 1
//! at 20ms
//! expire
//! set_import connections 5
//! set_thread_import 1 bytesleft 100
//! schedule
//! block.io.read 1
//! ask threads_ready
//! ```
//!
//! A decision is the step, ` -> ` and what came of it: `schedule -> 1`, `newthread 2 -> fail too many threads`,
//! `schedule -> guard 12 text`, `ask threads_ready -> 4`. A step that decides nothing, such as an event that dispatches no
//! thread, has no decision. Every target that runs a script must take the decisions that the interpreter takes ([`perform`]).

use std::fmt;
use std::str::FromStr;

use catapults_compiler::interp::{Machine, Stop, ThreadId, Variables};
use catapults_compiler::policy::{Policy, Value};

/// A line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `block.io.read 1`: an event. A thread with a number that no living thread has is a new one, in hand.
    Raise(String, Vec<ThreadId>),
    /// `ask is_ready 1`: a query.
    Ask(String, Vec<ThreadId>),
    /// `at 20ms`: so late it is from here on. It starts at 0; a host's clock never goes back.
    At(i64),
    /// `expire`: the timer that expires next does, if its instant has come; `expire -> timeout.slice 1` or `expire -> nothing`.
    Expire,
    /// `set_import connections 5`: the application assigns a variable.
    SetImport(String, Value),
    /// `set_thread_import 1 bytesleft 100`: the application assigns a variable of a thread.
    SetThreadImport(ThreadId, String, Value),
}

/// One step. A refused new thread is gone afterwards.
///
/// # Errors
/// As [`Machine::raise`] and [`Machine::ask`]; [`Stop::Misuse`] if the step is none for this policy.
pub fn perform(
    machine: &mut Machine,
    application: &mut Variables,
    policy: &Policy,
    step: &Step,
) -> Result<Option<String>, Stop> {
    match step {
        Step::Raise(event, threads) => {
            let new: Vec<ThreadId> =
                threads.iter().copied().filter(|thread| machine.position(*thread).is_none()).collect();
            for thread in &new {
                machine.spawn(*thread)?;
            }
            let result = machine.raise(event, threads, application);
            if matches!(result, Err(Stop::Fail { .. })) {
                new.iter().for_each(|thread| machine.discard(*thread));
            }
            Ok(result?.map(|thread| format!("{step} -> {}", thread.0)))
        }
        Step::Ask(query, threads) => {
            let answer = machine.ask(query, threads, application)?;
            Ok(Some(format!("{step} -> {answer}")))
        }
        Step::At(nanoseconds) => {
            machine.set_now(*nanoseconds);
            Ok(None)
        }
        Step::Expire => {
            let due = machine.next_timeout().filter(|timeout| timeout.instant <= machine.now());
            let Some(due) = due else { return Ok(Some(format!("{step} -> nothing"))) };
            machine.raise(due.event, &[due.thread], application)?;
            Ok(Some(format!("{step} -> {} {}", due.event, due.thread.0)))
        }
        Step::SetImport(name, value) => application.set(policy, name, *value).map(|()| None).map_err(Stop::Misuse),
        Step::SetThreadImport(thread, name, value) => {
            application.set_of_thread(policy, *thread, name, *value).map(|()| None).map_err(Stop::Misuse)
        }
    }
}

/// The steps of a script: a line each, empty lines left out.
///
/// # Errors
/// The first line that is no step.
pub fn parse(script: &str) -> Result<Vec<Step>, String> {
    script.lines().filter(|line| !line.trim().is_empty()).map(str::parse).collect()
}

impl FromStr for Step {
    type Err = String;

    fn from_str(line: &str) -> Result<Step, String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let wrong = || format!("`{line}` is no step of a script");
        match words.as_slice() {
            ["set_import", name, value] => {
                Ok(Step::SetImport((*name).to_owned(), Value::parse(value).ok_or_else(wrong)?))
            }
            ["set_thread_import", thread, name, value] => {
                let thread = thread_of(thread).ok_or_else(wrong)?;
                Ok(Step::SetThreadImport(thread, (*name).to_owned(), Value::parse(value).ok_or_else(wrong)?))
            }
            ["at", time] => match Value::parse(time) {
                Some(Value::Time(nanoseconds)) => Ok(Step::At(nanoseconds)),
                Some(Value::Int(_) | Value::Bool(_) | Value::Float(_)) | None => Err(wrong()),
            },
            ["ask", query, threads @ ..] => Ok(Step::Ask((*query).to_owned(), threads_of(threads).ok_or_else(wrong)?)),
            ["expire"] => Ok(Step::Expire),
            ["set_import" | "set_thread_import" | "ask" | "at" | "expire", ..] | [] => Err(wrong()),
            [event, threads @ ..] => Ok(Step::Raise((*event).to_owned(), threads_of(threads).ok_or_else(wrong)?)),
        }
    }
}

fn threads_of(words: &[&str]) -> Option<Vec<ThreadId>> {
    words.iter().map(|word| thread_of(word)).collect()
}

fn thread_of(word: &str) -> Option<ThreadId> {
    word.parse().ok().map(ThreadId)
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, threads) = match self {
            Step::Raise(event, threads) => (event.clone(), threads.as_slice()),
            Step::Ask(query, threads) => (format!("ask {query}"), threads.as_slice()),
            Step::At(nanoseconds) => (format!("at {}", Value::Time(*nanoseconds)), &[][..]),
            Step::Expire => ("expire".to_owned(), &[][..]),
            Step::SetImport(name, value) => (format!("set_import {name} {value}"), &[][..]),
            Step::SetThreadImport(thread, name, value) => {
                (format!("set_thread_import {} {name} {value}", thread.0), &[][..])
            }
        };
        out.write_str(&words)?;
        threads.iter().try_for_each(|thread| write!(out, " {}", thread.0))
    }
}
