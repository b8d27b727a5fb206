//! The nodes of a scenario: `nodes big * 2 with { freeram = 64; }`.

use super::check::{Checker, MOST_PROCESSORS, near};
use super::reader::{AmountDraft, Given, Reader};
use crate::diagnostics::Diagnostic;
use crate::policy::{AttributeId, Family, Policy};
use crate::syntax::ast::{Expression, Name};
use crate::syntax::parser::Parse;
use crate::vocabulary::Value;

/// Processors that are nodes of one family.
#[derive(Clone, Debug, PartialEq)]
pub struct Nodes {
    /// Its number.
    pub family: usize,
    /// How many they are; at least 1.
    pub count: u32,
    /// What each of them tells of itself.
    pub properties: Vec<(AttributeId, Value)>,
}

/// As written.
#[derive(Debug)]
pub(super) struct NodesDraft {
    family: Name,
    count: Option<Expression>,
    values: Vec<Given>,
}

impl Reader<'_> {
    // Production: item.
    pub(super) fn nodes(&mut self) -> Parse<()> {
        self.parser.advance();
        let family = self.parser.name("the name of a family of nodes")?;
        let count = if self.parser.eat_sign("*") { Some(self.parser.expression()?) } else { None };
        let values = if self.parser.is_word("with") { self.values()? } else { Vec::new() };
        if values.is_empty() {
            self.parser.expect_semicolon()?;
        }
        self.draft.nodes.push(NodesDraft { family, count, values });
        Ok(())
    }
}

impl<'a> Checker<'a, '_> {
    /// The nodes that are written, if the policy has families. They say how many processors there are, even if not.
    pub(super) fn nodes(&mut self, processors: &mut u32) -> Vec<Nodes> {
        let draft = self.draft;
        let Some(policy) = self.subject.policies.first().copied() else { return Vec::new() };
        let counts: Vec<i64> = draft.nodes.iter().map(|written| self.number_of(written)).collect();
        if let (all @ 1.., Some(last)) = (counts.iter().sum::<i64>(), draft.nodes.last()) {
            if all > MOST_PROCESSORS {
                let title = format!("there are at most {MOST_PROCESSORS} nodes, and these are {all}");
                self.diagnostics.push(Diagnostic::error("E0704", title, last.family.at, "too many with these"));
            }
            *processors = u32::try_from(all.min(MOST_PROCESSORS)).unwrap_or(1);
        }
        let Some(families) = &policy.families else {
            if let Some(first) = draft.nodes.first() {
                let title = format!("the policy `{}` has no families of nodes", policy.name);
                let alone = Diagnostic::error("E0702", title, first.family.at, "");
                self.has_not(alone.help("leave `nodes` out, and say how many there are: `processors 4;`"));
                draft.nodes.iter().for_each(|written| self.are_used(written));
            }
            return Vec::new();
        };
        if draft.nodes.is_empty() {
            let names: Vec<&str> = families.names(policy).collect();
            let title = format!("it is not said of which families the nodes are, for the policy `{}`", policy.name);
            let none = Diagnostic::error("E0704", title, draft.name.at, "");
            let example: Vec<String> = names.iter().map(|name| format!("`nodes {name} * 2;`")).collect();
            self.diagnostics.push(none.help(format!("write {}", example.join(", "))));
        } else if let Some(setting) = draft.settings.iter().find(|setting| setting.word.text == "processors") {
            let title = "`nodes` say how many processors there are";
            let twice = Diagnostic::error("E0703", title, setting.word.at, "said again");
            let twice = twice.related(draft.nodes[0].family.at, "the first nodes");
            self.diagnostics.push(twice.help("leave `processors` out"));
        }
        let written = draft.nodes.iter().zip(counts);
        written.filter_map(|(written, count)| self.nodes_of(written, count, policy)).collect()
    }

    fn number_of(&mut self, draft: &'a NodesDraft) -> i64 {
        draft.count.as_ref().map_or(Some(1), |count| self.count(count, 1, MOST_PROCESSORS)).unwrap_or(1)
    }

    /// What is written of nodes of which nothing is judged may use a constant.
    fn are_used(&mut self, draft: &'a NodesDraft) {
        for given in &draft.values {
            if let AmountDraft::Written(value) = &given.value {
                self.is_used(value);
            }
        }
    }

    fn nodes_of(&mut self, draft: &'a NodesDraft, count: i64, policy: &Policy) -> Option<Nodes> {
        let families = policy.families.as_ref()?;
        let names: Vec<&str> = families.names(policy).collect();
        let Some(family) = names.iter().position(|name| *name == draft.family.text) else {
            let title = format!("the policy `{}` has no family `{}`", policy.name, draft.family.text);
            let unknown = Diagnostic::error("E0702", title, draft.family.at, "unknown family");
            let known: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let unknown = unknown.note(format!("it has {}", known.join(", ")));
            self.diagnostics.push(near(unknown, &draft.family, &names));
            return None;
        };
        let properties = self.properties(draft, policy, &families.all[family]);
        Some(Nodes { family, count: u32::try_from(count).ok()?, properties })
    }

    fn properties(&mut self, draft: &'a NodesDraft, policy: &Policy, family: &Family) -> Vec<(AttributeId, Value)> {
        let told = |id: &AttributeId| policy.attributes[id.0].name.as_str();
        let names: Vec<&str> = family.properties.iter().map(told).collect();
        let mut properties: Vec<(AttributeId, Value)> = Vec::new();
        for given in &draft.values {
            let Some(place) = names.iter().position(|name| *name == given.name.text) else {
                let title = format!("nodes of the family `{}` tell no `{}`", draft.family.text, given.name.text);
                let unknown = Diagnostic::error("E0702", title, given.name.at, "unknown property");
                self.diagnostics.push(near(unknown, &given.name, &names));
                continue;
            };
            let id = family.properties[place];
            if properties.iter().any(|(known, _)| *known == id) {
                let title = format!("`{}` is given twice", given.name.text);
                self.diagnostics.push(Diagnostic::error("E0703", title, given.name.at, "the second time"));
                continue;
            }
            let AmountDraft::Written(value) = &given.value else {
                let title = "a property of nodes is a constant".to_owned();
                self.diagnostics.push(Diagnostic::error("E0704", title, given.name.at, "from a file"));
                continue;
            };
            properties.extend(self.compute(value, policy.attributes[id.0].ty).map(|value| (id, value)));
        }
        let untold = family.properties.iter().filter(|id| properties.iter().all(|(known, _)| known != *id));
        if let Some(first) = untold.map(told).find(|name| draft.values.iter().all(|given| given.name.text != *name)) {
            let title = format!("it is not said what `{first}` is of these nodes");
            let lacks = Diagnostic::error("E0704", title, draft.family.at, "");
            self.diagnostics.push(lacks.help(format!("add `with {{ {first} = …; }}`")));
        }
        properties
    }
}
