//! What statements compute, and what they name: values, places, containers and threads.

use super::{
    AttributeId, BinaryOperator, ConstantId, ContainerId, ImportId, LinkId, LocalId, ThreadImportId, Type,
    UnaryOperator, Value, VariableId,
};

/// How a statement or expression names a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContainerRef {
    /// Known before run time: `ready`, or an element with a constant index.
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
    /// `t.x[i]`: an element of an attribute.
    AttributeElement {
        /// The thread that has it.
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

/// How an expression names a thread, or a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thread {
    /// A parameter or a cursor.
    Local(LocalId),
    /// The thread in a threadref, which `verify` proves to hold one at this point.
    Slot(ContainerId),
    /// The next thread to be removed from another container, which is proved to hold one. Its data is only read.
    First(ContainerId),
}

/// What a link is to name, or is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Referent {
    /// `none`: no thread.
    None,
    /// A parameter or a cursor.
    Thread(LocalId),
    /// The thread in a threadref of `data` that is known before run time; none, if it is empty.
    Held(ContainerRef),
    /// The thread that another link names; none, if it names none.
    Linked(Thread, LinkId),
}

impl Referent {
    /// The thread that must exist: the one that is meant, or whose link is meant.
    pub fn thread(&self) -> Option<Thread> {
        match self {
            Referent::Thread(local) => Some(Thread::Local(*local)),
            Referent::Linked(thread, _) => Some(*thread),
            Referent::None | Referent::Held(_) => None,
        }
    }

    /// The threadref whose thread is meant.
    pub fn container(&self) -> Option<&ContainerRef> {
        match self {
            Referent::Held(slot) => Some(slot),
            Referent::None | Referent::Thread(_) | Referent::Linked(..) => None,
        }
    }
}

/// How the source asks whether a thread is in a container. It means the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// `t in c`
    In,
    /// `t == c`, where `c` is a threadref.
    Equal,
    /// `c == t`, where `c` is a threadref that is known before run time, and `t` a local.
    Mirrored,
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
    In(Thread, ContainerRef, Asked),
    /// `t == u`, a bool: whether two names stand for one thread or node. For a threadref, there is [`Expression::In`].
    Same(LocalId, LocalId),
    /// `t.owner == u`, a bool: whether a link names this thread, or neither names one.
    Linked {
        /// The thread that has the link.
        thread: Thread,
        /// The link.
        link: LinkId,
        /// What it is compared with.
        to: Referent,
    },
    /// `float(x)` of an int: the nearest float. `int(x)` of a float: towards zero; out of range, the highest or lowest
    /// int. The type is that of the result.
    Convert(Type, Box<Expression>),
    /// `-x` on int, time and float, `!x` on bool.
    Unary(UnaryOperator, Box<Expression>),
    /// [`BinaryOperator::joins`] says for which types. `&&` and `||` evaluate the right operand only if it decides.
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    /// An int used as a condition: true unless 0.
    NotZero(Box<Expression>),
    /// `c ? a : b`, with a condition that is a bool, and two values of one type. Only the chosen value is evaluated.
    Choose(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `random(n)`, an int: the next number of the policy's generator, from 0 to below `n`; 0, if `n` is below 1. Each
    /// evaluation is another draw, so it can only be the whole value of an assignment, as `verify` checks.
    Random(Box<Expression>),
    /// `verbatim c int { … } else 4`: any value of the type.
    Verbatim {
        /// The type of the value.
        ty: Type,
        /// Copied into generated code.
        text: Verbatim,
        /// What the interpreter uses instead. Without it, the policy cannot be interpreted.
        otherwise: Option<Box<Expression>>,
    },
}

/// Text in the language that the policy is translated into, with names of the policy in it (CATAPULTS 2005, §5.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verbatim {
    /// The language.
    pub language: String,
    /// In order. No two adjacent pieces are text.
    pub pieces: Vec<Piece>,
}

impl Verbatim {
    /// The places that it names.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Place(place) => Some(place),
            Piece::Text(_) | Piece::Constant(_) | Piece::Now | Piece::Thread(_) => None,
        })
    }

    /// The threads that it names, directly or through an attribute or import.
    pub fn threads(&self) -> impl Iterator<Item = Thread> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Place(place) => place.thread(),
            Piece::Thread(thread) => Some(*thread),
            Piece::Text(_) | Piece::Constant(_) | Piece::Now => None,
        })
    }
}

impl Piece {
    /// The piece for an expression that is a name.
    pub(crate) fn naming(expression: Expression) -> Option<Piece> {
        if let Expression::Constant(constant) = expression {
            Some(Piece::Constant(constant))
        } else if let Expression::Read(place) = expression {
            Some(Piece::Place(place))
        } else {
            None
        }
    }
}

/// A part of verbatim text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Is copied.
    Text(String),
    /// The name of a constant.
    Constant(ConstantId),
    /// A place that holds a value.
    Place(Place),
    /// The instant of the event or query.
    Now,
    /// A thread itself.
    Thread(Thread),
}

impl Expression {
    /// Whether it, or an expression within it, satisfies `such`.
    pub fn any(&self, such: &impl Fn(&Expression) -> bool) -> bool {
        such(self) || self.parts().any(|part| part.any(such))
    }

    /// Whether its evaluation draws a number.
    pub fn draws(&self) -> bool {
        self.any(&|it| matches!(it, Expression::Random(_)))
    }
}

impl ContainerRef {
    /// The containers that it can name.
    pub fn candidates(&self) -> impl DoubleEndedIterator<Item = ContainerId> + Clone + use<> {
        self.numbers().map(ContainerId)
    }

    /// As `candidates`, as numbers.
    pub fn numbers(&self) -> std::ops::Range<usize> {
        let (first, length) = match self {
            ContainerRef::One(only) => (*only, 1),
            ContainerRef::Element { first, length, .. } | ContainerRef::Whole { first, length } => (*first, *length),
        };
        first.0..first.0 + length
    }

    /// Whether it can name this container.
    pub fn may_be(&self, container: ContainerId) -> bool {
        self.numbers().contains(&container.0)
    }

    /// The index, if it is computed at run time.
    pub fn index(&self) -> Option<&Expression> {
        match self {
            ContainerRef::Element { index, .. } => Some(index),
            ContainerRef::One(_) | ContainerRef::Whole { .. } => None,
        }
    }
}

impl Thread {
    /// The container that holds the thread, if the thread is named by it.
    pub fn held_by(self) -> Option<ContainerId> {
        match self {
            Thread::Slot(container) | Thread::First(container) => Some(container),
            Thread::Local(_) => None,
        }
    }
}

impl From<ContainerId> for ContainerRef {
    fn from(container: ContainerId) -> Self {
        ContainerRef::One(container)
    }
}

impl Place {
    /// The index, if it is computed at run time.
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

    /// The attributes that it can be. None, for all other places.
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

    /// The variables of the policy that it can be. None, for all other places.
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

/// What an expression names itself, without its parts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'e> {
    /// The place that is read.
    pub place: Option<&'e Place>,
    /// The container that is looked into.
    pub container: Option<&'e ContainerRef>,
    /// The threads that are meant themselves, not what is kept of them.
    pub threads: [Option<Thread>; 2],
    /// Text, which can name anything.
    pub verbatim: Option<&'e Verbatim>,
}

impl Expression {
    /// Whether it is written with `==`, between threads.
    pub fn compares_threads(&self) -> bool {
        matches!(
            self,
            Expression::Same(..) | Expression::Linked { .. } | Expression::In(_, _, Asked::Equal | Asked::Mirrored)
        )
    }

    /// What it names itself, without its parts.
    pub fn names(&self) -> Names<'_> {
        let nothing = Names::default();
        match self {
            Expression::Read(place) => Names { place: Some(place), ..nothing },
            Expression::Size(container) => Names { container: Some(container), ..nothing },
            Expression::In(thread, container, _) => {
                Names { threads: [Some(*thread), None], container: Some(container), ..nothing }
            }
            Expression::Same(one, other) => {
                Names { threads: [one, other].map(|local| Some(Thread::Local(*local))), ..nothing }
            }
            Expression::Linked { thread, to, .. } => {
                Names { threads: [Some(*thread), to.thread()], container: to.container(), ..nothing }
            }
            Expression::Verbatim { text, .. } => Names { verbatim: Some(text), ..nothing },
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ConstantElement { .. }
            | Expression::Now
            | Expression::Unary(..)
            | Expression::Convert(..)
            | Expression::Binary(..)
            | Expression::NotZero(_)
            | Expression::Random(_)
            | Expression::Choose(..) => nothing,
        }
    }

    /// The expressions directly in it, indices included, from left to right.
    pub fn parts(&self) -> impl Iterator<Item = &Expression> {
        let parts: [Option<&Expression>; 3] = match self {
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::Now
            | Expression::Same(..)
            | Expression::Linked { .. } => [None, None, None],
            Expression::Verbatim { otherwise, .. } => [otherwise.as_deref(), None, None],
            Expression::ConstantElement { index, .. } => [Some(index), None, None],
            Expression::Read(place) => [place.index(), None, None],
            Expression::Size(container) | Expression::In(_, container, _) => [container.index(), None, None],
            Expression::Unary(_, operand)
            | Expression::Convert(_, operand)
            | Expression::NotZero(operand)
            | Expression::Random(operand) => [Some(operand), None, None],
            Expression::Binary(_, left, right) => [Some(left), Some(right), None],
            Expression::Choose(condition, one, other) => [Some(condition), Some(one), Some(other)],
        };
        parts.into_iter().flatten()
    }
}
