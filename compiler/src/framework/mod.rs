//! Framework descriptions: all that the front end knows of a host, as data.
//!
//! [`read`] turns the text of a `NAME.framework` file into a [`Framework`]. Only through it does the compiler know
//! events, containers, languages and targets.

pub mod automaton;
mod judge;
pub mod life;
mod reader;
mod resolve;
mod service;

pub use crate::syntax::Feature;
pub(crate) use reader::read_through;
pub use reader::{check, read};
pub use service::{Inheritance, Locks, Next, Protocol, Service};

use crate::syntax::grammar::{self, Grammar};
use crate::syntax::{Dialect, ast};
use crate::vocabulary::{At, Entity, StateClass, Type};

/// What a `.framework` file says.
#[derive(Clone, Debug)]
pub struct Framework {
    /// The name after `framework`.
    pub name: String,
    /// `abi 1;`: a host refuses policies with another number.
    pub abi: u32,
    /// `language c;`: the emitter that translates for it.
    pub language: String,
    /// `int 64;`: the width of `int` in bits.
    pub int_bits: u8,
    /// `capacity threads 24;`: at most so many threads live at a time.
    pub capacity: Option<u32>,
    /// `header "native_policy.h";`: what generated code includes.
    pub header: String,
    /// `dialect { failure; }`: the optional parts of the language that it has.
    pub dialect: Dialect,
    /// Containers that the framework owns.
    pub containers: Vec<FrameworkContainer>,
    /// The properties that the host tells of a node, in source order.
    pub properties: Vec<Property>,
    /// `node *;`: it tells what families of nodes list as their properties, whatever that is.
    pub tells_any_property: bool,
    /// The events of nodes that [`Framework::as_met`] has left out.
    pub of_nodes: Vec<String>,
    /// In source order. Those of nodes are only for policies with nodes: see [`Framework::as_met`].
    pub events: Vec<Event>,
    /// `timer event timeout(t) { … }`: raised as `timeout.NAME` when a timer expires. See [`Framework::as_met`].
    pub timer: Option<Event>,
    /// `unraised event release(t);`: events of other hosts that this one never raises. A policy may handle them all the
    /// same, so that one file serves all of these hosts. Their handlers are checked, and left out here.
    pub unraised: Vec<Event>,
    /// In source order.
    pub queries: Vec<Query>,
    /// Which events can follow which.
    pub sequences: Vec<Sequence>,
    /// `cooperative;`: when it hears of what happens while a thread computes.
    pub hears: Hears,
    /// `preempts priority;`: if a thread becomes ready with a greater value of this variable than a running thread has,
    /// or the running thread's value falls, the host takes the processor from it (`switch_out`), unless the policy
    /// does.
    pub preempts: Option<String>,
    /// The protocols of its locks; `None`: it has none.
    pub locks: Option<Locks>,
    /// The same of semaphores.
    pub semaphores: Option<Service>,
    /// How generated code becomes something that a host loads. Only the command-line program reads it.
    pub builds: Vec<Build>,
    /// How programs are run. Only the command-line program reads it.
    pub running: Running,
    /// Where some lines stand.
    pub places: Places,
}

/// When a host hears of what happens while a thread computes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hears {
    /// At once: it interrupts the thread.
    #[default]
    AtOnce,
    /// `cooperative;`: once the thread has left the processor. Of what the thread itself does, at once.
    AfterThread,
    /// `cooperative polling;`: the same, and only then that the thread has ended the waits of others.
    AfterThreadByPolling,
}

impl Hears {
    /// Whether it interrupts no thread.
    pub fn is_cooperative(self) -> bool {
        match self {
            Hears::AtOnce => false,
            Hears::AfterThread | Hears::AfterThreadByPolling => true,
        }
    }
}

/// How programs are run under policies, and how the host itself is told something.
#[derive(Clone, Debug, Default)]
pub struct Running {
    /// Environment variables that `run` sets: names, and values with `{output}`, `{framework}` and `{built}`.
    pub environment: Vec<(String, String)>,
    /// `run programs with "TEXT"`: a program that can use the policy has one of these in its file, or in that of a
    /// library.
    pub marks: Vec<String>,
    /// `run other programs`: the same variables for a program that has none of these texts, also with `{sites}`. Empty:
    /// such a program cannot be scheduled.
    pub others: Vec<(String, String)>,
    /// `run by { … }`: the program of the host that starts programs, and what stands before them, with the same words.
    /// Empty: they are started as they are.
    pub by: Vec<String>,
    /// `command { … }`: the program of the host, and its first arguments. What follows the framework's name on the
    /// command line follows there. Empty: it has none.
    pub command: Vec<String>,
}

impl Running {
    /// Whether a program can be told of a policy.
    pub fn is_described(&self) -> bool {
        !self.environment.is_empty() || !self.by.is_empty()
    }
}

/// Where those lines of a description stand that only callers who know files and emitters can judge.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// The name after `framework`.
    pub name: At,
    /// The line `language`.
    pub language: At,
    /// The line `header`.
    pub header: At,
}

impl Framework {
    /// The grammar of its policies: of its dialect, with its events and queries.
    pub fn grammar(&self) -> Grammar {
        let timers = self.timer.as_ref().map(|family| format!("{}.NAME", family.name));
        let unraised = self.unraised.iter().map(|event| event.name.as_str());
        let events = self.events.iter().map(|event| event.name.as_str()).chain(unraised).chain(timers.as_deref());
        let events: Vec<&str> = events.collect();
        let queries: Vec<&str> = self.queries.iter().map(|query| query.name.as_str()).collect();
        grammar::for_policies(&self.dialect, &events, &queries)
    }
}

/// `container waiting : BLOCKED;`: always a queue.
#[derive(Clone, Debug)]
pub struct FrameworkContainer {
    /// As declared.
    pub name: String,
    /// As declared.
    pub class: StateClass,
    /// The declaration, in the framework description.
    pub at: At,
}

/// `node speed : int;`: what the host tells of a node.
#[derive(Clone, Debug)]
pub struct Property {
    /// As declared.
    pub name: String,
    /// As declared.
    pub ty: Type,
    /// The declaration, in the framework description.
    pub at: At,
}

/// Which policies an event is for, and where its handler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// For all policies. If there are several instances, in the one that has the thread.
    Any,
    /// `node event`: for policies with nodes, in the instance of a node.
    Node,
    /// `global event`: for policies with nodes, in no node's instance. Its type is about nodes.
    Global,
}

/// Something that happens in the host and that a policy handles.
#[derive(Clone, Debug)]
pub struct Event {
    /// Hierarchical: `block.io.read`.
    pub name: String,
    /// Which policies it is for.
    pub extent: Extent,
    /// Each names a thread or a node.
    pub parameters: Vec<String>,
    /// Whether each parameter names a thread or a node.
    pub entities: Vec<Entity>,
    /// `may fail`: its handler can refuse.
    pub may_fail: bool,
    /// What happens if the policy has no handler.
    pub absent: Absent,
    /// The event type: alternatives, of which the host's situation and the handler's effect match at least one.
    pub rules: Vec<Rule>,
    /// The policy's timer that raises this event when it expires. No event of a description has one.
    pub timer: Option<String>,
    /// The declaration, in the framework description.
    pub at: At,
}

/// What happens when a policy has no handler for an event.
#[derive(Clone, Debug)]
pub enum Absent {
    /// `optional`: the host does without a handler.
    Required,
    /// `optional`: the host does without.
    Optional,
    /// `default { … }`: this body in the policy language, over the event's parameters and the framework's containers.
    Body(ast::Block),
    /// `default like event_raised;`: the handler of another event with as many parameters.
    Like(String),
}

/// One alternative of an event type: `some READY, none RUNNING: one READY -> RUNNING`.
#[derive(Clone, Debug)]
pub struct Rule {
    /// What holds when the event is raised.
    pub given: Vec<Condition>,
    /// What the handler must do.
    pub moves: Vec<Move>,
    /// In the framework description.
    pub at: At,
}

/// Rules that say the same are equal, wherever they stand.
impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.given == other.given && self.moves == other.moves
    }
}

/// A condition that holds when an event is raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// `some READY`: at least one thread is in a container of the class.
    Some(StateClass),
    /// `none RUNNING`: no thread is.
    None(StateClass),
}

/// What a handler must do with a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// `t: RUNNING -> READY`, by index into [`Event::parameters`].
    Parameter(usize, Stage, Stage),
    /// `one READY -> RUNNING`: some thread. If it ends RUNNING, the event dispatches.
    One(Stage, Stage),
}

/// A thread's state at the start or the end of a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// `NEW`: in hand, in no container yet.
    New,
    /// In a container of a class.
    In(StateClass),
    /// `PLACED`, only at the end: gone to a node.
    Placed,
}

impl Stage {
    /// The word that descriptions use.
    pub fn word(self) -> &'static str {
        match self {
            Stage::New => "NEW",
            Stage::In(class) => class.word(),
            Stage::Placed => "PLACED",
        }
    }
}

impl Framework {
    /// The variable of threads that the host itself uses.
    pub fn urgency(&self) -> Option<&str> {
        let of_semaphores = self.semaphores.as_ref().and_then(Service::variable);
        self.preempts.as_deref().or(self.locks.as_ref().and_then(Locks::variable)).or(of_semaphores)
    }
}

impl Rule {
    /// The rule as the description states it, for an event with these parameters.
    pub fn text(&self, parameters: &[String]) -> String {
        let given = self.given.iter().map(|condition| match condition {
            Condition::Some(class) => format!("some {}", class.word()),
            Condition::None(class) => format!("none {}", class.word()),
        });
        let moves = self.moves.iter().map(|step| match step {
            Move::Parameter(index, from, to) => {
                let name = parameters.get(*index).map_or("?", String::as_str);
                format!("{name}: {} -> {}", from.word(), to.word())
            }
            Move::One(from, to) => format!("one {} -> {}", from.word(), to.word()),
        });
        let (given, moves) = (given.collect::<Vec<_>>().join(", "), moves.collect::<Vec<_>>().join(", "));
        if given.is_empty() { moves } else { format!("{given}: {moves}") }
    }
}

impl Framework {
    /// The framework as a policy with these timers meets it: with an event for each, and with nodes only if it has
    /// them.
    pub fn as_met<'a>(&self, timers: impl IntoIterator<Item = &'a str>, nodes: bool) -> Framework {
        let mut framework = self.clone();
        if !nodes {
            framework.forget_nodes();
        }
        let Some(family) = &self.timer else { return framework };
        for timer in timers {
            let name = format!("{}.{timer}", family.name);
            if framework.events.iter().all(|event| event.name != name) {
                framework.events.push(Event { name, timer: Some(timer.to_owned()), ..family.clone() });
            }
        }
        framework
    }
}

impl Framework {
    /// Leaves out the events of nodes, also in sequences.
    fn forget_nodes(&mut self) {
        let (kept, of_nodes): (Vec<Event>, Vec<Event>) =
            std::mem::take(&mut self.events).into_iter().partition(|event| event.extent == Extent::Any);
        self.events = kept;
        self.of_nodes = of_nodes.iter().map(|event| event.name.clone()).collect();
        if !of_nodes.is_empty() {
            let gone = |name: &String| of_nodes.iter().any(|event| event.name == *name);
            for sequence in &mut self.sequences {
                sequence.pattern = sequence.pattern.without(&gone).unwrap_or(Pattern::Then(Vec::new()));
            }
        }
    }
}

impl Event {
    /// Whether a parameter names a thread, or a node.
    pub fn names(&self, parameter: usize, entity: Entity) -> bool {
        self.entities.get(parameter) == Some(&entity)
    }

    /// Whether its handler runs in no node's instance.
    pub fn is_global(&self) -> bool {
        self.extent == Extent::Global
    }

    /// Whether the classes in its type are those of threads or of nodes.
    pub fn concerns(&self) -> Entity {
        if self.is_global() { Entity::Node } else { Entity::Thread }
    }

    /// Whether its type lets threads that it does not name go to a node.
    pub fn gives_away(&self) -> bool {
        let mut moves = self.rules.iter().flat_map(|rule| &rule.moves);
        moves.any(|step| matches!(step, Move::One(_, Stage::Placed)))
    }

    /// Whether its handler may use `dispatch`: whether a rule makes some thread RUNNING.
    pub fn dispatches(&self) -> bool {
        self.rules
            .iter()
            .flat_map(|rule| &rule.moves)
            .any(|step| matches!(step, Move::One(_, Stage::In(StateClass::Running))))
    }
}

/// A question of the host, which changes nothing.
#[derive(Clone, Debug)]
pub struct Query {
    /// Hierarchical, like those of events.
    pub name: String,
    /// Each names a thread.
    pub parameters: Vec<String>,
    /// The type of the answer.
    pub returns: Type,
    /// `= count READY` or `= t in READY`: the answer if the policy has no handler.
    pub default: QueryDefault,
    /// The declaration, in the framework description.
    pub at: At,
}

/// What a query answers without a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryDefault {
    /// No default: the policy must answer.
    Required,
    /// How many threads are in containers of these classes.
    Count(Vec<StateClass>),
    /// Whether the parameter is in a container of these classes.
    In(usize, Vec<StateClass>),
}

/// `sequence thread { newthread ( schedule (switch_out | block.* event_raised) )* exit }`
#[derive(Clone, Debug)]
pub struct Sequence {
    /// As declared.
    pub name: String,
    /// The order.
    pub pattern: Pattern,
    /// Where it is named.
    pub at: At,
    /// Where each [`Pattern::Event`] of the order stands, from left to right.
    pub places: Vec<At>,
}

/// An order of events.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Events by name; a family such as `block.*` stands for any of its members. Already resolved to event names.
    Event(Vec<String>),
    /// Another sequence, by name.
    Sequence(String),
    /// One after the other.
    Then(Vec<Pattern>),
    /// Any of these.
    Either(Vec<Pattern>),
    /// Any number of times, also none.
    Many(Box<Pattern>),
    /// Once or not at all.
    Maybe(Box<Pattern>),
}

impl Pattern {
    /// The order without these events. `None`: there is no such order.
    fn without(&self, gone: &impl Fn(&String) -> bool) -> Option<Pattern> {
        match self {
            Pattern::Event(names) => {
                let left: Vec<String> = names.iter().filter(|name| !gone(name)).cloned().collect();
                (!left.is_empty()).then_some(Pattern::Event(left))
            }
            Pattern::Sequence(_) => Some(self.clone()),
            Pattern::Then(parts) => {
                parts.iter().map(|part| part.without(gone)).collect::<Option<Vec<_>>>().map(Pattern::Then)
            }
            Pattern::Either(parts) => {
                let mut left: Vec<Pattern> = parts.iter().filter_map(|part| part.without(gone)).collect();
                match left.len() {
                    0 => None,
                    1 => left.pop(),
                    _ => Some(Pattern::Either(left)),
                }
            }
            Pattern::Many(inner) => {
                let nothing = Pattern::Then(Vec::new());
                Some(inner.without(gone).map_or(nothing, |inner| Pattern::Many(Box::new(inner))))
            }
            Pattern::Maybe(inner) => {
                let nothing = Pattern::Then(Vec::new());
                Some(inner.without(gone).map_or(nothing, |inner| Pattern::Maybe(Box::new(inner))))
            }
        }
    }
}

/// `build shared "{policy}.so" { "cc", "-shared", "-o", "{output}", "{source}" }`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// What is made: `shared` and the like. The first one in the file is the usual one.
    pub name: String,
    /// The file made, with `{policy}` for the scheduler's name.
    pub output: String,
    /// The command, one argument each, with `{source}` (the generated file), `{traced}` (its twin that records,
    /// [`crate::emit::Part::Traced`]), `{output}`, `{framework}` (the description's folder) and `{shared}` (the folder
    /// `frameworks/shared`).
    pub command: Vec<Argument>,
    /// Where it is named.
    pub at: At,
}

/// One word of a command: `"-shared"`, `"-mgeneral-regs-only" unless floats`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// With the placeholders.
    pub text: String,
    /// Only for policies that use this part of the language, or (`false`) only for those that do not.
    pub only: Option<(Feature, bool)>,
}

/// The grammar of framework descriptions.
pub fn grammar() -> Grammar {
    grammar::for_descriptions(include_str!("grammar.ebnf"))
}

/// Whether a name written before a handler (`block.io.read`, `block.*`) covers an event.
pub fn covers(written: &str, event: &str) -> bool {
    match written.strip_suffix('*') {
        Some(family) => event.starts_with(family) && event.len() > family.len(),
        None => written == event,
    }
}
