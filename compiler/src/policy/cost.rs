//! What costs a step. The interpreter counts by these rules, and bounds are computed by them: `docs/wcet.md` states them.

use super::{ContainerKind, ContainerRef, Expression, Place, Referent, Statement, StatementKind};

/// With more turns of its loops together, a handler counts as one that does not end.
pub const MOST_TURNS: u64 = 1_000_000;

/// A statement that is begun.
pub const STATEMENT: u64 = 1;
/// A part of an expression that is evaluated, unless it is a literal or a constant.
pub const PART: u64 = 1;
/// A turn of a loop, or a thread that a `foreach` visits.
pub const TURN: u64 = 1;
/// A guard that is evaluated.
pub const GUARD: u64 = 1;
/// A link that a destroyed thread has, or that names it.
pub const LINK: u64 = 1;

/// To go into a container, or to come out of it, if it holds so many threads, that one included.
pub fn moving(kind: &ContainerKind, threads: u64) -> u64 {
    match kind {
        ContainerKind::Threadref | ContainerKind::Queue | ContainerKind::Stack => 1,
        ContainerKind::Pqueue(_) | ContainerKind::Pstack(_) => 1 + LEVELS * halvings(threads),
    }
}

/// A sorted container is a red-black tree (`frameworks/shared/catapults/sorted.h`). With `n` threads in it besides the
/// one that moves, it has at most `LEVELS * log2(n + 1)` levels.
pub const LEVELS: u64 = 2;

/// `log n`: how often a number can be halved, rounded down.
pub fn halvings(number: u64) -> u64 {
    u64::from(number.max(1).ilog2())
}

/// To find what a name of a container means, without its index: an array as a whole is looked through.
pub fn looked_through(container: &ContainerRef) -> u64 {
    match container {
        ContainerRef::One(_) | ContainerRef::Element { .. } => 0,
        ContainerRef::Whole { length, .. } => *length as u64,
    }
}

/// Whether a part of an expression costs nothing itself.
pub fn is_free(expression: &Expression) -> bool {
    matches!(expression, Expression::Literal(_) | Expression::Constant(_))
}

/// The most that the evaluation of an expression costs.
pub fn evaluated(expression: &Expression) -> u64 {
    let own = if is_free(expression) { 0 } else { PART };
    let more = match expression {
        Expression::Literal(_) | Expression::Constant(_) | Expression::Now | Expression::Same(..) => 0,
        Expression::ConstantElement { index, .. } => evaluated(index),
        Expression::Read(place) => of_place(place),
        Expression::Size(container) | Expression::In(_, container, _) => named(container),
        Expression::Linked { to, .. } => referred(to),
        Expression::Convert(_, operand)
        | Expression::Unary(_, operand)
        | Expression::NotZero(operand)
        | Expression::Random(operand) => evaluated(operand),
        Expression::Binary(_, left, right) => evaluated(left) + evaluated(right),
        Expression::Choose(condition, one, other) => evaluated(condition) + evaluated(one).max(evaluated(other)),
        // Its own cost is not known. Whoever computes a bound refuses it.
        Expression::Verbatim { otherwise, .. } => otherwise.as_deref().map_or(0, evaluated),
    };
    own + more
}

/// The most that it costs to find a container by its name.
pub fn named(container: &ContainerRef) -> u64 {
    looked_through(container) + container.index().map_or(0, evaluated)
}

/// The most that a statement costs itself, without what is in it, without guards, and without moving anything.
pub fn begun(statement: &Statement) -> u64 {
    let more = match &statement.kind {
        StatementKind::Set { place, value } => evaluated(value) + of_place(place),
        StatementKind::Link { to, .. } => referred(to),
        StatementKind::Transfer { source, destination } => source.container().map_or(0, named) + named(destination),
        StatementKind::Send { source, .. } | StatementKind::Destroy { source } => source.container().map_or(0, named),
        StatementKind::If { condition, .. } => evaluated(condition),
        StatementKind::Foreach { container, .. } => named(container),
        StatementKind::Return { value } => value.as_ref().map_or(0, evaluated),
        StatementKind::Fail { reason } => reason.values.iter().map(|(value, _)| evaluated(value)).sum(),
        // The condition of a loop is evaluated before each turn.
        StatementKind::Loop { .. }
        | StatementKind::Dispatch { .. }
        | StatementKind::Follow { .. }
        | StatementKind::Leave { .. }
        | StatementKind::Verbatim { .. } => 0,
    };
    STATEMENT + more
}

fn of_place(place: &Place) -> u64 {
    place.index().map_or(0, evaluated)
}

fn referred(to: &Referent) -> u64 {
    to.container().map_or(0, named)
}
