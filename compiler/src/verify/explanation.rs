//! Explains how a handler comes to a bad end, as Bossa does (2005, §4.2): the rules of the event type, the steps of one
//! path in order, and what the containers hold before and after.

use std::collections::BTreeSet;

use super::flow::{self, End, Flow, Paths};
use super::situation::Situation;
use super::state::{Spot, State, Step};
use super::{Handling, alternatives};
use crate::diagnostics::Diagnostic;
use crate::policy::{ContainerId, Entity, LocalId, Owner};

/// An explanation follows at most this many paths at once.
const PATHS: usize = 256;

impl Handling<'_> {
    /// Adds to a diagnostic how a bad end is reached.
    pub(super) fn explained(
        &self,
        diagnostic: Diagnostic,
        situation: &Situation,
        end: &End,
        bad: impl Fn(&End) -> bool,
    ) -> Diagnostic {
        // The same end reached on a single path, of which more is known.
        let found = self.explained_paths(situation).ends.iter().find(|end| bad(end));
        let last = &found.unwrap_or(end).state;
        let mut diagnostic = along(diagnostic, &last.path);
        if let Some(rules) = self.rules() {
            diagnostic = diagnostic
                .note(rules)
                .note(format!("before: {}", self.picture(&situation.start)))
                .note(format!("after: {}", self.picture(last)));
        }
        diagnostic
    }

    /// The paths kept apart, each with its steps.
    pub(super) fn explained_paths<'s>(&self, situation: &'s Situation) -> &'s Flow {
        let follow = || flow::follow(self.course, situation.start.clone(), Paths::Explained(PATHS));
        situation.paths.get_or_init(follow)
    }

    /// The type of the event, as the framework states it; `None` if it has none.
    pub(super) fn rules(&self) -> Option<String> {
        let event = self.event.filter(|event| !event.rules.is_empty())?;
        let rules: Vec<String> = event.rules.iter().map(|rule| rule.text(&event.parameters)).collect();
        Some(format!("the type of `{}` is {{ {} }}", self.handler.written, rules.join(" | ")))
    }

    /// A state in words: where the threads are that the event names, and which containers are empty or hold threads.
    pub(super) fn picture(&self, state: &State) -> String {
        let mut facts = Vec::new();
        for local in (0..self.handler.parameters).map(LocalId) {
            let places = state.places(local).into_iter().flatten().map(|spot| match spot {
                Spot::Hand => "in no container yet".to_owned(),
                Spot::In(container) => {
                    format!("in {} ({})", self.name(*container), self.container(*container).class.word())
                }
                Spot::Elsewhere => "running on another processor".to_owned(),
                Spot::Gone if self.sends() => "on its way to a node".to_owned(),
                Spot::Gone => "destroyed".to_owned(),
            });
            facts.push(format!("{} is {}", self.local(local), alternatives(&places.collect::<Vec<_>>())));
        }
        let containers = self.policy.containers.iter().enumerate();
        // A handler sees containers of threads or those of nodes.
        let seen = if self.handler.global { Entity::Node } else { Entity::Thread };
        let own = containers.filter(|(_, container)| container.owner == Owner::Policy && container.holds == seen);
        for (index, container) in own {
            let what = container.holds.word();
            let size = state.size(ContainerId(index));
            let named = |local: LocalId| state.places(local) == Some(&BTreeSet::from([Spot::In(ContainerId(index))]));
            if size.least == 1 && (0..self.handler.parameters).map(LocalId).any(named) {
                continue;
            }
            let holds = match (size.least, size.most) {
                (_, Some(0)) => "is empty".to_owned(),
                (0, _) => continue,
                (1, Some(1)) => format!("holds one {what}"),
                (least, Some(most)) if least == most => format!("holds {least} {what}s"),
                (1, _) => format!("holds a {what}"),
                (least, _) => format!("holds {least} {what}s or more"),
            };
            facts.push(format!("`{}` ({}) {holds}", container.name, container.class.word()));
        }
        if facts.is_empty() { "nothing is known".to_owned() } else { facts.join(", ") }
    }
}

/// Adds the steps that lead to the place of a diagnostic.
pub(super) fn along(mut diagnostic: Diagnostic, path: &[Step]) -> Diagnostic {
    for (number, step) in path.iter().enumerate() {
        diagnostic = diagnostic.related(step.at, format!("{}. {}", number + 1, step.what));
    }
    diagnostic
}
