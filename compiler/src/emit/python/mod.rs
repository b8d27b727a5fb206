//! Python, for hosts that are written in it.
//!
//! The module imports what it needs from the module that the framework's header names. It defines a class of threads, one
//! of schedulers with a method for each event and query (`_` for `.`), and in policies with nodes a class of nodes and one
//! of what all nodes share. `POLICY` is the class of schedulers, and `ABI` the version of the host's table of handlers.

mod classes;
mod expression;
mod handler;
mod names;

use super::language::Language;
use super::{Abilities, File, Part};
use crate::framework::Framework;
use crate::hierarchy::Hierarchy;
use crate::policy::{Policy, Type};
use crate::verify::Verified;
use names::{HELPERS, Names};
use std::collections::BTreeSet;

/// The only one.
pub(super) const LANGUAGES: &[&dyn Language] = &[&Python];

struct Python;

impl Language for Python {
    fn name(&self) -> &'static str {
        "python"
    }

    fn abilities(&self) -> Abilities {
        Abilities {
            loaded: false,
            hierarchies: false,
            nodes: true,
            families: true,
            timers: false,
            verbatim: false,
            most_containers: usize::MAX,
        }
    }

    fn policy(&self, policy: &Verified<Policy>, framework: &Framework) -> Vec<File> {
        let name = format!("{}.py", policy.policy().name);
        vec![File { name, text: module(policy, framework), part: Part::Source }]
    }

    fn hierarchy(&self, _: &Hierarchy, _: &Framework) -> Vec<File> {
        Vec::new()
    }

    fn is_generated(&self, start: &str) -> bool {
        start.starts_with("\"\"\"") && start.contains(HEADING)
    }
}

/// What a translation says about itself in its first lines.
const HEADING: &str = "Change that file, not this one.";

/// A module that is being written.
struct Unit<'a> {
    verified: &'a Verified<Policy>,
    policy: &'a Policy,
    framework: &'a Framework,
    names: Names,
    /// What is imported.
    helpers: BTreeSet<&'static str>,
}

fn module(verified: &Verified<Policy>, framework: &Framework) -> String {
    let policy = verified.policy();
    let framework = &framework.as_met(policy.timers(), policy.has_nodes());
    let mut unit = Unit { verified, policy, framework, names: Names::new(policy, framework), helpers: BTreeSet::new() };
    let constants = unit.constants();
    let mut classes = unit.thread();
    if policy.has_nodes() {
        classes.push_str(&unit.node());
        classes.push_str(&unit.shared());
    }
    classes.push_str(&unit.scheduler());
    let heading = format!(
        "\"\"\"{}: translated from {} for the framework {}. {HEADING}\"\"\"\n",
        policy.name,
        escaped(&policy.source),
        policy.framework
    );
    let from = framework.header.trim_end_matches(".py").replace('/', ".");
    let imported = HELPERS.iter().filter(|name| **name != "Final" && unit.helpers.contains(*name));
    let imported = imported.map(|name| format!("    {name},\n")).collect::<String>();
    let typing = if unit.helpers.contains("Final") { "from typing import Final\n\n" } else { "" };
    let last = format!("\n\nABI = {}\nPOLICY = {}\n", framework.abi, unit.names.scheduler);
    format!(
        "{heading}\nfrom __future__ import annotations\n\n{typing}from {from} import (\n{imported})\n{constants}{classes}{last}"
    )
}

fn zero(ty: Type) -> &'static str {
    match ty {
        Type::Int | Type::Time => "0",
        Type::Float => "0.0",
        Type::Bool => "False",
    }
}

/// A string literal.
fn string(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Text within a string literal.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                escaped.push('\\');
                escaped.push(character);
            }
            control if control.is_control() => escaped.push_str(&format!("\\U{:08x}", u32::from(control))),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests;
