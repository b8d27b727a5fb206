//! How a scheduler and a thread are set up, and how a thread leaves whatever container holds it.

use std::fmt::Write;

use crate::policy::{Container, ContainerId, ContainerKind, Element, Entity, Import, Policy, Value};

use super::arrays::{self, Group};
use super::host::{Handlers, Host};
use super::names::Names;
use super::{Unit, expression};

impl Unit<'_> {
    /// The function that sets up an instance.
    pub(super) fn start(&mut self) -> String {
        let wanted = format!("{}_start", self.names.policy);
        let name = self.names.file.take(&wanted);
        let (policy, names) = (self.policy, &self.names);
        let of_self = names.host.instance.of_self();
        let (given, opening) = names.host.given("", &names.policy, true);
        let given = given.as_deref().unwrap_or("void");
        let mut text = format!("\n{} void {name}({given}) {{\n{opening}", names.host.linkage());
        text.push_str(&self.set_up(Entity::Thread));
        if !policy.has_nodes() {
            text.push_str(&self.set_up_single());
        }
        if policy.timers().next().is_some() {
            let _ = writeln!(text, "    catapults_timers_init(&{of_self}{});", names.timers);
        }
        text.push_str("}\n");
        self.put(&text);
        name
    }

    /// The statements that set up containers of threads or of nodes, and the variables of an instance or of all.
    pub(super) fn set_up(&self, holds: Entity) -> String {
        let (policy, names, mut text) = (self.policy, &self.names, String::new());
        let (host, of_self) = (names.host, names.host.instance.of_self());
        let containers = policy.containers.iter().zip(&names.containers);
        for (container, name) in containers.filter(|(container, _)| container.holds == holds) {
            match container.element {
                None => {
                    let _ = writeln!(text, "    {}", emptied(host, container, &format!("{of_self}{name}")));
                }
                Some(Element { index: 0, length }) => {
                    let element = host.element(&format!("{of_self}{}", Element::array(name)), "i");
                    let each = emptied(host, container, &element);
                    let _ = writeln!(text, "{}        {each}", each_of(host, length));
                }
                Some(_) => {}
            }
        }
        let own = policy.variables.iter().zip(&names.variables);
        let own = own.filter(|(variable, _)| variable.global == (holds == Entity::Node));
        let (variables, members): (Vec<_>, Vec<_>) =
            own.map(|(variable, name)| ((variable.element, variable.initial), name.clone())).unzip();
        text.push_str(&initialised(host, of_self, &variables, &members));
        text
    }

    /// The same for what exists once.
    pub(super) fn set_up_single(&self) -> String {
        let (policy, names, mut text) = (self.policy, &self.names, String::new());
        let of_self = names.host.instance.of_self();
        for (import, name) in policy.imports.iter().zip(&names.imports) {
            text.push_str(&defaults(names.host, of_self, import, name));
        }
        if policy.uses_now() {
            let _ = writeln!(text, "    {of_self}{} = 0;", names.now);
        }
        if policy.uses_random() {
            let _ = writeln!(text, "    catapults_random_seed(&{of_self}{}, CATAPULTS_RANDOM_SEED);", names.random);
        }
        text
    }

    /// The function that sets up a thread.
    pub(super) fn adopt(&mut self) -> String {
        let wanted = format!("{}_adopt", self.names.policy);
        let name = self.names.file.take(&wanted);
        let (policy, names) = (self.policy, &self.names);
        let thread = &names.thread;
        let inline = names.host.linkage();
        let mut text = match names.host.handlers {
            Handlers::Table => format!(
                "\n{inline} void {name}(void *self_, struct catapults_thread *t_) {{\n    struct {thread} *t = {thread}(t_);\n    (void)self_;\n"
            ),
            Handlers::Name => {
                format!("\n{inline} void {name}({}t) {{\n", names.host.pointer(&format!("struct {thread}")))
            }
        };
        text.push_str("    t->base.container = 0;\n");
        let attributes = || {
            let all = policy.attributes.iter().zip(&names.attributes);
            all.filter(|(attribute, _)| attribute.of == Entity::Thread)
        };
        let (plain, plain_names): (Vec<_>, Vec<_>) = attributes()
            .filter(|(attribute, _)| attribute.timer.is_none())
            .map(|(attribute, name)| ((attribute.element, attribute.initial), name.clone()))
            .unzip();
        text.push_str(&initialised(names.host, "t->", &plain, &plain_names));
        for (number, (_, name)) in attributes().filter(|(attribute, _)| attribute.timer.is_some()).enumerate() {
            let _ = writeln!(text, "    catapults_timer_init(&t->{name}, &t->base, {number});");
        }
        for name in &names.links {
            let _ = writeln!(text, "    t->{name}.to = NULL;");
        }
        if !names.links.is_empty() {
            let _ = writeln!(text, "    t->{} = NULL;", names.linked);
        }
        for (import, name) in policy.thread_imports.iter().zip(&names.thread_imports) {
            text.push_str(&defaults(names.host, "t->", import, name));
        }
        text.push_str("}\n");
        self.put(&text);
        name
    }

    /// The way out of whatever container holds a thread or a node.
    pub(super) fn take(&mut self, entity: Entity) {
        let (name, tag) = match entity {
            Entity::Thread => (&self.names.take, &self.names.policy),
            Entity::Node => (&self.names.take_node, &self.names.shared),
        };
        let (host, what) = (self.names.host, entity.word());
        let thread = format!("{}t", host.pointer("struct catapults_thread"));
        let (inline, parameters) = (host.called(), host.parameters(tag, &thread));
        let mut text = format!(
            "\n/* Takes a {what} out of wherever it is. */\n\
             {inline} void {name}({parameters}) {{\n"
        );
        let all: Vec<ContainerId> = self.policy.holding(entity).collect();
        let groups = arrays::groups(self.policy, &all);
        for group in groups.iter().filter(|group| matches!(group, Group::Array(..))) {
            let (holds, removal) = (group.holds(&self.names, "t"), removal(self.policy, &self.names, group, "t"));
            let _ = write!(text, "    if ({holds}) {{\n        {removal}\n        return;\n    }}\n");
        }
        let singles = groups.iter().any(|group| matches!(group, Group::One(_)));
        text.push_str(if singles { "    switch (t->container) {\n" } else { "" });
        for group in groups.iter().filter(|group| matches!(group, Group::One(_))) {
            let (number, removal) = (group.number(&self.names, "t"), removal(self.policy, &self.names, group, "t"));
            let _ = write!(text, "    case {number}:\n        {removal}\n        break;\n");
        }
        text.push_str(if singles { "    }\n}\n" } else { "}\n" });
        self.put(&text);
    }
}

/// The statement that sets up a container.
fn emptied(host: Host, container: &Container, member: &str) -> String {
    match container.kind {
        ContainerKind::Threadref => format!("{member} = NULL;"),
        ContainerKind::Queue | ContainerKind::Stack => {
            format!("catapults_{}_init(&{member});", host.contract.list(&container.kind))
        }
        ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) => format!("catapults_sorted_init(&{member});"),
    }
}

/// The statements that give variables their first values; for an array, a loop if all elements have the same one.
fn initialised(host: Host, object: &str, variables: &[(Option<Element>, Value)], names: &[String]) -> String {
    let mut text = String::new();
    for (index, ((element, initial), name)) in variables.iter().zip(names).enumerate() {
        let value = expression::literal(*initial);
        let first = index - element.map_or(0, |element| element.index);
        let all = &variables[first..first + element.map_or(1, |element| element.length)];
        let alike = all.len() > 1 && all.iter().all(|(_, other)| other == initial);
        let _ = match element {
            Some(Element { index: 0, length }) if alike => {
                let element = host.element(&format!("{object}{}", Element::array(name)), "i");
                writeln!(text, "{}        {element} = {value};", each_of(host, *length))
            }
            Some(_) if alike => Ok(()),
            Some(_) | None => writeln!(text, "    {object}{name} = {value};"),
        };
    }
    text
}

/// The head of a loop over the elements of an array.
fn each_of(host: Host, length: usize) -> String {
    format!("    for (unsigned i = {}; {}; i++)\n", host.counted("0"), host.looping(&format!("i < {length}")))
}

fn defaults(host: Host, object: &str, import: &Import, (variable, fallback): &(String, String)) -> String {
    host.import_set_up(object, variable, fallback, &expression::literal(import.default))
}

/// The statement that takes `thread` out of a container that holds it.
pub(super) fn removal(policy: &Policy, names: &Names, group: &Group, thread: &str) -> String {
    let member = group.member(names, thread);
    match policy.containers[group.id().0].kind {
        ContainerKind::Threadref => format!("{member} = NULL;"),
        ContainerKind::Queue | ContainerKind::Stack => {
            let list = names.host.contract.list(&policy.containers[group.id().0].kind);
            format!("catapults_{list}_remove(&{member}, {thread});")
        }
        ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) => {
            format!("catapults_sorted_remove(&{member}, {thread});")
        }
    }
}
