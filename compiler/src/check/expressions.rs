//! Expressions: resolves names and makes types explicit.
//!
//! A function that returns `None` has reported an error. The caller then gives up without another one.

mod places;

use std::collections::BTreeMap;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{
    Asked, AttributeId, BinaryOperator, ConstantId, ContainerId, ContainerKind, ContainerRef, Element, Entity,
    Expression, LocalId, Place, Policy, Thread, UnaryOperator, VariableId,
};
use crate::syntax::ast::{self, ExpressionKind, Name, Reference};
use crate::vocabulary::{At, Float, Type, Value};

pub(super) use places::named;

use super::constants;
use super::scope::{Binding, Scope};
use super::symbols::{Member, Symbol, Symbols, Wanted};

/// A built-in function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    /// `empty(c)`
    Empty,
    /// `min(a, b)`, `max(a, b)`
    Joins(BinaryOperator),
    /// `random(n)`
    Random,
}

/// The names of all built-in functions.
pub(super) const BUILTINS: [&str; 4] = ["empty", "min", "max", "random"];

/// The built-in function of this name.
pub(super) fn builtin(name: &str) -> Option<Builtin> {
    if name == "empty" {
        return Some(Builtin::Empty);
    }
    if name == "random" {
        return Some(Builtin::Random);
    }
    BinaryOperator::from_word(name).filter(|operator| operator.is_called()).map(Builtin::Joins)
}

/// What a handler can name in a policy with nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// There are no nodes, or this never runs.
    Everything,
    /// `data` of a node, and `global`.
    Instance,
    /// `global`, and the nodes.
    Shared,
}

/// The context in which expressions and statements are resolved.
pub(super) struct Lowering<'a, 'b> {
    /// Contains everything that the sections declare.
    pub(super) policy: &'a Policy,
    pub(super) symbols: &'a Symbols<'b>,
    pub(super) scope: &'a mut Scope,
    /// The results of the calls made before the current expression, by their places. `None`: the call has an error.
    pub(super) called: BTreeMap<u32, Option<(LocalId, Type)>>,
    pub(super) reach: Reach,
    /// The node that arrives, in the handler of that.
    pub(super) arriving: Option<LocalId>,
    pub(super) diagnostics: &'a mut Diagnostics,
}

impl Lowering<'_, '_> {
    /// An expression that must have this type.
    pub(super) fn of_type(&mut self, expression: &ast::Expression, ty: Type) -> Option<Expression> {
        let (lowered, found) = self.expression(expression)?;
        if found == ty {
            return Some(lowered);
        }
        let title = format!("expected a value of type `{}`, found one of type `{}`", ty.word(), found.word());
        let diagnostic = Diagnostic::error("E0303", title, expression.at, format!("of type `{}`", found.word()));
        self.diagnostics.push(converting(diagnostic, found, ty));
        None
    }

    /// A condition: a `bool`, or an `int` that is true unless 0.
    pub(super) fn condition(&mut self, expression: &ast::Expression) -> Option<Expression> {
        let (lowered, ty) = self.expression(expression)?;
        match ty {
            Type::Bool => Some(lowered),
            Type::Int => Some(Expression::NotZero(Box::new(lowered))),
            Type::Time | Type::Float => {
                let title = format!("a condition cannot be of type `{}`", ty.word());
                let label = format!("of type `{}`", ty.word());
                let diagnostic = Diagnostic::error("E0303", title, expression.at, label);
                self.diagnostics.push(converting(diagnostic, ty, Type::Bool));
                None
            }
        }
    }

    /// An expression of any type.
    pub(super) fn expression(&mut self, expression: &ast::Expression) -> Option<(Expression, Type)> {
        match &expression.kind {
            ExpressionKind::Int(value) => self.literal(*value, false, expression.at),
            ExpressionKind::Duration(nanoseconds) => self.duration(*nanoseconds, false, expression.at),
            ExpressionKind::Float(value) => self.float(*value, expression.at),
            ExpressionKind::Convert(ty, operand) => self.conversion(*ty, operand, expression.at),
            ExpressionKind::Now => Some((Expression::Now, Type::Time)),
            ExpressionKind::Bool(value) => Some((Expression::Literal(Value::Bool(*value)), Type::Bool)),
            ExpressionKind::Place(place) => self.read(place),
            ExpressionKind::Size(named) if self.is_family(&named.name) => self.nodes_of(named),
            ExpressionKind::Is(node, family) => self.is_of_family(node, family),
            ExpressionKind::Size(container) => Some((Expression::Size(self.reference(container)?), Type::Int)),
            ExpressionKind::In(thread, container) if self.names_nothing(&thread.name) => {
                let (name, container) = (&thread.name.text, &container.name.text);
                let title = format!("`{name}` names no thread here");
                let diagnostic = Diagnostic::error("E0301", title, thread.at, "unknown name");
                let any = format!("`|{container}| > 0` says whether any thread is in `{container}`");
                self.diagnostics.push(diagnostic.note("this handler is given no thread").help(any));
                None
            }
            ExpressionKind::In(thread, container) => {
                let place = container.at;
                let (thread, container) = (self.thread(thread), self.reference(container));
                let (thread, container) = (thread?, container?);
                let (one, other) = (self.entity(thread), self.holds(&container));
                if one != other {
                    let title = format!("a {} cannot be in a container of {}s", one.word(), other.word());
                    let label = format!("holds {}s", other.word());
                    self.diagnostics.push(Diagnostic::error("E0330", title, place, label));
                    return None;
                }
                Some((Expression::In(thread, container, Asked::In), Type::Bool))
            }
            ExpressionKind::Unary(UnaryOperator::Negate, operand) => {
                if let ExpressionKind::Int(value) = operand.kind {
                    return self.literal(value, true, expression.at);
                }
                if let ExpressionKind::Duration(nanoseconds) = operand.kind {
                    return self.duration(nanoseconds, true, expression.at);
                }
                let (lowered, ty) = self.expression(operand)?;
                if ty == Type::Bool {
                    self.of_type(operand, Type::Int)?;
                    return None;
                }
                Some((Expression::Unary(UnaryOperator::Negate, Box::new(lowered)), ty))
            }
            ExpressionKind::Unary(UnaryOperator::Not, operand) => {
                let operand = self.condition(operand)?;
                Some((Expression::Unary(UnaryOperator::Not, Box::new(operand)), Type::Bool))
            }
            ExpressionKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ExpressionKind::Complement(operand) => {
                let operand = self.of_type(operand, Type::Int)?;
                let ones = Expression::Literal(Value::Int(-1));
                Some((Expression::Binary(BinaryOperator::BitXor, Box::new(operand), Box::new(ones)), Type::Int))
            }
            ExpressionKind::Choose(condition, one, other) => self.choice(condition, one, other),
            ExpressionKind::Call(call) => {
                match builtin(&call.name.text) {
                    Some(Builtin::Empty) => return self.is_empty(call, expression.at),
                    Some(Builtin::Joins(operator)) => return self.join(operator, call, expression.at),
                    // It is made like a call, because each is a separate draw.
                    Some(Builtin::Random) | None => {}
                }
                if let Some(made) = self.called.get(&expression.at.start) {
                    return made.map(|(local, ty)| (Expression::Read(Place::Local(local)), ty));
                }
                let (title, label, made, help) = match builtin(&call.name.text) {
                    Some(Builtin::Random) => (
                        "no number can be drawn here",
                        "would not be drawn exactly once",
                        "draws",
                        "draw it in a statement before, and keep it in a variable",
                    ),
                    Some(Builtin::Empty | Builtin::Joins(_)) | None => (
                        "a function cannot be called here",
                        "would not be called exactly once",
                        "calls",
                        "call it in a statement before, and keep its value in a variable",
                    ),
                };
                let diagnostic = Diagnostic::error("E0324", title, expression.at, label).note(format!("{made} are made before the statement that contains them, so none can be in the condition of a loop, after `&&`, `||` or `?`, or in `data`"));
                self.diagnostics.push(diagnostic.help(help));
                None
            }
            ExpressionKind::Verbatim { ty, alternatives, otherwise } => {
                self.verbatim_value(*ty, alternatives, otherwise.as_deref(), expression.at)
            }
            ExpressionKind::Lost => None,
        }
    }

    /// Whether a name is unknown, and no thread has a name here.
    fn names_nothing(&self, name: &Name) -> bool {
        self.scope.find(&name.text).is_none()
            && self.scope.threads().next().is_none()
            && !self.symbols.is_known(&name.text)
    }

    /// `c ? a : b`
    fn choice(
        &mut self,
        condition: &ast::Expression,
        one: &ast::Expression,
        other: &ast::Expression,
    ) -> Option<(Expression, Type)> {
        let condition = self.condition(condition);
        let (left, right) = (self.expression(one), self.expression(other));
        let (condition, (left, ty), (right, found)) = (condition?, left?, right?);
        if ty != found {
            let title = format!("one of these is of type `{}`, the other one of type `{}`", ty.word(), found.word());
            let diagnostic = Diagnostic::error("E0303", title, other.at, format!("of type `{}`", found.word()));
            let diagnostic = diagnostic.related(one.at, format!("of type `{}`", ty.word()));
            self.diagnostics.push(converting(diagnostic, found, ty));
            return None;
        }
        Some((Expression::Choose(Box::new(condition), Box::new(left), Box::new(right)), ty))
    }

    /// `min(a, b)`
    fn join(&mut self, operator: BinaryOperator, call: &ast::Call, at: At) -> Option<(Expression, Type)> {
        let [left, right] = call.arguments.as_slice() else {
            let word = operator.word();
            let title = format!("`{word}` takes two values, not {}", call.arguments.len());
            let diagnostic = Diagnostic::error("E0324", title, at, "");
            self.diagnostics
                .push(diagnostic.help(format!("write `{word}(a, b)`; for three, `{word}(a, {word}(b, c))`")));
            return None;
        };
        let (left, right) = (self.expression(left), self.expression(right));
        let ((left, of_left), (right, of_right)) = (left?, right?);
        let ty = self.joined(operator, of_left, of_right, at)?;
        Some((Expression::Binary(operator, Box::new(left), Box::new(right)), ty))
    }

    /// `empty(c)` is `|c| == 0`.
    fn is_empty(&mut self, call: &ast::Call, at: At) -> Option<(Expression, Type)> {
        if let [argument] = call.arguments.as_slice()
            && let Some((thread, link)) = self.written_link(argument)
        {
            let link = format!("{}.{}", thread.name.text, link.text);
            let title = format!("`{link}` is not a container");
            let named = Diagnostic::error("E0309", title, argument.at, "names a thread, or none");
            self.diagnostics.push(named.help(format!("write `{link} == none`, or `{link} != none` for the opposite")));
            return None;
        }
        let container = match call.arguments.as_slice() {
            [ast::Expression { kind: ExpressionKind::Place(place), .. }] => named(place),
            _ => None,
        };
        let Some(container) = container else {
            let title = "`empty` takes one container";
            let diagnostic = Diagnostic::error("E0306", title, at, "").help("write `empty(c)` for `|c| == 0`");
            self.diagnostics.push(diagnostic);
            return None;
        };
        let size = Expression::Size(self.reference(&container)?);
        let none = Expression::Literal(Value::Int(0));
        Some((Expression::Binary(BinaryOperator::Equal, Box::new(size), Box::new(none)), Type::Bool))
    }

    fn literal(&mut self, value: u64, negative: bool, at: At) -> Option<(Expression, Type)> {
        let bits = self.policy.int_bits;
        let limit = i128::from(constants::most(bits));
        let signed = if negative { -i128::from(value) } else { i128::from(value) };
        if let Ok(fits) = i64::try_from(signed)
            && signed <= limit
            && signed >= -limit - 1
        {
            return Some((Expression::Literal(Value::Int(fits)), Type::Int));
        }
        let title = format!("the number does not fit in an `int` of {bits} bits");
        let diagnostic = Diagnostic::error("E0311", title, at, "").note(constants::range(bits));
        self.diagnostics.push(diagnostic);
        None
    }

    fn duration(&mut self, nanoseconds: u64, negative: bool, at: At) -> Option<(Expression, Type)> {
        let signed = if negative { -i128::from(nanoseconds) } else { i128::from(nanoseconds) };
        if let Ok(fits) = i64::try_from(signed) {
            return Some((Expression::Literal(Value::Time(fits)), Type::Time));
        }
        self.diagnostics.push(Diagnostic::error("E0311", "the duration is too long", at, "").note(constants::LONGEST));
        None
    }

    fn float(&mut self, value: f64, at: At) -> Option<(Expression, Type)> {
        if value.is_finite() {
            return Some((Expression::Literal(Value::Float(Float::new(value))), Type::Float));
        }
        self.diagnostics.push(Diagnostic::error("E0311", "the number is too high for a `float`", at, ""));
        None
    }

    /// `float(x)`, `int(x)`
    fn conversion(&mut self, ty: Type, operand: &ast::Expression, at: At) -> Option<(Expression, Type)> {
        let (lowered, found) = self.expression(operand)?;
        if matches!((found, ty), (Type::Int, Type::Float) | (Type::Float, Type::Int)) {
            return Some((Expression::Convert(ty, Box::new(lowered)), ty));
        }
        let (from, to) = (found.word(), ty.word());
        let title = format!("there is no conversion from `{from}` to `{to}`");
        let diagnostic = Diagnostic::error("E0303", title, at, format!("of type `{from}`"));
        self.diagnostics.push(match (found, ty) {
            (from, to) if from == to => diagnostic.help("it is one already: leave out the conversion"),
            (Type::Time, Type::Float) => diagnostic.help("say in which unit: `float(… / 1us)`"),
            (Type::Float, Type::Time) => diagnostic.help("say of which unit: `int(…) * 1us`"),
            (Type::Int | Type::Bool | Type::Time | Type::Float, _) => converting(diagnostic, found, ty),
        });
        None
    }

    fn binary(
        &mut self,
        operator: BinaryOperator,
        left: &ast::Expression,
        right: &ast::Expression,
    ) -> Option<(Expression, Type)> {
        if operator.goes_on_if().is_some() {
            let (left, right) = (self.condition(left), self.condition(right));
            return Some((Expression::Binary(operator, Box::new(left?), Box::new(right?)), Type::Bool));
        }
        let at = left.at.to(right.at);
        if operator == BinaryOperator::Equal || operator == BinaryOperator::NotEqual {
            if let Some(same) = self.linked(left, right).or_else(|| self.same(left, right, at)) {
                let same = same?;
                let differs = || Expression::Unary(UnaryOperator::Not, Box::new(same.clone()));
                return Some((if operator == BinaryOperator::Equal { same } else { differs() }, Type::Bool));
            }
            let (one, other) = (self.thing(left), self.thing(right));
            if let (Some(one), Some(other)) = (one, other)
                && let Some(help) = comparison(operator == BinaryOperator::Equal, one, other)
            {
                let threads = matches!(one, Thing::Thread(_)) || matches!(other, Thing::Thread(_));
                let title = if threads { "threads are not compared" } else { "containers are not compared" };
                let diagnostic =
                    Diagnostic::error("E0309", title, at, format!("`{}` compares values", operator.word()));
                self.diagnostics.push(diagnostic.help(help));
                return None;
            }
        }
        if let Some(diagnostic) = self.no_values(operator, left, right) {
            self.diagnostics.push(diagnostic);
            return None;
        }
        let clear = (self.clear(operator, left), self.clear(operator, right));
        let (left, right) = (self.expression(left), self.expression(right));
        let ((left, of_left), (right, of_right)) = (left?, right?);
        let (Some(()), Some(())) = clear else { return None };
        let ty = self.joined(operator, of_left, of_right, at)?;
        Some((Expression::Binary(operator, Box::new(left), Box::new(right)), ty))
    }

    /// Both operands are threads, or both are containers: one mistake, told once.
    fn no_values(
        &self,
        operator: BinaryOperator,
        left: &ast::Expression,
        right: &ast::Expression,
    ) -> Option<Diagnostic> {
        let word = operator.word();
        let (these, values, what) = match (self.thing(left)?, self.thing(right)?) {
            (Thing::Thread(one), Thing::Thread(other)) => {
                ("threads", format!("{one}.ATTRIBUTE {word} {other}.ATTRIBUTE"), "an attribute of each")
            }
            (Thing::Threadref(one) | Thing::Container(one), Thing::Threadref(other) | Thing::Container(other)) => {
                ("containers", format!("|{one}| {word} |{other}|"), "the number of threads in each")
            }
            (Thing::Thread(_) | Thing::Threadref(_) | Thing::Container(_) | Thing::Nothing, _) => return None,
        };
        let title = format!("`{word}` joins values, not {these}");
        let diagnostic = Diagnostic::error("E0309", title, left.at.to(right.at), format!("these are {these}"));
        Some(diagnostic.help(format!("write `{values}` for {what}")))
    }

    /// `t == u`; `t == current`, which is `t in current`. `None`: something else is compared.
    fn same(&mut self, left: &ast::Expression, right: &ast::Expression, at: At) -> Option<Option<Expression>> {
        let (one, other) = (self.whom(left)?, self.whom(right)?);
        let mirrored =
            matches!((&one, &other), (Whom::Held(_) | Whom::Thread(Thread::Slot(_)), Whom::Thread(Thread::Local(_))));
        let (thread, container) = match (one, other) {
            (Whom::Thread(Thread::Local(one)), Whom::Thread(Thread::Local(other))) => {
                let (of_one, of_other) = (self.scope.entity(one), self.scope.entity(other));
                if of_one != of_other {
                    let title = format!("a {} is never a {}", of_one.word(), of_other.word());
                    let label = format!("a {} and a {}", of_one.word(), of_other.word());
                    self.diagnostics.push(Diagnostic::error("E0330", title, at, label));
                    return Some(None);
                }
                return Some(Some(Expression::Same(one, other)));
            }
            (Whom::Thread(thread), Whom::Thread(Thread::Slot(slot))) => (thread, ContainerRef::One(slot)),
            (Whom::Thread(Thread::Slot(slot)), Whom::Thread(thread)) => (thread, ContainerRef::One(slot)),
            (Whom::Thread(thread), Whom::Held(reference)) | (Whom::Held(reference), Whom::Thread(thread)) => {
                match self.reference(&reference) {
                    Some(container) => (thread, container),
                    None => return Some(None),
                }
            }
            // Two threadrefs never hold the same thread, and no name stands for the first thread of a container.
            (Whom::Held(_), Whom::Held(_))
            | (Whom::Thread(Thread::First(_)), Whom::Thread(_))
            | (Whom::Thread(_), Whom::Thread(Thread::First(_))) => return None,
        };
        let (named, held) = (self.entity(thread), self.holds(&container));
        if named != held {
            let title = format!("a {} cannot be in a container of {}s", named.word(), held.word());
            self.diagnostics.push(Diagnostic::error("E0330", title, at, format!("holds {}s", held.word())));
            return Some(None);
        }
        let asked = match container {
            ContainerRef::One(_) if mirrored => Asked::Mirrored,
            ContainerRef::One(_) | ContainerRef::Element { .. } | ContainerRef::Whole { .. } => Asked::Equal,
        };
        Some(Some(Expression::In(thread, container, asked)))
    }

    /// The thread that an operand stands for, if it names a thread or threadref.
    pub(super) fn whom(&self, operand: &ast::Expression) -> Option<Whom> {
        let ExpressionKind::Place(place) = &operand.kind else { return None };
        let reference = named(place)?;
        match (self.scope.find(&reference.name.text), &reference.index) {
            (Some(Binding::Thread(local)), None) => Some(Whom::Thread(Thread::Local(local))),
            (Some(Binding::Held(slot)), None) => Some(Whom::Thread(Thread::Slot(slot))),
            (Some(_), _) => None,
            (None, _) => match self.symbols.find(&reference.name.text) {
                Some((Symbol::Container(id), _)) => {
                    let container = self.policy.containers.get(id.0)?;
                    (container.kind == ContainerKind::Threadref).then_some(Whom::Held(reference))
                }
                Some(_) | None => None,
            },
        }
    }

    /// Refuses an operand of a bit operator that is another operator's result, without parentheses: few know by heart
    /// which operator binds more strongly.
    fn clear(&mut self, operator: BinaryOperator, operand: &ast::Expression) -> Option<()> {
        let ExpressionKind::Binary(inner, first, _) = &operand.kind else { return Some(()) };
        let in_parentheses = operand.at.start < first.at.start;
        if in_parentheses || !operator.is_of_bits() || *inner == operator && !operator.is_shift() {
            return Some(());
        }
        let (outer, inner) = (operator.word(), inner.word());
        let title = format!("`{inner}` beside `{outer}` needs parentheses");
        let diagnostic = Diagnostic::error("E0331", title, operand.at, format!("is computed before `{outer}`"));
        self.diagnostics.push(
            diagnostic.help(format!(
                "write `( … {inner} … ) {outer} …` if that is meant, or put the other part in parentheses"
            )),
        );
        None
    }

    /// What an operand names, if that is not a value or may mean no thread.
    fn thing<'e>(&self, operand: &'e ast::Expression) -> Option<Thing<'e>> {
        if operand.kind == ExpressionKind::Int(0) {
            return Some(Thing::Nothing);
        }
        let ExpressionKind::Place(ast::Place::Name(name)) = &operand.kind else { return None };
        match (self.scope.find(&name.text), self.symbols.find(&name.text)) {
            (Some(Binding::Thread(_) | Binding::Held(_)), _) => Some(Thing::Thread(&name.text)),
            (Some(Binding::Value(..) | Binding::Cursor), _) => None,
            (None, Some((Symbol::Container(id), _))) => {
                let slot = self.policy.containers.get(id.0)?.kind == ContainerKind::Threadref;
                Some(if slot { Thing::Threadref(&name.text) } else { Thing::Container(&name.text) })
            }
            (None, None) if NOTHING.contains(&name.text.as_str()) => Some(Thing::Nothing),
            (None, _) => None,
        }
    }

    /// The type of an operator's result for operands of these types.
    pub(super) fn joined(&mut self, operator: BinaryOperator, left: Type, right: Type, at: At) -> Option<Type> {
        let joined = operator.joins(left, right);
        if joined.is_none() {
            let (word, one, other) = (operator.word(), left.word(), right.word());
            let title = format!("`{word}` does not join `{one}` and `{other}`");
            let diagnostic = Diagnostic::error("E0303", title, at, format!("`{one}` {word} `{other}`"));
            let mixed = matches!((left, right), (Type::Int, Type::Time) | (Type::Time, Type::Int));
            let floats = (left == Type::Float, right == Type::Float);
            self.diagnostics.push(if operator.is_of_bits() && left == Type::Bool && right == Type::Bool {
                diagnostic.help("for `bool`s, `&&` is \"and\", `||` is \"or\", and `!=` is \"one of them\"")
            } else if operator.is_of_bits() {
                diagnostic.help("only `int`s have bits")
            } else if left == Type::Bool || right == Type::Bool {
                diagnostic.note("there is no conversion from `bool` to another type")
            } else if floats == (true, true) {
                diagnostic.help("`float`s are added, subtracted, multiplied, divided, compared")
            } else if (left == Type::Time || right == Type::Time) && floats != (false, false) {
                diagnostic.help("convert by a unit: `float(t / 1us)` turns the `time` into a number, `int(x) * 1us` the `float` into a `time`")
            } else if floats != (false, false) {
                diagnostic.help("write `float(n)` for the `int`, or `int(x)` for the `float`; a number is a `float` with a fraction: `2.0`")
            } else if mixed && operator == BinaryOperator::Divide {
                diagnostic
                    .help("a `time` is divided by an `int` or a `time`; an `int` becomes a `time` by a unit: `n * 1ms`")
            } else if mixed {
                diagnostic.help("make the `int` a `time` by a unit, `n * 1ms`, or the `time` an `int`, `t / 1ms`")
            } else {
                diagnostic.help(
                    "to scale a `time` multiply it by an `int`; two of them are divided, added, subtracted, compared",
                )
            });
        }
        joined
    }
}

/// An operand of a comparison of threads, or of nodes.
pub(super) enum Whom {
    Thread(Thread),
    /// The thread in a threadref.
    Held(Reference),
}

/// An operand of a comparison that other languages have and this one has not.
#[derive(Clone, Copy)]
enum Thing<'e> {
    Thread(&'e str),
    Threadref(&'e str),
    /// A container of any other kind.
    Container(&'e str),
    /// A word of another language for no thread at all, or 0.
    Nothing,
}

/// Words for no thread at all.
const NOTHING: [&str; 6] = ["NULL", "null", "nullptr", "nil", "None", "none"];

/// What to write instead of a comparison for equality, or for its opposite.
fn comparison(equal: bool, one: Thing, other: Thing) -> Option<String> {
    Some(match (one, other) {
        (Thing::Nothing, Thing::Nothing) => return None,
        (Thing::Thread(thread), Thing::Threadref(slot) | Thing::Container(slot))
        | (Thing::Threadref(slot) | Thing::Container(slot), Thing::Thread(thread)) => {
            let inside = format!("{thread} in {slot}");
            let written = if equal { inside } else { format!("!({inside})") };
            format!("write `{written}`")
        }
        (Thing::Threadref(container) | Thing::Container(container), Thing::Nothing)
        | (Thing::Nothing, Thing::Threadref(container) | Thing::Container(container)) => {
            let written = if equal { format!("empty({container})") } else { format!("|{container}| > 0") };
            format!("write `{written}`")
        }
        (Thing::Thread(thread), Thing::Nothing) | (Thing::Nothing, Thing::Thread(thread)) => {
            format!("`{thread}` always names a thread")
        }
        // Threads can be compared.
        (Thing::Thread(_), Thing::Thread(_)) => return None,
        (Thing::Threadref(_) | Thing::Container(_), Thing::Threadref(_) | Thing::Container(_)) => {
            "no two containers hold the same thread".to_owned()
        }
    })
}

/// Adds advice for converting to the expected type.
pub(super) fn converting(diagnostic: Diagnostic, found: Type, expected: Type) -> Diagnostic {
    match (found, expected) {
        (Type::Int, Type::Bool) => diagnostic.help("compare it: `… != 0`"),
        (Type::Time, Type::Bool) => diagnostic.help("compare it: `… != 0ms`"),
        (Type::Int, Type::Time) => diagnostic.help("say of which unit: `10ms`, `n * 1ms` (or `1s`, `1us`, `1ns`)"),
        (Type::Time, Type::Int) => diagnostic.help("say in which unit: `… / 1ms` (or `1s`, `1us`, `1ns`)"),
        (Type::Float, Type::Bool) => diagnostic.help("compare it: `… != 0.0`"),
        (Type::Int, Type::Float) => diagnostic.help("write a fraction, `1.0`, or `float(…)`"),
        (Type::Float, Type::Int) => diagnostic.help("write `int(…)`, which cuts off the fraction"),
        (Type::Time, Type::Float) => diagnostic.help("say in which unit: `float(… / 1us)`"),
        (Type::Float, Type::Time) => diagnostic.help("say of which unit: `int(…) * 1us`"),
        (Type::Bool, Type::Int | Type::Time | Type::Float) => {
            diagnostic.note(format!("there is no conversion from `bool` to `{}`", expected.word()))
        }
        (Type::Int, Type::Int) | (Type::Bool, Type::Bool) | (Type::Time, Type::Time) | (Type::Float, Type::Float) => {
            diagnostic
        }
    }
}
