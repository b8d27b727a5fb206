//! State classes that are not declared, inferred from how the handlers use the containers.
//!
//! What shows the class of a container, in this order:
//! 1. it is dispatched: RUNNING;
//! 2. the event's own thread goes there, and its event type says what it becomes;
//! 3. a thread goes from a container of known class to one of unknown class, or the reverse. In an event that dispatches,
//!    what goes to a RUNNING container was READY. Anywhere else a thread that is not the event's own keeps its class, except
//!    that a RUNNING one can become READY (preemption).
//!
//! Rule 3 is repeated until it shows nothing new.

use std::collections::VecDeque;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::{Event, Framework, Move, Stage};
use crate::policy::{
    Block, ContainerId, Expression, LocalId, Owner, Place, Policy, Source, StatementKind, Thread, Verbatim,
};
use crate::syntax::ast;
use crate::vocabulary::{At, StateClass};

/// Gives every container of the policy its class, or reports why it has none.
pub(super) fn infer(tree: &ast::Scheduler, framework: &Framework, policy: &mut Policy, diagnostics: &mut Diagnostics) {
    let uses = Uses::of(policy, framework);
    let mut inference = Inference {
        known: vec![None; policy.containers.len()],
        fixed: vec![false; policy.containers.len()],
        policy,
        diagnostics,
    };
    for (index, declared) in tree.containers.iter().enumerate() {
        if let Some((class, at)) = declared.class {
            inference.known[index] = Some(Evidence { class, at, why: "declared here".to_owned() });
            inference.fixed[index] = true;
        }
    }
    for (index, container) in inference.policy.containers.iter().enumerate() {
        if container.owner == Owner::Framework {
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
    let known = inference.known;
    for (index, evidence) in known.into_iter().enumerate() {
        match evidence {
            Some(evidence) => policy.containers[index].class = evidence.class,
            None => report_unknown(policy, ContainerId(index), &uses, diagnostics),
        }
    }
}

/// What a container's class is, and where that shows.
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
    /// In an event that dispatches.
    dispatching: bool,
    at: At,
}

/// How the handlers use the containers.
#[derive(Default)]
struct Uses {
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
    /// Declared, or the framework's: not to be contradicted here. Whether the handlers keep to it is for `verify` to say.
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
        let name = &self.policy.containers[container.0].name;
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

    /// Carries what is known along the steps until nothing new shows. Each step is looked at again only when one of its two
    /// containers has become known.
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
        let other = &self.policy.containers[known.0].name;
        let why = format!("{} because of `{other}`", class.word());
        self.learn(target, Evidence { class, at: step.at, why });
        Some(target)
    }
}

fn report_unknown(policy: &mut Policy, id: ContainerId, uses: &Uses, diagnostics: &mut Diagnostics) {
    let container = &mut policy.containers[id.0];
    let name = &container.name;
    if uses.named[id.0] {
        let title = format!("the state class of `{name}` can be inferred from nothing");
        let diagnostic = Diagnostic::error("E0320", title, container.at, "RUNNING, READY, BLOCKED or TERMINATED?");
        diagnostics.push(diagnostic.help(format!("declare it: `{name} : READY`")));
    } else {
        let title = format!("the container `{name}` is never used");
        diagnostics.push(Diagnostic::warning("E0321", title, container.at, "").help("remove it"));
        container.class = StateClass::Ready;
    }
}

impl Uses {
    fn of(policy: &Policy, framework: &Framework) -> Self {
        let mut uses = Uses { named: vec![false; policy.containers.len()], ..Uses::default() };
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
            match &statement.kind {
                StatementKind::Set { place, value } => {
                    self.place(*place);
                    self.expression(value);
                }
                StatementKind::Transfer { source, destination } => {
                    self.named[destination.0] = true;
                    self.transfer(*source, *destination, statement.at, event, parameters, cursors);
                }
                StatementKind::Destroy { source } => {
                    if let Source::Container(container) = source {
                        self.named[container.0] = true;
                    }
                }
                StatementKind::Dispatch { slot } => {
                    self.named[slot.0] = true;
                    self.dispatched.push((*slot, statement.at));
                }
                StatementKind::If { condition, then, otherwise } => {
                    self.expression(condition);
                    self.block(then, event, parameters, cursors);
                    self.block(otherwise, event, parameters, cursors);
                }
                StatementKind::Foreach { cursor, container, body } => {
                    self.named[container.0] = true;
                    cursors[cursor.0] = Some(*container);
                    self.block(body, event, parameters, cursors);
                }
                StatementKind::Loop { condition, body, step, .. } => {
                    self.expression(condition);
                    self.block(body, event, parameters, cursors);
                    self.block(step, event, parameters, cursors);
                }
                StatementKind::Return { value } => {
                    if let Some(value) = value {
                        self.expression(value);
                    }
                }
                StatementKind::Verbatim { text, otherwise } => {
                    self.verbatim(text);
                    if let Some(otherwise) = otherwise {
                        self.block(otherwise, event, parameters, cursors);
                    }
                }
                StatementKind::Fail { .. } => {}
            }
        }
    }

    fn verbatim(&mut self, text: &Verbatim) {
        for thread in text.threads() {
            if let Thread::Slot(slot) = thread {
                self.named[slot.0] = true;
            }
        }
    }

    fn transfer(
        &mut self,
        source: Source,
        to: ContainerId,
        at: At,
        event: Option<&Event>,
        parameters: usize,
        cursors: &[Option<ContainerId>],
    ) {
        let Some(event) = event else {
            return;
        };
        let from = match source {
            Source::Container(container) => {
                self.named[container.0] = true;
                Some(container)
            }
            Source::Thread(local) if local.0 < parameters => {
                if let Some(class) = becomes(event, local) {
                    self.given.push((to, class, at, event.name.clone()));
                }
                return;
            }
            Source::Thread(local) => cursors[local.0],
        };
        if let Some(from) = from {
            self.moves.push(Step { from, to, dispatching: event.dispatches(), at });
        }
    }

    fn place(&mut self, place: Place) {
        if let Place::Attribute(Thread::Slot(slot), _) | Place::ThreadImport(Thread::Slot(slot), _) = place {
            self.named[slot.0] = true;
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Literal(_) | Expression::Constant(_) | Expression::Now => {}
            Expression::Read(place) => self.place(*place),
            Expression::Size(container) | Expression::In(_, container) => self.named[container.0] = true,
            Expression::Unary(_, operand) | Expression::Convert(_, operand) | Expression::NotZero(operand) => {
                self.expression(operand);
            }
            Expression::Binary(_, left, right) => {
                self.expression(left);
                self.expression(right);
            }
            Expression::Verbatim { text, otherwise, .. } => {
                self.verbatim(text);
                if let Some(otherwise) = otherwise {
                    self.expression(otherwise);
                }
            }
        }
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
