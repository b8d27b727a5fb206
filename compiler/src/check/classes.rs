//! Infers state classes that are not declared from how the handlers use the containers.
//!
//! What shows the class of a container, in this order:
//! 1. it is dispatched: RUNNING;
//! 2. the event's own thread goes there, and its event type says what it becomes;
//! 3. a thread goes from a container of known class to one of unknown class, or the reverse. In an event that
//!    dispatches, what goes to a RUNNING container was READY. Anywhere else a thread that is not the event's own keeps
//!    its class, except that a RUNNING one can become READY (preemption).
//!
//! Rule 3 is repeated until it shows nothing new. All elements of an array share a class. Here the first element stands
//! for the array.

use std::collections::{BTreeSet, VecDeque};

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::{Event, Framework, Move, Stage};
use crate::policy::{
    Block, Container, ContainerId, ContainerRef, Element, Entity, Expression, LocalId, Owner, Place, Policy, Source,
    Statement, StatementKind, Thread, Verbatim,
};
use crate::syntax::ast;
use crate::vocabulary::{At, StateClass};

use super::unused::{advice, is_meant};

/// Gives every container of the policy its class, or reports why it has none.
pub(super) fn infer(tree: &ast::Scheduler, framework: &Framework, policy: &mut Policy, diagnostics: &mut Diagnostics) {
    let (known, named) = evidence(tree, framework, policy, diagnostics);
    for (index, evidence) in known.into_iter().enumerate() {
        match (evidence, policy.containers[index].element) {
            (Some(_), element) if policy.containers[index].holds == Entity::Node => {
                if is_first(element) && !named[index] {
                    report_unused(&policy.containers[index], diagnostics);
                }
            }
            (Some(evidence), _) => policy.containers[index].class = evidence.class,
            (None, element) if is_first(element) => report_unknown(policy, ContainerId(index), &named, diagnostics),
            (None, _) => policy.containers[index].class = policy.containers[first(policy, ContainerId(index)).0].class,
        }
    }
}

/// The classes of the policy's containers as far as known, and for each, whether it is declared or shown by an event's
/// own thread. The first element of an array stands for all.
pub(super) fn known(tree: &ast::Scheduler, framework: &Framework, policy: &Policy) -> Vec<(Option<StateClass>, bool)> {
    let uses = Uses::of(policy, framework);
    let shown: BTreeSet<ContainerId> = uses.given.iter().map(|(container, ..)| *container).collect();
    let declared = tree.containers.iter().filter(|container| container.class.is_some());
    let declared: BTreeSet<&str> = declared.map(|container| container.name.text.as_str()).collect();
    let (known, _) = evidence(tree, framework, policy, &mut Diagnostics::new());
    let by_itself = |(index, evidence): (usize, Option<Evidence>)| {
        let declared = declared.contains(Element::array(&policy.containers[index].name));
        (evidence.map(|evidence| evidence.class), declared || shown.contains(&ContainerId(index)))
    };
    known.into_iter().enumerate().map(by_itself).collect()
}

/// What shows the class of each container, and which containers are named in handlers at all.
fn evidence(
    tree: &ast::Scheduler,
    framework: &Framework,
    policy: &Policy,
    diagnostics: &mut Diagnostics,
) -> (Vec<Option<Evidence>>, Vec<bool>) {
    let uses = Uses::of(policy, framework);
    let mut inference = Inference {
        known: vec![None; policy.containers.len()],
        fixed: vec![false; policy.containers.len()],
        policy,
        diagnostics,
    };
    let firsts = inference.policy.containers.iter().enumerate().filter(|(_, container)| is_first(container.element));
    for ((index, _), declared) in firsts.zip(&tree.containers) {
        if let Some((class, at)) = declared.class {
            inference.known[index] = Some(Evidence { class, at, why: "declared here".to_owned() });
            inference.fixed[index] = true;
        }
    }
    for (index, container) in inference.policy.containers.iter().enumerate() {
        if container.owner == Owner::Framework || container.holds == Entity::Node {
            inference.known[index] = Some(Evidence { class: container.class, at: container.at, why: String::new() });
            inference.fixed[index] = true;
        }
    }
    for (slot, at) in &uses.dispatched {
        inference.dispatched(*slot, *at);
    }
    for (container, class, at, event) in &uses.given {
        let why = format!("`{event}` leaves its thread {} here", class.word());
        inference.learn(*container, Evidence { class: *class, at: *at, why });
    }
    inference.spread(&uses.moves);
    (inference.known, uses.named)
}

fn is_first(element: Option<Element>) -> bool {
    element.is_none_or(|element| element.index == 0)
}

/// The container that stands for this one: for an element, the first of its array.
fn first(policy: &Policy, container: ContainerId) -> ContainerId {
    let element = policy.containers.get(container.0).and_then(|container| container.element);
    ContainerId(container.0 - element.map_or(0, |element| element.index))
}

/// A container's class, and where that shows.
#[derive(Clone, Debug)]
struct Evidence {
    class: StateClass,
    at: At,
    why: String,
}

/// A transfer from a container, of a thread that is not the event's own.
struct Step {
    from: ContainerId,
    to: ContainerId,
    /// Whether the event dispatches.
    dispatching: bool,
    at: At,
}

/// How the handlers use the containers.
struct Uses<'a> {
    policy: &'a Policy,
    dispatched: Vec<(ContainerId, At)>,
    /// Where an event's own thread goes, what it becomes, and the event.
    given: Vec<(ContainerId, StateClass, At, String)>,
    moves: Vec<Step>,
    /// All containers that any statement or expression names.
    named: Vec<bool>,
}

struct Inference<'a> {
    policy: &'a Policy,
    known: Vec<Option<Evidence>>,
    /// Declared, or the framework's: not questioned here. `verify` checks whether the handlers keep to it.
    fixed: Vec<bool>,
    diagnostics: &'a mut Diagnostics,
}

impl Inference<'_> {
    fn dispatched(&mut self, slot: ContainerId, at: At) {
        let evidence = Evidence { class: StateClass::Running, at, why: "dispatched here, so RUNNING".to_owned() };
        if self.fixed[slot.0] && self.known[slot.0].as_ref().is_some_and(|known| known.class != StateClass::Running) {
            self.contradiction(slot, &evidence);
        }
        self.learn(slot, evidence);
    }

    fn learn(&mut self, container: ContainerId, evidence: Evidence) {
        match &self.known[container.0] {
            None => self.known[container.0] = Some(evidence),
            Some(known) => {
                if known.class != evidence.class && !self.fixed[container.0] {
                    self.contradiction(container, &evidence);
                }
            }
        }
    }

    fn contradiction(&mut self, container: ContainerId, evidence: &Evidence) {
        let Some(known) = &self.known[container.0] else {
            return;
        };
        let name = Element::array(&self.policy.containers[container.0].name);
        let title =
            format!("`{name}` is used both for {} and for {} threads", known.class.word(), evidence.class.word());
        let diagnostic = Diagnostic::error("E0319", title, evidence.at, evidence.why.as_str())
            .related(known.at, known.why.as_str())
            .note("every container belongs to one state class, so that it is always known which threads can run");
        let class = if self.fixed[container.0] { evidence.class } else { known.class };
        let help = format!("use two containers, or declare the class: `{name} : {}`", class.word());
        self.diagnostics.push(diagnostic.help(help));
        // One message for each container.
        self.fixed[container.0] = true;
    }

    /// Carries what is known along the steps until nothing new shows. A step is looked at again only when one of its
    /// two containers has become known.
    fn spread(&mut self, moves: &[Step]) {
        let mut touching: Vec<Vec<usize>> = vec![Vec::new(); self.known.len()];
        for (index, step) in moves.iter().enumerate() {
            touching[step.from.0].push(index);
            touching[step.to.0].push(index);
        }
        let mut open: VecDeque<usize> = (0..moves.len()).collect();
        while let Some(index) = open.pop_front() {
            if let Some(learnt) = self.carry(&moves[index]) {
                open.extend(&touching[learnt.0]);
            }
        }
    }

    /// The container whose class the step shows, if it was not known before.
    fn carry(&mut self, step: &Step) -> Option<ContainerId> {
        let class = |container: ContainerId| self.known[container.0].as_ref().map(|evidence| evidence.class);
        let (target, class, known) = match (class(step.from), class(step.to)) {
            (None, None) | (Some(_), Some(_)) => return None,
            (None, Some(StateClass::Running)) if step.dispatching => (step.from, StateClass::Ready, step.to),
            (None, Some(class)) => (step.from, class, step.to),
            (Some(StateClass::Running), None) => (step.to, StateClass::Ready, step.from),
            (Some(class), None) => (step.to, class, step.from),
        };
        let other = Element::array(&self.policy.containers[known.0].name);
        let why = format!("{} because of `{other}`", class.word());
        self.learn(target, Evidence { class, at: step.at, why });
        Some(target)
    }
}

fn report_unknown(policy: &mut Policy, id: ContainerId, named: &[bool], diagnostics: &mut Diagnostics) {
    let container = &mut policy.containers[id.0];
    let name = Element::array(&container.name).to_owned();
    if named[id.0] {
        let title = format!("the state class of `{name}` cannot be inferred");
        let diagnostic = Diagnostic::error("E0320", title, container.at, "RUNNING, READY, BLOCKED or TERMINATED?");
        diagnostics.push(diagnostic.help(format!("declare it: `{name} : READY`")));
    } else {
        report_unused(container, diagnostics);
        container.class = StateClass::Ready;
    }
}

fn report_unused(container: &Container, diagnostics: &mut Diagnostics) {
    let name = Element::array(&container.name);
    if !is_meant(name) {
        let title = format!("the container `{name}` is never used");
        diagnostics.push(Diagnostic::warning("E0321", title, container.at, "").help(advice(name)));
    }
}

impl<'a> Uses<'a> {
    fn of(policy: &'a Policy, framework: &Framework) -> Self {
        let named = vec![false; policy.containers.len()];
        let mut uses = Uses { policy, dispatched: Vec::new(), given: Vec::new(), moves: Vec::new(), named };
        for handler in &policy.events {
            let event = framework.events.iter().find(|event| event.name == handler.name);
            let mut cursors = vec![None; handler.locals.len()];
            uses.block(&handler.body, event, handler.parameters, &mut cursors);
        }
        for handler in &policy.queries {
            let mut cursors = vec![None; handler.locals.len()];
            uses.block(&handler.body, None, handler.parameters, &mut cursors);
        }
        uses
    }

    /// `cursors` has for each local the container whose threads it visits.
    fn block(&mut self, block: &Block, event: Option<&Event>, parameters: usize, cursors: &mut [Option<ContainerId>]) {
        for statement in block {
            statement.expressions().for_each(|expression| self.expression(expression));
            match &statement.kind {
                StatementKind::Set { place, .. } => self.thread(place.thread()),
                StatementKind::Transfer { source, destination } => {
                    let to = self.name(destination);
                    self.transfer(source, to, statement, event, parameters, cursors);
                }
                StatementKind::Destroy { source } => {
                    if let Source::Container(container) = source {
                        self.name(container);
                    }
                }
                StatementKind::Send { source, node } => {
                    self.thread(Some(*node));
                    if let Source::Container(container) = source {
                        self.name(container);
                    }
                }
                StatementKind::Dispatch { slot } => {
                    let slot = self.name(&ContainerRef::One(*slot));
                    self.dispatched.push((slot, statement.at));
                }
                StatementKind::Foreach { cursor, container, .. } => cursors[cursor.0] = Some(self.name(container)),
                StatementKind::Link { to, .. } => {
                    statement.links().for_each(|thread| self.thread(Some(thread)));
                    if let Some(slot) = to.container() {
                        self.name(slot);
                    }
                }
                // The thread can be anywhere, so this shows no class.
                StatementKind::Follow { thread, .. } => self.thread(Some(*thread)),
                StatementKind::Verbatim { text, .. } => self.verbatim(text),
                StatementKind::If { .. }
                | StatementKind::Loop { .. }
                | StatementKind::Return { .. }
                | StatementKind::Leave { .. }
                | StatementKind::Fail { .. } => {}
            }
            for inner in statement.blocks() {
                self.block(inner, event, parameters, cursors);
            }
        }
    }

    fn verbatim(&mut self, text: &Verbatim) {
        for thread in text.threads() {
            self.thread(Some(thread));
        }
    }

    fn transfer(
        &mut self,
        source: &Source,
        to: ContainerId,
        statement: &Statement,
        event: Option<&Event>,
        parameters: usize,
        cursors: &[Option<ContainerId>],
    ) {
        let from = match source {
            Source::Container(container) => Some(self.name(container)),
            Source::Thread(local) if local.0 < parameters => {
                if let Some(event) = event
                    && let Some(class) = becomes(event, *local)
                {
                    self.given.push((to, class, statement.at, event.name.clone()));
                }
                return;
            }
            Source::Thread(local) => cursors[local.0],
        };
        if let (Some(event), Some(from)) = (event, from) {
            self.moves.push(Step { from, to, dispatching: event.dispatches(), at: statement.at });
        }
    }

    /// Marks a container as named. Returns the one that stands for it.
    fn name(&mut self, container: &ContainerRef) -> ContainerId {
        let named = match container {
            ContainerRef::One(only) => first(self.policy, *only),
            ContainerRef::Element { first, .. } | ContainerRef::Whole { first, .. } => *first,
        };
        self.named[named.0] = true;
        named
    }

    fn thread(&mut self, thread: Option<Thread>) {
        if let Some(slot) = thread.and_then(Thread::held_by) {
            self.name(&ContainerRef::One(slot));
        }
    }

    fn expression(&mut self, expression: &Expression) {
        let names = expression.names();
        self.thread(names.place.and_then(Place::thread));
        names.threads.into_iter().for_each(|thread| self.thread(thread));
        if let Some(container) = names.container {
            self.name(container);
        }
        if let Some(text) = names.verbatim {
            self.verbatim(text);
        }
        expression.parts().for_each(|part| self.expression(part));
    }
}

/// The class of a parameter after its event, if all alternatives of the event type agree.
fn becomes(event: &Event, parameter: LocalId) -> Option<StateClass> {
    let mut classes = event.rules.iter().flat_map(|rule| &rule.moves).filter_map(|step| match step {
        Move::Parameter(index, _, Stage::In(class)) if *index == parameter.0 => Some(*class),
        Move::Parameter(..) | Move::One(..) => None,
    });
    let first = classes.next()?;
    classes.all(|class| class == first).then_some(first)
}
