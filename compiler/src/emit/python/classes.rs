//! The classes of a policy: what is kept for a thread and for a node, what all nodes share, and the scheduler.

use std::fmt::Write;

use super::handler::body;
use super::names::method;
use super::{Unit, string};
use crate::emit::python::expression::literal;
use crate::emit::shape::Shape;
use crate::policy::{
    AttributeId, Container, ContainerKind, Element, Entity, Family, Handler, Import, Owner, SortKey, StateClass, Type,
    Value,
};

impl Unit<'_> {
    /// The `const` declarations.
    pub(super) fn constants(&mut self) -> String {
        let mut text = String::new();
        let constants = self.policy.constants.iter().map(|constant| (constant.element, constant.value));
        let constants: Vec<_> = constants.zip(self.names.constants.clone()).collect();
        for (index, ((element, value), name)) in constants.iter().enumerate() {
            let value = match element {
                None => self.literal(*value),
                Some(Element { index: 0, length }) => {
                    let values = constants[index..index + length].iter().map(|((_, value), _)| self.literal(*value));
                    let values = values.collect::<Vec<_>>().join(", ");
                    format!("({values}{})", if *length == 1 { "," } else { "" })
                }
                Some(_) => continue,
            };
            self.helpers.insert("Final");
            let _ = writeln!(text, "{name}: Final = {value}");
        }
        if text.is_empty() { text } else { format!("\n{text}") }
    }

    /// What is kept for a thread.
    pub(super) fn thread(&mut self) -> String {
        self.helpers.insert("Thread");
        let imports: Vec<_> = self.policy.thread_imports.iter().zip(self.names.thread_imports.clone()).collect();
        let mut head = String::new();
        if !imports.is_empty() {
            head.push_str(&self.imported(&imports));
        }
        if !self.names.links.is_empty() {
            let links = self.names.links.iter().map(|link| string(link)).collect::<Vec<_>>().join(", ");
            let _ = writeln!(head, "    LINKS = ({links},)");
        }
        let class = self.names.thread.clone();
        let mut rows = self.attributes(Entity::Thread);
        rows.extend(self.names.links.iter().map(|link| format!("self.{link}: {class} | None = None")));
        rows.extend(imports.iter().map(|(import, name)| self.default(import, name)));
        let heading = "A thread, with what the policy keeps for it.";
        kept(&class, "Thread", heading, &head, &rows)
    }

    /// What the host says of a node.
    pub(super) fn node(&mut self) -> String {
        self.helpers.extend(["Node", "Import"]);
        let properties = self.policy.attributes.iter().zip(&self.names.attributes);
        let properties = properties.filter(|(property, _)| property.of == Entity::Node);
        let mut head = "    IMPORTS = (\n".to_owned();
        for (property, name) in properties {
            let _ = writeln!(head, "        {},", import_row(&property.name, name, property.ty));
        }
        head.push_str("    )\n");
        let rows = self.attributes(Entity::Node);
        kept(&self.names.node.clone(), "Node", "A node, with what the host says of it.", &head, &rows)
    }

    /// With nodes: what all of them share, and the handlers that run on none.
    pub(super) fn shared(&mut self) -> String {
        self.helpers.insert("Nodes");
        let mut rows = self.containers(Entity::Node);
        rows.extend(self.variables(true));
        let (head, imports) = self.imports();
        rows.extend(imports);
        let (thread, node) = (&self.names.thread, &self.names.node);
        let head = format!("    THREAD = {thread}\n    NODE = {node}\n{head}");
        let class = self.names.shared.clone();
        let mut text = kept(&class, "Nodes", "What the schedulers of all nodes share.", &head, &rows)
            .replace("(self, id: int)", "(self)")
            .replace("__init__(id)", "__init__()");
        text.push_str(&self.handlers(true));
        text
    }

    /// The scheduler; with nodes, that of each of them.
    pub(super) fn scheduler(&mut self) -> String {
        self.helpers.insert("Scheduler");
        let nodes = self.policy.has_nodes();
        let mut rows = self.containers(Entity::Thread);
        rows.extend(self.variables(false));
        let mut head = format!("{}    THREAD = {}\n", self.origin(), self.names.thread);
        if nodes {
            rows.insert(0, format!("self.nodes: {} = nodes", self.names.shared));
            let _ = writeln!(head, "    NODES = {}", self.names.shared);
        } else {
            let (imported, defaults) = self.imports();
            head.push_str(&imported);
            rows.extend(defaults);
        }
        head.push_str(&self.families());
        let given = if nodes { format!("(self, nodes: {})", self.names.shared) } else { "(self)".to_owned() };
        let heading = if nodes { "The scheduler of a node." } else { "The scheduler." };
        let mut text = kept(&self.names.scheduler.clone(), "Scheduler", heading, &head, &rows)
            .replace("(self, id: int)", &given)
            .replace("__init__(id)", "__init__()");
        text.push_str(&self.handlers(false));
        text
    }

    /// The names of the families, and which members say of which a node, and the node of a scheduler, is.
    fn families(&self) -> String {
        let Some(families) = &self.policy.families else { return String::new() };
        let Some(here) = families.here else { return String::new() };
        let all = |parts: Vec<String>| match parts.as_slice() {
            [only] => format!("({only},)"),
            parts => format!("({})", parts.join(", ")),
        };
        let names = all(families.names(self.policy).map(string).collect());
        let told = |family: &Family| {
            let property = |id: &AttributeId| &self.policy.attributes[id.0];
            let told = family.properties.iter().map(property);
            all(told.map(|it| format!("({}, {})", string(&it.name), string(it.ty.word()))).collect())
        };
        let told = all(families.all.iter().map(told).collect());
        let (here, node) = (&self.names.variables[here.0], &self.names.attributes[families.of_node.0]);
        let (here, node) = (string(here), string(node));
        format!("    FAMILIES = {names}\n    PROPERTIES = {told}\n    FAMILY = {here}\n    FAMILY_OF_NODE = {node}\n")
    }

    /// Which policy it is, and where its handlers begin: for those who ask why something was decided.
    fn origin(&self) -> String {
        let own = self.policy.events.iter().filter(|handler| handler.owner == Owner::Policy);
        let lines: Vec<String> = own.map(|handler| format!("{}: {}", string(&handler.name), handler.at.line)).collect();
        let (name, source) = (string(&self.policy.name), string(&self.policy.source));
        format!("    NAME = {name}\n    SOURCE = {source}\n    LINES = {{{}}}\n", lines.join(", "))
    }

    /// The methods that handle events and answer queries. A handler that several events share is one.
    fn handlers(&mut self, global: bool) -> String {
        let policy = self.policy;
        let handlers = policy.events.iter().chain(&policy.queries).filter(|handler| handler.global == global);
        let mut written: Vec<(String, String)> = Vec::new();
        let mut text = String::new();
        for handler in handlers {
            let (name, definition) = (method(&handler.name), self.definition(handler));
            let same = written.iter().find(|(_, other)| *other == definition);
            if let Some((first, _)) = same {
                let _ = write!(text, "\n    {name} = {first}\n");
            } else {
                let _ = write!(text, "\n    def {name}{definition}");
                written.push((name, definition));
            }
        }
        text
    }

    /// A method from its parameters on.
    fn definition(&mut self, handler: &Handler) -> String {
        let shape = Shape::of(handler, self.framework);
        let returns = match (shape, handler.returns) {
            (_, Some(ty)) => type_name(ty).to_owned(),
            (Shape::Dispatch, None) => format!("{} | None", self.names.thread),
            (Shape::Event | Shape::Query, None) => "None".to_owned(),
        };
        let (parameters, text) = body(self, handler, shape);
        let mut given = "self".to_owned();
        for (parameter, local) in parameters.iter().zip(&handler.locals) {
            let class = match local.kind {
                crate::policy::LocalKind::Node => &self.names.node,
                crate::policy::LocalKind::Thread | crate::policy::LocalKind::Value(_) => &self.names.thread,
            };
            let _ = write!(given, ", {parameter}: {class}");
        }
        format!("({given}) -> {returns}:\n{text}")
    }

    fn containers(&mut self, holds: Entity) -> Vec<String> {
        let class = match holds {
            Entity::Thread => self.names.thread.clone(),
            Entity::Node => self.names.node.clone(),
        };
        let mut rows = Vec::new();
        let containers = self.policy.containers.iter().zip(self.names.containers.clone());
        for (container, name) in containers.filter(|(container, _)| container.holds == holds) {
            let (kind, made) = self.container(container);
            match container.element {
                None => rows.push(format!("self.{name}: {kind}[{class}] = {made}")),
                Some(Element { index: 0, length }) => {
                    rows.push(format!("self.{name}: list[{kind}[{class}]] = [{made} for _ in range({length})]"));
                }
                Some(_) => {}
            }
        }
        rows
    }

    /// The class of a container, and how one is made.
    fn container(&mut self, container: &Container) -> (&'static str, String) {
        let (kind, keys) = match &container.kind {
            ContainerKind::Threadref => ("Slot", &[][..]),
            ContainerKind::Queue => ("Queue", &[][..]),
            ContainerKind::Stack => ("Stack", &[][..]),
            ContainerKind::Pqueue(keys) => ("Pqueue", keys.as_slice()),
            ContainerKind::Pstack(keys) => ("Pstack", keys.as_slice()),
        };
        let class = match container.class {
            StateClass::Running => "RUNNING",
            StateClass::Ready => "READY",
            StateClass::Blocked => "BLOCKED",
            StateClass::Terminated => "TERMINATED",
        };
        self.helpers.extend([kind, class]);
        let keys = keys.iter().map(|key| self.key(key)).collect::<String>();
        (kind, format!("{kind}({class}{keys})"))
    }

    fn key(&mut self, key: &SortKey) -> String {
        let function = if key.reverse { "lowest" } else { "highest" };
        self.helpers.insert(function);
        format!(", {function}({})", string(&self.names.attributes[key.attribute.0]))
    }

    fn variables(&mut self, global: bool) -> Vec<String> {
        let variables = self.policy.variables.iter().zip(self.names.variables.clone());
        let variables = variables.map(|(variable, name)| (name, variable.element, variable.ty, variable.initial));
        let own = self.policy.variables.iter().zip(variables);
        let own: Vec<_> = own.filter(|(variable, _)| variable.global == global).map(|(_, row)| row).collect();
        self.initialised(&own)
    }

    fn attributes(&mut self, of: Entity) -> Vec<String> {
        let attributes = self.policy.attributes.iter().zip(self.names.attributes.clone());
        let attributes = attributes.filter(|(attribute, _)| attribute.of == of);
        let own: Vec<_> =
            attributes.map(|(attribute, name)| (name, attribute.element, attribute.ty, attribute.initial)).collect();
        self.initialised(&own)
    }

    /// Members with their first values.
    fn initialised(&mut self, members: &[(String, Option<Element>, Type, Value)]) -> Vec<String> {
        let mut rows = Vec::new();
        for (index, (name, element, ty, initial)) in members.iter().enumerate() {
            let (ty, value) = (type_name(*ty), self.literal(*initial));
            match element {
                None => rows.push(format!("self.{name}: {ty} = {value}")),
                Some(Element { index: 0, length }) => {
                    let all = &members[index..index + length];
                    let values = if all.iter().all(|(.., other)| other == initial) {
                        format!("[{value}] * {length}")
                    } else {
                        let values = all.iter().map(|(.., value)| self.literal(*value)).collect::<Vec<_>>();
                        format!("[{}]", values.join(", "))
                    };
                    rows.push(format!("self.{name}: list[{ty}] = {values}"));
                }
                Some(_) => {}
            }
        }
        rows
    }

    /// The imports of the policy: the table for the host, and the members.
    fn imports(&mut self) -> (String, Vec<String>) {
        let imports: Vec<_> = self.policy.imports.iter().zip(self.names.imports.clone()).collect();
        if imports.is_empty() {
            return (String::new(), Vec::new());
        }
        let rows = imports.iter().map(|(import, name)| self.default(import, name)).collect();
        (self.imported(&imports), rows)
    }

    fn imported(&mut self, imports: &[(&Import, String)]) -> String {
        self.helpers.insert("Import");
        let mut text = "    IMPORTS = (\n".to_owned();
        for (import, name) in imports {
            let _ = writeln!(text, "        {},", import_row(&import.name, name, import.ty));
        }
        text + "    )\n"
    }

    fn default(&mut self, import: &Import, name: &str) -> String {
        let value = self.literal(import.default);
        format!("self.{name}: {} = {value}  # imported", type_name(import.ty))
    }

    fn literal(&mut self, value: Value) -> String {
        let (text, helper) = literal(value);
        self.helpers.extend(helper);
        text
    }
}

/// A class with members that have first values.
fn kept(class: &str, base: &str, heading: &str, head: &str, rows: &[String]) -> String {
    let mut text = format!("\n\nclass {class}({base}):\n    \"\"\"{heading}\"\"\"\n");
    if !head.is_empty() {
        let _ = write!(text, "\n{head}");
    }
    if !rows.is_empty() {
        let _ = write!(text, "\n    def __init__(self, id: int) -> None:\n        super().__init__(id)\n");
        rows.iter().for_each(|row| {
            let _ = writeln!(text, "        {row}");
        });
    }
    text
}

/// What the host must know of a variable that it sets.
fn import_row(known_as: &str, member: &str, ty: Type) -> String {
    format!("Import({}, {}, {})", string(known_as), string(member), string(ty.word()))
}

fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Int | Type::Time => "int",
        Type::Bool => "bool",
        Type::Float => "float",
    }
}
