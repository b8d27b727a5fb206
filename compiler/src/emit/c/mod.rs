//! C17 for hosts that build it freestanding.
//!
//! The file can be compiled by itself, or included by a dispatcher so that handlers inline into it. For the latter it
//! defines:
//! - `CATAPULTS_COMPILED_IN_HANDLERS`: the constant table of handlers, `fifo_handlers` (an object, not a pointer);
//! - `CATAPULTS_COMPILED_IN_INSTANCE`: the type of the scheduler's own data, `struct fifo`;
//! - `CATAPULTS_COMPILED_IN_THREAD`: the type of a thread, `struct fifo_thread`, whose first member is a
//!   `struct catapults_thread`;
//! - `CATAPULTS_COMPILED_IN_SHARED`, with nodes: the type of what all instances share, `struct fifo_shared`;
//! - `CATAPULTS_COMPILED_IN_NOW`, if the policy uses `now`: the member of the scheduler's own data that holds it;
//! - `CATAPULTS_COMPILED_IN_THREADIMPORT_NAME` for each variable NAME of threads that the policy imports.
//!
//! The framework's header declares the table, `struct NAME_handlers`: a function pointer for each event and query, with
//! its name, but `_` for `.`. A handler that several events share is one function.

mod arrays;
mod contract;
mod declarations;
mod economy;
mod expression;
mod functions;
mod handler;
mod hierarchy;
mod host;
mod links;
mod names;
mod nodes;
mod setup;
mod values;
mod verbatim;

use super::language::Language;
use super::{Abilities, File, Part};
use crate::framework::Framework;
use crate::hierarchy::Hierarchy;
use crate::policy::{ContainerKind, Entity, Policy, StateClass, Type};
use crate::verify::Verified;
use host::{Contract, Handlers, Host, Instance, Memory};
use names::Names;
use std::fmt::Write;

/// `CATAPULTS_CONTRACT` of `catapults/policy.h`, whose tables are written here. That header is the host's: unless its
/// version is checked, a table without the members of a newer version would pass as complete.
const CONTRACT: u32 = 12;

/// Dialects of C. Another one is another line.
pub(super) const LANGUAGES: &[&dyn Language] = &[
    &C { name: "c", host: Host::new(Instance::Pointer, Handlers::Table, Contract::Shared, Memory::Own) },
    &C { name: "embedded_c", host: Host::new(Instance::Object, Handlers::Name, Contract::Small, Memory::Own) },
    &C { name: "bpf_c", host: Host::new(Instance::Pointer, Handlers::Name, Contract::Shared, Memory::Arena) },
];

struct C {
    name: &'static str,
    host: Host,
}

impl Language for C {
    fn name(&self) -> &'static str {
        self.name
    }

    fn abilities(&self) -> Abilities {
        let described = self.host.describes();
        Abilities {
            loaded: described,
            hierarchies: described,
            nodes: described,
            families: false,
            timers: true,
            verbatim: true,
            most_containers: self.host.contract.most_containers(),
        }
    }

    fn policy(&self, policy: &Verified<Policy>, framework: &Framework) -> Vec<File> {
        let name = format!("{}.c", policy.policy().name);
        both(name, unit(policy, framework, self.host, None)).into()
    }

    fn hierarchy(&self, hierarchy: &Hierarchy, framework: &Framework) -> Vec<File> {
        hierarchy::files(hierarchy, framework, self.host)
    }

    fn is_generated(&self, start: &str) -> bool {
        start.starts_with("/*\n * ") && [HEADING, TRACED_HEADING].iter().any(|heading| start.contains(heading))
    }
}

/// What a translation says about itself in its first lines, and what its twin says.
const HEADING: &str = "Change that file, not this one.";
const TRACED_HEADING: &str = "once more, for hosts that record why threads are moved";

/// A source, and a file that includes it as its traced twin.
fn both(name: String, text: String) -> [File; 2] {
    let again = format!(
        "/*\n * {} {TRACED_HEADING}: see CATAPULTS_TRACED in catapults/policy.h.\n */\n\
         #define CATAPULTS_TRACED\n\n#include {}\n",
        comment(&name),
        string(&name)
    );
    let traced = format!("{}-traced.c", name.trim_end_matches(".c"));
    [File { name, text, part: Part::Source }, File { name: traced, text: again, part: Part::Traced }]
}

/// A translation unit. `within`: its name among the policies of a hierarchy.
fn unit(verified: &Verified<Policy>, framework: &Framework, host: Host, within: Option<&str>) -> String {
    let framework = &framework.as_met(verified.policy().timers(), verified.policy().has_nodes());
    let mut unit = Unit {
        verified,
        policy: verified.policy(),
        framework,
        names: Names::new(verified.policy(), host),
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
    unit.links();
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
    match host.handlers {
        Handlers::Table => unit.tail(within, &table, &timeouts, &start, &adopt, &of_nodes),
        Handlers::Name => unit.for_host(&table, &timeouts, &functions.never_stop, &start, &adopt),
    }
    unit.text
}

struct Unit<'a> {
    verified: &'a Verified<Policy>,
    policy: &'a Policy,
    framework: &'a Framework,
    names: Names,
    text: String,
    /// For a file that is included: what one file of the host defines.
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
            "/*\n * {}: translated from {source} for the framework {}. {HEADING}\n */\n",
            policy.name, policy.framework
        ));
        if self.names.host.handlers == Handlers::Name {
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
        if !policy.links.is_empty() {
            self.put("#include \"catapults/links.h\"\n");
        }
        if policy.uses_random() {
            self.put("#include \"catapults/random.h\"\n");
        }
        if policy.tells() && self.names.host.memory == Memory::Own {
            self.put("#include \"catapults/told.h\"\n");
        }
        if policy.has_nodes() {
            self.put("#include \"catapults/nodes.h\"\n");
        }
        self.put("\n");
        // A small host is built with its policy, from one source.
        if self.names.host.contract == Contract::Shared {
            self.put(&format!(
                "_Static_assert(CATAPULTS_CONTRACT == {CONTRACT}, \"translated for another version of catapults/policy.h: use the command and the headers of one version\");\n"
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

/// Which thread leaves a sorted container first if keys are equal.
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
mod tests;
