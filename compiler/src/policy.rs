//! The policy: the one intermediate representation, fully explicit.
//!
//! `check` makes it, `verify` judges it, `interp` runs it and `emit` translates it; none of them looks at syntax again.
//! Every name is resolved, every type is written, every default handler of the framework is present, every container
//! has its state class. [`text`] prints a policy and reads it back; the two are inverse.

pub mod cost;
mod expressions;
mod families;
mod reasons;
mod renumber;
mod statements;
pub mod text;

pub use expressions::{Asked, ContainerRef, Expression, Piece, Place, Referent, Thread, Verbatim};
pub use families::{Families, Family};
pub use reasons::Reason;
pub(crate) use renumber::Renumbering;
pub use statements::{Block, Handler, Local, LocalKind, Source, Statement, StatementKind};

use statements::within_block;

pub use crate::vocabulary::{
    At, BinaryOperator, Comparison, Entity, Float, Leave, StateClass, Test, Type, UnaryOperator, Value,
};

/// How many elements one array has at most, and all arrays of containers together, single containers included: what is
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
    /// The files whose functions it uses, by where they start in its places.
    pub used: Vec<UsedFile>,
    /// The width of `int` in bits: 16, 32 or 64. Arithmetic wraps at it.
    pub int_bits: u8,
    /// How many threads can live at a time, if the framework has a bound.
    pub capacity: Option<u32>,
    /// Text of the target language that precedes all generated code.
    pub preamble: Vec<Preamble>,
    /// `const` declarations, in source order.
    pub constants: Vec<Constant>,
    /// What the policy keeps for each thread; then, with nodes, what the host says of each node.
    pub attributes: Vec<Attribute>,
    /// The links from each thread to others.
    pub links: Vec<Link>,
    /// Variables of the application that it reads and may write, for each thread.
    pub thread_imports: Vec<Import>,
    /// Variables of the application that it reads and may write, once.
    pub imports: Vec<Import>,
    /// The policy's own variables.
    pub variables: Vec<Variable>,
    /// The policy's containers, then those of the framework that a handler uses or a default handler fills.
    pub containers: Vec<Container>,
    /// The families of its nodes, if it has several.
    pub families: Option<Families>,
    /// One handler for each event that is handled, in the order of the framework description.
    pub events: Vec<Handler>,
    /// One handler for each query, in the order of the framework description.
    pub queries: Vec<Handler>,
}

/// A file whose functions a policy uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedFile {
    /// Its path, for messages and for generated code.
    pub name: String,
    /// Places from here on are in this file, or in one after it.
    pub start: u32,
}

impl Policy {
    /// The used file that something stands in. `None`: it is in the policy's own.
    pub fn used_at(&self, at: At) -> Option<&UsedFile> {
        self.used.iter().rev().find(|used| at.line > 0 && used.start <= at.start)
    }

    /// The line of the policy from which a statement comes: for one of a used file, that of the call in the handler.
    pub fn line(&self, statement: &Statement) -> u32 {
        let written = if self.used_at(statement.at).is_some() { statement.called } else { None };
        written.unwrap_or(statement.at).line
    }

    /// A place, for comments in generated code: the name of the file, without its folders, and the line.
    pub fn place(&self, at: At) -> String {
        let file = self.used_at(at).map_or(self.source.as_str(), |used| used.name.as_str());
        format!("{}:{}", file.rsplit('/').next().unwrap_or(file), at.line)
    }

    /// What the containers that this can name hold.
    pub fn held_by(&self, container: &ContainerRef) -> Entity {
        let first = container.candidates().next().and_then(|id| self.containers.get(id.0));
        first.map_or(Entity::Thread, |container| container.holds)
    }

    /// The type of an expression in a handler with these locals. Never `None` in a policy that `check` made.
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

    /// Whether any value has this type.
    pub fn uses(&self, ty: Type) -> bool {
        let mut handlers = self.events.iter().chain(&self.queries);
        self.constants.iter().any(|constant| constant.value.ty() == ty)
            || self.attributes.iter().any(|attribute| attribute.ty == ty)
            || self.thread_imports.iter().chain(&self.imports).any(|import| import.ty == ty)
            || self.variables.iter().any(|variable| variable.ty == ty)
            || handlers.any(|handler| within_block(&handler.body, &|it| self.type_of(&handler.locals, it) == Some(ty)))
    }

    /// Whether each node has an instance of the policy. Its `data` is then that of a node.
    pub fn has_nodes(&self) -> bool {
        self.containers.iter().any(|container| container.holds == Entity::Node)
    }

    /// The keys by which READY threads leave, if one sorted container has all of them and there is one instance. A host
    /// with several processors sees by them whose turn the policy would rather end.
    pub fn ready_order(&self) -> Option<(ContainerId, &[SortKey])> {
        let mut ready = self.holding(Entity::Thread).filter(|id| self.containers[id.0].class == StateClass::Ready);
        let (Some(only), None, false) = (ready.next(), ready.next(), self.has_nodes()) else { return None };
        match &self.containers[only.0].kind {
            ContainerKind::Pqueue(keys) | ContainerKind::Pstack(keys) => Some((only, keys)),
            ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Stack => None,
        }
    }

    /// The containers that hold threads, or nodes.
    pub fn holding(&self, entity: Entity) -> impl Iterator<Item = ContainerId> + '_ {
        let containers = self.containers.iter().enumerate();
        containers.filter(move |(_, container)| container.holds == entity).map(|(index, _)| ContainerId(index))
    }

    /// Whether an assignment to this place arms or disarms a timer.
    pub fn is_timer(&self, place: &Place) -> bool {
        let mut attributes = place.attributes().filter_map(|attribute| self.attributes.get(attribute));
        attributes.any(|attribute| attribute.timer.is_some())
    }

    /// The names of the timers that threads have, in the order of the attributes.
    pub fn timers(&self) -> impl Iterator<Item = &str> {
        self.attributes.iter().filter(|attribute| attribute.timer.is_some()).map(|attribute| attribute.name.as_str())
    }

    /// Whether a handler uses `now`. The host then supplies it.
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

    /// Whether a handler draws numbers. The policy then has a generator.
    pub fn uses_random(&self) -> bool {
        self.has(&Expression::draws)
    }

    /// Whether a handler refuses a request.
    pub fn refuses(&self) -> bool {
        self.has_reason(|_| true)
    }

    /// Whether a handler refuses a request with values of the policy in its reason.
    pub fn tells(&self) -> bool {
        self.has_reason(|reason| reason.constant().is_none())
    }

    fn has_reason(&self, is: fn(&Reason) -> bool) -> bool {
        fn within(block: &Block, is: fn(&Reason) -> bool) -> bool {
            block.iter().any(|statement| {
                matches!(&statement.kind, StatementKind::Fail { reason } if is(reason))
                    || statement.blocks().any(|block| within(block, is))
            })
        }
        self.events.iter().any(|handler| within(&handler.body, is))
    }

    /// Whether a handler has loops, which may not end, or verbatim text, of which nothing is known. Without either,
    /// every handler ends, because there are finitely many threads.
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

    /// Whether an expression in a handler, at any depth, satisfies `such`.
    pub fn has(&self, such: &impl Fn(&Expression) -> bool) -> bool {
        self.events.iter().chain(&self.queries).any(|handler| within_block(&handler.body, such))
    }

    /// Numbers the statements from 0: events before queries, each statement before those in it. Must be called last
    /// when a policy is built or changed.
    pub fn number_statements(&mut self) {
        fn number(block: &mut Block, next: &mut usize) {
            for statement in block {
                statement.id = StatementId(*next);
                *next += 1;
                for inner in statement.blocks_mut() {
                    number(inner, next);
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

/// The position of an element in its array. The elements of an array are adjacent in the vector of the policy, each
/// with its own name: `ready[0]`, `ready[1]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// From 0.
    pub index: usize,
    /// How many elements the array has.
    pub length: usize,
}

impl Element {
    /// The element at an index; if that is out of range, the nearest.
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
    /// Set for an element of an array.
    pub element: Option<Element>,
    /// Its value, already computed.
    pub value: Value,
}

/// A line of the `thread` section, or a property of nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// As declared.
    pub name: String,
    /// What has it. Only the host assigns those of nodes.
    pub of: Entity,
    /// Set for an element of an array.
    pub element: Option<Element>,
    /// As declared.
    pub ty: Type,
    /// The value in a new thread: the initialiser, else 0 or `false`. A property has it until the host assigns one.
    pub initial: Value,
    /// For a timer, a `time`: the event that the host raises at the instant that it holds. 0 means not armed.
    pub timer: Option<String>,
}

/// `threadref owner;` in the `thread` section: names another thread, or none. In a new thread, it names none. When a
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
    /// Whether the instances of all nodes share it.
    pub global: bool,
    /// Set for an element of an array.
    pub element: Option<Element>,
    /// As declared.
    pub ty: Type,
    /// What it holds when the policy is loaded: the initialiser, else 0 or `false`.
    pub initial: Value,
}

/// Keeps threads or nodes. Every live thread is in exactly one container for threads, every node in one for nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Container {
    /// As declared.
    pub name: String,
    /// What it holds. Containers for nodes exist once, all others in the instance of each node.
    pub holds: Entity,
    /// Set for an element of an array. All elements have the same kind and class.
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
    /// Sorted; with equal keys, the last to come leaves first.
    Pstack(Vec<SortKey>),
}

/// One key of a sorted container. The first key that differs decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// The attribute compared.
    pub attribute: AttributeId,
    /// Without `reverse` the highest value leaves first, with it the lowest.
    pub reverse: bool,
}

/// Who supplies a container or a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Written in the `.sched` file.
    Policy,
    /// Supplied by the framework description.
    Framework,
}

/// Verbatim text between the sections.
#[derive(Clone, Debug, PartialEq)]
pub struct Preamble {
    /// The language.
    pub language: String,
    /// Copied as it is.
    pub text: String,
    /// The place of the whole.
    pub at: At,
}
