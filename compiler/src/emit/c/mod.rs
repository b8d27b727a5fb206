//! C17 for hosts that build it freestanding.
//!
//! The file can be compiled by itself, or included by a dispatcher so that handlers inline into it. For the latter it
//! defines:
//! - `CATAPULTS_COMPILED_IN_HANDLERS`: the constant table of handlers, `fifo_handlers` (an object, not a pointer);
//! - `CATAPULTS_COMPILED_IN_INSTANCE`: the type of the scheduler's own data, `struct fifo`;
//! - `CATAPULTS_COMPILED_IN_THREAD`: the type of a thread, `struct fifo_thread`, whose first member is a
//!   `struct catapults_thread`;
//! - `CATAPULTS_COMPILED_IN_SHARED`, of a policy with nodes: the type of what all instances share, `struct fifo_shared`;
//! - `CATAPULTS_COMPILED_IN_NOW`, if the policy uses `now`: the member of the scheduler's own data that holds it;
//! - `CATAPULTS_COMPILED_IN_THREADIMPORT_NAME` for each variable NAME of threads that the policy imports.
//!
//! The framework's header declares the table, `struct NAME_handlers`: one function pointer for each event and query, named
//! like it with `_` for `.`. A handler that several events share is one function.

mod arrays;
mod contract;
mod declarations;
mod economy;
mod expression;
mod functions;
mod handler;
pub(super) mod hierarchy;
mod names;
mod nodes;
mod setup;
mod values;
mod verbatim;

use super::File;
use crate::framework::Framework;
use crate::policy::{ContainerKind, Entity, Policy, StateClass, Type};
use crate::verify::Verified;
use names::Names;
use std::fmt::Write;

/// `CATAPULTS_CONTRACT` of `catapults/policy.h`, whose tables are written here. That header is the host's: without a look at
/// its version a table that lacks what a newer one has would be taken for a whole one.
const CONTRACT: u32 = 11;

/// How generated code and its host find one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// By a table of handlers, which are given the scheduler's own data: it can be loaded, and there can be several.
    Loaded,
    /// By name: the host includes the file in each of its own that raises events. There is one scheduler, an object with a fixed
    /// address; what the policy imports is in it and in the threads, and the application sets it there.
    Embedded,
}

impl Style {
    /// The scheduler's own data, up to the name of a member.
    fn of_self(self) -> &'static str {
        match self {
            Style::Loaded => "self->",
            Style::Embedded => "self.",
        }
    }

    /// The highest number that a thread can keep of its container; 0 says that it is in none.
    pub(super) fn most_containers(self) -> usize {
        match self {
            Style::Loaded => usize::from(u16::MAX),
            Style::Embedded => usize::from(u8::MAX),
        }
    }

    /// What functions that are to be inlined begin with.
    fn inline(self) -> &'static str {
        match self {
            Style::Loaded => "static inline",
            Style::Embedded => "CATAPULTS_INLINE",
        }
    }

    /// What a stop says; a small host keeps no texts.
    fn text(self, text: &str) -> String {
        match self {
            Style::Loaded => string(text),
            Style::Embedded => format!("CATAPULTS_TEXT({})", string(text)),
        }
    }
}

/// One translation unit.
pub(super) fn emit(verified: &Verified<Policy>, framework: &Framework, style: Style) -> File {
    one(verified, framework, style, None)
}

/// See [`super::traced`].
pub(super) fn traced(file: &str) -> File {
    let stem = file.trim_end_matches(".c");
    let text = format!(
        "/*\n * {} once more, for hosts that record why threads are moved: see CATAPULTS_TRACED in catapults/policy.h.\n */\n\
         #define CATAPULTS_TRACED\n\n#include {}\n",
        comment(file),
        string(file)
    );
    File { name: format!("{stem}-traced.c"), text }
}

/// The same; `within`: what it is called among the policies of a hierarchy.
fn one(verified: &Verified<Policy>, framework: &Framework, style: Style, within: Option<&str>) -> File {
    let framework = &framework.as_met(verified.policy().timers(), verified.policy().has_nodes());
    let mut unit = Unit {
        verified,
        policy: verified.policy(),
        framework,
        names: Names::new(verified.policy(), style),
        text: String::new(),
        definitions: String::new(),
    };
    let (functions, table, timeouts) = functions::functions(verified, framework, &mut unit.names);
    unit.head();
    unit.constants();
    unit.numbers();
    unit.shared();
    unit.instance();
    unit.thread();
    unit.node();
    unit.orders();
    if functions.uses_take {
        unit.take(Entity::Thread);
    }
    if functions.uses_take_node {
        unit.take(Entity::Node);
    }
    let helpers = arrays::definitions(unit.policy, &unit.names, &functions.helpers);
    unit.put(&helpers);
    let ways_in = economy::ways_in(unit.policy, &unit.names);
    unit.put(&ways_in);
    let loops = economy::loops(&unit.names);
    unit.put(&loops);
    unit.text.push_str(&functions.text);
    let start = unit.start();
    let adopt = unit.adopt();
    let of_nodes = unit.of_nodes();
    match style {
        Style::Loaded => unit.tail(within, &table, &timeouts, &start, &adopt, &of_nodes),
        Style::Embedded => unit.for_host(&table, &timeouts, &functions.never_stop, &start, &adopt),
    }
    File { name: format!("{}.c", unit.policy.name), text: unit.text }
}

struct Unit<'a> {
    verified: &'a Verified<Policy>,
    policy: &'a Policy,
    framework: &'a Framework,
    names: Names,
    text: String,
    /// Of an embedded policy: what one file of the host has.
    definitions: String,
}

impl Unit<'_> {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn head(&mut self) {
        let policy = self.policy;
        let source = comment(&policy.source);
        self.put(&format!(
            "/*\n * {}: translated from {source} for the framework {}. Change that file, not this one.\n */\n",
            policy.name, policy.framework
        ));
        if self.names.style == Style::Embedded {
            self.put("#ifndef CATAPULTS_TRANSLATED\n#define CATAPULTS_TRANSLATED\n\n");
        }
        self.put(&format!("#include {}\n\n", string(&self.framework.header)));
        for header in ["list", "slot", "sorted", "values"] {
            self.put(&format!("#include \"catapults/{header}.h\"\n"));
        }
        if policy.uses(Type::Float) {
            self.put("#include \"catapults/floats.h\"\n");
        }
        if self.policy.timers().next().is_some() {
            self.put("#include \"catapults/timers.h\"\n");
        }
        if policy.has_nodes() {
            self.put("#include \"catapults/nodes.h\"\n");
        }
        self.put("\n");
        // A small host is built with its policy in it, from one source.
        if self.names.style == Style::Loaded {
            self.put(&format!(
                "_Static_assert(CATAPULTS_CONTRACT == {CONTRACT}, \"translated for another version of catapults/policy.h\");\n"
            ));
        }
        self.put(&format!(
            "_Static_assert(sizeof(catapults_int) * 8 == {}, \"`int` has another width in this host\");\n",
            policy.int_bits
        ));
        for preamble in &policy.preamble {
            let text = verbatim::lines(&preamble.text).join("\n");
            self.put(&format!("\n/* {source}:{} */\n{text}\n", preamble.at.line));
        }
    }
}

/// What the containers of an unsorted kind are called: a stack has no last thread that a small host would keep.
fn list(style: Style, kind: &ContainerKind) -> &'static str {
    if style == Style::Embedded && *kind == ContainerKind::Stack { "stack" } else { "list" }
}

/// What a small sorted container must know of a thread that enters: whether it goes behind its equals.
fn ties_at_entry(style: Style, kind: &ContainerKind) -> String {
    match style {
        Style::Loaded => String::new(),
        Style::Embedded => format!(", {}", ties(kind)),
    }
}

/// Which of equal keys leaves a sorted container first.
fn ties(kind: &ContainerKind) -> &'static str {
    match kind {
        ContainerKind::Pstack(_) | ContainerKind::Stack => "CATAPULTS_LIFO",
        ContainerKind::Pqueue(_) | ContainerKind::Queue | ContainerKind::Threadref => "CATAPULTS_FIFO",
    }
}

fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Int => "catapults_int",
        Type::Bool => "bool",
        Type::Time => "catapults_time",
        Type::Float => "double",
    }
}

fn zero(ty: Type) -> &'static str {
    match ty {
        Type::Int | Type::Time => "0",
        Type::Float => "0.0",
        Type::Bool => "false",
    }
}

fn class(class: StateClass) -> &'static str {
    match class {
        StateClass::Running => "RUNNING",
        StateClass::Ready => "READY",
        StateClass::Blocked => "BLOCKED",
        StateClass::Terminated => "TERMINATED",
    }
}

/// A string literal. `?` is escaped because of trigraphs.
fn string(text: &str) -> String {
    let mut literal = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' | '?' => {
                literal.push('\\');
                literal.push(character);
            }
            control if control.is_ascii_control() => {
                let _ = write!(literal, "\\{:03o}", u32::from(control));
            }
            other => literal.push(other),
        }
    }
    literal.push('"');
    literal
}

/// Text that cannot end a comment.
fn comment(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *").replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::CONTRACT;

    #[test]
    fn the_contract_is_that_of_the_header() {
        let header = include_str!("../../../../frameworks/shared/catapults/policy.h");
        assert!(header.contains(&format!("#define CATAPULTS_CONTRACT {CONTRACT}u\n")));
    }
}
