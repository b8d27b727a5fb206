//! The words that every stage shares.

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A signed integer of the width that the framework declares.
    Int,
    /// `true` or `false`.
    Bool,
}

/// A value known before run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Always within the width that the framework declares.
    Int(i64),
    /// A truth value.
    Bool(bool),
}

/// Where something stands in the source, in bytes from its start; the end is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct At {
    /// The first byte.
    pub start: u32,
    /// The byte after the last.
    pub end: u32,
    /// The line of the first byte, from 1; 0 in handlers that come from the framework description.
    pub line: u32,
}

/// When a loop tests its condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// Before each turn: `while`, `for`.
    Before,
    /// After each turn: `do`.
    After,
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `-`: int to int, wrapping.
    Negate,
    /// `!`: bool to bool.
    Not,
}

/// An operator with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    /// `+`, wrapping.
    Add,
    /// `-`, wrapping.
    Subtract,
    /// `*`, wrapping.
    Multiply,
    /// `/`, towards zero. By zero it is 0, so that no policy can stop its host; the smallest int by -1 wraps.
    Divide,
    /// `%`, with the sign of the left operand. By zero it is 0.
    Remainder,
    /// `==` on int or bool.
    Equal,
    /// `!=` on int or bool.
    NotEqual,
    /// `<` on int.
    Less,
    /// `<=` on int.
    LessOrEqual,
    /// `>` on int.
    Greater,
    /// `>=` on int.
    GreaterOrEqual,
    /// `&&` on bool.
    And,
    /// `||` on bool.
    Or,
}

impl At {
    /// From the start of this place to the end of a later one.
    pub fn to(self, last: At) -> At {
        At { end: last.end.max(self.end), ..self }
    }
}

/// The state of a thread as its host sees it (Bossa 2005, §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateClass {
    /// A processor runs it.
    Running,
    /// It can run.
    Ready,
    /// It waits for something.
    Blocked,
    /// It has ended.
    Terminated,
}

impl StateClass {
    /// All, in the order of their life.
    pub const ALL: [StateClass; 4] =
        [StateClass::Running, StateClass::Ready, StateClass::Blocked, StateClass::Terminated];

    /// As it is written: `READY`.
    pub fn word(self) -> &'static str {
        match self {
            StateClass::Running => "RUNNING",
            StateClass::Ready => "READY",
            StateClass::Blocked => "BLOCKED",
            StateClass::Terminated => "TERMINATED",
        }
    }

    /// The class of this name.
    pub fn from_word(word: &str) -> Option<StateClass> {
        Self::ALL.into_iter().find(|class| class.word() == word)
    }
}

impl Type {
    /// As it is written: `int`.
    pub fn word(self) -> &'static str {
        match self {
            Type::Int => "int",
            Type::Bool => "bool",
        }
    }
}

impl Value {
    /// What a variable of this type holds without an initialiser.
    pub fn zero(ty: Type) -> Value {
        match ty {
            Type::Int => Value::Int(0),
            Type::Bool => Value::Bool(false),
        }
    }

    /// Its type.
    pub fn ty(self) -> Type {
        match self {
            Value::Int(_) => Type::Int,
            Value::Bool(_) => Type::Bool,
        }
    }
}
