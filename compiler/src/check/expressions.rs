//! Expressions: names resolved, types made explicit.
//!
//! Functions return `None` after they have reported an error; what holds the expression is then given up without another.

use std::collections::BTreeMap;

use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::policy::{
    AttributeId, BinaryOperator, ConstantId, ContainerId, ContainerKind, ContainerRef, Element, Entity, Expression,
    LocalId, Place, Policy, Thread, UnaryOperator, VariableId,
};
use crate::syntax::ast::{self, ExpressionKind, Name, Reference};
use crate::vocabulary::{At, Float, Type, Value};

use super::constants;
use super::scope::{Binding, Scope};
use super::symbols::{Member, Symbol, Symbols, Wanted};

/// The one function that the language has.
pub(super) const EMPTY: &str = "empty";

/// What a handler can name, of a policy with nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// There are no nodes, or nobody runs this.
    Everything,
    /// `data` of a node, and `global`.
    Instance,
    /// `global`, and the nodes.
    Shared,
}

/// What expressions and statements are resolved in.
pub(super) struct Lowering<'a, 'b> {
    /// With everything that the sections declare.
    pub(super) policy: &'a Policy,
    pub(super) symbols: &'a Symbols<'b>,
    pub(super) scope: &'a mut Scope,
    /// The calls that have been made before the expression at hand, by their places, and what they gave; nothing if they are wrong.
    pub(super) called: BTreeMap<u32, Option<(LocalId, Type)>>,
    pub(super) reach: Reach,
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
                    let title = format!("a {} is never where {}s are", one.word(), other.word());
                    let label = format!("holds {}s", other.word());
                    self.diagnostics.push(Diagnostic::error("E0330", title, place, label));
                    return None;
                }
                Some((Expression::In(thread, container), Type::Bool))
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
            ExpressionKind::Call(call) if call.name.text == EMPTY => self.is_empty(call, expression.at),
            ExpressionKind::Call(_) => {
                if let Some(made) = self.called.get(&expression.at.start) {
                    return made.map(|(local, ty)| (Expression::Read(Place::Local(local)), ty));
                }
                let title = "a function cannot be called here";
                let diagnostic = Diagnostic::error("E0324", title, expression.at, "would not be called once")
                    .note("calls are made before the statement that they stand in: not in the condition of a loop, nor behind `&&` and `||`, nor in `data`");
                self.diagnostics
                    .push(diagnostic.help("call it in a statement before, and keep its value in a variable"));
                None
            }
            ExpressionKind::Verbatim { ty, alternatives, otherwise } => {
                self.verbatim_value(*ty, alternatives, otherwise.as_deref(), expression.at)
            }
            ExpressionKind::Lost => None,
        }
    }

    /// Whether it stands for nothing where no thread has a name.
    fn names_nothing(&self, name: &Name) -> bool {
        self.scope.find(&name.text).is_none()
            && self.scope.threads().next().is_none()
            && !self.symbols.is_known(&name.text)
    }

    /// `empty(c)` is `|c| == 0`.
    fn is_empty(&mut self, call: &ast::Call, at: At) -> Option<(Expression, Type)> {
        let container = match call.arguments.as_slice() {
            [ast::Expression { kind: ExpressionKind::Place(place), .. }] => named(place),
            _ => None,
        };
        let Some(container) = container else {
            let title = "`empty` is asked of one container";
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
        if operator == BinaryOperator::And || operator == BinaryOperator::Or {
            let (left, right) = (self.condition(left), self.condition(right));
            return Some((Expression::Binary(operator, Box::new(left?), Box::new(right?)), Type::Bool));
        }
        let at = left.at.to(right.at);
        if operator == BinaryOperator::Equal || operator == BinaryOperator::NotEqual {
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
        let (left, right) = (self.expression(left), self.expression(right));
        let ((left, of_left), (right, of_right)) = (left?, right?);
        let ty = self.joined(operator, of_left, of_right, at)?;
        Some((Expression::Binary(operator, Box::new(left), Box::new(right)), ty))
    }

    /// What an operand is that is no value, or may stand for none.
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

    /// The type of what an operator makes of operands of these types.
    pub(super) fn joined(&mut self, operator: BinaryOperator, left: Type, right: Type, at: At) -> Option<Type> {
        let joined = operator.joins(left, right);
        if joined.is_none() {
            let (word, one, other) = (operator.word(), left.word(), right.word());
            let title = format!("`{word}` does not join `{one}` and `{other}`");
            let diagnostic = Diagnostic::error("E0303", title, at, format!("`{one}` {word} `{other}`"));
            let mixed = matches!((left, right), (Type::Int, Type::Time) | (Type::Time, Type::Int));
            let floats = (left == Type::Float, right == Type::Float);
            self.diagnostics.push(if left == Type::Bool || right == Type::Bool {
                diagnostic.note("there is no conversion from `bool` to another type")
            } else if floats == (true, true) {
                diagnostic.help("`float`s are added, subtracted, multiplied, divided, compared")
            } else if (left == Type::Time || right == Type::Time) && floats != (false, false) {
                diagnostic.help("make the `time` a number by a unit, `float(t / 1us)`, or the `float` a `time`, `int(x) * 1us`")
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

    pub(super) fn read(&mut self, place: &ast::Place) -> Option<(Expression, Type)> {
        let (name, index) = match place {
            ast::Place::Name(name) => (Some(name), None),
            ast::Place::Element { array, index, .. } => match &**array {
                ast::Place::Name(name) => (Some(name), Some(&**index)),
                ast::Place::Member { .. } | ast::Place::Element { .. } => (None, None),
            },
            ast::Place::Member { .. } => (None, None),
        };
        if let Some(name) = name
            && self.scope.find(&name.text).is_none()
            && let Some((Symbol::Constant(first), declared)) = self.symbols.find(&name.text)
        {
            let constant = self.policy.constants.get(first.0)?;
            let (ty, element) = (constant.value.ty(), constant.element);
            let expression = match self.element(name, element, index, declared)? {
                Part::Single => Expression::Constant(first),
                Part::Constant(index) => Expression::Constant(ConstantId(first.0 + index)),
                Part::Computed(length, index) => Expression::ConstantElement { first, length, index },
            };
            return Some((expression, ty));
        }
        let (place, ty) = self.place(place)?;
        Some((Expression::Read(place), ty))
    }

    /// A place that holds a value. Constants are not places.
    pub(super) fn place(&mut self, place: &ast::Place) -> Option<(Place, Type)> {
        match place {
            ast::Place::Name(name) => self.variable(name, None),
            ast::Place::Member { thread, member } => self.member(thread, member, None),
            ast::Place::Element { array, index, .. } => match &**array {
                ast::Place::Name(name) => self.variable(name, Some(index)),
                ast::Place::Member { thread, member } => self.member(thread, member, Some(index)),
                // The parser makes no element of an element.
                ast::Place::Element { .. } => None,
            },
        }
    }

    fn member(&mut self, thread: &Reference, member: &Name, index: Option<&ast::Expression>) -> Option<(Place, Type)> {
        let thread = self.thread(thread);
        let of = thread.map_or(Entity::Thread, |thread| self.entity(thread));
        let Some((found, declared)) = self.symbols.find_member(of, &member.text) else {
            if thread.is_some() || self.symbols.find_member(Entity::Node, &member.text).is_none() {
                self.symbols.unknown_member(of, member, self.diagnostics);
            }
            return None;
        };
        Some(match found {
            Member::Attribute(first) => {
                let attribute = self.policy.attributes.get(first.0)?;
                let (ty, element) = (attribute.ty, attribute.element);
                let part = self.element(member, element, index, declared)?;
                let thread = thread?;
                let place = match part {
                    Part::Single => Place::Attribute(thread, first),
                    Part::Constant(index) => Place::Attribute(thread, AttributeId(first.0 + index)),
                    Part::Computed(length, index) => Place::AttributeElement { thread, first, length, index },
                };
                (place, ty)
            }
            Member::Import(id) => {
                self.element(member, None, index, declared)?;
                (Place::ThreadImport(thread?, id), self.policy.thread_imports.get(id.0)?.ty)
            }
        })
    }

    /// Which part of what a name stands for is meant: `element` says of which array, if it is one.
    fn element(
        &mut self,
        name: &Name,
        element: Option<Element>,
        index: Option<&ast::Expression>,
        declared: At,
    ) -> Option<Part> {
        match (element, index) {
            (None, None) => Some(Part::Single),
            (None, Some(index)) => {
                self.no_array(name, index, Some(declared));
                None
            }
            (Some(Element { length, .. }), None) => {
                let title = format!("`{}` is an array of {length}", name.text);
                let help = format!("write which element: `{}[0]`", name.text);
                let diagnostic = Diagnostic::error("E0327", title, name.at, "expected one element");
                self.diagnostics.push(diagnostic.related(declared, "declared here").help(help));
                None
            }
            (Some(Element { length, .. }), Some(index)) => self.index(name, length, index, declared),
        }
    }

    fn no_array(&mut self, name: &Name, index: &ast::Expression, declared: Option<At>) {
        let title = format!("`{}` is no array", name.text);
        let diagnostic = Diagnostic::error("E0327", title, index.at, "has no elements");
        self.diagnostics.push(match declared {
            Some(declared) => diagnostic.related(declared, "declared here").help("leave the index out"),
            None => diagnostic.help("leave the index out"),
        });
    }

    /// What stands in the brackets after the name of an array.
    fn index(&mut self, name: &Name, length: usize, index: &ast::Expression, declared: At) -> Option<Part> {
        let lowered = self.of_type(index, Type::Int)?;
        let (bits, constants) = (self.policy.int_bits, &self.policy.constants);
        match constants::known(&lowered, bits, constants) {
            Some(Value::Int(value)) => match usize::try_from(value).ok().filter(|value| *value < length) {
                Some(value) => Some(Part::Constant(value)),
                None => {
                    let last = length - 1;
                    let title = format!("`{}` has no element {value}", name.text);
                    let label = if last == 0 {
                        "its only element is 0".to_owned()
                    } else {
                        format!("its elements are 0 to {last}")
                    };
                    let diagnostic = Diagnostic::error("E0327", title, index.at, label);
                    self.diagnostics.push(diagnostic.related(declared, "declared here"));
                    None
                }
            },
            Some(Value::Bool(_) | Value::Time(_) | Value::Float(_)) | None => {
                Some(Part::Computed(length, Box::new(lowered)))
            }
        }
    }

    /// One container, an element of an array, or an array.
    pub(super) fn reference(&mut self, reference: &Reference) -> Option<ContainerRef> {
        let first = self.container(&reference.name)?;
        let container = self.policy.containers.get(first.0)?;
        let (element, declared) = (container.element, container.at);
        if let (Some(Element { length, .. }), None) = (element, &reference.index) {
            return Some(ContainerRef::Whole { first, length });
        }
        Some(match self.element(&reference.name, element, reference.index.as_deref(), declared)? {
            Part::Single => ContainerRef::One(first),
            Part::Constant(index) => ContainerRef::One(ContainerId(first.0 + index)),
            Part::Computed(length, index) => ContainerRef::Element { first, length, index },
        })
    }

    fn variable(&mut self, name: &Name, index: Option<&ast::Expression>) -> Option<(Place, Type)> {
        match self.scope.find(&name.text) {
            Some(Binding::Value(id, ty)) => {
                if let Some(index) = index {
                    self.no_array(name, index, None);
                    return None;
                }
                return Some((Place::Local(id), ty));
            }
            Some(Binding::Thread(_) | Binding::Held(_) | Binding::Cursor) => {
                let title = format!("`{}` is a thread, not a value", name.text);
                let help = format!("write `{}.ATTRIBUTE` for what is kept of it", name.text);
                self.diagnostics.push(Diagnostic::error("E0309", title, name.at, "expected a value").help(help));
                return None;
            }
            None => {}
        }
        match self.symbols.find(&name.text) {
            Some((Symbol::Variable(first), declared)) => {
                let variable = self.policy.variables.get(first.0)?;
                if self.reach == Reach::Shared && !variable.global {
                    self.out_of_reach(name, declared, Entity::Thread);
                    return None;
                }
                let (ty, element) = (variable.ty, variable.element);
                let place = match self.element(name, element, index, declared)? {
                    Part::Single => Place::Variable(first),
                    Part::Constant(index) => Place::Variable(VariableId(first.0 + index)),
                    Part::Computed(length, index) => Place::VariableElement { first, length, index },
                };
                Some((place, ty))
            }
            Some((Symbol::Import(id), declared)) => {
                self.element(name, None, index, declared)?;
                Some((Place::Import(id), self.policy.imports.get(id.0)?.ty))
            }
            Some((Symbol::Container(_), at)) => {
                let title = format!("`{}` is a container, not a value", name.text);
                let help = format!("write `|{}|` for the number of threads in it", name.text);
                self.diagnostics.push(
                    Diagnostic::error("E0309", title, name.at, "expected a value")
                        .related(at, "declared here")
                        .help(help),
                );
                None
            }
            Some((Symbol::Function(_), at)) => {
                let title = format!("`{}` is a function, not a value", name.text);
                let diagnostic = Diagnostic::error("E0309", title, name.at, "expected a value");
                self.diagnostics
                    .push(diagnostic.related(at, "declared here").help("call it: write its arguments in parentheses"));
                None
            }
            Some((Symbol::Constant(_), _)) => None,
            None => {
                let fits = |symbol| !matches!(symbol, Symbol::Container(_) | Symbol::Function(_));
                self.symbols.unknown(name, Wanted::Variable, Some(self.scope), fits, self.diagnostics);
                None
            }
        }
    }

    /// What stands before `.` or `in`.
    pub(super) fn thread(&mut self, reference: &Reference) -> Option<Thread> {
        let name = &reference.name;
        if let Some(index) = &reference.index
            && self.scope.find(&name.text).is_some()
        {
            self.no_array(name, index, None);
            return None;
        }
        match self.scope.find(&name.text) {
            Some(Binding::Thread(id)) => return Some(Thread::Local(id)),
            Some(Binding::Held(slot)) => return Some(Thread::Slot(slot)),
            Some(Binding::Cursor) => {
                self.idle_cursor(name);
                return None;
            }
            Some(Binding::Value(..)) => {
                let title = format!("`{}` is a value, not a thread", name.text);
                self.diagnostics.push(Diagnostic::error("E0309", title, name.at, "expected a thread"));
                return None;
            }
            None => {}
        }
        match self.symbols.find(&name.text) {
            Some((Symbol::Container(id), at)) => {
                if self.policy.containers.get(id.0)?.kind == ContainerKind::Threadref {
                    return self.slot(reference).map(Thread::Slot);
                }
                let holds = self.policy.containers.get(id.0)?.holds;
                let (held, wanted, any) = match holds {
                    Entity::Thread => ("threads", "a thread or a threadref", "t"),
                    Entity::Node => ("nodes", "a node", "n"),
                };
                let title = format!("`{}` holds any number of {held} and names none of them", name.text);
                let diagnostic = Diagnostic::error("E0309", title, name.at, format!("expected {wanted}"))
                    .related(at, "declared here");
                self.diagnostics.push(diagnostic.help(format!("visit them with `foreach {any} in {}`", name.text)));
                None
            }
            Some((
                symbol @ (Symbol::Constant(_) | Symbol::Variable(_) | Symbol::Import(_) | Symbol::Function(_)),
                at,
            )) => {
                let title = format!("`{}` is {}, not a thread", name.text, symbol.described());
                self.diagnostics
                    .push(Diagnostic::error("E0309", title, name.at, "expected a thread").related(at, "declared here"));
                None
            }
            None => {
                let fits = |symbol| matches!(symbol, Symbol::Container(_));
                self.symbols.unknown(name, Wanted::Thread, Some(self.scope), fits, self.diagnostics);
                None
            }
        }
    }

    /// A threadref that is known before run time.
    pub(super) fn slot(&mut self, reference: &Reference) -> Option<ContainerId> {
        match self.reference(reference)? {
            ContainerRef::One(slot) => Some(slot),
            ContainerRef::Element { .. } | ContainerRef::Whole { .. } => {
                let name = &reference.name.text;
                let holds = match self.symbols.find(name) {
                    Some((Symbol::Container(id), _)) => self.policy.containers.get(id.0)?.holds,
                    Some(_) | None => Entity::Thread,
                };
                let (held, slot, any) = match holds {
                    Entity::Thread => ("thread", "threadref", "t"),
                    Entity::Node => ("node", "node", "n"),
                };
                let title = format!("which {slot} of `{name}` is meant is not known before run time");
                let diagnostic = Diagnostic::error("E0327", title, reference.at, "expected a constant index");
                let help = format!("write which: `{name}[0]`; or visit the {held}: `foreach {any} in {name}[i]`");
                self.diagnostics.push(diagnostic.help(help));
                None
            }
        }
    }

    /// A name where only a container makes sense.
    pub(super) fn container(&mut self, name: &Name) -> Option<ContainerId> {
        match self.scope.find(&name.text) {
            Some(Binding::Cursor) => {
                self.idle_cursor(name);
                return None;
            }
            Some(binding @ (Binding::Thread(_) | Binding::Held(_) | Binding::Value(..))) => {
                let what = if matches!(binding, Binding::Value(..)) { "a value" } else { "a thread" };
                let title = format!("`{}` is {what}, not a container", name.text);
                self.diagnostics.push(Diagnostic::error("E0309", title, name.at, "expected a container"));
                return None;
            }
            None => {}
        }
        match self.symbols.find(&name.text) {
            Some((Symbol::Container(id), declared)) => {
                let holds = self.policy.containers.get(id.0)?.holds;
                if self.reach != Reach::Everything && (self.reach == Reach::Shared) != (holds == Entity::Node) {
                    self.out_of_reach(name, declared, holds);
                    return None;
                }
                Some(id)
            }
            Some((
                symbol @ (Symbol::Constant(_) | Symbol::Variable(_) | Symbol::Import(_) | Symbol::Function(_)),
                at,
            )) => {
                let title = format!("`{}` is {}, not a container", name.text, symbol.described());
                self.diagnostics.push(
                    Diagnostic::error("E0309", title, name.at, "expected a container").related(at, "declared here"),
                );
                None
            }
            None => {
                let fits = |symbol| matches!(symbol, Symbol::Container(_));
                self.symbols.unknown(name, Wanted::Container, None, fits, self.diagnostics);
                None
            }
        }
    }

    /// Reports what the handler of a policy with nodes cannot name. `Thread`: it belongs to the instance of a node.
    fn out_of_reach(&mut self, name: &Name, declared: At, of: Entity) {
        let title = match of {
            Entity::Thread => {
                format!("`{}` belongs to the instance of a node, and this handler runs in none", name.text)
            }
            Entity::Node => format!("`{}` holds nodes, and this handler runs in the instance of one", name.text),
        };
        let diagnostic =
            Diagnostic::error("E0329", title, name.at, "not to be named here").related(declared, "declared here");
        self.diagnostics.push(match of {
            Entity::Thread => {
                let help = match self.symbols.find(&name.text) {
                    Some((Symbol::Container(_), _)) => {
                        "keep nodes in containers of `nodes { … }`; threads move in the events of their node"
                    }
                    Some(_) | None => "declare in `global { … }` what handlers of all nodes share",
                };
                diagnostic.note("every node has `data` of its own; no node is meant here").help(help)
            }
            Entity::Node => diagnostic
                .note("only events that run in no instance move nodes, or look at them")
                .help("keep in `global { … }` what instances are to know of the nodes"),
        });
    }

    /// Whether a thread or a node is named.
    pub(super) fn entity(&self, thread: Thread) -> Entity {
        match thread {
            Thread::Local(local) => self.scope.entity(local),
            Thread::Slot(slot) => self.policy.containers.get(slot.0).map_or(Entity::Thread, |slot| slot.holds),
        }
    }

    /// What a container holds.
    pub(super) fn holds(&self, container: &ContainerRef) -> Entity {
        let first = container.candidates().next();
        first.and_then(|id| self.policy.containers.get(id.0)).map_or(Entity::Thread, |container| container.holds)
    }

    /// `threadref tmp;` in a handler, used otherwise than by `foreach tmp in …`.
    pub(super) fn idle_cursor(&mut self, name: &Name) {
        let title = format!("`{}` names a thread only within `foreach {} in …`", name.text, name.text);
        let diagnostic = Diagnostic::error("E0309", title, name.at, "names no thread here")
            .note("a threadref that is declared in a handler holds nothing: it is the cursor of a `foreach`");
        self.diagnostics.push(diagnostic.help("to keep a thread, declare the threadref in `data { … }`"));
    }
}

/// An operand of a comparison that other languages have, and this one has not.
#[derive(Clone, Copy)]
enum Thing<'e> {
    Thread(&'e str),
    Threadref(&'e str),
    /// Of any other kind.
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
        (Thing::Thread(one), Thing::Thread(other)) => {
            format!("compare what is kept of them: `{one}.ATTRIBUTE` and `{other}.ATTRIBUTE`")
        }
        (Thing::Threadref(_) | Thing::Container(_), Thing::Threadref(_) | Thing::Container(_)) => {
            "each thread is in one container: no two of them hold the same".to_owned()
        }
    })
}

/// With advice for those who expected another type.
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

/// What is meant of what a name stands for.
enum Part {
    /// All of it: it is no array.
    Single,
    /// This element.
    Constant(usize),
    /// The element of an index that is computed at run time, and the length of the array.
    Computed(usize, Box<Expression>),
}

/// A place that could be a container.
fn named(place: &ast::Place) -> Option<Reference> {
    match place {
        ast::Place::Name(name) => Some(Reference::from(name.clone())),
        ast::Place::Element { array, index, at } => match &**array {
            ast::Place::Name(name) => Some(Reference { name: name.clone(), index: Some(index.clone()), at: *at }),
            ast::Place::Member { .. } | ast::Place::Element { .. } => None,
        },
        ast::Place::Member { .. } => None,
    }
}
