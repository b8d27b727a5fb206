//! Resolves the names in a framework description.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::syntax::Feature;
use crate::syntax::ast::{Block, Name, StatementKind};
use crate::syntax::words::nearest;
use crate::vocabulary::At;

use super::reader::Draft;
use super::{Absent, Event, Framework, Pattern, Places, Running, Sequence, service};

/// A [`Pattern`] whose names are not resolved.
pub(super) enum NamedPattern {
    Name(Name),
    Then(Vec<NamedPattern>),
    Either(Vec<NamedPattern>),
    Many(Box<NamedPattern>),
    Maybe(Box<NamedPattern>),
}

/// The framework that a draft describes; `None` if lines are missing. Unknown names are reported.
pub(super) fn resolve(draft: Draft, diagnostics: &mut Diagnostics) -> Option<Framework> {
    duplicates(&draft, diagnostics);
    likes(&draft, diagnostics);
    for (_, event) in &draft.events {
        if let Absent::Body(body) = &event.absent {
            default_body(body, event, &draft, diagnostics);
        }
    }
    timers(&draft, diagnostics);
    let sequences = sequences(&draft, diagnostics);
    let (locks, semaphores) = service::resolve(&draft, diagnostics);
    let dialect = draft.dialect();
    let missing: Vec<&str> = [
        ("`abi NUMBER;`", draft.abi.is_none()),
        ("`language NAME;`", draft.language.is_none()),
        ("`int BITS;`", draft.int_bits.is_none()),
        ("`header \"FILE\";`", draft.header.is_none()),
        ("at least one `event`", draft.events.is_empty()),
    ]
    .into_iter()
    .filter_map(|(line, missing)| missing.then_some(line))
    .collect();
    if !missing.is_empty() {
        let title = format!("the description of `{}` lacks {}", draft.name.text, missing.join(", "));
        diagnostics.push(Diagnostic::error("E0204", title, draft.name.at, ""));
    }
    let ((language, language_at), (header, header_at)) = (draft.language?, draft.header?);
    Some(Framework {
        places: Places { name: draft.name.at, language: language_at, header: header_at },
        name: draft.name.text,
        abi: draft.abi?,
        language,
        int_bits: draft.int_bits?,
        capacity: draft.capacity,
        header,
        dialect,
        containers: draft.containers,
        properties: draft.properties,
        tells_any_property: draft.tells_any_property,
        of_nodes: Vec::new(),
        events: draft.events.into_iter().map(|(_, event)| event).collect(),
        timer: draft.timer.map(|(_, event)| event),
        unraised: draft.unraised.into_iter().map(|(_, event)| event).collect(),
        queries: draft.queries.into_iter().map(|(_, query)| query).collect(),
        sequences,
        hears: draft.hears.unwrap_or_default(),
        preempts: draft.preempts,
        locks,
        semaphores,
        builds: draft.builds,
        running: Running {
            by: draft.run_by.unwrap_or_default(),
            command: draft.command.unwrap_or_default(),
            ..draft.running
        },
    })
}

/// Timers need the type `time` and a timer event, which in turn needs timers. No other event has a name of its family.
fn timers(draft: &Draft, diagnostics: &mut Diagnostics) {
    let listed = |feature: Feature| draft.features.contains(&feature);
    let lacks = match &draft.timer {
        None if listed(Feature::Timers) => Some("a `timer event`, which `timers` in its dialect asks for"),
        Some(_) if !listed(Feature::Timers) => Some("`timers` in its dialect, which its timer event asks for"),
        _ if listed(Feature::Timers) && !listed(Feature::Time) => {
            Some("`time` in its dialect, which `timers` asks for")
        }
        Some(_) | None => None,
    };
    if let Some(lacks) = lacks {
        let title = format!("the description of `{}` lacks {lacks}", draft.name.text);
        diagnostics.push(Diagnostic::error("E0204", title, draft.name.at, ""));
    }
    let Some((family, _)) = &draft.timer else { return };
    for (name, _) in draft.events.iter().chain(&draft.unraised) {
        if name.text == family.text || super::covers(&format!("{}.*", family.text), &name.text) {
            let title = format!("`{}` could be the event of a timer", name.text);
            let taken = Diagnostic::error("E0203", title, name.at, "").related(family.at, "the timer event");
            diagnostics.push(taken.help("choose another name"));
        }
    }
}

/// Events, queries, sequences and containers have distinct names. Events and queries share theirs.
fn duplicates(draft: &Draft, diagnostics: &mut Diagnostics) {
    let mut raised: BTreeMap<&str, At> = BTreeMap::new();
    let raised_names = draft.events.iter().map(|(name, _)| name).chain(draft.queries.iter().map(|(name, _)| name));
    for name in raised_names.chain(draft.unraised.iter().map(|(name, _)| name)) {
        once(&mut raised, &name.text, name.at, diagnostics);
    }
    let mut sequences = BTreeMap::new();
    for (name, _) in &draft.sequences {
        once(&mut sequences, &name.text, name.at, diagnostics);
    }
    let mut containers = BTreeMap::new();
    for container in &draft.containers {
        once(&mut containers, &container.name, container.at, diagnostics);
    }
}

fn once<'a>(seen: &mut BTreeMap<&'a str, At>, name: &'a str, at: At, diagnostics: &mut Diagnostics) {
    if let Some(first) = seen.insert(name, at) {
        diagnostics.push(
            Diagnostic::error("E0203", format!("`{name}` is described twice"), at, "the second time")
                .related(first, "the first time"),
        );
    }
}

/// `default like e`: `e` exists, has as many parameters, and is not itself like another event.
fn likes(draft: &Draft, diagnostics: &mut Diagnostics) {
    for (index, like) in &draft.like {
        let Some(event) = draft.events.get(*index).map(|(_, event)| event) else {
            continue;
        };
        let Some((_, model)) = draft.events.iter().find(|(name, _)| name.text == like.text) else {
            unknown(like, draft.events.iter().map(|(name, _)| name.text.as_str()), diagnostics);
            continue;
        };
        if model.parameters.len() != event.parameters.len() {
            let title = format!("`{}` has another number of parameters than `{}`", model.name, event.name);
            diagnostics.push(Diagnostic::error("E0206", title, like.at, "").related(model.at, "declared here"));
        } else if matches!(model.absent, Absent::Like(_) | Absent::Optional) {
            let title = format!("`{}` may have no handler of its own", model.name);
            let help = "name an event that is required or has a default body";
            diagnostics
                .push(Diagnostic::error("E0206", title, like.at, "").related(model.at, "declared here").help(help));
        }
    }
}

/// A default handler moves its parameters to the framework's containers, or destroys them. It names nothing of a
/// policy.
fn default_body(body: &Block, event: &Event, draft: &Draft, diagnostics: &mut Diagnostics) {
    for statement in &body.statements {
        let (thread, destination) = match &statement.kind {
            StatementKind::Transfer { source, destination } => (source, Some(destination)),
            StatementKind::Destroy(thread) => (thread, None),
            StatementKind::Declare(_)
            | StatementKind::DeclareCursor(_)
            | StatementKind::Dispatch(_)
            | StatementKind::Assign { .. }
            | StatementKind::If { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Follow { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Return(_)
            | StatementKind::Leave(_)
            | StatementKind::Fail(_)
            | StatementKind::Call(_)
            | StatementKind::Verbatim { .. }
            | StatementKind::Block(_)
            | StatementKind::Lost => {
                let title = "a default handler can only move or destroy the threads of its event";
                diagnostics.push(
                    Diagnostic::error("E0206", title, statement.at, "").help("write `t => container;` or `destroy t;`"),
                );
                continue;
            }
        };
        for reference in [Some(thread), destination].into_iter().flatten() {
            if reference.index.is_some() {
                let title = "a framework has no arrays";
                diagnostics.push(Diagnostic::error("E0206", title, reference.at, "").help("name a container"));
            }
        }
        if !event.parameters.contains(&thread.name.text) {
            unknown(&thread.name, event.parameters.iter().map(String::as_str), diagnostics);
        }
        if let Some(destination) = destination
            && !draft.containers.iter().any(|container| container.name == destination.name.text)
        {
            unknown(&destination.name, draft.containers.iter().map(|container| container.name.as_str()), diagnostics);
        }
    }
}

fn sequences(draft: &Draft, diagnostics: &mut Diagnostics) -> Vec<Sequence> {
    let events: Vec<&str> = draft.events.iter().map(|(name, _)| name.text.as_str()).collect();
    let mut before = BTreeSet::new();
    let mut sequences = Vec::new();
    for (name, pattern) in &draft.sequences {
        let mut places = Vec::new();
        let pattern = resolve_pattern(pattern, &events, &before, &mut places, diagnostics);
        sequences.push(Sequence { name: name.text.clone(), pattern, at: name.at, places });
        // A sequence can name those before it only, so none contains itself.
        before.insert(name.text.as_str());
    }
    sequences
}

fn resolve_pattern(
    pattern: &NamedPattern,
    events: &[&str],
    before: &BTreeSet<&str>,
    places: &mut Vec<At>,
    diagnostics: &mut Diagnostics,
) -> Pattern {
    let mut one = |pattern: &NamedPattern| resolve_pattern(pattern, events, before, places, diagnostics);
    match pattern {
        NamedPattern::Then(steps) => Pattern::Then(steps.iter().map(one).collect()),
        NamedPattern::Either(alternatives) => Pattern::Either(alternatives.iter().map(one).collect()),
        NamedPattern::Many(inner) => Pattern::Many(Box::new(one(inner))),
        NamedPattern::Maybe(inner) => Pattern::Maybe(Box::new(one(inner))),
        NamedPattern::Name(name) => {
            let members: Vec<String> = events
                .iter()
                .filter(|event| super::covers(&name.text, event))
                .map(|event| (*event).to_owned())
                .collect();
            if !members.is_empty() {
                places.push(name.at);
                return Pattern::Event(members);
            }
            if !before.contains(name.text.as_str()) {
                unknown(name, events.iter().copied().chain(before.iter().copied()), diagnostics);
            }
            Pattern::Sequence(name.text.clone())
        }
    }
}

pub(super) fn unknown<'a>(name: &Name, known: impl IntoIterator<Item = &'a str>, diagnostics: &mut Diagnostics) {
    let known: Vec<&str> = known.into_iter().collect();
    let diagnostic =
        Diagnostic::error("E0202", format!("`{}` stands for nothing here", name.text), name.at, "unknown name");
    diagnostics.push(match nearest(&name.text, known.iter().copied()) {
        Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
        None if known.is_empty() => diagnostic,
        None => diagnostic.note(format!(
            "known here: {}",
            known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        )),
    });
}
