//! The syntax tree: what was written, with its places, nothing resolved.

pub use crate::vocabulary::{At, BinaryOperator, Entity, Leave, StateClass, Test, Type, UnaryOperator};

use std::collections::BTreeSet;

/// A whole `.sched` file. Sections of the same kind are joined, in source order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scheduler {
    /// The name after `scheduler`.
    pub name: Name,
    /// The lines of `thread`.
    pub attributes: Vec<Variable>,
    /// The timers of `thread`, each a `time` without initialiser.
    pub timers: Vec<Variable>,
    /// The threadrefs of `thread`: links from a thread to another.
    pub links: Vec<Name>,
    /// The lines of `threadimports`.
    pub thread_imports: Vec<Variable>,
    /// The lines of `imports`.
    pub imports: Vec<Variable>,
    /// The constants of `data`.
    pub constants: Vec<Variable>,
    /// The names of each `enum`. They are constants, too.
    pub enumerations: Vec<Vec<Name>>,
    /// The variables of `data`.
    pub variables: Vec<Variable>,
    /// The variables of `global`.
    pub globals: Vec<Variable>,
    /// The containers of `data`.
    pub containers: Vec<Container>,
    /// The containers of `nodes`.
    pub nodes: Vec<Container>,
    /// Event and query handlers.
    pub handlers: Vec<Handler>,
    /// In source order: each can call those before it.
    pub functions: Vec<Function>,
    /// Verbatim text among the sections.
    pub verbatim: Vec<Alternative>,
    /// The brace that closes it, if there is one.
    pub closed: Option<At>,
    /// What was lost to syntax errors, so that `check` reports nothing that merely follows from them.
    pub lost: Lost,
}

/// What the parser skipped after an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lost {
    /// Names in skipped text: each may have been declared there.
    pub names: BTreeSet<String>,
    /// A handler, or so much of the file that there may have been one.
    pub handlers: bool,
}

/// A name and its place. The name of an event is one: `block.io.read`, `block.*`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Name {
    /// As written, without white space.
    pub text: String,
    /// Where.
    pub at: At,
}

/// One name of `int a, b = 1;`, `bool c default false;` or `const int D = 4;`.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// The type before the names.
    pub ty: Type,
    /// What is declared.
    pub name: Name,
    /// Of an array.
    pub array: Option<Array>,
    /// After `=` or `default`. A constant or an import always has one; an array has a list instead.
    pub initial: Option<Expression>,
}

/// `[3]`, `[3] = { 1, 2, 3 }`
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// In the brackets.
    pub length: Expression,
    /// What the elements hold at first, with its place. A constant array always has a list.
    pub list: Option<(Vec<Expression>, At)>,
}

/// What names a container or a thread: `ready`, `ready[i]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The container, array or thread.
    pub name: Name,
    /// Of an element.
    pub index: Option<Box<Expression>>,
    /// With the brackets.
    pub at: At,
}

/// `pqueue ready reverse sortable on left : READY;`
#[derive(Clone, Debug, PartialEq)]
pub struct Container {
    /// How threads go in and come out.
    pub kind: ContainerKind,
    /// What is declared.
    pub name: Name,
    /// Of an array.
    pub length: Option<Expression>,
    /// Present exactly for `pqueue` and `pstack`. A `reverse` before the whole clause is already applied to each key.
    pub keys: Vec<SortKey>,
    /// `: READY`
    pub class: Option<(StateClass, At)>,
    /// The declaration without the semicolon.
    pub at: At,
}

/// The word before a container's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerKind {
    /// `threadref`, and of nodes `node`
    Threadref,
    /// `queue`
    Queue,
    /// `stack`
    Stack,
    /// `pqueue`
    Pqueue,
    /// `pstack`
    Pstack,
}

/// One name after `sortable on`.
#[derive(Clone, Debug, PartialEq)]
pub struct SortKey {
    /// The attribute, or the property.
    pub attribute: Name,
    /// Whether the lowest value leaves first.
    pub reverse: bool,
}

/// `event NAME(t) { … }` or `query NAME(t) { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Handler {
    /// Which of the two.
    pub kind: HandlerKind,
    /// What it handles, with dots; `block.*` for a family. At least one, of a query exactly one.
    pub names: Vec<Name>,
    /// In order; those of all its events.
    pub parameters: Vec<Name>,
    /// The type that a query may state: `query size : int { … }`.
    pub returns: Option<(Type, At)>,
    /// The statements.
    pub body: Block,
    /// From `event` to the end of the header.
    pub at: At,
}

impl Handler {
    /// `switch_out, timeout.slice`
    pub fn written(&self) -> String {
        self.names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// The word before a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerKind {
    /// `event`
    Event,
    /// `query`
    Query,
}

/// `function int level_of(t, int least) { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// What is declared.
    pub name: Name,
    /// In order.
    pub parameters: Vec<Parameter>,
    /// The type of its value, if it has one.
    pub returns: Option<Type>,
    /// The statements.
    pub body: Block,
    /// From `function` to the end of the header.
    pub at: At,
}

/// `t`, `int least`
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Of a value; a thread has none.
    pub ty: Option<Type>,
    /// What is declared.
    pub name: Name,
}

/// `level_of(t, 3)`
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function.
    pub name: Name,
    /// In order; a thread is written as its name.
    pub arguments: Vec<Expression>,
}

/// `{ … }`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// In order.
    pub statements: Vec<Statement>,
    /// With the braces.
    pub at: At,
}

/// One step of a handler.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Without the semicolon; of `if` and loops, the part before the body; of `do`, the part after it.
    pub at: At,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `int a, b = 1;`
    Declare(Vec<Variable>),
    /// `threadref tmp;`: names a cursor for a `foreach` to come.
    DeclareCursor(Vec<Name>),
    /// `source => destination;`
    Transfer {
        /// A container, or a thread.
        source: Reference,
        /// A container.
        destination: Reference,
    },
    /// `destroy t;`
    Destroy(Reference),
    /// `dispatch current;`
    Dispatch(Reference),
    /// `place = value;`, `place += value;`, `place++;` (which adds 1).
    Assign {
        /// What is assigned.
        place: Place,
        /// Of `+=` and the like.
        operator: Option<BinaryOperator>,
        /// The right side.
        value: Expression,
    },
    /// `if (…) … else …`
    If {
        /// In the parentheses.
        condition: Expression,
        /// A single statement is a block of one.
        then: Block,
        /// Empty without `else`.
        otherwise: Block,
    },
    /// `foreach t in c { … }`
    Foreach {
        /// The thread visited.
        cursor: Name,
        /// Where the threads are.
        container: Reference,
        /// Done for each.
        body: Block,
    },
    /// `foreach u in t.owner { … }`
    Follow {
        /// The thread that the link names.
        cursor: Name,
        /// Whose link it is.
        thread: Reference,
        /// The link.
        link: Name,
        /// Done for each.
        body: Block,
    },
    /// `while (…) …`, `for (…; …; …) …`, `do … while (…);`
    Loop {
        /// Before the first turn: a declaration or an assignment.
        start: Option<Box<Statement>>,
        /// Without it the loop goes on.
        condition: Option<Expression>,
        /// When the condition is tested.
        test: Test,
        /// Done in each turn.
        body: Block,
        /// Done after each turn: an assignment.
        step: Option<Box<Statement>>,
    },
    /// `return;`, `return value;`
    Return(Option<Expression>),
    /// `break;`, `continue;`
    Leave(Leave),
    /// `fail "reason";`
    Fail(String),
    /// `requeue(t);`
    Call(Call),
    /// `verbatim c { … } else verbatim python { … } else { … }`
    Verbatim {
        /// In order; the first in the framework's language is taken.
        alternatives: Vec<Alternative>,
        /// Stands for languages without an alternative, and for the interpreter.
        otherwise: Option<Block>,
    },
    /// `{ … }`
    Block(Block),
    /// A statement that could not be read; it has been reported.
    Lost,
}

/// `verbatim c { … }`
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// The language that the text is written in.
    pub language: Name,
    /// What stands between the braces.
    pub text: String,
    /// Where.
    pub text_at: At,
    /// From `verbatim` to the brace.
    pub at: At,
}

/// What can stand on the left of an assignment.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// `x`
    Name(Name),
    /// `t.x`
    Member {
        /// What names the thread.
        thread: Reference,
        /// An attribute or an import of the thread.
        member: Name,
    },
    /// `x[i]`, `t.x[i]`
    Element {
        /// The array; no element itself.
        array: Box<Place>,
        /// In the brackets.
        index: Box<Expression>,
        /// With the brackets.
        at: At,
    },
}

/// A computation.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// What is computed.
    pub kind: ExpressionKind,
    /// From the first to the last byte, parentheses included.
    pub at: At,
}

/// What an expression computes.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionKind {
    /// `12`, `0x0c`. What does not fit in 64 bits is `u64::MAX`, which fits in no `int` either.
    Int(u64),
    /// `25ms`, in nanoseconds; saturated as above.
    Duration(u64),
    /// `now`
    Now,
    /// `1.5`; infinite if it is too high.
    Float(f64),
    /// `float(x)`, `int(x)`
    Convert(Type, Box<Expression>),
    /// `true`, `false`
    Bool(bool),
    /// `x`, `t.x`
    Place(Place),
    /// `|c|`
    Size(Reference),
    /// `t in c`
    In(Reference, Reference),
    /// `level_of(t)`
    Call(Call),
    /// `verbatim c int { … } else 4`
    Verbatim {
        /// Of the value.
        ty: Type,
        /// In order; the first in the framework's language is taken.
        alternatives: Vec<Alternative>,
        /// Stands for languages without an alternative, and for the interpreter.
        otherwise: Option<Box<Expression>>,
    },
    /// `-x`, `!x`
    Unary(UnaryOperator, Box<Expression>),
    /// `~x`
    Complement(Box<Expression>),
    /// `c ? x : y`
    Choose(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `x + y`
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// What could not be read; it has been reported.
    Lost,
}

impl Place {
    /// The whole of it.
    pub fn at(&self) -> At {
        match self {
            Place::Name(name) => name.at,
            Place::Member { thread, member } => thread.at.to(member.at),
            Place::Element { at, .. } => *at,
        }
    }
}

impl From<Name> for Reference {
    fn from(name: Name) -> Self {
        Reference { at: name.at, name, index: None }
    }
}
