//! The words that every stage shares.

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A signed integer of the width that the framework declares.
    Int,
    /// `true` or `false`.
    Bool,
    /// An instant or a duration in nanoseconds, 64 bits wide on every host.
    Time,
    /// A number with a fraction: see [`Float`].
    Float,
}

/// What names stand for, and containers hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entity {
    /// What a scheduler runs.
    Thread,
    /// What an instance of a scheduler runs on.
    Node,
}

/// A value known before run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// Always within the width that the framework declares.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// Nanoseconds.
    Time(i64),
    /// A number with a fraction.
    Float(Float),
}

/// An IEEE 754 number of 64 bits that is never NaN: where NaN would arise, it is 0. So floats have an order. Only
/// floats of the same bits are equal: 0.0 and -0.0 differ here, but not to a policy.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Float(u64);

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
    /// Before each iteration: `while`, `for`.
    Before,
    /// After each iteration: `do`.
    After,
}

/// An operator with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `-`: int to int and time to time, wrapping; float to float.
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
    /// `*`, wrapping. A time is multiplied by an int.
    Multiply,
    /// `/`, towards zero. By zero it gives 0, so that no policy can stop its host. The smallest int by -1 wraps. A time
    /// is divided by an int, or by a time, which gives an int that wraps at its width.
    Divide,
    /// `%`, with the sign of the left operand. By zero it gives 0.
    Remainder,
    /// `==` on two values of one type.
    Equal,
    /// `!=` on two values of one type.
    NotEqual,
    /// `<` on two values of one type that has an order: all but bool.
    Less,
    /// `<=`, as `<`.
    LessOrEqual,
    /// `>`, as `<`.
    Greater,
    /// `>=`, as `<`.
    GreaterOrEqual,
    /// `&&` on bool.
    And,
    /// `||` on bool.
    Or,
    /// `min(a, b)`; if they are equal, the left one.
    Least,
    /// `max(a, b)`
    Greatest,
    /// `&`, of each bit.
    BitAnd,
    /// `|`, of each bit.
    BitOr,
    /// `^`, of each bit.
    BitXor,
    /// `<<`. A shift by less than 0 is by 0. A shift by the width or more loses all bits.
    ShiftLeft,
    /// `>>`, likewise. The sign fills from the left.
    ShiftRight,
}

/// Which part of a loop is left early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// `break`: the whole loop.
    Loop,
    /// `continue`: this iteration.
    Turn,
}

impl Leave {
    /// As it is written.
    pub fn word(self) -> &'static str {
        match self {
            Leave::Loop => "break",
            Leave::Turn => "continue",
        }
    }
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparison {
    /// Whether it holds for two values.
    pub fn holds<T: PartialOrd>(self, left: T, right: T) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterOrEqual => left >= right,
        }
    }

    /// The comparison that holds exactly when this one does not.
    pub fn negated(self) -> Comparison {
        match self {
            Comparison::Equal => Comparison::NotEqual,
            Comparison::NotEqual => Comparison::Equal,
            Comparison::Less => Comparison::GreaterOrEqual,
            Comparison::LessOrEqual => Comparison::Greater,
            Comparison::Greater => Comparison::LessOrEqual,
            Comparison::GreaterOrEqual => Comparison::Less,
        }
    }

    /// The comparison that holds for the same values in the other order.
    pub fn mirrored(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            Comparison::Equal | Comparison::NotEqual => self,
        }
    }
}

/// Groups: operators compare, decide (`&&`, `||`), or compute.
impl BinaryOperator {
    /// Which comparison it is, if it compares.
    pub fn comparison(self) -> Option<Comparison> {
        match self {
            BinaryOperator::Equal => Some(Comparison::Equal),
            BinaryOperator::NotEqual => Some(Comparison::NotEqual),
            BinaryOperator::Less => Some(Comparison::Less),
            BinaryOperator::LessOrEqual => Some(Comparison::LessOrEqual),
            BinaryOperator::Greater => Some(Comparison::Greater),
            BinaryOperator::GreaterOrEqual => Some(Comparison::GreaterOrEqual),
            BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Remainder
            | BinaryOperator::And
            | BinaryOperator::Or
            | BinaryOperator::Least
            | BinaryOperator::Greatest
            | BinaryOperator::BitAnd
            | BinaryOperator::BitOr
            | BinaryOperator::BitXor
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight => None,
        }
    }

    /// The value of the left operand for which the right one is evaluated. `None`: the left one never decides alone.
    pub fn goes_on_if(self) -> Option<bool> {
        match self {
            BinaryOperator::And => Some(true),
            BinaryOperator::Or => Some(false),
            BinaryOperator::Add
            | BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Remainder
            | BinaryOperator::Least
            | BinaryOperator::Greatest
            | BinaryOperator::BitAnd
            | BinaryOperator::BitOr
            | BinaryOperator::BitXor
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight
            | BinaryOperator::Equal
            | BinaryOperator::NotEqual
            | BinaryOperator::Less
            | BinaryOperator::LessOrEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterOrEqual => None,
        }
    }

    /// The type of the result for operands of these types. `None`: the operator does not join them.
    pub fn joins(self, left: Type, right: Type) -> Option<Type> {
        use Type::{Bool, Float, Int, Time};
        match self {
            BinaryOperator::Add | BinaryOperator::Subtract => match (left, right) {
                (Int, Int) | (Time, Time) | (Float, Float) => Some(left),
                (Int | Bool | Time | Float, _) => None,
            },
            BinaryOperator::Remainder => match (left, right) {
                (Int, Int) | (Time, Time) => Some(left),
                (Int | Bool | Time | Float, _) => None,
            },
            BinaryOperator::Multiply => match (left, right) {
                (Int, Int) | (Float, Float) => Some(left),
                (Time, Int) | (Int, Time) => Some(Time),
                (Int | Bool | Time | Float, _) => None,
            },
            BinaryOperator::Divide => match (left, right) {
                (Int, Int) | (Time, Time) => Some(Int),
                (Time, Int) => Some(Time),
                (Float, Float) => Some(Float),
                (Int | Bool | Time | Float, _) => None,
            },
            BinaryOperator::BitAnd
            | BinaryOperator::BitOr
            | BinaryOperator::BitXor
            | BinaryOperator::ShiftLeft
            | BinaryOperator::ShiftRight => (left == Int && right == Int).then_some(Int),
            BinaryOperator::Least | BinaryOperator::Greatest => (left == right && left != Bool).then_some(left),
            BinaryOperator::Equal | BinaryOperator::NotEqual => (left == right).then_some(Bool),
            BinaryOperator::Less
            | BinaryOperator::LessOrEqual
            | BinaryOperator::Greater
            | BinaryOperator::GreaterOrEqual => (left == right && left != Bool).then_some(Bool),
            BinaryOperator::And | BinaryOperator::Or => (left == Bool && right == Bool).then_some(Bool),
        }
    }

    /// As it is written: `&&`.
    pub fn word(self) -> &'static str {
        match self {
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Remainder => "%",
            BinaryOperator::Equal => "==",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::Less => "<",
            BinaryOperator::LessOrEqual => "<=",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterOrEqual => ">=",
            BinaryOperator::And => "&&",
            BinaryOperator::Or => "||",
            BinaryOperator::Least => "min",
            BinaryOperator::Greatest => "max",
            BinaryOperator::BitAnd => "&",
            BinaryOperator::BitOr => "|",
            BinaryOperator::BitXor => "^",
            BinaryOperator::ShiftLeft => "<<",
            BinaryOperator::ShiftRight => ">>",
        }
    }

    /// Whether it works on bits. People do not agree how strongly such an operator binds.
    pub fn is_of_bits(self) -> bool {
        self.is_shift() || matches!(self, BinaryOperator::BitAnd | BinaryOperator::BitOr | BinaryOperator::BitXor)
    }

    /// Whether it moves bits.
    pub fn is_shift(self) -> bool {
        matches!(self, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight)
    }

    /// Whether it is written like a function: `min(a, b)`.
    pub fn is_called(self) -> bool {
        matches!(self, BinaryOperator::Least | BinaryOperator::Greatest)
    }

    /// The operator of this spelling.
    pub fn from_word(word: &str) -> Option<BinaryOperator> {
        use BinaryOperator::*;
        let all = [
            Add,
            Subtract,
            Multiply,
            Divide,
            Remainder,
            Equal,
            NotEqual,
            Less,
            LessOrEqual,
            Greater,
            GreaterOrEqual,
            And,
            Or,
            Least,
            Greatest,
            BitAnd,
            BitOr,
            BitXor,
            ShiftLeft,
            ShiftRight,
        ];
        all.into_iter().find(|operator| operator.word() == word)
    }
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
    /// All state classes.
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

impl Entity {
    /// The word for messages and in text: `thread`.
    pub fn word(self) -> &'static str {
        match self {
            Entity::Thread => "thread",
            Entity::Node => "node",
        }
    }
}

impl Type {
    /// As it is written: `int`.
    pub fn word(self) -> &'static str {
        match self {
            Type::Int => "int",
            Type::Bool => "bool",
            Type::Time => "time",
            Type::Float => "float",
        }
    }

    /// All types.
    pub const ALL: [Type; 4] = [Type::Int, Type::Bool, Type::Time, Type::Float];

    /// The type of this name.
    pub fn from_word(word: &str) -> Option<Type> {
        Self::ALL.into_iter().find(|ty| ty.word() == word)
    }
}

/// The units of durations, the longest first, with their lengths in nanoseconds.
pub const UNITS: [(&str, i64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000), ("ns", 1)];

/// Nanoseconds as a multiple of the longest unit that divides them: 25 and `ms`.
pub fn in_unit(nanoseconds: i64) -> (i64, &'static str) {
    let fits = |(_, length): &(&str, i64)| nanoseconds != 0 && nanoseconds % length == 0;
    UNITS.into_iter().find(fits).map_or((nanoseconds, "ns"), |(unit, length)| (nanoseconds / length, unit))
}

impl Float {
    /// The number; 0 for NaN.
    pub fn new(value: f64) -> Float {
        Float((if value.is_nan() { 0.0 } else { value }).to_bits())
    }

    /// The number.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl std::fmt::Debug for Float {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.get().fmt(out)
    }
}

/// As a policy writes it: `12`, `true`, `25ms`, `1.5`.
impl std::fmt::Display for Value {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Int(int) => write!(out, "{int}"),
            Value::Bool(truth) => write!(out, "{truth}"),
            Value::Time(time) => {
                let (count, unit) = in_unit(*time);
                write!(out, "{count}{unit}")
            }
            // The shortest text that is read as the same number, with a point or an exponent.
            Value::Float(float) => write!(out, "{:?}", float.get()),
        }
    }
}

impl Value {
    /// What a variable of this type holds without an initialiser.
    pub fn zero(ty: Type) -> Value {
        match ty {
            Type::Int => Value::Int(0),
            Type::Bool => Value::Bool(false),
            Type::Time => Value::Time(0),
            Type::Float => Value::Float(Float::new(0.0)),
        }
    }

    /// Reads a value that `Display` wrote.
    pub fn parse(word: &str) -> Option<Value> {
        let time = |(unit, length): (&str, i64)| word.strip_suffix(unit)?.parse::<i64>().ok()?.checked_mul(length);
        let float = || word.parse().map(|float| Value::Float(Float::new(float))).ok();
        let plain = || word.parse().map(Value::Bool).or_else(|_| word.parse().map(Value::Int)).ok().or_else(float);
        // All units end in `s`, but only the right one leaves a number.
        UNITS.into_iter().find_map(time).map(Value::Time).or_else(plain)
    }

    /// Its type.
    pub fn ty(self) -> Type {
        match self {
            Value::Int(_) => Type::Int,
            Value::Bool(_) => Type::Bool,
            Value::Time(_) => Type::Time,
            Value::Float(_) => Type::Float,
        }
    }
}
