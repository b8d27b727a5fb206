//! What must be known of hosts: the answers to four questions. All differences between languages follow from them.

use super::string;
use crate::policy::ContainerKind;

/// The answers of one language. A new combination is a value of this type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Host {
    pub instance: Instance,
    pub handlers: Handlers,
    pub contract: Contract,
    pub memory: Memory,
}

/// Where a scheduler's own data are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instance {
    /// Behind a pointer, which handlers are given: there can be several.
    Pointer,
    /// In an object with a fixed address: there is one.
    Object,
}

/// How a host finds handlers, and all else that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handlers {
    /// In a table, by a description of the policy, which can be loaded.
    Table,
    /// By name: the host includes the file in each of its own that raises events.
    Name,
}

/// Which headers are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contract {
    /// `frameworks/shared/catapults`.
    Shared,
    /// `frameworks/shared/small/catapults`, for hosts where bytes count.
    Small,
}

/// In which memory schedulers and threads lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// In the host's own.
    Own,
    /// In an arena, for programs that a kernel runs once its verifier has accepted them (BPF). Pointers say that they lead
    /// there. The verifier knows nothing of what is there, so each loop has a budget. There are no pointers to constants and no
    /// calls through pointers: a stop is a number.
    Arena,
}

impl Host {
    /// # Panics
    /// A table needs a description, and an arena has none. A constant without one does not compile.
    pub(super) const fn new(instance: Instance, handlers: Handlers, contract: Contract, memory: Memory) -> Self {
        let described = matches!(contract, Contract::Shared) && matches!(instance, Instance::Pointer);
        assert!(
            described || matches!(handlers, Handlers::Name),
            "only the shared contract describes a policy, and its host has the instance"
        );
        assert!(
            matches!(memory, Memory::Own) || (described && matches!(handlers, Handlers::Name)),
            "there is no object with a fixed address in an arena, and no table of functions"
        );
        Host { instance, handlers, contract, memory }
    }

    /// Whether there is a description of the policy, `struct catapults_policy`. Only with it are there nodes and
    /// hierarchies.
    pub(super) const fn describes(self) -> bool {
        matches!(self.handlers, Handlers::Table)
    }

    /// How a handler gets the instance, a struct with this tag: the parameter, and the first lines of the body.
    pub(super) fn given(self, constant: &str, tag: &str, used: bool) -> (Option<String>, String) {
        match (self.instance, self.handlers) {
            (Instance::Pointer, Handlers::Table) => (
                Some(format!("{constant}void *self_")),
                if used {
                    format!("    {constant}struct {tag} *self = self_;\n")
                } else {
                    "    (void)self_;\n".to_owned()
                },
            ),
            (Instance::Pointer, Handlers::Name) => (
                Some(format!("{constant}{}self", self.pointer(&format!("struct {tag}")))),
                if used { String::new() } else { "    (void)self;\n".to_owned() },
            ),
            (Instance::Object, _) => (None, String::new()),
        }
    }

    /// What handlers begin with.
    pub(super) fn linkage(self) -> &'static str {
        match self.handlers {
            Handlers::Table => "static",
            Handlers::Name => self.called(),
        }
    }

    /// What the definitions of other functions begin with.
    pub(super) fn called(self) -> &'static str {
        match self.memory {
            Memory::Own => self.contract.inline(),
            Memory::Arena => "CATAPULTS_CALLED",
        }
    }

    /// The same for functions that are given to others.
    pub(super) fn in_place(self) -> &'static str {
        match self.memory {
            Memory::Own => self.contract.inline(),
            Memory::Arena => "CATAPULTS_IN_PLACE",
        }
    }

    /// A pointer to a scheduler, a thread or a part of one, up to its name.
    pub(super) fn pointer(self, to: &str) -> String {
        match self.memory {
            Memory::Own => format!("{to} *"),
            Memory::Arena => format!("{to} CATAPULTS_MEMORY *"),
        }
    }

    /// The condition of a loop.
    pub(super) fn looping(self, condition: &str) -> String {
        match self.memory {
            Memory::Own => condition.to_owned(),
            Memory::Arena => format!("CATAPULTS_LOOP({condition})"),
        }
    }

    /// An element of an array in the memory of schedulers and threads.
    pub(super) fn element(self, array: &str, index: &str) -> String {
        match self.memory {
            Memory::Own => format!("{array}[{index}]"),
            Memory::Arena => format!("CATAPULTS_ELEMENT_OF({array}, {index})"),
        }
    }

    /// A value from which a loop may count.
    pub(super) fn counted(self, value: &str) -> String {
        match self.memory {
            Memory::Own => value.to_owned(),
            Memory::Arena => format!("CATAPULTS_COUNTED({value})"),
        }
    }

    /// The type of a stop, as handlers return it.
    pub(super) fn stop(self) -> &'static str {
        match self.memory {
            Memory::Own => "const struct catapults_stop *",
            Memory::Arena => "uint32_t ",
        }
    }

    /// No stop.
    pub(super) fn no_stop(self) -> &'static str {
        match self.memory {
            Memory::Own => "NULL",
            Memory::Arena => "0",
        }
    }

    /// Whether several files of the host include the file, so that objects exist once, in one of them.
    pub(super) fn is_included_often(self) -> bool {
        self.handlers == Handlers::Name && self.memory == Memory::Own
    }

    /// Whether imported variables are read and written through a pointer. Else they are members, to which the host assigns.
    pub(super) fn imports_point(self) -> bool {
        self.contract == Contract::Shared && self.memory == Memory::Own
    }

    /// The member of an imported variable.
    pub(super) fn imported(self, ty: &str, variable: &str, fallback: &str) -> String {
        if self.imports_point() { format!("{ty} *{variable}, {fallback};") } else { format!("{ty} {variable};") }
    }

    /// Sets up an imported variable.
    pub(super) fn import_set_up(self, object: &str, variable: &str, fallback: &str, value: &str) -> String {
        if self.imports_point() {
            format!("    {object}{fallback} = {value};\n    {object}{variable} = &{object}{fallback};\n")
        } else {
            format!("    {object}{variable} = {value};\n")
        }
    }

    /// The parameters of a function of the file itself, one of which may be the instance.
    pub(super) fn parameters(self, tag: &str, others: &str) -> String {
        let pointer = self.pointer(&format!("struct {tag}"));
        match (self.instance, others) {
            (Instance::Pointer, "") => format!("{pointer}self"),
            (Instance::Pointer, _) => format!("{pointer}self, {others}"),
            (Instance::Object, "") => "void".to_owned(),
            (Instance::Object, _) => others.to_owned(),
        }
    }

    /// Converts a thread to what the policy keeps of it: the definition of `thread`, a function or macro.
    pub(super) fn conversion(self, thread: &str) -> String {
        match (self.contract, self.memory) {
            (Contract::Shared, Memory::Own) => format!(
                "static inline struct {thread} *{thread}(const struct catapults_thread *t) {{ return (struct {thread} *)t; }}"
            ),
            // In some compilers, even an inlined call costs a copy.
            (Contract::Small, _) | (_, Memory::Arena) => {
                format!("#define {thread}(t) (({})(t))", self.pointer(&format!("struct {thread}")))
            }
        }
    }
}

impl Instance {
    /// The access to the scheduler's own data, up to the name of a member.
    pub(super) fn of_self(self) -> &'static str {
        match self {
            Instance::Pointer => "self->",
            Instance::Object => "self.",
        }
    }

    /// The arguments for [`Host::parameters`].
    pub(super) fn arguments(self, others: &str) -> String {
        match (self, others) {
            (Instance::Pointer, "") => "self".to_owned(),
            (Instance::Pointer, _) => format!("self, {others}"),
            (Instance::Object, _) => others.to_owned(),
        }
    }

    /// For macros of the host: their parameter, and the access to the instance, up to the name of a member.
    pub(super) fn of_macro(self, policy: &str) -> (&'static str, String) {
        match self {
            Instance::Pointer => ("(self)", "(self)->".to_owned()),
            Instance::Object => ("", format!("{policy}_self.")),
        }
    }
}

impl Contract {
    /// The highest container number that a thread can keep; 0 says that it is in none.
    pub(super) fn most_containers(self) -> usize {
        match self {
            Contract::Shared => usize::from(u16::MAX),
            Contract::Small => usize::from(u8::MAX),
        }
    }

    /// Whether code is short rather than plain: see `economy.rs`.
    pub(super) fn is_small(self) -> bool {
        self == Contract::Small
    }

    /// What the definitions of inline functions begin with.
    pub(super) fn inline(self) -> &'static str {
        match self {
            Contract::Shared => "static inline",
            Contract::Small => "CATAPULTS_INLINE",
        }
    }

    /// The text of a stop. A small host keeps none.
    pub(super) fn text(self, text: &str) -> String {
        match self {
            Contract::Shared => string(text),
            Contract::Small => format!("CATAPULTS_TEXT({})", string(text)),
        }
    }

    /// What the unsorted kinds of containers are called. In a small host, a stack does not keep its last thread.
    pub(super) fn list(self, kind: &ContainerKind) -> &'static str {
        if self.is_small() && *kind == ContainerKind::Stack { "stack" } else { "list" }
    }

    /// What a small sorted container must know of a thread that enters: whether it goes behind those with equal keys.
    pub(super) fn ties_at_entry(self, kind: &ContainerKind) -> String {
        match self {
            Contract::Shared => String::new(),
            Contract::Small => format!(", {}", super::ties(kind)),
        }
    }

    /// The number of threads in a container. A small container counts them when it is asked.
    pub(super) fn count(self, kind: &ContainerKind, member: &str) -> String {
        match (kind, self) {
            (ContainerKind::Threadref, _) => format!("catapults_slot_count({member})"),
            (
                ContainerKind::Queue | ContainerKind::Stack | ContainerKind::Pqueue(_) | ContainerKind::Pstack(_),
                Contract::Shared,
            ) => format!("{member}.count"),
            (ContainerKind::Queue | ContainerKind::Stack, Contract::Small) => {
                format!("catapults_{}_count(&{member})", self.list(kind))
            }
            (ContainerKind::Pqueue(_) | ContainerKind::Pstack(_), Contract::Small) => {
                format!("catapults_sorted_count(&{member})")
            }
        }
    }

    /// Whether a container is empty, as a condition.
    pub(super) fn empty(self, kind: &ContainerKind, member: &str) -> String {
        match (kind, self) {
            (ContainerKind::Threadref, _) => format!("{member} == NULL"),
            (ContainerKind::Queue | ContainerKind::Stack, _)
            | (ContainerKind::Pqueue(_) | ContainerKind::Pstack(_), Contract::Small) => {
                format!("{member}.first == NULL")
            }
            (ContainerKind::Pqueue(_) | ContainerKind::Pstack(_), Contract::Shared) => format!("{member}.count == 0"),
        }
    }

    /// The suffix of functions that divide times, where times are wider than `int`.
    pub(super) fn of_times(self) -> &'static str {
        match self {
            Contract::Shared => "",
            Contract::Small => "_time",
        }
    }
}
