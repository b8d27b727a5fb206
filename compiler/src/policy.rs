//! The policy: the one intermediate representation, fully explicit.
//!
//! `check` makes it, `verify` judges it, `interp` runs it and `emit` translates it; none of them looks at syntax again.
//! Every name is resolved, every type is written, every default handler of the framework is present, every container has
//! its state class. [`text`] prints a policy and reads it back; the two are inverse.

mod expressions;
mod statements;
pub mod text;

pub use expressions::{ContainerRef, Expression, Piece, Place, Referent, Thread, Verbatim};
pub use statements::{Block, Handler, Local, LocalKind, Source, Statement, StatementKind};

use statements::within_block;

pub use crate::vocabulary::{
    At, BinaryOperator, Comparison, Entity, Float, Leave, StateClass, Test, Type, UnaryOperator, Value,
};

/// How many elements an array has at most, and how many all arrays of containers have together, with the single containers: what is
/// known of each is kept for every statement.
pub const MOST_ELEMENTS: usize = 4096;

/// A scheduler, ready to be verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// The name after `scheduler`.
    pub name: String,
    /// The name of the framework that it was checked against.
    pub framework: String,
    /// The source file as the user named it, for messages and for generated code.
    pub source: String,
    /// The width of `int` in bits: 16, 32 or 64. Arithmetic wraps at it.
    pub int_bits: u8,
    /// At most so many threads live at a time, if the framework has a bound.
    pub capacity: Option<u32>,
    /// Text of the target language that comes before all that is generated.
    pub preamble: Vec<Preamble>,
    /// `const` declarations, in source order.
    pub constants: Vec<Constant>,
    /// What the policy keeps for each thread; then, of a policy with nodes, what its host tells of each node.
    pub attributes: Vec<Attribute>,
    /// The links from each thread to others.
    pub links: Vec<Link>,
    /// What it reads from (and may write to) the application, for each thread.
    pub thread_imports: Vec<Import>,
    /// What it reads from (and may write to) the application, once.
    pub imports: Vec<Import>,
    /// The policy's own variables.
    pub variables: Vec<Variable>,
    /// The policy's containers, then those of the framework that a handler uses or a default handler fills.
    pub containers: Vec<Container>,
    /// One handler for each event that is handled, in the order of the framework description.
    pub events: Vec<Handler>,
    /// One handler for each query, in the order of the framework description.
    pub queries: Vec<Handler>,
}

impl Policy {
    /// Of what the containers are that this can mean.
    pub fn held_by(&self, container: &ContainerRef) -> Entity {
        let first = container.candidates().next().and_then(|id| self.containers.get(id.0));
        first.map_or(Entity::Thread, |container| container.holds)
    }

    /// The type of an expression in a handler that has these locals. A policy that `check` made has no expression without one.
    pub fn type_of(&self, locals: &[Local], expression: &Expression) -> Option<Type> {
        Some(match expression {
            Expression::Literal(value) => value.ty(),
            Expression::ConstantElement { first, .. } => self.constants.get(first.0)?.value.ty(),
            Expression::Constant(constant) => self.constants.get(constant.0)?.value.ty(),
            Expression::Read(Place::Variable(variable) | Place::VariableElement { first: variable, .. }) => {
                self.variables.get(variable.0)?.ty
            }
            Expression::Read(Place::Import(import)) => self.imports.get(import.0)?.ty,
            Expression::Read(Place::Attribute(_, attribute) | Place::AttributeElement { first: attribute, .. }) => {
                self.attributes.get(attribute.0)?.ty
            }
            Expression::Read(Place::ThreadImport(_, import)) => self.thread_imports.get(import.0)?.ty,
            Expression::Read(Place::Local(local)) => match locals.get(local.0)?.kind {
                LocalKind::Value(ty) => ty,
                LocalKind::Thread | LocalKind::Node => return None,
            },
            Expression::Now => Type::Time,
            Expression::Verbatim { ty, .. } => *ty,
            Expression::Convert(ty, _) => *ty,
            Expression::Size(_) | Expression::Random(_) => Type::Int,
            Expression::In(..) | Expression::Same(..) | Expression::Linked { .. } | Expression::NotZero(_) => {
                Type::Bool
            }
            Expression::Unary(UnaryOperator::Not, _) => Type::Bool,
            Expression::Unary(UnaryOperator::Negate, operand) => self.type_of(locals, operand)?,
            Expression::Choose(_, one, _) => self.type_of(locals, one)?,
            Expression::Binary(operator, left, right) => {
                operator.joins(self.type_of(locals, left)?, self.type_of(locals, right)?)?
            }
        })
    }

    /// Whether there is a value of this type anywhere.
    pub fn uses(&self, ty: Type) -> bool {
        let mut handlers = self.events.iter().chain(&self.queries);
        self.constants.iter().any(|constant| constant.value.ty() == ty)
            || self.attributes.iter().any(|attribute| attribute.ty == ty)
            || self.thread_imports.iter().chain(&self.imports).any(|import| import.ty == ty)
            || self.variables.iter().any(|variable| variable.ty == ty)
            || handlers.any(|handler| within_block(&handler.body, &|it| self.type_of(&handler.locals, it) == Some(ty)))
    }

    /// Whether there is an instance for each node, and not one alone: its `data` is that of a node then.
    pub fn has_nodes(&self) -> bool {
        self.containers.iter().any(|container| container.holds == Entity::Node)
    }

    /// The keys by which READY threads leave, if one sorted container has all of them and there is one instance: by these
    /// a host with several processors knows whose turn the policy would rather end.
    pub fn ready_order(&self) -> Option<(ContainerId, &[SortKey])> {
        let mut ready = self.holding(Entity::Thread).filter(|id| self.containers[id.0].class == StateClass::Ready);
        let (Some(only), None, false) = (ready.next(), ready.next(), self.has_nodes()) else { return None };
        match &self.containers[only.0].kind {
            ContainerKind::Pqueue(keys) | ContainerKind::Pstack(keys) => Some((only, keys)),
            ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Stack => None,
        }
    }

    /// The containers that hold such.
    pub fn holding(&self, entity: Entity) -> impl Iterator<Item = ContainerId> + '_ {
        let containers = self.containers.iter().enumerate();
        containers.filter(move |(_, container)| container.holds == entity).map(|(index, _)| ContainerId(index))
    }

    /// Whether assigning this arms a timer, or disarms it.
    pub fn is_timer(&self, place: &Place) -> bool {
        let mut attributes = place.attributes().filter_map(|attribute| self.attributes.get(attribute));
        attributes.any(|attribute| attribute.timer.is_some())
    }

    /// The names of the timers that threads have, in the order of the attributes.
    pub fn timers(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().filter(|attribute| attribute.timer.is_some()).map(|attribute| attribute.name.as_str())
    }

    /// Whether a handler asks what time it is: the host tells it then.
    pub fn uses_now(&self) -> bool {
        fn within(block: &Block) -> bool {
            block.iter().any(|statement| {
                matches!(&statement.kind, StatementKind::Verbatim { text, .. } if text.pieces.contains(&Piece::Now))
                    || statement.blocks().any(within)
            })
        }
        let asked = |it: &Expression| match it.names().verbatim {
            Some(text) => text.pieces.contains(&Piece::Now),
            None => *it == Expression::Now,
        };
        self.has(&asked) || self.events.iter().chain(&self.queries).any(|handler| within(&handler.body))
    }

    /// Whether a handler draws numbers: the policy has a generator then.
    pub fn uses_random(&self) -> bool {
        self.has(&Expression::draws)
    }

    /// Whether a handler has loops, which may not end, or verbatim text, of which nothing is known. Without either every
    /// handler ends: threads are finite.
    pub fn is_unbounded(&self) -> bool {
        fn within(block: &Block) -> bool {
            block.iter().any(|statement| {
                matches!(statement.kind, StatementKind::Loop { .. } | StatementKind::Verbatim { .. })
                    || statement.blocks().any(within)
            })
        }
        self.has(&|it| matches!(it, Expression::Verbatim { .. }))
            || self.events.iter().chain(&self.queries).any(|handler| within(&handler.body))
    }

    /// Whether an expression in a handler, or within one, is such.
    pub fn has(&self, such: &impl Fn(&Expression) -> bool) -> bool {
        self.events.iter().chain(&self.queries).any(|handler| within_block(&handler.body, such))
    }

    /// Numbers the statements from 0: events before queries, each before those that it contains. Whoever builds or changes a
    /// policy calls this last.
    pub fn number_statements(&mut self) {
        fn number(block: &mut Block, next: &mut usize) {
            for statement in block {
                statement.id = StatementId(*next);
                *next += 1;
                match &mut statement.kind {
                    StatementKind::If { then, otherwise, .. } => {
                        number(then, next);
                        number(otherwise, next);
                    }
                    StatementKind::Foreach { body, .. } | StatementKind::Follow { body, .. } => number(body, next),
                    StatementKind::Verbatim { otherwise, .. } => {
                        if let Some(otherwise) = otherwise {
                            number(otherwise, next);
                        }
                    }
                    StatementKind::Loop { body, step, .. } => {
                        number(body, next);
                        number(step, next);
                    }
                    StatementKind::Set { .. }
                    | StatementKind::Link { .. }
                    | StatementKind::Transfer { .. }
                    | StatementKind::Send { .. }
                    | StatementKind::Destroy { .. }
                    | StatementKind::Dispatch { .. }
                    | StatementKind::Return { .. }
                    | StatementKind::Leave { .. }
                    | StatementKind::Fail { .. } => {}
                }
            }
        }
        let mut next = 0;
        for handler in self.events.iter_mut().chain(&mut self.queries) {
            number(&mut handler.body, &mut next);
        }
    }
}

/// Declares the index types into the vectors of [`Policy`] and [`Handler`].
macro_rules! index {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub usize);
    )* };
}

index! {
    /// Into [`Policy::constants`].
    ConstantId,
    /// Into [`Policy::attributes`].
    AttributeId,
    /// Into [`Policy::links`].
    LinkId,
    /// Into [`Policy::thread_imports`].
    ThreadImportId,
    /// Into [`Policy::imports`].
    ImportId,
    /// Into [`Policy::variables`].
    VariableId,
    /// Into [`Policy::containers`].
    ContainerId,
    /// Into [`Handler::locals`].
    LocalId,
    /// Numbers the statements of a policy from 0, events before queries, in the order in which [`text`] prints them.
    /// It is not printed: reading the text back gives the same numbers.
    StatementId,
}

/// Where an element stands in its array. The elements of an array stand side by side in the vector of the policy, each under a
/// name of its own, `ready[0]`, `ready[1]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// From 0.
    pub index: usize,
    /// How many elements the array has.
    pub length: usize,
}

impl Element {
    /// The element that an index names: of one out of range, the nearest.
    pub fn nearest(index: i64, length: usize) -> usize {
        usize::try_from(index.max(0)).unwrap_or(usize::MAX).min(length.saturating_sub(1))
    }

    /// The name of the array: `ready` of `ready[0]`.
    pub fn array(name: &str) -> &str {
        name.split_once('[').map_or(name, |(array, _)| array)
    }
}

/// `const int SENSOR = 1;`: kept by name, so that generated code reads like the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// As declared.
    pub name: String,
    /// Of an array.
    pub element: Option<Element>,
    /// Its value, already computed.
    pub value: Value,
}

/// A line of the `thread` section, or a property of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// As declared.
    pub name: String,
    /// Of threads; or of nodes, and then the host alone assigns it.
    pub of: Entity,
    /// Of an array.
    pub element: Option<Element>,
    /// As declared.
    pub ty: Type,
    /// What a new thread starts with: the initialiser, else 0 or `false`; a property, until the host assigns it.
    pub initial: Value,
    /// Of a timer: the event that the host raises when the instant that it holds has come. It is a `time`; 0: not armed.
    pub timer: Option<String>,
}

/// `threadref owner;` in the `thread` section: another thread that is kept for each, or none. A new thread's names none. When a
/// thread ends, no link names it any more.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// As declared.
    pub name: String,
}

/// A line of the `imports` or `threadimports` section.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The name under which the application registers it.
    pub name: String,
    /// As declared.
    pub ty: Type,
    /// Its value until the application registers it.
    pub default: Value,
}

/// A variable of the `data` section, or of `global`.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// As declared.
    pub name: String,
    /// There is one for the instances of all nodes.
    pub global: bool,
    /// Of an array.
    pub element: Option<Element>,
    /// As declared.
    pub ty: Type,
    /// What it holds when the policy is loaded: the initialiser, else 0 or `false`.
    pub initial: Value,
}

/// Where threads are held. Every live thread is in exactly one; so is every node, of those for nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Container {
    /// As declared.
    pub name: String,
    /// What it holds. Those for nodes are there once, all others in the instance of each node.
    pub holds: Entity,
    /// Of an array. All elements of an array are of the same kind and class.
    pub element: Option<Element>,
    /// How threads go in and come out.
    pub kind: ContainerKind,
    /// Declared, or inferred by `check`. Nodes are READY: threads can be placed on them.
    pub class: StateClass,
    /// The policy's, or the framework's for events that the policy leaves to it.
    pub owner: Owner,
    /// The declaration.
    pub at: At,
}

/// How threads go into a container and come out of it (2005, §5.1).
#[derive(Clone, Debug, PartialEq)]
pub enum ContainerKind {
    /// One slot.
    Threadref,
    /// In at the end, out at the beginning.
    Queue,
    /// In and out at the beginning.
    Stack,
    /// Sorted; equal keys leave in the order in which they came.
    Pqueue(Vec<SortKey>),
    /// Sorted; of equal keys the last to come is the first to leave.
    Pstack(Vec<SortKey>),
}

/// One key of a sorted container; the first that differs decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// The attribute compared.
    pub attribute: AttributeId,
    /// Without `reverse` the highest value leaves first, with it the lowest.
    pub reverse: bool,
}

/// Whose a container or a handler is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Written in the `.sched` file.
    Policy,
    /// Supplied by the framework description.
    Framework,
}

/// Verbatim text that stands among the sections.
#[derive(Clone, Debug, PartialEq)]
pub struct Preamble {
    /// The language.
    pub language: String,
    /// Copied as it is.
    pub text: String,
    /// The whole of it.
    pub at: At,
}
