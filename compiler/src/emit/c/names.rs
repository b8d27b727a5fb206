//! Names in generated C: those of the source, with a trailing underscore where C or this file has taken them.

use super::arrays::Helper;
use super::economy;
use super::host::{Host, Instance};
use crate::policy::{ContainerId, Element, Policy};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What C17 and C23 reserve, and what the included headers define as macros or types.
const RESERVED: &[&str] = &[
    "NULL",
    "alignas",
    "alignof",
    "asm",
    "auto",
    "bool",
    "break",
    "case",
    "char",
    "const",
    "constexpr",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "false",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "linux",
    "long",
    "max_align_t",
    "nullptr",
    "nullptr_t",
    "offsetof",
    "ptrdiff_t",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "size_t",
    "sizeof",
    "static",
    "static_assert",
    "struct",
    "switch",
    "thread_local",
    "true",
    "typedef",
    "typeof",
    "typeof_unqual",
    "union",
    "unix",
    "unreachable",
    "unsigned",
    "void",
    "volatile",
    "wchar_t",
    "while",
];

/// What a dispatcher into which the file is compiled uses as its own names.
const HOST: &[&str] = &[
    "context",
    "core",
    "dispatcher",
    "due",
    "node",
    "processor",
    "recorder",
    "running_frame",
    "scheduler",
    "shortcut",
    "timer",
    "told",
    "tools_context",
    "trace_file",
    "trace_record",
    "watch",
];

/// Names taken in one scope of C. A clone for an inner block copies only the handler's own names.
#[derive(Clone, Default)]
pub(super) struct Scope {
    outside: Rc<BTreeSet<String>>,
    taken: BTreeSet<String>,
}

impl Scope {
    /// A scope in which all names of this one are taken, too.
    pub(super) fn within(&self) -> Scope {
        Scope { outside: Rc::new(self.outside.union(&self.taken).cloned().collect()), taken: BTreeSet::new() }
    }

    /// Whether the name is taken.
    pub(super) fn has(&self, name: &str) -> bool {
        self.outside.contains(name) || self.taken.contains(name)
    }

    /// Takes the name, or the nearest one that is free.
    pub(super) fn take(&mut self, wanted: &str) -> String {
        // Too many names with a leading underscore belong to the compiler.
        let mut name = if wanted.starts_with('_') { format!("x{wanted}") } else { wanted.to_owned() };
        while is_reserved(&name) || self.outside.contains(&name) || self.taken.contains(&name) {
            name.push('_');
        }
        self.taken.insert(name.clone());
        name
    }
}

/// No name that ends in an underscore is reserved.
fn is_reserved(name: &str) -> bool {
    let ours = ["bpf_", "catapults_", "CATAPULTS_", "BLOCK_", "DISPATCHER_", "THREAD_", "TRACE_"];
    let ours = HOST.contains(&name) || ours.iter().any(|prefix| name.starts_with(prefix));
    let limit = ["_MAX", "_MIN", "_WIDTH", "_C"].iter().any(|suffix| name.ends_with(suffix));
    let integer = (name.starts_with("int") || name.starts_with("uint")) && name.ends_with("_t");
    !name.ends_with('_') && (ours || limit || integer || RESERVED.contains(&name))
}

/// Why a handler stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// A constant of the contract.
    pub why: &'static str,
    /// In the policy's source.
    pub line: u32,
    /// The guard, or the reason.
    pub text: String,
}

/// The names of a policy's parts. Each list runs parallel to the one of the policy.
pub(super) struct Names {
    /// What the file is for.
    pub host: Host,
    /// The prefix of all that the file defines, and the tag of the instance's struct.
    pub policy: String,
    /// The function from a thread to the policy's part of it, and the tag of that struct.
    pub thread: String,
    /// The function that takes a thread out of wherever it is.
    pub take: String,
    /// With nodes: the tag of the struct of what all instances share, the pointer to it in an instance, and its member
    /// for the threads that have been sent to nodes.
    pub shared: String,
    pub shared_member: String,
    pub sent: String,
    /// The same as `thread` and `take`, for nodes.
    pub node: String,
    pub take_node: String,
    /// Enumeration constants or objects.
    pub constants: Vec<String>,
    /// Members of the instance.
    pub containers: Vec<String>,
    /// Enumeration constants: the containers' numbers, from 1.
    pub numbers: Vec<String>,
    /// The comparison functions of sorted containers; unused for the others.
    pub orders: Vec<String>,
    /// In an arena: why handlers stop. Their numbers are from 1.
    pub stops: RefCell<Vec<Stop>>,
    /// In a small host: the functions into containers to which several statements lead.
    pub entrances: BTreeMap<ContainerId, String>,
    /// The functions that sort threads, with their bodies.
    pub loops: RefCell<Vec<(String, String)>>,
    /// Member of the instance: the instant of the event that is handled, if the policy uses it.
    pub now: String,
    /// Member of the instance: the generator, if the policy draws.
    pub random: String,
    /// Member of the instance: why a request was refused, if a reason has values.
    pub told: String,
    /// A member of the instance: the armed timers.
    pub timers: String,
    /// The functions over all elements of an array, by its first element.
    helpers: BTreeMap<ContainerId, [String; 3]>,
    /// Members of the instance.
    pub variables: Vec<String>,
    /// Members of the instance: the pointer, and the default to which it points until the variable is registered.
    pub imports: Vec<(String, String)>,
    /// Members of the thread.
    pub attributes: Vec<String>,
    /// Members of the thread.
    pub links: Vec<String>,
    /// With links: the thread's member for the links to it, the function that sets a link, and the one that ends all
    /// links of a thread.
    pub linked: String,
    pub link: String,
    pub unlink: String,
    /// Members of the thread, as for `imports`.
    pub thread_imports: Vec<(String, String)>,
    /// The names that the file defines.
    pub file: Scope,
}

impl Names {
    pub(super) fn new(policy: &Policy, host: Host) -> Self {
        let mut file = Scope::default();
        let (mut instance, mut members) = (Scope::default(), Scope::default());
        if host.instance == Instance::Object {
            // A macro, which would replace this name everywhere.
            for scope in [&mut file, &mut instance, &mut members] {
                scope.take("self");
            }
        }
        // The prefix must stay distinct: all other names in the file are made from it.
        let name = Scope::default().take(&policy.name);
        let mut of = |part: &str| file.take(&format!("{name}_{part}"));
        let thread = of("thread");
        let take = of("take");
        // Without nodes, the file has none of these names.
        let mut of_nodes = |part: &str| if policy.has_nodes() { of(part) } else { String::new() };
        let (shared, node, take_node) = (of_nodes("shared"), of_nodes("node"), of_nodes("take_node"));
        let mut of_links = |part: &str| if policy.links.is_empty() { String::new() } else { of(part) };
        let (link, unlink) = (of_links("link"), of_links("unlink"));
        let often = if host.contract.is_small() { economy::often_entered(policy) } else { Vec::new() };
        let entrances = often.into_iter().map(|id| (id, of(&format!("to_{}", policy.containers[id.0].name)))).collect();
        let containers = || policy.containers.iter().map(|container| (container.name.as_str(), container.element));
        let orders = once_each(containers(), |array| of(&format!("{array}_order")));
        let helpers = once_each(containers().filter(|(_, element)| element.is_some()), |array| {
            [Helper::Count, Helper::First, Helper::Walk].map(|helper| of(&format!("{array}_{}", helper.word())))
        });
        let arrays = policy.containers.iter().enumerate().filter(|(_, container)| container.element.is_some());
        let helpers = arrays.map(|(index, _)| ContainerId(index)).zip(helpers).collect();
        let constants = policy.constants.iter().map(|constant| (constant.name.as_str(), constant.element));
        let objects: Vec<&str> =
            policy.constants.iter().filter(|it| it.element.is_some()).map(|it| it.name.as_str()).collect();
        let constants = elements(constants, |constant| {
            // Names that other files see begin with the policy's name.
            let seen = host.is_included_often() && objects.iter().any(|object| Element::array(object) == constant);
            if seen { file.take(&format!("{name}_{constant}")) } else { file.take(constant) }
        });
        let numbers = once_each(containers(), |array| file.take(&format!("in_{array}")));
        let numbers = numbers.into_iter().zip(&policy.containers).map(|(number, container)| match container.element {
            Some(Element { index, .. }) if index > 0 => format!("{number} + {index}"),
            Some(_) | None => number,
        });
        let numbers = numbers.collect();

        let now = instance.take("now");
        let random = if policy.uses_random() { instance.take("random") } else { String::new() };
        let told = if policy.tells() { instance.take("refused") } else { String::new() };
        let containers = elements(containers(), |name| instance.take(name));
        let variables = policy.variables.iter().map(|variable| (variable.name.as_str(), variable.element));
        let variables = elements(variables, |name| instance.take(name));
        let import = |scope: &mut Scope, name: &str| (scope.take(name), scope.take(&format!("{name}_default")));
        let imports = policy.imports.iter().map(|variable| import(&mut instance, &variable.name)).collect();

        let timers = instance.take("timers");
        let mut of_nodes = |part: &str| if policy.has_nodes() { instance.take(part) } else { String::new() };
        let (shared_member, sent) = (of_nodes("shared"), of_nodes("sent"));

        members.take("base");
        let attributes = policy.attributes.iter().map(|attribute| (attribute.name.as_str(), attribute.element));
        let attributes = elements(attributes, |name| members.take(name));
        let links = policy.links.iter().map(|link| members.take(&link.name)).collect();
        let linked = if policy.links.is_empty() { String::new() } else { members.take("linked") };
        let thread_imports =
            policy.thread_imports.iter().map(|variable| import(&mut members, &variable.name)).collect();
        Names {
            host,
            policy: name,
            thread,
            take,
            shared,
            shared_member,
            sent,
            node,
            take_node,
            constants,
            containers,
            numbers,
            orders,
            stops: RefCell::default(),
            entrances,
            loops: RefCell::default(),
            now,
            random,
            told,
            timers,
            helpers,
            variables,
            imports,
            attributes,
            links,
            linked,
            link,
            unlink,
            thread_imports,
            file,
        }
    }

    /// The number of a stop.
    pub(super) fn stop(&self, why: &'static str, line: u32, text: &str) -> usize {
        let mut stops = self.stops.borrow_mut();
        let stop = Stop { why, line, text: text.to_owned() };
        let known = stops.iter().position(|known| *known == stop);
        known.unwrap_or_else(|| {
            stops.push(stop);
            stops.len() - 1
        }) + 1
    }

    /// The name of the function with this body, which comes from a line of the source.
    pub(super) fn sorting(&self, line: u32, body: String) -> String {
        let mut loops = self.loops.borrow_mut();
        if let Some((name, _)) = loops.iter().find(|(_, known)| *known == body) {
            return name.clone();
        }
        let mut name = format!("{}_foreach_{line}", self.policy);
        while self.file.has(&name) || loops.iter().any(|(taken, _)| *taken == name) {
            name.push('_');
        }
        loops.push((name.clone(), body));
        name
    }

    /// The name of the function over all elements of an array.
    pub(super) fn helper(&self, first: ContainerId, helper: Helper) -> &str {
        self.helpers.get(&first).map_or("", |names| match helper {
            Helper::Count => &names[0],
            Helper::First => &names[1],
            Helper::Walk => &names[2],
        })
    }
}

impl Helper {
    /// The end of the function's name.
    fn word(self) -> &'static str {
        match self {
            Helper::Count => "count",
            Helper::First => "first",
            Helper::Walk => "walk",
        }
    }
}

/// Makes something once for each array and each single thing, by its name.
fn once_each<'a, T: Clone>(
    named: impl Iterator<Item = (&'a str, Option<Element>)>,
    mut make: impl FnMut(&str) -> T,
) -> Vec<T> {
    let mut made: Vec<T> = Vec::new();
    for (name, element) in named {
        let again = made.last().filter(|_| element.is_some_and(|element| element.index > 0)).cloned();
        made.push(again.unwrap_or_else(|| make(Element::array(name))));
    }
    made
}

/// Names, where the elements of an array share one: `count[0]`.
fn elements<'a>(
    named: impl Iterator<Item = (&'a str, Option<Element>)> + Clone,
    take: impl FnMut(&str) -> String,
) -> Vec<String> {
    let arrays = once_each(named.clone(), take);
    let element = |(array, (_, element)): (String, (&str, Option<Element>))| match element {
        Some(Element { index, .. }) => format!("{array}[{index}]"),
        None => array,
    };
    arrays.into_iter().zip(named).map(element).collect()
}
