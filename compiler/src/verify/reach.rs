//! A handler names only what exists where it runs. It moves threads only to containers of threads, and nodes to those
//! of nodes. (`check` refuses the rest in source, with the same codes and better advice; a policy can also come as
//! text.)

use super::situation::entity;
use super::walk;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::framework::Framework;
use crate::policy::{
    ContainerId, ContainerKind, ContainerRef, Entity, Expression, Handler, LocalId, LocalKind, Place, Policy, Source,
    Statement, StatementKind, Thread, Verbatim,
};

pub(super) fn check(policy: &Policy, framework: &Framework, diagnostics: &mut Diagnostics) {
    for handler in policy.events.iter().chain(&policy.queries) {
        let event = framework.events.iter().find(|event| event.name == handler.name && handler.returns.is_none());
        let wanted = event.map_or(&[][..], |event| &event.entities);
        let as_wanted = (0..handler.parameters)
            .all(|index| wanted.get(index).copied().unwrap_or(Entity::Thread) == entity(handler, index));
        if handler.global != event.is_some_and(|event| event.is_global()) || !as_wanted {
            let title = format!("`{}` is another kind of event", handler.name);
            diagnostics.push(Diagnostic::error("E0329", title, handler.at, "not where this handler runs"));
            continue;
        }
        let mut reader = Reader { policy, handler, far: false, mixed: false };
        walk::statements(&handler.body, &mut |statement| {
            (reader.far, reader.mixed) = (false, false);
            reader.statement(statement);
            if reader.far {
                let title = format!("`{}` names something that does not exist where it runs", handler.written);
                diagnostics.push(Diagnostic::error("E0329", title, statement.at, ""));
            } else if reader.mixed {
                let title = format!("`{}` takes a thread for a node, or a node for a thread", handler.written);
                diagnostics.push(Diagnostic::error("E0330", title, statement.at, ""));
            }
        });
    }
    for container in &policy.containers {
        let keys = match &container.kind {
            ContainerKind::Pqueue(keys) | ContainerKind::Pstack(keys) => keys.as_slice(),
            ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Stack => &[],
        };
        let mut keys = keys.iter().filter_map(|key| policy.attributes.get(key.attribute.0));
        if keys.any(|attribute| attribute.of != container.holds) {
            let title = format!(
                "`{}` holds {}s, which do not have the attribute that it is sorted by",
                container.name,
                container.holds.word()
            );
            diagnostics.push(Diagnostic::error("E0330", title, container.at, ""));
        }
    }
}

struct Reader<'a> {
    policy: &'a Policy,
    handler: &'a Handler,
    /// Whether it names what does not exist where it runs.
    far: bool,
    /// Whether a thread stands where a node should, or the reverse.
    mixed: bool,
}

impl Reader<'_> {
    fn statement(&mut self, statement: &Statement) {
        statement.expressions().for_each(|expression| self.expression(expression));
        match &statement.kind {
            StatementKind::Set { place, .. } => {
                self.place(place);
                // Armed timers belong to an instance.
                self.far |= self.handler.global && self.policy.is_timer(place);
                // Only the host assigns attributes of nodes.
                self.mixed |= place.thread().is_some_and(|thread| self.entity(thread) == Entity::Node);
            }
            StatementKind::Transfer { source, destination } => {
                let moved = self.source(source);
                self.mixed |= self.container(destination) != moved;
            }
            StatementKind::Send { source, node } => {
                self.mixed |= self.source(source) == Entity::Node || self.thread(*node) == Entity::Thread;
            }
            StatementKind::Destroy { source } => {
                self.source(source);
            }
            StatementKind::Dispatch { slot } => self.mixed |= self.slot(*slot) == Entity::Node,
            StatementKind::Foreach { cursor, container, .. } => {
                self.mixed |= self.container(container) != entity(self.handler, cursor.0);
            }
            StatementKind::Link { to, .. } => {
                for thread in statement.links() {
                    self.mixed |= self.thread(thread) == Entity::Node;
                }
                self.mixed |= to.container().is_some_and(|slot| self.container(slot) == Entity::Node);
            }
            StatementKind::Follow { cursor, thread, .. } => {
                self.mixed |= self.thread(*thread) == Entity::Node || entity(self.handler, cursor.0) == Entity::Node;
            }
            StatementKind::Verbatim { text, .. } => self.verbatim(text),
            StatementKind::If { .. }
            | StatementKind::Loop { .. }
            | StatementKind::Return { .. }
            | StatementKind::Leave { .. }
            | StatementKind::Fail { .. } => {}
        }
    }

    fn source(&mut self, source: &Source) -> Entity {
        match source {
            Source::Container(container) => self.container(container),
            Source::Thread(local) => self.thread(Thread::Local(*local)),
        }
    }

    fn container(&mut self, container: &ContainerRef) -> Entity {
        let mut holds = Entity::Thread;
        for candidate in container.candidates() {
            holds = self.slot(candidate);
        }
        holds
    }

    fn slot(&mut self, slot: ContainerId) -> Entity {
        let holds = self.policy.containers.get(slot.0).map_or(Entity::Thread, |container| container.holds);
        // Without nodes, there is one instance, and everything exists there.
        self.far |= (holds == Entity::Node) != self.handler.global;
        holds
    }

    fn entity(&self, thread: Thread) -> Entity {
        match thread {
            Thread::Local(LocalId(local)) => entity(self.handler, local),
            Thread::Slot(slot) | Thread::First(slot) => {
                self.policy.containers.get(slot.0).map_or(Entity::Thread, |slot| slot.holds)
            }
        }
    }

    fn thread(&mut self, thread: Thread) -> Entity {
        match thread {
            Thread::Local(LocalId(local)) => {
                self.mixed |= matches!(self.handler.locals[local].kind, LocalKind::Value(_));
                entity(self.handler, local)
            }
            Thread::Slot(slot) | Thread::First(slot) => self.slot(slot),
        }
    }

    fn place(&mut self, place: &Place) {
        let first = place.variables().start;
        if !place.variables().is_empty() {
            self.far |=
                self.handler.global && self.policy.variables.get(first).is_some_and(|variable| !variable.global);
        }
        let Some(thread) = place.thread() else { return };
        let of = self.thread(thread);
        self.mixed |= match place {
            Place::ThreadImport(..) => of == Entity::Node,
            Place::Attribute(..) | Place::AttributeElement { .. } => {
                let attribute = self.policy.attributes.get(place.attributes().start);
                attribute.is_some_and(|attribute| attribute.of != of)
            }
            Place::Variable(_) | Place::VariableElement { .. } | Place::Local(_) | Place::Import(_) => false,
        };
    }

    fn verbatim(&mut self, text: &Verbatim) {
        text.places().for_each(|place| self.place(place));
        for thread in text.threads() {
            self.thread(thread);
        }
    }

    fn expression(&mut self, expression: &Expression) {
        let names = expression.names();
        if let Some(place) = names.place {
            self.place(place);
        }
        let holds = names.container.map(|container| self.container(container));
        let threads = names.threads.into_iter().flatten();
        let what: Vec<Entity> = threads.map(|thread| self.thread(thread)).chain(holds).collect();
        self.mixed |= what.windows(2).any(|pair| pair[0] != pair[1]);
        if let Some(text) = names.verbatim {
            self.verbatim(text);
        }
        expression.parts().for_each(|part| self.expression(part));
    }
}
