//! What a description says of nodes is consistent, and they can come and be chosen.

use super::{Event, Framework, Move, Stage, stages};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Extent;
use crate::syntax::Feature;
use crate::vocabulary::{Entity, StateClass};

pub(super) fn check(framework: &Framework, diagnostics: &mut Diagnostics) {
    listed(framework, diagnostics);
    for event in &framework.events {
        for step in event.rules.iter().flat_map(|rule| &rule.moves) {
            if let Some(wrong) = wrong(event, step) {
                diagnostics.push(wrong);
            }
        }
        let named = event.entities.contains(&Entity::Node);
        if named && event.extent == Extent::Any {
            let title = format!("`{}` names a node, and is for policies without nodes, too", event.name);
            let plain = Diagnostic::error("E0205", title, event.at, "");
            diagnostics.push(plain.help("write `node event`, or `global event` if it concerns no thread of a node"));
        }
        if event.extent == Extent::Node && event.gives_away() && !named {
            let title = format!("`{}` lets threads go to a node, and names none", event.name);
            let nowhere = Diagnostic::error("E0205", title, event.at, "no handler could name a node");
            diagnostics.push(nowhere.help("give it a parameter: `node n`"));
        }
    }
    for sequence in &framework.sequences {
        let mut names = Vec::new();
        crate::framework::automaton::events_of(&sequence.pattern, &mut names);
        let global = |name: &&String| framework.events.iter().any(|event| event.is_global() && event.name == **name);
        if let Some(name) = names.iter().find(global) {
            let title = format!("the sequence `{}` names `{name}`, a global event", sequence.name);
            let outside = Diagnostic::error("E0208", title, sequence.at, "");
            diagnostics.push(outside.note("a sequence orders the events of one instance").help("leave it out"));
        }
    }
}

/// The dialect has nodes exactly if nodes can come.
fn listed(framework: &Framework, diagnostics: &mut Diagnostics) {
    let listed = framework.dialect.features.contains(&Feature::Nodes);
    let of_nodes = framework.events.iter().find(|event| event.extent != Extent::Any);
    let mut moves = framework
        .events
        .iter()
        .filter(|event| event.is_global())
        .flat_map(|event| event.rules.iter().flat_map(|rule| &rule.moves).map(move |step| (event, step)));
    let comes = moves.any(|(event, step)| match step {
        Move::Parameter(index, Stage::New, Stage::In(_)) => event.names(*index, Entity::Node),
        Move::Parameter(..) | Move::One(..) => false,
    });
    let lacks = if listed && !comes {
        "an event of a node that comes, which `nodes` in its dialect asks for"
    } else if !listed && of_nodes.is_some() {
        "`nodes` in its dialect, which its events of nodes ask for"
    } else if !listed && (!framework.properties.is_empty() || framework.tells_any_property) {
        "`nodes` in its dialect, which its properties of nodes ask for"
    } else {
        return;
    };
    let title = format!("the description of `{}` lacks {lacks}", framework.name);
    let diagnostic = Diagnostic::error("E0204", title, framework.places.name, "");
    diagnostics.push(if listed {
        diagnostic.help("write `global event arrival(node n) { n: NEW -> READY }`")
    } else {
        diagnostic
    });
}

/// What is wrong with a part of an event type.
fn wrong(event: &Event, step: &Move) -> Option<Diagnostic> {
    let (from, to) = stages(step);
    let entity = match step {
        Move::Parameter(index, ..) => event.entities.get(*index).copied().unwrap_or(Entity::Thread),
        Move::One(..) => Entity::Thread,
    };
    let refuse =
        |title: String, help: &str| Some(Diagnostic::error("E0205", title, event.at, "").help(help.to_owned()));
    let name = &event.name;
    match (event.extent, entity, step) {
        (Extent::Global, Entity::Node, _) => {
            let ready = Stage::In(StateClass::Ready);
            let known = [(Stage::New, ready), (ready, ready), (ready, Stage::In(StateClass::Terminated))];
            let title = format!("a node cannot go from {} to {} in `{name}`", from.word(), to.word());
            if known.contains(&(from, to)) { None } else { refuse(title, "a node is NEW, then READY, then TERMINATED") }
        }
        (Extent::Global, Entity::Thread, Move::Parameter(..)) if (from, to) == (Stage::New, Stage::Placed) => None,
        (Extent::Global, Entity::Thread, _) => {
            let title = format!("`{name}` belongs to no instance, and has no containers of threads");
            refuse(title, "the type of a thread is `t: NEW -> PLACED` there")
        }
        (Extent::Any | Extent::Node, Entity::Node, _) => {
            let title = format!("`{name}` belongs to an instance, and cannot move a node");
            refuse(title, "nodes are moved by global events; leave this part of the type out")
        }
        (Extent::Any, Entity::Thread, _) if to == Stage::Placed => {
            let title = format!("`{name}` sends a thread to a node, and is for policies without nodes, too");
            refuse(title, "write `node event`")
        }
        (Extent::Node, Entity::Thread, _) if event.gives_away() && to != Stage::Placed => {
            let title =
                format!("`{name}` gives threads to a node, and moves others from {} to {}", from.word(), to.word());
            refuse(title, "leave this part of the type out, or make another event of it")
        }
        (Extent::Any | Extent::Node, Entity::Thread, _) => None,
    }
}
