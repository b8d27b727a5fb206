//! Handlers that the framework requires and the policy does not have: one error that names them all, with text to paste
//! (2005, §4.1: a scheduler that does not include one or more of the required events is an error).
//!
//! With the pasted text, the policy is a whole program: the text uses the policy's containers by their classes, and
//! declares those that are missing.

use std::collections::BTreeSet;

use crate::diagnostics::Diagnostic;
use crate::framework::{Event, Framework, Move, Query, Rule, Stage};
use crate::policy::{Container, ContainerKind, Element, Entity, Owner, Policy};
use crate::source::Source;
use crate::syntax::ast;
use crate::vocabulary::{At, StateClass, Type};

use super::classes;
use super::handlers::in_parentheses;

/// What is missing, in the order of the framework description.
#[derive(Default)]
pub(super) struct Missing<'a> {
    pub(super) events: Vec<&'a Event>,
    pub(super) queries: Vec<&'a Query>,
}

impl<'a> Missing<'a> {
    /// What a scheduler lacks beside its families, and the rest. Without families, all is told as one.
    pub(super) fn apart(self, families: bool) -> (Missing<'a>, Missing<'a>) {
        let (of_nodes, others) = self.events.into_iter().partition(|event| families && event.is_global());
        (Missing { events: of_nodes, queries: Vec::new() }, Missing { events: others, queries: self.queries })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty() && self.queries.is_empty()
    }

    /// The error.
    pub(super) fn report(
        &self,
        source: &Source,
        at: At,
        tree: &ast::Scheduler,
        framework: &Framework,
        policy: &Policy,
    ) -> Diagnostic {
        let events = self.events.iter().map(|event| event.name.as_str());
        let names: Vec<String> = events
            .chain(self.queries.iter().map(|query| query.name.as_str()))
            .map(|name| format!("`{name}`"))
            .collect();
        let (verb, them) = if names.len() == 1 { ("is", "it") } else { ("are", "them") };
        let title = format!("{} {verb} not handled", names.join(", "));
        let label = format!("framework `{}` requires {them}", framework.name);
        let mut diagnostic = Diagnostic::error("E0307", title, at, label);
        for event in self.events.iter().filter(|event| !event.rules.is_empty()) {
            let rules: Vec<String> = event.rules.iter().map(|rule| rule.text(&event.parameters)).collect();
            diagnostic = diagnostic.note(format!("the type of `{}` is {{ {} }}", event.name, rules.join(" | ")));
        }
        let lines = self.skeleton(tree, framework, policy);
        let diagnostic = diagnostic.help(format!("add to the scheduler:\n{}", lines.join("\n")));
        match tree.closed {
            Some(closed) => {
                let (at, text) = insertion(&source.text, closed, &lines);
                diagnostic.suggest(at, text)
            }
            None => diagnostic,
        }
    }

    /// The lines to be added.
    fn skeleton(&self, tree: &ast::Scheduler, framework: &Framework, policy: &Policy) -> Vec<String> {
        let mut containers = Containers::of(tree, framework, policy);
        let mut handlers: Vec<String> = Vec::new();
        // Handlers that dispatch come last: by then, all containers with ready threads are known.
        let (last, first): (Vec<&Event>, Vec<&Event>) =
            self.events.iter().copied().partition(|event| event.dispatches());
        let bodies: Vec<(&str, String)> =
            first.into_iter().chain(last).map(|event| (event.name.as_str(), handler(event, &mut containers))).collect();
        for event in &self.events {
            handlers.extend(bodies.iter().find(|(name, _)| *name == event.name).map(|(_, text)| text.clone()));
        }
        handlers.extend(self.queries.iter().map(|query| {
            let value = match query.returns {
                Type::Int => "0",
                Type::Bool => "false",
                Type::Time => "0ms",
                Type::Float => "0.0",
            };
            format!(
                "query {}{} {{ return {value}; }}",
                query.name,
                in_parentheses(&containers.parameters(&query.parameters))
            )
        }));
        let declared = containers.declared;
        if !containers.declared_nodes.is_empty() {
            handlers.insert(0, format!("nodes {{ {} }}", containers.declared_nodes.join(" ")));
        }
        if !declared.is_empty() {
            handlers.insert(0, format!("data {{ {} }}", declared.join(" ")));
        }
        handlers
    }
}

/// Where the lines go: before the brace that closes the scheduler.
fn insertion(text: &str, closed: At, lines: &[String]) -> (At, String) {
    let before = text.get(..closed.start as usize).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |newline| newline + 1);
    let block: String = lines.iter().map(|line| format!("  {line}\n")).collect();
    if before[line..].trim().is_empty() {
        let start = u32::try_from(line).unwrap_or(closed.start);
        return (At { start, end: start, line: closed.line }, block);
    }
    (At { end: closed.start, ..closed }, format!("\n{block}"))
}

/// The containers of a policy with their classes as far as known, and those that the skeleton declares.
struct Containers {
    all: Vec<Named>,
    /// All names in use.
    taken: BTreeSet<String>,
    declared: Vec<String>,
    /// Containers for any number of nodes, and for one.
    nodes: Option<String>,
    node: Option<String>,
    declared_nodes: Vec<String>,
}

struct Named {
    /// As a statement names it; for an array, its first element.
    name: String,
    /// As an expression names it, and as a source.
    whole: String,
    class: Option<StateClass>,
    slot: bool,
}

impl Containers {
    fn of(tree: &ast::Scheduler, framework: &Framework, policy: &Policy) -> Self {
        let classes = classes::known(tree, framework, policy);
        let first = |container: &Container| container.element.is_none_or(|element| element.index == 0);
        let own = policy.containers.iter().zip(classes).filter(|(container, _)| {
            container.owner == Owner::Policy && container.holds == Entity::Thread && first(container)
        });
        let of_nodes = |slot: bool| {
            let such = |container: &&Container| {
                container.holds == Entity::Node && (container.kind == ContainerKind::Threadref) == slot
            };
            policy.containers.iter().filter(such).find(|container| first(container)).map(|found| found.name.clone())
        };
        let (nodes, node) = (of_nodes(false), of_nodes(true));
        // If no handler dispatches, the first threadref whose own uses show no other class is taken as RUNNING.
        let mut sought = !policy.events.iter().any(|handler| dispatches(framework, &handler.name));
        let named = |(container, (class, shown)): (&Container, (Option<StateClass>, bool))| {
            let slot = container.kind == ContainerKind::Threadref;
            let runs = slot && sought && (!shown || class == Some(StateClass::Running));
            sought &= !runs;
            let class = if runs { Some(StateClass::Running) } else { class };
            let array = Element::array(&container.name).to_owned();
            // An array of threadrefs as a whole is no source.
            let whole = if slot { container.name.clone() } else { array };
            Named { name: container.name.clone(), whole, class, slot }
        };
        let variables =
            [&tree.attributes, &tree.thread_imports, &tree.imports, &tree.constants, &tree.variables, &tree.globals];
        let names = variables.into_iter().flatten().map(|variable| &variable.name.text);
        let names = names.chain(tree.containers.iter().chain(&tree.nodes).map(|container| &container.name.text));
        let names = names.chain(tree.functions.iter().map(|function| &function.name.text));
        let names = names.chain(framework.containers.iter().map(|container| &container.name));
        let taken = names.cloned().collect();
        let all = own.map(named).collect();
        Containers { all, taken, declared: Vec::new(), nodes, node, declared_nodes: Vec::new() }
    }

    /// A container for any number of nodes, or for one (`slot`).
    fn of_nodes(&mut self, slot: bool) -> String {
        let known = if slot { &self.node } else { &self.nodes };
        if let Some(known) = known {
            return known.clone();
        }
        let (word, kind) = if slot { ("chosen", "node") } else { ("all", "queue") };
        let name = self.parameters(&[word.to_owned()]).concat();
        self.declared_nodes.push(format!("{kind} {name};"));
        self.taken.insert(name.clone());
        *(if slot { &mut self.node } else { &mut self.nodes }) = Some(name.clone());
        name
    }

    /// Names for parameters, changed where the policy has declared them.
    fn parameters(&self, names: &[String]) -> Vec<String> {
        let free = |name: &String| {
            let mut name = name.clone();
            while self.taken.contains(&name) {
                name.push('_');
            }
            name
        };
        names.iter().map(free).collect()
    }

    /// All containers of a class, as expressions name them, threadrefs first.
    fn every(&self, class: StateClass) -> Vec<String> {
        let mut all: Vec<&Named> = self.all.iter().filter(|container| container.class == Some(class)).collect();
        all.sort_by_key(|container| !container.slot);
        all.into_iter().map(|container| container.whole.clone()).collect()
    }

    /// A container of a class: one that is known to have it, one of unknown class, or a new one.
    fn one(&mut self, class: StateClass) -> String {
        let slot = class == StateClass::Running;
        let like = |shown: Option<StateClass>| {
            self.all.iter().position(|container| container.slot == slot && container.class == shown)
        };
        if let Some(found) = like(Some(class)).or_else(|| like(None)).and_then(|index| self.all.get_mut(index)) {
            found.class = Some(class);
            return found.name.clone();
        }
        let word = match class {
            StateClass::Running => "current",
            StateClass::Ready => "ready",
            StateClass::Blocked => "blocked",
            StateClass::Terminated => "ended",
        };
        let name = self.parameters(&[word.to_owned()]).concat();
        let kind = if slot { "threadref" } else { "queue" };
        self.declared.push(format!("{kind} {name} : {};", class.word()));
        self.taken.insert(name.clone());
        self.all.push(Named { name: name.clone(), whole: name.clone(), class: Some(class), slot });
        name
    }
}

fn dispatches(framework: &Framework, name: &str) -> bool {
    framework.events.iter().any(|event| event.name == name && event.dispatches())
}

/// `event newthread(t) { t => ready; }`
fn handler(event: &Event, containers: &mut Containers) -> String {
    let parameters = containers.parameters(&event.parameters);
    let header = format!("event {}{}", event.name, in_parentheses(&parameters));
    let mut statements: Vec<String> = Vec::new();
    for (index, name) in parameters.iter().enumerate() {
        if event.is_global() {
            statements.extend(of_nodes(event, index, name, containers));
            continue;
        }
        statements.extend(moved(event, index, name, containers));
    }
    if event.dispatches() {
        statements.push(dispatched(event, containers));
    }
    if statements.is_empty() {
        statements.extend(parameters.iter().enumerate().find_map(|(index, name)| kept(event, index, name, containers)));
    }
    let body = if statements.is_empty() { String::new() } else { format!(" {}", statements.join(" ")) };
    format!("{header} {{{body} }}")
}

/// As `moved`, for an event that runs in the instance of no node.
fn of_nodes(event: &Event, index: usize, name: &str, containers: &mut Containers) -> Option<String> {
    let mut moves = event.rules.iter().flat_map(|rule| &rule.moves);
    moves.find_map(|step| match step {
        Move::Parameter(parameter, _, Stage::In(StateClass::Terminated)) if *parameter == index => {
            Some(format!("destroy {name};"))
        }
        Move::Parameter(parameter, Stage::New, Stage::In(_)) if *parameter == index => {
            Some(format!("{name} => {};", containers.of_nodes(false)))
        }
        Move::Parameter(parameter, _, Stage::Placed) if *parameter == index => {
            let (all, one) = (containers.of_nodes(false), containers.of_nodes(true));
            Some(format!("{all} => {one}; {name} => {one}; {one} => {all};"))
        }
        Move::Parameter(..) | Move::One(..) => None,
    })
}

/// The statements that an event type demands for a parameter. None, if the thread may stay where it is.
fn moved(event: &Event, index: usize, name: &str, containers: &mut Containers) -> Vec<String> {
    let ways = ways(event, index);
    let mut demanded: Vec<(Stage, StateClass)> = Vec::new();
    for (from, to) in &ways {
        let stays = ways.iter().any(|(other, to)| other == from && Stage::In(*to) == *from);
        if !stays && !demanded.iter().any(|(known, _)| known == from) {
            demanded.push((*from, *to));
        }
    }
    let go = |to: StateClass, containers: &mut Containers| match to {
        StateClass::Terminated => format!("destroy {name};"),
        StateClass::Running | StateClass::Ready | StateClass::Blocked => format!("{name} => {};", containers.one(to)),
    };
    let all_move = ways.iter().all(|(from, _)| demanded.iter().any(|(known, _)| known == from));
    match demanded.as_slice() {
        [] => Vec::new(),
        [(_, only), rest @ ..] if all_move && rest.iter().all(|(_, to)| to == only) => vec![go(*only, containers)],
        several => {
            let mut ways = Vec::new();
            for (from, to) in several {
                let Stage::In(class) = from else { continue };
                if containers.every(*class).is_empty() {
                    containers.one(*class);
                }
                let step = go(*to, containers);
                ways.extend(within(name, *class, containers).map(|is_there| format!("if ({is_there}) {step}")));
            }
            vec![ways.join(" else ")]
        }
    }
}

/// A statement for an event in which every thread may stay where it is: the running one is preempted, or a ready one
/// goes to the end of its queue.
fn kept(event: &Event, index: usize, name: &str, containers: &mut Containers) -> Option<String> {
    let ways = ways(event, index);
    let ready = StateClass::Ready;
    let preempted = ways.contains(&(Stage::In(StateClass::Running), ready));
    let from = if preempted { StateClass::Running } else { ready };
    if !ways.contains(&(Stage::In(from), ready)) {
        return None;
    }
    let place = containers.one(ready);
    if ways.iter().all(|(start, _)| *start == Stage::In(from)) {
        return Some(format!("{name} => {place};"));
    }
    if containers.every(from).is_empty() {
        containers.one(from);
    }
    Some(format!("if ({}) {name} => {place};", within(name, from, containers)?))
}

/// The states in which the event type lets a parameter start and end.
fn ways(event: &Event, index: usize) -> Vec<(Stage, StateClass)> {
    let moves = event.rules.iter().flat_map(|rule: &Rule| &rule.moves);
    let of_it = moves.filter_map(|step| match step {
        Move::Parameter(parameter, from, Stage::In(to)) if *parameter == index => Some((*from, *to)),
        Move::Parameter(..) | Move::One(..) => None,
    });
    of_it.collect()
}

/// `t in ready || t in next`
fn within(name: &str, class: StateClass, containers: &Containers) -> Option<String> {
    let places = containers.every(class).into_iter().map(|container| format!("{name} in {container}"));
    places.reduce(|all, one| format!("{all} || {one}"))
}

/// `ready => current; dispatch current;`, from any container with such threads.
fn dispatched(event: &Event, containers: &mut Containers) -> String {
    let moves = event.rules.iter().flat_map(|rule: &Rule| &rule.moves);
    let mut from = moves.filter_map(|step| match step {
        Move::One(Stage::In(from), Stage::In(StateClass::Running)) => Some(*from),
        Move::One(..) | Move::Parameter(..) => None,
    });
    let class = from.next().unwrap_or(StateClass::Ready);
    if containers.every(class).is_empty() {
        containers.one(class);
    }
    let slot = containers.one(StateClass::Running);
    let sources = containers.every(class);
    let (last, first) = sources.split_last().map_or(("", &[][..]), |(last, first)| (last.as_str(), first));
    let tests: String = first.iter().map(|source| format!("if (|{source}| > 0) {source} => {slot}; else ")).collect();
    format!("{tests}{last} => {slot}; dispatch {slot};")
}
