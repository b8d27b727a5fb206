//! What a file declares: constants, the scheduler's own data, threads, and the orders of sorted containers.

use std::fmt::Write;

use crate::policy::{ContainerKind, Element, Entity, Import, Reason, SortKey, Value};

use super::host::Memory;
use super::{Host, Instance, Unit, class, expression, type_name};

impl Unit<'_> {
    /// Enumeration constants if they fit into C's `int`, else objects. If a host includes the file, an array exists
    /// once.
    pub(super) fn constants(&mut self) {
        let (mut small, mut large) = (String::new(), String::new());
        // In a file that is included, compilers do not warn of unused objects.
        let often = self.names.host.is_included_often();
        let unused = if often { "" } else { " __attribute__((unused))" };
        for (index, (constant, name)) in self.policy.constants.iter().zip(&self.names.constants).enumerate() {
            if let Some(Element { index: place, length }) = constant.element {
                if place == 0 {
                    let values = self.policy.constants[index..index + length].iter().map(|constant| constant.value);
                    let values = values.map(expression::literal).collect::<Vec<_>>().join(", ");
                    let (ty, name) = (type_name(constant.value.ty()), Element::array(name));
                    let _ = if often {
                        let _ = writeln!(self.definitions, "const {ty} {name}[{length}] = {{{values}}};");
                        writeln!(large, "extern const {ty} {name}[{length}];")
                    } else {
                        writeln!(large, "static const {ty} {name}[{length}]{unused} = {{{values}}};")
                    };
                }
                continue;
            }
            match constant.value {
                Value::Time(_) | Value::Float(_) => {
                    let (ty, value) = (type_name(constant.value.ty()), expression::literal(constant.value));
                    let _ = writeln!(large, "static const {ty} {name}{unused} = {value};");
                }
                Value::Int(value) if i32::try_from(value).is_err() => {
                    let value = expression::literal(constant.value);
                    let _ = writeln!(large, "static const catapults_int {name}{unused} = {value};");
                }
                Value::Int(value) => {
                    let _ = writeln!(small, "    {name} = {value},");
                }
                Value::Bool(value) => {
                    let _ = writeln!(small, "    {name} = {},", i32::from(value));
                }
            }
        }
        if !small.is_empty() {
            self.put(&format!("\nenum {{\n{small}}};\n"));
        }
        if !large.is_empty() {
            self.put(&format!("\n{large}"));
        }
    }

    /// The members for containers of threads or of nodes, and the variables of an instance or of all.
    pub(super) fn members(&self, holds: Entity) -> Vec<(String, String)> {
        let (policy, names) = (self.policy, &self.names);
        let mut rows = Vec::new();
        for (container, name) in policy.containers.iter().zip(&names.containers) {
            let Some(name) = declared(name, container.element).filter(|_| container.holds == holds) else { continue };
            let declaration = match container.kind {
                ContainerKind::Threadref => format!("{}{name};", names.host.pointer("struct catapults_thread")),
                ContainerKind::Queue | ContainerKind::Stack => {
                    format!("struct catapults_{} {name};", names.host.contract.list(&container.kind))
                }
                ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) => format!("struct catapults_sorted {name};"),
            };
            let what = match holds {
                Entity::Thread => class(container.class),
                Entity::Node => "of nodes",
            };
            rows.push((declaration, format!("{}, {what}", self.kind(&container.kind))));
        }
        for (variable, name) in policy.variables.iter().zip(&names.variables) {
            let Some(name) = declared(name, variable.element) else { continue };
            if variable.global == (holds == Entity::Node) {
                rows.push((format!("{} {name};", type_name(variable.ty)), String::new()));
            }
        }
        rows
    }

    /// The members that exist once, however many instances there are.
    pub(super) fn single_members(&self) -> Vec<(String, String)> {
        let (policy, names) = (self.policy, &self.names);
        let mut rows = Vec::new();
        for (import, name) in policy.imports.iter().zip(&names.imports) {
            rows.push(imported(names.host, import, name));
        }
        if policy.uses_now() {
            let note = "the instant of the event that is handled; the host writes it".to_owned();
            rows.push((format!("catapults_time {};", names.now), note));
        }
        if policy.uses_random() {
            let note = "what is drawn from; the host seeds it".to_owned();
            rows.push((format!("struct catapults_random {};", names.random), note));
        }
        if policy.tells() {
            let note = "why the last request was refused, if that has values".to_owned();
            let member = match names.host.memory {
                Memory::Own => format!("struct catapults_told {};", names.told),
                Memory::Arena => format!("int64_t {}[{}];", names.told, Reason::MOST_VALUES),
            };
            rows.push((member, note));
        }
        rows
    }

    /// The scheduler's own data.
    pub(super) fn instance(&mut self) {
        let (policy, names) = (self.policy, &self.names);
        let mut rows = Vec::new();
        if policy.has_nodes() {
            rows.push((format!("struct {} *{};", names.shared, names.shared_member), "the host writes it".to_owned()));
        }
        rows.extend(self.members(Entity::Thread));
        if !policy.has_nodes() {
            rows.extend(self.single_members());
        }
        if policy.timers().next().is_some() {
            rows.push((format!("struct catapults_timers {};", names.timers), "armed".to_owned()));
        }
        let what = if policy.has_nodes() { "The scheduler of a node." } else { "The scheduler." };
        let mut text = format!("\n/* {what} */\nstruct {} {{\n{}}};\n", names.policy, members(&rows));
        if names.host.instance == Instance::Object {
            let _ = write!(text, "\n#define self {0}_self\nextern struct {0} self;\n", names.policy);
            let _ = writeln!(self.definitions, "struct {0} {0}_self;", names.policy);
        }
        self.put(&text);
    }

    /// The numbers of the containers.
    pub(super) fn numbers(&mut self) {
        let (policy, names) = (self.policy, &self.names);
        let mut text = String::from("\n/* Where threads are: catapults_thread.container. 0: in hand. */\nenum {\n");
        for (index, number) in names.numbers.iter().enumerate() {
            let _ = match policy.containers[index].element {
                None => writeln!(text, "    {number} = {},", index + 1),
                Some(Element { index: 0, length }) => {
                    writeln!(text, "    {number} = {}, /* and the other elements, to {} */", index + 1, index + length)
                }
                Some(_) => Ok(()),
            };
        }
        text.push_str("};\n");
        self.put(&text);
    }

    /// What the policy keeps for a thread.
    pub(super) fn thread(&mut self) {
        let (policy, names) = (self.policy, &self.names);
        let thread = &names.thread;
        let mut rows = vec![("struct catapults_thread base;".to_owned(), String::new())];
        let attributes = policy.attributes.iter().zip(&names.attributes);
        for (attribute, name) in attributes.filter(|(attribute, _)| attribute.of == Entity::Thread) {
            let Some(name) = declared(name, attribute.element) else { continue };
            let ty = if attribute.timer.is_some() { "struct catapults_timer" } else { type_name(attribute.ty) };
            rows.push((format!("{ty} {name};"), String::new()));
        }
        rows.extend(names.links.iter().map(|name| (format!("struct catapults_link {name};"), String::new())));
        if !names.links.is_empty() {
            let pointer = names.host.pointer("struct catapults_link");
            rows.push((format!("{pointer}{};", names.linked), "those to this thread".to_owned()));
        }
        for (import, name) in policy.thread_imports.iter().zip(&names.thread_imports) {
            rows.push(imported(names.host, import, name));
        }
        let conversion = names.host.conversion(thread);
        let text = format!(
            "\n/* A thread, with what the scheduler keeps for it. */\nstruct {thread} {{\n{}}};\n\n{conversion}\n",
            members(&rows)
        );
        self.put(&text);
    }

    /// The order of each sorted container.
    pub(super) fn orders(&mut self) {
        for (container, name) in self.policy.containers.iter().zip(&self.names.orders) {
            let (ContainerKind::Pqueue(keys) | ContainerKind::Pstack(keys)) = &container.kind else { continue };
            if container.element.is_some_and(|element| element.index > 0) {
                continue;
            }
            let (inline, pointer) =
                (self.names.host.in_place(), self.names.host.pointer("const struct catapults_thread"));
            let thread = match container.holds {
                Entity::Thread => &self.names.thread,
                Entity::Node => &self.names.node,
            };
            let mut text = format!("\n/* {} leaves `{}` first. */\n", self.keys(keys), Element::array(&container.name));
            let _ = writeln!(text, "{inline} int {name}({pointer}a, {pointer}b) {{");
            for key in keys {
                let member = &self.names.attributes[key.attribute.0];
                let before = if key.reverse { "<" } else { ">" };
                let _ = writeln!(text, "    if ({thread}(a)->{member} != {thread}(b)->{member})");
                let _ = writeln!(text, "        return {thread}(a)->{member} {before} {thread}(b)->{member} ? -1 : 1;");
            }
            if keys.is_empty() {
                text.push_str("    (void)a, (void)b;\n");
            }
            text.push_str("    return 0;\n}\n");
            self.text.push_str(&text);
        }
    }

    fn kind(&self, kind: &ContainerKind) -> String {
        match kind {
            ContainerKind::Threadref => "threadref".to_owned(),
            ContainerKind::Queue => "queue".to_owned(),
            ContainerKind::Stack => "stack".to_owned(),
            ContainerKind::Pqueue(keys) => format!("pqueue, {} first", self.keys(keys)),
            ContainerKind::Pstack(keys) => format!("pstack, {} first", self.keys(keys)),
        }
    }

    fn keys(&self, keys: &[SortKey]) -> String {
        let key = |key: &SortKey| {
            let name = &self.verified.policy().attributes[key.attribute.0].name;
            format!("{} {name}", if key.reverse { "lowest" } else { "highest" })
        };
        keys.iter().map(key).collect::<Vec<_>>().join(", then ")
    }
}

/// Members of a struct, with their comments in one column.
pub(super) fn members(rows: &[(String, String)]) -> String {
    let width = rows.iter().filter(|row| !row.1.is_empty()).map(|row| row.0.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (declaration, note) in rows {
        let _ = match note.as_str() {
            "" => writeln!(text, "    {declaration}"),
            note => writeln!(text, "    {declaration:width$} /* {note} */"),
        };
    }
    text
}

/// How a member is declared. `None` for all elements of an array but the first, which declares the array.
pub(super) fn declared(name: &str, element: Option<Element>) -> Option<String> {
    match element {
        None => Some(name.to_owned()),
        Some(Element { index: 0, length }) => Some(format!("{}[{length}]", Element::array(name))),
        Some(_) => None,
    }
}

/// The member of an imported variable.
fn imported(host: Host, import: &Import, (variable, fallback): &(String, String)) -> (String, String) {
    (host.imported(type_name(import.ty), variable, fallback), "imported".to_owned())
}
