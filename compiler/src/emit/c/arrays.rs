//! Arrays of containers: which element is meant, and the functions that go through all of them.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::expression::expression;
use super::handler::Body;
use super::host::{Host, Instance, Memory};
use super::names::Names;
use crate::policy::{ContainerId, ContainerKind, ContainerRef, Element, Entity, Expression, Policy};

/// A function over all elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    /// How many threads there are.
    Count,
    /// The first element that holds a thread.
    First,
    /// Chains the threads of all elements, for a loop that moves them.
    Walk,
}

/// The functions that a file needs, each with the first element of its array.
pub(super) type Helpers = BTreeSet<(ContainerId, Helper)>;

/// The container of a statement, in C, for all of the statement.
pub(super) struct Site {
    /// `self->ready[from]`
    pub member: String,
    /// `in_ready + from`
    pub number: String,
    /// One of the containers that it can be, for what they share.
    pub id: ContainerId,
}

/// Where a thread can be; the elements of an array are one group.
pub(super) enum Group {
    /// This container.
    One(ContainerId),
    /// Some element of this array.
    Array(ContainerId, usize),
}

/// Whether a thread is in an array.
pub(super) fn within(thread: &str, number: &str, length: usize) -> String {
    format!("{thread}->container >= {number} && {thread}->container < {number} + {length}")
}

/// The containers of a list, in groups: several elements of one array are one group.
pub(super) fn groups(policy: &Policy, containers: &[ContainerId]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for id in containers {
        let Some(Element { index, length }) = policy.containers[id.0].element else {
            groups.push(Group::One(*id));
            continue;
        };
        let first = ContainerId(id.0 - index);
        let of_array = |other: &ContainerId| (first.0..first.0 + length).contains(&other.0);
        if containers.iter().filter(|other| of_array(other)).count() == 1 {
            groups.push(Group::One(*id));
        } else if !groups.iter().any(|group| matches!(group, Group::Array(known, _) if *known == first)) {
            groups.push(Group::Array(first, length));
        }
    }
    groups
}

impl Group {
    /// The condition that a thread is there.
    pub(super) fn holds(&self, names: &Names, thread: &str) -> String {
        match self {
            Group::One(id) => format!("{thread}->container == {}", names.numbers[id.0]),
            Group::Array(first, length) => within(thread, &names.numbers[first.0], *length),
        }
    }

    /// The container, as a member of the instance.
    pub(super) fn member(&self, names: &Names, thread: &str) -> String {
        let of_self = names.host.instance.of_self();
        match self {
            Group::One(id) => format!("{of_self}{}", names.containers[id.0]),
            Group::Array(first, _) => {
                let array = format!("{of_self}{}", Element::array(&names.containers[first.0]));
                names.host.element(&array, &format!("{thread}->container - {}", names.numbers[first.0]))
            }
        }
    }

    /// Its number.
    pub(super) fn number(&self, names: &Names, thread: &str) -> String {
        match self {
            Group::One(id) => names.numbers[id.0].clone(),
            Group::Array(..) => format!("{thread}->container"),
        }
    }

    /// One of the containers, for what they share.
    pub(super) fn id(&self) -> ContainerId {
        match self {
            Group::One(id) | Group::Array(id, _) => *id,
        }
    }
}

impl Body<'_> {
    /// The element that an index means.
    pub(super) fn element(&mut self, index: &Expression, length: usize) -> String {
        let index = expression(self, index);
        format!("catapults_element({index}, {length})")
    }

    /// The kind of a container.
    pub(super) fn kind(&self, container: &ContainerRef) -> &ContainerKind {
        let id = match container {
            ContainerRef::One(id) => id,
            ContainerRef::Element { first, .. } | ContainerRef::Whole { first, .. } => first,
        };
        &self.policy.containers[id.0].kind
    }

    /// A container within an expression. `None`: an array.
    pub(super) fn lookup(&mut self, container: &ContainerRef) -> Option<String> {
        match container {
            ContainerRef::One(only) => Some(self.container(*only)),
            ContainerRef::Element { first, length, index } => {
                let element = self.element(index, *length);
                let array = self.array(*first);
                Some(self.names.host.element(&array, &element))
            }
            ContainerRef::Whole { .. } => None,
        }
    }

    /// An array as a member of the instance.
    pub(super) fn array(&mut self, first: ContainerId) -> String {
        self.member(Element::array(&self.names.containers[first.0]))
    }

    /// A call of a function over all elements.
    pub(super) fn help(&mut self, helper: Helper, array: &ContainerRef) -> String {
        self.uses_self = true;
        let Some(first) = array.candidates().next() else { return String::new() };
        self.helpers.insert((first, helper));
        format!("{}({})", self.names.helper(first, helper), self.names.host.instance.arguments(""))
    }

    /// The container of a statement. What is computed to find it is computed once, and kept under this name.
    pub(super) fn site(&mut self, container: &ContainerRef, wanted: &str) -> Site {
        let (first, which) = match container {
            ContainerRef::One(id) => {
                let number = self.names.numbers[id.0].clone();
                return Site { member: self.container(*id), number, id: *id };
            }
            ContainerRef::Element { first, length, index } => (*first, self.element(index, *length)),
            ContainerRef::Whole { first, .. } => (*first, self.help(Helper::First, container)),
        };
        let name = self.scope.take(wanted);
        self.line(&format!("const unsigned {name} = {which};"));
        let array = self.array(first);
        let number = format!("{} + {name}", self.names.numbers[first.0]);
        Site { member: self.names.host.element(&array, &name), number, id: first }
    }
}

/// The text of the functions.
pub(super) fn definitions(policy: &Policy, names: &Names, helpers: &Helpers) -> String {
    let mut text = String::new();
    for (first, helper) in helpers {
        let container = &policy.containers[first.0];
        let Some(Element { length, .. }) = container.element else { continue };
        let function = names.helper(*first, *helper);
        let (host, contract, of_self) = (names.host, names.host.contract, names.host.instance.of_self());
        let inline = host.called();
        let start = host.counted("0");
        let tag = match container.holds {
            Entity::Thread => &names.policy,
            Entity::Node => &names.shared,
        };
        let instance = host.parameters(tag, "");
        let looked_at =
            if names.host.instance == Instance::Pointer { format!("const {instance}") } else { instance.clone() };
        let element = host.element(&format!("{of_self}{}", Element::array(&names.containers[first.0])), "i");
        let written = Element::array(&container.name);
        let _ = match helper {
            Helper::Count => {
                let count = contract.count(&container.kind, &element);
                write!(
                    text,
                    "\n/* How many threads there are in `{written}`. */\n\
                     {inline} catapults_int {function}({looked_at}) {{\n    \
                     catapults_int count = {start};\n    \
                     for (unsigned i = {start}; {turns}; i++)\n        \
                     count += {count};\n    \
                     return count;\n}}\n",
                    turns = host.looping(&format!("i < {length}"))
                )
            }
            Helper::First => {
                let empty = contract.empty(&container.kind, &element);
                write!(
                    text,
                    "\n/* The first element of `{written}` that holds a thread; without threads, the last. */\n\
                     {inline} unsigned {function}({looked_at}) {{\n    \
                     unsigned i = {start};\n    \
                     while ({turns})\n        \
                     i++;\n    \
                     return i;\n}}\n",
                    turns = host.looping(&format!("i < {} && {empty}", length - 1))
                )
            }
            Helper::Walk => {
                let pointer = host.pointer("struct catapults_thread");
                let visit = visit(host, &container.kind, &element, "t", &pointer);
                let Chain { declared, linked, ended } = chain(host.memory);
                write!(
                    text,
                    "\n/* Chains the threads of `{written}` through `walk`, in the order in which they leave; returns the first. */\n\
                     {inline} {pointer}{function}({instance}) {{\n    \
                     {declared}\n    \
                     for (unsigned i = {start}; {turns}; i++) {{\n        \
                     {visit} {{\n            \
                     {linked}\n        \
                     }}\n    \
                     }}\n    \
                     {ended}\n    \
                     return first;\n}}\n",
                    turns = host.looping(&format!("i < {length}"))
                )
            }
        };
    }
    text
}

/// How threads are chained: what is declared before the loop, what is done with each, and what after the last one.
struct Chain {
    declared: &'static str,
    linked: &'static str,
    ended: &'static str,
}

/// A pointer leads into one kind of memory: in an arena, it cannot lead to a local as well as to a thread.
fn chain(memory: Memory) -> Chain {
    match memory {
        Memory::Own => Chain {
            declared: "struct catapults_thread *first = NULL, **link = &first;",
            linked: "*link = t;\n            link = &t->walk;",
            ended: "*link = NULL;",
        },
        Memory::Arena => Chain {
            declared: "struct catapults_thread CATAPULTS_MEMORY *first = NULL;\n    \
                       struct catapults_thread CATAPULTS_MEMORY *last = NULL;",
            linked: "t->walk = NULL;\n            \
                     if (last)\n                \
                     last->walk = t;\n            \
                     else\n                \
                     first = t;\n            \
                     last = t;",
            ended: "(void)last;",
        },
    }
}

/// The head of a loop over the threads of a container, which stay where they are.
pub(super) fn visit(host: Host, kind: &ContainerKind, member: &str, t: &str, pointer: &str) -> String {
    let left = host.looping(&format!("{t} != NULL"));
    match kind {
        ContainerKind::Threadref => format!("for ({pointer}{t} = {member}; {t} != NULL; {t} = NULL)"),
        ContainerKind::Queue | ContainerKind::Stack => {
            format!("for ({pointer}{t} = {member}.first; {left}; {t} = {t}->next)")
        }
        ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) => {
            let ties = super::ties(kind);
            let first = format!("catapults_sorted_first(&{member}, {ties})");
            format!("for ({pointer}{t} = {first}; {left}; {t} = catapults_sorted_next(&{member}, {t}, {ties}))")
        }
    }
}
