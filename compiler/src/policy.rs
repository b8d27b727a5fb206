//! The policy: the one intermediate representation, fully explicit.
//!
//! `check` makes it, `verify` judges it, `interp` runs it and `emit` translates it; none of them looks at syntax again.
//! Every name is resolved, every type is written, every default handler of the framework is present, every container has
//! its state class. [`text`] prints a policy and reads it back; the two are inverse.

pub mod text;

pub use crate::vocabulary::{At, BinaryOperator, Float, StateClass, Test, Type, UnaryOperator, Value};

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
    /// What the policy keeps for each thread.
    pub attributes: Vec<Attribute>,
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
                LocalKind::Thread => return None,
            },
            Expression::Now => Type::Time,
            Expression::Verbatim { ty, .. } => *ty,
            Expression::Convert(ty, _) => *ty,
            Expression::Size(_) => Type::Int,
            Expression::In(..) | Expression::NotZero(_) => Type::Bool,
            Expression::Unary(UnaryOperator::Not, _) => Type::Bool,
            Expression::Unary(UnaryOperator::Negate, operand) => self.type_of(locals, operand)?,
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
        let asked = |it: &Expression| match it {
            Expression::Verbatim { text, .. } => text.pieces.contains(&Piece::Now),
            Expression::Now => true,
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ConstantElement { .. }
            | Expression::Read(_)
            | Expression::Size(_)
            | Expression::In(..)
            | Expression::Convert(..)
            | Expression::Unary(..)
            | Expression::Binary(..)
            | Expression::NotZero(_) => false,
        };
        self.has(&asked) || self.events.iter().chain(&self.queries).any(|handler| within(&handler.body))
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
                    StatementKind::Foreach { body, .. } => number(body, next),
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
                    | StatementKind::Transfer { .. }
                    | StatementKind::Destroy { .. }
                    | StatementKind::Dispatch { .. }
                    | StatementKind::Return { .. }
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

/// A line of the `thread` section.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// As declared.
    pub name: String,
    /// Of an array.
    pub element: Option<Element>,
    /// As declared.
    pub ty: Type,
    /// What a new thread starts with: the initialiser, else 0 or `false`.
    pub initial: Value,
    /// Of a timer: the event that the host raises when the instant that it holds has come. It is a `time`; 0: not armed.
    pub timer: Option<String>,
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

/// A variable of the `data` section.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// As declared.
    pub name: String,
    /// Of an array.
    pub element: Option<Element>,
    /// As declared.
    pub ty: Type,
    /// What it holds when the policy is loaded: the initialiser, else 0 or `false`.
    pub initial: Value,
}

/// Where threads are held. Every live thread is in exactly one.
#[derive(Clone, Debug, PartialEq)]
pub struct Container {
    /// As declared.
    pub name: String,
    /// Of an array. All elements of an array are of the same kind and class.
    pub element: Option<Element>,
    /// How threads go in and come out.
    pub kind: ContainerKind,
    /// Declared, or inferred by `check`.
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

/// What is done when an event is raised or a query asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Handler {
    /// The full name of the event or query in the framework description: `block.io.read`. A handler for a family or for
    /// several events is repeated for each of them, so that later stages never match names.
    pub name: String,
    /// What was written before the body for this event: `block.*`, or the same as `name`.
    pub written: String,
    /// Parameters first (there are [`Handler::parameters`] of them), then the locals and cursors of the body.
    pub locals: Vec<Local>,
    /// How many of `locals` are parameters; each of these is a thread.
    pub parameters: usize,
    /// `None` for an event, the type of the value for a query.
    pub returns: Option<Type>,
    /// The statements.
    pub body: Block,
    /// Who wrote it.
    pub owner: Owner,
    /// The header of the handler.
    pub at: At,
}

/// A name within a handler.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// As declared. Two locals of one handler can have the same name in different blocks.
    pub name: String,
    /// What it stands for.
    pub kind: LocalKind,
}

/// What a local name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalKind {
    /// A parameter, or the thread that a `foreach` visits: it names a thread wherever that is, and holds nothing.
    Thread,
    /// A variable of the body; it is assigned before it is read (`check` inserts the initialiser, else 0 or `false`).
    Value(Type),
}

/// Statements in order.
pub type Block = Vec<Statement>;

/// One step of a handler.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// Its number in the policy.
    pub id: StatementId,
    /// What it does.
    pub kind: StatementKind,
    /// Where it is written. For `If` and loops, the part before the body; for a loop that tests last, the part after it.
    pub at: At,
}

impl Statement {
    /// The blocks inside it, in the order of their statements' numbers.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let (first, second) = match &self.kind {
            StatementKind::If { then, otherwise, .. } => (Some(then), Some(otherwise)),
            StatementKind::Foreach { body, .. } => (Some(body), None),
            StatementKind::Verbatim { otherwise, .. } => (otherwise.as_ref(), None),
            StatementKind::Loop { body, step, .. } => (Some(body), Some(step)),
            StatementKind::Set { .. }
            | StatementKind::Transfer { .. }
            | StatementKind::Destroy { .. }
            | StatementKind::Dispatch { .. }
            | StatementKind::Return { .. }
            | StatementKind::Fail { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// Whether an expression within a block, at any depth, is such.
fn within_block(block: &Block, such: &impl Fn(&Expression) -> bool) -> bool {
    block.iter().any(|statement| {
        statement.expressions().any(|own| own.any(such)) || statement.blocks().any(|inner| within_block(inner, such))
    })
}

impl Statement {
    /// The expressions that it evaluates itself, indices included: its condition or value last.
    pub fn expressions<'a>(&'a self) -> impl Iterator<Item = &'a Expression> {
        let of = |source: &'a Source| match source {
            Source::Container(container) => container.index(),
            Source::Thread(_) => None,
        };
        let (first, second) = match &self.kind {
            StatementKind::Set { place, value } => (place.index(), Some(value)),
            StatementKind::Transfer { source, destination } => (of(source), destination.index()),
            StatementKind::Destroy { source } => (of(source), None),
            StatementKind::If { condition, .. } | StatementKind::Loop { condition, .. } => (None, Some(condition)),
            StatementKind::Foreach { container, .. } => (container.index(), None),
            StatementKind::Return { value } => (None, value.as_ref()),
            StatementKind::Dispatch { .. } | StatementKind::Fail { .. } | StatementKind::Verbatim { .. } => {
                (None, None)
            }
        };
        first.into_iter().chain(second)
    }
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `place = value;` `x++` and `x += 1` are written out. Assigning to a sort key re-files a queued thread.
    Set {
        /// What is assigned.
        place: Place,
        /// Evaluated first; of the same type as the place.
        value: Expression,
    },
    /// `source => destination;`
    Transfer {
        /// Where the thread comes from.
        source: Source,
        /// Where it goes: no array as a whole.
        destination: ContainerRef,
    },
    /// `destroy t;`: the thread leaves the policy for good.
    Destroy {
        /// What is destroyed.
        source: Source,
    },
    /// `dispatch current;`: the host is to run the thread held there. The handler ends.
    Dispatch {
        /// A threadref of class RUNNING.
        slot: ContainerId,
    },
    /// `if (…) … else …`
    If {
        /// Of type `bool`.
        condition: Expression,
        /// Done when it is true.
        then: Block,
        /// Done when it is false; empty without `else`.
        otherwise: Block,
    },
    /// `foreach t in c`: visits the threads that were in `c` at its start, in the order of removal. The body moves or
    /// destroys no thread but the one visited.
    Foreach {
        /// The thread visited.
        cursor: LocalId,
        /// Where the threads are; an index is computed once, before the first visit.
        container: ContainerRef,
        /// Done for each.
        body: Block,
    },
    /// `while (…) …`, `for (…; …; …) …`, `do … while (…);`: turns as long as the condition holds. What a `for` does first
    /// stands before the loop.
    Loop {
        /// Of type `bool`.
        condition: Expression,
        /// When it is tested.
        test: Test,
        /// Done in each turn.
        body: Block,
        /// Done after the body in each turn: the last part of a `for`, else empty.
        step: Block,
    },
    /// `return;` in an event, `return value;` in a query. The handler ends.
    Return {
        /// Present exactly in queries.
        value: Option<Expression>,
    },
    /// `fail "reason";`: the application's call fails for this reason; nothing that the handler did before is undone, so
    /// `verify` demands that it did nothing. The handler ends.
    Fail {
        /// Shown to the user of the application.
        reason: String,
    },
    /// `verbatim c { … } else { … }`: may change what it names, moves no thread, and does not end the handler.
    Verbatim {
        /// Copied into what is generated.
        text: Verbatim,
        /// What the interpreter does instead. Without it, the policy cannot be interpreted.
        otherwise: Option<Block>,
    },
}

/// How a statement or expression names a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContainerRef {
    /// One that is known before run time: `ready`, or an element with a constant index.
    One(ContainerId),
    /// `ready[i]`. An index out of range means the nearest element.
    Element {
        /// The first element of the array.
        first: ContainerId,
        /// How many there are.
        length: usize,
        /// An int.
        index: Box<Expression>,
    },
    /// `ready`, an array: its threads are those of all elements, the lowest element first.
    Whole {
        /// The first element of the array.
        first: ContainerId,
        /// How many there are.
        length: usize,
    },
}

/// What leaves its container in a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The thread next to be removed from a container.
    Container(ContainerRef),
    /// A thread named by a parameter or cursor, wherever it is.
    Thread(LocalId),
}

/// What can be assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A variable of the policy.
    Variable(VariableId),
    /// `x[i]`: one of the policy's variables. An index out of range means the nearest element.
    VariableElement {
        /// The first element of the array.
        first: VariableId,
        /// How many there are.
        length: usize,
        /// An int.
        index: Box<Expression>,
    },
    /// A variable of the handler.
    Local(LocalId),
    /// A variable of the application.
    Import(ImportId),
    /// What the policy keeps for a thread.
    Attribute(Thread, AttributeId),
    /// `t.x[i]`: the same of an array.
    AttributeElement {
        /// Whose.
        thread: Thread,
        /// The first element of the array.
        first: AttributeId,
        /// How many there are.
        length: usize,
        /// An int.
        index: Box<Expression>,
    },
    /// What the application keeps for a thread.
    ThreadImport(Thread, ThreadImportId),
}

/// How an expression names a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thread {
    /// A parameter or a cursor.
    Local(LocalId),
    /// The thread in a threadref, which `verify` proves to hold one at this point.
    Slot(ContainerId),
}

/// A computation without side effects. Types are explicit: see [`Expression::NotZero`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A literal.
    Literal(Value),
    /// A named constant.
    Constant(ConstantId),
    /// `W[i]`: one of the constants of an array. An index out of range means the nearest element.
    ConstantElement {
        /// The first element of the array.
        first: ConstantId,
        /// How many there are.
        length: usize,
        /// An int.
        index: Box<Expression>,
    },
    /// A readable place. Two reads of an import may differ: the application changes it at any time.
    Read(Place),
    /// `now`, a time: the instant at which the event was raised or the query asked, the same throughout the handler.
    Now,
    /// `|c|`, an int.
    Size(ContainerRef),
    /// `t in c`, a bool.
    In(Thread, ContainerRef),
    /// `float(x)` of an int, the nearest float; `int(x)` of a float, towards zero, the highest or lowest int where none is so high
    /// or low. The type is that of the result.
    Convert(Type, Box<Expression>),
    /// `-x` on int, time and float, `!x` on bool.
    Unary(UnaryOperator, Box<Expression>),
    /// [`BinaryOperator::joins`] says of which types; `&&` and `||` evaluate the right one only when it decides.
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// An int used as a condition: true unless 0.
    NotZero(Box<Expression>),
    /// `verbatim c int { … } else 4`: any value of the type.
    Verbatim {
        /// Of the value.
        ty: Type,
        /// Copied into what is generated.
        text: Verbatim,
        /// What the interpreter takes instead. Without it, the policy cannot be interpreted.
        otherwise: Option<Box<Expression>>,
    },
}

/// Text of the language that the policy is translated into, with names of the policy in it (CATAPULTS 2005, §5.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verbatim {
    /// The language.
    pub language: String,
    /// In order. No two of them are text side by side.
    pub pieces: Vec<Piece>,
}

impl Verbatim {
    /// What it names that holds a value.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Place(place) => Some(place),
            Piece::Text(_) | Piece::Constant(_) | Piece::Now | Piece::Thread(_) => None,
        })
    }

    /// The threads that it names, by themselves or for something that is kept of them.
    pub fn threads(&self) -> impl Iterator<Item = Thread> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Place(place) => place.thread(),
            Piece::Thread(thread) => Some(*thread),
            Piece::Text(_) | Piece::Constant(_) | Piece::Now => None,
        })
    }
}

/// A part of verbatim text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// To be copied.
    Text(String),
    /// The name of a constant.
    Constant(ConstantId),
    /// What holds a value.
    Place(Place),
    /// The instant of the event or query.
    Now,
    /// A thread itself.
    Thread(Thread),
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

impl Expression {
    /// Whether it, or an expression within it, is such.
    pub fn any(&self, such: &impl Fn(&Expression) -> bool) -> bool {
        such(self) || self.parts().any(|part| part.any(such))
    }
}

impl ContainerRef {
    /// The containers that it can name.
    pub fn candidates(&self) -> impl DoubleEndedIterator<Item = ContainerId> + Clone + use<> {
        let (first, length) = match self {
            ContainerRef::One(only) => (*only, 1),
            ContainerRef::Element { first, length, .. } | ContainerRef::Whole { first, length } => (*first, *length),
        };
        (first.0..first.0 + length).map(ContainerId)
    }

    /// Whether it can name this container.
    pub fn may_be(&self, container: ContainerId) -> bool {
        self.candidates().any(|candidate| candidate == container)
    }

    /// The index, where it is computed at run time.
    pub fn index(&self) -> Option<&Expression> {
        match self {
            ContainerRef::Element { index, .. } => Some(index),
            ContainerRef::One(_) | ContainerRef::Whole { .. } => None,
        }
    }
}

impl From<ContainerId> for ContainerRef {
    fn from(container: ContainerId) -> Self {
        ContainerRef::One(container)
    }
}

impl Place {
    /// The index, where it is computed at run time.
    pub fn index(&self) -> Option<&Expression> {
        match self {
            Place::VariableElement { index, .. } | Place::AttributeElement { index, .. } => Some(index),
            Place::Variable(_)
            | Place::Local(_)
            | Place::Import(_)
            | Place::Attribute(..)
            | Place::ThreadImport(..) => None,
        }
    }

    /// The thread that it belongs to, if it belongs to one.
    pub fn thread(&self) -> Option<Thread> {
        match self {
            Place::Attribute(thread, _) | Place::ThreadImport(thread, _) | Place::AttributeElement { thread, .. } => {
                Some(*thread)
            }
            Place::Variable(_) | Place::VariableElement { .. } | Place::Local(_) | Place::Import(_) => None,
        }
    }

    /// The attributes of the thread that it can be; of all other places, none.
    pub fn attributes(&self) -> std::ops::Range<usize> {
        match self {
            Place::Attribute(_, attribute) => attribute.0..attribute.0 + 1,
            Place::AttributeElement { first, length, .. } => first.0..first.0 + length,
            Place::Variable(_)
            | Place::VariableElement { .. }
            | Place::Local(_)
            | Place::Import(_)
            | Place::ThreadImport(..) => 0..0,
        }
    }

    /// The variables of the policy that it can be; of all other places, none.
    pub fn variables(&self) -> std::ops::Range<usize> {
        match self {
            Place::Variable(variable) => variable.0..variable.0 + 1,
            Place::VariableElement { first, length, .. } => first.0..first.0 + length,
            Place::Attribute(..)
            | Place::AttributeElement { .. }
            | Place::Local(_)
            | Place::Import(_)
            | Place::ThreadImport(..) => 0..0,
        }
    }
}

impl Expression {
    /// The expressions directly in it, indices included, from left to right.
    pub fn parts(&self) -> impl Iterator<Item = &Expression> {
        let (first, second): (Option<&Expression>, Option<&Expression>) = match self {
            Expression::Literal(_) | Expression::Constant(_) | Expression::Now => (None, None),
            Expression::Verbatim { otherwise, .. } => (otherwise.as_deref(), None),
            Expression::ConstantElement { index, .. } => (Some(index), None),
            Expression::Read(place) => (place.index(), None),
            Expression::Size(container) | Expression::In(_, container) => (container.index(), None),
            Expression::Unary(_, operand) | Expression::Convert(_, operand) | Expression::NotZero(operand) => {
                (Some(operand), None)
            }
            Expression::Binary(_, left, right) => (Some(left), Some(right)),
        };
        first.into_iter().chain(second)
    }
}
