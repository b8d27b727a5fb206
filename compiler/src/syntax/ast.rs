//! The syntax tree: the source as written, with places and unresolved names.

pub use crate::vocabulary::{At, BinaryOperator, Entity, Leave, StateClass, Test, Type, UnaryOperator};

use std::collections::BTreeSet;

/// A whole `.sched` file. Sections of the same kind are joined, in source order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scheduler {
    /// The files whose functions it uses.
    pub uses: Vec<Use>,
    /// What the file is.
    pub kind: FileKind,
    /// The name after `scheduler`, or after `family`.
    pub name: Name,
    /// The families in `nodefamilies`.
    pub families: Vec<Family>,
    /// What a family tells of its nodes, beside what the framework does.
    pub properties: Vec<Variable>,
    /// The attributes in `thread`.
    pub attributes: Vec<Variable>,
    /// The timers of `thread`, each a `time` without initialiser.
    pub timers: Vec<Variable>,
    /// The threadrefs of `thread`: links from a thread to another.
    pub links: Vec<Name>,
    /// The variables in `threadimports`.
    pub thread_imports: Vec<Variable>,
    /// The variables in `imports`.
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
    /// In source order: each function can call the functions before it.
    pub functions: Vec<Function>,
    /// Verbatim text between the sections.
    pub verbatim: Vec<Alternative>,
    /// The closing brace, if there is one.
    pub closed: Option<At>,
    /// What the parser skipped after errors, so that `check` reports nothing that only follows from them.
    pub lost: Lost,
    /// The family that has been joined with it.
    pub joined: Option<Joined>,
}

/// A family that has been joined with the scheduler that names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Joined {
    /// The name of the family, in the scheduler.
    pub name: Name,
    /// The text of the family.
    pub extent: At,
    /// Names of global variables that the family does not list, and so does not see.
    pub unlisted: BTreeSet<String>,
}

/// What the parser skipped after an error.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lost {
    /// Names in skipped text. They may have been declared there.
    pub names: BTreeSet<String>,
    /// Whether the skipped text may contain a handler.
    pub handlers: bool,
    /// Whether functions of used files are missing, of names that nobody knows.
    pub functions: bool,
    /// Whether a family could not be read. What it would have handled and declared is not known.
    pub families: bool,
}

/// What a file has in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileKind {
    /// A scheduler.
    #[default]
    Policy,
    /// Functions for other files.
    Functions,
    /// A family of nodes, for schedulers that name it.
    Family,
}

/// `"nodes/fastdisk.family" : fastdisk;`
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The path, and the string.
    pub path: Name,
    /// What the scheduler calls its nodes.
    pub name: Name,
    /// The file, once it is brought in.
    pub tree: Option<Box<Scheduler>>,
}

/// `use "admission/utilization.sched";`
#[derive(Clone, Debug, PartialEq)]
pub struct Use {
    /// The path, and the string.
    pub path: Name,
    /// The names of the functions of this file, once it is brought in.
    pub functions: Vec<String>,
}

/// A name and its place. An event's whole name is one: `block.io.read`, `block.*`.
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
    /// Set for an array.
    pub array: Option<Array>,
    /// After `=` or `default`. Constants and imports always have one. An array has a list instead.
    pub initial: Option<Expression>,
}

/// `[3]`, `[3] = { 1, 2, 3 }`
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// The expression in the brackets.
    pub length: Expression,
    /// The initial values, with their place. A constant array always has them.
    pub list: Option<(Vec<Expression>, At)>,
}

/// Names a container or a thread: `ready`, `ready[i]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The container, array or thread.
    pub name: Name,
    /// Set for an element of an array.
    pub index: Option<Box<Expression>>,
    /// Includes the brackets.
    pub at: At,
}

/// `pqueue ready reverse sortable on left : READY;`
#[derive(Clone, Debug, PartialEq)]
pub struct Container {
    /// How threads go in and come out.
    pub kind: ContainerKind,
    /// What is declared.
    pub name: Name,
    /// Set for an array of containers.
    pub length: Option<Expression>,
    /// Empty except for `pqueue` and `pstack`. A `reverse` before the whole clause is already applied to each key.
    pub keys: Vec<SortKey>,
    /// `: READY`
    pub class: Option<(StateClass, At)>,
    /// The declaration without the semicolon.
    pub at: At,
}

/// The word before a container's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerKind {
    /// `threadref`; in the section `nodes`: `node`
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
    /// Whether it handles an event or a query.
    pub kind: HandlerKind,
    /// With dots; `block.*` for a family. A query handler has one, an event handler one or more.
    pub names: Vec<Name>,
    /// In order. All events of the handler share them.
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
    /// It stands in a file of functions, so it knows nothing of a policy.
    pub shared: bool,
    /// From `function` to the end of the header.
    pub at: At,
}

/// `t`, `int least`
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The type of a value. A thread has none.
    pub ty: Option<Type>,
    /// What is declared.
    pub name: Name,
}

/// `level_of(t, 3)`
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function.
    pub name: Name,
    /// In order. A thread is written as its name.
    pub arguments: Vec<Expression>,
}

/// `{ … }`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// In order.
    pub statements: Vec<Statement>,
    /// Includes the braces.
    pub at: At,
}

/// One step of a handler.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Without the semicolon. `if` and loops: the part before the body; `do`: the part after it.
    pub at: At,
}

/// Why a `fail` refuses: `"a load of {booked + load}"`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reason {
    /// What is around the values: one more than there are values.
    pub texts: Vec<String>,
    /// What stands in braces.
    pub values: Vec<Expression>,
    /// The string.
    pub at: At,
}

/// What a statement does.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `int a, b = 1;`
    Declare(Vec<Variable>),
    /// `threadref tmp;`: names a cursor for a later `foreach`.
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
        /// Set for `+=` and the like.
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
        /// Runs for each thread.
        body: Block,
    },
    /// `foreach u in t.owner { … }`
    Follow {
        /// The thread that the link names.
        cursor: Name,
        /// The thread whose link is followed.
        thread: Reference,
        /// The link.
        link: Name,
        /// Runs for that thread, if any.
        body: Block,
    },
    /// `while (…) …`, `for (…; …; …) …`, `do … while (…);`
    Loop {
        /// Before the first iteration: a declaration or an assignment.
        start: Option<Box<Statement>>,
        /// `None`: always true.
        condition: Option<Expression>,
        /// When the condition is tested.
        test: Test,
        /// Runs in each iteration.
        body: Block,
        /// After each iteration: an assignment.
        step: Option<Box<Statement>>,
    },
    /// `return;`, `return value;`
    Return(Option<Expression>),
    /// `break;`, `continue;`
    Leave(Leave),
    /// `fail "reason";`
    Fail(Reason),
    /// `requeue(t);`
    Call(Call),
    /// `verbatim c { … } else verbatim python { … } else { … }`
    Verbatim {
        /// In order. The first in the framework's language is used.
        alternatives: Vec<Alternative>,
        /// Used for languages without an alternative, and by the interpreter.
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
    /// The text between the braces.
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
        /// The array. It is not an element itself.
        array: Box<Place>,
        /// In the brackets.
        index: Box<Expression>,
        /// Includes the brackets.
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
    /// `12`, `0x0c`. Saturated at `u64::MAX`, which does not fit in an `int` either.
    Int(u64),
    /// `25ms`, in nanoseconds; saturated as above.
    Duration(u64),
    /// `now`
    Now,
    /// `1.5`; infinite if it is too large.
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
    /// `n is fastdisk`
    Is(Reference, Name),
    /// `level_of(t)`
    Call(Call),
    /// `verbatim c int { … } else 4`
    Verbatim {
        /// The type of the value.
        ty: Type,
        /// In order. The first in the framework's language is used.
        alternatives: Vec<Alternative>,
        /// Used for languages without an alternative, and by the interpreter.
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
    /// The place of the whole.
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
