//! On every path, a handler leaves its event's threads where the event type says (2005, §4.2; Bossa 2005, §3).

use std::collections::HashMap;

use super::flow::{End, EndKind};
use super::state::Spot;
use super::{Handling, alternatives};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::{Move, Rule, Stage};
use crate::policy::{At, ContainerKind, LocalId, Owner, StateClass};

pub(super) fn check(handling: &Handling, diagnostics: &mut Diagnostics) {
    if handling.handler.returns.is_some() {
        return;
    }
    // An error at an end is reported once, whatever the situations.
    let mut said: Vec<(Option<Stage>, Diagnostic)> = Vec::new();
    let mut places: HashMap<(LocalId, At), Vec<usize>> = HashMap::new();
    for (situation, end) in handling.bad_ends(|situation, end| is_bad(handling, &situation.rules, end)) {
        let end = &end;
        let bad = |other: &End| other.at == end.at && is_bad(handling, &situation.rules, other);
        for parameter in (0..handling.handler.parameters).map(LocalId) {
            let rule = situation.rules.first().copied();
            if misplaced(handling, rule, parameter, end).next().is_none() {
                continue;
            }
            let wanted = rule.and_then(|rule| demanded(rule, parameter));
            let here = places.entry((parameter, end.at)).or_default();
            let known = here.iter().find(|index| said.get(**index).is_some_and(|(known, _)| *known == wanted));
            if let Some((_, diagnostic)) = known.and_then(|index| said.get_mut(*index)) {
                diagnostic.notes.push(format!("also before: {}", handling.picture(&situation.start)));
                continue;
            }
            let diagnostic = report(handling, rule, parameter, end);
            let diagnostic = handling.explained(diagnostic, situation, end, bad);
            here.push(said.len());
            said.push((wanted, diagnostic.help(advice(handling, parameter, rule))));
        }
    }
    said.into_iter().for_each(|(_, diagnostic)| diagnostics.push(diagnostic));
}

/// Whether an end satisfies no rule.
fn is_bad(handling: &Handling, rules: &[&Rule], end: &End) -> bool {
    // A refused request leaves the thread with the host.
    if end.kind == EndKind::Fail {
        return false;
    }
    let satisfied = |rule: Option<&Rule>| {
        let mut parameters = (0..handling.handler.parameters).map(LocalId);
        parameters.all(|parameter| misplaced(handling, rule, parameter, end).next().is_none())
    };
    if rules.is_empty() { !satisfied(None) } else { !rules.iter().any(|rule| satisfied(Some(rule))) }
}

/// The places where a parameter can be at an end, but should not.
fn misplaced<'a>(
    handling: &'a Handling,
    rule: Option<&Rule>,
    parameter: LocalId,
    end: &'a End,
) -> impl Iterator<Item = Spot> + 'a {
    let demanded = rule.and_then(|rule| demanded(rule, parameter));
    let places = end.state.places(parameter).into_iter().flatten().copied();
    places.filter(move |spot| match (demanded, *spot) {
        // The host gives its record of the thread back, so no container can keep the thread.
        (Some(Stage::In(StateClass::Terminated)), Spot::In(_)) => true,
        (Some(Stage::In(StateClass::Terminated) | Stage::Placed), Spot::Gone) => false,
        (Some(Stage::Placed), Spot::In(_) | Spot::Hand) => true,
        (Some(Stage::In(class)), Spot::In(container)) => handling.container(container).class != class,
        (Some(Stage::In(_)), Spot::Gone) => true,
        (Some(Stage::In(_)), Spot::Hand) => true,
        // No event names a thread that runs on another processor.
        (Some(_), Spot::Elsewhere) => true,
        (Some(Stage::New), spot) => spot != Spot::Hand,
        // Nothing is demanded, except that the thread is kept.
        (None, spot) => spot.container().is_none(),
    })
}

fn demanded(rule: &Rule, parameter: LocalId) -> Option<Stage> {
    rule.moves.iter().find_map(|step| match step {
        Move::Parameter(index, _, to) if *index == parameter.0 => Some(*to),
        Move::Parameter(..) | Move::One(..) => None,
    })
}

fn report(handling: &Handling, rule: Option<&Rule>, parameter: LocalId, end: &End) -> Diagnostic {
    let name = handling.local(parameter);
    let event = &handling.handler.written;
    let mut places = Vec::new();
    let (mut held, mut gone) = (false, false);
    for spot in misplaced(handling, rule, parameter, end) {
        match spot {
            Spot::In(container) => places.push(container),
            Spot::Hand | Spot::Elsewhere => held = true,
            Spot::Gone => gone = true,
        }
    }
    let demanded = rule.and_then(|rule| demanded(rule, parameter));
    let title = match (held, gone) {
        (true, _) if demanded == Some(Stage::Placed) => format!("`{event}` can end without placing {name}"),
        (true, _) => format!("`{event}` can end without storing {name}"),
        (false, true) => format!("`{event}` can end after destroying {name}, which lives on"),
        (false, false) => format!("`{event}` can end with {name} left in {}", alternatives(&handling.names(&places))),
    };
    let wanted = match demanded {
        Some(Stage::In(StateClass::Terminated)) => format!("{name} has ended: it must be destroyed"),
        Some(Stage::In(class)) => format!("{name} must end in a {} container", class.word()),
        Some(Stage::New) => format!("{name} must not be stored yet"),
        Some(Stage::Placed) => format!("{name} must go to a node"),
        None => format!("{name} must stay in a container"),
    };
    let at: At = if end.kind == EndKind::Last { handling.handler.at } else { end.at };
    Diagnostic::error("E0403", title, at, wanted)
}

/// What to write on the path that was forgotten.
fn advice(handling: &Handling, parameter: LocalId, rule: Option<&Rule>) -> String {
    let demanded = rule.and_then(|rule| demanded(rule, parameter));
    let name = &handling.handler.locals[parameter.0].name;
    let class = match demanded {
        Some(Stage::In(StateClass::Terminated)) => return format!("end every path with `destroy {name};`"),
        Some(Stage::In(class)) => Some(class),
        Some(Stage::Placed) => {
            return format!("send it to a node on every path: `{name} => n;`, where `n` names a node");
        }
        Some(Stage::New) | None => None,
    };
    let suits = |class: StateClass| {
        // A policy cannot name the containers of the framework.
        let own = handling.policy.containers.iter().filter(|container| container.owner == Owner::Policy);
        // A threadref comes last: it has room for one.
        let holds = handling.entity(parameter);
        let suiting = own.filter(|container| container.class == class && container.holds == holds);
        suiting
            .min_by_key(|container| container.kind == ContainerKind::Threadref)
            .map(|container| container.name.clone())
    };
    match (class, class.and_then(suits)) {
        (_, Some(container)) => format!("store it on every path, for example with `{name} => {container};`"),
        (Some(class), None) => {
            let (word, kept) = (class.word(), class.word().to_lowercase());
            format!("store it in a {word} container on every path: declare one, for example `queue {kept} : {word};`")
        }
        (None, None) => format!("store {name} in a container on every path"),
    }
}
