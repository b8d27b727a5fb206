//! Scripts: what a host and an application do to a policy, one step per line, and what the policy decides.
//!
//! ```text
//! newthread 1
//! arrival 1
//! node 1
//! set_property 1 load 5
//! at 20ms
//! expire
//! set_import connections 5
//! set_thread_import 1 bytesleft 100
//! read_import connections 5 0
//! read_thread_import 1 bytesleft 100 50
//! draw 0 2
//! schedule
//! block.io.read 1
//! ask threads_ready
//! ```
//!
//! With several threads that run at once in one instance, `running 1` says which of them the following events find
//! RUNNING there, and `running none` that they find none. `take 1` takes a thread from where it is: it comes anew.
//!
//! With nodes, what follows `node 1` is for the instance of that node. Threads and nodes are numbered separately.
//!
//! A decision is the step, ` -> `, and its result: `schedule -> 1`, `dispatch 3 -> 3 to node 1`, `newthread 2 -> fail
//! too many threads`, `schedule -> guard 12 text`, `ask threads_ready -> 4`. A step without a result, such as an event
//! that dispatches no thread, is no decision. Every target that runs a script must make the interpreter's decisions
//! ([`perform`]).

use std::fmt;
use std::str::FromStr;

use catapults_compiler::interp::{Machine, Position, Stop, ThreadId, Variables};
use catapults_compiler::policy::{Attribute, AttributeId, Entity, LocalKind, Policy, Value};

/// A line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// `block.io.read 1`: an event. A number that no living thread has is that of a new thread in hand.
    Raise(String, Vec<ThreadId>),
    /// `node 1`: the following events of threads, and queries, are for the instance of this node.
    Enter(u32),
    /// `set_property 1 load 5`: the host sets a property of a node. A number that no node has is that of a new one.
    SetProperty(u32, String, Value),
    /// `ask is_ready 1`: a query.
    Ask(String, Vec<ThreadId>),
    /// `at 20ms`: sets the time, which starts at 0. The clock of a host never goes back.
    At(i64),
    /// `expire`: the next timer expires, if its instant has come: `expire -> timeout.slice 1` or `expire -> nothing`.
    Expire,
    /// `set_import connections 5`: the application assigns a variable.
    SetImport(String, Value),
    /// `set_thread_import 1 bytesleft 100`: the application assigns a variable of a thread.
    SetThreadImport(ThreadId, String, Value),
    /// `read_import connections 5 0`, `read_thread_import 1 bytesleft 100 50`: the next reads of a variable find these
    /// values in turn, because the application changes it meanwhile. The last one stays.
    LetRead(Option<ThreadId>, String, Vec<Value>),
    /// `running 1`, `running none`: of the threads that run, the following events find this one. Only the interpreter
    /// follows this.
    Show(Option<ThreadId>),
    /// `take 1`: the host takes the thread from where it is; the event of a thread that comes follows. Only the
    /// interpreter follows this.
    Take(ThreadId),
    /// `draw 0 2`: the next numbers that `random` gives. Only the interpreter follows this; hosts draw themselves.
    LetDraw(Vec<i64>),
}

/// Performs a step. A refused new thread is discarded.
///
/// # Errors
/// Those of [`Machine::raise`] and [`Machine::ask`]; [`Stop::Misuse`] if the step is impossible for this policy.
pub fn perform(
    machine: &mut Machine,
    application: &mut Variables,
    policy: &Policy,
    step: &Step,
) -> Result<Option<String>, Stop> {
    match step {
        Step::Raise(event, threads) => {
            let threads = &named(policy, event, threads);
            for thread in threads.iter().filter(|thread| machine.position(**thread).is_none()).collect::<Vec<_>>() {
                machine.spawn(*thread)?;
            }
            let result = machine.raise(event, threads, application);
            if matches!(result, Err(Stop::Fail { .. })) {
                let refused = threads.iter().filter(|thread| machine.position(**thread) == Some(Position::Hand));
                refused.collect::<Vec<_>>().into_iter().for_each(|thread| machine.discard(*thread));
            }
            let dispatched = result?.map(|thread| thread.0.to_string());
            let sent = machine.take_sent();
            let sent = sent.iter().map(|(thread, node)| format!("{} to {node}", thread.0));
            let outcome: Vec<String> = dispatched.into_iter().chain(sent).collect();
            Ok((!outcome.is_empty()).then(|| format!("{step} -> {}", outcome.join(", "))))
        }
        Step::Enter(node) => machine.enter(ThreadId::of_node(*node)).map(|()| None),
        Step::SetProperty(node, name, value) => {
            let such = |attribute: &Attribute| attribute.of == Entity::Node && attribute.name == *name;
            let property = policy.attributes.iter().position(such);
            let property = property.filter(|index| policy.attributes[*index].ty == value.ty());
            let property = property.ok_or_else(|| Stop::Misuse(format!("nodes have no such `{name}`")))?;
            let node = ThreadId::of_node(*node);
            if machine.position(node).is_none() {
                machine.spawn(node)?;
            }
            machine.set_property(node, AttributeId(property), *value).map(|()| None)
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
        Step::LetRead(thread, name, values) => {
            application.let_read(policy, *thread, name, values).map(|()| None).map_err(Stop::Misuse)
        }
        Step::Show(thread) => machine.show(*thread).map(|()| None),
        Step::Take(thread) => machine.take(*thread).map(|()| None),
        Step::LetDraw(numbers) => {
            application.let_draw(numbers);
            Ok(None)
        }
    }
}

/// The threads that a decision sends to nodes, each with its node.
pub fn sent(decision: &str) -> Vec<(ThreadId, ThreadId)> {
    let outcome = decision.split_once(" -> ").map_or("", |(_, outcome)| outcome);
    let one = |part: &str| {
        let (thread, node) = part.split_once(" to node ")?;
        Some((ThreadId(thread.parse().ok()?), ThreadId::of_node(node.parse().ok()?)))
    };
    outcome.split(", ").filter_map(one).collect()
}

/// The threads and nodes that an event names.
fn named(policy: &Policy, event: &str, numbers: &[ThreadId]) -> Vec<ThreadId> {
    let handler = policy.events.iter().find(|handler| handler.name == event);
    let is_node = |index: usize| {
        handler.and_then(|handler| handler.locals.get(index)).is_some_and(|local| local.kind == LocalKind::Node)
    };
    let one = |(index, id): (usize, &ThreadId)| if is_node(index) { ThreadId::of_node(id.0) } else { *id };
    numbers.iter().enumerate().map(one).collect()
}

/// The steps of a script, one per line. Empty lines are skipped.
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
            ["read_import", name, values @ ..] if !values.is_empty() => {
                Ok(Step::LetRead(None, (*name).to_owned(), values_of(values).ok_or_else(wrong)?))
            }
            ["read_thread_import", thread, name, values @ ..] if !values.is_empty() => {
                let thread = thread_of(thread).ok_or_else(wrong)?;
                Ok(Step::LetRead(Some(thread), (*name).to_owned(), values_of(values).ok_or_else(wrong)?))
            }
            ["draw", numbers @ ..] if !numbers.is_empty() => {
                let numbers: Result<Vec<i64>, _> = numbers.iter().map(|number| number.parse()).collect();
                numbers.map(Step::LetDraw).map_err(|_| wrong())
            }
            ["running", "none"] => Ok(Step::Show(None)),
            ["running", thread] => Ok(Step::Show(Some(thread_of(thread).ok_or_else(wrong)?))),
            ["take", thread] => Ok(Step::Take(thread_of(thread).ok_or_else(wrong)?)),
            ["node", node] => Ok(Step::Enter(thread_of(node).ok_or_else(wrong)?.0)),
            ["set_property", node, name, value] => {
                let node = thread_of(node).ok_or_else(wrong)?.0;
                Ok(Step::SetProperty(node, (*name).to_owned(), Value::parse(value).ok_or_else(wrong)?))
            }
            ["at", time] => match Value::parse(time) {
                Some(Value::Time(nanoseconds)) => Ok(Step::At(nanoseconds)),
                Some(Value::Int(_) | Value::Bool(_) | Value::Float(_)) | None => Err(wrong()),
            },
            ["ask", query, threads @ ..] => Ok(Step::Ask((*query).to_owned(), threads_of(threads).ok_or_else(wrong)?)),
            ["expire"] => Ok(Step::Expire),
            [
                "set_import" | "set_thread_import" | "read_import" | "read_thread_import" | "set_property" | "draw"
                | "running" | "take" | "node" | "ask" | "at" | "expire",
                ..,
            ]
            | [] => Err(wrong()),
            [event, threads @ ..] => Ok(Step::Raise((*event).to_owned(), threads_of(threads).ok_or_else(wrong)?)),
        }
    }
}

fn values_of(words: &[&str]) -> Option<Vec<Value>> {
    words.iter().map(|word| Value::parse(word)).collect()
}

fn threads_of(words: &[&str]) -> Option<Vec<ThreadId>> {
    words.iter().map(|word| thread_of(word)).collect()
}

fn thread_of(word: &str) -> Option<ThreadId> {
    word.parse().ok().filter(|number| *number < 1 << 31).map(ThreadId)
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, threads) = match self {
            Step::Raise(event, threads) => (event.clone(), threads.as_slice()),
            Step::Show(thread) => {
                (format!("running {}", thread.map_or("none".to_owned(), |one| one.0.to_string())), &[][..])
            }
            Step::Take(thread) => (format!("take {}", thread.0), &[][..]),
            Step::Enter(node) => (format!("node {node}"), &[][..]),
            Step::SetProperty(node, name, value) => (format!("set_property {node} {name} {value}"), &[][..]),
            Step::Ask(query, threads) => (format!("ask {query}"), threads.as_slice()),
            Step::At(nanoseconds) => (format!("at {}", Value::Time(*nanoseconds)), &[][..]),
            Step::Expire => ("expire".to_owned(), &[][..]),
            Step::SetImport(name, value) => (format!("set_import {name} {value}"), &[][..]),
            Step::SetThreadImport(thread, name, value) => {
                (format!("set_thread_import {} {name} {value}", thread.0), &[][..])
            }
            Step::LetRead(thread, name, values) => {
                let values: Vec<String> = values.iter().map(Value::to_string).collect();
                let values = values.join(" ");
                match thread {
                    None => (format!("read_import {name} {values}"), &[][..]),
                    Some(thread) => (format!("read_thread_import {} {name} {values}", thread.0), &[][..]),
                }
            }
            Step::LetDraw(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(i64::to_string).collect();
                (format!("draw {}", numbers.join(" ")), &[][..])
            }
        };
        out.write_str(&words)?;
        threads.iter().try_for_each(|thread| write!(out, " {}", thread.0))
    }
}
