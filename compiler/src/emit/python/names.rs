//! Names in generated Python: those of the source, with a trailing underscore where Python, the host or this file has
//! taken them.

use crate::framework::Framework;
use crate::policy::{Element, Policy};
use std::collections::BTreeSet;

/// What Python reserves, the built-in names that generated code uses, and what it says about itself.
const RESERVED: &[&str] = &[
    "ABI", "False", "None", "POLICY", "True", "and", "any", "as", "assert", "async", "await", "bool", "break", "class",
    "continue", "def", "del", "elif", "else", "except", "finally", "float", "for", "from", "global", "if", "import",
    "in", "int", "is", "lambda", "len", "list", "map", "max", "min", "nonlocal", "not", "or", "pass", "raise", "range",
    "return", "self", "sum", "super", "try", "tuple", "while", "with", "yield",
];

/// What generated code imports from the module that the framework's header names.
pub(super) const HELPERS: &[&str] = &[
    "BLOCKED",
    "Final",
    "Guard",
    "INFINITY",
    "Import",
    "MS",
    "Node",
    "Nodes",
    "Pqueue",
    "Pstack",
    "Queue",
    "READY",
    "RUNNING",
    "Refused",
    "S",
    "Scheduler",
    "Slot",
    "Stack",
    "TERMINATED",
    "Thread",
    "US",
    "every",
    "highest",
    "int16",
    "int32",
    "int64",
    "lowest",
    "named",
    "nearest",
    "number",
    "occupied",
    "quotient",
    "ratio",
    "remainder",
    "shift_left",
    "shift_right",
    "told_bool",
    "told_time",
    "truncated",
];

/// The members of the classes from which those of threads and nodes are derived.
const ENTITY: &[&str] =
    &["IMPORTS", "LINKS", "container", "destroy", "ended", "id", "link", "named_by", "rank", "refile"];

/// The members of the classes from which schedulers are derived.
const SCHEDULER: &[&str] = &[
    "FAMILIES",
    "FAMILY",
    "FAMILY_OF_NODE",
    "IMPORTS",
    "LINES",
    "NAME",
    "NODE",
    "NODES",
    "PROPERTIES",
    "SOURCE",
    "THREAD",
    "containers",
    "handler",
    "nodes",
    "now",
    "random",
    "send",
    "sent",
    "take_sent",
];

/// Names taken in one scope.
#[derive(Clone, Default)]
pub(super) struct Scope(BTreeSet<String>);

impl Scope {
    /// Takes the name, or the nearest one that is free.
    pub(super) fn take(&mut self, wanted: &str) -> String {
        // Python changes names with two leading underscores.
        let mut name = if wanted.starts_with('_') { format!("x{wanted}") } else { wanted.to_owned() };
        while self.0.contains(&name) {
            name.push('_');
        }
        self.0.insert(name.clone());
        name
    }

    fn with(taken: &[&str]) -> Scope {
        Scope(RESERVED.iter().chain(taken).map(|name| (*name).to_owned()).collect())
    }
}

/// The names of a policy's parts. Each list runs parallel to the one of the policy; an element of an array has the name
/// of the array.
pub(super) struct Names {
    /// The class of schedulers.
    pub scheduler: String,
    /// The class of what all nodes share.
    pub shared: String,
    /// The class of threads.
    pub thread: String,
    /// The class of nodes.
    pub node: String,
    pub constants: Vec<String>,
    pub containers: Vec<String>,
    pub variables: Vec<String>,
    pub imports: Vec<String>,
    pub attributes: Vec<String>,
    pub links: Vec<String>,
    pub thread_imports: Vec<String>,
    /// The names that the file defines or imports.
    pub file: Scope,
}

impl Names {
    pub(super) fn new(policy: &Policy, framework: &Framework) -> Names {
        let mut file = Scope::with(HELPERS);
        let class = camel(&policy.name);
        let scheduler = file.take(&class);
        let [shared, thread, node] = ["Nodes", "Thread", "Node"].map(|end| file.take(&format!("{class}{end}")));
        let constants = policy.constants.iter().map(|constant| (constant.name.as_str(), constant.element));
        let constants = taken(&mut file, constants);

        let mut members = Scope::with(SCHEDULER);
        let handlers = framework.events.iter().map(|event| &event.name);
        for handler in handlers.chain(framework.queries.iter().map(|query| &query.name)) {
            members.take(&method(handler));
        }
        let containers = policy.containers.iter().map(|container| (container.name.as_str(), container.element));
        let containers = taken(&mut members, containers);
        let variables = policy.variables.iter().map(|variable| (variable.name.as_str(), variable.element));
        let variables = taken(&mut members, variables);
        let imports = taken(&mut members, policy.imports.iter().map(|import| (import.name.as_str(), None)));

        let mut kept = Scope::with(ENTITY);
        let attributes = policy.attributes.iter().map(|attribute| (attribute.name.as_str(), attribute.element));
        let attributes = taken(&mut kept, attributes);
        let links = taken(&mut kept, policy.links.iter().map(|link| (link.name.as_str(), None)));
        let of_threads = policy.thread_imports.iter().map(|import| (import.name.as_str(), None));
        let thread_imports = taken(&mut kept, of_threads);
        Names {
            scheduler,
            shared,
            thread,
            node,
            constants,
            containers,
            variables,
            imports,
            attributes,
            links,
            thread_imports,
            file,
        }
    }
}

/// The method that handles an event, or answers a query.
pub(super) fn method(handler: &str) -> String {
    handler.replace('.', "_")
}

/// The nearest free names, the same for all elements of an array.
fn taken<'a>(scope: &mut Scope, wanted: impl Iterator<Item = (&'a str, Option<Element>)>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (name, element) in wanted {
        let same = names.last().filter(|_| element.is_some_and(|element| element.index > 0)).cloned();
        names.push(same.unwrap_or_else(|| scope.take(Element::array(name))));
    }
    names
}

/// `LeastLoaded` of `least_loaded`.
fn camel(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    let capital = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
    let name: String = words.map(capital).collect();
    // A class is no number, and no word alone.
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) { name } else { format!("Policy{name}") }
}
